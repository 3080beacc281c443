//! The file of a simulated world: one line of JSON per change, appended with the change, without
//! fsync.
//!
//! A truncated last line is ignored. When most lines are outdated, the file is rewritten before the
//! next change.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use blueprint::Name;

use super::object::FakeObject;

/// The first line of every world file.
const HEAD: &str = "{\"world\":1}";

/// One change.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChangeLine {
    /// An object was created as the n-th at its address.
    Created(Box<FakeObject>, u32),
    /// An object was changed.
    Changed(Box<FakeObject>),
    /// The object of that id was deleted.
    Gone(Name),
    /// The number of objects ever created at an address.
    Made(Name, u32),
}

/// The error for an unusable world file.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The file cannot be read.
    #[error("the world of the simulated cloud cannot be read from {path}")]
    Unreadable {
        /// The path of the file.
        path: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file has another format, or a newer version.
    #[error("{path} is no world of the simulated cloud: line {line}")]
    Foreign {
        /// The path of the file.
        path: String,
        /// The first invalid line, from 1.
        line: usize,
    },
}

/// A world file. It is opened for writing with the first change.
#[derive(Debug)]
pub(super) struct WorldFile {
    path: PathBuf,
    file: Option<File>,
    /// The number of lines in the file.
    lines: usize,
    /// The length of the complete lines in bytes, if the last line is truncated.
    whole: Option<u64>,
    buffer: Vec<u8>,
}

impl WorldFile {
    /// Reads a file and passes each change to `on_change`, in order. A missing file is empty.
    pub(super) fn load(
        path: &Path,
        mut on_change: impl FnMut(ChangeLine),
    ) -> Result<WorldFile, WorldError> {
        let mut keeper = WorldFile {
            path: path.into(),
            file: None,
            lines: 0,
            whole: None,
            buffer: Vec::new(),
        };
        let shown = path.display().to_string();
        let unreadable = |source| WorldError::Unreadable {
            path: shown.clone(),
            source,
        };
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(keeper),
            Err(error) => return Err(unreadable(error)),
        };
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut text = Vec::new();
        let mut whole = 0_u64;
        loop {
            text.clear();
            let read = reader.read_until(b'\n', &mut text).map_err(unreadable)?;
            if read == 0 {
                return Ok(keeper);
            }
            if text.last() != Some(&b'\n') {
                keeper.whole = Some(whole);
                return Ok(keeper);
            }
            whole += read as u64;
            keeper.lines += 1;
            let foreign = || WorldError::Foreign {
                path: shown.clone(),
                line: keeper.lines,
            };
            if keeper.lines == 1 {
                if text.trim_ascii() != HEAD.as_bytes() {
                    return Err(foreign());
                }
            } else {
                let text = std::str::from_utf8(&text).map_err(|_| foreign())?;
                on_change(serde_json::from_str(text).map_err(|_| foreign())?);
            }
        }
    }

    /// Appends a change. `all` returns the whole content, in case the file is rewritten first.
    pub(super) fn write<I: Iterator<Item = ChangeLine>>(
        &mut self,
        line: &ChangeLine,
        all: impl FnOnce() -> I,
    ) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(open(&self.path, &mut self.lines, self.whole.take(), all)?),
        };
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, line)?;
        self.buffer.push(b'\n');
        // One write per line, so that lines of concurrent processes are not mixed.
        file.write_all(&self.buffer)?;
        self.lines += 1;
        Ok(())
    }
}

fn open<I: Iterator<Item = ChangeLine>>(
    path: &Path,
    lines: &mut usize,
    whole: Option<u64>,
    all: impl FnOnce() -> I,
) -> io::Result<File> {
    let file = append(path)?;
    if let Some(whole) = whole {
        file.set_len(whole)?;
    }
    if *lines > 200 {
        let all: Vec<ChangeLine> = all().collect();
        // The file is rewritten only if no other process has it open for writing.
        if *lines > 2 * all.len() && file.try_lock().is_ok() {
            let other = path.with_extension("world.new");
            let mut writer = BufWriter::new(append(&other)?);
            writer.get_ref().set_len(0)?;
            writeln!(writer, "{HEAD}")?;
            for line in &all {
                serde_json::to_writer(&mut writer, line)?;
                writer.write_all(b"\n")?;
            }
            let file = writer
                .into_inner()
                .map_err(io::IntoInnerError::into_error)?;
            std::fs::rename(&other, path)?;
            file.lock_shared()?;
            *lines = all.len() + 1;
            return Ok(file);
        }
    }
    file.lock_shared()?;
    if *lines == 0 {
        (&file).write_all(format!("{HEAD}\n").as_bytes())?;
        *lines = 1;
    }
    Ok(file)
}

/// Opens a file for appending. Only the owner can read the file, because objects hold passwords, as
/// in a real cloud.
fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
