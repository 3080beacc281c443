//! What a record keeps of the options of a declared resource.

use blueprint::{
    Address, Expr, ExprKind, FieldPath, IndexMap, Lifecycle, Name, PathStep, ReferenceHead,
    Resource,
};
use dialect::rules::Reads;
use state::{Record, RecordTies};
use understand::documents::{DocumentInstance, Documents};

use crate::model::{AddressSet, HashSet};

/// The field of a configuration that holds the settings.
const SETTINGS: &str = "settings";

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
        secret_fields: hidden_fields(documents, number, secret_fields),
        ignore_changes: ignore_changes.clone(),
        replace_on_changes: match resource.configured_namespace() {
            Some(_) => Vec::new(),
            None => replacing_paths(documents, number, replace_on_changes),
        },
        hidden: ties.map(|ties| ties.hidden.clone()).unwrap_or_default(),
        imported: import.clone(),
        uses: uses(unit, resource),
        plugin: ties.map(|ties| ties.plugin.clone()).unwrap_or_default(),
        carried: former.map(|ties| ties.carried.clone()).unwrap_or_default(),
        ..RecordTies::default()
    };
    (made != RecordTies::default()).then(|| Box::new(made))
}

/// The paths whose changes replace the resource: those that the document names, then those of the
/// type.
fn replacing_paths(documents: &Documents, number: u32, stated: &[FieldPath]) -> Vec<Name> {
    let ty = documents.resource_type(number);
    let fields = ty.into_iter().flat_map(|ty| &ty.schema.fields);
    let demanded = fields.filter(|(_, field)| field.must_recreate);
    let demanded = demanded.map(|(name, _)| name.clone());
    stated.iter().map(path_text).chain(demanded).collect()
}

/// A path as the document writes it. `#initerror`, the health of the object, is no field.
fn path_text(path: &FieldPath) -> Name {
    match path.0.as_slice() {
        [PathStep::Field(name)] => name.clone(),
        _ => path.to_string().into(),
    }
}

/// The fields whose values must not be shown: those that the document names, and the secret outputs of
/// the type.
fn hidden_fields(documents: &Documents, number: u32, stated: &[Name]) -> Vec<Name> {
    let ty = documents.resource_type(number);
    let fields = ty.into_iter().flat_map(|ty| &ty.schema.fields);
    let secret = fields.filter(|(_, field)| field.sensitive);
    let mut all = stated.to_vec();
    for (name, _) in secret {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    all
}

/// The resources that the value of each declared field comes from, also through named values.
fn uses(unit: &DocumentInstance, resource: &Resource) -> IndexMap<Name, Vec<Address>> {
    let mut spec = resource.spec.inner();
    // The settings of a provider's configuration are a map inside its spec.
    if resource.configured_namespace().is_some()
        && let ExprKind::Map(entries) = &spec.kind
        && let Some((_, settings)) = entries.iter().find(|(key, _)| *key.item == *SETTINGS)
    {
        spec = settings.inner();
    }
    let ExprKind::Map(entries) = &spec.kind else {
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
