//! Templates of ytt: ytt's own file tests and the recorded cases.

use std::time::Duration;

use blueprint::{Map, Value};
use ytt::{Limits, Mistake, Template, TextTemplate};

use crate::pack;

/// What a template gives: documents, or a mistake.
type Answer = Result<Vec<Value>, Mistake>;

/// Runs a case in a thread with a small stack: a panic, an overflow of time and a wrong answer fail
/// it.
fn within_limits(case: impl FnOnce() -> Answer + Send + 'static) -> Result<Answer, String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new()
        .stack_size(8 << 20)
        .spawn(move || {
            let _ = sender.send(case());
        });
    let thread = thread.map_err(|error| format!("no thread: {error}"))?;
    match receiver.recv_timeout(Duration::from_secs(10)) {
        Ok(answer) => Ok(answer),
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => Err("runs longer than 10 s".into()),
        Err(_) => {
            let _ = thread.join();
            Err("panics".into())
        }
    }
}

/// The documents of a text without code.
fn documents(text: &str) -> Result<Vec<Value>, String> {
    let read = Template::parse(text).and_then(|text| text.render(&Map::new(), &Limits::default()));
    read.map_err(|mistake| format!("the expected output is no YAML: {mistake}"))
}

fn values(name: &str) -> Map {
    let Some(folder) = pack::folder() else {
        return Map::new();
    };
    let all = pack::read(&folder.join("ytt/values.json"));
    let values = all.get(name).and_then(Value::as_map);
    values.cloned().unwrap_or_default()
}

/// Whether a case is among those that `CYAN_CASES` names, if it does.
fn is_selected(id: &str) -> bool {
    match std::env::var("CYAN_CASES") {
        Ok(cases) => cases.split(',').any(|case| case == id),
        Err(_) => true,
    }
}

fn render(template: &str, values: &Map) -> Answer {
    Template::parse(template)?.render(values, &Limits::default())
}

fn compare_documents(answer: Answer, expected: &str) -> Result<(), String> {
    let found = answer.map_err(|mistake| format!("fails: {mistake}"))?;
    let expected = documents(expected)?;
    let (found, expected) = (Value::list(found), Value::list(expected));
    match pack::equal(&found, &expected) {
        true => Ok(()),
        false => Err(format!("gives {found}, expected {expected}")),
    }
}

/// Whether a text is the expected one. The line break before the separator of a file test is part
/// of some sources, that behind it is missing in some answers.
fn is_text(found: &[Value], expected: &str) -> bool {
    let Some(found) = found.first().and_then(Value::as_text) else {
        return false;
    };
    found == expected
        || found.strip_suffix('\n') == Some(expected)
        || found.strip_prefix('\n') == Some(expected)
}

fn file_test(case: &Value) -> Result<(), String> {
    let text = |key: &str| case.get(key).and_then(Value::as_text);
    let source = text("source").unwrap_or_default().to_owned();
    let values = values("filetests");
    if pack::id(case).starts_with("texttemplate") {
        let answer = within_limits(move || {
            let text = TextTemplate::parse(&source)?.render(&values, &Limits::default())?;
            Ok(vec![text])
        })?;
        return match (answer, text("expected")) {
            (Ok(found), Some(expected)) if is_text(&found, expected) => Ok(()),
            (Ok(found), Some(expected)) => Err(format!("gives {found:?}, expected {expected:?}")),
            (Ok(found), None) => Err(format!("gives {found:?}, expected an error")),
            (Err(_), None) => Ok(()),
            (Err(mistake), Some(_)) => Err(format!("fails: {mistake}")),
        };
    }
    let answer = within_limits(move || render(&source, &values))?;
    let command = case.get("command");
    let output = command.and_then(|command| command.get("output"));
    let has_error = command.and_then(|command| command.get("error")).is_some();
    let expected = output.and_then(Value::as_text).or(text("expected"));
    match (has_error, expected) {
        (false, Some(expected)) => compare_documents(answer, expected),
        _ if answer.is_err() => Ok(()),
        _ => Err(format!("gives {answer:?}, expected an error")),
    }
}

#[test]
fn file_tests_of_ytt_give_their_answers() {
    let Some(cases) = pack::cases("ytt/filetests.json") else {
        return;
    };
    let mut tally = pack::Tally::new("ytt/filetests");
    for case in &cases {
        let id = pack::id(case);
        let counts = id.starts_with("yamltemplate") || id.starts_with("texttemplate");
        if counts && is_selected(id) {
            tally.count(id, file_test(case));
        }
    }
    tally.finish(95);
}

/// The line that an error text names for the innermost place.
fn line(error: &str) -> Option<u32> {
    let places = error.split("stdin.yml:").skip(1);
    let mut lines = places.filter_map(|place| {
        let (digits, rest) = place.split_once(' ')?;
        rest.starts_with("| ").then(|| digits.parse().ok())?
    });
    lines.next()
}

fn recorded_case(case: &Value) -> Result<(), String> {
    let text = |key: &str| case.get(key).and_then(Value::as_text);
    let template = text("template").unwrap_or_default().to_owned();
    let values = values(text("values").unwrap_or_default());
    let answer = within_limits(move || render(&template, &values))?;
    let expect = case.get("expect").cloned().unwrap_or_default();
    if let Some(output) = expect.get("output").and_then(Value::as_text) {
        return compare_documents(answer, output);
    }
    let Err(mistake) = answer else {
        return Err(format!("gives {answer:?}, expected an error"));
    };
    let error = expect.get("error").and_then(Value::as_text);
    match error.and_then(line) {
        Some(line) if line != mistake.line => Err(format!(
            "names line {}, expected {line}: {mistake}",
            mistake.line
        )),
        _ => Ok(()),
    }
}

#[test]
fn recorded_templates_give_their_answers() {
    let Some(cases) = pack::cases("ytt/cases.json") else {
        return;
    };
    let mut tally = pack::Tally::new("ytt/cases");
    for case in &cases {
        if is_selected(pack::id(case)) {
            tally.count(pack::id(case), recorded_case(case));
        }
    }
    tally.finish(98);
}
