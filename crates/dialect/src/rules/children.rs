//! How a document and its children fit together.

use blueprint::{Blueprint, Name, Schema, TypeId};
use diag::{Diagnostics, Spanned};

/// The rules for including documents.
pub trait ChildRules: Send + Sync {
    /// Whether a child counts as one element: a reader of any part waits for the whole child, and
    /// the whole child waits for all of its inputs.
    fn are_atomic(&self) -> bool {
        false
    }

    /// Whether conditions of children and the members of groups are decided while documents are
    /// read. If not, a document with such a part cannot be deployed.
    fn are_decided_early(&self) -> bool {
        false
    }

    /// Whether a child whose text does not show its dialect has the dialect of the including
    /// document.
    fn share_dialect(&self) -> bool {
        false
    }

    /// Whether an input is passed to children that do not declare it.
    fn is_passed_undeclared(&self, _input: &str) -> bool {
        false
    }

    /// Adds the exports that this dialect reads to an included document of another dialect. Adding
    /// them again has no effect.
    fn add_exports(&self, _child: &mut Blueprint) {}

    /// Reports that a document of this dialect does not fit a type with this schema and these
    /// attributes.
    fn check_substitution(
        &self,
        _document: &Blueprint,
        _type_name: &Spanned<TypeId>,
        _schema: &Schema,
        _attributes: &[Name],
        _found: &mut Diagnostics,
    ) {
    }
}
