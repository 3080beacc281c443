//! How long documents are kept: as long as they are used, and not more of them than so many bytes.
//!
//! A file's time of change says when it was last used, to the day. Several processes may prune at once, and whatever goes
//! wrong only leaves a file where it is.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The file whose time of change says when the folder was last looked through.
const MARK: &str = "pruned";

/// What is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    /// So long after its last use.
    pub(crate) unused: Duration,
    /// So many bytes in all.
    pub(crate) bytes: u64,
}

/// What is kept of documents.
pub(crate) const KEEP: Keep = Keep { unused: Duration::from_secs(90 * 24 * 60 * 60), bytes: 256 << 20 };

/// Says of a file that it is used, unless that was said within a day.
pub(crate) fn used(path: &Path, now: SystemTime) {
    if age(path, now).is_some_and(|age| age > DAY)
        && let Ok(file) = File::options().append(true).open(path)
    {
        let _ = file.set_modified(now);
    }
}

/// Takes away what is not to be kept, unless that was done within a day.
pub(crate) fn prune(folder: &Path, keep: Keep, now: SystemTime) {
    let mark = folder.join(MARK);
    if age(&mark, now).is_some_and(|age| age < DAY) || crate::cache::write(&mark, b"").is_err() {
        return;
    }
    if let Ok(file) = File::options().append(true).open(&mark) {
        let _ = file.set_modified(now);
    }
    let mut kept: Vec<(Duration, PathBuf, u64)> = Vec::new();
    for path in files(&folder.join("sha256"), 2).into_iter().chain(files(&folder.join("seen"), 1)) {
        let (Some(age), Ok(about)) = (age(&path, now), path.metadata()) else { continue };
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

/// How long ago a file was changed; none if it is not there. One from the future was changed now.
fn age(path: &Path, now: SystemTime) -> Option<Duration> {
    Some(now.duration_since(path.metadata().ok()?.modified().ok()?).unwrap_or_default())
}

/// The files so many levels below a folder.
fn files(folder: &Path, levels: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for entry in entries {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
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

    struct Kept {
        folder: tempfile::TempDir,
        now: SystemTime,
    }

    impl Kept {
        fn new() -> Kept {
            Kept { folder: tempfile::tempdir().unwrap(), now: SystemTime::now() }
        }

        /// A content of so many bytes, used so many days ago.
        fn put(&self, name: &str, bytes: usize, days: u32) -> PathBuf {
            let path = self.folder.path().join(name);
            crate::cache::write(&path, &vec![b'x'; bytes]).unwrap();
            let file = File::options().append(true).open(&path).unwrap();
            file.set_modified(self.now - days * DAY).unwrap();
            path
        }

        fn prune(&self, bytes: u64) {
            prune(self.folder.path(), Keep { unused: 90 * DAY, bytes }, self.now);
        }
    }

    #[test]
    fn what_nobody_has_used_for_long_goes() {
        let kept = Kept::new();
        let old = [kept.put("sha256/aa/1", 10, 91), kept.put("seen/1", 10, 400)];
        let new = [kept.put("sha256/aa/2", 10, 89), kept.put("seen/2", 10, 0)];
        let others = kept.put("sha256/notes", 10, 400);
        kept.prune(1000);
        assert!(old.iter().all(|path| !path.exists()));
        assert!(new.iter().all(|path| path.exists()));
        assert!(others.exists(), "nothing is touched that the cache does not make");
    }

    #[test]
    fn the_longest_unused_go_while_there_is_too_much() {
        let kept = Kept::new();
        let paths: Vec<PathBuf> = (0..5).map(|at| kept.put(&format!("sha256/aa/{at}"), 10, at)).collect();
        kept.prune(30);
        let there: Vec<bool> = paths.iter().map(|path| path.exists()).collect();
        assert_eq!(there, [true, true, true, false, false]);
    }

    #[test]
    fn once_a_day_is_enough() {
        let kept = Kept::new();
        kept.prune(0);
        let new = kept.put("sha256/aa/1", 10, 0);
        kept.prune(0);
        assert!(new.exists());
        let mark = File::options().append(true).open(kept.folder.path().join(MARK)).unwrap();
        mark.set_modified(kept.now - 2 * DAY).unwrap();
        kept.prune(0);
        assert!(!new.exists());
    }

    #[test]
    fn what_is_used_is_young_again() {
        let kept = Kept::new();
        let path = kept.put("sha256/aa/1", 10, 80);
        used(&path, kept.now);
        assert_eq!(age(&path, kept.now), Some(Duration::ZERO));
        used(&kept.folder.path().join("nothing"), kept.now);
    }
}
