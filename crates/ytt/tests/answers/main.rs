//! Compares templates with ytt itself: recorded answers, and random templates.
//!
//! `CYAN_TEST_YTT` names the program of the Go module `tests/peer` (`go build -o PROGRAM ./oracle`);
//! without it no random templates are compared, and the test says so. `CYAN_RANDOM_TEMPLATES` is
//! their number, or a range of seeds such as `500..900`. With `CYAN_DAMAGED` the templates have
//! mistakes, whose lines are compared.

mod generate;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use blueprint::{Map, Value};
use ytt::{Limits, Template, TextTemplate};

/// The data values of all templates; keys are sorted.
const VALUES: &str = r#"{
    "flag": true,
    "list": ["a", "b", "c"],
    "map": {"k1": "v1", "k2": 2, "nested": {"deep": [1, 2, {"x": null}]}},
    "name": "web-shop",
    "nul": null,
    "num": 1.5,
    "port": 8080,
    "ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443}],
    "text": "l1\nl2\n"
}"#;

struct Oracle {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Oracle {
    fn start(program: &str) -> Oracle {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        let input = child.stdin.take().expect("the input is a pipe");
        let output = BufReader::new(child.stdout.take().expect("the output is a pipe"));
        Oracle {
            child,
            input,
            output,
        }
    }

    /// The output of ytt, or its error; `None` if the template ends the program.
    fn answer(&mut self, template: &str) -> Option<Result<String, String>> {
        let values: serde_json::Value = serde_json::from_str(VALUES).expect("the values are JSON");
        let request = serde_json::json!({"template": template, "values": values});
        writeln!(self.input, "{request}").expect("the program reads");
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .expect("the program answers");
        let answer: serde_json::Value = serde_json::from_str(&line).ok()?;
        Some(
            match answer.get("output").and_then(|output| output.as_str()) {
                Some(output) => Ok(output.to_owned()),
                None => Err(answer["error"].as_str().unwrap_or_default().to_owned()),
            },
        )
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Float(number.as_f64().unwrap_or_default()),
        },
        serde_json::Value::String(text) => Value::text(text.as_str()),
        serde_json::Value::Array(items) => Value::list(items.iter().map(value)),
        serde_json::Value::Object(entries) => {
            let entries = entries.iter();
            Value::map(entries.map(|(key, entry)| (key.as_str(), value(entry))))
        }
    }
}

/// Whether two values are equal; the order of entries counts, whole floats are integers.
fn equal(one: &Value, other: &Value) -> bool {
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
                    .zip(others.iter())
                    .all(|(one, other)| one.0 == other.0 && equal(one.1, other.1))
        }
        _ => match (number(one), number(other)) {
            (Some(one), Some(other)) => {
                one == other
                    || (one.is_nan() && other.is_nan())
                    || (one - other).abs() <= 1e-12 * one.abs()
            }
            _ => one == other,
        },
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "numbers are compared as doubles"
)]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Decimal(text) => text.parse().ok(),
        _ => None,
    }
}

fn line(error: &str) -> Option<u32> {
    let places = error.split("stdin.yml:").skip(1);
    let mut lines = places.filter_map(|place| {
        let (digits, rest) = place.split_once(' ')?;
        rest.starts_with("| ").then(|| digits.parse().ok())?
    });
    lines.next()
}

/// Why the answers differ, if they do.
fn difference(template: &str, values: &Map, expected: &Result<String, String>) -> Option<String> {
    let found =
        Template::parse(template).and_then(|template| template.render(values, &Limits::default()));
    match (found, expected) {
        (Ok(mut found), Ok(expected)) => {
            // An empty list that is read again is an empty document.
            found.retain(|document| document.as_list().is_none_or(|items| !items.is_empty()));
            found.retain(|document| document.as_map().is_none_or(|map| !map.is_empty()));
            let read = Template::parse(expected)
                .and_then(|text| text.render(&Map::new(), &Limits::default()));
            let read = match read {
                Ok(read) => read,
                Err(mistake) => return Some(format!("unreadable: {mistake}\n{expected}")),
            };
            let (found, read) = (Value::list(found), Value::list(read));
            (!equal(&found, &read)).then(|| format!("found    {found}\nexpected {read}"))
        }
        (Err(mistake), Err(error)) => match line(error) {
            Some(line) if line != mistake.line => {
                Some(format!("found    {mistake}\nexpected line {line}: {error}"))
            }
            _ => None,
        },
        (Ok(found), Err(error)) => Some(format!(
            "found    {:?}\nexpected an error: {error}",
            Value::list(found)
        )),
        (Err(mistake), Ok(expected)) => Some(format!("found    {mistake}\nexpected\n{expected}")),
    }
}

#[test]
fn random_templates_give_the_answers_of_ytt() {
    let Ok(program) = std::env::var("CYAN_TEST_YTT") else {
        println!("random templates: CYAN_TEST_YTT is not set, nothing runs");
        return;
    };
    let wanted = std::env::var("CYAN_RANDOM_TEMPLATES").unwrap_or_else(|_| "100".into());
    let seeds = match wanted.split_once("..") {
        Some((from, to)) => from.parse().unwrap_or(0)..to.parse().unwrap_or(0),
        None => 0..wanted.parse().unwrap_or(100),
    };
    let mut oracle = Oracle::start(&program);
    let values = data_values();
    let (mut errors, mut crashes, mut differences) = (0, 0, 0);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let template = match std::env::var_os("CYAN_DAMAGED") {
            Some(_) => generate::damaged(seed),
            None => generate::template(seed),
        };
        let Some(expected) = oracle.answer(&template) else {
            oracle = Oracle::start(&program);
            crashes += 1;
            continue;
        };
        errors += u64::from(expected.is_err());
        if let Some(why) = difference(&template, &values, &expected) {
            differences += 1;
            println!("--- seed {seed}\n{template}\n{why}\n");
        }
    }
    println!(
        "random templates: {count}, {errors} with an error, {crashes} end ytt, {differences} different"
    );
    assert!(differences * 100 <= count, "at most 1 % may differ");
}

/// Needs no other program: damaged templates must end with documents or a mistake.
#[test]
fn damaged_templates_end() {
    let values = data_values();
    let limits = Limits {
        steps: 20_000,
        bytes: 1 << 20,
        ..Limits::default()
    };
    let count = std::env::var("CYAN_RANDOM_TEMPLATES").ok();
    let count = count.and_then(|count| count.parse().ok()).unwrap_or(300);
    for seed in 0..count {
        let text = generate::damaged(seed);
        if let Ok(template) = Template::parse(&text) {
            let _ = template.render(&values, &limits);
        }
        if let Ok(template) = TextTemplate::parse(&text) {
            let _ = template.render(&values, &limits);
        }
    }
}

/// Compares the templates of a file that `CYAN_TEMPLATES` names; lines `=====` separate them. With
/// `CYAN_RECORD` the answers are written to that file, as in `recorded.json`.
#[test]
fn templates_of_a_file_give_the_answers_of_ytt() {
    let files = (
        std::env::var("CYAN_TEST_YTT"),
        std::env::var("CYAN_TEMPLATES"),
    );
    let (Ok(program), Ok(file)) = files else {
        println!("templates of a file: CYAN_TEMPLATES is not set, nothing runs");
        return;
    };
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut oracle = Oracle::start(&program);
    let values = data_values();
    let mut recorded = Vec::new();
    let mut differences = 0;
    for template in text.split("=====\n") {
        let Some(expected) = oracle.answer(template) else {
            oracle = Oracle::start(&program);
            println!("ends ytt:\n{template}");
            continue;
        };
        if let Some(why) = difference(template, &values, &expected) {
            differences += 1;
            println!("---\n{template}\n{why}\n");
            continue;
        }
        recorded.push(match &expected {
            Ok(output) => serde_json::json!({"template": template, "output": output}),
            Err(error) => serde_json::json!({"template": template, "line": line(error)}),
        });
    }
    if let Ok(file) = std::env::var("CYAN_RECORD") {
        let lines: Vec<String> = recorded.iter().map(|case| format!("{case}")).collect();
        let text = format!("[\n{}\n]\n", lines.join(",\n"));
        std::fs::write(&file, text).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    assert_eq!(differences, 0, "templates are different");
}

/// Needs no other program: the answers that ytt gave to templates of this repository.
#[test]
fn recorded_templates_give_the_answers_of_ytt() {
    let cases: serde_json::Value =
        serde_json::from_str(include_str!("recorded.json")).expect("the record is JSON");
    let values = data_values();
    let cases = cases.as_array().expect("the record is a list");
    for case in cases {
        let template = case["template"].as_str().expect("a case has a template");
        let expected = match case["output"].as_str() {
            Some(output) => Ok(output.to_owned()),
            None => Err(match case["line"].as_u64() {
                Some(line) => format!("stdin.yml:{line} | "),
                None => String::new(),
            }),
        };
        if let Some(why) = difference(template, &values, &expected) {
            panic!("{template}\n{why}");
        }
    }
}

fn data_values() -> Map {
    let values = value(&serde_json::from_str(VALUES).expect("the values are JSON"));
    values.as_map().cloned().unwrap_or_default()
}
