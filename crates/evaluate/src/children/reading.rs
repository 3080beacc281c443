//! What documents are read with.

use blueprint::Name;
use diag::Files;
use dialects::{Dialects, Surroundings};
use expr::FunctionTable;
use provider::Catalogs;
use source::Location;
use state::Snapshot;

use crate::resolve::inputs::Given;
use crate::world::World;
use understand::pinned::Frozen;

/// What documents are read with.
pub struct Reading<'a> {
    /// Where texts go that diagnostics may show.
    pub files: &'a mut Files,
    /// What providers offer.
    pub catalogs: &'a Catalogs,
    /// What expressions can call.
    pub functions: &'a FunctionTable,
    /// The dialects that documents may be written in.
    pub dialects: &'a Dialects,
    /// Inputs of the root, as far as they are given; none where not even defaults are taken for them, and includes whose
    /// places depend on inputs are left open.
    pub given: Option<&'a Given>,
    /// What the root stands in beside its own text.
    pub around: &'a Surroundings,
    /// Where to ask.
    pub world: &'a dyn World,
    /// Where the root is; none for a text that has no place.
    pub location: Option<Location>,
    /// The folder it stands in.
    pub folder: Name,
    /// All inputs are given: every child must be found now.
    pub complete: bool,
    /// What reading has found before, such as a kept plan has it.
    pub kept: &'a Frozen,
    /// The state: what is remembered of groups, and which of their members has which id. None where there is none yet.
    pub before: Option<&'a Snapshot>,
}
