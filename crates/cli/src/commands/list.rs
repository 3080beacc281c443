//! `cyan list`.

use std::time::Duration;

use blueprint::format_duration;
use engine::shell::Clock;
use serde_json::{Value as Json, json};
use state::{InstanceInfo, LeaseHolder, OperationOutcome};

use crate::arguments::{Global, List};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::report::Report;
use crate::view::table::table;

pub(crate) async fn run(arguments: List, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let session = open::here(global, open::document_here().ok().flatten().as_deref(), report)?;
    let mut all = session.reading().instances().await?;
    let now = Clock::System.now();
    let gone = all.iter().filter(|info| is_gone(info)).count();
    if !arguments.all {
        all.retain(|info| !is_gone(info));
    }
    if report.is_json() {
        let list: Vec<Json> = all.iter().map(to_json).collect();
        report.set_result(json!({"instances": list}));
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        let more = if gone > 0 { format!("; {gone} destroyed, shown with `--all`") } else { String::new() };
        let hint = session.place.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        report.terminal.say(format!("There is no instance in {}{more}.{hint}", session.place.shown()));
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|info| {
            vec![
                info.name.to_string(),
                status_at(info),
                info.generation.0.to_string(),
                info.records.to_string(),
                ago(now, info.created),
                info.document.to_string(),
            ]
        })
        .collect();
    let head = ["INSTANCE", "STATUS", "GENERATION", "RESOURCES", "AGE", "DOCUMENT"];
    report.terminal.data(&table(&head, &rows, report.terminal.out));
    let unverified: Vec<String> =
        all.iter().filter(|info| !info.verified).map(|info| format!("`{}`", info.name)).collect();
    if !unverified.is_empty() {
        report.terminal.say(format!(
            "Not verified, because the key that it was written with is not at hand: {}.",
            unverified.join(", ")
        ));
    }
    Ok(Exit::Done)
}

fn is_gone(info: &InstanceInfo) -> bool {
    matches!(&info.last, Some((_, Some(OperationOutcome::Gone))))
}

/// How an instance is: its last operation and how far that came.
pub(crate) fn status(info: &InstanceInfo) -> String {
    let held = info.holder.as_ref().is_some_and(LeaseHolder::holds);
    match &info.last {
        None => "new".to_owned(),
        Some((_, Some(OperationOutcome::Gone))) => "destroyed".to_owned(),
        // It ended where it was to.
        Some((operation, Some(OperationOutcome::Interrupted))) if !info.waiting.is_empty() => {
            format!("{} waiting", operation.kind.word())
        }
        Some((operation, Some(outcome))) => format!("{} {}", operation.kind.word(), outcome.word()),
        Some((operation, None)) if held => format!("{} running", operation.kind.word()),
        Some((operation, None)) => format!("{} interrupted", operation.kind.word()),
    }
}

/// The same with the place where it waits.
fn status_at(info: &InstanceInfo) -> String {
    let text = status(info);
    match &*info.waiting {
        [] => text,
        [(address, at)] => format!("{text}: {address} ({at})"),
        [(address, at), more @ ..] => format!("{text}: {address} ({at}) and {} more", more.len()),
    }
}

/// How long ago something was, for people.
pub(crate) fn ago(now: i64, then: i64) -> String {
    let seconds = u64::try_from(now.saturating_sub(then)).unwrap_or(0);
    if seconds == 0 { "0s".to_owned() } else { format_duration(Duration::from_secs(seconds)) }
}

/// An instance for machines.
pub(crate) fn to_json(info: &InstanceInfo) -> Json {
    let holder =
        info.holder.as_ref().map(|holder| json!({"who": holder.who, "since": holder.since, "until": holder.until}));
    let mut json = json!({
        "name": info.name,
        "status": status(info),
        "revision": info.revision,
        "generation": info.generation,
        "resources": info.records,
        "created": info.created,
        "document": info.document,
        "holder": holder,
    });
    if !info.verified {
        json["verified"] = false.into();
    }
    if !info.waiting.is_empty() {
        let waiting = info.waiting.iter().map(|(address, at)| json!({"address": address, "at": at}));
        json["waiting"] = waiting.collect();
    }
    json
}
