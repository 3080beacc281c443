//! Writes a file completely or not at all.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Who may read a written file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Those who may read the file now; for a new file, those of the user's other files.
    Kept,
    /// Its owner only, on Unix.
    Owner,
}

/// Replaces or creates a file in one step: a reader sees the old text or the new one. A symbolic link
/// keeps leading to it.
pub fn write_whole(path: &Path, text: &str, readers: Readers) -> Result<(), Error> {
    let unwritable = |source| Error::Unwritable {
        name: path.display().to_string(),
        source,
    };
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let permissions = match readers {
        Readers::Kept => std::fs::metadata(&target)
            .ok()
            .map(|about| about.permissions()),
        Readers::Owner => None,
    };
    // A random name, because `create_new` refuses an existing file.
    let mut partial_name = target.as_os_str().to_owned();
    partial_name.push(format!(
        ".{}-{:08x}.part",
        std::process::id(),
        rand::random::<u32>()
    ));
    let partial = PathBuf::from(partial_name);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let written = options.open(&partial).and_then(|mut file| {
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&partial, &target)
    });
    written.map_err(|source| {
        // If the partial file cannot be removed, the first error is still the one to report.
        let _ = std::fs::remove_file(&partial);
        unwritable(source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_a_failure_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_whole(&path, "one", Readers::Kept).unwrap();
        write_whole(&path, "two", Readers::Kept).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        let error = write_whole(&folder.path().join("none/a"), "x", Readers::Owner).unwrap_err();
        assert!(error.to_string().contains("cannot be written"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
