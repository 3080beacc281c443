//! Values as machine output.

use crate::phases::plan_file::hidden;
use blueprint::Value;
use serde_json::{Value as Json, json};

/// A value of a document or the state; secrets as `(secret)` unless they are to be revealed.
pub fn value(value: &Value, reveal: bool) -> Json {
    let shown = if reveal {
        value.revealed()
    } else {
        hidden(value)
    };
    // A function cannot be serialised, but no export is a function.
    serde_json::to_value(&shown).unwrap_or(Json::Null)
}

/// The value of an expression, and whether it is known before a deployment.
pub fn evaluated(evaluated: &Value, reveal: bool) -> Json {
    json!({"value": value(evaluated, reveal), "known": !evaluated.has_unknown()})
}
