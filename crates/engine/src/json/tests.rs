//! The results of tests of documents as machine output.

use std::time::Duration;

use diag::{Diagnostic, Files};
use serde_json::{Value as Json, json};

use super::diagnostic;

/// A case that has run.
pub struct TestedCase<'a> {
    /// The test file.
    pub file: String,
    /// The name of the case.
    pub name: &'a str,
    /// How long it took.
    pub took: Duration,
    /// The expectations that are not met.
    pub failures: &'a [Diagnostic],
    /// The texts that the failures refer to.
    pub files: &'a Files,
}

/// The results of all cases.
pub fn tests<'a>(cases: impl Iterator<Item = TestedCase<'a>>) -> Json {
    let (mut all, mut failed) = (Vec::new(), 0);
    for case in cases {
        let failures = case.failures.iter();
        let failures: Vec<Json> = failures.map(|one| diagnostic(one, case.files)).collect();
        failed += usize::from(!failures.is_empty());
        all.push(json!({
            "file": case.file,
            "name": case.name,
            "passed": failures.is_empty(),
            "milliseconds": u64::try_from(case.took.as_millis()).unwrap_or(u64::MAX),
            "failures": failures,
        }));
    }
    let passed = all.len() - failed;
    json!({"cases": all, "summary": {"passed": passed, "failed": failed}})
}
