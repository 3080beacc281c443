//! A toy dialect, a toy store and toy worlds. Each is one file that implements a contract and changes no other code.
//!
//! Not here: anything for users.

pub mod dialect;
pub mod store;
pub mod world;
