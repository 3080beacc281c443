//! `cyan show`.

mod children;
mod record;
mod waiting;

use std::sync::Arc;

use blueprint::{Address, Map, Value};
use diag::Files;
use engine::json;
use engine::shell::Clock;
use serde_json::{Value as Json, json};
use state::{EntryKind, InstanceName, LeaseHolder, Record, Snapshot, StatusWord, Store};

use self::record::{display_name, flags, one_line, record_json, record_text};
use super::list::{ago, status};
use crate::arguments::{Global, Show};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::report::Report;
use crate::view::table::table;

/// The maximum number of journal entries to search for the reason of a failure.
const ENTRIES: usize = 100_000;

pub(crate) async fn run(arguments: Show, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let (session, instance) = open::instance(None, &arguments.flag, global, report).await?;
    let store = session.reading();
    let snapshot = store.load(&instance).await?;
    match &arguments.address {
        None => whole(&instance, &snapshot, store.as_ref(), arguments.secrets.reveal, report).await,
        Some(text) => {
            let address = text.parse::<Address>().ok();
            let found = address.as_ref().and_then(|address| Some((address, snapshot.records.get(address)?)));
            let Some((address, record)) = found else {
                let paint = (!report.is_json()).then_some(report.terminal.out);
                match children::one(text, &snapshot, arguments.secrets.reveal, paint) {
                    Some(Ok(text)) => {
                        report.terminal.data(&text);
                        return Ok(Exit::Done);
                    }
                    Some(Err(json)) => {
                        report.set_result(json);
                        return Ok(Exit::Done);
                    }
                    None => {}
                }
                if let Some((text, json)) = waiting::one(text, &snapshot) {
                    if report.is_json() {
                        report.set_result(json);
                    } else {
                        report.terminal.data(&text);
                    }
                    return Ok(Exit::Done);
                }
                let names: Vec<String> = snapshot.records.keys().map(ToString::to_string).collect();
                let diagnostic = engine::codes::UNKNOWN_ADDRESS
                    .new(format!("there is no `{text}` in `{instance}`"))
                    .help_nearest(text, names.iter().map(String::as_str));
                let diagnostic = match diagnostic.help.is_empty() {
                    true => diagnostic.help("`cyan show` lists what is there"),
                    false => diagnostic,
                };
                report.diagnostics(&[diagnostic].into_iter().collect(), &Files::new());
                return Ok(Exit::Unusable);
            };
            let error = last_error(store.as_ref(), &instance, address, record).await?;
            let waiting = snapshot.stops.get(address.to_string().as_str()).and_then(|stop| stop.waiting);
            let (error, reveal) = (error.as_deref(), arguments.secrets.reveal);
            if report.is_json() {
                report.set_result(record_json(address, record, error, waiting, reveal));
            } else {
                let text = record_text(address, record, error, waiting, reveal, report.terminal.out);
                report.terminal.data(&text);
            }
            Ok(Exit::Done)
        }
    }
}

async fn whole(
    instance: &InstanceName,
    snapshot: &Snapshot,
    store: &dyn Store,
    reveal: bool,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let now = Clock::System.now();
    let info = store.info(instance).await?;
    if report.is_json() {
        let waiting = waiting::Waiting::of(snapshot);
        let of = |(address, record): (&Address, &Arc<Record>)| {
            record_json(address, record, None, waiting.at(address), reveal)
        };
        let mut records: Vec<Json> = snapshot.records.iter().map(of).collect();
        records.extend(waiting::others_json(snapshot));
        let exports: Map = snapshot.exports.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        report.set_result(json!({
            "instance": info.as_ref().map(super::list::to_json),
            "resources": records,
            "exports": json::value(&Value::Map(exports.into()), reveal),
            "exports_old": snapshot.exports_old,
            "metadata": json::value(&snapshot.metadata, reveal),
            "children": children::children_json(snapshot, reveal),
            "data_sources": children::sources_json(snapshot, reveal),
        }));
        return Ok(Exit::Done);
    }
    let paint = report.terminal.out;
    let mut text = String::new();
    let is_held = info.as_ref().and_then(|info| info.holder.as_ref()).is_some_and(LeaseHolder::holds);
    let open = if is_held { "under way" } else { "interrupted" };
    if let Some(info) = &info {
        text.push_str(&format!("{} {}\n", paint.bold(instance), status(info)));
        text.push_str(&format!("generation {}, revision {}", info.generation.0, info.revision.0));
        if !info.document.is_empty() {
            text.push_str(&format!(", from {}", info.document));
        }
        if let Some((operation, _)) = &info.last {
            text.push_str(&format!(
                ", last {} {} ago by {}",
                operation.kind.word(),
                ago(now, operation.began),
                operation.who
            ));
        }
        text.push('\n');
    }
    if !snapshot.records.is_empty() {
        let waiting = waiting::Waiting::of(snapshot);
        // The table has a column of display names if any resource has one.
        let named = snapshot.records.values().any(|record| display_name(record).is_some());
        let rows: Vec<Vec<String>> = snapshot
            .records
            .iter()
            .map(|(address, record)| {
                let cut = if snapshot.open.contains_key(address) { format!(", {open}") } else { String::new() };
                let mut cells = vec![address.to_string()];
                if named {
                    cells.push(display_name(record).unwrap_or_default().to_owned());
                }
                cells.extend([
                    record.type_name.to_string(),
                    format!("{}{cut}", flags(record, waiting.at(address))),
                    if address.link.as_ref().is_some_and(|link| link.part.is_none()) {
                        String::new()
                    } else {
                        record.shown_id().to_owned()
                    },
                ]);
                cells
            })
            .collect();
        text.push('\n');
        let head: &[&str] = match named {
            true => &["ADDRESS", "NAME", "TYPE", "STATUS", "ID"],
            false => &["ADDRESS", "TYPE", "STATUS", "ID"],
        };
        text.push_str(&table(head, &rows, paint));
    }
    waiting::others(&mut text, snapshot, paint);
    for address in snapshot.open.keys().filter(|address| !snapshot.records.contains_key(*address)) {
        let more = if is_held { "" } else { "; `cyan stage` reads the outcome" };
        text.push_str(&format!("{address}: {open}{more}\n"));
    }
    if !snapshot.exports.is_empty() {
        let old = if snapshot.exports_old { " (of before the last operation, which did not finish)" } else { "" };
        text.push_str(&format!("\n{}{old}\n", paint.bold("exports")));
        for (name, value) in &snapshot.exports {
            text.push_str(&format!("  {name} = {}\n", one_line(value, reveal)));
        }
    }
    if let Some(metadata) = snapshot.metadata.as_map().filter(|metadata| !metadata.is_empty()) {
        text.push_str(&format!("\n{}\n", paint.bold("metadata")));
        for (name, value) in metadata {
            text.push_str(&format!("  {name} = {}\n", one_line(value, reveal)));
        }
    }
    children::children_text(&mut text, snapshot, reveal, paint);
    report.terminal.data(&text);
    Ok(Exit::Done)
}

/// The reason why the last operation on a resource failed, if it did.
async fn last_error(
    store: &dyn Store,
    instance: &InstanceName,
    address: &Address,
    record: &Record,
) -> Result<Option<String>, CommandError> {
    if record.status.word != StatusWord::Failed {
        return Ok(None);
    }
    let log = store.log(instance, None, ENTRIES).await?;
    Ok(log.iter().rev().find_map(|entry| match &entry.entry.kind {
        EntryKind::Outcome(outcome) if outcome.address == *address => outcome.error.as_ref().map(ToString::to_string),
        _ => None,
    }))
}
