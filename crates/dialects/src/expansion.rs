//! What a dialect is told when it writes a group out, or settles a document in one of its places.

use blueprint::{Blueprint, Expr, Name, Value};
use diag::Diagnostics;

use crate::Surroundings;

/// An entry in the memory of a group that is forgotten once the operation that wrote it has ended well.
pub const UNFINISHED: &str = "unfinished";

/// Where a group of members is written out.
pub struct Expanding<'a> {
    /// What an expression of the document above comes to; Unknown as far as that is not known before the deployment.
    pub value: &'a dyn Fn(&Expr) -> Value,
    /// All inputs are given: what is not known now never will be in time.
    pub complete: bool,
    /// What was remembered of the group when it was last written out; null the first time.
    pub memory: &'a Value,
    /// What the state remembers of it, which is something else where a plan is kept or an earlier generation comes back; null
    /// if nothing. Its entry [`UNFINISHED`] is there as long as the operation that wrote it has not ended well.
    pub before: &'a Value,
    /// The name of the member that has an id, in the state.
    pub named: &'a dyn Fn(&str) -> Option<Name>,
    /// The children above its members, itself included.
    pub path: &'a [Name],
    /// What it stands in.
    pub around: &'a Surroundings,
}

/// A group of members written out.
#[derive(Default)]
pub struct Expanded {
    /// The document that it is.
    pub blueprint: Blueprint,
    /// The text of that document instead, where it is one.
    pub text: Option<Name>,
    /// It is not known yet what it is: nothing is written out.
    pub is_open: bool,
    /// What is to be remembered of it: data.
    pub memory: Value,
    /// What is wrong with its definition.
    pub diagnostics: Diagnostics,
    /// A document that its members would be, if it had any: its inputs are read all the same, where it can be read.
    pub sample: Option<diag::Spanned<Name>>,
}

/// What an expression comes to: Unknown as far as that is not known yet; or why it is in error, unless that is said elsewhere.
pub type Evaluating<'v> = &'v dyn Fn(&Expr) -> Result<Value, Option<Box<diag::Diagnostic>>>;
