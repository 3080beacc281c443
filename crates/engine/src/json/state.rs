//! Results of commands on whole states, as machine output.

use serde_json::{Value as Json, json};
use state::{Assurance, GenerationInfo, InstanceName, Pruned, Verification};

use super::history::operation;

/// The number of rows of each instance, how they were checked, and the damage.
pub fn verification(found: &Verification) -> Json {
    let instances = found.instances.iter().map(|instance| {
        let by = match instance.assurance {
            Assurance::Key => "key",
            Assurance::Hash => "hash",
            Assurance::Nothing => "nothing",
        };
        json!({"name": instance.name, "rows": instance.rows, "checked_by": by})
    });
    let damaged = found
        .damaged
        .iter()
        .map(|damage| json!({"instance": damage.instance, "what": damage.what}));
    let instances: Vec<_> = instances.collect();
    let damaged: Vec<_> = damaged.collect();
    json!({"instances": instances, "damaged": damaged})
}

/// The operations that were removed from a history, and the numbers of removed entries and
/// documents.
pub fn pruned(instance: &InstanceName, operations: &[GenerationInfo], pruned: &Pruned) -> Json {
    let operations: Vec<Json> = operations.iter().map(operation).collect();
    json!({
        "instance": instance,
        "operations": operations,
        "entries": pruned.entries,
        "documents": pruned.documents,
    })
}
