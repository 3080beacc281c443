//! Writes a file completely or not at all.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Replaces or creates a file in one step: a reader sees the old text or the new one. An existing
/// file keeps its permissions, and a symbolic link keeps leading to it.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Error> {
    let unwritable = |source| Error::Unwritable {
        name: path.display().to_string(),
        source,
    };
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let permissions = std::fs::metadata(&target).map(|about| about.permissions());
    // A random name, because `create_new` refuses an existing file.
    let mut partial_name = target.as_os_str().to_owned();
    partial_name.push(format!(
        ".{}-{:08x}.part",
        std::process::id(),
        rand::random::<u32>()
    ));
    let partial = PathBuf::from(partial_name);
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&partial)
        .and_then(|mut file| {
            if let Ok(permissions) = permissions {
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
        write_whole(&path, "one").unwrap();
        write_whole(&path, "two").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        let error = write_whole(&folder.path().join("none/a"), "x").unwrap_err();
        assert!(error.to_string().contains("cannot be written"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
