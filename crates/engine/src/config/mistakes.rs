//! Mistakes that the parser of `cyan.toml` reports, in the words of this program. Values of the
//! file, which may be secret, are left out.
//!
//! Not here: checks of settings of providers and dialects.

use diag::nearest;
use toml::de::{DeTable, DeValue};

/// A mistake with its place, and the advice.
pub(super) struct ParserMistake {
    pub(super) what: String,
    pub(super) help: Option<String>,
}

/// Keys that users expect at the top of the file, and what does the same.
const ELSEWHERE: [(&[&str], &str); 2] = [
    (
        &["inputs", "variables", "parameters", "var"],
        "write values under `[instances.NAME.inputs]`, or name a file of them with `vars`",
    ),
    (
        &["drift", "target", "replace", "keep-vars", "lock-wait"],
        "it is a flag of commands alone: give it on the command line",
    ),
];

/// Describes an error of the parser.
pub(super) fn described(error: &toml::de::Error, text: &str) -> ParserMistake {
    let at = error.span().map(|span| span.start);
    let key = at
        .and_then(|at| key_around(text, at))
        .map(|path| format!("`{path}`"));
    let (what, help) = in_words(error.message(), key);
    let what = match at.map(|at| line_and_column(text, at)) {
        Some((line, column)) => format!("line {line}, column {column}: {what}"),
        None => what,
    };
    ParserMistake { what, help }
}

fn in_words(message: &str, key: Option<String>) -> (String, Option<String>) {
    if let Some((name, known)) = unknown(message, "unknown field `") {
        return (
            format!("unknown key `{name}`"),
            Some(key_help(name, &known)),
        );
    }
    if let Some((name, known)) = unknown(message, "unknown variant `") {
        let key = key.unwrap_or_else(|| "the value".to_owned());
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write {}", listed(&known, " or ")),
        };
        return (format!("{key} cannot be `{name}`"), Some(help));
    }
    let wrong_kind = ["invalid type: ", "invalid value: "]
        .iter()
        .any(|start| message.starts_with(start));
    if wrong_kind {
        let expected = message
            .rsplit_once(", expected ")
            .map_or("", |(_, rest)| rest);
        let (kind, help) = match expected {
            "a boolean" => (expected, Some("write `true` or `false`, without quotes")),
            "a string" => ("a text", Some("put the value in quotes")),
            "a sequence" => ("a list", Some("put the value in brackets: `[\"..\"]`")),
            "a map" => ("a table", None),
            other => (other, None),
        };
        let what = match (key, kind) {
            (_, "") => "the value has the wrong type".to_owned(),
            (Some(key), kind) => format!("{key} must be {kind}"),
            (None, kind) => format!("expected {kind}"),
        };
        return (what, help.map(str::to_owned));
    }
    match key {
        Some(key) if message.starts_with("expected ") => (format!("{key}: {message}"), None),
        _ => (message.to_owned(), None),
    }
}

/// The name in a message such as "unknown field `x`, expected one of `a`, `b`", and the known ones.
fn unknown<'m>(message: &'m str, start: &str) -> Option<(&'m str, Vec<&'m str>)> {
    let (name, rest) = message.strip_prefix(start)?.split_once("`, expected ")?;
    Some((name, rest.split('`').skip(1).step_by(2).collect()))
}

fn key_help(name: &str, known: &[&str]) -> String {
    if let Some(near) = nearest(name, known.iter().copied()) {
        return format!("did you mean `{near}`?");
    }
    let is_top = known.contains(&"state");
    let elsewhere = ELSEWHERE
        .iter()
        .find(|(names, _)| is_top && names.contains(&name.replace('_', "-").as_str()));
    match (elsewhere, known) {
        (Some((_, help)), _) => (*help).to_owned(),
        (None, [one]) => format!("the only key here is `{one}`"),
        (None, _) => format!("the keys here are {}", listed(known, " and ")),
    }
}

fn listed(names: &[&str], last: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((end, first)) if !first.is_empty() => format!("{}{last}{end}", first.join(", ")),
        _ => names.join(""),
    }
}

/// Returns the line and the column of a byte, both from 1.
pub(super) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let column = before
        .chars()
        .rev()
        .take_while(|letter| *letter != '\n')
        .count()
        + 1;
    (before.matches('\n').count() + 1, column)
}

/// The path of the key whose value is at a byte of the file, such as `history.keep`.
fn key_around(text: &str, at: usize) -> Option<String> {
    let file = DeTable::parse(text).ok()?;
    let mut path = Vec::new();
    find(file.get_ref(), at, &mut path).then(|| path.join("."))
}

fn find(table: &DeTable<'_>, at: usize, path: &mut Vec<String>) -> bool {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        let is_here = match value.get_ref() {
            DeValue::Table(inner) => find(inner, at, path),
            _ => value.span().contains(&at),
        };
        if is_here {
            return true;
        }
        path.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_around_a_value_is_found() {
        let text = "a = 1\n[history]\nkeep = 5\n";
        assert_eq!(key_around(text, 4).as_deref(), Some("a"));
        assert_eq!(key_around(text, 23).as_deref(), Some("history.keep"));
        assert_eq!(key_around(text, 0), None);
    }

    #[test]
    fn an_unknown_key_without_a_similar_one_lists_the_keys() {
        let said = "unknown field `zzz`, expected one of `a`, `b`";
        let (what, help) = in_words(said, None);
        assert_eq!(what, "unknown key `zzz`");
        assert_eq!(help.as_deref(), Some("the keys here are `a` and `b`"));
    }
}
