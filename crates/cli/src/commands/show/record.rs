//! The text for one record.

use blueprint::{Breakpoint, Map, Value};
use engine::inspect::{ResourceDetails, computed, is_link, link_failed_at};
use state::{Record, StatusWord};

use super::waiting;
use crate::terminal::Paint;
use crate::view::changes::short;

pub(super) fn one_line(value: &Value, reveal: bool) -> String {
    if reveal {
        short(&value.revealed())
    } else {
        short(value)
    }
}

/// The display name of a resource (`displayName`).
pub(super) fn display_name(record: &Record) -> Option<&str> {
    record.metadata.get("displayName")?.as_text()
}

pub(super) fn flags(record: &Record, waiting: Option<Breakpoint>) -> String {
    let mut text = record.status.to_string();
    // A failed link names the part at which it failed (decisions/apply#statuses).
    if let Some(part) = link_failed_at(record).filter(|_| record.status.word == StatusWord::Failed)
    {
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

pub(super) fn record_text(details: &ResourceDetails, reveal: bool, paint: Paint) -> String {
    let ResourceDetails {
        address,
        record,
        error,
        waiting,
    } = details;
    let name = display_name(record)
        .map(|name| format!(" ({name})"))
        .unwrap_or_default();
    let mut text = format!(
        "{}{name} {}\n",
        paint.bold(address),
        paint.dim(&record.type_name)
    );
    text.push_str(&format!("status: {}\n", flags(record, *waiting)));
    if let Some(error) = error {
        text.push_str(&format!("because: {error}\n"));
    }
    if let Some(attention) = &record.attention {
        text.push_str(&format!("attention: {attention}\n"));
    }
    if !record.id.is_empty() && !is_link(address) {
        let id = if reveal {
            &record.id
        } else {
            record.shown_id()
        };
        text.push_str(&format!("id: {}\n", diag::visible_line(id)));
    }
    if !record.origin.made_from.is_empty() {
        text.push_str(&format!(
            "made from: {}, by a transform\n",
            record.origin.made_from
        ));
    }
    let mut section = |name: &str, map: &Map| {
        if !map.is_empty() {
            text.push_str(&format!("{}\n", paint.bold(name)));
            for (key, value) in map {
                field(&mut text, key, value, reveal);
            }
        }
    };
    if is_link(address) {
        let notes = record.inputs.get("notes").and_then(Value::as_map);
        section("annotations", notes.unwrap_or(&Map::default()));
        section("data", record.outputs.as_map().unwrap_or(&Map::default()));
    } else {
        section("spec", record.inputs.as_map().unwrap_or(&Map::default()));
        let computed: Map = computed(record)
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .collect();
        section("computed", &computed);
    }
    section(
        "metadata",
        record.metadata.as_map().unwrap_or(&Map::default()),
    );
    // An entry for a group of resources begins with `=`, which is not part of its name.
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
    let shown = if reveal {
        value.revealed()
    } else {
        value.clone()
    };
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
