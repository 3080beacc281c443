//! A toy provider that plans, like providers of Terraform: it decides which fields differ, plans
//! outputs leaf by leaf, and passes opaque data from the plan to the record.
//!
//! A change of `zone` or `mode` replaces a server, creating the new one first. An unknown `zone`
//! may replace it; while `mode` is unknown, the provider decides nothing. `validFor` makes an
//! update due that many seconds after the last operation. A failed update leaves a server
//! `unfinished` until an update succeeds; answers do not show this. A `locked` server cannot be
//! deleted. In version 1 of the schema, `size` was called `cores`.

use std::sync::{Arc, PoisonError};

use blueprint::{Unknown, Value};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, Configuration, Configured, ErrorKind,
    Observed, Operation, PlanMode, PlanRequest, Planned, Provider, ProviderDiagnostic,
    ProviderError, ReadOutcome, ReadRequest, Readiness, Ready, Session, UpgradeRequest, Upgraded,
    Verdict, configured,
};

use super::hosted::{ProviderDefect, ToyBackend, ToyOptions, field, with};

const TEXT: &str = include_str!("planner.json");

/// The fields that a document sets.
const SETTABLE: [&str; 7] = ["name", "size", "zone", "mode", "note", "validFor", "locked"];

/// The catalogue, with the schemas of version 1 or 2.
pub fn catalog(old_schema: bool) -> Arc<Catalog> {
    let old = TEXT
        .replace("\"size\": {", "\"cores\": {")
        .replace("{spec.size}", "{spec.cores}");
    let old = old.replace("\"schemaVersion\": 2", "\"schemaVersion\": 1");
    let text = if old_schema { old.as_str() } else { TEXT };
    Arc::new(provider::read_catalog(text).expect("the catalogue is part of the program"))
}

/// The provider of `planner/server`.
pub struct PlannerProvider {
    backend: ToyBackend,
    catalog: Arc<Catalog>,
}

impl PlannerProvider {
    /// A provider with options.
    pub fn new(options: ToyOptions) -> PlannerProvider {
        let catalog = catalog(options.old_schema);
        PlannerProvider {
            backend: ToyBackend::new(catalog.clone(), options),
            catalog,
        }
    }

    /// Whether the schemas have version 1.
    fn is_old(&self) -> bool {
        self.catalog
            .resource_type("planner/server")
            .is_some_and(|ty| ty.schema_version == 1)
    }

    /// The fields that a document sets.
    fn settable(&self) -> impl Iterator<Item = &'static str> {
        let old = self.is_old();
        SETTABLE
            .into_iter()
            .map(move |name| if old && name == "size" { "cores" } else { name })
    }

    /// Whether the desired and the prior value of a field differ. An unknown value counts as a
    /// difference.
    fn differs(request: &PlanRequest<'_>, name: &str) -> bool {
        let (desired, prior) = (
            field(request.desired, name).unmarked(),
            field(request.prior, name).unmarked(),
        );
        desired.has_unknown() || desired != prior
    }

    fn verdict(&self, call: &Call, request: &PlanRequest<'_>) -> (Verdict, Vec<&'static str>) {
        if request.mode != PlanMode::Update {
            return (Verdict::Update, Vec::new());
        }
        let unknown = |name: &str| field(request.desired, name).has_unknown();
        if unknown("mode") {
            return (
                Verdict::Undecided {
                    needs: "the mode".to_owned(),
                },
                Vec::new(),
            );
        }
        let ignores_unknown_zone =
            self.backend.has(ProviderDefect::LateReplacement) && unknown("zone");
        let forcing: Vec<&str> = ["zone", "mode"]
            .into_iter()
            .filter(|name| PlannerProvider::differs(request, name) && !ignores_unknown_zone)
            .collect();
        if !forcing.is_empty() {
            return (
                Verdict::Replace {
                    delete_first: Some(false),
                },
                forcing,
            );
        }
        let is_due = |valid: i64| {
            let since = field(request.private, "issued")
                .as_int()
                .unwrap_or_default();
            call.now >= since + valid
        };
        let due = field(request.desired, "validFor")
            .as_int()
            .is_some_and(is_due);
        let changed = self
            .settable()
            .any(|name| PlannerProvider::differs(request, name));
        let updates = changed
            || due
            || !request.unhealthy.is_empty()
            || self.backend.has(ProviderDefect::NeverSame);
        (
            if updates {
                Verdict::Update
            } else {
                Verdict::Same
            },
            Vec::new(),
        )
    }

    /// The fields after the operation. A field is unknown if only the operation determines it.
    fn outputs(&self, request: &PlanRequest<'_>, same: bool) -> Value {
        if same {
            return request.prior.clone();
        }
        let keeps = request.mode == PlanMode::Update;
        let kept = |name: &str| {
            if keeps {
                field(request.prior, name).clone()
            } else {
                unknown()
            }
        };
        let set = self
            .settable()
            .map(|name| (name, field(request.desired, name).clone()));
        let [name, size] = ["name", if self.is_old() { "cores" } else { "size" }]
            .map(|name| field(request.desired, name).unmarked());
        let label = match (name, size) {
            (Value::Unknown(_), _) | (_, Value::Unknown(_)) => unknown(),
            (name, Value::Null) => Value::text(format!("{}/", name.as_text().unwrap_or_default())),
            (name, size) => Value::text(format!("{}/{size}", name.as_text().unwrap_or_default())),
        };
        let host = if keeps {
            field(field(request.prior, "endpoint"), "host").clone()
        } else {
            unknown()
        };
        let computed = [
            ("id", kept("id")),
            (
                "label",
                label.tainted(field(request.desired, "name").has_secret()),
            ),
            ("revision", if keeps { unknown() } else { Value::Int(1) }),
            ("status", Value::text("ok")),
            (
                "endpoint",
                Value::map([("host", host), ("port", Value::Int(8443))]),
            ),
            ("key", kept("key")),
        ];
        Value::map(set.filter(|(_, value)| !value.is_null()).chain(computed))
    }

    /// Refuses opaque data of a step that is not in `wanted`.
    fn check_step(
        &self,
        call: &Call,
        private: &Value,
        wanted: &[&str],
    ) -> Result<(), ProviderError> {
        let step = field(private, "step").as_text().unwrap_or("none");
        if wanted.contains(&step) {
            return Ok(());
        }
        let what = format!(
            "the private data of {} is that of `{step}`, not {}",
            call.address,
            wanted.join(" or ")
        );
        Err(self.backend.violated(what))
    }

    fn planned(&self, call: &Call, request: &PlanRequest<'_>) -> Result<Planned, ProviderError> {
        let step = match request.mode {
            PlanMode::Create => "create",
            PlanMode::Update => "update",
            PlanMode::Replace => "replace",
            PlanMode::Delete => "delete",
        };
        match request.mode {
            PlanMode::Create => {}
            // The old resource may be of another type.
            PlanMode::Replace if request.private.is_null() && request.prior_inputs.is_null() => {}
            PlanMode::Replace => self.check_step(call, request.private, &["update", "kept"])?,
            PlanMode::Update | PlanMode::Delete => {
                self.check_step(call, request.private, &["kept"])?
            }
        }
        let private = with(request.private, "step", Value::text(step));
        if request.mode == PlanMode::Delete {
            let mut diagnostics = Vec::new();
            if field(request.prior, "locked").as_bool() == Some(true) {
                diagnostics.push(ProviderDiagnostic::error("locked", "the server is locked"));
            }
            if !field(request.prior, "note").is_null() {
                diagnostics.push(ProviderDiagnostic::warning("note", "the note is lost"));
            }
            return Ok(Planned {
                private,
                diagnostics,
                ..Planned::default()
            });
        }
        let (verdict, replaces) = self.verdict(call, request);
        let same = verdict == Verdict::Same;
        let mut diagnostics = Vec::new();
        if self.backend.has(ProviderDefect::ShowSecret) {
            let shown = format!("the name is {}", field(request.desired, "name").revealed());
            diagnostics.push(ProviderDiagnostic::warning("name", shown));
        }
        let outputs = match &verdict {
            Verdict::Undecided { .. } => None,
            _ if self.backend.has(ProviderDefect::UnstablePlan) => {
                let label = Value::text(format!("{:?}", request.phase));
                Some(with(&self.outputs(request, same), "label", label))
            }
            _ => Some(self.outputs(request, same)),
        };
        let private = if same {
            request.private.clone()
        } else {
            private
        };
        let replaces = replaces.into_iter().map(Into::into).collect();
        Ok(Planned {
            verdict,
            outputs,
            replaces,
            private,
            diagnostics,
            ..Planned::default()
        })
    }

    /// The fields of an answer of this provider version: `key` is marked secret, and fields have
    /// their current names.
    fn answer_fields(&self, fields: &Value) -> Value {
        let mut entries = fields.as_map().cloned().unwrap_or_default();
        if !self.is_old()
            && let Some(cores) = entries.shift_remove("cores")
        {
            entries.insert("size".into(), cores);
        }
        entries.shift_remove("unfinished");
        if let Some(key) = entries.get_mut("key") {
            *key = std::mem::take(key).secret();
        }
        Value::Map(Arc::new(entries))
    }

    /// The opaque data of a record.
    fn record_private(&self, call: &Call) -> Value {
        if self.backend.has(ProviderDefect::DropPrivate) {
            return Value::Null;
        }
        Value::map([
            ("step", Value::text("kept")),
            ("issued", Value::Int(call.now)),
        ])
    }

    fn finish(&self, call: &Call, request: &ApplyRequest<'_>, applied: Applied) -> Applied {
        if request.operation == Operation::Delete {
            return applied;
        }
        let mut applied = Applied {
            fields: self.answer_fields(&applied.fields),
            private: self.record_private(call),
            ..applied
        };
        if self.backend.has(ProviderDefect::ContradictPlan) {
            applied.fields = with(&applied.fields, "label", Value::text("something else"));
        }
        if self.backend.has(ProviderDefect::BrokenCreate) && request.operation == Operation::Create
        {
            applied.ready = Ready::Broken(vec!["it is cracked".into()]);
        }
        let foreign = || self.backend.foreign_id(request.type_name, &applied.id);
        if self.backend.has(ProviderDefect::ForeignId)
            && request.operation == Operation::Create
            && let Some(id) = foreign()
        {
            applied.id = id;
        }
        applied
    }

    async fn act(&self, call: &Call, request: ApplyRequest<'_>) -> Result<Applied, ProviderError> {
        if call.cancel.is_cancelled() {
            return Err(ProviderError::new(
                ErrorKind::Cancelled,
                "the call was cancelled",
            ));
        }
        match request.operation {
            Operation::Create => self.check_step(call, request.private, &["create", "replace"])?,
            // The engine may require an update although the plan finds no difference.
            Operation::Update => self.check_step(call, request.private, &["update", "kept"])?,
            Operation::Delete => self.check_step(call, request.private, &["delete", "kept"])?,
        }
        let insists = field(request.private, "step").as_text() == Some("kept");
        if request.operation != Operation::Delete && request.planned.is_null() && !insists {
            return Err(self.backend.violated(format!(
                "{} is changed without its planned outputs",
                call.address
            )));
        }
        let done = Session::apply(&*self.backend.fake, call, ApplyRequest { ..request }).await;
        match done {
            Ok(applied) => Ok(self.finish(call, &request, applied)),
            Err(error) => {
                if request.operation == Operation::Update && error.kind == ErrorKind::Permanent {
                    let mut world = self
                        .backend
                        .world
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    // The error is ignored: a server that vanished cannot be marked unfinished.
                    let _ = world.set(
                        &call.instance,
                        &call.address.to_string(),
                        "unfinished",
                        Value::Bool(true),
                    );
                }
                let partial = error
                    .partial
                    .map(|partial| Box::new(self.finish(call, &request, *partial)));
                Err(ProviderError { partial, ..error })
            }
        }
    }
}

fn unknown() -> Value {
    Value::Unknown(Arc::new(Unknown {
        ty: None,
        waits_for: Vec::new(),
    }))
}

impl Provider for PlannerProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for PlannerProvider {
    fn plan<'a>(
        &'a self,
        call: &'a Call,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move { self.planned(call, &request) })
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            let outcome = Session::read(&*self.backend.fake, call, request).await?;
            let ReadOutcome::Present(observed) = outcome else {
                return Ok(outcome);
            };
            let is_kept = field(request.private, "step").as_text() == Some("kept");
            let fields = self.answer_fields(&observed.fields);
            let set = self
                .settable()
                .map(|name| (name, field(&fields, name).clone()));
            Ok(ReadOutcome::Present(Observed {
                inputs: Some(Value::map(set.filter(|(_, value)| !value.is_null()))),
                private: if is_kept {
                    request.private.clone()
                } else {
                    self.record_private(call)
                },
                fields,
                ..observed
            }))
        })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(self.act(call, request))
    }

    fn poll_ready<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<Readiness, ProviderError>> {
        Session::poll_ready(&*self.backend.fake, call, request)
    }

    fn upgrade<'a>(
        &'a self,
        _: &'a Call,
        request: UpgradeRequest<'a>,
    ) -> BoxFuture<'a, Result<Upgraded, ProviderError>> {
        let renamed = |map: &Value| match map.get("cores").cloned() {
            Some(cores) => {
                let kept = map
                    .as_map()
                    .into_iter()
                    .flatten()
                    .filter(|(name, _)| name.as_ref() != "cores");
                with(
                    &Value::map(kept.map(|(name, value)| (name.clone(), value.clone()))),
                    "size",
                    cores,
                )
            }
            None => map.clone(),
        };
        let mut upgraded = Upgraded {
            inputs: renamed(request.inputs),
            fields: renamed(request.fields),
            private: request.private.clone(),
        };
        if self.backend.has(ProviderDefect::UpgradeChanges) {
            upgraded.fields = with(&upgraded.fields, "label", Value::text("upgraded"));
        }
        Box::pin(std::future::ready(Ok(upgraded)))
    }
}
