//! Opens the providers of the folder `peer` through the contract, and keeps records like the
//! engine.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use blueprint::{Address, FieldPath, Name, Value};
use plugins::{Logs, Pool, PoolLimits};
use provider::{
    Applied, ApplyRequest, Call, Configuration, Configured, HostedPackage, ImportRequest, Imported,
    Operation, PlanMode, PlanPhase, PlanRequest, Planned, Provider, ProviderError, ReadOutcome,
    ReadRequest, Session,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::support::python;

/// A package with its folders.
pub(crate) struct Package {
    pub(crate) folder: TempDir,
    pub(crate) package: HostedPackage,
    pub(crate) pool: Arc<Pool>,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
}

impl Package {
    /// A script of the folder `peer`. Its schema is cached below its folder.
    pub(crate) fn of(name: &str, arguments: &[&str]) -> Option<Package> {
        let python = python()?;
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("items")).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/peer/{name}.py"));
        let script = script.to_str().unwrap().to_owned();
        let starts = folder.path().join("starts").to_str().unwrap().to_owned();
        let package = HostedPackage {
            name: name.into(),
            program: Some(python),
            schema: None,
            settings: blueprint::Value::Null,
            arguments: [script]
                .into_iter()
                .chain(arguments.iter().map(|&it| it.into()))
                .collect(),
            environment: vec![
                ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
                ("SHOP_STARTS".into(), starts),
            ],
            inherits: None,
            memory: None,
            start_within: Duration::from_secs(60),
            folder: folder.path().to_owned(),
            cache: Some(folder.path().join("cache")),
        };
        // Tests crash processes more often than the default limit allows.
        let limits = PoolLimits {
            crashes: 100,
            ..PoolLimits::default()
        };
        Some(Package {
            folder,
            package,
            pool: Arc::new(Pool::new(limits, Logs::default())),
            log: Arc::default(),
        })
    }

    pub(crate) async fn open(&self) -> Result<Arc<dyn Provider>, ProviderError> {
        pulumi_host::open(self.package.clone(), self.pool.clone()).await
    }

    /// The same package in another run of `cyan`: no process is left.
    pub(crate) async fn next_run(&mut self) {
        self.pool.close().await;
        let limits = PoolLimits {
            crashes: 100,
            ..PoolLimits::default()
        };
        self.pool = Arc::new(Pool::new(limits, Logs::default()));
    }

    pub(crate) fn items(&self) -> PathBuf {
        self.folder.path().join("items")
    }

    /// The settings of the shop, and additional ones.
    pub(crate) fn settings(&self, more: &[(&str, Value)]) -> Value {
        let folder = ("folder", Value::from(self.items().to_str().unwrap()));
        Value::map([folder].into_iter().chain(more.iter().cloned()))
    }

    pub(crate) async fn configure(
        &self,
        provider: &Arc<dyn Provider>,
        settings: Value,
        former: Value,
    ) -> Result<Configured, ProviderError> {
        let log = self.log.clone();
        let with = Configuration {
            name: self.package.name.clone(),
            settings,
            former,
            offline: false,
            root: self.folder.path().into(),
            log: Arc::new(move |line: &str| log.lock().unwrap().push(line.to_owned())),
        };
        provider.clone().configure(with).await
    }

    /// The shop with a session.
    pub(crate) async fn shop() -> Option<(Package, Things)> {
        let package = Package::of("shop", &[])?;
        let provider = package.open().await.unwrap();
        let configured = package
            .configure(&provider, package.settings(&[]), Value::Null)
            .await
            .unwrap();
        let things = Things::new(configured.session, "shop/index:Item");
        Some((package, things))
    }

    /// The numbers of the processes that were started.
    pub(crate) fn starts(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("starts")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The contents of the items.
    pub(crate) fn contents(&self) -> Vec<serde_json::Value> {
        let files = std::fs::read_dir(self.items())
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

    /// Changes the input of an item outside of the provider.
    pub(crate) fn drift(&self, id: &str, name: &str, value: &str) {
        let path = self.items().join(format!("{id}.json"));
        let mut item: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        item["inputs"][name] = value.into();
        std::fs::write(path, item.to_string()).unwrap();
    }
}

/// The recorded data of a resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) id: Name,
    pub(crate) inputs: Value,
    pub(crate) fields: Value,
    pub(crate) private: Value,
}

/// Calls about a resource of one type.
pub(crate) struct Things {
    pub(crate) session: Arc<dyn Session>,
    pub(crate) type_name: &'static str,
    pub(crate) unhealthy: Vec<Name>,
    pub(crate) ignored: Vec<Name>,
    /// Paths whose changes replace the resource.
    pub(crate) replacing: Vec<FieldPath>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) cancel: CancellationToken,
}

impl Things {
    pub(crate) fn new(session: Arc<dyn Session>, type_name: &'static str) -> Things {
        Things {
            session,
            type_name,
            unhealthy: Vec::new(),
            ignored: Vec::new(),
            replacing: Vec::new(),
            deadline: Some(Duration::from_secs(60)),
            cancel: CancellationToken::new(),
        }
    }

    pub(crate) fn call(&self) -> Call {
        Call {
            call_records: None,
            instances: None,
            instance: "dev".into(),
            address: Address::root("lamp"),
            urn: Default::default(),
            token: "token".into(),
            deadline: self.deadline,
            cancel: self.cancel.clone(),
            root: Path::new("/").into(),
            folder: Path::new("/").into(),
            settings: Value::Null,
            files: provider::FileAccess::default(),
            now: 0,
            progress: Arc::new(|_| {}),
        }
    }

    pub(crate) async fn plan(
        &self,
        mode: PlanMode,
        phase: PlanPhase,
        prior: &Record,
        desired: &Value,
    ) -> Result<Planned, ProviderError> {
        let exists = mode == PlanMode::Update;
        let request = PlanRequest {
            mode,
            phase,
            type_name: self.type_name,
            id: exists.then_some(&*prior.id),
            prior_inputs: &prior.inputs,
            prior: if exists { &prior.fields } else { &Value::Null },
            schema_version: 0,
            private: &prior.private,
            unhealthy: &self.unhealthy,
            desired,
            ignored: &self.ignored,
            replacing: &self.replacing,
            seed: "seed",
        };
        self.session.plan(&self.call(), request).await
    }

    /// Plans a change in the preview phase.
    pub(crate) async fn update(&self, prior: &Record, desired: &Value) -> Planned {
        self.plan(PlanMode::Update, PlanPhase::Preview, prior, desired)
            .await
            .unwrap()
    }

    pub(crate) async fn apply(
        &self,
        operation: Operation,
        prior: &Record,
        desired: &Value,
    ) -> Result<Applied, ProviderError> {
        let request = ApplyRequest {
            operation,
            type_name: self.type_name,
            id: Some(&*prior.id).filter(|id| !id.is_empty()),
            prior_inputs: &prior.inputs,
            prior: &prior.fields,
            desired,
            schema_version: 0,
            planned: &Value::Null,
            private: &prior.private,
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
        };
        self.session.apply(&self.call(), request).await
    }

    /// Plans and creates a resource.
    pub(crate) async fn create(&self, desired: &Value) -> Record {
        let planned = self
            .plan(
                PlanMode::Create,
                PlanPhase::Apply,
                &Record::default(),
                desired,
            )
            .await
            .unwrap();
        assert_eq!(
            planned.outputs, None,
            "no preview is asked for directly before the call"
        );
        let inputs = planned.inputs.unwrap();
        let applied = self
            .apply(Operation::Create, &Record::default(), &inputs)
            .await
            .unwrap();
        recorded(applied, inputs)
    }

    pub(crate) async fn delete(&self, prior: &Record) -> Result<Applied, ProviderError> {
        self.apply(Operation::Delete, prior, &Value::Null).await
    }

    pub(crate) async fn read(&self, prior: &Record) -> Result<ReadOutcome, ProviderError> {
        let request = ReadRequest {
            type_name: self.type_name,
            id: Some(&*prior.id).filter(|id| !id.is_empty()),
            inputs: &prior.inputs,
            outputs: &prior.fields,
            schema_version: 0,
            private: &prior.private,
            token: Some("token").filter(|_| prior.id.is_empty()),
        };
        self.session.read(&self.call(), request).await
    }

    pub(crate) async fn import(&self, id: &str) -> Vec<Imported> {
        let request = ImportRequest {
            type_name: self.type_name,
            id,
            desired: &Value::Null,
        };
        self.session.import(&self.call(), request).await.unwrap()
    }
}

/// The record of an answer.
pub(crate) fn recorded(applied: Applied, inputs: Value) -> Record {
    Record {
        id: applied.id,
        inputs: applied.inputs.unwrap_or(inputs),
        fields: applied.fields,
        private: applied.private,
    }
}

/// A spec.
pub(crate) fn spec(entries: &[(&str, Value)]) -> Value {
    Value::map(entries.iter().cloned())
}
