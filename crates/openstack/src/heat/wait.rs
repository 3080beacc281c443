//! Waits for a number of seconds, until the call is cancelled, or until its deadline.

use std::time::Duration;

use blueprint::Value;
use provider::{Call, ErrorKind, ProviderError};

/// Waits for this number of seconds. A negative number waits for ever.
///
/// # Errors
/// [`ErrorKind::Cancelled`] if the call is cancelled, [`ErrorKind::TimedOut`] if its deadline
/// passes first.
pub(super) async fn wait(call: &Call, seconds: f64) -> Result<(), ProviderError> {
    if seconds == 0.0 || seconds.is_nan() {
        return Ok(());
    }
    let time = Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|_| seconds > 0.0);
    (call.progress)(&match time {
        Some(time) => format!("waiting {}", blueprint::format_duration(time)),
        None => "waiting without end".to_owned(),
    });
    let over = async {
        match time {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    let deadline = async {
        match call.deadline {
            Some(deadline) => tokio::time::sleep(deadline).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = call.cancel.cancelled() => Err(ProviderError::new(ErrorKind::Cancelled, "cancelled while waiting")),
        () = over => Ok(()),
        () = deadline => Err(ProviderError::new(ErrorKind::TimedOut, "the time given is shorter than the wait")),
    }
}

/// A number of seconds from a property: an integer or a float.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value.unmarked() {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}
