//! Of which entries the records of an instance are, as one number.
//!
//! Not here: what an entry says. Entries never change once they are written, so who knows which they are knows the rest.

/// A sum over records that does not depend on their order and can be kept up to date: it costs as little as a commit
/// changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digest(pub(super) i64);

impl Digest {
    /// A record comes, with the entry that it is of.
    pub(super) fn add(&mut self, record: i64, entry: i64) {
        self.0 = self.0.wrapping_add(weight(record, entry));
    }

    /// A record goes, or is of another entry from now on.
    pub(super) fn remove(&mut self, record: i64, entry: i64) {
        self.0 = self.0.wrapping_sub(weight(record, entry));
    }
}

/// Numbers that are near each other are not, once mixed (the finish of SplitMix64).
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

fn weight(record: i64, entry: i64) -> i64 {
    mix(mix(record.cast_unsigned()).wrapping_add(entry.cast_unsigned())).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::Digest;

    fn of(records: &[(i64, i64)]) -> Digest {
        let mut digest = Digest::default();
        records.iter().for_each(|(record, entry)| digest.add(*record, *entry));
        digest
    }

    #[test]
    fn it_tells_which_entries_and_not_in_which_order() {
        assert_eq!(of(&[(1, 10), (2, 20)]), of(&[(2, 20), (1, 10)]));
        let others =
            [of(&[(1, 20), (2, 10)]), of(&[(1, 11), (2, 19)]), of(&[(1, 10)]), of(&[]), of(&[(1, 10), (2, 21)])];
        assert!(others.iter().all(|other| *other != of(&[(1, 10), (2, 20)])), "{others:?}");
        let mut changed = of(&[(1, 10), (2, 20), (3, 30)]);
        changed.remove(3, 30);
        changed.remove(2, 20);
        changed.add(2, 21);
        assert_eq!(changed, of(&[(1, 10), (2, 21)]));
    }
}
