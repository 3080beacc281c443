//! Secret marks of records follow the document of now, not the document that wrote them.
//!
//! A value that the document has come to mark as secret is marked in the record and in the fields
//! as read, before anything is compared or shown. A value that is no longer marked loses the mark
//! if it is the same value; another value stays hidden until it is replaced. Marks that neither
//! document explains, for example those of a provider, stay.

use std::sync::Arc;

use blueprint::{Field, Kind, Schema, Value};
use evaluate::answers::PinnedRead;
use evaluate::resolve::Evaluation;
use provider::{ResourceType, Scrubber};
use state::{Record, Snapshot};
use understand::compare::same;
use understand::secret_marks::{has_sensitive, mark_fields};

use crate::model::{ExportAction, ExportChange};
use crate::settled::SettledRecords;

/// Gives the records of these resources, and their fields as read, the secret marks of the
/// document. Returns the inputs of the records that have changed, with their new marks.
pub(crate) fn follow_document(
    evaluation: &mut Evaluation,
    resources: &[u32],
    snapshot: &mut Snapshot,
    settled_records: &mut SettledRecords,
) -> Vec<Value> {
    let documents = evaluation.documents.clone();
    let mut changed = Vec::new();
    for index in resources {
        let Some(ty) = documents.resource_type(*index) else {
            continue;
        };
        for member in evaluation.resources[*index as usize].present() {
            let Some(record) = snapshot.records.get(&member.address) else {
                continue;
            };
            let Some(marks) = ChangedMarks::between(record, &member.spec, ty) else {
                continue;
            };
            if let Some(PinnedRead::Present { fields, .. }) =
                evaluation.answers.seen.get_mut(&member.address)
            {
                *fields = marks.apply(fields);
            }
            let mut rewritten = Record::clone(record);
            rewritten.outputs = marks.apply(&record.outputs);
            changed.push(marks.inputs.clone());
            rewritten.inputs = marks.inputs;
            settled_records.put(snapshot, &member.address, Some(Arc::new(rewritten)));
        }
    }
    changed
}

/// Hides former values of exports that contain what has become secret. `inputs` are those of the
/// records with new marks.
pub(crate) fn hide_former_values<'c>(
    inputs: &[Value],
    changes: impl Iterator<Item = &'c mut ExportChange>,
) {
    if inputs.is_empty() {
        return;
    }
    let secret = Scrubber::of(inputs);
    // The former value of an unchanged export is not shown, and tells whether its marks change.
    for change in changes.filter(|change| change.action != ExportAction::Unchanged) {
        let Some(before) = &change.before else {
            continue;
        };
        let marked = secret.marked(&Value::map([("value", before.clone())]));
        change.before = marked.get("value").cloned();
    }
}

/// The difference between the secret marks of a record and those of the document.
struct ChangedMarks<'a> {
    schema: &'a Schema,
    desired: &'a Value,
    /// The recorded inputs with the new marks.
    inputs: Value,
    /// The values that were secret and are not secret any more.
    released: Scrubber,
    /// The values that are secret.
    secret: Scrubber,
}

impl<'a> ChangedMarks<'a> {
    /// `None` if the recorded inputs have the marks of the document.
    fn between(
        record: &Record,
        desired: &'a Value,
        ty: &'a ResourceType,
    ) -> Option<ChangedMarks<'a>> {
        if !desired.has_secret() && !record.inputs.has_secret() {
            return None;
        }
        let mut released = Vec::new();
        let inputs = release(&record.inputs, desired, &mut released);
        let inputs = mark_fields(&ty.schema, &inputs, desired);
        (inputs != record.inputs).then(|| ChangedMarks {
            schema: &ty.schema,
            desired,
            inputs,
            released: Scrubber::of(&released),
            secret: Scrubber::of([desired]),
        })
    }

    /// The fields of the object with the new marks.
    fn apply(&self, fields: &Value) -> Value {
        let Some(entries) = fields.as_map() else {
            return fields.clone();
        };
        let unmarked = Value::map(entries.iter().map(|(name, value)| {
            let field = self.schema.fields.get(name.as_ref());
            (name.clone(), without_released(value, field, &self.released))
        }));
        let marked = mark_fields(self.schema, &unmarked, self.desired);
        self.secret.marked(&marked)
    }
}

/// Removes the mark of each value that the document sets without a mark, and collects these values.
fn release(recorded: &Value, desired: &Value, released: &mut Vec<Value>) -> Value {
    match (recorded, desired) {
        (Value::Secret(_), Value::Secret(_)) => recorded.clone(),
        (Value::Secret(inner), desired) if same(inner, desired) => {
            released.push(recorded.clone());
            desired.clone()
        }
        (Value::Map(entries), Value::Map(others)) => {
            Value::map(entries.iter().map(|(name, value)| {
                let value = match others.get(name) {
                    Some(other) => release(value, other, released),
                    None => value.clone(),
                };
                (name.clone(), value)
            }))
        }
        (Value::List(items), Value::List(others)) if items.len() == others.len() => Value::list(
            items
                .iter()
                .zip(others.iter())
                .map(|(item, other)| release(item, other, released)),
        ),
        _ => recorded.clone(),
    }
}

/// The value without the marks of released values.
fn without_released(value: &Value, field: Option<&Field>, released: &Scrubber) -> Value {
    let inner_field = |name: &str| match field.map(|field| &field.kind) {
        Some(Kind::Object(schema)) => schema.fields.get(name),
        Some(Kind::Map(inner)) => Some(&**inner),
        _ => None,
    };
    match value {
        Value::Secret(inner) => {
            let whole = Value::map([("value", Value::clone(inner))]);
            if !has_sensitive(field) && released.marked(&whole).has_secret() {
                Value::clone(inner)
            } else {
                value.clone()
            }
        }
        Value::Map(entries) if value.has_secret() => {
            Value::map(entries.iter().map(|(name, value)| {
                (
                    name.clone(),
                    without_released(value, inner_field(name), released),
                )
            }))
        }
        Value::List(items) if value.has_secret() => {
            let item_field = match field.map(|field| &field.kind) {
                Some(Kind::Array(item)) => Some(&**item),
                _ => None,
            };
            Value::list(
                items
                    .iter()
                    .map(|item| without_released(item, item_field, released)),
            )
        }
        _ => value.clone(),
    }
}
