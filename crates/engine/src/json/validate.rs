//! The verdicts on documents as machine output.

use serde_json::{Value as Json, json};

use crate::validate::{DeclaredNames, DocumentVerdict, Verdicts};

/// The verdicts on all documents of a request.
pub fn verdicts(verdicts: &Verdicts) -> Json {
    let documents: Vec<Json> = verdicts.documents.iter().map(verdict).collect();
    let mut json = json!({"documents": documents});
    if verdicts.has_summary() {
        let all = verdicts.documents.len();
        let valid = verdicts.valid();
        json["summary"] = json!({"documents": all, "valid": valid, "invalid": all - valid});
    }
    json
}

fn verdict(verdict: &DocumentVerdict) -> Json {
    json!({
        "file": verdict.file,
        "valid": verdict.is_valid(),
        "errors": verdict.errors,
        "warnings": verdict.warnings,
        "why": verdict.why,
        "declares": verdict.declares.as_ref().map(declares),
    })
}

fn declares(names: &DeclaredNames) -> Json {
    json!({
        "dialect": names.dialect,
        "variables": names.variables,
        "datasources": names.data_sources,
        "resources": names.resources,
        "children": names.children,
        "exports": names.exports,
    })
}
