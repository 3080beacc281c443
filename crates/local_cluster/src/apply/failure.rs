//! Why a configuration cannot be applied.

use std::fmt;

use kubernetes::{
    FieldConflict, FieldElement, FieldSet, ManagerEntry, ManagerOperation, field_path,
};
use serde_json::Value as Json;

/// Why a configuration cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyFailure {
    /// Other managers hold fields with other values. Never empty.
    Conflicts(Vec<HeldField>),
    /// The configuration cannot be merged; the text says why.
    Invalid(String),
}

/// A field that another manager holds with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldField {
    /// The field and its manager.
    pub conflict: FieldConflict,
    /// The manager in the words of the server, such as `"kubectl" using v1`.
    pub holder: String,
}

impl HeldField {
    /// The text of the cause in the answer of the server.
    pub fn message(&self) -> String {
        format!("conflict with {}", self.holder)
    }
}

impl fmt::Display for ApplyFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApplyFailure::Invalid(why) => f.write_str(why),
            ApplyFailure::Conflicts(held) => match held.as_slice() {
                [only] => write!(
                    f,
                    "Apply failed with 1 conflict: {}: {}",
                    only.message(),
                    only.conflict.written
                ),
                all => {
                    write!(f, "Apply failed with {} conflicts: ", all.len())?;
                    let mut holder = None;
                    for (at, held) in all.iter().enumerate() {
                        if at > 0 {
                            f.write_str("\n")?;
                        }
                        if holder != Some(&held.holder) {
                            writeln!(f, "conflicts with {}:", held.holder)?;
                            holder = Some(&held.holder);
                        }
                        write!(f, "- {}", held.conflict.written)?;
                    }
                    Ok(())
                }
            },
        }
    }
}

impl std::error::Error for ApplyFailure {}

/// The conflicts with what other managers hold, by manager and field.
pub(super) fn conflicts(holders: &[(&ManagerEntry, FieldSet)], live: &Json) -> Vec<HeldField> {
    let mut found = Vec::new();
    for (entry, held) in holders {
        let mut paths = Vec::new();
        written_paths(held, "", &mut paths);
        for written in paths {
            found.push(HeldField {
                conflict: FieldConflict {
                    path: field_path(&written, Some(live)),
                    written: written.into(),
                    manager: entry.manager.clone(),
                    subresource: entry.subresource.clone(),
                },
                holder: holder(entry),
            });
        }
    }
    found.sort_by(|one, other| one.holder.cmp(&other.holder));
    found
}

/// The path of each member of a set, as the server writes it. Those of a map come before those of
/// its parts.
pub(super) fn written_paths(set: &FieldSet, prefix: &str, paths: &mut Vec<String>) {
    let path = |element: &FieldElement| format!("{prefix}{}", element.in_path());
    for (element, part) in set.parts() {
        if part.is_member() {
            paths.push(path(element));
        }
    }
    for (element, part) in set.parts() {
        written_paths(part, &path(element), paths);
    }
}

fn holder(entry: &ManagerEntry) -> String {
    let mut text = Json::from(&*entry.manager).to_string();
    if let Some(subresource) = &entry.subresource {
        text.push_str(&format!(" with subresource {}", Json::from(&**subresource)));
    }
    if entry.operation == ManagerOperation::Update {
        text.push_str(&format!(" using {}", entry.api_version));
        if let Some(time) = &entry.time {
            text.push_str(&format!(" at {time}"));
        }
    }
    text
}
