//! Random programs of Pulumi YAML: a seed gives a program with its configuration, and some have a
//! mistake. They use all functions, forms of access, kinds of configuration, options and outputs.
//!
//! The types come from the package `peer`, whose schema stands in `packages`, and whose resources
//! compute what `behaviours.json` says.
//!
//! Not here: what a program gives (`conformance`).

mod draft;
mod expressions;
mod mistakes;
mod node;

use std::path::PathBuf;

use serde_json::Value as Json;

use draft::Draft;

/// The folder with the schemas, and the file that says what resources compute.
pub fn assumptions() -> (PathBuf, PathBuf) {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/random_programs");
    (here.join("packages"), here.join("behaviours.json"))
}

/// The program of a seed, in the notation of recorded programs.
pub fn program(seed: u64) -> Json {
    let mut draft = Draft::new(seed);
    draft.declare_configuration();
    draft.declare_elements();
    draft.declare_outputs();
    if draft.chance(25) {
        mistakes::plant(&mut draft);
    }
    draft.case(seed)
}
