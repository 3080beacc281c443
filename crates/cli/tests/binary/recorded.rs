//! Tests of commands that outlive `cyan`: what became of them is read from their records.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::place::{Place, ran};

/// A shell command that kills `cyan` once, but not the process that records the command.
const KILL_CYAN: &str =
    "test -e killed || { touch killed; kill -9 $(cut -d\\  -f4 /proc/$PPID/stat); sleep 0.2; }";

fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_there() {
        assert!(begun.elapsed().as_secs() < 60, "still waiting for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn start(place: &Place, words: &[&str]) -> Child {
    place
        .cyan(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The files about calls.
fn call_files(place: &Place) -> Vec<String> {
    let folder = place.path().join(".cyan/state.db.calls/a");
    let writers = std::fs::read_dir(folder).into_iter().flatten();
    let files = writers.flat_map(|writer| std::fs::read_dir(writer.unwrap().path()).unwrap());
    files
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn next_run_waits_for_a_command_and_reads_what_it_printed() {
    let text = "version: 2023-04-20
resources:
  made: {type: local/command, spec: {create: 'echo run >> log; touch began; until test -e go; do sleep 0.02; done; echo 42; echo warned >&2'}}
  user: {type: local/file, spec: {path: user.txt, content: '${made.spec.stdout} ${made.spec.stderr} ${made.spec.json} ${made.spec.exitCode}'}}
";
    let place = Place::with("a.blueprint.yaml", text);
    let mut first = start(&place, &["deploy", "--yes"]);
    wait_for("the command", || place.has("began"));
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(
        call_files(&place)
            .iter()
            .any(|name| name.ends_with(".begun")),
        "{:?}",
        call_files(&place)
    );
    let mut second = start(&place, &["deploy", "--yes"]);
    std::thread::sleep(Duration::from_millis(400));
    assert!(second.try_wait().unwrap().is_none(), "it did not wait");
    place.write("go", "");
    let ended = ran(second.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    assert_eq!(place.read("user.txt"), "42 warned 42 0");
    assert_eq!(place.read("log"), "run\n");
    assert!(call_files(&place).is_empty(), "{:?}", call_files(&place));
    let again = place.ends(0, &["stage", "--exit-code"]);
    assert_eq!(again.last_line(), "0 to create, 0 to update, 0 to delete");
}

/// Without `read`, an update and a delete that went on without `cyan` count as done.
#[test]
fn update_and_delete_that_outlive_a_kill_are_not_repeated() {
    let text = |round: u32| {
        format!(
            "version: 2023-04-20
resources:
  made:
    type: local/command
    spec:
      create: 'true'
      update: 'echo update >> log; {KILL_CYAN}; echo new'
      delete: 'echo delete >> log; {KILL_CYAN}'
      environment: {{ROUND: '{round}'}}
  user: {{type: local/file, spec: {{path: user.txt, content: 'is ${{made.spec.stdout}}'}}}}
"
        )
    };
    let place = Place::with("a.blueprint.yaml", &text(1));
    place.ends(0, &["deploy", "--yes"]);
    place.write("a.blueprint.yaml", text(2));
    assert_eq!(place.run(&["deploy", "--yes"]).code, -1, "it was killed");
    place.ends(0, &["deploy", "--yes"]);
    assert_eq!(place.read("user.txt"), "is new");
    std::fs::remove_file(place.path().join("killed")).unwrap();
    assert_eq!(place.run(&["destroy", "--yes"]).code, -1, "it was killed");
    place.ends(0, &["destroy", "--yes"]);
    assert_eq!(place.read("log"), "update\ndelete\n");
    assert!(call_files(&place).is_empty(), "{:?}", call_files(&place));
}

/// A command that failed without `cyan` has made nothing, as a command that failed with it: the
/// next run makes the resource, and changes or deletes what is still there.
#[test]
fn command_that_failed_after_a_kill_is_run_again() {
    let text = |round: u32| {
        let act = |name: &str| {
            format!("echo {name} >> log; test -e killed || {{ {KILL_CYAN}; exit 1; }}")
        };
        format!(
            "version: 2023-04-20
resources:
  made:
    type: local/command
    spec:
      create: '{}'
      update: '{}'
      delete: '{}'
      environment: {{ROUND: '{round}'}}
",
            act("create"),
            act("update"),
            act("delete")
        )
    };
    let place = Place::with("a.blueprint.yaml", &text(1));
    for words in [
        &["deploy", "--yes"],
        &["deploy", "--yes"],
        &["destroy", "--yes"],
    ] {
        assert_eq!(place.run(words).code, -1, "{words:?} was killed");
        place.ends(0, words);
        std::fs::remove_file(place.path().join("killed")).unwrap();
        place.write("a.blueprint.yaml", text(2));
    }
    assert_eq!(
        place.read("log"),
        "create\ncreate\nupdate\nupdate\ndelete\ndelete\n"
    );
}

/// The time limit of a command holds although `cyan` is gone.
#[test]
fn time_limit_of_a_command_holds_after_a_kill() {
    let text = "version: 2023-04-20
resources:
  made: {type: local/command, spec: {create: 'echo run >> log; test -e killed && exit 0; touch killed began; sleep 600', timeout: 2s}}
";
    let place = Place::with("a.blueprint.yaml", text);
    let mut first = start(&place, &["deploy", "--yes"]);
    wait_for("the command", || place.has("began"));
    first.kill().unwrap();
    first.wait().unwrap();
    place.ends(0, &["deploy", "--yes"]);
    assert_eq!(place.read("log"), "run\nrun\n");
}

/// A state that was copied while a command ran does not have the records of its calls.
#[test]
fn call_without_a_record_is_left_to_a_person() {
    let text = format!(
        "version: 2023-04-20\nresources:\n  made: {{type: local/command, spec: {{create: '{KILL_CYAN}'}}}}\n"
    );
    let place = Place::with("a.blueprint.yaml", &text);
    assert_eq!(place.run(&["deploy", "--yes"]).code, -1, "it was killed");
    wait_for("the end", || {
        call_files(&place)
            .iter()
            .any(|name| name.ends_with(".ended"))
    });
    std::fs::remove_dir_all(place.path().join(".cyan/state.db.calls")).unwrap();
    let asked = place.ends(1, &["deploy", "--yes"]);
    assert!(
        asked
            .err
            .contains("the outcome of the create of `made` is not known"),
        "{}",
        asked.err
    );
    place.ends(0, &["reconcile", "--yes", "--retry", "made"]);
    place.ends(0, &["deploy", "--yes"]);
}

/// A leftover of a run that was killed between a commit and the removal of the files goes with the
/// next operation, and the files are for the owner alone.
#[test]
fn files_of_calls_are_private_and_are_removed() {
    let text = "version: 2023-04-20
resources:
  made: {type: local/command, spec: {create: 'stat -c \"%a %n\" .cyan/state.db.calls .cyan/state.db.calls/a .cyan/state.db.calls/a/1/*'}}
exports:
  modes: {type: string, field: resources.made.spec.stdout}
";
    let place = Place::with("a.blueprint.yaml", text);
    place.ends(0, &["deploy", "--yes"]);
    let modes = place.ends(0, &["exports", "modes"]).out;
    let lines: Vec<&str> = modes.lines().collect();
    assert_eq!(lines.len(), 3, "{modes}");
    assert!(
        lines[0].starts_with("700 ")
            && lines[1].starts_with("700 ")
            && lines[2].starts_with("600 "),
        "{modes}"
    );
    place.write(".cyan/state.db.calls/a/1/old-1.ended", "x");
    let folder = place.path().join(".cyan/state.db.calls/a");
    place.ends(0, &["destroy", "--yes"]);
    assert!(!folder.exists(), "{:?}", call_files(&place));
}

/// A create that was given up, and that nothing can look up, is never made again without a
/// decision.
#[test]
fn failed_create_that_cannot_be_looked_up_is_left_to_a_person() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    // The server reads each request and never answers.
    std::thread::spawn(move || {
        listener
            .incoming()
            .map(|one| one.unwrap())
            .collect::<Vec<_>>()
    });
    let specs = [
        (
            "local/command",
            "{create: 'echo run >> log; test -e quick || sleep 600'}".to_owned(),
        ),
        ("http/request", format!("{{url: 'http://{server}/'}}")),
    ];
    for (type_name, spec) in specs {
        let place = Place::with(
            "a.blueprint.yaml",
            &format!(
                "version: 2023-04-20
resources:
  made:
    type: {type_name}
    spec: {spec}
    metadata: {{annotations: {{cyan.timeout.create: 1s}}}}
"
            ),
        );
        place.ends(4, &["deploy", "--yes"]);
        for words in [
            &["deploy", "--yes"][..],
            &["deploy", "--yes", "--no-refresh"],
            &["destroy", "--yes"],
        ] {
            let asked = place.ends(1, words);
            let message = "the outcome of the create of `made` is not known";
            assert!(asked.err.contains(message), "{words:?}: {}", asked.err);
        }
        if type_name == "local/command" {
            assert_eq!(place.read("log"), "run\n");
            place.write("quick", "");
            place.ends(1, &["reconcile", "--yes", "--adopt", "made"]);
            place.ends(0, &["reconcile", "--yes", "--retry", "made"]);
            place.ends(0, &["deploy", "--yes"]);
            assert_eq!(place.read("log"), "run\nrun\n");
        } else {
            place.ends(0, &["reconcile", "--yes", "--adopt", "made=it"]);
        }
    }
}

/// A create whose request was never sent did nothing, so it is made again without a question.
#[test]
fn create_that_was_never_sent_asks_nothing() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    drop(listener);
    let place = Place::with(
        "a.blueprint.yaml",
        &format!(
            "version: 2023-04-20
resources:
  made:
    type: http/request
    spec: {{url: 'http://{server}/'}}
    metadata: {{annotations: {{cyan.timeout.create: 1s}}}}
"
        ),
    );
    for _ in 0..2 {
        let failed = place.ends(4, &["deploy", "--yes"]);
        assert!(!failed.err.contains("is not known"), "{}", failed.err);
        assert!(failed.err.contains("refused"), "{}", failed.err);
    }
}
