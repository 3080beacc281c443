//! `filter`, `list_concat`, `list_concat_unique` and `contains`.

use std::collections::HashSet;

use blueprint::Value;
use pycompat::EqualityKey;

use super::function::{
    FunctionResult, HotFunction, PartialArgument, any, example, items, kind, wrong_type,
};
use crate::refusal::ValueRefusal;
use crate::version::Version;

pub(super) const FUNCTIONS: &[HotFunction] = &[
    HotFunction {
        name: "filter",
        since: Version::V2017_02_24,
        until: None,
        in_conditions: None,
        in_values: true,
        form: |argument, _| filter_form(argument).map(|_| ()),
        call: filter,
        parts: PartialArgument::Whole,
        docs: "`[values, list]`: the list without the items that are equal to one of the values; `1`, `1.0` and `true` are equal.",
        examples: &[
            example(r#"[[1], [1, 1.0, true, "1"]]"#, r#"["1"]"#),
            example(r#"[["a"], null]"#, "null"),
            example(r#"["a", ""]"#, r#""""#),
            example(r#"[null, ["a"]]"#, r#"["a"]"#),
            example(
                r#"[[{"b": 1, "a": [true]}], [{"a": [1], "b": 1.0}, 2]]"#,
                "[2]",
            ),
            example(r#"[["a"], "abc"]"#, "! argument-type"),
            example(r#"["a", ["a"]]"#, "! argument-type"),
            example(r#"[["a"]]"#, "! argument-type"),
            example(r#""ab""#, "! argument-type"),
        ],
    },
    HotFunction {
        name: "list_concat",
        since: Version::V2017_09_01,
        until: None,
        in_conditions: None,
        in_values: true,
        form: any,
        call: |argument, _| concat("list_concat", argument),
        parts: PartialArgument::Leaves,
        docs: "`[list..]`: one list of the items of all. Null items are left out.",
        examples: &[
            example(r#"[["a"], null, ["b", ["c"]]]"#, r#"["a", "b", ["c"]]"#),
            example("[]", "[]"),
            example(r#"[["a"], "b"]"#, "! argument-type"),
            example(r#""a""#, "! argument-type"),
            example("null", "! argument-type"),
        ],
    },
    HotFunction {
        name: "list_concat_unique",
        since: Version::V2017_09_01,
        until: None,
        in_conditions: None,
        in_values: true,
        form: any,
        call: |argument, _| concat("list_concat_unique", argument).map(unique),
        parts: PartialArgument::Whole,
        docs: "As `list_concat`, with only the first of equal items; `1`, `1.0` and `true` are equal.",
        examples: &[
            example(r#"[[1, true, 1.0, "1", 0, false]]"#, r#"[1, "1", 0]"#),
            example(
                r#"[[{"a": 1}], [{"a": 1.0}, ["b"]], [["b"]]]"#,
                r#"[{"a": 1}, ["b"]]"#,
            ),
            example("[5]", "! argument-type"),
        ],
    },
    HotFunction {
        name: "contains",
        since: Version::V2017_09_01,
        until: None,
        in_conditions: Some(Version::V2017_09_01),
        in_values: true,
        form: |argument, _| contains_form(argument).map(|_| ()),
        call: contains,
        parts: PartialArgument::Whole,
        docs: "`[value, list]` or `[text, text]`: whether the list has an item equal to the value, or the second text the first one in it.",
        examples: &[
            example(r#"["b", "abc"]"#, "true"),
            example(r#"[true, [0, 1]]"#, "true"),
            example(r#"["1", [1]]"#, "false"),
            example(r#"["", ""]"#, "true"),
            example(r#"[1, "1"]"#, "! argument-type"),
            example(r#"["a", {"a": 1}]"#, "! argument-type"),
            example(r#"["a", null]"#, "! argument-type"),
            example(r#"["a"]"#, "! argument-type"),
            example("[]", "! argument-type"),
        ],
    },
];

/// The values and the list of `filter`.
fn filter_form(argument: &Value) -> Result<(&Value, &Value), ValueRefusal> {
    let Some(items) = items(argument) else {
        let message = format!(
            "`filter` takes a list of values and a list, not {}",
            kind(argument)
        );
        return Err(wrong_type(message, "Argument to \"filter\" must be a list"));
    };
    let [values, list] = items else {
        let words = format!(
            "\"filter\" expected 2 arguments of the form [values, sequence] but got {} arguments instead",
            items.len()
        );
        return Err(wrong_type(
            "`filter` takes exactly two lists: values and a list",
            words,
        ));
    };
    Ok((values, list))
}

fn filter(argument: &Value, _: Version) -> FunctionResult {
    let (values, list) = filter_form(argument)?;
    if !pycompat::truth(list) {
        return Ok(list.clone());
    }
    let Value::List(kept) = list else {
        let message = format!("`filter` only works with lists, not {}", kind(list));
        return Err(wrong_type(message, "\"filter\" only works with lists").within(1));
    };
    if !pycompat::truth(values) {
        return Ok(list.clone());
    }
    let Value::List(values) = values else {
        let message = format!("`filter` takes a list of values, not {}", kind(values));
        return Err(wrong_type(message, "\"filter\" filters a list of values").within(0));
    };
    let values: HashSet<EqualityKey> = values.iter().map(EqualityKey::of).collect();
    Ok(Value::list(
        kept.iter()
            .filter(|item| !values.contains(&EqualityKey::of(item)))
            .cloned(),
    ))
}

fn concat(name: &str, argument: &Value) -> FunctionResult {
    let (bare, mut secret) = argument.split_secret();
    let lists = match bare {
        Value::Unknown(_) => return Ok(argument.clone()),
        Value::List(lists) => lists,
        other => {
            let words = format!(
                "Incorrect arguments to \"{name}\" should be: \"{name}\" : [ [ <value 1>, <value 2> ], [ <value 3>, <value 4> ] ]"
            );
            return Err(wrong_type(
                format!("`{name}` takes a list of lists, not {}", kind(other)),
                words,
            ));
        }
    };
    let mut all = Vec::new();
    let mut unknown = false;
    for (at, list) in lists.iter().enumerate() {
        let (bare, hidden) = list.split_secret();
        secret |= hidden;
        match bare {
            Value::Null => {}
            Value::Unknown(_) => unknown = true,
            Value::List(items) => all.extend(items.iter().cloned()),
            other => {
                let words = format!(
                    "Incorrect arguments: Items to concat must be lists. {} contains an item that is not a list: {}",
                    pycompat::json_in_order(argument),
                    pycompat::json_in_order(other)
                );
                return Err(wrong_type(
                    format!("`{name}` takes lists, not {}", kind(other)),
                    words,
                )
                .within(at));
            }
        }
    }
    let list = if unknown {
        argument.as_unknown()
    } else {
        Value::list(all)
    };
    Ok(list.tainted(secret))
}

/// Removes repeated items. The first of equal items stays.
fn unique(list: Value) -> Value {
    let mut seen = HashSet::new();
    match list {
        Value::List(items) => Value::list(
            items
                .iter()
                .filter(|item| seen.insert(EqualityKey::of(item)))
                .cloned(),
        ),
        other => other,
    }
}

/// The value and the sequence of `contains`.
fn contains_form(argument: &Value) -> Result<(&Value, &Value), ValueRefusal> {
    match items(argument) {
        Some([value, sequence]) => Ok((value, sequence)),
        Some([_, ..]) => Err(wrong_type(
            "`contains` takes a list of a value and a list or text",
            "Arguments to \"contains\" must be of the form: [value1, [value1, value2]]",
        )),
        _ => Err(wrong_type(
            "`contains` takes a list of a value and a list or text",
            "Incorrect arguments to \"contains\" should be: \"contains\" : [ \"value1\", [ \"value1\", \"value2\"]]",
        )),
    }
}

fn contains(argument: &Value, _: Version) -> FunctionResult {
    let (value, sequence) = contains_form(argument)?;
    match (value, sequence) {
        (value, Value::List(items)) => Ok(Value::Bool(pycompat::contains(items.iter(), value))),
        (Value::Text(value), Value::Text(text)) => Ok(Value::Bool(text.contains(value.as_ref()))),
        (value, Value::Text(_)) => {
            let words = format!(
                "'in <string>' requires string as left operand, not {}",
                pycompat::type_name(value)
            );
            Err(wrong_type(format!("a text contains texts, not {}", kind(value)), words).within(0))
        }
        (_, other) => {
            let words = "Second argument to \"contains\" should be a sequence.";
            Err(wrong_type(
                format!(
                    "`contains` looks into lists and texts, not into {}",
                    kind(other)
                ),
                words,
            )
            .within(1))
        }
    }
}
