//! How a command ends: exit codes, and errors that are nobody's document, with their words and hints.
//!
//! The one place that knows exit codes. What is wrong with a document is a diagnostic and not here.

use std::path::PathBuf;
use std::process::ExitCode;

use state::StoreError;

/// How a command ended, as a script sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; also nothing to do, and warnings alone.
    Done = 0,
    /// Something cannot be used as it is, or the answer was no: nothing was changed.
    Unusable = 1,
    /// The command line is wrong, or a question could not be asked.
    Usage = 2,
    /// There are differences, and somebody wanted to know.
    Differences = 3,
    /// An operation began and did not finish well.
    Failed = 4,
    /// Another operation holds the instance.
    Busy = 5,
    /// A bug of ours.
    Bug = 70,
    /// A person stopped it.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// What helps where the state is damaged.
pub(crate) const DAMAGED_HELP: [&str; 3] = [
    "see what is damaged with `cyan state verify`",
    "put a copy of the file back, or read an export back with `cyan state import FILE`",
    "other instances in the same file can still be used; `cyan state export -i NAME` saves each that reads",
];

/// Why a command could not do its work, apart from what diagnostics say.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The command line asks for something that cannot be.
    #[error("{message}")]
    Usage {
        /// What is wrong with it.
        message: String,
        /// What to do.
        help: Option<String>,
    },
    /// No document was named and none is here.
    #[error("there is no document in `{}`", .folder.display())]
    NoDocument {
        /// Where was looked.
        folder: PathBuf,
    },
    /// No document was named and several are here.
    #[error("there are several documents in `{}`: {}", .folder.display(), .names.join(", "))]
    SeveralDocuments {
        /// Where was looked.
        folder: PathBuf,
        /// Their names.
        names: Vec<String>,
    },
    /// A file cannot be read.
    #[error("`{name}` cannot be read")]
    Unreadable {
        /// The file, as the user named it.
        name: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file cannot be used for what it is; nothing more was read of it.
    #[error("`{name}` {what}")]
    Unfit {
        /// The file, as the user named it.
        name: String,
        /// What it is or has, as in "is a folder".
        what: String,
        /// What to do.
        help: Option<String>,
    },
    /// A file cannot be written.
    #[error("`{name}` cannot be written")]
    Unwritable {
        /// The file.
        name: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The configuration file is wrong.
    #[error("the configuration in `{name}` cannot be used")]
    Config {
        /// The file.
        name: String,
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The key for secrets cannot be used.
    #[error("the key in {place} cannot be used")]
    Key {
        /// Where it stands.
        place: String,
        /// Why.
        source: state::seal::KeyError,
    },
    /// The place of state cannot be used.
    #[error("the state cannot be used")]
    State(#[source] StoreError),
    /// A plan file cannot be used.
    #[error("`{name}` cannot be used")]
    Plan {
        /// The file.
        name: String,
        /// Why.
        source: engine::plan_file::PlanFileError,
    },
    /// A state that was exported cannot be used.
    #[error("`{name}` cannot be used")]
    Exported {
        /// The file.
        name: String,
        /// Why.
        source: state::ExportedError,
    },
    /// The simulated cloud cannot be used.
    #[error("the simulated cloud cannot be used")]
    World(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A question had to be asked and nobody could answer.
    #[error("{question}, and nobody is here to answer")]
    NobodyToAsk {
        /// What had to be asked, as a phrase.
        question: String,
        /// How to answer beforehand.
        help: String,
    },
    /// The answer was no, or there was none.
    #[error("nothing was changed")]
    Refused,
    /// Nothing tells which instance is meant.
    #[error("there are several instances: {}", .names.join(", "))]
    SeveralInstances {
        /// Their names.
        names: Vec<String>,
    },
    /// There is no instance at all.
    #[error("there is no instance in {place}")]
    NoInstance {
        /// The place of the state.
        place: String,
        /// What else may be meant.
        hint: Option<&'static str>,
    },
    /// What stands in the way has been said, as diagnostics.
    #[error("it cannot be used as it is")]
    Said,
    /// Something that has a page of its own.
    #[error("{}", .0.message)]
    Diagnosed(Box<diag::Diagnostic>),
    /// A question with a page of its own had to be asked and nobody could answer.
    #[error("{}", .0.message)]
    Unanswered(Box<diag::Diagnostic>),
    /// A secret was asked for as if it were none.
    #[error("`{name}` is secret")]
    Secret {
        /// The export.
        name: String,
    },
    /// The machine does not give what every program needs.
    #[error("{what}")]
    Machine {
        /// What failed, as a phrase.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl CommandError {
    /// A mistake on the command line.
    pub(crate) fn usage(message: impl Into<String>) -> CommandError {
        CommandError::Usage { message: message.into(), help: None }
    }

    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            CommandError::Usage { .. }
            | CommandError::NobodyToAsk { .. }
            | CommandError::Unanswered(_)
            | CommandError::SeveralDocuments { .. }
            | CommandError::SeveralInstances { .. } => Exit::Usage,
            CommandError::State(StoreError::Busy { .. }) => Exit::Busy,
            _ => Exit::Unusable,
        }
    }

    /// What to do about it, as imperatives.
    pub(crate) fn help(&self) -> Vec<String> {
        let one = |text: &str| vec![text.to_owned()];
        match self {
            CommandError::Usage { help, .. } | CommandError::Unfit { help, .. } => help.iter().cloned().collect(),
            CommandError::Unreadable { name, source } if source.kind() == std::io::ErrorKind::NotFound => {
                near(name).map(|near| format!("did you mean `{near}`?")).into_iter().collect()
            }
            CommandError::NoDocument { .. } => one("name one, or begin with `cyan init`"),
            CommandError::SeveralDocuments { .. } => one("name the one that is meant"),
            CommandError::SeveralInstances { .. } => one("name the one that is meant with `--instance`"),
            CommandError::NoInstance { hint: Some(hint), .. } => one(hint),
            CommandError::NoInstance { hint: None, .. } => {
                one("deploy something first, or name the place of its state with `--state`")
            }
            CommandError::NobodyToAsk { help, .. } => one(help),
            CommandError::State(StoreError::Foreign { .. }) => {
                one("name another place with `--state sqlite:PATH`, or use the version of cyan that wrote it")
            }
            CommandError::State(StoreError::Damaged { .. }) => DAMAGED_HELP.map(str::to_owned).to_vec(),
            CommandError::State(StoreError::Full { .. }) => {
                one("make room on that disk, then run the same command again; nothing that was recorded is lost")
            }
            CommandError::State(StoreError::Locked { .. }) => one(
                "wait for that process and run the same command again; one that is stopped goes on with `kill -CONT PID`, \
                     or is ended with `kill -KILL PID`: what it had recorded stays",
            ),
            CommandError::State(StoreError::Unreachable { .. }) => {
                one("see to the folder and its permissions, or name another place with `--state sqlite:PATH`")
            }
            CommandError::State(StoreError::WrongKey) | CommandError::Key { .. } => {
                one("give the key that was used before, in `CYAN_KEY` or `CYAN_KEY_FILE`")
            }
            CommandError::State(StoreError::NoKey) => {
                one("make a key with `cyan key new`, or give one in `CYAN_KEY` or `CYAN_KEY_FILE`")
            }
            CommandError::State(StoreError::Moved { .. }) => one("run the command again"),
            CommandError::Plan { .. } => one("stage again"),
            CommandError::Secret { .. } => one("say `--reveal` to see it in clear"),
            _ => Vec::new(),
        }
    }

    /// What lies behind it, outermost first.
    pub(crate) fn causes(&self) -> Vec<String> {
        let mut causes: Vec<String> = Vec::new();
        let mut next = std::error::Error::source(self);
        // That the state cannot be reached has been said; why follows.
        if let CommandError::State(
            StoreError::Unreachable { source } | StoreError::Full { source } | StoreError::Locked { source },
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

/// A file beside the one that is not there, whose name is nearly the same.
fn near(name: &str) -> Option<String> {
    let path = std::path::Path::new(name);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let there = std::fs::read_dir(folder.unwrap_or(std::path::Path::new("."))).ok()?;
    let names: Vec<String> = there.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    let near = diag::nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(folder.map_or_else(|| near.to_owned(), |folder| folder.join(near).display().to_string()))
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> CommandError {
        CommandError::State(error)
    }
}
