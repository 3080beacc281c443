//! The context for reading documents.

use blueprint::Name;
use diag::Files;
use dialect::{Dialects, LoadContext};
use expr::FunctionTable;
use provider::Catalogs;
use source::Location;
use state::Snapshot;

use crate::resolve::inputs::Given;
use crate::world::World;
use understand::pinned::Pinned;

/// The context for reading documents.
pub struct ReadingContext<'a> {
    /// Receives the texts that diagnostics may show.
    pub files: &'a mut Files,
    /// The providers' catalogues.
    pub catalogs: &'a Catalogs,
    /// The functions that expressions can call.
    pub functions: &'a FunctionTable,
    /// The dialects of documents.
    pub dialects: &'a Dialects,
    /// The given inputs of the root, as far as they are known. With `None`, not even defaults
    /// apply, and includes that depend on inputs stay open.
    pub given: Option<&'a Given>,
    /// The load context of the root.
    pub context: &'a LoadContext,
    /// The world that answers the questions.
    pub world: &'a dyn World,
    /// The location of the root; `None` for a text without a location.
    pub location: Option<Location>,
    /// The folder of the root.
    pub folder: Name,
    /// Whether all inputs are given, so that every child must be found in this run.
    pub complete: bool,
    /// The results of earlier reads, for example of a saved plan.
    pub earlier_reads: &'a Pinned,
    /// The state, with the recorded groups and the ids of their members. `None` if the instance has
    /// no state yet.
    pub before: Option<&'a Snapshot>,
}
