//! The private folder of a plugin process, and the cleanup after killed runs.
//!
//! A process is not told when its parent is killed by `SIGKILL`. Each plugin therefore has a folder
//! with a lock that its run holds; the kernel releases the lock when the run ends in any way. The
//! first plugin start of a later `cyan` process looks for folders whose lock is free: those in
//! `base()`, and those that running processes have in their environment, wherever they are. It ends
//! the processes that have the folder in their environment, and waits up to 5 seconds for them to
//! end, before it starts anything.
//!
//! Limits: processes are found on Linux only; on other systems only folders in `base()` are
//! removed. A process whose folder is gone is left alone.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The environment variable that marks a process, and its child processes, with its folder.
pub(crate) const VARIABLE: &str = "CYAN_PLUGIN_FOLDER";

/// The prefix of the names of folders in use.
const PREFIX: &str = "cyan-plugin-";
/// The prefix of the names of folders without a lock yet.
const UNLOCKED: &str = "cyan-new-plugin-";
/// The maximum length of the base path. A Unix socket path is limited to about 100 bytes in total.
const MAX_BASE_LENGTH: usize = 50;

/// A folder that only this user can open. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    path: PathBuf,
    /// The lock is held until this value is dropped or the process ends.
    _lock: File,
}

impl PrivateFolder {
    pub(crate) fn create(within: &Path) -> io::Result<PrivateFolder> {
        let fresh = tempfile::Builder::new()
            .prefix(UNLOCKED)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(within)?;
        let lock = match prepare(fresh.path()) {
            Ok(lock) => lock,
            Err(error) => {
                remove(&fresh.keep());
                return Err(error);
            }
        };
        let name = fresh
            .path()
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .replacen(UNLOCKED, PREFIX, 1);
        let path = within.join(name);
        // The folder gets its final name while the lock is held, so no other run takes it for the
        // folder of a killed run.
        fs::rename(fresh.path(), &path)?;
        // There is no folder under the old name any more.
        let _ = fresh.keep();
        Ok(PrivateFolder { path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder for the sockets of the plugin.
    pub(crate) fn sockets(&self) -> PathBuf {
        self.path.join("s")
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Makes the contents of a folder. Returns its lock.
fn prepare(folder: &Path) -> io::Result<File> {
    let lock = File::create_new(folder.join("lock"))?;
    lock.try_lock()?;
    DirBuilder::new().mode(0o700).create(folder.join("s"))?;
    Ok(lock)
}

/// Removes a folder. If the removal fails, a later run tries it again.
fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_ok() {
        return;
    }
    // A process with too many open files cannot list the folder.
    let _ = fs::remove_file(folder.join("lock"));
    let _ = fs::remove_dir(folder.join("s"));
    let _ = fs::remove_dir(folder);
}

/// The folder in which private folders are created.
pub(crate) fn base() -> PathBuf {
    let usual = std::env::temp_dir();
    if usual.as_os_str().len() <= MAX_BASE_LENGTH {
        usual
    } else {
        "/tmp".into()
    }
}

/// Ends the processes of killed runs, and removes their folders. Folders of other users and of
/// living runs are left alone.
pub(crate) fn sweep(within: &Path) {
    let entries = fs::read_dir(within).into_iter().flatten().flatten();
    // The runs of other environments have other bases.
    let marked = marked_folders();
    for path in entries.map(|entry| entry.path()).chain(marked) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let ours = name.starts_with(PREFIX)
            && fs::symlink_metadata(&path).is_ok_and(|found| {
                found.is_dir() && found.uid() == rustix::process::geteuid().as_raw()
            });
        if !ours {
            continue;
        }
        let Ok(lock) = File::options()
            .read(true)
            .write(true)
            .open(path.join("lock"))
        else {
            continue;
        };
        if lock.try_lock().is_ok() {
            end_processes(&path);
            // If the removal fails, a later run tries it again.
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn marked_folders() -> Vec<PathBuf> {
    Vec::new()
}

/// The folders that running processes have in their environment.
#[cfg(target_os = "linux")]
fn marked_folders() -> Vec<PathBuf> {
    use std::collections::BTreeSet;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let mark = format!("{VARIABLE}=").into_bytes();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let environments = processes.filter_map(|entry| {
        let is_process = entry
            .file_name()
            .as_encoded_bytes()
            .iter()
            .all(u8::is_ascii_digit);
        // The environment of another user cannot be read.
        let environment = is_process.then(|| fs::read(entry.path().join("environ")));
        environment?.ok()
    });
    let folders: BTreeSet<PathBuf> = environments
        .filter_map(|environment| {
            let marked = environment
                .split(|byte| *byte == 0)
                .find_map(|variable| variable.strip_prefix(mark.as_slice()))?;
            Some(PathBuf::from(OsStr::from_bytes(marked)))
        })
        .filter(|folder| folder.is_absolute())
        .collect();
    folders.into_iter().collect()
}

#[cfg(not(target_os = "linux"))]
fn end_processes(_: &Path) {}

/// Ends all processes that have this folder in their environment.
#[cfg(target_os = "linux")]
fn end_processes(folder: &Path) {
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    use rustix::time::Timespec;

    /// The maximum time for a killed process to end.
    const LIMIT: Duration = Duration::from_secs(5);

    let mut mark = format!("{VARIABLE}=").into_bytes();
    mark.extend(folder.as_os_str().as_encoded_bytes());
    let marked = |pid: Pid| {
        let environment =
            fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == mark)
    };
    let deadline = Instant::now() + LIMIT;
    // A process may have started another one meanwhile, so search again until there is none.
    loop {
        let Ok(processes) = fs::read_dir("/proc") else {
            return;
        };
        let mut ended = false;
        for entry in processes.flatten() {
            let number = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            let Some(pid) = number.and_then(Pid::from_raw) else {
                continue;
            };
            if !marked(pid) || pid == rustix::process::getpid() {
                continue;
            }
            let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
                continue;
            };
            // The number may belong to another process by now, so check the mark again.
            if !marked(pid) || pidfd_send_signal(&process, Signal::KILL).is_err() {
                continue;
            }
            ended = true;
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).unwrap_or_default();
            // On a failure, the next search finds the process again.
            let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&left));
        }
        if !ended || Instant::now() >= deadline {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_private_and_is_removed() {
        let base = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::create(base.path()).unwrap();
        for path in [folder.path(), &folder.sockets()] {
            assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o700);
        }
        fs::write(folder.sockets().join("left"), "x").unwrap();
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 1);
        drop(folder);
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
    }

    #[test]
    fn folders_of_living_runs_and_folders_without_a_lock_stay() {
        let base = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::create(base.path()).unwrap();
        let foreign = base.path().join("cyan-plugin-without-lock");
        fs::create_dir(&foreign).unwrap();
        std::os::unix::fs::symlink(folder.path(), base.path().join("cyan-plugin-link")).unwrap();
        sweep(base.path());
        assert!(folder.path().exists() && foreign.exists());
    }

    #[test]
    fn a_folder_of_a_killed_run_is_removed() {
        let base = tempfile::tempdir().unwrap();
        let left = base.path().join("cyan-plugin-left");
        fs::create_dir(&left).unwrap();
        File::create(left.join("lock")).unwrap();
        sweep(base.path());
        assert!(!left.exists());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processes_of_a_killed_run_are_ended_and_others_are_not() {
        use std::process::{Command, Stdio};

        let base = tempfile::tempdir().unwrap();
        let left = base.path().join("cyan-plugin-left");
        fs::create_dir(&left).unwrap();
        File::create(left.join("lock")).unwrap();
        let alive = PrivateFolder::create(base.path()).unwrap();
        let start = |folder: &Path| {
            let mut sleep = Command::new("/bin/sleep");
            Ended(
                sleep
                    .arg("600")
                    .env(VARIABLE, folder)
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap(),
            )
        };
        let (mut orphan, mut other) = (start(&left), start(alive.path()));
        // A run with another base finds the folder by the process.
        let elsewhere = tempfile::tempdir().unwrap();
        sweep(elsewhere.path());
        assert!(!left.exists());
        let ended = orphan.0.try_wait().unwrap();
        assert!(
            ended.is_some_and(|status| !status.success()),
            "the sweep waits until the process has ended"
        );
        assert!(other.0.try_wait().unwrap().is_none());
    }

    /// A process that is killed at the end of the test, also if the test fails.
    #[cfg(target_os = "linux")]
    struct Ended(std::process::Child);

    #[cfg(target_os = "linux")]
    impl Drop for Ended {
        fn drop(&mut self) {
            // The process may have ended.
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}
