//! Exit codes, and advice for each error.
//!
//! Only this file maps errors to exit codes.

use std::process::ExitCode;

use engine::plan_file::PlanFileError;
use state::{ExportedError, StoreError};

pub(crate) use engine::Error as CommandError;

/// The exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success, including success without changes or with warnings.
    Done = 0,
    /// An input is unusable, or the user declined. Nothing was changed.
    Unusable = 1,
    /// The command line is wrong, or a question could not be asked.
    Usage = 2,
    /// There are differences, and the caller asked for this exit code.
    Differences = 3,
    /// An operation began and did not succeed, or a test failed.
    Failed = 4,
    /// Another operation holds the instance.
    Busy = 5,
    /// A bug in this program.
    Bug = 70,
    /// A signal ended the command before anything began.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Advice for a damaged state.
pub(crate) const DAMAGED_HELP: [&str; 3] = [
    "see what is damaged with `cyan state verify`",
    "put a copy of the file back, or read an export back with `cyan state import FILE`",
    "other instances in the same file can still be used; `cyan state export -i NAME` saves each that reads",
];

/// Advice for a state whose file lacks its end: no command can read it.
pub(crate) const TRUNCATED_HELP: [&str; 2] = [
    "put a copy of the file back",
    "without a copy, move the file away and read an export of each instance back with `cyan state import FILE`",
];

/// The command line's view of an error.
pub(crate) trait ErrorAdvice {
    /// The exit code.
    fn exit(&self) -> Exit;

    /// The advice, in the imperative.
    fn help(&self) -> Vec<String>;
}

impl ErrorAdvice for CommandError {
    fn exit(&self) -> Exit {
        match self {
            CommandError::Usage { .. }
            | CommandError::NotInteractive { .. }
            | CommandError::Unanswered(_)
            | CommandError::SeveralDocuments { .. }
            | CommandError::SeveralInstances { .. } => Exit::Usage,
            CommandError::Held | CommandError::State(StoreError::Busy { .. }) => Exit::Busy,
            _ => Exit::Unusable,
        }
    }

    fn help(&self) -> Vec<String> {
        let one = |text: &str| vec![text.to_owned()];
        match self {
            CommandError::Usage { help, .. }
            | CommandError::Unfit { help, .. }
            | CommandError::Config { help, .. } => help.iter().cloned().collect(),
            CommandError::Unreadable { name, source }
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                near(name)
                    .map(|near| format!("did you mean `{near}`?"))
                    .into_iter()
                    .collect()
            }
            CommandError::NoDocument { .. } => one("name one, or begin with `cyan init`"),
            CommandError::SeveralDocuments { .. } => one("name the one that is meant"),
            CommandError::SeveralInstances { .. } => {
                one("name the one that is meant with `--instance`")
            }
            CommandError::NoInstance {
                hint: Some(hint), ..
            } => one(hint),
            CommandError::NoInstance { hint: None, .. } => {
                one("deploy something first, or name the place of its state with `--state`")
            }
            CommandError::NotInteractive { help, .. } => one(help),
            CommandError::State(StoreError::Foreign { .. }) => one(
                "name the place of a state with `--state sqlite:PATH`; for a new state, move this file away",
            ),
            CommandError::State(StoreError::Newer { .. }) => one(
                "name another place with `--state sqlite:PATH`, or use the version of cyan that wrote it",
            ),
            CommandError::NoKeyFile { file } => vec![format!(
                "correct the path, or make a key there with `cyan key new {}`",
                file.display()
            )],
            CommandError::Key { place, .. } => vec![format!(
                "give {place} a whole key, as `cyan key new` writes it; a state needs the key that it was written with"
            )],
            CommandError::State(StoreError::Damaged { .. }) => {
                DAMAGED_HELP.map(str::to_owned).to_vec()
            }
            CommandError::State(StoreError::Truncated { .. }) => {
                TRUNCATED_HELP.map(str::to_owned).to_vec()
            }
            CommandError::State(StoreError::Full { .. }) => one(
                "make room on that disk, then run the same command again; nothing that was recorded is lost",
            ),
            CommandError::State(StoreError::Locked { .. }) => one(
                "wait for that process and run the same command again; one that is stopped goes on with `kill -CONT PID`, \
                     or is ended with `kill -KILL PID`: what it had recorded stays",
            ),
            CommandError::State(StoreError::Unreachable { .. }) => one(
                "check that the folder exists and is writable, or choose another file with `--state sqlite:PATH`",
            ),
            CommandError::State(StoreError::WrongKey) => {
                one("give the key that was used before, in `CYAN_KEY` or `CYAN_KEY_FILE`")
            }
            CommandError::State(StoreError::KeyMissing) => one(
                "give the key that the state was written with: in `CYAN_KEY`, or the path of its file in `CYAN_KEY_FILE`",
            ),
            CommandError::State(StoreError::NoKey) => {
                one("make a key with `cyan key new`, or give one in `CYAN_KEY` or `CYAN_KEY_FILE`")
            }
            CommandError::State(StoreError::Moved { .. }) => one("run the command again"),
            CommandError::Exported {
                source: ExportedError::NotAState { .. },
                ..
            } => one(
                "name a file of `cyan state export`, `openstack stack abandon` or `pulumi stack export`",
            ),
            CommandError::Plan { source, .. } => match source {
                PlanFileError::Newer { .. } => {
                    one("use the version of cyan that made the plan, or stage again with this one")
                }
                PlanFileError::Changed | PlanFileError::Damaged { .. } => one(
                    "copy the file again from where it was made, or make a new plan with `cyan stage --out PLAN`",
                ),
                PlanFileError::NotAPlan { .. } | PlanFileError::Sealed { .. } => {
                    one("make a new plan with `cyan stage --out PLAN`")
                }
            },
            CommandError::Secret { .. } => one("say `--reveal` to see it in clear"),
            _ => Vec::new(),
        }
    }
}

/// Returns a file in the same folder whose name is similar to that of a missing file.
fn near(name: &str) -> Option<String> {
    let path = std::path::Path::new(name);
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let there = std::fs::read_dir(folder.unwrap_or(std::path::Path::new("."))).ok()?;
    let names: Vec<String> = there
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let near = diag::nearest(
        path.file_name()?.to_str()?,
        names.iter().map(String::as_str),
    )?;
    Some(folder.map_or_else(
        || near.to_owned(),
        |folder| folder.join(near).display().to_string(),
    ))
}
