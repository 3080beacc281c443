//! Texts that were read once, and the places in which they stand.

use std::collections::BTreeSet;
use std::sync::Arc;

use blueprint::{Blueprint, Name};
use diag::{Diagnostic, Diagnostics, FileId};
use dialects::Surroundings;
use source::Location;

/// A text that was read once.
pub(super) struct Text {
    pub(super) file: FileId,
    pub(super) location: Option<Location>,
    pub(super) blueprint: Arc<Blueprint>,
    /// What it stands in.
    pub(super) around: Surroundings,
    /// What is wrong with the text.
    pub(super) found: Diagnostics,
    /// What is wrong with its includes: which, and what.
    pub(super) refused: Vec<(u32, Diagnostic)>,
}

/// A place in which a text stands.
pub(super) struct Place {
    pub(super) text: u32,
    /// The place above, and which of its includes this is.
    pub(super) parent: Option<(u32, u32)>,
    pub(super) children: Vec<Option<u32>>,
    /// Those of its includes whose condition is false.
    pub(super) left_out: BTreeSet<u32>,
    pub(super) level: u32,
}

/// An include that has not been followed yet: in which place, and which.
pub(super) type Include = (u32, u32);

/// The includes of a place.
pub(super) fn includes_of(number: u32, place: &Place) -> Vec<Include> {
    (0..place.children.len() as u32).map(|include| (number, include)).collect()
}

/// What a document's paths are relative to: the folder of a file of this machine; for a document from afar its address, so
/// that it reads what lies beside it and nothing of this machine (decision S70).
pub(super) fn folder_of(location: &Location) -> Option<Name> {
    let Some(path) = location.as_disk() else { return Some(location.identity().clone()) };
    Some(match path.rsplit_once('/') {
        Some(("", _)) => "/".into(),
        Some((folder, _)) => folder.into(),
        None => "".into(),
    })
}
