//! What the API server says when it refuses a request: the object `Status` of `meta/v1` as a typed
//! failure.
//!
//! Not here: failures without an answer, such as a lost connection; when a request is repeated.

use blueprint::{FieldPath, Name};
use serde_json::Value as Json;

use crate::{GroupKind, field_path};

/// A request that was refused.
#[derive(Clone, Copy, Debug)]
pub struct FailedRequest<'a> {
    /// The kind of the object.
    pub kind: &'a GroupKind,
    /// The object that was sent, or the object as read. Paths of fields are resolved against it.
    pub object: Option<&'a Json>,
}

/// The answer to a refused request.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiFailure {
    /// The HTTP code.
    pub code: u16,
    /// Why.
    pub reason: FailureReason,
    /// The message of the server, as it is. It may repeat values of the object.
    pub message: String,
    /// The number of seconds after which the request may be repeated, if the server says so.
    pub retry_after_seconds: Option<u64>,
}

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum FailureReason {
    /// The object does not exist.
    ObjectMissing,
    /// This namespace, in which the object would be, does not exist.
    NamespaceMissing(Name),
    /// The server does not serve the kind in this version.
    KindMissing,
    /// The namespace of the object is being deleted, so nothing is created in it.
    NamespaceTerminating,
    /// There is an object with this name.
    AlreadyExists {
        /// Whether it is being deleted.
        deleting: bool,
    },
    /// Other managers hold fields that the request changes.
    FieldConflicts(Vec<FieldConflict>),
    /// The object has changed since the version that the request names.
    Modified,
    /// The request is for an object with a certain uid, and there is no object with its name.
    Vanished,
    /// The request is for an object with a certain uid, and the object with its name has another
    /// one.
    MadeAnew,
    /// Fields are not valid.
    Invalid(Vec<InvalidField>),
    /// The account does not have the right.
    NoRight,
    /// The credentials are missing, wrong or expired.
    Unauthorized,
    /// A webhook or an admission policy of this name refuses the object.
    Denied {
        /// Its name.
        by: Name,
        /// Its own words.
        message: String,
    },
    /// An admission plugin of the server refuses the object, for example because of a quota.
    Refused,
    /// The webhook of this name cannot be called in a dry run.
    NoDryRun(Name),
    /// The webhook of this name could not be called.
    WebhookFailed(Name),
    /// The server has too many requests.
    TooManyRequests,
    /// The server did not answer in time. The request may have been carried out.
    Timeout,
    /// The server, or the one behind it, is not available.
    Unavailable,
    /// The version of a list or watch is too old.
    Expired,
    /// The kind does not support this request.
    NotSupported,
    /// The request as a whole is not understood.
    BadRequest,
    /// The server failed.
    Internal,
    /// Another reason, with the word of the server for it.
    Other(Name),
}

/// A field that another manager holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldConflict {
    /// The field.
    pub path: FieldPath,
    /// The field as the server writes it.
    pub written: Name,
    /// The manager that holds it.
    pub manager: Name,
    /// The subresource through which it was written, for example `status`.
    pub subresource: Option<Name>,
}

/// A field that is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidField {
    /// The field. The whole object if the server names none.
    pub path: FieldPath,
    /// The field as the server writes it.
    pub written: Name,
    /// What is wrong.
    pub problem: FieldProblem,
    /// The words of the server about the field.
    pub message: String,
}

/// What is wrong with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldProblem {
    /// Its value is not valid.
    Value,
    /// Its value cannot be changed.
    Immutable,
    /// The kind has no such field.
    Undeclared,
}

impl ApiFailure {
    /// The failure of an answer. `body` may be any text: a proxy, or a server that does not know
    /// the path, answers without an object.
    pub fn of_answer(code: u16, body: &str, request: FailedRequest<'_>) -> ApiFailure {
        match serde_json::from_str::<Json>(body) {
            Ok(status) if status.is_object() => ApiFailure::of_status(code, &status, request),
            _ => ApiFailure {
                code,
                reason: reason_of_code(code),
                message: body.trim().to_owned(),
                retry_after_seconds: None,
            },
        }
    }

    /// The failure of an object `Status`. Its own code counts; `code` is that of the answer.
    pub fn of_status(code: u16, status: &Json, request: FailedRequest<'_>) -> ApiFailure {
        let own_code = status["code"].as_u64();
        let code = own_code
            .and_then(|code| u16::try_from(code).ok())
            .filter(|code| *code != 0)
            .unwrap_or(code);
        let message = status["message"].as_str().unwrap_or_default();
        let answer = StatusReader {
            code,
            message,
            reason: status["reason"].as_str().unwrap_or_default(),
            details: &status["details"],
            request,
        };
        ApiFailure {
            code,
            reason: answer.reason(),
            message: message.to_owned(),
            retry_after_seconds: status["details"]["retryAfterSeconds"]
                .as_u64()
                .filter(|seconds| *seconds > 0),
        }
    }

    /// Whether the same request may succeed later without a change. It may have been carried out if
    /// the reason is [`FailureReason::Timeout`] or [`FailureReason::Internal`].
    pub fn is_transient(&self) -> bool {
        match &self.reason {
            FailureReason::TooManyRequests
            | FailureReason::Timeout
            | FailureReason::Unavailable
            | FailureReason::WebhookFailed(_)
            | FailureReason::Internal
            | FailureReason::AlreadyExists { deleting: true } => true,
            _ => self.retry_after_seconds.is_some(),
        }
    }
}

/// The reason of an answer without an object.
fn reason_of_code(code: u16) -> FailureReason {
    match code {
        400 => FailureReason::BadRequest,
        401 => FailureReason::Unauthorized,
        403 => FailureReason::NoRight,
        404 => FailureReason::KindMissing,
        405 | 406 | 415 => FailureReason::NotSupported,
        408 | 504 => FailureReason::Timeout,
        410 => FailureReason::Expired,
        429 => FailureReason::TooManyRequests,
        502 | 503 => FailureReason::Unavailable,
        500 => FailureReason::Internal,
        other => FailureReason::Other(other.to_string().into()),
    }
}

/// An object `Status` and the request that it answers.
struct StatusReader<'a> {
    code: u16,
    message: &'a str,
    reason: &'a str,
    details: &'a Json,
    request: FailedRequest<'a>,
}

impl StatusReader<'_> {
    fn reason(&self) -> FailureReason {
        if let Some(reason) = self.admission() {
            return reason;
        }
        let fields = self.fields_of_message();
        if !fields.is_empty() {
            return FailureReason::Invalid(fields);
        }
        match self.reason {
            "NotFound" => self.missing(),
            "AlreadyExists" => FailureReason::AlreadyExists {
                deleting: self.message.contains("object is being deleted"),
            },
            "Conflict" => self.conflict(),
            "Invalid" => self.invalid(),
            "Forbidden" => self.forbidden(),
            "Unauthorized" => FailureReason::Unauthorized,
            "TooManyRequests" => FailureReason::TooManyRequests,
            "Timeout" | "ServerTimeout" => FailureReason::Timeout,
            "ServiceUnavailable" => FailureReason::Unavailable,
            "Expired" | "Gone" => FailureReason::Expired,
            "MethodNotAllowed" | "NotAcceptable" | "UnsupportedMediaType" => {
                FailureReason::NotSupported
            }
            "BadRequest" => FailureReason::BadRequest,
            "InternalError" => FailureReason::Internal,
            "" | "Unknown" => reason_of_code(self.code),
            other => match reason_of_code(self.code) {
                FailureReason::Other(_) | FailureReason::KindMissing => {
                    FailureReason::Other(other.into())
                }
                reason => reason,
            },
        }
    }

    fn causes(&self) -> impl Iterator<Item = &Json> {
        self.details["causes"].as_array().into_iter().flatten()
    }

    fn has_cause(&self, reason: &str) -> bool {
        self.causes().any(|cause| cause["reason"] == *reason)
    }

    /// Refusals by webhooks and policies. Their codes and reasons are chosen by themselves.
    fn admission(&self) -> Option<FailureReason> {
        if let Some(rest) = after(self.message, "admission webhook ") {
            let (name, rest) = quoted(rest)?;
            if rest.starts_with(" does not support dry run") {
                return Some(FailureReason::NoDryRun(name));
            }
            let words = rest.strip_prefix(" denied the request")?;
            return Some(FailureReason::Denied {
                by: name,
                message: words.trim_start_matches([':', ' ']).to_owned(),
            });
        }
        if let Some(rest) = after(self.message, "failed calling webhook ") {
            return Some(FailureReason::WebhookFailed(quoted(rest)?.0));
        }
        let policy = after(self.message, "ValidatingAdmissionPolicy '")?;
        let (name, rest) = policy.split_once('\'')?;
        let (_, words) = rest.split_once("denied request")?;
        Some(FailureReason::Denied {
            by: name.into(),
            message: words.trim_start_matches([':', ' ']).to_owned(),
        })
    }

    /// The server answers for the namespace of an object as it does for a namespace that is itself
    /// the object.
    fn missing(&self) -> FailureReason {
        let name = self.details["name"].as_str().unwrap_or_default();
        let is_namespace = self.details["kind"] == "namespaces"
            && self.details["group"]
                .as_str()
                .unwrap_or_default()
                .is_empty();
        match name {
            "" => FailureReason::KindMissing,
            _ if is_namespace && !self.request.kind.is("", "Namespace") => {
                FailureReason::NamespaceMissing(name.into())
            }
            _ => FailureReason::ObjectMissing,
        }
    }

    fn conflict(&self) -> FailureReason {
        let conflicts: Vec<FieldConflict> = self
            .causes()
            .filter(|cause| cause["reason"] == "FieldManagerConflict")
            .map(|cause| self.field_conflict(cause))
            .collect();
        if !conflicts.is_empty() {
            return FailureReason::FieldConflicts(conflicts);
        }
        if self.message.contains("no existing object was found") {
            return FailureReason::Vanished;
        }
        if self.message.contains("UID in precondition") {
            return FailureReason::MadeAnew;
        }
        FailureReason::Modified
    }

    /// The cause says `conflict with "MANAGER" with subresource "NAME" using VERSION at TIME`; only
    /// the manager is always there.
    fn field_conflict(&self, cause: &Json) -> FieldConflict {
        let message = cause["message"].as_str().unwrap_or_default();
        let manager = after(message, "conflict with ").and_then(quoted);
        let subresource = manager
            .as_ref()
            .and_then(|(_, rest)| quoted(rest.strip_prefix(" with subresource ")?));
        let written = cause["field"].as_str().unwrap_or_default();
        FieldConflict {
            path: field_path(written, self.request.object),
            written: written.into(),
            manager: manager.map_or_else(|| message.into(), |(name, _)| name),
            subresource: subresource.map(|(name, _)| name),
        }
    }

    fn invalid(&self) -> FailureReason {
        let mut fields: Vec<InvalidField> = self
            .causes()
            .map(|cause| {
                let text = |name: &str| cause[name].as_str().unwrap_or_default();
                let written = text("field");
                // A text that names no field is about the object.
                let written = if written == "<nil>" { "" } else { written };
                self.field(written, text("message"))
            })
            .collect();
        let is_uid = |field: &InvalidField| {
            *field.written == *"metadata.uid" && field.problem == FieldProblem::Immutable
        };
        if fields.iter().any(is_uid) {
            return FailureReason::MadeAnew;
        }
        if fields.is_empty() {
            fields.push(self.field("", self.message));
        }
        FailureReason::Invalid(fields)
    }

    fn field(&self, written: &str, message: &str) -> InvalidField {
        InvalidField {
            path: field_path(written, self.request.object),
            written: written.into(),
            problem: problem(message),
            message: message.to_owned(),
        }
    }

    fn forbidden(&self) -> FailureReason {
        let is_ending = self.message.contains("because it is being terminated");
        if is_ending || self.has_cause("NamespaceTerminating") {
            return FailureReason::NamespaceTerminating;
        }
        // The authorizer writes `User "U" cannot VERB resource "R" ..`, admission other words.
        let is_right = after(self.message, "User \"")
            .and_then(|rest| after(rest, "\" cannot "))
            .is_some_and(|rest| rest.contains("resource ") || rest.contains("path "));
        if is_right {
            FailureReason::NoRight
        } else {
            FailureReason::Refused
        }
    }

    /// Fields that only the message names: what the schema does not declare, or what has another
    /// type. Server-side apply answers these with 500 and without a reason.
    fn fields_of_message(&self) -> Vec<InvalidField> {
        let message = self.message;
        if let Some(rest) = after(message, "failed to create typed patch object") {
            // The object follows in brackets.
            let end = if rest.starts_with(" (") { "): " } else { ": " };
            let words = rest.split_once(end).map_or(rest, |(_, words)| words);
            let lines = words.strip_prefix("errors:").unwrap_or(words).lines();
            let found = lines.filter_map(|line| {
                let line = line.trim();
                // The path may hold `: ` only inside quotes.
                let (written, words) = split_path(line)?;
                Some(self.field(written, words))
            });
            return found.collect();
        }
        let strict = message.contains("strict decoding error");
        let Some(rest) = after(message, "strict decoding error: ").filter(|_| strict) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut rest = rest;
        while let Some(at) = rest.find("field \"") {
            let start = rest[..at].rfind(", ").map_or(0, |comma| comma + 2);
            let words = rest[start..at].trim();
            let Some((written, after)) = quoted(&rest[at + "field ".len()..]) else {
                break;
            };
            let problem = if words == "unknown" {
                FieldProblem::Undeclared
            } else {
                FieldProblem::Value
            };
            found.push(InvalidField {
                problem,
                ..self.field(&written, &format!("{words} field"))
            });
            rest = after;
        }
        found
    }
}

/// Splits `.a.b[name="x: y"]: words` after the path.
fn split_path(line: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let is_end = |(at, character): &(usize, char)| {
        if *character == '"' {
            quoted = !quoted;
        }
        *character == ':' && !quoted && line[*at..].starts_with(": ")
    };
    let (at, _) = line.char_indices().find(is_end)?;
    let (path, words) = (&line[..at], &line[at + 2..]);
    path.starts_with(['.', '[']).then_some((path, words))
}

/// Words of the server for a value that cannot be changed. There is no code for it.
const IMMUTABLE: [&str; 8] = [
    "immutable",
    "may not change",
    "cannot change",
    "can not change",
    "cannot be changed",
    "may not be changed",
    "cannot be updated",
    "may not update",
];

fn problem(message: &str) -> FieldProblem {
    if message.contains("field not declared in schema") || message.contains("unknown field") {
        return FieldProblem::Undeclared;
    }
    // The value that the message repeats decides nothing.
    let words = message
        .strip_prefix("Invalid value: ")
        .map_or(message, after_value);
    let updates = words.contains("updates to ")
        && (words.contains("forbidden") || words.contains("not allowed"));
    if updates || IMMUTABLE.iter().any(|phrase| words.contains(phrase)) {
        FieldProblem::Immutable
    } else {
        FieldProblem::Value
    }
}

/// The text after a value at the beginning: a text in quotes, JSON, or a value as Go writes it.
fn after_value(text: &str) -> &str {
    if let Some((_, rest)) = quoted(text) {
        return rest;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Json>();
    if let Some(Ok(_)) = values.next() {
        return text.get(values.byte_offset()..).unwrap_or(text);
    }
    text.rsplit_once("}: ").map_or(text, |(_, rest)| rest)
}

/// The text after the first occurrence of another text.
fn after<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.find(start).map(|at| &text[at + start.len()..])
}

/// Reads a quoted text at the beginning. Returns it and what follows it.
fn quoted(text: &str) -> Option<(Name, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut escaped = false;
    let end = inside.find(|character| {
        let ends = character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        ends
    })?;
    let whole = &text[..end + 2];
    let plain = serde_json::from_str::<String>(whole);
    let name = plain.map_or_else(|_| inside[..end].into(), Name::from);
    Some((name, &inside[end + 1..]))
}

#[cfg(test)]
mod tests;
