//! The result of a check of everything that is stored.
//!
//! Not here: how a store checks its rows.

use crate::InstanceName;

/// The result of the check.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// The instances in the store, by name.
    pub instances: Vec<VerifiedInstance>,
    /// The rows that differ from the data that was written.
    pub damaged: Vec<Damage>,
}

/// An instance that was checked.
#[derive(Clone, Debug)]
pub struct VerifiedInstance {
    /// Its name.
    pub name: InstanceName,
    /// The assurance that the check of its rows gives.
    pub assurance: Assurance,
    /// The number of rows that were checked.
    pub rows: u64,
}

/// The evidence that a row is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assurance {
    /// A MAC under the available key: every change without the key is detected.
    Key,
    /// A hash: damage is detected, deliberate changes are not.
    Hash,
    /// Nothing: an earlier version wrote it.
    Nothing,
}

/// A difference between stored and written data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The instance that the row belongs to, if any.
    pub instance: Option<InstanceName>,
    /// The row and its problem, as a phrase.
    pub what: String,
}
