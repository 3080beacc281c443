//! `cyan history`.

use std::fmt::Write as _;
use std::time::Duration;

use blueprint::format_duration;
use engine::inspect::{CallEnd, OperationDetails};
use engine::json;
use engine::run::Clock;
use state::{Ended, GenerationInfo, OperationKind, StatusOp};

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
    if let Some(chosen) = arguments.operation {
        let details = session.operation_details(&instance, chosen).await?;
        if report.is_json() {
            report.set_result(json::operation_details(&details));
        } else {
            report.terminal.write_result(&detailed(&details));
        }
        return Ok(Exit::Done);
    }
    let history = session.history(&instance, arguments.limit).await?;
    if report.is_json() {
        report.set_result(json::history(&history));
        return Ok(Exit::Done);
    }
    let times = if arguments.absolute {
        ShownTimes::Absolute
    } else {
        ShownTimes::Since(Clock::System.now())
    };
    let operations = history.operations.iter().enumerate();
    let rows: Vec<Vec<String>> = operations
        .map(|(at, one)| row(one, times, at == 0 && history.is_held))
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

/// Prints one operation: what it was, its inputs, and its calls.
fn detailed(details: &OperationDetails) -> String {
    let operation = &details.operation.operation;
    let (state, end) = match details.operation.finished {
        Some(ended) => {
            let state = format!(
                "generation {}, {}",
                ended.generation.0,
                ended.outcome.word()
            );
            let end = format!(
                "{}, after {}: {}",
                json::time_of_seconds(ended.at),
                ago(ended.at, operation.began),
                done(ended.counts)
            );
            (state, end)
        }
        None if details.is_running => ("running".to_owned(), "-".to_owned()),
        None => ("cut off".to_owned(), "-".to_owned()),
    };
    let document = match operation.document.as_ref() {
        "" => "-",
        document => document,
    };
    let mut text = format!(
        "{}: {state}\n  document: {document}\n  who: {}\n  began: {}\n  ended: {end}\n",
        command_of(operation.kind),
        operation.who,
        json::time_of_seconds(operation.began),
    );
    if !details.inputs.is_empty() {
        text.push_str("\ninputs\n");
    }
    for (name, given) in &details.inputs {
        let _ = writeln!(text, "  {name}: {}", json::value(given, false));
    }
    if !details.calls.is_empty() {
        text.push_str("\nsteps\n");
    }
    for call in &details.calls {
        let action = call.op.map_or("record", StatusOp::word);
        let end = match &call.end {
            CallEnd::Done => "done".to_owned(),
            CallEnd::Failed(error) => format!("failed: {}", error.replace('\n', "\n    ")),
            CallEnd::Open if details.is_running => "no answer yet".to_owned(),
            CallEnd::Open => "no answer is recorded".to_owned(),
        };
        let _ = writeln!(text, "  {action} {}: {end}", call.address);
    }
    text
}

/// The word for the command that began an operation. A later deployment is one, too.
fn command_of(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Update => OperationKind::Deploy.word(),
        kind => kind.word(),
    }
}

/// How times are shown.
#[derive(Clone, Copy)]
enum ShownTimes {
    /// As the time that has passed until this one, in seconds since 1970 UTC.
    Since(i64),
    /// In RFC 3339, in UTC.
    Absolute,
}

/// Prints operations as a table. None of them is running.
pub(crate) fn shown(operations: &[GenerationInfo], report: &Report) -> String {
    let times = ShownTimes::Since(Clock::System.now());
    let rows: Vec<Vec<String>> = operations
        .iter()
        .map(|one| row(one, times, false))
        .collect();
    table(&HEAD, &rows, report.terminal.out)
}

fn row(one: &GenerationInfo, times: ShownTimes, running: bool) -> Vec<String> {
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
    let began = match times {
        ShownTimes::Since(now) => format!("{} ago", ago(now, operation.began)),
        ShownTimes::Absolute => json::time_of_seconds(operation.began),
    };
    vec![
        generation,
        command_of(operation.kind).to_owned(),
        outcome.to_owned(),
        began,
        duration,
        did,
        operation.who.to_string(),
    ]
}
