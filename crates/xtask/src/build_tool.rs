//! The path of `cargo` and of its build folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The build folder.
pub(crate) fn target(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// The `cargo` that runs this program.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
