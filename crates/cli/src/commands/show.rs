//! `cyan show`.

mod children;
mod waiting;

use std::sync::Arc;

use blueprint::{Address, Breakpoint, Map, Value};
use diag::Files;
use engine::shell::Clock;
use serde_json::{Value as Json, json};
use state::{EntryKind, InstanceName, LeaseHolder, Record, Snapshot, StatusWord, Store};

use super::list::{ago, status};
use crate::arguments::{Global, Show};
use crate::exit::{CommandError, Exit};
use crate::identity::chosen;
use crate::json;

use crate::terminal::Paint;
use crate::view::changes::short;
use crate::view::report::Report;
use crate::view::table::table;

/// How many entries of the journal are looked through for the reason of a failure.
const ENTRIES: usize = 100_000;

pub(crate) async fn run(arguments: Show, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let (setup, instance) = chosen(None, &arguments.which, global, report).await?;
    let store = setup.reading();
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
        // Names for people stand beside the others where there are any.
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
        let more = if is_held { "" } else { "; `cyan stage` looks what became of it" };
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

fn one_line(value: &Value, reveal: bool) -> String {
    if reveal { short(&value.revealed()) } else { short(value) }
}

/// The name for people that a document gives a thing (`displayName`).
fn display_name(record: &Record) -> Option<&str> {
    record.metadata.get("displayName")?.as_text()
}

fn flags(record: &Record, waiting: Option<Breakpoint>) -> String {
    let mut text = record.status.to_string();
    // A link says at which of its parts it failed (decision 5.4).
    if let Some(part) = engine::link_failed_at(record).filter(|_| record.status.word == StatusWord::Failed) {
        text.push_str(&format!(" at {part}"));
    }
    let protected = record.protect.then_some("protected");
    let attention = record.attention.as_ref().map(|_| "needs attention");
    let deposed = record.deposed.as_ref().map(|_| "an old one is left");
    for flag in [protected, attention, deposed].into_iter().flatten() {
        text.push_str(&format!(", {flag}"));
    }
    text.push_str(&waiting::flag(waiting));
    text
}

/// Why its last operation failed, if it did.
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

/// The fields that the provider filled in.
fn computed(record: &Record) -> Map {
    let outputs = record.outputs.as_map().into_iter().flatten();
    let own = outputs.filter(|(name, _)| record.inputs.get(name).is_none());
    own.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn record_json(
    address: &Address,
    record: &Record,
    error: Option<&str>,
    waiting: Option<Breakpoint>,
    reveal: bool,
) -> Json {
    if address.link.as_ref().is_some_and(|link| link.part.is_none()) {
        return json!({
            "address": address,
            "type": record.type_name,
            "status": record.status.to_string(),
            "part": engine::link_failed_at(record),
            "error": error,
            "annotations": record.inputs.get("notes").map(|notes| json::value(notes, reveal)),
            "data": json::value(&record.outputs, reveal),
            "overlay": record.private.get("overlay").map(|overlay| json::value(overlay, reveal)),
            "dependencies": record.dependencies,
        });
    }
    let mut json = json!({
        "address": address,
        "type": record.type_name,
        "id": if reveal { &record.id } else { record.shown_id() },
        "status": record.status.to_string(),
        "error": error,
        "spec": json::value(&record.inputs, reveal),
        "computed": json::value(&Value::Map(computed(record).into()), reveal),
        "metadata": json::value(&record.metadata, reveal),
        "made_from": Some(&record.origin.made_from).filter(|name| !name.is_empty()),
        "dependencies": record.dependencies,
        "retain": record.retain,
        "protect": record.protect,
        "attention": record.attention,
    });
    if let Some(at) = waiting {
        json["waiting"] = json!(at);
    }
    json
}

fn record_text(
    address: &Address,
    record: &Record,
    error: Option<&str>,
    waiting: Option<Breakpoint>,
    reveal: bool,
    paint: Paint,
) -> String {
    let name = display_name(record).map(|name| format!(" ({name})")).unwrap_or_default();
    let mut text = format!("{}{name} {}\n", paint.bold(address), paint.dim(&record.type_name));
    text.push_str(&format!("status: {}\n", flags(record, waiting)));
    if let Some(error) = error {
        text.push_str(&format!("because: {error}\n"));
    }
    if let Some(attention) = &record.attention {
        text.push_str(&format!("attention: {attention}\n"));
    }
    if !record.id.is_empty() && address.link.as_ref().is_none_or(|link| link.part.is_some()) {
        let id = if reveal { &record.id } else { record.shown_id() };
        text.push_str(&format!("id: {}\n", diag::visible_line(id)));
    }
    if !record.origin.made_from.is_empty() {
        text.push_str(&format!("made from: {}, by a transform\n", record.origin.made_from));
    }
    let mut section = |name: &str, map: &Map| {
        if !map.is_empty() {
            text.push_str(&format!("{}\n", paint.bold(name)));
            for (key, value) in map {
                field(&mut text, key, value, reveal);
            }
        }
    };
    if address.link.as_ref().is_some_and(|link| link.part.is_none()) {
        let notes = record.inputs.get("notes").and_then(Value::as_map);
        section("annotations", notes.unwrap_or(&Map::default()));
        section("data", record.outputs.as_map().unwrap_or(&Map::default()));
    } else {
        section("spec", record.inputs.as_map().unwrap_or(&Map::default()));
        let computed: Map = computed(record).into_iter().filter(|(_, value)| !value.is_null()).collect();
        section("computed", &computed);
    }
    section("metadata", record.metadata.as_map().unwrap_or(&Map::default()));
    // What stands for a group of things is no address of its own.
    let uses: Vec<String> = record
        .dependencies
        .iter()
        .map(ToString::to_string)
        .map(|name| name.trim_start_matches('=').to_owned())
        .collect();
    if !uses.is_empty() {
        text.push_str(&format!("uses: {}\n", uses.join(", ")));
    }
    text
}

fn field(text: &mut String, key: &str, value: &Value, reveal: bool) {
    let shown = if reveal { value.revealed() } else { value.clone() };
    match &shown {
        Value::Text(lines) if lines.contains('\n') => {
            text.push_str(&format!("  {key}: |\n"));
            for line in lines.lines() {
                text.push_str(&format!("    {line}\n"));
            }
        }
        other => text.push_str(&format!("  {key}: {other}\n")),
    }
}
