//! Package schemas. A schema may have tens of megabytes, so it is split into its entries once, and the
//! outline can be stored. An entry is read when a document uses it.

mod facts;
mod fields;
mod outline;
mod package;
mod tokens;
mod types;

pub use facts::{FunctionFacts, ResourceFacts};
pub use outline::SchemaText;
pub use package::{PackageSchema, SchemaError};
pub use tokens::TypeTokens;
pub use types::{PackageTypes, read_resource_type};
