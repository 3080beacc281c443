//! Changes of fields: scalars on one line, long texts on two, texts of several lines line by line,
//! lists item by item.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use blueprint::{Address, Asset, IndexMap, Name, Value};
use engine::{Change, ListChange, canonical, value_differences};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::drawing::Drawing;
use super::label::{ChangeLabel, Margin};
use super::values::{has_lines, in_full, quoted, short, write_value};
use super::{inline, lines};

/// The maximum number of unreadable resources that are listed.
const MANY: usize = 20;
/// The maximum number of lines for the changes of one resource. Further lines are hidden.
const LINES_LIMIT: usize = 300;
/// The maximum number of lines of a list. Further lines are hidden.
const ITEMS_LIMIT: usize = 100;
/// The maximum number of characters of an item that is a list or a map on one line.
const ITEM_LIMIT: usize = 80;
/// The maximum number of items that are compared one by one. In longer lists, everything counts as
/// one change.
const COMPARED_LIMIT: usize = 200_000;
/// The minimum number of characters for which a line of a long text has room.
const LONG_LINE: usize = 60;

/// The path of a change as it is shown.
pub(crate) fn shown_path(path: &str) -> &str {
    path.strip_prefix("spec.").unwrap_or(path)
}

/// Writes the changes of a resource. Each line ends with a line break.
pub(crate) fn write_all<'c>(
    text: &mut String,
    changes: impl IntoIterator<Item = &'c Change>,
    margin: &Margin,
    drawing: Drawing,
) {
    let from = text.len();
    let mut changes = changes.into_iter().peekable();
    while let Some(change) = changes.next() {
        let Some(list) = &change.list else {
            write_leaf(text, change, margin, drawing);
            continue;
        };
        let is_in_list = |next: &&Change| {
            let other = next.list.as_ref();
            other.is_some_and(|other| Arc::ptr_eq(other, list))
        };
        let mut leaves = vec![change];
        while let Some(next) = changes.next_if(is_in_list) {
            leaves.push(next);
        }
        write_list(text, list, &leaves, margin, drawing);
    }
    drawing.cut_lines(text, from, LINES_LIMIT, &margin.rest);
}

/// Writes the change of a leaf, regardless of the list that it is in.
pub(crate) fn write_leaf(text: &mut String, change: &Change, margin: &Margin, drawing: Drawing) {
    let label = ChangeLabel {
        margin,
        path: shown_path(&change.path),
        forces: change.forces,
    };
    let (before, after) = (change.before.as_ref(), change.after.as_ref());
    write_pair(text, &label, before, after, drawing);
}

/// Writes a value before and after.
pub(crate) fn write_pair(
    text: &mut String,
    label: &ChangeLabel<'_>,
    before: Option<&Value>,
    after: Option<&Value>,
    drawing: Drawing,
) {
    let (head, note) = (label.head(), label.note(drawing));
    match (before, after) {
        (Some(Value::Text(old)), Some(Value::Text(new))) => {
            write_texts(text, label, old, new, drawing);
        }
        (Some(Value::Asset(old)), Some(Value::Asset(new)))
            if let (Asset::Text(old), Asset::Text(new)) = (&**old, &**new) =>
        {
            write_texts(text, label, old, new, drawing);
        }
        (Some(Value::Bytes(old)), Some(Value::Bytes(new))) => {
            let equal = old.iter().zip(new.iter()).take_while(|(a, b)| a == b);
            let first = equal.count() + 1;
            text.push_str(&format!(
                "{head} ({} bytes) -> ({} bytes), different from byte {first} on{note}\n",
                old.len(),
                new.len()
            ));
        }
        (Some(old), Some(new)) if is_compound(old) && is_compound(new) => {
            write_compounds(text, label, old, new, drawing);
        }
        (Some(Value::Text(old)), after) if has_lines(old) => {
            text.push_str(&format!("{head} ({} lines) -> ", old.lines().count()));
            match after {
                Some(new) => write_value(text, new, &note, &label.margin.rest, drawing),
                None => text.push_str(&format!("{}{note}\n", nothing(drawing))),
            }
            let is_secret = after.is_some_and(Value::has_secret);
            if after.is_none() || drawing.whole && !is_secret {
                lines::write_difference(text, old, "", &label.margin.below(), drawing);
            }
        }
        (Some(old), Some(new)) => {
            text.push_str(&format!("{head} {} -> ", short(old, drawing)));
            write_value(text, new, &note, &label.margin.rest, drawing);
        }
        (None, Some(new)) => {
            text.push_str(&format!("{head} "));
            write_value(text, new, &note, &label.margin.rest, drawing);
        }
        (Some(old), None) => {
            let (old, nothing) = (short(old, drawing), nothing(drawing));
            text.push_str(&format!("{head} {old} -> {nothing}{note}\n"));
        }
        (None, None) => {}
    }
}

fn nothing(drawing: Drawing) -> String {
    drawing.paint.dim("(nothing)")
}

/// Whether a value has parts that are compared one by one.
fn is_compound(value: &Value) -> bool {
    match value {
        Value::List(items) | Value::Set(items) => !items.is_empty(),
        Value::Map(entries) => !entries.is_empty(),
        _ => false,
    }
}

/// Writes a changed text: line by line, on one line if there is room, else the old text above the
/// new one.
fn write_texts(text: &mut String, label: &ChangeLabel<'_>, old: &str, new: &str, drawing: Drawing) {
    let (head, note) = (label.head(), label.note(drawing));
    if old.contains('\n') || new.contains('\n') {
        text.push_str(&format!("{head}{note}\n"));
        return lines::write_difference(text, old, new, &label.margin.below(), drawing);
    }
    let (was, is) = (quoted(old), quoted(new));
    let length = label.length(drawing) + was.chars().count() + is.chars().count() + 4;
    if length <= drawing.width {
        return text.push_str(&format!("{head} {was} -> {is}{note}\n"));
    }
    let below = label.margin.below();
    let room = drawing
        .width
        .saturating_sub(below.chars().count() + 4)
        .max(LONG_LINE);
    let is_long = |text: &str| text.chars().nth(room).is_some();
    let is_cut = !drawing.whole && (is_long(old) || is_long(new));
    let (was, is) = inline::pair(old, new, is_cut.then_some(room), drawing);
    let (minus, plus) = (drawing.paint.red("-"), drawing.paint.green("+"));
    text.push_str(&format!(
        "{head}{note}\n{below}{minus} {was}\n{below}{plus} {is}\n"
    ));
}

/// Writes two lists or two maps part by part.
fn write_compounds(
    text: &mut String,
    label: &ChangeLabel<'_>,
    old: &Value,
    new: &Value,
    drawing: Drawing,
) {
    let mut changed = Vec::new();
    value_differences(Some(old), Some(new), label.path, &mut changed);
    if changed.is_empty() {
        let (head, note) = (label.head(), label.note(drawing));
        let (old, new) = (in_full(old), in_full(new));
        return text.push_str(&format!("{head} {old} -> {new}{note}\n"));
    }
    for change in &mut changed {
        change.forces |= label.forces;
    }
    write_all(text, &changed, label.margin, drawing);
}

/// Writes the change of a list: its leaves, if all items have kept their places, else inserted,
/// removed and changed items below the name of the list.
fn write_list(
    text: &mut String,
    list: &ListChange,
    leaves: &[&Change],
    margin: &Margin,
    drawing: Drawing,
) {
    let from = text.len();
    let is_changed = |leaf: &&Change| leaf.before.is_some() && leaf.after.is_some();
    if list.ordered {
        write_ordered(text, list, leaves, margin, drawing);
    } else if leaves.iter().all(is_changed) {
        for leaf in leaves {
            write_leaf(text, leaf, margin, drawing);
        }
    } else {
        let mut writer = ItemWriter::begin(text, list, leaves, margin, drawing);
        // The empty list is a leaf of its own.
        for leaf in leaves.iter().filter(|leaf| leaf.path != list.path) {
            let place = leaf.path.strip_prefix(&list.path).unwrap_or(&leaf.path);
            match (&leaf.before, &leaf.after) {
                (None, added) => {
                    writer.value(&drawing.paint.green("+"), place, None, added.as_ref())
                }
                // The sign says that the value is removed.
                (removed, None) => {
                    writer.value(&drawing.paint.red("-"), place, None, removed.as_ref())
                }
                (before, after) => {
                    let sign = drawing.paint.yellow("~");
                    writer.value(&sign, place, before.as_ref(), after.as_ref());
                }
            }
        }
    }
    drawing.cut_lines(text, from, ITEMS_LIMIT, &margin.below());
}

fn write_ordered(
    text: &mut String,
    list: &ListChange,
    leaves: &[&Change],
    margin: &Margin,
    drawing: Drawing,
) {
    let old = list.before.as_list().unwrap_or_default();
    let new = list.after.as_list().unwrap_or_default();
    let operations = item_operations(old, new);
    if operations.iter().all(|it| it.old_range() == it.new_range()) {
        let forcing: HashSet<&str> = leaves
            .iter()
            .filter(|leaf| leaf.forces)
            .map(|leaf| leaf.path.as_str())
            .collect();
        let mut changed = Vec::new();
        for at in differing_ranges(&operations).flat_map(|(_, new)| new) {
            let path = format!("{}[{at}]", list.path);
            value_differences(old.get(at), new.get(at), &path, &mut changed);
        }
        for change in &mut changed {
            change.forces = forcing.contains(change.path.as_str());
        }
        return write_all(text, &changed, margin, drawing);
    }
    let mut writer = ItemWriter::begin(text, list, leaves, margin, drawing);
    for (was, is) in differing_ranges(&operations) {
        // Items at the same place of a replaced part belong together.
        let pairs = was.len().min(is.len());
        for (before, after) in was.clone().zip(is.clone()) {
            writer.changed(after, old.get(before), new.get(after));
        }
        for at in was.skip(pairs) {
            writer.whole(at, old.get(at), None);
        }
        for at in is.skip(pairs) {
            writer.whole(at, None, new.get(at));
        }
    }
}

/// The positions of old and new items that are not equal.
fn differing_ranges(operations: &[DiffOp]) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    operations
        .iter()
        .filter(|operation| !matches!(operation, DiffOp::Equal { .. }))
        .map(|operation| (operation.old_range(), operation.new_range()))
}

/// Writes the items of a list below its name.
struct ItemWriter<'a> {
    text: &'a mut String,
    indent: String,
    drawing: Drawing,
}

impl<'a> ItemWriter<'a> {
    fn begin(
        text: &'a mut String,
        list: &ListChange,
        leaves: &[&Change],
        margin: &Margin,
        drawing: Drawing,
    ) -> ItemWriter<'a> {
        let label = ChangeLabel {
            margin,
            path: shown_path(&list.path),
            forces: leaves.iter().any(|leaf| leaf.forces),
        };
        text.push_str(&format!("{}{}\n", label.head(), label.note(drawing)));
        ItemWriter {
            text,
            indent: margin.below(),
            drawing,
        }
    }

    fn value(&mut self, sign: &str, path: &str, before: Option<&Value>, after: Option<&Value>) {
        let label = ChangeLabel {
            margin: &Margin::signed(&self.indent, sign),
            path,
            forces: false,
        };
        write_pair(self.text, &label, before, after, self.drawing);
    }

    fn leaves(&mut self, sign: &str, path: &str, before: Option<&Value>, after: Option<&Value>) {
        let mut leaves = Vec::new();
        value_differences(before, after, path, &mut leaves);
        let margin = Margin::signed(&self.indent, sign);
        write_all(self.text, &leaves, &margin, self.drawing);
    }

    /// Writes an item that has changed.
    fn changed(&mut self, at: usize, before: Option<&Value>, after: Option<&Value>) {
        let sign = self.drawing.paint.yellow("~");
        self.leaves(&sign, &format!("[{at}]"), before, after);
    }

    /// Writes a removed or inserted item: on one line if it is short, else leaf by leaf.
    fn whole(&mut self, at: usize, before: Option<&Value>, after: Option<&Value>) {
        let (sign, item) = match (before, after) {
            (_, Some(item)) => (self.drawing.paint.green("+"), item),
            (Some(item), None) => (self.drawing.paint.red("-"), item),
            (None, None) => return,
        };
        // The sign says whether the item is removed.
        let path = format!("[{at}]");
        match item {
            Value::List(_) | Value::Set(_) | Value::Map(_)
                if in_full(item).chars().nth(ITEM_LIMIT).is_some() =>
            {
                self.leaves(&sign, &path, None, Some(item));
            }
            _ => self.value(&sign, &path, None, Some(item)),
        }
    }
}

/// The operations that make the new list from the old one. An item that is known only on deploy
/// equals no other.
fn item_operations(old: &[Value], new: &[Value]) -> Vec<DiffOp> {
    if old.len() + new.len() > COMPARED_LIMIT {
        return vec![DiffOp::Replace {
            old_index: 0,
            old_len: old.len(),
            new_index: 0,
            new_len: new.len(),
        }];
    }
    let keys = |items: &[Value], side: char| -> Vec<String> {
        let key = |(at, item): (usize, &Value)| match item.has_unknown() {
            true => format!("{side}{at}"),
            false => format!("={}", canonical(None, item)),
        };
        items.iter().enumerate().map(key).collect()
    };
    let joined = capture_diff_slices(Algorithm::Myers, &keys(old, '<'), &keys(new, '>'));
    joined.into_iter().filter(|it| !is_empty(it)).collect()
}

fn is_empty(operation: &DiffOp) -> bool {
    let is_empty = |range: Range<usize>| range.is_empty();
    is_empty(operation.old_range()) && is_empty(operation.new_range())
}

/// Returns a line that names the resources that could not be read and the consequence; empty if all
/// could be read.
pub(crate) fn unread(unread: &IndexMap<Address, Name>, so: &str) -> String {
    let names: Vec<String> = unread.keys().take(MANY).map(ToString::to_string).collect();
    let more = if unread.len() > MANY { ", .." } else { "" };
    match unread.len() {
        0 => String::new(),
        count => format!(
            "partial: {count} could not be read, {so}: {}{more}\n",
            names.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawing::plain;
    use super::*;

    fn drawn(before: Option<Value>, after: Option<Value>, drawing: Drawing) -> String {
        let mut text = String::new();
        let change = Change {
            path: "spec.content".into(),
            before,
            after,
            forces: false,
            list: None,
        };
        write_all(&mut text, [&change], &Margin::new("  "), drawing);
        text
    }

    fn shown(before: Option<Value>, after: Option<Value>) -> String {
        drawn(before, after, plain(false, 80))
    }

    #[test]
    fn texts_are_compared_line_by_line() {
        let old = Value::from("a\nb\nc\nd\ne\nf\n");
        let new = Value::from("a\nb\nc\nd\nE\nf");
        assert_eq!(
            shown(Some(old), Some(new)),
            "  content:\n      c\n      d\n    - e\n    - f\n    + E\n    + f (no line end)\n"
        );
    }

    #[test]
    fn text_of_one_line_is_compared_with_text_of_several_lines() {
        let (one, several) = (Value::from("a"), Value::from("a\nb\n"));
        assert_eq!(
            shown(Some(one.clone()), Some(several.clone())),
            "  content:\n    - a (no line end)\n    + a\n    + b\n"
        );
        assert_eq!(
            shown(Some(several), Some(one)),
            "  content:\n    - a\n    - b\n    + a (no line end)\n"
        );
    }

    #[test]
    fn a_secret_shows_neither_side() {
        let [old, new] = ["old\n1\n", "new\n2\n"].map(|text| Value::from(text).secret());
        for whole in [false, true] {
            let drawing = plain(whole, 80);
            let shown = |before: Option<Value>| drawn(before, Some(new.clone()), drawing);
            assert_eq!(
                shown(Some(old.clone())),
                "  content: (secret) -> (secret)\n"
            );
            assert_eq!(
                shown(Some("a\nb\n".into())),
                "  content: (2 lines) -> (secret)\n"
            );
            assert_eq!(shown(None), "  content: (secret)\n");
        }
    }

    #[test]
    fn new_and_removed_texts_show_their_lines() {
        let lines = Value::from("a\nb\n");
        assert_eq!(
            shown(None, Some(lines.clone())),
            "  content: |\n    a\n    b\n"
        );
        assert_eq!(
            shown(Some(Value::Null), Some(lines.clone())),
            "  content: null -> |\n    a\n    b\n"
        );
        assert_eq!(
            shown(Some(lines.clone()), None),
            "  content: (2 lines) -> (nothing)\n    - a\n    - b\n"
        );
        let unknown = Value::unknown(None, None);
        let is_open = "  content: (2 lines) -> (known on deploy)\n";
        assert_eq!(shown(Some(lines.clone()), Some(unknown.clone())), is_open);
        assert_eq!(
            drawn(Some(lines), Some(unknown), plain(true, 80)),
            format!("{is_open}    - a\n    - b\n")
        );
    }

    #[test]
    fn long_texts_stand_one_above_the_other() {
        assert_eq!(
            shown(Some("a".into()), Some("b".into())),
            "  content: \"a\" -> \"b\"\n"
        );
        let [old, new] = ["a", "b"].map(|end| Value::from(format!("{}{end}", "x ".repeat(25))));
        let both = format!(
            "  content:\n    - \"{}a\"\n    + \"{}b\"\n",
            "x ".repeat(25),
            "x ".repeat(25)
        );
        assert_eq!(shown(Some(old.clone()), Some(new.clone())), both);
        assert!(!drawn(Some(old.clone()), Some(new.clone()), plain(false, 200)).contains('+'));
        assert_eq!(drawn(Some(old), Some(new), plain(false, 30)), both);
        let [old, new] = ["a", "b"].map(|end| Value::from(format!("{}{end}", "x ".repeat(99))));
        assert_eq!(
            shown(Some(old.clone()), Some(new.clone())),
            "  content:\n    - ...\"x x x x x x x x x x x x a\"\n    + ...\"x x x x x x x x x x x x b\"\n"
        );
        assert!(drawn(Some(old), Some(new), plain(true, 80)).contains(&"x ".repeat(99)));
    }

    #[test]
    fn values_that_look_alike_say_where_they_differ() {
        let bytes = |bytes: &[u8]| Some(Value::Bytes(bytes.into()));
        assert_eq!(
            shown(bytes(b"abc"), bytes(b"abd")),
            "  content: (3 bytes) -> (3 bytes), different from byte 3 on\n"
        );
        let asset = |asset: Asset| Some(Value::Asset(Arc::new(asset)));
        assert_eq!(
            shown(
                asset(Asset::File("a".into())),
                asset(Asset::File("b".into()))
            ),
            "  content: (file \"a\") -> (file \"b\")\n"
        );
        assert_eq!(
            shown(
                asset(Asset::Text("a\nb\n".into())),
                asset(Asset::Text("a\nc\n".into()))
            ),
            "  content:\n      a\n    - b\n    + c\n"
        );
    }

    #[test]
    fn maps_and_lists_are_compared_part_by_part() {
        let read = |text: &str| serde_json::from_str::<Value>(text).ok();
        assert_eq!(
            shown(
                read(r#"{"a":{"b":1,"c":2}}"#),
                read(r#"{"a":{"b":1,"c":3},"d":4}"#)
            ),
            "  content.a.c: 2 -> 3\n  content.d: 4\n"
        );
        assert_eq!(
            shown(read(r#"["a","b","c"]"#), read(r#"["a","x","b","c"]"#)),
            "  content:\n    + [1]: \"x\"\n"
        );
    }

    #[test]
    fn many_changes_are_cut_and_say_so() {
        let changes: Vec<Change> = (0..1000)
            .map(|number| Change {
                path: format!("spec.f{number}"),
                before: None,
                after: Some(Value::Int(number)),
                forces: false,
                list: None,
            })
            .collect();
        let count = |whole: bool| {
            let mut text = String::new();
            write_all(&mut text, &changes, &Margin::new("    "), plain(whole, 80));
            (
                text.lines().count(),
                text.contains("\n    (700 more lines; `-v` shows all)\n"),
            )
        };
        assert_eq!(count(false), (301, true));
        assert_eq!(count(true), (1000, false));
    }

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    fn list(before: Value, after: Value, ordered: bool, whole: bool) -> String {
        let mut changed = Vec::new();
        value_differences(Some(&before), Some(&after), "spec.items", &mut changed);
        let whole_list = Arc::new(ListChange {
            path: "spec.items".into(),
            before,
            after,
            ordered,
        });
        for change in &mut changed {
            change.list = Some(whole_list.clone());
        }
        let mut text = String::new();
        write_all(&mut text, &changed, &Margin::new(""), plain(whole, 80));
        text
    }

    fn numbers(range: Range<i64>) -> Value {
        Value::list(range.map(Value::Int))
    }

    #[test]
    fn an_inserted_item_is_one_insertion() {
        let thirty = || (0..30).map(|number| Value::from(format!("item {number}")));
        let first = [Value::from("first")];
        let longer = Value::list(first.into_iter().chain(thirty()));
        assert_eq!(
            list(Value::list(thirty()), longer.clone(), true, false),
            "items:\n  + [0]: \"first\"\n"
        );
        assert_eq!(
            list(longer, Value::list(thirty()), true, false),
            "items:\n  - [0]: \"first\"\n"
        );
    }

    #[test]
    fn changed_items_that_keep_their_places_have_paths() {
        assert_eq!(
            list(
                read(r#"["a","b","c"]"#),
                read(r#"["a","x","c"]"#),
                true,
                false
            ),
            "items[1]: \"b\" -> \"x\"\n"
        );
        assert_eq!(
            list(
                read(r#"[{"p":1,"q":[1,2]}]"#),
                read(r#"[{"p":2,"q":[0,1,2]}]"#),
                true,
                false
            ),
            "items[0].p: 1 -> 2\nitems[0].q:\n  + [0]: 0\n"
        );
    }

    #[test]
    fn maps_in_lists_are_compared_key_by_key() {
        assert_eq!(
            list(
                read(r#"[{"p":1,"n":"a"},{"p":2,"n":"b"}]"#),
                read(r#"[{"p":0,"n":"z"},{"p":1,"n":"a"},{"p":3,"n":"b"}]"#),
                true,
                false
            ),
            "items:\n  + [0]: {\"p\": 0, \"n\": \"z\"}\n  ~ [2].p: 2 -> 3\n"
        );
        let long = "x".repeat(90);
        let (old, new) = (
            read("[1,2]"),
            Value::list([
                1.into(),
                Value::map([("a", long.as_str().into()), ("b", Value::Int(2))]),
                2.into(),
            ]),
        );
        assert_eq!(
            list(old, new, true, false),
            format!("items:\n  + [1].a: \"{long}\"\n  + [1].b: 2\n")
        );
    }

    #[test]
    fn an_empty_list_is_filled() {
        assert_eq!(
            list(read("[]"), read(r#"["a"]"#), true, false),
            "items:\n  + [0]: \"a\"\n"
        );
    }

    #[test]
    fn secret_items_differ_without_being_shown() {
        let secrets =
            |texts: &[&str]| Value::list(texts.iter().map(|it| Value::from(*it).secret()));
        assert_eq!(
            list(secrets(&["a", "b"]), secrets(&["c", "a", "b"]), true, true),
            "items:\n  + [0]: (secret)\n"
        );
        assert_eq!(
            list(secrets(&["a", "b"]), secrets(&["a", "c"]), true, true),
            "items[1]: (secret) -> (secret)\n"
        );
    }

    #[test]
    fn an_unknown_item_equals_no_other() {
        let unknown = || Value::unknown(None, None);
        assert_eq!(
            list(
                Value::list(["a".into(), "b".into()]),
                Value::list([unknown(), "a".into(), "b".into()]),
                true,
                false
            ),
            "items:\n  + [0]: (known on deploy)\n"
        );
    }

    #[test]
    fn items_without_an_order_have_signs() {
        assert_eq!(
            list(read(r#"["a"]"#), read(r#"["a","b"]"#), false, false),
            "items:\n  + [1]: \"b\"\n"
        );
        assert_eq!(
            list(read(r#"["a","b"]"#), read("[]"), false, false),
            "items:\n  - [0]: \"a\"\n  - [1]: \"b\"\n"
        );
    }

    #[test]
    fn long_lists_are_cut_and_say_so() {
        let cut = list(numbers(0..10), numbers(-200..10), true, false);
        assert!(
            cut.ends_with("  + [98]: -102\n  (101 more lines; `-v` shows all)\n"),
            "{cut}"
        );
        let whole = list(numbers(0..10), numbers(-200..10), true, true);
        assert_eq!(whole.lines().count(), 201);
        let huge = list(numbers(0..150_000), numbers(-1..150_000), true, false);
        assert_eq!(
            huge.lines().count(),
            101,
            "above the limit nothing is compared"
        );
    }
}
