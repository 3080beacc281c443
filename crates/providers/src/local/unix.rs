//! What only Unix has: modes, symbolic links, process groups.

use std::fs::{Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus};

use rustix::process::{Pid, Signal, kill_process_group};

/// The permission bits of a file.
pub(super) fn mode_of(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & 0o7777
}

/// Permissions with these bits.
pub(super) fn permissions(mode: u32) -> Permissions {
    Permissions::from_mode(mode)
}

/// Sets exactly these bits, whatever the umask is.
pub(super) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, permissions(mode))
}

/// Makes a symbolic link.
pub(super) fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// Whether a file that is open still has a name.
pub(super) fn has_a_name(metadata: &Metadata) -> bool {
    metadata.nlink() > 0
}

/// Whether both are of one file.
pub(super) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Puts the command into a process group of its own, so that all of it can be ended.
pub(super) fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// The signal that ended a process.
pub(super) fn signal_of(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// Asks a process group to end, or with `now` ends it. A group that has ended already is fine.
pub(super) fn end_group(leader: u32, now: bool) {
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, if now { Signal::KILL } else { Signal::TERM });
    }
}
