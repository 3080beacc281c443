//! Moves of links along with their ends: the links, their parts, and the targets in the records of
//! links (decisions/plan#moves).
//!
//! Not here: which resources move (`moves`).

use std::sync::Arc;

use blueprint::{Address, IndexMap, LinkName, Name, Value};
use state::{Record, Snapshot};
use understand::links::address::{ends_of, is_link};
use understand::links::overlay::{Overlay, failed_at, overlays_of, private_of};

use crate::settled::SettledRecords;

/// The links, and their parts, whose addresses change because the address of an end changes. If the
/// ends are in different documents afterwards, they have no link, and its record keeps its address.
pub(crate) fn links_moved_with_ends(
    pairs: &IndexMap<Address, Address>,
    snapshot: &Snapshot,
) -> IndexMap<Address, Address> {
    let mut moved: IndexMap<Address, Address> = IndexMap::default();
    for address in snapshot
        .records
        .keys()
        .filter(|address| !pairs.contains_key(*address))
    {
        let (Some([a, b]), Some(link)) = (ends_of(address), &address.link) else {
            continue;
        };
        let new = |end: &Address| pairs.get(end).cloned().unwrap_or_else(|| end.clone());
        let new_a = new(&a);
        let new_b = new(&b);
        if (&new_a, &new_b) == (&a, &b) || new_a.path != new_b.path {
            continue;
        }
        let name = LinkName {
            b: new_b.name.clone(),
            b_key: new_b.key.clone(),
            part: link.part.clone(),
        };
        moved.insert(address.clone(), new_a.with_link(name));
    }
    // A record that already has a new address stays. The link that would get this address is not
    // moved, and is undone.
    let taken = |to: &Address| snapshot.records.contains_key(to) && !moved.contains_key(to);
    let free: Vec<bool> = moved.values().map(|to| !taken(to)).collect();
    let mut free = free.into_iter();
    moved.retain(|_, _| free.next().unwrap_or(true));
    moved
}

/// Changes the addresses of targets in the records of links, and the ids of links. `snapshot`
/// already has its records under the new addresses.
pub(crate) fn retarget(
    pairs: &IndexMap<Address, Address>,
    snapshot: &mut Snapshot,
    settled_records: &mut SettledRecords,
) {
    let mut changed: Vec<(Address, Arc<Record>)> = Vec::new();
    for (address, record) in snapshot
        .records
        .iter()
        .filter(|(address, _)| is_link(address))
    {
        let mut any = record.id.as_ref() != address.to_string();
        let mut rename = |mut overlay: Overlay| {
            if let Some(to) = pairs.get(&overlay.target) {
                overlay.target = to.clone();
                any = true;
            }
            overlay
        };
        let overlays: Vec<Overlay> = overlays_of(record).into_iter().map(&mut rename).collect();
        let with = record.inputs.get("with").and_then(Value::as_list);
        let with: Option<Vec<Value>> = with.map(|with| {
            with.iter()
                .map(|it| {
                    Overlay::from_value(it).map_or_else(|| it.clone(), |it| rename(it).to_value())
                })
                .collect()
        });
        if !any {
            continue;
        }
        let mut record = Record::clone(record);
        record.private = private_of(&overlays, failed_at(&record).map(Name::from).as_ref());
        if let (Some(with), Some(inputs)) = (with, record.inputs.as_map()) {
            let mut inputs = inputs.clone();
            inputs.insert("with".into(), Value::list(with));
            record.inputs = Value::Map(Arc::new(inputs));
        }
        record.id = address.to_string().into();
        changed.push((address.clone(), Arc::new(record)));
    }
    for (address, record) in changed {
        settled_records.put(snapshot, &address, Some(record));
    }
}
