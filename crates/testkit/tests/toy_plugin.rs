//! The toy provider `planner` in another process: the conformance suite, whole life cycles, and
//! processes that are killed.

#![cfg(unix)]

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use blueprint::Value;
use contract_tests::provider::{Case, Setup};
use engine::run::Operated;
use engine::{Given, Options};
use plugins::{
    Endpoint, HandshakeLine, Inherit, Launch, ListenAddress, Logs, Plugin, ProcessLimits, Protocol,
};
use provider::{BoxFuture, Provider};
use providers::fake::FakeCloud;
use testkit::harness::{Harness, RunResult, settings};
use testkit::toy::remote::{Connect, RemotePlanner};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

/// The handshake `toy PORT`.
struct Toys;

impl Protocol for Toys {
    fn environment(&self, _: &Path) -> Vec<(OsString, OsString)> {
        Vec::new()
    }

    fn line(&self, line: &str) -> HandshakeLine {
        match line.strip_prefix("toy ").map(str::parse::<u16>) {
            None => HandshakeLine::NotHandshake,
            Some(Ok(port)) => HandshakeLine::Endpoint(Endpoint::new(ListenAddress::Tcp(
                ([127, 0, 0, 1], port).into(),
            ))),
            Some(Err(_)) => HandshakeLine::Refused("it names no port".to_owned()),
        }
    }
}

/// Runs at most one plugin at a time, and starts it when it is needed and does not run.
#[derive(Clone)]
struct Host {
    launch: Launch,
    running: Arc<Mutex<Option<Plugin>>>,
}

impl Host {
    /// Plugins that manage the world in a folder. `dies`: the first one ends during its first
    /// operation.
    fn new(folder: &Path, dies: bool) -> Host {
        let mut environment = vec![("TOY_WORLD".into(), folder.join("world").into())];
        if dies {
            environment.push(("TOY_DIES".into(), folder.join("died").into()));
        }
        let launch = Launch {
            name: "the toy provider".to_owned(),
            program: env!("CARGO_BIN_EXE_toy-plugin").into(),
            arguments: Vec::new(),
            folder: folder.into(),
            environment,
            inherit: Inherit::All,
            limits: ProcessLimits::default(),
        };
        Host {
            launch,
            running: Arc::default(),
        }
    }

    async fn connect(self) -> Result<TcpStream, String> {
        let mut running = self.running.lock().await;
        let plugin = match running.as_ref().filter(|plugin| plugin.exit().is_none()) {
            Some(plugin) => plugin.clone(),
            None => {
                let started =
                    plugins::start(self.launch.clone(), Arc::new(Toys), Logs::default()).await;
                running
                    .insert(started.map_err(|error| error.to_string())?)
                    .clone()
            }
        };
        let ListenAddress::Tcp(address) = plugin.endpoint().address else {
            return Err("it has no port".to_owned());
        };
        TcpStream::connect(address)
            .await
            .map_err(|error| error.to_string())
    }

    fn provider(&self) -> Arc<dyn Provider> {
        let host = self.clone();
        let connect: Connect = Arc::new(move || {
            Box::pin(host.clone().connect()) as BoxFuture<'static, Result<TcpStream, String>>
        });
        Arc::new(RemotePlanner::new(connect))
    }

    async fn kill(&self) {
        if let Some(plugin) = self.running.lock().await.take() {
            plugin.kill().await;
        }
    }

    fn harness(&self) -> Harness {
        Harness::with(
            self.launch.folder.clone(),
            Vec::new(),
            vec![self.provider()],
        )
    }
}

/// The servers in the world of a folder, after the plugin has ended.
async fn servers(host: &Host) -> Vec<String> {
    host.kill().await;
    let world = FakeCloud::open(&host.launch.folder.join("world")).expect("the world can be read");
    let label = |fields: &Value| {
        fields
            .get("label")
            .and_then(Value::as_text)
            .unwrap_or_default()
            .to_owned()
    };
    world
        .objects()
        .map(|object| format!("{} {}", object.place, label(&object.fields)))
        .collect()
}

fn document(size: u32, zone: &str) -> String {
    format!(
        "version: 2025-11-02
resources:
  server: {{ type: planner/server, spec: {{ name: web, size: {size}, zone: {zone} }} }}
  reader: {{ type: test/data, spec: {{ input: '${{server.spec.label}}' }} }}
"
    )
}

async fn deploy(harness: &Harness, text: &str, before: impl AsyncFnOnce()) -> RunResult {
    let stage = harness
        .stage("main.yaml", text, Given::default(), Options::default())
        .await;
    let messages: Vec<_> = stage
        .diagnostics
        .iter()
        .map(|one| (&one.message, &one.notes))
        .collect();
    let staged = stage
        .staged
        .unwrap_or_else(|| panic!("no plan: {messages:?}"));
    before().await;
    harness
        .run(staged, true, Vec::new(), settings(Some(2), false))
        .await
}

fn messages(run: &RunResult) -> Vec<String> {
    match &run.operated {
        Some(Operated::Done(outcome)) => outcome
            .diagnostics
            .iter()
            .map(|one| format!("{}: {}", one.message, one.notes.join("; ")))
            .collect(),
        Some(Operated::Nothing) => Vec::new(),
        Some(Operated::Refused(found)) => found
            .iter()
            .map(|one| format!("refused: {}", one.message))
            .collect(),
        _ => vec!["no result".to_owned()],
    }
}

#[tokio::test]
async fn plugin_passes_the_suite() {
    let folder = tempfile::tempdir().expect("a folder");
    let host = Host::new(folder.path(), false);
    let spec = |size| Value::map([("name", Value::text("web")), ("size", Value::Int(size))]);
    let case = Case::new("planner/server", spec(1)).changed(spec(2));
    let setup = Setup {
        documented: false,
        ..Setup::in_folder(folder.path())
    };
    let failures = contract_tests::provider::check(|| host.provider(), &setup, &[case]).await;
    assert_eq!(failures, Vec::<String>::new());
    host.kill().await;
}

#[tokio::test]
async fn plugin_killed_between_plan_and_apply_is_started_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let host = Host::new(folder.path(), false);
    let harness = host.harness();
    for (size, zone) in [(1, "z1"), (2, "z1"), (2, "z2")] {
        let run = deploy(&harness, &document(size, zone), async || host.kill().await).await;
        assert_eq!(messages(&run), Vec::<String>::new());
        assert_eq!(servers(&host).await, [format!("case/server web/{size}")]);
    }
    let staged = harness
        .stage_destroy(Options::default())
        .await
        .staged
        .expect("a plan");
    host.kill().await;
    let run = harness
        .run(staged, true, Vec::new(), settings(Some(2), false))
        .await;
    assert_eq!(messages(&run), Vec::<String>::new());
    assert_eq!(servers(&host).await, Vec::<String>::new());
}

#[tokio::test]
async fn create_during_which_the_plugin_ends_is_found_and_not_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let host = Host::new(folder.path(), true);
    let harness = host.harness();
    let run = deploy(&harness, &document(1, "z1"), async || {}).await;
    let found = messages(&run);
    assert!(
        found
            .iter()
            .any(|one| one.contains("the plugin ended during the call")),
        "{found:?}"
    );
    assert_eq!(servers(&host).await, ["case/server web/1"]);
    let run = deploy(&harness, &document(1, "z1"), async || {}).await;
    assert_eq!(messages(&run), Vec::<String>::new());
    assert_eq!(servers(&host).await, ["case/server web/1"]);
    let staged = harness
        .stage(
            "main.yaml",
            &document(1, "z1"),
            Given::default(),
            Options::default(),
        )
        .await
        .staged;
    assert!(staged.is_some_and(|staged| staged.plan.is_empty()));
    host.kill().await;
}
