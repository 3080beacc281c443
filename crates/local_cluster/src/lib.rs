//! An API server of Kubernetes in this process: objects, kinds and watches, without a container,
//! etcd or a network.
//!
//! ```text
//! request ──route──> kind ──admission──> object ──writing, patching, deleting──> state
//!                                                              consequences ───────┘ └──> watches
//! ```
//!
//! Requests are answered one after the other, without waiting. Not here: what gives objects their
//! status (scripts, controllers), roles, calls of webhooks.

mod admission;
pub mod apply;
mod body;
mod cluster;
mod consequences;
mod deleting;
mod discovery;
mod failure;
mod ids;
mod immutable;
mod kept;
mod kinds;
mod metadata;
mod naming;
mod object;
mod openapi;
mod options;
pub mod patches;
mod patching;
mod preparing;
mod protobuf;
mod reading;
mod request;
mod reviews;
mod scaling;
mod selector;
pub mod server;
mod service;
mod state;
mod store;
mod tables;
mod tokens;
mod values;
mod views;
mod watching;
mod writing;

pub use cluster::LocalCluster;
pub use options::{
    AdmissionAnswer, AdmissionDecision, AdmissionHook, ClusterClock, ClusterOptions,
    GarbageCollection, UnknownKinds,
};
pub use request::{ApiMethod, ApiRequest, ApiUser};
pub use service::{ClusterBody, ClusterService};
pub use views::ApiResponse;
pub use watching::{WatchEvent, WatchEventKind, WatchStream};
