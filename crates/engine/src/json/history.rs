//! The operations of an instance as machine output.

use serde_json::{Value as Json, json};
use state::{Ended, GenerationInfo};

use crate::inspect::History;

/// The operations of an instance.
pub fn history(history: &History) -> Json {
    let list: Vec<Json> = history.operations.iter().map(operation).collect();
    json!({"instance": history.instance, "operations": list})
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
                "at": at,
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
        "began": operation.began,
        "document": operation.document,
        "finished": finished,
    })
}
