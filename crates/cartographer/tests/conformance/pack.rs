//! The pack: its folder, its files as values, the cases that are judged otherwise, and the counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use blueprint::Value;

/// The folder of the pack; `None`, said aloud, if there is none.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = match std::env::var_os("CYAN_CONFORMANCE_CARTOGRAPHER") {
        Some(folder) => PathBuf::from(folder),
        None => {
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/cartographer")
        }
    };
    if folder.is_dir() {
        return Some(folder);
    }
    println!(
        "cartographer conformance: {} is missing, nothing runs",
        folder.display()
    );
    None
}

/// The cases of an area: the list in a file such as `templating/params.json`; `None`, said aloud, if
/// the pack or the file is missing.
pub(crate) fn cases(file: &str) -> Option<Vec<Value>> {
    let folder = folder()?;
    let path = folder.join(file);
    if !path.is_file() {
        println!("cartographer conformance: {file} is missing, nothing runs");
        return None;
    }
    let cases = read(&path);
    Some(cases.as_list().expect("the cases are a list").to_vec())
}

/// A file of JSON as a value.
pub(crate) fn read(path: &Path) -> Value {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let json: serde_json::Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    value(&json)
}

/// JSON as a value: whole numbers are integers, the others floats.
pub(crate) fn value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Float(number.as_f64().unwrap_or_default()),
        },
        serde_json::Value::String(text) => Value::text(text.as_str()),
        serde_json::Value::Array(items) => Value::list(items.iter().map(value)),
        serde_json::Value::Object(entries) => Value::map(
            entries
                .iter()
                .map(|(key, entry)| (key.as_str(), value(entry))),
        ),
    }
}

/// Whether two values are equal as the pack compares them: maps as sets of keys, `1` and `1.0` equal.
pub(crate) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::List(ones), Value::List(others)) => {
            ones.len() == others.len()
                && ones
                    .iter()
                    .zip(others.iter())
                    .all(|(one, other)| equal(one, other))
        }
        (Value::Map(ones), Value::Map(others)) => {
            ones.len() == others.len()
                && ones
                    .iter()
                    .all(|(key, one)| others.get(key).is_some_and(|other| equal(one, other)))
        }
        _ => match (number(one), number(other)) {
            (Some(one), Some(other)) => one == other,
            _ => one == other,
        },
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the pack compares numbers as doubles"
)]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Decimal(text) => text.parse().ok(),
        _ => None,
    }
}

/// The identifier of a case.
pub(crate) fn id(case: &Value) -> &str {
    case.get("id")
        .and_then(Value::as_text)
        .expect("a case has an id")
}

/// The results of the cases of one area.
pub(crate) struct Tally {
    area: &'static str,
    /// Why cases are judged otherwise: by the decisions of the project, in every mode.
    left_out: BTreeMap<String, String>,
    passed: usize,
    apart: usize,
    failures: Vec<String>,
}

impl Tally {
    /// No results yet.
    pub(crate) fn new(area: &'static str) -> Tally {
        let mut left_out = BTreeMap::new();
        let file = folder().map(|folder| folder.join("DEVIATIONS.json"));
        if let Some(file) = file.filter(|file| file.is_file()) {
            let deviations = read(&file);
            for (case, deviation) in deviations.as_map().into_iter().flat_map(|map| map.iter()) {
                if deviation.get("lint").is_none() {
                    let why = deviation.get("why").and_then(Value::as_text);
                    left_out.insert(case.to_string(), why.unwrap_or_default().to_owned());
                }
            }
        }
        Tally {
            area,
            left_out,
            passed: 0,
            apart: 0,
            failures: Vec::new(),
        }
    }

    /// Counts a case: `Err` says why it does not give the recorded answer.
    pub(crate) fn count(&mut self, id: &str, result: Result<(), String>) {
        match result {
            _ if self.left_out.contains_key(id) => self.apart += 1,
            Ok(()) => self.passed += 1,
            Err(why) => self.failures.push(format!("{id}: {why}")),
        }
    }

    /// Prints the failures and the counts, and fails below a share of passing cases in percent.
    pub(crate) fn finish(self, least: usize) {
        for failure in &self.failures {
            println!("{} {failure}", self.area);
        }
        let all = self.passed + self.failures.len();
        if self.apart > 0 {
            println!(
                "cartographer conformance {}: {} judged by decisions of the project",
                self.area, self.apart
            );
        }
        println!(
            "cartographer conformance {}: {} of {all}",
            self.area, self.passed
        );
        assert!(
            self.passed * 100 >= all * least,
            "{}: {} of {all} pass, at least {least} % must",
            self.area,
            self.passed
        );
    }
}
