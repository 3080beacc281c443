//! The expression form to which all dialects lower.

use diag::Span;

use crate::{Name, Value};

/// An expression and its place.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expr {
    /// The kind, with its operands.
    pub kind: ExprKind,
    /// The place of the expression itself, without `${` and `}`; for a literal the whole scalar
    /// with its quotes.
    #[serde(rename = "at")]
    pub span: Span,
}

/// The kind of an expression.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ExprKind {
    /// A literal value.
    Literal(Value),
    /// Items, each an expression.
    List(Vec<Expr>),
    /// Entries; keys are plain and unique.
    Map(Vec<(diag::Spanned<Name>, Expr)>),
    /// Interpolated text.
    Text(Vec<TextPart>),
    /// A reference to a declared element.
    Ref(Box<Ref>),
    /// Accessors on the result of an expression.
    Access(Box<Expr>, Vec<Accessor>),
    /// A call of a named function of a function table.
    Call(Box<CallExpr>),
    /// A named function as a value.
    Function(Name),
    /// A conditional expression. Only the chosen branch is evaluated.
    Choice(Box<ChoiceExpr>),
    /// The value of a single substitution; the span is that of the whole `${..}`
    /// (decisions/blueprint#single-substitutions).
    Substitution(Box<Expr>),
    /// An expression whose error has been reported. It has no value and causes no second
    /// diagnostic.
    Error,
}

/// A part of an interpolated text.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TextPart {
    /// Literal text.
    Text(Name),
    /// An expression whose value is converted to text, and the span of its `${..}`.
    Expr(Expr, Span),
}

/// A reference: an element, and a path into its value.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ref {
    /// The element.
    pub head: ReferenceHead,
    /// The head with its name, as written: `variables.x`, `resources["x"]`, `x`, `elem`.
    #[serde(rename = "at")]
    pub head_span: Span,
    /// The accessors after the head, in order.
    pub path: Vec<Accessor>,
}

/// The element that a reference names, in the terms of the blueprint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReferenceHead {
    /// An input of the document: `variables.x`.
    Input(Name),
    /// A named intermediate value: `values.x`.
    Local(Name),
    /// A resource.
    Resource {
        /// The name of the resource.
        name: Name,
        /// Whether it is written as a bare name, without `resources`.
        bare: bool,
    },
    /// A data source: `datasources.x`.
    DataSource(Name),
    /// A child document: `children.x`.
    Child(Name),
    /// The current item of a repetition: `elem`.
    Item,
    /// The current position in a repetition: `i`.
    Position,
    /// A name that is defined only in some scopes, such as `a`, `note` or `part` in a link kind.
    Scoped(Name),
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accessor {
    /// The kind of the step.
    pub kind: AccessorKind,
    /// The place, with the dot or brackets.
    #[serde(rename = "at")]
    pub span: Span,
}

/// The kind of an accessor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AccessorKind {
    /// `.name` or `["name"]`.
    Name(Name),
    /// `[n]`; `[]` is `[0]` (decisions/blueprint#empty-brackets).
    Index(u64),
}

/// A call.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallExpr {
    /// The name of the function.
    pub function: Name,
    /// The place of the name.
    #[serde(rename = "at")]
    pub name_span: Span,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Argument {
    /// The name, if one is written.
    pub name: Option<diag::Spanned<Name>>,
    /// The value.
    pub value: Expr,
}

/// A conditional expression.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChoiceExpr {
    /// The condition: a boolean. `none` counts as false.
    pub condition: Expr,
    /// The result if the condition is true.
    pub then: Expr,
    /// The result otherwise.
    pub otherwise: Expr,
}

impl Expr {
    /// Creates an expression.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        Expr { kind, span }
    }

    /// Creates a literal.
    pub fn literal(value: Value, span: Span) -> Expr {
        Expr {
            kind: ExprKind::Literal(value),
            span,
        }
    }

    /// Creates a call of a function on arguments without names.
    pub fn call(function: &str, name_span: Span, arguments: Vec<Expr>, span: Span) -> Expr {
        let arguments = arguments
            .into_iter()
            .map(|value| Argument { name: None, value })
            .collect();
        let call = CallExpr {
            function: function.into(),
            name_span,
            arguments,
        };
        Expr::new(ExprKind::Call(Box::new(call)), span)
    }

    /// Creates an expression whose error has been reported.
    pub fn error(span: Span) -> Expr {
        Expr {
            kind: ExprKind::Error,
            span,
        }
    }

    /// The value, if the expression is a literal.
    pub fn as_literal(&self) -> Option<&Value> {
        match &self.kind {
            ExprKind::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// The expression without an outer `${..}`.
    pub fn inner(&self) -> &Expr {
        match &self.kind {
            ExprKind::Substitution(inner) => inner,
            _ => self,
        }
    }

    /// Calls `visit` for this expression and all its subexpressions, outer ones first.
    ///
    /// The parsers of text and of expressions limit the depth.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        visit(self);
        match &self.kind {
            ExprKind::List(items) => items.iter().for_each(|item| item.walk(visit)),
            ExprKind::Map(entries) => entries.iter().for_each(|(_, value)| value.walk(visit)),
            ExprKind::Text(parts) => {
                for part in parts {
                    if let TextPart::Expr(expr, _) = part {
                        expr.walk(visit);
                    }
                }
            }
            ExprKind::Access(inner, _) | ExprKind::Substitution(inner) => inner.walk(visit),
            ExprKind::Call(call) => call
                .arguments
                .iter()
                .for_each(|argument| argument.value.walk(visit)),
            ExprKind::Choice(choice) => {
                choice.condition.walk(visit);
                choice.then.walk(visit);
                choice.otherwise.walk(visit);
            }
            ExprKind::Literal(_) | ExprKind::Ref(_) | ExprKind::Function(_) | ExprKind::Error => {}
        }
    }

    /// Calls `visit` for every reference in the expression, left to right.
    pub fn references<'a>(&'a self, visit: &mut impl FnMut(&'a Ref)) {
        self.walk(&mut |expr| {
            if let ExprKind::Ref(reference) = &expr.kind {
                visit(reference);
            }
        });
    }
}
