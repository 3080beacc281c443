//! Converts evaluated values to the types that the document declares
//! (decisions/blueprint#text-of-typed-values, decisions/blueprint#declared-types-must-match).
//!
//! Used by the stages after the check. The check has already reported values whose type was known
//! then.

use blueprint::{Expr, Type, Value};
use diag::{Diagnostics, Span};
use dialect::codes as document;
use expr::codes as language;

use super::types::{fits_declared, with_article};

/// The mark of a missing value whose error is already reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported;

/// Converts a named value to its declared type: text is parsed to scalars, an integer may stand for
/// a float. `none` and Unknown pass. A value that does not fit is reported at the expression.
pub fn declared(
    value: Value,
    ty: &Type,
    expr: &Expr,
    found: &mut Diagnostics,
) -> Result<Value, Reported> {
    fitted(value, ty, expr.span, true, found)
}

/// Converts an export, or an input of an included document, to its declared type. Only an integer
/// for a float is converted. `none` and Unknown pass. A value that does not fit is reported at the
/// expression.
pub fn exported(
    value: Value,
    ty: &Type,
    expr: &Expr,
    found: &mut Diagnostics,
) -> Result<Value, Reported> {
    fitted(value, ty, expr.span, false, found)
}

fn fitted(
    value: Value,
    ty: &Type,
    span: Span,
    parse: bool,
    found: &mut Diagnostics,
) -> Result<Value, Reported> {
    let (bare, secret) = value.split_secret();
    if ty.is_open() || bare.is_null() || bare.is_unknown() {
        return Ok(value);
    }
    if let Value::Function(_) = bare {
        found.push(super::types::function_as_value_at(span));
        return Err(Reported);
    }
    let scalar = |ty: &Type| matches!(ty, Type::Bool | Type::Int | Type::Float);
    if let (Value::Text(text), true) = (bare, parse && ty.alternatives().iter().all(scalar)) {
        if let Some(parsed) = expr::parse_as(text.trim(), ty) {
            return Ok(parsed.tainted(secret));
        }
        let what = if secret {
            "the text".to_owned()
        } else {
            format!("`{text}`")
        };
        found.push(
            document::UNPARSABLE_VALUE
                .new(format!("the text is no {ty}"))
                .label(
                    span,
                    format!("{what} does not read as {}", with_article(ty)),
                ),
        );
        return Err(Reported);
    }
    let of = Type::of(bare);
    if fits_declared(&of, ty) {
        return Ok(widened(&value, ty));
    }
    let diagnostic = language::TYPE_MISMATCH
        .new(format!("declared as {}", with_article(ty)))
        .label(span, format!("this is {}", with_article(&of)));
    found.push(match (&of, ty) {
        (Type::Text, Type::List(_) | Type::Map(_) | Type::Object(_)) => {
            diagnostic.help("decode the text: `jsondecode(..)`")
        }
        _ => diagnostic,
    });
    Err(Reported)
}

/// Converts integers to floats where only floats are declared.
fn widened(value: &Value, ty: &Type) -> Value {
    match (value, ty) {
        (Value::Int(number), Type::Float) => Value::Float(*number as f64),
        (Value::Secret(inner), _) => widened(inner, ty).secret(),
        (Value::List(items), Type::List(item)) if **item == Type::Float => {
            Value::list(items.iter().map(|value| widened(value, item)))
        }
        _ => value.clone(),
    }
}
