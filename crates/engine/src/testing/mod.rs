//! Tests of documents: finds test files and their documents, and runs cases.
//!
//! A case is a simulation of its own: its objects, its state and its key are in memory.
//!
//! Not here: the form of test files and the judgement (`document_tests`); output.

mod files;
mod rehearsal;
mod run_case;

pub use document_tests::{TestCase, TestFile, read};
pub use files::{document_of_test, is_test_file, test_files};
pub use run_case::{CaseRequest, run_case};
