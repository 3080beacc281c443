//! Strategic merge patches, with their directives.
//!
//! | directive | place | meaning |
//! |---|---|---|
//! | `$patch: replace` | map, item of a list | the patch replaces the map, the list |
//! | `$patch: delete` | map, item of a list | the map becomes empty, the item goes |
//! | `$retainKeys` | map | other keys of the target go |
//! | `$deleteFromPrimitiveList/NAME` | beside a list | these values go from the list |
//! | `$setElementOrder/NAME` | beside a list | the order of the merged list |

use kubernetes::schema::{ListPatch, ValueForms};
use serde_json::{Map, Value as Json};

use super::failure::PatchFailure;

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_VALUES: &str = "$deleteFromPrimitiveList/";
const ORDER: &str = "$setElementOrder/";

type Fields = Map<String, Json>;

fn malformed(text: impl Into<String>) -> PatchFailure {
    PatchFailure::Malformed(text.into())
}

/// The target after the patch of a map.
pub(super) fn merge_map(
    mut target: Fields,
    patch: &Fields,
    forms: Option<&ValueForms>,
) -> Result<Fields, PatchFailure> {
    match patch.get(DIRECTIVE) {
        None => {}
        Some(directive) if directive == "replace" => {
            let mut patch = patch.clone();
            patch.shift_remove(DIRECTIVE);
            return Ok(patch);
        }
        Some(directive) if directive == "delete" => return Ok(Map::new()),
        Some(other) => return Err(malformed(format!("unknown patch type: {other}"))),
    }
    retain_keys(&mut target, patch)?;
    for (key, order) in patch {
        if let Some(name) = key.strip_prefix(ORDER) {
            let forms = forms.and_then(|forms| forms.field(name));
            merge_ordered(&mut target, name, order, patch.get(name), forms)?;
        }
    }
    for (key, value) in patch {
        if key == RETAIN_KEYS || key.starts_with(ORDER) {
            continue;
        }
        if let Some(name) = key.strip_prefix(DELETE_VALUES) {
            delete_values(&mut target, name, value)?;
            continue;
        }
        if patch.contains_key(&format!("{ORDER}{key}")) && value.is_array() {
            continue;
        }
        let forms = forms.and_then(|forms| forms.field(key));
        merge_field(&mut target, key, value, forms)?;
    }
    Ok(target)
}

fn merge_field(
    target: &mut Fields,
    key: &str,
    value: &Json,
    forms: Option<&ValueForms>,
) -> Result<(), PatchFailure> {
    let merged = match (target.get(key), value) {
        (_, Json::Null) => None,
        (Some(Json::Object(own)), Json::Object(patch)) => {
            Some(Json::Object(merge_map(own.clone(), patch, forms)?))
        }
        (Some(Json::Array(own)), Json::Array(patch)) => match forms.and_then(list_patch) {
            Some(by) => Some(Json::Array(merge_list(own, patch, by, forms)?)),
            None => plain(value),
        },
        _ => plain(value),
    };
    match merged {
        Some(merged) => {
            target.insert(key.to_owned(), merged);
        }
        None => {
            target.shift_remove(key);
        }
    }
    Ok(())
}

fn list_patch(forms: &ValueForms) -> Option<&ListPatch> {
    forms.patch.as_ref()
}

/// The value of a patch where the target has none: without nulls and what is only a directive.
fn plain(value: &Json) -> Option<Json> {
    match value {
        Json::Object(fields) if fields.contains_key(DIRECTIVE) => None,
        Json::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            let field = |(name, value): (&String, &Json)| Some((name.clone(), plain(value)?));
            Some(Json::Object(fields.filter_map(field).collect()))
        }
        Json::Array(items) => Some(Json::Array(items.iter().filter_map(plain).collect())),
        other => Some(other.clone()),
    }
}

/// Removes the keys of the target that the directive does not name. The directive must name all
/// keys of the patch.
fn retain_keys(target: &mut Fields, patch: &Fields) -> Result<(), PatchFailure> {
    let Some(names) = patch.get(RETAIN_KEYS) else {
        return Ok(());
    };
    let names = names
        .as_array()
        .ok_or_else(|| malformed("invalid patch format of retainKeys: it is no list"))?;
    let is_named = |key: &str| names.iter().any(|name| name == key);
    let is_plain = |key: &str, value: &Json| !value.is_null() && !key.starts_with('$');
    for (key, value) in patch {
        if is_plain(key, value) && !is_named(key) {
            return Err(malformed(format!(
                "invalid patch format of retainKeys: it does not name `{key}`"
            )));
        }
    }
    target.retain(|key, _| is_named(key));
    Ok(())
}

fn delete_values(target: &mut Fields, name: &str, values: &Json) -> Result<(), PatchFailure> {
    let values = values
        .as_array()
        .ok_or_else(|| malformed(format!("`{DELETE_VALUES}{name}` is no list")))?;
    if let Some(list) = target.get_mut(name).and_then(Json::as_array_mut) {
        list.retain(|item| !values.contains(item));
    }
    Ok(())
}

/// Merges a list whose order the patch sets.
fn merge_ordered(
    target: &mut Fields,
    name: &str,
    order: &Json,
    patch: Option<&Json>,
    forms: Option<&ValueForms>,
) -> Result<(), PatchFailure> {
    let no_list = |what: &str| malformed(format!("{what} is no list"));
    let list = |value: Option<&Json>, what: &str| match value {
        None => Ok(None),
        Some(Json::Array(items)) => Ok(Some(items.clone())),
        Some(_) => Err(no_list(what)),
    };
    let order = order
        .as_array()
        .ok_or_else(|| no_list(&format!("`{ORDER}{name}`")))?;
    let patch = patch.filter(|value| !value.is_null());
    let own = list(target.get(name).filter(|value| !value.is_null()), name)?;
    let patch = list(patch, name)?;
    let by = forms.and_then(list_patch);
    let key = key_of(by);
    let merged = match (&own, &patch) {
        (None, None) => return Ok(()),
        (Some(own), None) => own.clone(),
        (None, Some(patch)) => patch.iter().filter_map(plain).collect(),
        (Some(own), Some(patch)) => match by {
            Some(by) => merge_list(own, patch, by, forms)?,
            None => patch.clone(),
        },
    };
    let own = own.unwrap_or_default();
    target.insert(
        name.to_owned(),
        Json::Array(ordered(merged, order, &own, key)),
    );
    Ok(())
}

fn key_of(by: Option<&ListPatch>) -> Option<&str> {
    match by {
        Some(ListPatch::ByKey(key)) => Some(key),
        Some(ListPatch::ByValue) | None => None,
    }
}

/// The target list after the patch of a list that is merged.
fn merge_list(
    target: &[Json],
    patch: &[Json],
    by: &ListPatch,
    forms: Option<&ValueForms>,
) -> Result<Vec<Json>, PatchFailure> {
    let key = match by {
        ListPatch::ByKey(key) => &**key,
        ListPatch::ByValue => {
            let mut merged = target.to_vec();
            for value in patch {
                if !merged.contains(value) {
                    merged.push(value.clone());
                }
            }
            return Ok(ordered(merged, patch, target, None));
        }
    };
    let key_value = |item: &Json| {
        let value = item.get(key).cloned();
        let lacks = || {
            malformed(format!(
                "map: {item} does not contain declared merge key: {key}"
            ))
        };
        value.ok_or_else(lacks)
    };
    let mut merged = target.to_vec();
    let mut plain_items = Vec::new();
    let mut replaces = false;
    for item in patch {
        match item.get(DIRECTIVE) {
            None => plain_items.push(item.clone()),
            Some(directive) if directive == "delete" => {
                let value = key_value(item)?;
                merged.retain(|item| item.get(key) != Some(&value));
            }
            Some(directive) if directive == "replace" => replaces = true,
            Some(other) => return Err(malformed(format!("unknown patch type: {other}"))),
        }
    }
    if replaces {
        return Ok(plain_items);
    }
    let item_forms = forms.and_then(ValueForms::item);
    let target = merged.clone();
    for item in &plain_items {
        let value = key_value(item)?;
        let known = merged
            .iter_mut()
            .find(|known| known.get(key) == Some(&value));
        match (known, item) {
            (Some(Json::Object(known)), Json::Object(item)) => {
                *known = merge_map(std::mem::take(known), item, item_forms)?;
            }
            _ => merged.extend(plain(item)),
        }
    }
    Ok(ordered(merged, &plain_items, &target, Some(key)))
}

/// The items of a merged list: those of the patch in the order of the patch, the others before the
/// next item of the patch that they were before in the target.
fn ordered(merged: Vec<Json>, order: &[Json], target: &[Json], key: Option<&str>) -> Vec<Json> {
    let is_same = |one: &Json, other: &Json| match key {
        Some(key) => one.get(key).is_some() && one.get(key) == other.get(key),
        None => one == other,
    };
    let place = |list: &[Json], item: &Json| list.iter().position(|other| is_same(item, other));
    let (mut of_patch, mut others): (Vec<Json>, Vec<Json>) = merged
        .into_iter()
        .partition(|item| place(order, item).is_some());
    of_patch.sort_by_key(|item| place(order, item));
    others.sort_by_key(|item| place(target, item));
    let mut result = Vec::with_capacity(of_patch.len() + others.len());
    let mut others = others.into_iter().peekable();
    for item in of_patch {
        let before = place(target, &item);
        let is_before = |other: &Json| match (place(target, other), before) {
            (Some(other), Some(before)) => other < before,
            _ => false,
        };
        while let Some(other) = others.next_if(|other| is_before(other)) {
            result.push(other);
        }
        result.push(item);
    }
    result.extend(others);
    result
}
