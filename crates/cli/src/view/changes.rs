//! Changes of fields: scalars on one line, texts of several lines as a line diff.

use blueprint::{Address, IndexMap, Name, Value};
use engine::Change;
use similar::{ChangeTag, TextDiff};

use crate::terminal::Paint;

/// The number of unchanged lines that are shown around a change.
const CONTEXT: usize = 2;
/// The maximum number of unreadable resources that are listed.
const MANY: usize = 20;
/// The maximum length of a value on one line. Longer values are cut.
const LONGEST: usize = 120;

/// Writes the change of a leaf. Each line begins with `indent` and ends with a line break.
pub(crate) fn change(text: &mut String, change: &Change, indent: &str, paint: Paint) {
    let forces = if change.forces {
        paint.magenta(" (forces replacement)")
    } else {
        String::new()
    };
    let path = change.path.strip_prefix("spec.").unwrap_or(&change.path);
    match (&change.before, &change.after) {
        (Some(Value::Text(old)), Some(Value::Text(new)))
            if old.contains('\n') || new.contains('\n') =>
        {
            text.push_str(&format!("{indent}{path}:{forces}\n"));
            diff(text, old, new, &format!("{indent}  "), paint);
        }
        (Some(before), Some(after)) => {
            text.push_str(&format!(
                "{indent}{path}: {} -> {}{forces}\n",
                short(before),
                short(after)
            ));
        }
        (None, Some(after)) => {
            text.push_str(&format!("{indent}{path}: {}{forces}\n", short(after)))
        }
        (Some(before), None) => {
            text.push_str(&format!(
                "{indent}{path}: {} -> {}{forces}\n",
                short(before),
                paint.dim("(nothing)")
            ));
        }
        (None, None) => {}
    }
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

fn diff(text: &mut String, old: &str, new: &str, indent: &str, paint: Paint) {
    let diff = TextDiff::from_lines(old, new);
    for (number, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if number > 0 {
            text.push_str(&format!("{indent}{}\n", paint.dim("...")));
        }
        for line in group
            .iter()
            .flat_map(|operation| diff.iter_changes(operation))
        {
            let end = if line.missing_newline() {
                paint.dim(" (no line end)")
            } else {
                String::new()
            };
            let words = line.value().trim_end_matches(['\n', '\r']);
            let line = match line.tag() {
                ChangeTag::Delete => paint.red(format!("- {words}")),
                ChangeTag::Insert => paint.green(format!("+ {words}")),
                ChangeTag::Equal => format!("  {words}"),
            };
            text.push_str(&format!("{indent}{line}{end}\n"));
        }
    }
}

/// A value on one line, cut if it is long.
pub(crate) fn short(value: &Value) -> String {
    let shown = value.to_string();
    match shown.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}.. ({} characters)", &shown[..cut], shown.chars().count()),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: Option<Value>, after: Option<Value>) -> String {
        let terminal = crate::terminal::Terminal::new(
            crate::terminal::ColorChoice::Never,
            false,
            false,
            false,
        );
        let mut text = String::new();
        change(
            &mut text,
            &Change {
                path: "spec.content".into(),
                before,
                after,
                forces: false,
            },
            "  ",
            terminal.out,
        );
        text
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
        let text = shown(
            Some(Value::from("old\n").secret()),
            Some(Value::from("new\n").secret()),
        );
        assert_eq!(text, "  content: (secret) -> (secret)\n");
    }

    #[test]
    fn long_values_are_cut() {
        let text = shown(None, Some(Value::from("x".repeat(500))));
        assert!(
            text.len() < 200 && text.contains("(502 characters)"),
            "{text}"
        );
    }
}
