//! The hosts of plugins, one line each, and the processes that they share.
//!
//! Not here: how plugins start and end (`plugins`), what a host does with them (the crate of its family).

use engine::installed::InstalledHost;
use engine::shell::ProviderLog;

/// The installed hosts: those of the features that this program was built with.
pub(crate) fn installed() -> Vec<InstalledHost> {
    vec![
        #[cfg(feature = "pulumi")]
        processes::host("pulumi", blueprint::PackageFamily::Pulumi, pulumi_host::open),
        #[cfg(feature = "terraform")]
        processes::host("terraform", blueprint::PackageFamily::Terraform, terraform_host::open),
    ]
}

/// Receives the log lines of providers.
pub(crate) fn log() -> ProviderLog {
    std::sync::Arc::new(crate::plugin_log::line)
}

#[cfg(feature = "hosts")]
pub(crate) use processes::{close, known};

/// Without hosts there is no process to end.
#[cfg(not(feature = "hosts"))]
pub(crate) async fn close() {}

/// Without hosts nothing outside of a run shows what plugins print.
#[cfg(not(feature = "hosts"))]
pub(crate) fn known() -> Option<engine::shell::RunSecrets> {
    None
}

#[cfg(feature = "hosts")]
mod processes {
    use std::sync::{Arc, LazyLock, OnceLock};
    use std::time::Duration;

    use blueprint::PackageFamily;
    use engine::installed::InstalledHost;
    use engine::shell::RunSecrets;
    use plugins::{Logs, Pool, PoolLimits};
    use provider::{BoxFuture, HostedPackage, Provider, ProviderError};

    use crate::signals;

    /// How long the processes of plugins may take to end, before this program ends without waiting for them.
    const GRACE: Duration = Duration::from_secs(4);

    /// The processes of all plugins, once the first package is opened.
    static POOL: OnceLock<Arc<Pool>> = OnceLock::new();

    /// The secrets of this program's runs, which are removed from what plugins print.
    static KNOWN: LazyLock<RunSecrets> = LazyLock::new(RunSecrets::default);

    /// Opens a package with a pool of processes.
    type Open = fn(HostedPackage, Arc<Pool>) -> BoxFuture<'static, Result<Arc<dyn Provider>, ProviderError>>;

    /// The host of a family.
    pub(super) fn host(kind: &'static str, family: PackageFamily, open: Open) -> InstalledHost {
        let open = move |package| -> BoxFuture<'static, _> {
            Box::pin(async move {
                // The main thread waits for the answer.
                let _blocked = signals::blocked();
                let opened = open(package, pool().clone()).await;
                if signals::is_stopped() {
                    // The program ends: its reason is the signal, not what follows from it.
                    std::future::pending::<()>().await;
                }
                opened
            })
        };
        InstalledHost { kind, family, open: Arc::new(open) }
    }

    fn pool() -> &'static Arc<Pool> {
        POOL.get_or_init(|| {
            let logs = Logs {
                sink: Arc::new(|name, line| crate::plugin_log::line(name, &line.text)),
                scrub: Arc::new(|text| KNOWN.clean(text)),
            };
            Arc::new(Pool::new(PoolLimits::default(), logs))
        })
    }

    /// The secrets of this program's runs.
    pub(crate) fn known() -> Option<RunSecrets> {
        Some(KNOWN.clone())
    }

    /// Ends the processes of all plugins. None is started afterwards.
    pub(crate) async fn close() {
        if let Some(pool) = POOL.get() {
            // The processes that are left are killed with the runtimes that watch them.
            let _ = tokio::time::timeout(GRACE, pool.close()).await;
        }
    }
}
