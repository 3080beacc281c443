//! What is reconciled: an object of a kind of `carto.run` that has a status.

use std::fmt;

use blueprint::{Name, Value};
use cartographer::kinds::CartoKind;

/// The name of an object that the controller reconciles.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReconcileKey {
    /// The kind, one with a status.
    pub kind: CartoKind,
    /// The namespace; `None` for a blueprint.
    pub namespace: Option<Name>,
    /// The name.
    pub name: Name,
}

impl ReconcileKey {
    /// The key of an object. `None` if its kind is not reconciled, or if it has no name.
    pub(crate) fn of(kind: CartoKind, object: &Value) -> Option<ReconcileKey> {
        if !kind.has_status() {
            return None;
        }
        let metadata = object.get("metadata")?;
        let text = |field: &str| metadata.get(field).and_then(Value::as_text);
        Some(ReconcileKey {
            kind,
            namespace: text("namespace").map(Name::from),
            name: text("name")?.into(),
        })
    }
}

impl fmt::Display for ReconcileKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/", self.kind.name())?;
        if let Some(namespace) = &self.namespace {
            write!(out, "{namespace}/")?;
        }
        out.write_str(&self.name)
    }
}
