//! The recorder: the process that runs one command and records its end.
//!
//! It has a process group of its own and does not depend on the run that started it.

use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use provider::{ErrorKind, ProviderError};
use tokio_util::sync::CancellationToken;

use super::files;
use super::wire::{CANCEL, EndedCommand, Job, KILL, LINE, RESULT, ReadJob, framed, read_message};
use crate::local::place::cancelled;
use crate::local::process::{self, LineSink, ProgramControl};

/// The argument with which a program is started as a recorder.
pub const RECORDER_WORD: &str = "record-command";

/// The program that records commands.
#[derive(Clone, Debug)]
pub struct RecorderProgram {
    /// Its file. It is started with the one argument [`RECORDER_WORD`], and then calls
    /// [`run_recorder`].
    pub file: PathBuf,
}

/// The number of lines that wait for the run.
const MOST_WAITING: usize = 1000;

/// The time to wait for a run that reads no lines, because it is stopped: the command must not wait
/// for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Reads a job from the standard input, runs and records it, and reports to the standard output. A
/// program calls this as its first action if it was started with [`RECORDER_WORD`]. The process is
/// to end afterwards.
pub fn run_recorder() -> ExitCode {
    match record() {
        Ok(()) => ExitCode::SUCCESS,
        // The run learns it from the end of the pipe.
        Err(_) => ExitCode::FAILURE,
    }
}

fn record() -> io::Result<()> {
    let job: Job = serde_json::from_slice(&read_message(&mut io::stdin().lock())?)?;
    let ReadJob {
        token,
        records,
        run,
        deadline,
    } = job.read()?;
    let (sender, receiver) = sync_channel(MOST_WAITING);
    let writer = std::thread::Builder::new()
        .name("messages".to_owned())
        .spawn(move || write_messages(&receiver))?;
    let result = match files::take(&records, &token) {
        Err(error) => Err(not_begun(&error)),
        Ok(lock) => {
            let stop = Stop::default();
            listen(stop.clone())?;
            let control = ProgramControl {
                cancel: stop.cancel,
                deadline,
                lines: line_sink(sender.clone()),
            };
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            let result = runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = stop.kill.cancelled() => Err(cancelled()),
                    result = process::run(run, control) => result,
                }
            });
            // Without this file the run is still told; only a run after it could not know the end.
            let _ = files::write_end(&records, &token, &EndedCommand::of(&result));
            drop(lock);
            runtime.shutdown_background();
            result
        }
    };
    let mut message = vec![RESULT];
    serde_json::to_writer(&mut message, &EndedCommand::of(&result))?;
    // Fails only if the run is gone.
    let _ = sender.send(message);
    drop(sender);
    let _ = writer.join();
    Ok(())
}

fn not_begun(error: &io::Error) -> ProviderError {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "another operation has taken its call over".to_owned(),
        io::ErrorKind::ResourceBusy => "an earlier try of it still runs".to_owned(),
        _ => format!("its begin cannot be recorded: {error}"),
    };
    ProviderError::new(
        ErrorKind::Permanent,
        format!("the command was not started: {why}"),
    )
}

/// Passes lines on. Waits for a run that reads slowly; lines for a run that does not read are
/// dropped.
fn line_sink(sender: SyncSender<Vec<u8>>) -> LineSink {
    let is_stuck = AtomicBool::new(false);
    Arc::new(move |line| {
        let begun = Instant::now();
        let mut message = [&[LINE], line].concat();
        loop {
            match sender.try_send(message) {
                Ok(()) => return is_stuck.store(false, Ordering::Relaxed),
                Err(TrySendError::Disconnected(_)) => return,
                Err(TrySendError::Full(unsent)) => message = unsent,
            }
            if is_stuck.load(Ordering::Relaxed) || begun.elapsed() > PATIENCE {
                return is_stuck.store(true, Ordering::Relaxed);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    })
}

/// Writes messages until all senders are gone, or the run no longer reads.
fn write_messages(messages: &Receiver<Vec<u8>>) {
    let mut out = io::stdout().lock();
    for message in messages {
        if out
            .write_all(&framed(&message))
            .and_then(|()| out.flush())
            .is_err()
        {
            return;
        }
    }
}

/// The orders of the run.
#[derive(Clone, Default)]
struct Stop {
    cancel: CancellationToken,
    kill: CancellationToken,
}

/// Listens to the run. Its death, which closes the pipe, is no order.
fn listen(stop: Stop) -> io::Result<()> {
    std::thread::Builder::new()
        .name("orders".to_owned())
        .spawn(move || {
            for order in io::stdin().lock().bytes().map_while(Result::ok) {
                match order {
                    CANCEL => stop.cancel.cancel(),
                    KILL => stop.kill.cancel(),
                    _ => {}
                }
            }
        })?;
    Ok(())
}
