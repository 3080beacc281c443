//! One folder per place that documents come from. Each stands under the conformance suite of `source`.
//!
//! Not here: which of them a request is for (`source::Sources`); what stands in a document.

pub mod disk;
mod limit;
