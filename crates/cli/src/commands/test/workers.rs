//! Runs cases in parallel, each on one of as many threads as the machine has cores.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use engine::Installed;
use engine::testing::{CaseRequest, run_case};
use tokio::runtime::Builder;

use super::cases::{FinishedCase, LoadedTests};
use crate::exit::CommandError;
use crate::registry;

/// A case to run: its file and its position.
type CaseToRun = (Arc<LoadedTests>, usize);

/// What came of a case; an error if its session could not be opened.
type CaseOutcome = Result<FinishedCase, CommandError>;

/// Runs all cases. Returns what came of them, in their order.
///
/// # Errors
/// If a thread cannot be started.
pub(super) async fn run_all(
    cases: Vec<CaseToRun>,
    installed: &Arc<Installed>,
) -> Result<Vec<CaseOutcome>, CommandError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let count = cores.min(cases.len());
    let (cases, next) = (Arc::new(cases), Arc::new(AtomicUsize::new(0)));
    let workers = (0..count).map(|_| {
        let (cases, next, installed) = (cases.clone(), next.clone(), installed.clone());
        tokio::task::spawn_blocking(move || work(&cases, &next, &installed))
    });
    let mut finished = Vec::new();
    for worker in futures::future::join_all(workers).await {
        match worker {
            Ok(outcomes) => finished.extend(outcomes?),
            // A bug in a case is a bug of the program.
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
    finished.sort_by_key(|(at, _)| *at);
    Ok(finished.into_iter().map(|(_, outcome)| outcome).collect())
}

/// Runs the next case until there is none.
fn work(
    cases: &[CaseToRun],
    next: &AtomicUsize,
    installed: &Installed,
) -> Result<Vec<(usize, CaseOutcome)>, CommandError> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| CommandError::Machine {
            what: "the program cannot start",
            source,
        })?;
    let mut finished = Vec::new();
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some((tests, case)) = cases.get(at) else {
            return Ok(finished);
        };
        let begun = Instant::now();
        let request = CaseRequest {
            installed: registry::for_case(installed),
            config: tests.config.clone(),
            options: tests.options.clone(),
            source: tests.source.clone(),
            file: tests.path.clone(),
            case: &tests.file.cases[*case],
        };
        let failures = runtime.block_on(run_case(request));
        let outcome = failures.map(|failures| FinishedCase {
            tests: tests.clone(),
            case: *case,
            failures,
            took: begun.elapsed(),
        });
        finished.push((at, outcome));
    }
}
