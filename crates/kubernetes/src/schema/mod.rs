//! Schemas of kinds as types of a catalogue: from an OpenAPI v3 document of a group and version,
//! and from a CustomResourceDefinition.
//!
//! A document has hundreds of schemas, so it is split into them once, and a schema is read when its
//! kind is used.

mod definition;
mod document;
mod forms;
mod object_meta;
mod object_type;
mod reader;

pub use definition::{DefinedKind, DefinedVersion, DefinitionError, types_of_crd};
pub use document::{KindVersion, SchemaDocument, SchemaError};
pub use forms::{ListForm, ListPatch, ValueForms};
pub use object_type::{ObjectSchema, any_object, sensitive_fields};
