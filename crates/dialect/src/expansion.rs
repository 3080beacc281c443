//! The data for expanding a group and for settling a document.

use blueprint::{Blueprint, Expr, Name, Value};
use diag::Diagnostics;

use crate::LoadContext;

/// The key of an entry in the memory of a group. The entry is dropped when the operation that wrote
/// it has succeeded.
pub const UNFINISHED: &str = "unfinished";

/// The place in which a group of members is expanded.
pub struct ExpansionContext<'a> {
    /// A function that evaluates an expression of the including document. Parts that are not known
    /// before the deployment are unknown.
    pub evaluate: &'a dyn Fn(&Expr) -> Value,
    /// Whether all inputs are given: a value that is unknown now will not become known in time.
    pub complete: bool,
    /// The memory of the group from its last expansion; null the first time.
    pub memory: &'a Value,
    /// The memory of the group in the state; null if there is none. It differs from `memory` for a
    /// saved plan and for a rollback to an earlier generation. Its entry [`UNFINISHED`] exists
    /// until the operation that wrote it has succeeded.
    pub stored_memory: &'a Value,
    /// A function that returns the name of the member with an id in the state.
    pub member_name: &'a dyn Fn(&str) -> Option<Name>,
    /// The children above the members, including the group.
    pub path: &'a [Name],
    /// The context in which the group is loaded.
    pub context: &'a LoadContext,
}

/// The result of expanding a group of members.
#[derive(Default)]
pub struct Expanded {
    /// The document of the group.
    pub blueprint: Blueprint,
    /// The text of the document, if the group is defined by a template text.
    pub text: Option<Name>,
    /// Whether the definition is not known yet, so that nothing is expanded.
    pub is_open: bool,
    /// The data to remember until the next expansion.
    pub memory: Value,
    /// Mistakes in the definition of the group.
    pub diagnostics: Diagnostics,
    /// The document of the members, if the group is empty. Its inputs are checked anyway, if the
    /// document can be read.
    pub member_document: Option<diag::Spanned<Name>>,
}

/// A function that evaluates an expression. Parts that are not known yet are unknown. The error is
/// `None` if it is reported elsewhere.
pub type EvaluateFn<'v> = &'v dyn Fn(&Expr) -> Result<Value, Option<Box<diag::Diagnostic>>>;
