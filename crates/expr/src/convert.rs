//! The blueprint dialect's conversions (reference 1.5).

use blueprint::{Type, Value};

/// Where a value comes from: a literal of the document converts less than the result of a substitution (rulings S44, S46).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Written out in the document.
    Literal,
    /// The result of a substitution.
    Substitution,
}

/// A value does not fit a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// It is of another kind (`type-mismatch`).
    Kind,
    /// Bytes that are not text where text is wanted (`not-utf8`).
    NotUtf8,
    /// It fits no alternative (`no-union-branch`).
    NoBranch,
}

/// The value as one of that type, by the table of section 1.5. Unknown values and secret marks pass through.
pub fn convert(value: &Value, ty: &Type, source: Source) -> Result<Value, Mismatch> {
    let _ = (ty, source);
    Ok(value.clone())
}

/// Whether a value of type `from` could be converted to `to`: false only if no value of `from` could.
pub fn convert_type(from: &Type, to: &Type, source: Source) -> bool {
    let _ = (from, to, source);
    true
}

/// The value that a text stands for in a declared scalar type (rulings S48, S51); `None` if it does not parse.
pub fn parse_as(text: &str, ty: &Type) -> Option<Value> {
    let _ = (text, ty);
    None
}

/// The text of a scalar in an interpolation (rulings S45 to S47): `none` gives "", a secret stays secret, an unknown an unknown string.
/// `None` for arrays, objects and functions; an error for bytes that are not text.
pub fn to_text(value: &Value) -> Option<Result<Value, Mismatch>> {
    let _ = value;
    None
}
