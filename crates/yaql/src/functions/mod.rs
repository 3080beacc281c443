//! The table of all functions with their names, parameters, descriptions and examples.
//!
//! Operators, properties and the brackets of lists and maps are functions too, with names that no
//! expression can contain.

mod branching;
mod call_text;
mod comparison;
mod contexts;
mod formatting;
mod given;
mod lists;
mod maps;
mod numbers;
mod queries;
mod regex;
mod reshaping;
mod row;
mod selecting;
mod sequences;
mod sets;
mod text;
mod time;

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::FixedState;
use indexmap::IndexMap;

pub(crate) use given::{CallArguments, SuppliedArguments};
pub(crate) use row::FunctionCode;
pub use row::{CallForm, YaqlFunction};

use self::row::Row;
use crate::drawing::ExternalValue;
use crate::model::Datum;
use crate::signature;

const TABLES: [&[Row]; 15] = [
    branching::ROWS,
    comparison::ROWS,
    contexts::ROWS,
    formatting::ROWS,
    lists::ROWS,
    maps::ROWS,
    numbers::ROWS,
    queries::ROWS,
    regex::ROWS,
    reshaping::ROWS,
    selecting::ROWS,
    sequences::ROWS,
    sets::ROWS,
    text::ROWS,
    time::ROWS,
];

static FUNCTIONS: LazyLock<Vec<YaqlFunction>> = LazyLock::new(|| {
    let rows = TABLES.into_iter().flatten();
    rows.map(|row| YaqlFunction {
        name: row.name,
        how: row.how,
        parameters: signature::parse(row.signature).unwrap_or_default(),
        summary: row.summary,
        example: row.example,
        takes_rules: row.takes_rules,
        needs_text_format: row.needs_text_format,
        run: row.run,
    })
    .collect()
});

static BY_NAME: LazyLock<IndexMap<&'static str, Overloads, FixedState>> = LazyLock::new(|| {
    let mut plain: HashMap<&'static str, Vec<&'static YaqlFunction>> = HashMap::new();
    let mut methods: HashMap<&'static str, Vec<&'static YaqlFunction>> = HashMap::new();
    for function in FUNCTIONS.iter() {
        if function.how != CallForm::Method {
            plain.entry(function.name).or_default().push(function);
        }
        if matches!(function.how, CallForm::Method | CallForm::Both) {
            methods.entry(function.name).or_default().push(function);
        }
    }
    let mut all: IndexMap<&'static str, Overloads, FixedState> = IndexMap::default();
    for (name, functions) in plain {
        all.entry(name).or_default().plain = Vec::leak(functions);
    }
    for (name, functions) in methods {
        all.entry(name).or_default().method = Vec::leak(functions);
    }
    all
});

/// All functions in the order of the table. A name has one entry for each overload.
pub fn functions() -> &'static [YaqlFunction] {
    &FUNCTIONS
}

/// The functions with one name.
#[derive(Clone, Copy, Default)]
pub(crate) struct Overloads {
    /// The functions that are called as a function.
    pub(crate) plain: &'static [&'static YaqlFunction],
    /// The functions that are called as a method.
    pub(crate) method: &'static [&'static YaqlFunction],
}

/// Returns the functions with a name; underscores at the end of the name are ignored.
pub(crate) fn overloads(name: &str) -> Overloads {
    overloads_at(entry(name))
}

/// The index of a name in the table of names; `None` for an unknown name.
pub(crate) fn entry(name: &str) -> Option<usize> {
    BY_NAME.get_index_of(name.trim_end_matches('_'))
}

/// Returns the functions at an index in the table of names; no functions for `None`.
pub(crate) fn overloads_at(entry: Option<usize>) -> Overloads {
    entry
        .and_then(|at| BY_NAME.get_index(at))
        .map(|(_, overloads)| *overloads)
        .unwrap_or_default()
}

/// The value that a function needs from the caller.
pub(crate) fn draws(name: &str) -> Option<ExternalValue> {
    match name {
        "now" => Some(ExternalValue::Now),
        "random" => Some(ExternalValue::Random),
        _ => None,
    }
}

/// The help for an unknown function or method.
pub(crate) fn help(name: &str, as_method: bool) -> Option<String> {
    let known = overloads(name);
    if as_method && !known.plain.is_empty() {
        return Some(format!("call it plainly: `{name}(..)`"));
    }
    if !as_method && !known.method.is_empty() {
        return Some(format!("call it as a method: `x.{name}(..)`"));
    }
    let lower = name.to_lowercase();
    let near = FUNCTIONS
        .iter()
        .find(|function| function.name != name && function.name.to_lowercase() == lower)
        .or_else(|| {
            FUNCTIONS
                .iter()
                .find(|function| is_one_edit_apart(function.name, name))
        })?;
    Some(format!("write `{}`", near.name))
}

/// Whether two names of at least three letters differ by one letter: another one, or one more.
fn is_one_edit_apart(known: &str, written: &str) -> bool {
    let (known, written): (Vec<char>, Vec<char>) =
        (known.chars().collect(), written.chars().collect());
    if known.len().min(written.len()) < 3 || known.len().abs_diff(written.len()) > 1 {
        return false;
    }
    let same = known
        .iter()
        .zip(&written)
        .take_while(|(a, b)| a == b)
        .count();
    let after = |name: &[char], other: &[char]| same + usize::from(name.len() >= other.len());
    known.get(after(&known, &written)..) == written.get(after(&written, &known)..)
}

/// The help for a function that does not take the arguments.
pub(crate) fn help_for_kinds(name: &str, receiver: Option<&Datum>) -> Option<String> {
    let text = matches!(receiver, Some(Datum::Text(_)));
    (name == "format" && text)
        .then(|| "put texts together with `+` or `concat(..)`, numbers through `str(..)`".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_valid_signature_and_description() {
        for row in TABLES.into_iter().flatten() {
            assert!(
                signature::parse(row.signature).is_some(),
                "{}: {}",
                row.name,
                row.signature
            );
            let places = signature::parse(row.signature)
                .unwrap_or_default()
                .into_iter()
                .map(|one| one.place);
            assert!(
                places.is_sorted_by_key(|place| place as u8),
                "{}: {}",
                row.name,
                row.signature
            );
            assert!(row.summary.ends_with('.'), "{}: {}", row.name, row.summary);
            assert!(!row.example.0.is_empty(), "{}", row.name);
        }
    }

    #[test]
    fn overloads_of_a_name_agree_about_rules() {
        for overloads in BY_NAME.values() {
            for functions in [overloads.plain, overloads.method] {
                assert!(
                    functions
                        .iter()
                        .all(|one| one.takes_rules == functions[0].takes_rules),
                    "{}",
                    functions[0].name
                );
            }
        }
    }

    #[test]
    fn every_example_evaluates_to_its_value() {
        for function in functions() {
            let (expression, value) = function.example;
            let expected = pycompat::parse_json(value)
                .unwrap_or_else(|error| panic!("{expression}: {error:?}"));
            let data = blueprint::Value::map([("data", blueprint::Value::Null)]);
            let limits = crate::EvaluationLimits {
                text_format: function.needs_text_format,
                ..crate::EvaluationLimits::default()
            };
            let found = crate::Program::compile(expression)
                .map_err(crate::EvaluationStop::Failed)
                .and_then(|program| program.evaluate(&data, &limits, &mut Drawn));
            match found {
                Ok(found) => assert_eq!(found, expected, "{expression}"),
                Err(stop) => panic!("{expression}: {stop:?}"),
            }
        }
    }

    struct Drawn;

    impl crate::ExternalValues for Drawn {
        fn stored_value(
            &mut self,
            _: crate::DrawSite,
            what: ExternalValue,
        ) -> Option<blueprint::Value> {
            Some(match what {
                ExternalValue::Now => blueprint::Value::Int(1_577_934_245_000_000),
                ExternalValue::Random => blueprint::Value::Float(0.5),
            })
        }
    }
}
