//! One plugin process from its start to its end.
//!
//! One task owns the process. It waits for the end, ends the process on request, and publishes the
//! exit when all output is read. When the task is dropped with its runtime, the whole process group
//! is killed.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncRead;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{OnceCell, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::folder::{self, PrivateFolder};
use crate::line_group::LineGroup;
use crate::lines::Lines;
use crate::log::{LogTail, Logs};
use crate::plugin::{Plugin, ProcessCommand, wait};
use crate::{
    Endpoint, HandshakeLine, Launch, ListenAddress, LogLine, PluginError, ProcessEnding,
    ProcessExit, ProcessLimits, Protocol, StopOutcome, StopSignal,
};

/// A line is passed on when the next one does not follow within this time: a secret may lie over
/// several lines.
const PAUSE: Duration = Duration::from_millis(50);
/// The time for reading the output after the end of a process, if a process outside its group still
/// holds the stream.
const DRAIN: Duration = Duration::from_secs(1);

/// Starts a process and waits for its handshake. The first start in this program ends the processes
/// of killed runs.
pub(crate) async fn start(
    launch: Launch,
    protocol: Arc<dyn Protocol>,
    logs: Logs,
) -> Result<Plugin, PluginError> {
    static SWEPT: OnceCell<()> = OnceCell::const_new();

    let program = find(&launch)?;
    SWEPT
        .get_or_init(|| async {
            // The cleanup fails only if the runtime ends.
            let _ = tokio::task::spawn_blocking(|| folder::sweep(&folder::base())).await;
        })
        .await;
    let failed = |error: io::Error| cannot_start(&launch, &program, &error);
    let base = folder::base();
    let folder =
        PrivateFolder::create(&base).map_err(|error| no_private_folder(&launch, base, &error))?;
    let mut child = spawn(&launch, &program, protocol.as_ref(), &folder).map_err(failed)?;
    let group = ProcessGroup::of(&child).map_err(failed)?;
    restrict(&group, &launch.limits).map_err(failed)?;

    let process = child.id();
    let (limit, name) = (launch.limits.start, launch.name);
    let context = Arc::new(Context {
        name: name.clone(),
        protocol,
        logs,
        grace: launch.limits.grace,
        tail: Mutex::default(),
        endpoint: OnceLock::new(),
        requested: AtomicBool::new(false),
    });
    let (announce, handshake) = oneshot::channel();
    let mut readers = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        readers.push(tokio::spawn(read(
            stdout,
            Arc::clone(&context),
            Some(announce),
        )));
    }
    if let Some(stderr) = child.stderr.take() {
        readers.push(tokio::spawn(read(stderr, Arc::clone(&context), None)));
    }
    let (orders, received) = watch::channel(ProcessCommand::Run);
    let (publish, exit) = watch::channel(None);
    let stdin = child.stdin.take();
    let owned = ProcessParts {
        child,
        group,
        folder,
        readers,
        _stdin: stdin,
    };
    tokio::spawn(owned.run_until_exit(Arc::clone(&context), received, publish));

    let failure = match timeout(limit, handshake).await {
        Ok(Ok(HandshakeLine::Endpoint(endpoint))) => match unusable(&endpoint) {
            None => {
                let endpoint = context.endpoint.get_or_init(|| endpoint).clone();
                return Ok(Plugin::new(name, endpoint, exit, Some(orders), process));
            }
            Some(why) => PluginError::Refused { name, program, why },
        },
        Ok(Ok(HandshakeLine::Refused(why))) => PluginError::Refused {
            name,
            program,
            why: context.scrub(&why),
        },
        Ok(Ok(HandshakeLine::NotHandshake) | Err(_)) => {
            // Standard output is at its end: the process usually ends too.
            match timeout(DRAIN, wait(exit.clone())).await {
                Ok(Some(exit)) => PluginError::Exited {
                    name,
                    program,
                    exit,
                },
                _ => PluginError::ClosedOutput {
                    name,
                    program,
                    output: String::new(),
                },
            }
        }
        Err(_) => PluginError::NoHandshake {
            name,
            program,
            limit,
            output: String::new(),
        },
    };
    orders.send_replace(ProcessCommand::Kill);
    let exit = wait(exit).await;
    let mut failure = failure;
    if let PluginError::NoHandshake { output, .. } | PluginError::ClosedOutput { output, .. } =
        &mut failure
    {
        *output = exit.map(|exit| exit.output).unwrap_or_default();
    }
    Err(failure)
}

/// The reason why an endpoint cannot be used, as a phrase.
fn unusable(endpoint: &Endpoint) -> Option<String> {
    match endpoint.address {
        ListenAddress::Tcp(address) if !address.ip().is_loopback() => Some(format!(
            "it listens at {address}, which is not on this machine"
        )),
        _ => None,
    }
}

/// The program of a launch, as an absolute path.
fn find(launch: &Launch) -> Result<PathBuf, PluginError> {
    let program = std::path::absolute(&launch.program).unwrap_or_else(|_| launch.program.clone());
    let name = launch.name.clone();
    match fs::metadata(&program) {
        Ok(found) if found.is_dir() => Err(PluginError::NotExecutable {
            name,
            program,
            why: "is a folder",
        }),
        Ok(found) if found.permissions().mode() & 0o111 == 0 => Err(PluginError::NotExecutable {
            name,
            program,
            why: "has no permission to be executed",
        }),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Err(PluginError::NotFound { name, program })
        }
        _ if !launch.folder.is_dir() => Err(PluginError::NoFolder {
            name,
            folder: launch.folder.clone(),
        }),
        // If the file cannot be inspected, the start reports the error.
        _ => Ok(program),
    }
}

fn cannot_start(launch: &Launch, program: &Path, error: &io::Error) -> PluginError {
    let (name, program) = (launch.name.clone(), program.to_owned());
    let why = if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) {
        "is no program for this system"
    } else if error.kind() == io::ErrorKind::NotFound {
        "needs an interpreter that does not exist"
    } else {
        let why = words_of(error);
        return PluginError::Start { name, program, why };
    };
    PluginError::NotExecutable { name, program, why }
}

fn no_private_folder(launch: &Launch, folder: PathBuf, error: &io::Error) -> PluginError {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "it does not exist; `TMPDIR` names it".to_owned(),
        _ => words_of(error),
    };
    PluginError::NoPrivateFolder {
        name: launch.name.clone(),
        folder,
        why,
    }
}

/// An error of the system as a phrase.
fn words_of(error: &io::Error) -> String {
    use rustix::io::Errno;

    match Errno::from_io_error(error) {
        Some(Errno::MFILE) => {
            "too many files are open in this process; raise the limit with `ulimit -n`".to_owned()
        }
        Some(Errno::NFILE) => "too many files are open on this machine".to_owned(),
        _ => error.to_string(),
    }
}

fn spawn(
    launch: &Launch,
    program: &Path,
    protocol: &dyn Protocol,
    folder: &PrivateFolder,
) -> io::Result<Child> {
    Command::new(program)
        .args(&launch.arguments)
        .current_dir(&launch.folder)
        .env_clear()
        .envs(launch.inherit.inherited_variables(std::env::vars_os()))
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .envs(protocol.environment(&folder.sockets()))
        .env(folder::VARIABLE, folder.path())
        // Open as long as this program lives: a plugin that reads it is told when the run is
        // killed.
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

/// Sets the memory limit of a process. The limit is on private writable memory, because programs
/// reserve much more address space than they use.
#[cfg(target_os = "linux")]
fn restrict(group: &ProcessGroup, limits: &ProcessLimits) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, prlimit};

    if limits.memory.is_some() {
        let limit = Rlimit {
            current: limits.memory,
            maximum: limits.memory,
        };
        prlimit(Some(group.leader), Resource::Data, limit)?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn restrict(_: &ProcessGroup, _: &ProcessLimits) -> io::Result<()> {
    Ok(())
}

/// The shared data of the tasks of a process.
struct Context {
    name: String,
    protocol: Arc<dyn Protocol>,
    logs: Logs,
    grace: Duration,
    tail: Mutex<LogTail>,
    /// Set after the handshake.
    endpoint: OnceLock<Endpoint>,
    requested: AtomicBool,
}

impl Context {
    fn scrub(&self, text: &str) -> String {
        (self.logs.scrub)(text)
    }

    /// Passes on lines that are scrubbed.
    fn log(&self, lines: Vec<LogLine>) {
        for line in lines {
            (self.logs.sink)(&self.name, &line);
            self.tail
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(line.text);
        }
    }

    /// The last lines, scrubbed together: no single line contains a secret of several lines, and
    /// some secrets became known only after their line was written.
    fn output(&self) -> String {
        let text = self
            .tail
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .text();
        self.scrub(&text)
    }
}

/// Reads a stream to its end. With `announce`, lines are passed to the protocol until one is a
/// handshake.
async fn read(
    stream: impl AsyncRead + Unpin,
    context: Arc<Context>,
    mut announce: Option<oneshot::Sender<HandshakeLine>>,
) {
    let mut lines = Lines::new(stream);
    let mut group = LineGroup::default();
    let scrub = |text: &str| context.scrub(text);
    loop {
        let next = if group.is_empty() {
            Ok(lines.next().await)
        } else {
            timeout(PAUSE, lines.next()).await
        };
        let Ok(next) = next else {
            context.log(group.take_all(&scrub));
            continue;
        };
        let Some(line) = next else {
            return context.log(group.take_all(&scrub));
        };
        if let Some(waiting) = announce.take() {
            match context.protocol.line(&line) {
                HandshakeLine::NotHandshake => announce = Some(waiting),
                // The caller may have given up the start.
                found => {
                    let _ = waiting.send(found);
                    continue;
                }
            }
        }
        if !line.trim().is_empty() {
            group.push(context.protocol.parse_log_line(&line));
            context.log(group.take_first(&scrub));
        }
    }
}

/// The process group of a plugin. Dropping this value kills the group, unless it has ended.
struct ProcessGroup {
    leader: Pid,
    ended: bool,
}

impl ProcessGroup {
    fn of(child: &Child) -> io::Result<ProcessGroup> {
        let leader = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        let leader = leader.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(ProcessGroup {
            leader,
            ended: false,
        })
    }

    fn signal(&self, signal: Signal) {
        // The signal fails if the group has no process any more.
        let _ = kill_process_group(self.leader, signal);
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if !self.ended {
            self.signal(Signal::KILL);
        }
    }
}

/// The parts of a process, in the order in which they are dropped.
struct ProcessParts {
    group: ProcessGroup,
    child: Child,
    readers: Vec<JoinHandle<()>>,
    folder: PrivateFolder,
    _stdin: Option<ChildStdin>,
}

impl ProcessParts {
    /// Waits until the process ends, and publishes its exit.
    async fn run_until_exit(
        mut self,
        context: Arc<Context>,
        mut orders: watch::Receiver<ProcessCommand>,
        publish: watch::Sender<Option<ProcessExit>>,
    ) {
        let status = tokio::select! {
            biased;
            status = self.child.wait() => status,
            () = end(&context, &mut orders, &self.group) => self.child.wait().await,
        };
        // End the processes that the plugin itself has started and left.
        self.group.signal(Signal::KILL);
        self.group.ended = true;
        for reader in self.readers {
            let stop = reader.abort_handle();
            if timeout(DRAIN, reader).await.is_err() {
                stop.abort();
            }
        }
        drop(self.folder);
        let requested = context.requested.load(Ordering::Acquire);
        publish.send_replace(Some(ProcessExit {
            ending: ending(status),
            requested,
            output: context.output(),
        }));
    }
}

fn ending(status: io::Result<ExitStatus>) -> ProcessEnding {
    match status {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => ProcessEnding::Code(code),
            (None, Some(signal)) => ProcessEnding::Signal(signal),
            (None, None) => ProcessEnding::Unknown,
        },
        Err(_) => ProcessEnding::Unknown,
    }
}

/// Waits for the order to end a process, and ends it. Returns when `SIGKILL` is sent.
async fn end(
    context: &Context,
    orders: &mut watch::Receiver<ProcessCommand>,
    group: &ProcessGroup,
) {
    // An error means that all handles are dropped.
    let order = orders
        .wait_for(|order| *order > ProcessCommand::Run)
        .await
        .map_or(ProcessCommand::Stop, |order| *order);
    context.requested.store(true, Ordering::Release);
    if order == ProcessCommand::Stop {
        let killed = async {
            if orders
                .wait_for(|order| *order == ProcessCommand::Kill)
                .await
                .is_err()
            {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = end_politely(context, group) => (),
            () = killed => (),
        }
    }
    group.signal(Signal::KILL);
}

/// Makes the polite stop of the family, then sends its signal, and gives the process time after
/// each.
async fn end_politely(context: &Context, group: &ProcessGroup) {
    if let Some(endpoint) = context.endpoint.get()
        && let Ok(StopOutcome::Exits) =
            timeout(context.grace, context.protocol.stop(endpoint)).await
    {
        sleep(context.grace).await;
    }
    group.signal(match context.protocol.signal() {
        StopSignal::Terminate => Signal::TERM,
        StopSignal::Interrupt => Signal::INT,
    });
    sleep(context.grace).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_open_files_are_named() {
        let words = |errno: rustix::io::Errno| words_of(&errno.into());
        assert!(words(rustix::io::Errno::MFILE).contains("`ulimit -n`"));
        assert!(words(rustix::io::Errno::NFILE).contains("on this machine"));
        assert!(words(rustix::io::Errno::PERM).contains("not permitted"));
    }
}
