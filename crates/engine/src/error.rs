//! Errors of requests, apart from diagnostics.
//!
//! Not here: exit codes and advice about flags (`cli`). A mistake in a document is a diagnostic.

use std::path::PathBuf;

use state::StoreError;

use crate::findings::Findings;

/// The reason why a request failed, apart from diagnostics.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request contradicts itself, or names something that does not exist.
    #[error("{message}")]
    Usage {
        /// The mistake.
        message: String,
        /// The advice.
        help: Option<String>,
    },
    /// The request names no document, and the folder has none.
    #[error("there is no document in `{}`", .folder.display())]
    NoDocument {
        /// The folder.
        folder: PathBuf,
    },
    /// The request names no document, and the folder has several.
    #[error("there are several documents in `{}`: {}", .folder.display(), .names.join(", "))]
    SeveralDocuments {
        /// The folder.
        folder: PathBuf,
        /// Their names.
        names: Vec<String>,
    },
    /// A file cannot be read.
    #[error("`{name}` cannot be read")]
    Unreadable {
        /// The file, as the user named it.
        name: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The plan changes something, and the user expects that it does not.
    #[error("no changes were expected, and the plan has {count}")]
    UnexpectedChanges {
        /// The number of resources that would change.
        count: usize,
    },
    /// A file has the wrong type, size or encoding.
    #[error("`{name}` {what}")]
    Unfit {
        /// The file, as the user named it.
        name: String,
        /// The mistake, as a phrase such as "is a folder".
        what: String,
        /// The advice.
        help: Option<String>,
    },
    /// A file cannot be written.
    #[error("`{name}` cannot be written")]
    Unwritable {
        /// The file.
        name: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The configuration file is wrong.
    #[error("the configuration in `{name}` cannot be used")]
    Config {
        /// The file.
        name: String,
        /// The mistake.
        source: Box<dyn std::error::Error + Send + Sync>,
        /// The advice.
        help: Option<String>,
    },
    /// The key for secrets cannot be used.
    #[error("the key in {place} cannot be used")]
    Key {
        /// The place of the key.
        place: String,
        /// The cause.
        source: state::seal::KeyError,
    },
    /// `CYAN_KEY_FILE` names a file that does not exist.
    #[error("`CYAN_KEY_FILE` names `{}`, and there is no such file", .file.display())]
    NoKeyFile {
        /// The file.
        file: PathBuf,
    },
    /// The state cannot be used.
    #[error("the state cannot be used")]
    State(#[source] StoreError),
    /// A plan file cannot be used.
    #[error("`{name}` cannot be used")]
    Plan {
        /// The file.
        name: String,
        /// The cause.
        source: crate::phases::plan_file::PlanFileError,
    },
    /// An exported state cannot be used.
    #[error("`{name}` cannot be used")]
    Exported {
        /// The file.
        name: String,
        /// The cause.
        source: state::ExportedError,
    },
    /// The simulated cloud cannot be used.
    #[error("the simulated cloud cannot be used")]
    World(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A cluster cannot be used.
    #[error("the cluster cannot be used")]
    Cluster(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A question has no answer: there is no terminal to ask on.
    #[error("{question}, and there is no terminal to ask on")]
    NotInteractive {
        /// The question, as a phrase.
        question: String,
        /// The flag or setting that answers it in the request.
        help: String,
    },
    /// The person answered no, or gave no answer.
    #[error("nothing was changed")]
    Refused,
    /// The request fits several instances.
    #[error("there are several instances: {}", .names.join(", "))]
    SeveralInstances {
        /// Their names.
        names: Vec<String>,
    },
    /// The state has no instance.
    #[error("there is no instance in {place}")]
    NoInstance {
        /// The place of the state.
        place: String,
        /// Another place that has instances.
        hint: Option<&'static str>,
    },
    /// The request failed with diagnostics, which the front end has already received.
    #[error("it cannot be used as it is")]
    Reported,
    /// Another operation holds the instance. The front end has received the diagnostic.
    #[error("another operation holds the instance")]
    Held,
    /// Catalogues of the user are wrong, or plugins cannot be used.
    #[error("the catalogues cannot be used")]
    Catalogs(Findings),
    /// A diagnostic without a place in a document.
    #[error("{}", .0.message)]
    Diagnosed(Box<diag::Diagnostic>),
    /// A question with a diagnostic code has no answer: there is no terminal to ask on.
    #[error("{}", .0.message)]
    Unanswered(Box<diag::Diagnostic>),
    /// A secret was requested without permission to reveal it.
    #[error("`{name}` is secret")]
    Secret {
        /// The export.
        name: String,
    },
    /// The operating system refused a basic service.
    #[error("{what}")]
    Machine {
        /// The failure, as a phrase.
        what: &'static str,
        /// The error of the system.
        source: std::io::Error,
    },
}

impl Error {
    /// Returns a usage error without advice.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::Usage {
            message: message.into(),
            help: None,
        }
    }

    /// Returns the causes of the error, outermost first, without the error itself.
    pub fn causes(&self) -> Vec<String> {
        let mut causes: Vec<String> = Vec::new();
        let mut next = std::error::Error::source(self);
        // The message of the store error only repeats that the state cannot be used; its source has
        // the reason.
        if let Error::State(
            StoreError::Unreachable { source }
            | StoreError::Full { source }
            | StoreError::Locked { source },
        ) = self
        {
            next = Some(source.as_ref());
        }
        while let Some(cause) = next {
            causes.push(cause.to_string());
            next = cause.source();
        }
        causes
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        Error::State(error)
    }
}
