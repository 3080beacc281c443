//! A program of this repository that evaluates templates of JSONPath with client-go, which the tests
//! compare with. Its Go module names the version of client-go.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::go_tool::compile_own;
use crate::packages::cache;

/// The variable in which tests find the program.
const PEER: &str = "CYAN_TEST_JSONPATH_PEER";

/// The Go module, below the root.
const MODULE: &str = "crates/jsonpath/tests/peer";

/// Builds the program if it is missing. Returns the variable for the tests; reports and leaves it
/// out if the program cannot be built.
pub(crate) fn build(root: &Path) -> Option<(&'static str, String)> {
    built_once(&root.join(MODULE))
        .inspect_err(|error| println!("missing: {PEER} (built with Go): {error}"))
        .ok()
        .map(|program| (PEER, program.display().to_string()))
}

/// Builds the program below the cache, one run at a time.
fn built_once(sources: &Path) -> io::Result<PathBuf> {
    let folder = cache()?.join("jsonpath-programs");
    fs::create_dir_all(&folder)?;
    let lock = File::create(folder.join("lock"))?;
    lock.lock()?;
    compile_own(sources, &folder, "jsonpath-peer", ".")
}
