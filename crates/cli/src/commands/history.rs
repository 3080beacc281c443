//! `cyan history`.

use std::time::Duration;

use blueprint::format_duration;
use engine::shell::Clock;
use serde_json::{Value as Json, json};
use state::{Ended, GenerationInfo};

use super::list::ago;
use crate::arguments::{Global, History};
use crate::exit::{CommandError, Exit};
use crate::open;

use crate::view::plan::done;
use crate::view::report::Report;
use crate::view::table::table;

pub(crate) async fn run(arguments: History, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let (session, instance) = open::instance(None, &arguments.flag, global, report).await?;
    let store = session.reading();
    let all = store.history(&instance, arguments.limit).await?;
    let now = Clock::System.now();
    // Only the newest can still be running, and only while an operation holds the instance.
    let running = store.info(&instance).await?.and_then(|info| info.holder).is_some_and(|holder| holder.holds());
    if report.is_json() {
        let list: Vec<Json> = all.iter().map(to_json).collect();
        report.set_result(json!({"instance": instance, "operations": list}));
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = all.iter().enumerate().map(|(at, one)| row(one, now, at == 0 && running)).collect();
    report.terminal.data(&table(&HEAD, &rows, report.terminal.out));
    Ok(Exit::Done)
}

const HEAD: [&str; 7] = ["GENERATION", "OPERATION", "OUTCOME", "BEGAN", "TOOK", "DID", "WHO"];

/// Operations of which none runs, as a table.
pub(crate) fn shown(operations: &[GenerationInfo], report: &Report) -> String {
    let now = Clock::System.now();
    let rows: Vec<Vec<String>> = operations.iter().map(|one| row(one, now, false)).collect();
    table(&HEAD, &rows, report.terminal.out)
}

fn row(one: &GenerationInfo, now: i64, running: bool) -> Vec<String> {
    let operation = &one.operation;
    let (generation, outcome, duration, did) = match &one.finished {
        Some(Ended { outcome, at, generation, counts }) => {
            let seconds = u64::try_from(at - operation.began).unwrap_or(0);
            let duration = if seconds == 0 { "0s".to_owned() } else { format_duration(Duration::from_secs(seconds)) };
            (generation.0.to_string(), outcome.word(), duration, done((*counts).into()))
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

pub(crate) fn to_json(one: &GenerationInfo) -> Json {
    let operation = &one.operation;
    let finished = one.finished.map(|Ended { outcome, at, generation, counts }| {
        json!({
            "outcome": outcome,
            "at": at,
            "generation": generation,
            "created": counts.created,
            "updated": counts.updated,
            "deleted": counts.deleted,
            "replaced": counts.replaced,
        })
    });
    json!({
        "id": operation.id,
        "kind": operation.kind,
        "who": operation.who,
        "began": operation.began,
        "document": operation.document,
        "finished": finished,
    })
}
