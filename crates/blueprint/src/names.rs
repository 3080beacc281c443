//! Names that a document says again and again, each kept once.

use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::Name;

/// Shares equal names while a document is read: ten thousand resources of one type hold one text.
#[derive(Clone, Debug, Default)]
pub struct Names(HashTable<Name>);

fn hash(name: &str) -> u64 {
    // Fixed, so that nothing depends on a random seed.
    FixedState::default().hash_one(name)
}

impl Names {
    /// Makes room for so many more.
    pub fn reserve(&mut self, more: usize) {
        self.0.reserve(more, |name| hash(name));
    }

    /// The name, shared with whoever asked for the same text before.
    pub fn share(&mut self, text: &str) -> Name {
        let hashed = hash(text);
        if let Some(name) = self.0.find(hashed, |name| **name == *text) {
            return name.clone();
        }
        let name = Name::from(text);
        self.0.insert_unique(hashed, name.clone(), |name| hash(name));
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
