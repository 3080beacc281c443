//! A state as a text, for reading, backup and import elsewhere (`cyan state export` and `import`).
//!
//! The text is complete: it holds the whole journal beside the current state. An imported state has
//! the same history, the same generations for a rollback and the same cut-off calls; its export
//! gives the same bytes. Secrets are sealed one by one, so that the rest can be read; without a key
//! a state with a secret cannot be written.
//!
//! Format 1 had no journal: its resources can be imported, without a history. Format 3 is written
//! if operations were pruned, and format 2 otherwise.

use std::sync::Arc;

use blueprint::{Address, IndexMap, Name, Value};
use serde::{Deserialize, Serialize};

use crate::seal::{SealError, SealPlace, Sealer};
use crate::{
    Checkpoint, Declared, Entry, EntryKind, Generation, InstanceName, Memoised, Record, Revision,
    Snapshot, Stops, Tail,
};

/// The newest version of the format.
pub const EXPORT_FORMAT: u32 = 3;

/// The version of the format that is written if no operation was pruned.
const WHOLE: u32 = 2;

/// The place of the secrets in the text.
const PLACE: SealPlace<'static> = SealPlace {
    uid: "export",
    record: 0,
};

/// The exported state of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exported {
    /// The version of the format.
    pub format: u32,
    /// Always `state`.
    pub kind: Name,
    /// The name of the instance.
    pub instance: Name,
    /// The document of the instance, relative to the state that was exported.
    pub document: Name,
    /// Commits so far.
    pub revision: Revision,
    /// Finished operations so far.
    pub generation: Generation,
    /// Records by address.
    pub records: IndexMap<Address, Arc<Record>>,
    /// The resources that each named intermediate value used.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub groups: IndexMap<Name, Vec<Address>>,
    /// Exported values.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub exports: IndexMap<Name, Value>,
    /// Memoised values by call site.
    #[serde(
        rename = "remembered",
        default,
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub memoised: IndexMap<Name, Memoised>,
    /// Evaluated metadata of the document.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// Children and data sources.
    #[serde(default, skip_serializing_if = "Declared::is_empty")]
    pub declared: Declared,
    /// The breakpoints, and the places where the last operation waits.
    #[serde(default, skip_serializing_if = "Stops::is_empty")]
    pub stops: Stops,
    /// The remains of operations that were pruned, if any were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<PrunedBase>,
    /// All committed entries that were not pruned, oldest first; empty in format 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub journal: Vec<Entry>,
}

/// The remains of operations that were pruned: following the journal from here leads to the current
/// state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrunedBase {
    /// The id of the first operation.
    pub uid: Name,
    /// The time of the first commit: seconds since 1970 UTC.
    pub created: i64,
    /// The document it belonged to.
    pub document: Name,
    /// The number of generations that were pruned.
    pub generation: Generation,
    /// Whether an operation has failed since the exports were written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exports_old: bool,
    /// Records by address.
    pub records: IndexMap<Address, Arc<Record>>,
}

impl PrunedBase {
    fn of(base: &Checkpoint) -> PrunedBase {
        let Snapshot {
            uid,
            document,
            generation,
            exports_old,
            records,
            ..
        } = &base.snapshot;
        PrunedBase {
            uid: uid.clone(),
            created: base.created,
            document: document.clone(),
            generation: *generation,
            exports_old: *exports_old,
            records: records.clone(),
        }
    }

    /// Returns the checkpoint for a store. Its sequence is counted from the records.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            sequence: self.records.len().max(1) as u64,
            created: self.created,
            snapshot: Snapshot {
                uid: self.uid.clone(),
                document: self.document.clone(),
                generation: self.generation,
                exports_old: self.exports_old,
                records: self.records.clone(),
                ..Snapshot::default()
            },
        }
    }
}

/// The error of a text that cannot be read as an exported state, or of a state that cannot be
/// written.
#[derive(Debug, thiserror::Error)]
pub enum ExportedError {
    /// The text was written by a newer version.
    #[error("the state has format {found}; this version reads up to {EXPORT_FORMAT}")]
    Newer {
        /// The format of the text.
        found: u64,
    },
    /// The text is not an exported state.
    #[error("the file is no exported state")]
    NotAState {
        /// The cause.
        #[source]
        source: serde_json::Error,
    },
    /// The secrets cannot be sealed or opened.
    #[error("the secrets of the state cannot be {verb}")]
    Sealed {
        /// `sealed` or `opened`.
        verb: &'static str,
        /// The cause.
        #[source]
        source: SealError,
    },
}

impl Exported {
    /// Exports a snapshot, without a journal.
    pub fn of(instance: &InstanceName, snapshot: &Snapshot) -> Exported {
        Exported {
            format: WHOLE,
            kind: "state".into(),
            instance: instance.name().clone(),
            document: snapshot.document.clone(),
            revision: snapshot.revision,
            generation: snapshot.generation,
            records: snapshot.records.clone(),
            groups: snapshot.groups.clone(),
            exports: snapshot.exports.clone(),
            memoised: snapshot.memoised.clone(),
            metadata: snapshot.metadata.clone(),
            declared: snapshot.declared.clone(),
            stops: snapshot.stops.clone(),
            pruned: None,
            journal: Vec::new(),
        }
    }

    /// Exports a whole journal, as [`Store::read`](crate::Store::read) returns it from its
    /// beginning.
    pub fn whole(instance: &InstanceName, journal: Tail) -> Exported {
        let pruned = (journal.from.sequence > 0).then(|| PrunedBase::of(&journal.from));
        let entries = journal
            .entries
            .iter()
            .map(|line| line.entry.clone())
            .collect();
        let format = if pruned.is_some() {
            EXPORT_FORMAT
        } else {
            WHOLE
        };
        Exported {
            format,
            pruned,
            journal: entries,
            ..Exported::of(instance, &journal.snapshot())
        }
    }

    /// The journal by operations, as [`Store::restore`](crate::Store::restore) takes it; empty if
    /// there is no journal.
    pub fn operations(&self) -> Vec<Vec<Entry>> {
        let mut operations: Vec<Vec<Entry>> = Vec::new();
        for entry in &self.journal {
            match operations.last_mut() {
                Some(last) if !matches!(entry.kind, EntryKind::Began(_)) => {
                    last.push(entry.clone())
                }
                _ => operations.push(vec![entry.clone()]),
            }
        }
        operations
    }

    /// Whether the state contains a secret.
    pub fn has_secret(&self) -> bool {
        self.records.values().any(|record| record.has_secret())
            || self.exports.values().any(Value::has_secret)
            || self
                .memoised
                .values()
                .any(|memoised| memoised.value.has_secret())
            || self.metadata.has_secret()
            || self.declared.values().any(Value::has_secret)
            || self.journal.iter().any(|entry| entry.kind.has_secret())
            || self
                .pruned
                .iter()
                .flat_map(|pruned| pruned.records.values())
                .any(|record| record.has_secret())
    }

    /// Writes the text: indented JSON with a line end. `Sealed` if there is a secret and no key.
    pub fn write(&self, sealer: &Sealer) -> Result<String, ExportedError> {
        let tree = self.to_json(sealer)?;
        let mut text = serde_json::to_string_pretty(&tree)
            .map_err(|source| ExportedError::NotAState { source })?;
        text.push('\n');
        Ok(text)
    }

    /// Returns the text as a JSON tree, secrets sealed.
    pub fn to_json(&self, sealer: &Sealer) -> Result<serde_json::Value, ExportedError> {
        let text = sealer
            .clone()
            .deterministic()
            .write(PLACE, self, self.has_secret(), 0)
            .map_err(|source| ExportedError::Sealed {
                verb: "sealed",
                source,
            })?;
        crate::read_json(text.as_bytes()).map_err(|source| ExportedError::NotAState { source })
    }

    /// Reads a text that [`write`](Exported::write) wrote.
    pub fn read(text: &str, sealer: &Sealer) -> Result<Exported, ExportedError> {
        #[derive(Deserialize)]
        struct ExportHead {
            format: u64,
            kind: Name,
        }
        let not_a_state = |source| ExportedError::NotAState { source };
        let head: ExportHead = crate::read_json(text.as_bytes()).map_err(not_a_state)?;
        if head.kind.as_ref() != "state" {
            let other = format!("its kind is `{}`", head.kind);
            return Err(not_a_state(serde::de::Error::custom(other)));
        }
        if head.format > u64::from(EXPORT_FORMAT) {
            return Err(ExportedError::Newer { found: head.format });
        }
        let read: Result<Exported, SealError> = sealer.read(PLACE, text.as_bytes(), true);
        let exported = read.map_err(|source| match source {
            SealError::Form(source) => not_a_state(source),
            SealError::Foreign => match crate::read_json::<Exported>(text.as_bytes()) {
                Err(source) => not_a_state(source),
                Ok(_) => ExportedError::Sealed {
                    verb: "opened",
                    source: SealError::Foreign,
                },
            },
            source => ExportedError::Sealed {
                verb: "opened",
                source,
            },
        })?;
        if exported.contradicts_itself() {
            let what = "what it says is there now is not what its journal leads to: it was changed by hand";
            return Err(not_a_state(serde::de::Error::custom(what)));
        }
        Ok(exported)
    }

    /// Whether the journal leads to records other than those in the text.
    fn contradicts_itself(&self) -> bool {
        let mut records: IndexMap<&Address, &Arc<Record>> = IndexMap::default();
        records.extend(self.pruned.iter().flat_map(|pruned| &pruned.records));
        for entry in &self.journal {
            if let EntryKind::Outcome(outcome) = &entry.kind {
                match &outcome.record {
                    Some(record) => records.insert(&outcome.address, record),
                    None => records.swap_remove(&outcome.address),
                };
            }
        }
        let is_same =
            |(address, record): (&Address, &Arc<Record>)| records.get(address) == Some(&record);
        let same = records.len() == self.records.len() && self.records.iter().all(is_same);
        !same && !self.journal.is_empty()
    }
}
