//! Diagnostic codes as machine output.

use diag::Code;
use serde_json::{Value as Json, json};

/// A list of codes.
pub fn codes(codes: &[&Code]) -> Json {
    let one = |code: &&Code| json!({"code": code.name, "severity": code.severity.word(), "summary": code.summary});
    let list: Vec<Json> = codes.iter().map(one).collect();
    json!({"codes": list})
}

/// A code with its page.
pub fn code(code: &Code) -> Json {
    json!({"code": code.name, "severity": code.severity.word(), "summary": code.summary, "page": code.page})
}
