//! Checks variables: their custom types exist, and defaults and allowed values fit
//! (decisions/blueprint#defaults-and-allowed-values, decisions/documents#custom-types).
//!
//! Not here: the inputs given at stage.

use std::sync::Arc;

use blueprint::{Input, Type, Value};
use diag::{Diagnostic, Spanned};
use dialect::codes as document;
use expr::{ValueOrigin, codes as language};
use provider::{CustomType, TypeRef};

use super::Checker;
use super::providers::{unavailable, unknown_provider};
use super::types::with_article;

impl Checker<'_> {
    /// Checks every variable and stores its type.
    pub(super) fn inputs(&mut self) {
        for input in self.blueprint.inputs.values() {
            let custom = self.custom_type(input);
            let ty = match (&custom, &input.custom_type) {
                (Some(custom), _) => custom.ty.clone(),
                (None, Some(_)) => Type::Error,
                (None, None) => input.ty.clone(),
            };
            let fits = |value: &Spanned<Value>| match &custom {
                Some(custom) => option(value, custom),
                None => declared(value, &ty),
            };
            let mut found = Vec::new();
            let allowed: Vec<&Spanned<Value>> = input
                .allowed
                .iter()
                .filter(|value| match fits(value) {
                    Some(diagnostic) => {
                        found.push(diagnostic);
                        false
                    }
                    None => true,
                })
                .collect();
            if let Some(default) = &input.default {
                match fits(default) {
                    Some(diagnostic) => found.push(diagnostic),
                    None if allowed.len() == input.allowed.len() => {
                        found.extend(not_among(default, &allowed, &ty))
                    }
                    // An invalid allowed value may be the intended one, so report nothing more.
                    None => {}
                }
            }
            self.found.extend(found);
            self.input_types.push(ty);
            self.custom_types.push(custom);
        }
    }

    fn custom_type(&mut self, input: &Input) -> Option<Arc<CustomType>> {
        let name = input.custom_type.as_ref()?;
        let diagnostic = match self.catalogs.variable_type(&name.item) {
            TypeRef::Known(custom) => return Some(custom),
            TypeRef::UnknownNamespace => unknown_provider(name, self.catalogs),
            TypeRef::Unavailable(why) => unavailable(name, &why),
            TypeRef::UnknownType => document::UNKNOWN_TYPE
                .new(format!("unknown type `{}`", name.item))
                .label(name.span, "no provider offers this type of variable")
                .help_nearest(&name.item, self.catalogs.variable_type_names()),
        };
        self.found.push(diagnostic);
        None
    }
}

/// The diagnostic for a value that does not have the declared type.
fn declared(value: &Spanned<Value>, ty: &Type) -> Option<Diagnostic> {
    if ty.is_open()
        || value.item.is_null()
        || expr::convert(&value.item, ty, ValueOrigin::Literal).is_ok()
    {
        return None;
    }
    let diagnostic = language::TYPE_MISMATCH
        .new(format!("the variable is declared as {}", with_article(ty)))
        .label(
            value.span,
            format!("this is {}", with_article(&Type::of(&value.item))),
        );
    Some(super::spec::quoted(diagnostic, &value.item, ty, value.span))
}

/// The diagnostic for a value that is no label of a custom type.
fn option(value: &Spanned<Value>, custom: &CustomType) -> Option<Diagnostic> {
    let labels = || custom.options.iter().map(|option| option.label.as_ref());
    match &value.item {
        Value::Null => None,
        Value::Text(label) if custom.option(label).is_some() => None,
        Value::Text(label) => Some(
            document::VALUE_NOT_ALLOWED
                .new(format!("`{}` has no option `{label}`", custom.name))
                .label(value.span, "no such option")
                .help_nearest(label, labels())
                .note(format!(
                    "options: {}",
                    labels().collect::<Vec<_>>().join(", ")
                )),
        ),
        other => Some(
            language::TYPE_MISMATCH
                .new(format!(
                    "an option of `{}` is named by a string",
                    custom.name
                ))
                .label(
                    value.span,
                    format!("this is {}", with_article(&Type::of(other))),
                ),
        ),
    }
}

/// The diagnostic for a default that is not among the allowed values.
fn not_among(
    default: &Spanned<Value>,
    allowed: &[&Spanned<Value>],
    ty: &Type,
) -> Option<Diagnostic> {
    let same = |value: &Value| {
        expr::convert(value, ty, ValueOrigin::Literal).unwrap_or_else(|_| value.clone())
    };
    if allowed.is_empty() || default.item.is_null() || ty.is_open() {
        return None;
    }
    let wanted = same(&default.item);
    if allowed
        .iter()
        .any(|value| value.item == default.item || same(&value.item) == wanted)
    {
        return None;
    }
    let diagnostic = document::VALUE_NOT_ALLOWED
        .new("the default is not among the allowed values")
        .label(default.span, "not allowed")
        .label(allowed[0].span, "allowed values begin here");
    Some(match default.item.as_text() {
        Some(text) => diagnostic.help_nearest(
            text,
            allowed.iter().filter_map(|value| value.item.as_text()),
        ),
        None => diagnostic,
    })
}
