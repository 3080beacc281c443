//! Values for users and files, with secrets as the text `(secret)`; and such values with their marks
//! again.

use blueprint::Value;
use understand::compare::Change;

use crate::model::{ChildChange, ExportChange, LeftAlone, LinkChange, Step};

/// The text that stands for a secret.
const HIDDEN: &str = "(secret)";

/// A value for users and files: secrets as the text `(secret)`.
pub fn hidden(value: &Value) -> Value {
    match value {
        Value::Secret(_) => Value::from(HIDDEN),
        Value::List(items) | Value::Set(items) => Value::list(items.iter().map(hidden)),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), hidden(value))),
        ),
        other => other.clone(),
    }
}

/// A step for users and files: secrets as the text `(secret)`.
pub fn hidden_step(step: &Step) -> Step {
    let mut step = step.clone();
    for change in &mut step.changes {
        change.before = change.before.as_ref().map(hidden);
        change.after = change.after.as_ref().map(hidden);
    }
    step
}

/// A change of a link for users and files: secrets as the text `(secret)`.
pub fn hidden_link(link: &LinkChange) -> LinkChange {
    let mut link = link.clone();
    link.annotations = hidden(&link.annotations);
    for effect in &mut link.effects {
        effect.change.before = effect.change.before.as_ref().map(hidden);
        effect.change.after = effect.change.after.as_ref().map(hidden);
    }
    link
}

/// The resources left alone, for users and files: secrets as the text `(secret)`.
pub fn hidden_left_alone(left: &LeftAlone) -> LeftAlone {
    let mut left = left.clone();
    for change in left.document_differs.values_mut().flatten() {
        change.before = change.before.as_ref().map(hidden);
        change.after = change.after.as_ref().map(hidden);
    }
    left
}

/// An export for users and files: secrets as the text `(secret)`.
pub fn hidden_export(export: &ExportChange) -> ExportChange {
    let mut export = export.clone();
    export.before = export.before.as_ref().map(hidden);
    export.after = export.after.as_ref().map(hidden);
    export
}

/// A child document for users and files: secrets as the text `(secret)`.
pub fn hidden_child(child: &ChildChange) -> ChildChange {
    let mut child = child.clone();
    for export in child.exports.iter_mut().chain(&mut child.metadata) {
        *export = hidden_export(export);
    }
    child
}

/// A change for users and files, without its list: secrets as the text `(secret)`.
pub(crate) fn hidden_change(change: &Change) -> Change {
    Change {
        path: change.path.clone(),
        before: change.before.as_ref().map(hidden),
        after: change.after.as_ref().map(hidden),
        forces: change.forces,
        list: None,
    }
}

/// Marks the hidden values before and after as secrets.
pub(crate) fn restore_pair(before: Option<&mut Value>, after: Option<&mut Value>) {
    before.into_iter().chain(after).for_each(restore);
}

/// Marks hidden values as secrets.
pub(crate) fn restore(value: &mut Value) {
    match value {
        Value::Text(text) if **text == *HIDDEN => *value = Value::from(HIDDEN).secret(),
        Value::List(items) => {
            let mut items: Vec<Value> = items.iter().cloned().collect();
            items.iter_mut().for_each(restore);
            *value = Value::list(items);
        }
        Value::Map(entries) => {
            *value = Value::map(entries.iter().map(|(key, value)| {
                let mut value = value.clone();
                restore(&mut value);
                (key.clone(), value)
            }));
        }
        _ => {}
    }
}
