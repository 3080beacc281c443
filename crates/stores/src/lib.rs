//! Stores, one folder each. Every store passes `contract_tests::store`.

mod machine;
pub mod memory;
pub mod sqlite;
