//! Paths and templates of JSONPath on recorded documents.

use blueprint::Value;
use cartographer::views::OwnerView;
use jsonpath::{FailureClass, MissingKeys, Path, PathTemplate};

use crate::pack::{self, Tally};

#[test]
fn paths_and_templates_give_the_recorded_results() {
    let Some(cases) = pack::cases("jsonpath/cases.json") else {
        return;
    };
    let documents = pack::read(
        &pack::folder()
            .expect("the pack")
            .join("jsonpath/documents.json"),
    );
    let mut tally = Tally::new("jsonpath");
    for case in &cases {
        let name = case.get("doc").and_then(Value::as_text).expect("a name");
        let document = documents.get(name).expect("a document");
        let document = match case.get("numbers") {
            Some(_) => with_floats(document),
            None => document.clone(),
        };
        let result = match case.get("path").and_then(Value::as_text) {
            Some(path) => check_path(case, path, &document),
            None => check_template(case, &document),
        };
        tally.count(pack::id(case), result);
    }
    tally.finish(98);
}

#[expect(clippy::cast_precision_loss, reason = "the case has doubles")]
fn with_floats(value: &Value) -> Value {
    match value {
        Value::Int(number) => Value::Float(*number as f64),
        Value::List(items) => Value::list(items.iter().map(with_floats)),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), with_floats(value))),
        ),
        other => other.clone(),
    }
}

/// The class of a failure as the pack names it.
pub(crate) fn class(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Empty => "empty",
        FailureClass::Missing => "missing",
        FailureClass::Many => "many",
        FailureClass::SeveralQueries => "several-queries",
        FailureClass::Parse => "parse",
        FailureClass::Bounds => "bounds",
        FailureClass::NotAList => "not-a-list",
        FailureClass::Compare => "compare",
        FailureClass::Evaluate => "evaluate",
    }
}

fn check_path(case: &Value, path: &str, document: &Value) -> Result<(), String> {
    let found = Path::parse(path)
        .map_err(Into::into)
        .and_then(|path| match case.get("view") {
            Some(_) => OwnerView::new(document).find(&path),
            None => path.find(document),
        });
    match (found, case.get("class").and_then(Value::as_text)) {
        (Err(failure), Some(expected)) if class(failure.class) == expected => Ok(()),
        (Ok(value), None) if pack::equal(&value, case.get("value").unwrap_or(&Value::Null)) => {
            Ok(())
        }
        (found, expected) => Err(format!(
            "`{path}` gives {found:?} instead of {:?} {expected:?}",
            case.get("value")
        )),
    }
}

fn check_template(case: &Value, document: &Value) -> Result<(), String> {
    let text = case.get("template").and_then(Value::as_text).expect("text");
    let missing = match case.get("allowMissingKeys").and_then(Value::as_bool) {
        Some(true) => MissingKeys::Allowed,
        _ => MissingKeys::Refused,
    };
    let found = PathTemplate::parse(text)
        .map_err(|_| "parse")
        .and_then(|template| {
            let results = template.results(document, missing);
            let printed = template.text(document, missing);
            results
                .and_then(|results| Ok((results, printed?)))
                .map_err(|_| "evaluate")
        });
    let (results, printed) = match (found, case.get("class").and_then(Value::as_text)) {
        (Ok(found), None) => found,
        (Err(class), Some(expected)) if class == expected => return Ok(()),
        (found, expected) => return Err(format!("{text}: {found:?} instead of {expected:?}")),
    };
    let results: Vec<Value> = results.into_iter().map(Value::list).collect();
    let expected = case.get("results").and_then(Value::as_list).unwrap_or(&[]);
    let unordered = case.get("unordered").is_some();
    let are_equal = results.len() == expected.len()
        && results
            .iter()
            .zip(expected)
            .all(|(one, other)| same(one, other, unordered));
    if !are_equal {
        return Err(format!("{text}: {results:?} instead of {expected:?}"));
    }
    match case.get("text") {
        Some(expected) if *expected != printed => {
            Err(format!("{text}: prints {printed} instead of {expected}"))
        }
        _ => Ok(()),
    }
}

fn same(results: &Value, expected: &Value, unordered: bool) -> bool {
    let (Some(results), Some(expected)) = (results.as_list(), expected.as_list()) else {
        return false;
    };
    if results.len() != expected.len() {
        return false;
    }
    if !unordered {
        return results
            .iter()
            .zip(expected)
            .all(|(one, other)| pack::equal(one, other));
    }
    let mut rest: Vec<&Value> = expected.iter().collect();
    results.iter().all(|one| {
        let at = rest.iter().position(|other| pack::equal(one, other));
        at.map(|at| rest.swap_remove(at)).is_some()
    })
}
