//! `str_replace`, `str_replace_strict` and `str_replace_vstrict`.
//!
//! Placeholders are tried longest first, then by text order. The text is cut at each occurrence, so
//! inserted values are not searched again, and a longer placeholder takes precedence over an
//! overlapping shorter one.

use aho_corasick::{AhoCorasick, MatchKind};
use blueprint::{Map, Name, Value};
use expr::codes::{ARGUMENT_FORMAT, ARGUMENT_RANGE};

use super::codes::{EMPTY_VALUE, PLACEHOLDER_MISSING};
use super::function::{
    FunctionResult, HotFunction, PartialArgument, example, example_in, kind, meant_key, wrong_type,
};
use crate::refusal::ValueRefusal;
use crate::version::Version;

pub(super) const FUNCTIONS: &[HotFunction] = &[
    HotFunction {
        name: "str_replace",
        since: Version::V2013_05_23,
        until: None,
        in_conditions: None,
        in_values: true,
        form: |argument, _| parse("str_replace", argument).map(|_| ()),
        call: |argument, version| call("str_replace", argument, version),
        parts: PartialArgument::Whole,
        docs: "`{template, params}`: the template with each placeholder, a key of `params`, replaced by its value. Longer \
               placeholders win; inserted text is not searched again. Null is an empty text, lists and maps become JSON.",
        examples: &[
            example(
                r#"{"template": "ab a", "params": {"a": "ab", "ab": "x"}}"#,
                r#""x ab""#,
            ),
            example(r#"{"template": "v", "params": {"v": true}}"#, r#""True""#),
            example(
                r#"{"template": "v w", "params": {"v": 2.0, "w": null}}"#,
                r#""2.0 ""#,
            ),
            example(
                r#"{"template": "v", "params": {"v": {"b": ["é"], "a": null}}}"#,
                r#""{\"a\": null, \"b\": [\"\\u00e9\"]}""#,
            ),
            example(
                r#"{"template": "aab", "params": {"ab": 1, "aa": 2}}"#,
                r#""2b""#,
            ),
            example(
                r#"{"template": "abcd", "params": {"ab": 1, "bcd": 2}}"#,
                r#""a2""#,
            ),
            example(r#"{"template": "a", "params": {}}"#, r#""a""#),
            example(r#"{"template": null, "params": {}}"#, "! argument-type"),
            example(
                r#"{"template": "a", "params": {"": "x"}}"#,
                "! argument-format",
            ),
            example(r#"{"template": "a"}"#, "! argument-type"),
            example(r#"{"template": "a", "params": ["x"]}"#, "! argument-type"),
            example_in(
                Version::V2015_04_30,
                r#"{"template": "v", "params": {"v": ["a"]}}"#,
                "! argument-type",
            ),
        ],
    },
    HotFunction {
        name: "str_replace_strict",
        since: Version::V2017_02_24,
        until: None,
        in_conditions: None,
        in_values: true,
        form: |argument, _| parse("str_replace_strict", argument).map(|_| ()),
        call: |argument, version| call("str_replace_strict", argument, version),
        parts: PartialArgument::Whole,
        docs: "As `str_replace`; a placeholder that does not occur in the template is an error, also one that occurs only inside of \
               a longer one or in an inserted value.",
        examples: &[
            example(
                r#"{"template": "a b", "params": {"a": 1, "b": ""}}"#,
                r#""1 ""#,
            ),
            example(
                r#"{"template": "a", "params": {"a": "y", "y": 1, "zz": 2, "xx": 3}}"#,
                "! placeholder-missing",
            ),
            example(
                r#"{"template": "ab", "params": {"a": 1, "ab": 2}}"#,
                "! placeholder-missing",
            ),
        ],
    },
    HotFunction {
        name: "str_replace_vstrict",
        since: Version::V2017_09_01,
        until: None,
        in_conditions: None,
        in_values: true,
        form: |argument, _| parse("str_replace_vstrict", argument).map(|_| ()),
        call: |argument, version| call("str_replace_vstrict", argument, version),
        parts: PartialArgument::Whole,
        docs: "As `str_replace_strict`; a value that is null or an empty text, list or map is an error. `0` and `false` are fine.",
        examples: &[
            example(
                r#"{"template": "a b", "params": {"a": 0, "b": false}}"#,
                r#""0 False""#,
            ),
            example(r#"{"template": "a", "params": {"a": ""}}"#, "! empty-value"),
            example(r#"{"template": "a", "params": {"a": []}}"#, "! empty-value"),
            example(
                r#"{"template": "a", "params": {"b": 1}}"#,
                "! placeholder-missing",
            ),
        ],
    },
];

/// The parameters and the template.
fn parse<'a>(name: &str, argument: &'a Value) -> Result<(&'a Value, &'a Value), ValueRefusal> {
    let Some(entries) = argument.as_map() else {
        let message = format!("`{name}` takes a map of `template` and `params`");
        return Err(wrong_type(
            message,
            format!("Arguments to \"{name}\" must be a map"),
        ));
    };
    let (Some(params), Some(template)) = (entries.get("params"), entries.get("template")) else {
        let missing = if entries.contains_key("params") {
            "template"
        } else {
            "params"
        };
        let example = format!(
            "{name}:\n              template: This is var1 template var2\n              params:\n                var1: a\n                var2: string"
        );
        let words = pycompat::repr_text(&format!("\"{name}\" syntax should be {example}"));
        let refusal = wrong_type(format!("`{name}` needs `{missing}`"), words);
        return Err(meant_key(refusal, entries, missing));
    };
    mapping(name, params).map_err(|refusal| refusal.within("params"))?;
    Ok((params, template))
}

/// Refuses parameters that are neither a map nor a call.
pub(super) fn mapping(name: &str, params: &Value) -> Result<(), ValueRefusal> {
    match params.unmarked() {
        Value::Map(_) | Value::Unknown(_) => Ok(()),
        other => {
            let message = format!(
                "the parameters of `{name}` must be a map, not {}",
                kind(other)
            );
            Err(wrong_type(
                message,
                format!("\"{name}\" parameters must be a mapping"),
            ))
        }
    }
}

fn call(name: &str, argument: &Value, version: Version) -> FunctionResult {
    let (params, template) = parse(name, argument)?;
    let Value::Text(template) = template else {
        let message = format!(
            "the template of `{name}` must be text, not {}",
            kind(template)
        );
        return Err(
            wrong_type(message, format!("\"{name}\" template must be a string")).within("template"),
        );
    };
    let Value::Map(params) = params else {
        let message = format!(
            "the parameters of `{name}` must be a map, not {}",
            kind(params)
        );
        return Err(
            wrong_type(message, format!("\"{name}\" params must be a map")).within("params"),
        );
    };
    let rules = ReplaceRules {
        name,
        json: version >= Version::V2015_10_15,
        require_all: name != "str_replace",
        forbid_empty: name == "str_replace_vstrict",
    };
    replace(template, params, rules).map_err(|refusal| {
        if refusal.code.name == PLACEHOLDER_MISSING.name {
            refusal
        } else {
            refusal.within("params")
        }
    })
}

/// The differences between the functions.
#[derive(Clone, Copy)]
pub(super) struct ReplaceRules<'a> {
    /// The name of the function.
    pub(super) name: &'a str,
    /// Whether maps and lists are inserted as JSON.
    pub(super) json: bool,
    /// Whether every placeholder must occur.
    pub(super) require_all: bool,
    /// Whether every value must be present and not empty.
    pub(super) forbid_empty: bool,
}

/// The maximum number of placeholder occurrences, including overlapping ones.
const MOST_OCCURRENCES: usize = 4_000_000;

/// Replaces the placeholders of a template.
///
/// One pass finds all occurrences. Then each placeholder, longest first, takes its occurrences that
/// do not overlap with taken ones.
pub(super) fn replace(template: &str, params: &Map, rules: ReplaceRules<'_>) -> FunctionResult {
    let mut placeholders: Vec<_> = params.iter().collect();
    placeholders
        .sort_by_cached_key(|(key, _)| (std::cmp::Reverse(key.chars().count()), (*key).clone()));
    let mut values = Vec::with_capacity(placeholders.len());
    for (placeholder, value) in &placeholders {
        let written = written(placeholder, value, rules)
            .map_err(|refusal| refusal.within(placeholder.as_ref()))?;
        values.push(written);
        if placeholder.is_empty() {
            return Err(
                ValueRefusal::new(&ARGUMENT_FORMAT, "a placeholder is empty")
                    .heat("empty separator")
                    .within(placeholder.as_ref()),
            );
        }
    }
    let taken = occurrences(template, &placeholders, rules)?;
    let mut used = vec![false; placeholders.len()];
    taken.iter().for_each(|(_, number)| used[*number] = true);
    let absent: Vec<&str> = placeholders
        .iter()
        .zip(&used)
        .filter(|(_, used)| !**used)
        .map(|((key, _), _)| key.as_ref())
        .collect();
    if rules.require_all && !absent.is_empty() {
        let words = format!(
            "The following params were not found in the template: {}",
            absent.join(",")
        );
        let several = if absent.len() > 1 {
            "placeholders that do"
        } else {
            "a placeholder that does"
        };
        let listed = absent
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let message = format!(
            "`{}` has {several} not occur in the template: {listed}",
            rules.name
        );
        return Err(ValueRefusal::new(&PLACEHOLDER_MISSING, message).heat(words));
    }
    let put_in = taken.iter().map(|(_, number)| values[*number].len());
    let length = put_in.fold(template.len(), usize::saturating_add);
    super::function::within_bounds(rules.name, length)?;
    let mut out = String::with_capacity(length);
    let mut rest = 0;
    for (at, number) in taken {
        out.push_str(&template[rest..at]);
        out.push_str(&values[number]);
        rest = at + placeholders[number].0.len();
    }
    out.push_str(&template[rest..]);
    Ok(Value::from(out))
}

/// The replaced occurrences, in the order of the template: position and number of the placeholder.
fn occurrences(
    template: &str,
    placeholders: &[(&Name, &Value)],
    rules: ReplaceRules<'_>,
) -> Result<Vec<(usize, usize)>, ValueRefusal> {
    let keys = placeholders.iter().map(|(key, _)| key.as_bytes());
    let found = match AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .build(keys)
    {
        Ok(search) => search,
        Err(_) => return Err(super::function::too_large(rules.name)),
    };
    let mut all: Vec<(u32, u32)> = Vec::new();
    for one in found.find_overlapping_iter(template) {
        if all.len() >= MOST_OCCURRENCES {
            let message = format!(
                "the placeholders of `{}` occur more than {MOST_OCCURRENCES} times",
                rules.name
            );
            return Err(ValueRefusal::new(&ARGUMENT_RANGE, message).help("divide the template"));
        }
        all.push((one.pattern().as_u32(), one.start() as u32));
    }
    all.sort_unstable();
    // The bytes that are taken so far. A taken placeholder has at least as many characters as the
    // current one, so if they overlap, it covers the first or the last byte of the current one.
    let mut covered = vec![false; template.len()];
    let mut taken = Vec::new();
    for (number, at) in all {
        let (number, at) = (number as usize, at as usize);
        let end = at + placeholders[number].0.len();
        if !covered[at] && !covered[end - 1] {
            covered[at..end].fill(true);
            taken.push((at, number));
        }
    }
    taken.sort_unstable();
    Ok(taken)
}

/// The text that replaces a placeholder.
fn written(
    placeholder: &str,
    value: &Value,
    rules: ReplaceRules<'_>,
) -> Result<String, ValueRefusal> {
    let empty = match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ => false,
    };
    if rules.forbid_empty && empty {
        let words = format!(
            "{} has an undefined or empty value for param {placeholder}, must be a defined non-empty value",
            rules.name
        );
        return Err(ValueRefusal::new(
            &EMPTY_VALUE,
            format!("the value of `{placeholder}` is empty"),
        )
        .heat(words));
    }
    match value {
        Value::Null => Ok(String::new()),
        Value::List(_) | Value::Map(_) if rules.json => Ok(pycompat::json(value)),
        Value::List(_) | Value::Map(_) => {
            let name = rules.name;
            let words = format!(
                "\"{name}\" params must be strings or numbers, param {placeholder} is not valid"
            );
            let message = format!(
                "the value of `{placeholder}` must be text or a number, not {}",
                kind(value)
            );
            let help = "use `heat_template_version: 2015-10-15` or later, which puts lists and maps in as JSON";
            Err(wrong_type(message, words).help(help))
        }
        other => Ok(pycompat::text(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference implementation: cuts the template by one placeholder after the other.
    fn reference_replace(template: &str, params: &Map) -> String {
        let mut keys: Vec<&Name> = params.keys().collect();
        keys.sort_by_key(|key| (std::cmp::Reverse(key.chars().count()), (*key).clone()));
        let mut pieces = vec![(template.to_owned(), true)];
        for key in keys {
            let value = params.get(key).unwrap().as_text().unwrap().to_owned();
            pieces = pieces
                .into_iter()
                .flat_map(|(text, is_template)| {
                    if !is_template {
                        return vec![(text, false)];
                    }
                    let parts: Vec<&str> = text.split(key.as_ref()).collect();
                    let mut cut = Vec::new();
                    for (at, part) in parts.into_iter().enumerate() {
                        if at > 0 {
                            cut.push((value.clone(), false));
                        }
                        cut.push((part.to_owned(), true));
                    }
                    cut
                })
                .collect();
        }
        pieces.into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn single_pass_equals_the_reference_implementation() {
        let rules = ReplaceRules {
            name: "str_replace",
            json: true,
            require_all: false,
            forbid_empty: false,
        };
        let mut seed = 7_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..3000 {
            let mut text = |most: u64| -> String {
                (0..next(most))
                    .map(|_| ['a', 'b', 'é'][next(3) as usize])
                    .collect()
            };
            let template = text(24);
            let keys: Vec<String> = (0..4)
                .map(|_| text(5))
                .filter(|key| !key.is_empty())
                .collect();
            let params: Map = keys
                .iter()
                .enumerate()
                .map(|(at, key)| (key.as_str().into(), Value::from(format!("<{at}>"))))
                .collect();
            let gives = replace(&template, &params, rules).ok().unwrap();
            assert_eq!(
                gives.as_text(),
                Some(reference_replace(&template, &params).as_str()),
                "{template:?} {keys:?}"
            );
        }
    }

    #[test]
    fn oversized_result_is_refused() {
        let rules = ReplaceRules {
            name: "str_replace",
            json: true,
            require_all: false,
            forbid_empty: false,
        };
        let params: Map = [("a".into(), Value::from("x".repeat(1 << 16)))]
            .into_iter()
            .collect();
        assert!(replace(&"a".repeat(1 << 16), &params, rules).is_err());
    }
}
