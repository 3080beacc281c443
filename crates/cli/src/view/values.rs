//! Values: on one line, or a text of several lines as a block.

use std::fmt::Write as _;

use blueprint::{Asset, Value};

use super::drawing::Drawing;

/// The maximum number of characters of a value on one line. Longer values are cut.
const VALUE_LIMIT: usize = 400;
/// The maximum number of lines of a new text. Further lines are hidden.
const BLOCK_LIMIT: usize = 60;

/// A text in quotes, with the escapes of JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Whether a text is shown as lines.
pub(crate) fn has_lines(text: &str) -> bool {
    text.trim_end_matches('\n').contains('\n')
}

/// A value on one line, cut if it is long.
pub(crate) fn short(value: &Value, drawing: Drawing) -> String {
    if let Value::Text(text) = value
        && let Some((cut, _)) = text.char_indices().nth(VALUE_LIMIT)
        && !drawing.whole
    {
        let length = text.chars().count();
        return format!("{}{}", quoted(&text[..cut]), cut_mark(length, drawing));
    }
    let shown = in_full(value);
    match shown.char_indices().nth(VALUE_LIMIT) {
        Some((cut, _)) if !drawing.whole => {
            let length = shown.chars().count();
            format!("{}{}", &shown[..cut], cut_mark(length, drawing))
        }
        _ => shown,
    }
}

/// The mark after the beginning of a long text.
fn cut_mark(length: usize, drawing: Drawing) -> String {
    let mark = format!("... ({length} characters; `-v` shows all)");
    drawing.paint.dim(mark)
}

/// A value on one line. Unlike `Display`, it names what an asset consists of.
pub(crate) fn in_full(value: &Value) -> String {
    match value {
        Value::Asset(asset) => asset_text(asset),
        Value::List(items) | Value::Set(items) => {
            let items: Vec<String> = items.iter().map(in_full).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", quoted(key), in_full(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn asset_text(asset: &Asset) -> String {
    match asset {
        Asset::Text(text) => format!("(text {})", quoted(text)),
        Asset::File(place) | Asset::Remote(place) => format!("(file {})", quoted(place)),
        Asset::LocalArchive(place) | Asset::RemoteArchive(place) => {
            format!("(archive {})", quoted(place))
        }
        Asset::Sent(asset, digest) => {
            let short = digest.get(..12).unwrap_or(digest);
            let shown = asset_text(asset);
            let inner = shown.strip_suffix(')').unwrap_or(&shown);
            format!("{inner}, sha256 {short})")
        }
        Asset::Archive(entries) => {
            let entries = entries
                .iter()
                .map(|(name, asset)| format!("{}: {}", quoted(name), asset_text(asset)));
            format!("(archive {})", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Writes a value after its name: on the same line, or a text of several lines below it. `note`
/// stands at the end of the first line, `indent` is that of the name.
pub(crate) fn write_value(
    text: &mut String,
    value: &Value,
    note: &str,
    indent: &str,
    drawing: Drawing,
) {
    // Writing to a `String` does not fail.
    match value {
        Value::Text(lines) if has_lines(lines) => {
            let _ = writeln!(text, "{}{note}", block_mark(lines));
            write_lines(text, lines, &format!("{indent}  "), drawing);
        }
        other => {
            let _ = writeln!(text, "{}{note}", short(other, drawing));
        }
    }
}

/// The mark of YAML for a text with these line breaks at its end.
fn block_mark(lines: &str) -> &'static str {
    match lines.strip_suffix('\n') {
        None => "|-",
        Some(rest) if rest.ends_with('\n') => "|+",
        Some(_) => "|",
    }
}

/// Writes the lines of a text, each below the other.
fn write_lines(text: &mut String, lines: &str, indent: &str, drawing: Drawing) {
    let from = text.len();
    for line in lines.lines() {
        let _ = writeln!(text, "{indent}{}", cut_line(line, drawing));
    }
    drawing.cut_lines(text, from, BLOCK_LIMIT, indent);
}

/// A line of a text, cut if it is long.
pub(crate) fn cut_line(line: &str, drawing: Drawing) -> String {
    match line.char_indices().nth(VALUE_LIMIT) {
        Some((cut, _)) if !drawing.whole => {
            let length = line.chars().count();
            format!("{}{}", &line[..cut], cut_mark(length, drawing))
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::drawing::plain;
    use super::*;

    fn written(value: &Value, whole: bool) -> String {
        let mut text = "name: ".to_owned();
        write_value(&mut text, value, "", "", plain(whole, 80));
        text
    }

    #[test]
    fn long_values_are_cut_and_say_so() {
        let long = Value::from("x".repeat(500));
        assert_eq!(
            short(&long, plain(false, 80)),
            format!(
                "\"{}\"... (500 characters; `-v` shows all)",
                "x".repeat(400)
            )
        );
        assert_eq!(
            short(&long, plain(true, 80)),
            format!("\"{}\"", "x".repeat(500))
        );
        let list = Value::list((0..300).map(Value::Int));
        assert!(
            short(&list, plain(false, 80))
                .ends_with(" 100, 101,... (1390 characters; `-v` shows all)")
        );
        assert!(short(&list, plain(true, 80)).ends_with(", 299]"));
    }

    #[test]
    fn texts_of_several_lines_are_blocks() {
        assert_eq!(written(&"a\n\tb\n".into(), false), "name: |\n  a\n  \tb\n");
        assert_eq!(written(&"a\nb".into(), false), "name: |-\n  a\n  b\n");
        assert_eq!(
            written(&"a\nb\n\n".into(), false),
            "name: |+\n  a\n  b\n  \n"
        );
        assert_eq!(written(&"a\n".into(), false), "name: \"a\\n\"\n");
        assert_eq!(
            written(&Value::from("a\nb\n").secret(), false),
            "name: (secret)\n"
        );
        let many: String = (0..100).map(|line| format!("{line}\n")).collect();
        let text = written(&many.as_str().into(), false);
        assert!(
            text.ends_with("\n  59\n  (40 more lines; `-v` shows all)\n"),
            "{text}"
        );
        assert!(written(&many.into(), true).ends_with("\n  99\n"));
    }

    #[test]
    fn an_asset_says_what_it_consists_of() {
        let entries = [
            ("a".into(), Asset::File("a.txt".into())),
            ("b".into(), Asset::Text("x".into())),
        ];
        let archive = Asset::Archive(entries.into_iter().collect());
        let sent = Asset::Sent(Box::new(archive.clone()), "0123456789abcdef".into());
        assert_eq!(
            in_full(&Value::Asset(Arc::new(sent))),
            r#"(archive "a": (file "a.txt"), "b": (text "x"), sha256 0123456789ab)"#
        );
        let list = Value::list([Value::Asset(Arc::new(archive))]);
        assert_eq!(
            in_full(&list),
            r#"[(archive "a": (file "a.txt"), "b": (text "x"))]"#
        );
    }
}
