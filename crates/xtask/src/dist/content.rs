//! What packages of every kind contain.

use std::path::PathBuf;

use super::elf::Needs;
use super::project::Project;

/// What every package contains.
pub(crate) struct Content {
    /// What the packages say about the project.
    pub(crate) project: Project,
    /// The file of the binary.
    pub(crate) file: PathBuf,
    /// The bytes of that file.
    pub(crate) binary: Vec<u8>,
    /// What the binary needs of a system.
    pub(crate) needs: Needs,
    /// Names and texts of the licences, of this project and of the crates in the binary.
    pub(crate) licences: Vec<(String, Vec<u8>)>,
    /// How hard archives are compressed.
    pub(crate) level: u32,
}
