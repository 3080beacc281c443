//! Interns the names of a document, so that equal names share one allocation.

use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::Name;

/// The interned names: ten thousand resources of one type share one text.
#[derive(Clone, Debug, Default)]
pub struct Names(HashTable<Name>);

fn hash(name: &str) -> u64 {
    // A fixed hash: results do not depend on a random seed.
    FixedState::default().hash_one(name)
}

impl Names {
    /// Reserves capacity for this many more names.
    pub fn reserve(&mut self, more: usize) {
        self.0.reserve(more, |name| hash(name));
    }

    /// The interned name with this text.
    pub fn share(&mut self, text: &str) -> Name {
        let hashed = hash(text);
        if let Some(name) = self.0.find(hashed, |name| **name == *text) {
            return name.clone();
        }
        let name = Name::from(text);
        self.0
            .insert_unique(hashed, name.clone(), |name| hash(name));
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one_name() {
        let mut names = Names::default();
        let (one, other) = (names.share("spec"), names.share("id"));
        assert!(Name::ptr_eq(&one, &names.share("spec")));
        assert!(!Name::ptr_eq(&one, &other));
    }
}
