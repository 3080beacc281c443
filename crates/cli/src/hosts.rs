//! The hosts of packages, one line each, and the processes that they share.
//!
//! Not here: start and end of plugin processes (`plugins`); the hosts themselves (a crate for each
//! family).

use engine::installed::{InstalledHost, PackageProgram};
use engine::run::{ProviderLog, RunSecrets};

#[cfg(feature = "hosts")]
use plugin_pool::PluginPool;

/// The hosts of this build, with the processes of their plugins.
pub(crate) struct Hosts {
    /// The secrets of the program's runs, which are removed from the output of plugins.
    pub(crate) secrets: RunSecrets,
    #[cfg(feature = "hosts")]
    plugins: PluginPool,
}

impl Hosts {
    /// Creates the hosts. No process is started.
    pub(crate) fn new() -> Hosts {
        let secrets = RunSecrets::default();
        Hosts {
            #[cfg(feature = "hosts")]
            plugins: PluginPool::new(secrets.clone()),
            secrets,
        }
    }

    /// All families. A family that this build was made without cannot be opened.
    pub(crate) fn installed(&self) -> Vec<InstalledHost> {
        vec![
            InstalledHost {
                family: "kubernetes",
                prefix: "k8s",
                program: PackageProgram::None,
                implied: &["kubernetes"],
                find: None,
                #[cfg(feature = "kubernetes")]
                open: Some(std::sync::Arc::new(kubernetes_host::open)),
                #[cfg(not(feature = "kubernetes"))]
                open: None,
            },
            InstalledHost {
                family: "pulumi",
                prefix: "pulumi",
                program: PackageProgram::OrSchema,
                implied: &[],
                #[cfg(feature = "pulumi")]
                find: Some(std::sync::Arc::new(pulumi_host::find)),
                #[cfg(not(feature = "pulumi"))]
                find: None,
                #[cfg(feature = "pulumi")]
                open: Some(self.plugins.opener(pulumi_host::open)),
                #[cfg(not(feature = "pulumi"))]
                open: None,
            },
            InstalledHost {
                family: "terraform",
                prefix: "tf",
                program: PackageProgram::Required,
                implied: &[],
                find: None,
                #[cfg(feature = "terraform")]
                open: Some(self.plugins.opener(terraform_host::open)),
                #[cfg(not(feature = "terraform"))]
                open: None,
            },
        ]
    }

    /// Ends the processes of all plugins. No process can be started afterwards.
    pub(crate) async fn close(&self) {
        #[cfg(feature = "hosts")]
        self.plugins.close().await;
    }
}

/// Receives the log lines of providers.
pub(crate) fn log() -> ProviderLog {
    std::sync::Arc::new(crate::plugin_log::line)
}

#[cfg(feature = "hosts")]
mod plugin_pool {
    use std::sync::Arc;
    use std::time::Duration;

    use engine::installed::OpenPackage;
    use engine::run::RunSecrets;
    use plugins::{Logs, Pool, PoolLimits};
    use provider::{BoxFuture, HostedPackage, Provider, ProviderError};

    /// The time that the program waits for plugin processes to end before it exits.
    const GRACE: Duration = Duration::from_secs(4);

    /// A function that opens a package with a pool of processes.
    type Open = fn(
        HostedPackage,
        Arc<Pool>,
    ) -> BoxFuture<'static, Result<Arc<dyn Provider>, ProviderError>>;

    /// The processes of all plugins.
    pub(super) struct PluginPool(Arc<Pool>);

    impl PluginPool {
        pub(super) fn new(secrets: RunSecrets) -> PluginPool {
            let logs = Logs {
                sink: Arc::new(|name, line| crate::plugin_log::line(name, &line.text)),
                scrub: Arc::new(move |text| secrets.scrub_text(text)),
            };
            PluginPool(Arc::new(Pool::new(PoolLimits::default(), logs)))
        }

        /// Returns what opens the packages of a family.
        pub(super) fn opener(&self, open: Open) -> OpenPackage {
            let pool = self.0.clone();
            Arc::new(move |package| open(package, pool.clone()))
        }

        pub(super) async fn close(&self) {
            // Processes that remain are killed with the runtime that watches them.
            let _ = tokio::time::timeout(GRACE, self.0.close()).await;
        }
    }
}
