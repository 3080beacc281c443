//! `list_join` and `str_split`.

use blueprint::Value;
use expr::codes::{ARGUMENT_FORMAT, INDEX_OUT_OF_RANGE};

use super::function::{
    FunctionResult, HotFunction, PartialArgument, any, example, example_in, items, kind, shortened,
    wrong_type,
};
use crate::refusal::ValueRefusal;
use crate::version::Version;

pub(super) const FUNCTIONS: &[HotFunction] = &[
    HotFunction {
        name: "list_join",
        since: Version::V2013_05_23,
        until: None,
        in_conditions: None,
        in_values: true,
        form: join_form,
        call: |argument, version| join("list_join", argument, version),
        parts: PartialArgument::Whole,
        docs: "`[delimiter, list..]`: the items of the lists, joined with the delimiter. Null is an empty text, maps and lists \
               become JSON; numbers and booleans are refused.",
        examples: &[
            example(
                r#"[",", ["a", null, {"b": 1}], ["c"]]"#,
                r#""a,,{\"b\": 1},c""#,
            ),
            example(r#"["-", ["a", 1]]"#, "! argument-type"),
            example(r#"["-", null, "", ["a"]]"#, r#""a""#),
            example(r#"["-", [["a", 2.0]]]"#, r#""[\"a\", 2.0]""#),
            example(r#"["-", "abc"]"#, "! argument-type"),
            example(r#"[1, ["a"]]"#, "! argument-type"),
            example(r#"["-"]"#, "! argument-type"),
            example_in(Version::V2013_05_23, r#"["-", ["a", null]]"#, r#""a-""#),
            example_in(
                Version::V2013_05_23,
                r#"["-", ["a", ["b"]]]"#,
                "! argument-type",
            ),
            example_in(
                Version::V2013_05_23,
                r#"["-", ["a"], ["b"]]"#,
                "! argument-type",
            ),
            example_in(Version::V2013_05_23, r#"["-", ""]"#, "! argument-type"),
        ],
    },
    HotFunction {
        name: "str_split",
        since: Version::V2015_10_15,
        until: None,
        in_conditions: None,
        in_values: true,
        form: split_form,
        call: split,
        parts: PartialArgument::Whole,
        docs: "`[delimiter, text, index]`: the parts of the text, or the one at an index, from the end where it is negative. A null \
               delimiter splits at white space; null text gives null.",
        examples: &[
            example(r#"[",", "a,b,c"]"#, r#"["a", "b", "c"]"#),
            example(r#"[",", "a,b,c", -1]"#, r#""c""#),
            example(r#"[",", "a,b,c", "1", "ignored"]"#, r#""b""#),
            example(r#"[",", "a,b,c", 1.9]"#, r#""b""#),
            example(r#"[",", "a,b,c", true]"#, r#""b""#),
            example(r#"[",", "a,b,c", 3]"#, "! index-out-of-range"),
            example(r#"[",", "a,b,c", -4]"#, "! index-out-of-range"),
            example(r#"[",", "a,b,c", "x"]"#, "! argument-type"),
            example(r#"[",", ""]"#, r#"[""]"#),
            example(r#"[null, " a  b "]"#, r#"["a", "b"]"#),
            example(r#"[null, " ", 0]"#, "! index-out-of-range"),
            example(r#"["", "a"]"#, "! argument-format"),
            example(r#"[",", null, 7]"#, "null"),
            example(r#"[",", 5]"#, "! argument-type"),
            example(r#"[","]"#, "! argument-type"),
            example("5", "! argument-type"),
        ],
    },
];

/// Whether the function joins several lists, and maps and lists as items.
fn joins_much(name: &str, version: Version) -> bool {
    name == "list_join" && version >= Version::V2015_10_15
}

/// The form of `list_join`: a list of a delimiter and lists.
fn join_form(argument: &Value, version: Version) -> Result<(), ValueRefusal> {
    joinable("list_join", argument, version).map(|_| ())
}

/// The delimiter and the lists.
pub(super) fn joinable<'a>(
    name: &str,
    argument: &'a Value,
    version: Version,
) -> Result<(&'a Value, &'a [Value]), ValueRefusal> {
    let many = joins_much(name, version);
    match items(argument) {
        Some([delimiter, lists @ ..]) if lists.len() == 1 || (many && !lists.is_empty()) => {
            Ok((delimiter, lists))
        }
        _ => {
            let dots = if many { " ..." } else { "" };
            let wanted = if many {
                "a delimiter and lists"
            } else {
                "a delimiter and one list"
            };
            let words = format!(
                "Incorrect arguments to \"{name}\" should be: \"{name}\" : [ \" \", [ \"str1\", \"str2\"]{dots}]"
            );
            Err(wrong_type(
                format!("`{name}` takes a list of {wanted}"),
                words,
            ))
        }
    }
}

/// Joins lists of texts.
pub(super) fn join(name: &str, argument: &Value, version: Version) -> FunctionResult {
    let many = joins_much(name, version);
    let (delimiter, lists) = joinable(name, argument, version)?;
    let mut parts: Vec<(&Value, usize, usize)> = Vec::new();
    for (at, list) in lists.iter().enumerate() {
        match items(list) {
            Some(items) => parts.extend(
                items
                    .iter()
                    .enumerate()
                    .map(|(inner, item)| (item, at + 1, inner)),
            ),
            None if if many {
                !pycompat::truth(list)
            } else {
                list.is_null()
            } => {}
            None => {
                let message = format!("`{name}` joins lists, not {}", kind(list));
                return Err(
                    wrong_type(message, format!("\"{name}\" must operate on a list"))
                        .within(at + 1),
                );
            }
        }
    }
    let Value::Text(delimiter) = delimiter else {
        let message = format!(
            "the delimiter of `{name}` must be text, not {}",
            kind(delimiter)
        );
        return Err(
            wrong_type(message, format!("\"{name}\" delimiter must be a string")).within(0),
        );
    };
    super::function::within_bounds(name, delimiter.len().saturating_mul(parts.len()))?;
    let mut out = String::new();
    for (number, (item, list, inner)) in parts.into_iter().enumerate() {
        if number > 0 {
            out.push_str(delimiter);
        }
        match item {
            Value::Null => {}
            Value::Text(text) => out.push_str(text),
            Value::List(_) | Value::Map(_) if many => out.push_str(&pycompat::json(item)),
            other => {
                let wanted = if many {
                    "string, map or list"
                } else {
                    "strings"
                };
                let words = format!("Items to join must be {wanted} not {}", shortened(other));
                let refusal = wrong_type(format!("`{name}` does not join {}", kind(other)), words);
                let refusal = if matches!(other, Value::List(_) | Value::Map(_)) {
                    refusal.help("use `heat_template_version: 2015-10-15` or later, which joins lists and maps as JSON")
                } else {
                    refusal.help("quote it, or make it text with `str_replace`")
                };
                return Err(refusal.within(inner).within(list));
            }
        }
    }
    Ok(Value::from(out))
}

fn split_words() -> String {
    "Incorrect arguments to \"str_split\" should be: \"str_split\" : [ \",\", \"apples,pears\", <index>]".into()
}

/// The form of `str_split`: neither text nor map.
fn split_form(argument: &Value, version: Version) -> Result<(), ValueRefusal> {
    match argument.unmarked() {
        Value::Text(_) | Value::Map(_) => Err(wrong_type(
            "`str_split` takes a list of a delimiter, a text and perhaps an index",
            split_words(),
        )),
        _ => any(argument, version),
    }
}

fn split(argument: &Value, version: Version) -> FunctionResult {
    split_form(argument, version)?;
    let Some([delimiter, text, rest @ ..]) = items(argument) else {
        return Err(wrong_type(
            "`str_split` takes a list of a delimiter, a text and perhaps an index",
            split_words(),
        ));
    };
    let text = match text {
        Value::Null => return Ok(Value::Null),
        Value::Text(text) => text,
        other => {
            let words = format!(
                "'{}' object has no attribute 'split'",
                pycompat::type_name(other)
            );
            return Err(wrong_type(
                format!("`str_split` splits text, not {}", kind(other)),
                words,
            )
            .within(1));
        }
    };
    let parts: Vec<Value> = match delimiter {
        Value::Null => pycompat::split_at_spaces(text).map(Value::from).collect(),
        Value::Text(delimiter) => split_at(text, delimiter)?,
        other => {
            let words = format!("must be str or None, not {}", pycompat::type_name(other));
            return Err(wrong_type(
                format!(
                    "the delimiter of `str_split` must be text, not {}",
                    kind(other)
                ),
                words,
            )
            .within(0));
        }
    };
    let Some(index) = rest.first() else {
        return Ok(Value::list(parts));
    };
    let words = |words: String| {
        match index {
        Value::Text(_) | Value::Float(_) => {
            "Incorrect index to \"str_split\" should be: \"str_split\" : [ \",\", \"apples,pears\", <index>]".to_owned()
        }
        _ => words,
    }
    };
    let at = pycompat::integer(index).map_err(|error| {
        wrong_type("the index of `str_split` is no integer", words(error)).within(2)
    })?;
    let last = parts.len() as i64 - 1;
    let picked = at.as_int().and_then(|at| super::paths::at(&parts, at));
    picked.cloned().ok_or_else(|| {
        ValueRefusal::new(
            &INDEX_OUT_OF_RANGE,
            format!("the text has no part {at}: {} of them", parts.len()),
        )
        .heat(format!(
            "Incorrect index to \"str_split\" should be between 0 and {last}"
        ))
        .within(2)
    })
}

/// The parts of a text between occurrences of a delimiter.
pub(super) fn split_at(text: &str, delimiter: &str) -> Result<Vec<Value>, ValueRefusal> {
    let parts = pycompat::split(text, delimiter).map(|parts| parts.map(Value::from).collect());
    parts.ok_or_else(|| {
        ValueRefusal::new(&ARGUMENT_FORMAT, "the delimiter is empty")
            .heat("empty separator")
            .help("use null to split at white space")
            .within(0)
    })
}
