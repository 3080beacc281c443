//! Temporary files and folders next to the written file, named `.cyan-` and six characters.
//!
//! A process holds a lock on each temporary file while it uses it. The system releases the lock
//! when the process ends. An unlocked file was left by a killed process, and is removed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile, TempDir};

use super::unix;

const PREFIX: &str = ".cyan-";
/// Number of random characters after the prefix.
const RANDOM: usize = 6;
/// Maximum number of tries, because a concurrent sweep may remove the file before it is locked.
const TRIES: usize = 100;

fn builder<'b>() -> Builder<'b, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM);
    builder
}

/// Creates a locked file in a folder.
pub(super) fn file_in(folder: &Path) -> io::Result<NamedTempFile> {
    for _ in 0..TRIES {
        let file = builder().tempfile_in(folder)?;
        if lock(file.as_file()) && unix::has_a_name(&file.as_file().metadata()?) {
            return Ok(file);
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Creates a folder in a folder. The new folder is locked as long as the returned file is open.
pub(super) fn folder_in(folder: &Path) -> io::Result<(TempDir, File)> {
    for _ in 0..TRIES {
        let made = builder().tempdir_in(folder)?;
        let Ok(opened) = File::open(made.path()) else {
            continue;
        };
        if lock(&opened) && made.path().is_dir() {
            return Ok((made, opened));
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Locks a file. Returns false if another process holds the lock. A file system without locks
/// counts as locked.
fn lock(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Removes the temporary files that killed processes left in a folder. Errors are ignored.
pub(super) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_temporary))
    {
        // The provider creates no links or pipes under such names.
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if !kind.is_file() && !kind.is_dir() {
            continue;
        }
        let path = entry.path();
        let opened = File::open(&path).or_else(|_| File::options().write(true).open(&path));
        let Ok(file) = opened else { continue };
        let is_same = || {
            let (named, opened) = (fs::symlink_metadata(&path).ok()?, file.metadata().ok()?);
            Some(unix::is_same(&named, &opened))
        };
        if file.try_lock().is_ok() && is_same() == Some(true) {
            let _ = if kind.is_dir() {
                fs::remove_dir_all(&path)
            } else {
                fs::remove_file(&path)
            };
        }
    }
}

fn is_temporary(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| {
        rest.len() == RANDOM && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unlocked_temporary_file_is_removed_and_a_locked_one_stays() {
        let place = tempfile::tempdir().unwrap();
        let held = file_in(place.path()).unwrap();
        let (folder, _lock) = folder_in(place.path()).unwrap();
        for left in [".cyan-abc123", ".cyan-own", "cyan-abc123", ".cyan-abc1234"] {
            fs::write(place.path().join(left), "").unwrap();
        }
        fs::create_dir(place.path().join(".cyan-Dir000")).unwrap();
        fs::write(place.path().join(".cyan-Dir000/link"), "").unwrap();
        sweep(place.path());
        assert!(
            held.path().exists() && folder.path().exists(),
            "both are locked"
        );
        let there = |name: &str| place.path().join(name).exists();
        assert!(
            !there(".cyan-abc123") && !there(".cyan-Dir000"),
            "both are unlocked"
        );
        assert!(
            there(".cyan-own") && there("cyan-abc123") && there(".cyan-abc1234"),
            "other names are kept"
        );
    }
}
