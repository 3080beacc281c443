//! Applies the user's policies to a draft: drift accepted, ignored or refused, requested
//! replacements, protection and retention (decisions/plan#replacement, decisions/plan#removal,
//! decisions/plan#drift).

use std::sync::Arc;

use blueprint::{Address, IndexMap, Map, Name, Value};
use diag::{Diagnostics, Span};
use dialect::Mistake;
use dialect::rules::MessageRules;
use evaluate::answers::{Answers, PinnedRead};
use provider::{Catalogs, ResourceType, TypeRef};
use state::{Record, Snapshot};
use understand::compare::Change;
use understand::links::DeterministicMap;
use understand::links::contribution::ContributionIndex;
use understand::links::overlay::overlays_of;
use understand::secret_marks::mark_fields;

use crate::addresses::SelectedAddresses;
use crate::codes;
use crate::decision::Decision;
use crate::draft::Draft;
use crate::drift::{OverlaysByTarget, drifted_fields, overlays_by_target, prior_spec};
use crate::linked::Linked;
use crate::model::{Action, Reason};
use crate::options::DriftPolicy;
use crate::settled::SettledRecords;

/// Applies the drift policy to the reads and the records, before anything is decided. A vanished
/// object stays vanished under every policy. Returns accepted drift of fields that the document
/// sets.
pub(crate) fn apply_drift_policy(
    policy: DriftPolicy,
    reaches: impl Fn(&Address) -> bool,
    snapshot: &mut Snapshot,
    answers: &mut Answers,
    catalogs: &Catalogs,
    settled_records: &mut SettledRecords,
) -> IndexMap<Address, Vec<Change>> {
    let mut differs = IndexMap::default();
    match policy {
        DriftPolicy::Revert | DriftPolicy::Refuse => {}
        DriftPolicy::Ignore => answers
            .seen
            .retain(|_, seen| !matches!(seen, PinnedRead::Present { .. })),
        DriftPolicy::Accept => {
            let drifted: Vec<Address> = answers
                .seen
                .iter()
                .filter(|(address, seen)| {
                    matches!(seen, PinnedRead::Present { .. }) && reaches(address)
                })
                .map(|(address, _)| address.clone())
                .collect();
            for address in drifted {
                let Some(record) = snapshot
                    .records
                    .get(&address)
                    .filter(|record| !record.id.is_empty())
                    .cloned()
                else {
                    continue;
                };
                let Some(PinnedRead::Present {
                    fields, private, ..
                }) = answers.seen.shift_remove(&address)
                else {
                    continue;
                };
                if let TypeRef::Known(ty) = catalogs.resource_type(&record.type_name) {
                    let ignored = ignored_changes(&record);
                    let mut set = crate::drift::changes(&ty, &record, &fields);
                    set.retain(|change| {
                        is_set(&record, &change.path) && !is_ignored(&change.path, &ignored)
                    });
                    if !set.is_empty() {
                        differs.insert(address.clone(), set);
                    }
                    let mut taken = Record::clone(&record);
                    taken.outputs = fields_with_accepted_drift(&ty, &record, &fields);
                    taken.private = private;
                    settled_records.put(snapshot, &address, Some(Arc::new(taken)));
                }
            }
        }
    }
    differs
}

/// Whether the document sets the leaf at a path, or a value that contains the leaf.
fn is_set(record: &Record, path: &str) -> bool {
    let mut here = &record.inputs;
    for name in path.strip_prefix("spec.").unwrap_or(path).split('.') {
        let name = name.split_once('[').map_or(name, |(name, _)| name);
        match here.get(name) {
            Some(value) => here = value,
            // A list or a scalar is set as a whole.
            None => return here.as_map().is_none(),
        }
    }
    true
}

fn is_ignored(path: &str, ignored: &[Name]) -> bool {
    let path = path.strip_prefix("spec.").unwrap_or(path);
    ignored.iter().any(|one| {
        path.strip_prefix(one.as_ref())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    })
}

/// The recorded fields of a resource, with the values as read of fields that the document does not
/// set.
fn fields_with_accepted_drift(ty: &ResourceType, record: &Record, seen: &Value) -> Value {
    let mut outputs = record.outputs.as_map().cloned().unwrap_or_default();
    if ty.capabilities.partial {
        return merge_unset_values(Some(&record.outputs), seen, Some(&record.inputs));
    }
    for field in drifted_fields(ty, record, seen) {
        let now = field.now.as_ref();
        let now = now.map_or(Value::Null, |now| field.marked(now, record));
        match merge_unset_values(outputs.get(field.name), &now, record.inputs.get(field.name)) {
            Value::Null => drop(outputs.shift_remove(field.name)),
            value => drop(outputs.insert(field.name.clone(), value)),
        }
    }
    Value::Map(outputs.into())
}

/// The recorded value, with the value as read wherever the document sets nothing.
fn merge_unset_values(recorded: Option<&Value>, seen: &Value, set: Option<&Value>) -> Value {
    let Some(set) = set.filter(|set| !set.is_null()) else {
        return seen.clone();
    };
    let recorded = recorded.cloned().unwrap_or_default();
    match (recorded.as_map(), seen.as_map(), set.as_map()) {
        (Some(then), Some(now), Some(set)) => {
            let mut merged = Map::default();
            for key in then
                .keys()
                .chain(now.keys().filter(|key| !then.contains_key(key)))
            {
                let value = merge_unset_values(
                    then.get(key),
                    now.get(key).unwrap_or(&Value::Null),
                    set.get(key),
                );
                if !value.is_null() {
                    merged.insert(key.clone(), value);
                }
            }
            Value::Map(merged.into())
        }
        _ => recorded,
    }
}

/// The record of an object with all fields as read, also those that the document sets.
pub(crate) fn record_as_read(
    ty: &ResourceType,
    record: &Record,
    fields: &Value,
    private: &Value,
) -> Record {
    let mut inputs = record.inputs.as_map().cloned().unwrap_or_default();
    for field in drifted_fields(ty, record, fields).filter(|field| field.written) {
        match field.input_now(record) {
            Some(now) => drop(inputs.insert(field.name.clone(), now)),
            None => drop(inputs.shift_remove(field.name)),
        }
    }
    let mut taken = record.clone();
    taken.outputs = mark_fields(&ty.schema, fields, &record.outputs);
    taken.inputs = Value::Map(inputs.into());
    taken.private = private.clone();
    taken
}

/// The paths of a spec whose changes are ignored, from the annotation that the record stores of its
/// resource. For records that the documents no longer declare, and for plans without a document.
pub(crate) fn ignored_changes(record: &Record) -> Vec<Name> {
    let annotations = record.metadata.get("annotations");
    let text = annotations
        .and_then(|all| all.get("cyan.ignoreChanges"))
        .and_then(Value::as_text);
    text.map(|text| text.split(',').map(str::trim).map(Name::from).collect())
        .unwrap_or_default()
}

/// Turns the steps of the resources that the user wants replaced into replacements; absent
/// resources stay as they are.
pub(crate) fn request_replacements(drafts: &mut [Decision], replace: &SelectedAddresses) {
    for decision in drafts
        .iter_mut()
        .filter(|decision| replace.covers(&decision.address))
    {
        if matches!(
            decision.action,
            Action::None | Action::Update | Action::Replace
        ) {
            decision.action = Action::Replace;
            decision.may_replace = false;
            decision.only_recorded = false;
            decision.reasons.insert(0, Reason::Requested);
        }
    }
}

/// Drops the memoised values that the user wants drawn again (decisions/blueprint#memoised-values).
pub(crate) fn renew(answers: &mut Answers, renew: &SelectedAddresses) {
    if !renew.is_empty() {
        answers
            .memoised
            .retain(|site, _| !owner_of(site).is_some_and(|owner| renew.covers(&owner)));
    }
}

/// The names of the owners of call sites.
pub(crate) fn owners(answers: &Answers) -> Vec<Name> {
    answers
        .memoised
        .keys()
        .filter_map(|site| Some(owner_of(site)?.name.clone()))
        .collect()
}

fn owner_of(site: &str) -> Option<Address> {
    site.rsplitn(3, '|').nth(2)?.parse().ok()
}

/// Reports `drift-refused` for each resource and each link of a draft that has drifted.
pub(crate) fn refuse_drift(
    draft: &Draft,
    snapshot: &Snapshot,
    answers: &Answers,
    found: &mut Diagnostics,
) {
    let written = overlays_by_target(snapshot);
    let mut read = DeterministicMap::default();
    for decision in &draft.decisions {
        let by_reason = || {
            decision
                .reasons
                .iter()
                .any(|it| matches!(it, Reason::Drifted | Reason::Vanished))
        };
        let drifted = match decision.linked.as_deref() {
            // The drift of a write is reported for its link.
            Some(Linked::Write(_)) => false,
            Some(Linked::Record(link)) => {
                by_reason() || has_link_drifted(decision, link.link.is_some(), answers, &mut read)
            }
            Some(Linked::Part { .. }) => by_reason(),
            None => {
                by_reason()
                    || decision.element.is_none() && has_drifted(decision, answers, &written)
            }
        };
        if !drifted {
            continue;
        }
        let what = if decision.reasons.contains(&Reason::Vanished) {
            "is gone"
        } else {
            "is not as it was left"
        };
        let diagnostic = codes::DRIFT_REFUSED.new(format!(
            "`{}` {what}, and drift is refused",
            decision.address
        ));
        let diagnostic = placed(diagnostic, decision.span, "declared here");
        found.push(
            diagnostic.help(
                "see what differs with `cyan drift`; choose what becomes of it with `--drift`",
            ),
        );
    }
}

/// Whether a resource that is no longer declared differs from its record.
fn has_drifted(decision: &Decision, answers: &Answers, written: &OverlaysByTarget) -> bool {
    let (Some(ty), Some(record)) = (&decision.ty, &decision.prior) else {
        return false;
    };
    match answers.seen.get(&decision.address) {
        // Changes that its annotation ignores do not count, although it is no longer declared.
        Some(PinnedRead::Present { fields, .. }) => {
            let written = written
                .get(&decision.address)
                .map_or(&[][..], Vec::as_slice);
            prior_spec(ty, record, Some(fields), &ignored_changes(record), written).1
        }
        _ => false,
    }
}

/// Whether something else has changed what a link has written by steps of its own, or removed it.
/// If the link is no longer declared, a removed contribution is already as the plan wants it.
/// `read` keeps the contents of the targets.
fn has_link_drifted(
    decision: &Decision,
    declared: bool,
    answers: &Answers,
    read: &mut DeterministicMap<Address, ContributionIndex>,
) -> bool {
    let Some(record) = &decision.prior else {
        return false;
    };
    overlays_of(record)
        .into_iter()
        .filter(|overlay| !overlay.open)
        .any(|overlay| {
            let Some(PinnedRead::Present { fields, .. }) = answers.seen.get(&overlay.target) else {
                return false;
            };
            let target = read
                .entry(overlay.target)
                .or_insert_with(|| ContributionIndex::new(fields.clone()));
            match target.value_of(&overlay.contribution) {
                Some(_) => !target.has(&overlay.contribution),
                None => declared,
            }
        })
}

/// Reports refused changes, `protected` for replaced or deleted resources, and a note for each
/// object left in the world.
pub(crate) fn report_protection(
    draft: &Draft,
    messages: &dyn MessageRules,
    found: &mut Diagnostics,
) {
    for decision in &draft.decisions {
        let Decision { address, span, .. } = decision;
        refuse_changes(decision, messages, found);
        match decision.action {
            Action::Replace if decision.protection.protect => {
                found.push(protected(address, "replaced", *span))
            }
            Action::Delete if decision.protection.protect => {
                found.push(protected(address, "deleted", *span))
            }
            Action::Detach if is_tied(decision) => {}
            Action::Detach => {
                let note = codes::RETAINED.new(format!(
                    "`{address}` is left in the world and no longer managed"
                ));
                found.push(placed(note, *span, ""));
            }
            _ => {}
        }
    }
}

/// Whether the object of a removed record is gone with another one, or was never managed.
fn is_tied(decision: &Decision) -> bool {
    let tied = [Reason::DeletedWith, Reason::NotManaged];
    decision.reasons.iter().any(|reason| tied.contains(reason))
}

/// Reports `restricted-action` for actions that are restricted, and `immutable-changed` for fields
/// that may not change.
fn refuse_changes(decision: &Decision, messages: &dyn MessageRules, found: &mut Diagnostics) {
    let words = |mistake: Mistake<'_>| messages.of(&mistake).map(Box::new);
    let (what, restricted) = match decision.action {
        Action::Update => ("update", decision.protection.restricted.update),
        Action::Replace => ("replace", decision.protection.restricted.replace),
        _ => return,
    };
    if restricted {
        let mut diagnostic = codes::RESTRICTED_ACTION
            .new(
                format!("`{}` may not be {what}d", decision.address)
                    .replace("updated", "updated in place"),
            )
            .help("take the restriction out of the registry, or the change out of the document");
        diagnostic.native_message = words(Mistake::Restricted {
            resource: &decision.address.name,
            action: what,
        });
        found.push(placed(
            diagnostic,
            decision.span,
            "restricted by the environment",
        ));
    }
    let Some(ty) = &decision.ty else { return };
    for change in &decision.changes {
        let field = change.path.split(['.', '[']).next().unwrap_or_default();
        if ty
            .schema
            .fields
            .get(field)
            .is_some_and(|field| field.immutable)
        {
            let mut diagnostic = dialect::codes::IMMUTABLE_CHANGED
                .new(format!(
                    "`{field}` of `{}` may not change",
                    decision.address
                ))
                .help("give it its value of before, or make another resource");
            let resource = &decision.address.name;
            diagnostic.native_message = words(Mistake::Immutable {
                field,
                resource,
                type_name: &ty.name,
            });
            found.push(placed(
                diagnostic,
                decision.span,
                "its type allows no change",
            ));
        }
    }
}

fn protected(address: &Address, what: &str, span: Span) -> diag::Diagnostic {
    let diagnostic = codes::PROTECTED.new(format!("`{address}` is protected and would be {what}"));
    placed(diagnostic, span, "protected by `cyan.protect`")
        .help("take `cyan.protect` away first and deploy that")
}

fn placed(diagnostic: diag::Diagnostic, span: Span, text: &str) -> diag::Diagnostic {
    if span.is_some() {
        diagnostic.label(span, text)
    } else {
        diagnostic
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_set_by_the_document_keep_their_recorded_value() {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let recorded = read(r#"{"a":{"x":1,"y":2},"b":3}"#);
        let set = read(r#"{"a":{"x":1}}"#);
        let seen = read(r#"{"a":{"x":7,"z":8},"b":9}"#);
        let taken = merge_unset_values(Some(&recorded), &seen, Some(&set));
        assert_eq!(
            serde_json::to_string(&taken).unwrap(),
            r#"{"a":{"x":1,"z":8},"b":9}"#
        );
    }
}
