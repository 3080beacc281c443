//! Lists and maps: `join`, `split`, `select`, `length`, `singleOrNone`.

use blueprint::Value;
use expr::codes::{ARGUMENT_RANGE, INDEX_OUT_OF_RANGE};
use unicode_segmentation::UnicodeSegmentation;

use super::function::{FunctionResult, PartialArgument, PulumiFunction, pair, refusal, wrong_type};

pub(super) const FUNCTIONS: &[PulumiFunction] = &[
    PulumiFunction {
        name: "join",
        key: "fn::join",
        items: Some((2, JOIN_FORM)),
        call: join,
        parts: PartialArgument::Whole,
        docs: "`[delimiter, list]`: the strings of the list, joined with the delimiter. A null delimiter is empty.",
        examples: &[
            (r#"["NaN", ["Ba", "a"]]"#, r#""BaNaNa""#),
            (r#"[null, ["a", "b"]]"#, r#""ab""#),
            (r#"[",", []]"#, r#""""#),
            (r#"[",", ["a", 1]]"#, "! argument-type"),
            (r#"[1, ["a"]]"#, "! argument-type"),
            (r#"[",", "a"]"#, "! argument-type"),
            (r#"[","]"#, "! argument-count"),
        ],
    },
    PulumiFunction {
        name: "split",
        key: "fn::split",
        items: Some((2, "a delimiter and a string")),
        call: split,
        parts: PartialArgument::Whole,
        docs: "`[delimiter, string]`: the parts of the string between the delimiters. An empty delimiter splits into characters.",
        examples: &[
            (r#"[",", "a,b"]"#, r#"["a", "b"]"#),
            (r#"["", "ab"]"#, r#"["a", "b"]"#),
            (r#"[",", ""]"#, r#"[""]"#),
            (r#"[",", 1]"#, "! argument-type"),
        ],
    },
    PulumiFunction {
        name: "select",
        key: "fn::select",
        items: Some((2, "a position and a list")),
        call: select,
        parts: PartialArgument::Leaves,
        docs: "`[position, list]`: the item at the position, from 0.",
        examples: &[
            (r#"[1, ["v1", "v1.1", "v2.0"]]"#, r#""v1.1""#),
            (r#"[3, ["v1"]]"#, "! index-out-of-range"),
            (r#"[-1, ["v1"]]"#, "! argument-range"),
            (r#"[1.5, ["v1", "v2"]]"#, "! argument-range"),
            (r#"["1", ["v1"]]"#, "! argument-type"),
        ],
    },
    PulumiFunction {
        name: "length",
        key: "fn::length",
        items: None,
        call: length,
        parts: PartialArgument::Whole,
        docs: "The number of characters of a string, items of a list, or entries of a map.",
        examples: &[
            (r#""añb""#, "3"),
            ("[1, 2]", "2"),
            (r#"{"a": 1}"#, "1"),
            ("5", "! argument-type"),
        ],
    },
    PulumiFunction {
        name: "singleOrNone",
        key: "fn::singleOrNone",
        items: None,
        call: single_or_none,
        parts: PartialArgument::Leaves,
        docs: "The only item of a list, or null for an empty one. More items are a mistake.",
        examples: &[
            ("[1]", "1"),
            ("[]", "null"),
            ("[1, 2]", "! argument-range"),
            ("1", "! argument-type"),
        ],
    },
];

const JOIN_FORM: &str = "a delimiter and a list of strings";

fn join(argument: &Value) -> FunctionResult {
    let (delimiter, list) = pair("join", JOIN_FORM, argument)?;
    let delimiter = match delimiter {
        Value::Null => "",
        Value::Text(text) => text,
        other => {
            return Err(wrong_type(
                "the delimiter of `fn::join`",
                "a string",
                other,
                &[0],
            ));
        }
    };
    let Some(items) = list.as_list() else {
        return Err(wrong_type(
            "the second item of `fn::join`",
            "a list",
            list,
            &[1],
        ));
    };
    let mut texts = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        match item {
            Value::Text(text) => texts.push(text.as_ref()),
            other => {
                let what = format!("item {at} of `fn::join`");
                return Err(wrong_type(&what, "a string", other, &[1, at]));
            }
        }
    }
    let delimiters = delimiter.len().saturating_mul(texts.len());
    if delimiters > expr::MAX_VALUE_BYTES {
        return Err(refusal(
            &ARGUMENT_RANGE,
            "`fn::join` makes a text that is too large",
            [],
        ));
    }
    Ok(Value::text(texts.join(delimiter)))
}

fn split(argument: &Value) -> FunctionResult {
    let (delimiter, whole) = pair("split", "a delimiter and a string", argument)?;
    let text = |value: &Value, what: &str, at: usize| match value {
        Value::Text(text) => Ok(text.clone()),
        other => Err(wrong_type(what, "a string", other, &[at])),
    };
    let delimiter = text(delimiter, "the delimiter of `fn::split`", 0)?;
    let whole = text(whole, "the second item of `fn::split`", 1)?;
    if delimiter.is_empty() {
        return Ok(Value::list(
            whole.chars().map(|letter| Value::text(letter.to_string())),
        ));
    }
    Ok(Value::list(
        whole.split(delimiter.as_ref()).map(Value::text),
    ))
}

fn select(argument: &Value) -> FunctionResult {
    let (whole, secret) = argument.split_secret();
    if whole.is_unknown() {
        return Ok(whole.as_unknown().tainted(secret));
    }
    let (position, list) = pair("select", "a position and a list", whole)?;
    let (position, secret_position) = position.split_secret();
    let (list, secret_list) = list.split_secret();
    let secret = secret || secret_position || secret_list;
    if position.is_unknown() || list.is_unknown() {
        return Ok(whole.as_unknown().tainted(secret));
    }
    let position = match position {
        Value::Int(at) => *at as f64,
        Value::Float(at) => *at,
        other => {
            return Err(wrong_type(
                "the position of `fn::select`",
                "a number",
                other,
                &[0],
            ));
        }
    };
    if position < 0.0 || position.fract() != 0.0 {
        let message = "the position of `fn::select` must be a whole number from 0";
        return Err(refusal(&ARGUMENT_RANGE, message, [0]));
    }
    let Some(items) = list.as_list() else {
        return Err(wrong_type(
            "the second item of `fn::select`",
            "a list",
            list,
            &[1],
        ));
    };
    match items.get(position as usize) {
        Some(item) => Ok(item.clone().tainted(secret)),
        None => {
            let message = format!("the list has no item {position}: it has {}", items.len());
            Err(refusal(&INDEX_OUT_OF_RANGE, message, [0]))
        }
    }
}

fn length(argument: &Value) -> FunctionResult {
    let count = match argument {
        Value::Text(text) => text.graphemes(true).count(),
        Value::List(items) => items.len(),
        Value::Map(entries) => entries.len(),
        other => {
            let wanted = "a string, a list or a map";
            return Err(wrong_type(
                "the argument of `fn::length`",
                wanted,
                other,
                &[],
            ));
        }
    };
    Ok(Value::Int(i64::try_from(count).unwrap_or(i64::MAX)))
}

fn single_or_none(argument: &Value) -> FunctionResult {
    let (list, secret) = argument.split_secret();
    if list.is_unknown() {
        return Ok(list.as_unknown().tainted(secret));
    }
    let Some(items) = list.as_list() else {
        return Err(wrong_type(
            "the argument of `fn::singleOrNone`",
            "a list",
            list,
            &[],
        ));
    };
    match items {
        [] => Ok(Value::Null),
        [item] => Ok(item.clone().tainted(secret)),
        items => {
            let message = format!("the list has {} items, one at most is allowed", items.len());
            Err(refusal(&ARGUMENT_RANGE, message, []))
        }
    }
}
