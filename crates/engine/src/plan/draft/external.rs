//! Things that exist elsewhere: others read their ids, and nothing is done to them.

use blueprint::{Name, Resource, Value};
use diag::Diagnostics;
use provider::ResourceType;
use state::Snapshot;

use crate::codes;
use crate::resolve::{Evaluation, Outputs};

/// A thing that is there already and that nobody here changes: others read its id, and nothing is done to it.
pub(super) fn stand(
    evaluation: &mut Evaluation,
    index: u32,
    resource: &Resource,
    ty: &ResourceType,
    id: &Name,
    snapshot: &Snapshot,
    found: &mut Diagnostics,
) {
    let Some(member) = evaluation.member_mut(index, None) else { return };
    if snapshot.records.contains_key(&member.address) {
        found.push(
            codes::EXTERNAL_CHANGED
                .new(format!("`{}` was made here and would be one that exists elsewhere", member.address))
                .label(resource.span, "declared as external now")
                .help("declare the external thing under another name, and take this one away")
                .words("NotSupported: Update to property external_id of this resource is not supported."),
        );
    }
    let fields = ty.id_field.iter().map(|field| (field.clone(), Value::Text(id.clone())));
    member.outputs = Outputs::Known(Value::map(fields.collect::<Vec<_>>()));
}
