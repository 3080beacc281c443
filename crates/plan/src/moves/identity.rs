//! Records that are found by the names of their resources for plugins, or by former ones
//! (decisions/pulumi#aliases).
//!
//! A resource has the record with its URN, wherever that record is; otherwise the record with one of
//! its former URNs. A record with another URN at the address of a resource is about another object:
//! it gets an address of its own and is removed.

use std::sync::Arc;

use blueprint::{Address, IndexMap, Name};
use diag::{Diagnostic, Diagnostics, Span};
use provider::ResourceType;
use state::Snapshot;
use understand::documents::Documents;

use super::renaming::{MovableRecords, rename, taken};
use crate::codes;

/// A declared resource with a URN.
struct Named<'d> {
    number: u32,
    address: Address,
    urn: Name,
    ty: Option<&'d Arc<ResourceType>>,
    span: Span,
}

/// The resource that takes a record.
struct Claim<'n, 'd> {
    by: &'n Named<'d>,
    /// Whether the record has one of the former URNs.
    former: bool,
}

/// Moves records to the resources that have their names for plugins. `within` tells whether a
/// resource may change at all. Returns the former addresses of resources by their new ones.
pub(super) fn follow_urns(
    documents: &Documents,
    instance: &str,
    within: impl Fn(&Address) -> bool,
    records: MovableRecords<'_>,
    found: &mut Diagnostics,
) -> IndexMap<Address, Address> {
    let MovableRecords {
        snapshot,
        answers,
        settled_records,
    } = records;
    let is_named = |record: &Arc<state::Record>| !record.origin.urn.is_empty();
    if !snapshot.records.values().any(is_named) {
        return IndexMap::default();
    }
    name_after_instance(documents, instance, snapshot, settled_records);
    let resources = named_resources(documents, instance);
    let records = snapshot
        .records
        .iter()
        .filter(|(_, record)| is_named(record));
    let by_urn: IndexMap<Name, Address> = records
        .map(|(address, record)| (record.origin.urn.clone(), address.clone()))
        .collect();
    let claims = claims(documents, instance, &resources, &by_urn, found);
    if found.has_errors() {
        return IndexMap::default();
    }
    let mut pairs: IndexMap<Address, Address> = IndexMap::default();
    let mut retyped: Vec<(Address, Arc<ResourceType>)> = Vec::new();
    let changing = claims.iter().filter(|(_, claim)| within(&claim.by.address));
    for (from, claim) in changing {
        let to = &claim.by.address;
        if from != to {
            pairs.insert(from.clone(), to.clone());
        }
        let recorded = snapshot.records.get(from);
        if let Some(ty) = claim.by.ty
            && claim.former
            && recorded.is_some_and(|record| record.type_name != ty.name)
        {
            retyped.push((from.clone(), ty.clone()));
        }
    }
    let moved: Vec<(Address, Address)> = pairs
        .iter()
        .map(|(from, to)| (from.clone(), to.clone()))
        .collect();
    for resource in &resources {
        let address = &resource.address;
        let occupied = snapshot.records.get(address).is_some_and(is_named);
        if !occupied || !within(address) {
            continue;
        }
        let claim = claims.get(address);
        if let Some(claim) = claim.filter(|claim| !within(&claim.by.address)) {
            found.push(held_out_of_target(resource, claim.by));
            continue;
        }
        if claim.is_none() {
            let free = free_address(address, snapshot, &pairs);
            pairs.insert(address.clone(), free);
        }
    }
    if found.has_errors() {
        return IndexMap::default();
    }
    if let Some((from, to)) = moved.iter().find(|(_, to)| {
        let record = snapshot.records.get(to);
        record.is_some() && !pairs.contains_key(to)
    }) {
        let span = claims.get(from).map_or(Span::NONE, |claim| claim.by.span);
        found.push(taken(from, to, span));
        return IndexMap::default();
    }
    for (address, ty) in retyped {
        settled_records.note(snapshot, &address);
        if let Some(record) = snapshot.records.get_mut(&address) {
            let record = Arc::make_mut(record);
            record.type_name = ty.name.clone();
            record.schema_version = ty.schema_version;
        }
    }
    rename(pairs, snapshot, answers, settled_records);
    for claim in claims.values().filter(|claim| claim.former) {
        let address = &claim.by.address;
        if !within(address) {
            continue;
        }
        settled_records.note(snapshot, address);
        if let Some(record) = snapshot.records.get_mut(address) {
            Arc::make_mut(record).origin.urn = claim.by.urn.clone();
        }
    }
    moved.into_iter().map(|(from, to)| (to, from)).collect()
}

/// Names records after the instance, which may have got another name since they were written.
fn name_after_instance(
    documents: &Documents,
    instance: &str,
    snapshot: &mut Snapshot,
    settled_records: &mut crate::settled::SettledRecords,
) {
    let Some(root) = documents.units().first() else {
        return;
    };
    let naming = root.checked.rules.naming;
    let renamed: Vec<(Address, Name)> = snapshot
        .records
        .iter()
        .filter_map(|(address, record)| {
            let urn = naming.in_instance(&record.origin.urn, instance)?;
            Some((address.clone(), urn))
        })
        .collect();
    for (address, urn) in renamed {
        settled_records.note(snapshot, &address);
        if let Some(record) = snapshot.records.get_mut(&address) {
            Arc::make_mut(record).origin.urn = urn;
        }
    }
}

/// The declared resources that have URNs.
fn named_resources<'d>(documents: &'d Documents, instance: &str) -> Vec<Named<'d>> {
    let mut all = Vec::new();
    for unit in documents.units() {
        for (position, (name, resource)) in unit.blueprint().resources.iter().enumerate() {
            let number = unit.resource(position);
            let address = unit.address(name);
            if resource.each.is_some() {
                continue;
            }
            let urn = documents.urn_of(unit, name, resource, instance);
            if urn.is_empty() {
                continue;
            }
            all.push(Named {
                number,
                address,
                urn,
                ty: documents.resource_type(number),
                span: resource.span,
            });
        }
    }
    all
}

/// The resources that take records, by the addresses of the records. Reports two resources that had
/// the same former URN.
fn claims<'n, 'd>(
    documents: &Documents,
    instance: &str,
    resources: &'n [Named<'d>],
    by_urn: &IndexMap<Name, Address>,
    found: &mut Diagnostics,
) -> IndexMap<Address, Claim<'n, 'd>> {
    let mut claims: IndexMap<Address, Claim<'n, 'd>> = IndexMap::default();
    let mut rest = Vec::new();
    for resource in resources {
        match by_urn.get(&resource.urn) {
            Some(address) => {
                let claim = Claim {
                    by: resource,
                    former: false,
                };
                claims.insert(address.clone(), claim);
            }
            None => rest.push(resource),
        }
    }
    for resource in rest {
        let former = documents.former_urns_of(resource.number, instance);
        let mut recorded = former.iter().filter_map(|urn| by_urn.get(urn));
        let Some(address) = recorded.find(|address| {
            // A resource that has the name now keeps its record.
            claims.get(*address).is_none_or(|claim| claim.former)
        }) else {
            continue;
        };
        if let Some(other) = claims.get(address) {
            found.push(
                codes::MOVE_CONFLICT
                    .new(format!(
                        "both `{}` and `{}` would take over the object of `{address}`",
                        other.by.address, resource.address
                    ))
                    .label(resource.span, "an alias of it names that object")
                    .label(other.by.span, "an alias of it names that object too")
                    .help("leave the alias at one of them"),
            );
            continue;
        }
        let claim = Claim {
            by: resource,
            former: true,
        };
        claims.insert(address.clone(), claim);
    }
    claims
}

/// The conflict of a resource with a record at its address that belongs to a resource which the plan
/// may not change.
fn held_out_of_target(resource: &Named<'_>, owner: &Named<'_>) -> Diagnostic {
    codes::MOVE_CONFLICT
        .new(format!(
            "`{}` cannot change without `{}`, whose object has its address",
            resource.address, owner.address
        ))
        .label(resource.span, "may change")
        .label(owner.span, "may not change in this plan")
        .help("let both change in one plan")
}

/// An address for the record of an object that is no longer that of the resource at the address.
fn free_address(
    address: &Address,
    snapshot: &Snapshot,
    pairs: &IndexMap<Address, Address>,
) -> Address {
    let taken = |free: &Address| {
        snapshot.records.contains_key(free) || pairs.values().any(|other| other == free)
    };
    let mut number = 1;
    loop {
        let name = match number {
            1 => format!("{} (former)", address.name),
            number => format!("{} (former {number})", address.name),
        };
        let free = Address::inside(&address.path, name);
        if !taken(&free) {
            return free;
        }
        number += 1;
    }
}
