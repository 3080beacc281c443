//! The schemas of Workload, Deliverable and Runnable.

use blueprint::Value;

use super::fields::{
    any, atomic, boolean, filled_text, list, map_of, object, quantity, retention_policy, text, with,
};
use crate::kinds::CartoKind;

/// The schema of `spec` of an owner.
pub(crate) fn spec(kind: CartoKind) -> Value {
    let mut fields = vec![
        (
            "params",
            list(object([("name!", text()), ("value!", any())])),
        ),
        ("source", source()),
        ("serviceAccountName", text()),
    ];
    if kind == CartoKind::Workload {
        fields.extend([
            ("build", object([("env", list(variable()))])),
            ("env", list(variable())),
            ("image", text()),
            (
                "resources",
                object([
                    ("limits", map_of(quantity())),
                    ("requests", map_of(quantity())),
                ]),
            ),
            (
                "serviceClaims",
                list(object([("name!", text()), ("ref", claim())])),
            ),
        ]);
    }
    object(fields)
}

fn source() -> Value {
    let reference = object([("branch", text()), ("tag", text()), ("commit", text())]);
    object([
        ("git", object([("url", text()), ("ref", reference)])),
        ("image", text()),
        ("subPath", text()),
    ])
}

fn claim() -> Value {
    object([
        ("apiVersion!", text()),
        ("kind!", text()),
        ("name!", text()),
    ])
}

/// A variable of a container.
fn variable() -> Value {
    let key = || {
        atomic(object([
            ("key!", text()),
            ("name", text()),
            ("optional", boolean()),
        ]))
    };
    let from = object([
        ("configMapKeyRef", key()),
        ("secretKeyRef", key()),
        (
            "fieldRef",
            atomic(object([("fieldPath!", text()), ("apiVersion", text())])),
        ),
        (
            "resourceFieldRef",
            atomic(object([
                ("resource!", text()),
                ("containerName", text()),
                ("divisor", quantity()),
            ])),
        ),
    ]);
    object([("name!", text()), ("value", text()), ("valueFrom", from)])
}

/// The schema of `spec` of a runnable.
pub(crate) fn runnable_spec() -> Value {
    let ten = Value::map([
        ("maxFailedRuns", Value::Int(10)),
        ("maxSuccessfulRuns", Value::Int(10)),
    ]);
    let resource = object([("apiVersion", text()), ("kind", text())]);
    object([
        (
            "runTemplateRef!",
            object([("name!", filled_text()), ("kind", text())]),
        ),
        (
            "selector",
            object([("resource!", resource), ("matchingLabels!", map_of(text()))]),
        ),
        ("inputs", map_of(any())),
        ("serviceAccountName", text()),
        ("retentionPolicy", with(retention_policy(), "default", ten)),
    ])
}
