//! Ctrl-C, SIGTERM and SIGHUP, which all mean the same: stop.
//!
//! While an operation runs ([`listen`]), the first signal asks it to stop gently, the second to stop at once, a third
//! ends the process. At any other time the first signal ends the command ([`stopped`]) with exit code 130.
//!
//! Not here: how an operation stops (`engine`), and the messages about it (`operation`).

use std::io::Write as _;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

/// The time that a command has after a signal to end the processes that it has started.
const GRACE: Duration = Duration::from_secs(5);

/// The sender to the running operation, and the number of signals that it has received.
static LISTENER: Mutex<Option<(UnboundedSender<()>, u32)>> = Mutex::new(None);
/// How many waits of the main thread do not notice a signal, such as for input.
static BLOCKED: AtomicUsize = AtomicUsize::new(0);
static STOPPED: LazyLock<CancellationToken> = LazyLock::new(CancellationToken::new);

/// Signals for one operation, until it is dropped.
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

/// Runs `read`, which waits for input. A signal ends the process at once during this time.
pub(crate) fn interruptible<T>(read: impl FnOnce() -> T) -> T {
    let _blocked = blocked();
    read()
}

/// The main thread waits for something and cannot notice a signal, until it is dropped. A signal ends the process at
/// once during this time, unless an operation runs.
pub(crate) struct Blocked(());

/// Marks the main thread as waiting.
pub(crate) fn blocked() -> Blocked {
    BLOCKED.fetch_add(1, Ordering::SeqCst);
    Blocked(())
}

impl Drop for Blocked {
    fn drop(&mut self) {
        BLOCKED.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits until the main thread cannot notice a signal.
async fn waits() {
    while BLOCKED.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Directs signals to the caller from now on; they no longer end the command.
pub(crate) fn listen() -> Listener {
    let (sender, receiver) = unbounded_channel();
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = Some((sender, 0));
    Listener(receiver)
}

/// Whether a signal has come without a listener.
#[cfg(feature = "hosts")]
pub(crate) fn is_stopped() -> bool {
    STOPPED.is_cancelled()
}

/// Waits for a signal without a listener: the command must end now.
pub(crate) async fn stopped() {
    STOPPED.cancelled().await;
}

/// Ends the processes that this program has started.
pub(crate) type EndProcesses = fn() -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// Handles signals from now on. A separate thread does it, because the main thread may compute or wait for an answer.
/// `end_processes` is called before a signal ends the program.
pub(crate) fn handle(end_processes: EndProcesses) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let mut signals = {
        let _entered = runtime.enter();
        Signals::new()?
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            loop {
                signals.next().await;
                let received = received();
                if received == Received::AtOnce {
                    end_processes().await;
                    std::process::exit(Exit::Failed as i32);
                }
                if received == Received::EndsCommand {
                    // A second signal does not wait for the grace period, nor does a command that only reads.
                    tokio::select! {
                        () = signals.next() => {}
                        () = waits() => {}
                        () = tokio::time::sleep(GRACE) => {}
                    }
                    end_processes().await;
                    // The cursor may be behind a question.
                    let _ = std::io::stderr().write_all(b"\nInterrupted.\n");
                    std::process::exit(Exit::Interrupted as i32);
                }
            }
        });
    })?;
    Ok(())
}

/// What a signal means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Received {
    /// The running operation was told.
    PassedOn,
    /// The command must end.
    EndsCommand,
    /// The running operation was told twice; the program must end now.
    AtOnce,
}

/// Passes a signal on, or says what it means.
fn received() -> Received {
    let mut listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    match listener.as_mut() {
        Some((sender, sent)) if *sent < 2 => {
            *sent += 1;
            // Sending fails only if the operation has just ended.
            let _ = sender.send(());
            Received::PassedOn
        }
        // The operation received the request to stop at once, and still runs.
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
        let ignored = ignored();
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        // `nohup`, and a shell that starts a background process, make the process ignore some signals. These stay
        // ignored.
        let wanted = kinds.into_iter().filter(|kind| ignored & (1 << (kind.as_raw_value() - 1)) == 0);
        wanted.map(signal).collect::<Result<_, _>>().map(Signals)
    }

    async fn next(&mut self) {
        if self.0.is_empty() {
            return std::future::pending().await;
        }
        let waits: Vec<_> = self.0.iter_mut().map(|signal| Box::pin(signal.recv())).collect();
        futures::future::select_all(waits).await;
    }
}

/// The signals that this process ignores since its start, one bit for each; 0 if the system does not show it.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
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
