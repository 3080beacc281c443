//! Tests of `cyan test` through the binary. A case changes nothing outside of the program.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::place::{Place, ran};

const QUEUE: &str = "version: 2023-04-20
variables:
  name: {type: string, default: orders}
  delay: {type: integer, default: 7}
resources:
  queue:
    type: aws/sqs/queue
    spec: {queueName: \"${variables.name}\", delaySeconds: \"${variables.delay}\"}
exports:
  url: {type: string, field: resources.queue.spec.queueUrl}
";

/// A folder with the document and these cases for it.
fn with_cases(cases: &str) -> Place {
    let place = Place::with("queue.blueprint.yaml", QUEUE);
    place.write("queue.test.yaml", format!("cases:\n{cases}"));
    place
}

#[test]
fn a_case_passes_and_leaves_nothing_behind() {
    let place = with_cases(
        "  waits:\n    create: [queue]\n    assert: ${eq(resources.queue.spec.delaySeconds, 7)}\n",
    );
    let tested = place.ends(0, &["test"]);
    assert_eq!(tested.out, "1 passed, 0 failed\n");
    assert_eq!(tested.err, "");
    let names = std::fs::read_dir(place.path()).unwrap();
    assert_eq!(
        names.count(),
        2,
        "no state, no key and no object is written"
    );
}

#[test]
fn a_failed_case_is_a_line_with_its_place_and_both_values() {
    let place = with_cases(
        "  waits:
    spec: {queue: {delaySeconds: 8}}
    exports: {url: x}
    assert:
      - ${eq(resources.queue.spec.delaySeconds, 9)}
      - {value: '${resources.queue.spec.delaySeconds}', is: 10}
      - ${resources.quee}
  passes:
",
    );
    assert_eq!(
        place.ends(4, &["test"]).out,
        "failed queue.test.yaml:3:34 waits: `delaySeconds` of `queue` is 7, not 8
failed queue.test.yaml:4:20 waits: the export `url` is \"https://queue-e4790daa.sqs.example\", not \"x\"
failed queue.test.yaml:6:9 waits: the assertion is false: it compares 7 with 9
failed queue.test.yaml:7:17 waits: the value is 7, not 10
failed queue.test.yaml:8:9 waits: error[unknown-resource]: unknown resource `quee`
1 passed, 1 failed
"
    );
    let drawn = place.ends(4, &["test", "--verbose"]).err;
    assert!(
        drawn.contains("error[test-failed]: `delaySeconds`"),
        "{drawn}"
    );
}

#[test]
fn steps_update_replace_and_find_changes_from_outside() {
    let place = with_cases(
        "  lives:
    steps:
      - create: queue
      - inputs: {delay: 8}
        update: queue
        replace: []
      - inputs: {delay: 8}
        outside: {queue: {delaySeconds: 1}}
        drifted: queue
        vanished: []
        update: queue
      - inputs: {delay: 8}
        drifted: []
        unchanged: queue
      - inputs: {name: other}
        replace: queue
      - inputs: {name: other}
        outside: {queue: null}
        vanished: queue
        create: queue
  fails:
    steps:
      - outside: {queue: null}
      - create: queue
",
    );
    assert_eq!(
        place.ends(4, &["test"]).out,
        "failed queue.test.yaml:24:19 fails: there is no object of `queue`\n1 passed, 1 failed\n"
    );
}

#[test]
fn a_document_can_be_expected_to_be_refused() {
    let place = with_cases(
        "  by code: {inputs: {delay: long}, refused: type-mismatch}
  by text: {inputs: {delay: long}, refused: {message: delay}}
  not: {refused: type-mismatch}
  unexpectedly: {inputs: {delay: long}, create: queue}
",
    );
    let out = place.ends(4, &["test"]).out;
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(
        lines[0],
        "failed queue.test.yaml:4:9 not: nothing is refused; expected: `type-mismatch`"
    );
    assert!(
        lines[1].starts_with("failed queue.test.yaml:5:3 unexpectedly: error[type-mismatch]: "),
        "{out}"
    );
    assert_eq!(lines[2..], ["2 passed, 2 failed"]);
}

#[test]
fn answers_replace_generated_values() {
    let place = with_cases(
        "  by address: {answers: {queue: {queueUrl: https://q}}, exports: {url: https://q}}
  by type: {answers: {aws/sqs/queue: {queueUrl: https://q}}, exports: {url: https://q}}
  unknown: {answers: {quee: {queueUrl: https://q}}}
  isolated: {assert: '${not(eq(resources.queue.spec.queueUrl, \"https://q\"))}'}
",
    );
    assert_eq!(
        place.ends(4, &["test"]).out,
        "failed queue.test.yaml:4:23 unknown: there is no resource or type `quee` (did you mean `queue`?)\n3 passed, 1 failed\n"
    );
}

#[test]
fn the_environment_of_the_user_gives_no_inputs() {
    let place = with_cases("  waits: {assert: '${eq(variables.delay, 7)}'}\n");
    let mut command = place.cyan(&["test"]);
    command.env("CYAN_VAR_delay", "9");
    let tested = ran(command.output().unwrap());
    assert_eq!(tested.out, "1 passed, 0 failed\n", "{}", tested.err);
}

#[test]
fn secrets_need_no_key_and_are_not_shown() {
    let place = Place::with(
        "site.blueprint.yaml",
        "version: 2023-04-20\nvariables:\n  password: {type: string, secret: true}\nresources:\n  note: {type: test/data, spec: {input: \"${variables.password}\"}}\n",
    );
    place.write(
        "site.test.yaml",
        "inputs: {password: hidden}\ncases:\n  passes: {spec: {note: {input: hidden}}}\n  fails: {spec: {note: {input: other}}}\n",
    );
    let tested = place.ends(4, &["test", "--verbose"]);
    assert!(
        tested
            .out
            .contains("`input` of `note` is (secret), not \"other\"\n1 passed, 1 failed"),
        "{}",
        tested.out
    );
}

#[test]
fn cases_are_selected_by_their_names() {
    let place =
        with_cases("  one: {create: queue}\n  two: {delete: queue}\n  twice: {create: queue}\n");
    let tested = place.ends(0, &["test", "--only", "on", "--only", "twi"]);
    assert_eq!(tested.out, "2 passed, 0 failed\n");
    let none = place.ends(2, &["test", "--only", "three"]);
    assert!(
        none.err.contains("no case has `three` in its name"),
        "{}",
        none.err
    );
}

#[test]
fn results_are_written_as_data_and_as_junit() {
    let place = with_cases("  one: {create: queue}\n  <two>: {delete: queue}\n");
    let tested = place.ends(4, &["test", "--json", "--junit", "report.xml"]);
    let output: Json = serde_json::from_str(&tested.out).unwrap();
    let result = &output["result"];
    assert_eq!(result["summary"], json!({"passed": 1, "failed": 1}));
    assert_eq!(result["cases"][0]["passed"], json!(true));
    let failure = &result["cases"][1]["failures"][0];
    assert_eq!(failure["message"], json!("`queue` is created, not deleted"));
    assert_eq!(failure["place"]["start"]["line"], json!(3));
    let report = place.read("report.xml");
    for part in [
        "<testsuites tests=\"2\" failures=\"1\" errors=\"0\"",
        "<testcase classname=\"queue.test.yaml\" name=\"one\"",
        "name=\"&lt;two&gt;\"",
        "message=\"`queue` is created, not deleted\">queue.test.yaml:3:19</failure>",
    ] {
        assert!(report.contains(part), "{part}\n{report}");
    }
    // A report is replaced, another file is not.
    place.ends(4, &["test", "--junit", "report.xml"]);
    place.ends(1, &["test", "--junit", "queue.blueprint.yaml"]);
    assert_eq!(place.read("queue.blueprint.yaml"), QUEUE);
}

#[test]
fn a_test_file_finds_its_document() {
    const TEMPLATE: &str = "heat_template_version: wallaby\nresources:\n  name: {type: OS::Heat::Value, properties: {value: x}}\noutputs:\n  name: {value: {get_attr: [name, value]}}\n";
    const PROGRAM: &str =
        "name: app\nruntime: yaml\nvariables: {word: x}\noutputs: {word: \"${word}\"}\n";
    let place = with_cases("  one: {create: queue}\n");
    place.write("heat/stack.yaml", TEMPLATE);
    place.write(
        "heat/stack.test.yaml",
        "cases:
  a statement reads attributes:
    assert:
      - equals:
          - get_attr: [name, value]
          - x
      - not: {equals: [{get_attr: [name, value]}, y]}
      - and: [true, {or: [false, true]}]
  both sides are shown: {assert: {equals: [{get_attr: [name, value]}, z]}}
",
    );
    place.write("program/Pulumi.yaml", PROGRAM);
    // This configures the stack `test`; it is no test file.
    place.write("program/Pulumi.test.yaml", "config: {}\n");
    place.write(
        "program/app.test.yaml",
        "cases:\n  a: {instance: test, assert: {value: '${word}', is: x}, exports: {word: x}}\n",
    );
    place.write(
        "named/other.test.yaml",
        "document: ../queue.blueprint.yaml\ncases: {a: {create: queue}}\n",
    );
    assert_eq!(
        place.ends(4, &["test"]).out,
        "failed heat/stack.test.yaml:9:34 both sides are shown: the assertion is false: it compares \"x\" with \"z\"\n4 passed, 1 failed\n"
    );
    let named = place.ends(0, &["test", "queue.test.yaml", "program"]);
    assert_eq!(named.out, "2 passed, 0 failed\n");
}

#[test]
fn a_test_file_that_cannot_be_used_is_an_error_and_the_others_run() {
    let place = with_cases("  one: {create: queue}\n");
    place.write("lost/lost.test.yaml", "cases: {a: }\n");
    place.write(
        "wrong.test.yaml",
        "document: queue.blueprint.yaml\ncases: {a: {creates: queue}}\n",
    );
    let tested = place.ends(1, &["test"]);
    assert_eq!(tested.out, "1 passed, 0 failed\n");
    for part in [
        "`lost/lost.test.yaml` is about no document",
        "error[invalid-test]: a case has no `creates`",
        "did you mean `create`?",
    ] {
        assert!(tested.err.contains(part), "{part}\n{}", tested.err);
    }
    for (arguments, words) in [
        (
            ["test", "queue.blueprint.yaml"],
            "has not the name of a test file",
        ),
        (["test", "missing.test.yaml"], "missing.test.yaml"),
    ] {
        let refused = place.ends(1, &arguments);
        assert!(refused.err.contains(words), "{}", refused.err);
    }
    std::fs::create_dir(place.path().join("empty")).unwrap();
    let empty = place.ends(1, &["test", "empty"]);
    assert!(
        empty.err.contains("has no test file in it or below it"),
        "{}",
        empty.err
    );
}

#[test]
fn the_cases_of_the_examples_pass() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let place = Place::new();
    let mut command = place.cyan(&["test", "."]);
    command.current_dir(&examples);
    let tested = ran(command.output().unwrap());
    assert_eq!(tested.code, 0, "{}{}", tested.out, tested.err);
    for entry in std::fs::read_dir(&examples).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        if folder.is_dir() && !name.starts_with('.') {
            assert!(has_test(&folder), "{name} has no test file");
        }
    }
}

fn has_test(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        let is_test = path.to_string_lossy().ends_with(".test.yaml");
        is_test || path.is_dir() && has_test(&path)
    })
}
