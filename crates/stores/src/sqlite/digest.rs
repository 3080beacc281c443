//! A digest of the records of an instance.
//!
//! It is part of the instance's row and its tag: a record that was removed, added or exchanged is
//! detected.
//!
//! Not here: the content of entries, which have tags of their own.

use state::tag::Tagger;

/// A sum over records that does not depend on their order and is updated at the cost of a commit's
/// changes. Its terms are tags: without the key, other records with the same sum cannot be found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordsDigest(u128);

/// A row of the records: its id, the id of its entry, and its address.
pub(super) type RecordRow<'a> = (i64, i64, &'a str);

impl RecordsDigest {
    /// Adds a record, with the id of its entry.
    pub(super) fn add(&mut self, tagger: &Tagger, uid: &str, record: RecordRow<'_>) {
        self.0 = self.0.wrapping_add(weight(tagger, uid, record));
    }

    /// Removes a record, or its former entry before the new one is added.
    pub(super) fn remove(&mut self, tagger: &Tagger, uid: &str, record: RecordRow<'_>) {
        self.0 = self.0.wrapping_sub(weight(tagger, uid, record));
    }

    /// The stored form.
    pub(super) fn bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// Reads the stored form.
    pub(super) fn of_bytes(bytes: [u8; 16]) -> RecordsDigest {
        RecordsDigest(u128::from_le_bytes(bytes))
    }
}

fn weight(tagger: &Tagger, uid: &str, (id, entry, address): RecordRow<'_>) -> u128 {
    u128::from_le_bytes(
        tagger
            .row("record")
            .text(uid)
            .number(id)
            .number(entry)
            .text(address)
            .finish(),
    )
}

/// The sum of format 2: it covers only ids and entries, without a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OldDigest(pub(super) i64);

impl OldDigest {
    /// Adds a record, with the id of its entry.
    pub(super) fn add(&mut self, record: i64, entry: i64) {
        let weight =
            mix(mix(record.cast_unsigned()).wrapping_add(entry.cast_unsigned())).cast_signed();
        self.0 = self.0.wrapping_add(weight);
    }
}

/// Maps close numbers to distant ones (the finalizer of SplitMix64).
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::{RecordRow, RecordsDigest, Tagger};

    fn of(records: &[RecordRow<'_>]) -> RecordsDigest {
        let mut digest = RecordsDigest::default();
        records
            .iter()
            .for_each(|record| digest.add(&Tagger::plain(), "u", *record));
        digest
    }

    #[test]
    fn digest_depends_on_entries_but_not_on_their_order() {
        let whole = of(&[(1, 10, "a"), (2, 20, "b")]);
        assert_eq!(whole, of(&[(2, 20, "b"), (1, 10, "a")]));
        let others = [
            of(&[(1, 20, "a"), (2, 10, "b")]),
            of(&[(1, 10, "b"), (2, 20, "a")]),
            of(&[(1, 10, "a")]),
            of(&[]),
            of(&[(1, 10, "a"), (2, 21, "b")]),
        ];
        assert!(others.iter().all(|other| *other != whole), "{others:?}");
        let mut changed = of(&[(1, 10, "a"), (2, 20, "b"), (3, 30, "c")]);
        changed.remove(&Tagger::plain(), "u", (3, 30, "c"));
        assert_eq!(
            (changed, RecordsDigest::of_bytes(changed.bytes())),
            (whole, whole)
        );
    }
}
