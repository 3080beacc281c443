//! Texts that have been read, and the places in which they are included.

use std::collections::BTreeSet;
use std::sync::Arc;

use blueprint::{Blueprint, Name};
use diag::{Diagnostic, Diagnostics, FileId};
use dialect::LoadContext;
use source::Location;

/// A text that has been read. All places that include it share it.
pub(super) struct Text {
    pub(super) file: FileId,
    pub(super) location: Option<Location>,
    pub(super) blueprint: Arc<Blueprint>,
    /// The load context of the text.
    pub(super) context: LoadContext,
    /// The diagnostics about the text.
    pub(super) found: Diagnostics,
    /// The diagnostics about the includes of the text, by position of the include.
    pub(super) refused: Vec<(u32, Diagnostic)>,
}

/// A place in which a text is included.
pub(super) struct IncludePlace {
    pub(super) text: u32,
    /// The place above, and the position of the include there.
    pub(super) parent: Option<(u32, u32)>,
    pub(super) children: Vec<Option<u32>>,
    /// The positions of includes whose condition is false.
    pub(super) left_out: BTreeSet<u32>,
    pub(super) level: u32,
}

/// An include that has not been followed yet: the place and the position of the include.
pub(super) type Include = (u32, u32);

/// The includes of a place.
pub(super) fn includes_of(number: u32, place: &IncludePlace) -> Vec<Include> {
    (0..place.children.len() as u32)
        .map(|include| (number, include))
        .collect()
}

/// The base of a document's relative paths: the folder of a local file, a local folder itself, or
/// the address of a remote document. A remote document can therefore read only its siblings, and no
/// file of this machine (decisions/blueprint#relative-paths).
pub(super) fn folder_of(location: &Location) -> Option<Name> {
    match location.base() {
        Some(folder) => Some(folder.into()),
        None => Some(location.identity().clone()),
    }
}
