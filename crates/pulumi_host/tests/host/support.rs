//! Starts the providers of the folder `peer`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use blueprint::Value;
use plugins::{Inherit, Launch, Logs, Plugin, ProcessLimits, start};
use pulumi_host::{
    CallTarget, Client, ConnectOptions, Desired, Engine, Logged, PluginSession, ProviderSettings,
    PulumiProtocol, RecordedResource, launch_with_engine,
};
use pulumi_wire::{NoLookups, Phase};
use tempfile::TempDir;

/// A Python with the package `pulumi`. `None`, with a message, if it is not installed.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub(crate) fn python() -> Option<PathBuf> {
    let found = std::env::var_os("CYAN_TEST_PULUMI").filter(|path| !path.is_empty());
    if found.is_none() {
        let all = std::env::var_os("CYAN_TEST_ALL").is_some();
        assert!(
            !all,
            "the provider framework of Pulumi should have been installed: CYAN_TEST_PULUMI is not set"
        );
        eprintln!("skipped: the Python package pulumi is needed; `cargo xtask test` installs it");
    }
    found.map(PathBuf::from)
}

/// A running provider, and the folder in which it keeps its objects.
pub(crate) struct Peer {
    pub(crate) folder: TempDir,
    pub(crate) plugin: Plugin,
    pub(crate) client: Client,
    pub(crate) engine: Engine,
    pub(crate) logged: Arc<Mutex<Vec<Logged>>>,
    program: Launch,
}

impl Peer {
    /// Starts a script of the folder `peer` with arguments.
    pub(crate) async fn start(script: &str, arguments: &[&str]) -> Option<Peer> {
        let python = python()?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/peer")
            .join(script);
        let arguments = [script.into_os_string()]
            .into_iter()
            .chain(arguments.iter().map(OsString::from))
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let program = program(&python, arguments, folder.path());
        let logged = Arc::new(Mutex::new(Vec::new()));
        let sink = logged.clone();
        let sink = Arc::new(move |line| sink.lock().unwrap().push(line));
        let engine = Engine::start("urn:root".into(), sink).await.unwrap();
        let (plugin, client) = launch(&program, &engine).await;
        Some(Peer {
            folder,
            plugin,
            client,
            engine,
            logged,
            program,
        })
    }

    /// Starts the plugin again after it has ended.
    pub(crate) async fn restart(&mut self) {
        self.plugin.exited().await;
        (self.plugin, self.client) = launch(&self.program, &self.engine).await;
    }

    /// The provider of items, configured.
    pub(crate) async fn shop() -> Option<(Peer, PluginSession)> {
        let peer = Peer::start("shop.py", &[]).await?;
        let session = peer.configure_shop(false).await;
        Some((peer, session))
    }

    pub(crate) async fn configure_shop(&self, plain: bool) -> PluginSession {
        let folder = self.folder.path().to_str().unwrap();
        let values = Value::map([
            ("folder", Value::from(folder)),
            ("plain", Value::Bool(plain)),
        ]);
        self.client
            .configure(&settings("shop", &values))
            .await
            .unwrap()
    }

    /// The items in the folder.
    pub(crate) fn items(&self) -> Vec<serde_json::Value> {
        let files = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let items = files.filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        });
        items
            .map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
            .collect()
    }

    /// Changes an item outside of the provider.
    pub(crate) fn change(&self, id: &str, change: impl FnOnce(&mut serde_json::Value)) {
        let path = self.folder.path().join(format!("{id}.json"));
        let mut item = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        change(&mut item);
        std::fs::write(path, item.to_string()).unwrap();
    }
}

pub(crate) fn program(program: &Path, arguments: Vec<OsString>, folder: &Path) -> Launch {
    Launch {
        name: "pulumi provider `peer`".into(),
        program: program.to_owned(),
        arguments,
        folder: folder.to_owned(),
        environment: vec![("PYTHONDONTWRITEBYTECODE".into(), "1".into())],
        inherit: Inherit::All,
        limits: ProcessLimits {
            grace: Duration::from_secs(5),
            ..ProcessLimits::default()
        },
    }
}

async fn launch(program: &Launch, engine: &Engine) -> (Plugin, Client) {
    let launch = launch_with_engine(program.clone(), "test", &engine.address());
    let plugin = start(launch, Arc::new(PulumiProtocol), Logs::default())
        .await
        .unwrap();
    let connecting = ConnectOptions {
        engine_address: engine.address(),
        program_folder: None,
    };
    let client = Client::connect(&plugin, &connecting).await.unwrap();
    (plugin, client)
}

pub(crate) fn settings<'a>(package: &'a str, values: &'a Value) -> ProviderSettings<'a> {
    ProviderSettings {
        package,
        values,
        urn: "urn:pulumi:dev::test::pulumi:providers:peer::default",
        name: "default",
        id: "provider-1",
        lookups: &NoLookups,
    }
}

pub(crate) const PLAN: CallTarget<'static> = CallTarget {
    urn: "urn:pulumi:dev::test::shop:index:Item::lamp",
    type_name: "shop:index:Item",
    name: "lamp",
    phase: Phase::Planning,
    address: None,
    lookups: &NoLookups,
};

pub(crate) const APPLY: CallTarget<'static> = CallTarget {
    phase: Phase::Applying,
    ..PLAN
};

pub(crate) const SEED: [u8; 32] = [0xab; 32];

pub(crate) fn desired(inputs: &Value) -> Desired<'_> {
    Desired {
        inputs,
        ignored: &[],
        timeout: None,
    }
}

pub(crate) fn recorded<'a>(
    id: &'a str,
    inputs: &'a Value,
    outputs: &'a Value,
) -> RecordedResource<'a> {
    RecordedResource {
        id,
        inputs,
        outputs,
    }
}

/// The value of a property as JSON-like text; `-` if there is none.
pub(crate) fn text(value: &Value, name: &str) -> String {
    value
        .get(name)
        .map_or_else(|| "-".to_owned(), ToString::to_string)
}
