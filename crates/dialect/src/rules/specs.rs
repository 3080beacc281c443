//! Specs of resources: conversion of the evaluated expression to the spec for the provider.

use blueprint::{Expr, Field, Schema, Type, Value};
use diag::{Diagnostic, Diagnostics, Span};

use crate::ExpressionPart;

/// The origin of a spec.
#[derive(Clone, Copy)]
pub struct SpecAt<'a> {
    /// The expression of the spec.
    pub expr: &'a Expr,
    /// The place at which a missing part is reported.
    pub missing_part_span: Span,
    /// The name of the resource.
    pub resource: &'a str,
    /// The part of the resource: its spec or its update policy.
    pub part: ExpressionPart,
    /// Whether the resource exists elsewhere, so that nothing is made from its spec.
    pub is_external: bool,
}

/// A function that converts a value to the native spec, with defaults. A part in error stays
/// unchanged and is reported.
pub type NativeSpec<'a> = &'a dyn Fn(&Value, &mut Diagnostics) -> Value;

/// The rules for fitting specs to the schemas of their types.
pub trait SpecRules: Send + Sync {
    /// Whether a path of an option that leads nowhere in the type is a mistake. Otherwise it is a
    /// warning.
    fn refuses_unknown_paths(&self) -> bool {
        true
    }

    /// Converts the evaluated spec to the spec for the provider, with defaults. Unknown parts stay
    /// unchanged. A part in error stays unchanged and is reported.
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

    /// Whether [`SpecRules::fit`] converts values of a type to the type of a field. The native type
    /// checks ask this before they refuse a type; `fit` reports a value that cannot be converted.
    fn accepts(&self, _found: &Type, _wanted: &Field) -> bool {
        false
    }

    /// Whether [`SpecRules::fit`] alone checks specs: also literals, and the types of values that
    /// are not known yet. Otherwise these are checked by their types before.
    fn is_only_check(&self) -> bool {
        false
    }

    /// Whether a value refers to a resource.
    fn is_resource(&self, value: &Value) -> bool {
        matches!(value.unmarked(), Value::Resource(_))
    }

    /// Whether the spec of a type with an open schema is not evaluated.
    fn skips_open_types(&self) -> bool {
        false
    }

    /// The fields of a resource as users see them, if these differ from the provider's.
    fn shown(&self, _type_name: &str, given: &Value) -> Value {
        given.clone()
    }

    /// The diagnostic for a removal policy in a document of this version; `None` for a valid
    /// policy.
    fn removal(&self, _policy: &Value, _version: &str) -> Option<Diagnostic> {
        None
    }
}
