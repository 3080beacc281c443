//! The text for recorded child documents and data sources.

use blueprint::Value;
use engine::inspect::{ChildDetails, is_link};
use state::{ChildRecord, Snapshot};

use super::record::{Look, flags};
use super::waiting;
use crate::view::table::table;

/// Values and metadata of all children, and metadata of data sources.
pub(super) fn children_text(text: &mut String, snapshot: &Snapshot, look: Look) {
    let paint = look.drawing.paint;
    for (place, child) in &snapshot.declared.children {
        if !child.exports.is_empty() || !child.metadata.is_null() {
            text.push_str(&format!(
                "\n{} {}\n",
                paint.bold(place),
                paint.dim("child document")
            ));
            child_text(text, child, look);
        }
    }
    for (name, source) in &snapshot.declared.data_sources {
        text.push_str(&format!(
            "\n{} {}\n",
            paint.bold(name),
            paint.dim(format!("data source {}", source.type_name))
        ));
        entries(text, "", &source.metadata, look);
    }
}

fn child_text(text: &mut String, child: &ChildRecord, look: Look) {
    for (name, value) in &child.exports {
        look.write(text, name, " = ", value);
    }
    entries(text, "metadata ", &child.metadata, look);
}

fn entries(text: &mut String, before: &str, value: &Value, look: Look) {
    for (name, value) in value.as_map().into_iter().flatten() {
        look.write(text, &format!("{before}{name}"), " = ", value);
    }
}

/// One child with all its contents.
pub(super) fn child_details_text(child: &ChildDetails, look: Look) -> String {
    let paint = look.drawing.paint;
    let flag = waiting::flag(child.waiting);
    let mut text = format!(
        "{} {}{flag}\n",
        paint.bold(&child.place),
        paint.dim("child document")
    );
    child_text(&mut text, &child.record, look);
    let rows = child.resources.iter().map(|one| {
        let id = if is_link(&one.address) {
            String::new()
        } else {
            one.record.shown_id().to_owned()
        };
        vec![
            one.address.to_string(),
            one.record.type_name.to_string(),
            flags(&one.record, one.waiting),
            id,
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if !rows.is_empty() {
        text.push('\n');
        text.push_str(&table(&["ADDRESS", "TYPE", "STATUS", "ID"], &rows, paint));
    }
    text
}
