//! Machine output, format 1: one value for a command that changes nothing, one object per line for an operation.
//!
//! Lines and columns count from 1, in characters; byte offsets stand beside them. Samples are in `tests/samples`.

use blueprint::Value;
use diag::{Diagnostic, Files, Span};
use engine::plan_file::{hidden, hidden_export, hidden_link, hidden_step};
use serde_json::{Map, Value as Json, json};

use crate::exit::CommandError;

/// The version of the form.
pub(crate) const FORMAT: u32 = 1;

/// A value of a document or the state; secrets as `(secret)` unless they are to be revealed.
pub(crate) fn value(value: &Value, reveal: bool) -> Json {
    let shown = if reveal { value.revealed() } else { hidden(value) };
    // A function cannot be written, and is no value that anything exports.
    serde_json::to_value(&shown).unwrap_or(Json::Null)
}

/// A diagnostic.
pub(crate) fn diagnostic(diagnostic: &Diagnostic, files: &Files) -> Json {
    let labels: Vec<Json> =
        diagnostic.labels.iter().map(|label| json!({"place": place(label.span, files), "text": label.text})).collect();
    let fixes: Vec<Json> = diagnostic
        .fixes
        .iter()
        .map(|fix| {
            let edits: Vec<Json> =
                fix.edits.iter().map(|(span, text)| json!({"place": place(*span, files), "text": text})).collect();
            json!({"text": fix.text, "safe": fix.safe, "edits": edits})
        })
        .collect();
    let trail: Vec<Json> =
        diagnostic.trail.iter().map(|step| json!({"place": place(step.span, files), "text": step.text})).collect();
    json!({
        "code": diagnostic.code.name,
        "severity": diagnostic.severity.word(),
        "message": diagnostic.message,
        "place": place(diagnostic.span(), files),
        "labels": labels,
        "notes": diagnostic.notes,
        "help": diagnostic.help,
        "fixes": fixes,
        "trail": trail,
    })
}

/// An error that is nobody's document, in the form of a diagnostic without a code.
pub(crate) fn error(error: &CommandError) -> Json {
    json!({
        "code": null,
        "severity": "error",
        "message": error.to_string(),
        "place": null,
        "labels": [],
        "notes": error.causes(),
        "help": error.help(),
        "fixes": [],
        "trail": [],
    })
}

fn place(span: Span, files: &Files) -> Json {
    let Some(file) = files.get(span.file) else { return Json::Null };
    let point = |offset: u32| {
        let position = file.position(offset);
        json!({"line": position.line, "column": position.column, "byte": offset})
    };
    json!({"file": file.name(), "start": point(span.start), "end": point(span.end)})
}

/// A plan, without secrets.
pub(crate) fn plan(plan: &engine::Plan) -> Map<String, Json> {
    let [create, update, delete, replace] = plan.counts();
    let exports: Vec<Json> = plan.exports.iter().map(|export| json!(hidden_export(export))).collect();
    let mut map = Map::new();
    map.insert("instance".into(), json!(plan.instance));
    map.insert("purpose".into(), json!(plan.purpose_word()));
    map.insert("revision".into(), json!(plan.revision));
    map.insert("counts".into(), json!({"create": create, "update": update, "delete": delete, "replace": replace}));
    map.insert("steps".into(), plan.steps.iter().map(|step| json!(hidden_step(step))).collect());
    map.insert("links".into(), plan.links.iter().map(|link| json!(hidden_link(link))).collect());
    let mut made: Map<String, Json> = Map::new();
    for step in &plan.steps {
        if let Some(source) = &step.made_from {
            let steps = made.entry(source.to_string()).or_insert_with(|| json!([]));
            steps.as_array_mut().into_iter().for_each(|steps| steps.push(json!(step.id)));
        }
    }
    map.insert("made_from".into(), made.into());
    map.insert("exports".into(), exports.into());
    let metadata: Vec<Json> = plan.metadata_changes.iter().map(|entry| json!(hidden_export(entry))).collect();
    map.insert("metadata".into(), metadata.into());
    map.insert("left_alone".into(), json!(engine::plan_file::hidden_left_alone(&plan.left_alone)));
    map
}
