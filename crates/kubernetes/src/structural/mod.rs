//! Structural schemas of CustomResourceDefinitions: which fields an API server drops, which it adds
//! and which it refuses.
//!
//! ```text
//! object ──default──> with defaults, without nulls ──prune──> declared fields ──validate──> violations
//! ```
//!
//! This is the order of an API server; `admit` does all three. The work grows linearly with the
//! object, and the depth of the schema bounds the recursion. An unknown part is accepted and stays;
//! the value of a secret part is in no message.
//!
//! Not here: rules in CEL; schemas as types for the check of documents (`schema`); whether the API
//! server accepts a definition.

mod admit;
mod check;
mod defaults;
mod formats;
mod lists;
mod metadata;
mod node;
mod numbers;
mod prune;
mod read;
mod rebuild;
mod violation;

pub use admit::{AdmittedObject, FieldPresence, StructuralSchema};
pub use prune::PrunedObject;
pub use read::StructuralSchemaError;
pub use violation::{SchemaViolation, ViolationReason};

#[cfg(test)]
mod tests;
