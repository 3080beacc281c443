//! The result of a check of everything that is stored.
//!
//! Not here: how a store checks its rows.

use crate::InstanceName;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// The instances that are there, by name.
    pub instances: Vec<VerifiedInstance>,
    /// What differs from what was written.
    pub damaged: Vec<Damage>,
}

/// An instance that was checked.
#[derive(Clone, Debug)]
pub struct VerifiedInstance {
    /// Its name.
    pub name: InstanceName,
    /// What its rows are checked by.
    pub assurance: Assurance,
    /// How many rows were checked.
    pub rows: u64,
}

/// What shows that a row is what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assurance {
    /// A MAC under the key at hand: every change without the key is detected.
    Key,
    /// A hash: damage is detected, deliberate changes are not.
    Hash,
    /// Nothing: an earlier version wrote it.
    Nothing,
}

/// Something that differs from what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Of which instance, where it is of one.
    pub instance: Option<InstanceName>,
    /// Which row, and what is wrong with it, as a phrase.
    pub what: String,
}
