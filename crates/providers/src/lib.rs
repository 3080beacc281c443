//! The built-in providers, one folder each with its catalogue. Each passes
//! `contract_tests::provider`.
//!
//! Not here: the choice of providers (`cli` and `testkit` name them).

pub mod aws;
pub mod cyan;
pub mod fake;
pub mod http;
mod lazy_catalog;
pub mod local;
pub mod random;
pub mod random_source;
mod regular_file;
pub mod std;
pub mod time;
pub mod tls;
