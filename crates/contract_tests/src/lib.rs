//! The suites that implementations of a contract pass: one module per contract, named like its
//! crate.
//!
//! The tests of every [`store`], [`provider`] and [`source`] run the suite of their contract, in
//! this workspace and outside of it. A suite knows its contract alone: it takes the implementation
//! as an argument and returns one message per failure.
//!
//! Not here: behaviour that a single implementation has.
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod provider;
pub mod source;
pub mod store;
