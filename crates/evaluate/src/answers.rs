//! What the world has answered while a plan was made. A plan keeps it, so that applying a kept plan asks nothing again.

use std::sync::Arc;

use blueprint::{Address, IndexMap, Name, Value};
use provider::Planned;
use serde::{Deserialize, Serialize};
use state::Remembered;
use understand::pinned::{Frozen, FrozenChild, FrozenData};

/// All answers of one stage, by question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// The instant of the stage: seconds since 1970 UTC.
    pub now: i64,
    /// The caller's working directory.
    pub working_directory: Option<Name>,
    /// Bytes that were read, by path or URL as asked for, with their digests.
    #[serde(default)]
    pub bytes: IndexMap<Name, FrozenBytes>,
    /// Texts of children, by what was asked for.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub documents: IndexMap<Name, FrozenChild>,
    /// Values drawn for call sites, new and former ones.
    #[serde(default)]
    pub remembered: IndexMap<Name, Remembered>,
    /// Exported fields of data sources by name.
    #[serde(default)]
    pub data_sources: IndexMap<Name, FrozenData>,
    /// What provider functions gave, by namespace, function and a digest of the arguments; of secret ones a keyed digest.
    #[serde(default)]
    pub calls: IndexMap<Name, Value>,
    /// The key of those digests, drawn when it was first needed: without it a guess at a secret cannot be tried against
    /// them.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub salt: Name,
    /// Digests of what transforms made of documents, by the path of includes that leads to each.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub transformed: IndexMap<Name, Name>,
    /// What refresh saw that differs from the records, by address.
    #[serde(default)]
    pub seen: IndexMap<Address, FrozenSeen>,
    /// What was read of things that are imported, by address.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub imports: IndexMap<Address, FrozenSeen>,
    /// Whether refresh was asked for.
    #[serde(default)]
    pub refreshed: bool,
    /// Records that refresh could not read, by address, and why.
    #[serde(default)]
    pub unread: IndexMap<Address, Name>,
    /// What providers said they would do, by address.
    #[serde(default)]
    pub opinions: IndexMap<Address, Opinion>,
    /// What operations would have met, by address.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub preflights: IndexMap<Address, FrozenPreflight>,
    /// Keyed digests of the settings of providers, by namespace; those without settings are not in it.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub settings: IndexMap<Name, Name>,
}

/// Under what a group is remembered, before the path of includes that leads to it.
pub const GROUP: &str = "group|";

/// What is remembered of a group only as long as the operation has not ended well is forgotten.
pub fn finished(remembered: &mut IndexMap<Name, Remembered>) {
    for (_, known) in remembered.iter_mut().filter(|(key, _)| key.starts_with(GROUP)) {
        known.value = without_unfinished(&known.value);
    }
}

fn without_unfinished(memory: &Value) -> Value {
    match memory {
        Value::Map(entries) if entries.get(dialects::UNFINISHED).is_some() => {
            let kept = entries.iter().filter(|(key, _)| key.as_ref() != dialects::UNFINISHED);
            Value::map(kept.map(|(key, value)| (key.clone(), value.clone())))
        }
        other => other.clone(),
    }
}

/// Whether something else is to be remembered of a group than before.
pub fn groups_differ(before: &IndexMap<Name, Remembered>, now: &IndexMap<Name, Remembered>) -> bool {
    let mut groups = now.iter().filter(|(key, _)| key.starts_with(GROUP));
    groups.any(|(key, known)| before.get(key).is_none_or(|before| before.value != without_unfinished(&known.value)))
}

/// What is remembered of groups among all that is remembered.
pub fn groups_of(remembered: &IndexMap<Name, Remembered>) -> IndexMap<Name, Value> {
    let of_group = |(key, known): (&Name, &Remembered)| Some((key.strip_prefix(GROUP)?.into(), known.value.clone()));
    remembered.iter().filter_map(of_group).collect()
}

impl Answers {
    /// What documents are read with where a plan is kept.
    pub fn frozen(&self) -> Frozen {
        Frozen {
            documents: self.documents.clone(),
            data_sources: self.data_sources.clone(),
            groups: groups_of(&self.remembered),
        }
    }
}

/// Bytes as they were at stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrozenBytes {
    /// SHA-256, lower-case hex.
    pub digest: Name,
    /// The folder of the document that asked; empty for a URL.
    pub folder: Name,
    /// The path or URL.
    pub path: Name,
    /// The bytes, as a value.
    pub value: Value,
}

/// What an operation would have met at stage: see [`provider::Preflight`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrozenPreflight {
    /// The id that the thing will have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Name>,
    /// What is read to carry the operation out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<FrozenSource>,
    /// What stood at the place of the thing; null for nothing.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub standing: Value,
    /// The folder of the document that declares it, as seen from that of the root document.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub folder: Name,
    /// The plan makes or changes something that it uses: a command may write the sources then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follows: bool,
}

impl FrozenPreflight {
    /// Whether anything of it is secret.
    pub fn has_secret(&self) -> bool {
        let digests = self.sources.iter().filter_map(|source| source.digest.as_ref());
        digests.chain([&self.standing]).any(Value::has_secret)
    }
}

/// A source as it was at stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrozenSource {
    /// The field that names it.
    pub field: Name,
    /// What it is called in messages.
    pub name: Name,
    /// Its digest; none where the plan makes or changes it before it is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Value>,
}

/// What refresh saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrozenSeen {
    /// There, with these fields.
    There {
        /// The provider's id.
        id: Name,
        /// All fields.
        fields: Value,
        /// Opaque data of the provider.
        private: Value,
        /// Should be made anew, and why.
        expired: Option<Name>,
    },
    /// Not there.
    Gone,
    /// The provider cannot tell.
    CannotTell,
}

/// What a provider said it would do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    /// Field paths that force a replacement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<String>,
    /// Computed fields that will change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// Field paths whose difference is only recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_recorded: Vec<String>,
    /// A create takes over what exists already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopts: bool,
    /// Opaque data for `apply`.
    pub private: Value,
}

impl From<Planned> for Opinion {
    fn from(said: Planned) -> Opinion {
        let Planned { replaces, changes, only_recorded, adopts, private } = said;
        Opinion { replaces, changes, only_recorded, adopts, private }
    }
}

/// SHA-256 as lower-case hex.
pub fn digest(bytes: &[u8]) -> Name {
    use sha2::Digest as _;
    let hash = sha2::Sha256::digest(bytes);
    data_encoding::HEXLOWER.encode(&hash).into()
}

/// SHA-256 under a key (HMAC, RFC 2104), as lower-case hex.
pub fn keyed_digest(key: &str, bytes: &[u8]) -> Name {
    use sha2::Digest as _;
    const BLOCK: usize = 64;
    let mut block = [0_u8; BLOCK];
    // Keys are drawn here and shorter than a block.
    for (to, from) in block.iter_mut().zip(key.bytes()) {
        *to = from;
    }
    let padded = |pad: u8| block.map(|byte| byte ^ pad);
    let inner = sha2::Sha256::new().chain_update(padded(0x36)).chain_update(bytes).finalize();
    let hash = sha2::Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize();
    data_encoding::HEXLOWER.encode(&hash).into()
}

impl FrozenBytes {
    /// Freezes bytes.
    pub fn new(folder: &str, path: &str, bytes: Arc<[u8]>) -> FrozenBytes {
        FrozenBytes { digest: digest(&bytes), folder: folder.into(), path: path.into(), value: Value::Bytes(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyed_digest_is_the_one_of_rfc_4231() {
        let digest = keyed_digest("Jefe", b"what do ya want for nothing?");
        assert_eq!(digest.as_ref(), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }
}
