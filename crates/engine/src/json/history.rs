//! The operations of an instance as machine output.

use serde_json::{Value as Json, json};
use state::{Ended, GenerationInfo, StatusOp};

use super::time::time_of_seconds;
use super::value::value;
use crate::inspect::{CallEnd, History, JournalCall, OperationDetails};

/// The operations of an instance.
pub fn history(history: &History) -> Json {
    let list: Vec<Json> = history.operations.iter().map(operation).collect();
    json!({"instance": history.instance, "operations": list})
}

/// An operation with its inputs and calls. Secrets are not shown.
pub fn operation_details(details: &OperationDetails) -> Json {
    let inputs = details.inputs.iter();
    let inputs: serde_json::Map<String, Json> = inputs
        .map(|(name, given)| (name.to_string(), value(given, false)))
        .collect();
    let steps: Vec<Json> = details.calls.iter().map(journal_call).collect();
    json!({
        "instance": details.instance,
        "operation": operation(&details.operation),
        "running": details.is_running,
        "inputs": inputs,
        "steps": steps,
    })
}

fn journal_call(call: &JournalCall) -> Json {
    let (outcome, error) = match &call.end {
        CallEnd::Done => ("done", None),
        CallEnd::Failed(error) => ("failed", Some(error)),
        CallEnd::Open => ("open", None),
    };
    let mut json = json!({
        "address": call.address,
        "action": call.op.map(StatusOp::word),
        "outcome": outcome,
    });
    if let Some(error) = error {
        json["error"] = json!(error);
    }
    json
}

/// An operation of the history.
pub fn operation(one: &GenerationInfo) -> Json {
    let operation = &one.operation;
    let finished = one.finished.map(
        |Ended {
             outcome,
             at,
             generation,
             counts,
         }| {
            json!({
                "outcome": outcome,
                "at": time_of_seconds(at),
                "generation": generation,
                "created": counts.created,
                "updated": counts.updated,
                "deleted": counts.deleted,
                "replaced": counts.replaced,
            })
        },
    );
    json!({
        "id": operation.id,
        "kind": operation.kind,
        "who": operation.who,
        "began": time_of_seconds(operation.began),
        "document": operation.document,
        "finished": finished,
    })
}
