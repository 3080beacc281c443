//! `local/command`: a resource that commands create, update, read and delete.
//!
//! Without a `read` command the recorded resource counts as existing, and a lost call cannot be
//! told from a call that never ran. With `read` it can, but the output of a lost call is unknown,
//! not empty.

use std::time::Duration;

use blueprint::{FieldPath, Name, Value, parse_duration};
use provider::{
    Applied, ApplyRequest, Call, CheckFindings, ErrorKind, Observed, Operation, PlanRequest,
    Planned, ProviderError, ReadOutcome, ReadRequest, Scrubber,
};

use super::place::{entries, folder_of_commands, is_set, text};
use super::process::{self, ProgramEnd, ProgramRun};
use super::requests::deleted;
use super::whole_file;

const ACTIONS: [&str; 4] = ["create", "update", "delete", "read"];
/// Fields whose change is only recorded, because they concern later operations.
const ONLY_RECORDED: [&str; 4] = ["read", "delete", "timeout", "update"];
/// The time limit of a command without `timeout`.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);
/// The exit code of `read` that means that the resource does not exist.
const GONE: i32 = 3;
/// The warning about a secret in a command.
pub(super) const SECRET_IN_COMMAND_LINE: &str = "a secret in a command line shows in the list of processes: hand it over by `stdin` or `environment`";
/// Limits of the part of stderr that the error of a failed command shows.
const TAIL_LINES: usize = 20;
const TAIL_CHARACTERS: usize = 2000;

/// Checks that commands are not empty, and that the timeout is a duration.
pub(super) fn check(spec: &Value) -> CheckFindings {
    let mut checked = CheckFindings::default();
    for action in ACTIONS {
        let Some(command) = spec.get(action) else {
            continue;
        };
        let empty = match command.unmarked() {
            Value::Text(text) => text.trim().is_empty(),
            Value::List(items) => items
                .first()
                .is_none_or(|program| program.as_text() == Some("")),
            _ => false,
        };
        if command.has_secret() {
            checked.warn(action, SECRET_IN_COMMAND_LINE);
        }
        if empty {
            checked.refuse(action, format!("the command `{action}` is empty"));
        }
    }
    if let Some(timeout) = text(spec, "timeout")
        && let Err(error) = parse_duration(timeout)
    {
        checked.refuse("timeout", format!("`{timeout}` is {error}"));
    }
    if spec.get("interpreter").is_some_and(Value::has_secret) {
        checked.warn("interpreter", SECRET_IN_COMMAND_LINE);
    }
    if spec
        .get("interpreter")
        .and_then(Value::as_list)
        .is_some_and(<[Value]>::is_empty)
    {
        checked.refuse(
            "interpreter",
            "the interpreter is empty: write the program and its arguments",
        );
    }
    checked
}

/// Plans an update: finds the changes that are only recorded.
pub(super) fn plan(request: &PlanRequest<'_>) -> Planned {
    let mut planned = Planned::default();
    if !request.prior_inputs.is_null() {
        let differs =
            |field: &&str| written(request.prior_inputs, field) != written(request.desired, field);
        planned.only_recorded = ONLY_RECORDED
            .into_iter()
            .filter(differs)
            .map(FieldPath::field)
            .collect();
    }
    planned
}

fn written(spec: &Value, field: &str) -> Option<Value> {
    spec.get(field)
        .filter(|value| !value.is_null())
        .map(Value::revealed)
}

/// The program and arguments of an action. A text runs through `sh -c` or the `interpreter`; a list
/// runs directly.
fn words(spec: &Value, action: &str) -> Option<Vec<String>> {
    match spec.get(action)?.unmarked() {
        Value::Text(script) => {
            let mut words: Vec<String> = match spec.get("interpreter").and_then(Value::as_list) {
                Some(interpreter) => interpreter.iter().filter_map(argument).collect(),
                None => vec!["sh".into(), "-c".into()],
            };
            words.push(script.to_string());
            Some(words)
        }
        Value::List(items) => Some(items.iter().filter_map(argument).collect()),
        _ => None,
    }
}

fn argument(value: &Value) -> Option<String> {
    match value.unmarked() {
        Value::Null => None,
        Value::Text(text) => Some(text.to_string()),
        other => Some(other.to_string()),
    }
}

/// Runs one action. `word` is the value of `CYAN_ACTION`.
async fn act(
    call: &Call,
    spec: &Value,
    words: Vec<String>,
    word: &str,
    token: &str,
) -> Result<ProgramEnd, ProviderError> {
    let base = folder_of_commands(call);
    let folder =
        text(spec, "workingDir").map_or_else(|| base.clone(), |folder| base.join(folder).into());
    let limit = match text(spec, "timeout") {
        Some(limit) => parse_duration(limit).map_err(|error| {
            ProviderError::new(ErrorKind::Document, format!("`{limit}` is {error}")).at("timeout")
        })?,
        None => DEFAULT_TIMEOUT,
    };
    let mut environment: Vec<(String, String)> = Vec::new();
    for (name, value) in spec
        .get("environment")
        .and_then(Value::as_map)
        .into_iter()
        .flatten()
    {
        environment.extend(argument(value).map(|value| (name.to_string(), value)));
    }
    environment.push(("CYAN_ACTION".into(), word.into()));
    environment.push(("CYAN_ADDRESS".into(), call.address.to_string()));
    environment.push(("CYAN_TOKEN".into(), token.into()));
    let scrub = Scrubber::of([spec, &call.settings]);
    let stdin = text(spec, "stdin").map(str::to_owned);
    process::run(
        call,
        ProgramRun {
            words,
            folder,
            environment,
            stdin,
            limit,
            limited_by: "timeout",
            scrub,
        },
    )
    .await
}

/// The error of a command with another exit code than 0.
pub(super) fn failure(what: &str, ended: &ProgramEnd, scrub: &Scrubber) -> ProviderError {
    let how = match (ended.code, ended.signal) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "did not end well".into(),
    };
    let errors = String::from_utf8_lossy(&ended.stderr);
    let lines: Vec<&str> = errors.trim_end().lines().collect();
    let tail = lines
        .get(lines.len().saturating_sub(TAIL_LINES)..)
        .unwrap_or_default();
    let tail = tail
        .iter()
        .map(|line| scrub.clean(line.trim_end()))
        .collect::<Vec<_>>()
        .join("\n");
    let start = tail
        .char_indices()
        .rev()
        .nth(TAIL_CHARACTERS)
        .map_or(0, |(at, _)| at);
    let tail = tail.get(start..).unwrap_or_default();
    let message = if tail.is_empty() {
        format!("{what} {how}")
    } else {
        format!("{what} {how}:\n{tail}")
    };
    ProviderError::new(ErrorKind::Permanent, message)
}

/// The output of a command without trailing line breaks, as `$(..)` in a shell returns it.
pub(super) fn printed(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .trim_end_matches(['\n', '\r'])
        .to_owned()
}

/// The value of a JSON text; null if the text is not JSON.
fn json(text: &str) -> Value {
    serde_json::from_str(text)
        .map(|value| from_json(&value))
        .unwrap_or_default()
}

fn from_json(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) if number.is_finite() => Value::Float(number),
            _ => Value::Decimal(number.to_string().into()),
        },
        serde_json::Value::String(text) => Value::text(text.as_str()),
        serde_json::Value::Array(items) => Value::list(items.iter().map(from_json)),
        serde_json::Value::Object(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.as_str(), from_json(value))),
        ),
    }
}

/// The id of a resource, derived from the token of the create, so that a repeated create gives the
/// same id.
fn id_of(token: &str) -> Name {
    format!(
        "command-{}",
        whole_file::digest(token.as_bytes())
            .get(..12)
            .unwrap_or_default()
    )
    .into()
}

/// All fields of the resource. The output is unknown if the end of the command was not observed.
fn fields(spec: &Value, id: &Name, ended: Option<&ProgramEnd>) -> Value {
    // The output of a command with a secret in its spec may hold the secret in any form.
    let secret = spec.has_secret();
    let mut fields = entries(spec);
    fields.insert("id".into(), Value::Text(id.clone()));
    let [stdout, stderr, json, code] = match ended {
        Some(ended) => {
            let stdout = printed(&ended.stdout);
            let json = json(&stdout);
            [
                stdout.into(),
                printed(&ended.stderr).into(),
                json,
                Value::Int(0),
            ]
        }
        None => [(); 4].map(|()| Value::unknown(None, None)),
    };
    fields.insert("json".into(), json.tainted(secret));
    fields.insert("stdout".into(), stdout.tainted(secret));
    fields.insert("stderr".into(), stderr.tainted(secret));
    fields.insert("exitCode".into(), code);
    Value::map(fields)
}

/// Runs the `read` command. Without one the recorded resource is returned, and the outcome of an
/// interrupted call is unknown (decisions/apply#cut-off-runs), unless the call ran no command. The
/// output of an interrupted create is lost.
pub(super) async fn read(
    call: &Call,
    request: ReadRequest<'_>,
) -> Result<ReadOutcome, ProviderError> {
    let token = request.token.unwrap_or(&call.token);
    let id: Name = request.id.map_or_else(|| id_of(token), Into::into);
    // The request after an interrupted delete has no inputs. The last returned fields contain the
    // same commands.
    let spec = if request.inputs.is_null() {
        request.outputs
    } else {
        request.inputs
    };
    match words(spec, "read") {
        Some(words) => {
            let ended = act(call, spec, words, "read", token).await?;
            match ended.code {
                Some(0) => {}
                Some(GONE) => return Ok(ReadOutcome::Absent),
                _ => {
                    return Err(failure(
                        "the command `read`",
                        &ended,
                        &Scrubber::of([spec, &call.settings]),
                    )
                    .at("read"));
                }
            }
        }
        None => {
            let was_delete = request.inputs.is_null();
            let ran_nothing = was_delete && words(spec, "delete").is_none();
            if request.id.is_none() || (request.token.is_some() && !ran_nothing) {
                return Ok(ReadOutcome::Unknown);
            }
        }
    }
    let fields = if request.outputs.is_null() {
        fields(spec, &id, None)
    } else {
        request.outputs.clone()
    };
    Ok(ReadOutcome::Present(Observed {
        id,
        fields,
        private: request.private.clone(),
        expired: None,
        ..Observed::default()
    }))
}

/// Runs the command of the operation.
pub(super) async fn apply(
    call: &Call,
    request: ApplyRequest<'_>,
) -> Result<Applied, ProviderError> {
    let scrub = Scrubber::of([request.desired, request.prior_inputs, &call.settings]);
    let (spec, action) = match request.operation {
        Operation::Delete => (request.prior_inputs, "delete"),
        Operation::Update if is_set(request.desired, "update") => (request.desired, "update"),
        Operation::Update | Operation::Create => (request.desired, "create"),
    };
    let deleting = request.operation == Operation::Delete;
    let Some(words) = words(spec, action) else {
        if deleting {
            return Ok(deleted(Vec::new()));
        }
        return Err(ProviderError::new(
            ErrorKind::Document,
            format!("the command `{action}` is missing"),
        )
        .at(action));
    };
    let ended = act(call, spec, words, request.operation.word(), &call.token).await?;
    if ended.code != Some(0) {
        return Err(failure(&format!("the command `{action}`"), &ended, &scrub).at(action));
    }
    if deleting {
        return Ok(deleted(Vec::new()));
    }
    let mut warnings = Vec::new();
    if ended.cut {
        warnings.push(format!(
            "the command printed more than {} KiB: the rest is not kept",
            process::MOST_KEPT >> 10
        ));
    }
    let id: Name = request
        .id
        .filter(|id| !id.is_empty())
        .map_or_else(|| id_of(&call.token), Into::into);
    let fields = fields(request.desired, &id, Some(&ended));
    Ok(Applied::ready(id, fields).with_warnings(warnings))
}
