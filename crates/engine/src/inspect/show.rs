//! Details of an instance, or of a part of it: a resource, a child document, or a resource that
//! waits to be created.

use std::sync::Arc;

use blueprint::{Address, Breakpoint, IndexMap, Map, Name};
use state::{
    ChildRecord, EntryKind, InstanceInfo, InstanceName, Record, Snapshot, StatusWord, Store,
    StoreError,
};

use super::waiting::{Pending, Waiting};
use crate::codes;
use crate::error::Error;
use crate::phases::help_for_address;
use crate::session::Session;

/// The maximum number of journal entries to search for the reason of a failure.
const ENTRIES: usize = 100_000;

/// The details of an instance or of a part of it.
#[derive(Clone, Debug)]
pub enum Details {
    /// The whole instance.
    Instance(Box<InstanceDetails>),
    /// A resource or a link.
    Resource(ResourceDetails),
    /// A child document.
    Child(ChildDetails),
    /// A waiting resource or child without a record.
    Pending(PendingDetails),
}

/// A whole instance.
#[derive(Clone, Debug)]
pub struct InstanceDetails {
    /// The summary of the instance; `None` before its first commit.
    pub info: Option<InstanceInfo>,
    /// Its state.
    pub snapshot: Snapshot,
    /// Its waiting resources and children.
    pub waiting: Waiting,
    /// The errors of the last operations on resources that failed.
    pub errors: IndexMap<Address, String>,
}

/// A resource or a link.
#[derive(Clone, Debug)]
pub struct ResourceDetails {
    /// Its address.
    pub address: Address,
    /// Its record.
    pub record: Arc<Record>,
    /// The error of the last operation on it, if that failed.
    pub error: Option<String>,
    /// The breakpoint at which it waits.
    pub waiting: Option<Breakpoint>,
}

/// A child document.
#[derive(Clone, Debug)]
pub struct ChildDetails {
    /// Its include path.
    pub place: Name,
    /// Its exports and metadata.
    pub record: ChildRecord,
    /// Whether a later operation has failed, so that the exports are out of date.
    pub exports_old: bool,
    /// The resources in it and below it.
    pub resources: Vec<ResourceDetails>,
    /// The breakpoint at which it waits.
    pub waiting: Option<Breakpoint>,
}

/// A waiting resource or child without a record.
#[derive(Clone, Debug)]
pub enum PendingDetails {
    /// A resource.
    Resource(Pending),
    /// A child document.
    Child {
        /// Its include path.
        place: Name,
        /// The breakpoint at which it waits.
        at: Breakpoint,
    },
}

impl Session {
    /// Returns the details of an instance.
    pub async fn details(&self, instance: &InstanceName) -> Result<InstanceDetails, Error> {
        let store = self.reading();
        let snapshot = store.load(instance).await?;
        let info = store.info(instance).await?;
        let waiting = Waiting::of(&snapshot);
        let errors = last_errors(store.as_ref(), instance, &snapshot).await?;
        Ok(InstanceDetails {
            info,
            snapshot,
            waiting,
            errors,
        })
    }

    /// Returns the details of a resource, a link or a child document, by its address.
    pub async fn details_at(&self, instance: &InstanceName, place: &str) -> Result<Details, Error> {
        let store = self.reading();
        let snapshot = store.load(instance).await?;
        let waiting = Waiting::of(&snapshot);
        let errors = last_errors(store.as_ref(), instance, &snapshot).await?;
        let address = place.parse::<Address>().ok();
        if let Some(address) = address
            && let Some(record) = snapshot.records.get(&address)
        {
            let details = resource(&address, record, &waiting, &errors);
            return Ok(Details::Resource(details));
        }
        if let Some(child) = child(place, &snapshot, &waiting, &errors) {
            return Ok(Details::Child(child));
        }
        if let Some(pending) = waiting
            .pending
            .iter()
            .find(|pending| pending.address.as_ref() == place)
        {
            return Ok(Details::Pending(PendingDetails::Resource(pending.clone())));
        }
        if let Some(at) = waiting.at_child(place) {
            return Ok(Details::Pending(PendingDetails::Child {
                place: place.into(),
                at,
            }));
        }
        let names: Vec<String> = snapshot.records.keys().map(ToString::to_string).collect();
        let diagnostic = codes::UNKNOWN_ADDRESS
            .new(format!("there is no `{place}` in `{instance}`"))
            .help(match names.is_empty() {
                true => "deploy first: it has no resource".to_owned(),
                false => help_for_address(place, &names),
            });
        Err(Error::Diagnosed(Box::new(diagnostic)))
    }
}

impl InstanceDetails {
    /// All resources and links with a record.
    pub fn resources(&self) -> impl Iterator<Item = ResourceDetails> {
        self.snapshot
            .records
            .iter()
            .map(|(address, record)| resource(address, record, &self.waiting, &self.errors))
    }
}

fn resource(
    address: &Address,
    record: &Arc<Record>,
    waiting: &Waiting,
    errors: &IndexMap<Address, String>,
) -> ResourceDetails {
    ResourceDetails {
        address: address.clone(),
        record: record.clone(),
        error: errors.get(address).cloned(),
        waiting: waiting.at(address),
    }
}

/// Returns the details of a child that has a record or resources.
fn child(
    place: &str,
    snapshot: &Snapshot,
    waiting: &Waiting,
    errors: &IndexMap<Address, String>,
) -> Option<ChildDetails> {
    let path: Vec<Name> = place.split('/').map(Name::from).collect();
    let below = snapshot
        .records
        .iter()
        .filter(|(address, _)| address.path.starts_with(path.as_slice()));
    let resources: Vec<_> = below
        .map(|(address, record)| resource(address, record, waiting, errors))
        .collect();
    let record = snapshot.declared.children.get(place);
    if record.is_none() && resources.is_empty() {
        return None;
    }
    Some(ChildDetails {
        place: place.into(),
        record: record.cloned().unwrap_or_default(),
        exports_old: snapshot.exports_old,
        resources,
        waiting: waiting.at_child(place),
    })
}

/// Returns the errors of the last operations on the resources that failed. Reads the journal only if
/// there are such resources.
async fn last_errors(
    store: &dyn Store,
    instance: &InstanceName,
    snapshot: &Snapshot,
) -> Result<IndexMap<Address, String>, StoreError> {
    let mut errors = IndexMap::default();
    let has_failed = |record: &Arc<Record>| record.status.word == StatusWord::Failed;
    if !snapshot.records.values().any(has_failed) {
        return Ok(errors);
    }
    for entry in store.log(instance, None, ENTRIES).await? {
        if let EntryKind::Outcome(outcome) = &entry.entry.kind {
            // A later outcome replaces an earlier one.
            match &outcome.error {
                Some(error) => errors.insert(outcome.address.clone(), error.to_string()),
                None => errors.shift_remove(&outcome.address),
            };
        }
    }
    errors.retain(|address, _| snapshot.records.get(address).is_some_and(has_failed));
    Ok(errors)
}

/// Whether an address is that of a link itself, not of one of its ends or resources.
pub fn is_link(address: &Address) -> bool {
    address
        .link
        .as_ref()
        .is_some_and(|link| link.part.is_none())
}

/// The part at which a link has failed, according to its record; `None` if the record is not of a
/// link (decisions/apply#statuses).
pub fn link_failed_at(record: &Record) -> Option<&str> {
    understand::links::overlay::failed_at(record)
}

/// The fields that the provider set.
pub fn computed(record: &Record) -> Map {
    let outputs = record.outputs.as_map().into_iter().flatten();
    let own = outputs.filter(|(name, _)| record.inputs.get(name).is_none());
    own.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
