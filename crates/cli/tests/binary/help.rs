//! Tests of the list of commands, the help of each command, the aliases, and errors of the command
//! line.

use serde_json::{Value, json};

use crate::place::Place;

const ONE: &str = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\nexports:\n  out: {type: integer, field: resources.a.spec.input}\n";

/// Returns the commands of a help text, each with its description.
fn commands(help: &str) -> Vec<(String, String)> {
    let rest = help.split_once("\nCommands:\n").unwrap().1;
    let lines = rest.lines().take_while(|line| !line.is_empty());
    lines
        .map(|line| {
            let (name, about) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
            (name.to_owned(), about.trim().to_owned())
        })
        .collect()
}

#[test]
fn help_is_as_recorded() {
    let help = Place::new().ends(0, &["--help"]).out;
    let path = format!("{}/tests/samples/help.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("CYAN_WRITE_SAMPLES").is_some() {
        std::fs::write(&path, &help).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        help, wanted,
        "{path} differs; read the new text, and write it with CYAN_WRITE_SAMPLES=1"
    );
}

#[test]
fn help_lists_every_command_with_one_line() {
    let place = Place::new();
    let long = place.ends(0, &["--help"]).out;
    let bare = place.ends(2, &[]);
    assert_eq!(bare.out, "", "without a command the help is an error");
    for help in [
        &long,
        &bare.err,
        &place.ends(0, &["-h"]).out,
        &place.ends(0, &["help"]).out,
    ] {
        let listed = commands(help);
        assert!(listed.len() >= 27, "{help}");
        for (name, about) in &listed {
            assert!(
                about.len() > 10 && about.starts_with(char::is_uppercase) && !about.ends_with('.'),
                "{name}: {about}"
            );
        }
        for alias in [
            "[aliases: plan, preview]",
            "[aliases: apply, up]",
            "[alias: output]",
        ] {
            assert!(help.contains(alias), "{alias}: {help}");
        }
    }
    for (name, about) in commands(&long) {
        let about = about.split(" [alias").next().unwrap();
        let help = place.ends(0, &["help", &name]).out;
        assert!(name == "help" || help.starts_with(about), "{name}: {help}");
    }
}

#[test]
fn every_command_and_subcommand_has_help_for_itself_and_each_flag() {
    let place = Place::new();
    let mut open: Vec<Vec<String>> = commands(&place.ends(0, &["--help"]).out)
        .into_iter()
        .map(|(name, _)| vec![name])
        .collect();
    open.retain(|names| names != &["help"]);
    while let Some(names) = open.pop() {
        let words: Vec<&str> = names.iter().map(String::as_str).chain(["-h"]).collect();
        let help = place.ends(0, &words).out;
        assert!(help.contains("--simulate"), "{help}");
        if help.contains("\nCommands:\n") {
            let below = commands(&help)
                .into_iter()
                .filter(|(name, _)| name != "help");
            open.extend(below.map(|(name, _)| [names.clone(), vec![name]].concat()));
        }
        for line in help
            .lines()
            .filter(|line| line.trim_start().starts_with('-'))
        {
            let (_, about) = line.trim().split_once("  ").unwrap_or_default();
            assert!(
                !about.trim().is_empty() || line.contains("--state"),
                "{names:?}: {line}"
            );
        }
    }
}

#[test]
fn aliases_run() {
    let place = Place::with("blueprint.yaml", ONE);
    assert_eq!(
        place.ends(0, &["plan"]).last_line(),
        "1 to create, 0 to update, 0 to delete"
    );
    assert_eq!(
        place.ends(0, &["preview"]).last_line(),
        "1 to create, 0 to update, 0 to delete"
    );
    assert_eq!(
        place.ends(0, &["apply", "--yes"]).last_line(),
        "1 created, 0 updated, 0 deleted"
    );
    assert_eq!(
        place.ends(0, &["up", "--yes"]).last_line(),
        "0 created, 0 updated, 0 deleted"
    );
    assert_eq!(place.ends(0, &["output", "out"]).out, "1\n");
    for alias in ["plan", "preview", "apply", "up", "output"] {
        assert!(
            place
                .ends(0, &[alias, "--help"])
                .out
                .contains("Usage: cyan "),
            "{alias}"
        );
    }
}

#[test]
fn usage_errors_are_json_where_json_was_asked_for() {
    let place = Place::with("blueprint.yaml", ONE);
    let value = |words: &[&str]| -> Value {
        let ran = place.ends(2, words);
        assert_eq!(ran.err, "", "{words:?}");
        serde_json::from_str(&ran.out)
            .unwrap_or_else(|error| panic!("{words:?}: {error}: {}", ran.out))
    };
    let wrong = value(&["stage", "--bogus", "--json"]);
    assert_eq!(
        (&wrong["format"], &wrong["command"], &wrong["result"]),
        (&json!(1), &json!("stage"), &Value::Null)
    );
    let said = &wrong["diagnostics"][0];
    assert_eq!(said["message"], "unexpected argument '--bogus' found");
    assert_eq!(
        said["notes"][0],
        "Usage: cyan stage [OPTIONS] [FILE or PLAN]"
    );
    // The flag may be at any position. An alias gives the name of its command, an unknown command
    // gives null.
    assert_eq!(value(&["--json", "plan", "--exit-cod"])["command"], "stage");
    let unknown = value(&["--json", "depoly"]);
    assert_eq!(
        (&unknown["command"], &unknown["diagnostics"][0]["severity"]),
        (&Value::Null, &json!("error"))
    );
    let help = unknown["diagnostics"][0]["help"][0].as_str().unwrap();
    assert_eq!(help, "did you mean `deploy`?");
    assert_eq!(
        value(&["--json"])["diagnostics"][0]["message"],
        "a command is missing"
    );
    assert_eq!(
        value(&["--json", "key"])["diagnostics"][0]["message"],
        "a command is missing"
    );
    let missing = value(&["explain", "--json", "a", "b"]);
    assert_eq!(
        missing["diagnostics"][0]["message"],
        "unexpected argument 'b' found"
    );
    // An operation ends with its summary.
    for words in [
        &["deploy", "--json", "--parallelism", "0"][..],
        &["import", "--json"],
        &["drift", "--accept", "--json", "--bogus"],
        &["state", "move", "--json", "a"],
    ] {
        let ran = place.ends(2, words);
        let lines: Vec<Value> = ran
            .out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(
            (ran.err.as_str(), lines.len()),
            ("", 2),
            "{words:?}: {}",
            ran.out
        );
        assert_eq!(lines[0]["event"], "diagnostic");
        assert_eq!(lines[1]["event"], "summary");
        assert_eq!(lines[1]["exit"], 2);
    }
    // Without the flag, and with the flag after `--`, the error is text.
    assert!(
        place
            .ends(2, &["stage", "--bogus"])
            .err
            .starts_with("error: unexpected argument")
    );
    assert!(
        place
            .ends(2, &["stage", "--bogus", "--", "--json"])
            .out
            .is_empty()
    );
}
