//! The installed hosts of plugins, one line each, and the process pool that they share.
//!
//! Not here: start and end of plugin processes (`plugins`); the hosts themselves (a crate for each
//! family).

use engine::installed::InstalledHost;
use engine::run::ProviderLog;

/// The hosts for the features that this program was built with.
pub(crate) fn installed() -> Vec<InstalledHost> {
    vec![
        #[cfg(feature = "pulumi")]
        processes::host(
            "pulumi",
            blueprint::PackageFamily::Pulumi,
            pulumi_host::open,
        ),
        #[cfg(feature = "terraform")]
        processes::host(
            "terraform",
            blueprint::PackageFamily::Terraform,
            terraform_host::open,
        ),
    ]
}

/// Receives the log lines of providers.
pub(crate) fn log() -> ProviderLog {
    std::sync::Arc::new(crate::plugin_log::line)
}

#[cfg(feature = "hosts")]
pub(crate) use processes::{close, known};

/// Does nothing: without hosts there is no process to end.
#[cfg(not(feature = "hosts"))]
pub(crate) async fn close() {}

/// Returns `None`: without hosts, output of plugins is shown only inside of a run.
#[cfg(not(feature = "hosts"))]
pub(crate) fn known() -> Option<engine::run::RunSecrets> {
    None
}

#[cfg(feature = "hosts")]
mod processes {
    use std::sync::{Arc, LazyLock, OnceLock};
    use std::time::Duration;

    use blueprint::PackageFamily;
    use engine::installed::InstalledHost;
    use engine::run::RunSecrets;
    use plugins::{Logs, Pool, PoolLimits};
    use provider::{BoxFuture, HostedPackage, Provider, ProviderError};

    use crate::signals;

    /// The time that the program waits for plugin processes to end before it exits.
    const GRACE: Duration = Duration::from_secs(4);

    /// The processes of all plugins; set when the first package is opened.
    static POOL: OnceLock<Arc<Pool>> = OnceLock::new();

    /// The secrets of this program's runs, which are removed from the output of plugins.
    static KNOWN: LazyLock<RunSecrets> = LazyLock::new(RunSecrets::default);

    /// A function that opens a package with a pool of processes.
    type Open = fn(
        HostedPackage,
        Arc<Pool>,
    ) -> BoxFuture<'static, Result<Arc<dyn Provider>, ProviderError>>;

    /// Returns the host of a family.
    pub(super) fn host(kind: &'static str, family: PackageFamily, open: Open) -> InstalledHost {
        let open = move |package| -> BoxFuture<'static, _> {
            Box::pin(async move {
                // The main thread waits for the answer.
                let _blocked = signals::mark_blocked();
                let opened = open(package, pool().clone()).await;
                if signals::is_stopped() {
                    // The program ends because of the signal. Do not report errors that follow from
                    // it.
                    std::future::pending::<()>().await;
                }
                opened
            })
        };
        InstalledHost {
            kind,
            family,
            open: Arc::new(open),
        }
    }

    fn pool() -> &'static Arc<Pool> {
        POOL.get_or_init(|| {
            let logs = Logs {
                sink: Arc::new(|name, line| crate::plugin_log::line(name, &line.text)),
                scrub: Arc::new(|text| KNOWN.scrub_text(text)),
            };
            Arc::new(Pool::new(PoolLimits::default(), logs))
        })
    }

    /// The secrets of this program's runs.
    pub(crate) fn known() -> Option<RunSecrets> {
        Some(KNOWN.clone())
    }

    /// Ends the processes of all plugins. No process can be started afterwards.
    pub(crate) async fn close() {
        if let Some(pool) = POOL.get() {
            // Processes that remain are killed with the runtimes that watch them.
            let _ = tokio::time::timeout(GRACE, pool.close()).await;
        }
    }
}
