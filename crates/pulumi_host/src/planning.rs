//! Planning with a plugin: Check, then Diff for an existing resource, then a preview of Create or
//! Update.
//!
//! Directly before a call, Check and Diff are called again, without a preview.

use blueprint::{Address, FieldPath, Name, Type, Value};
use plugin_host::CallEffect;
use provider::{
    Call, ErrorKind, PlanMode, PlanPhase, PlanRequest, Planned, ProviderError, Scrubber, Verdict,
};
use pulumi_wire::schema::ResourceFacts;
use pulumi_wire::{Phase, PropertyPath};
use sha2::{Digest as _, Sha256};

use crate::answer::Diff;
use crate::failure::CallFailure;
use crate::fields::{Private, fields_of};
use crate::files::ProgramFiles;
use crate::names::ResourceName;
use crate::problems::{error_of, field_path, property_path, refusals};
use crate::session::{CallTarget, Desired, PluginSession, ReadResult, RecordedResource};

/// The target of calls about a resource.
pub(crate) fn target<'a>(
    name: &'a ResourceName,
    facts: &'a ResourceFacts,
    phase: Phase,
    address: &'a Address,
    files: &'a ProgramFiles<'a>,
) -> CallTarget<'a> {
    CallTarget {
        urn: &name.urn,
        type_name: &facts.token,
        name: &name.name,
        phase,
        address: Some(address),
        lookups: files,
    }
}

/// The plan while the settings of the plugin are unknown: the plugin is asked once they are known.
pub(crate) fn plan_with_unknown_settings(
    package: &str,
    facts: &ResourceFacts,
    call: &Call,
    request: &PlanRequest<'_>,
) -> Planned {
    let outputs = facts.complete_planned(&Value::map::<Name>([]), Some(&call.address));
    let id = planned_id(request.id.map(Name::from), &call.address);
    Planned {
        verdict: Verdict::Undecided {
            needs: format!("the settings of `{package}`"),
        },
        inputs: Some(facts.complete_inputs(request.desired)),
        outputs: Some(fields_of(outputs, id).0),
        ..Planned::default()
    }
}

fn planned_id(id: Option<Name>, address: &Address) -> Value {
    id.map_or_else(
        || Value::unknown(Some(Type::Text), Some(address.clone())),
        Value::Text,
    )
}

/// Asks a configured plugin about a create, update or replacement.
pub(crate) async fn plan_change(
    session: &PluginSession,
    facts: &ResourceFacts,
    call: &Call,
    request: &PlanRequest<'_>,
    settings: &Value,
) -> Result<Planned, ProviderError> {
    let secrets = || {
        Scrubber::of([
            request.prior_inputs,
            request.prior,
            request.desired,
            request.private,
            settings,
        ])
    };
    let reads = |failure: CallFailure| error_of(failure, CallEffect::Reads, &secrets());
    let phase = match request.phase {
        PlanPhase::Preview => Phase::Planning,
        PlanPhase::Apply => Phase::Applying,
    };
    let name = ResourceName::of_call(call, &facts.token);
    let files = ProgramFiles::of_call(call);
    let target = target(&name, facts, phase, &call.address, &files);
    let private = Private::of(request.private);
    let updates = request.mode == PlanMode::Update;
    let recorded_inputs = private.read_inputs.as_ref().unwrap_or(request.prior_inputs);

    files.refuse_missing(request.desired)?;
    let seed = Sha256::digest(request.seed.as_bytes());
    let desired = facts.complete_inputs(request.desired);
    let olds = if updates {
        recorded_inputs
    } else {
        &Value::Null
    };
    // The plugin generates names in its own way, because there is no configuration for it.
    let checked = session
        .check(&target, olds, &desired, &seed, None)
        .await
        .map_err(reads)?;
    if !checked.failures.is_empty() {
        let refused = refusals(&checked.failures, &secrets());
        return Err(ProviderError::of_diagnostics(ErrorKind::Document, refused));
    }
    let inputs = facts.complete_inputs(&checked.inputs);

    let ignored: Vec<PropertyPath> = request
        .ignored
        .iter()
        .map(|path| property_path(path))
        .collect();
    let desired = Desired {
        inputs: &inputs,
        ignored: &ignored,
        timeout: call.deadline,
    };
    let previews = request.phase == PlanPhase::Preview;
    let (verdict, replaces, outputs) = match request.id.filter(|_| updates) {
        Some(id) => {
            let outputs = private.outputs(facts, request.prior);
            let recorded = RecordedResource {
                id,
                inputs: recorded_inputs,
                outputs: &outputs,
            };
            let outputs = current(session, &target, &recorded, &private, call, settings).await?;
            let recorded = RecordedResource {
                outputs: outputs.as_ref().unwrap_or(recorded.outputs),
                ..recorded
            };
            let diff = session
                .diff(&target, &recorded, &desired)
                .await
                .map_err(reads)?;
            let demanded = demanded_paths(facts, request.replacing);
            let unhealthy = !request.unhealthy.is_empty();
            let (verdict, replaces) = verdict_of(&diff, &demanded, unhealthy);
            let outputs = match verdict {
                Verdict::Update if previews => {
                    let updated = session
                        .update(&target, &recorded, &desired)
                        .await
                        .map_err(reads)?;
                    Some((updated.outputs, Some(Name::from(id))))
                }
                _ => None,
            };
            (verdict, replaces, outputs)
        }
        None if previews => {
            let made = session.create(&target, &desired).await.map_err(reads)?;
            (Verdict::Update, Vec::new(), Some((made.outputs, made.id)))
        }
        None => (Verdict::Update, Vec::new(), None),
    };
    let outputs = outputs.map(|(outputs, id)| {
        let outputs = facts.complete_planned(&outputs, Some(&call.address));
        fields_of(outputs, planned_id(id, &call.address)).0
    });
    Ok(Planned {
        verdict,
        inputs: Some(inputs),
        outputs,
        replaces,
        ..Planned::default()
    })
}

/// The current outputs of a resource that must be read before each comparison; `None` if the
/// recorded outputs count.
pub(crate) async fn current(
    session: &PluginSession,
    target: &CallTarget<'_>,
    recorded: &RecordedResource<'_>,
    private: &Private,
    call: &Call,
    settings: &Value,
) -> Result<Option<Value>, ProviderError> {
    if !private.read_first {
        return Ok(None);
    }
    let read = session.read(target, recorded, call.deadline).await;
    let secrets = || Scrubber::of([recorded.inputs, recorded.outputs, settings]);
    match read.map_err(|failure| error_of(failure, CallEffect::Reads, &secrets()))? {
        ReadResult::Present { outputs, .. } => Ok(Some(outputs)),
        ReadResult::Absent => {
            let message = format!("`{}` does not exist any more", call.address);
            Err(ProviderError::new(ErrorKind::NotFound, message))
        }
        ReadResult::Unknown => Ok(None),
    }
}

/// The paths whose changes replace a resource, by its schema and by its document.
fn demanded_paths(facts: &ResourceFacts, stated: &[FieldPath]) -> Vec<PropertyPath> {
    let of_schema = facts.replace_on_changes.iter().cloned();
    let stated = stated.iter().map(|path| property_path(&path.to_string()));
    of_schema
        .map(PropertyPath::property)
        .chain(stated)
        .collect()
}

/// The verdict of a comparison, with the paths that cause a replacement.
fn verdict_of(
    diff: &Diff,
    demanded: &[PropertyPath],
    unhealthy: bool,
) -> (Verdict, Vec<FieldPath>) {
    if !diff.changed {
        let verdict = if unhealthy {
            Verdict::Update
        } else {
            Verdict::Same
        };
        return (verdict, Vec::new());
    }
    let mut replaces = diff.replaces.clone();
    for change in &diff.changes {
        if demanded.iter().any(|path| path.covers(&change.path)) && !replaces.contains(&change.path)
        {
            replaces.push(change.path.clone());
        }
    }
    if replaces.is_empty() {
        return (Verdict::Update, Vec::new());
    }
    let delete_first = diff.delete_before_replace.then_some(true);
    (
        Verdict::Replace { delete_first },
        replaces.iter().map(field_path).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{ChangeKind, DiffDecider, PropertyChange};

    fn diff(changed: bool, changes: &[&str], replaces: &[&str]) -> Diff {
        let path = |text: &&str| PropertyPath::parse_or_name(text);
        let change = |text: &&str| PropertyChange {
            path: path(text),
            kind: ChangeKind::Update,
            replaces: false,
            input: true,
        };
        Diff {
            changed,
            decided: DiffDecider::Plugin,
            replaces: replaces.iter().map(path).collect(),
            stables: Vec::new(),
            delete_before_replace: false,
            changes: changes.iter().map(change).collect(),
        }
    }

    #[test]
    fn an_unhealthy_resource_is_updated() {
        assert_eq!(
            verdict_of(&diff(false, &[], &[]), &[], false).0,
            Verdict::Same
        );
        assert_eq!(
            verdict_of(&diff(false, &[], &[]), &[], true).0,
            Verdict::Update
        );
        let replace = Verdict::Replace { delete_first: None };
        assert_eq!(
            verdict_of(&diff(true, &["a"], &["a"]), &[], true).0,
            replace
        );
    }

    #[test]
    fn schema_and_document_may_demand_a_replacement() {
        let facts = ResourceFacts {
            replace_on_changes: vec!["zone".into()],
            ..ResourceFacts::default()
        };
        let demanded = demanded_paths(&facts, &[FieldPath::parse("size")]);
        assert_eq!(
            verdict_of(&diff(true, &["a"], &[]), &demanded, false).0,
            Verdict::Update
        );
        for (changes, path) in [(["zone.name", "a"], "zone.name"), (["size", "a"], "size")] {
            let (verdict, replaces) = verdict_of(&diff(true, &changes, &[]), &demanded, false);
            assert_eq!(verdict, Verdict::Replace { delete_first: None });
            assert_eq!(replaces, [FieldPath::parse(path)]);
        }
    }
}
