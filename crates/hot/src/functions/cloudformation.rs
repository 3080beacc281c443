//! The functions of CloudFormation that depend only on their argument (2013-05-23; `Fn::Select`
//! until 2015-04-30).

use std::borrow::Cow;
use std::collections::BTreeMap;

use blueprint::{Map, Name, Value};
use expr::codes::ARGUMENT_FORMAT;

use super::function::{
    FunctionResult, HotFunction, PartialArgument, any, example, kind, wrong_type,
};
use super::replace::{ReplaceRules, mapping};
use super::text::{join, joinable, split_at};
use crate::refusal::ValueRefusal;
use crate::version::Version;

/// The first version without these functions.
const GONE: Option<Version> = Some(Version::V2014_10_16);

pub(super) const FUNCTIONS: &[HotFunction] = &[
    HotFunction {
        name: "Fn::Select",
        since: Version::V2013_05_23,
        until: Some(Version::V2015_10_15),
        in_conditions: None,
        in_values: true,
        form: |argument, _| unpack(argument, 2, select_form).map(|_| ()),
        call: select,
        parts: PartialArgument::Leaves,
        docs: "`[index, collection]`: the item of a list or the entry of a map, an empty text where there is none. A text is read as JSON \
               first; an empty one, and null, give an empty text.",
        examples: &[
            example(r#"[1, ["a", "b"]]"#, r#""b""#),
            example(r#"["-1", ["a", "b"]]"#, r#""b""#),
            example(r#"[9, ["a"]]"#, r#""""#),
            example(r#"["a", {"a": 1}]"#, "1"),
            example(r#"["z", {"a": 1}]"#, r#""""#),
            example(r#"["a", "{\"a\": [1]}"]"#, "[1]"),
            example(r#"[0, ""]"#, r#""""#),
            example(r#"[0, null]"#, r#""""#),
            example(r#"[0, "x"]"#, "! argument-format"),
            example(r#"[0, {"0": 1}]"#, "! argument-type"),
            example(r#"["a", ["b"]]"#, "! argument-type"),
            example(r#"[0, 5]"#, "! argument-type"),
            example(r#"[0]"#, "! argument-type"),
        ],
    },
    HotFunction {
        name: "Fn::Join",
        since: Version::V2013_05_23,
        until: GONE,
        in_conditions: None,
        in_values: true,
        form: |argument, version| joinable("Fn::Join", argument, version).map(|_| ()),
        call: |argument, version| join("Fn::Join", argument, version),
        parts: PartialArgument::Whole,
        docs: "`[delimiter, list]`: the texts of the list, joined with the delimiter.",
        examples: &[
            example(r#"["-", ["a", null, "b"]]"#, r#""a--b""#),
            example(r#"["-", [{"a": 1}]]"#, "! argument-type"),
            example(r#"["-", ["a"], ["b"]]"#, "! argument-type"),
        ],
    },
    HotFunction {
        name: "Fn::Split",
        since: Version::V2013_05_23,
        until: GONE,
        in_conditions: None,
        in_values: true,
        form: |argument, _| split_form(argument).map(|_| ()),
        call: split,
        parts: PartialArgument::Whole,
        docs: "`[delimiter, text]`: the parts of the text between the delimiters.",
        examples: &[
            example(r#"[",", "a,b"]"#, r#"["a", "b"]"#),
            example(r#"["", "a"]"#, "! argument-format"),
            example(r#"[",", ["a"]]"#, "! argument-type"),
            example(r#"[1, "a"]"#, "! argument-type"),
            example(r#"[","]"#, "! argument-type"),
        ],
    },
    HotFunction {
        name: "Fn::Replace",
        since: Version::V2013_05_23,
        until: GONE,
        in_conditions: None,
        in_values: true,
        form: |argument, _| replace_form(argument).map(|_| ()),
        call: replace,
        parts: PartialArgument::Whole,
        docs: "`[params, template]`: as `str_replace` of that version.",
        examples: &[
            example(r#"[{"a": 1, "b": null}, "a b"]"#, r#""1 ""#),
            example(r#"[{"a": [1]}, "a"]"#, "! argument-type"),
            example(r#"[["a"], "a"]"#, "! argument-type"),
            example(r#"[{}]"#, "! argument-type"),
        ],
    },
    HotFunction {
        name: "Fn::Base64",
        since: Version::V2013_05_23,
        until: GONE,
        in_conditions: None,
        in_values: true,
        form: any,
        call: |argument, _| match argument {
            Value::Text(_) => Ok(argument.clone()),
            other => {
                let message = format!("`Fn::Base64` takes text, not {}", kind(other));
                Err(wrong_type(
                    message,
                    "\"Fn::Base64\" argument must be a string",
                ))
            }
        },
        parts: PartialArgument::Whole,
        docs: "`text`: the text itself, unencoded.",
        examples: &[example(r#""é""#, r#""é""#), example("1", "! argument-type")],
    },
    HotFunction {
        name: "Fn::MemberListToMap",
        since: Version::V2013_05_23,
        until: GONE,
        in_conditions: None,
        in_values: true,
        form: |argument, _| members_form(argument).map(|_| ()),
        call: members,
        parts: PartialArgument::Whole,
        docs: "`[keyname, valuename, list]`: a map made of texts such as `.member.0.KEYNAME=k` and `.member.0.VALUENAME=v`.",
        examples: &[
            example(
                r#"["Name", "Value", [".member.1.Name=b", ".member.1.Value=2=3", ".member.0.Name=a", ".member.0.Value=1"]]"#,
                r#"{"a": "1", "b": "2=3"}"#,
            ),
            example(r#"["N", "V", [".member.0.N=a", "x=y"]]"#, "{}"),
            example(r#"["N", "V", []]"#, "{}"),
            example(r#"["N", "V", ["x"]]"#, "! argument-format"),
            example(r#"["N", "V", [1]]"#, "! argument-type"),
            example(r#"["N", "V", 1]"#, "! argument-type"),
            example(r#"["N", 1, []]"#, "! argument-type"),
            example(r#"["N", "V"]"#, "! argument-type"),
        ],
    },
];

/// The items that Python unpacks from a value: the characters of a text, the keys of a map.
fn unpack(
    argument: &Value,
    count: usize,
    otherwise: fn() -> ValueRefusal,
) -> Result<Cow<'_, [Value]>, ValueRefusal> {
    let items = match argument.unmarked() {
        Value::List(items) => Cow::Borrowed(items.as_slice()),
        Value::Text(text) => text
            .chars()
            .map(|character| Value::from(character.to_string()))
            .collect(),
        Value::Map(entries) => entries.keys().cloned().map(Value::Text).collect(),
        other => {
            let mut refusal = otherwise();
            refusal.heat = Some(format!(
                "cannot unpack non-iterable {} object",
                pycompat::type_name(other)
            ));
            return Err(refusal);
        }
    };
    if items.len() == count {
        Ok(items)
    } else {
        Err(otherwise())
    }
}

fn select_form() -> ValueRefusal {
    let words = "Arguments to \"Fn::Select\" must be of the form [index, collection]";
    wrong_type(
        "`Fn::Select` takes a list of an index and a collection",
        words,
    )
}

fn select(argument: &Value, _: Version) -> FunctionResult {
    let items = unpack(argument, 2, select_form)?;
    let [index, collection] = &*items else {
        return Err(select_form());
    };
    let secret = argument.split_secret().1 || index.split_secret().1 || collection.split_secret().1;
    let (index, collection) = (index.unmarked(), collection.unmarked());
    if matches!(index, Value::Unknown(_)) || matches!(collection, Value::Unknown(_)) {
        return Ok(argument.as_unknown().tainted(secret));
    }
    let parsed;
    let collection = match collection {
        Value::Text(text) if text.is_empty() => return Ok(Value::from("").tainted(secret)),
        Value::Text(text) => {
            parsed = pycompat::parse_json(text).map_err(|error| {
                ValueRefusal::new(
                    &ARGUMENT_FORMAT,
                    "a text that something is selected from must be JSON",
                )
                .heat(format!("\"Fn::Select\": {error}"))
                .within(1)
            })?;
            &parsed
        }
        other => other,
    };
    let found = match (collection, index) {
        (Value::Null, _) => None,
        (Value::Map(entries), Value::Text(key)) => entries.get(key).cloned(),
        (Value::Map(_), other) => {
            let message = format!("the key of a map must be text, not {}", kind(other));
            return Err(wrong_type(message, "Index to \"Fn::Select\" must be a string").within(0));
        }
        (Value::List(items), other) => {
            let Ok(at) = pycompat::integer(other) else {
                let message = format!(
                    "the index of a list must be an integer, not {}",
                    kind(other)
                );
                return Err(
                    wrong_type(message, "Index to \"Fn::Select\" must be an integer").within(0),
                );
            };
            at.as_int()
                .and_then(|at| super::paths::at(items, at))
                .cloned()
        }
        (other, _) => {
            let message = format!(
                "`Fn::Select` selects from a list or a map, not from {}",
                kind(other)
            );
            return Err(
                wrong_type(message, "Arguments to Fn::Select not fully resolved").within(1),
            );
        }
    };
    Ok(found.unwrap_or_else(|| Value::from("")).tainted(secret))
}

fn split_words() -> ValueRefusal {
    let words =
        "Incorrect arguments to \"Fn::Split\" should be: \"Fn::Split\" : [ \",\", \"str1,str2\"]]";
    wrong_type("`Fn::Split` takes a list of a delimiter and a text", words)
}

fn split_form(argument: &Value) -> Result<Cow<'_, [Value]>, ValueRefusal> {
    match argument.unmarked() {
        Value::Text(_) | Value::Map(_) => Err(split_words()),
        _ => unpack(argument, 2, split_words),
    }
}

fn split(argument: &Value, _: Version) -> FunctionResult {
    let items = split_form(argument)?;
    let [delimiter, text] = &*items else {
        return Err(split_words());
    };
    let Value::Text(delimiter) = delimiter else {
        let message = format!(
            "the delimiter of `Fn::Split` must be text, not {}",
            kind(delimiter)
        );
        return Err(wrong_type(message, "Delimiter for Fn::Split must be string").within(0));
    };
    let Value::Text(text) = text else {
        let words = format!(
            "String to split must be string; got <class '{}'>",
            pycompat::type_name(text)
        );
        return Err(wrong_type(
            format!("`Fn::Split` splits text, not {}", kind(text)),
            words,
        )
        .within(1));
    };
    split_at(text, delimiter).map(Value::list)
}

fn replace_words() -> ValueRefusal {
    let example =
        "{\"Fn::Replace\": [ {\"$var1\": \"foo\", \"%var2%\": \"bar\"}, \"$var1 is %var2%\"]}";
    let words = format!("Incorrect arguments to \"Fn::Replace\" should be: {example}");
    wrong_type("`Fn::Replace` takes a list of a map and a text", words)
}

fn replace_form(argument: &Value) -> Result<Cow<'_, [Value]>, ValueRefusal> {
    let items = match argument.unmarked() {
        Value::Text(_) | Value::Map(_) => return Err(replace_words()),
        _ => unpack(argument, 2, replace_words)?,
    };
    if let Some(params) = items.first() {
        mapping("Fn::Replace", params).map_err(|refusal| refusal.within(0))?;
    }
    Ok(items)
}

fn replace(argument: &Value, _: Version) -> FunctionResult {
    let items = replace_form(argument)?;
    let [params, template] = &*items else {
        return Err(replace_words());
    };
    let Value::Text(template) = template else {
        let message = format!(
            "the template of `Fn::Replace` must be text, not {}",
            kind(template)
        );
        return Err(wrong_type(message, "\"Fn::Replace\" template must be a string").within(1));
    };
    let Value::Map(params) = params else {
        let message = format!(
            "the parameters of `Fn::Replace` must be a map, not {}",
            kind(params)
        );
        return Err(wrong_type(message, "\"Fn::Replace\" params must be a map").within(0));
    };
    let rules = ReplaceRules {
        name: "Fn::Replace",
        json: false,
        require_all: false,
        forbid_empty: false,
    };
    super::replace::replace(template, params, rules).map_err(|refusal| refusal.within(0))
}

fn members_words() -> ValueRefusal {
    let example = "\n            {'Fn::MemberListToMap': ['Name', 'Value',\n                                     ['.member.0.Name=key',\n                                      '.member.0.Value=door']]}\n            ";
    wrong_type(
        "`Fn::MemberListToMap` takes a list of the name of keys, the name of values, and a list of texts",
        format!("Wrong Arguments try: \"{example}\""),
    )
}

fn members_form(argument: &Value) -> Result<Cow<'_, [Value]>, ValueRefusal> {
    let items = unpack(argument, 3, members_words)?;
    for (at, what) in ["Key", "Value"].into_iter().enumerate() {
        if let Some(other) = items
            .get(at)
            .filter(|name| !matches!(name.unmarked(), Value::Text(_)))
        {
            let message = format!(
                "the name of {}s must be text, not {}",
                what.to_lowercase(),
                kind(other)
            );
            return Err(wrong_type(
                message,
                format!("Fn::MemberListToMap {what} Name must be a string"),
            )
            .within(at));
        }
    }
    Ok(items)
}

fn members(argument: &Value, _: Version) -> FunctionResult {
    let items = members_form(argument)?;
    let [Value::Text(key_name), Value::Text(value_name), list] = &*items else {
        return Err(members_words());
    };
    let list: Cow<'_, [Value]> = match list {
        Value::List(items) => Cow::Borrowed(items.as_slice()),
        Value::Map(entries) => entries.keys().cloned().map(Value::Text).collect(),
        Value::Text(text) => text
            .chars()
            .map(|character| Value::from(character.to_string()))
            .collect(),
        other => {
            let message = format!("the members must be a list of texts, not {}", kind(other));
            return Err(wrong_type(message, "Member list must be a list").within(2));
        }
    };
    let mut partials = Map::new();
    for (at, item) in list.iter().enumerate() {
        let Value::Text(text) = item else {
            let message = format!("a member must be text, not {}", kind(item));
            return Err(wrong_type(message, "Member list items must be strings")
                .within(at)
                .within(2));
        };
        let Some((key, value)) = text.split_once('=') else {
            let words =
                format!("dictionary update sequence element #{at} has length 1; 2 is required");
            let message = format!("the member `{text}` has no `=`");
            return Err(ValueRefusal::new(&ARGUMENT_FORMAT, message)
                .heat(words)
                .within(at)
                .within(2));
        };
        partials.insert(key.into(), Value::from(value));
    }
    // Members by number. Numbers may have any length and are compared numerically.
    let mut numbered: BTreeMap<(usize, &str), BTreeMap<&str, &Value>> = BTreeMap::new();
    for (key, value) in partials.iter() {
        if let Some((number, field)) = member(key) {
            numbered
                .entry((number.len(), number))
                .or_default()
                .insert(field, value);
        }
    }
    let mut map = Map::new();
    for fields in numbered.into_values() {
        if let (Some(Value::Text(key)), Some(value)) = (
            fields.get(key_name.as_ref()),
            fields.get(value_name.as_ref()),
        ) {
            map.insert(key.clone(), (*value).clone());
        }
    }
    Ok(Value::Map(map.into()))
}

/// The number, without leading zeros, and the field of `.member.NUMBER.FIELD`.
fn member(key: &Name) -> Option<(&str, &str)> {
    let (number, field) = key.strip_prefix(".member.")?.split_once('.')?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let field = field.split('\n').next().unwrap_or_default();
    digits.then(|| (number.trim_start_matches('0'), field))
}
