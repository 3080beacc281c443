//! The objects, their changes, and indexes by label, uid and owner.
//!
//! A list walks only the objects of its namespace or label; a watch reads only the changes of its
//! kind. Not here: rules about what may be written.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use serde_json::Value as Json;
use tokio::sync::watch;

use crate::kept::KeptObject;
use crate::naming::{ObjectAddress, ResourceName};
use crate::object::{meta_text, set_meta};
use crate::selector::ObjectFilter;

/// The number of written objects that stay parsed.
const PARSED_OBJECTS: usize = 1024;

/// Namespace and name.
pub(crate) type ObjectPlace = (Arc<str>, Arc<str>);

/// The objects of a cluster.
#[derive(Debug)]
pub(crate) struct ObjectStore {
    revision: u64,
    kinds: BTreeMap<ResourceName, KindObjects>,
    by_uid: HashMap<String, ObjectAddress>,
    /// The objects that name an owner, by the uid of the owner.
    dependants: HashMap<String, BTreeSet<ObjectAddress>>,
    remembered: usize,
    /// The last written objects, which are still parsed.
    parsed: VecDeque<Arc<KeptObject>>,
}

/// The objects of a kind.
#[derive(Debug)]
struct KindObjects {
    objects: BTreeMap<ObjectPlace, Arc<KeptObject>>,
    labels: HashMap<(String, String), BTreeSet<ObjectPlace>>,
    changes: VecDeque<ObjectChange>,
    /// The revision of the newest change that is forgotten.
    forgotten: u64,
    /// Gets the revision of each change.
    announce: watch::Sender<u64>,
}

/// A change of an object.
#[derive(Clone, Debug)]
pub(crate) struct ObjectChange {
    pub(crate) revision: u64,
    pub(crate) before: Option<Arc<KeptObject>>,
    /// The object; after a deletion its last state, with the revision of the deletion.
    pub(crate) object: Arc<KeptObject>,
    pub(crate) is_deletion: bool,
}

/// The changes that a watch asks for are forgotten up to this revision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForgottenChanges(pub(crate) u64);

impl KindObjects {
    fn new() -> KindObjects {
        KindObjects {
            objects: BTreeMap::new(),
            labels: HashMap::new(),
            changes: VecDeque::new(),
            forgotten: 0,
            announce: watch::Sender::new(0),
        }
    }

    fn index(&mut self, place: &ObjectPlace, object: &Json) {
        for label in labels_of(object) {
            self.labels.entry(label).or_default().insert(place.clone());
        }
    }

    fn unindex(&mut self, place: &ObjectPlace, object: &Json) {
        for label in labels_of(object) {
            if let Some(places) = self.labels.get_mut(&label) {
                places.remove(place);
                if places.is_empty() {
                    self.labels.remove(&label);
                }
            }
        }
    }

    fn remember(&mut self, change: ObjectChange, limit: usize) {
        let revision = change.revision;
        self.changes.push_back(change);
        while self.changes.len() > limit {
            if let Some(oldest) = self.changes.pop_front() {
                self.forgotten = oldest.revision;
            }
        }
        self.announce.send_replace(revision);
    }

    /// The smallest set of places that holds all selected objects; `None` if no index helps.
    fn candidates(&self, filter: &ObjectFilter) -> Option<Vec<ObjectPlace>> {
        let sets = filter.wanted_labels().map(|(key, values)| {
            let one = |value: &String| self.labels.get(&(key.to_owned(), value.clone()));
            values.iter().filter_map(one).collect::<Vec<_>>()
        });
        let smallest = sets.min_by_key(|sets| sets.iter().map(|set| set.len()).sum::<usize>())?;
        let all: BTreeSet<&ObjectPlace> = smallest.into_iter().flatten().collect();
        Some(all.into_iter().cloned().collect())
    }
}

impl ObjectStore {
    pub(crate) fn new(remembered: usize) -> ObjectStore {
        ObjectStore {
            revision: 0,
            kinds: BTreeMap::new(),
            by_uid: HashMap::new(),
            dependants: HashMap::new(),
            remembered,
            parsed: VecDeque::new(),
        }
    }

    /// The revision of the last change of any object.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn get(&self, address: &ObjectAddress) -> Option<Arc<Json>> {
        Some(self.kept(address)?.object())
    }

    pub(crate) fn has(&self, address: &ObjectAddress) -> bool {
        self.kept(address).is_some()
    }

    fn kept(&self, address: &ObjectAddress) -> Option<&Arc<KeptObject>> {
        let place = (address.namespace.clone(), address.name.clone());
        self.kinds.get(&address.resource)?.objects.get(&place)
    }

    /// The object with a uid.
    pub(crate) fn by_uid(&self, uid: &str) -> Option<&ObjectAddress> {
        self.by_uid.get(uid)
    }

    /// The objects that name an owner.
    pub(crate) fn dependants(&self, uid: &str) -> Vec<ObjectAddress> {
        let found = self.dependants.get(uid).into_iter().flatten();
        found.cloned().collect()
    }

    /// Stores an object under a new revision. Returns it as stored.
    pub(crate) fn put(&mut self, address: &ObjectAddress, mut object: Json) -> Arc<Json> {
        self.revision += 1;
        set_meta(
            &mut object,
            "resourceVersion",
            Some(self.revision.to_string().into()),
        );
        let object = Arc::new(object);
        let kept = self.keep(object.clone());
        let place = (address.namespace.clone(), address.name.clone());
        let kind = self.kind_mut(&address.resource);
        let before = kind.objects.insert(place.clone(), kept.clone());
        let object_before = before.as_ref().map(|before| before.object());
        if let Some(before) = &object_before {
            kind.unindex(&place, before);
        }
        kind.index(&place, &object);
        if let Some(before) = &object_before {
            self.unlink(address, before);
        }
        self.link(address, &object);
        self.remember(
            &address.resource,
            ObjectChange {
                revision: self.revision,
                before,
                object: kept,
                is_deletion: false,
            },
        );
        object
    }

    /// Removes an object. Returns its last state with the revision of the deletion.
    pub(crate) fn remove(&mut self, address: &ObjectAddress) -> Option<Arc<Json>> {
        let place = (address.namespace.clone(), address.name.clone());
        let kind = self.kinds.get_mut(&address.resource)?;
        let before = kind.objects.remove(&place)?;
        let object_before = before.object();
        kind.unindex(&place, &object_before);
        self.unlink(address, &object_before);
        self.revision += 1;
        let mut last = Json::clone(&object_before);
        let revision = Json::from(self.revision.to_string());
        set_meta(&mut last, "resourceVersion", Some(revision));
        let last = Arc::new(last);
        let kept = self.keep(last.clone());
        self.remember(
            &address.resource,
            ObjectChange {
                revision: self.revision,
                before: Some(before),
                object: kept,
                is_deletion: true,
            },
        );
        Some(last)
    }

    /// The selected objects of a kind in the order of their places, after one of them. An empty
    /// namespace means all.
    pub(crate) fn select<'s>(
        &'s self,
        resource: &ResourceName,
        namespace: &str,
        filter: &'s ObjectFilter,
        after: Option<&ObjectPlace>,
    ) -> Box<dyn Iterator<Item = &'s Arc<KeptObject>> + 's> {
        let Some(kind) = self.kinds.get(resource) else {
            return Box::new(std::iter::empty());
        };
        let namespace: Arc<str> = namespace.into();
        let after = after.cloned();
        let all_selected = *filter == ObjectFilter::default();
        let selected =
            move |kept: &&'s Arc<KeptObject>| all_selected || filter.selects(&kept.object());
        if let Some(name) = filter.wanted_name().filter(|_| !namespace.is_empty()) {
            let place = (namespace, Arc::from(name));
            let is_after = after.is_none_or(|after| place > after);
            let found = kind.objects.get(&place).filter(|_| is_after);
            return Box::new(found.into_iter().filter(selected));
        }
        if let Some(places) = kind.candidates(filter) {
            let wanted = places.into_iter().filter(move |place| {
                (namespace.is_empty() || place.0 == namespace)
                    && after.as_ref().is_none_or(|after| place > after)
            });
            let objects = wanted.filter_map(|place| kind.objects.get(&place));
            return Box::new(objects.filter(selected));
        }
        let first: ObjectPlace = (namespace.clone(), "".into());
        let start = match after {
            Some(after) if after >= first => Bound::Excluded(after),
            _ => Bound::Included(first),
        };
        let all = kind.objects.range((start, Bound::Unbounded));
        let own = all.take_while(move |(place, _)| namespace.is_empty() || place.0 == namespace);
        Box::new(own.map(|(_, object)| object).filter(selected))
    }

    /// The addresses of all objects in a namespace.
    pub(crate) fn in_namespace(&self, namespace: &str) -> Vec<ObjectAddress> {
        let namespace: Arc<str> = namespace.into();
        let mut found = Vec::new();
        for (resource, kind) in &self.kinds {
            let all = kind.objects.range((namespace.clone(), "".into())..);
            let own = all.take_while(|(place, _)| place.0 == namespace);
            found.extend(own.map(|(place, _)| address_of(resource, place)));
        }
        found
    }

    /// Whether a namespace has an object.
    pub(crate) fn has_any_in_namespace(&self, namespace: &str) -> bool {
        let namespace: Arc<str> = namespace.into();
        self.kinds.values().any(|kind| {
            let mut all = kind.objects.range((namespace.clone(), "".into())..);
            all.next().is_some_and(|(place, _)| place.0 == namespace)
        })
    }

    /// The addresses of all objects of a kind.
    pub(crate) fn of_kind(&self, resource: &ResourceName) -> Vec<ObjectAddress> {
        let kind = self.kinds.get(resource).into_iter();
        kind.flat_map(|kind| kind.objects.keys())
            .map(|place| address_of(resource, place))
            .collect()
    }

    /// The changes of a kind after a revision.
    ///
    /// # Errors
    /// If some of them are forgotten.
    pub(crate) fn changes_after(
        &self,
        resource: &ResourceName,
        revision: u64,
    ) -> Result<Vec<ObjectChange>, ForgottenChanges> {
        let Some(kind) = self.kinds.get(resource) else {
            return Ok(Vec::new());
        };
        if revision < kind.forgotten {
            return Err(ForgottenChanges(kind.forgotten));
        }
        let start = kind.changes.partition_point(|own| own.revision <= revision);
        Ok(kind.changes.range(start..).cloned().collect())
    }

    /// What tells that a kind has changed.
    pub(crate) fn subscribe(&mut self, resource: &ResourceName) -> watch::Receiver<u64> {
        self.kind_mut(resource).announce.subscribe()
    }

    /// Lets the watches of a kind look again, for example because the kind is served no more.
    pub(crate) fn wake(&mut self, resource: &ResourceName) {
        self.kind_mut(resource).announce.send_modify(|_| {});
    }

    fn kind_mut(&mut self, resource: &ResourceName) -> &mut KindObjects {
        self.kinds
            .entry(resource.clone())
            .or_insert_with(KindObjects::new)
    }

    fn remember(&mut self, resource: &ResourceName, change: ObjectChange) {
        let limit = self.remembered;
        self.kind_mut(resource).remember(change, limit);
    }

    /// Keeps an object parsed, and an older one as text.
    fn keep(&mut self, object: Arc<Json>) -> Arc<KeptObject> {
        let kept = KeptObject::new(object);
        self.parsed.push_back(kept.clone());
        if self.parsed.len() > PARSED_OBJECTS
            && let Some(oldest) = self.parsed.pop_front()
        {
            oldest.pack();
        }
        kept
    }

    fn link(&mut self, address: &ObjectAddress, object: &Json) {
        let uid = meta_text(object, "uid");
        self.by_uid.insert(uid.to_owned(), address.clone());
        for owner in owner_uids(object) {
            let dependants = self.dependants.entry(owner.to_owned()).or_default();
            dependants.insert(address.clone());
        }
    }

    fn unlink(&mut self, address: &ObjectAddress, object: &Json) {
        self.by_uid.remove(meta_text(object, "uid"));
        for owner in owner_uids(object) {
            if let Some(dependants) = self.dependants.get_mut(owner) {
                dependants.remove(address);
                if dependants.is_empty() {
                    self.dependants.remove(owner);
                }
            }
        }
    }
}

/// The uids of the owners of an object.
pub(crate) fn owner_uids(object: &Json) -> impl Iterator<Item = &str> {
    let owners = object["metadata"]["ownerReferences"].as_array();
    let owners = owners.into_iter().flatten();
    owners.filter_map(|owner| owner["uid"].as_str())
}

fn labels_of(object: &Json) -> impl Iterator<Item = (String, String)> {
    let labels = object["metadata"]["labels"].as_object();
    let labels = labels.into_iter().flatten();
    labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
}

fn address_of(resource: &ResourceName, place: &ObjectPlace) -> ObjectAddress {
    ObjectAddress {
        resource: resource.clone(),
        namespace: place.0.clone(),
        name: place.1.clone(),
    }
}
