//! What a template gives, in a form that can be compared: maps by their sorted keys, `1` and `1.0`
//! equal, integers exact.

use blueprint::Value;
use jsonpath::{FailureClass, MissingKeys, PathTemplate};
use serde_json::Value as Json;

use crate::RandomCase;
use crate::documents;

/// The results of each part of a template with their text, or why there are none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    Results {
        results: Vec<Vec<String>>,
        text: String,
    },
    Failure(String),
    /// A limit that client-go does not have.
    Limit,
}

impl Outcome {
    /// What this crate makes of a case.
    pub(crate) fn of(case: &RandomCase) -> Outcome {
        let template = match PathTemplate::parse(&case.template) {
            Ok(template) => template,
            Err(mistake) => return failure(mistake.class, &mistake.message),
        };
        let document = documents::value(&case.document);
        let missing = match case.allows_missing_keys {
            true => MissingKeys::Allowed,
            false => MissingKeys::Refused,
        };
        let results = template.results(&document, missing);
        let text = template.text(&document, missing);
        match results.and_then(|results| Ok((results, text?))) {
            Ok((results, text)) => Outcome::Results {
                results: of_parts(results.iter().map(Vec::as_slice)),
                text: text.as_text().unwrap().to_owned(),
            },
            Err(stopped) => failure(stopped.class, &stopped.message),
        }
    }

    /// What the program with client-go answers.
    pub(crate) fn of_answer(answer: &Json) -> Outcome {
        if let Some(class) = answer.get("class").and_then(Json::as_str) {
            return Outcome::Failure(class.to_owned());
        }
        let answer = documents::value(answer);
        let parts = answer.get("results").and_then(Value::as_list).unwrap();
        Outcome::Results {
            results: of_parts(parts.iter().map(|part| part.as_list().unwrap())),
            text: answer
                .get("text")
                .and_then(Value::as_text)
                .unwrap()
                .to_owned(),
        }
    }

    /// The outcome without the order of results and of the characters of the text.
    pub(crate) fn sorted(&self) -> Outcome {
        let Outcome::Results { results, text } = self else {
            return self.clone();
        };
        let mut results = results.clone();
        for part in &mut results {
            part.sort();
        }
        results.sort();
        let mut characters: Vec<char> = text.chars().collect();
        characters.sort_unstable();
        Outcome::Results {
            results,
            text: characters.into_iter().collect(),
        }
    }
}

fn failure(class: FailureClass, message: &str) -> Outcome {
    if message.contains("more than 16 ")
        || message.contains("more than 32 ")
        || message.contains("more than 1000000 ")
    {
        return Outcome::Limit;
    }
    let class = match class {
        FailureClass::Parse => "parse",
        FailureClass::Missing => "missing",
        FailureClass::Bounds => "bounds",
        FailureClass::NotAList => "not-a-list",
        FailureClass::Compare => "compare",
        FailureClass::Evaluate => "evaluate",
        FailureClass::Empty | FailureClass::Many | FailureClass::SeveralQueries => {
            panic!("a template does not fail as {class:?}")
        }
    };
    Outcome::Failure(class.to_owned())
}

fn of_parts<'a>(parts: impl Iterator<Item = &'a [Value]>) -> Vec<Vec<String>> {
    parts
        .map(|part| part.iter().map(normal).collect())
        .collect()
}

/// A value as a text that equal values share.
fn normal(value: &Value) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        Value::Float(number) => normal_float(*number),
        Value::Text(text) => format!("{text:?}"),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(normal).collect();
            format!("[{}]", items.join(","))
        }
        Value::Map(entries) => {
            let mut entries: Vec<String> = entries
                .iter()
                .map(|(key, entry)| format!("{key:?}:{}", normal(entry)))
                .collect();
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
        other => format!("{other:?}"),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "whole numbers in this range are integers"
)]
fn normal_float(number: f64) -> String {
    let is_whole = number.fract() == 0.0 && number.abs() < 9e18;
    match is_whole {
        true => (number as i64).to_string(),
        false => format!("{number:e}"),
    }
}
