//! The schemas of ClusterSupplyChain and ClusterDelivery.

use blueprint::Value;

use super::fields::{
    any, atomic, field_requirement, filled_text, list, map_of, object, one_of, text, with,
};
use crate::kinds::CartoKind;

/// The schema of `spec`.
pub(crate) fn spec(kind: CartoKind) -> Value {
    object([
        ("params", params()),
        ("resources!", list(resource(kind))),
        ("selector", map_of(text())),
        ("selectorMatchExpressions", list(label_requirement())),
        ("selectorMatchFields", list(object(field_requirement()))),
        (
            "serviceAccountRef",
            object([("name!", text()), ("namespace", text())]),
        ),
    ])
}

fn params() -> Value {
    list(object([
        ("name!", text()),
        ("value", any()),
        ("default", any()),
    ]))
}

fn label_requirement() -> Value {
    object([
        ("key!", text()),
        ("operator!", text()),
        ("values", list(text())),
    ])
}

fn resource(kind: CartoKind) -> Value {
    let inputs = || list(object([("name!", text()), ("resource!", text())]));
    let own = match kind {
        CartoKind::ClusterDelivery => ("deployment", object([("resource!", text())])),
        _ => ("images", inputs()),
    };
    object([
        ("name!", text()),
        ("templateRef!", template_ref(kind)),
        ("params", params()),
        ("sources", inputs()),
        ("configs", inputs()),
        own,
    ])
}

fn template_ref(kind: CartoKind) -> Value {
    let kinds = kind.templates().iter().map(|kind| kind.name());
    object([
        ("kind!", one_of(kinds)),
        ("name", filled_text()),
        ("options", with(list(option()), "minItems", Value::Int(2))),
    ])
}

fn option() -> Value {
    let selector = object([
        ("matchLabels", map_of(text())),
        ("matchExpressions", list(label_requirement())),
        ("matchFields", list(object(field_requirement()))),
    ]);
    object([
        ("name", filled_text()),
        ("passThrough", text()),
        ("selector!", atomic(selector)),
    ])
}
