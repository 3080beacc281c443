//! Preflights: a provider reports which files an operation would read, and which object it would
//! find in its place.
//!
//! The engine asks while it makes a plan, and again before it applies a saved plan. A preflight
//! changes nothing. The plan stores the reply, so that a saved plan is refused if such a file or
//! object has changed since.

use std::collections::BTreeSet;
use std::sync::Arc;

use blueprint::{Name, Value};

use crate::Operation;

/// The question of what a create, update or delete would find now. Only asked if the type's
/// [`Capabilities`](crate::Capabilities) set `preflights`.
#[derive(Clone, Copy, Debug)]
pub struct PreflightRequest<'a> {
    /// Create, update or delete. The question about a replacement is that of a create, with the id
    /// and the inputs of the old object.
    pub operation: Operation,
    /// The resource type.
    pub type_name: &'a str,
    /// The provider's id of the object that is recorded at the address; `None` if there is none.
    pub id: Option<&'a str>,
    /// The inputs as last sent; null without a recorded object.
    pub prior_inputs: &'a Value,
    /// The desired spec with defaults filled in. It may hold unknown values. Null for a delete.
    pub desired: &'a Value,
    /// Provider's ids of the objects that earlier steps of the plan create or change; empty when
    /// the question is repeated for a saved plan.
    pub changing: &'a Arc<BTreeSet<Name>>,
    /// The maximum length in bytes of each text in the reply ([`SourceRead::texts`]); 0 if none is
    /// wanted.
    pub text_limit: u64,
}

/// The reply: what an operation would find now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preflight {
    /// The id that the object will have, if the provider can derive it from the inputs.
    pub id: Option<Name>,
    /// The sources that the operation reads.
    pub sources: Vec<SourceRead>,
    /// The object that exists at the place of the resource, in the provider's own form; null if
    /// there is none. It is compared as a whole before a saved plan is applied.
    pub existing: Value,
    /// The reason why the operation would fail; `None` if no reason is known.
    pub refused: Option<String>,
}

/// A file, or a set of files, that an operation reads.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceRead {
    /// The field that names the source: see
    /// [`ResourceType::sources`](crate::ResourceType::sources).
    pub field: Name,
    /// The name of the source in messages.
    pub name: Name,
    /// The digest of the source, or why there is none.
    pub content: SourceContent,
    /// The text of the source and the text that it replaces. `None` if they are not wanted, not
    /// known, too long, no text, or not for everybody's eyes.
    pub texts: Option<SourceTexts>,
}

/// The text of a source, and the text in the object that it replaces.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceTexts {
    /// The text in the object now.
    pub before: Value,
    /// The text of the source.
    pub after: Value,
}

/// The content of a source, as its digest.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceContent {
    /// The digest of the content, as the computed field that
    /// [`ResourceType::sources`](crate::ResourceType::sources) names has it.
    Digest(Value),
    /// The digest is not known yet: an earlier step of the plan creates or changes the source.
    Open,
    /// The reason why it cannot be read.
    Unreadable(String),
}
