//! Errors of the command line itself: as text by `clap`, or as machine output if `--json` is among
//! the arguments.
//!
//! Not here: the advice in them (`usage_advice`), and errors of a command that was parsed (`exit`).

use std::ffi::OsString;
use std::io::{self, Write as _};

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use engine::json;
use engine::run::Clock;
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::exit::Exit;
use crate::terminal::{ColorChoice, Terminal, escape};
use crate::usage_advice::advised;

/// Prints the parse error, or the help or version that the arguments request.
pub(crate) fn report(error: clap::Error, words: &[OsString]) -> Exit {
    let error = &advised(error, words);
    let read: Vec<&str> = words
        .iter()
        .skip(1)
        .filter_map(|word| word.to_str())
        .take_while(|word| *word != "--")
        .collect();
    if error.use_stderr() && read.contains(&"--json") {
        let mut terminal = Terminal::new(ColorChoice::Never, true, false, false);
        terminal.write_result(&machine(error, &read));
        return Exit::Usage;
    }
    // A closed pipe is no error: the reader of the help may stop early.
    let _ = match visible(words) {
        None => error.print(),
        // The message quotes arguments with control characters: parse the escaped arguments again.
        Some(words) => match Arguments::try_parse_from(&words) {
            Err(error) if error.use_stderr() => {
                let error = advised(error, &words);
                match is_visible(&error.render().to_string()) {
                    true => error.print(),
                    false => io::stderr().write_all(escape(&error.render().to_string()).as_bytes()),
                }
            }
            _ => io::stderr().write_all(escape(&error.render().to_string()).as_bytes()),
        },
    };
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Done
    }
}

/// Returns the arguments with all control characters escaped; `None` if there are none.
fn visible(words: &[OsString]) -> Option<Vec<OsString>> {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let clean: Vec<_> = words
        .iter()
        .map(|word| diag::visible_line(word).into_owned())
        .collect();
    (words != clean).then(|| clean.into_iter().map(OsString::from).collect())
}

fn is_visible(text: &str) -> bool {
    escape(text) == text
}

/// Returns the machine output for a command line that could not be parsed, in the format of its
/// command if that is known.
fn machine(error: &clap::Error, words: &[&str]) -> String {
    let all = Arguments::command();
    let command = words
        .iter()
        .find_map(|word| all.find_subcommand(word))
        .map(clap::Command::get_name);
    let mut diagnostic = diagnostic(error);
    if !is_operation(command, words) {
        let value = json!({"format": json::FORMAT, "command": command, "diagnostics": [diagnostic], "result": null});
        return format!("{value}\n");
    }
    diagnostic["event"] = "diagnostic".into();
    let now = json::time(Clock::System.now_ms());
    diagnostic["time"] = now.as_str().into();
    let summary = json!({
        "time": now,
        "event": "summary", "created": 0, "updated": 0, "deleted": 0, "replaced": 0, "exit": Exit::Usage as u8,
    });
    format!("{diagnostic}\n{summary}\n")
}

/// Whether the output has one line per event. Corresponds to `Command::is_operation` for a parsed
/// command.
fn is_operation(command: Option<&str>, words: &[&str]) -> bool {
    match command {
        Some("deploy" | "destroy" | "reconcile" | "rollback" | "import") => true,
        Some("drift") => words.contains(&"--accept"),
        Some("state") => !words.iter().any(|word| ["export", "verify"].contains(word)),
        _ => false,
    }
}

/// Returns the error in the form of a diagnostic without a code.
fn diagnostic(error: &clap::Error) -> Value {
    let said = error.render().to_string();
    let mut lines = said.lines();
    let mut message = lines
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned();
    let (mut notes, mut help) = (Vec::new(), Vec::new());
    for line in lines.map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(tip) = line.strip_prefix("tip: ") {
            help.push(tip.to_owned());
        } else if line.starts_with("Usage: ") {
            notes.push(line.to_owned());
        } else if line.starts_with("For more information") {
            break;
        } else if notes.is_empty() && help.is_empty() {
            // The message lists missing arguments on separate lines.
            message = format!("{message} {line}");
        }
    }
    if let ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =
        error.kind()
    {
        message = "a command is missing".to_owned();
    }
    json!({
        "code": null, "severity": "error", "message": message, "place": null, "labels": [],
        "notes": notes, "help": help, "fixes": [], "trail": [],
    })
}
