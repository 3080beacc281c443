//! What a record keeps of the options of a declared resource.

use blueprint::Lifecycle;
use dialect::rules::Reads;
use state::{Keeping, RecordTies};
use understand::documents::Documents;

/// The ties of a declared resource; `None` for a dialect whose resources have no names for plugins,
/// or if there are none.
pub fn record_ties(documents: &Documents, number: u32) -> Option<Box<RecordTies>> {
    let (unit, _, resource) = documents.resource(number)?;
    let unit = documents.unit(unit);
    if unit.checked.rules.reads != Reads::OnRequest {
        return None;
    }
    let Lifecycle {
        ignore_changes,
        secret_fields,
        replace_on_changes,
        timeouts,
        import,
        ..
    } = &resource.lifecycle;
    let address = |name: &diag::Spanned<blueprint::Name>| unit.address(&name.item);
    let ties = resource.ties.as_deref();
    let uses = Default::default();
    let made = RecordTies {
        parent: resource.parent.as_deref().map(address),
        deleted_with: ties
            .and_then(|ties| ties.deleted_with.as_ref())
            .map(address),
        replaced_with: ties
            .into_iter()
            .flat_map(|ties| ties.replaced_with.iter().map(address))
            .collect(),
        timeouts: *timeouts,
        secret_fields: secret_fields.clone(),
        ignore_changes: ignore_changes.clone(),
        replace_on_changes: replace_on_changes
            .iter()
            .map(|path| path.to_string().into())
            .collect(),
        hidden: ties.map(|ties| ties.hidden.clone()).unwrap_or_default(),
        imported: import.clone(),
        uses,
        keeping: Keeping::Managed,
        carried: Default::default(),
    };
    (made != RecordTies::default()).then(|| Box::new(made))
}
