//! The data for writing a group out and for settling a document.

use blueprint::{Blueprint, Expr, Name, Value};
use diag::Diagnostics;

use crate::LoadContext;

/// An entry in the memory of a group that is forgotten once the operation that wrote it has ended well.
pub const UNFINISHED: &str = "unfinished";

/// Where a group of members is written out.
pub struct Expanding<'a> {
    /// Evaluates an expression of the document above. Parts that are not known before the deployment are Unknown.
    pub value: &'a dyn Fn(&Expr) -> Value,
    /// All inputs are given: a value that is Unknown now will not become known in time.
    pub complete: bool,
    /// The memory of the group from when it was last written out; null the first time.
    pub memory: &'a Value,
    /// What the state remembers of it, which is something else where a plan is kept or an earlier generation comes
    /// back; null if nothing. Its entry [`UNFINISHED`] is there as long as the operation that wrote it has not ended
    /// well.
    pub before: &'a Value,
    /// The name of the member that has an id, in the state.
    pub named: &'a dyn Fn(&str) -> Option<Name>,
    /// The children above its members, itself included.
    pub path: &'a [Name],
    /// Its context.
    pub context: &'a LoadContext,
}

/// A group of members written out.
#[derive(Default)]
pub struct Expanded {
    /// The document that it is.
    pub blueprint: Blueprint,
    /// The text of that document instead, where it is one.
    pub text: Option<Name>,
    /// The definition is not known yet: nothing is written out.
    pub is_open: bool,
    /// The data to remember until the next time.
    pub memory: Value,
    /// Mistakes in its definition.
    pub diagnostics: Diagnostics,
    /// The document of its members, if it has none yet: its inputs are checked anyway, if it can be read.
    pub sample: Option<diag::Spanned<Name>>,
}

/// Evaluates an expression: Unknown as far as it is not known yet; or the error, unless that is reported elsewhere.
pub type Evaluating<'v> = &'v dyn Fn(&Expr) -> Result<Value, Option<Box<diag::Diagnostic>>>;
