//! Which values are merged part by part, and what identifies the parts of a list.
//!
//! A value without forms has no schema: its maps are merged entry by entry, its lists are one value.

use kubernetes::FieldElement;
use kubernetes::schema::{ListForm, ValueForms};
use serde_json::Value as Json;

/// How a value is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Granularity {
    /// As a whole.
    Whole,
    /// Field by field.
    Fields,
    /// Item by item.
    Items,
}

/// How two values at the same place are merged. A null counts as absent, and so do two empty maps
/// or lists: a manager can hold them as a whole.
pub(super) fn granularity(
    one: Option<&Json>,
    other: Option<&Json>,
    forms: Option<&ValueForms>,
) -> Granularity {
    let one = one.filter(|value| !value.is_null());
    let other = other.filter(|value| !value.is_null());
    let is_empty = |value: Option<&Json>| match value {
        Some(Json::Object(fields)) => fields.is_empty(),
        Some(Json::Array(items)) => items.is_empty(),
        _ => true,
    };
    if is_empty(one) && is_empty(other) {
        return Granularity::Whole;
    }
    match (one.or(other), other.or(one)) {
        (Some(Json::Object(_)), Some(Json::Object(_))) if !is_atomic_map(forms) => {
            Granularity::Fields
        }
        (Some(Json::Array(one)), Some(Json::Array(other))) if is_granular_list(forms) => {
            let mut items = one.iter().chain(other);
            if items.all(|item| element(item, forms).is_some()) {
                Granularity::Items
            } else {
                Granularity::Whole
            }
        }
        _ => Granularity::Whole,
    }
}

/// Whether a map is one value.
pub(super) fn is_atomic_map(forms: Option<&ValueForms>) -> bool {
    forms.is_some_and(|forms| forms.is_atomic)
}

/// Whether the items of a list are told apart.
pub(super) fn is_granular_list(forms: Option<&ValueForms>) -> bool {
    let list = forms.and_then(|forms| forms.list.as_ref());
    matches!(list, Some(ListForm::Set | ListForm::Map(_)))
}

/// Whether the schema declares a field; other names are entries of a map.
pub(super) fn is_declared(name: &str, forms: Option<&ValueForms>) -> bool {
    forms.is_some_and(|forms| forms.declared.iter().any(|declared| **declared == *name))
}

/// What identifies an item of a list with these forms. `None` if the item has nothing that the
/// schema asks for: a key field, or a scalar in a set.
pub(super) fn element(item: &Json, forms: Option<&ValueForms>) -> Option<FieldElement> {
    let forms = forms?;
    match forms.list.as_ref()? {
        ListForm::Atomic => None,
        ListForm::Set => {
            let is_scalar = !(item.is_object() || item.is_array() || item.is_null());
            is_scalar.then(|| FieldElement::value(item))
        }
        ListForm::Map(names) => {
            let item = item.as_object()?;
            let default = |name: &str| forms.item()?.field(name)?.default.as_ref();
            let mut keys = Vec::new();
            for name in names {
                let value = item.get(&**name).or_else(|| default(name));
                keys.extend(value.map(|value| (name, value)));
            }
            (!keys.is_empty()).then(|| FieldElement::key(keys))
        }
    }
}

/// Whether two values are equal; numbers are compared by their amounts.
pub(super) fn equal(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Json::Array(one), Json::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| equal(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            let mut fields = one.iter();
            one.len() == other.len()
                && fields.all(|(name, one)| other.get(name).is_some_and(|other| equal(one, other)))
        }
        _ => one == other,
    }
}
