//! A provider for tests that answers according to a script, and records its calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blueprint::{Map, Value};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, Configuration, Configured, ImportRequest,
    Imported, Observed, Operation, PlanMode, PlanRequest, Planned, Provider, ProviderDiagnostic,
    ProviderError, ReadOutcome, ReadRequest, Readiness, Ready, Session, SettingsChange, Verdict,
};
use testkit::harness::Harness;

const CATALOG: &str = r#"{
  "format": 1, "namespace": "script", "docs": "Boxes.", "settings": SETTINGS,
  "resourceTypes": {
    "script/box": {
      "docs": "A box.", "idField": "id", "capabilities": {PLANS},
      "fields": {
        "name": {"kind": "string", "required": true},
        "note": {"kind": "string"},
        "zone": {"kind": "string"},
        "id": {"kind": "string", "computed": true}
      }
    }
  }
}"#;

/// The answers of the provider. Fields that are not set have the usual answer.
#[derive(Clone, Default)]
pub(super) struct Script {
    /// The field that a read finds changed, and its value.
    pub(super) drift: Option<(&'static str, &'static str)>,
    /// The opaque data that a read returns; null repeats the recorded data.
    pub(super) read_private: Value,
    /// The opaque data that a plan returns.
    pub(super) planned_private: Value,
    /// The opaque data of the answer to an operation.
    pub(super) applied_private: Value,
    /// The diagnostics about the settings.
    pub(super) about_settings: Vec<ProviderDiagnostic>,
    /// The diagnostics of a read.
    pub(super) about_reads: Vec<ProviderDiagnostic>,
    /// The error of every operation.
    pub(super) refused: Option<ProviderError>,
    /// Whether an operation ends before its object is ready.
    pub(super) pending: bool,
    /// The verdict about updates, for a provider that decides.
    pub(super) verdict: Verdict,
    /// The fields whose change needs no call, for a provider that does not decide.
    pub(super) only_recorded: Vec<blueprint::FieldPath>,
    /// The fields whose change needs a new resource, for a provider that does not decide.
    pub(super) replaces: Vec<blueprint::FieldPath>,
}

#[derive(Default)]
struct Shared {
    script: Script,
    log: Vec<String>,
}

struct Scripted {
    catalog: Arc<Catalog>,
    shared: Arc<Mutex<Shared>>,
}

struct ScriptedSession {
    region: String,
    shared: Arc<Mutex<Shared>>,
}

fn shared(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text(value: &Value, name: &str) -> String {
    value
        .get(name)
        .and_then(|value| value.unmarked().as_text())
        .unwrap_or("-")
        .to_owned()
}

impl Provider for Scripted {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn configure(
        self: Arc<Self>,
        with: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        let session = ScriptedSession {
            region: text(&with.settings, "region"),
            shared: self.shared.clone(),
        };
        // While settings are unknown, the provider returns no diagnostics.
        let is_known = !with.settings.has_unknown();
        let diagnostics = if is_known {
            shared(&self.shared).script.about_settings.clone()
        } else {
            Vec::new()
        };
        let configured = Configured {
            session: Arc::new(session),
            change: SettingsChange::Same,
            diagnostics,
        };
        Box::pin(async { Ok(configured) })
    }
}

impl ScriptedSession {
    /// Logs a call with the `note` of the prior fields and the opaque data, and returns the script.
    fn note(&self, what: &str, call: &Call, prior: &Value, private: &Value) -> Script {
        let (note, private) = (text(prior, "note"), private.as_text().unwrap_or("-"));
        let mut shared = shared(&self.shared);
        shared.log.push(format!(
            "{what} {} in {}: note {note}, private {private}",
            call.address, self.region
        ));
        shared.script.clone()
    }
}

impl Session for ScriptedSession {
    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        let what = format!("plan-{:?}", request.mode).to_lowercase();
        let script = self.note(&what, call, request.prior, request.private);
        let verdict = if request.mode == PlanMode::Update {
            script.verdict
        } else {
            Verdict::default()
        };
        let (private, only_recorded, replaces) = (
            script.planned_private,
            script.only_recorded,
            script.replaces,
        );
        let planned = Planned {
            verdict,
            private,
            only_recorded,
            replaces,
            ..Planned::default()
        };
        Box::pin(async { Ok(planned) })
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        let script = self.note("read", call, request.outputs, request.private);
        let mut fields = request.outputs.as_map().cloned().unwrap_or_default();
        fields.extend(
            script
                .drift
                .map(|(name, value)| (name.into(), value.into())),
        );
        let private = if script.read_private.is_null() {
            request.private.clone()
        } else {
            script.read_private
        };
        let observed = Observed {
            id: request.id.unwrap_or_default().into(),
            fields: Value::Map(Arc::new(fields)),
            private,
            diagnostics: script.about_reads,
            ..Observed::default()
        };
        Box::pin(async { Ok(ReadOutcome::Present(observed)) })
    }

    fn import<'a>(
        &'a self,
        call: &'a Call,
        request: ImportRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<Imported>, ProviderError>> {
        self.note("import", call, &Value::Null, &Value::Null);
        let fields = Value::map([("name", Value::text("a")), ("id", Value::text(request.id))]);
        let observed = Observed {
            id: request.id.into(),
            fields,
            ..Observed::default()
        };
        let imported = Imported {
            type_name: request.type_name.into(),
            observed,
        };
        Box::pin(async { Ok(vec![imported]) })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        let script = self.note(
            request.operation.word(),
            call,
            request.prior,
            request.private,
        );
        if let Some(error) = script.refused {
            return Box::pin(async { Err(error) });
        }
        let applied = if request.operation == Operation::Delete {
            Applied::deleted()
        } else {
            let id = format!("{}-{}", call.address, text(request.desired, "zone"));
            let mut fields: Map = request.desired.as_map().cloned().unwrap_or_default();
            fields.insert("id".into(), id.as_str().into());
            let ready = if script.pending {
                Ready::Pending
            } else {
                Ready::Yes
            };
            let fields = Value::Map(Arc::new(fields));
            Applied {
                ready,
                ..Applied::ready(id.as_str(), fields).with_private(script.applied_private)
            }
        };
        Box::pin(async { Ok(applied) })
    }

    fn poll_ready<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        let what = format!("poll with {} for", text(&call.settings, "region"));
        self.note(&what, call, request.outputs, request.private);
        let fields = request.outputs.clone();
        Box::pin(async { Ok(Readiness::Ready(fields)) })
    }
}

/// A harness with the provider.
pub(super) struct Setup {
    pub(super) harness: Harness,
    shared: Arc<Mutex<Shared>>,
}

impl Setup {
    /// A harness with the provider. `plans` holds members of the capabilities of the type.
    pub(super) fn new(plans: &str) -> Setup {
        Setup::with_settings(plans, r#"{"region": {"kind": "string"}}"#)
    }

    /// A harness with the provider and these settings.
    pub(super) fn with_settings(plans: &str, settings: &str) -> Setup {
        let text = CATALOG
            .replace("PLANS", plans)
            .replace("SETTINGS", settings);
        let catalog = provider::read_catalog(&text).expect("the catalogue of the test");
        let shared = Arc::<Mutex<Shared>>::default();
        let scripted = Scripted {
            catalog: Arc::new(catalog),
            shared: shared.clone(),
        };
        let real: Vec<Arc<dyn Provider>> =
            vec![Arc::new(providers::cyan::provider()), Arc::new(scripted)];
        Setup {
            harness: Harness::with("/nowhere".into(), Vec::new(), real),
            shared,
        }
    }

    /// Sets the script for later answers, and clears the log of calls.
    pub(super) fn answer(&self, script: Script) {
        *shared(&self.shared) = Shared {
            script,
            log: Vec::new(),
        };
    }

    /// The calls since the last use of this function, without reads.
    pub(super) fn calls(&self) -> Vec<String> {
        let calls = std::mem::take(&mut shared(&self.shared).log);
        calls
            .into_iter()
            .filter(|line| !line.starts_with("read"))
            .collect()
    }

    /// The errors in the journal.
    pub(super) async fn errors(&self) -> Vec<String> {
        let log = self
            .harness
            .store()
            .log(&self.harness.name, None, 100)
            .await
            .expect("there is a journal");
        let error = |entry: &state::EntryKind| match entry {
            state::EntryKind::Outcome(outcome) => outcome.error.as_deref().map(str::to_owned),
            _ => None,
        };
        log.iter()
            .filter_map(|line| error(&line.entry.kind))
            .collect()
    }

    /// The opaque data of the record at an address; `-` if there is none.
    pub(super) async fn private_of(&self, address: &str) -> String {
        let snapshot = self.harness.snapshot().await;
        let record = snapshot
            .records
            .iter()
            .find(|(at, _)| at.to_string() == address);
        record
            .and_then(|(_, record)| record.private.as_text())
            .unwrap_or("-")
            .to_owned()
    }
}
