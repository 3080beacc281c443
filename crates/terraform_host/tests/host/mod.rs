//! Helpers that start real providers and call them.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use blueprint::Value;
use plugins::{Inherit, Launch, Logs, Plugin, ProcessLimits};
use terraform_host::{
    AnswerWithWarnings, AppliedChange, ApplyRequest, Client, Handshake, Object, OpenOptions,
    PlanRequest, PlannedChange, ProgramDigest, ReplacePolicy, SchemaCache,
};

/// The variable with the folder of published providers.
const PUBLISHED: &str = "CYAN_TEST_TERRAFORM";

/// The variable with the program of `peer`.
const PEER: &str = "CYAN_TEST_TERRAFORM_PEER";

/// The name of the provider of this repository.
pub(crate) const PEER_NAME: &str = "peer";

/// The program of a provider. `None`, with a message, if it was not built.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let variable = if name == PEER_NAME { PEER } else { PUBLISHED };
    let found = std::env::var_os(variable)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    if found.is_none() {
        assert!(
            std::env::var_os("CYAN_TEST_ALL").is_none(),
            "{name} should have been built: {variable} is not set"
        );
        eprintln!("skipped: {name} is needed; `cargo xtask test` builds it");
    }
    let program = match name {
        PEER_NAME => found?,
        name => found?.join(format!(
            "terraform-provider-{name}{}",
            std::env::consts::EXE_SUFFIX
        )),
    };
    assert!(program.is_file(), "{} does not exist", program.display());
    Some(program)
}

pub(crate) fn launch(program: &Path, folder: &Path) -> Launch {
    Launch {
        name: "the provider".into(),
        program: program.into(),
        arguments: Vec::new(),
        folder: folder.into(),
        environment: Vec::new(),
        inherit: Inherit::Only(Vec::new()),
        limits: ProcessLimits::default(),
    }
}

pub(crate) async fn start(launch: Launch) -> Plugin {
    plugins::start(launch, Arc::new(Handshake), Logs::default())
        .await
        .unwrap()
}

/// A provider in a folder of its own, configured.
pub(crate) struct Host {
    pub(crate) plugin: Plugin,
    pub(crate) client: Client,
    pub(crate) folder: tempfile::TempDir,
}

impl Host {
    /// Starts a published provider. `None` if it was not built.
    pub(crate) async fn start(name: &str) -> Option<Host> {
        Host::configured(launch(&program(name)?, Path::new("/")), None, |_| {
            Value::Null
        })
        .await
    }

    /// Starts the provider of this repository. `schema` says how it deals with its schema.
    pub(crate) async fn peer(
        schema: &str,
        cache: Option<(&SchemaCache, &ProgramDigest)>,
    ) -> Option<Host> {
        let mut launch = launch(&program(PEER_NAME)?, Path::new("/"));
        launch.environment = vec![("PEER_SCHEMA".into(), schema.into())];
        Host::configured(launch, cache, |folder| {
            map([("folder", Value::text(folder.to_string_lossy()))])
        })
        .await
    }

    async fn configured(
        mut launch: Launch,
        cache: Option<(&SchemaCache, &ProgramDigest)>,
        config: impl FnOnce(&Path) -> Value,
    ) -> Option<Host> {
        let folder = tempfile::tempdir().unwrap();
        launch.folder = folder.path().into();
        let config = config(folder.path());
        let plugin = start(launch).await;
        let client = Client::open(
            &plugin,
            OpenOptions {
                cache,
                ..OpenOptions::default()
            },
        )
        .await
        .unwrap();
        let prepared = client.validate_provider(&config).await.unwrap();
        client.configure(&prepared.value).await.unwrap();
        Some(Host {
            plugin,
            client,
            folder,
        })
    }

    pub(crate) async fn plan(
        &self,
        type_name: &str,
        prior: Option<&Object>,
        config: &Value,
    ) -> PlannedChange {
        let request = PlanRequest {
            type_name,
            prior,
            config,
            replacing: ReplacePolicy::IfRequired,
        };
        let AnswerWithWarnings { value, warnings } = self.client.plan(request).await.unwrap();
        assert_eq!(warnings, []);
        value
    }

    pub(crate) async fn apply(
        &self,
        type_name: &str,
        prior: Option<&Object>,
        planned: &Object,
        config: &Value,
    ) -> AppliedChange {
        self.client
            .apply(ApplyRequest {
                type_name,
                prior,
                planned,
                config,
            })
            .await
            .unwrap()
    }

    /// Plans and applies a change that must succeed.
    pub(crate) async fn change(
        &self,
        type_name: &str,
        prior: Option<&Object>,
        config: &Value,
    ) -> Object {
        let planned = self.plan(type_name, prior, config).await;
        let applied = self.apply(type_name, prior, &planned.object, config).await;
        assert!(applied.is_done(), "{applied:?}");
        applied.object
    }

    pub(crate) async fn create(&self, type_name: &str, config: &Value) -> Object {
        self.client
            .validate_resource(type_name, config)
            .await
            .unwrap();
        self.change(type_name, None, config).await
    }

    pub(crate) async fn delete(&self, type_name: &str, object: &Object) {
        let gone = self.change(type_name, Some(object), &Value::Null).await;
        assert!(gone.is_absent());
    }

    pub(crate) async fn read(&self, type_name: &str, object: &Object) -> Object {
        self.client.read(type_name, object).await.unwrap().value
    }

    pub(crate) async fn end(self) {
        self.plugin.stop().await;
    }
}

/// A map of these entries.
pub(crate) fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::map(entries.map(|(key, value)| (key.to_owned(), value)))
}

pub(crate) fn text(object: &Object, name: &str) -> String {
    object
        .value
        .get(name)
        .and_then(Value::as_text)
        .unwrap_or_else(|| panic!("{name} is no text"))
        .to_owned()
}

pub(crate) fn unknown() -> Value {
    Value::unknown(None, None)
}
