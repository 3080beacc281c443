//! The process that locks the file, on Linux.
//!
//! Best effort, for messages only. The files are not opened: closing them would drop the locks of
//! this process.

use std::path::{Path, PathBuf};

/// The path of the file beside the state with this suffix: `-wal`, `-shm`, or a copy.
pub(super) fn sibling_path(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// The process that holds a write lock of SQLite, as a phrase; `None` if it is not known.
#[cfg(target_os = "linux")]
pub(super) fn writer(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;

    let inode = |end: &str| {
        std::fs::metadata(sibling_path(path, end))
            .ok()
            .map(|about| about.ino())
    };
    let (file, shared) = (inode(""), inode("-shm"));
    // The kernel returns its list page by page. A list that changes meanwhile can lack an entry.
    let pid = (0..3).find_map(|_| lock_holder(file, shared))?;
    let about = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let (name, after) = about.split_once('(')?.1.rsplit_once(')')?;
    let stopped = if after.trim_start().starts_with(['T', 't']) {
        ", which is stopped,"
    } else {
        ""
    };
    Some(format!("process {pid} (`{name}`){stopped}"))
}

/// The process that holds a write lock of SQLite on the database file or on the file of shared
/// memory, by their inodes.
#[cfg(target_os = "linux")]
fn lock_holder(file: Option<u64>, shared: Option<u64>) -> Option<u32> {
    /// SQLite's locks for writing, checkpoints and recovery, in the file of shared memory.
    const WRITING: std::ops::RangeInclusive<u64> = 120..=122;
    /// The offset from which SQLite's locks in the database file lie.
    const PENDING: u64 = 0x4000_0000;

    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, "POSIX", _, "WRITE", pid, place, from, to] = fields.as_slice() else {
            return None;
        };
        let inode = place.rsplit(':').next()?.parse::<u64>().ok();
        let (from, to) = (
            from.parse::<u64>().ok()?,
            to.parse::<u64>().unwrap_or(u64::MAX),
        );
        let is_ours = inode == shared && from <= *WRITING.end() && to >= *WRITING.start()
            || inode == file && from >= PENDING;
        let pid = pid.parse::<u32>().ok()?;
        (inode.is_some() && is_ours && pid != std::process::id()).then_some(pid)
    })
}

/// Returns `None`: other systems do not provide the process.
#[cfg(not(target_os = "linux"))]
pub(super) fn writer(_path: &Path) -> Option<String> {
    None
}
