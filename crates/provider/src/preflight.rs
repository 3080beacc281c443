//! The state that an operation would find: asked while a plan is made, and again before a saved plan is applied.
//!
//! A preflight changes nothing. The plan stores its answer, so that a plan also depends on the files that it reads and
//! on the objects in its way.

use std::collections::BTreeSet;
use std::sync::Arc;

use blueprint::{Name, Value};

use crate::Operation;

/// A request for the state that a create, update or delete would find. Only asked if the type's
/// [`Capabilities`](crate::Capabilities) set `preflights`.
#[derive(Clone, Copy, Debug)]
pub struct PreflightRequest<'a> {
    /// Create, update or delete. A replacement is a create with the id of the old resource.
    pub operation: Operation,
    /// The resource type.
    pub type_name: &'a str,
    /// The provider's id of the existing resource. `None` if there is none.
    pub id: Option<&'a str>,
    /// The inputs as last sent; null for a create.
    pub prior_inputs: &'a Value,
    /// The desired spec with defaults filled in. It may hold unknown values. Null for a delete.
    pub desired: &'a Value,
    /// Ids of the resources that the plan creates or changes before this one.
    pub changing: &'a Arc<BTreeSet<Name>>,
}

/// The state that an operation would find now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preflight {
    /// The future id of the resource, if it follows from the spec.
    pub id: Option<Name>,
    /// The sources that the operation reads.
    pub sources: Vec<SourceRead>,
    /// The object at the place of the resource, in the provider's own form; null for nothing. It is compared as a whole
    /// before a saved plan is applied.
    pub existing: Value,
    /// The reason why the operation would fail.
    pub refused: Option<String>,
}

/// A file, or a set of files, that an operation reads.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceRead {
    /// The field that names the source: see [`ResourceType::sources`](crate::ResourceType::sources).
    pub field: Name,
    /// Its name in messages.
    pub name: Name,
    /// Its content.
    pub content: SourceContent,
}

/// The content of a source.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceContent {
    /// Its digest, in the form of the computed field.
    Digest(Value),
    /// Unknown, because the plan creates or changes the source before it is read.
    Open,
    /// The reason why it cannot be read.
    Unreadable(String),
}
