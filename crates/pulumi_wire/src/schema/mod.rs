//! Package schemas. A schema may have tens of megabytes, so it is split into its entries once. An
//! entry is read when a document uses it.

mod facts;
mod fields;
mod package;
mod tokens;
mod types;

pub use facts::{FunctionFacts, ResourceFacts};
pub use package::{PackageSchema, SchemaError};
pub use tokens::TypeTokens;
pub use types::{PackageTypes, read_resource_type};
