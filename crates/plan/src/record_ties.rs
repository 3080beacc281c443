//! What a record keeps of the options of a declared resource.

use blueprint::{Address, Expr, ExprKind, IndexMap, Lifecycle, Name, ReferenceHead, Resource};
use dialect::rules::Reads;
use state::{Record, RecordTies};
use understand::documents::{DocumentInstance, Documents};

use crate::model::{AddressSet, HashSet};

/// The ties of a declared resource; `None` for a dialect whose resources have no names for plugins,
/// or if there are none. What another tool wrote into the former record is kept.
pub fn record_ties(
    documents: &Documents,
    number: u32,
    former: Option<&Record>,
) -> Option<Box<RecordTies>> {
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
    let address = |name: &diag::Spanned<Name>| unit.address(&name.item);
    let ties = resource.ties.as_deref();
    let former = former.and_then(|record| record.origin.ties.as_deref());
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
        uses: uses(unit, resource),
        carried: former.map(|ties| ties.carried.clone()).unwrap_or_default(),
        ..RecordTies::default()
    };
    (made != RecordTies::default()).then(|| Box::new(made))
}

/// The resources that the value of each declared field comes from, also through named values.
fn uses(unit: &DocumentInstance, resource: &Resource) -> IndexMap<Name, Vec<Address>> {
    let ExprKind::Map(entries) = &resource.spec.inner().kind else {
        return IndexMap::default();
    };
    let of_entry = |(key, value): &(diag::Spanned<Name>, Expr)| {
        let mut used = AddressSet::default();
        let mut locals = HashSet::default();
        add_used(unit, value, &mut used, &mut locals);
        (key.item.clone(), used.into_iter().collect())
    };
    entries.iter().map(of_entry).collect()
}

fn add_used(
    unit: &DocumentInstance,
    value: &Expr,
    used: &mut AddressSet,
    locals: &mut HashSet<Name>,
) {
    let mut named = Vec::new();
    value.references(&mut |reference| match &reference.head {
        ReferenceHead::Resource { name, .. } => drop(used.insert(unit.address(name))),
        ReferenceHead::Local(name) => named.push(name.clone()),
        _ => {}
    });
    for name in named {
        // A circle of named values is reported by the check.
        if locals.insert(name.clone())
            && let Some(local) = unit.blueprint().locals.get(&name)
        {
            add_used(unit, &local.value, used, locals);
        }
    }
}
