//! Runs one program: its output is shown line by line and kept up to a limit, and its whole process group ends when the
//! time is up, when nobody waits any more, and when the call itself is dropped.
//!
//! Not here: which program (`command`, `data`).

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use provider::{Call, ErrorKind, Progress, ProviderError, Scrub};
use tokio::sync::oneshot;

use super::place::{cancelled, too_late};
use super::unix;

/// How much of each stream is kept.
pub(super) const MOST_KEPT: usize = 1 << 20;
/// The longest line that is looked at, and how many characters of it are shown.
const LONGEST_LINE: usize = 64 << 10;
const MOST_SHOWN: usize = 1000;
/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(5);
/// How long output is waited for after the program ended: something it left running may hold the stream open for ever.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// A program to run.
pub(super) struct Run {
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    /// Where it runs.
    pub(super) folder: PathBuf,
    /// What is added to the environment.
    pub(super) environment: Vec<(String, String)>,
    /// What it reads from its standard input; nothing by default.
    pub(super) stdin: Option<String>,
    /// How long it may run.
    pub(super) limit: Duration,
    /// The field that an error about it points at.
    pub(super) limited_by: &'static str,
    /// What must not be shown.
    pub(super) scrub: Scrub,
}

/// How it ended.
pub(super) struct Ended {
    /// The exit code, unless a signal ended it.
    pub(super) code: Option<i32>,
    /// The signal that ended it.
    pub(super) signal: Option<i32>,
    /// What it printed, up to the limit.
    pub(super) stdout: Vec<u8>,
    /// What it printed as errors, up to the limit.
    pub(super) stderr: Vec<u8>,
    /// More was printed than is kept.
    pub(super) cut: bool,
}

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    cut: bool,
}

/// Ends the group of a program that nobody waits for any more.
struct Guard {
    leader: u32,
    armed: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.armed {
            unix::end_group(self.leader, true);
        }
    }
}

/// A program that is being started. Whoever drops this before the program runs waits until it does, and ends it: the process
/// may end next, and then nobody would be left to do so.
struct Starting(oneshot::Receiver<Result<Guard, ProviderError>>);

impl Drop for Starting {
    fn drop(&mut self) {
        let begun = Instant::now();
        while matches!(self.0.try_recv(), Err(oneshot::error::TryRecvError::Empty)) && begun.elapsed() < GRACE {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Runs a program to its end.
pub(super) async fn run(call: &Call, run: Run) -> Result<Ended, ProviderError> {
    if call.cancel.is_cancelled() {
        return Err(cancelled());
    }
    let (limit, limited_by) = (run.limit, run.limited_by);
    let progress = call.progress.clone();
    let (started, leader) = oneshot::channel();
    let (ended, mut end) = oneshot::channel();
    // Not the runtime's blocking pool: a program may run for hours, and the pool is waited for when the runtime ends.
    std::thread::Builder::new()
        .name("command".into())
        .spawn(move || follow(run, progress, started, ended))
        .map_err(|error| ProviderError::new(ErrorKind::Transient, format!("cannot start a thread: {error}")))?;
    let broke_off = || ProviderError::new(ErrorKind::Permanent, "the command could not be followed");
    let mut starting = Starting(leader);
    let mut guard = (&mut starting.0).await.map_err(|_| broke_off())??;
    let ended = tokio::select! {
        ended = &mut end => Ok(ended),
        () = call.cancel.cancelled() => Err(cancelled()),
        () = tokio::time::sleep(limit) => Err(out_of_time(limit, limited_by)),
        () = after(call.deadline) => Err(too_late()),
    };
    match ended {
        Ok(ended) => {
            guard.armed = false;
            ended.map_err(|_| broke_off())
        }
        Err(error) => {
            unix::end_group(guard.leader, false);
            let _ = tokio::time::timeout(GRACE, end).await;
            // The leader is gone or does not listen; whoever is left of its group ends now, by the guard.
            drop(guard);
            Err(error)
        }
    }
}

async fn after(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}

fn out_of_time(limit: Duration, limited_by: &str) -> ProviderError {
    let limit = blueprint::format_duration(limit);
    ProviderError::new(ErrorKind::Permanent, format!("the command was ended: it ran longer than {limit}"))
        .at(limited_by)
}

fn follow(
    run: Run,
    progress: Progress,
    started: oneshot::Sender<Result<Guard, ProviderError>>,
    ended: oneshot::Sender<Ended>,
) {
    let mut child = match start(&run) {
        Ok(child) => child,
        Err(error) => {
            let _ = started.send(Err(error));
            return;
        }
    };
    // Whoever drops the guard ends the group: also if nobody waits for it any more, or stops waiting before it is received.
    let _ = started.send(Ok(Guard { leader: child.id(), armed: true }));
    if let (Some(mut pipe), Some(text)) = (child.stdin.take(), run.stdin) {
        // A thread of its own: a program that prints before it has read all would wait for us, and we for it.
        let feeder = std::thread::Builder::new().name("input".into()).spawn(move || {
            // A program may end without having read its input.
            let _ = pipe.write_all(text.as_bytes());
        });
        drop(feeder);
    }
    // What it left running may print for ever; once the step is over that is nobody's progress any more.
    let over = Arc::new(AtomicBool::new(false));
    let progress: Progress = {
        let over = over.clone();
        Arc::new(move |line: &str| {
            if !over.load(Ordering::Relaxed) {
                progress(line)
            }
        })
    };
    let (done, all_done) = mpsc::channel();
    let out = Arc::new(Mutex::new(Kept::default()));
    let err = Arc::new(Mutex::new(Kept::default()));
    if let Some(stream) = child.stdout.take() {
        listen(stream, out.clone(), run.scrub.clone(), progress.clone(), done.clone());
    }
    if let Some(stream) = child.stderr.take() {
        listen(stream, err.clone(), run.scrub.clone(), progress, done.clone());
    }
    drop(done);
    let Ok(status) = child.wait() else { return };
    for _ in 0..2 {
        if all_done.recv_timeout(LAST_OUTPUT).is_err() {
            break;
        }
    }
    over.store(true, Ordering::Relaxed);
    let (out, err) = (take(&out), take(&err));
    let cut = out.cut || err.cut;
    let _ = ended.send(Ended {
        code: status.code(),
        signal: unix::signal_of(status),
        stdout: out.bytes,
        stderr: err.bytes,
        cut,
    });
}

fn take(kept: &Mutex<Kept>) -> Kept {
    std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether an environment variable is an input of `cyan` itself: its key, its variables, its settings.
pub(super) fn is_own_variable(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"CYAN_")
}

fn start(run: &Run) -> Result<std::process::Child, ProviderError> {
    let refuse = |text: String| Err(ProviderError::new(ErrorKind::Permanent, text));
    if !run.folder.is_dir() {
        return refuse(format!("there is no folder `{}` to run the command in", run.folder.display()))
            .map_err(|error| error.at("workingDir"));
    }
    let Some((program, arguments)) = run.words.split_first() else { return refuse("the command is empty".into()) };
    let mut command = Command::new(program);
    let stdin = if run.stdin.is_some() { Stdio::piped() } else { Stdio::null() };
    command.args(arguments).current_dir(&run.folder).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The key of the state and the inputs of the run are not for commands.
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_own_variable(name)) {
        command.env_remove(name);
    }
    command.envs(run.environment.iter().map(|(name, value)| (name, value)));
    unix::own_group(&mut command);
    command.spawn().or_else(|error| {
        let program = run.scrub.clean(program);
        match error.kind() {
            std::io::ErrorKind::NotFound => refuse(format!("there is no program `{program}`")),
            std::io::ErrorKind::PermissionDenied => refuse(format!("`{program}` may not be run: permission denied")),
            _ => refuse(format!("cannot run `{program}`: {error}")),
        }
    })
}

/// Reads a stream to its end on a thread of its own: keeps the beginning, shows each line.
fn listen(
    mut stream: impl Read + Send + 'static,
    kept: Arc<Mutex<Kept>>,
    scrub: Scrub,
    progress: Progress,
    done: mpsc::Sender<()>,
) {
    let listener = std::thread::Builder::new().name("output".into()).spawn(move || {
        let mut line = Vec::new();
        let mut buffer = vec![0; 8192];
        loop {
            let read = match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => buffer.get(..count).unwrap_or_default(),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MOST_KEPT.saturating_sub(kept.bytes.len()).min(read.len());
                kept.bytes.extend_from_slice(read.get(..room).unwrap_or_default());
                kept.cut |= room < read.len();
            }
            for part in read.split_inclusive(|byte| *byte == b'\n') {
                let room = LONGEST_LINE.saturating_sub(line.len()).min(part.len());
                line.extend_from_slice(part.get(..room).unwrap_or_default());
                if part.ends_with(b"\n") {
                    show(&line, &scrub, &progress);
                    line.clear();
                }
            }
        }
        show(&line, &scrub, &progress);
        let _ = done.send(());
    });
    // Without a thread nobody reads, and the program would wait for ever: its stream is closed by the drop, it ends itself.
    drop(listener);
}

fn show(line: &[u8], scrub: &Scrub, progress: &Progress) {
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
