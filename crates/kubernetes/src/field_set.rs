//! Sets of fields in the form `FieldsV1`: the fields of an object that a manager holds.
//!
//! Not here: who holds a set (`managed.rs`); the schema. So a field of a set without parts stands
//! for its whole value, also where the server lets other managers add entries to an empty map.

use std::collections::BTreeMap;

use blueprint::{FieldPath, Name, PathStep};
use serde_json::{Map, Value as Json};

/// A step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldElement {
    /// A field of an object, or an entry of a map.
    Field(Name),
    /// The item of a list with these values of its key fields: names in order, each with its value
    /// as JSON text.
    Key(Vec<(Name, Name)>),
    /// The item of a list that is this value, as JSON text.
    Value(Name),
    /// The item of a list at this position.
    Index(u64),
}

/// The error for data that is no set of fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldSetError {
    /// A set is not a map.
    #[error("a set of fields is a map")]
    NotMap,
    /// An element has an unknown form.
    #[error("`{0}` is no element of a set of fields")]
    UnknownElement(Name),
    /// An entry of `metadata.managedFields` lacks a part, or has one of the wrong kind.
    #[error("an entry of `metadata.managedFields` has no `{0}`")]
    EntryLacks(Name),
    /// The sets are in another format.
    #[error("`{0}` is no known format of a set of fields")]
    UnknownFormat(Name),
}

/// A set of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Whether the value itself is in the set: all of it if there are no parts, else only that it
    /// exists.
    is_member: bool,
    parts: BTreeMap<FieldElement, FieldSet>,
}

impl FieldElement {
    fn parse(text: &str) -> Option<FieldElement> {
        let (form, rest) = text.split_once(':')?;
        match form {
            "f" => Some(FieldElement::Field(rest.into())),
            "k" => {
                let keys: BTreeMap<String, Json> = serde_json::from_str(rest).ok()?;
                let pair = |(name, value): (String, Json)| (name.into(), value.to_string().into());
                Some(FieldElement::Key(keys.into_iter().map(pair).collect()))
            }
            "v" => {
                let value: Json = serde_json::from_str(rest).ok()?;
                Some(FieldElement::Value(value.to_string().into()))
            }
            "i" => rest.parse().ok().map(FieldElement::Index),
            _ => None,
        }
    }

    /// The item of a list with these values of its key fields.
    pub fn key<'v>(keys: impl IntoIterator<Item = (&'v Name, &'v Json)>) -> FieldElement {
        let keys = keys.into_iter();
        let mut keys: Vec<(Name, Name)> = keys
            .map(|(name, value)| (name.clone(), value.to_string().into()))
            .collect();
        keys.sort();
        FieldElement::Key(keys)
    }

    /// The item of a list that is this value.
    pub fn value(value: &Json) -> FieldElement {
        FieldElement::Value(value.to_string().into())
    }

    /// The element in a path as the server writes it, such as `.spec` or `[name="web"]`.
    pub fn in_path(&self) -> String {
        match self {
            FieldElement::Field(name) => format!(".{name}"),
            FieldElement::Key(keys) => {
                let pair = |(name, value): &(Name, Name)| format!("{name}={value}");
                let pairs: Vec<String> = keys.iter().map(pair).collect();
                format!("[{}]", pairs.join(","))
            }
            FieldElement::Value(value) => format!("[={value}]"),
            FieldElement::Index(index) => format!("[{index}]"),
        }
    }

    fn text(&self) -> String {
        match self {
            FieldElement::Field(name) => format!("f:{name}"),
            FieldElement::Key(keys) => {
                let pair =
                    |(name, value): &(Name, Name)| format!("{}:{value}", Json::from(&**name));
                let pairs: Vec<String> = keys.iter().map(pair).collect();
                format!("k:{{{}}}", pairs.join(","))
            }
            FieldElement::Value(value) => format!("v:{value}"),
            FieldElement::Index(index) => format!("i:{index}"),
        }
    }
}

impl FieldSet {
    /// Reads the form `FieldsV1`.
    ///
    /// # Errors
    /// If the data does not have this form.
    pub fn read(fields: &Json) -> Result<FieldSet, FieldSetError> {
        let mut set = FieldSet::default();
        for (key, inner) in fields.as_object().ok_or(FieldSetError::NotMap)? {
            if key == "." {
                set.is_member = true;
                continue;
            }
            let element = FieldElement::parse(key)
                .ok_or_else(|| FieldSetError::UnknownElement(key.as_str().into()))?;
            let mut part = FieldSet::read(inner)?;
            part.is_member |= part.parts.is_empty();
            set.parts.insert(element, part);
        }
        Ok(set)
    }

    /// Writes the form `FieldsV1`.
    pub fn to_json(&self) -> Json {
        let mut fields = Map::new();
        if self.is_member && !self.parts.is_empty() {
            fields.insert(".".to_owned(), Json::Object(Map::new()));
        }
        for (element, part) in &self.parts {
            fields.insert(element.text(), part.to_json());
        }
        Json::Object(fields)
    }

    /// The set of only the value itself.
    pub fn member() -> FieldSet {
        FieldSet {
            is_member: true,
            parts: BTreeMap::new(),
        }
    }

    /// Whether the value itself is in the set.
    pub fn is_member(&self) -> bool {
        self.is_member
    }

    /// Puts the value itself into the set.
    pub fn mark(&mut self) {
        self.is_member = true;
    }

    /// The fields of a part of the value. `None` if the set has none of them.
    pub fn part(&self, element: &FieldElement) -> Option<&FieldSet> {
        self.parts.get(element)
    }

    /// The parts of the value of which fields are in the set.
    pub fn parts(&self) -> impl Iterator<Item = (&FieldElement, &FieldSet)> {
        self.parts.iter()
    }

    /// Adds fields of a part of the value.
    pub fn put(&mut self, element: FieldElement, fields: FieldSet) {
        if !fields.is_empty() {
            self.parts.entry(element).or_default().add(&fields);
        }
    }

    /// Whether no field is in the set.
    pub fn is_empty(&self) -> bool {
        !self.is_member && self.parts.is_empty()
    }

    /// The fields of either set.
    pub fn union(&self, other: &FieldSet) -> FieldSet {
        let mut union = self.clone();
        union.add(other);
        union
    }

    fn add(&mut self, other: &FieldSet) {
        self.is_member |= other.is_member;
        for (element, part) in &other.parts {
            self.parts.entry(element.clone()).or_default().add(part);
        }
    }

    /// The fields that the other set does not have.
    pub fn minus(&self, other: &FieldSet) -> FieldSet {
        let parts = self.parts.iter().filter_map(|(element, part)| {
            let rest = match other.parts.get(element) {
                Some(other) => part.minus(other),
                None => part.clone(),
            };
            (!rest.is_empty()).then(|| (element.clone(), rest))
        });
        FieldSet {
            is_member: self.is_member && !other.is_member,
            parts: parts.collect(),
        }
    }

    /// The fields that are in both sets.
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        let parts = self.parts.iter().filter_map(|(element, part)| {
            let both = part.intersection(other.parts.get(element)?);
            (!both.is_empty()).then(|| (element.clone(), both))
        });
        FieldSet {
            is_member: self.is_member && other.is_member,
            parts: parts.collect(),
        }
    }

    /// Whether the set has all fields of the other one.
    pub fn contains(&self, other: &FieldSet) -> bool {
        (self.is_member || !other.is_member)
            && other.parts.iter().all(|(element, part)| {
                self.parts
                    .get(element)
                    .is_some_and(|own| own.contains(part))
            })
    }

    /// Whether the field at a path of an object is in the set, or a part of it, or a value that
    /// contains it as a whole.
    pub fn holds(&self, object: &Json, path: &FieldPath) -> bool {
        self.holds_steps(Some(object), &path.0)
    }

    fn holds_steps(&self, value: Option<&Json>, steps: &[PathStep]) -> bool {
        let Some((step, rest)) = steps.split_first() else {
            return !self.is_empty();
        };
        if self.parts.is_empty() {
            return self.is_member;
        }
        let part = match step {
            _ if step.is_every() => {
                return self.parts.values().any(|part| part.holds_steps(None, rest));
            }
            PathStep::Field(name) | PathStep::Key(name) => self
                .parts
                .get(&FieldElement::Field(name.clone()))
                .map(|part| (part, value.and_then(|value| value.get(&**name)))),
            PathStep::Index(index) => {
                let position = usize::try_from(*index).unwrap_or(usize::MAX);
                let item = value.and_then(|value| value.get(position));
                self.item(&self.item_forms(), *index, item)
                    .map(|(part, _)| (part, item))
            }
        };
        part.is_some_and(|(part, value)| part.holds_steps(value, rest))
    }

    /// The part for an item of a list, with the names of the fields that identify the item.
    /// `forms` is what [`FieldSet::item_forms`] returns.
    fn item<'f>(
        &self,
        forms: &'f ItemForms,
        index: u64,
        item: Option<&Json>,
    ) -> Option<(&FieldSet, &'f [Name])> {
        let by_key = |names: &'f Vec<Name>| {
            let pair = |name: &Name| Some((name.clone(), item?.get(&**name)?.to_string().into()));
            let keys: Option<Vec<(Name, Name)>> = names.iter().map(pair).collect();
            let part = self.parts.get(&FieldElement::Key(keys?))?;
            Some((part, names.as_slice()))
        };
        if let Some(found) = forms.keys.iter().find_map(by_key) {
            return Some(found);
        }
        let by_value = || {
            let value = item.filter(|_| forms.has_values)?.to_string();
            self.parts.get(&FieldElement::Value(value.into()))
        };
        let part = by_value().or_else(|| self.parts.get(&FieldElement::Index(index)))?;
        Some((part, &[]))
    }

    /// How the set identifies the items of the list here.
    fn item_forms(&self) -> ItemForms {
        let mut forms = ItemForms::default();
        for element in self.parts.keys() {
            let keys = match element {
                FieldElement::Key(keys) => keys,
                FieldElement::Value(_) => {
                    forms.has_values = true;
                    continue;
                }
                _ => continue,
            };
            let is_known = |group: &Vec<Name>| group.iter().eq(keys.iter().map(|(name, _)| name));
            if !forms.keys.iter().any(is_known) {
                forms
                    .keys
                    .push(keys.iter().map(|(name, _)| name.clone()).collect());
            }
        }
        forms
    }
}

/// How a set identifies the items of a list.
#[derive(Default)]
struct ItemForms {
    /// The names of the fields of its keys: usually one group of names.
    keys: Vec<Vec<Name>>,
    /// Whether it has items by their values.
    has_values: bool,
}

/// The object with only the fields of a set, in the order of the object. An item of a list that is
/// identified by fields keeps these too. `apiVersion`, `kind` and the name are in no set of a
/// manager.
///
/// The result is an empty map if the object has none of the fields.
pub fn owned(object: &Json, set: &FieldSet) -> Json {
    kept(object, set, &[]).unwrap_or_else(|| Json::Object(Map::new()))
}

fn kept(value: &Json, set: &FieldSet, keys: &[Name]) -> Option<Json> {
    if set.parts.is_empty() {
        return set.is_member.then(|| value.clone());
    }
    let (result, is_empty) = match value {
        Json::Object(fields) => {
            let mut found = false;
            let mut field = |(name, value): (&String, &Json)| {
                let name_here: Name = name.as_str().into();
                let is_key = keys.contains(&name_here);
                let part = set.parts.get(&FieldElement::Field(name_here));
                let of_set = part.and_then(|part| kept(value, part, &[]));
                found |= of_set.is_some();
                let value = of_set.or_else(|| is_key.then(|| value.clone()))?;
                Some((name.clone(), value))
            };
            let fields: Map<String, Json> = fields.iter().filter_map(&mut field).collect();
            (Json::Object(fields), !found)
        }
        Json::Array(items) => {
            let forms = set.item_forms();
            let items: Vec<Json> = (0_u64..)
                .zip(items)
                .filter_map(|(index, item)| {
                    let (part, keys) = set.item(&forms, index, Some(item))?;
                    kept(item, part, keys)
                })
                .collect();
            let is_empty = items.is_empty();
            (Json::Array(items), is_empty)
        }
        scalar => return set.is_member.then(|| scalar.clone()),
    };
    (set.is_member || !is_empty).then_some(result)
}

/// The object without the fields of a set. A map or list that loses its last part goes too.
pub fn without(object: &Json, set: &FieldSet) -> Json {
    rest(object, set).unwrap_or_else(|| Json::Object(Map::new()))
}

fn rest(value: &Json, set: &FieldSet) -> Option<Json> {
    if set.parts.is_empty() {
        return (!set.is_member).then(|| value.clone());
    }
    match value {
        Json::Object(fields) => {
            let field = |(name, value): (&String, &Json)| {
                let part = set.parts.get(&FieldElement::Field(name.as_str().into()));
                let value = match part {
                    Some(part) => rest(value, part)?,
                    None => value.clone(),
                };
                Some((name.clone(), value))
            };
            let left: Map<String, Json> = fields.iter().filter_map(field).collect();
            (!left.is_empty() || fields.is_empty() && !set.is_member).then_some(Json::Object(left))
        }
        Json::Array(items) => {
            let forms = set.item_forms();
            let left: Vec<Json> = (0_u64..)
                .zip(items)
                .filter_map(|(index, item)| match set.item(&forms, index, Some(item)) {
                    Some((part, _)) => rest(item, part),
                    None => Some(item.clone()),
                })
                .collect();
            (!left.is_empty() || items.is_empty() && !set.is_member).then_some(Json::Array(left))
        }
        scalar => (!set.is_member).then(|| scalar.clone()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn set(fields: &Json) -> FieldSet {
        FieldSet::read(fields).unwrap()
    }

    fn deployment() -> Json {
        json!({
            "metadata": {"name": "web", "labels": {"app": "web", "tier": "front"}, "finalizers": ["a", "b"]},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
                "containers": [
                    {"name": "web", "image": "web:1", "ports": [{"containerPort": 80, "protocol": "TCP"}]},
                    {"name": "sidecar", "image": "proxy:1"}],
                "args": ["x", "y"]}
        })
    }

    fn fields() -> Json {
        json!({
            "f:metadata": {"f:labels": {"f:app": {}}, "f:finalizers": {"v:\"b\"": {}}},
            "f:spec": {
                "f:selector": {},
                "f:containers": {
                    "k:{\"name\":\"web\"}": {".": {}, "f:name": {}, "f:ports": {
                        "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}}},
                    "k:{\"name\":\"sidecar\"}": {"f:image": {}},
                    "k:{\"name\":\"gone\"}": {"f:image": {}}},
                "f:args": {"i:1": {}}}
        })
    }

    #[test]
    fn sets_read_back() {
        assert_eq!(set(&fields()).to_json(), fields());
        assert_eq!(
            FieldSet::read(&json!({"x:a": {}})),
            Err(FieldSetError::UnknownElement("x:a".into()))
        );
        assert_eq!(
            FieldSet::read(&json!({"f:a": 1})),
            Err(FieldSetError::NotMap)
        );
        // The order of the names of a key decides nothing.
        assert_eq!(
            set(&json!({"k:{\"b\":1,\"a\":\"x\"}": {}})),
            set(&json!({"k:{\"a\":\"x\",\"b\":1}": {}}))
        );
    }

    #[test]
    fn only_the_fields_of_a_set_are_kept() {
        assert_eq!(
            owned(&deployment(), &set(&fields())),
            json!({
                "metadata": {"labels": {"app": "web"}, "finalizers": ["b"]},
                "spec": {"selector": {"matchLabels": {"app": "web"}},
                    "containers": [
                        {"name": "web", "ports": [{"containerPort": 80, "protocol": "TCP"}]},
                        {"name": "sidecar", "image": "proxy:1"}],
                    "args": ["y"]}
            })
        );
        assert_eq!(owned(&deployment(), &FieldSet::default()), json!({}));
        let item =
            set(&json!({"f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {"f:command": {}}}}}));
        assert_eq!(owned(&deployment(), &item), json!({}));
    }

    #[test]
    fn the_fields_of_a_set_are_removed() {
        assert_eq!(
            without(&deployment(), &set(&fields())),
            json!({
                "metadata": {"name": "web", "labels": {"tier": "front"}, "finalizers": ["a"]},
                "spec": {"replicas": 3,
                    "containers": [
                        {"image": "web:1", "ports": [{"protocol": "TCP"}]},
                        {"name": "sidecar"}],
                    "args": ["x"]}
            })
        );
        assert_eq!(
            without(&json!({"a": {"b": 1}}), &set(&json!({"f:a": {"f:b": {}}}))),
            json!({})
        );
        assert_eq!(
            without(&json!({"a": {}}), &set(&json!({"f:a": {"f:b": {}}}))),
            json!({"a": {}})
        );
    }

    #[test]
    fn a_path_is_held_by_itself_a_part_or_the_whole() {
        let (object, set) = (deployment(), set(&fields()));
        for (path, held) in [
            ("metadata.labels.app", true),
            ("metadata.labels.tier", false),
            ("metadata.labels", true),
            ("spec.selector.matchLabels.app", true),
            ("spec.containers[0].ports[0].containerPort", true),
            ("spec.containers[0].image", false),
            ("spec.containers[1].image", true),
            ("spec.containers[7].image", false),
            ("spec.containers[*].image", true),
            ("spec.args[1]", true),
            ("spec.args[0]", false),
            ("metadata.finalizers[1]", true),
            ("metadata.finalizers[0]", false),
            ("spec.replicas", false),
        ] {
            assert_eq!(set.holds(&object, &FieldPath::parse(path)), held, "{path}");
        }
    }

    /// Objects with maps, plain lists and lists with keys.
    fn objects() -> impl Strategy<Value = Json> {
        let scalar = prop_oneof![(0..3_i32).prop_map(Json::from), "[ab]".prop_map(Json::from)];
        let value = scalar.prop_recursive(3, 24, 4, |inner| {
            let keyed = proptest::collection::btree_map("[a-c]", inner.clone(), 0..3);
            prop_oneof![
                proptest::collection::btree_map("[a-d]", inner.clone(), 0..4)
                    .prop_map(|fields| json!(fields)),
                proptest::collection::vec(inner, 0..3).prop_map(Json::from),
                keyed.prop_map(|items| items
                    .into_iter()
                    .map(|(name, value)| json!({"name": name, "value": value}))
                    .collect()),
            ]
        });
        proptest::collection::btree_map("[a-d]", value, 0..4).prop_map(|fields| json!(fields))
    }

    /// A set of fields of an object: those whose number is in the list.
    fn some(value: &Json, chosen: &[bool], at: &mut usize) -> FieldSet {
        let mut set = FieldSet::default();
        let mut part = |element, value: &Json| {
            let part = some(value, chosen, at);
            if !part.is_empty() {
                set.parts.insert(element, part);
            }
        };
        match value {
            Json::Object(fields) => {
                for (name, value) in fields {
                    part(FieldElement::Field(name.as_str().into()), value);
                }
            }
            Json::Array(items) => {
                for (index, item) in (0..).zip(items) {
                    let element = match item.get("name") {
                        Some(Json::String(name)) => {
                            FieldElement::Key(vec![("name".into(), format!("{name:?}").into())])
                        }
                        _ => FieldElement::Index(index),
                    };
                    part(element, item);
                }
            }
            _ => {}
        }
        *at += 1;
        set.is_member = chosen[*at % chosen.len()];
        set
    }

    fn part_of(object: &Json, chosen: &[bool]) -> FieldSet {
        FieldSet {
            is_member: false,
            ..some(object, chosen, &mut 0)
        }
    }

    proptest! {
        #[test]
        fn operations_on_sets_agree(object in objects(), one in proptest::collection::vec(any::<bool>(), 7),
            other in proptest::collection::vec(any::<bool>(), 5)) {
            let (one, other) = (part_of(&object, &one), part_of(&object, &other));
            let both = one.union(&other);
            prop_assert_eq!(&both, &other.union(&one));
            prop_assert!(both.contains(&one) && both.contains(&other));
            let left = both.minus(&one);
            prop_assert!(other.contains(&left));
            prop_assert_eq!(&left.union(&one), &both);
            prop_assert!(one.minus(&one).is_empty());
            // A field without parts is all of its value, so reading back may not add parts to it.
            prop_assert_eq!(&FieldSet::read(&both.to_json()).unwrap(), &both);
        }

        #[test]
        fn what_is_owned_stays_what_is_owned(object in objects(), chosen in proptest::collection::vec(any::<bool>(), 7)) {
            let set = part_of(&object, &chosen);
            let own = owned(&object, &set);
            let has_positions = set.to_json().to_string().contains("\"i:");
            if !has_positions {
                prop_assert_eq!(&owned(&own, &set), &own);
            }
            prop_assert_eq!(owned(&object, &set.union(&part_of(&object, &[true]))), object.clone());
            prop_assert_eq!(without(&object, &FieldSet::default()), object);
        }
    }
}
