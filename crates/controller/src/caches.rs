//! The objects of `carto.run` and the service accounts, as the watches last told them.
//!
//! Invariant: an object is never replaced by an older version of itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blueprint::{Name, Names, Value};
use cartographer::kinds::CartoKind;
use cartographer::reconcile::{AccountName, Platform, Watches};
use serde_json::Value as Json;

use crate::keys::ReconcileKey;

/// The objects of a kind: by namespace, `""` for cluster-scoped kinds, and then by name.
type ObjectsOfKind = BTreeMap<Name, BTreeMap<Name, CachedObject>>;

/// An object, and the number of the change that brought it.
struct CachedObject {
    object: Arc<Value>,
    change: u64,
}

#[derive(Default)]
struct CachedState {
    kinds: HashMap<CartoKind, ObjectsOfKind>,
    /// The uid of each service account, and the number of the change that brought it.
    accounts: BTreeMap<AccountName, (Name, u64)>,
    /// The number of changes so far.
    changes: u64,
    /// The number of the last change that removed something.
    last_removal: u64,
    /// The keys of maps, each text once.
    names: Names,
}

/// The caches of a controller.
#[derive(Default)]
pub(crate) struct ObjectCaches(Mutex<CachedState>);

/// What an observed object changed in the cache.
pub(crate) struct CacheChange {
    /// The object before.
    pub(crate) before: Option<Arc<Value>>,
    /// The object now; `None` if it is deleted.
    pub(crate) now: Option<Arc<Value>>,
}

impl ObjectCaches {
    fn state(&self) -> MutexGuard<'_, CachedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an object that a watch or an answer showed. `None` if the cache has this version or
    /// a newer one.
    pub(crate) fn put(&self, kind: CartoKind, mut object: Value) -> Option<CacheChange> {
        let mut state = self.state();
        object.share_keys(&mut state.names);
        let place = place_of(&object)?;
        let objects = state.kinds.entry(kind).or_default();
        let of_namespace = objects.entry(place.0.clone()).or_default();
        let before = of_namespace.get(&place.1);
        let before = before.map(|before| before.object.clone());
        if before
            .as_ref()
            .is_some_and(|before| !is_newer(before, &object))
        {
            return None;
        }
        let now = Arc::new(object);
        state.changes += 1;
        let cached = CachedObject {
            object: now.clone(),
            change: state.changes,
        };
        let objects = state.kinds.entry(kind).or_default();
        objects.entry(place.0).or_default().insert(place.1, cached);
        Some(CacheChange {
            before,
            now: Some(now),
        })
    }

    /// Removes an object. `None` if the cache does not have it.
    pub(crate) fn remove(
        &self,
        kind: CartoKind,
        namespace: Option<&str>,
        name: &str,
    ) -> Option<CacheChange> {
        let mut state = self.state();
        let objects = state.kinds.get_mut(&kind)?;
        let of_namespace = objects.get_mut(namespace.unwrap_or_default())?;
        let before = of_namespace.remove(name)?;
        if of_namespace.is_empty() {
            objects.remove(namespace.unwrap_or_default());
        }
        state.changes += 1;
        state.last_removal = state.changes;
        Some(CacheChange {
            before: Some(before.object),
            now: None,
        })
    }

    /// The object of a key.
    pub(crate) fn get(&self, key: &ReconcileKey) -> Option<Arc<Value>> {
        let state = self.state();
        let objects = state.kinds.get(&key.kind)?;
        let of_namespace = objects.get(key.namespace.as_deref().unwrap_or_default())?;
        let found = of_namespace.get(&key.name)?;
        Some(found.object.clone())
    }

    /// All objects of a kind, by namespace and name.
    pub(crate) fn all(&self, kind: CartoKind) -> Vec<Arc<Value>> {
        let state = self.state();
        let objects = state.kinds.get(&kind).into_iter();
        let objects = objects.flat_map(BTreeMap::values);
        let objects = objects.flat_map(BTreeMap::values);
        objects.map(|cached| cached.object.clone()).collect()
    }

    /// The namespaces and names of all objects of a kind.
    pub(crate) fn places(&self, kind: CartoKind) -> BTreeSet<(Name, Name)> {
        let state = self.state();
        let objects = state.kinds.get(&kind).into_iter().flatten();
        let places = objects.flat_map(|(namespace, objects)| {
            objects.keys().map(|name| (namespace.clone(), name.clone()))
        });
        places.collect()
    }

    /// The namespaces that have an object of a kind with this name.
    pub(crate) fn namespaces_with(&self, kind: CartoKind, name: &str) -> Vec<Name> {
        let state = self.state();
        let objects = state.kinds.get(&kind).into_iter().flatten();
        let having = objects.filter(|(_, objects)| objects.contains_key(name));
        having.map(|(namespace, _)| namespace.clone()).collect()
    }

    /// Takes a service account. Returns whether it is new, or made anew.
    pub(crate) fn put_account(&self, account: AccountName, uid: Name) -> bool {
        let mut state = self.state();
        state.changes += 1;
        let change = state.changes;
        let before = state.accounts.insert(account, (uid.clone(), change));
        before.is_none_or(|(before, _)| before != uid)
    }

    /// Removes a service account. Returns whether it was there.
    pub(crate) fn remove_account(&self, account: &AccountName) -> bool {
        let mut state = self.state();
        state.changes += 1;
        state.last_removal = state.changes;
        state.accounts.remove(account).is_some()
    }

    /// The uid of a service account; `None` if it does not exist.
    pub(crate) fn account(&self, account: &AccountName) -> Option<Name> {
        let state = self.state();
        state.accounts.get(account).map(|(uid, _)| uid.clone())
    }

    /// All service accounts.
    pub(crate) fn accounts(&self) -> BTreeSet<AccountName> {
        self.state().accounts.keys().cloned().collect()
    }

    /// The number of changes so far.
    pub(crate) fn changes(&self) -> u64 {
        self.state().changes
    }

    /// Whether a blueprint, template or account among these may have changed after a number of
    /// changes.
    pub(crate) fn has_changed_since(&self, changes: u64, watches: &Watches) -> bool {
        let state = self.state();
        if state.last_removal > changes {
            return true;
        }
        let of_object = |kind: CartoKind, name: &str| {
            let found = state.kinds.get(&kind)?.get("")?.get(name)?;
            Some(found.change)
        };
        let named = watches.platform.iter();
        let mut numbers = named.filter_map(|(kind, name)| of_object(*kind, name));
        let account = watches.account.as_ref();
        let account = account.and_then(|account| state.accounts.get(account));
        numbers.any(|change| change > changes)
            || account.is_some_and(|(_, change)| *change > changes)
    }
}

impl Platform for ObjectCaches {
    fn blueprints(&self, kind: CartoKind) -> Vec<Arc<Value>> {
        self.all(kind)
    }

    fn find(&self, kind: CartoKind, name: &str) -> Option<Arc<Value>> {
        let state = self.state();
        let found = state.kinds.get(&kind)?.get("")?.get(name)?;
        Some(found.object.clone())
    }
}

fn place_of(object: &Value) -> Option<(Name, Name)> {
    let metadata = object.get("metadata")?;
    let text = |field: &str| metadata.get(field).and_then(Value::as_text);
    Some((
        text("namespace").unwrap_or_default().into(),
        text("name")?.into(),
    ))
}

/// Whether an object replaces the one that the cache has. Versions of one object are compared as
/// numbers; the API promises an order since Kubernetes 1.35. Others replace each other.
fn is_newer(cached: &Value, object: &Value) -> bool {
    let text = |object: &Value, field: &str| {
        let metadata = object.get("metadata")?;
        metadata.get(field)?.as_text().map(str::to_owned)
    };
    if text(cached, "uid") != text(object, "uid") {
        return true;
    }
    match (version_of(cached), version_of(object)) {
        (Some(cached), Some(version)) => version > cached,
        _ => text(cached, "resourceVersion") != text(object, "resourceVersion"),
    }
}

/// The version of an object as a number; `None` if it is not one.
pub(crate) fn version_of(object: &Value) -> Option<u64> {
    let version = object.get("metadata")?.get("resourceVersion")?;
    version.as_text()?.parse().ok()
}

/// Removes the bookkeeping of field managers from an object. It is often larger than the rest, and
/// no reconcile reads it.
pub(crate) fn remove_managers(object: &mut Json) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) {
        metadata.remove("managedFields");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(uid: &str, version: &str) -> Value {
        let metadata = [
            ("name", Value::text("chain")),
            ("uid", Value::text(uid)),
            ("resourceVersion", Value::text(version)),
        ];
        Value::map([("metadata", Value::map(metadata))])
    }

    #[test]
    fn older_version_does_not_replace_a_newer_one() {
        let caches = ObjectCaches::default();
        let kind = CartoKind::ClusterSupplyChain;
        assert!(caches.put(kind, chain("a", "9")).is_some());
        assert!(caches.put(kind, chain("a", "9")).is_none());
        assert!(caches.put(kind, chain("a", "8")).is_none());
        assert!(caches.put(kind, chain("a", "10")).is_some());
        let found = caches.find(kind, "chain").unwrap();
        assert_eq!(version_of(&found), Some(10));
    }

    #[test]
    fn object_made_anew_replaces_its_predecessor() {
        let caches = ObjectCaches::default();
        let kind = CartoKind::ClusterSupplyChain;
        caches.put(kind, chain("a", "9"));
        assert!(caches.put(kind, chain("b", "3")).is_some());
    }
}
