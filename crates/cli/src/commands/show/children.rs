//! The recorded child documents and data sources, as text and as machine output.

use blueprint::{Map, Name, Value};
use engine::json;
use serde_json::{Map as JsonMap, Value as Json, json};
use state::{ChildRecord, Snapshot};

use super::record::{flags, one_line, record_json};
use super::waiting;
use crate::terminal::Paint;
use crate::view::table::table;

fn child_json(child: &ChildRecord, reveal: bool) -> Json {
    let exports: Map = child.exports.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    json!({
        "exports": json::value(&Value::Map(exports.into()), reveal),
        "metadata": json::value(&child.metadata, reveal),
    })
}

/// All children, by their include path.
pub(super) fn children_json(snapshot: &Snapshot, reveal: bool) -> Json {
    let known = snapshot.declared.children.iter();
    let known = known.map(|(place, child)| {
        let mut json = child_json(child, reveal);
        if let Some(at) = waiting::child(place, snapshot) {
            json["waiting"] = json!(at);
        }
        (place.to_string(), json)
    });
    let new = waiting::new_children(snapshot).map(|(place, at)| (place.to_owned(), json!({"waiting": at})));
    known.chain(new).collect::<JsonMap<_, _>>().into()
}

/// All data sources, each with its type and metadata.
pub(super) fn sources_json(snapshot: &Snapshot, reveal: bool) -> Json {
    let sources = snapshot.declared.data_sources.iter();
    let one = |(name, source): (&Name, &state::DataRecord)| {
        let metadata = json::value(&source.metadata, reveal);
        (name.to_string(), json!({"type": source.type_name, "metadata": metadata}))
    };
    sources.map(one).collect::<JsonMap<_, _>>().into()
}

/// Values and metadata of all children, and metadata of data sources.
pub(super) fn children_text(text: &mut String, snapshot: &Snapshot, reveal: bool, paint: Paint) {
    for (place, child) in &snapshot.declared.children {
        if !child.exports.is_empty() || !child.metadata.is_null() {
            text.push_str(&format!("\n{} {}\n", paint.bold(place), paint.dim("child document")));
            child_text(text, child, reveal);
        }
    }
    for (name, source) in &snapshot.declared.data_sources {
        text.push_str(&format!("\n{} {}\n", paint.bold(name), paint.dim(format!("data source {}", source.type_name))));
        entries(text, "", &source.metadata, reveal);
    }
}

fn child_text(text: &mut String, child: &ChildRecord, reveal: bool) {
    for (name, value) in &child.exports {
        text.push_str(&format!("  {name} = {}\n", one_line(value, reveal)));
    }
    entries(text, "metadata ", &child.metadata, reveal);
}

fn entries(text: &mut String, before: &str, value: &Value, reveal: bool) {
    for (name, value) in value.as_map().into_iter().flatten() {
        text.push_str(&format!("  {before}{name} = {}\n", one_line(value, reveal)));
    }
}

/// One child with all its contents; `None` if there is no such child.
pub(super) fn one(
    place: &str,
    snapshot: &Snapshot,
    reveal: bool,
    paint: Option<Paint>,
) -> Option<Result<String, Json>> {
    let path: Vec<Name> = place.split('/').map(Name::from).collect();
    let below: Vec<_> =
        snapshot.records.iter().filter(|(address, _)| address.path.starts_with(path.as_slice())).collect();
    let child = snapshot.declared.children.get(place);
    if child.is_none() && below.is_empty() {
        return None;
    }
    let child = child.cloned().unwrap_or_default();
    let (at, waits) = (waiting::child(place, snapshot), waiting::Waiting::of(snapshot));
    let Some(paint) = paint else {
        let mut json = child_json(&child, reveal);
        json["address"] = json!(place);
        json["exports_old"] = json!(snapshot.exports_old);
        json["resources"] = below
            .iter()
            .map(|(address, record)| record_json(address, record, None, waits.at(address), reveal))
            .collect();
        if let Some(at) = at {
            json["waiting"] = json!(at);
        }
        return Some(Err(json));
    };
    let mut text = format!("{} {}{}\n", paint.bold(place), paint.dim("child document"), waiting::flag(at));
    child_text(&mut text, &child, reveal);
    let rows = below.iter().map(|(address, record)| {
        let link = address.link.as_ref().is_some_and(|link| link.part.is_none());
        let id = if link { String::new() } else { record.shown_id().to_owned() };
        vec![address.to_string(), record.type_name.to_string(), flags(record, waits.at(address)), id]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if !rows.is_empty() {
        text.push('\n');
        text.push_str(&table(&["ADDRESS", "TYPE", "STATUS", "ID"], &rows, paint));
    }
    Some(Ok(text))
}
