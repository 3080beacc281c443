//! Evaluates a checked document with inputs and the world's answers. Results are values, or Unknown
//! until a resource exists.
//!
//! This crate defines the questions to the world ([`world::World`]) and evaluates with the answers:
//! children, transforms, data sources and expressions.
//!
//! Not here: the comparison with the state and the resulting steps (`plan`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod answers;
pub mod children;
pub mod codes;
pub mod data_search;
pub mod evaluation_question;
pub mod event;
pub mod filters;
mod packages;
pub mod question;
pub mod resolve;
pub mod retry;
pub mod transform;
pub mod world;
