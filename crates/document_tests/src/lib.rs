//! Tests of documents: the cases of a test file, and whether what came of a case meets them.
//!
//! ```text
//! text ──read──> TestFile { cases }          a step that ran ──> ObservedStep
//!                     └── TestStep ──────────────── judge ────────────┘──> failures
//! ```
//!
//! A test file is no document: it has the same form for documents of every dialect. Its assertions
//! are expressions of the dialect, kept here as text.
//!
//! Not here: running a case and evaluating its expressions (`engine`); which document a test file
//! is about (`engine`); output (`cli`).
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod case;
pub mod codes;
mod compare;
mod judge;
mod observed;
mod read;

pub use case::{
    Assertion, ExpectedActions, ExpectedAddresses, ExpectedFields, ExpectedRefusal, ExpectedValue,
    ExternalChange, RehearsedAnswer, StepAction, TestCase, TestFile, TestStep,
};
pub use codes::CODES;
pub use judge::judge;
pub use observed::{ObservedAssertion, ObservedMistake, ObservedStep};
pub use read::read;

#[cfg(test)]
mod tests;
