//! The record of a resource after a call that was cut off, derived from the read of the object.
//!
//! Not here: the read (`refresh`), and the user's decision about an unknown outcome (`settle`).

use std::sync::Arc;

use blueprint::{Name, Value};
use evaluate::answers::PinnedRead;
use provider::{Catalogs, TypeRef};
use state::{Intent, OpenIntent, Record, RecordOrigin, Status, StatusOp, StatusWord};
use understand::compare::{has_sent, same};
use understand::secret_marks::{mark_fields, with_secret_marks_of};

/// The record of a resource after a call that was cut off.
pub(crate) fn record_after_cut_off(
    open: &OpenIntent,
    before: Option<&Arc<Record>>,
    seen: Option<&PinnedRead>,
    catalogs: &Catalogs,
) -> Option<Arc<Record>> {
    let intent = &open.intent;
    let marked = |fields: &Value, like: &Value| match catalogs.resource_type(&intent.type_name) {
        TypeRef::Known(ty) => mark_fields(&ty.schema, fields, like),
        _ => with_secret_marks_of(fields, Some(like), None),
    };
    let present = match seen {
        Some(PinnedRead::Present {
            id,
            fields,
            private,
            ..
        }) => Some((id, fields, private)),
        _ => None,
    };
    match (intent.op, present) {
        (StatusOp::Delete, None) => before.and_then(|record| {
            let id = if intent.id.is_empty() {
                &record.id
            } else {
                &intent.id
            };
            record.without(id).map(Arc::new)
        }),
        (StatusOp::Delete, Some(_)) => before.cloned(),
        (StatusOp::Create, None) => record_after_unmade_create(intent, before, catalogs),
        (StatusOp::Create, Some((id, ..))) if before.is_some_and(|old| old.id == *id) => {
            before.cloned()
        }
        (StatusOp::Create, Some((id, fields, private))) => {
            let deposed = match before {
                Some(old) if !old.id.is_empty() && old.id != *id && !intent.retain => {
                    Some(Box::new(old.as_deposed()))
                }
                Some(old) => old.deposed.clone(),
                None => None,
            };
            let schema_version = match catalogs.resource_type(&intent.type_name) {
                TypeRef::Known(ty) => ty.schema_version,
                _ => 0,
            };
            let inputs = fill_unknown_inputs(&intent.inputs, fields);
            Some(Arc::new(Record {
                type_name: intent.type_name.clone(),
                // The read does not say whether the object is stable.
                status: Status::new(StatusOp::Create, StatusWord::Configured),
                id: id.clone(),
                // The outputs as of the create: later changes by others are drift.
                outputs: marked(&with_sent_values(fields, &inputs), &inputs),
                inputs,
                private: private.clone(),
                metadata: Value::Null,
                dependencies: intent.dependencies.clone(),
                retain: intent.retain,
                protect: intent.protect,
                delete_mode: intent.delete_mode,
                deposed,
                token: None,
                attempt: None,
                attention: None,
                unhealthy: Vec::new(),
                schema_version,
                duration_ms: before.map_or(0, |record| record.duration_ms),
                origin: RecordOrigin {
                    folder: intent.folder.clone(),
                    urn: intent.urn.clone(),
                    ..before
                        .map(|record| record.origin.clone())
                        .unwrap_or_default()
                },
                provider: None,
            }))
        }
        (StatusOp::Update, None) => before.cloned(),
        (StatusOp::Update, Some((id, fields, private))) => before.map(|old| {
            let mut record = Record::clone(old);
            let wanted = intent.inputs.as_map();
            let is_input = |key: &Name| match catalogs.resource_type(&intent.type_name) {
                TypeRef::Known(ty) => ty
                    .schema
                    .fields
                    .get(key)
                    .is_some_and(|field| !field.computed),
                _ => false,
            };
            let ty = catalogs.resource_type(&intent.type_name);
            let has = |key: &Name, seen: &Value, sent: &Value| match &ty {
                TypeRef::Known(ty) => match ty.schema.fields.get(key) {
                    // The provider computes parts of a field that were not sent.
                    Some(field) => has_sent(field, seen, sent),
                    None => same(seen, sent),
                },
                _ => same(seen, sent),
            };
            let done = wanted.is_some_and(|wanted| {
                let all = wanted
                    .iter()
                    .all(|(key, value)| fields.get(key).is_some_and(|seen| has(key, seen, value)));
                // A field that the update removes must no longer have a value.
                let stays = |(key, seen): (&Name, &Value)| {
                    !seen.is_null() && !wanted.contains_key(key) && is_input(key)
                };
                all && !fields
                    .as_map()
                    .is_some_and(|fields| fields.iter().any(stays))
            });
            record.outputs = marked(fields, &record.outputs);
            if done {
                record.inputs = intent.inputs.clone();
                record.dependencies = intent.dependencies.clone();
                record.status = Status::new(StatusOp::Update, StatusWord::Ready);
            } else {
                record.outputs = with_drift(&record.outputs, old, &intent.inputs, is_input);
                record.status = Status::new(StatusOp::Update, StatusWord::Interrupted);
            }
            record.id = id.clone();
            record.private = private.clone();
            record.token = None;
            Arc::new(record)
        }),
    }
}

/// The record after a create that created nothing. The private data that the provider returned
/// before the call is kept ([`provider::Provider::set_recorded_objects`]): the call may have
/// created something else, such as the folder above a file.
pub(crate) fn record_after_unmade_create(
    intent: &Intent,
    before: Option<&Arc<Record>>,
    catalogs: &Catalogs,
) -> Option<Arc<Record>> {
    if intent.private.is_null() || before.is_some_and(|record| !record.id.is_empty()) {
        return before.cloned();
    }
    let record = match before {
        Some(failed) => Record {
            private: intent.private.clone(),
            ..Record::clone(failed)
        },
        None => {
            let nothing = PinnedRead::Present {
                id: "".into(),
                fields: Value::Null,
                private: intent.private.clone(),
                expired: None,
                inputs: None,
            };
            let open = OpenIntent {
                intent: intent.clone(),
            };
            let made = record_after_cut_off(&open, None, Some(&nothing), catalogs)?;
            Record {
                status: Status::new(StatusOp::Create, StatusWord::Interrupted),
                outputs: Value::Null,
                ..Record::clone(&made)
            }
        }
    };
    Some(Arc::new(record))
}

/// The fields of a resource after its update was cut off. A field that the update did not change
/// keeps its recorded value, so that another value in the world is found as drift.
fn with_drift(seen: &Value, old: &Record, sent: &Value, is_input: impl Fn(&Name) -> bool) -> Value {
    let (Some(fields), Some(answered)) = (seen.as_map(), old.outputs.as_map()) else {
        return seen.clone();
    };
    let mut all = fields.clone();
    for (name, before) in answered.iter().filter(|(name, _)| is_input(name)) {
        let left_alone = match (old.inputs.get(name), sent.get(name)) {
            (Some(was), Some(is)) => same(was, is),
            (was, is) => was.is_none() && is.is_none(),
        };
        if left_alone && !fields.get(name).is_some_and(|now| same(now, before)) {
            all.insert(name.clone(), before.clone());
        }
    }
    Value::Map(Arc::new(all))
}

/// The inputs that were sent. A value that was unknown when the intent was written is taken from
/// the fields that were read; it is left out if they lack it.
pub(crate) fn fill_unknown_inputs(sent: &Value, fields: &Value) -> Value {
    fn walk(sent: &Value, seen: Option<&Value>) -> Option<Value> {
        match sent {
            _ if !sent.has_unknown() => Some(sent.clone()),
            Value::Unknown(_) => seen.filter(|seen| !seen.is_null()).cloned(),
            Value::Secret(inner) => walk(inner, seen.map(Value::unmarked)).map(Value::secret),
            Value::Map(entries) => {
                let seen = seen.map(Value::unmarked);
                let at = |name: &Name| seen.and_then(|seen| seen.get(name));
                let known = entries
                    .iter()
                    .filter_map(|(name, value)| Some((name.clone(), walk(value, at(name))?)));
                Some(Value::map(known))
            }
            Value::List(items) => {
                let seen = match seen.map(Value::unmarked) {
                    Some(Value::List(seen)) => seen.as_slice(),
                    _ => &[],
                };
                Some(Value::list(
                    items
                        .iter()
                        .enumerate()
                        .filter_map(|(at, item)| walk(item, seen.get(at))),
                ))
            }
            _ => None,
        }
    }
    if sent.has_unknown() {
        walk(sent, Some(fields)).unwrap_or(Value::Null)
    } else {
        sent.clone()
    }
}

/// The fields that were read. A sent field with another value in the read keeps the value that was
/// sent.
fn with_sent_values(fields: &Value, sent: &Value) -> Value {
    let Some(sent) = sent.as_map() else {
        return fields.clone();
    };
    let mut all = fields.as_map().cloned().unwrap_or_default();
    for (name, value) in sent {
        if !all.get(name).is_some_and(|seen| same(seen, value)) {
            all.insert(name.clone(), value.clone());
        }
    }
    Value::Map(Arc::new(all))
}
