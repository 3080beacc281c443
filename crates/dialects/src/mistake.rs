//! Mistakes in terms that all dialects share, and their places. Each dialect may supply its own message for a mistake.

use blueprint::{Expr, Name};
use diag::Span;

/// Which part of a document an expression is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionPart {
    /// The spec of a resource or a group.
    Spec,
    /// The value that a child is given for one of its inputs.
    Given,
    /// The metadata of a resource.
    Metadata,
    /// The removal policy of a resource.
    Removal,
    /// How updates are carried out.
    UpdatePolicy,
    /// A named intermediate value.
    Local,
    /// The value of an export.
    Export,
}

/// The place of an expression in its document.
#[derive(Clone, Copy, Debug)]
pub struct ExpressionPlace<'a> {
    /// Which part it is.
    pub part: ExpressionPart,
    /// The name of the resource, the child, the value or the export.
    pub of: &'a str,
    /// The input of a child that it is given for.
    pub input: Option<&'a str>,
    /// The expression.
    pub expr: &'a Expr,
}

impl<'a> ExpressionPlace<'a> {
    /// A part of something.
    pub fn new(part: ExpressionPart, of: &'a str, expr: &'a Expr) -> ExpressionPlace<'a> {
        ExpressionPlace { part, of, input: None, expr }
    }

    /// The value that a child is given for one of its inputs.
    pub fn given(child: &'a str, input: &'a str, expr: &'a Expr) -> ExpressionPlace<'a> {
        ExpressionPlace { part: ExpressionPart::Given, of: child, input: Some(input), expr }
    }
}

/// A mistake that is found without knowledge of the dialect, which has its own words for it.
#[derive(Clone, Copy, Debug)]
pub enum Mistake<'a> {
    /// A resource or a child has no such attribute.
    NoAttribute {
        /// Its name.
        of: &'a str,
        /// The attribute.
        attribute: &'a str,
        /// Where that is found before anything is evaluated: the expression, and the place of the reference in it.
        at: Option<(ExpressionPlace<'a>, Span)>,
    },
    /// A child is given an input that its document does not declare.
    NoInput {
        /// The child.
        child: &'a str,
        /// The input.
        input: &'a str,
    },
    /// A child is not given an input that its document needs.
    InputMissing {
        /// The child.
        child: &'a str,
        /// The input.
        input: &'a str,
    },
    /// A type of that name, as it is written, is unknown.
    NoType(&'a str),
    /// An external resource depends on one that is created here.
    ExternalDepends {
        /// The type of the external resource.
        type_name: &'a str,
        /// Its id there.
        id: &'a str,
    },
    /// A resource that was created here is declared external.
    ExternalChanged {
        /// The resource.
        resource: &'a str,
        /// Its type.
        type_name: &'a str,
    },
    /// The document of a child cannot be read from this path.
    Unread(&'a str),
    /// Documents are nested too deep, or in a circle; this is how deep they may be.
    TooDeep(u32),
    /// A value is given for an input that is not declared.
    Undeclared(&'a str),
    /// A provider refuses a spec.
    Misfit {
        /// The resource.
        resource: &'a str,
        /// The way to the field; empty for the spec as a whole.
        field: &'a str,
        /// The provider's reason.
        why: &'a str,
        /// Whether the value is of the wrong kind, rather than outside of limits that other fields set.
        is_kind: bool,
    },
    /// A reference to an element that is absent because its condition is false.
    Gone(&'a str),
    /// An attribute is read of an absent element.
    GoneAttribute {
        /// The absent element.
        of: &'a str,
        /// The expression, and the place in it.
        at: (ExpressionPlace<'a>, Span),
    },
    /// No snapshot can be taken of this resource.
    NoSnapshot(&'a str),
    /// Elements need each other in a cycle: names and types, each needing the one behind it, the last one the first.
    Circle(&'a [(&'a str, &'a str)]),
    /// The environment forbids an action.
    Restricted {
        /// The resource.
        resource: &'a str,
        /// The action.
        action: &'a str,
    },
    /// A field may not change once the resource exists.
    Immutable {
        /// The field.
        field: &'a str,
        /// The resource.
        resource: &'a str,
        /// Its type.
        type_name: &'a str,
    },
    /// An input may not change once the instance exists.
    ImmutableInput(&'a str),
    /// A provider refused to carry out an operation.
    Refused {
        /// The operation: `create`, `update`, ..
        operation: &'a str,
        /// The children in which the resource stands.
        children: &'a [Name],
        /// The resource.
        resource: &'a str,
        /// The provider's message.
        message: &'a str,
    },
}
