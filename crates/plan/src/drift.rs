//! Drift: the differences between the records and the world. A user can ask for drift without a
//! plan.
//!
//! The same fields count with and without a plan (decisions/plan#drift): ignored ones never,
//! computed ones only where the catalogue tracks them or the document has set them. A difference in
//! what a link has written is drift of the link, not of its target
//! (decisions/links#effects-after-the-target).

use std::sync::{Arc, LazyLock};

use blueprint::{Address, Field, IndexMap, Kind, Map, Name, TypeId, Value};
use diag::{Diagnostics, Severity};
use evaluate::answers::{Answers, PinnedRead};
use evaluate::retry::RetryingWorld;
use evaluate::world::World;
use provider::{Catalogs, ResourceType, TypeRef};
use state::{Record, Snapshot};
use understand::compare::{Change, differences, same_field, with_path_of};
use understand::links::DeterministicMap;
use understand::links::address::is_link;
use understand::links::contribution::{Contribution, ContributionIndex, remove_contributions};
use understand::links::overlay::{Overlay, overlays_of};
use understand::partial::{declared_part, with_changes};
use understand::secret_marks::with_secret_marks_of;

use crate::addresses::SelectedAddresses;
use crate::provider_diagnostics::{report_reads, report_settings};
use crate::refresh::{self, Refreshed};

/// A field that the schema of an open type does not know.
static ANY: LazyLock<Field> = LazyLock::new(|| Field::of(Kind::Any));

/// One resource whose object differs from its record.
#[derive(Clone, Debug, PartialEq)]
pub struct Drifted {
    /// Its address.
    pub address: Address,
    /// Its type.
    pub type_name: TypeId,
    /// Its drift.
    pub drift: Drift,
}

/// The difference between an object and its record.
#[derive(Clone, Debug, PartialEq)]
pub enum Drift {
    /// The object exists, with other fields: before as recorded, after as read, secrets marked.
    Differs(Vec<Change>),
    /// The object is as recorded, but the provider says that it should be replaced, for this
    /// reason.
    Expired(Name),
    /// The object does not exist.
    Vanished,
}

/// The result of reading all recorded resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriftScan {
    /// The resources that are not as recorded, in the order of the records.
    pub drifted: Vec<Drifted>,
    /// The resources that could not be read, and why. Whether they have drifted is not known.
    pub unread: IndexMap<Address, Name>,
}

/// Reads all recorded resources and compares. A resource that cannot be read is an error in
/// `found`; the others are still compared. Resources whose call was cut off are left out: the next
/// plan settles them.
pub async fn drift(
    snapshot: &Snapshot,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
) -> DriftScan {
    let mut answers = Answers::default();
    let world = RetryingWorld::new(world, catalogs);
    <dyn World>::mask_all(&world, snapshot.values());
    let scope = refresh::ReadScope {
        only_cut_off: false,
        only: &SelectedAddresses::new(&[]),
    };
    let Refreshed {
        unread,
        diagnostics,
    } = refresh::refresh(snapshot, scope, &[], catalogs, &world, &mut answers).await;
    report_settings(world.environment().settings_remarks(), None, found);
    report_reads(diagnostics, None, found);
    refresh::report_unread(
        &unread,
        Severity::Error,
        "fix the cause, and run it again",
        found,
    );
    DriftScan {
        drifted: observed_drift(snapshot, catalogs, &answers),
        unread: answers.unread,
    }
}

/// The drift that reads have shown, in the order of the records.
pub(crate) fn observed_drift(
    snapshot: &Snapshot,
    catalogs: &Catalogs,
    answers: &Answers,
) -> Vec<Drifted> {
    if answers.seen.is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    let written = written_by_links(snapshot);
    for (address, record) in snapshot
        .records
        .iter()
        .filter(|(address, _)| !snapshot.open.contains_key(*address))
    {
        let drift = match answers.seen.get(address) {
            Some(PinnedRead::Absent) => Drift::Vanished,
            Some(PinnedRead::Present {
                fields, expired, ..
            }) => {
                let changes = match catalogs.resource_type(&record.type_name) {
                    TypeRef::Known(ty) => match written.get(address) {
                        Some(written) => {
                            all.extend(link_drift(snapshot, written, fields));
                            let link_contributions: Vec<&Contribution> =
                                written.iter().map(|(_, it)| it).collect();
                            changes_without_links(&ty, record, fields, &link_contributions)
                        }
                        None => changes(&ty, record, fields),
                    },
                    _ => Vec::new(),
                };
                match expired {
                    Some(why) if changes.is_empty() => Drift::Expired(why.clone()),
                    _ if changes.is_empty() => continue,
                    _ => Drift::Differs(changes),
                }
            }
            Some(PinnedRead::Unknown) | None => continue,
        };
        all.push(Drifted {
            address: address.clone(),
            type_name: record.type_name.clone(),
            drift,
        });
    }
    all
}

/// Keeps only resources that these addresses cover, if there are any addresses. Reports
/// `unknown-address` for an address that is not in the state.
pub fn retain_addresses(
    all: &mut DriftScan,
    addresses: &[Address],
    snapshot: &Snapshot,
    found: &mut Diagnostics,
) {
    if addresses.is_empty() {
        return;
    }
    for address in addresses {
        let one = SelectedAddresses::new(std::slice::from_ref(address));
        if !snapshot.records.keys().any(|known| one.covers(known)) {
            found.push(crate::addresses::unknown_in_state(address, snapshot));
        }
    }
    let named = SelectedAddresses::new(addresses);
    all.drifted.retain(|drifted| named.covers(&drifted.address));
    all.unread.retain(|address, _| named.covers(address));
}

/// The contributions that links have written by steps of their own, by target.
pub(crate) type OverlaysByTarget = DeterministicMap<Address, Vec<Contribution>>;

/// Collects the contributions that links have written by steps of their own.
pub(crate) fn overlays_by_target(snapshot: &Snapshot) -> OverlaysByTarget {
    let mut written = OverlaysByTarget::default();
    for (_, record) in snapshot
        .records
        .iter()
        .filter(|(address, _)| is_link(address))
    {
        for overlay in overlays_of(record) {
            written
                .entry(overlay.target)
                .or_default()
                .push(overlay.contribution);
        }
    }
    written
}

/// The values that links have written, by target.
fn written_by_links(
    snapshot: &Snapshot,
) -> DeterministicMap<Address, Vec<(Address, Contribution)>> {
    let mut written: DeterministicMap<Address, Vec<(Address, Contribution)>> =
        DeterministicMap::default();
    for (link, record) in snapshot
        .records
        .iter()
        .filter(|(address, _)| is_link(address))
    {
        let with = record.inputs.get("with").and_then(Value::as_list);
        let with = with.into_iter().flatten().filter_map(Overlay::from_value);
        for overlay in overlays_of(record).into_iter().chain(with) {
            written
                .entry(overlay.target)
                .or_default()
                .push((link.clone(), overlay.contribution));
        }
    }
    written
}

/// The links whose contributions to an object differ from what they wrote.
fn link_drift(
    snapshot: &Snapshot,
    written: &[(Address, Contribution)],
    seen: &Value,
) -> Vec<Drifted> {
    let mut by_link: blueprint::IndexMap<&Address, Vec<Change>> = blueprint::IndexMap::default();
    let mut seen = ContributionIndex::new(seen.clone());
    for (link, contribution) in written {
        if seen.has(contribution) {
            continue;
        }
        by_link.entry(link).or_default().push(Change {
            path: format!("spec.{}", contribution.place()),
            before: Some(contribution.value.clone()),
            after: seen
                .value_of(contribution)
                .map(|now| with_secret_marks_of(now, Some(&contribution.value), None)),
            forces: false,
            list: None,
        });
    }
    let drifted = |(link, changes): (&Address, Vec<Change>)| {
        let type_name = snapshot.records.get(link)?.type_name.clone();
        Some(Drifted {
            address: link.clone(),
            type_name,
            drift: Drift::Differs(changes),
        })
    };
    by_link.into_iter().filter_map(drifted).collect()
}

/// The differences, leaf by leaf: before as recorded, after as read.
pub(crate) fn changes(ty: &ResourceType, record: &Record, seen: &Value) -> Vec<Change> {
    changes_without_links(ty, record, seen, &[])
}

/// The differences, without the values that links have written.
fn changes_without_links(
    ty: &ResourceType,
    record: &Record,
    seen: &Value,
    written: &[&Contribution],
) -> Vec<Change> {
    let mut before = Map::default();
    let mut after = Map::default();
    for field in drifted_fields(ty, record, seen) {
        if let Some(then) = &field.then {
            before.insert(field.name.clone(), then.clone());
        }
        if let Some(now) = &field.now {
            after.insert(field.name.clone(), field.marked(now, record));
        }
    }
    let mut changes = Vec::new();
    let mut before = Value::Map(before.into());
    let mut after = Value::Map(after.into());
    if !written.is_empty() {
        [&mut before, &mut after]
            .into_iter()
            .for_each(|it| *it = remove_contributions(it, written.iter().copied(), &Value::Null));
    }
    differences(&ty.schema, &before, &after, &mut changes);
    // Drift replaces nothing, also where the field would force a replacement in a plan.
    changes.iter_mut().for_each(|change| change.forces = false);
    changes
}

/// A field whose value in the world differs from the last answer of its provider.
pub(crate) struct DriftedField<'a> {
    /// Its name.
    pub(crate) name: &'a Name,
    /// Its schema.
    pub(crate) field: &'a Field,
    /// Its value in the last answer. Of a partial spec, only what it declares.
    pub(crate) then: Option<Value>,
    /// Its value as read, without secret marks. Of a partial spec, only what it declares.
    pub(crate) now: Option<Value>,
    /// Whether the document has set it.
    pub(crate) written: bool,
    /// Whether the spec controls only a part of the object.
    partial: bool,
}

impl DriftedField<'_> {
    /// The value of the spec that the object has now; `None` if it has none.
    pub(crate) fn input_now(&self, record: &Record) -> Option<Value> {
        let now = self.now.as_ref()?;
        let declared = record.inputs.get(self.name);
        let now = match (declared, &self.then) {
            (Some(declared), Some(then)) if self.partial => {
                with_changes(Some(self.field), declared, then, now)
            }
            _ => now.clone(),
        };
        Some(self.marked(&now, record))
    }

    /// The value as read, with the secret marks of the record.
    pub(crate) fn marked(&self, now: &Value, record: &Record) -> Value {
        with_secret_marks_of(
            now,
            record
                .inputs
                .get(self.name)
                .or(record.outputs.get(self.name)),
            Some(self.field),
        )
    }
}

/// The fields that count as drift and differ from the last answer, in the order of the schema.
pub(crate) fn drifted_fields<'a>(
    ty: &'a ResourceType,
    record: &'a Record,
    seen: &'a Value,
) -> impl Iterator<Item = DriftedField<'a>> {
    let seen = seen.as_map();
    let partial = ty.capabilities.partial;
    // A partial spec of an open type also controls fields that the schema does not know.
    let open = record.inputs.as_map().filter(|_| partial && ty.schema.open);
    let open = open.into_iter().flat_map(|inputs| inputs.keys());
    let open = open.filter(|name| !ty.schema.fields.contains_key(*name));
    let fields = ty.schema.fields.iter();
    let fields = fields.chain(open.map(|name| (name, &*ANY)));
    fields.filter_map(move |(name, field)| {
        let seen = seen?;
        if field.ignore_drift || field.computed && !field.track_drift && !field.optional {
            return None;
        }
        let declared = record.inputs.get(name).filter(|value| !value.is_null());
        let written = record.inputs.get(name).is_some();
        let mut now = seen.get(name).filter(|value| !value.is_null()).cloned();
        let then = record.outputs.get(name).filter(|value| !value.is_null());
        let mut then = then.cloned();
        if partial {
            // Other controllers set what the spec does not declare.
            let declared = declared?;
            now = now.map(|now| declared_part(Some(field), declared, &now));
            then = then.map(|then| declared_part(Some(field), declared, &then));
        }
        let equal = match (&now, &then) {
            (Some(now), Some(then)) => same_field(field, now, then),
            (None, None) => true,
            _ => false,
        };
        if equal || field.computed && field.optional && !written && !field.track_drift {
            return None;
        }
        Some(DriftedField {
            name,
            field,
            then,
            now,
            written,
            partial,
        })
    })
}

/// The spec that a change starts from: as last sent, except that drifted fields are as read. Also
/// whether any field has drifted that is not ignored.
pub(crate) fn prior_spec(
    ty: &ResourceType,
    record: &Record,
    seen: Option<&Value>,
    ignored: &[Name],
    written: &[Contribution],
) -> (Value, bool) {
    let Some(seen) = seen.filter(|seen| seen.as_map().is_some()) else {
        return (record.inputs.clone(), false);
    };
    let mut prior = record.inputs.as_map().cloned().unwrap_or_default();
    let mut drifted = false;
    for field in drifted_fields(ty, record, seen) {
        // Links restore the values that they have written.
        if is_of_links(&field, written) {
            continue;
        }
        drifted |= !is_ignored(&field, ignored);
        if field.field.computed && !field.written {
            continue;
        }
        match field.input_now(record) {
            Some(now) => {
                prior.insert(field.name.clone(), now);
            }
            None => {
                prior.shift_remove(field.name);
            }
        }
    }
    (Value::Map(Arc::new(prior)), drifted)
}

/// Whether a field has drifted only in values that links have written: that is drift of the links
/// (decisions/links#effects-after-the-target).
pub(crate) fn is_of_links(drifted: &DriftedField<'_>, written: &[Contribution]) -> bool {
    let of = |value: Option<&Value>| {
        Value::map(value.map(|value| (drifted.name.clone(), value.clone())))
    };
    let of_field = || {
        written
            .iter()
            .filter(|it| it.path.split('.').next() == Some(drifted.name.as_ref()))
    };
    if of_field().next().is_none() {
        return false;
    }
    let [then, now] = [of(drifted.then.as_ref()), of(drifted.now.as_ref())]
        .map(|spec| remove_contributions(&spec, of_field(), &Value::Null));
    match (then.get(drifted.name), now.get(drifted.name)) {
        (Some(then), Some(now)) => same_field(drifted.field, then, now),
        (then, now) => then.is_none() && now.is_none(),
    }
}

/// Whether a field has drifted only at ignored paths.
pub(crate) fn is_ignored(drifted: &DriftedField<'_>, ignored: &[Name]) -> bool {
    let of = |value: Option<&Value>| {
        Value::map(value.map(|value| (drifted.name.clone(), value.clone())))
    };
    let mut then = of(drifted.then.as_ref());
    let now = of(drifted.now.as_ref());
    for path in ignored {
        then = with_path_of(&then, &now, path);
    }
    match (then.get(drifted.name), now.get(drifted.name)) {
        (Some(then), Some(now)) => same_field(drifted.field, then, now),
        (then, now) => then.is_none() && now.is_none(),
    }
}
