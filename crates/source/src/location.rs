//! The canonical location of a document.
//!
//! Not here: canonicalisation, which needs the source (links, dots, escapes), and reading the
//! document.

use std::fmt;

use blueprint::Name;
use serde::{Deserialize, Serialize};

/// The kind for files of this machine. Documents do not use this name.
pub const DISK: &str = "disk";

/// The identity of a document: two requests lead to the same document if and only if their
/// locations are equal.
///
/// A location prints as a path, or as an address with a scheme. It contains no credentials.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Location {
    kind: Name,
    identity: Name,
}

impl Location {
    /// Creates the location of kind `kind` with the canonical spelling `identity`. Only a source
    /// can make a spelling canonical.
    pub fn new(kind: impl Into<Name>, identity: impl Into<Name>) -> Location {
        Location {
            kind: kind.into(),
            identity: identity.into(),
        }
    }

    /// A file of this machine: an absolute path without links and dots. A path that ends with `/` is
    /// a folder.
    pub fn disk(path: impl Into<Name>) -> Location {
        Location::new(DISK, path)
    }

    /// The kind, as in `metadata.sourceType`; [`DISK`] for a file.
    pub fn kind(&self) -> &Name {
        &self.kind
    }

    /// The canonical spelling within the kind.
    pub fn identity(&self) -> &Name {
        &self.identity
    }

    /// Whether the location is a file of this machine.
    pub fn is_disk(&self) -> bool {
        &*self.kind == DISK
    }

    /// The path, if the location is a file of this machine.
    pub fn as_disk(&self) -> Option<&str> {
        self.is_disk().then_some(&*self.identity)
    }

    /// The same place as a folder of this machine, whose path ends with `/`. Paths in a folder are
    /// relative to the folder itself. Locations of other kinds stay unchanged.
    pub fn into_folder(self) -> Location {
        if !self.is_disk() || self.is_folder() {
            return self;
        }
        Location::disk(format!("{}/", self.identity))
    }

    /// Whether the location is a folder of this machine.
    pub fn is_folder(&self) -> bool {
        self.as_disk().is_some_and(|path| path.ends_with('/'))
    }

    /// The folder that paths in the document are relative to, if it is on this machine: the folder
    /// that contains a file, or a folder itself.
    pub fn base(&self) -> Option<&str> {
        let path = self.as_disk()?;
        Some(match path.rsplit_once('/') {
            Some(("", _)) => "/",
            Some((folder, _)) => folder,
            None => "",
        })
    }

    /// The location relative to a folder (an absolute canonical path). Plans and states store this
    /// form, so that they can be moved together with the documents. Locations of other kinds stay
    /// unchanged.
    pub fn relative_to(&self, folder: &str) -> Location {
        let Some(path) = self.as_disk() else {
            return self.clone();
        };
        if !path.starts_with('/') || !folder.starts_with('/') {
            return self.clone();
        }
        let (mut from, mut to) = (steps(folder).peekable(), steps(path).peekable());
        while from.peek().is_some() && from.peek() == to.peek() {
            from.next();
            to.next();
        }
        let steps: Vec<&str> = from.map(|_| "..").chain(to).collect();
        let relative = Location::disk(steps.join("/"));
        if !self.is_folder() {
            return relative;
        }
        // An empty path with a slash would be the root of the file system.
        if steps.is_empty() {
            return Location::disk("./");
        }
        relative.into_folder()
    }

    /// The inverse of [`Location::relative_to`].
    pub fn resolve_in(&self, folder: &str) -> Location {
        let Some(path) = self.as_disk() else {
            return self.clone();
        };
        if path.starts_with('/') {
            return self.clone();
        }
        let mut whole: Vec<&str> = steps(folder).collect();
        for step in steps(path) {
            if step == ".." {
                whole.pop();
            } else {
                whole.push(step);
            }
        }
        let resolved = Location::disk(format!("/{}", whole.join("/")));
        if self.is_folder() {
            resolved.into_folder()
        } else {
            resolved
        }
    }
}

fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter(|step| !step.is_empty() && *step != ".")
}

impl fmt::Display for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_stored_relative_to_the_root_and_found_again() {
        for (file, folder, kept) in [
            ("/a/b/c.yaml", "/a/b", "c.yaml"),
            ("/a/b/d/c.yaml", "/a/b", "d/c.yaml"),
            ("/a/x/c.yaml", "/a/b/d", "../../x/c.yaml"),
            ("/c.yaml", "/a", "../c.yaml"),
            ("/a/bc/d.yaml", "/a/b", "../bc/d.yaml"),
            ("/a/b.yaml", "/", "a/b.yaml"),
            ("/a/ä ö.yaml", "/a/", "ä ö.yaml"),
            ("/a/b/c/", "/a/b", "c/"),
            ("/a/b/", "/a/b", "./"),
            ("/a/", "/a/b", "../"),
        ] {
            let relative = Location::disk(file).relative_to(folder);
            assert_eq!(&**relative.identity(), kept, "{file} from {folder}");
            assert_eq!(
                relative.resolve_in(folder),
                Location::disk(file),
                "{kept} in {folder}"
            );
        }
    }

    #[test]
    fn a_remote_location_stays_unchanged() {
        let far = Location::new("https", "https://example.com/a.yaml");
        assert_eq!(far.relative_to("/a"), far);
        assert_eq!(far.resolve_in("/a"), far);
    }

    #[test]
    fn a_location_serializes_as_two_texts() {
        let kept = serde_json::to_string(&Location::disk("a.yaml")).unwrap();
        assert_eq!(kept, r#"{"kind":"disk","identity":"a.yaml"}"#);
        assert_eq!(
            serde_json::from_str::<Location>(&kept).unwrap(),
            Location::disk("a.yaml")
        );
    }
}
