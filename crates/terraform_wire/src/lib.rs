//! The data side of Terraform's provider protocol: schemas, values on the wire, proposed values,
//! and the checks of a provider's answers.
//!
//! ```text
//! Schema ──types──> ResourceType, DataSourceType, FunctionDef     the checks of documents
//! document ──conform──> config ──┐
//! record ───────────────> prior ─┴─proposed──> proposed ──wire──> provider ──wire──> planned ──agree──> Violation
//! ```
//!
//! Not here: messages, processes and connections (`terraform_host`). The crate uses no clock, file
//! or network.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod compare;
mod conform;
pub mod consistency;
mod number;
mod path;
pub mod proposed;
mod schema;
mod sets;
mod type_names;
mod types;
mod value_type;
pub mod wire;

pub use compare::same;
pub use conform::{conform, conform_to};
pub use path::{AttributeStep, Path};
pub use schema::{
    AttributeKind, Block, BlockType, FunctionSchema, NestedObject, Nesting, ParameterSchema,
    ProviderSchema, SchemaAttribute, TypeSchema,
};
pub use type_names::TypeNames;
pub use types::{SchemaTypes, data_source_type, function, resource_type, settings};
pub use value_type::{TypeError, ValueType};
