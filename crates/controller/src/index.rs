//! What wakes whom: from what is watched to the objects that read it.
//!
//! Invariant: an [`ObjectWatch`] runs while at least one key needs it.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use blueprint::Name;
use cartographer::kinds::CartoKind;
use cartographer::reconcile::{AccountName, Watches};

use crate::keys::ReconcileKey;

/// Which objects of a kind a watch shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum WatchScope {
    /// Those stamped for a resource of a blueprint.
    OfResources,
    /// Those stamped for Runnables.
    OfRunnables,
    /// All, because selectors of Runnables read them.
    All,
}

/// A watch that is added and dropped at run time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObjectWatch {
    /// Group and version.
    pub(crate) api_version: Name,
    /// The kind.
    pub(crate) kind: Name,
    /// Which objects.
    pub(crate) scope: WatchScope,
}

/// The watches that a change of the index needs, and those that nothing needs any more.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WatchChanges {
    /// To start.
    pub(crate) start: Vec<ObjectWatch>,
    /// To stop.
    pub(crate) stop: Vec<ObjectWatch>,
}

type Users = BTreeSet<Arc<ReconcileKey>>;

/// The index.
#[derive(Debug, Default)]
pub(crate) struct WakeIndex {
    of_key: HashMap<Arc<ReconcileKey>, Arc<Watches>>,
    platform: HashMap<(CartoKind, Name), Users>,
    accounts: HashMap<AccountName, Users>,
    objects: HashMap<ObjectWatch, Users>,
}

impl WakeIndex {
    /// Records what wakes a key, in place of what woke it before.
    pub(crate) fn set(&mut self, key: &ReconcileKey, watches: Watches) -> WatchChanges {
        let before = self.of_key.get(key).cloned();
        if before.as_deref() == Some(&watches) {
            return WatchChanges::default();
        }
        let key = match self.of_key.get_key_value(key) {
            Some((key, _)) => key.clone(),
            None => Arc::new(key.clone()),
        };
        // What both need must not stop in between, so the new ones come first.
        let mut changes = WatchChanges {
            start: self.add(&key, &watches),
            stop: Vec::new(),
        };
        let now = Arc::new(watches);
        self.of_key.insert(key.clone(), now.clone());
        if let Some(before) = before {
            changes.stop = self.drop_users(&key, &before, Some(&now));
        }
        changes
    }

    /// Whether something else woke the key up to now.
    pub(crate) fn differs(&self, key: &ReconcileKey, watches: &Watches) -> bool {
        self.of_key.get(key).map(|known| &**known) != Some(watches)
    }

    /// Forgets a key.
    pub(crate) fn remove(&mut self, key: &ReconcileKey) -> WatchChanges {
        let Some((key, before)) = self.of_key.remove_entry(key) else {
            return WatchChanges::default();
        };
        WatchChanges {
            start: Vec::new(),
            stop: self.drop_users(&key, &before, None),
        }
    }

    /// The keys that read a blueprint or template.
    pub(crate) fn of_platform(&self, kind: CartoKind, name: &Name) -> Vec<ReconcileKey> {
        keys(self.platform.get(&(kind, name.clone())))
    }

    /// The keys that act with an account.
    pub(crate) fn of_account(&self, account: &AccountName) -> Vec<ReconcileKey> {
        keys(self.accounts.get(account))
    }

    /// The keys that need a watch.
    pub(crate) fn of_watch(&self, watch: &ObjectWatch) -> Vec<ReconcileKey> {
        keys(self.objects.get(watch))
    }

    fn add(&mut self, key: &Arc<ReconcileKey>, watches: &Watches) -> Vec<ObjectWatch> {
        for named in &watches.platform {
            let users = self.platform.entry(named.clone()).or_default();
            users.insert(key.clone());
        }
        if let Some(account) = &watches.account {
            let users = self.accounts.entry(account.clone()).or_default();
            users.insert(key.clone());
        }
        let mut start = Vec::new();
        for watch in object_watches(key.kind, watches) {
            let users = self.objects.entry(watch.clone()).or_default();
            if users.is_empty() {
                start.push(watch);
            }
            users.insert(key.clone());
        }
        start
    }

    /// Removes a key from what it needed before, except for what it still needs.
    fn drop_users(
        &mut self,
        key: &Arc<ReconcileKey>,
        before: &Watches,
        now: Option<&Watches>,
    ) -> Vec<ObjectWatch> {
        let kept_platform = now.map(|now| now.platform.as_slice()).unwrap_or_default();
        for named in &before.platform {
            if !kept_platform.contains(named) {
                remove_user(&mut self.platform, named, key);
            }
        }
        let kept_account = now.and_then(|now| now.account.as_ref());
        if let Some(account) = &before.account
            && kept_account != Some(account)
        {
            remove_user(&mut self.accounts, account, key);
        }
        let kept = now.map(|now| object_watches(key.kind, now));
        let kept = kept.unwrap_or_default();
        let mut stop = Vec::new();
        for watch in object_watches(key.kind, before) {
            if !kept.contains(&watch) && remove_user(&mut self.objects, &watch, key) {
                stop.push(watch);
            }
        }
        stop
    }
}

fn keys(users: Option<&Users>) -> Vec<ReconcileKey> {
    let users = users.into_iter().flatten();
    users.map(|key| (**key).clone()).collect()
}

/// The watches of objects that a key of a kind needs, each once.
fn object_watches(kind: CartoKind, watches: &Watches) -> BTreeSet<ObjectWatch> {
    let scope = match kind {
        CartoKind::Runnable => WatchScope::OfRunnables,
        _ => WatchScope::OfResources,
    };
    let of = |kinds: &[(Name, Name)], scope: WatchScope| {
        let watches = kinds.iter().map(|(api_version, kind)| ObjectWatch {
            api_version: api_version.clone(),
            kind: kind.clone(),
            scope,
        });
        watches.collect::<Vec<_>>()
    };
    let mut all = of(&watches.stamped, scope);
    all.extend(of(&watches.selected, WatchScope::All));
    all.into_iter().collect()
}

/// Removes a key from the users of something. Returns whether it was the last one.
fn remove_user<K: Eq + Hash>(
    used: &mut HashMap<K, Users>,
    what: &K,
    key: &Arc<ReconcileKey>,
) -> bool {
    let Some(users) = used.get_mut(what) else {
        return false;
    };
    users.remove(key);
    let last = users.is_empty();
    if last {
        used.remove(what);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> ReconcileKey {
        ReconcileKey {
            kind: CartoKind::Workload,
            namespace: Some("case".into()),
            name: name.into(),
        }
    }

    fn watches(template: &str, kinds: &[&str]) -> Watches {
        Watches {
            platform: vec![(CartoKind::ClusterTemplate, template.into())],
            stamped: kinds
                .iter()
                .map(|kind| ("demo.test/v1".into(), (*kind).into()))
                .collect(),
            ..Watches::default()
        }
    }

    fn watch(kind: &str) -> ObjectWatch {
        ObjectWatch {
            api_version: "demo.test/v1".into(),
            kind: kind.into(),
            scope: WatchScope::OfResources,
        }
    }

    #[test]
    fn watch_runs_while_a_key_needs_it() {
        let mut index = WakeIndex::default();
        let changes = index.set(&key("a"), watches("t", &["Thing", "Other"]));
        assert_eq!(changes.start.len(), 2);
        let changes = index.set(&key("b"), watches("t", &["Thing"]));
        assert_eq!(changes, WatchChanges::default());
        let changes = index.set(&key("a"), watches("t", &["Thing"]));
        assert_eq!(changes.stop, [watch("Other")]);
        assert_eq!(index.remove(&key("a")), WatchChanges::default());
        assert_eq!(index.remove(&key("b")).stop, [watch("Thing")]);
        assert_eq!(index.remove(&key("b")), WatchChanges::default());
    }

    #[test]
    fn template_that_is_no_longer_read_wakes_nobody() {
        let mut index = WakeIndex::default();
        index.set(&key("a"), watches("old", &[]));
        index.set(&key("a"), watches("new", &[]));
        let kind = CartoKind::ClusterTemplate;
        assert!(index.of_platform(kind, &"old".into()).is_empty());
        assert_eq!(index.of_platform(kind, &"new".into()), [key("a")]);
    }
}
