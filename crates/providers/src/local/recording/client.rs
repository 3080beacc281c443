//! The side of the run: starts a recorder, passes the job, and receives lines and the result.

use std::fs::File;
use std::io::{self, Write as _};
use std::process::Stdio;

use provider::{Call, CallProgress, CallRecords, ErrorKind, ProviderError, Scrubber};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use zeroize::Zeroizing;

use super::recorder::{RECORDER_WORD, RecorderProgram};
use super::wire::{CANCEL, EndedCommand, Job, KILL, LINE, RESULT, framed, length_of};
use crate::local::place::cancelled;
use crate::local::process::{self, LineSink, ProgramEnd, ProgramRun, progress_lines};

/// The pipe for orders. Dropping it ends the command at once, unless it is released.
struct Orders(Option<File>);

impl Orders {
    fn give(&mut self, order: u8) {
        if let Some(pipe) = &mut self.0 {
            // The pipe is empty: the recorder has read the job. If it is gone, so is the command.
            let _ = pipe.write_all(&[order]);
        }
    }
}

impl Drop for Orders {
    fn drop(&mut self) {
        self.give(KILL);
    }
}

/// Runs a program under a recorder to its end, as [`process::run`] does. If the returned future is
/// dropped, the program is killed; if this process dies, it goes on.
///
/// # Errors
/// Those of [`process::run`]; [`ErrorKind::OutcomeUnknown`] if the recorder dies.
pub(in crate::local) async fn run(
    program: &RecorderProgram,
    records: &CallRecords,
    call: &Call,
    run: ProgramRun,
) -> Result<ProgramEnd, ProviderError> {
    if call.cancel.is_cancelled() {
        return Err(cancelled());
    }
    let cannot = |error: io::Error| {
        ProviderError::new(
            ErrorKind::Permanent,
            format!("the process that runs the command cannot be started: {error}"),
        )
    };
    let job = Job::new(&call.token, records, &run, call.deadline)
        .and_then(|job| Ok(Zeroizing::new(framed(&serde_json::to_vec(&job)?))))
        .map_err(cannot)?;
    let mut child = start(program).map_err(cannot)?;
    let (Some(mut pipe), Some(mut answers)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(cannot(io::Error::other("it has no pipes")));
    };
    // If this fails the recorder is gone, and its pipe has no result.
    let sent = pipe.write_all(&job).await.is_ok();
    let mut orders = Orders(pipe.into_owned_fd().ok().filter(|_| sent).map(File::from));
    let lines = progress_lines(call.progress.clone(), run.scrub.clone());
    let mut receiving = Box::pin(receive(&mut answers, &lines));
    let received = tokio::select! {
        biased;
        received = &mut receiving => received,
        () = records.detached.cancelled() => {
            // The command and its recorder go on. The next run reads the end.
            orders.0 = None;
            return Err(ProviderError::new(
                ErrorKind::OutcomeUnknown,
                "the command goes on without this operation, which can record nothing more",
            ));
        }
        () = call.cancel.cancelled() => {
            orders.give(CANCEL);
            receiving.await
        }
    };
    orders.0 = None;
    let _ = child.wait().await;
    match received {
        Ok(ended) => ended
            .into_result()
            .map_err(|error| clean(error, &run.scrub)),
        Err(_) => Err(lost(records, &call.token)),
    }
}

fn start(program: &RecorderProgram) -> io::Result<Child> {
    let mut command = Command::new(&program.file);
    command
        .arg(RECORDER_WORD)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // A signal to the run from its terminal does not reach the recorder.
        .process_group(0);
    for (name, _) in std::env::vars_os().filter(|(name, _)| process::is_own_variable(name)) {
        command.env_remove(name);
    }
    command.spawn()
}

/// Receives lines until the result comes.
async fn receive(
    from: &mut (impl AsyncRead + Unpin),
    lines: &LineSink,
) -> io::Result<EndedCommand> {
    loop {
        let mut length = [0; 8];
        from.read_exact(&mut length).await?;
        let mut message = vec![0; length_of(length)?];
        from.read_exact(&mut message).await?;
        match message.split_first() {
            Some((&LINE, line)) => lines(line),
            Some((&RESULT, result)) => return Ok(serde_json::from_slice(result)?),
            _ => return Err(io::Error::other("a message of an unknown kind")),
        }
    }
}

fn clean(error: ProviderError, scrub: &Scrubber) -> ProviderError {
    ProviderError {
        message: scrub.clean(&error.message).into(),
        ..error
    }
}

/// The error of a recorder that ended without a result.
fn lost(records: &CallRecords, token: &str) -> ProviderError {
    let is_planned = records
        .file(token, CallProgress::Planned)
        .is_some_and(|file| file.exists());
    if is_planned {
        return ProviderError::new(
            ErrorKind::Permanent,
            "the command was not started: the process that was to run it has ended",
        );
    }
    ProviderError::new(
        ErrorKind::OutcomeUnknown,
        "the process that ran the command has ended without a result",
    )
}
