//! Two toy dialects, a toy store, toy worlds and three toy providers. Each implements a contract and
//! needs no change of other code.
//!
//! Not here: code for users.

pub mod checker;
pub mod dialect;
pub mod hosted;
pub mod judge;
pub mod planner;
pub mod remote;
pub mod shelf;
pub mod store;
pub mod wire;
pub mod world;
