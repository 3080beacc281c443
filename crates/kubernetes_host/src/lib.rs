//! Manages Kubernetes objects: the contract of providers on the API of a cluster.
//!
//! ```text
//! HostedPackage ──open──> Provider ──configure──> Session     one for each cluster and its settings
//!                            │                       │
//!                          types              Manifest ──> Cluster ── GET, PATCH (apply), DELETE
//! ```
//!
//! The spec of a resource is the manifest of an object. The API server makes the plan: an apply as
//! a dry run, with the instance as the field manager. So an object has the fields that a document
//! declares, and other managers keep theirs. [`open`] contacts nothing, and reads no kubeconfig.
//!
//! `provider.rs` has the catalogue and the configurations, `session.rs` the calls of the contract,
//! `planning.rs` and `applying.rs` what they do, `cluster.rs` the requests.
//!
//! Not here: the data of the API (`kubernetes`), records, the repetition of calls.

mod applying;
mod bounds;
mod cluster;
mod connect;
mod context;
mod data;
mod definitions;
mod forecast;
mod kinds;
mod manifest;
mod observed;
mod planning;
mod problems;
mod provider;
mod runs;
mod session;
mod settings;
mod types;
mod waiting;

pub use provider::{FAMILY, open};
