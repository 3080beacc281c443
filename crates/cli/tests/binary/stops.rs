//! Tests of signals: Ctrl-C, SIGTERM and SIGHUP, once and twice, before and after the first step
//! begins.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::place::{Place, Ran};

const CHAIN: &str = "version: 2023-04-20
resources:
  first: {type: local/command, spec: {create: [sh, -c, 'touch began; while [ ! -e go ]; do sleep 0.02; done']}}
  second: {type: test/data, spec: {input: 1}, dependsOn: first}
  third: {type: test/data, spec: {input: 2}, dependsOn: second}
";

/// Starts the binary with both output streams piped. If the test process ignores a signal (because
/// of `nohup` or of a shell that runs it in the background), the child process would inherit that.
/// On Linux `env` resets it.
pub(crate) fn start(place: &Place, arguments: &[&str]) -> Child {
    start_with(place, arguments, Stdio::null())
}

fn start_with(place: &Place, arguments: &[&str], stdin: Stdio) -> Child {
    let cyan = place.cyan(arguments);
    let mut command = Command::new(if cfg!(target_os = "linux") {
        "env"
    } else {
        env!("CARGO_BIN_EXE_cyan")
    });
    if cfg!(target_os = "linux") {
        command.args(["--default-signal=HUP,INT,TERM", env!("CARGO_BIN_EXE_cyan")]);
    }
    command
        .args(cyan.get_args())
        .current_dir(place.path())
        .env_clear()
        .stdin(stdin);
    command.envs(
        cyan.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[track_caller]
fn wait_until(what: &str, done: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !done() {
        assert!(begun.elapsed().as_secs() < 30, "{what}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn send(signal: &str, to: &Child) {
    assert!(
        Command::new("kill")
            .args([signal, &to.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
}

fn ended(child: Child) -> Ran {
    crate::place::ran(child.wait_with_output().unwrap())
}

#[test]
fn first_signal_finishes_running_steps_and_lists_the_rest() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let place = Place::with("blueprint.yaml", CHAIN);
        let mut child = start(&place, &["deploy", "-y"]);
        wait_until("the first step begins", || place.has("began"));
        send(signal, &child);
        // Read the output up to the response to the signal.
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("Stopping.") {
            assert!(err.read_line(&mut said).unwrap() > 0, "{said}");
        }
        place.write("go", "");
        let ended = ended(child);
        err.read_to_string(&mut said).unwrap();
        assert_eq!(ended.code, 4, "{signal}: {said}");
        assert!(
            said.contains("Not done: second (create), third (create).\n"),
            "{signal}: {said}"
        );
        assert_eq!(ended.last_line(), "1 created, 0 updated, 0 deleted");
        assert_eq!(
            place.ends(0, &["deploy", "-y"]).last_line(),
            "2 created, 0 updated, 0 deleted"
        );
    }
}

#[test]
fn two_signals_stop_at_once() {
    for (first, second) in [("-INT", "-INT"), ("-HUP", "-TERM")] {
        let place = Place::with("blueprint.yaml", CHAIN);
        let mut child = start(&place, &["deploy", "-y", "--json"]);
        wait_until("the first step begins", || place.has("began"));
        send(first, &child);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.contains("\"draining\"") {
            assert!(out.read_line(&mut said).unwrap() > 0, "{said}");
        }
        send(second, &child);
        out.read_to_string(&mut said).unwrap();
        let ended = ended(child);
        assert_eq!(ended.code, 4, "{said}{}", ended.err);
        crate::machine::fits(&[], &said);
        let summary: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
        assert_eq!(
            (&summary["event"], &summary["exit"]),
            (&"summary".into(), &4.into())
        );
        let not_done: Vec<&str> = summary["not_done"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["address"].as_str().unwrap())
            .collect();
        assert_eq!(not_done, ["first", "second", "third"]);
        assert_eq!(summary["not_done"][1]["action"], "create");
        assert!(summary["not_done"][1]["step"].is_u64());
    }
}

const SLOW_TO_PLAN: &str = "version: 2023-04-20
datasources:
  slow:
    type: local/command
    filter: {field: command, operator: '=', search: 'echo $$ > pid; exec sleep 60'}
    exports: {stdout: {type: string}}
resources:
  a: {type: test/data, spec: {input: \"${datasources.slow.stdout}\"}}
";

#[test]
fn signal_before_the_first_step_exits_with_130_and_ends_children() {
    for (signal, command) in [
        ("-INT", &["deploy", "-y"][..]),
        ("-TERM", &["stage"]),
        ("-HUP", &["deploy", "-y", "--json"]),
    ] {
        let place = Place::with("blueprint.yaml", SLOW_TO_PLAN);
        let child = start(&place, command);
        wait_until("the data source is read", || {
            place.has("pid") && place.read("pid").ends_with('\n')
        });
        send(signal, &child);
        let ended = ended(child);
        assert_eq!(ended.code, 130, "{}{}", ended.out, ended.err);
        if command.contains(&"--json") {
            crate::machine::fits(&[], &ended.out);
            let summary: Value = serde_json::from_str(ended.last_line()).unwrap();
            assert_eq!(
                (&summary["event"], &summary["exit"]),
                (&"summary".into(), &130.into())
            );
        } else {
            assert!(ended.err.contains("Interrupted."), "{}", ended.err);
        }
        let pid = place.read("pid");
        // A process that has ended remains as a zombie until its parent waits for it.
        let alive = || {
            let listed = Command::new("ps")
                .args(["-o", "stat=", "-p", pid.trim()])
                .output()
                .unwrap();
            !matches!(listed.stdout.first(), None | Some(b'Z'))
        };
        wait_until("the command of the data source is ended", || !alive());
    }
}

#[test]
fn a_signal_ends_a_command_that_waits_for_its_input() {
    for command in [&["validate", "-"][..], &["console"]] {
        let place = Place::with(
            "blueprint.yaml",
            "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n",
        );
        let mut child = start_with(&place, command, Stdio::piped());
        let open = child.stdin.take();
        // The command installs its signal handlers before it reads: wait until it catches SIGINT.
        let status = format!("/proc/{}/status", child.id());
        let caught = || {
            let status = std::fs::read_to_string(&status).unwrap_or_default();
            let bits = status
                .lines()
                .find_map(|line| line.strip_prefix("SigCgt:"))
                .unwrap_or("0")
                .trim()
                .to_owned();
            u64::from_str_radix(&bits, 16).unwrap_or(0) & 2 != 0
        };
        if cfg!(target_os = "linux") {
            wait_until("signals are handled", caught);
        }
        send("-INT", &child);
        let ended = ended(child);
        assert_eq!(ended.code, 130, "{command:?}: {}{}", ended.out, ended.err);
        drop(open);
    }
}

#[test]
fn a_hangup_that_is_ignored_stays_so() {
    let place = Place::with("blueprint.yaml", CHAIN);
    let line = format!(
        "trap '' HUP; exec '{}' deploy -y",
        env!("CARGO_BIN_EXE_cyan")
    );
    let mut command = place.cyan(&[]);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &line])
        .current_dir(place.path())
        .stdin(Stdio::null());
    shell.env_clear().envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let child = shell
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    command.stdin(Stdio::null());
    wait_until("the first step begins", || place.has("began"));
    send("-HUP", &child);
    place.write("go", "");
    let ended = ended(child);
    assert_eq!(
        (ended.code, ended.last_line()),
        (0, "3 created, 0 updated, 0 deleted"),
        "{}",
        ended.err
    );
}

#[test]
fn a_plan_replaces_a_plan_and_no_other_file() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n",
    );
    for name in ["blueprint.yaml", "notes.txt", "bytes"] {
        place.write("notes.txt", "mine");
        place.write("bytes", [0xff, 0xfe, 0]);
        let before = std::fs::read(place.path().join(name)).unwrap();
        let refused = place.ends(1, &["stage", "--out", name]);
        assert!(
            refused.err.contains("no plan; it is not overwritten"),
            "{}",
            refused.err
        );
        assert_eq!(std::fs::read(place.path().join(name)).unwrap(), before);
    }
    place.ends(1, &["stage", "--out", "."]);
    place.write("empty", "");
    place.write("kept.part", "mine");
    for name in ["empty", "kept", "kept"] {
        place.ends(0, &["stage", "--out", name]);
    }
    assert_eq!(place.read("kept.part"), "mine");
    assert_eq!(
        std::fs::read_dir(place.path()).unwrap().count(),
        6,
        "nothing half written is left"
    );
    assert_eq!(
        place.ends(0, &["deploy", "kept"]).last_line(),
        "1 created, 0 updated, 0 deleted"
    );
    // An exported state does not overwrite another file either.
    let before = place.read("blueprint.yaml");
    assert!(
        place
            .ends(1, &["state", "export", "blueprint.yaml"])
            .err
            .contains("not overwritten")
    );
    assert_eq!(place.read("blueprint.yaml"), before);
    place.ends(0, &["state", "export", "state.json"]);
    place.ends(0, &["state", "export", "state.json"]);
}

/// In text and machine output, each step starts before it ends. Each event has a time and the
/// number of its step.
#[test]
fn events_are_in_order_and_say_when_of_which_operation_and_step() {
    let mut document = "version: 2023-04-20\nresources:\n".to_owned();
    for layer in 0..8 {
        for at in 0..6 {
            let input = if layer == 0 {
                "1".to_owned()
            } else {
                format!("\"${{l{}n{at}.spec.input}}\"", layer - 1)
            };
            document.push_str(&format!(
                "  l{layer}n{at}: {{type: test/data, spec: {{input: {input}}}}}\n"
            ));
        }
    }
    document.push_str(
        "  file: {type: local/file, spec: {path: out/file.txt, content: \"${l7n0.spec.id}\"}}\n",
    );
    for at in 0..4 {
        document.push_str(&format!(
            "  says{at}: {{type: local/command, spec: {{create: 'seq 40', delete: 'seq 40'}}}}\n"
        ));
    }
    let place = Place::with("blueprint.yaml", &document);
    for round in 0..3 {
        let deployed = place.ends(0, &["deploy", "-y", "--json"]).out;
        let lines: Vec<Value> = deployed
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let steps = lines[0]["steps"].as_array().unwrap();
        let (mut started, mut last) = (std::collections::HashSet::new(), String::new());
        let history: Value =
            serde_json::from_str(&place.ends(0, &["history", "--json"]).out).unwrap();
        let mut sequence = 0;
        for line in lines
            .iter()
            .filter(|line| !["plan", "summary"].contains(&line["event"].as_str().unwrap()))
        {
            assert_eq!(
                line["operation_id"], history["result"]["operations"][0]["id"],
                "{line}"
            );
            assert!(line["sequence"].as_u64().unwrap() > sequence, "{line}");
            sequence = line["sequence"].as_u64().unwrap();
        }
        for line in &lines {
            let time = line["time"].as_str().unwrap();
            assert!(
                time.len() == 24 && time.ends_with('Z') && *time >= *last,
                "{line}"
            );
            last = time.to_owned();
            let Some(address) = line["address"].as_str() else {
                continue;
            };
            let step = usize::try_from(line["step"].as_u64().unwrap()).unwrap();
            assert_eq!(steps[step]["address"], address, "{line}");
            match line["event"].as_str().unwrap() {
                "started" => assert!(started.insert(address.to_owned()), "{line}"),
                "done" => assert!(started.remove(address), "`done` before `started`: {line}"),
                event => assert!(
                    started.contains(address),
                    "`{event}` outside of its step: {line}"
                ),
            }
        }
        assert!(started.is_empty(), "{started:?}");
        assert_eq!(
            lines.iter().filter(|line| line["event"] == "done").count(),
            53
        );
        let destroyed = place.ends(0, &["destroy", "-y"]).err;
        for address in (0..8).flat_map(|layer| (0..6).map(move |at| format!("l{layer}n{at}"))) {
            let at = |what: &str| {
                destroyed
                    .lines()
                    .position(|line| *line == format!("{address}: {what}"))
            };
            assert!(
                at("deleting").unwrap() < at("deleted").unwrap(),
                "round {round}: {destroyed}"
            );
        }
    }
}
