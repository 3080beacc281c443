//! The contributions that a link has written after its targets were ready, as its record stores
//! them (decisions/links#effects-after-the-target).
//!
//! The record of a link is an ordinary record. Its inputs are the effective annotations and the
//! contributions with its targets, its outputs are the value of `link(a, b)`, and its private data
//! holds the overlay.

use std::sync::Arc;

use blueprint::{Address, Map, Name, Value};
use state::Record;

use super::contribution::{Contribution, ContributionForm};

/// A contribution with a step of its own, finished or in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlay {
    /// The target.
    pub target: Address,
    /// The phase: `a`, `b` or a neighbour's name.
    pub phase: Name,
    /// The contribution that was written.
    pub contribution: Contribution,
    /// Whether the outcome of the write is unknown, because the call was in progress.
    pub open: bool,
}

impl Overlay {
    /// The form in the record.
    pub fn to_value(&self) -> Value {
        let mut map = Map::default();
        map.insert("target".into(), Value::text(self.target.to_string()));
        map.insert("phase".into(), Value::Text(self.phase.clone()));
        map.insert("path".into(), Value::Text(self.contribution.path.clone()));
        let (how, by) = match &self.contribution.form {
            ContributionForm::Set => ("set", None),
            ContributionForm::Put(key) => ("put", Some(key)),
            ContributionForm::Add(by) => ("add", by.as_ref()),
        };
        map.insert("how".into(), how.into());
        if let Some(by) = by {
            map.insert("by".into(), Value::Text(by.clone()));
        }
        map.insert("value".into(), self.contribution.value.clone());
        if self.open {
            map.insert("open".into(), Value::Bool(true));
        }
        Value::Map(Arc::new(map))
    }

    /// Parses the form in the record. `None` if it is malformed.
    pub fn from_value(value: &Value) -> Option<Overlay> {
        let text = |key: &str| value.get(key).and_then(Value::as_text).map(Name::from);
        let how = match value.get("how")?.as_text()? {
            "set" => ContributionForm::Set,
            "put" => ContributionForm::Put(text("by")?),
            _ => ContributionForm::Add(text("by")),
        };
        Some(Overlay {
            target: text("target")?.parse().ok()?,
            phase: text("phase")?,
            contribution: Contribution {
                path: text("path")?,
                form: how,
                value: value.get("value")?.clone(),
            },
            open: matches!(value.get("open"), Some(Value::Bool(true))),
        })
    }
}

/// The overlays in a link's record.
pub fn overlays_of(record: &Record) -> Vec<Overlay> {
    let list = record.private.get("overlay").and_then(Value::as_list);
    list.into_iter()
        .flatten()
        .filter_map(Overlay::from_value)
        .collect()
}

/// The part at which a link failed.
pub fn failed_at(record: &Record) -> Option<&str> {
    record.private.get("failed")?.as_text()
}

/// The private data of a link's record.
pub fn private_of(overlays: &[Overlay], failed: Option<&Name>) -> Value {
    let mut map = Map::default();
    if !overlays.is_empty() {
        map.insert(
            "overlay".into(),
            Value::list(overlays.iter().map(Overlay::to_value)),
        );
    }
    if let Some(failed) = failed {
        map.insert("failed".into(), Value::Text(failed.clone()));
    }
    if map.is_empty() {
        Value::Null
    } else {
        Value::Map(Arc::new(map))
    }
}
