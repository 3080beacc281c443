//! The part of the suite of providers about planning: the answers of providers that take part in it,
//! and whether they hold.
//!
//! Not here: the life of a resource (the suite itself).

use std::sync::Arc;

use blueprint::{FieldPath, PathStep, Unknown, Value};

use super::{Run, same};
use provider::{
    Applied, ApplyRequest, ErrorKind, Operation, PlanMode, PlanPhase, PlanRequest, Planned, Plans,
    Provider, ProviderSeverity, UpgradeRequest, Verdict,
};

/// The seed of every plan.
const SEED: &str = "c0f0e0d0b0a09080";

/// The existing resource, for a plan.
#[derive(Clone, Copy)]
struct Before<'a> {
    applied: Option<&'a Applied>,
    inputs: &'a Value,
}

impl<M: Fn() -> Arc<dyn Provider>> Run<'_, M> {
    fn provider_decides(&self) -> bool {
        self.resource_type.capabilities.plans == Plans::Always
    }

    /// Asks for one plan, as another process would. `None` if the provider is not asked, or fails.
    async fn ask_plan(
        &mut self,
        mode: PlanMode,
        phase: PlanPhase,
        before: Before<'_>,
        desired: &Value,
    ) -> Option<Planned> {
        let session = self.session().await?;
        let call = self.call("plan");
        let null = Value::Null;
        let request = PlanRequest {
            mode,
            phase,
            type_name: &self.case.type_name,
            id: before.applied.map(|applied| applied.id.as_ref()),
            prior_inputs: before.inputs,
            prior: before.applied.map_or(&null, |applied| &applied.fields),
            schema_version: self.resource_type.schema_version,
            private: before.applied.map_or(&null, |applied| &applied.private),
            unhealthy: &[],
            desired,
            ignored: &[],
            replacing: &[],
            seed: SEED,
        };
        match self.with_error_recorded(session.plan(&call, request).await) {
            Ok(planned) => {
                for diagnostic in &planned.diagnostics {
                    if diagnostic.severity == ProviderSeverity::Error {
                        self.fail(format!(
                            "the plan refuses the spec of the case at `{}`: {}",
                            diagnostic.path, diagnostic.summary
                        ));
                    }
                    self.record_shown(diagnostic.text());
                }
                Some(planned)
            }
            Err(error) => {
                self.fail(format!("plan failed: {error}"));
                None
            }
        }
    }

    /// Plans an operation as the engine does: a preview, the plan before the call, and a preview
    /// with an unknown spec. Returns the plan before the call.
    async fn plan_operation(
        &mut self,
        mode: PlanMode,
        before: Before<'_>,
        desired: &Value,
    ) -> Option<Planned> {
        if self.resource_type.capabilities.plans == Plans::Never {
            return None;
        }
        let preview = self
            .ask_plan(mode, PlanPhase::Preview, before, desired)
            .await?;
        let last = self
            .ask_plan(mode, PlanPhase::Apply, before, desired)
            .await?;
        let word = if mode == PlanMode::Create {
            "create"
        } else {
            "update"
        };
        // A provider that only forecasts outputs need not do so again before the call.
        let forecasts = last.outputs.is_some();
        let facts = |planned: &Planned| {
            let Planned {
                verdict,
                inputs,
                outputs,
                replaces,
                private,
                ..
            } = planned.clone();
            (
                verdict,
                inputs,
                replaces,
                forecasts.then_some((outputs, private)),
            )
        };
        if facts(&preview) != facts(&last) {
            self.fail(format!("planning the {word} twice gives different answers"));
        }
        if self.provider_decides() {
            let open = unknown_fields(desired);
            if let Some(early) = self.ask_plan(mode, PlanPhase::Preview, before, &open).await {
                self.check_refinement(&early, &last, word);
            }
        }
        Some(last)
    }

    /// Checks that the plan with all values keeps everything that a plan with unknown values
    /// promised.
    fn check_refinement(&mut self, early: &Planned, last: &Planned, word: &str) {
        if !self.resource_type.capabilities.exact || early.inexact || last.inexact {
            return;
        }
        if let (Some(before), Some(after)) = (&early.outputs, &last.outputs)
            && let Some(path) = first_difference(before, after)
        {
            self.fail(format!(
                "`{path}` is planned for the {word} while values are unknown, and differently with them"
            ));
        }
        let harsher = matches!(last.verdict, Verdict::Replace { .. })
            && matches!(early.verdict, Verdict::Same | Verdict::Update);
        if harsher || early.verdict == Verdict::Same && last.verdict == Verdict::Update {
            self.fail(format!(
                "the verdict about the {word} is harsher once all values are known"
            ));
        }
    }

    /// Checks that the result of an operation agrees with the plan.
    fn check_planned_outputs(&mut self, planned: &Planned, applied: &Applied, word: &str) {
        if self.resource_type.capabilities.exact
            && !planned.inexact
            && let Some(outputs) = &planned.outputs
            && let Some(path) = first_difference(outputs, &applied.fields)
        {
            self.fail(format!("`{path}` is another one after {word} than planned"));
        }
    }

    pub(super) async fn create(&mut self, sent: &Value, token: &str) -> Option<Applied> {
        let nothing = Before {
            applied: None,
            inputs: &Value::Null,
        };
        let planned = self.plan_operation(PlanMode::Create, nothing, sent).await;
        let session = self.session().await?;
        let call = self.call(token);
        let asked = planned.clone().unwrap_or_default();
        let outputs = asked.outputs.clone().unwrap_or_default();
        let request = ApplyRequest {
            private: &asked.private,
            planned: &outputs,
            ..self.create_request(asked.inputs.as_ref().unwrap_or(sent))
        };
        match self.with_error_recorded(session.apply(&call, request).await) {
            Ok(applied) => {
                if let Some(planned) = &planned {
                    self.check_planned_outputs(planned, &applied, "create");
                }
                Some(recorded(applied, asked.inputs))
            }
            Err(error) => {
                self.fail(format!("create failed: {error}"));
                None
            }
        }
    }

    /// Checks that the plan of a create is refused while the object exists.
    pub(super) async fn check_existing_is_refused(&mut self, sent: &Value) {
        let Some(session) = self.session().await else {
            return;
        };
        let call = self.call("create");
        let request = PlanRequest {
            mode: PlanMode::Create,
            phase: PlanPhase::Preview,
            type_name: &self.case.type_name,
            id: None,
            prior_inputs: &Value::Null,
            prior: &Value::Null,
            schema_version: self.resource_type.schema_version,
            private: &Value::Null,
            unhealthy: &[],
            desired: sent,
            ignored: &[],
            replacing: &[],
            seed: SEED,
        };
        match self.with_error_recorded(session.plan(&call, request).await) {
            Err(error) if error.kind == ErrorKind::Conflict => {}
            Err(error) => self.fail(format!(
                "the create of what exists is refused with another error: {error}"
            )),
            Ok(planned) => self.fail(format!(
                "the create of what exists is planned as {:?}",
                planned.verdict
            )),
        }
    }

    pub(super) async fn update(
        &mut self,
        (prior, sent): &(Applied, Value),
        desired: &Value,
    ) -> Option<Applied> {
        let inputs = prior.inputs.as_ref().unwrap_or(sent);
        let before = Before {
            applied: Some(prior),
            inputs,
        };
        let planned = self.plan_operation(PlanMode::Update, before, desired).await;
        let asked = planned.clone().unwrap_or_default();
        if !asked.replaces.is_empty() || matches!(asked.verdict, Verdict::Replace { .. }) {
            let replaces: Vec<String> = asked.replaces.iter().map(ToString::to_string).collect();
            self.fail(format!(
                "the update of the case would replace the resource because of {}",
                replaces.join(", ")
            ));
            return None;
        }
        if self.provider_decides() && asked.verdict != Verdict::Update {
            self.fail(format!(
                "the update of the case is planned as {:?}",
                asked.verdict
            ));
        }
        let private = if asked.private.is_null() {
            prior.private.clone()
        } else {
            asked.private.clone()
        };
        let outputs = asked.outputs.clone().unwrap_or_default();
        let session = self.session().await?;
        let call = self.call("update");
        let request = ApplyRequest {
            operation: Operation::Update,
            type_name: &self.case.type_name,
            id: Some(&prior.id),
            prior_inputs: inputs,
            prior: &prior.fields,
            desired: asked.inputs.as_ref().unwrap_or(desired),
            schema_version: self.resource_type.schema_version,
            planned: &outputs,
            private: &private,
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
        };
        match self.with_error_recorded(session.apply(&call, request).await) {
            Ok(applied) => {
                if let Some(planned) = &planned {
                    self.check_planned_outputs(planned, &applied, "update");
                }
                Some(recorded(applied, asked.inputs))
            }
            Err(error) => {
                self.fail(format!("update failed: {error}"));
                None
            }
        }
    }

    /// Checks that a provider that decides finds no difference directly after an operation.
    pub(super) async fn check_no_difference(
        &mut self,
        (applied, desired): &(Applied, Value),
        after: &str,
    ) {
        if !self.provider_decides() {
            return;
        }
        let inputs = applied.inputs.clone().unwrap_or_else(|| desired.clone());
        let before = Before {
            applied: Some(applied),
            inputs: &inputs,
        };
        if let Some(planned) = self
            .ask_plan(PlanMode::Update, PlanPhase::Preview, before, desired)
            .await
            && planned.verdict != Verdict::Same
        {
            self.fail(format!(
                "directly after {after}, the verdict is {:?}",
                planned.verdict
            ));
        }
    }

    /// The opaque data of the planned delete. `None` if the provider is not asked.
    pub(super) async fn planned_delete(
        &mut self,
        (applied, sent): &(Applied, Value),
    ) -> Option<Value> {
        let inputs = applied.inputs.as_ref().unwrap_or(sent);
        if !self.resource_type.capabilities.plans_deletes {
            return None;
        }
        let before = Before {
            applied: Some(applied),
            inputs,
        };
        let planned = self
            .ask_plan(PlanMode::Delete, PlanPhase::Preview, before, &Value::Null)
            .await?;
        Some(planned.private).filter(|private| !private.is_null())
    }

    /// Checks that values of the current schema version stay as they are.
    pub(super) async fn check_upgrade(&mut self, (applied, inputs): &(Applied, Value)) {
        let Some(session) = self.session().await else {
            return;
        };
        let call = self.call("upgrade");
        let request = UpgradeRequest {
            type_name: &self.case.type_name,
            schema_version: self.resource_type.schema_version,
            inputs,
            fields: &applied.fields,
            private: &applied.private,
        };
        match self.with_error_recorded(session.upgrade(&call, request).await) {
            Ok(upgraded)
                if upgraded.inputs == *inputs
                    && upgraded.fields == applied.fields
                    && upgraded.private == applied.private => {}
            Ok(_) => self.fail("an upgrade from the current version changes values"),
            Err(error) => self.fail(format!(
                "an upgrade from the current version failed: {error}"
            )),
        }
    }
}

/// An answer with the inputs that the engine records.
fn recorded(applied: Applied, planned: Option<Value>) -> Applied {
    Applied {
        inputs: applied.inputs.or(planned),
        ..applied
    }
}

/// A spec in which the value of every field is unknown.
fn unknown_fields(spec: &Value) -> Value {
    let open = || {
        Value::Unknown(Arc::new(Unknown {
            ty: None,
            waits_for: Vec::new(),
        }))
    };
    Value::map(spec.as_map().into_iter().flatten().map(|(name, value)| {
        let stays = value.is_null();
        (
            name.clone(),
            if stays {
                Value::Null
            } else {
                open().tainted(value.has_secret())
            },
        )
    }))
}

/// The first place at which a value differs from the planned one. A value that is planned as
/// unknown may be anything.
fn first_difference(planned: &Value, now: &Value) -> Option<FieldPath> {
    let (planned, now) = (planned.unmarked(), now.unmarked());
    let below = |step: PathStep, planned: &Value, now: &Value| {
        first_difference(planned, now)
            .map(|rest| FieldPath(std::iter::once(step).chain(rest.0).collect()))
    };
    match (planned, now) {
        (Value::Unknown(_), _) => None,
        (Value::Map(planned), Value::Map(now)) => planned.iter().find_map(|(name, planned)| {
            below(
                PathStep::Field(name.clone()),
                planned,
                now.get(name).unwrap_or(&Value::Null),
            )
        }),
        (Value::List(planned), Value::List(now)) if planned.len() == now.len() => {
            let mut pairs = planned.iter().zip(now.iter()).enumerate();
            pairs.find_map(|(at, (planned, now))| below(PathStep::Index(at as u64), planned, now))
        }
        (planned, now) => (!same(now, planned)).then(|| FieldPath(Vec::new())),
    }
}
