//! The values of exports after a plan, and the document's metadata.

use blueprint::{IndexMap, Map, Name, Value};
use diag::Diagnostics;
use evaluate::resolve::{Evaluation, ExpressionSite, Halt, Need};
use state::Snapshot;
use understand::compare::same;
use understand::secret_marks::with_secret_marks_of;

use crate::codes;
use crate::model::{ExportAction, ExportChange};
use crate::targets::Untouched;

/// Returns what the world must answer before the exports and metadata of the root document have
/// values.
pub(crate) fn needs(evaluation: &mut Evaluation) -> Vec<Need> {
    let documents = evaluation.documents.clone();
    let blueprint = documents.root().blueprint();
    let mut ignored = Diagnostics::new();
    let mut needs = Vec::new();
    for name in blueprint.exports.keys() {
        if let Err(Halt::Need(need)) = evaluation.export(name, &mut ignored)
            && !needs.contains(&need)
        {
            needs.push(need);
        }
    }
    if let Some(expr) = &blueprint.metadata
        && let Err(Halt::Need(need)) =
            evaluation.value(ExpressionSite::of(0, "metadata"), expr, &mut ignored)
        && !needs.contains(&need)
    {
        needs.push(need);
    }
    needs
}

/// The values of all exports as far as they are known. An export of an absent element is left out
/// with a warning. Exports that read something out of target keep their former values.
pub fn values(
    evaluation: &mut Evaluation,
    untouched: &Untouched,
    former: &IndexMap<Name, Value>,
    found: &mut Diagnostics,
) -> IndexMap<Name, Value> {
    let documents = evaluation.documents.clone();
    let blueprint = documents.root().blueprint();
    let mut values = IndexMap::default();
    for (name, export) in &blueprint.exports {
        if untouched.keeps(0, name) {
            values.extend(former.get(name).map(|value| (name.clone(), value.clone())));
            continue;
        }
        match evaluation.export(name, found) {
            Ok(Some(value)) if value.is_null() && !export.may_fail => {}
            Ok(Some(value)) => {
                values.insert(name.clone(), value);
            }
            Ok(None) | Err(Halt::Failed) => {}
            Err(Halt::Absent(_)) => found.push(
                codes::ABSENT_EXPORT
                    .new(format!("the export `{name}` is left out"))
                    .label(export.field.span, "the element that it refers to is absent"),
            ),
            // The world has already answered the needs of exports (see `needs`).
            Err(Halt::Need(_)) => {}
        }
    }
    values
}

/// Exports before and after, in document order, then the removed ones; and the document's metadata.
pub(crate) fn exports(
    evaluation: &mut Evaluation,
    snapshot: &Snapshot,
    untouched: &Untouched,
    found: &mut Diagnostics,
) -> (Vec<ExportChange>, Value) {
    let after = values(evaluation, untouched, &snapshot.exports, found);
    let changes = compare_values(&snapshot.exports, after);
    let metadata = if untouched.keeps_metadata(0) {
        snapshot.metadata.clone()
    } else {
        metadata(evaluation, found)
    };
    (changes, metadata)
}

/// Compares values by name, in the order of `after`; removed values come last.
pub(crate) fn compare_values(
    before: &IndexMap<Name, Value>,
    after: IndexMap<Name, Value>,
) -> Vec<ExportChange> {
    let removed_change = |(name, before): (&Name, &Value)| ExportChange {
        name: name.clone(),
        action: ExportAction::Removed,
        before: Some(before.clone()),
        after: None,
    };
    let removed: Vec<ExportChange> = before
        .iter()
        .filter(|(name, _)| !after.contains_key(*name))
        .map(removed_change)
        .collect();
    let change = |(name, after): (Name, Value)| {
        let before = before.get(&name).cloned();
        let (action, before) = match before {
            None => (ExportAction::New, None),
            Some(before) if same(&before, &after) => (ExportAction::Unchanged, Some(before)),
            // A value that has become secret hides its former value too.
            Some(before) => (
                ExportAction::Changed,
                Some(with_secret_marks_of(&before, Some(&after), None)),
            ),
        };
        ExportChange {
            name,
            action,
            before,
            after: Some(after),
        }
    };
    after.into_iter().map(change).chain(removed).collect()
}

/// The entries of a document's metadata before and after (decisions/plan#contents-of-a-plan).
pub(crate) fn metadata_changes(before: &Value, after: &Value) -> Vec<ExportChange> {
    let entries = |value: &Value| -> IndexMap<Name, Value> {
        let map = value.as_map().into_iter().flatten();
        map.map(|(name, entry)| {
            (
                name.clone(),
                entry.clone().tainted(matches!(value, Value::Secret(_))),
            )
        })
        .collect()
    };
    compare_values(&entries(before), entries(after))
}

/// All exports as removed.
pub(crate) fn none(snapshot: &Snapshot) -> Vec<ExportChange> {
    let removed = |(name, before): (&Name, &Value)| ExportChange {
        name: name.clone(),
        action: ExportAction::Removed,
        before: Some(before.clone()),
        after: None,
    };
    snapshot.exports.iter().map(removed).collect()
}

/// All exports as unchanged.
pub(crate) fn unchanged(snapshot: &Snapshot) -> Vec<ExportChange> {
    let same = |(name, value): (&Name, &Value)| ExportChange {
        name: name.clone(),
        action: ExportAction::Unchanged,
        before: Some(value.clone()),
        after: Some(value.clone()),
    };
    snapshot.exports.iter().map(same).collect()
}

/// The document's metadata, evaluated.
pub fn metadata(evaluation: &mut Evaluation, found: &mut Diagnostics) -> Value {
    let documents = evaluation.documents.clone();
    match &documents.root().blueprint().metadata {
        Some(expr) => evaluation
            .present(ExpressionSite::of(0, "metadata"), expr, found)
            .unwrap_or(Value::Map(Map::default().into())),
        None => Value::Null,
    }
}
