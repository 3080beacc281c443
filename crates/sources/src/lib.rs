//! One folder per place that documents come from. Each stands under the conformance suite of `source`.
//!
//! Beside them what the remote ones share: a cache, the environment, limits.
//!
//! Not here: which of them a request is for (`source::Sources`); what stands in a document.

mod cache;
pub mod disk;
mod environment;
pub mod https;
mod limit;
pub mod object;
mod prune;

pub use cache::Cache;
pub use environment::Environment;
