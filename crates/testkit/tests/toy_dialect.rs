//! The toy dialect, which is added to the built-in ones without a change of other code: check,
//! stage, deploy and destroy.

use std::path::Path;
use std::sync::Arc;

use blueprint::{Field, IndexMap, Kind, Name, Schema, Type, Value};
use diag::Diagnostics;
use dialect::rules::{NativeSpec, SpecRules};
use dialect::{DialectRules, Dialects, DocumentSettings, SpecAt};
use engine::apply::Outcome;
use engine::discovery::documents_below;
use engine::{Given, Options};
use state::OperationOutcome;
use testkit::harness::{Harness, run_with_paused_clock, settings};
use testkit::toy::dialect::{TOY, ToyDialect};

/// The exports after a deploy, or the diagnostics.
type Deployed = Result<IndexMap<Name, Value>, Vec<String>>;

/// Deploys the first of these files, checks that a further plan has no steps, and destroys.
fn deployed(dialects: Dialects, set: DocumentSettings, files: &[(&str, &str)]) -> Deployed {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("it can be written");
    }
    run_with_paused_clock(deploy(folder.path(), dialects, set, files[0]))
}

async fn deploy(
    folder: &Path,
    dialects: Dialects,
    set: DocumentSettings,
    (root, text): (&str, &str),
) -> Deployed {
    let mut harness = Harness::with(
        folder.to_owned(),
        Vec::new(),
        vec![Arc::new(openstack::heat::provider())],
    );
    harness.dialects = dialects;
    harness.context.settings = set;
    let stage = harness
        .stage(root, text, Given::default(), Options::default())
        .await;
    let found = stage
        .diagnostics
        .iter()
        .map(|one| format!("{}: {}", one.code.name, one.message))
        .collect();
    let Some(staged) = stage.staged else {
        return Err(found);
    };
    let run = harness
        .run(staged, false, Vec::new(), settings(None, false))
        .await;
    assert!(matches!(
        run.outcome(),
        Some(Outcome {
            outcome: Some(OperationOutcome::Ready),
            ..
        })
    ));
    let again = harness
        .stage(root, text, Given::default(), Options::default())
        .await;
    let steps = again.staged.expect("it can be staged again").plan.steps;
    assert!(steps.iter().all(|step| step.action == engine::Action::None));
    let exports = harness.snapshot().await.exports;
    let stage = harness.stage_destroy(Options::default()).await;
    let run = harness
        .run(
            stage.staged.expect("it can be destroyed"),
            false,
            Vec::new(),
            settings(None, false),
        )
        .await;
    assert!(matches!(
        run.outcome(),
        Some(Outcome {
            outcome: Some(OperationOutcome::Gone),
            ..
        })
    ));
    assert!(harness.cloud().is_empty());
    Ok(exports)
}

fn with_toy() -> Dialects {
    testkit::dialects().with(&TOY)
}

const ROOT: &str = "\
toy: 1
given:
  size: 3
objects:
  disk: {is: test/data, input: $size}
shows:
  label: $disk.input
";

#[test]
fn document_with_native_rules_is_deployed_and_destroyed() {
    let exports = deployed(with_toy(), DocumentSettings::NONE, &[("main.yaml", ROOT)])
        .expect("it is deployed");
    assert_eq!(exports["label"], Value::Int(3));
}

#[test]
fn native_type_checks_find_mistakes() {
    let text = "toy: 1\nobjects:\n  note: {is: test/record, title: a, count: many, other: 1}\n";
    let found = deployed(with_toy(), DocumentSettings::NONE, &[("main.yaml", text)])
        .expect_err("it is refused");
    let codes: Vec<&str> = found
        .iter()
        .filter_map(|one| one.split(':').next())
        .collect();
    assert_eq!(codes, ["type-mismatch", "unknown-spec-field"], "{found:?}");
}

#[test]
fn document_is_deployed_as_a_child_of_a_native_document() {
    let root = "\
version: 2023-04-20
include:
  toy: {path: toy.yaml, variables: {size: 5}}
exports:
  label: {type: integer, field: children.toy.label}
";
    let exports = deployed(
        with_toy(),
        DocumentSettings::NONE,
        &[("main.yaml", root), ("toy.yaml", ROOT)],
    );
    assert_eq!(exports.expect("it is deployed")["label"], Value::Int(5));
}

#[test]
fn document_is_unknown_without_the_dialect() {
    let found = deployed(
        testkit::dialects(),
        DocumentSettings::NONE,
        &[("main.yaml", ROOT)],
    )
    .expect_err("it is refused");
    assert!(found[0].starts_with("unknown-dialect"), "{found:?}");
}

#[test]
fn document_is_found_in_a_folder_with_the_dialect() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("main.yaml"), ROOT).expect("it can be written");
    let found = |dialects: Dialects| {
        documents_below(folder.path(), &dialects)
            .expect("the folder can be read")
            .len()
    };
    assert_eq!((found(testkit::dialects()), found(with_toy())), (0, 1));
}

const WANTS: &str = "\
toy: 1
objects:
  note: {is: test/record, title: <title.txt}
  queue: {is: test/queue, fill: true}
shows:
  title: $note.title
  name: $queue.name
";

#[test]
fn wanted_files_settings_and_schemas_are_answered() {
    let files = [("main.yaml", WANTS), ("title.txt", "a title\n")];
    let exports = deployed(with_toy(), DocumentSettings::NONE, &files).expect("it is deployed");
    assert_eq!(
        (exports["title"].as_text(), exports["name"].as_text()),
        (Some("a title"), Some("name"))
    );
    let mut loud = DocumentSettings::NONE;
    with_toy()
        .set(&mut loud, "toy", &[("shout".into(), Value::Bool(true))])
        .expect("it can be set");
    let exports = deployed(with_toy(), loud, &files).expect("it is deployed");
    assert_eq!(exports["title"].as_text(), Some("A TITLE"));
}

#[test]
fn child_gets_its_own_answers() {
    let root = "\
version: 2023-04-20
include:
  toy: {path: toy.yaml}
exports:
  title: {type: string, field: children.toy.title}
";
    let files = [
        ("main.yaml", root),
        ("toy.yaml", WANTS),
        ("title.txt", "below"),
    ];
    let exports = deployed(with_toy(), DocumentSettings::NONE, &files).expect("it is deployed");
    assert_eq!(exports["title"].as_text(), Some("below"));
}

#[test]
fn missing_wanted_file_is_reported() {
    let found = deployed(with_toy(), DocumentSettings::NONE, &[("main.yaml", WANTS)])
        .expect_err("it is refused");
    assert_eq!(found, ["source-unreadable: `title.txt` cannot be read"]);
}

/// Accepts texts as integers. Other types follow the native rules.
struct TextsAreIntegers;

impl SpecRules for TextsAreIntegers {
    fn accepts(&self, found: &Type, wanted: &Field) -> bool {
        *found == Type::Text && matches!(wanted.kind, Kind::Integer)
    }

    fn fit(
        &self,
        value: &Value,
        at: SpecAt<'_>,
        schema: &Schema,
        native: NativeSpec<'_>,
        found: &mut Diagnostics,
    ) -> Value {
        let entries = value.as_map().into_iter().flat_map(|map| map.iter());
        let mut converted = Vec::new();
        for (name, value) in entries {
            let is_integer = schema
                .fields
                .get(name)
                .is_some_and(|field| matches!(field.kind, Kind::Integer));
            let value = match value.as_text().filter(|_| is_integer).map(str::parse) {
                None => value.clone(),
                Some(Ok(number)) => Value::Int(number),
                Some(Err(_)) => {
                    let diagnostic =
                        expr::codes::TYPE_MISMATCH.new(format!("`{name}` is no number"));
                    found.push(diagnostic.label(at.expr.span, "written in this"));
                    value.clone()
                }
            };
            converted.push((name.clone(), value));
        }
        native(&Value::map(converted), found)
    }
}

#[test]
fn coercion_of_the_dialect_comes_before_native_type_checks() {
    static COERCING: ToyDialect = ToyDialect {
        rules: DialectRules {
            specs: &TextsAreIntegers,
            ..DialectRules::NATIVE
        },
    };
    let text = "toy: 1\nobjects:\n  note: {is: test/record, title: a, count: '7'}\nshows: {count: $note.count}\n";
    let exports = deployed(
        testkit::dialects().with(&COERCING),
        DocumentSettings::NONE,
        &[("main.yaml", text)],
    );
    assert_eq!(exports.expect("it is deployed")["count"], Value::Int(7));
    // The dialect reports a text that is no number.
    let wrong = text.replace("'7'", "seven");
    let found = deployed(
        testkit::dialects().with(&COERCING),
        DocumentSettings::NONE,
        &[("main.yaml", wrong.as_str())],
    );
    assert!(found.expect_err("it is refused")[0].starts_with("type-mismatch"));
    // Other types are checked natively.
    let wrong = text.replace("title: a", "title: a, enabled: maybe");
    let found = deployed(
        testkit::dialects().with(&COERCING),
        DocumentSettings::NONE,
        &[("main.yaml", wrong.as_str())],
    );
    assert!(found.expect_err("it is refused")[0].starts_with("type-mismatch"));
}
