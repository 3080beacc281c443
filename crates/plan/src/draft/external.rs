//! Things that exist elsewhere: others read their ids, and nothing is done to them.

use blueprint::{Name, Resource, Value};
use diag::Diagnostics;
use provider::ResourceType;
use state::Snapshot;

use crate::codes;
use evaluate::resolve::{Evaluation, Outputs};

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
    let messages = evaluation.documents.root().checked.rules.messages;
    let Some(member) = evaluation.member_mut(index, None) else { return };
    if snapshot.records.contains_key(&member.address) {
        let mut changed = codes::EXTERNAL_CHANGED
            .new(format!("`{}` was made here and would be one that exists elsewhere", member.address))
            .label(resource.span, "declared as external now")
            .help("declare the external thing under another name, and take this one away");
        let mistake =
            dialects::Mistake::ExternalChanged { resource: &member.address.name, type_name: &resource.type_name.item };
        changed.words = messages.of(&mistake).map(Box::new);
        found.push(changed);
    }
    let fields = ty.id_field.iter().map(|field| (field.clone(), Value::Text(id.clone())));
    member.outputs = Outputs::Known(Value::map(fields.collect::<Vec<_>>()));
}
