//! The schemas of `status`.

use blueprint::Value;

use super::fields::{any, atomic, formatted, integer, list, map_of, object, one_of, text, with};
use crate::kinds::CartoKind;

/// The longest message of a condition, in bytes.
const LONGEST_MESSAGE: i64 = 32_768;

/// The schema of `status` of a kind that has one.
pub(crate) fn status(kind: CartoKind) -> Value {
    let mut fields = vec![
        ("conditions", list(condition())),
        ("observedGeneration", integer()),
    ];
    match kind {
        CartoKind::Workload => {
            fields.push(("supplyChainRef", object(reference())));
            fields.push(("resources", list(resource())));
        }
        CartoKind::Deliverable => {
            fields.push(("deliveryRef", object(reference())));
            fields.push(("resources", list(resource())));
        }
        CartoKind::Runnable => fields.push(("outputs", map_of(any()))),
        _ => {}
    }
    object(fields)
}

fn condition() -> Value {
    const REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
    const PART: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
    let ty = format!(r"^({PART}(\.{PART})*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$");
    let limited = |pattern: String, most| {
        let schema = with(text(), "maxLength", Value::Int(most));
        with(schema, "pattern", Value::from(pattern))
    };
    let generation = with(integer(), "minimum", Value::Int(0));
    let reason = with(limited(REASON.to_owned(), 1024), "minLength", Value::Int(1));
    object([
        ("type!", limited(ty, 316)),
        ("status!", one_of(["True", "False", "Unknown"])),
        ("reason!", reason),
        (
            "message!",
            with(text(), "maxLength", Value::Int(LONGEST_MESSAGE)),
        ),
        ("lastTransitionTime!", formatted("date-time")),
        ("observedGeneration", generation),
    ])
}

/// The fields that name an object.
fn reference() -> Vec<(&'static str, Value)> {
    ["apiVersion", "kind", "name", "namespace"]
        .map(|name| (name, text()))
        .to_vec()
}

/// The fields that name an object or a part of it.
fn full_reference() -> Vec<(&'static str, Value)> {
    let mut fields = reference();
    fields.extend(["fieldPath", "resourceVersion", "uid"].map(|name| (name, text())));
    fields
}

fn resource() -> Value {
    let mut stamped = full_reference();
    stamped.push(("resource", text()));
    let output = object([
        ("name!", text()),
        ("preview!", text()),
        ("digest!", text()),
        ("lastTransitionTime!", formatted("date-time")),
    ]);
    object([
        ("name!", text()),
        ("stampedRef", atomic(object(stamped))),
        ("templateRef", atomic(object(full_reference()))),
        ("inputs", list(object([("name!", text())]))),
        ("outputs", list(output)),
        ("conditions", list(condition())),
    ])
}
