//! The eleven CustomResourceDefinitions, made from tables (decisions/cartographer#kinds): names,
//! scope, subresources, print columns and schemas, which accept, default and refuse what upstream's
//! do.
//!
//! Not here: what the schemas mean for an object (`kubernetes::structural`); rules that a schema
//! cannot state (`validation`).

mod blueprints;
mod fields;
mod owners;
mod statuses;
mod templates;

use blueprint::Value;

use crate::kinds::{CartoKind, GROUP, KindFamily, VERSION};

/// All definitions, in the order of `CartoKind::ALL`.
pub fn definitions() -> Vec<Value> {
    CartoKind::ALL.into_iter().map(definition).collect()
}

/// The CustomResourceDefinition of a kind, as a manifest.
pub fn definition(kind: CartoKind) -> Value {
    let plural = kind.plural();
    Value::map([
        ("apiVersion", Value::from("apiextensions.k8s.io/v1")),
        ("kind", Value::from("CustomResourceDefinition")),
        (
            "metadata",
            Value::map([("name", Value::from(format!("{plural}.{GROUP}")))]),
        ),
        (
            "spec",
            Value::map([
                ("group", Value::from(GROUP)),
                ("names", names(kind)),
                (
                    "scope",
                    Value::from(match kind.is_namespaced() {
                        true => "Namespaced",
                        false => "Cluster",
                    }),
                ),
                ("versions", Value::list([version(kind)])),
            ]),
        ),
    ])
}

/// The schema of the objects of a kind.
pub fn schema(kind: CartoKind) -> Value {
    let spec = match kind.family() {
        KindFamily::Blueprint => blueprints::spec(kind),
        KindFamily::Template => templates::spec(kind),
        KindFamily::RunTemplate => templates::run_template_spec(),
        KindFamily::Owner => owners::spec(kind),
        KindFamily::Runnable => owners::runnable_spec(),
    };
    let mut parts = vec![
        ("apiVersion", fields::text()),
        ("kind", fields::text()),
        ("metadata!", fields::object([])),
        ("spec!", spec),
    ];
    if kind.has_status() {
        parts.push(("status", statuses::status(kind)));
    }
    fields::object(parts)
}

fn names(kind: CartoKind) -> Value {
    let mut names = vec![
        ("kind", Value::from(kind.name())),
        ("listKind", Value::from(format!("{}List", kind.name()))),
        ("plural", Value::from(kind.plural())),
        ("singular", Value::from(kind.singular())),
        ("shortNames", Value::list([Value::from(kind.short_name())])),
    ];
    if kind.is_in_all() {
        names.push(("categories", Value::list([Value::from("all")])));
    }
    Value::map(names)
}

fn version(kind: CartoKind) -> Value {
    let mut version = vec![
        ("name", Value::from(VERSION)),
        ("served", Value::Bool(true)),
        ("storage", Value::Bool(true)),
        ("schema", Value::map([("openAPIV3Schema", schema(kind))])),
    ];
    if kind.has_status() {
        let empty = Value::map::<&str>([]);
        version.push(("subresources", Value::map([("status", empty)])));
        version.push(("additionalPrinterColumns", columns(kind)));
    }
    Value::map(version)
}

/// The columns that every kind with a status has.
const READY_COLUMNS: [(&str, &str, &str); 3] = [
    (
        "Ready",
        "string",
        ".status.conditions[?(@.type=='Ready')].status",
    ),
    (
        "Reason",
        "string",
        ".status.conditions[?(@.type=='Ready')].reason",
    ),
    ("Age", "date", ".metadata.creationTimestamp"),
];

/// The columns of a table of objects: name, type, path.
fn columns(kind: CartoKind) -> Value {
    let source = ("Source", "string", ".spec.source['git.url','image']");
    let mut columns = match kind {
        CartoKind::Workload => {
            let chain = ("SupplyChain", "string", ".status.supplyChainRef.name");
            vec![source, chain]
        }
        CartoKind::Deliverable => vec![source, ("Delivery", "string", ".status.deliveryRef.name")],
        _ => Vec::new(),
    };
    columns.extend(READY_COLUMNS);
    Value::list(columns.into_iter().map(|(name, ty, path)| {
        Value::map([
            ("name", Value::from(name)),
            ("type", Value::from(ty)),
            ("jsonPath", Value::from(path)),
        ])
    }))
}

#[cfg(test)]
mod tests;
