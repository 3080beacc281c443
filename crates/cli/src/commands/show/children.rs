//! The text for recorded child documents and data sources.

use blueprint::Value;
use engine::inspect::{ChildDetails, is_link};
use state::{ChildRecord, Snapshot};

use super::record::{flags, one_line};
use super::waiting;
use crate::terminal::Paint;
use crate::view::table::table;

/// Values and metadata of all children, and metadata of data sources.
pub(super) fn children_text(text: &mut String, snapshot: &Snapshot, reveal: bool, paint: Paint) {
    for (place, child) in &snapshot.declared.children {
        if !child.exports.is_empty() || !child.metadata.is_null() {
            text.push_str(&format!(
                "\n{} {}\n",
                paint.bold(place),
                paint.dim("child document")
            ));
            child_text(text, child, reveal);
        }
    }
    for (name, source) in &snapshot.declared.data_sources {
        text.push_str(&format!(
            "\n{} {}\n",
            paint.bold(name),
            paint.dim(format!("data source {}", source.type_name))
        ));
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

/// One child with all its contents.
pub(super) fn child_details_text(child: &ChildDetails, reveal: bool, paint: Paint) -> String {
    let flag = waiting::flag(child.waiting);
    let mut text = format!(
        "{} {}{flag}\n",
        paint.bold(&child.place),
        paint.dim("child document")
    );
    child_text(&mut text, &child.record, reveal);
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
