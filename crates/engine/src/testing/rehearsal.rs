//! The front end of a case: it keeps the errors.

use blueprint::Name;
use diag::{Diagnostic, Diagnostics, Files};
use document_tests::ObservedMistake;

use crate::error::Error;
use crate::frontend::{Envelope, Frontend};

/// A front end that keeps the errors. It has no answers.
#[derive(Default)]
pub(super) struct MistakeCollector {
    pub(super) mistakes: Vec<ObservedMistake>,
}

impl MistakeCollector {
    /// Adds the reason why a request failed, unless it was reported before.
    pub(super) fn add_error(&mut self, error: &Error) {
        match error {
            Error::Reported | Error::Held => {}
            Error::Diagnosed(diagnostic) | Error::Unanswered(diagnostic) => {
                self.mistakes.push(mistake(diagnostic, &Files::new()));
            }
            Error::Catalogs(findings) => {
                self.add(&findings.diagnostics, &findings.files);
            }
            other => {
                let mut causes = other.causes();
                causes.insert(0, other.to_string());
                self.mistakes.push(ObservedMistake {
                    code: Name::default(),
                    message: causes.join(": "),
                    place: String::new(),
                });
            }
        }
    }

    /// Adds the errors among diagnostics.
    pub(super) fn add(&mut self, found: &Diagnostics, files: &Files) {
        let errors = found.iter().filter(|diagnostic| diagnostic.is_error());
        self.mistakes
            .extend(errors.map(|error| mistake(error, files)));
    }
}

impl Frontend for MistakeCollector {
    fn found(&mut self, found: &Diagnostics, files: &Files) {
        self.add(found, files);
    }

    fn event(&mut self, _: Envelope) {}
}

/// An error as a test sees it. Notes are part of the message, because providers say there what is
/// wrong.
pub(super) fn mistake(diagnostic: &Diagnostic, files: &Files) -> ObservedMistake {
    let span = diagnostic.span();
    let place = files.get(span.file).filter(|_| span.is_some()).map(|file| {
        let position = file.position(span.start);
        format!("{}:{}:{}", file.name(), position.line, position.column)
    });
    let mut message = diagnostic.message.clone();
    for note in &diagnostic.notes {
        message.push_str(": ");
        message.push_str(note);
    }
    ObservedMistake {
        code: diagnostic.code.name.into(),
        message,
        place: place.unwrap_or_default(),
    }
}
