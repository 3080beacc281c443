//! The types on a real cloud: each is created, read, changed and deleted through the contract.
//!
//! The variable `CYAN_TEST_CLOUDS` is the path of a `clouds.yaml` with the clouds `demo`, a member of
//! a project, and `admin`. The tests are skipped without it.

#![allow(
    clippy::unwrap_used,
    reason = "a test stops where something is not as it should be"
)]

mod compute;
mod constraints;
mod deployments;
mod identity;
mod image;
mod key_manager;
mod load_balancers;
mod network;
mod objects;
mod servers;
mod signals;
mod snapshots;
mod support;
mod volumes;
