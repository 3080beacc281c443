//! The object at the place of a resource before its create, and whether the provider created a
//! resource.
//!
//! The provider checks the place when the plan is made, and the engine keeps the finding with the
//! intent of the create. After a killed run the intent says whether the place was empty; an object
//! there was then created by that run. A matching resource of others is adopted: it is managed, and
//! never deleted.

use std::path::Path;

use blueprint::{Map, Value};
use provider::Applied;

use super::own_paths::OwnPaths;
use super::place::text;
use super::requests::{OwnedReadRequest, deleted};

/// The object at the place of a resource when its create was planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    /// The place was not checked.
    NotChecked,
    /// No object, and a number of missing folders above the place.
    Nothing {
        /// The number of missing folders above the place.
        parents: usize,
    },
    /// A resource that matches the spec.
    Matching,
    /// An object that could not be compared with the spec yet.
    Undecided,
    /// An object that does not match the spec.
    Different,
}

impl Existing {
    /// Reads the finding from the opaque data of a record. The inverse of [`Existing::private`].
    pub(super) fn of(private: &Value) -> Existing {
        match text(private, "before") {
            Some("nothing") => Existing::Nothing {
                parents: parents(private),
            },
            Some("wanted") => Existing::Matching,
            Some("undecided") => Existing::Undecided,
            Some("other") => Existing::Different,
            _ => Existing::NotChecked,
        }
    }

    /// The opaque data that the engine keeps with the intent of the create.
    pub(super) fn private(self) -> Value {
        let word = match self {
            Existing::NotChecked => return Value::Null,
            Existing::Nothing { parents } => {
                let word = ("before", Value::from("nothing"));
                return Value::map(std::iter::once(word).chain(parents_field(parents)));
            }
            Existing::Matching => "wanted",
            Existing::Undecided => "undecided",
            Existing::Different => "other",
        };
        Value::map([("before", Value::from(word))])
    }

    /// Whether a resource that exists after an interrupted create belongs to others.
    pub(super) fn is_adoption(self) -> bool {
        matches!(self, Existing::Matching | Existing::Undecided)
    }
}

/// The number of folders above a resource that its create created or will create.
pub(super) fn parents(private: &Value) -> usize {
    match private.get("parents").map(Value::unmarked) {
        Some(Value::Int(count)) => usize::try_from(*count).unwrap_or(0),
        _ => 0,
    }
}

fn parents_field(count: usize) -> Option<(&'static str, Value)> {
    let count = i64::try_from(count).ok().filter(|count| *count > 0)?;
    Some(("parents", Value::Int(count)))
}

/// The opaque data of a created resource. The number of folders above it includes those that
/// another step created since the plan.
pub(super) fn ownership_of_created(levels: usize, before: &Value) -> Value {
    ownership(true, levels.max(parents(before)))
}

/// The opaque data of a resource: whether the provider created it, and how many folders above it
/// were created for it.
pub(super) fn ownership(is_ours: bool, parents: usize) -> Value {
    let adopted = (!is_ours).then_some(("made", Value::Bool(false)));
    let fields: Vec<_> = adopted.into_iter().chain(parents_field(parents)).collect();
    if fields.is_empty() {
        Value::Null
    } else {
        Value::map(fields)
    }
}

/// Whether the provider created a recorded resource. Records of earlier versions lack this field
/// and count as created.
pub(super) fn is_created_by_provider(private: &Value) -> bool {
    private.get("made").and_then(Value::as_bool).unwrap_or(true)
}

/// Sets the computed field `existed`: whether the resource existed before it was declared.
pub(super) fn set_existed(fields: &mut Map, private: &Value) {
    let existed = if is_created_by_provider(private) {
        Value::Null
    } else {
        Value::Bool(true)
    };
    fields.insert("existed".into(), existed);
}

/// The answer to the delete of a resource that existed before it was declared.
pub(super) fn kept(path: &Path) -> Applied {
    deleted(vec![format!(
        "`{}` is kept: it was there before it was declared",
        path.display()
    )])
}

impl OwnPaths {
    /// The opaque data of a resource that was read. After an interrupted create it follows from the
    /// finding before the create.
    pub(super) fn ownership_of_read(&self, path: &Path, recorded: &OwnedReadRequest) -> Value {
        let private = match &recorded.id {
            Some(_) => recorded.private.clone(),
            None => {
                self.sweep_parent(path);
                let before = Existing::of(&recorded.private);
                let is_ours = !before.is_adoption() || self.has(path);
                ownership(is_ours, parents(&recorded.private))
            }
        };
        if is_created_by_provider(&private) {
            self.add(path.to_path_buf());
        }
        self.add_parents(path, parents(&private));
        private
    }

    /// The opaque data of a matching resource that a create found: an earlier try of the same run
    /// created the resource, or it is adopted.
    pub(super) fn ownership_of_found(&self, path: &Path, before: &Value) -> Value {
        let is_ours = self.has(path);
        ownership(is_ours, if is_ours { parents(before) } else { 0 })
    }
}

/// The finding that a path holds no object of others. Counts the folders above that are missing or
/// that an earlier create made, so that a folder of a killed run still belongs to the provider when
/// the next plan finds it.
pub(super) fn nothing_at(path: &Path, own: &OwnPaths) -> Existing {
    let ours = |folder: &&Path| own.has(folder) || folder.symlink_metadata().is_err();
    Existing::Nothing {
        parents: path.ancestors().skip(1).take_while(ours).count(),
    }
}
