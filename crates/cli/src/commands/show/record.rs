//! The text for one record.

use blueprint::{Breakpoint, Map, Value};
use engine::inspect::{ResourceDetails, computed, is_link, link_failed_at};
use state::{Record, StatusWord};

use super::waiting;
use crate::view::drawing::Drawing;
use crate::view::values::write_value;

/// How values of the state are shown.
#[derive(Clone, Copy)]
pub(super) struct Look {
    /// Whether secrets are shown in clear text.
    pub(super) reveal: bool,
    pub(super) drawing: Drawing,
}

impl Look {
    /// The same without cuts.
    fn whole(self) -> Look {
        let drawing = Drawing {
            whole: true,
            ..self.drawing
        };
        Look { drawing, ..self }
    }

    /// Writes a value with its name, and what stands between them.
    pub(super) fn write(self, text: &mut String, name: &str, between: &str, value: &Value) {
        text.push_str(&format!("  {name}{between}"));
        let shown = match self.reveal {
            true => &value.revealed(),
            false => value,
        };
        write_value(text, shown, "", "  ", self.drawing);
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

pub(super) fn record_text(details: &ResourceDetails, look: Look) -> String {
    let paint = look.drawing.paint;
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
        let id = if look.reveal {
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
                look.whole().write(&mut text, key, ": ", value);
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
