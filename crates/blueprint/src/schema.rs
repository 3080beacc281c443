//! What the fields of a resource or data source may be.

use std::sync::Arc;

use crate::{IndexMap, Name, Type, Value};

/// The fields of something: of a resource type's spec, or of an object inside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// Field by name, in the order of the catalogue.
    pub fields: IndexMap<Name, Field>,
    /// Other fields may stand beside them and hold anything.
    pub open: bool,
}

/// One field: its kind, and everything that checks, diffs and plans need to know about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// What it holds.
    pub kind: Kind,
    /// Must be written.
    pub required: bool,
    /// Filled in by the provider; may not be written unless also `optional`.
    pub computed: bool,
    /// Both: the provider fills it in where the document does not.
    pub optional: bool,
    /// Null is a value of it.
    pub nullable: bool,
    /// Taken where nothing is written.
    pub default: Option<Value>,
    /// Taken instead where nothing is written and the field of that name beside it is.
    pub default_with: Option<Arc<(Name, Value)>>,
    /// Must not be shown.
    pub sensitive: bool,
    /// No two things may share its value at a time.
    pub unique: bool,
    /// A change of it, or of anything in it, replaces the thing.
    pub must_recreate: bool,
    /// A change of it is refused: neither can the thing be changed nor may it be replaced for it.
    pub immutable: bool,
    /// How far it is meant to be used.
    pub support_status: SupportStatus,
    /// What is written here is meant for another field beside it: an old name, or a short form.
    pub stands_for: Option<Arc<StandsFor>>,
    /// A computed field that an update may change.
    pub changes_on_update: bool,
    /// Not compared with the world.
    pub ignore_drift: bool,
    /// A computed field that is compared with the world.
    pub track_drift: bool,
    /// A bare reference in it activates a link (version 2025-11-02).
    pub links: bool,
    /// A list whose order and repetition do not count.
    pub set: bool,
    /// A list of objects identified by this field of theirs.
    pub keyed_by: Option<Name>,
    /// The only values allowed.
    pub allowed: Vec<Value>,
    /// Limits.
    pub constraint: Constraint,
    /// How a simulated provider fills a computed field: text with `{hash}`, `{id}`, `{updates}`, or data.
    pub value: Option<Value>,
    /// One sentence for people.
    pub docs: Name,
}

/// What a value means that is written in a field with an old name or a short form.
#[derive(Clone, Debug, PartialEq)]
pub struct StandsFor {
    /// The field beside it that it is meant for.
    pub field: Name,
    /// What stands there then: data in which the text `{value}` is what was written. None: what was written itself.
    pub shape: Option<Value>,
}

impl StandsFor {
    /// What the other field holds where this is written.
    pub fn value(&self, written: &Value) -> Value {
        self.shape.as_ref().map_or_else(|| written.clone(), |shape| filled(shape, written))
    }
}

fn filled(shape: &Value, written: &Value) -> Value {
    match shape {
        Value::Text(text) if text.as_ref() == "{value}" => written.clone(),
        Value::List(items) => Value::list(items.iter().map(|item| filled(item, written))),
        Value::Map(entries) => Value::map(entries.iter().map(|(key, value)| (key.clone(), filled(value, written)))),
        other => other.clone(),
    }
}

/// Limits of a field's value; those that are set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraint {
    /// Least number.
    pub min: Option<f64>,
    /// Greatest number.
    pub max: Option<f64>,
    /// Least number of characters.
    pub min_length: Option<u64>,
    /// Greatest number of characters.
    pub max_length: Option<u64>,
    /// Least number of items, or of entries of a map.
    pub min_items: Option<u64>,
    /// Greatest number of items, or of entries of a map.
    pub max_items: Option<u64>,
    /// A regular expression that must be found in the text.
    pub pattern: Option<Name>,
    /// The pattern must match the whole text, not only be found in it.
    pub whole: bool,
    /// Step and offset: the number less the offset is a multiple of the step, which is not 0.
    pub modulo: Option<(i64, i64)>,
    /// Rules that only whoever manages the thing can check, by name: `neutron.network`.
    pub custom: Vec<Name>,
}

/// How far something is meant to be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SupportStatus {
    /// As it is.
    #[default]
    Supported,
    /// Still works; something else has taken its place.
    Deprecated,
    /// Still works where it is written already, and is shown to nobody.
    Hidden,
    /// Nobody answers for it.
    Unsupported,
    /// May be written and does nothing.
    NotImplemented,
}

impl SupportStatus {
    /// Every standing with its word in catalogues.
    pub const ALL: [(SupportStatus, &str); 5] = [
        (SupportStatus::Supported, "supported"),
        (SupportStatus::Deprecated, "deprecated"),
        (SupportStatus::Hidden, "hidden"),
        (SupportStatus::Unsupported, "unsupported"),
        (SupportStatus::NotImplemented, "not-implemented"),
    ];

    /// Its word in catalogues.
    pub fn word(self) -> &'static str {
        SupportStatus::ALL.iter().find(|(status, _)| *status == self).map_or("", |(_, word)| word)
    }

    /// The standing of that word.
    pub fn of_word(word: &str) -> Option<SupportStatus> {
        SupportStatus::ALL.iter().find(|(_, known)| *known == word).map(|(status, _)| *status)
    }
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Anything.
    Any,
    /// Text.
    String,
    /// A 64-bit integer.
    Integer,
    /// A float.
    Float,
    /// True or false.
    Boolean,
    /// Items of one kind.
    Array(Arc<Field>),
    /// Any keys, values of one kind.
    Map(Arc<Field>),
    /// Known keys.
    Object(Arc<Schema>),
    /// The first that fits.
    Union(Arc<Vec<Field>>),
}

impl Field {
    /// A plain optional field of a kind.
    pub fn of(kind: Kind) -> Field {
        Field {
            kind,
            required: false,
            computed: false,
            optional: false,
            nullable: false,
            default: None,
            default_with: None,
            sensitive: false,
            unique: false,
            must_recreate: false,
            immutable: false,
            support_status: SupportStatus::Supported,
            stands_for: None,
            changes_on_update: false,
            ignore_drift: false,
            track_drift: false,
            links: false,
            set: false,
            keyed_by: None,
            allowed: Vec::new(),
            constraint: Constraint::default(),
            value: None,
            docs: "".into(),
        }
    }

    /// What it holds where nothing is written, given which fields beside it are written.
    pub fn default_beside(&self, is_written: impl Fn(&Name) -> bool) -> Option<&Value> {
        match self.default_with.as_deref() {
            Some((other, value)) if is_written(other) => Some(value),
            _ => self.default.as_ref(),
        }
    }

    /// Whether a document may write it.
    pub fn is_settable(&self) -> bool {
        !self.computed || self.optional
    }

    /// The type that an expression reading it has.
    pub fn ty(&self) -> Type {
        match &self.kind {
            Kind::Any => Type::Any,
            Kind::String => Type::Text,
            Kind::Integer => Type::Int,
            Kind::Float => Type::Float,
            Kind::Boolean => Type::Bool,
            Kind::Array(item) => Type::list(item.ty()),
            Kind::Map(value) => Type::map(value.ty()),
            Kind::Object(schema) => schema.ty(),
            Kind::Union(fields) => Type::union(fields.iter().map(Field::ty)),
        }
    }
}

impl Schema {
    /// The type of an object with these fields.
    pub fn ty(&self) -> Type {
        Type::object(self.fields.iter().map(|(name, field)| (name.clone(), field.ty())))
    }
}
