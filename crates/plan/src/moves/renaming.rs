//! Changes the addresses of records, and of everything that belongs to an address.

use std::sync::Arc;

use blueprint::{Address, IndexMap, Name};
use diag::Span;
use evaluate::answers::Answers;
use state::{Record, RecordTies, Snapshot};

use super::links;
use crate::codes;
use crate::settled::SettledRecords;

/// The records of a plan, with what belongs to their addresses.
pub(super) struct MovableRecords<'a> {
    pub(super) snapshot: &'a mut Snapshot,
    pub(super) answers: &'a mut Answers,
    /// Receives the records as they were before.
    pub(super) settled_records: &'a mut SettledRecords,
}

/// The conflict of a former address with a new one that has a record already.
pub(super) fn taken(from: &Address, to: &Address, span: Span) -> diag::Diagnostic {
    codes::MOVE_CONFLICT
        .new(format!("`{from}` cannot become `{to}`, which is there already"))
        .label(span, "both are in the state")
        .help("remove the hint; if one of the two is not needed, take it out of the state with `cyan state remove`")
}

/// Changes the addresses of records, and in everything that names them. The order of the records
/// stays. Returns the links, and parts of links, that have moved along with an end.
pub(super) fn rename(
    mut pairs: IndexMap<Address, Address>,
    snapshot: &mut Snapshot,
    answers: &mut Answers,
    settled_records: &mut SettledRecords,
) -> IndexMap<Address, Address> {
    if pairs.is_empty() {
        return IndexMap::default();
    }
    let moved_links = links::links_moved_with_ends(&pairs, snapshot);
    pairs.extend(
        moved_links
            .iter()
            .map(|(from, to)| (from.clone(), to.clone())),
    );
    for (from, to) in &pairs {
        settled_records.note(snapshot, from);
        settled_records.note(snapshot, to);
    }
    let new = |address: &Address| pairs.get(address).cloned();
    let users: Vec<Address> = snapshot
        .records
        .iter()
        .filter(|(_, record)| {
            record
                .dependencies
                .iter()
                .any(|used| pairs.contains_key(used))
                || names_any(record, &pairs)
        })
        .map(|(address, _)| address.clone())
        .collect();
    for address in users {
        settled_records.note(snapshot, &address);
        if let Some(record) = snapshot.records.get_mut(&address) {
            let record = Arc::make_mut(record);
            let ties = record.origin.ties.as_deref_mut();
            let tied = ties.into_iter().flat_map(RecordTies::addresses_mut);
            for used in record.dependencies.iter_mut().chain(tied) {
                if let Some(to) = new(used) {
                    *used = to;
                }
            }
        }
    }
    for used in snapshot.groups.values_mut().flatten() {
        if let Some(to) = new(used) {
            *used = to;
        }
    }
    let records = std::mem::take(&mut snapshot.records);
    snapshot.records = records
        .into_iter()
        .map(|(address, record)| (new(&address).unwrap_or(address), record))
        .collect();
    let seen = std::mem::take(&mut answers.seen);
    answers.seen = seen
        .into_iter()
        .map(|(address, seen)| (new(&address).unwrap_or(address), seen))
        .collect();
    let owners: IndexMap<String, String> = pairs
        .iter()
        .map(|(from, to)| (from.to_string(), to.to_string()))
        .collect();
    for memoised in [&mut snapshot.memoised, &mut answers.memoised] {
        let all = std::mem::take(memoised);
        *memoised = all
            .into_iter()
            .map(|(site, value)| (moved_site(&site, &owners).unwrap_or(site), value))
            .collect();
    }
    links::retarget(&pairs, snapshot, settled_records);
    moved_links
}

/// Whether the ties of a record name a resource that moves.
fn names_any(record: &Record, pairs: &IndexMap<Address, Address>) -> bool {
    let ties = record.origin.ties.as_deref().into_iter();
    ties.flat_map(RecordTies::addresses)
        .any(|named| pairs.contains_key(named))
}

/// The call site of a memoised value under the new address of its owner.
fn moved_site(site: &str, owners: &IndexMap<String, String>) -> Option<Name> {
    let mut parts = site.rsplitn(3, '|');
    let nth = parts.next()?;
    let path = parts.next()?;
    let owner = parts.next()?;
    Some(format!("{}|{path}|{nth}", owners.get(owner)?).into())
}
