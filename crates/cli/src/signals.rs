//! Handles Ctrl-C, SIGTERM and SIGHUP. All three request a stop.
//!
//! While an operation runs ([`listen`]), the first signal asks it to stop gently, the second one to
//! stop at once, and the third one ends the process. At any other time the first signal ends the
//! command ([`wait_for_signal`]) with exit code 130.
//!
//! Not here: stopping an operation (`engine`), and the messages about it (`operation`).

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

/// The time limit for a command to end its processes after a signal.
const GRACE: Duration = Duration::from_secs(5);

/// The channel to the running operation, and the number of signals that were sent to it.
static LISTENER: Mutex<Option<(UnboundedSender<()>, u32)>> = Mutex::new(None);
/// The number of waits in the main thread that cannot notice a signal, for example for input.
static BLOCKED: AtomicUsize = AtomicUsize::new(0);
static STOPPED: LazyLock<CancellationToken> = LazyLock::new(CancellationToken::new);

/// Receives the signals for an operation, until it is dropped.
pub(crate) struct Listener(UnboundedReceiver<()>);

impl Listener {
    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Runs `read`, which waits for input. Meanwhile a signal ends the process at once, unless an
/// operation runs.
pub(crate) fn while_blocked<T>(read: impl FnOnce() -> T) -> T {
    BLOCKED.fetch_add(1, Ordering::SeqCst);
    let read = read();
    BLOCKED.fetch_sub(1, Ordering::SeqCst);
    read
}

/// Waits until the main thread is blocked.
async fn until_blocked() {
    while BLOCKED.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Directs signals to the caller. They no longer end the command.
pub(crate) fn listen() -> Listener {
    let (sender, receiver) = unbounded_channel();
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = Some((sender, 0));
    Listener(receiver)
}

/// Waits for a signal that arrives without a listener. The command must end then.
pub(crate) async fn wait_for_signal() {
    STOPPED.cancelled().await;
}

/// A function that ends the processes that this program has started.
pub(crate) type EndProcesses = Box<dyn Fn() -> BoxFuture<'static, ()> + Send>;

/// Starts a thread that handles signals. The main thread cannot do it, because it may compute or
/// wait for an answer. `end_processes` is called before a signal ends the program.
pub(crate) fn handle(end_processes: EndProcesses) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let mut signals = {
        let _entered = runtime.enter();
        Signals::new()?
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                loop {
                    signals.next().await;
                    let received = forward_signal();
                    if received == Received::AtOnce {
                        end_processes().await;
                        std::process::exit(Exit::Failed as i32);
                    }
                    if received == Received::EndsCommand {
                        // A second signal or a blocked main thread ends the grace period.
                        tokio::select! {
                            () = signals.next() => {}
                            () = until_blocked() => {}
                            () = tokio::time::sleep(GRACE) => {}
                        }
                        end_processes().await;
                        // Start a new line: the cursor may follow a question.
                        let _ = std::io::stderr().write_all(b"\nInterrupted.\n");
                        std::process::exit(Exit::Interrupted as i32);
                    }
                }
            });
        })?;
    Ok(())
}

/// The effect of a signal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Received {
    /// The signal was passed to the running operation.
    Forwarded,
    /// The command must end.
    EndsCommand,
    /// The running operation already received two signals; the program must end now.
    AtOnce,
}

/// Passes a signal to the running operation, if there is one. Returns the effect.
fn forward_signal() -> Received {
    let mut listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    match listener.as_mut() {
        Some((sender, sent)) if *sent < 2 => {
            *sent += 1;
            // Sending fails only if the operation has just ended.
            let _ = sender.send(());
            Received::Forwarded
        }
        // The operation has received the request to stop at once, and still runs.
        Some(_) => Received::AtOnce,
        None => {
            STOPPED.cancel();
            Received::EndsCommand
        }
    }
}

#[cfg(unix)]
struct Signals(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        // A write beyond the limit of file sizes (`ulimit -f`) then fails, instead of ending the
        // process. The handler stays after the listener is dropped; child processes do not have it.
        let file_size = rustix::process::Signal::XFSZ.as_raw();
        drop(signal(SignalKind::from_raw(file_size))?);
        let ignored = ignored();
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        // `nohup`, and a shell that starts a background process, make the process ignore some
        // signals. They remain ignored.
        let wanted = kinds
            .into_iter()
            .filter(|kind| ignored & (1 << (kind.as_raw_value() - 1)) == 0);
        wanted.map(signal).collect::<Result<_, _>>().map(Signals)
    }

    async fn next(&mut self) {
        if self.0.is_empty() {
            return std::future::pending().await;
        }
        let waits: Vec<_> = self
            .0
            .iter_mut()
            .map(|signal| Box::pin(signal.recv()))
            .collect();
        futures::future::select_all(waits).await;
    }
}

/// The signals that this process has ignored since its start, one bit for each; 0 if the system
/// does not report them.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Signals> {
        Ok(Signals)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
