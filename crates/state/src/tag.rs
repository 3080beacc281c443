//! Tags of stored rows: a MAC under the key of the state, or a plain hash where there is no key.
//!
//! A tag shows that a row is unchanged and at its place. A MAC cannot be made without the key; a
//! plain hash detects damage only. The function is BLAKE2b (RFC 7693) in its keyed mode, 16 bytes,
//! under a key of its own that is derived from the key of the state.
//!
//! Not here: the rows and their fields (a store's own).

use blake2::Blake2bMac;
use blake2::digest::consts::{U16, U32};
use blake2::digest::{FixedOutput, Update};

use crate::seal::Sealer;

/// A tag as it is stored.
pub type Tag = [u8; 16];

/// Separates tags, and the key for them, from every other use of the key.
const PURPOSE: &[u8; 16] = b"cyan state rows1";

/// Makes tags with one key, or plain hashes.
#[derive(Clone, Debug)]
pub struct Tagger {
    key: String,
    begun: Blake2bMac<U16>,
}

impl Tagger {
    /// Returns a tagger that makes plain hashes.
    pub fn plain() -> Tagger {
        Tagger {
            key: String::new(),
            begun: begun(None),
        }
    }

    pub(crate) fn with_key(id: &str, key: &[u8; 32]) -> Tagger {
        let mut derived = Blake2bMac::<U32>::new_with_salt_and_personal(Some(key), b"", PURPOSE)
            .unwrap_or_else(|_| unreachable!("the lengths fit"));
        derived.update(b"tags");
        Tagger {
            key: id.to_owned(),
            begun: begun(Some(&derived.finalize_fixed())),
        }
    }

    /// The id of the key; empty where there is none.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether there is a key, so that a tag authenticates its row.
    pub fn has_key(&self) -> bool {
        !self.key.is_empty()
    }

    /// Begins the tag of a row of this kind.
    pub fn row(&self, kind: &str) -> Tagging {
        Tagging(self.begun.clone()).text(kind)
    }
}

fn begun(key: Option<&[u8]>) -> Blake2bMac<U16> {
    Blake2bMac::new_with_salt_and_personal(key, b"", PURPOSE)
        .unwrap_or_else(|_| unreachable!("the lengths fit"))
}

/// A tag that is being made, of the fields of a row in a fixed order.
pub struct Tagging(Blake2bMac<U16>);

impl Tagging {
    /// Adds a text. Its length comes first, so that no two rows give the same bytes.
    pub fn text(self, text: &str) -> Tagging {
        self.bytes(text.as_bytes())
    }

    /// Adds bytes, as [`text`](Tagging::text) does.
    pub fn bytes(mut self, bytes: &[u8]) -> Tagging {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds a number.
    pub fn number(mut self, number: i64) -> Tagging {
        self.0.update(&number.to_le_bytes());
        self
    }

    /// Adds a number that may be missing.
    pub fn optional(mut self, number: Option<i64>) -> Tagging {
        self.0.update(&[u8::from(number.is_some())]);
        self.number(number.unwrap_or_default())
    }

    /// The tag.
    pub fn finish(self) -> Tag {
        let mut tag = Tag::default();
        tag.copy_from_slice(&self.0.finalize_fixed());
        tag
    }
}

impl Sealer {
    /// The tagger for new rows: with the key that seals, or plain without a key.
    pub fn tagger(&self) -> Tagger {
        self.key_id()
            .and_then(|id| self.tagger_of(id.as_str()))
            .unwrap_or_else(Tagger::plain)
    }

    /// The tagger for the key of that id; `None` if the key is not available. The empty id means no
    /// key.
    pub fn tagger_of(&self, id: &str) -> Option<Tagger> {
        if id.is_empty() {
            Some(Tagger::plain())
        } else {
            self.bytes_of(id).map(|key| Tagger::with_key(id, key))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_depends_on_the_key_and_on_each_field_and_its_place() {
        let sealer = Sealer::with_key([1; 32]).with_older_key([2; 32]);
        let other = Sealer::with_key([2; 32]);
        let of = |tagger: &Tagger| {
            tagger
                .row("entry")
                .text("ab")
                .text("c")
                .number(7)
                .optional(None)
                .finish()
        };
        let plain = Tagger::plain();
        let tags = [
            of(&sealer.tagger()),
            of(&other.tagger()),
            of(&plain),
            plain
                .row("entry")
                .text("a")
                .text("bc")
                .number(7)
                .optional(None)
                .finish(),
            plain
                .row("entry")
                .text("ab")
                .text("c")
                .number(7)
                .optional(Some(0))
                .finish(),
            plain
                .row("record")
                .text("ab")
                .text("c")
                .number(7)
                .optional(None)
                .finish(),
        ];
        for (at, tag) in tags.iter().enumerate() {
            assert!(!tags[..at].contains(tag), "{at}");
        }
        let older = sealer.tagger_of(other.key_id().unwrap().as_str()).unwrap();
        assert_eq!(of(&older), tags[1]);
        assert!(other.tagger_of(sealer.key_id().unwrap().as_str()).is_none());
        assert!(!Sealer::none().tagger().has_key() && sealer.tagger().has_key());
    }

    /// Tags are stored: these must never change. (Python's `hashlib.blake2b` gives the same.)
    #[test]
    fn tags_stay_as_they_are() {
        let tag = |tagger: Tagger| {
            data_encoding::HEXLOWER.encode(&tagger.row("entry").text("a").number(1).finish())
        };
        assert_eq!(tag(Tagger::plain()), "3f4c19c0b644013f80db0fd273069fb7");
        assert_eq!(
            tag(Sealer::with_key([7; 32]).tagger()),
            "4495e843c1b608440c47ff805ff582d7"
        );
    }
}
