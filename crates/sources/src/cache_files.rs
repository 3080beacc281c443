//! The files of the cache: atomic writes, and removal of old files.
//!
//! The modification time of a file is the time of its last use, to the day. Several processes may
//! prune concurrently. A failure only leaves a file in place.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The file whose modification time is the time of the last pruning.
const MARK: &str = "pruned";

/// Retention limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetentionLimits {
    /// Maximum time since the last use.
    pub(crate) unused: Duration,
    /// Maximum total size in bytes.
    pub(crate) bytes: u64,
}

/// The retention limits of the cache.
pub(crate) const RETENTION: RetentionLimits = RetentionLimits {
    unused: Duration::from_secs(90 * 24 * 60 * 60),
    bytes: 256 << 20,
};

/// Reads a file of at most `most` bytes.
pub(crate) fn bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if path.metadata()?.len() > most {
        Err(io::ErrorKind::FileTooLarge.into())
    } else {
        fs::read(path)
    }
}

/// Writes a file atomically. Folders are readable by the user only, because documents may be
/// private.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

/// Sets the time of last use of a file, unless it was set within a day.
pub(crate) fn mark_used(path: &Path, now: SystemTime) {
    if age(path, now).is_some_and(|age| age > DAY)
        && let Ok(file) = File::options().append(true).open(path)
    {
        let _ = file.set_modified(now);
    }
}

/// Removes files beyond the limits, unless the folder was pruned within a day.
pub(crate) fn prune(folder: &Path, keep: RetentionLimits, now: SystemTime) {
    let mark = folder.join(MARK);
    if age(&mark, now).is_some_and(|age| age < DAY) || write(&mark, b"").is_err() {
        return;
    }
    if let Ok(file) = File::options().append(true).open(&mark) {
        let _ = file.set_modified(now);
    }
    let mut kept: Vec<(Duration, PathBuf, u64)> = Vec::new();
    for path in files(&folder.join("sha256"), 2)
        .into_iter()
        .chain(files(&folder.join("seen"), 1))
    {
        let (Some(age), Ok(about)) = (age(&path, now), path.metadata()) else {
            continue;
        };
        if age > keep.unused {
            let _ = fs::remove_file(&path);
        } else {
            kept.push((age, path, about.len()));
        }
    }
    let mut bytes: u64 = kept.iter().map(|(.., length)| length).sum();
    kept.sort_by(|(a, ..), (b, ..)| b.cmp(a));
    for (_, path, length) in kept {
        if bytes <= keep.bytes {
            return;
        }
        if fs::remove_file(&path).is_ok() {
            bytes = bytes.saturating_sub(length);
        }
    }
}

/// Time since the last modification. `None` if the file does not exist; zero if its time is in the
/// future.
fn age(path: &Path, now: SystemTime) -> Option<Duration> {
    Some(
        now.duration_since(path.metadata().ok()?.modified().ok()?)
            .unwrap_or_default(),
    )
}

/// The files at `levels` levels below a folder.
fn files(folder: &Path, levels: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for entry in entries {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else {
            continue;
        };
        if kind.is_dir() && levels > 1 {
            found.extend(files(&path, levels - 1));
        } else if kind.is_file() && levels == 1 {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder {
        folder: tempfile::TempDir,
        now: SystemTime,
    }

    impl Folder {
        fn new() -> Folder {
            Folder {
                folder: tempfile::tempdir().unwrap(),
                now: SystemTime::now(),
            }
        }

        /// Creates a file of this size, last used this number of days ago.
        fn put(&self, name: &str, bytes: usize, days: u32) -> PathBuf {
            let path = self.folder.path().join(name);
            write(&path, &vec![b'x'; bytes]).unwrap();
            let file = File::options().append(true).open(&path).unwrap();
            file.set_modified(self.now - days * DAY).unwrap();
            path
        }

        fn prune(&self, bytes: u64) {
            prune(
                self.folder.path(),
                RetentionLimits {
                    unused: 90 * DAY,
                    bytes,
                },
                self.now,
            );
        }
    }

    #[test]
    fn files_unused_for_long_are_removed() {
        let kept = Folder::new();
        let old = [kept.put("sha256/aa/1", 10, 91), kept.put("seen/1", 10, 400)];
        let new = [kept.put("sha256/aa/2", 10, 89), kept.put("seen/2", 10, 0)];
        let others = kept.put("sha256/notes", 10, 400);
        kept.prune(1000);
        assert!(old.iter().all(|path| !path.exists()));
        assert!(new.iter().all(|path| path.exists()));
        assert!(others.exists(), "only files of the cache are removed");
    }

    #[test]
    fn the_least_recently_used_files_are_removed_above_the_size_limit() {
        let kept = Folder::new();
        let paths: Vec<PathBuf> = (0..5)
            .map(|at| kept.put(&format!("sha256/aa/{at}"), 10, at))
            .collect();
        kept.prune(30);
        let there: Vec<bool> = paths.iter().map(|path| path.exists()).collect();
        assert_eq!(there, [true, true, true, false, false]);
    }

    #[test]
    fn the_folder_is_pruned_once_a_day() {
        let kept = Folder::new();
        kept.prune(0);
        let new = kept.put("sha256/aa/1", 10, 0);
        kept.prune(0);
        assert!(new.exists());
        let mark = File::options()
            .append(true)
            .open(kept.folder.path().join(MARK))
            .unwrap();
        mark.set_modified(kept.now - 2 * DAY).unwrap();
        kept.prune(0);
        assert!(!new.exists());
    }

    #[test]
    fn a_used_file_is_marked() {
        let kept = Folder::new();
        let path = kept.put("sha256/aa/1", 10, 80);
        mark_used(&path, kept.now);
        assert_eq!(age(&path, kept.now), Some(Duration::ZERO));
        mark_used(&kept.folder.path().join("nothing"), kept.now);
    }
}
