//! One folder per place where state can live. Each stands under the conformance suite of `state`.

mod machine;
pub mod memory;
pub mod sqlite;
