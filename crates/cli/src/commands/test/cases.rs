//! Cases before and after they ran.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use diag::{Diagnostic, Files};
use engine::testing::TestFile;
use engine::{Config, DocumentSource, SessionOptions};

/// A test file, ready to run.
pub(super) struct LoadedTests {
    pub(super) path: PathBuf,
    /// The text of the file, for places.
    pub(super) files: Files,
    pub(super) file: TestFile,
    pub(super) source: DocumentSource,
    pub(super) config: Config,
    pub(super) options: SessionOptions,
}

/// A case that has run.
pub(super) struct FinishedCase {
    pub(super) tests: Arc<LoadedTests>,
    /// The position of the case in its file.
    pub(super) case: usize,
    pub(super) failures: Vec<Diagnostic>,
    pub(super) took: Duration,
}

impl FinishedCase {
    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.tests.file.cases[self.case].name.item
    }

    /// Its file, as in messages.
    pub(super) fn file(&self) -> String {
        self.tests.path.display().to_string()
    }

    /// `FILE:LINE:COLUMN` of a failure.
    pub(super) fn place(&self, failure: &Diagnostic) -> String {
        let span = failure.span();
        let file = self.tests.files.get(span.file);
        let position = file.map(|file| file.position(span.start));
        match position {
            Some(position) => format!("{}:{}:{}", self.file(), position.line, position.column),
            None => self.file(),
        }
    }
}
