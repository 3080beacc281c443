//! Where what became of a call is kept until its outcome is in the state.
//!
//! A process that carries a call out can outlive the run that made the call. It writes how the call
//! ended to files that are named by the token of the call, so that the next run can read it. A call
//! has one file at a time, and at its end two:
//!
//! ```text
//! planned ──the process takes it──> begun (locked while the process lives) ──> begun, ended
//!    └──a later run takes it first──> void (the call is never made)
//! ```
//!
//! The runtime makes `planned` before it commits the intent of the call, so a call without a file
//! is one of another machine, of a copied state or of an earlier version: nothing is known of it.
//!
//! Each writer has a folder of its own, named by the epoch of its lease. A writer that has lost its
//! lease therefore reaches no file of the next one, although both may make calls with one token. Of
//! two files about a token, that of the later epoch counts.
//!
//! Not here: access to the files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blueprint::Name;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

/// The longest token that is part of the name of a file.
const LONGEST_TOKEN: usize = 128;

/// The files about the calls of one instance.
#[derive(Clone)]
pub struct CallRecords {
    /// The folder that only the owner may enter, and that may not exist. For a call that is made it
    /// has the files; for a read it has the folders of all writers.
    pub folder: Arc<Path>,
    /// Cancelled when the run can record nothing more. A call that has begun goes on without it,
    /// and answers [`ErrorKind::OutcomeUnknown`](crate::ErrorKind::OutcomeUnknown).
    pub detached: CancellationToken,
    /// The boot of the machine; empty if it is not known. A file that was not synced counts only
    /// in the boot in which it was written.
    pub boot: Name,
    /// The keys for what is written about the end of a call: the first one seals, all of them open.
    /// Empty if the state has no key. Then it holds no secrets.
    pub keys: Vec<Zeroizing<[u8; 32]>>,
}

/// Does not show the keys.
impl fmt::Debug for CallRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallRecords")
            .field("folder", &self.folder)
            .field("keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}

/// What a file says about its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallProgress {
    /// The call may be made, and has not begun. The file holds the boot in which it was written.
    Planned,
    /// The call has not begun and never will.
    Void,
    /// The call has begun. The process that carries it out holds a lock on the file.
    Begun,
    /// The call has ended. The file says how.
    Ended,
}

impl CallProgress {
    /// All kinds of files.
    pub const ALL: [CallProgress; 4] = [
        CallProgress::Planned,
        CallProgress::Void,
        CallProgress::Begun,
        CallProgress::Ended,
    ];

    /// The ending of the file's name.
    pub fn word(self) -> &'static str {
        match self {
            CallProgress::Planned => "planned",
            CallProgress::Void => "void",
            CallProgress::Begun => "begun",
            CallProgress::Ended => "ended",
        }
    }
}

impl CallRecords {
    /// The records of the writer with this epoch.
    pub fn of_writer(&self, epoch: u64) -> CallRecords {
        CallRecords {
            folder: self.folder.join(epoch.to_string()).into(),
            ..self.clone()
        }
    }

    /// The file about the call of a token; `None` for a text that is no token.
    pub fn file(&self, token: &str, progress: CallProgress) -> Option<PathBuf> {
        let fits = (1..=LONGEST_TOKEN).contains(&token.len())
            && token
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        fits.then(|| self.folder.join(format!("{token}.{}", progress.word())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_names_a_file_of_the_folder_and_no_other() {
        let records = CallRecords {
            folder: Path::new("calls").into(),
            detached: CancellationToken::new(),
            boot: "".into(),
            keys: vec![Zeroizing::new([7; 32])],
        };
        assert_eq!(
            records.file("a1-3", CallProgress::Begun),
            Some(PathBuf::from("calls/a1-3.begun"))
        );
        for token in ["", "../a", "a/b", "a.b", &"a".repeat(129)] {
            assert_eq!(records.file(token, CallProgress::Ended), None, "{token}");
        }
        assert_eq!(
            records.of_writer(3).file("a", CallProgress::Ended),
            Some(PathBuf::from("calls/3/a.ended"))
        );
        assert!(!format!("{records:?}").contains('7'));
    }
}
