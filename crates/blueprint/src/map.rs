//! Ordered maps: [`Entries`] for the entries of a map value, and [`IndexMap`] for everything else.
//!
//! Nearly all map values of a document have only a few entries, and there are several for each
//! resource. [`Entries`] stores a small map as a plain vector with linear search. A large map also
//! has an index.

use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::{Name, Names};

/// An ordered map with a fixed hash: results do not depend on a random seed.
pub type IndexMap<K, V> = indexmap::IndexMap<K, V, foldhash::fast::FixedState>;

/// Larger maps have an index. At about this size hashing a key costs as much as comparing it with
/// all keys.
const FEW: usize = 12;

/// The entries of a map value, in order; keys are unique.
#[derive(Clone)]
pub struct Entries<V> {
    entries: Vec<(Name, V)>,
    /// The position of each key, by the hash of the key.
    index: Option<Box<HashTable<u32>>>,
}

/// Entries, borrowed.
pub type MapIter<'a, V> =
    std::iter::Map<std::slice::Iter<'a, (Name, V)>, fn(&(Name, V)) -> (&Name, &V)>;

/// Entries whose values can be changed.
pub type MapIterMut<'a, V> =
    std::iter::Map<std::slice::IterMut<'a, (Name, V)>, fn(&mut (Name, V)) -> (&Name, &mut V)>;

fn hash(key: &str) -> u64 {
    // A fixed hash: results do not depend on a random seed.
    FixedState::default().hash_one(key)
}

impl<V> Default for Entries<V> {
    fn default() -> Entries<V> {
        Entries {
            entries: Vec::new(),
            index: None,
        }
    }
}

impl<V> Entries<V> {
    /// A map without entries.
    pub fn new() -> Entries<V> {
        Entries::default()
    }

    /// An empty map with capacity for this many entries.
    pub fn with_capacity(capacity: usize) -> Entries<V> {
        Entries {
            entries: Vec::with_capacity(capacity),
            index: None,
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The 0-based position of a key; `None` if there is no such entry.
    pub fn get_index_of(&self, key: &str) -> Option<usize> {
        match &self.index {
            None => self.entries.iter().position(|(own, _)| **own == *key),
            Some(index) => {
                let at = index.find(hash(key), |at| *self.entries[*at as usize].0 == *key)?;
                Some(*at as usize)
            }
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.get_index_of(key).map(|at| &self.entries[at].1)
    }

    /// A mutable reference to the value of a key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut V> {
        self.get_index_of(key).map(|at| &mut self.entries[at].1)
    }

    /// Key and value of an entry by its key.
    pub fn get_key_value(&self, key: &str) -> Option<(&Name, &V)> {
        self.get_index_of(key)
            .map(|at| (&self.entries[at].0, &self.entries[at].1))
    }

    /// The entry at a 0-based position.
    pub fn get_index(&self, at: usize) -> Option<(&Name, &V)> {
        self.entries.get(at).map(|(key, value)| (key, value))
    }

    /// The first entry.
    pub fn first(&self) -> Option<(&Name, &V)> {
        self.get_index(0)
    }

    /// Whether there is an entry with this key.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get_index_of(key).is_some()
    }

    /// Sets the value of a key. Returns the previous value, whose position is kept. A new entry is
    /// added at the end.
    pub fn insert(&mut self, key: Name, value: V) -> Option<V> {
        match self.get_index_of(&key) {
            Some(at) => Some(std::mem::replace(&mut self.entries[at].1, value)),
            None => {
                self.append(key, value);
                None
            }
        }
    }

    /// The value of a key. If there is none, adds the result of `value` at the end.
    pub fn get_or_insert_with(&mut self, key: Name, value: impl FnOnce() -> V) -> &mut V {
        let at = match self.get_index_of(&key) {
            Some(at) => at,
            None => self.append(key, value()),
        };
        &mut self.entries[at].1
    }

    /// Adds an entry whose key is known to be new. Returns its position.
    fn append(&mut self, key: Name, value: V) -> usize {
        let at = self.entries.len();
        if let Some(index) = &mut self.index {
            index.insert_unique(hash(&key), at as u32, |at| {
                hash(&self.entries[*at as usize].0)
            });
        }
        if at == self.entries.capacity() {
            // A vector of a few entries allocates only what it needs.
            self.entries.reserve_exact(at.max(2));
        }
        self.entries.push((key, value));
        if at == FEW {
            self.build_index();
        }
        at
    }

    fn build_index(&mut self) {
        self.index = None;
        if self.entries.len() <= FEW {
            return;
        }
        let mut index = HashTable::with_capacity(self.entries.capacity());
        for (at, (key, _)) in self.entries.iter().enumerate() {
            index.insert_unique(hash(key), at as u32, |at| {
                hash(&self.entries[*at as usize].0)
            });
        }
        self.index = Some(Box::new(index));
    }

    /// Removes an entry and moves the following ones up. Returns its value, if there was one.
    pub fn shift_remove(&mut self, key: &str) -> Option<V> {
        let at = self.get_index_of(key)?;
        if let Some(index) = &mut self.index {
            if let Ok(own) = index.find_entry(hash(key), |other| *other as usize == at) {
                own.remove();
            }
            index
                .iter_mut()
                .filter(|other| **other as usize > at)
                .for_each(|other| *other -= 1);
        }
        let (_, value) = self.entries.remove(at);
        if self.entries.len() <= FEW {
            self.index = None;
        }
        Some(value)
    }

    /// Keeps only the entries for which `keep` returns true, in order.
    pub fn retain(&mut self, mut keep: impl FnMut(&Name, &mut V) -> bool) {
        self.entries.retain_mut(|(key, value)| keep(key, value));
        self.build_index();
    }

    /// Sorts the entries by key.
    pub fn sort_keys(&mut self) {
        self.entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.build_index();
    }

    /// Reserves capacity for this many more entries.
    pub fn reserve(&mut self, more: usize) {
        self.entries.reserve_exact(more);
    }

    /// Releases unused capacity.
    pub fn shrink_to_fit(&mut self) {
        self.entries.shrink_to_fit();
    }

    /// The entries, in order.
    pub fn iter(&self) -> MapIter<'_, V> {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    /// The entries, in order, with mutable values.
    pub fn iter_mut(&mut self) -> MapIterMut<'_, V> {
        self.entries.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Name> + ExactSizeIterator + Clone {
        self.entries.iter().map(|(key, _)| key)
    }

    /// The values, in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.entries.iter().map(|(_, value)| value)
    }

    /// The values, in the order of their keys, as mutable references.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> + ExactSizeIterator {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    /// Replaces each key by an equal one that `names` holds, and calls `of_value` for each value.
    pub(crate) fn share_keys(&mut self, names: &mut Names, of_value: impl Fn(&mut V, &mut Names)) {
        for (key, value) in &mut self.entries {
            *key = names.share(key);
            of_value(value, names);
        }
    }

    /// The keys alone.
    pub fn into_keys(self) -> impl DoubleEndedIterator<Item = Name> + ExactSizeIterator {
        self.entries.into_iter().map(|(key, _)| key)
    }

    /// The values alone.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> + ExactSizeIterator {
        self.entries.into_iter().map(|(_, value)| value)
    }
}

/// Compares entries regardless of their order.
impl<V: PartialEq> PartialEq for Entries<V> {
    fn eq(&self, other: &Entries<V>) -> bool {
        // No lookup is needed where the order is the same.
        self.len() == other.len()
            && self
                .entries
                .iter()
                .enumerate()
                .all(|(at, (key, value))| match &other.entries[at] {
                    (own, same) if own == key => same == value,
                    _ => other.get(key) == Some(value),
                })
    }
}

impl<V: std::fmt::Debug> std::fmt::Debug for Entries<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// If a key occurs several times, the last value is kept at the position of the first.
impl<V> FromIterator<(Name, V)> for Entries<V> {
    fn from_iter<I: IntoIterator<Item = (Name, V)>>(entries: I) -> Entries<V> {
        let mut map = Entries::new();
        map.extend(entries);
        map
    }
}

impl<V> Extend<(Name, V)> for Entries<V> {
    fn extend<I: IntoIterator<Item = (Name, V)>>(&mut self, entries: I) {
        let entries = entries.into_iter();
        self.reserve(entries.size_hint().0);
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<V> IntoIterator for Entries<V> {
    type Item = (Name, V);
    type IntoIter = std::vec::IntoIter<(Name, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'a, V> IntoIterator for &'a Entries<V> {
    type Item = (&'a Name, &'a V);
    type IntoIter = MapIter<'a, V>;

    fn into_iter(self) -> MapIter<'a, V> {
        self.iter()
    }
}

impl<'a, V> IntoIterator for &'a mut Entries<V> {
    type Item = (&'a Name, &'a mut V);
    type IntoIter = MapIterMut<'a, V>;

    fn into_iter(self) -> MapIterMut<'a, V> {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Map, Value};

    /// Compares with a simple model of a map.
    #[test]
    fn map_keeps_order_and_finds_keys_at_any_size() {
        let name = |n: i64| Name::from(n.to_string());
        for count in [0, 1, 2, FEW as i64, FEW as i64 + 1, 40, 1_000] {
            let mut map: Map = (0..count).map(|n| (name(n), Value::Int(n))).collect();
            for n in 0..count {
                assert_eq!(map.get(&name(n)), Some(&Value::Int(n)));
                assert_eq!(map.get_index_of(&name(n)), Some(n as usize));
                assert_eq!(
                    map.insert(name(n), Value::Int(-n)),
                    Some(Value::Int(n)),
                    "its place stays"
                );
            }
            assert!(map.get("none").is_none() && map.get_mut("-1").is_none());
            assert!(
                map.keys()
                    .map(|key| key.to_string())
                    .eq((0..count).map(|n| n.to_string()))
            );
            assert!(
                map.values().eq((0..count)
                    .map(|n| Value::Int(-n))
                    .collect::<Vec<_>>()
                    .iter())
            );
            let mut other: Map = map.clone().into_iter().rev().collect();
            assert_eq!(map, other, "order does not count");
            if count > 0 {
                assert_eq!(other.shift_remove("0"), Some(Value::Int(0)));
                assert_ne!(map, other);
                assert_eq!(other.insert("x".into(), Value::Int(0)), None);
                assert_ne!(map, other, "as many, but not the same");
            }
        }
    }

    #[test]
    fn removed_entries_are_not_found_and_others_remain() {
        let mut map: Map = (0..100)
            .map(|n| (Name::from(format!("k{n}")), Value::Int(n)))
            .collect();
        map.retain(|_, value| value.as_int().is_some_and(|n| n % 2 == 0));
        assert_eq!(
            (map.len(), map.get("k1"), map.get("k98")),
            (50, None, Some(&Value::Int(98)))
        );
        for n in (0..90).step_by(2) {
            assert_eq!(map.shift_remove(&format!("k{n}")), Some(Value::Int(n)));
            assert_eq!(
                (map.get(&format!("k{n}")), map.get("k98")),
                (None, Some(&Value::Int(98)))
            );
            assert_eq!(
                map.insert("k90".into(), Value::Int(90)),
                Some(Value::Int(90)),
                "found, not put twice"
            );
        }
        assert_eq!(
            (map.len(), map.get("k90"), map.get("k98")),
            (5, Some(&Value::Int(90)), Some(&Value::Int(98)))
        );
        *map.get_or_insert_with("new".into(), || Value::Null) = Value::Bool(true);
        map.get_or_insert_with("k90".into(), || Value::Null);
        map.sort_keys();
        let keys: Vec<&str> = map.keys().map(AsRef::as_ref).collect();
        assert_eq!(keys, ["k90", "k92", "k94", "k96", "k98", "new"]);
        assert_eq!(map.get("new"), Some(&Value::Bool(true)));
    }
}
