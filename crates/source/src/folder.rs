//! The listing of a folder: the names of its entries, as a text that is pinned like a document.
//!
//! Not here: reading a folder, which needs the source.

use blueprint::Name;

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderEntry {
    /// The name, without a path.
    pub name: Name,
    /// Whether the entry is a folder, after links are followed; a file otherwise.
    pub is_folder: bool,
}

/// The entries of a folder, sorted by name.
///
/// Hidden entries (`.git`, `.cyan`) are left out, so that the state beside a document is no part of
/// it. So are names with a line break, which no document can address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderListing(Vec<FolderEntry>);

impl FolderListing {
    /// Creates a listing of these entries.
    pub fn new(entries: impl IntoIterator<Item = FolderEntry>) -> FolderListing {
        let mut entries: Vec<FolderEntry> = entries
            .into_iter()
            .filter(|entry| FolderListing::lists(&entry.name))
            .collect();
        entries.sort();
        FolderListing(entries)
    }

    /// Whether a listing has entries of this name.
    pub fn lists(name: &str) -> bool {
        !name.starts_with('.') && !name.contains(['\n', '\r', '/'])
    }

    /// The entries, sorted by name.
    pub fn entries(&self) -> &[FolderEntry] {
        &self.0
    }

    /// The listing as a text: a line for each entry, with a `/` after the name of a folder. Equal
    /// listings have equal texts.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for entry in &self.0 {
            text.push_str(&entry.name);
            if entry.is_folder {
                text.push('/');
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listing_is_sorted_and_has_no_hidden_entries() {
        let entry = |name: &str, is_folder| FolderEntry {
            name: name.into(),
            is_folder,
        };
        let listing = FolderListing::new([
            entry("b.yaml", false),
            entry(".cyan", true),
            entry("two\nlines", false),
            entry("a", true),
            entry("ä b", false),
        ]);
        assert_eq!(listing.to_text(), "a/\nb.yaml\nä b\n");
    }
}
