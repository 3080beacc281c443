//! Resolves a path inside a value (decisions/blueprint#empty-brackets,
//! decisions/blueprint#accessors-on-values-and-results, decisions/blueprint#accessors-on-variables,
//! decisions/blueprint#absent-elements).

use blueprint::{Accessor, AccessorKind, Type, Value};
use diag::Diagnostic;

use super::machine::unknown_of;
use crate::codes;
use crate::scope::EvaluationStop;

/// Applies accessors to a value. Errors are placed at the failing accessor: `wrong-accessor`,
/// `index-out-of-range`, or, for a missing key, `absent-element`, which a call may guard
/// (decisions/blueprint#references-to-fields, decisions/blueprint#absent-elements).
pub fn access(value: Value, path: &[Accessor]) -> Result<Value, EvaluationStop> {
    let mut value = value;
    let mut secret = false;
    for accessor in path {
        if let Value::Secret(inner) = &value {
            secret = true;
            value = inner.as_ref().clone();
        }
        value = step(&value, accessor, secret)?;
    }
    Ok(value.tainted(secret))
}

/// Applies one accessor. Messages about a secret value reveal only that it lacks the requested
/// element.
fn step(value: &Value, accessor: &Accessor, secret: bool) -> Result<Value, EvaluationStop> {
    match (value, &accessor.kind) {
        (Value::Unknown(unknown), kind) => {
            let ty = unknown.ty.as_ref().and_then(|ty| part_type(ty, kind));
            Ok(unknown_of(ty, std::slice::from_ref(value)))
        }
        (Value::Map(entries), AccessorKind::Name(name)) => {
            entries.get(name).cloned().ok_or_else(|| {
                let diagnostic = codes::ABSENT_ELEMENT
                    .new(format!("there is no `{name}` here"))
                    .label(accessor.span, "not among the keys")
                    .help_nearest(
                        name,
                        entries.keys().map(|key| key.as_ref()).filter(|_| !secret),
                    )
                    .help("say what holds without it, as in `coalesce(.., \"default\")`");
                EvaluationStop::Absent(Box::new(diagnostic))
            })
        }
        (Value::List(items) | Value::Set(items), AccessorKind::Index(at)) => {
            let item = usize::try_from(*at).ok().and_then(|at| items.get(at));
            item.cloned().ok_or_else(|| match secret {
                true => codes::INDEX_OUT_OF_RANGE
                    .new(format!("there is no item {at}"))
                    .label(accessor.span, "finds nothing")
                    .into(),
                false => out_of_range(*at as i128, items.len(), accessor.span).into(),
            })
        }
        (Value::Null, AccessorKind::Name(_)) => {
            Err(EvaluationStop::Absent(Box::new(wrong(value, accessor))))
        }
        _ => Err(wrong(value, accessor).into()),
    }
}

/// The diagnostic for a position without an item.
pub(crate) fn out_of_range(at: i128, length: usize, span: diag::Span) -> Diagnostic {
    let why = match length {
        0 => "the list is empty".to_string(),
        1 => "the list has one item".to_string(),
        length => format!("the list has {length} items"),
    };
    codes::INDEX_OUT_OF_RANGE
        .new(format!("there is no item {at}"))
        .label(span, why)
}

fn wrong(value: &Value, accessor: &Accessor) -> Diagnostic {
    let kind = value.kind_word();
    let (message, help) = match (&accessor.kind, value) {
        (AccessorKind::Name(name), Value::List(_) | Value::Set(_)) => (
            format!("an array has no `{name}`"),
            Some("take an item first, such as `[0]`"),
        ),
        (AccessorKind::Name(name), Value::Text(_)) => (
            format!("a value of kind {kind} has no `{name}`"),
            Some("use `jsondecode` if the text is JSON"),
        ),
        (AccessorKind::Name(name), _) => (format!("a value of kind {kind} has no `{name}`"), None),
        (AccessorKind::Index(_), Value::Map(_)) => (
            "an object has no positions".to_string(),
            Some("use a name, or `vals(..)` for a list of its values"),
        ),
        (AccessorKind::Index(_), _) => (format!("a value of kind {kind} has no positions"), None),
    };
    let diagnostic = codes::WRONG_ACCESSOR
        .new(message)
        .label(accessor.span, "does not fit the value before it");
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// The type of the element that an accessor selects, if known.
fn part_type(ty: &Type, kind: &AccessorKind) -> Option<Type> {
    match (ty, kind) {
        (Type::List(item), AccessorKind::Index(_)) => Some(item.as_ref().clone()),
        (Type::Map(value), AccessorKind::Name(_)) => Some(value.as_ref().clone()),
        (Type::Object(object), AccessorKind::Name(name)) => object.fields.get(name).cloned(),
        _ => None,
    }
}
