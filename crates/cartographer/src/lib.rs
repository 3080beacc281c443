//! Cartographer's supply chains as data: kinds, validation, selection, parameters, stamping, outputs,
//! health and conditions.
//!
//! Not here: documents and their text (`manifests`); requests to a cluster (`kubernetes_host`).

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod checks;
pub mod compat;
pub mod context;
pub mod definitions;
pub mod inputs;
pub mod kinds;
pub mod params;
pub mod selection;
pub mod stamp;
pub mod tags;
pub mod validation;
pub mod views;
