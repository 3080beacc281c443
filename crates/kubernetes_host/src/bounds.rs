//! The bounds of a call: its deadline and its cancellation.

use std::time::Duration;

use ::provider::{Call, ErrorKind, ProviderError};

/// The time that a request may still take after its call is cancelled, so that its outcome is
/// known.
const GRACE: Duration = Duration::from_secs(10);

/// Runs a call that changes nothing. It ends at once when it is cancelled.
///
/// # Errors
/// Those of the work; [`ErrorKind::Cancelled`]; [`ErrorKind::TimedOut`].
pub(crate) async fn reading<T>(
    call: &Call,
    work: impl Future<Output = Result<T, ProviderError>>,
) -> Result<T, ProviderError> {
    tokio::select! {
        biased;
        () = call.cancel.cancelled() => Err(cancelled()),
        done = work => done,
        () = passed(call.deadline) => Err(timed_out()),
    }
}

/// Runs a call that changes something. When it is cancelled, a request that is under way may still
/// end.
///
/// # Errors
/// Those of the work; [`ErrorKind::Cancelled`] if it has not begun; [`ErrorKind::OutcomeUnknown`]
/// if it has not ended in time.
pub(crate) async fn changing<T>(
    call: &Call,
    work: impl Future<Output = Result<T, ProviderError>>,
) -> Result<T, ProviderError> {
    if call.cancel.is_cancelled() {
        return Err(cancelled().without_effect());
    }
    let given_up = async {
        tokio::select! {
            () = passed(call.deadline) => {}
            () = async {
                call.cancel.cancelled().await;
                tokio::time::sleep(GRACE).await;
            } => {}
        }
    };
    tokio::select! {
        biased;
        done = work => done,
        () = given_up => Err(ProviderError::new(
            ErrorKind::OutcomeUnknown,
            "the server did not answer in time, so it is not known whether the change was made",
        )),
    }
}

/// The error of a call that was cancelled.
fn cancelled() -> ProviderError {
    ProviderError::new(ErrorKind::Cancelled, "the call was cancelled")
}

fn timed_out() -> ProviderError {
    ProviderError::new(ErrorKind::TimedOut, "the server did not answer in time")
}

/// Ends when the deadline has passed; never without one.
async fn passed(deadline: Option<Duration>) {
    match deadline {
        Some(deadline) => tokio::time::sleep(deadline).await,
        None => std::future::pending().await,
    }
}
