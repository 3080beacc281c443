//! Stores, one folder each. Every store passes the conformance suite of `state`.

mod machine;
pub mod memory;
pub mod sqlite;
