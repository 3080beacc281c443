//! What a cluster holds, and the one way in which an object changes.
//!
//! A change notes what follows from it ([`Consequence`]); the request that made the change works
//! these notes off before it answers.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value as Json;

use crate::ids::IdSource;
use crate::kinds::{KindOrigin, KindTable, ServedKind, kind_of_definition};
use crate::naming::{ObjectAddress, ResourceName};
use crate::object::{is_deleting, meta_list, meta_text, set_meta};
use crate::options::ClusterOptions;
use crate::request::ApiUser;
use crate::store::{ObjectStore, owner_uids};

/// What a cluster holds.
#[derive(Debug)]
pub(crate) struct ClusterState {
    pub(crate) options: ClusterOptions,
    pub(crate) store: ObjectStore,
    pub(crate) kinds: KindTable,
    pub(crate) ids: IdSource,
    pub(crate) tokens: HashMap<String, IssuedToken>,
    pub(crate) consequences: VecDeque<Consequence>,
}

/// A token of a service account.
#[derive(Clone, Debug)]
pub(crate) struct IssuedToken {
    pub(crate) user: ApiUser,
    pub(crate) account: ObjectAddress,
    pub(crate) account_uid: String,
    pub(crate) expires: Timestamp,
}

/// What follows from a change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Consequence {
    /// An object was stored.
    Stored(ObjectAddress),
    /// An object was removed.
    Removed {
        address: ObjectAddress,
        uid: String,
        owners: Vec<String>,
    },
    /// An object lost the reference to this owner.
    Released(String),
}

impl ClusterState {
    pub(crate) fn new(options: ClusterOptions) -> ClusterState {
        ClusterState {
            store: ObjectStore::new(options.remembered_changes),
            kinds: KindTable::new(),
            ids: IdSource::new(options.seed),
            tokens: HashMap::new(),
            consequences: VecDeque::new(),
            options,
        }
    }

    /// The time.
    pub(crate) fn now(&self) -> Timestamp {
        (self.options.clock)()
    }

    /// The time as objects write it, in whole seconds.
    pub(crate) fn time(&self) -> String {
        written_time(self.now())
    }

    /// Stores an object, or removes it if a deletion waited only for what the object no longer has.
    /// Returns the object.
    pub(crate) fn put(&mut self, address: &ObjectAddress, object: Json) -> Arc<Json> {
        let before = self.store.get(address);
        if let Some(live) = &before
            && is_released(address, &object)
        {
            // The client sees what it wrote, at the version that was the last stored one.
            let mut last = object;
            let version = live["metadata"]["resourceVersion"].clone();
            set_meta(&mut last, "resourceVersion", Some(version));
            self.remove(address);
            return Arc::new(last);
        }
        let stored = self.store.put(address, object);
        if is_definition(&address.resource) {
            self.define(&stored);
        }
        self.consequences
            .push_back(Consequence::Stored(address.clone()));
        if let Some(before) = before {
            for owner in owner_uids(&before) {
                if !owner_uids(&stored).any(|own| own == owner) {
                    self.consequences
                        .push_back(Consequence::Released(owner.to_owned()));
                }
            }
        }
        stored
    }

    /// Removes an object. Returns its last state.
    pub(crate) fn remove(&mut self, address: &ObjectAddress) -> Option<Arc<Json>> {
        let last = self.store.remove(address)?;
        if is_definition(&address.resource)
            && let Some(kind) = kind_of_definition(&last)
        {
            self.kinds.remove(&kind.resource);
            self.store.wake(&kind.resource);
        }
        self.consequences.push_back(Consequence::Removed {
            address: address.clone(),
            uid: meta_text(&last, "uid").to_owned(),
            owners: owner_uids(&last).map(str::to_owned).collect(),
        });
        Some(last)
    }

    /// Serves the kind of a definition. Kinds of the server itself stay as they are.
    fn define(&mut self, definition: &Json) {
        let Some(kind) = kind_of_definition(definition) else {
            return;
        };
        let known = self.kinds.get(&kind.resource);
        if known.is_none_or(|known| known.origin != KindOrigin::Builtin) {
            self.kinds.insert(kind);
        }
    }

    /// The address of an object of a kind.
    pub(crate) fn address(kind: &ServedKind, namespace: &str, name: &str) -> ObjectAddress {
        ObjectAddress {
            resource: kind.resource.clone(),
            namespace: match kind.is_namespaced() {
                true => namespace.into(),
                false => "".into(),
            },
            name: name.into(),
        }
    }

    /// The address of a namespace.
    pub(crate) fn namespace_address(name: &str) -> ObjectAddress {
        ObjectAddress {
            resource: ResourceName::new("", "namespaces"),
            namespace: "".into(),
            name: name.into(),
        }
    }
}

/// Whether a deletion of the object waits for nothing.
pub(crate) fn is_released(address: &ObjectAddress, object: &Json) -> bool {
    // A namespace waits for its objects, too; the consequences see to that.
    is_deleting(object)
        && meta_list(object, "finalizers").is_empty()
        && !address.resource.is("", "namespaces")
}

/// Whether a kind is that of definitions of kinds.
pub(crate) fn is_definition(resource: &ResourceName) -> bool {
    resource.is("apiextensions.k8s.io", "customresourcedefinitions")
}

/// A time as objects write it, in whole seconds.
pub(crate) fn written_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
