//! Reads the texts of a request: UTF-8, at most 32 MiB; and the listings of folders.

use std::io::{self, Read as _};
use std::path::Path;

use source::{FolderEntry, FolderListing, ReadLimits};

use crate::error::Error;

/// Reads the text of a file. A file that is too large is refused before it is read.
pub fn read_text(path: &Path) -> Result<String, Error> {
    read_text_as(path, path.display().to_string())
}

/// Reads the text of a file, which errors call `name`.
pub(crate) fn read_text_as(path: &Path, name: String) -> Result<String, Error> {
    let unreadable = |source| Error::Unreadable {
        name: name.clone(),
        source,
    };
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if about.is_dir() {
        return Err(Error::Unfit {
            name,
            what: "is a folder".to_owned(),
            help: None,
        });
    }
    if about.len() > syntax::MAX_BYTES as u64 {
        return Err(too_large(name, Some(about.len())));
    }
    let file = std::fs::File::open(path).map_err(unreadable)?;
    text_of(file, about.len() as usize, name)
}

/// Reads the listing of a folder: its entries without hidden ones, sorted by name.
pub(crate) fn read_listing(path: &Path) -> Result<String, Error> {
    const MOST: usize = ReadLimits::FOLDER_ENTRIES;
    let name = path.display().to_string();
    let unreadable = |source| Error::Unreadable {
        name: name.clone(),
        source,
    };
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let Ok(entry_name) = entry.file_name().into_string() else {
            continue;
        };
        if !FolderListing::lists(&entry_name) {
            continue;
        }
        if entries.len() == MOST {
            return Err(Error::Unfit {
                name,
                what: format!("is too large: a folder may have {MOST} entries"),
                help: Some("divide it into smaller folders".to_owned()),
            });
        }
        // The kind of what a link leads to; a dangling link is left out.
        let is_folder = match entry.path().metadata() {
            Ok(about) if about.is_dir() => true,
            Ok(about) if about.is_file() => false,
            _ => continue,
        };
        entries.push(FolderEntry {
            name: entry_name.into(),
            is_folder,
        });
    }
    Ok(FolderListing::new(entries).to_text())
}

fn too_large(name: String, length: Option<u64>) -> Error {
    let has = length.map_or_else(
        || "has more".to_owned(),
        |length| format!("has {length} bytes"),
    );
    Error::Unfit {
        name,
        what: format!("is too large: a document may have 32 MiB of text, this one {has}"),
        help: None,
    }
}

/// Reads a text. `about` is the expected number of bytes; `name` is the name of the source in
/// errors.
pub fn text_of(from: impl io::Read, about: usize, name: String) -> Result<String, Error> {
    // Reserve one byte more than expected, so that the read that detects the end of the file has
    // room.
    let mut bytes = Vec::with_capacity(about + 1);
    let most = syntax::MAX_BYTES as u64 + 1;
    from.take(most)
        .read_to_end(&mut bytes)
        .map_err(|source| Error::Unreadable {
            name: name.clone(),
            source,
        })?;
    if bytes.len() as u64 == most {
        return Err(too_large(name, None));
    }
    String::from_utf8(bytes).map_err(|error| Error::Unfit {
        name,
        what: format!(
            "is no UTF-8 text: byte {} cannot be read",
            error.utf8_error().valid_up_to() + 1
        ),
        help: Some("save it as UTF-8".to_owned()),
    })
}
