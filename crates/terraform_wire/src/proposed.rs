//! The value that a host proposes to a provider at plan: the configuration, completed with the
//! known values of the prior object. Terraform calls it `ProposedNewState`.
//!
//! * An attribute that the document sets has the value of the document.
//! * A computed attribute that the document leaves out keeps its prior value.
//! * Lists are matched by index, maps by key, sets by `came_from`. The document determines the
//!   number of objects.
//!
//! Values must be in the shape of the schema ([`conform`](crate::conform)).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use blueprint::{IndexMap, Map, Name, Value};

use crate::{
    AttributeStep, Block, BlockType, NestedObject, Nesting, Path, SchemaAttribute, ValueType, same,
    sets,
};

/// Returns the proposed value of a resource. Null if `config` is null, which is a destroy; `prior`
/// is null for a create.
pub fn proposed(schema: &Block, prior: &Value, config: &Value) -> Value {
    if config.is_null() {
        Value::Null
    } else {
        block(schema, prior, config)
    }
}

/// Returns the known part of a data source before it is read: its configuration, with all computed
/// attributes unknown.
pub fn unread_data_source(schema: &Block, config: &Value) -> Value {
    if config.is_null() {
        Value::Null
    } else {
        block(schema, &schema.ty().unknown(), config)
    }
}

/// The objects at one place: blocks, or objects of a nested attribute.
enum NestedKind<'a> {
    Block(&'a Block),
    Object(&'a NestedObject),
}

impl NestedKind<'_> {
    fn ty(&self) -> ValueType {
        match self {
            NestedKind::Block(block) => block.ty(),
            NestedKind::Object(object) => object.ty(),
        }
    }

    fn propose(&self, prior: &Value, config: &Value) -> Value {
        match self {
            NestedKind::Block(schema) => block(schema, prior, config),
            // An unknown object has unknown attributes, some of which may be replaced by their
            // parts.
            NestedKind::Object(_) if config.is_null() => config.clone(),
            NestedKind::Object(object) => {
                Value::Map(Arc::new(attributes(&object.attributes, prior, config)))
                    .tainted(config.split_secret().1)
            }
        }
    }

    fn attributes(&self) -> &IndexMap<Name, SchemaAttribute> {
        match self {
            NestedKind::Block(block) => &block.attributes,
            NestedKind::Object(object) => &object.attributes,
        }
    }

    fn attribute_at(&self, path: &Path) -> Option<&SchemaAttribute> {
        match self {
            NestedKind::Block(block) => block.attribute_at(path),
            NestedKind::Object(object) => attribute_in(object, path),
        }
    }
}

fn attribute_in<'a>(object: &'a NestedObject, path: &Path) -> Option<&'a SchemaAttribute> {
    if !matches!(path.0.last(), Some(AttributeStep::Attribute(_))) {
        return None;
    }
    let mut found: Option<&SchemaAttribute> = None;
    for step in &path.0 {
        if let AttributeStep::Attribute(name) = step {
            let attributes = found
                .map_or(Some(object), SchemaAttribute::nested)
                .map(|object| &object.attributes)?;
            found = Some(attributes.get(name)?);
        }
    }
    found
}

fn block(schema: &Block, prior: &Value, config: &Value) -> Value {
    if config.is_null() && prior.is_null() {
        return prior.clone();
    }
    let empty;
    let prior = if prior.is_null() {
        empty = schema.empty();
        &empty
    } else {
        prior
    };
    if config.is_null() || config.is_unknown() {
        return prior.clone();
    }
    let mut map = attributes(&schema.attributes, prior, config);
    for (name, inner) in &schema.blocks {
        map.insert(
            name.clone(),
            blocks(
                inner,
                &part(prior, name, &inner.ty()),
                &part(config, name, &inner.ty()),
            ),
        );
    }
    Value::Map(Arc::new(map)).tainted(config.split_secret().1)
}

/// The attribute or block of an object. It is null in a null object, and unknown in an unknown one.
fn part(object: &Value, name: &Name, ty: &ValueType) -> Value {
    match object.unmarked() {
        Value::Unknown(_) => ty.unknown(),
        Value::Map(entries) => entries.get(name).cloned().unwrap_or_default(),
        _ => Value::Null,
    }
}

fn attributes(schemas: &IndexMap<Name, SchemaAttribute>, prior: &Value, config: &Value) -> Map {
    let mut map = Map::with_capacity(schemas.len());
    for (name, attribute) in schemas {
        let ty = attribute.ty();
        let (prior, config) = (part(prior, name, &ty), part(config, name, &ty));
        let value = match attribute.nested() {
            _ if attribute.computed && config.is_null() && !was_removed(attribute, &prior) => prior,
            Some(object) if !config.is_null() && !config.is_unknown() => {
                places(object.nesting, &NestedKind::Object(object), &prior, &config)
            }
            _ => config,
        };
        map.insert(name.clone(), value);
    }
    map
}

/// Whether an earlier document must have set an optional attribute: its prior value has a part that
/// providers cannot set.
fn was_removed(attribute: &SchemaAttribute, prior: &Value) -> bool {
    attribute.optional
        && attribute
            .nested()
            .is_some_and(|object| has_configured(object.nesting, object, prior))
}

fn has_configured(nesting: Nesting, object: &NestedObject, value: &Value) -> bool {
    let one = |part: &Value| {
        object
            .attributes
            .iter()
            .any(|(name, attribute)| match part.get(name) {
                None => false,
                Some(part) if part.is_null() => false,
                Some(_) if !attribute.computed => true,
                Some(part) => attribute
                    .nested()
                    .is_some_and(|inner| has_configured(inner.nesting, inner, part)),
            })
    };
    match (nesting, value.unmarked()) {
        (Nesting::Single | Nesting::Group, _) => one(value),
        (_, Value::List(items) | Value::Set(items)) => items.iter().any(one),
        (_, Value::Map(entries)) => entries.values().any(one),
        _ => false,
    }
}

fn blocks(schema: &BlockType, prior: &Value, config: &Value) -> Value {
    if config.is_unknown() || (schema.nesting == Nesting::Single && config.is_null()) {
        return config.clone();
    }
    places(
        schema.nesting,
        &NestedKind::Block(&schema.block),
        prior,
        config,
    )
}

fn places(nesting: Nesting, kind: &NestedKind<'_>, prior: &Value, config: &Value) -> Value {
    let (bare, secret) = config.split_secret();
    let value = match (nesting, bare) {
        (Nesting::Single | Nesting::Group, _) => return kind.propose(prior, config),
        (Nesting::List, Value::List(items)) => {
            let one = |(at, item): (usize, &Value)| match prior.unmarked() {
                Value::Unknown(_) => kind.propose(&kind.ty().unknown(), item),
                Value::List(priors) => priors
                    .get(at)
                    .map_or_else(|| item.clone(), |prior| kind.propose(prior, item)),
                _ => item.clone(),
            };
            Value::list(items.iter().enumerate().map(one))
        }
        (Nesting::Map, Value::Map(entries)) => Value::map(entries.iter().map(|(key, item)| {
            (
                key.clone(),
                prior
                    .get(key)
                    .map_or_else(|| item.clone(), |prior| kind.propose(prior, item)),
            )
        })),
        (Nesting::Set, Value::List(items) | Value::Set(items)) => {
            set(kind, prior.as_list().unwrap_or_default(), items)
        }
        _ => return config.clone(),
    };
    value.tainted(secret)
}

/// Returns the proposed elements of a set. Each takes the first unused prior element that can have
/// come from it.
fn set(kind: &NestedKind<'_>, prior: &[Value], config: &[Value]) -> Value {
    let ty = kind.ty();
    // Elements that differ in an attribute that no provider sets cannot match, so only elements
    // that agree in all of these attributes are compared.
    let mut unused: HashMap<String, VecDeque<&Value>> = HashMap::new();
    for element in sets::ordered(prior, &ty) {
        unused
            .entry(fixed_key(kind, element))
            .or_default()
            .push_back(element);
    }
    let mut values = Vec::with_capacity(config.len());
    for element in sets::ordered(config, &ty) {
        let candidates = unused.get_mut(&fixed_key(kind, element));
        let found = candidates.and_then(|candidates| {
            let at = candidates
                .iter()
                .position(|prior| came_from(kind, prior, element))?;
            candidates.remove(at)
        });
        values.push(kind.propose(found.unwrap_or(&Value::Null), element));
    }
    Value::Set(Arc::new(sets::distinct(values, &ty)))
}

/// Returns the key of an element, made from the attributes that only the document sets.
fn fixed_key(kind: &NestedKind<'_>, element: &Value) -> String {
    let fixed = kind
        .attributes()
        .iter()
        .filter(|(_, attribute)| !attribute.computed && attribute.nested().is_none());
    fixed.fold(String::new(), |key, (name, attribute)| {
        let ty = attribute.ty();
        key + &sets::key(&part(element, name, &ty), &ty) + ";"
    })
}

/// Whether a prior element can have come from an element of the configuration: it differs only in
/// computed attributes that the configuration leaves out.
fn came_from(kind: &NestedKind<'_>, prior: &Value, config: &Value) -> bool {
    fits(kind, &Path::default(), prior, Some(config))
}

fn fits(kind: &NestedKind<'_>, path: &Path, prior: &Value, config: Option<&Value>) -> bool {
    let Some(config) = config else { return false };
    if same(prior, config) {
        return true;
    }
    // Elements of sets cannot be matched, so inner sets are equal as a whole or not at all.
    if matches!(prior.unmarked(), Value::Set(_)) || matches!(config.unmarked(), Value::Set(_)) {
        return false;
    }
    if let Some(attribute) = kind.attribute_at(path)
        && attribute.nested().is_none()
    {
        return attribute.computed && config.is_null();
    }
    // Null has no parts to compare, and an unknown value has unknown parts.
    let unknown = config.is_unknown().then_some(config);
    match prior.unmarked() {
        Value::Map(entries) => entries.iter().all(|(name, part)| {
            let step = match kind.is_object_at(path) {
                true => AttributeStep::Attribute(name.clone()),
                false => AttributeStep::Key(name.clone()),
            };
            fits(
                kind,
                &path.join(step),
                part,
                unknown.or_else(|| config.get(name)),
            )
        }),
        Value::List(items) => items.iter().enumerate().all(|(at, part)| {
            let other = || match config.unmarked() {
                Value::List(items) => items.get(at),
                _ => None,
            };
            fits(kind, &path.index(at), part, unknown.or_else(other))
        }),
        _ => true,
    }
}

impl NestedKind<'_> {
    /// Whether the value at a path above all plain attributes is an object, and not a map of
    /// objects.
    fn is_object_at(&self, path: &Path) -> bool {
        let Some((AttributeStep::Attribute(_), _)) = path.0.split_last() else {
            return true;
        };
        if let Some(attribute) = self.attribute_at(path) {
            return attribute
                .nested()
                .is_none_or(|object| object.nesting != Nesting::Map);
        }
        let &NestedKind::Block(mut block) = self else {
            return true;
        };
        let mut nesting = Nesting::Single;
        for step in &path.0 {
            if let AttributeStep::Attribute(name) = step {
                let Some(inner) = block.blocks.get(name) else {
                    return true;
                };
                (block, nesting) = (&inner.block, inner.nesting);
            }
        }
        nesting != Nesting::Map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AttributeKind;

    fn plain(computed: bool) -> SchemaAttribute {
        let kind = AttributeKind::Plain(ValueType::String);
        SchemaAttribute {
            kind,
            optional: true,
            computed,
            ..SchemaAttribute::default()
        }
    }

    fn set_of_blocks() -> Block {
        let inner = [("name", plain(false)), ("id", plain(true))]
            .map(|(name, one)| (Name::from(name), one));
        let block = Block {
            attributes: inner.into_iter().collect(),
            ..Block::default()
        };
        let set = BlockType {
            nesting: Nesting::Set,
            block,
            min_items: 0,
            max_items: 0,
        };
        Block {
            blocks: [(Name::from("s"), set)].into_iter().collect(),
            ..Block::default()
        }
    }

    fn elements(items: &[(&str, Option<&str>)]) -> Value {
        let one = |(name, id): &(&str, Option<&str>)| {
            Value::map([
                ("name", Value::from(*name)),
                ("id", id.map_or(Value::Null, Value::from)),
            ])
        };
        Value::map([("s", Value::Set(Arc::new(items.iter().map(one).collect())))])
    }

    #[test]
    fn an_element_of_a_set_keeps_what_was_computed_for_it() {
        let prior = elements(&[("b", Some("2")), ("a", Some("1"))]);
        let config = elements(&[("a", None), ("c", None), ("b", None)]);
        let expected = elements(&[("a", Some("1")), ("b", Some("2")), ("c", None)]);
        assert!(same(
            &proposed(&set_of_blocks(), &prior, &config),
            &expected
        ));
    }

    #[test]
    fn an_element_that_sets_the_computed_part_itself_matches_only_that() {
        let prior = elements(&[("a", Some("1"))]);
        let config = elements(&[("a", Some("2"))]);
        assert!(same(&proposed(&set_of_blocks(), &prior, &config), &config));
    }

    #[test]
    fn nothing_is_proposed_for_a_destroy() {
        assert_eq!(
            proposed(&set_of_blocks(), &elements(&[]), &Value::Null),
            Value::Null
        );
    }

    #[test]
    fn everything_computed_of_an_unread_data_source_is_unknown() {
        let attributes =
            [("in", plain(false)), ("out", plain(true))].map(|(name, one)| (Name::from(name), one));
        let schema = Block {
            attributes: attributes.into_iter().collect(),
            ..Block::default()
        };
        let config = Value::map([("in", Value::from("x")), ("out", Value::Null)]);
        let value = unread_data_source(&schema, &config);
        assert_eq!(value.get("in"), Some(&Value::from("x")));
        assert!(value.get("out").is_some_and(Value::is_unknown));
    }
}
