//! Which fields differ between two versions of an object.

use blueprint::{IndexMap, Name};
use kubernetes::schema::ValueForms;
use kubernetes::{FieldElement, FieldSet};
use serde_json::{Map, Value as Json};

use super::granularity::{Granularity, element, equal, granularity};

/// The fields that differ. No field is in two of the sets.
#[derive(Clone, Debug, Default)]
pub(super) struct Comparison {
    /// The fields that the later version lacks.
    pub(super) removed: FieldSet,
    /// The fields with another value.
    pub(super) modified: FieldSet,
    /// The fields that only the later version has.
    pub(super) added: FieldSet,
}

impl Comparison {
    /// Compares two versions of an object. A field that built-in objects always have counts where
    /// it is missing.
    pub(super) fn of(before: &Json, after: &Json, forms: &ValueForms) -> Comparison {
        compare(Some(before), Some(after), Some(forms))
    }

    /// The fields to which the later version gives a value.
    pub(super) fn written(&self) -> FieldSet {
        self.modified.union(&self.added)
    }

    fn put(&mut self, element: &FieldElement, part: Comparison) {
        let sets = [
            (&mut self.removed, part.removed),
            (&mut self.modified, part.modified),
            (&mut self.added, part.added),
        ];
        for (set, part) in sets {
            if !part.is_empty() {
                set.put(element.clone(), part);
            }
        }
    }
}

fn compare(before: Option<&Json>, after: Option<&Json>, forms: Option<&ValueForms>) -> Comparison {
    let mut found = Comparison::default();
    if let (Some(before), Some(after)) = (before, after)
        && before == after
    {
        return found;
    }
    match granularity(before, after, forms) {
        Granularity::Whole => {
            match (before, after) {
                (None, Some(_)) => found.added.mark(),
                (Some(_), None) => found.removed.mark(),
                (Some(before), Some(after)) if !equal(before, after) => found.modified.mark(),
                _ => {}
            }
            return found;
        }
        Granularity::Fields => compare_fields(before, after, forms, &mut found),
        Granularity::Items => compare_items(before, after, forms, &mut found),
    }
    if before.is_none() {
        found.added.mark();
    } else if after.is_none() {
        found.removed.mark();
    }
    found
}

fn compare_fields(
    before: Option<&Json>,
    after: Option<&Json>,
    forms: Option<&ValueForms>,
    found: &mut Comparison,
) {
    let always = forms.map_or(&[][..], |forms| &forms.always_there);
    let before = Side::of(before, always);
    let after = Side::of(after, always);
    let mut compared = |name: &str| {
        let forms = forms.and_then(|forms| forms.field(name));
        let part = compare(before.get(name), after.get(name), forms);
        found.put(&FieldElement::Field(name.into()), part);
    };
    after.names().for_each(&mut compared);
    for name in before.names().filter(|name| !after.has(name)) {
        compared(name);
    }
    for (name, _) in always {
        if !before.has(name) && !after.has(name) {
            compared(name);
        }
    }
}

/// A map of one version, with the fields that are always there.
struct Side<'v> {
    fields: Option<&'v Map<String, Json>>,
    always: &'v [(Name, Json)],
}

impl<'v> Side<'v> {
    fn of(value: Option<&'v Json>, always: &'v [(Name, Json)]) -> Side<'v> {
        Side {
            fields: value.and_then(Json::as_object),
            always,
        }
    }

    fn names(&self) -> impl Iterator<Item = &'v str> {
        let names = self.fields.into_iter().flat_map(Map::keys);
        names.map(String::as_str)
    }

    fn has(&self, name: &str) -> bool {
        self.fields.is_some_and(|fields| fields.contains_key(name))
    }

    fn get(&self, name: &str) -> Option<&'v Json> {
        let value = self.fields?.get(name);
        value.or_else(|| {
            let mut always = self.always.iter();
            let (_, value) = always.find(|(always, _)| **always == *name)?;
            Some(value)
        })
    }
}

/// Compares lists item by item. Several items with the same element are one value.
fn compare_items(
    before: Option<&Json>,
    after: Option<&Json>,
    forms: Option<&ValueForms>,
    found: &mut Comparison,
) {
    let item_forms = forms.and_then(ValueForms::item);
    let before = grouped(before, forms);
    let after = grouped(after, forms);
    let none = Vec::new();
    let elements = after.keys();
    let gone = before
        .keys()
        .filter(|element| !after.contains_key(*element));
    for element in elements.chain(gone) {
        let before = before.get(element).unwrap_or(&none);
        let after = after.get(element).unwrap_or(&none);
        let mut part = Comparison::default();
        match (before.as_slice(), after.as_slice()) {
            ([] | [_], [] | [_]) => {
                part = compare(before.first().copied(), after.first().copied(), item_forms);
            }
            ([] | [_], _) => {
                if let Some(before) = before.first() {
                    part = compare(Some(before), None, item_forms);
                }
                part.added.mark();
            }
            (_, [] | [_]) => {
                if let Some(after) = after.first() {
                    part = compare(None, Some(after), item_forms);
                }
                part.removed.mark();
            }
            (before, after) => {
                let mut pairs = before.iter().zip(after);
                if before.len() != after.len() || !pairs.all(|(one, other)| equal(one, other)) {
                    part.modified.mark();
                }
            }
        }
        found.put(element, part);
    }
}

/// The items of a list by their elements.
fn grouped<'v>(
    list: Option<&'v Json>,
    forms: Option<&ValueForms>,
) -> IndexMap<FieldElement, Vec<&'v Json>> {
    let mut groups: IndexMap<FieldElement, Vec<&Json>> = IndexMap::default();
    for item in list.and_then(Json::as_array).into_iter().flatten() {
        if let Some(element) = element(item, forms) {
            groups.entry(element).or_default().push(item);
        }
    }
    groups
}
