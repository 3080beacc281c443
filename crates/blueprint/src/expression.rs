//! The one expression form that all dialects lower to.

use diag::Span;

use crate::{Name, Value};

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands: the expression itself, without `${` and `}`; a literal's whole scalar, quotes included.
    #[serde(rename = "at")]
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ExprKind {
    /// A value that is written out.
    Literal(Value),
    /// Items, each an expression.
    List(Vec<Expr>),
    /// Entries; keys are plain text, unique.
    Map(Vec<(diag::Spanned<Name>, Expr)>),
    /// Text with expressions in it.
    Text(Vec<Part>),
    /// A reference to something declared.
    Ref(Box<Ref>),
    /// Accessors on the result of an expression.
    Access(Box<Expr>, Vec<Accessor>),
    /// A call of a named function of a function table.
    Call(Box<Call>),
    /// A named function as a value, where one is taken.
    Function(Name),
    /// One of two, the other never evaluated.
    Choice(Box<Choice>),
    /// The value of exactly one substitution; the span is that of `${..}` as a whole (decision A5).
    Substitution(Box<Expr>),
    /// Something in error that has been reported: it has no value and gives no second diagnostic.
    Error,
}

/// A part of an interpolated text.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Part {
    /// Text as it is.
    Text(Name),
    /// An expression whose value becomes text, and the span of its `${..}`.
    Expr(Expr, Span),
}

/// A reference: what it names, and a path into that.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ref {
    /// What is named.
    pub head: Head,
    /// The head with its name, as written: `variables.x`, `resources["x"]`, `x`, `elem`.
    #[serde(rename = "at")]
    pub head_span: Span,
    /// Accessors after it, in order.
    pub path: Vec<Accessor>,
}

/// What a reference names. The words are those of the architecture, not of a dialect.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Head {
    /// An input of the document: `variables.x`.
    Input(Name),
    /// A named intermediate value: `values.x`.
    Local(Name),
    /// A resource.
    Resource {
        /// Its name.
        name: Name,
        /// Written as a bare name, without `resources`.
        bare: bool,
    },
    /// A data source: `datasources.x`.
    DataSource(Name),
    /// A child document: `children.x`.
    Child(Name),
    /// The item at hand in a repetition: `elem`.
    Item,
    /// The position at hand in a repetition: `i`.
    Position,
    /// A head that only means something where it is evaluated, such as `a`, `note` or `part` in a link kind.
    Scoped(Name),
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accessor {
    /// By name or by position.
    pub kind: AccessorKind,
    /// With its dot or brackets.
    #[serde(rename = "at")]
    pub span: Span,
}

/// By what a step goes on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AccessorKind {
    /// `.name` or `["name"]`.
    Name(Name),
    /// `[n]`; `[]` is `[0]` (decision S11).
    Index(u64),
}

/// A call.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// The name of the function.
    pub function: Name,
    /// Where the name stands.
    #[serde(rename = "at")]
    pub name_span: Span,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Argument {
    /// Its name, where one is written.
    pub name: Option<diag::Spanned<Name>>,
    /// Its value.
    pub value: Expr,
}

/// A lazy choice.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// Boolean, or none which counts as false.
    pub condition: Expr,
    /// Taken if true.
    pub then: Expr,
    /// Taken otherwise.
    pub otherwise: Expr,
}

impl Expr {
    /// An expression of a kind at a place.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        Expr { kind, span }
    }

    /// A literal.
    pub fn literal(value: Value, span: Span) -> Expr {
        Expr { kind: ExprKind::Literal(value), span }
    }

    /// Something in error that has been reported.
    pub fn error(span: Span) -> Expr {
        Expr { kind: ExprKind::Error, span }
    }

    /// The value, if it is a literal.
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

    /// Calls `visit` for this expression and every one in it, outer ones first.
    ///
    /// Depth is bounded by the parsers of text and of expressions.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        visit(self);
        match &self.kind {
            ExprKind::List(items) => items.iter().for_each(|item| item.walk(visit)),
            ExprKind::Map(entries) => entries.iter().for_each(|(_, value)| value.walk(visit)),
            ExprKind::Text(parts) => {
                for part in parts {
                    if let Part::Expr(expr, _) = part {
                        expr.walk(visit);
                    }
                }
            }
            ExprKind::Access(inner, _) | ExprKind::Substitution(inner) => inner.walk(visit),
            ExprKind::Call(call) => call.arguments.iter().for_each(|argument| argument.value.walk(visit)),
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
