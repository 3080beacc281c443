//! Changes of a resource: plan and apply, with checks of the provider's answers.

use blueprint::Value;
use terraform_wire::consistency::{Violation, check_apply, check_plan, check_replan, replacing};
use terraform_wire::proposed::proposed;
use terraform_wire::{Path, ValueType, same};

use crate::client::{CallTypes, HOST, accept, read, write};
use crate::diagnostic::{diagnostics, path};
use crate::messages::{ApplyAnswer, ApplyMessage, Data, PlanAnswer, PlanMessage};
use crate::version::Method;
use crate::{
    AnswerWithWarnings, CallFailure, Client, Malformed, Object, TerraformDiagnostic, marks,
};

/// A request for the effects of a change.
#[derive(Clone, Copy)]
pub struct PlanRequest<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The current object. `None` for a create.
    pub prior: Option<&'a Object>,
    /// The configuration: exactly the values that the document sets. Parts of it may be unknown.
    /// Null for a delete.
    pub config: &'a Value,
    /// Whether an existing object is replaced.
    pub replacing: ReplacePolicy,
}

/// Whether an existing object is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplacePolicy {
    /// Only if the provider requires it.
    #[default]
    IfRequired,
    /// Always.
    Always,
    /// Always, and the provider is not told about the old object, because it is broken.
    Broken,
}

/// The effects of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedChange {
    /// The object after the change. Parts of it may be unknown. Absent for a delete. For a
    /// replacement it is the new object.
    pub object: Object,
    /// The kind of change.
    pub verdict: ChangeVerdict,
    /// The contradictions to the configuration by a provider of the legacy type system. They are
    /// normal for such providers.
    pub tolerated: Vec<Violation>,
    /// Whether the provider has the legacy type system: the apply may contradict this plan.
    pub legacy: bool,
}

/// The kind of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeVerdict {
    /// No change is needed.
    Same,
    /// A new object.
    Create,
    /// The object is changed in place.
    Update,
    /// The object is deleted and another one created.
    Replace {
        /// The parts that cannot be changed in place. Empty if the caller asked for the
        /// replacement.
        paths: Vec<Path>,
    },
    /// The object is deleted.
    Delete,
}

/// A request to carry out a change.
#[derive(Clone, Copy)]
pub struct ApplyRequest<'a> {
    /// The resource type.
    pub type_name: &'a str,
    /// The current object. `None` for a create, including that of a replacement.
    pub prior: Option<&'a Object>,
    /// The planned object with its private data and identity. Absent for a delete.
    pub planned: &'a Object,
    /// The configuration that the plan was made from. Null for a delete.
    pub config: &'a Value,
}

/// The result of a change. It includes errors of the provider, because they can come with an
/// object.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedChange {
    /// The current object, which must be recorded even after an error. Absent if there is no
    /// object.
    pub object: Object,
    /// The errors and warnings of the provider.
    pub diagnostics: Vec<TerraformDiagnostic>,
    /// The contradictions between the answer and the plan. They are a bug of the provider.
    pub violations: Vec<Violation>,
    /// The contradictions to the plan by a provider of the legacy type system. They are normal for
    /// such providers.
    pub tolerated: Vec<Violation>,
    /// Whether a failed create left an object that must be replaced.
    pub broken: bool,
}

impl AppliedChange {
    /// Whether the change succeeded as planned.
    pub fn is_done(&self) -> bool {
        self.violations.is_empty() && !self.diagnostics.iter().any(TerraformDiagnostic::is_error)
    }
}

/// A single planning call.
struct PlanQuestion<'a> {
    prior: Option<&'a Object>,
    private: &'a [u8],
    config: &'a Value,
}

/// The checked answer to a `PlanQuestion`.
struct CheckedPlan {
    object: Object,
    replaces: Vec<Path>,
    tolerated: Vec<Violation>,
    legacy: bool,
    warnings: Vec<TerraformDiagnostic>,
}

impl Client {
    /// Plans a change. A replacement takes two calls: one for the existing object, and one for the
    /// new one.
    ///
    /// # Errors
    /// [`CallFailure::Rejected`] if the provider refuses the change, [`CallFailure::Inconsistent`]
    /// if its plan contradicts the configuration, and the failures of the calls.
    pub async fn plan(
        &self,
        request: PlanRequest<'_>,
    ) -> Result<AnswerWithWarnings<PlannedChange>, CallFailure> {
        let PlanRequest {
            type_name,
            prior,
            config,
            replacing: wanted,
        } = request;
        let shape = self.call_types(type_name)?;
        let prior = prior.filter(|prior| !prior.is_absent());
        if config.is_null() {
            return self.plan_absence(type_name, &shape, prior).await;
        }
        let Some(prior) = prior.filter(|_| wanted != ReplacePolicy::Broken) else {
            let verdict = match prior {
                None => ChangeVerdict::Create,
                Some(_) => ChangeVerdict::Replace { paths: Vec::new() },
            };
            let mut new = self.plan_new(type_name, &[], config).await?;
            new.value.verdict = verdict;
            return Ok(new);
        };
        let mut first = self.plan_in_place(type_name, prior, config).await?;
        if wanted == ReplacePolicy::Always
            && !matches!(first.value.verdict, ChangeVerdict::Replace { .. })
        {
            first.value.verdict = ChangeVerdict::Replace { paths: Vec::new() };
        }
        if !matches!(first.value.verdict, ChangeVerdict::Replace { .. }) {
            return Ok(first);
        }
        let mut second = self
            .plan_new(type_name, &first.value.object.private, config)
            .await?;
        second.value.verdict = first.value.verdict;
        second
            .warnings
            .retain(|warning| !first.warnings.contains(warning));
        second.warnings.splice(0..0, first.warnings);
        Ok(second)
    }

    /// Plans the change of an existing object. If it must be replaced, the answer has the object
    /// that the provider wanted to change it to; [`Client::plan_new`] plans the new one.
    ///
    /// # Errors
    /// As for [`Client::plan`].
    pub async fn plan_in_place(
        &self,
        type_name: &str,
        prior: &Object,
        config: &Value,
    ) -> Result<AnswerWithWarnings<PlannedChange>, CallFailure> {
        let shape = self.call_types(type_name)?;
        let question = PlanQuestion {
            prior: Some(prior),
            private: &prior.private,
            config: &shape.conform(config),
        };
        let plain = self.plan_once(type_name, &shape, question).await?;
        let paths = replacing(&prior.value, &plain.object.value, &plain.replaces);
        let verdict = match paths.is_empty() {
            false => ChangeVerdict::Replace { paths },
            true if same(&plain.object.value, &prior.value) => ChangeVerdict::Same,
            true => ChangeVerdict::Update,
        };
        Ok(plain.into_answer(verdict))
    }

    /// Plans a new object. In a replacement `private` is the planned private data of the old
    /// object, else it is empty.
    ///
    /// # Errors
    /// As for [`Client::plan`].
    pub async fn plan_new(
        &self,
        type_name: &str,
        private: &[u8],
        config: &Value,
    ) -> Result<AnswerWithWarnings<PlannedChange>, CallFailure> {
        let shape = self.call_types(type_name)?;
        let question = PlanQuestion {
            prior: None,
            private,
            config: &shape.conform(config),
        };
        Ok(self
            .plan_once(type_name, &shape, question)
            .await?
            .into_answer(ChangeVerdict::Create))
    }

    /// Returns the contradictions between a planned object and a configuration. There are some if
    /// the object was planned for another configuration.
    ///
    /// # Errors
    /// If the provider has no such type.
    pub fn contradictions_to_config(
        &self,
        type_name: &str,
        prior: Option<&Object>,
        config: &Value,
        object: &Object,
    ) -> Result<Vec<Violation>, CallFailure> {
        let shape = self.call_types(type_name)?;
        let before = prior.map_or(&Value::Null, |prior| &prior.value);
        Ok(check_plan(
            &shape.schema.block,
            before,
            &shape.conform(config),
            &object.value,
        ))
    }

    /// Returns the contradictions between an earlier plan and a later one with more known values.
    ///
    /// # Errors
    /// If the provider has no such type.
    pub fn contradictions(
        &self,
        type_name: &str,
        earlier: &Value,
        later: &Value,
    ) -> Result<Vec<Violation>, CallFailure> {
        Ok(check_replan(
            &self.call_types(type_name)?.schema.block,
            earlier,
            later,
        ))
    }

    /// Plans a delete. The provider is asked only if it plans deletes.
    ///
    /// # Errors
    /// As for [`Client::plan`].
    pub async fn plan_delete(
        &self,
        type_name: &str,
        prior: &Object,
    ) -> Result<AnswerWithWarnings<PlannedChange>, CallFailure> {
        self.plan_absence(type_name, &*self.call_types(type_name)?, Some(prior))
            .await
    }

    async fn plan_absence(
        &self,
        type_name: &str,
        shape: &CallTypes,
        prior: Option<&Object>,
    ) -> Result<AnswerWithWarnings<PlannedChange>, CallFailure> {
        let absent = Object {
            private: prior.map(|prior| prior.private.clone()).unwrap_or_default(),
            ..Object::default()
        };
        let Some(prior) = prior.filter(|_| self.schemas().abilities.plans_deletes) else {
            let planned = PlannedChange {
                object: absent,
                verdict: ChangeVerdict::Delete,
                tolerated: Vec::new(),
                legacy: false,
            };
            return Ok(AnswerWithWarnings {
                value: planned,
                warnings: Vec::new(),
            });
        };
        let question = PlanQuestion {
            prior: Some(prior),
            private: &prior.private,
            config: &Value::Null,
        };
        let plain = self.plan_once(type_name, shape, question).await?;
        Ok(plain.into_answer(ChangeVerdict::Delete))
    }

    async fn plan_once(
        &self,
        type_name: &str,
        shape: &CallTypes,
        question: PlanQuestion<'_>,
    ) -> Result<CheckedPlan, CallFailure> {
        let PlanQuestion {
            prior,
            private,
            config,
        } = question;
        let block = &shape.schema.block;
        let before = prior.map_or(&Value::Null, |prior| &prior.value);
        let dynamic = prior.map_or(&[][..], |prior| &prior.dynamic);
        let request = PlanMessage {
            type_name: type_name.into(),
            prior: Some(shape.object(prior)?),
            proposed: Some(write(&proposed(block, before, config), &shape.ty, dynamic)?),
            config: Some(write(config, &shape.ty, &[])?),
            private: private.to_vec(),
            meta: self.meta(),
            host: Some(HOST),
            identity: shape.write_identity(prior.and_then(|prior| prior.identity.as_ref()))?,
        };
        let answer: PlanAnswer = self.ask(Method::PLAN, request).await?;
        let warnings = accept(answer.notices)?;
        self.check_not_deferred(Method::PLAN, answer.deferred)?;
        let (value, dynamic) =
            self.changed(Method::PLAN, shape, answer.planned.as_ref(), answer.legacy)?;
        if value.is_null() && !config.is_null() {
            return Err(self.malformed(Method::PLAN, Malformed::Null("planned state")));
        }
        let value = marks::copy_secret_marks(config, &value);
        let found = check_plan(block, before, config, &value);
        let (violations, tolerated) = found
            .into_iter()
            .partition::<Vec<_>, _>(|one| one.counts_for(answer.legacy));
        if !violations.is_empty() {
            return Err(CallFailure::Inconsistent {
                method: self.name(Method::PLAN),
                violations,
            });
        }
        let identity = shape.read_identity(answer.identity.as_ref());
        let object = Object {
            value: block.mark_sensitive(&value),
            dynamic,
            private: answer.private,
            identity: identity.map_err(|problem| self.malformed(Method::PLAN, problem))?,
        };
        let replaces = answer.replaces.into_iter().map(path).collect();
        Ok(CheckedPlan {
            object,
            replaces,
            tolerated,
            legacy: answer.legacy,
            warnings,
        })
    }

    /// Carries out a planned change.
    ///
    /// # Errors
    /// If there is no usable answer; [`CallFailure::is_outcome_unknown`] tells whether the change
    /// may have taken effect. Errors that the provider reports are in [`AppliedChange`].
    pub async fn apply(&self, request: ApplyRequest<'_>) -> Result<AppliedChange, CallFailure> {
        let ApplyRequest {
            type_name,
            prior,
            planned,
            config,
        } = request;
        let shape = self.call_types(type_name)?;
        let prior = prior.filter(|prior| !prior.is_absent());
        let message = ApplyMessage {
            type_name: type_name.into(),
            prior: Some(shape.object(prior)?),
            planned: Some(shape.object(Some(planned))?),
            config: Some(write(&shape.conform(config), &shape.ty, &[])?),
            private: planned.private.clone(),
            meta: self.meta(),
            identity: shape.write_identity(planned.identity.as_ref())?,
        };
        let answer: ApplyAnswer = self.ask(Method::APPLY, message).await?;
        self.applied(&shape, answer, prior, planned)
    }

    fn applied(
        &self,
        shape: &CallTypes,
        answer: ApplyAnswer,
        prior: Option<&Object>,
        planned: &Object,
    ) -> Result<AppliedChange, CallFailure> {
        let diagnostics = diagnostics(answer.notices);
        let failed = diagnostics.iter().any(TerraformDiagnostic::is_error);
        let (value, dynamic) =
            self.changed(Method::APPLY, shape, answer.state.as_ref(), answer.legacy)?;
        if failed && value.is_null() {
            // Providers omit the state when they fail. The prior object still exists then.
            let object = prior.cloned().unwrap_or_default();
            return Ok(AppliedChange {
                object,
                diagnostics,
                violations: vec![],
                tolerated: vec![],
                broken: false,
            });
        }
        let block = &shape.schema.block;
        let value = marks::copy_secret_marks(&planned.value, &value);
        let found = if failed {
            Vec::new()
        } else {
            check_apply(block, &planned.value, &value)
        };
        // A violation about the existence of the object is never tolerated.
        let stands = |one: &Violation| one.counts_for(answer.legacy) || one.path.0.is_empty();
        let (violations, tolerated) = found.into_iter().partition::<Vec<_>, _>(stands);
        let value = marks::without_unknown(
            &block.without_write_only(&value),
            &Path::default(),
            &mut Vec::new(),
        );
        let identity = shape.read_identity(answer.identity.as_ref());
        let identity = identity.map_err(|problem| self.malformed(Method::APPLY, problem))?;
        let object = Object {
            identity: identity
                .or_else(|| planned.identity.clone())
                .filter(|_| !value.is_null()),
            value: block.mark_sensitive(&value),
            dynamic,
            private: answer.private,
        };
        let broken = prior.is_none() && !object.is_absent() && (failed || !violations.is_empty());
        Ok(AppliedChange {
            object,
            diagnostics,
            violations,
            tolerated,
            broken,
        })
    }

    /// Reads the value of an answer to a change. A value of the legacy type system is converted to
    /// the shape of the schema.
    fn changed(
        &self,
        method: Method,
        shape: &CallTypes,
        data: Option<&Data>,
        legacy: bool,
    ) -> Result<(Value, Vec<(Path, ValueType)>), CallFailure> {
        let (value, dynamic) =
            read(data, &shape.ty, "state").map_err(|problem| self.malformed(method, problem))?;
        Ok((if legacy { shape.conform(&value) } else { value }, dynamic))
    }
}

impl CheckedPlan {
    fn into_answer(self, verdict: ChangeVerdict) -> AnswerWithWarnings<PlannedChange> {
        let planned = PlannedChange {
            object: self.object,
            verdict,
            tolerated: self.tolerated,
            legacy: self.legacy,
        };
        AnswerWithWarnings {
            value: planned,
            warnings: self.warnings,
        }
    }
}

impl ChangeVerdict {
    /// Whether a later plan with this verdict keeps the promise of an earlier verdict. A harsher
    /// verdict does not.
    pub fn keeps(&self, earlier: &ChangeVerdict) -> bool {
        match (earlier, self) {
            (ChangeVerdict::Update, ChangeVerdict::Same | ChangeVerdict::Update)
            | (
                ChangeVerdict::Replace { .. },
                ChangeVerdict::Replace { .. } | ChangeVerdict::Create,
            ) => true,
            (earlier, later) => earlier == later,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_harsher_verdict_breaks_a_promise() {
        let replace = || ChangeVerdict::Replace { paths: Vec::new() };
        assert!(ChangeVerdict::Same.keeps(&ChangeVerdict::Update));
        assert!(ChangeVerdict::Create.keeps(&replace()));
        assert!(!replace().keeps(&ChangeVerdict::Update));
        assert!(!ChangeVerdict::Update.keeps(&ChangeVerdict::Same));
    }
}
