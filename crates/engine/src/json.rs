//! JSON output, format 1: one value for a read-only command, one object per line for an operation.
//!
//! Lines and columns count from 1, in characters; byte offsets are given as well. Samples are in
//! `tests/samples`.

mod codes;
mod drift;
mod event;
mod exports;
mod functions;
mod history;
mod instance;
mod plan;
mod record;
mod show;
mod stacks;
mod state;
mod tests;
mod time;
mod types;
mod validate;
mod value;

use diag::{Diagnostic, Files, Span};
use serde_json::{Value as Json, json};

pub use self::codes::{code, codes};
pub use self::drift::drift;
pub use self::event::{envelope, not_done};
pub use self::exports::{export, exports};
pub use self::functions::{functions, functions_named};
pub use self::history::{history, operation, operation_details};
pub use self::instance::{instances, unlocked};
pub use self::plan::plan;
pub use self::show::details;
pub use self::stacks::{stack_value, stack_values, stacks};
pub use self::state::{pruned, verification};
pub use self::tests::{TestedCase, tests};
pub use self::time::{time, time_of_seconds};
pub use self::types::types;
pub use self::validate::verdicts;
pub use self::value::{evaluated, value};
use crate::error::Error;

/// The version of the format.
pub const FORMAT: u32 = 1;

/// A diagnostic.
pub fn diagnostic(diagnostic: &Diagnostic, files: &Files) -> Json {
    let labels: Vec<Json> = diagnostic
        .labels
        .iter()
        .map(|label| json!({"place": place(label.span, files), "text": label.text}))
        .collect();
    let fixes: Vec<Json> = diagnostic
        .fixes
        .iter()
        .map(|fix| {
            let edits: Vec<Json> = fix
                .edits
                .iter()
                .map(|(span, text)| json!({"place": place(*span, files), "text": text}))
                .collect();
            json!({"text": fix.text, "safe": fix.safe, "edits": edits})
        })
        .collect();
    let trail: Vec<Json> = diagnostic
        .trail
        .iter()
        .map(|step| json!({"place": place(step.span, files), "text": step.text}))
        .collect();
    let mut json = json!({
        "code": diagnostic.code.name,
        "severity": diagnostic.severity.word(),
        "message": diagnostic.message,
        "place": place(diagnostic.span(), files),
        "labels": labels,
        "notes": diagnostic.notes,
        "help": diagnostic.help,
        "fixes": fixes,
        "trail": trail,
    });
    // Heat's own message, if the diagnostic has one.
    if let Some(words) = &diagnostic.native_message {
        json["heat"] = json!(words.to_string());
    }
    json
}

/// An error that is no diagnostic, in the form of a diagnostic without a code. `help` is its
/// advice.
pub fn error(error: &Error, help: &[String]) -> Json {
    json!({
        "code": null,
        "severity": "error",
        "message": error.to_string(),
        "place": null,
        "labels": [],
        "notes": error.causes(),
        "help": help,
        "fixes": [],
        "trail": [],
    })
}

fn place(span: Span, files: &Files) -> Json {
    let Some(file) = files.get(span.file) else {
        return Json::Null;
    };
    let point = |offset: u32| {
        let position = file.position(offset);
        json!({"line": position.line, "column": position.column, "byte": offset})
    };
    json!({"file": file.name(), "start": point(span.start), "end": point(span.end)})
}
