//! Merges a configuration into a live object, and removes fields from an object.

use std::collections::{BTreeMap, BTreeSet};

use kubernetes::schema::ValueForms;
use kubernetes::{FieldElement, FieldSet};
use serde_json::{Map, Value as Json};

use super::granularity::{
    Granularity, element, granularity, is_atomic_map, is_declared, is_granular_list,
};

/// The live value with the fields of the configuration. `None` if nothing is left.
pub(super) fn merged(
    live: Option<&Json>,
    applied: Option<&Json>,
    forms: Option<&ValueForms>,
) -> Option<Json> {
    match granularity(live, applied, forms) {
        Granularity::Whole => applied.or(live).cloned(),
        Granularity::Fields => {
            let live = live.and_then(Json::as_object);
            let applied = applied.and_then(Json::as_object);
            let names = live.into_iter().flat_map(Map::keys);
            let has = |name: &&String| live.is_some_and(|live| live.contains_key(*name));
            let new = applied.into_iter().flat_map(Map::keys);
            let field = |name: &String| {
                let forms = forms.and_then(|forms| forms.field(name));
                let live = live.and_then(|live| live.get(name));
                let applied = applied.and_then(|applied| applied.get(name));
                Some((name.clone(), merged(live, applied, forms)?))
            };
            let fields: Map<String, Json> = names
                .chain(new.filter(|name| !has(name)))
                .filter_map(field)
                .collect();
            (!fields.is_empty()).then_some(Json::Object(fields))
        }
        Granularity::Items => {
            let items = ListMerge::of(live, applied, forms).run();
            (!items.is_empty()).then_some(Json::Array(items))
        }
    }
}

/// The merge of two lists. The items of the configuration keep their order among each other; the
/// items that only the live list has keep their place between their neighbours where that is
/// possible.
struct ListMerge<'v> {
    live: Vec<(FieldElement, &'v Json)>,
    applied: Vec<(FieldElement, &'v Json)>,
    /// The live item of each element; `None` if several items have it.
    live_by_element: BTreeMap<FieldElement, Option<&'v Json>>,
    applied_elements: BTreeSet<FieldElement>,
    forms: Option<&'v ValueForms>,
}

impl<'v> ListMerge<'v> {
    fn of(
        live: Option<&'v Json>,
        applied: Option<&'v Json>,
        forms: Option<&'v ValueForms>,
    ) -> ListMerge<'v> {
        let items = |list: Option<&'v Json>| -> Vec<(FieldElement, &'v Json)> {
            let items = list.and_then(Json::as_array).into_iter().flatten();
            items
                .filter_map(|item| Some((element(item, forms)?, item)))
                .collect()
        };
        let (live, applied) = (items(live), items(applied));
        let mut live_by_element = BTreeMap::new();
        for (element, item) in &live {
            live_by_element
                .entry(element.clone())
                .and_modify(|known| *known = None)
                .or_insert(Some(*item));
        }
        let applied_elements = applied.iter().map(|(element, _)| element.clone()).collect();
        ListMerge {
            live,
            applied,
            live_by_element,
            applied_elements,
            forms,
        }
    }

    fn run(&self) -> Vec<Json> {
        let mut out = Vec::new();
        let elements = self.applied.iter().map(|(element, _)| element);
        let mut shared = elements.filter(|element| self.live_by_element.contains_key(*element));
        // The next item of both lists in the order of the configuration.
        let mut next = shared.next();
        let mut done: BTreeSet<&FieldElement> = BTreeSet::new();
        let (mut at_live, mut at_applied) = (0, 0);
        loop {
            let live = self.live.get(at_live);
            let applied = self.applied.get(at_applied);
            if let (Some((live, _)), Some((applied, item))) = (live, applied) {
                if live == applied {
                    done.insert(applied);
                    out.extend(self.item(applied, item));
                    (at_live, at_applied) = (at_live + 1, at_applied + 1);
                    next = shared.next();
                    continue;
                }
                let is_applied = self.applied_elements.contains(live);
                if is_applied && next.is_some_and(|next| next != live) {
                    at_live += 1;
                    continue;
                }
            }
            if let Some((element, item)) = live {
                if !self.applied_elements.contains(element) {
                    out.push((*item).clone());
                    at_live += 1;
                    continue;
                }
                if done.contains(element) {
                    at_live += 1;
                }
            }
            let Some((element, item)) = applied else {
                if live.is_none() {
                    return out;
                }
                continue;
            };
            done.insert(element);
            out.extend(self.item(element, item));
            at_applied += 1;
            if next == Some(element) {
                next = shared.next();
            }
        }
    }

    fn item(&self, element: &FieldElement, applied: &Json) -> Option<Json> {
        let live = self.live_by_element.get(element).copied().flatten();
        let forms = self.forms.and_then(ValueForms::item);
        merged(live, Some(applied), forms)
    }
}

/// The fields of a value: all of them, as a manager holds them that applies this value.
pub(super) fn fields_of(value: &Json, forms: Option<&ValueForms>) -> FieldSet {
    let mut set = FieldSet::default();
    match value {
        Json::Null => {}
        Json::Object(fields) if !is_atomic_map(forms) => {
            for (name, value) in fields {
                let mut part = fields_of(value, forms.and_then(|forms| forms.field(name)));
                let is_empty = value.as_object().is_some_and(Map::is_empty);
                if value.is_null() || is_empty || !is_declared(name, forms) {
                    part.mark();
                }
                set.put(FieldElement::Field(name.as_str().into()), part);
            }
        }
        Json::Array(items) if is_granular_list(forms) => {
            let elements = items.iter().map(|item| element(item, forms));
            let Some(elements) = elements.collect::<Option<Vec<FieldElement>>>() else {
                return FieldSet::member();
            };
            let mut counts: BTreeMap<&FieldElement, usize> = BTreeMap::new();
            for element in &elements {
                *counts.entry(element).or_default() += 1;
            }
            let item_forms = forms.and_then(ValueForms::item);
            for (element, item) in elements.iter().zip(items) {
                let mut part = match counts.get(element) {
                    Some(1) => fields_of(item, item_forms),
                    _ => FieldSet::default(),
                };
                part.mark();
                set.put(element.clone(), part);
            }
        }
        _ => set.mark(),
    }
    set
}

/// The set with the declared fields of which it has parts.
pub(super) fn with_declared(set: &FieldSet, forms: Option<&ValueForms>) -> FieldSet {
    let mut result = FieldSet::default();
    if set.is_member() {
        result.mark();
    }
    for (element, part) in set.parts() {
        let part = match element {
            FieldElement::Field(name) => {
                let mut result = with_declared(part, forms.and_then(|forms| forms.field(name)));
                if part.parts().next().is_some() && is_declared(name, forms) {
                    result.mark();
                }
                result
            }
            FieldElement::Key(_) => with_declared(part, forms.and_then(ValueForms::item)),
            FieldElement::Value(_) | FieldElement::Index(_) => part.clone(),
        };
        result.put(element.clone(), part);
    }
    result
}

/// The value without the fields of a set. A map or list of which nothing is left becomes null, so
/// that it still counts as a field of its own.
pub(super) fn without_fields(value: &Json, set: &FieldSet, forms: Option<&ValueForms>) -> Json {
    // A part of which only parts are in the set stays without them.
    let rest = |value: &Json, part: Option<&FieldSet>, forms| match part {
        None => Some(value.clone()),
        Some(part) if part.is_member() => None,
        Some(part) => Some(without_fields(value, part, forms)),
    };
    match value {
        Json::Object(fields) if !fields.is_empty() && !is_atomic_map(forms) => {
            let field = |(name, value): (&String, &Json)| {
                let part = set.part(&FieldElement::Field(name.as_str().into()));
                let forms = forms.and_then(|forms| forms.field(name));
                Some((name.clone(), rest(value, part, forms)?))
            };
            let fields: Map<String, Json> = fields.iter().filter_map(field).collect();
            if fields.is_empty() {
                Json::Null
            } else {
                Json::Object(fields)
            }
        }
        Json::Array(items) if !items.is_empty() && is_granular_list(forms) => {
            let item_forms = forms.and_then(ValueForms::item);
            let item = |item: &Json| {
                let element = element(item, forms);
                let part = element.and_then(|element| set.part(&element));
                rest(item, part, item_forms).filter(|item| !item.is_null())
            };
            let items: Vec<Json> = items.iter().filter_map(item).collect();
            if items.is_empty() {
                Json::Null
            } else {
                Json::Array(items)
            }
        }
        whole => whole.clone(),
    }
}

/// Removes the fields of a value that are null, at any depth of its maps.
pub(super) fn drop_nulls(value: &mut Json) {
    match value {
        Json::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Json::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
