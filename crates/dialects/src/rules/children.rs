//! How a document and its children fit together.

use blueprint::{Blueprint, Name, Schema, TypeId};
use diag::{Diagnostics, Spanned};

/// How documents of a dialect include others.
pub trait ChildRules: Send + Sync {
    /// Whether a child counts as one element: a reader of any part waits for the whole child, and the whole child waits
    /// for all of its inputs.
    fn are_whole(&self) -> bool {
        false
    }

    /// Whether conditions of children and members of groups are decided while documents are read. Otherwise a document
    /// with one cannot be carried out.
    fn are_decided_early(&self) -> bool {
        false
    }

    /// Whether a child whose text does not show its dialect has that of the document above.
    fn share_dialect(&self) -> bool {
        false
    }

    /// Whether an input is passed to children that do not declare it.
    fn is_passed_undeclared(&self, _input: &str) -> bool {
        false
    }

    /// Adds to a document in another dialect, which one in this dialect includes, exports that this dialect reads.
    /// Adding them again changes nothing.
    fn add_exports(&self, _child: &mut Blueprint) {}

    /// Reports where a document of this dialect cannot stand for a type with that schema and these attributes.
    fn stand_for(
        &self,
        _document: &Blueprint,
        _type_name: &Spanned<TypeId>,
        _schema: &Schema,
        _attributes: &[Name],
        _found: &mut Diagnostics,
    ) {
    }
}
