//! A toy provider that is asked about updates and replacements, like the provider of an OpenStack
//! cloud.
//!
//! A network has an id `id:NAME` and a name `NAME`, which mean the same. A port that keeps its given
//! address is deleted before the new one is created, because the address is unique. All calls are
//! logged.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use blueprint::{DeleteMode, FieldPath, Value};
use engine::{Given, Options};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, Configuration, Configured, Operation,
    PlanMode, PlanPhase, PlanRequest, Planned, Provider, ProviderError, ReadOutcome, ReadRequest,
    Session, Verdict, configured,
};
use providers::fake::{self, FakeOptions, FakeProvider, SharedCloud};

use super::hosted::{field, with};
use crate::harness::{Harness, StageResult};

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let catalog = provider::read_catalog(include_str!("judge.json"));
    Arc::new(catalog.expect("the catalogue is part of the program"))
});

/// The provider of `Judge::Port` and `Judge::Host`.
pub struct JudgeProvider {
    fake: Arc<FakeProvider>,
    log: Mutex<Vec<String>>,
}

impl JudgeProvider {
    /// A provider of objects in a simulated cloud.
    pub fn new(world: SharedCloud) -> JudgeProvider {
        let options = FakeOptions {
            catalog: Some(CATALOG.clone()),
            world: Some(world),
            ..FakeOptions::default()
        };
        JudgeProvider {
            fake: Arc::new(fake::provider(options)),
            log: Mutex::default(),
        }
    }

    /// The calls since the last call of this method, in their order.
    pub fn take_log(&self) -> Vec<String> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut log)
    }

    fn note(&self, line: String) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.push(line);
    }

    fn planned(request: &PlanRequest<'_>) -> Planned {
        let same = |name: &str, meaning: fn(&str) -> &str| {
            let of = |spec| field(spec, name).as_text().map(meaning).map(str::to_owned);
            let (before, now) = (of(request.prior_inputs), of(request.desired));
            before.is_some() && before == now
        };
        let mut planned = Planned::default();
        if same("network", network_name) {
            planned.only_recorded.push(FieldPath::field("network"));
        }
        if same("given", |address| address) {
            planned.verdict = Verdict::Replace {
                delete_first: Some(true),
            };
        }
        planned
    }
}

/// A harness with this provider and its cloud.
pub fn harness() -> (Harness, Arc<JudgeProvider>) {
    let world = SharedCloud::default();
    let judge = Arc::new(JudgeProvider::new(world.clone()));
    let mut harness = Harness::with(PathBuf::from("/nowhere"), Vec::new(), vec![judge.clone()]);
    harness.world = world;
    (harness, judge)
}

/// Stages a template of Heat with these resources and outputs.
pub async fn stage_template(harness: &Harness, parts: &str) -> StageResult {
    let text = format!("heat_template_version: wallaby\n{parts}");
    harness
        .stage("main.yaml", &text, Given::default(), Options::default())
        .await
}

/// The name of a network that is written by its name or by its id.
fn network_name(written: &str) -> &str {
    written.strip_prefix("id:").unwrap_or(written)
}

/// A spec as the cloud stores it: networks have their names.
fn stored(spec: &Value) -> Value {
    match field(spec, "network").as_text() {
        Some(network) => with(spec, "network", Value::text(network_name(network))),
        None => spec.clone(),
    }
}

impl Provider for JudgeProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &CATALOG
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for JudgeProvider {
    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        let mode = match request.mode {
            PlanMode::Create => "create",
            PlanMode::Update => "update",
            PlanMode::Replace => "replace",
            PlanMode::Delete => "delete",
        };
        let phase = match request.phase {
            PlanPhase::Preview => "plan",
            PlanPhase::Apply => "plan again",
        };
        self.note(format!("{phase} {mode} {}", call.address));
        Box::pin(async move { Ok(JudgeProvider::planned(&request)) })
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Session::read(&*self.fake, call, request)
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        let word = match (request.operation, request.delete_mode) {
            (Operation::Create, _) => "create",
            (Operation::Update, _) => "update",
            (Operation::Delete, DeleteMode::Delete) => "delete",
            (Operation::Delete, DeleteMode::SnapshotFirst) => "snapshot and delete",
        };
        self.note(format!("{word} {}", call.address));
        Box::pin(async move {
            let desired = stored(request.desired);
            let request = ApplyRequest {
                desired: &desired,
                ..request
            };
            let applied = Session::apply(&*self.fake, call, request).await?;
            Ok(applied)
        })
    }
}
