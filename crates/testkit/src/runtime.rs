//! The async runtime of the test harnesses.

/// Runs a future to its end on the current thread. The clock is paused and jumps to the next timer
/// when no task can run, so timers take no real time. `Err` if the runtime cannot be built.
pub(crate) fn in_runtime<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    // The box moves the future to the heap: the future of a whole scenario is too large for the
    // stack of a test.
    Ok(runtime
        .map_err(|error| error.to_string())?
        .block_on(Box::pin(work)))
}

/// Runs a future to its end on the current thread, with a paused clock. Panics if the runtime cannot
/// be built.
pub fn run_with_paused_clock<T>(work: impl Future<Output = T>) -> T {
    in_runtime(work).expect("a runtime can be built")
}
