//! Sources of documents, one folder per kind. Each passes `contract_tests::source`.
//!
//! The remote sources share a cache, environment variables and limits.
//!
//! Not here: the choice of the source for a request (`source::Sources`); the content of documents.

mod cache;
mod cache_files;
pub mod disk;
mod environment;
pub mod https;
pub mod kinds;
mod left_out;
mod limit;
#[cfg(feature = "object_stores")]
pub mod object;

pub use cache::Cache;
pub use environment::Variables;
pub use left_out::LeftOutSource;
