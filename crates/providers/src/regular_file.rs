//! Opens files that documents name: regular files only. Opening a pipe or a device may wait for
//! ever, or have side effects.

use std::fs::{File, metadata};
use std::io;
use std::path::Path;

/// Opens a regular file for reading. A folder and another kind of file is an error.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let about = metadata(path)?;
    if !about.is_file() && !about.is_dir() {
        return Err(io::Error::other("it is not a regular file"));
    }
    File::open(path)
}

/// Reads a whole regular file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut open(path)?, &mut bytes)?;
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn devices_are_refused_before_they_are_opened() {
        let refused = |path: &str| read(Path::new(path)).unwrap_err().to_string();
        assert_eq!(refused("/dev/zero"), "it is not a regular file");
        assert_eq!(refused("/dev/tty"), "it is not a regular file");
    }

    #[test]
    fn links_to_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "text").unwrap();
        std::os::unix::fs::symlink("a", folder.path().join("b")).unwrap();
        assert_eq!(read(&folder.path().join("b")).unwrap(), b"text");
    }
}
