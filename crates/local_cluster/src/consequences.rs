//! What follows from a change: the garbage of deleted owners, the ends of namespaces and of
//! definitions, and the service account of a new namespace.
//!
//! A real cluster leaves this to controllers, which come later; here it is done before the request
//! is answered.

use serde_json::{Value as Json, json};

use crate::deleting::{
    DEFINITION_FINALIZER, DeletionPolicy, FOREGROUND, ORPHAN, begin_deletion, without_finalizer,
};
use crate::kinds::kind_of_definition;
use crate::naming::{ObjectAddress, ResourceName};
use crate::object::{is_deleting, meta_list, meta_text, set_meta};
use crate::options::GarbageCollection;
use crate::state::{ClusterState, Consequence, is_definition};

/// The service account that every namespace has.
const DEFAULT_ACCOUNT: &str = "default";

/// Works off what follows from the changes of a request.
pub(crate) fn settle(state: &mut ClusterState) {
    while let Some(consequence) = state.consequences.pop_front() {
        match consequence {
            Consequence::Stored(address) => stored(state, &address),
            Consequence::Removed {
                address,
                uid,
                owners,
            } => removed(state, &address, &uid, &owners),
            Consequence::Released(owner) => revisit_owner(state, &owner),
        }
    }
}

fn stored(state: &mut ClusterState, address: &ObjectAddress) {
    let Some(object) = state.store.get(address) else {
        return;
    };
    if address.resource.is("", "namespaces") {
        match is_deleting(&object) {
            true => empty_namespace(state, &address.name),
            false => add_default_account(state, &address.name),
        }
    } else if is_definition(&address.resource) && is_deleting(&object) {
        empty_kind(state, &object);
    }
    if state.options.garbage_collection == GarbageCollection::Off {
        return;
    }
    if is_deleting(&object) {
        follow_policy(state, address, &object);
    }
    check_owners(state, address);
}

fn removed(state: &mut ClusterState, address: &ObjectAddress, uid: &str, owners: &[String]) {
    if !address.namespace.is_empty() {
        let namespace = ClusterState::namespace_address(&address.namespace);
        match state.store.get(&namespace) {
            Some(own) if is_deleting(&own) => end_if_empty(state, &address.namespace),
            Some(_) if is_default_account(address) => {
                add_default_account(state, &address.namespace);
            }
            _ => {}
        }
    }
    if let Some(definition) = definition_of(state, &address.resource)
        && let Some(object) = state.store.get(&definition)
        && is_deleting(&object)
    {
        empty_kind(state, &object);
    }
    if state.options.garbage_collection == GarbageCollection::Off {
        return;
    }
    for dependant in state.store.dependants(uid) {
        check_owners(state, &dependant);
    }
    for owner in owners {
        revisit_owner(state, owner);
    }
}

/// Deletes what is in a namespace, and then the namespace.
fn empty_namespace(state: &mut ClusterState, name: &str) {
    end_if_empty(state, name);
    for address in state.store.in_namespace(name) {
        let live = state.store.get(&address);
        if live.is_some_and(|object| !is_deleting(&object)) {
            begin_deletion(state, &address, DeletionPolicy::Background);
        }
    }
}

/// Removes a namespace that is being deleted, if nothing is left in it. Objects that are left are
/// being deleted, too, and none can be added.
fn end_if_empty(state: &mut ClusterState, name: &str) {
    if state.store.has_any_in_namespace(name) {
        return;
    }
    let address = ClusterState::namespace_address(name);
    let waits = state.store.get(&address);
    if waits.is_some_and(|own| meta_list(&own, "finalizers").is_empty()) {
        state.remove(&address);
    }
}

/// Deletes the objects of a kind, and then its definition.
fn empty_kind(state: &mut ClusterState, definition: &Json) {
    let Some(kind) = kind_of_definition(definition) else {
        return;
    };
    let objects = state.store.of_kind(&kind.resource);
    if objects.is_empty() {
        let name = meta_text(definition, "name");
        let address = definition_address(name);
        without_finalizer(state, &address, DEFINITION_FINALIZER);
        return;
    }
    for address in objects {
        let live = state.store.get(&address);
        if live.is_some_and(|object| !is_deleting(&object)) {
            begin_deletion(state, &address, DeletionPolicy::Background);
        }
    }
}

fn definition_address(name: &str) -> ObjectAddress {
    ObjectAddress {
        resource: ResourceName::new("apiextensions.k8s.io", "customresourcedefinitions"),
        namespace: "".into(),
        name: name.into(),
    }
}

/// The definition of a kind that has one.
fn definition_of(state: &ClusterState, resource: &ResourceName) -> Option<ObjectAddress> {
    let address = definition_address(&format!("{}.{}", resource.plural, resource.group));
    state.store.has(&address).then_some(address)
}

fn is_default_account(address: &ObjectAddress) -> bool {
    address.resource.is("", "serviceaccounts") && *address.name == *DEFAULT_ACCOUNT
}

/// Adds the service account `default` to a namespace that does not have it.
fn add_default_account(state: &mut ClusterState, namespace: &str) {
    let address = ObjectAddress {
        resource: ResourceName::new("", "serviceaccounts"),
        namespace: namespace.into(),
        name: DEFAULT_ACCOUNT.into(),
    };
    if state.store.has(&address) {
        return;
    }
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {
        "name": DEFAULT_ACCOUNT, "namespace": namespace, "uid": state.ids.uid(),
        "creationTimestamp": state.time()}});
    state.put(&address, account);
}

/// Does what the finalizers `foregroundDeletion` and `orphan` wait for.
fn follow_policy(state: &mut ClusterState, address: &ObjectAddress, object: &Json) {
    let finalizers = meta_list(object, "finalizers");
    let uid = meta_text(object, "uid");
    if finalizers.contains(&ORPHAN) {
        for dependant in state.store.dependants(uid) {
            drop_owners(state, &dependant, &[uid.to_owned()]);
        }
        without_finalizer(state, address, ORPHAN);
    } else if finalizers.contains(&FOREGROUND) {
        let dependants = state.store.dependants(uid);
        let is_blocked = dependants.iter().any(|dependant| {
            let live = state.store.get(dependant);
            live.is_some_and(|live| blocks(&live, uid))
        });
        if !is_blocked {
            without_finalizer(state, address, FOREGROUND);
            return;
        }
        for dependant in dependants {
            check_owners(state, &dependant);
        }
    }
}

/// Whether an object blocks the foreground deletion of an owner.
fn blocks(object: &Json, owner: &str) -> bool {
    let owners = object["metadata"]["ownerReferences"].as_array();
    let mut owners = owners.into_iter().flatten();
    owners.any(|own| own["uid"] == *owner && own["blockOwnerDeletion"] == true)
}

/// Looks again at an owner that may wait for its dependants.
fn revisit_owner(state: &mut ClusterState, uid: &str) {
    if state.options.garbage_collection == GarbageCollection::Off {
        return;
    }
    let Some(address) = state.store.by_uid(uid).cloned() else {
        return;
    };
    if let Some(object) = state.store.get(&address)
        && is_deleting(&object)
    {
        follow_policy(state, &address, &object);
    }
}

/// What an owner is for its dependant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerState {
    /// It exists.
    Solid,
    /// It does not exist.
    Absent,
    /// It is being deleted, and waits for the dependant.
    Waiting,
}

/// Deletes an object of whose owners none is left, and removes references to owners that are gone.
fn check_owners(state: &mut ClusterState, address: &ObjectAddress) {
    let Some(object) = state.store.get(address) else {
        return;
    };
    let owners = object["metadata"]["ownerReferences"].as_array();
    let Some(owners) = owners.filter(|owners| !owners.is_empty()) else {
        return;
    };
    if is_deleting(&object) && !meta_list(&object, "finalizers").contains(&FOREGROUND) {
        return;
    }
    let states: Vec<(String, OwnerState)> = owners
        .iter()
        .map(|owner| {
            let uid = owner["uid"].as_str().unwrap_or_default();
            (uid.to_owned(), owner_state(state, address, owner))
        })
        .collect();
    let is_solid = |(_, own): &&(String, OwnerState)| *own == OwnerState::Solid;
    let gone: Vec<String> = states
        .iter()
        .filter(|own| !is_solid(own))
        .map(|(uid, _)| uid.clone())
        .collect();
    if gone.is_empty() {
        return;
    }
    if states.iter().any(|own| is_solid(&own)) {
        drop_owners(state, address, &gone);
        return;
    }
    if is_deleting(&object) {
        return;
    }
    let is_awaited = states.iter().any(|(_, own)| *own == OwnerState::Waiting);
    let has_dependants = !state.store.dependants(meta_text(&object, "uid")).is_empty();
    let policy = match is_awaited && has_dependants {
        true => DeletionPolicy::Foreground,
        false => DeletionPolicy::Unstated,
    };
    begin_deletion(state, address, policy);
}

fn owner_state(state: &ClusterState, dependant: &ObjectAddress, owner: &Json) -> OwnerState {
    let uid = owner["uid"].as_str().unwrap_or_default();
    let Some(address) = state.store.by_uid(uid) else {
        return OwnerState::Absent;
    };
    // A cluster-scoped object with an owner in a namespace is left alone.
    if dependant.namespace.is_empty() && !address.namespace.is_empty() {
        return OwnerState::Solid;
    }
    if !address.namespace.is_empty() && address.namespace != dependant.namespace {
        return OwnerState::Absent;
    }
    let is_waiting = state.store.get(address).is_some_and(|object| {
        is_deleting(&object) && meta_list(&object, "finalizers").contains(&FOREGROUND)
    });
    match is_waiting && owner["blockOwnerDeletion"] == true {
        true => OwnerState::Waiting,
        false => OwnerState::Solid,
    }
}

/// Removes the references to owners.
fn drop_owners(state: &mut ClusterState, address: &ObjectAddress, uids: &[String]) {
    let Some(live) = state.store.get(address) else {
        return;
    };
    let mut object = Json::clone(&live);
    let owners = object["metadata"]["ownerReferences"].as_array();
    let mut kept = owners.cloned().unwrap_or_default();
    let count = kept.len();
    kept.retain(|owner| !uids.iter().any(|uid| owner["uid"] == **uid));
    if kept.len() == count {
        return;
    }
    let kept = (!kept.is_empty()).then(|| Json::Array(kept));
    set_meta(&mut object, "ownerReferences", kept);
    state.put(address, object);
}
