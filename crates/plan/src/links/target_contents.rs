//! The contents of the resources that links write into, as observed or as recorded.

use blueprint::Address;
use evaluate::answers::PinnedRead;
use evaluate::resolve::Evaluation;
use state::Snapshot;
use understand::links::DeterministicMap;
use understand::links::contribution::ContributionIndex;

/// The resources that links write into, as far as their contents are known.
pub(super) type TargetContents = DeterministicMap<Address, Option<TargetContent>>;

/// A resource that links write into.
pub(super) struct TargetContent {
    /// The fields of the object.
    pub(super) fields: ContributionIndex,
    /// Whether the fields were read from the object. They are the recorded ones otherwise.
    pub(super) observed: bool,
    /// The inputs that were last sent, as recorded; `None` without a record.
    pub(super) sent: Option<ContributionIndex>,
}

/// The contents of a resource, as observed or as recorded. A resource that a cut-off run has
/// replaced lacks a part of what links had written into the former object. If the commits of such a
/// run are lost, the object has contributions that the record does not list.
pub(super) fn contents_of<'s>(
    seen: &'s mut TargetContents,
    evaluation: &Evaluation,
    snapshot: &Snapshot,
    address: &Address,
) -> Option<&'s mut TargetContent> {
    let of = seen.entry(address.clone()).or_insert_with(|| {
        let record = snapshot
            .records
            .get(address)
            .filter(|record| !record.id.is_empty());
        let (fields, observed) = match evaluation.answers.seen.get(address) {
            Some(PinnedRead::Present { fields, .. }) => (fields, true),
            Some(_) => return None,
            None => (&record?.outputs, false),
        };
        let sent = record.map(|record| ContributionIndex::new(record.inputs.clone()));
        Some(TargetContent {
            fields: ContributionIndex::new(fields.clone()),
            observed,
            sent,
        })
    });
    of.as_mut()
}
