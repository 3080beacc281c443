//! Mistakes in terms that all dialects share, and their places. Each dialect may supply its own
//! message for a mistake.

use blueprint::{Expr, Name};
use diag::Span;

/// The part of a document that an expression belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionPart {
    /// The spec of a resource or a group.
    Spec,
    /// The value for an input of a child.
    Given,
    /// The metadata of a resource.
    Metadata,
    /// The removal policy of a resource.
    Removal,
    /// The update policy of a resource.
    UpdatePolicy,
    /// A named intermediate value.
    Local,
    /// The value of an export.
    Export,
}

/// The place of an expression in its document.
#[derive(Clone, Copy, Debug)]
pub struct ExpressionPlace<'a> {
    /// The part of the document.
    pub part: ExpressionPart,
    /// The name of the resource, the child, the value or the export.
    pub of: &'a str,
    /// The input of a child, if the expression is its value.
    pub input: Option<&'a str>,
    /// The expression.
    pub expr: &'a Expr,
}

impl<'a> ExpressionPlace<'a> {
    /// The place of a part of a resource, child, value or export.
    pub fn new(part: ExpressionPart, of: &'a str, expr: &'a Expr) -> ExpressionPlace<'a> {
        ExpressionPlace {
            part,
            of,
            input: None,
            expr,
        }
    }

    /// The place of the value for an input of a child.
    pub fn given(child: &'a str, input: &'a str, expr: &'a Expr) -> ExpressionPlace<'a> {
        ExpressionPlace {
            part: ExpressionPart::Given,
            of: child,
            input: Some(input),
            expr,
        }
    }
}

/// A mistake that is found without knowledge of the dialect. The dialect may have its own message
/// for it.
#[derive(Clone, Copy, Debug)]
pub enum Mistake<'a> {
    /// A resource or a child has no such attribute.
    NoAttribute {
        /// The name of the resource or child.
        of: &'a str,
        /// The attribute.
        attribute: &'a str,
        /// The place, if the mistake is found before evaluation: the expression, and the span of
        /// the reference in it.
        at: Option<(ExpressionPlace<'a>, Span)>,
    },
    /// A value is passed to an input that the child does not declare.
    NoInput {
        /// The child.
        child: &'a str,
        /// The input.
        input: &'a str,
    },
    /// A required input of a child has no value.
    InputMissing {
        /// The child.
        child: &'a str,
        /// The input.
        input: &'a str,
    },
    /// An unknown type, by its written name.
    NoType(&'a str),
    /// An external resource depends on one that is created here.
    ExternalDepends {
        /// The type of the external resource.
        type_name: &'a str,
        /// The external id.
        id: &'a str,
    },
    /// A resource that was created here is declared external.
    ExternalChanged {
        /// The resource.
        resource: &'a str,
        /// The type of the resource.
        type_name: &'a str,
    },
    /// The document of a child cannot be read from this path.
    UnreadableChild(&'a str),
    /// Documents are nested too deep, or in a circle. The value is the maximum depth.
    TooDeep(u32),
    /// A value is given for an input that is not declared.
    Undeclared(&'a str),
    /// A provider refuses a spec.
    InvalidSpec {
        /// The resource.
        resource: &'a str,
        /// The path to the field; empty for the spec as a whole.
        field: &'a str,
        /// The provider's reason.
        why: &'a str,
        /// Whether the value is of the wrong kind. Otherwise it exceeds limits that other fields
        /// set.
        is_kind: bool,
    },
    /// A reference to an element that is absent because its condition is false.
    Absent(&'a str),
    /// An attribute of an absent element is read.
    AbsentAttribute {
        /// The absent element.
        of: &'a str,
        /// The expression, and the span in it.
        at: (ExpressionPlace<'a>, Span),
    },
    /// No snapshot can be taken of this resource.
    NoSnapshot(&'a str),
    /// Elements depend on each other in a cycle: names and types, each depending on the next, the
    /// last one on the first.
    Cycle(&'a [(&'a str, &'a str)]),
    /// The environment forbids an action.
    Restricted {
        /// The resource.
        resource: &'a str,
        /// The action.
        action: &'a str,
    },
    /// A field must not change once the resource exists.
    Immutable {
        /// The field.
        field: &'a str,
        /// The resource.
        resource: &'a str,
        /// The type of the resource.
        type_name: &'a str,
    },
    /// An input must not change once the instance exists.
    ImmutableInput(&'a str),
    /// A provider refused to carry out an operation.
    Refused {
        /// The operation: `create`, `update`, ..
        operation: &'a str,
        /// The children that contain the resource.
        children: &'a [Name],
        /// The resource.
        resource: &'a str,
        /// The provider's message.
        message: &'a str,
    },
}
