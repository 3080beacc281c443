//! One folder per place that documents come from. Each stands under the conformance suite of `source`.
//!
//! Beside them what the remote ones share: clients, a cache, the environment, limits.
//!
//! Not here: which of them a request is for (`source::Sources`); what stands in a document.

mod cache;
mod client;
pub mod disk;
mod environment;
pub mod https;
mod limit;
pub mod object;

pub use cache::Cache;
pub use environment::Environment;
