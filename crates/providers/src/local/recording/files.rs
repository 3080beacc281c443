//! The files of a recorded command: the recorder takes the announced call and writes its end; a
//! later run looks at what is there.
//!
//! The end is sealed if the state has a key, since the output of a command may contain any secret.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use chacha20poly1305::aead::{Aead, Generate, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use provider::{CallProgress, CallRecords};

use super::wire::EndedCommand;
use crate::local::unix;

/// The beginning of a sealed file: a word, and the version of the format.
const SEALED: &[u8] = b"cyanotype call 1\n";
const NONCE: usize = 24;

/// What the files say about a command.
pub(super) enum Found {
    /// It has not begun, and never will.
    NeverBegan,
    /// It runs.
    Running,
    /// It has ended.
    Ended(EndedCommand),
    /// Nothing that can be relied on.
    Nothing,
}

fn file(records: &CallRecords, token: &str, progress: CallProgress) -> io::Result<PathBuf> {
    records
        .file(token, progress)
        .ok_or_else(|| io::Error::other("the token names no file"))
}

/// Takes an announced call: from now on the command counts as begun. The lock ends with the
/// returned file, at the latest with this process.
///
/// # Errors
/// If the call was not announced, or a later run has taken it away; if the files cannot be written.
pub(super) fn take(records: &CallRecords, token: &str) -> io::Result<File> {
    let (planned, begun) = (
        file(records, token, CallProgress::Planned)?,
        file(records, token, CallProgress::Begun)?,
    );
    let lock = |path: &PathBuf| {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(io::Error::from(io::ErrorKind::ResourceBusy)),
            Err(TryLockError::Error(error)) => Err(error),
        }
    };
    // The file is locked before it has the new name, so a file of that name without a lock belongs
    // to a process that has ended.
    let taken = match lock(&planned) {
        Ok(taken) => {
            fs::rename(&planned, &begun)?;
            taken
        }
        // Another try of the same call.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let taken = lock(&begun)?;
            match fs::remove_file(file(records, token, CallProgress::Ended)?) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            taken
        }
        Err(error) => return Err(error),
    };
    Ok(taken)
}

/// Writes how a command ended. The file is on the disk when this returns.
pub(super) fn write_end(
    records: &CallRecords,
    token: &str,
    ended: &EndedCommand,
) -> io::Result<()> {
    let path = file(records, token, CallProgress::Ended)?;
    let text = serde_json::to_vec(ended)?;
    let text = match records.keys.first() {
        Some(key) => seal(key, token, &text)?,
        None => text,
    };
    let new = path.with_extension("ended-new");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&new)?;
    file.write_all(&text)?;
    file.sync_all()?;
    fs::rename(&new, &path)?;
    unix::sync_folder_of(&path)
}

/// Looks at what became of a command, in the folders of all writers: the last one that knows the
/// call counts. A call that has not begun is taken away from the process that may be about to begin
/// it.
pub(super) fn look(all: &CallRecords, token: &str) -> Found {
    let names = fs::read_dir(&all.folder).into_iter().flatten().flatten();
    let mut epochs: Vec<u64> = names
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    epochs.sort_unstable();
    let knows = |records: &CallRecords| {
        CallProgress::ALL
            .iter()
            .any(|progress| file(records, token, *progress).is_ok_and(|file| file.exists()))
    };
    // A file gets its next name at most twice.
    const LOOKS: u32 = 4;
    for _ in 0..LOOKS {
        let mut records = epochs.iter().rev().map(|epoch| all.of_writer(*epoch));
        let Some(records) = records.find(knows) else {
            continue;
        };
        match look_once(&records, token) {
            Ok(Some(found)) => return found,
            Ok(None) => {}
            Err(_) => break,
        }
    }
    Found::Nothing
}

fn look_once(records: &CallRecords, token: &str) -> io::Result<Option<Found>> {
    if let Some(ended) = read_end(records, token)? {
        return Ok(Some(Found::Ended(ended)));
    }
    match File::open(file(records, token, CallProgress::Begun)?) {
        Ok(begun) => {
            return match begun.try_lock_shared() {
                Err(TryLockError::WouldBlock) => Ok(Some(Found::Running)),
                Err(TryLockError::Error(error)) => Err(error),
                // The recorder may have written the end just before it ended.
                Ok(()) => Ok(Some(
                    read_end(records, token)?.map_or(Found::Nothing, Found::Ended),
                )),
            };
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if file(records, token, CallProgress::Void)?.exists() {
        return Ok(Some(Found::NeverBegan));
    }
    let planned = file(records, token, CallProgress::Planned)?;
    match fs::read(&planned) {
        // The names of files are not synced: after a restart of the machine, the call may have
        // begun nevertheless.
        Ok(boot) if boot.is_empty() || boot != records.boot.as_bytes() => {
            return Ok(Some(Found::Nothing));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    match fs::rename(&planned, file(records, token, CallProgress::Void)?) {
        Ok(()) => Ok(Some(Found::NeverBegan)),
        // The recorder was faster.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads how a command ended; `None` if it has not. A file that cannot be read or opened is an
/// error.
fn read_end(records: &CallRecords, token: &str) -> io::Result<Option<EndedCommand>> {
    let bytes = match fs::read(file(records, token, CallProgress::Ended)?) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let text = if records.keys.is_empty() {
        bytes
    } else {
        let opened = records.keys.iter().find_map(|key| open(key, token, &bytes));
        opened.ok_or_else(|| io::Error::other("it is sealed with another key"))?
    };
    Ok(Some(serde_json::from_slice(&text)?))
}

fn seal(key: &[u8; 32], token: &str, text: &[u8]) -> io::Result<Vec<u8>> {
    let nonce = XNonce::try_generate().map_err(io::Error::other)?;
    let payload = Payload {
        msg: text,
        aad: token.as_bytes(),
    };
    let sealed = XChaCha20Poly1305::new(key.into())
        .encrypt(&nonce, payload)
        .map_err(|_| io::Error::other("it cannot be sealed"))?;
    Ok([SEALED, nonce.as_slice(), &sealed].concat())
}

fn open(key: &[u8; 32], token: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let (nonce, sealed) = bytes.strip_prefix(SEALED)?.split_at_checked(NONCE)?;
    let payload = Payload {
        msg: sealed,
        aad: token.as_bytes(),
    };
    let nonce = XNonce::from(<[u8; NONCE]>::try_from(nonce).ok()?);
    XChaCha20Poly1305::new(key.into())
        .decrypt(&nonce, payload)
        .ok()
}

#[cfg(test)]
mod tests {
    use provider::{ErrorKind, ProviderError};
    use tokio_util::sync::CancellationToken;
    use zeroize::Zeroizing;

    use super::*;
    use crate::local::process::ProgramEnd;

    const TOKEN: &str = "token-1";

    fn records(folder: &tempfile::TempDir, boot: &str, keys: &[u8]) -> CallRecords {
        CallRecords {
            folder: folder.path().into(),
            detached: CancellationToken::new(),
            boot: boot.into(),
            keys: keys.iter().map(|key| Zeroizing::new([*key; 32])).collect(),
        }
    }

    /// Announces the call for a writer, as the runtime does. Returns the records of the writer.
    fn announce(all: &CallRecords, epoch: u64) -> CallRecords {
        let own = all.of_writer(epoch);
        fs::create_dir_all(&own.folder).unwrap();
        let planned = file(&own, TOKEN, CallProgress::Planned).unwrap();
        fs::write(planned, &*all.boot).unwrap();
        own
    }

    /// A folder, the records of all writers, and those of one that has announced the call.
    fn announced(boot: &str) -> (tempfile::TempDir, CallRecords, CallRecords) {
        let folder = tempfile::tempdir().unwrap();
        let all = records(&folder, boot, &[]);
        let own = announce(&all, 9);
        (folder, all, own)
    }

    fn ended(stdout: &str) -> EndedCommand {
        EndedCommand::of(&Ok(ProgramEnd {
            code: Some(0),
            signal: None,
            stdout: stdout.into(),
            stderr: Vec::new(),
            cut: false,
        }))
    }

    fn stdout(found: Found) -> String {
        match found {
            Found::Ended(ended) => String::from_utf8(ended.into_result().unwrap().stdout).unwrap(),
            _ => panic!("it has no end"),
        }
    }

    #[test]
    fn call_that_has_not_begun_is_taken_away_from_its_recorder() {
        let (_folder, all, own) = announced("boot");
        assert!(matches!(look(&all, TOKEN), Found::NeverBegan));
        let late = take(&own, TOKEN).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::NotFound);
        assert!(matches!(look(&all, TOKEN), Found::NeverBegan));
        // The next writer makes a call with the same token. The former one cannot take it.
        let next = announce(&all, 10);
        assert!(take(&own, TOKEN).is_err());
        let _lock = take(&next, TOKEN).unwrap();
        assert!(take(&own, TOKEN).is_err());
        assert!(matches!(look(&all, TOKEN), Found::Running));
        // What the former one announces late does not count.
        announce(&all, 9);
        assert!(matches!(look(&all, TOKEN), Found::Running));
    }

    #[test]
    fn command_runs_while_its_file_is_locked_and_is_unknown_after_that() {
        let (_folder, all, own) = announced("boot");
        let lock = take(&own, TOKEN).unwrap();
        assert!(matches!(look(&all, TOKEN), Found::Running));
        assert!(take(&own, TOKEN).is_err(), "two recorders have the call");
        drop(lock);
        assert!(matches!(look(&all, TOKEN), Found::Nothing));
    }

    #[test]
    fn end_is_read_while_the_recorder_lives_and_after_it() {
        let (_folder, all, own) = announced("boot");
        let lock = take(&own, TOKEN).unwrap();
        write_end(&own, TOKEN, &ended("out")).unwrap();
        assert_eq!(stdout(look(&all, TOKEN)), "out");
        drop(lock);
        assert_eq!(stdout(look(&all, TOKEN)), "out");
        // Another try of the call has no end yet.
        let _lock = take(&own, TOKEN).unwrap();
        assert!(matches!(look(&all, TOKEN), Found::Running));
        let refused: Result<ProgramEnd, _> =
            Err(ProviderError::new(ErrorKind::Cancelled, "stopped").at("timeout"));
        write_end(&own, TOKEN, &EndedCommand::of(&refused)).unwrap();
        let Found::Ended(ended) = look(&all, TOKEN) else {
            panic!("it has no end");
        };
        let error = ended.into_result().err().unwrap();
        assert_eq!(error.kind, ErrorKind::Cancelled);
        assert_eq!(error.field.unwrap().to_string(), "timeout");
    }

    /// The power may have failed after the call began and before its file had the new name on the
    /// disk.
    #[test]
    fn announced_call_of_another_boot_is_unknown() {
        for (then, now) in [("before", "after"), ("", "")] {
            let (folder, ..) = announced(then);
            let later = records(&folder, now, &[]);
            assert!(matches!(look(&later, TOKEN), Found::Nothing), "{then}");
        }
    }

    #[test]
    fn end_is_sealed_and_opens_with_its_key_and_for_its_call() {
        let folder = tempfile::tempdir().unwrap();
        let with_keys = |keys: &[u8]| records(&folder, "boot", keys);
        let own = announce(&with_keys(&[1]), 9);
        write_end(&own, TOKEN, &ended("secret words")).unwrap();
        let path = file(&own, TOKEN, CallProgress::Ended).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.starts_with(SEALED));
        assert_eq!(unix::mode_of(&fs::metadata(&path).unwrap()), 0o600);
        // After a change of the key, the former one still opens it.
        assert_eq!(stdout(look(&with_keys(&[2, 1]), TOKEN)), "secret words");
        for keys in [&[2][..], &[]] {
            assert!(matches!(look(&with_keys(keys), TOKEN), Found::Nothing));
        }
        let other = file(&own, "token-2", CallProgress::Ended).unwrap();
        fs::write(other, bytes).unwrap();
        assert!(matches!(look(&with_keys(&[1]), "token-2"), Found::Nothing));
        // Without the key nobody can write an end.
        let without = with_keys(&[]).of_writer(9);
        write_end(&without, TOKEN, &ended("forged")).unwrap();
        assert!(matches!(look(&with_keys(&[1]), TOKEN), Found::Nothing));
    }

    #[test]
    fn nothing_is_known_without_files() {
        let folder = tempfile::tempdir().unwrap();
        let records = records(&folder, "boot", &[]);
        for token in [TOKEN, "../token", ""] {
            assert!(matches!(look(&records, token), Found::Nothing), "{token}");
            assert!(take(&records.of_writer(9), token).is_err());
        }
    }
}
