//! One step of a case as a command of the binary.

use serde_json::Value;

use crate::place::{Place, Ran, ran};
use crate::runner::last_name;

/// An operation that a plan announces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Announced(String, String);

impl Announced {
    pub(crate) fn new(op: &str, name: &str) -> Announced {
        Announced(op.to_owned(), name.to_owned())
    }

    /// Gives the resource `former` another name.
    pub(crate) fn rename(&mut self, former: &str, name: &str) {
        if self.1 == former {
            name.clone_into(&mut self.1);
        }
    }
}

/// What came of a step.
pub(crate) struct Stepped {
    pub(crate) ok: bool,
    /// Nothing was begun.
    pub(crate) refused: bool,
    pub(crate) ops: Vec<Announced>,
    /// What the command printed.
    pub(crate) said: String,
}

/// Runs the command of a step. `Err` if there is none.
pub(crate) fn take(place: &Place, what: &str, step: &Value, port: &str) -> Result<Stepped, String> {
    let mut words: Vec<String> = match what {
        "preview" => vec!["stage"],
        "up" => vec!["deploy", "--yes"],
        "destroy" => vec!["destroy", "--yes"],
        "destroy-preview" => vec!["destroy"],
        "refresh" => vec!["refresh", "--yes"],
        "refresh-preview" => vec!["drift"],
        "import" => vec!["import", "--yes"],
        "state-unprotect" => vec!["state", "unprotect", "--yes"],
        "state-rename" => vec!["state", "move", "--yes"],
        "state-delete" => vec!["state", "remove", "--yes"],
        other => return Err(format!("no command for `{other}`")),
    }
    .into_iter()
    .map(str::to_owned)
    .collect();
    words.extend(["--json", "-i", "dev"].map(str::to_owned));
    for word in texts(&step["flags"]) {
        match word {
            "--continue-on-error" => words.push("--on-failure=keep-going".to_owned()),
            word => words.push(word.to_owned()),
        }
    }
    let arguments = texts(&step["args"]);
    match (what, arguments.as_slice()) {
        ("import", [kind, name, id]) => {
            words.extend([format!("pulumi:{}", kind.replacen(':', "/", 1))]);
            words.extend([id.to_string(), name.to_string()]);
        }
        (_, all) => words.extend(all.iter().map(|word| (*word).to_owned())),
    }
    let all: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = place.cyan(&all);
    command.env("PULUMI_DEBUG_PROVIDERS", format!("sim:{port}"));
    Ok(stepped(&words, &ran(command.output().unwrap())))
}

/// What came of a command, from its output.
pub(crate) fn stepped(words: &[String], ran: &Ran) -> Stepped {
    let mut plan = Value::Null;
    for line in ran.out.lines() {
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        if event["event"] == "plan" {
            plan = event;
        } else if event["command"] == "stage" {
            plan = event["result"].clone();
        }
    }
    Stepped {
        ok: ran.code == 0,
        refused: matches!(ran.code, 1 | 2),
        ops: operations(&plan),
        said: format!("cyan {}\n{}{}", words.join(" "), ran.out, ran.err),
    }
}

/// The operations of a plan in the words of the recorded tool. A replacement is three of them; a
/// move is none. Default configurations have no step there.
fn operations(plan: &Value) -> Vec<Announced> {
    let mut all = Vec::new();
    for step in plan["steps"].as_array().into_iter().flatten() {
        let address = step["address"].as_str().unwrap_or_default();
        let action = step["action"].as_str().unwrap_or_default();
        let reasons = texts(&step["reasons"]);
        let failed = reasons.first() == Some(&"failed-before");
        let ops: &[&str] = match action {
            _ if address.starts_with("default:") => &[],
            // The rest of a replacement whose other half is done.
            "create" if failed => &["create-replacement", "replace"],
            "delete" if failed => &["delete-replaced"],
            "update" if reasons.contains(&"imported") => &["import", "update"],
            "replace" => &["create-replacement", "delete-replaced", "replace"],
            "detach" => &["delete"],
            "move" | "none" => &[],
            action => &[action],
        };
        // A displaced record has an address of its own.
        let name = last_name(address);
        let name = name.trim_matches('"').trim_end_matches(" (former)");
        all.extend(ops.iter().map(|op| Announced::new(op, name)));
    }
    all
}

fn texts(values: &Value) -> Vec<&str> {
    let values = values.as_array();
    values
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}
