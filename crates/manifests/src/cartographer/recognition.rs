//! Whether a text or a folder has objects of Cartographer.

use dialect::Document;
use syntax::Tree;

use super::settings::{NAME, PLAIN};
use crate::folder;
use crate::values::text;

/// The group of the kinds of Cartographer, as an `apiVersion` begins with it.
pub(super) const GROUP: &str = "carto.run";

/// The certainty that a document is one of this dialect, from 0 to 100. A folder is one if the texts of
/// its files, once they are read, have an object of Cartographer: their names do not tell that.
pub(super) fn recognise(document: &Document<'_>) -> u8 {
    /// An object of Cartographer: more than manifests of any kind.
    const BY_GROUP: u8 = 90;
    /// A folder with such an object: more than a folder whose files can hold manifests.
    const BY_TEXTS: u8 = 30;
    let settings = document.context.settings.of(NAME);
    if settings.switch(PLAIN) == Some(true) {
        return 0;
    }
    if document.entries().is_none() {
        let has_object = document.trees().iter().any(is_of_cartographer);
        return if has_object { BY_GROUP } else { 0 };
    }
    let files = folder::read(document).files;
    let has_object = files.iter().any(|file| file.text.contains("carto.run/"));
    if has_object { BY_TEXTS } else { 0 }
}

fn is_of_cartographer(tree: &Tree) -> bool {
    let version = tree.root.as_ref().and_then(|root| root.get("apiVersion"));
    let group = version.and_then(text).and_then(|text| text.split_once('/'));
    group.is_some_and(|(group, _)| group == GROUP)
}
