//! Where the cases run: on a local cluster in virtual time, or on a real server in real time.

use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use controller::{AccountClients, WallClock, clients_for};
use jiff::Timestamp;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use local_cluster::{ClusterOptions, GarbageCollection, LocalCluster, UnknownKinds};
use tokio::time::Instant;

/// One case at a time uses a real server.
static REAL_SERVER: Mutex<()> = Mutex::new(());

/// The kubeconfig of a real server, if the cases are to run there: `CYAN_CARTOGRAPHER_ON_REAL=1` and
/// `CYAN_TEST_KUBECONFIG`.
fn real_server() -> Option<PathBuf> {
    std::env::var_os("CYAN_CARTOGRAPHER_ON_REAL")?;
    let file = std::env::var_os("CYAN_TEST_KUBECONFIG");
    Some(PathBuf::from(
        file.expect("CYAN_TEST_KUBECONFIG names a server"),
    ))
}

/// Keeps a real server for the cases of one area; nothing on a local cluster.
pub(crate) fn reserve() -> Option<MutexGuard<'static, ()>> {
    real_server()?;
    Some(REAL_SERVER.lock().unwrap_or_else(PoisonError::into_inner))
}

/// How long a case may take.
pub(crate) fn limit() -> Duration {
    match real_server() {
        Some(_) => Duration::from_secs(180),
        None => Duration::from_secs(10),
    }
}

/// A cluster for a case.
pub(crate) struct CasePlace {
    pub(crate) client: Client,
    pub(crate) accounts: AccountClients,
    pub(crate) clock: WallClock,
    /// How long the controller must be idle before a step is judged.
    pub(crate) quiet: Duration,
    /// Whether other cases leave objects, and the cluster deletes objects without an owner.
    pub(crate) is_real: bool,
}

/// Runs a case in a runtime. On a local cluster its clock moves when nothing else can be done.
pub(crate) fn run<F: Future>(case: F) -> F::Output {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let builder = match real_server() {
        Some(_) => builder.enable_all(),
        None => builder.enable_time().start_paused(true),
    };
    builder.build().expect("a runtime starts").block_on(case)
}

impl CasePlace {
    /// The cluster of a case. Every local one is new.
    pub(crate) async fn new() -> CasePlace {
        match real_server() {
            Some(file) => CasePlace::real(file).await,
            None => CasePlace::local(),
        }
    }

    fn local() -> CasePlace {
        let started = Instant::now();
        let epoch: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let clock: WallClock = Arc::new(move || epoch + started.elapsed());
        let cluster = LocalCluster::new(ClusterOptions {
            clock: clock.clone(),
            seed: 1,
            garbage_collection: GarbageCollection::Off,
            unknown_kinds: UnknownKinds::Refused,
            ..ClusterOptions::default()
        });
        CasePlace {
            client: Client::new(cluster.service(), "default"),
            accounts: AccountClients::SameConnection,
            clock,
            quiet: Duration::from_secs(3),
            is_real: false,
        }
    }

    async fn real(file: PathBuf) -> CasePlace {
        let kubeconfig = Kubeconfig::read_from(file).expect("the kubeconfig can be read");
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        let config = config.expect("the kubeconfig has a context");
        CasePlace {
            accounts: clients_for(&config),
            client: Client::try_from(config).expect("a client can be made"),
            clock: Arc::new(Timestamp::now),
            quiet: Duration::from_millis(500),
            is_real: true,
        }
    }
}
