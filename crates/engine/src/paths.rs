//! Paths: absolute forms, paths relative to a folder, and the nearest folder with a state.

use std::path::{Component, Path, PathBuf};

use crate::error::Error;

/// The folder beside a document that holds its state.
pub const STATE_FOLDER: &str = ".cyan";

/// Refuses a path that begins with `~`: only a shell expands it.
pub fn refuse_tilde(path: &Path) -> Result<(), Error> {
    match path.to_str().and_then(blueprint::home_mistake) {
        Some(message) => Err(Error::Usage {
            message,
            help: Some("`$HOME/..` is filled in by the shell".to_owned()),
        }),
        None => Ok(()),
    }
}

/// Returns the absolute path. Symbolic links and dots are resolved as far as the path exists.
pub fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let path = if path.as_os_str().is_empty() {
        std::env::current_dir().unwrap_or_default()
    } else {
        path
    };
    let mut missing = Vec::new();
    let mut existing = path.as_path();
    loop {
        if let Ok(found) = existing.canonicalize() {
            return missing
                .iter()
                .rev()
                .fold(found, |whole, part| whole.join(part));
        }
        match (existing.parent(), existing.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name.to_owned());
                existing = parent;
            }
            _ => return path,
        }
    }
}

/// Returns `path` relative to `base`, with slashes. Both are absolute.
pub fn relative(base: &Path, path: &Path) -> String {
    let from: Vec<Component<'_>> = base.components().collect();
    let to: Vec<Component<'_>> = path.components().collect();
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return path.to_string_lossy().into_owned();
    }
    let up = std::iter::repeat_n("..".to_owned(), from.len() - common);
    let down = to[common..]
        .iter()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// The absolute path of the folder that contains a file.
pub fn folder_of(path: &Path) -> PathBuf {
    absolute(path.parent().unwrap_or(Path::new("")))
}

/// The nearest folder with a state, from the current folder upward; the current folder if there is
/// none.
pub fn nearest_folder() -> PathBuf {
    let start = absolute(Path::new(""));
    start
        .ancestors()
        .find(|folder| folder.join(STATE_FOLDER).is_dir())
        .unwrap_or(&start)
        .to_owned()
}
