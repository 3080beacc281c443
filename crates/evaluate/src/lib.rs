//! From a checked document, inputs and answers of the world to values: known, or Unknown until something exists.
//!
//! This crate states the questions to the world ([`world::World`]) and evaluates what it answers: children, transforms,
//! data sources, expressions.
//!
//! Not here: what differs from the state and what to do about it (`plan`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod answers;
pub mod children;
pub mod codes;
pub mod event;
pub mod filters;
pub mod patience;
pub mod questions;
pub mod resolve;
pub mod transform;
pub mod world;
