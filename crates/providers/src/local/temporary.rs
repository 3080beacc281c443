//! Temporary files and folders beside the place of what is written, named `.cyan-` and six characters.
//!
//! A process holds a lock on each temporary file for as long as it uses it. The system drops the lock when the process ends,
//! so an unlocked one was left by a process that was killed, and is removed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile, TempDir};

use super::unix;

const PREFIX: &str = ".cyan-";
/// How many random characters follow the prefix.
const RANDOM: usize = 6;
/// How often a name is drawn again because a sweep removed the file before it was locked.
const TRIES: usize = 100;

fn builder<'b>() -> Builder<'b, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM);
    builder
}

/// A new file in a folder, locked.
pub(super) fn file_in(folder: &Path) -> io::Result<NamedTempFile> {
    for _ in 0..TRIES {
        let file = builder().tempfile_in(folder)?;
        if lock(file.as_file()) && unix::has_a_name(&file.as_file().metadata()?) {
            return Ok(file);
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// A new folder in a folder; it is locked as long as the file lives.
pub(super) fn folder_in(folder: &Path) -> io::Result<(TempDir, File)> {
    for _ in 0..TRIES {
        let made = builder().tempdir_in(folder)?;
        let Ok(opened) = File::open(made.path()) else { continue };
        if lock(&opened) && made.path().is_dir() {
            return Ok((made, opened));
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Whether the lock is held now. A file system without locks never tells that somebody else holds one.
fn lock(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Removes what killed processes left in a folder. What cannot be removed stays.
pub(super) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_temporary)) {
        // A link or a pipe was not made here.
        let Ok(kind) = entry.file_type() else { continue };
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
            let _ = if kind.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}

fn is_temporary(name: &str) -> bool {
    name.strip_prefix(PREFIX)
        .is_some_and(|rest| rest.len() == RANDOM && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
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
        assert!(held.path().exists() && folder.path().exists(), "they are in use");
        let there = |name: &str| place.path().join(name).exists();
        assert!(!there(".cyan-abc123") && !there(".cyan-Dir000"), "nobody uses them");
        assert!(there(".cyan-own") && there("cyan-abc123") && there(".cyan-abc1234"), "other names are not touched");
    }
}
