//! Specs of resources: from the evaluated expression to the spec for the provider.

use blueprint::{Expr, Field, Schema, Type, Value};
use diag::{Diagnostic, Diagnostics, Span};

use crate::ExpressionPart;

/// Where a spec came from.
#[derive(Clone, Copy)]
pub struct SpecAt<'a> {
    /// The expression that it is the value of.
    pub expr: &'a Expr,
    /// Where a missing part of it is reported.
    pub holder: Span,
    /// The resource's name.
    pub resource: &'a str,
    /// Whether it is the spec, or how updates are carried out.
    pub part: ExpressionPart,
}

/// The native spec from a value: converted, with defaults. A part in error is kept as it is, and reported.
pub type NativeSpec<'a> = &'a dyn Fn(&Value, &mut Diagnostics) -> Value;

/// How a dialect fits specs to the schemas of their types.
pub trait SpecRules: Send + Sync {
    /// The spec that a provider is given, from the evaluated one: converted, with defaults. Unknown parts stay as they
    /// are. A part in error is kept as it is, and reported.
    fn fit(
        &self,
        value: &Value,
        _at: SpecAt<'_>,
        _schema: &Schema,
        native: NativeSpec<'_>,
        found: &mut Diagnostics,
    ) -> Value {
        native(value, found)
    }

    /// Whether [`SpecRules::fit`] converts values of a type to what a field takes. The native type checks ask this of
    /// what they would refuse otherwise; a value that cannot be converted after all is reported by `fit`.
    fn accepts(&self, _found: &Type, _wanted: &Field) -> bool {
        false
    }

    /// Whether the spec of a type that takes anything is not evaluated.
    fn skips_open_types(&self) -> bool {
        false
    }

    /// The fields of a resource as people see them, where these differ from the provider's.
    fn shown(&self, _type_name: &str, given: &Value) -> Value {
        given.clone()
    }

    /// The diagnostic for a removal policy in a document of that version; none for a valid policy.
    fn removal(&self, _policy: &Value, _version: &str) -> Option<Diagnostic> {
        None
    }
}
