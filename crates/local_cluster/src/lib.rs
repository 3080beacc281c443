//! An API server of Kubernetes in this process: objects, kinds and watches, without a container,
//! etcd or a network.
//!
//! Not here: what gives objects their status (scripts, controllers).

pub mod apply;
pub mod patches;
