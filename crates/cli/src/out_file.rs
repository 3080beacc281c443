//! Files that commands write.

use std::path::Path;

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
