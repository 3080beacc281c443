//! Time limits and cancellation of reads.

use source::{ReadLimits, SourceError};

/// Runs work until its time limit, or until the caller cancels it.
pub(crate) async fn run_limited<T>(
    limits: &ReadLimits,
    work: impl Future<Output = Result<T, SourceError>>,
) -> Result<T, SourceError> {
    tokio::select! {
        biased;
        () = limits.cancel.cancelled() => Err(SourceError::Cancelled),
        done = tokio::time::timeout(limits.time, work) => {
            done.unwrap_or(Err(SourceError::TimedOut { after: limits.time }))
        }
    }
}

/// Runs blocking work on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
) -> Result<T, SourceError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(SourceError::Cancelled),
    }
}
