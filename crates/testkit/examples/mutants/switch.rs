//! The switch that turns a change on. `cargo xtask mutants` writes this file into a copy of the
//! tree, and nowhere else.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::{Mutex, OnceLock};

/// The number of the change that `MUTANT` turns on, or 0. Records in the file `MUTANTS_REACHED`
/// that the function was reached.
pub(crate) fn on(function: usize) -> usize {
    static ON: OnceLock<usize> = OnceLock::new();
    static REACHED: OnceLock<Option<Mutex<BTreeSet<usize>>>> = OnceLock::new();
    let reached = REACHED.get_or_init(|| std::env::var_os("MUTANTS_REACHED").map(|_| Mutex::default()));
    if let Some(reached) = reached
        && let Ok(mut reached) = reached.lock()
        && reached.insert(function)
        && let Some(path) = std::env::var_os("MUTANTS_REACHED")
        && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path)
    {
        let _ = file.write_all(format!("{function}\n").as_bytes());
    }
    *ON.get_or_init(|| std::env::var("MUTANT").ok().and_then(|number| number.parse().ok()).unwrap_or_default())
}
