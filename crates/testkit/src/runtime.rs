//! The runtime in which tests run.

/// Runs a future on one thread with a paused clock, so that waiting takes no time. `Err` if no runtime can be made.
pub(crate) fn in_runtime<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    // The future of a whole scenario is too large for the stack of a test.
    Ok(runtime.map_err(|error| error.to_string())?.block_on(Box::pin(work)))
}
