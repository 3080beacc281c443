//! Functions of Unix only: modes, symbolic links, durable folders, process groups.

use std::fs::{Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process_group};

/// The permission bits of a file.
pub(super) fn mode_of(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & 0o7777
}

/// Permissions with these bits.
pub(super) fn permissions(mode: u32) -> Permissions {
    Permissions::from_mode(mode)
}

/// Sets exactly these bits, regardless of the umask.
pub(super) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, permissions(mode))
}

/// Creates a symbolic link.
pub(super) fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// Whether an open file still has a name.
pub(super) fn has_a_name(metadata: &Metadata) -> bool {
    metadata.nlink() > 0
}

/// Whether both describe the same file.
pub(super) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// The signal that ended a process.
pub(super) fn signal_of(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// Sends SIGTERM to a process group, or SIGKILL with `now`. A group that has ended already is not
/// an error.
pub(super) fn end_group(leader: u32, now: bool) {
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, if now { Signal::KILL } else { Signal::TERM });
    }
}

/// Makes the creation or removal of a path durable in its folder.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    match std::fs::File::open(folder).and_then(|folder| folder.sync_all()) {
        // The folder was removed meanwhile, is writable but not readable, or its file system does
        // not support the sync.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::PermissionDenied
                    | io::ErrorKind::InvalidInput
                    | io::ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}
