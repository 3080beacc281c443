//! Runs one program. Its output is shown line by line and kept up to a limit. Its whole process
//! group ends after the time limit, when the call is cancelled, and when the call is dropped.
//!
//! Not here: which program runs (`command`, `data`).

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use provider::{Call, ErrorKind, Progress, ProviderError, Scrubber};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use super::place::{cancelled, deadline_exceeded};
use super::unix;

/// Maximum number of bytes kept of each stream.
pub(super) const MOST_KEPT: usize = 1 << 20;
/// Maximum number of bytes of a line that are read, and of characters that are shown.
const LONGEST_LINE: usize = 64 << 10;
const MOST_SHOWN: usize = 1000;
/// The time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(5);
/// Time limit for further output after the program ended, because a process that it left running
/// may keep the stream open.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// A program to run.
pub(super) struct ProgramRun {
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    /// The working directory.
    pub(super) folder: Arc<Path>,
    /// Variables added to the environment.
    pub(super) environment: Vec<(String, String)>,
    /// The text for the standard input. `None` for an empty input.
    pub(super) stdin: Option<String>,
    /// The time limit.
    pub(super) limit: Duration,
    /// The field to which an error about the time limit points.
    pub(super) limited_by: &'static str,
    /// The secrets that must not be shown.
    pub(super) scrub: Scrubber,
}

/// Receives each line of the output of a program.
pub(super) type LineSink = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// What ends a program from outside, and who sees its output.
pub(super) struct ProgramControl {
    /// Cancelled when the program must end.
    pub(super) cancel: CancellationToken,
    /// The time limit of the call.
    pub(super) deadline: Option<Duration>,
    /// Receives the output.
    pub(super) lines: LineSink,
}

impl ProgramControl {
    /// The limits of a call. Lines become its progress.
    pub(super) fn of(call: &Call, scrub: &Scrubber) -> ProgramControl {
        ProgramControl {
            cancel: call.cancel.clone(),
            deadline: call.deadline,
            lines: progress_lines(call.progress.clone(), scrub.clone()),
        }
    }
}

/// A receiver of lines that reports them as progress, without secrets.
pub(super) fn progress_lines(progress: Progress, scrub: Scrubber) -> LineSink {
    Arc::new(move |line| show(line, &scrub, &progress))
}

/// The result of a program that has ended.
pub(super) struct ProgramEnd {
    /// The exit code. `None` if a signal ended the program.
    pub(super) code: Option<i32>,
    /// The signal that ended the program.
    pub(super) signal: Option<i32>,
    /// The kept part of the standard output.
    pub(super) stdout: Vec<u8>,
    /// The kept part of the standard error.
    pub(super) stderr: Vec<u8>,
    /// Whether the program printed more than is kept.
    pub(super) cut: bool,
}

#[derive(Default)]
struct Captured {
    bytes: Vec<u8>,
    cut: bool,
}

/// The process group of a running program. Dropping it ends the progress and, unless it is
/// released, kills the group.
struct ProcessGroup {
    leader: Option<u32>,
    has_ended: Arc<AtomicBool>,
}

impl ProcessGroup {
    /// Keeps the group alive: background processes of the program may continue.
    fn release(&mut self) {
        self.leader = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Relaxed);
        if let Some(leader) = self.leader {
            unix::end_group(leader, true);
        }
    }
}

/// Runs a program to its end. If the returned future is dropped, the group of the program is
/// killed.
///
/// # Errors
/// If the program cannot be started; after the time limit; [`ErrorKind::Cancelled`], and
/// [`ErrorKind::TimedOut`] after the deadline of the call. In the last three cases the whole group
/// has ended.
pub(super) async fn run(
    run: ProgramRun,
    control: ProgramControl,
) -> Result<ProgramEnd, ProviderError> {
    let ProgramControl {
        cancel,
        deadline,
        lines,
    } = control;
    if cancel.is_cancelled() {
        return Err(cancelled().without_effect());
    }
    let mut child = start(&run)?;
    let over = Arc::new(AtomicBool::new(false));
    let mut group = ProcessGroup {
        leader: child.id(),
        has_ended: over.clone(),
    };
    if let (Some(mut pipe), Some(text)) = (child.stdin.take(), run.stdin) {
        // A separate task, because the program may print before it has read all input. The program
        // may also end without reading it.
        tokio::spawn(async move { pipe.write_all(text.as_bytes()).await });
    }
    let lines: LineSink = Arc::new(move |line: &[u8]| {
        if !over.load(Ordering::Relaxed) {
            lines(line)
        }
    });
    let (out, err) = (
        Arc::new(Mutex::new(Captured::default())),
        Arc::new(Mutex::new(Captured::default())),
    );
    let out_ended = child
        .stdout
        .take()
        .map(|stream| tokio::spawn(read_stream(stream, out.clone(), lines.clone())));
    let err_ended = child
        .stderr
        .take()
        .map(|stream| tokio::spawn(read_stream(stream, err.clone(), lines)));
    let ended = tokio::select! {
        status = child.wait() => Ok(status),
        () = cancel.cancelled() => Err(cancelled()),
        () = tokio::time::sleep(run.limit) => Err(out_of_time(run.limit, run.limited_by)),
        () = after(deadline) => Err(deadline_exceeded()),
    };
    let status = match ended {
        Ok(status) => status.map_err(|error| {
            ProviderError::new(
                ErrorKind::Permanent,
                format!("the command could not be followed: {error}"),
            )
        })?,
        Err(error) => {
            group
                .leader
                .into_iter()
                .for_each(|leader| unix::end_group(leader, false));
            // Dropping the group kills the remaining processes after the grace period.
            let _ = tokio::time::timeout(GRACE, child.wait()).await;
            return Err(error);
        }
    };
    let _ = tokio::time::timeout(
        LAST_OUTPUT,
        join_all(out_ended.into_iter().chain(err_ended)),
    )
    .await;
    group.release();
    let (out, err) = (take(&out), take(&err));
    Ok(ProgramEnd {
        code: status.code(),
        signal: unix::signal_of(status),
        stdout: out.bytes,
        stderr: err.bytes,
        cut: out.cut || err.cut,
    })
}

async fn after(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}

fn out_of_time(limit: Duration, limited_by: &str) -> ProviderError {
    let limit = blueprint::format_duration(limit);
    ProviderError::new(
        ErrorKind::Permanent,
        format!("the command was ended: it ran longer than {limit}"),
    )
    .at(limited_by)
}

fn take(kept: &Mutex<Captured>) -> Captured {
    std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether an environment variable is an input of `cyan` itself: a key, a variable or a setting.
pub(super) fn is_own_variable(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"CYAN_")
}

fn start(run: &ProgramRun) -> Result<Child, ProviderError> {
    let refuse = |text: String| Err(ProviderError::new(ErrorKind::Permanent, text));
    if !run.folder.is_dir() {
        return refuse(format!(
            "there is no folder `{}` to run the command in",
            run.folder.display()
        ))
        .map_err(|error| error.at("workingDir"));
    }
    let Some((program, arguments)) = run.words.split_first() else {
        return refuse("the command is empty".into());
    };
    let mut command = Command::new(program);
    let stdin = if run.stdin.is_some() {
        Stdio::piped()
    } else {
        Stdio::null()
    };
    command
        .args(arguments)
        .current_dir(&run.folder)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    // Commands must not inherit the key of the state and the inputs of the run.
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_own_variable(name)) {
        command.env_remove(name);
    }
    command.envs(run.environment.iter().map(|(name, value)| (name, value)));
    command.spawn().or_else(|error| {
        let program = run.scrub.clean(program);
        match error.kind() {
            std::io::ErrorKind::NotFound => refuse(format!("there is no program `{program}`")),
            std::io::ErrorKind::PermissionDenied => {
                refuse(format!("`{program}` may not be run: permission denied"))
            }
            _ => refuse(format!("cannot run `{program}`: {error}")),
        }
    })
}

/// Reads a stream to its end: keeps the beginning, and passes each line on.
async fn read_stream(
    mut stream: impl AsyncRead + Unpin + Send + 'static,
    kept: Arc<Mutex<Captured>>,
    lines: LineSink,
) {
    let mut line = Vec::new();
    let mut buffer = vec![0; 8192];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let read = buffer.get(..count).unwrap_or_default();
        {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            let room = MOST_KEPT.saturating_sub(kept.bytes.len()).min(read.len());
            kept.bytes
                .extend_from_slice(read.get(..room).unwrap_or_default());
            kept.cut |= room < read.len();
        }
        for part in read.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST_LINE.saturating_sub(line.len()).min(part.len());
            line.extend_from_slice(part.get(..room).unwrap_or_default());
            if part.ends_with(b"\n") {
                lines(&line);
                line.clear();
            }
        }
    }
    if !line.is_empty() {
        lines(&line);
    }
}

fn show(line: &[u8], scrub: &Scrubber, progress: &Progress) {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end();
    if !text.is_empty() {
        let clean = scrub.clean(text);
        match clean.char_indices().nth(MOST_SHOWN) {
            Some((end, _)) => progress(&format!("{}..", clean.get(..end).unwrap_or_default())),
            None => progress(&clean),
        }
    }
}
