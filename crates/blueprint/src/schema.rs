//! The schema of the fields of a resource or data source.

use std::sync::Arc;

use crate::{IndexMap, Name, Type, Value};

/// The fields of a resource type's spec, or of an object inside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// The fields by name, in the order of the catalogue.
    pub fields: IndexMap<Name, Field>,
    /// Whether other fields with any value are allowed.
    pub open: bool,
}

/// A field: its kind, and what checks, comparisons and plans need to know about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The kind of the values.
    pub kind: Kind,
    /// The values that a field of the kind [`Kind::Any`] takes, if it does not take all.
    pub opaque: Option<OpaqueKind>,
    /// Whether the document must set the field.
    pub required: bool,
    /// Whether the provider sets the field. The document must not set it unless it is also
    /// `optional`.
    pub computed: bool,
    /// For a computed field: whether the document may set it. The provider sets it otherwise.
    pub optional: bool,
    /// Whether null is allowed.
    pub nullable: bool,
    /// The value if the document sets none.
    pub default: Option<Value>,
    /// Another default: name of a field and value. The value applies if that field is set and this
    /// one is not.
    pub default_with: Option<Arc<(Name, Value)>>,
    /// Whether the value must not be shown.
    pub sensitive: bool,
    /// Whether two objects of the type must not have the same value at the same time.
    pub unique: bool,
    /// Whether a change of the field, or of a part of it, replaces the resource.
    pub must_recreate: bool,
    /// Whether a change is refused: neither an update nor a replacement is allowed.
    pub immutable: bool,
    /// The support status.
    pub support_status: SupportStatus,
    /// The other field, for an old name or short form.
    pub stands_for: Option<Arc<StandsFor>>,
    /// Whether an update may change the computed field.
    pub changes_on_update: bool,
    /// Whether the field is not compared with the actual state.
    pub ignore_drift: bool,
    /// Whether a computed field is compared with the actual state. A computed field that is also
    /// `optional` is compared anyway if the document sets it.
    pub track_drift: bool,
    /// Whether a reference in the field, alone or inside a text, creates a link (version
    /// 2025-11-02).
    pub links: bool,
    /// Whether order and repetition in the list do not matter.
    pub set: bool,
    /// For a list of objects: the field that identifies an object.
    pub keyed_by: Option<Name>,
    /// The only allowed values; empty if all are allowed.
    pub allowed: Vec<Value>,
    /// Limits of the value.
    pub constraint: Constraint,
    /// The value of a computed field in a simulation: text with `{hash}`, `{id}`, `{updates}`, or
    /// data.
    pub simulated_value: Option<Value>,
    /// A description of one sentence.
    pub docs: Name,
}

/// The meaning of a value in a field with an old name or a short form.
#[derive(Clone, Debug, PartialEq)]
pub struct StandsFor {
    /// The other field.
    pub field: Name,
    /// The value of that field: a template. A text that is exactly `{value}` is replaced by the
    /// written value. `None` for the written value itself.
    pub shape: Option<Value>,
}

impl StandsFor {
    /// The value of the other field for a written value.
    pub fn value(&self, written: &Value) -> Value {
        self.shape
            .as_ref()
            .map_or_else(|| written.clone(), |shape| filled(shape, written))
    }
}

fn filled(shape: &Value, written: &Value) -> Value {
    match shape {
        Value::Text(text) if text.as_ref() == "{value}" => written.clone(),
        Value::List(items) => Value::list(items.iter().map(|item| filled(item, written))),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), filled(value, written))),
        ),
        other => other.clone(),
    }
}

/// Limits of a field's value. Unset limits do not apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraint {
    /// The minimum of a number.
    pub min: Option<f64>,
    /// The maximum of a number.
    pub max: Option<f64>,
    /// The minimum number of characters.
    pub min_length: Option<u64>,
    /// The maximum number of characters.
    pub max_length: Option<u64>,
    /// The minimum number of items, or of entries of a map.
    pub min_items: Option<u64>,
    /// The maximum number of items, or of entries of a map.
    pub max_items: Option<u64>,
    /// A regular expression that the text must match.
    pub pattern: Option<Name>,
    /// Whether the pattern must match the whole text, not only a part of it.
    pub whole: bool,
    /// What the pattern accepts, in words, such as "octal digits such as `0644`".
    pub form: Option<Name>,
    /// Step and offset: the number minus the offset must be a multiple of the step, which is not 0.
    pub modulo: Option<(i64, i64)>,
    /// Names of rules that the schema cannot express, such as `neutron.network`. A dialect checks
    /// some of them, the provider the others.
    pub custom: Vec<Name>,
}

/// The support status of a type or field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SupportStatus {
    /// Supported.
    #[default]
    Supported,
    /// Works, but has been replaced by a newer type or field.
    Deprecated,
    /// Works where it is already used, but is not shown.
    Hidden,
    /// Works, but is not supported.
    Unsupported,
    /// Accepted, but has no effect.
    NotImplemented,
}

impl SupportStatus {
    /// Every status with its word in catalogues.
    pub const ALL: [(SupportStatus, &str); 5] = [
        (SupportStatus::Supported, "supported"),
        (SupportStatus::Deprecated, "deprecated"),
        (SupportStatus::Hidden, "hidden"),
        (SupportStatus::Unsupported, "unsupported"),
        (SupportStatus::NotImplemented, "not-implemented"),
    ];

    /// The word in catalogues.
    pub fn word(self) -> &'static str {
        SupportStatus::ALL
            .iter()
            .find(|(status, _)| *status == self)
            .map_or("", |(_, word)| word)
    }

    /// The status with this word; `None` if there is none.
    pub fn of_word(word: &str) -> Option<SupportStatus> {
        SupportStatus::ALL
            .iter()
            .find(|(_, known)| *known == word)
            .map(|(status, _)| *status)
    }
}

/// The kind of a field's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Any value.
    Any,
    /// A text.
    String,
    /// A 64-bit integer.
    Integer,
    /// A float.
    Float,
    /// A boolean.
    Boolean,
    /// A list with one kind of items.
    Array(Arc<Field>),
    /// A map with any keys and one kind of values.
    Map(Arc<Field>),
    /// An object with known keys.
    Object(Arc<Schema>),
    /// The first kind that fits.
    Union(Arc<Vec<Field>>),
}

/// Values without parts that a document could write: only functions and references give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpaqueKind {
    /// An asset.
    Asset,
    /// An archive of assets.
    Archive,
    /// An asset or an archive.
    AssetOrArchive,
    /// A reference to a resource.
    Resource,
}

impl OpaqueKind {
    /// Whether a known value is of this kind. `is_resource`: the value refers to a resource.
    pub fn accepts(self, value: &Value, is_resource: bool) -> bool {
        let archive = match value.unmarked() {
            Value::Asset(asset) => Some(asset.is_archive()),
            _ => None,
        };
        match self {
            OpaqueKind::Asset => archive == Some(false),
            OpaqueKind::Archive => archive == Some(true),
            OpaqueKind::AssetOrArchive => archive.is_some(),
            OpaqueKind::Resource => is_resource,
        }
    }

    /// What is needed, with its article.
    pub fn words(self) -> &'static str {
        match self {
            OpaqueKind::Asset => "an asset",
            OpaqueKind::Archive => "an archive",
            OpaqueKind::AssetOrArchive => "an asset or archive",
            OpaqueKind::Resource => "a resource",
        }
    }
}

impl Field {
    /// A field of this kind that the document may set, without further rules.
    pub fn of(kind: Kind) -> Field {
        Field {
            kind,
            opaque: None,
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
            simulated_value: None,
            docs: "".into(),
        }
    }

    /// The default value, depending on which other fields are written; `None` if there is none.
    pub fn default_given(&self, is_written: impl Fn(&Name) -> bool) -> Option<&Value> {
        match self.default_with.as_deref() {
            Some((other, value)) if is_written(other) => Some(value),
            _ => self.default.as_ref(),
        }
    }

    /// Whether a document may set the field.
    pub fn is_settable(&self) -> bool {
        !self.computed || self.optional
    }

    /// Whether the field, or anything in it, is sensitive.
    pub fn has_sensitive(&self) -> bool {
        self.sensitive
            || match &self.kind {
                Kind::Array(inner) | Kind::Map(inner) => inner.has_sensitive(),
                Kind::Object(schema) => schema.fields.values().any(Field::has_sensitive),
                Kind::Union(fields) => fields.iter().any(Field::has_sensitive),
                _ => false,
            }
    }

    /// The type of an expression that reads the field.
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
        Type::object(
            self.fields
                .iter()
                .map(|(name, field)| (name.clone(), field.ty())),
        )
    }
}
