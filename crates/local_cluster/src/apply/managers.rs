//! The entries of `metadata.managedFields` while a request changes them.

use blueprint::Name;
use kubernetes::{FieldElement, FieldSet, ManagedFields, ManagerEntry, ManagerOperation};
use serde_json::{Map, Value as Json, json};

use super::comparison::Comparison;
use super::manager::FieldManager;

/// How many entries of plain requests an object has at most. The oldest ones are put together.
const MOST_UPDATES: usize = 10;

/// The manager of entries that were put together.
const OLD_UPDATES: &str = "ancient-changes";

/// The entries of an object.
#[derive(Clone, Debug)]
pub(super) struct Managers {
    entries: Vec<ManagerEntry>,
}

impl Managers {
    pub(super) fn new(managed: ManagedFields) -> Managers {
        Managers {
            entries: managed.entries,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The fields that a manager holds by an operation.
    pub(super) fn fields(
        &self,
        manager: &FieldManager<'_>,
        operation: ManagerOperation,
    ) -> FieldSet {
        let own = self.position(manager, operation);
        let entry = own.and_then(|at| self.entries.get(at));
        entry.map(|entry| entry.fields.clone()).unwrap_or_default()
    }

    /// The fields that any manager holds.
    pub(super) fn all_fields(&self) -> FieldSet {
        let entries = self.entries.iter();
        entries.fold(FieldSet::default(), |set, entry| set.union(&entry.fields))
    }

    /// The entries that hold some of the fields, with these fields; without the entry of a manager
    /// that applies.
    pub(super) fn holders_of(
        &self,
        fields: &FieldSet,
        except: &FieldManager<'_>,
    ) -> Vec<(&ManagerEntry, FieldSet)> {
        let others = self
            .entries
            .iter()
            .filter(|entry| !is_of(entry, except, ManagerOperation::Apply));
        others
            .map(|entry| (entry, entry.fields.intersection(fields)))
            .filter(|(_, held)| !held.is_empty())
            .collect()
    }

    /// Sets the fields that a manager applies. An earlier time stays.
    pub(super) fn set_applied(&mut self, manager: &FieldManager<'_>, fields: FieldSet) {
        match self.position(manager, ManagerOperation::Apply) {
            Some(at) => {
                if let Some(entry) = self.entries.get_mut(at) {
                    entry.fields = fields;
                    entry.api_version = manager.api_version.into();
                }
            }
            None => self.entries.push(ManagerEntry {
                time: None,
                ..entry(manager, ManagerOperation::Apply, fields)
            }),
        }
    }

    /// Sets the time at which a manager applied.
    pub(super) fn set_time(&mut self, manager: &FieldManager<'_>) {
        if let Some(at) = self.position(manager, ManagerOperation::Apply)
            && let Some(entry) = self.entries.get_mut(at)
        {
            entry.time = Some(manager.time.into());
        }
    }

    /// Takes the fields that a request wrote or removed from all managers but the one that applies.
    pub(super) fn take(&mut self, comparison: &Comparison, applying: Option<&FieldManager<'_>>) {
        let taken = comparison.written().union(&comparison.removed);
        for entry in &mut self.entries {
            let applies = |manager| is_of(entry, manager, ManagerOperation::Apply);
            if !applying.is_some_and(applies) {
                entry.fields = entry.fields.minus(&taken);
            }
        }
        self.entries.retain(|entry| !entry.fields.is_empty());
    }

    /// Adds fields to what a manager wrote by plain requests.
    pub(super) fn add_update(&mut self, manager: &FieldManager<'_>, fields: FieldSet) {
        let fields = tracked(&fields);
        if fields.is_empty() {
            return;
        }
        let new = entry(manager, ManagerOperation::Update, fields);
        match self.position(manager, ManagerOperation::Update) {
            Some(at) => {
                if let Some(known) = self.entries.get_mut(at) {
                    known.fields = known.fields.union(&new.fields);
                    known.time = new.time;
                }
            }
            None => self.entries.push(new),
        }
    }

    /// Leaves out the fields that no manager holds from what a manager applies.
    pub(super) fn drop_untracked(&mut self, manager: &FieldManager<'_>) {
        if let Some(at) = self.position(manager, ManagerOperation::Apply)
            && let Some(entry) = self.entries.get_mut(at)
        {
            entry.fields = tracked(&entry.fields);
        }
        self.entries.retain(|entry| !entry.fields.is_empty());
    }

    /// Puts the oldest entries of plain requests together until there are not too many.
    pub(super) fn bound_updates(&mut self) {
        let is_update = |entry: &ManagerEntry| entry.operation == ManagerOperation::Update;
        let (mut updates, applies): (Vec<_>, Vec<_>) = std::mem::take(&mut self.entries)
            .into_iter()
            .partition(is_update);
        updates.sort_by_cached_key(order);
        self.entries = applies;
        let mut excess = updates.len().saturating_sub(MOST_UPDATES);
        // One of each version is kept until a second one of that version comes.
        let mut kept: Vec<ManagerEntry> = Vec::new();
        for update in updates {
            let same = |known: &&mut ManagerEntry| known.api_version == update.api_version;
            match kept.iter_mut().find(same) {
                Some(known) if excess > 0 => {
                    known.manager = OLD_UPDATES.into();
                    known.subresource = None;
                    known.fields = known.fields.union(&update.fields);
                    known.time = update.time;
                    excess -= 1;
                }
                _ => kept.push(update),
            }
        }
        self.entries.extend(kept);
    }

    /// Writes the entries into an object, in the order of the server.
    pub(super) fn write(mut self, object: &mut Json) {
        if self.entries.is_empty() {
            return;
        }
        self.entries.sort_by_cached_key(order);
        let managed = ManagedFields {
            entries: self.entries,
        };
        let Some(fields) = object.as_object_mut() else {
            return;
        };
        let metadata = fields
            .entry("metadata")
            .or_insert_with(|| Json::Object(Map::new()));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert("managedFields".to_owned(), managed.to_json());
        }
    }

    fn position(&self, manager: &FieldManager<'_>, operation: ManagerOperation) -> Option<usize> {
        let is_own = |entry: &ManagerEntry| is_of(entry, manager, operation);
        self.entries.iter().position(is_own)
    }
}

/// A manager has one entry for what it applies, and one in each version for what it updates.
fn is_of(entry: &ManagerEntry, manager: &FieldManager<'_>, operation: ManagerOperation) -> bool {
    let is_version = || *entry.api_version == *manager.api_version;
    entry.operation == operation
        && *entry.manager == *manager.name
        && entry.subresource.as_deref() == manager.subresource
        && (operation == ManagerOperation::Apply || is_version())
}

fn entry(
    manager: &FieldManager<'_>,
    operation: ManagerOperation,
    fields: FieldSet,
) -> ManagerEntry {
    ManagerEntry {
        manager: manager.name.into(),
        operation,
        api_version: manager.api_version.into(),
        subresource: manager.subresource.map(Name::from),
        time: Some(manager.time.into()),
        fields,
    }
}

/// What orders the entries of an object: applied fields first, then by time.
fn order(entry: &ManagerEntry) -> (bool, Option<Name>, Name, Name, Option<Name>) {
    (
        entry.operation == ManagerOperation::Update,
        entry.time.clone(),
        entry.manager.clone(),
        entry.api_version.clone(),
        entry.subresource.clone(),
    )
}

/// The fields without those that no manager holds.
fn tracked(fields: &FieldSet) -> FieldSet {
    let mut rest = FieldSet::default();
    for (element, part) in fields.parts() {
        let name = match element {
            FieldElement::Field(name) => &**name,
            _ => "",
        };
        match name {
            "apiVersion" | "kind" => {}
            "metadata" => rest.put(element.clone(), part.minus(&untracked_metadata())),
            _ => rest.put(element.clone(), part.clone()),
        }
    }
    rest
}

fn untracked_metadata() -> FieldSet {
    let mut set = FieldSet::member();
    let names = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    for name in names {
        set.put(FieldElement::Field(name.into()), FieldSet::member());
    }
    set
}

/// Takes the entries out of an object.
pub(super) fn take_managed_fields(object: &mut Json) -> Option<Json> {
    let metadata = object.get_mut("metadata")?.as_object_mut()?;
    metadata.shift_remove("managedFields")
}

/// An object with only these entries, to read them.
pub(super) fn with_entries(entries: &Json) -> Json {
    json!({"metadata": {"managedFields": entries}})
}
