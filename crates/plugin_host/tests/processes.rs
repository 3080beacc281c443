//! The processes of a package, with a family whose plugin does nothing.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use blueprint::{Address, Value};
use plugin_host::{ChangeRequest, Family, PackageHost, Processes};
use plugins::{Endpoint, Launch, ListenAddress, Logs, Plugin, Pool, PoolLimits, Protocol};
use provider::{Call, ErrorKind, HostedPackage, ProviderError};
use tokio_util::sync::CancellationToken;

/// A plugin that counts its configurations.
#[derive(Default)]
struct Toy {
    configured: AtomicUsize,
    /// Cancelled when the plugin is asked to end its calls.
    cut_short: CancellationToken,
}

struct ToyFamily(Arc<Toy>);

impl Family for ToyFamily {
    const NAME: &'static str = "toy";
    const TIMED_OUT: &'static str = "the toy did not answer in time";

    type Client = Arc<Toy>;
    /// Whether the plugin accepts the settings.
    type Settings = bool;
    /// The number of the configuration.
    type Session = usize;

    async fn launch(
        _host: &PackageHost<Self>,
    ) -> Result<(Launch, Arc<dyn Protocol>), ProviderError> {
        unreachable!("the plugin is attached to")
    }

    async fn connect(
        host: &PackageHost<Self>,
        _plugin: &Plugin,
    ) -> Result<Arc<Toy>, ProviderError> {
        Ok(host.family.0.clone())
    }

    async fn configure(client: &Arc<Toy>, accepted: &bool) -> Result<usize, ProviderError> {
        let number = client.configured.fetch_add(1, Ordering::Relaxed) + 1;
        let refused = || ProviderError::new(ErrorKind::Document, "refused");
        accepted.then_some(number).ok_or_else(refused)
    }

    async fn cut_calls_short(client: Arc<Toy>) {
        client.cut_short.cancel();
    }
}

fn processes() -> Processes<ToyFamily> {
    let package = HostedPackage {
        name: "shop".into(),
        program: Some("program".into()),
        schema: None,
        settings: Value::Null,
        arguments: Vec::new(),
        environment: Vec::new(),
        inherits: None,
        memory: None,
        start_within: Duration::from_secs(1),
        folder: "".into(),
        cache: None,
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    let attached = Endpoint::new(ListenAddress::Tcp(address));
    let pool = Arc::new(Pool::new(PoolLimits::default(), Logs::default()));
    let family = ToyFamily(Arc::default());
    Processes::new(PackageHost::new(
        package,
        String::new(),
        Some(attached),
        pool,
        family,
    ))
}

fn call(deadline: Option<Duration>) -> Call {
    Call {
        call_records: None,
        instances: None,
        instance: "test".into(),
        address: Address::root("thing"),
        urn: Default::default(),
        token: "token".into(),
        deadline,
        cancel: CancellationToken::new(),
        root: Path::new("").into(),
        folder: Path::new("").into(),
        settings: Value::Null,
        files: provider::FileAccess::default(),
        now: 0,
        progress: Arc::new(|_| ()),
    }
}

#[tokio::test]
async fn the_first_configuration_takes_the_process_without_settings() {
    let processes = processes();
    let spare = processes.spare();
    assert!(Arc::ptr_eq(&spare, &processes.spare()));
    assert!(processes.known("one").is_none());
    let one = processes.process_of("one");
    assert!(Arc::ptr_eq(&one, &spare));
    assert!(Arc::ptr_eq(&one, &processes.process_of("one")));
    assert!(!Arc::ptr_eq(&one, &processes.process_of("other")));
    assert!(!Arc::ptr_eq(&one, &processes.spare()));
}

#[tokio::test]
async fn sessions_with_the_same_settings_configure_their_process_once() {
    let processes = processes();
    let process = processes.process_of("one");
    let error = process.session().await.map(|_| ()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Transient);
    for _ in 0..2 {
        assert_eq!(process.configure(Arc::new(true)).await.unwrap(), 1);
    }
    let (_lease, session) = process.session().await.unwrap();
    assert_eq!(session, 1);
    process.end_session().await;
    let (_lease, session) = process.session().await.unwrap();
    assert_eq!(session, 1, "one session is still open");
    process.end_session().await;
    let (_lease, session) = process.session().await.unwrap();
    assert_eq!(session, 2, "the last session stopped the process");
}

#[tokio::test]
async fn a_process_that_refused_its_settings_is_not_used_again() {
    let processes = processes();
    let process = processes.process_of("one");
    process.configure(Arc::new(false)).await.unwrap_err();
    assert!(process.settings().is_none());
    processes.discard(&process).await;
    assert!(!Arc::ptr_eq(&process, &processes.process_of("one")));
}

#[tokio::test]
async fn a_stopped_change_still_answers_and_is_cut_short_with_the_last_call() {
    let processes = processes();
    let process = processes.process_of("one");
    let (_lease, toy) = process.client().await.unwrap();
    let (first, second) = (call(None), call(None));
    let request = ChangeRequest::default();
    let change = |call| {
        let toy = toy.clone();
        process.run_changing(call, &request, async move {
            toy.cut_short.cancelled().await;
            Ok("partial")
        })
    };
    let stopping = async {
        first.cancel.cancel();
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!toy.cut_short.is_cancelled(), "the second call still runs");
        second.cancel.cancel();
    };
    let (one, other, ()) = tokio::join!(change(&first), change(&second), stopping);
    assert_eq!((one.unwrap(), other.unwrap()), ("partial", "partial"));
    let error = change(&first).await.unwrap_err();
    assert_eq!(error.message, "the call was cancelled before it was made");
}

#[tokio::test(start_paused = true)]
async fn the_outcome_of_a_stopped_change_without_an_answer_is_unknown_once_it_was_sent() {
    let processes = processes();
    let process = processes.process_of("one");
    let _plugin = process.client().await.unwrap();
    let endless = std::future::pending::<Result<(), ProviderError>>;
    for (sent, late, cancelled) in [
        (true, ErrorKind::OutcomeUnknown, ErrorKind::OutcomeUnknown),
        (false, ErrorKind::TimedOut, ErrorKind::Cancelled),
    ] {
        let request = ChangeRequest::default();
        if sent {
            request.sending();
        }
        let call_with_deadline = call(Some(Duration::from_secs(1)));
        let error = process.run_changing(&call_with_deadline, &request, endless());
        assert_eq!(error.await.unwrap_err().kind, late);
        let stopped = call(None);
        let error = process.run_changing(&stopped, &request, endless());
        let stopping = async { stopped.cancel.cancel() };
        let (error, ()) = tokio::join!(error, stopping);
        assert_eq!(error.unwrap_err().kind, cancelled);
    }
}

#[tokio::test]
async fn a_stopped_call_that_reads_is_dropped() {
    let processes = processes();
    let process = processes.process_of("one");
    let (_lease, toy) = process.client().await.unwrap();
    let late = call(Some(Duration::from_millis(1)));
    let endless = std::future::pending::<Result<(), ProviderError>>;
    let read = process.run_reading(&late, endless());
    let error = read.await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TimedOut);
    assert_eq!(error.message, "the toy did not answer in time");
    assert!(!toy.cut_short.is_cancelled());
}
