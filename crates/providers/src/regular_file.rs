//! Opens files that documents name: regular files only. Opening a pipe or a device may wait for
//! ever, or have side effects. What is read as a whole has a limit, so that no file fills the
//! memory.

use std::fs::{File, metadata};
use std::io::{self, Read as _};
use std::path::Path;

/// Opens a regular file for reading. A folder and another kind of file is an error.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let about = metadata(path)?;
    if !about.is_file() && !about.is_dir() {
        return Err(io::Error::other("it is not a regular file"));
    }
    File::open(path)
}

/// Reads a whole regular file of at most `most` bytes.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] for a longer file, of which no more is read.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let too_large = |has: &str| {
        let why = format!("it has {has} bytes; at most {most} are read");
        io::Error::new(io::ErrorKind::FileTooLarge, why)
    };
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_large(&length.to_string()));
    }
    // A file may grow while it is read, and some files do not tell their length.
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large("more"));
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn devices_are_refused_before_they_are_opened() {
        let refused = |path: &str| read(Path::new(path), 10).unwrap_err().to_string();
        assert_eq!(refused("/dev/zero"), "it is not a regular file");
        assert_eq!(refused("/dev/tty"), "it is not a regular file");
    }

    #[test]
    fn longer_files_are_refused_unread() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        File::create(&path).unwrap().set_len(3 << 30).unwrap();
        let error = read(&path, 64 << 20).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(
            error.to_string(),
            "it has 3221225472 bytes; at most 67108864 are read"
        );
        // Files of `/proc` have no length.
        let error = read(Path::new("/proc/self/environ"), 1).unwrap_err();
        assert_eq!(error.to_string(), "it has more bytes; at most 1 are read");
    }

    #[test]
    fn links_to_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "text").unwrap();
        std::os::unix::fs::symlink("a", folder.path().join("b")).unwrap();
        assert_eq!(read(&folder.path().join("b"), 4).unwrap(), b"text");
    }
}
