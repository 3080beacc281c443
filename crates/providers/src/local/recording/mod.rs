//! Commands whose ends survive the run that started them (decisions/apply#cut-off-runs).
//!
//! A recorder is a process of its own, between the run and the command. It reads the output of the
//! command, holds the time limits, and writes how the command ended beside the state before it
//! tells the run. If the run dies, the recorder and the command go on; the next run waits for the
//! recorder and reads the end.
//!
//! ```text
//! run ──job, cancel──> recorder ──starts──> command
//!  ^                      │  ^────output──────┘
//!  └──lines, result───────┤
//!                         └──> TOKEN.begun (locked), TOKEN.ended (synced)
//! ```
//!
//! Not here: which command runs (`command`), running it (`process`).

mod client;
mod files;
mod recorder;
mod wire;

use std::time::Duration;

use provider::{CallRecords, ErrorKind, ProviderError};
use tokio_util::sync::CancellationToken;

pub(super) use self::client::run;
use self::files::Found;
pub use self::recorder::{RECORDER_WORD, RecorderProgram, run_recorder};
use super::place::cancelled;
use super::process::ProgramEnd;

/// The time between two looks at a command that still runs.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What became of the command of a call.
pub(super) enum CommandOutcome {
    /// It has not begun, and never will.
    NeverBegan,
    /// It ended by itself, or could not be started.
    Ended(Result<ProgramEnd, ProviderError>),
    /// It is not known whether it did its work: it was ended from outside, its recorder died, the
    /// machine was restarted, or nothing is recorded of it.
    Unknown,
}

/// Finds out what became of the command of a call that was cut off. Waits until it has ended: it
/// ends at the latest at the time limits that it was started with.
///
/// # Errors
/// [`ErrorKind::Cancelled`].
pub(super) async fn outcome(
    records: &CallRecords,
    token: &str,
    cancel: &CancellationToken,
) -> Result<CommandOutcome, ProviderError> {
    loop {
        match files::look(records, token) {
            Found::Running => tokio::select! {
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                () = cancel.cancelled() => return Err(cancelled()),
            },
            Found::NeverBegan => return Ok(CommandOutcome::NeverBegan),
            Found::Nothing => return Ok(CommandOutcome::Unknown),
            Found::Ended(ended) => {
                let ended = ended.into_result();
                let stopped = |error: &ProviderError| error.kind != ErrorKind::Permanent;
                return Ok(match ended {
                    Err(error) if stopped(&error) => CommandOutcome::Unknown,
                    ended => CommandOutcome::Ended(ended),
                });
            }
        }
    }
}
