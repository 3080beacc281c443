//! Changes of fields: scalars on one line, long texts on two, texts of several lines line by line,
//! lists item by item.

use std::sync::Arc;

use blueprint::{Address, Asset, IndexMap, Name, Value};
use engine::{Change, value_differences};

use super::drawing::Drawing;
use super::values::{has_lines, in_full, quoted, short, write_value};
use super::{inline, items, lines};

/// The maximum number of unreadable resources that are listed.
const MANY: usize = 20;
/// The maximum number of lines for the changes of one resource. Further lines are hidden.
const LINES_LIMIT: usize = 300;
/// The minimum number of characters for which a line of a long text has room.
const LONG_LINE: usize = 60;

/// The beginnings of the lines of a change.
#[derive(Clone, Debug)]
pub(crate) struct Margin {
    /// The beginning of the first line.
    first: String,
    /// The beginning of further lines, which is as wide.
    rest: String,
}

impl Margin {
    /// Spaces alone.
    pub(crate) fn new(indent: &str) -> Margin {
        Margin {
            first: indent.to_owned(),
            rest: indent.to_owned(),
        }
    }

    /// Spaces and a sign of one character before the first line.
    pub(crate) fn signed(indent: &str, sign: &str) -> Margin {
        Margin {
            first: format!("{indent}{sign} "),
            rest: format!("{indent}  "),
        }
    }

    /// The indent of what stands below the first line.
    pub(crate) fn below(&self) -> String {
        format!("{}  ", self.rest)
    }
}

/// The place of a change: what stands before and after its value.
pub(crate) struct Label<'a> {
    /// The beginnings of the lines.
    pub(crate) margin: &'a Margin,
    /// The path of the value.
    pub(crate) path: &'a str,
    /// Whether the change forces a replacement.
    pub(crate) forces: bool,
}

impl Label<'_> {
    /// The text before the value, without the space between them.
    pub(crate) fn head(&self) -> String {
        format!("{}{}:", self.margin.first, self.path)
    }

    /// The text after the value, or after the head if the value stands below it.
    pub(crate) fn note(&self, drawing: Drawing) -> String {
        match self.forces {
            true => drawing.paint.magenta(" (forces replacement)"),
            false => String::new(),
        }
    }

    /// The number of characters before the value and after it, without styles.
    fn length(&self, drawing: Drawing) -> usize {
        let plain = Drawing {
            paint: drawing.paint.without_colors(),
            ..drawing
        };
        let before = self.margin.rest.chars().count() + self.path.chars().count() + 2;
        before + self.note(plain).chars().count()
    }
}

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
        items::write_list(text, list, &leaves, margin, drawing);
    }
    drawing.cut_lines(text, from, LINES_LIMIT, &margin.rest);
}

/// Writes the change of a leaf, regardless of the list that it is in.
pub(crate) fn write_leaf(text: &mut String, change: &Change, margin: &Margin, drawing: Drawing) {
    let label = Label {
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
    label: &Label<'_>,
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
fn write_texts(text: &mut String, label: &Label<'_>, old: &str, new: &str, drawing: Drawing) {
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
    label: &Label<'_>,
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
}
