//! The controller of supply chains: it carries out the requests of `cartographer::reconcile`.
//!
//! ```text
//! watches ──> caches, index ──wakes──> queue ──key──> worker: Reconcile ──requests──> cluster
//!    ^                                                        └──outcome: status, events, watches
//!    └────────────────────── watches of stamped and selected objects ─────────────────────┘
//! ```
//!
//! A wake carries no data: each reconcile reads what it needs, and can be stopped anywhere.
//!
//! Not here: what is stamped and what a status says (`cartographer`); kubeconfigs. The wall clock
//! is passed in; waits are those of `tokio::time`.

mod accounts;
pub mod admission;
mod api;
mod caches;
mod calls;
mod controller;
mod events;
mod index;
pub mod install;
mod keys;
mod leader;
mod metrics;
mod options;
mod queue;
mod reconciling;
mod served;
mod state;
mod watching;
pub mod webhook;

pub use controller::{Controller, ControllerError, run};
pub use keys::ReconcileKey;
pub use metrics::ControllerMetrics;
pub use options::{
    AccountClients, ControllerOptions, LeaderElection, TokenClient, WallClock, clients_for,
};
