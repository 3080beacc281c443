//! The world's answers while a plan was made. A plan keeps them, so that applying a saved plan asks
//! nothing again.

use std::sync::Arc;

use blueprint::{Address, DeclarationSite, FieldPath, IndexMap, Name, Value};
use provider::{PlanMode, Planned, Verdict};
use serde::{Deserialize, Serialize};
use state::Memoised;
use understand::compare::Change;
use understand::pinned::{Pinned, PinnedChild, PinnedData};

/// All answers of one stage, by question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// The instant of the stage: seconds since 1970 UTC.
    pub now: i64,
    /// The caller's working directory.
    pub working_directory: Option<Name>,
    /// Bytes that were read, with their digests, by the path or URL as requested.
    #[serde(default)]
    pub bytes: IndexMap<Name, PinnedBytes>,
    /// Texts of children, by request.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub documents: IndexMap<Name, PinnedChild>,
    /// Values generated for call sites, new and earlier ones.
    #[serde(rename = "remembered", default)]
    pub memoised: IndexMap<Name, Memoised>,
    /// Exported fields of data sources, by name.
    #[serde(default)]
    pub data_sources: IndexMap<Name, PinnedData>,
    /// Answers of provider functions, by namespace, function and a digest of the arguments. Secret
    /// arguments have a keyed digest.
    #[serde(default)]
    pub calls: IndexMap<Name, Value>,
    /// The key of those digests, generated at first need. A reader without the key cannot test a
    /// guess at a secret against a digest.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub salt: Name,
    /// Digests of the results of transforms, by the path of includes that leads to each document.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub transformed: IndexMap<Name, Name>,
    /// The results of refresh that differ from the records, by address.
    #[serde(default)]
    pub seen: IndexMap<Address, PinnedRead>,
    /// The results of reading deposed objects whose delete was cut off, by address.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub deposed: IndexMap<Address, PinnedRead>,
    /// The results of reading imported resources, by address.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub imports: IndexMap<Address, PinnedRead>,
    /// The results of reading external objects, by address.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub external: IndexMap<Address, PinnedRead>,
    /// Whether the caller requested a refresh.
    #[serde(default)]
    pub refreshed: bool,
    /// The reasons why refresh could not read a record, by address.
    #[serde(default)]
    pub unread: IndexMap<Address, Name>,
    /// The plans of providers, by address.
    #[serde(default)]
    pub opinions: IndexMap<Address, ProviderOpinion>,
    /// The private data of planned deletes, by address, of providers that plan deletes.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub deletes: IndexMap<Address, Value>,
    /// The results of preflights, by address.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub preflights: IndexMap<Address, PinnedPreflight>,
    /// The digests of the programs that serve the types of steps, by namespace.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub programs: IndexMap<Name, Name>,
    /// Keyed digests of the settings of providers, by name or else namespace. Providers without settings are
    /// absent.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub settings: IndexMap<Name, Name>,
}

/// The prefix of the key of a memoised group. The path of includes that leads to the group follows
/// it.
pub const GROUP: &str = "group|";

/// Removes from the memory of groups the part that is kept only until the operation has succeeded.
pub fn drop_unfinished_groups(memoised: &mut IndexMap<Name, Memoised>) {
    for (_, known) in memoised
        .iter_mut()
        .filter(|(key, _)| key.starts_with(GROUP))
    {
        known.value = without_unfinished(&known.value);
    }
}

fn without_unfinished(memory: &Value) -> Value {
    match memory {
        Value::Map(entries) if entries.get(dialect::UNFINISHED).is_some() => {
            let kept = entries
                .iter()
                .filter(|(key, _)| key.as_ref() != dialect::UNFINISHED);
            Value::map(kept.map(|(key, value)| (key.clone(), value.clone())))
        }
        other => other.clone(),
    }
}

/// Whether a group in `now` has another value than in `before`. Unfinished parts do not count.
pub fn groups_differ(before: &IndexMap<Name, Memoised>, now: &IndexMap<Name, Memoised>) -> bool {
    let mut groups = now.iter().filter(|(key, _)| key.starts_with(GROUP));
    groups.any(|(key, known)| {
        before
            .get(key)
            .is_none_or(|before| before.value != without_unfinished(&known.value))
    })
}

/// The memoised values of groups, without the values of call sites.
pub fn groups_of(memoised: &IndexMap<Name, Memoised>) -> IndexMap<Name, Value> {
    let of_group = |(key, known): (&Name, &Memoised)| {
        Some((key.strip_prefix(GROUP)?.into(), known.value.clone()))
    };
    memoised.iter().filter_map(of_group).collect()
}

impl Answers {
    /// The seed for generated names of a resource. The preview and the execution of a plan have the
    /// same seed. The new object of a replacement has another one, and so has every other plan.
    pub fn seed_of(&self, address: &Address, mode: PlanMode) -> Name {
        let replaces = mode == PlanMode::Replace;
        keyed_digest(&self.salt, format!("{address}\0{replaces}").as_bytes())
    }

    /// All values that may contain secrets.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let reads = [&self.seen, &self.deposed, &self.imports, &self.external];
        let reads = reads.into_iter().flat_map(IndexMap::values);
        let opinions = self.opinions.values().flat_map(|opinion| {
            let optional = [opinion.inputs.as_ref(), opinion.outputs.as_ref()];
            optional.into_iter().flatten().chain([&opinion.private])
        });
        let standing = self.preflights.values().map(|looked| &looked.standing);
        let memoised = self.memoised.values().map(|memoised| &memoised.value);
        let data_sources = self.data_sources.values().map(|found| &found.fields);
        reads
            .flat_map(PinnedRead::values)
            .chain(opinions)
            .chain(standing)
            .chain(memoised)
            .chain(data_sources)
            .chain(self.calls.values())
            .chain(self.deletes.values())
    }

    /// The answers that are needed to read the documents again, as a plan keeps them.
    pub fn pinned(&self) -> Pinned {
        Pinned {
            documents: self.documents.clone(),
            data_sources: self.data_sources.clone(),
            groups: groups_of(&self.memoised),
        }
    }
}

/// Bytes as they were when the plan was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedBytes {
    /// The SHA-256 of the bytes in lower-case hex.
    pub digest: Name,
    /// The folder of the document that requested them; empty for a URL.
    pub folder: Name,
    /// The path or URL.
    pub path: Name,
    /// The bytes, as a value.
    pub value: Value,
}

/// The result of a preflight when the plan was made: see [`provider::Preflight`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PinnedPreflight {
    /// The id that the resource will have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Name>,
    /// The sources that the operation reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<PinnedSource>,
    /// The object that exists at the place of the resource; null if there is none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub standing: Value,
    /// The folder of the declaring document, relative to that of the root document.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub folder: Name,
    /// The name of the resource for plugins, as [`DeclarationSite::urn`].
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub urn: Name,
    /// Whether the plan creates or changes something that the resource uses. A command may then
    /// write the sources.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follows: bool,
}

impl PinnedPreflight {
    /// What the provider was told about the declaration.
    pub fn site(&self) -> DeclarationSite<&str> {
        DeclarationSite {
            folder: &self.folder,
            urn: &self.urn,
        }
    }

    /// Whether any part of the preflight is secret.
    pub fn has_secret(&self) -> bool {
        let of_source = |source: &PinnedSource| {
            let texts = source
                .texts
                .iter()
                .flat_map(|texts| [&texts.before, &texts.after]);
            source.digest.iter().chain(texts).any(Value::has_secret)
        };
        self.standing.has_secret() || self.sources.iter().any(of_source)
    }
}

/// A source as it was when the plan was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedSource {
    /// The field that names the source.
    pub field: Name,
    /// The name of the source in messages.
    pub name: Name,
    /// The digest of the source; `None` if the plan creates or changes the source before it is
    /// read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Value>,
    /// The text of the source and the text that it replaces, if a person can be shown both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<PinnedTexts>,
}

/// The text of a source, and the text that it replaces. They are only shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedTexts {
    /// The text in the object when the plan was made.
    pub before: Value,
    /// The text of the source.
    pub after: Value,
}

/// The result of refresh for a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PinnedRead {
    /// The object exists.
    #[serde(rename = "there")]
    Present {
        /// The provider's id.
        id: Name,
        /// All fields.
        fields: Value,
        /// Opaque data of the provider.
        private: Value,
        /// The reason to replace the resource, if there is one.
        expired: Option<Name>,
        /// The spec that would create the object as it is, if the provider returns one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inputs: Option<Value>,
    },

    /// The object does not exist.
    #[serde(rename = "gone")]
    Absent,
    /// The provider cannot tell whether the object exists.
    #[serde(rename = "cannot-tell")]
    Unknown,
}

impl PinnedRead {
    /// Whether any part of the object is secret.
    pub fn has_secret(&self) -> bool {
        self.values().any(Value::has_secret)
    }

    fn values(&self) -> impl Iterator<Item = &Value> {
        let present = match self {
            PinnedRead::Present {
                fields,
                private,
                inputs,
                ..
            } => [Some(fields), Some(private), inputs.as_ref()],
            PinnedRead::Absent | PinnedRead::Unknown => [None; 3],
        };
        present.into_iter().flatten()
    }
}

/// The plan of a provider for a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProviderOpinion {
    /// The decision of the provider.
    #[serde(default, skip_serializing_if = "decides_nothing")]
    pub verdict: Verdict,
    /// The spec as the provider will apply it, if the provider changes the spec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Value>,
    /// All planned fields, if the provider returns them; unknown where only the operation can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Value>,
    /// Whether the outputs are a forecast that the operation need not keep.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inexact: bool,
    /// Field paths that force a replacement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<FieldPath>,
    /// Computed fields that the operation will change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldPath>,
    /// Field paths whose difference is recorded without a call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_recorded: Vec<FieldPath>,
    /// Whether the create adopts an existing resource.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopts: bool,
    /// Opaque data for `apply`.
    pub private: Value,
}

impl From<Planned> for ProviderOpinion {
    fn from(planned: Planned) -> ProviderOpinion {
        let Planned {
            verdict,
            inputs,
            outputs,
            inexact,
            replaces,
            changes,
            only_recorded,
            adopts,
            private,
            ..
        } = planned;
        ProviderOpinion {
            verdict,
            inputs,
            outputs,
            inexact,
            replaces,
            changes,
            only_recorded,
            adopts,
            private,
        }
    }
}

impl ProviderOpinion {
    /// Whether a change means the same object, so that its value is only recorded.
    pub fn only_records(&self, change: &Change) -> bool {
        self.only_recorded.iter().any(|path| change.is_under(path))
    }

    /// Whether any part of the plan is secret.
    pub fn has_secret(&self) -> bool {
        let values = [
            self.inputs.as_ref(),
            self.outputs.as_ref(),
            Some(&self.private),
        ];
        values.into_iter().flatten().any(Value::has_secret)
    }
}

fn decides_nothing(verdict: &Verdict) -> bool {
    *verdict == Verdict::ByCatalogue
}

/// The SHA-256 of `bytes` in lower-case hex.
pub fn digest(bytes: &[u8]) -> Name {
    use sha2::Digest as _;
    let hash = sha2::Sha256::digest(bytes);
    data_encoding::HEXLOWER.encode(&hash).into()
}

/// The HMAC-SHA-256 (RFC 2104) of `bytes` in lower-case hex.
pub fn keyed_digest(key: &str, bytes: &[u8]) -> Name {
    use sha2::Digest as _;
    const BLOCK: usize = 64;
    let mut block = [0_u8; BLOCK];
    // Keys are generated here and are shorter than a block.
    for (to, from) in block.iter_mut().zip(key.bytes()) {
        *to = from;
    }
    let padded = |pad: u8| block.map(|byte| byte ^ pad);
    let inner = sha2::Sha256::new()
        .chain_update(padded(0x36))
        .chain_update(bytes)
        .finalize();
    let hash = sha2::Sha256::new()
        .chain_update(padded(0x5c))
        .chain_update(inner)
        .finalize();
    data_encoding::HEXLOWER.encode(&hash).into()
}

impl PinnedBytes {
    /// Bytes with their digest. `path` may be a URL.
    pub fn new(folder: &str, path: &str, bytes: Arc<[u8]>) -> PinnedBytes {
        PinnedBytes {
            digest: digest(&bytes),
            folder: folder.into(),
            path: path.into(),
            value: Value::Bytes(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyed_digest_matches_rfc_4231() {
        let digest = keyed_digest("Jefe", b"what do ya want for nothing?");
        assert_eq!(
            digest.as_ref(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
