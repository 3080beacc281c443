//! Real providers through the contract, with the calls of the engine.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use blueprint::{Address, Name, Value};
use plugins::{Logs, Pool, PoolLimits};
use provider::{
    Applied, ApplyRequest, Call, CheckRequest, Configuration, Configured, HostedPackage,
    ImportRequest, Imported, Operation, PlanMode, PlanPhase, PlanRequest, Planned, Provider,
    ProviderDiagnostic, ProviderError, ReadOutcome, ReadRequest, Session, Verdict,
};
use tokio_util::sync::CancellationToken;

use crate::host::program;

/// A package of a provider. `None` if it was not built.
pub(crate) fn package(name: &str, folder: &Path, cache: Option<&Path>) -> Option<HostedPackage> {
    Some(HostedPackage {
        name: name.into(),
        program: Some(program(name)?),
        schema: None,
        settings: blueprint::Value::Null,
        arguments: Vec::new(),
        environment: vec![(
            "PEER_CRASH".into(),
            folder.join("crash").to_string_lossy().into_owned(),
        )],
        inherits: Some(Vec::new()),
        memory: None,
        start_within: Duration::from_secs(60),
        folder: folder.to_owned(),
        cache: cache.map(Path::to_owned),
    })
}

pub(crate) fn pool() -> Arc<Pool> {
    Arc::new(Pool::new(
        PoolLimits {
            crashes: 100,
            ..PoolLimits::default()
        },
        Logs::default(),
    ))
}

pub(crate) fn configuration(settings: Value) -> Configuration {
    Configuration {
        name: "test".into(),
        settings,
        former: Value::Null,
        offline: false,
        root: std::path::Path::new("/").into(),
        log: Arc::new(|_| ()),
    }
}

/// The record of a resource, as the engine keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) id: Name,
    pub(crate) inputs: Value,
    pub(crate) fields: Value,
    pub(crate) private: Value,
    pub(crate) version: u32,
    /// Whether its create failed, so that it must be replaced.
    pub(crate) failed: bool,
}

/// A provider and its session.
pub(crate) struct ProviderHarness {
    pub(crate) package: HostedPackage,
    pub(crate) pool: Arc<Pool>,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) session: Arc<dyn Session>,
    pub(crate) said: Arc<Mutex<Vec<ProviderDiagnostic>>>,
    pub(crate) tokens: std::sync::atomic::AtomicU64,
}

impl ProviderHarness {
    pub(crate) async fn of(name: &str, folder: &Path, settings: Value) -> Option<ProviderHarness> {
        Some(ProviderHarness::in_package(package(name, folder, None)?, settings).await)
    }

    pub(crate) async fn peer(folder: &Path) -> Option<ProviderHarness> {
        ProviderHarness::of(crate::host::PEER_NAME, folder, peer_settings(folder, None)).await
    }

    pub(crate) async fn in_package(package: HostedPackage, settings: Value) -> ProviderHarness {
        let pool = pool();
        let provider = terraform_host::open(package.clone(), pool.clone())
            .await
            .unwrap();
        let Configured {
            session,
            diagnostics,
            ..
        } = provider
            .clone()
            .configure(configuration(settings))
            .await
            .unwrap();
        let said = Arc::new(Mutex::new(diagnostics));
        ProviderHarness {
            package,
            pool,
            provider,
            session,
            said,
            tokens: std::sync::atomic::AtomicU64::new(0),
        }
    }

    /// Opens the same package in another process of the engine.
    pub(crate) async fn restarted(self, settings: Value) -> ProviderHarness {
        let ProviderHarness { package, .. } = self;
        self.pool.close().await;
        ProviderHarness::in_package(package, settings).await
    }

    pub(crate) async fn end(self) {
        self.session.close().await;
        self.pool.close().await;
    }

    pub(crate) fn call(&self) -> Call {
        let number = self
            .tokens
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Call {
            call_records: None,
            instances: None,
            instance: "test".into(),
            address: Address::root("thing"),
            urn: Default::default(),
            token: format!("token-{number}").into(),
            deadline: None,
            cancel: CancellationToken::new(),
            root: self.package.folder.as_path().into(),
            folder: self.package.folder.as_path().into(),
            settings: Value::Null,
            files: provider::FileAccess::default(),
            now: 0,
            progress: Arc::new(|_| ()),
        }
    }

    pub(crate) async fn check(&self, type_name: &str, spec: &Value) -> Vec<ProviderDiagnostic> {
        let request = CheckRequest { type_name, spec };
        self.session
            .check(&self.call(), request)
            .await
            .unwrap()
            .diagnostics
    }

    pub(crate) async fn ask(
        &self,
        type_name: &str,
        (mode, phase): (PlanMode, PlanPhase),
        record: Option<&Record>,
        desired: &Value,
        private: &Value,
    ) -> Result<Planned, ProviderError> {
        let exists = record.filter(|_| matches!(mode, PlanMode::Update | PlanMode::Delete));
        let request = PlanRequest {
            mode,
            phase,
            type_name,
            id: exists.map(|record| &*record.id),
            prior_inputs: record.map_or(&Value::Null, |record| &record.inputs),
            prior: exists.map_or(&Value::Null, |record| &record.fields),
            schema_version: record.map_or(0, |record| record.version),
            private,
            unhealthy: &[],
            desired,
            ignored: &[],
            replacing: &[],
            seed: "seed",
        };
        let planned = self.session.plan(&self.call(), request).await?;
        self.said
            .lock()
            .unwrap()
            .extend(planned.diagnostics.clone());
        Ok(planned)
    }

    /// Plans a desired spec. Returns the plan, and the plan of the new resource if it is replaced.
    pub(crate) async fn plan(
        &self,
        type_name: &str,
        record: Option<&Record>,
        desired: &Value,
        phase: PlanPhase,
    ) -> Result<(Planned, Option<Planned>), ProviderError> {
        let private = record.map_or(&Value::Null, |record| &record.private);
        match record {
            None => Ok((
                self.ask(type_name, (PlanMode::Create, phase), None, desired, private)
                    .await?,
                None,
            )),
            Some(record) if record.failed => {
                let new = self
                    .ask(
                        type_name,
                        (PlanMode::Replace, phase),
                        Some(record),
                        desired,
                        private,
                    )
                    .await?;
                Ok((
                    Planned {
                        verdict: Verdict::Replace { delete_first: None },
                        ..Planned::default()
                    },
                    Some(new),
                ))
            }
            Some(record) => {
                let first = self
                    .ask(
                        type_name,
                        (PlanMode::Update, phase),
                        Some(record),
                        desired,
                        private,
                    )
                    .await?;
                let mode = (PlanMode::Replace, phase);
                let second = match first.verdict {
                    Verdict::Replace { .. } => Some(
                        self.ask(type_name, mode, Some(record), desired, &first.private)
                            .await?,
                    ),
                    _ => None,
                };
                Ok((first, second))
            }
        }
    }

    /// Makes a plan, which must succeed.
    pub(crate) async fn planned(
        &self,
        type_name: &str,
        record: Option<&Record>,
        desired: &Value,
    ) -> Planned {
        let (first, second) = self
            .plan(type_name, record, desired, PlanPhase::Preview)
            .await
            .unwrap();
        match second {
            Some(second) => Planned {
                verdict: first.verdict,
                replaces: first.replaces,
                ..second
            },
            None => first,
        }
    }

    /// Carries out a plan: creates the resource, or changes it in place.
    pub(crate) async fn apply(
        &self,
        type_name: &str,
        record: Option<&Record>,
        desired: &Value,
        planned: &Planned,
    ) -> Result<Record, ProviderError> {
        let request = self.request(type_name, record, desired, planned);
        let applied = self.session.apply(&self.call(), request).await?;
        self.said
            .lock()
            .unwrap()
            .extend(applied.diagnostics.clone());
        Ok(self.record_of(type_name, desired, applied))
    }

    pub(crate) fn request<'a>(
        &self,
        type_name: &'a str,
        record: Option<&'a Record>,
        desired: &'a Value,
        planned: &'a Planned,
    ) -> ApplyRequest<'a> {
        ApplyRequest {
            operation: if record.is_some() {
                Operation::Update
            } else {
                Operation::Create
            },
            type_name,
            id: record.map(|record| &*record.id),
            prior_inputs: record.map_or(&Value::Null, |record| &record.inputs),
            prior: record.map_or(&Value::Null, |record| &record.fields),
            desired,
            schema_version: record.map_or(0, |record| record.version),
            planned: planned.outputs.as_ref().unwrap_or(&Value::Null),
            private: match record {
                Some(record) if planned.private.is_null() => &record.private,
                _ => &planned.private,
            },
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
        }
    }

    pub(crate) fn record_of(&self, type_name: &str, desired: &Value, applied: Applied) -> Record {
        let ty = self.provider.catalog().resource_type(type_name).unwrap();
        let Applied {
            id,
            fields,
            private,
            ..
        } = applied;
        Record {
            id,
            inputs: desired.clone(),
            fields,
            private,
            version: ty.schema_version,
            failed: false,
        }
    }

    pub(crate) async fn create(&self, type_name: &str, desired: &Value) -> Record {
        let planned = self.planned(type_name, None, desired).await;
        self.apply(type_name, None, desired, &planned)
            .await
            .unwrap()
    }

    pub(crate) async fn update(&self, type_name: &str, record: &Record, desired: &Value) -> Record {
        let planned = self.planned(type_name, Some(record), desired).await;
        assert_eq!(planned.verdict, Verdict::Update);
        self.apply(type_name, Some(record), desired, &planned)
            .await
            .unwrap()
    }

    pub(crate) async fn delete(
        &self,
        type_name: &str,
        record: &Record,
    ) -> Result<(), ProviderError> {
        let request = ApplyRequest {
            operation: Operation::Delete,
            type_name,
            id: Some(&record.id),
            prior_inputs: &record.inputs,
            prior: &record.fields,
            desired: &Value::Null,
            schema_version: record.version,
            planned: &Value::Null,
            private: &record.private,
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
        };
        self.session.apply(&self.call(), request).await.map(|_| ())
    }

    pub(crate) async fn read(
        &self,
        type_name: &str,
        record: &Record,
    ) -> Result<Option<Record>, ProviderError> {
        let request = ReadRequest {
            type_name,
            id: Some(&record.id),
            inputs: &record.inputs,
            outputs: &record.fields,
            schema_version: record.version,
            private: &record.private,
            token: None,
        };
        Ok(match self.session.read(&self.call(), request).await? {
            ReadOutcome::Present(found) => Some(Record {
                id: found.id,
                fields: found.fields,
                private: found.private,
                ..record.clone()
            }),
            ReadOutcome::Absent => None,
            ReadOutcome::Unknown => panic!("a recorded resource is read by its fields"),
        })
    }

    pub(crate) async fn import(
        &self,
        type_name: &str,
        id: &str,
    ) -> Result<Vec<Imported>, ProviderError> {
        let request = ImportRequest {
            type_name,
            id,
            desired: &Value::Null,
        };
        self.session.import(&self.call(), request).await
    }

    pub(crate) fn imported(&self, found: &Imported) -> Record {
        let observed = &found.observed;
        let applied = Applied::ready(observed.id.clone(), observed.fields.clone());
        self.record_of(
            &found.type_name,
            &Value::Null,
            applied.with_private(observed.private.clone()),
        )
    }

    /// The number of times that the peer received calls of a method.
    pub(crate) async fn count(&self, method: &str) -> i64 {
        let filters = [("method".into(), "=".into(), Value::from(method))];
        let request = provider::FetchRequest {
            type_name: "peer/calls",
            filters: &filters,
            annotations: &Value::Null,
        };
        let fetched = self.session.fetch(&self.call(), request).await.unwrap();
        fetched.candidates[0]
            .fields
            .get("count")
            .and_then(Value::as_int)
            .unwrap()
    }
}

pub(crate) fn peer_settings(folder: &Path, zone: Option<Value>) -> Value {
    let folder = ("folder", Value::text(folder.to_string_lossy()));
    Value::map(
        [Some(folder), zone.map(|zone| ("zone", zone))]
            .into_iter()
            .flatten(),
    )
}
