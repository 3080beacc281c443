//! The contract of an API server, through a client of Kubernetes: the same cases on a cluster in
//! this process, and on a real one if `CYAN_TEST_KUBECONFIG` names it.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod clients;
mod definitions;
mod deletions;
mod lists;
mod objects;
mod patches;
mod peer;
mod random;
mod settings;
mod watches;

/// Makes two tests of each case: one on a local cluster, and one on a real cluster.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        mod local {
            $(
                #[tokio::test]
                async fn $name() {
                    super::$name(&crate::peer::TestServer::local().await).await;
                }
            )*
        }

        mod real {
            $(
                #[tokio::test]
                async fn $name() {
                    let Some(server) = crate::peer::TestServer::real().await else {
                        return;
                    };
                    super::$name(&server).await;
                    server.clean().await;
                }
            )*
        }
    };
}

use cases;
