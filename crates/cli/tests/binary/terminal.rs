//! Checks that no control character from a document, a path, an id, a command or a provider reaches
//! a terminal.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use crate::place::{Place, Ran, ran};

/// Escape sequences, C0, DEL, C1, bidirectional and zero-width characters, in YAML notation.
const YAML: &str = r"\e[35;1mX\e]0;title\a\b\x7f\x9b31m\u202e\u2066\u200b\u200f\ufeff\U000E0041\r!";
/// The same characters unescaped, as far as a YAML text may contain them.
const RAW: &str = "\u{202e}\u{2066}\u{200b}\u{200f}\u{e0041}";

fn document() -> String {
    let text = r#"version: 2023-04-20
variables:
  given: {type: string, description: "EVIL", default: "EVIL"}
metadata: {note: "EVIL"}
resources:
  file:
    type: local/file
    metadata: {displayName: "EVIL", labels: {a: "EVIL"}, annotations: {b: "EVIL"}, custom: {"EVIL": "EVIL"}}
    spec: {path: "PATH", content: "EVIL\n\tline\nEVIL\n"}
  value: {type: std/value, spec: {input: {"EVIL": ["EVIL", "a\nEVIL"]}}}
  run:
    type: local/command
    dependsOn: [file]
    spec: {create: "printf 'out EVIL\\n'; printf 'err EVIL\\n' >&2", delete: "printf 'gone EVIL\\n'"}
  fails:
    type: local/command
    condition: ${eq(variables.given, "fail")}
    spec: {create: "printf 'EVIL\\n' >&2; exit 3"}
exports:
  text: {type: string, field: variables.given}
  all: {type: object, field: resources.value.spec.output}
"#;
    text.replace("PATH", r"p\e[35;1m\u202e\u200b\nid: fake")
        .replace("EVIL", YAML)
}

/// Fails if a text has a control character other than line breaks, tabs and the styles of this
/// program.
#[track_caller]
fn safe(what: &str, text: &str) {
    assert!(
        !text.contains("\u{1b}[35;1m"),
        "{what} has a style of the document: {text:?}"
    );
    let mut rest = text;
    while let Some(at) =
        rest.find(|letter: char| letter != '\n' && letter != '\t' && diag::is_hidden(letter))
    {
        let sequence = rest[at..].strip_prefix("\u{1b}[");
        let end = sequence
            .and_then(|codes| codes.find(|letter: char| !letter.is_ascii_digit() && letter != ';'));
        match (sequence, end) {
            (Some(codes), Some(end)) if codes[end..].starts_with('m') => rest = &codes[end..],
            _ => panic!("{what}: {:?} in {:?}", rest[at..].chars().next(), text),
        }
    }
}

#[track_caller]
fn both(what: &str, ran: &Ran) {
    safe(what, &ran.out);
    safe(what, &ran.err);
}

#[test]
fn nothing_of_a_document_acts_on_a_terminal() {
    let place = Place::with("blueprint.yaml", &document());
    let mut shown = String::new();
    for (code, words) in [
        (0, vec!["validate", "--verbose"]),
        (0, vec!["stage", "--verbose"]),
        (0, vec!["graph"]),
        (
            4,
            vec![
                "deploy",
                "-y",
                "--var",
                "given=fail",
                "--on-failure",
                "keep-going",
            ],
        ),
        (0, vec!["deploy", "-y"]),
        (0, vec!["show"]),
        (0, vec!["show", "file"]),
        (0, vec!["show", "value"]),
        (0, vec!["show", "run"]),
        (0, vec!["list"]),
        (0, vec!["history"]),
        (0, vec!["exports"]),
        (0, vec!["eval", "variables.given"]),
        (1, vec!["eval", "to_upper(variables.give\u{202e}n)"]),
        (1, vec!["show", "x\u{1b}[2J\u{9b}"]),
        (1, vec!["explain", "x\u{1b}[2J\u{9b}"]),
        (1, vec!["exports", "x\u{1b}[2J\u{9b}"]),
    ] {
        for color in ["never", "always"] {
            if words[0] == "deploy" && color == "never" {
                continue;
            }
            let mut all = words.clone();
            all.extend(["--color", color]);
            let ran = place.run(&all);
            assert!(
                ran.code == code || ran.code == 2,
                "cyan {words:?}: {} {}{}",
                ran.code,
                ran.out,
                ran.err
            );
            // In a pipe, a value for other programs is not escaped.
            if words != ["eval", "variables.given"] {
                both(&format!("cyan {words:?}"), &ran);
                shown.push_str(&ran.out);
                shown.push_str(&ran.err);
            }
        }
    }
    assert!(
        shown.contains(r"\u{1b}[35;1mX\u{1b}]0;title\u{7}"),
        "{shown}"
    );
    assert!(!shown.contains("\nid: fake"), "an id stays on its line");
    // Texts of several lines keep their lines and tabs.
    place.write("blueprint.yaml", document().replace("\\tline", "\\tother"));
    let staged = place.ends(0, &["stage", "--color", "always"]);
    both("a difference", &staged);
    assert!(staged.out.contains("\tother"), "{}", staged.out);
    std::fs::write(
        place.path().join("p\u{1b}[35;1m\u{202e}\u{200b}\nid: fake"),
        "\u{1b}[2J\u{9b}\nby hand\n",
    )
    .unwrap();
    both(
        "drift",
        &place.ends(3, &["drift", "--exit-code", "--color", "always"]),
    );
    both(
        "a destroy",
        &place.ends(0, &["destroy", "-y", "--color", "always"]),
    );
}

/// Errors of the command line quote its arguments, which may come from a script.
#[test]
fn unknown_arguments_are_escaped_in_messages() {
    let place = Place::new();
    let word = format!("x\u{1b}[35;1mX\u{1b}]0;title\u{7}\u{9b}\u{7f}\r{RAW}\nid: fake");
    for words in [
        vec![word.as_str()],
        vec!["stage", &word, &word],
        vec!["stage", "--bogus", &word],
        vec![&*format!("--{word}")],
        vec!["stage", "--color", &word],
        vec!["stage", "--target", &word],
        vec!["deploy", "--parallelism", &word],
        vec!["deploy", "--instance", &word],
        vec!["stage", "--var", &word],
        vec!["stage", "--out", &format!("~/{word}")],
        vec!["import", "local/file", "f", &word],
    ] {
        let ran = place.ends(2, &words);
        both(&format!("cyan {words:?}"), &ran);
        assert!(!ran.err.contains("\nid: fake"), "{}", ran.err);
        assert!(ran.err.starts_with("error: "), "{}", ran.err);
    }
    let said = place.ends(2, &[&word]).err;
    assert!(
        said.contains(r"'x\u{1b}[35;1mX\u{1b}]0;title\u{7}\u{9b}\u{7f}\r"),
        "{said}"
    );
}

#[test]
fn excerpts_of_a_broken_document_are_escaped() {
    let place = Place::with(
        "blueprint.yaml",
        &format!(
            "version: 2023-04-20\nresources:\n  a{RAW}: {{type: missing/kind{RAW}, spec: {{x{RAW}: \"{YAML}\"}}}}\n"
        ),
    );
    place.write(
        "broken.yaml",
        "version: 2023-04-20\nresources: {a: \u{1b}[35;1m\u{9b}\u{7f}\u{202e}[\n",
    );
    place.write(&format!("na\u{1b}[35;1me{RAW}.yaml"), "version: [\n");
    for words in [
        vec!["validate"],
        vec!["validate", "broken.yaml"],
        vec![
            "validate",
            "na\u{1b}[35;1me\u{202e}\u{2066}\u{200b}\u{200f}\u{e0041}.yaml",
        ],
    ] {
        for color in ["never", "always"] {
            let mut words = words.clone();
            words.extend(["--color", color]);
            let ran = place.ends(1, &words);
            both(&format!("cyan {words:?}"), &ran);
            assert!(ran.err.contains("error"), "{}", ran.err);
        }
    }
}

#[test]
fn machine_output_has_the_same_values_and_only_visible_characters() {
    let place = Place::with("blueprint.yaml", &document());
    place.ends(0, &["deploy", "-y"]);
    for words in [
        vec!["stage", "--json"],
        vec!["show", "--json"],
        vec!["exports", "--json"],
        vec!["validate", "--json"],
    ] {
        let ran = place.ends(0, &words);
        both(&format!("cyan {words:?}"), &ran);
        let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        if words[0] == "exports" {
            let text = json["result"]["exports"]["text"].as_str().unwrap();
            assert!(
                text.starts_with("\u{1b}[35;1mX") && text.contains("\u{202e}\u{2066}\u{200b}"),
                "{text:?}"
            );
        }
    }
    // A value for another program is not escaped.
    let bare = place.ends(0, &["exports", "text"]).out;
    assert!(
        bare.starts_with("\u{1b}[35;1mX\u{1b}]0;title\u{7}") && bare.contains('\u{9b}'),
        "{bare:?}"
    );
}

#[test]
fn values_are_escaped_on_a_terminal() {
    let place = Place::with("blueprint.yaml", &document());
    place.ends(0, &["deploy", "-y"]);
    for words in [
        "exports text",
        "eval variables.given",
        "deploy -y",
        "console",
    ] {
        let binary = env!("CARGO_BIN_EXE_cyan");
        let mut command = Command::new("script");
        command
            .args(["-qec", &format!("'{binary}' {words}"), "/dev/null"])
            .current_dir(place.path())
            .env_clear();
        command
            .env("HOME", place.path().join("home"))
            .env("PATH", std::env::var("PATH").unwrap_or_default());
        command
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let Ok(mut child) = command.stderr(Stdio::piped()).spawn() else {
            return eprintln!("not tested: there is no `script` here");
        };
        let mut input = child.stdin.take().unwrap();
        let typed: &[u8] = if words == "console" {
            b"variables.given\n:quit\n"
        } else {
            b""
        };
        input.write_all(typed).unwrap();
        drop(input);
        let shown = ran(child.wait_with_output().unwrap()).out;
        for sign in [
            "\u{1b}[35;1m",
            "\u{1b}]0;",
            "\u{9b}",
            "\u{202e}",
            "\u{200b}",
            "\u{7f}",
        ] {
            assert!(!shown.contains(sign), "cyan {words}: {sign:?} in {shown:?}");
        }
        if words != "deploy -y" {
            assert!(shown.contains(r"\u{1b}[35;1mX"), "cyan {words}: {shown:?}");
        }
    }
}

/// Runs the binary on a terminal, and types each answer after its question is shown. Returns the
/// exit code and the output, or `None` if the program `script` is missing.
fn answered(place: &Place, words: &str, answers: &[(&str, &str)]) -> Option<(Option<i32>, String)> {
    let binary = env!("CARGO_BIN_EXE_cyan");
    let mut command = Command::new("script");
    command
        .args(["-qec", &format!("'{binary}' {words}"), "/dev/null"])
        .current_dir(place.path())
        .env_clear();
    command
        .env("HOME", place.path().join("home"))
        .env("PATH", std::env::var("PATH").unwrap_or_default());
    command
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().ok()?;
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = Vec::new();
    for (question, answer) in answers {
        let begin = shown.len();
        let mut buffer = [0; 4096];
        while !String::from_utf8_lossy(&shown[begin..]).contains(question) {
            let count = output.read(&mut buffer).unwrap();
            assert!(
                count > 0,
                "no question `{question}` in {:?}",
                String::from_utf8_lossy(&shown)
            );
            shown.extend_from_slice(&buffer[..count]);
        }
        input.write_all(answer.as_bytes()).unwrap();
    }
    drop(input);
    output.read_to_end(&mut shown).unwrap();
    Some((
        child.wait().unwrap().code(),
        String::from_utf8_lossy(&shown).into_owned(),
    ))
}

/// A document with inputs for each kind of question.
const ASKING: &str = r#"version: 2023-04-20
variables:
  size: {type: integer, description: "How many there are."}
  token: {type: string, secret: true}
  colour: {type: string, allowedValues: [red, green]}
resources:
  value: {type: std/value, spec: {input: "${variables.size} ${variables.colour}"}}
exports:
  size: {type: integer, field: variables.size}
"#;

#[test]
fn missing_inputs_are_asked_on_a_terminal() {
    let place = Place::with("blueprint.yaml", ASKING);
    let answers = [
        ("size (integer): ", "many\r"),
        ("size (integer): ", "3\r"),
        ("token (string): ", "hunter2\r"),
        ("colour (string): ", "blue\r"),
        ("colour (string): ", "gr\r"),
    ];
    let Some((code, shown)) = answered(&place, "stage", &answers) else {
        return eprintln!("not tested: there is no `script` here");
    };
    for part in [
        "How many there are.",
        "this is no integer",
        "*******",
        "  red",
        "this is none of the options",
        "value",
    ] {
        assert!(shown.contains(part), "{part:?} is missing in {shown:?}");
    }
    assert!(!shown.contains("hunter2"), "the secret is shown: {shown:?}");
    assert_eq!(code, Some(0), "{shown}");
}

#[test]
fn ctrl_c_at_a_question_ends_the_command() {
    let place = Place::with("blueprint.yaml", ASKING);
    let Some((code, shown)) = answered(&place, "deploy -y", &[("size (integer): ", "\u{3}")])
    else {
        return eprintln!("not tested: there is no `script` here");
    };
    assert_ne!(code, Some(0), "{shown}");
    assert!(
        !place.path().join("cyan.state.db").exists() && !shown.contains("created"),
        "{shown}"
    );
}

#[test]
fn a_quiet_deploy_shows_what_it_asks_about() {
    let text = "version: 2023-04-20\nresources:\n  f: {type: local/file, spec: {path: made.txt, content: x}}\n";
    let place = Place::with("blueprint.yaml", text);
    let Some((code, shown)) = answered(&place, "deploy -q", &[("Do it?", "y\r")]) else {
        return eprintln!("not tested: there is no `script` here");
    };
    assert_eq!(code, Some(0), "{shown}");
    let (before, _) = shown.split_once("Do it?").unwrap();
    assert!(before.contains("f local/file create"), "{shown}");
    assert!(place.has("made.txt"));
}

#[test]
fn stage_says_on_a_terminal_what_comes_next() {
    let text = "version: 2023-04-20\nresources:\n  f: {type: local/file, spec: {path: made.txt, content: x}}\n";
    let place = Place::with("blueprint.yaml", text);
    let Some((_, shown)) = answered(&place, "stage", &[]) else {
        return eprintln!("not tested: there is no `script` here");
    };
    assert!(
        shown.contains("`cyan deploy` with the same arguments does this."),
        "{shown}"
    );
    let (_, shown) = answered(&place, "stage --out it.plan", &[]).unwrap();
    assert!(
        shown.contains("`cyan deploy it.plan` does exactly this."),
        "{shown}"
    );
    place.ends(0, &["deploy", "-y"]);
    let (_, shown) = answered(&place, "stage", &[]).unwrap();
    assert!(shown.contains("No changes."), "{shown}");
}
