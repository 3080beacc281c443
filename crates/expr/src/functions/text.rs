//! Functions on text. Positions and lengths are in characters (Unicode scalar values), never in
//! bytes.

use blueprint::{Type, Value};

use super::define::{any_list, function, returns, text_or_list};
use crate::codes;
use crate::evaluate::{At, Fault, FunctionBody, MAX_VALUE_BYTES, bind, too_large};
use crate::function::FunctionDef;

pub(super) fn definitions() -> Vec<FunctionDef> {
    let mut definitions = editing();
    definitions.extend(searching());
    definitions
}

/// Functions that cut, replace, split and join.
fn editing() -> Vec<FunctionDef> {
    use Type::{Function, Int, Text};
    let text = || returns(Text);
    let texts = || Type::list(Text);
    vec![
        function(
            "substr",
            "The part of a text from `start` up to, but not including, `end`; without `end` up to its end.",
            text(),
        )
        .required("text", Text)
        .required("start", Int)
        .optional("end", Int)
        .example(r#"substr("hello", 0, 3)"#, r#""hel""#)
        .example(r#"substr("abc", 3)"#, r#""""#)
        .example(r#"substr("abc", 0, 4)"#, "! argument-range"),
        function("substr_g", "A function that takes the part of a text from `start` up to `end`.", returns(Function))
            .required("start", Int)
            .optional("end", Int)
            .returned_function(&[Text], Text)
            .example(r#"map(list("héllo"), substr_g(1, 2))"#, r#"["é"]"#),
        function("replace", "The text with every occurrence of `search` replaced, left to right.", text())
            .required("text", Text)
            .required("search", Text)
            .required("with", Text)
            .example(r#"replace("aaa", "aa", "b")"#, r#""ba""#)
            .example(r#"replace("x", "", "z")"#, "! argument-range"),
        function("replace_g", "A function that replaces every occurrence of `search` in a text.", returns(Function))
            .required("search", Text)
            .required("with", Text)
            .returned_function(&[Text], Text)
            .example(r#"map(list("http://a"), replace_g("http:", "https:"))"#, r#"["https://a"]"#),
        function("trim", "The text without white space at both ends.", text())
            .required("text", Text)
            .example(r#"trim("  a b ")"#, r#""a b""#)
            .example(r#"trim(" ")"#, r#""""#),
        function("trimprefix", "The text without the prefix, once; unchanged if it does not begin so.", text())
            .required("text", Text)
            .required("prefix", Text)
            .example(r#"trimprefix("xxa", "x")"#, r#""xa""#),
        function("trimprefix_g", "A function that takes a prefix off a text.", returns(Function))
            .required("prefix", Text)
            .returned_function(&[Text], Text)
            .example(r#"map(list("c/a"), trimprefix_g("c/"))"#, r#"["a"]"#),
        function("trimsuffix", "The text without the suffix, once; unchanged if it does not end so.", text())
            .required("text", Text)
            .required("suffix", Text)
            .example(r#"trimsuffix("h:80", ":81")"#, r#""h:80""#),
        function("trimsuffix_g", "A function that takes a suffix off a text.", returns(Function))
            .required("suffix", Text)
            .returned_function(&[Text], Text)
            .example(r#"map(list("a/c"), trimsuffix_g("/c"))"#, r#"["a"]"#),
        function(
            "split",
            "The parts of a text between delimiters, empty ones too; an empty delimiter gives the characters.",
            returns(texts()),
        )
        .required("text", Text)
        .required("delimiter", Text)
        .example(r#"split("a,,b", ",")"#, r#"["a","","b"]"#)
        .example(r#"split("", ",")"#, r#"[""]"#)
        .example(r#"split("añ", "")"#, r#"["a","ñ"]"#),
        function("split_g", "A function that splits a text at a delimiter.", returns(Function))
            .required("delimiter", Text)
            .returned_function(&[Text], texts())
            .example(r#"flatmap(list("a,b", "c"), split_g(","))"#, r#"["a","b","c"]"#),
        function("join", "The items as one text with a delimiter between them; `none` items are skipped.", text())
            .required("items", any_list())
            .required("delimiter", Text)
            .example(r#"join(list("a", "b"), "-")"#, r#""a-b""#)
            .example(r#"join(list(8080, 8081), ",")"#, r#""8080,8081""#)
            .example(r#"join(list(), ",")"#, r#""""#),
    ]
}

/// Functions that search a text, compare its start or end, or change its case.
fn searching() -> Vec<FunctionDef> {
    use Type::{Bool, Function, Int, Text};
    let text = || returns(Text);
    vec![
        function(
            "index",
            "The position of the first occurrence in characters, -1 if there is none.",
            returns(Int),
        )
        .required("text", Text)
        .required("search", Text)
        .example(r#"index("héllo", "l")"#, "2")
        .example(r#"index("a", "z")"#, "-1"),
        function(
            "last_index",
            "The position of the last occurrence in characters, -1 if there is none.",
            returns(Int),
        )
        .required("text", Text)
        .required("search", Text)
        .example(r#"last_index("héllo", "l")"#, "3"),
        function(
            "to_upper",
            "The text in upper case, by the full Unicode mapping.",
            text(),
        )
        .required("text", Text)
        .example(r#"to_upper("straße")"#, r#""STRASSE""#),
        function(
            "to_lower",
            "The text in lower case, by the full Unicode mapping.",
            text(),
        )
        .required("text", Text)
        .example(r#"to_lower("ÀB")"#, r#""àb""#),
        function(
            "has_prefix",
            "Whether the text begins so; an empty prefix always fits.",
            returns(Bool),
        )
        .required("text", Text)
        .required("prefix", Text)
        .example(r#"has_prefix("http://a", "http://")"#, "true"),
        function(
            "has_prefix_g",
            "A function that tells whether a text begins so.",
            returns(Function),
        )
        .required("prefix", Text)
        .returned_function(&[Text], Bool)
        .example(r#"filter(list("ab", "b"), has_prefix_g("a"))"#, r#"["ab"]"#),
        function(
            "has_suffix",
            "Whether the text ends so; an empty suffix always fits.",
            returns(Bool),
        )
        .required("text", Text)
        .required("suffix", Text)
        .example(r#"has_suffix("a", "b")"#, "false"),
        function(
            "has_suffix_g",
            "A function that tells whether a text ends so.",
            returns(Function),
        )
        .required("suffix", Text)
        .returned_function(&[Text], Bool)
        .example(
            r#"filter(list("ab", "b"), has_suffix_g("ab"))"#,
            r#"["ab"]"#,
        ),
        function(
            "contains",
            "Whether a text contains a text, or an array an equal item.",
            returns(Bool),
        )
        .required("where", text_or_list())
        .required("needle", Type::Any)
        .example(r#"contains("abc", "bc")"#, "true")
        .example("contains(list(1, 2), 2.0)", "true")
        .example(r#"contains("a", 1)"#, "! argument-type"),
        function(
            "contains_g",
            "A function that tells whether a text or an array contains this.",
            returns(Function),
        )
        .required("needle", Type::Any)
        .returned_function(&[text_or_list()], Bool)
        .example(
            r#"filter(list("x.dev", "y"), contains_g(".dev"))"#,
            r#"["x.dev"]"#,
        ),
    ]
}

pub(super) fn body(name: &str) -> Option<FunctionBody> {
    Some(match name {
        "substr" => FunctionBody::Plain(substr),
        "replace" => FunctionBody::Plain(replace),
        "trim" => FunctionBody::Plain(|arguments, _| Ok(text(arguments, 0).trim().into())),
        "trimprefix" => FunctionBody::Plain(|arguments, _| {
            let whole = text(arguments, 0);
            Ok(whole
                .strip_prefix(text(arguments, 1))
                .unwrap_or(whole)
                .into())
        }),
        "trimsuffix" => FunctionBody::Plain(|arguments, _| {
            let whole = text(arguments, 0);
            Ok(whole
                .strip_suffix(text(arguments, 1))
                .unwrap_or(whole)
                .into())
        }),
        "split" => FunctionBody::Plain(split),
        "join" => FunctionBody::Plain(join),
        "index" => FunctionBody::Plain(|arguments, _| {
            Ok(position(
                text(arguments, 0),
                text(arguments, 0).find(text(arguments, 1)),
            ))
        }),
        "last_index" => FunctionBody::Plain(|arguments, _| {
            Ok(position(
                text(arguments, 0),
                text(arguments, 0).rfind(text(arguments, 1)),
            ))
        }),
        "to_upper" => {
            FunctionBody::Plain(|arguments, _| Ok(text(arguments, 0).to_uppercase().into()))
        }
        "to_lower" => {
            FunctionBody::Plain(|arguments, _| Ok(text(arguments, 0).to_lowercase().into()))
        }
        "has_prefix" => FunctionBody::Plain(|arguments, _| {
            Ok(text(arguments, 0).starts_with(text(arguments, 1)).into())
        }),
        "has_suffix" => FunctionBody::Plain(|arguments, _| {
            Ok(text(arguments, 0).ends_with(text(arguments, 1)).into())
        }),
        "contains" => FunctionBody::Plain(contains),
        "substr_g" | "replace_g" | "trimprefix_g" | "trimsuffix_g" | "split_g" | "has_prefix_g"
        | "has_suffix_g" | "contains_g" => FunctionBody::Open(bind),
        _ => return None,
    })
}

/// The text of an argument. Other kinds have been refused before.
pub(super) fn text(arguments: &[Value], at: usize) -> &str {
    arguments.get(at).and_then(Value::as_text).unwrap_or("")
}

fn substr(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    let whole = text(arguments, 0);
    let length = whole.chars().count() as i64;
    let start = arguments.get(1).and_then(Value::as_int).unwrap_or(0);
    let end = arguments.get(2).and_then(Value::as_int).unwrap_or(length);
    let outside = |at: usize, what: &str, position: i64| {
        Fault::new(
            &codes::ARGUMENT_RANGE,
            At::Argument(at),
            format!("`{what}` is {position}, outside of the text"),
        )
        .label(format!("the text has {length} characters"))
    };
    if !(0..=length).contains(&start) {
        return Err(outside(1, "start", start));
    }
    if !(0..=length).contains(&end) {
        return Err(outside(2, "end", end));
    }
    if end < start {
        return Err(Fault::new(
            &codes::ARGUMENT_RANGE,
            At::Argument(2),
            format!("`end` is {end}, before `start`"),
        )
        .label(format!("`start` is {start}")));
    }
    let part: String = whole
        .chars()
        .skip(start as usize)
        .take((end - start) as usize)
        .collect();
    Ok(part.into())
}

fn replace(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    let (whole, search, with) = (text(arguments, 0), text(arguments, 1), text(arguments, 2));
    if search.is_empty() {
        return Err(Fault::new(
            &codes::ARGUMENT_RANGE,
            At::Argument(1),
            "there is nothing to search for",
        )
        .label("an empty text is everywhere"));
    }
    let found = whole.matches(search).count();
    let kept = whole.len() - found * search.len();
    if found.saturating_mul(with.len()).saturating_add(kept) > MAX_VALUE_BYTES {
        return Err(too_large(&crate::evaluate::bytes(MAX_VALUE_BYTES)));
    }
    Ok(whole.replace(search, with).into())
}

fn split(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    let (whole, delimiter) = (text(arguments, 0), text(arguments, 1));
    let mut items = Vec::new();
    let mut size = 0;
    let mut add = |part: &str| {
        size += part.len() + std::mem::size_of::<Value>();
        items.push(Value::text(part));
        if size > MAX_VALUE_BYTES {
            Err(too_large(&crate::evaluate::bytes(MAX_VALUE_BYTES)))
        } else {
            Ok(())
        }
    };
    if delimiter.is_empty() {
        let mut buffer = [0; 4];
        whole
            .chars()
            .try_for_each(|c| add(c.encode_utf8(&mut buffer)))?;
    } else {
        whole.split(delimiter).try_for_each(add)?;
    }
    Ok(Value::list(items))
}

fn join(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    let delimiter = text(arguments, 1);
    let mut joined = String::new();
    let mut first = true;
    for (at, item) in arguments
        .first()
        .and_then(Value::as_list)
        .unwrap_or_default()
        .iter()
        .enumerate()
    {
        if item.is_null() {
            continue;
        }
        let part = match crate::to_text(item) {
            Some(Ok(part)) => part,
            Some(Err(_)) => {
                return Err(Fault::new(
                    &codes::NOT_UTF8,
                    At::Argument(0),
                    format!("item {at} is bytes that are not text"),
                ));
            }
            None => {
                let message = format!(
                    "`join` needs scalars, item {at} is of kind {}",
                    item.kind_word()
                );
                return Err(Fault::new(&codes::ARGUMENT_TYPE, At::Argument(0), message)
                    .help("join each inner array on its own, or use `jsonencode`"));
            }
        };
        if !first {
            joined.push_str(delimiter);
        }
        first = false;
        joined.push_str(part.as_text().unwrap_or(""));
        if joined.len() > MAX_VALUE_BYTES {
            return Err(too_large(&crate::evaluate::bytes(MAX_VALUE_BYTES)));
        }
    }
    Ok(joined.into())
}

fn position(whole: &str, found: Option<usize>) -> Value {
    let characters = found
        .and_then(|at| whole.get(..at))
        .map(|before| before.chars().count() as i64);
    Value::Int(characters.unwrap_or(-1))
}

fn contains(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    let (Some(place), Some(needle)) = (arguments.first(), arguments.get(1)) else {
        return Ok(Value::Null);
    };
    if let Some(items) = place.as_list() {
        return Ok(items
            .iter()
            .any(|item| super::logic::equal(item, needle))
            .into());
    }
    match needle.as_text() {
        Some(needle) => Ok(text(arguments, 0).contains(needle).into()),
        None => Err(Fault::new(
            &codes::ARGUMENT_TYPE,
            At::Argument(1),
            format!(
                "a string can only contain a string, not one of kind {}",
                needle.kind_word()
            ),
        )
        .label("a string is needed here")),
    }
}
