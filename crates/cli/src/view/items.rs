//! The difference between two lists, item by item.

use std::collections::HashSet;
use std::ops::Range;

use blueprint::Value;
use engine::{Change, ListChange, canonical, value_differences};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::changes::{self, Label, Margin};
use super::drawing::Drawing;
use super::values::in_full;

/// The maximum number of lines of a list. Further lines are hidden.
const LINES_LIMIT: usize = 100;
/// The maximum number of characters of an item that is a list or a map on one line.
const ITEM_LIMIT: usize = 80;
/// The maximum number of items that are compared one by one. In longer lists, everything counts as
/// one change.
const COMPARED_LIMIT: usize = 200_000;

/// Writes the change of a list: its leaves, if all items have kept their places, else inserted,
/// removed and changed items below the name of the list.
pub(crate) fn write_list(
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
            changes::write_leaf(text, leaf, margin, drawing);
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
    drawing.cut_lines(text, from, LINES_LIMIT, &margin.below());
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
    let operations = operations(old, new);
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
        return changes::write_all(text, &changed, margin, drawing);
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
        let label = Label {
            margin,
            path: changes::shown_path(&list.path),
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
        let label = Label {
            margin: &Margin::signed(&self.indent, sign),
            path,
            forces: false,
        };
        changes::write_pair(self.text, &label, before, after, self.drawing);
    }

    fn leaves(&mut self, sign: &str, path: &str, before: Option<&Value>, after: Option<&Value>) {
        let mut leaves = Vec::new();
        value_differences(before, after, path, &mut leaves);
        let margin = Margin::signed(&self.indent, sign);
        changes::write_all(self.text, &leaves, &margin, self.drawing);
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
fn operations(old: &[Value], new: &[Value]) -> Vec<DiffOp> {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::drawing::plain;
    use super::*;

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    fn shown(before: Value, after: Value, ordered: bool, whole: bool) -> String {
        let mut changed = Vec::new();
        value_differences(Some(&before), Some(&after), "spec.items", &mut changed);
        let list = Arc::new(ListChange {
            path: "spec.items".into(),
            before,
            after,
            ordered,
        });
        for change in &mut changed {
            change.list = Some(list.clone());
        }
        let mut text = String::new();
        changes::write_all(&mut text, &changed, &Margin::new(""), plain(whole, 80));
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
            shown(Value::list(thirty()), longer.clone(), true, false),
            "items:\n  + [0]: \"first\"\n"
        );
        assert_eq!(
            shown(longer, Value::list(thirty()), true, false),
            "items:\n  - [0]: \"first\"\n"
        );
    }

    #[test]
    fn changed_items_that_keep_their_places_have_paths() {
        assert_eq!(
            shown(
                read(r#"["a","b","c"]"#),
                read(r#"["a","x","c"]"#),
                true,
                false
            ),
            "items[1]: \"b\" -> \"x\"\n"
        );
        assert_eq!(
            shown(
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
            shown(
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
            shown(old, new, true, false),
            format!("items:\n  + [1].a: \"{long}\"\n  + [1].b: 2\n")
        );
    }

    #[test]
    fn an_empty_list_is_filled() {
        assert_eq!(
            shown(read("[]"), read(r#"["a"]"#), true, false),
            "items:\n  + [0]: \"a\"\n"
        );
    }

    #[test]
    fn secret_items_differ_without_being_shown() {
        let list = |texts: &[&str]| Value::list(texts.iter().map(|it| Value::from(*it).secret()));
        assert_eq!(
            shown(list(&["a", "b"]), list(&["c", "a", "b"]), true, true),
            "items:\n  + [0]: (secret)\n"
        );
        assert_eq!(
            shown(list(&["a", "b"]), list(&["a", "c"]), true, true),
            "items[1]: (secret) -> (secret)\n"
        );
    }

    #[test]
    fn an_unknown_item_equals_no_other() {
        let unknown = || Value::unknown(None, None);
        assert_eq!(
            shown(
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
            shown(read(r#"["a"]"#), read(r#"["a","b"]"#), false, false),
            "items:\n  + [1]: \"b\"\n"
        );
        assert_eq!(
            shown(read(r#"["a","b"]"#), read("[]"), false, false),
            "items:\n  - [0]: \"a\"\n  - [1]: \"b\"\n"
        );
    }

    #[test]
    fn long_lists_are_cut_and_say_so() {
        let cut = shown(numbers(0..10), numbers(-200..10), true, false);
        assert!(
            cut.ends_with("  + [98]: -102\n  (101 more lines; `-v` shows all)\n"),
            "{cut}"
        );
        let whole = shown(numbers(0..10), numbers(-200..10), true, true);
        assert_eq!(whole.lines().count(), 201);
        let huge = shown(numbers(0..150_000), numbers(-1..150_000), true, false);
        assert_eq!(
            huge.lines().count(),
            101,
            "above the limit nothing is compared"
        );
    }
}
