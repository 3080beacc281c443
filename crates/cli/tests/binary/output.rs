//! Tests of the output streams and of machine output. Samples of format 1 are in `samples`.

use crate::place::{Place, ran};
use serde_json::{Value, json};

const TWO: &str = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n  b: {type: test/data, spec: {input: \"${a.spec.input}\"}}\nexports:\n  out: {type: integer, field: resources.b.spec.input}\n";

const SHOP: &str = "version: 2023-04-20\ninclude:\n  core: {path: core.yaml}\nresources:\n  reader: {type: test/data, spec: {input: \"${children.core.name}\"}}\n";
const CORE: &str = "version: 2023-04-20\nmetadata: {team: base}\ninclude:\n  inner: {path: inner.yaml}\nexports:\n  name: {type: string, field: children.inner.name}\n";
const INNER: &str = "version: 2023-04-20\nvalues:\n  key: {type: string, secret: true, value: hidden}\nresources:\n  thing: {type: test/data, spec: {input: {name: one, size: large}}}\nexports:\n  name: {type: string, field: thing.spec.input.name}\n  key: {type: string, field: values.key}\n";

/// Creates a document with a child that includes another child.
fn with_children() -> Place {
    let place = Place::with("shop.blueprint.yaml", SHOP);
    place.write("core.yaml", CORE);
    place.write("inner.yaml", INNER);
    place.ends(0, &["key", "new"]);
    place
}

#[test]
fn show_identifies_child_documents() {
    let place = with_children();
    let staged = place.ends(0, &["stage"]).out;
    assert!(
        staged.contains("+ core child document new\n+ core/inner child document new\n"),
        "{staged}"
    );
    place.ends(0, &["deploy", "-y"]);
    let whole = place.ends(0, &["show"]).out;
    assert!(
        whole.contains("core child document\n  name = \"one\"\n  metadata team = \"base\"\n"),
        "{whole}"
    );
    assert!(
        whole.contains("  key = (secret)\n") && !whole.contains("hidden"),
        "{whole}"
    );
    let one = place.ends(0, &["show", "core/inner", "--reveal"]).out;
    assert!(
        one.contains("  key = \"hidden\"\n") && one.contains("core/inner/thing"),
        "{one}"
    );
    place.write("inner.yaml", INNER.replace("one", "two"));
    let staged = place.ends(0, &["stage"]).out;
    assert!(
        !staged.contains("child document"),
        "its resources tell it: {staged}"
    );
    let staged = place.ends(0, &["stage", "-v"]).out;
    assert!(
        staged.contains(
            "~ core/inner child document changes\n  exports\n    ~ name: \"one\" -> \"two\"\n"
        ),
        "{staged}"
    );
    place.write(
        "shop.blueprint.yaml",
        "version: 2023-04-20\nresources:\n  reader: {type: test/data, spec: {input: one}}\n",
    );
    let staged = place.ends(0, &["stage"]).out;
    assert!(
        staged.contains("- core child document goes away, with everything in it\n"),
        "{staged}"
    );
}

/// Replaces values that differ from run to run by placeholders.
fn redact(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries.iter_mut() {
                let word = match key.as_str() {
                    "who" => "[WHO]",
                    "time" => "[TIME]",
                    "milliseconds" => "[MILLISECONDS]",
                    "id" | "provider_id" | "operation_id" if value.is_string() => "[ID]",
                    "began" | "at" | "created" | "since" | "until"
                        if value.as_str().is_some_and(|at| at.ends_with('Z')) =>
                    {
                        "[TIME]"
                    }
                    _ => {
                        redact(value);
                        continue;
                    }
                };
                *value = json!(word);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact),
        _ => {}
    }
}

/// Compares the lines with the sample, or writes it if `CYAN_WRITE_SAMPLES` is set.
#[track_caller]
fn sample(name: &str, lines: &str) {
    let mut text = String::new();
    for line in lines.lines() {
        let mut value: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        redact(&mut value);
        text.push_str(&format!("{value:#}\n"));
    }
    let path = format!("{}/tests/samples/{name}.json", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("CYAN_WRITE_SAMPLES").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        text, wanted,
        "{path} differs; read the new text, and write it with CYAN_WRITE_SAMPLES=1"
    );
}

#[test]
fn machine_output_has_its_samples() {
    let place = Place::with("shop.blueprint.yaml", TWO);
    sample("validate", &place.ends(0, &["validate", "--json"]).out);
    place.write(
        "shop.test.yaml",
        "cases:\n  passes: {create: [a, b]}\n  fails: {create: [a]}\n",
    );
    sample("test", &place.ends(4, &["test", "--json"]).out);
    sample("stage", &place.ends(0, &["stage", "--json"]).out);
    let deployed = place
        .ends(0, &["deploy", "--yes", "--json", "--parallelism", "1"])
        .out;
    sample("deploy", &deployed);
    sample("list", &place.ends(0, &["list", "--json"]).out);
    sample("show", &place.ends(0, &["show", "--json"]).out);
    sample("show-one", &place.ends(0, &["show", "b", "--json"]).out);
    sample("exports", &place.ends(0, &["exports", "--json"]).out);
    sample("history", &place.ends(0, &["history", "--json"]).out);
    let one = place.ends(0, &["history", "last", "--json"]).out;
    sample("history-one", &one);
    sample("drift", &place.ends(0, &["drift", "--json"]).out);
    sample("graph", &place.ends(0, &["graph", "--json"]).out);
    sample(
        "eval",
        &place
            .ends(0, &["eval", "resources.a.spec.input", "--json"])
            .out,
    );
    sample(
        "functions",
        &place.ends(0, &["functions", "substr", "--json"]).out,
    );
    sample(
        "types",
        &place.ends(0, &["types", "local/directory", "--json"]).out,
    );
    sample("unlock", &place.ends(0, &["unlock", "--json"]).out);
    sample("reconcile", &place.ends(0, &["reconcile", "--json"]).out);
    sample(
        "destroy",
        &place
            .ends(0, &["destroy", "--yes", "--json", "--parallelism", "1"])
            .out,
    );
    let place = with_children();
    sample("stage-children", &place.ends(0, &["stage", "--json"]).out);
    place.ends(0, &["deploy", "--yes", "--parallelism", "1"]);
    sample("show-children", &place.ends(0, &["show", "--json"]).out);
    sample(
        "show-child",
        &place.ends(0, &["show", "core", "--json"]).out,
    );
    place.write("inner.yaml", INNER.replace("one", "two"));
    sample(
        "stage-child-changed",
        &place.ends(0, &["stage", "--json"]).out,
    );
    let place = Place::with("shop.blueprint.yaml", &TWO.replace("test/data", "test/dta"));
    sample("diagnostics", &place.ends(1, &["validate", "--json"]).out);
    sample("deploy-refused", &place.ends(1, &["deploy", "--json"]).out);
    sample(
        "error",
        &place.ends(1, &["validate", "--json", "missing.yaml"]).out,
    );
}

#[test]
fn an_operation_ends_with_its_summary_even_if_it_never_began() {
    let place = Place::with("blueprint.yaml", TWO);
    let asked = place.ends(2, &["deploy", "--json"]).out;
    let last: Value = serde_json::from_str(asked.lines().last().unwrap()).unwrap();
    let time = &last["time"];
    let counts = json!({"created": 0, "updated": 0, "deleted": 0, "replaced": 0});
    let wanted = json!({"event": "summary", "exit": 2, "time": time});
    assert!(
        counts
            .as_object()
            .unwrap()
            .iter()
            .all(|(name, count)| last[name] == *count),
        "{last}"
    );
    assert!(
        wanted
            .as_object()
            .unwrap()
            .iter()
            .all(|(name, value)| last[name] == *value),
        "{last}"
    );
}

#[test]
fn results_go_to_stdout_and_all_else_to_stderr() {
    let place = Place::with("blueprint.yaml", TWO);
    let staged = place.ends(0, &["stage"]);
    assert_eq!(staged.err, "");
    let deployed = place.ends(0, &["deploy", "-y"]);
    assert!(
        deployed
            .err
            .contains("a: creating\na: created\nb: creating\nb: created\n"),
        "{}",
        deployed.err
    );
    assert!(!deployed.out.contains("creating"), "{}", deployed.out);
    let quiet = place.ends(0, &["destroy", "-y", "-q"]);
    assert_eq!(
        (quiet.out.as_str(), quiet.err.as_str()),
        ("0 created, 0 updated, 2 deleted\n", "")
    );
    place.write("blueprint.yaml", TWO.replace("test/data", "test/dta"));
    let wrong = place.ends(1, &["validate"]);
    assert!(wrong.out.is_empty() && wrong.err.contains("error[unknown-resource-type]"));
}

#[test]
fn colours_are_for_terminals_unless_configured_otherwise() {
    let place = Place::with("blueprint.yaml", TWO);
    let colored = |environment: &[(&str, &str)], flags: &[&str]| {
        let ran = ran(place
            .cyan(&[&["stage"], flags].concat())
            .envs(environment.iter().copied())
            .output()
            .unwrap());
        ran.out.contains('\u{1b}')
    };
    assert!(!colored(&[], &[]), "a pipe is no terminal");
    assert!(colored(&[], &["--color", "always"]));
    assert!(colored(&[("CLICOLOR_FORCE", "1")], &[]));
    assert!(!colored(&[("CLICOLOR_FORCE", "0")], &[]));
    assert!(!colored(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[]));
    assert!(colored(&[("NO_COLOR", "1")], &["--color", "always"]));
    assert!(!colored(&[("CLICOLOR_FORCE", "1")], &["--color", "never"]));
}

#[test]
fn closed_output_pipe_is_not_an_error() {
    let place = Place::with("blueprint.yaml", TWO);
    for arguments in [
        &["types"][..],
        &["explain"],
        &["--help"],
        &["deploy", "-y"],
        &["completions", "bash"],
    ] {
        let mut command = place.cyan(arguments);
        let mut child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ended = ran(child.wait_with_output().unwrap());
        assert_eq!(ended.code, 0, "{arguments:?}: {}", ended.err);
        assert!(!ended.err.contains("bug"), "{arguments:?}: {}", ended.err);
    }
    // The operation continued to its end.
    assert!(place.ends(0, &["list"]).out.contains("deploy ready"));
}

#[test]
fn pages_and_tables_print() {
    let place = Place::new();
    assert!(
        place
            .ends(0, &["explain", "unknown-key"])
            .out
            .starts_with("# unknown-key")
    );
    assert!(place.ends(0, &["explain"]).out.contains("plan-stale"));
    assert!(
        place
            .ends(2, &["explain", "unknown-kee"])
            .err
            .contains("did you mean `unknown-key`?")
    );
    assert!(
        place
            .ends(2, &["types", "local/fil"])
            .err
            .contains("did you mean `local/file`?")
    );
    let types = place.ends(0, &["types"]).out;
    assert!(
        types.contains("local/file") && !types.contains("test/"),
        "{types}"
    );
    assert!(place.ends(0, &["types", "--all"]).out.contains("test/data"));
    assert!(
        place
            .ends(0, &["types", "random"])
            .out
            .contains("random/pet")
    );
    assert!(place.ends(0, &["functions"]).out.contains("substr"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(place.ends(0, &["completions", shell]).out.contains("cyan"));
    }
    assert_eq!(
        place.ends(0, &["--version"]).out,
        format!("cyan {}\n", env!("CARGO_PKG_VERSION"))
    );
    place.ends(2, &[]);
    place.ends(2, &["bogus"]);
    for command in [
        "init",
        "validate",
        "stage",
        "deploy",
        "destroy",
        "reconcile",
        "rollback",
        "drift",
        "list",
        "show",
        "history",
    ] {
        let help = place.ends(0, &[command, "--help"]).out;
        assert!(help.contains("--simulate"), "{help}");
    }
}

#[test]
fn expression_is_evaluated_like_one_of_the_document() {
    let place = Place::new();
    assert_eq!(
        place.ends(0, &["eval", "to_upper(\"abc\")"]).out,
        "ABC\n",
        "no document is needed"
    );
    place.write("blueprint.yaml", TWO);
    assert_eq!(
        place.ends(0, &["eval", "resources.a.spec.id"]).out,
        "(known on deploy)\n"
    );
    assert_eq!(
        place.ends(0, &["eval", "${a.spec.input} and more"]).out,
        "1 and more\n"
    );
    place.ends(0, &["deploy", "-y"]);
    assert!(
        place
            .ends(0, &["eval", "resources.a.spec.id"])
            .out
            .starts_with("data-")
    );
    let wrong = place.ends(1, &["eval", "resources.nothing.spec"]);
    assert!(
        wrong.err.contains("error[unknown-resource]") && wrong.err.contains("expression:1:"),
        "{}",
        wrong.err
    );
    assert!(
        place
            .ends(1, &["eval", "1 +"])
            .err
            .contains("error[unexpected-token]")
    );
}

#[test]
fn warnings_are_errors_if_asked() {
    let place = Place::new();
    place.write("app.json", "{\"version\": \"2023-04-20\", \"resources\": {\"a\": {\"type\": \"test/data\", \"spec\": {\"input\": 1}}} /* why */}");
    let warned = place.ends(0, &["validate", "app.json"]);
    assert!(
        warned.err.contains("warning[json-extra-syntax]") && warned.out.contains("(1 warning)"),
        "{}{}",
        warned.out,
        warned.err
    );
    assert!(
        place
            .ends(1, &["validate", "--strict", "app.json"])
            .err
            .contains("error[json-extra-syntax]")
    );
    assert!(
        place
            .ends(0, &["validate", "-q", "app.json"])
            .err
            .is_empty()
    );
    place.write("cyan.toml", "strict = true\n");
    place.ends(1, &["stage", "app.json"]);
}

#[test]
fn a_graph_has_many_forms() {
    let place = Place::with("blueprint.yaml", TWO);
    assert_eq!(
        place.ends(0, &["graph"]).out,
        "a (test/data)\nb (test/data)\n  reads a\n"
    );
    assert!(
        place
            .ends(0, &["graph", "--format", "dot"])
            .out
            .contains("\"b\" -> \"a\";")
    );
    assert!(
        place
            .ends(0, &["graph", "--format", "mermaid"])
            .out
            .ends_with("  n1 --> n0\n")
    );
    let svg = place.ends(0, &["graph", "--format", "svg"]).out;
    assert!(
        svg.starts_with("<svg xmlns=") && svg.contains("<title>b reads a</title>"),
        "{svg}"
    );
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let place = Place::new();
    let page = place.ends(0, &["man"]).out;
    assert!(
        page.contains(".TH cyan 1") && page.contains("cyan\\-stage(1)"),
        "{page}"
    );
    assert!(
        place
            .ends(0, &["man", "key", "new"])
            .out
            .contains("Write a new key")
    );
    assert!(
        place
            .ends(2, &["man", "stagee"])
            .err
            .contains("did you mean `stage`?")
    );
    let written = place.ends(0, &["man", "--out", "pages"]).out;
    let commands = place.ends(0, &["help"]).out;
    let listed = commands
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1);
    let listed: Vec<&str> = listed
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  "))
        .collect();
    let names = listed
        .iter()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help");
    for name in names {
        assert!(
            written.contains(&format!("pages/cyan-{name}.1\n")),
            "{name}: {written}"
        );
        // The man page contains the purpose of the command and the global flags.
        let page = place.read(&format!("pages/cyan-{name}.1"));
        assert!(page.contains("\\-\\-json"), "{name}");
    }
    assert!(place.has("pages/cyan-key-new.1"));
}

#[test]
fn names_for_people_stand_beside_addresses() {
    let document = "version: 2023-04-20
resources:
  letter: {type: test/data, metadata: {displayName: A letter, custom: {rack: 3}}, spec: {input: 1}}
  note: {type: test/data, spec: {input: 2}}
";
    let place = Place::with("blueprint.yaml", document);
    place.ends(0, &["deploy", "-y"]);
    let shown = place.ends(0, &["show"]).out;
    assert!(
        shown.contains("ADDRESS  NAME      TYPE") && shown.contains("letter   A letter  test/data"),
        "{shown}"
    );
    let one = place.ends(0, &["show", "letter"]).out;
    assert!(
        one.starts_with("letter (A letter) test/data\n") && one.contains("custom: {\"rack\": 3}"),
        "{one}"
    );
    assert!(
        place
            .ends(0, &["show", "note"])
            .out
            .starts_with("note test/data\n")
    );
    let machine: Value =
        serde_json::from_str(&place.ends(0, &["show", "letter", "--json"]).out).unwrap();
    assert_eq!(machine["result"]["metadata"]["custom"]["rack"], 3);
}
