//! The plans of a provider, in the terms of the contract.

use blueprint::Value;
use provider::{Call, PlanMode, PlanRequest, Planned, ProviderDiagnostic, Verdict};

use crate::change::ChangeVerdict;
use crate::fields::{Private, with_dependencies};
use crate::problems::field_path;
use crate::{AnswerWithWarnings, CallFailure, Client, Object, Stored};

/// Returns the existing object in the form of the current schema, from its fields and its envelope.
/// It is upgraded if necessary.
pub(crate) async fn current(
    client: &Client,
    type_name: &str,
    fields: &Value,
    envelope: &Value,
) -> Result<AnswerWithWarnings<Object>, CallFailure> {
    match client.restored(type_name, fields, envelope)? {
        Some(object) => Ok(AnswerWithWarnings {
            value: object,
            warnings: Vec::new(),
        }),
        None => upgraded(client, type_name, fields, envelope).await,
    }
}

/// Returns the upgraded object, even if it already has the form of the current schema.
pub(crate) async fn upgraded(
    client: &Client,
    type_name: &str,
    fields: &Value,
    envelope: &Value,
) -> Result<AnswerWithWarnings<Object>, CallFailure> {
    let stored = Stored::restore(fields, envelope).map_err(CallFailure::Unfit)?;
    let mut answer = client.upgrade(type_name, &stored).await?;
    answer.value.value = crate::marks::copy_secret_marks(fields, &answer.value.value);
    Ok(answer)
}

/// Asks a provider about a change. The caller handles the diagnostics of the answer.
///
/// Each call of the engine is one call of the provider. For a replacement the engine asks about the
/// new object itself, with the data of the plan for the old one.
pub(crate) async fn plan_change(
    client: &Client,
    type_name: &str,
    call: &Call,
    request: &PlanRequest<'_>,
) -> Result<AnswerWithWarnings<Planned>, CallFailure> {
    let private = Private::of(request.private, request.schema_version);
    let config = request.desired;
    let mut warnings = Vec::new();
    let nothing = request.prior.is_null();
    let (answer, recorded) = match request.mode {
        PlanMode::Delete if nothing => {
            return Ok(AnswerWithWarnings {
                value: Planned::default(),
                warnings,
            });
        }
        PlanMode::Create => (client.plan_new(type_name, &[], config).await?, None),
        PlanMode::Update if nothing => (client.plan_new(type_name, &[], config).await?, None),
        // Without a plan for the old object the engine demands the replacement, because the old one
        // is broken.
        PlanMode::Replace => (
            client
                .plan_new(type_name, &private.planned_bytes(), config)
                .await?,
            None,
        ),
        PlanMode::Update | PlanMode::Delete => {
            let prior = current(client, type_name, request.prior, &private.recorded).await?;
            warnings = prior.warnings;
            let answer = match request.mode {
                PlanMode::Delete => client.plan_delete(type_name, &prior.value).await?,
                _ => {
                    client
                        .plan_in_place(type_name, &prior.value, config)
                        .await?
                }
            };
            (answer, Some(private.recorded))
        }
    };
    let change = answer.value;
    warnings.extend(answer.warnings);
    let envelope = client.envelope(type_name, &change.object)?;
    let data = match (request.mode, recorded) {
        (PlanMode::Delete, Some(recorded)) => Private::of_delete(recorded, envelope),
        (_, recorded) => Private::of_plan(recorded, envelope),
    };
    let outputs = Some(&change.object.value).filter(|value| !value.is_null());
    let outputs = outputs.map(|value| with_dependencies(value, config, &call.address));
    let (verdict, replaces) = match change.verdict {
        // The opaque data of the record stays: the provider is not called.
        ChangeVerdict::Same if request.unhealthy.is_empty() => {
            let same = Planned {
                verdict: Verdict::Same,
                outputs,
                inexact: change.legacy,
                ..Planned::default()
            };
            return Ok(AnswerWithWarnings {
                value: same,
                warnings,
            });
        }
        ChangeVerdict::Replace { paths } => (
            Verdict::Replace { delete_first: None },
            paths.iter().map(field_path).collect::<Vec<_>>(),
        ),
        ChangeVerdict::Same
        | ChangeVerdict::Create
        | ChangeVerdict::Update
        | ChangeVerdict::Delete => (Verdict::Update, Vec::new()),
    };
    // The changed form of an object that is replaced is not needed.
    let outputs = outputs.filter(|_| replaces.is_empty());
    let value = Planned {
        verdict,
        outputs,
        inexact: change.legacy,
        replaces,
        private: data,
        ..Planned::default()
    };
    Ok(AnswerWithWarnings { value, warnings })
}

/// Returns the reason why a repeated plan cannot be carried out: the resource must be replaced
/// after all, or a value differs from the promised one.
pub(crate) fn plan_contradiction(
    client: &Client,
    type_name: &str,
    promised: &Value,
    again: &crate::change::PlannedChange,
) -> Result<Option<ProviderDiagnostic>, CallFailure> {
    if let ChangeVerdict::Replace { paths } = &again.verdict {
        let path = paths.first().map(field_path).unwrap_or_default();
        return Ok(Some(ProviderDiagnostic::error(
            path,
            "the resource must be replaced after all",
        )));
    }
    if promised.is_null() || again.legacy {
        return Ok(None);
    }
    let found = client.contradictions(type_name, promised, &again.object.value)?;
    let first = found.first();
    Ok(first.map(|one| {
        ProviderDiagnostic::error(
            field_path(&one.path),
            format!("the repeated plan differs from the saved one: {one}"),
        )
    }))
}
