//! What is at the place of a thing before it is created: it decides whether the thing is ours.
//!
//! The provider looks when the plan is made, and the engine keeps the answer with the intent of the create. So after a run that
//! was killed it is still known that nothing was there, and what is there now was made by that run. A thing that was there
//! and is as wanted is adopted: it is managed, and never deleted.

use std::path::Path;

use blueprint::{Map, Value};
use provider::{Applied, Planned, ProviderError, Recalled};

use super::place::{Place, absolute, flag, text};
use super::whole_file::{self, Found};
use super::{Made, Recorded, archive, directory, file, symlink};

/// What was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Nobody has looked.
    NotSeen,
    /// Nothing, nor so many of the folders above it.
    Nothing {
        /// How many folders above it were missing.
        parents: usize,
    },
    /// The thing as it is wanted.
    Wanted,
    /// Something of which it was not known yet whether it is as wanted.
    Undecided,
    /// Something else.
    Other,
}

impl Before {
    /// Reads what [`plan`] gave along.
    pub(super) fn of(private: &Value) -> Before {
        match text(private, "before") {
            Some("nothing") => Before::Nothing { parents: parents(private) },
            Some("wanted") => Before::Wanted,
            Some("undecided") => Before::Undecided,
            Some("other") => Before::Other,
            _ => Before::NotSeen,
        }
    }

    fn private(self) -> Value {
        let word = match self {
            Before::NotSeen => return Value::Null,
            Before::Nothing { parents } => {
                let word = ("before", Value::from("nothing"));
                return Value::map(std::iter::once(word).chain(parents_field(parents)));
            }
            Before::Wanted => "wanted",
            Before::Undecided => "undecided",
            Before::Other => "other",
        };
        Value::map([("before", Value::from(word))])
    }

    /// Whether a thing that is there after a create was cut off is not ours.
    pub(super) fn is_adoption(self) -> bool {
        matches!(self, Before::Wanted | Before::Undecided)
    }
}

/// How many folders above a thing were made for it, or are to be.
pub(super) fn parents(private: &Value) -> usize {
    match private.get("parents").map(Value::bare) {
        Some(Value::Int(count)) => usize::try_from(*count).unwrap_or(0),
        _ => 0,
    }
}

fn parents_field(count: usize) -> Option<(&'static str, Value)> {
    let count = i64::try_from(count).ok().filter(|count| *count > 0)?;
    Some(("parents", Value::Int(count)))
}

/// What is remembered of a thing that was made here: how many folders above it were made for it, or by another step since the plan
/// found nothing there.
pub(super) fn ownership_of_made(levels: usize, before: &Value) -> Value {
    ownership(true, levels.max(parents(before)))
}

/// What is remembered of a thing: whether it is ours, and how many folders above it were made for it.
pub(super) fn ownership(is_ours: bool, parents: usize) -> Value {
    let adopted = (!is_ours).then_some(("made", Value::Bool(false)));
    let fields: Vec<_> = adopted.into_iter().chain(parents_field(parents)).collect();
    if fields.is_empty() { Value::Null } else { Value::map(fields) }
}

/// Whether a recorded thing is ours. Records of earlier versions say nothing: they are.
pub(super) fn is_ours(private: &Value) -> bool {
    private.get("made").and_then(Value::as_bool).unwrap_or(true)
}

/// Says whether a thing was there before it was declared.
pub(super) fn tell(fields: &mut Map, private: &Value) {
    let existed = if is_ours(private) { Value::Null } else { Value::Bool(true) };
    fields.insert("existed".into(), existed);
}

/// The answer to a delete of a thing that was there before.
pub(super) fn kept(path: &Path) -> Applied {
    super::deleted(vec![format!("`{}` is kept: it was there before it was declared", path.display())])
}

impl Made {
    /// What is remembered of a thing that was read. After a create that was cut off, what was there before tells.
    pub(super) fn remembered(&self, path: &Path, recorded: &Recorded) -> Value {
        let private = match &recorded.id {
            Some(_) => recorded.private.clone(),
            None => {
                self.sweep_beside(path);
                let before = Before::of(&recorded.private);
                let is_ours = !before.is_adoption() || self.has(path);
                ownership(is_ours, parents(&recorded.private))
            }
        };
        if is_ours(&private) {
            self.remember(path.to_path_buf());
        }
        self.remember_parents(path, parents(&private));
        private
    }

    /// What is remembered of a thing that a create found as it is wanted: an earlier try of the same run made it, or it is adopted.
    pub(super) fn ownership_of_found(&self, path: &Path, before: &Value) -> Value {
        let is_ours = self.has(path);
        ownership(is_ours, if is_ours { parents(before) } else { 0 })
    }
}

/// Looks what is at the place of a thing that is to be created.
///
/// `replaced` are the inputs of the thing that it replaces: what is in the way then is ours, and goes first.
pub(super) fn plan(
    place: &Place,
    made: &Made,
    type_name: &str,
    replaced: &Value,
    desired: &Value,
) -> Result<Planned, ProviderError> {
    let Some(path) = text(desired, "path") else { return Ok(Planned::default()) };
    let is_replaced = text(replaced, "path") == Some(path);
    let path = place.written(path)?;
    let before = if is_replaced || made.has(&path) {
        nothing_at(&path, made)
    } else {
        look(place, made, type_name, &path, desired)?
    };
    Ok(Planned { adopts: before == Before::Wanted, private: before.private(), ..Planned::default() })
}

/// Looks what is at a path, seen from what is to be created there.
pub(super) fn look(
    place: &Place,
    made: &Made,
    type_name: &str,
    path: &Path,
    desired: &Value,
) -> Result<Before, ProviderError> {
    match type_name {
        "local/file" => file::before(place, made, path, desired),
        "local/directory" => directory::before(made, path),
        "local/archive" => archive::before(place, made, path, desired),
        "local/symlink" => symlink::before(made, path, desired),
        _ => Ok(Before::NotSeen),
    }
}

/// The refusal of a create at a path where something is that is not as wanted; none where it may be replaced.
pub(super) fn refusal(type_name: &str, path: &Path, desired: &Value) -> Result<Option<ProviderError>, ProviderError> {
    let is_link = || path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let kind = match (type_name, whole_file::look(path)?) {
        (_, Found::Nothing) => return Ok(None),
        ("local/directory", _) => return Ok(Some(whole_file::never_replaced(path, "a file"))),
        (_, Found::Folder { .. }) => return Ok(Some(whole_file::never_replaced(path, "a folder"))),
        ("local/symlink", _) if is_link() => "a link",
        ("local/symlink", _) | (_, Found::File { .. }) => "a file",
        (_, Found::Other) => return Ok(Some(whole_file::never_replaced(path, "something that is no file"))),
    };
    Ok((!flag(desired, "overwrite")).then(|| whole_file::in_the_way(path, kind)))
}

/// Nothing of others is at a path: how many folders above it are missing too, or were made by an earlier create. So a folder that a
/// killed run made stays ours, although it is there when the next plan is made.
pub(super) fn nothing_at(path: &Path, made: &Made) -> Before {
    let ours = |folder: &&Path| made.has(folder) || folder.symlink_metadata().is_err();
    Before::Nothing { parents: path.ancestors().skip(1).take_while(ours).count() }
}

/// Takes in what the state holds of things that earlier processes made.
pub(super) fn recall(root: &Path, made: &Made, things: &[Recalled<'_>]) {
    for thing in things {
        let is_folder = match thing.type_name {
            "local/directory" => true,
            "local/file" | "local/archive" | "local/symlink" => false,
            _ => continue,
        };
        let Some(path) = text(thing.inputs, "path").or(thing.id) else { continue };
        let Ok(path) = absolute(&root.join(path)) else { continue };
        made.remember_parents(&path, parents(thing.private));
        let is_ours = match (thing.id, is_folder) {
            (Some(_), true) => directory::made_here(thing.private),
            (Some(_), false) => is_ours(thing.private),
            // A create that failed may have made the folder; a file is there as a whole or not at all.
            (None, true) => matches!(Before::of(thing.private), Before::Nothing { .. }),
            (None, false) => false,
        };
        if is_ours {
            made.remember(path);
        }
    }
}
