//! Tests of the life cycle of an instance: init, stage, deploy, change, drift, destroy.

use crate::place::{Place, ran};

#[test]
fn the_document_of_init_runs_as_it_is() {
    let place = Place::new();
    place.ends(0, &["init"]);
    assert_eq!(place.read(".gitignore"), ".cyan/\n");
    let before = place.read("blueprint.yaml");
    place.ends(0, &["init"]);
    assert_eq!(
        (place.read("blueprint.yaml"), place.read(".gitignore")),
        (before, ".cyan/\n".to_owned())
    );

    place.ends(0, &["validate"]);
    let staged = place.ends(0, &["stage"]);
    assert_eq!(staged.last_line(), "2 to create, 0 to update, 0 to delete");
    assert!(!place.has(".cyan"), "stage creates no state");

    let deployed = place.ends(0, &["deploy", "--yes"]);
    assert_eq!(deployed.last_line(), "2 created, 0 updated, 0 deleted");
    let name = place.ends(0, &["exports", "name"]).out;
    assert_eq!(
        place.read("letter.txt"),
        format!("Hello, {}!\n", name.trim_end())
    );

    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    assert_eq!(
        place.ends(0, &["deploy"]).last_line(),
        "0 created, 0 updated, 0 deleted",
        "nothing to do asks nothing"
    );

    let changed = place.ends(0, &["deploy", "-y", "--var", "greeting=Good day"]);
    assert!(
        changed.out.contains("- Hello, ") || changed.out.contains("\"Hello, "),
        "{}",
        changed.out
    );
    assert_eq!(changed.last_line(), "0 created, 1 updated, 0 deleted");

    place.write("letter.txt", "something else\n");
    let drift = place.ends(3, &["drift", "--exit-code"]);
    assert!(
        drift.out.contains("letter") && drift.out.contains("+ something else"),
        "{}",
        drift.out
    );
    assert_eq!(drift.last_line(), "1 drifted, 0 vanished");
    std::fs::remove_file(place.path().join("letter.txt")).unwrap();
    assert_eq!(
        place.ends(0, &["drift"]).last_line(),
        "0 drifted, 1 vanished"
    );
    assert_eq!(
        place.ends(0, &["deploy", "-y"]).last_line(),
        "1 created, 0 updated, 0 deleted"
    );
    assert_eq!(
        place.ends(0, &["drift", "--exit-code"]).last_line(),
        "0 drifted, 0 vanished"
    );

    assert_eq!(
        place.ends(0, &["destroy", "-y"]).last_line(),
        "0 created, 0 updated, 2 deleted"
    );
    assert!(!place.has("letter.txt"));
    assert_eq!(place.ends(0, &["list"]).out, "");
    assert!(place.ends(0, &["list", "--all"]).out.contains("destroyed"));
    assert_eq!(
        place.ends(0, &["history"]).out.lines().count(),
        5,
        "a head and four operations"
    );
    let head = place.ends(0, &["history", "--absolute"]).out;
    let began = head.lines().nth(1).unwrap_or_default();
    let year = began.split_whitespace().find(|word| word.ends_with('Z'));
    assert!(year.is_some_and(|time| time.len() == 20), "{head}");
}

#[test]
fn history_shows_one_operation_with_its_inputs_steps_and_errors() {
    let text = "version: 2023-04-20
variables:
  count: {type: integer}
  password: {type: string, secret: true}
resources:
  good: {type: local/file, spec: {path: good.txt, content: '${tostring(variables.count)}'}}
  bad: {type: local/command, dependsOn: [good], spec: {create: 'echo broken >&2; exit 3'}}
";
    let place = Place::with("shop.blueprint.yaml", text);
    place.ends(0, &["key", "new"]);
    let given = ["--var", "count=2", "--var", "password=hunter2"];
    place.ends(4, &[&["deploy", "-y"][..], &given].concat());
    let shown = place.ends(0, &["history", "1"]).out;
    for line in [
        "deploy: generation 1, failed",
        "  document: shop.blueprint.yaml",
        "  count: \"(secret)\"",
        "  create good: done",
        "  create bad: failed: ",
        "\n    broken",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    assert!(!shown.contains("hunter2"), "{shown}");
    let json = place.ends(0, &["history", "1", "--json"]).out;
    assert!(!json.contains("hunter2"), "{json}");
    assert_eq!(place.ends(0, &["history", "last"]).out, shown);
    let open = text.replace("  password: {type: string, secret: true}\n", "");
    place.write("shop.blueprint.yaml", &open);
    place.ends(4, &["deploy", "-y", "--var", "count=3"]);
    let shown = place.ends(0, &["history", "2"]).out;
    assert!(shown.contains("  count: \"3\"\n"), "{shown}");
    let unknown = place.ends(2, &["history", "7"]).err;
    assert!(
        unknown.contains("has no generation 7") && unknown.contains("the generations 1 to 2"),
        "{unknown}"
    );
    let word = place.ends(2, &["history", "shop"]).err;
    assert!(
        word.contains("the number of a generation, or `last`"),
        "{word}"
    );
}

const ONE: &str = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n";

#[test]
fn saved_plan_is_applied_unchanged_or_refused() {
    let place = Place::with("blueprint.yaml", ONE);
    place.ends(0, &["stage", "--out", "plan"]);
    assert_eq!(
        place.ends(0, &["deploy", "plan"]).last_line(),
        "1 created, 0 updated, 0 deleted"
    );
    let stale = place.ends(1, &["deploy", "plan"]);
    assert!(stale.err.contains("error[plan-stale]"), "{}", stale.err);

    place.write("blueprint.yaml", ONE.replace("input: 1", "input: 2"));
    place.ends(0, &["stage", "--out", "plan"]);
    place.write("blueprint.yaml", ONE.replace("input: 1", "input: 3"));
    assert!(
        place
            .ends(1, &["deploy", "plan"])
            .err
            .contains("error[input-changed]")
    );
    place.write("blueprint.yaml", ONE.replace("input: 1", "input: 2"));
    place.ends(2, &["deploy", "plan", "--var", "x=1"]);
    place.ends(2, &["deploy", "plan", "--instance", "other"]);
    assert_eq!(
        place.ends(0, &["deploy", "plan"]).last_line(),
        "0 created, 1 updated, 0 deleted"
    );

    place.write(
        "plan",
        place
            .read("plan")
            .replacen("\"format\":3", "\"format\":99", 1),
    );
    assert!(place.ends(1, &["deploy", "plan"]).err.contains("format 99"));
    place.write("plan", "{\"format\":1,\"kind\":\"plan\"");
    assert!(
        place
            .ends(1, &["deploy", "plan"])
            .err
            .contains("the file is damaged")
    );
}

#[test]
fn saved_plan_with_another_step_is_refused() {
    let place = Place::with("blueprint.yaml", ONE);
    place.ends(0, &["stage", "--out", "plan"]);
    let edited = place.read("plan").replacen("\"after\":1", "\"after\":7", 1);
    place.write("plan", &edited);
    let refused = place.ends(1, &["deploy", "plan"]);
    assert!(
        refused.err.contains("it was edited or damaged"),
        "{}",
        refused.err
    );
    // Who makes the checksum again is found out, too.
    let body = edited.split(",\"checksum\"").next().unwrap_or_default();
    place.write(
        "plan",
        engine::plan_file::with_checksum(&format!("{body}}}")),
    );
    assert!(
        place
            .ends(1, &["deploy", "plan"])
            .err
            .contains("error[plan-stale]")
    );
    assert!(!place.has(".cyan"));
}

#[test]
fn changes_need_a_confirmation() {
    let place = Place::with("blueprint.yaml", ONE);
    let refused = place.ends(2, &["deploy"]);
    assert!(
        refused.err.contains("--yes") && refused.out.contains("a test/data create"),
        "{}{}",
        refused.out,
        refused.err
    );
    assert!(!place.has(".cyan"), "nothing was changed");
    place.ends(0, &["deploy", "-y"]);
    place.ends(2, &["destroy"]);
    assert_eq!(
        place.ends(0, &["destroy", "-y"]).last_line(),
        "0 created, 0 updated, 1 deleted"
    );
}

#[test]
fn failed_run_exits_with_4_and_can_be_continued() {
    let text = "version: 2023-04-20\nresources:\n  bad: {type: local/command, spec: {create: [\"false\"]}}\n  after: {type: test/data, spec: {input: 1}, dependsOn: bad}\n  other: {type: test/data, spec: {input: 1}}\n";
    let place = Place::with("blueprint.yaml", text);
    let failed = place.ends(4, &["deploy", "-y", "--on-failure", "keep-going"]);
    assert_eq!(failed.last_line(), "1 created, 0 updated, 0 deleted");
    assert!(
        failed.err.contains("error[provider-failed]") && failed.err.contains("after: skipped"),
        "{}",
        failed.err
    );
    assert!(
        place
            .ends(0, &["show", "bad"])
            .out
            .contains("create failed")
    );
    place.write("blueprint.yaml", text.replace("\"false\"", "\"true\""));
    place.ends(0, &["deploy", "-y"]);
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
}

#[test]
fn destroy_needs_the_state_alone() {
    let place = Place::with("blueprint.yaml", ONE);
    place.ends(0, &["deploy", "-y", "-i", "alone"]);
    std::fs::remove_file(place.path().join("blueprint.yaml")).unwrap();
    std::fs::create_dir(place.path().join("below")).unwrap();
    assert_eq!(
        place.ends(0, &["-C", "below", "destroy", "-y"]).last_line(),
        "0 created, 0 updated, 1 deleted"
    );
}

#[test]
fn instances_have_names() {
    let place = Place::new();
    place.write("one.blueprint.yaml", ONE);
    place.write("two.blueprint.yaml", ONE);
    place.ends(0, &["deploy", "-y", "one.blueprint.yaml"]);
    place.ends(0, &["deploy", "-y", "two.blueprint.yaml"]);
    let list = place.ends(0, &["list"]).out;
    assert!(list.contains("one ") && list.contains("two "), "{list}");
    let several = place.ends(2, &["show"]);
    assert!(several.err.contains("one, two"), "{}", several.err);
    place.ends(0, &["show", "-i", "two"]);
    let unknown = place.ends(1, &["show", "-i", "tow"]);
    assert!(
        unknown.err.contains("error[unknown-instance]")
            && unknown.err.contains("did you mean `two`?"),
        "{}",
        unknown.err
    );
    place.ends(1, &["show", "-i", "two", "nothing"]);
    place.ends(2, &["show", "-i", "a/b"]);

    // Another document with a name that is taken.
    place.write("sub/one.blueprint.yaml", ONE);
    let state = ["--state", "sqlite:.cyan/state.db"];
    let other = place.ends(
        1,
        &["deploy", "-y", "sub/one.blueprint.yaml", state[0], state[1]],
    );
    assert!(
        other.err.contains("error[instance-document-differs]"),
        "{}",
        other.err
    );
    place.ends(
        0,
        &[
            "deploy",
            "-y",
            "sub/one.blueprint.yaml",
            "-i",
            "one",
            state[0],
            state[1],
        ],
    );
}

#[test]
fn second_concurrent_run_is_refused() {
    let text = "version: 2023-04-20\nresources:\n  slow: {type: time/sleep, spec: {create: 3s}}\n";
    let place = Place::with("blueprint.yaml", text);
    let mut first = place.cyan(&["deploy", "-y"]).spawn().unwrap();
    let begun = std::time::Instant::now();
    while place.run(&["history"]).code != 0 && begun.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let second = place.ends(5, &["deploy", "-y"]);
    assert!(
        second.err.contains("error[instance-busy]") && second.err.contains("tester@"),
        "{}",
        second.err
    );
    place.ends(2, &["unlock"]);
    assert!(first.wait().unwrap().success());
    place.ends(0, &["unlock"]);
    place.ends(0, &["deploy", "-y"]);
}

#[cfg(unix)]
#[test]
fn interrupted_run_is_reported_and_can_be_continued() {
    let text = "version: 2023-04-20\nresources:\n  first: {type: time/sleep, spec: {create: 1s}}\n  second: {type: time/sleep, spec: {create: 0s}, dependsOn: first}\n";
    let place = Place::with("blueprint.yaml", text);
    let child = crate::stops::start(&place, &["deploy", "-y"]);
    let begun = std::time::Instant::now();
    while place.run(&["history"]).code != 0 && begun.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let sent = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let ended = ran(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 4, "{}{}", ended.out, ended.err);
    assert_eq!(ended.last_line(), "1 created, 0 updated, 0 deleted");
    assert_eq!(
        place.ends(0, &["deploy", "-y"]).last_line(),
        "1 created, 0 updated, 0 deleted"
    );
}

/// A document with a command that names the process that records it.
const SLOW: &str = "version: 2023-04-20\nresources:\n  slow: {type: local/command, spec: {create: 'echo $PPID > recorder; sleep 5'}}\n";

/// Starts a deploy of [`SLOW`], and kills it with the process that records the command. Nothing tells
/// how the command ends.
fn kill_with_recorder(place: &Place) {
    let mut child = place
        .cyan(&["deploy", "-y"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let begun = std::time::Instant::now();
    let recorder = || match place.has("recorder") {
        true => place.read("recorder").trim().to_owned(),
        false => String::new(),
    };
    while recorder().is_empty() {
        assert!(begun.elapsed().as_secs() < 60, "the command does not begin");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = std::process::Command::new("kill")
        .args(["-9", &recorder()])
        .status()
        .unwrap();
    assert!(killed.success());
}

#[test]
fn killed_run_is_settled_and_continued() {
    let place = Place::with("blueprint.yaml", SLOW);
    kill_with_recorder(&place);
    // The process has ended, so its lease blocks no other run.
    assert!(
        place
            .ends(0, &["unlock"])
            .err
            .contains("that process has ended")
    );
    assert!(place.ends(0, &["list"]).out.contains("deploy interrupted"));
    assert!(
        place
            .ends(1, &["deploy", "-y"])
            .err
            .contains("error[needs-attention]")
    );
    place.ends(1, &["reconcile"]);
    assert!(
        place
            .ends(0, &["reconcile", "--retry", "slow"])
            .err
            .contains("counts as not done")
    );
    assert!(place.ends(0, &["history"]).out.contains("cut off"));
    place.write("blueprint.yaml", SLOW.replace("sleep 5", "true"));
    assert_eq!(
        place.ends(0, &["deploy", "-y"]).last_line(),
        "1 created, 0 updated, 0 deleted"
    );
}

#[test]
fn state_in_memory_leaves_nothing() {
    let place = Place::with("blueprint.yaml", ONE);
    place.ends(0, &["deploy", "-y", "--state", "memory:"]);
    assert!(!place.has(".cyan"));
    let mut command = place.cyan(&["stage"]);
    let staged = ran(command.env("CYAN_STATE", "memory:").output().unwrap());
    assert_eq!(staged.last_line(), "1 to create, 0 to update, 0 to delete");
}

const THREE: &str = "version: 2023-04-20\nvariables:\n  size: {type: integer}\n  name: {type: string, default: plain}\n  word: {type: string, secret: true, default: none}\nvalues:\n  last: {type: string, value: \"${c.spec.id}\"}\nresources:\n  a: {type: test/data, spec: {input: \"${variables.size}\"}}\n  b: {type: test/data, spec: {input: \"${a.spec.id} ${variables.name}\"}}\n  c: {type: test/data, dependsOn: b, spec: {input: \"${variables.word}\"}}\nexports:\n  last: {type: string, field: values.last}\n";

#[test]
fn deploy_that_stops_as_requested_exits_with_0_and_lists_waiting_resources() {
    let text = THREE.replace(", secret: true", "");
    let place = Place::with("blueprint.yaml", &text);
    let inputs = ["--var", "size=1"];
    let stopped = place.ends(0, &["deploy", "-y", "--until", "a", inputs[0], inputs[1]]);
    assert_eq!(stopped.last_line(), "1 created, 0 updated, 0 deleted");
    assert!(
        stopped.err.contains("Not started: b, c."),
        "{}",
        stopped.err
    );
    assert!(
        place.ends(0, &["exports"]).out.is_empty(),
        "not everything is there yet"
    );
    let unknown = place.ends(1, &["deploy", "-y", "--until", "d", inputs[0], inputs[1]]);
    assert!(
        unknown.err.contains("error[unknown-address]"),
        "{}",
        unknown.err
    );
    // After the last resource only the exports remain.
    let last = place.ends(0, &["deploy", "-y", "--until", "c", inputs[0], inputs[1]]);
    assert!(!last.err.contains("What waits"), "{}", last.err);
    assert!(place.ends(0, &["exports", "last"]).out.starts_with("data-"));
    place.ends(2, &["deploy", "-y", "--until", "a["]);

    let place = Place::with("blueprint.yaml", &text);
    let stopped = place.ends(
        0,
        &[
            "deploy", "-y", "--json", "--until", "a", inputs[0], inputs[1],
        ],
    );
    let summary: serde_json::Value = serde_json::from_str(stopped.last_line()).unwrap();
    assert_eq!(
        (&summary["created"], &summary["exit"]),
        (&1.into(), &0.into())
    );
    assert_eq!(summary["waiting"], serde_json::json!(["b", "c"]));
}

#[test]
fn keep_vars_keeps_inputs_that_are_not_given() {
    let place = Place::with("blueprint.yaml", THREE);
    place.ends(0, &["key", "new"]);
    place.write("inputs.yaml", "size: 3\nname: from-file\n");
    let missing = place.ends(1, &["deploy", "-y", "--keep-vars"]);
    assert!(
        missing.err.contains("error[missing-variable]"),
        "nothing to keep yet: {}",
        missing.err
    );
    place.ends(
        0,
        &[
            "deploy",
            "-y",
            "--vars",
            "inputs.yaml",
            "--var",
            "word=hidden",
        ],
    );
    assert!(
        place
            .ends(1, &["deploy", "-y"])
            .err
            .contains("error[missing-variable]"),
        "kept only if asked"
    );
    let same = place.ends(0, &["deploy", "-y", "--keep-vars"]);
    assert_eq!(same.last_line(), "0 created, 0 updated, 0 deleted");
    // A given input overrides the kept one. The other inputs stay, secret ones too. Inputs that
    // were given along with `--keep-vars` are kept the next time.
    let changed = place.ends(0, &["deploy", "-y", "--keep-vars", "--var", "name=now"]);
    assert_eq!(changed.last_line(), "0 created, 1 updated, 0 deleted");
    assert_eq!(
        place.ends(0, &["deploy", "-y", "--keep-vars"]).last_line(),
        "0 created, 0 updated, 0 deleted"
    );
    // A destroy and a state edit have no inputs, so they do not affect the kept ones.
    place.ends(0, &["state", "move", "-y", "c", "d"]);
    place.ends(0, &["state", "move", "-y", "d", "c"]);
    assert_eq!(
        place.ends(0, &["deploy", "-y", "--keep-vars"]).last_line(),
        "0 created, 0 updated, 0 deleted"
    );
    place.ends(0, &["destroy", "-y"]);
    assert_eq!(
        place.ends(0, &["deploy", "-y", "--keep-vars"]).last_line(),
        "3 created, 0 updated, 0 deleted"
    );
    // An input that is no longer declared is dropped.
    let text = THREE
        .replace("  name: {type: string, default: plain}\n", "")
        .replace("${variables.name}", "fixed");
    place.write("blueprint.yaml", text);
    assert_eq!(
        place.ends(0, &["deploy", "-y", "--keep-vars"]).last_line(),
        "0 created, 1 updated, 0 deleted"
    );
    // A saved plan contains its inputs.
    place.ends(0, &["stage", "--out", "plan", "--var", "size=3"]);
    place.ends(2, &["deploy", "plan", "--keep-vars"]);
}

#[test]
fn user_names_the_object_of_an_unknown_create() {
    let place = Place::with("blueprint.yaml", SLOW);
    kill_with_recorder(&place);
    place.ends(0, &["unlock", "-y"]);
    let which = place.ends(1, &["reconcile", "-y", "--adopt", "slow"]);
    assert!(which.err.contains("--adopt 'slow=ID'"), "{}", which.err);
    place.ends(1, &["reconcile", "-y", "--adopt", "other"]);
    let adopted = place.ends(0, &["reconcile", "-y", "--adopt", "slow=made-by-hand"]);
    assert!(adopted.err.contains("counts as done"), "{}", adopted.err);
    assert!(
        place
            .ends(0, &["show", "slow"])
            .out
            .contains("id: made-by-hand")
    );
    assert_eq!(
        place.ends(0, &["deploy", "-y"]).last_line(),
        "0 created, 0 updated, 0 deleted"
    );
}

#[test]
fn invalid_document_changes_nothing() {
    let place = Place::with(
        "shop.blueprint.yaml",
        "version: 2023-04-20\nresources:\n  a: {type: test/nothing}\n",
    );
    place.ends(1, &["deploy", "--yes"]);
    assert!(!place.has(".cyan"));
    place.ends(
        1,
        &["deploy", "--yes", "--state", "sqlite:elsewhere/state.db"],
    );
    assert!(!place.has("elsewhere"));
}

#[test]
fn init_writes_no_second_document() {
    let place = Place::with(
        "infra.yaml",
        "version: 2023-04-20\nresources:\n  a: {type: local/file, spec: {path: a.txt, content: x}}\n",
    );
    let ran = place.ends(0, &["init"]);
    assert!(ran.out.contains("infra.yaml"), "{}", ran.out);
    assert!(!place.has("blueprint.yaml"));
    place.ends(0, &["stage"]);
}
