//! What an operation would meet, asked while a plan is made and again before a kept plan is carried out.
//!
//! A preflight changes nothing. Its answer is kept in the plan, so that files that are read and things that stand in the
//! way are part of what a plan was made from.

use std::collections::BTreeSet;
use std::sync::Arc;

use blueprint::{Name, Value};

use crate::Operation;

/// Ask what a create, update or delete would meet. Only asked where the type's
/// [`Capabilities`](crate::Capabilities) say `preflights`.
pub struct PreflightRequest<'a> {
    /// Create, update or delete. A replacement is a create with the id of the old thing.
    pub operation: Operation,
    /// The resource type.
    pub type_name: &'a str,
    /// The provider's id of the thing that is there; none if there is none.
    pub id: Option<&'a str>,
    /// The inputs as last sent; null for a create.
    pub prior_inputs: &'a Value,
    /// The spec wanted, defaults filled in, unknown parts in it; null for a delete.
    pub desired: &'a Value,
    /// Ids of the things that the plan makes or changes before this one.
    pub changing: &'a Arc<BTreeSet<Name>>,
}

/// What an operation would meet as things are now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preflight {
    /// The id that the thing will have, where it follows from the spec.
    pub id: Option<Name>,
    /// What is read to carry the operation out.
    pub sources: Vec<SourceRead>,
    /// What stands at the place of the thing, in a form of the provider's own; null for nothing. It is compared as a whole
    /// before a kept plan is carried out.
    pub standing: Value,
    /// Why the operation would be refused.
    pub refused: Option<String>,
}

/// A file, or a set of files, that an operation reads.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceRead {
    /// The field that names it: see [`ResourceType::sources`](crate::ResourceType::sources).
    pub field: Name,
    /// What it is called in messages.
    pub name: Name,
    /// What is in it.
    pub content: SourceContent,
}

/// What is in a source.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceContent {
    /// Its digest, as the computed field will hold it.
    Digest(Value),
    /// The plan makes or changes it before it is read.
    Open,
    /// It cannot be read: why.
    Unreadable(String),
}
