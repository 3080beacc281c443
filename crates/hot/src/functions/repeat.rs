//! `repeat`.
//!
//! The result has a copy of the template for each combination of values. In a copy, placeholders
//! are replaced by substring replacement, one placeholder after the other: each replacement works
//! on the result of the previous ones.

use std::cell::Cell;

use blueprint::{Map, Name, Value};
use expr::codes::ARGUMENT_RANGE;
use memchr::memmem::Finder;

use super::function::{
    FunctionResult, HotFunction, PartialArgument, example, example_in, items, kind, meant_key,
    wrong_type,
};
use crate::refusal::ValueRefusal;
use crate::version::Version;

pub(super) const FUNCTIONS: &[HotFunction] = &[HotFunction {
    name: "repeat",
    since: Version::V2015_04_30,
    until: None,
    in_conditions: None,
    in_values: true,
    form,
    call: repeat,
    parts: PartialArgument::Leaves,
    docs: "`{template, for_each, permutations}`: a list with a copy of the template for every combination of the values of `for_each`, or \
           for all in step where `permutations` is false. Each key of `for_each` is replaced in every text of the copy, in keys of maps \
           too. Values are texts: the items of a list, or the keys of a map.",
    examples: &[
        example(
            r#"{"template": {"k%x%": "%x%%y%"}, "for_each": {"%x%": ["a", "b"], "%y%": ["c", "d"]}}"#,
            r#"[{"ka": "ac"}, {"ka": "ad"}, {"kb": "bc"}, {"kb": "bd"}]"#,
        ),
        example(
            r#"{"template": "%x%%y%", "for_each": {"%x%": ["a", "b"], "%y%": ["c", "d"]}, "permutations": false}"#,
            r#"["ac", "bd"]"#,
        ),
        example(
            r#"{"template": "x y", "for_each": {"x": ["y"], "y": ["z"]}}"#,
            r#"["z z"]"#,
        ),
        example(
            r#"{"template": "v", "for_each": {"v": {"a": 1, "b": 2}}}"#,
            r#"["a", "b"]"#,
        ),
        example(r#"{"template": "v", "for_each": {"v": null}}"#, "[]"),
        example(
            r#"{"template": ["v", 1, null], "for_each": {"v": ["a"]}}"#,
            r#"[["a", 1, null]]"#,
        ),
        example(r#"{"template": 5, "for_each": {"v": [1, 2]}}"#, "[5, 5]"),
        example(
            r#"{"template": "ab", "for_each": {"": ["-"]}}"#,
            r#"["-a-b-"]"#,
        ),
        example(
            r#"{"template": "v", "for_each": {"v": ["a"], "w": ["b"], "x": null}, "permutations": false}"#,
            "[]",
        ),
        example(
            r#"{"template": "none", "for_each": {"v": [1]}}"#,
            "! argument-type",
        ),
        example(
            r#"{"template": "v", "for_each": {"v": "ab"}}"#,
            "! argument-type",
        ),
        example(r#"{"template": "v", "for_each": {}}"#, "! argument-type"),
        example(r#"{"template": "v", "for_each": ["a"]}"#, "! argument-type"),
        example(
            r#"{"template": "v", "for_each": {"v": ["a"]}, "permutations": "no"}"#,
            "! argument-type",
        ),
        example(
            r#"{"template": "v", "for_each": {"v": {"a": 1}}, "permutations": false}"#,
            "! argument-type",
        ),
        example(
            r#"{"template": "v", "for_each": {"v": ["a"], "w": ["b", "c"]}, "permutations": false}"#,
            "! argument-range",
        ),
        example(r#"{"template": "v"}"#, "! argument-type"),
        example("[]", "! argument-type"),
        example_in(
            Version::V2015_10_15,
            r#"{"template": "v", "for_each": {"v": {"a": 1}}}"#,
            "! argument-type",
        ),
        example_in(
            Version::V2016_10_14,
            r#"{"template": "v", "for_each": {"v": ["a"]}, "permutations": "no"}"#,
            r#"["a"]"#,
        ),
    ],
}];

/// The maximum length of the resulting list.
const MOST: usize = 1_000_000;

struct RepeatArguments<'a> {
    template: &'a Value,
    for_each: &'a Value,
    /// Whether all combinations of values are used. Otherwise the lists are walked in step.
    permutations: bool,
}

fn parse(argument: &Value, version: Version) -> Result<RepeatArguments<'_>, ValueRefusal> {
    let Some(entries) = argument.as_map() else {
        let message = format!(
            "`repeat` takes a map of `template` and `for_each`, not {}",
            kind(argument)
        );
        return Err(wrong_type(message, "Arguments to \"repeat\" must be a map"));
    };
    let (Some(for_each), Some(template)) = (entries.get("for_each"), entries.get("template"))
    else {
        let missing = if entries.contains_key("for_each") {
            "template"
        } else {
            "for_each"
        };
        let example = "repeat:\n              template: This is %var%\n              for_each:\n                %var%: ['a', 'b', 'c']";
        let words = pycompat::repr_text(&format!("\"repeat\" syntax should be {example}"));
        let refusal = wrong_type(format!("`repeat` needs `{missing}`"), words);
        return Err(meant_key(refusal, entries, missing));
    };
    let permutations = match entries.get("permutations").map(Value::unmarked) {
        Some(Value::Bool(permutations)) if version >= Version::V2017_09_01 => *permutations,
        // Checked as if all values were combined, which allows more.
        Some(Value::Unknown(_)) => true,
        Some(other) if version >= Version::V2017_09_01 => {
            let words = "\"permutations\" should be boolean type for repeat function.";
            let message = format!("`permutations` must be a boolean, not {}", kind(other));
            return Err(wrong_type(message, words).within("permutations"));
        }
        _ => true,
    };
    Ok(RepeatArguments {
        template,
        for_each,
        permutations,
    })
}

fn form(argument: &Value, version: Version) -> Result<(), ValueRefusal> {
    let parsed = parse(argument, version)?;
    match parsed.for_each.unmarked() {
        Value::Map(_) | Value::Unknown(_) => Ok(()),
        other => {
            let message = format!("`for_each` must be a map, not {}", kind(other));
            Err(wrong_type(
                message,
                "The \"for_each\" argument to \"repeat\" must contain a map",
            )
            .within("for_each"))
        }
    }
}

fn repeat(argument: &Value, version: Version) -> FunctionResult {
    counted(argument, version, &mut 0)
}

/// Computes `repeat`, and adds the bytes of all intermediate copies to `work`. These may be much
/// larger than the result.
pub(crate) fn counted(argument: &Value, version: Version, work: &mut usize) -> FunctionResult {
    let RepeatArguments {
        template,
        for_each,
        permutations,
    } = parse(argument, version)?;
    let unknown = || Ok(argument.as_unknown().tainted(argument.has_secret()));
    let entries = match for_each.unmarked() {
        Value::Unknown(_) => return unknown(),
        Value::Map(entries) => entries,
        other => {
            let words = format!(
                "'{}' object has no attribute 'items'",
                pycompat::type_name(other)
            );
            return Err(wrong_type(
                format!("`for_each` must be a map, not {}", kind(other)),
                words,
            )
            .within("for_each"));
        }
    };
    if entries.is_empty() {
        let words = "not enough values to unpack (expected 2, got 0)";
        return Err(wrong_type("`for_each` is empty", words).within("for_each"));
    }
    let mut secret = argument.split_secret().1 || for_each.split_secret().1;
    // What is known is checked although the result is not known yet.
    let mut is_open = argument.get("permutations").is_some_and(Value::is_unknown);
    let mut loops = Vec::with_capacity(entries.len());
    let mut lengths = Vec::new();
    for (key, value) in entries.iter() {
        secret |= value.split_secret().1;
        if value.is_unknown() {
            is_open = true;
            continue;
        }
        let values = values(key, value, permutations, version)?;
        if !value.is_null() {
            lengths.push((key, values.len()));
        }
        loops.push(Loop {
            key,
            finder: Finder::new(key.as_bytes()),
            values,
        });
    }
    if let (false, Some((first, length))) = (permutations, lengths.first())
        && let Some((other, differs)) = lengths.iter().find(|(_, other)| other != length)
    {
        let message = format!(
            "`{first}` has {length} values and `{other}` has {differs}; in step they must be as many"
        );
        let words = "For repeat, the length of for_each values should be equal if no nested loop.";
        return Err(ValueRefusal::new(&ARGUMENT_RANGE, message)
            .heat(words)
            .within(other.as_ref())
            .within("for_each"));
    }
    if is_open {
        return unknown();
    }
    let turns = if permutations {
        loops.iter().try_fold(1_usize, |product, one| {
            product.checked_mul(one.values.len())
        })
    } else {
        loops.iter().map(|one| one.values.len()).min()
    };
    let Some(turns) = turns.filter(|turns| *turns <= MOST) else {
        let message = format!("`repeat` would make more than {MOST} items");
        let refusal = ValueRefusal::new(&ARGUMENT_RANGE, message).within("for_each");
        return Err(refusal.help("repeat over fewer values"));
    };
    let left = Cell::new(expr::MAX_VALUE_BYTES);
    let mut copies = Vec::with_capacity(turns);
    let mut picked = vec![0; loops.len()];
    for turn in 0..turns {
        // The last loop runs fastest.
        let mut rest = turn;
        for (at, one) in loops.iter().enumerate().rev() {
            picked[at] = if permutations {
                rest % one.values.len()
            } else {
                turn
            };
            rest /= if permutations { one.values.len() } else { 1 };
        }
        match (Copying {
            loops: &loops,
            picked: &picked,
            bytes_left: &left,
        })
        .copy(template)
        {
            Ok(copy) => copies.push(copy),
            Err(refusal) => {
                // A mistake in a value gives a better message than the excess size, unless many
                // values are wrong.
                *work += (expr::MAX_VALUE_BYTES - left.get()) / 8;
                return Err(refusal);
            }
        }
    }
    *work += expr::MAX_VALUE_BYTES - left.get();
    Ok(Value::list(copies).tainted(secret))
}

/// A placeholder with its values, in order.
struct Loop<'a> {
    key: &'a Name,
    finder: Finder<'a>,
    values: Vec<Value>,
}

impl Loop<'_> {
    /// The byte positions of the placeholder in a text, without overlaps. An empty placeholder is
    /// before each character and at the end.
    fn places(&self, text: &str) -> Vec<usize> {
        match self.key.is_empty() {
            true => text
                .char_indices()
                .map(|(at, _)| at)
                .chain([text.len()])
                .collect(),
            false => self.finder.find_iter(text.as_bytes()).collect(),
        }
    }
}

/// The text with `value` instead of `length` bytes at each of these places.
fn replaced(text: &str, length: usize, places: &[usize], value: &str) -> String {
    let mut written = String::with_capacity(text.len() + places.len() * value.len());
    let mut from = 0;
    for at in places {
        written.push_str(&text[from..*at]);
        written.push_str(value);
        from = at + length;
    }
    written.push_str(&text[from..]);
    written
}

/// The values of a placeholder.
fn values(
    key: &Name,
    value: &Value,
    permutations: bool,
    version: Version,
) -> Result<Vec<Value>, ValueRefusal> {
    let maps = permutations && version >= Version::V2016_10_14;
    match (items(value), value.unmarked()) {
        (Some(items), _) => Ok(items.to_vec()),
        (_, Value::Null) => Ok(Vec::new()),
        (_, Value::Map(entries)) if maps => Ok(entries.keys().cloned().map(Value::Text).collect()),
        (_, other) => {
            let wanted = if maps { "lists or maps" } else { "lists" };
            let words =
                format!("The values of the \"for_each\" argument to \"repeat\" must be {wanted}");
            let message = format!(
                "the values of `{key}` must be {wanted}, not {}",
                kind(other)
            );
            let refusal = wrong_type(message, words)
                .within(key.as_ref())
                .within("for_each");
            Err(match other {
                Value::Map(_) if permutations => {
                    refusal.help("use `heat_template_version: 2016-10-14` or later")
                }
                _ => refusal,
            })
        }
    }
}

/// Creates one copy of the template.
struct Copying<'a> {
    loops: &'a [Loop<'a>],
    /// The number of the current value of each loop.
    picked: &'a [usize],
    /// The number of bytes that all copies may still use.
    bytes_left: &'a Cell<usize>,
}

impl Copying<'_> {
    fn charge(&self, bytes: usize) -> Result<(), ValueRefusal> {
        let left = self.bytes_left.get().checked_sub(bytes);
        self.bytes_left.set(left.unwrap_or(0));
        left.map(|_| ())
            .ok_or_else(|| super::function::too_large("repeat"))
    }

    fn copy(&self, template: &Value) -> FunctionResult {
        self.charge(std::mem::size_of::<Value>())?;
        match template {
            Value::Text(text) => self.replace(text),
            Value::List(items) => {
                let items: Result<Vec<Value>, ValueRefusal> =
                    items.iter().map(|item| self.copy(item)).collect();
                items.map(Value::list)
            }
            Value::Map(entries) => {
                let mut copy = Map::with_capacity(entries.len());
                let (mut secret, mut unknown) = (false, None);
                for (key, value) in entries.iter() {
                    let (key, value) = (self.replace(key)?, self.copy(value)?);
                    secret |= key.split_secret().1;
                    match key.unmarked() {
                        Value::Text(key) => {
                            copy.insert(key.clone(), value);
                        }
                        _ => unknown = Some(key.as_unknown()),
                    }
                }
                // A map with an unknown key is unknown.
                Ok(unknown
                    .unwrap_or_else(|| Value::Map(copy.into()))
                    .tainted(secret))
            }
            Value::Secret(inner) => self.copy(inner).map(Value::secret),
            other => Ok(other.clone()),
        }
    }

    fn replace(&self, text: &Name) -> FunctionResult {
        let (mut written, mut secret) = (None::<String>, false);
        for (one, at) in self.loops.iter().zip(self.picked) {
            let value = &one.values[*at];
            let current = written.as_deref().unwrap_or(text);
            let places = one.places(current);
            let occurs = !places.is_empty();
            match value.unmarked() {
                Value::Text(value) if occurs => {
                    // Each replacement works on the result of the previous ones, so the text can
                    // double each time.
                    self.charge(
                        current
                            .len()
                            .saturating_add(places.len().saturating_mul(value.len())),
                    )?;
                    written = Some(replaced(current, one.key.len(), &places, value));
                }
                Value::Text(_) => {}
                Value::Unknown(_) if occurs => {
                    return Ok(value.as_unknown().tainted(secret || value.split_secret().1));
                }
                Value::Unknown(_) => {}
                other => {
                    let words = format!(
                        "replace() argument 2 must be str, not {}",
                        pycompat::type_name(other)
                    );
                    let message = format!(
                        "the values of `{}` must be texts, not {}",
                        one.key,
                        kind(other)
                    );
                    let refusal = wrong_type(message, words).help("quote it");
                    return Err(refusal
                        .within(*at)
                        .within(one.key.as_ref())
                        .within("for_each"));
                }
            }
            secret |= occurs && value.split_secret().1;
        }
        let text = written.map_or_else(|| Value::Text(text.clone()), Value::from);
        Ok(text.tainted(secret))
    }
}
