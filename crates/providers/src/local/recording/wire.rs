//! What a run and a recorder tell each other, and how the end of a command is written.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use data_encoding::BASE64;
use provider::{CallRecords, ErrorKind, ProviderError, Scrubber};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use crate::local::process::{ProgramEnd, ProgramRun};

/// The field to which an error about the time limit points.
pub(super) const LIMIT_FIELD: &str = "timeout";

/// The kinds of messages of a recorder.
pub(super) const LINE: u8 = b'l';
/// The result of the command. No message follows.
pub(super) const RESULT: u8 = b'r';

/// The orders to a recorder after its job. If the pipe closes without one, the run has died, and
/// the command goes on.
pub(super) const CANCEL: u8 = b'c';
/// Ends the command at once.
pub(super) const KILL: u8 = b'k';

/// The largest message.
const MOST_BYTES: u64 = 1 << 30;

/// Bytes as text.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Bytes(String);

impl Bytes {
    fn of(bytes: &[u8]) -> Bytes {
        Bytes(BASE64.encode(bytes))
    }

    fn of_path(path: &Path) -> Bytes {
        Bytes::of(path.as_os_str().as_bytes())
    }

    fn decode(&self) -> io::Result<Vec<u8>> {
        BASE64.decode(self.0.as_bytes()).map_err(io::Error::other)
    }

    fn path(&self) -> io::Result<PathBuf> {
        Ok(PathBuf::from(OsString::from_vec(self.decode()?)))
    }
}

/// A command to run and to record. It is passed by a pipe, because it may contain secrets.
#[derive(Serialize, Deserialize)]
pub(super) struct Job {
    token: String,
    records: Bytes,
    boot: String,
    key: Option<Bytes>,
    words: Vec<String>,
    folder: Bytes,
    environment: Vec<(String, String)>,
    stdin: Option<String>,
    limit: Duration,
    deadline: Option<Duration>,
}

/// A job as the recorder uses it.
pub(super) struct ReadJob {
    pub(super) token: String,
    pub(super) records: CallRecords,
    pub(super) run: ProgramRun,
    pub(super) deadline: Option<Duration>,
}

impl Job {
    pub(super) fn new(
        token: &str,
        records: &CallRecords,
        run: &ProgramRun,
        deadline: Option<Duration>,
    ) -> io::Result<Job> {
        Ok(Job {
            token: token.to_owned(),
            records: Bytes::of_path(&std::path::absolute(&records.folder)?),
            boot: records.boot.to_string(),
            key: records.keys.first().map(|key| Bytes::of(key.as_slice())),
            words: run.words.clone(),
            folder: Bytes::of_path(&run.folder),
            environment: run.environment.clone(),
            stdin: run.stdin.clone(),
            limit: run.limit,
            deadline,
        })
    }

    pub(super) fn read(self) -> io::Result<ReadJob> {
        let key = match self.key {
            Some(key) => {
                let bytes = Zeroizing::new(key.decode()?);
                let key = <[u8; 32]>::try_from(bytes.as_slice()).map_err(io::Error::other)?;
                Some(Zeroizing::new(key))
            }
            None => None,
        };
        Ok(ReadJob {
            token: self.token,
            records: CallRecords {
                folder: self.records.path()?.into(),
                detached: CancellationToken::new(),
                boot: self.boot.into(),
                keys: key.into_iter().collect(),
            },
            run: ProgramRun {
                words: self.words,
                folder: self.folder.path()?.into(),
                environment: self.environment,
                stdin: self.stdin,
                limit: self.limit,
                limited_by: LIMIT_FIELD,
                // The run removes the secrets from what it gets.
                scrub: Scrubber::default(),
            },
            deadline: self.deadline,
        })
    }
}

/// How a command ended.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EndedCommand {
    /// It ended by itself.
    Ended {
        code: Option<i32>,
        signal: Option<i32>,
        stdout: Bytes,
        stderr: Bytes,
        cut: bool,
    },
    /// It was ended, or not started.
    Failed {
        kind: ErrorKind,
        message: String,
        field: Option<String>,
    },
}

impl EndedCommand {
    pub(super) fn of(result: &Result<ProgramEnd, ProviderError>) -> EndedCommand {
        match result {
            Ok(end) => EndedCommand::Ended {
                code: end.code,
                signal: end.signal,
                stdout: Bytes::of(&end.stdout),
                stderr: Bytes::of(&end.stderr),
                cut: end.cut,
            },
            Err(error) => EndedCommand::Failed {
                kind: error.kind,
                message: error.message.clone(),
                field: error.field.as_ref().map(ToString::to_string),
            },
        }
    }

    pub(super) fn into_result(self) -> Result<ProgramEnd, ProviderError> {
        match self {
            EndedCommand::Ended {
                code,
                signal,
                stdout,
                stderr,
                cut,
            } => {
                let read = |bytes: Bytes| {
                    bytes.decode().map_err(|error| {
                        ProviderError::new(ErrorKind::OutcomeUnknown, error.to_string())
                    })
                };
                Ok(ProgramEnd {
                    code,
                    signal,
                    stdout: read(stdout)?,
                    stderr: read(stderr)?,
                    cut,
                })
            }
            EndedCommand::Failed {
                kind,
                message,
                field,
            } => {
                let error = ProviderError::new(kind, message);
                Err(match field {
                    Some(field) => error.at(field.as_str()),
                    None => error,
                })
            }
        }
    }
}

/// A message with its length before it.
pub(super) fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u64).to_le_bytes()[..], message].concat()
}

/// The length in the first bytes of a message.
pub(super) fn length_of(bytes: [u8; 8]) -> io::Result<usize> {
    let length = u64::from_le_bytes(bytes);
    usize::try_from(length)
        .ok()
        .filter(|_| length <= MOST_BYTES)
        .ok_or_else(|| io::Error::other("a message is too long"))
}

/// Reads a message that [`framed`] wrote.
pub(super) fn read_message(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let mut message = vec![0; length_of(length)?];
    from.read_exact(&mut message)?;
    Ok(message)
}
