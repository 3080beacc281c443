//! Paths on the command line.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};

/// Reads a path. Refuses one that begins with `~`: only a shell expands it.
pub(crate) fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        match path.to_str().and_then(blueprint::home_mistake) {
            Some(mistake) => Err(format!("{mistake}; `$HOME/..` is filled in by the shell")),
            None => Ok(path),
        }
    })
}
