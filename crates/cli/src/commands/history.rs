//! `cyan history`.

use std::time::Duration;

use blueprint::format_duration;
use engine::json;
use engine::run::Clock;
use state::{Ended, GenerationInfo};

use super::list::ago;
use crate::arguments::{Global, History};
use crate::exit::{CommandError, Exit};
use crate::open;

use crate::view::plan::done;
use crate::view::report::Report;
use crate::view::table::table;

pub(crate) async fn run(
    arguments: History,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (session, instance) =
        open::session_and_instance(None, &arguments.flag, global, report).await?;
    let history = session.history(&instance, arguments.limit).await?;
    if report.is_json() {
        report.set_result(json::history(&history));
        return Ok(Exit::Done);
    }
    let now = Clock::System.now();
    let operations = history.operations.iter().enumerate();
    let rows: Vec<Vec<String>> = operations
        .map(|(at, one)| row(one, now, at == 0 && history.is_held))
        .collect();
    report
        .terminal
        .write_result(&table(&HEAD, &rows, report.terminal.out));
    Ok(Exit::Done)
}

const HEAD: [&str; 7] = [
    "GENERATION",
    "OPERATION",
    "OUTCOME",
    "BEGAN",
    "TOOK",
    "DID",
    "WHO",
];

/// Prints operations as a table. None of them is running.
pub(crate) fn shown(operations: &[GenerationInfo], report: &Report) -> String {
    let now = Clock::System.now();
    let rows: Vec<Vec<String>> = operations.iter().map(|one| row(one, now, false)).collect();
    table(&HEAD, &rows, report.terminal.out)
}

fn row(one: &GenerationInfo, now: i64, running: bool) -> Vec<String> {
    let operation = &one.operation;
    let (generation, outcome, duration, did) = match &one.finished {
        Some(Ended {
            outcome,
            at,
            generation,
            counts,
        }) => {
            let seconds = u64::try_from(at - operation.began).unwrap_or(0);
            let duration = if seconds == 0 {
                "0s".to_owned()
            } else {
                format_duration(Duration::from_secs(seconds))
            };
            (
                generation.0.to_string(),
                outcome.word(),
                duration,
                done(*counts),
            )
        }
        None if running => ("-".to_owned(), "running", "-".to_owned(), "-".to_owned()),
        None => ("-".to_owned(), "cut off", "-".to_owned(), "-".to_owned()),
    };
    let began = format!("{} ago", ago(now, operation.began));
    vec![
        generation,
        operation.kind.word().to_owned(),
        outcome.to_owned(),
        began,
        duration,
        did,
        operation.who.to_string(),
    ]
}
