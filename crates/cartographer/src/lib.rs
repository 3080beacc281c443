//! Cartographer's supply chains as data: kinds, validation, selection, parameters, stamping,
//! outputs, health and conditions.
//!
//! Not here: documents and their text (`manifests`); requests to a cluster (`kubernetes_host`).

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod checks;
pub mod compat;
pub mod conditions;
pub mod context;
pub mod definitions;
mod fields;
pub mod health;
pub mod inputs;
pub mod kinds;
pub mod outputs;
pub mod params;
pub mod reconcile;
pub mod resource_status;
pub mod retention;
pub mod run_outputs;
pub mod selection;
pub mod stamp;
pub mod tags;
mod timestamps;
pub mod validation;
pub mod views;
mod yaml_text;
pub mod ytt_templates;
