//! Atomic writes of files, and comparison by digest and mode.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use provider::{ErrorKind, ProviderError};
use sha2::{Digest, Sha256};

use super::own_paths::OwnPaths;
use super::place::failed;
use super::{temporary, unix};
use crate::regular_file;

/// The object at a path.
pub(super) enum PathContent {
    /// No object.
    Nothing,
    /// A file, possibly through a link, with its permission bits and size in bytes.
    File { mode: u32, size: u64, link: bool },
    /// A folder.
    Folder { mode: u32 },
    /// A broken link, a socket, or another object that is no regular file.
    Other,
}

/// Finds the object at a path.
pub(super) fn inspect_path(path: &Path) -> Result<PathContent, ProviderError> {
    let own = match fs::symlink_metadata(path) {
        Ok(own) => own,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(PathContent::Nothing);
        }
        Err(error) => return Err(failed("look at", path, &error)),
    };
    let link = own.is_symlink();
    let metadata = if link {
        fs::metadata(path).unwrap_or(own)
    } else {
        own
    };
    Ok(if metadata.is_file() {
        PathContent::File {
            mode: unix::mode_of(&metadata),
            size: metadata.len(),
            link,
        }
    } else if metadata.is_dir() && !link {
        PathContent::Folder {
            mode: unix::mode_of(&metadata),
        }
    } else {
        PathContent::Other
    })
}

/// The digest of bytes, as hexadecimal text.
pub(super) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes as hexadecimal text.
pub(super) fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

/// The digest of a file's content. Reads the file in blocks.
pub(super) fn digest_of(path: &Path) -> Result<String, ProviderError> {
    regular_file::open(path)
        .and_then(digest_all)
        .map_err(|error| failed("read", path, &error))
}

/// The digest and the length of a content that arrives in blocks.
#[derive(Default)]
pub(super) struct ContentHash {
    hasher: Sha256,
    length: u64,
}

impl ContentHash {
    /// Adds a block.
    pub(super) fn update(&mut self, block: &[u8]) {
        self.hasher.update(block);
        self.length += block.len() as u64;
    }

    /// The digest as hexadecimal text, and the number of bytes.
    pub(super) fn finish(self) -> (String, u64) {
        (hex(&self.hasher.finalize()), self.length)
    }
}

/// The digest of a whole stream.
pub(super) fn digest_all(from: impl Read) -> io::Result<String> {
    hash_all(from).map(|(digest, _)| digest)
}

/// The digest of a whole stream, and its number of bytes.
pub(super) fn hash_all(mut from: impl Read) -> io::Result<(String, u64)> {
    let mut hash = ContentHash::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(hash.finish()),
            Ok(count) => hash.update(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The bits of a mode such as `0644` or `644`. `None` if the text is not a mode.
pub(super) fn parse_mode(text: &str) -> Option<u32> {
    let octal =
        (3..=4).contains(&text.len()) && text.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    if octal {
        u32::from_str_radix(text, 8).ok()
    } else {
        None
    }
}

/// Permission bits in octal: `0644`.
pub(super) fn mode_text(mode: u32) -> String {
    format!("{mode:04o}")
}

/// The observed mode: in the user's notation if it is the same mode, else in octal.
pub(super) fn observed_mode(written: Option<&str>, mode: u32) -> String {
    match written {
        Some(text) if parse_mode(text) == Some(mode) => text.to_owned(),
        _ => mode_text(mode),
    }
}

/// Creates the missing folders above a path. Returns the number of levels up to the highest created
/// folder; 0 if none was created.
pub(super) fn make_parents(path: &Path, own: &OwnPaths) -> Result<usize, ProviderError> {
    let Some(parent) = path.parent() else {
        return Ok(0);
    };
    make_folders(parent, own).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => ProviderError::new(
            ErrorKind::Conflict,
            format!(
                "cannot make the folder `{}`: a file is in the way",
                parent.display()
            ),
        )
        .at("path"),
        _ => failed("make the folder", parent, &error),
    })
}

fn make_folders(folder: &Path, own: &OwnPaths) -> io::Result<usize> {
    let mut missing = Vec::new();
    for folder in folder.ancestors() {
        match fs::metadata(folder) {
            Ok(found) if found.is_dir() => break,
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(folder),
            Err(error) => return Err(error),
        }
    }
    let mut highest = 0;
    for (above, folder) in missing.into_iter().enumerate().rev() {
        match own.create_folder(folder) {
            Ok(()) => highest = highest.max(above + 1),
            // A concurrent step created the folder.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(error) => return Err(error),
        }
        unix::sync_folder_of(folder)?;
    }
    Ok(highest)
}

/// Removes a file or a link, durably.
pub(super) fn remove(path: &Path, own: &OwnPaths) -> Result<(), ProviderError> {
    own.sweep_parent(path);
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(failed("remove", path, &error));
        }
        _ => {}
    }
    unix::sync_folder_of(path).map_err(|error| failed("remove", path, &error))?;
    own.forget(path);
    own.delete_emptied_parents(path);
    Ok(())
}

/// Writes a file under a temporary name in its folder, makes it durable, then renames it. Readers
/// see either the old file or the new one. Returns the number of [`make_parents`].
///
/// # Errors
/// [`ErrorKind::Conflict`] if `fresh` is set and the path exists.
pub(super) fn write(
    path: &Path,
    mode: u32,
    fresh: bool,
    own: &OwnPaths,
    fill: impl FnOnce(&mut fs::File) -> Result<(), ProviderError>,
) -> Result<usize, ProviderError> {
    let parents = make_parents(path, own)?;
    own.sweep_parent(path);
    let parent = path.parent().unwrap_or(Path::new("/"));
    let mut temporary =
        temporary::file_in(parent).map_err(|error| failed("write into", parent, &error))?;
    fill(temporary.as_file_mut())?;
    let file = temporary.as_file_mut();
    file.flush()
        .and_then(|()| file.set_permissions(unix::permissions(mode)))
        .and_then(|()| file.sync_all())
        .map_err(|error| failed("write", path, &error))?;
    let put = if fresh {
        temporary.persist_noclobber(path)
    } else {
        temporary.persist(path)
    };
    put.map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => in_the_way(path, "a file"),
        _ => failed("write", path, &error.error),
    })?;
    own.add(path.to_path_buf());
    unix::sync_folder_of(path).map_err(|error| failed("write", path, &error))?;
    Ok(parents)
}

/// The error for an existing object in the way, with advice.
pub(super) fn in_the_way(path: &Path, what: &str) -> ProviderError {
    let advice = "remove it or choose another `path`, or write `overwrite: true` to replace it";
    let text = format!(
        "{what} is at `{}` already and was not made here; {advice}",
        path.display()
    );
    ProviderError::new(ErrorKind::Conflict, text).at("path")
}

/// The error for an object in the way that is never replaced.
pub(super) fn never_replaced(path: &Path, what: &str) -> ProviderError {
    let text = format!(
        "{what} is at `{}`, which is never replaced; remove it or choose another `path`",
        path.display()
    );
    ProviderError::new(ErrorKind::Conflict, text).at("path")
}
