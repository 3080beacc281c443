//! Ctrl-C, SIGTERM and SIGHUP, which all mean the same: stop.
//!
//! While an operation runs ([`listen`]), the first signal asks it to stop gently, the second to stop at once, a third
//! ends the process. At any other time the first signal ends the command ([`stopped`]) with exit code 130.
//!
//! Not here: how an operation stops (`engine`), and what is said about it (`operation`).

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

/// How long a command may take to end after a signal: to end what it has started.
const GRACE: Duration = Duration::from_secs(5);

/// The operation that is to be told of signals, and of how many it has been told.
static LISTENER: Mutex<Option<(UnboundedSender<()>, u32)>> = Mutex::new(None);
/// The main thread waits for a person, and does not notice a signal.
static READING: AtomicBool = AtomicBool::new(false);
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

/// Reads what a person types: a signal ends the process at once meanwhile.
pub(crate) fn interruptible<T>(read: impl FnOnce() -> T) -> T {
    READING.store(true, Ordering::SeqCst);
    let read = read();
    READING.store(false, Ordering::SeqCst);
    read
}

/// Waits until the main thread waits for a person.
async fn reading() {
    while !READING.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// From now on signals go to the caller, and no longer end the command.
pub(crate) fn listen() -> Listener {
    let (sender, receiver) = unbounded_channel();
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = Some((sender, 0));
    Listener(receiver)
}

/// Waits until a signal came that no operation listened to: the command has to end now.
pub(crate) async fn stopped() {
    STOPPED.cancelled().await;
}

/// Handles signals from now on, on a thread of its own: the main thread may compute, or wait for an answer.
pub(crate) fn handle() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let mut signals = {
        let _entered = runtime.enter();
        Signals::new()?
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            loop {
                signals.next().await;
                if received() {
                    // A second signal does not wait, nor does a command that only reads.
                    tokio::select! {
                        () = signals.next() => {}
                        () = reading() => {}
                        () = tokio::time::sleep(GRACE) => {}
                    }
                    // The cursor may stand behind a question.
                    let _ = std::io::stderr().write_all(b"\nInterrupted.\n");
                    std::process::exit(Exit::Interrupted as i32);
                }
            }
        });
    })?;
    Ok(())
}

/// Passes a signal on. Whether it ends the command.
fn received() -> bool {
    let mut listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    match listener.as_mut() {
        Some((sender, told)) if *told < 2 => {
            *told += 1;
            // An operation that has just ended needs no signal any more.
            let _ = sender.send(());
            false
        }
        // It was told to stop at once, and has not.
        Some(_) => std::process::exit(Exit::Failed as i32),
        None => {
            STOPPED.cancel();
            true
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
        // `nohup`, and a shell that starts something in the background, have some of them ignored: that stays.
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

/// The signals that this process was started to ignore, a bit for each; none where the system does not tell.
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
