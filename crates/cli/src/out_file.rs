//! Files that commands write.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::exit::CommandError;

/// Refuses to replace a non-empty file of another kind.
pub(crate) fn may_be_replaced(
    out: &Path,
    kind: &str,
    is_one: impl Fn(&str) -> bool,
) -> Result<(), CommandError> {
    let unfit = |what: &str| {
        let (name, what) = (out.display().to_string(), what.to_owned());
        Err(CommandError::Unfit {
            name,
            what,
            help: Some(format!("name another file for the {kind}")),
        })
    };
    match std::fs::metadata(out) {
        Ok(about) if about.is_dir() => unfit("is a folder"),
        Ok(about) if !about.is_file() => unfit("is no regular file"),
        Ok(about) if about.len() == 0 => Ok(()),
        Ok(_) => match std::fs::read(out) {
            Ok(bytes) if std::str::from_utf8(&bytes).is_ok_and(&is_one) => Ok(()),
            Ok(_) => unfit(&format!("exists and is no {kind}; it is not overwritten")),
            Err(source) => Err(CommandError::Unreadable {
                name: out.display().to_string(),
                source,
            }),
        },
        // If the file cannot be written, writing reports it.
        Err(_) => Ok(()),
    }
}

/// Writes a file that only its owner can read, completely or not at all.
pub(crate) fn write_private(out: &Path, text: &str) -> Result<(), CommandError> {
    let unwritable = |source| CommandError::Unwritable {
        name: out.display().to_string(),
        source,
    };
    // A random name, because `create_new` refuses an existing file.
    let mut partial_name = out.as_os_str().to_owned();
    partial_name.push(format!(
        ".{}-{:08x}.part",
        std::process::id(),
        rand::random::<u32>()
    ));
    let partial_path = PathBuf::from(partial_name);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&partial_path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        std::fs::rename(&partial_path, out)
    });
    if let Err(source) = written {
        // The partial file is useless. If it cannot be removed, the write error is still the one to
        // report.
        let _ = std::fs::remove_file(&partial_path);
        return Err(unwritable(source));
    }
    Ok(())
}
