//! The subject of a decision about a link: one of its parts, what it writes into one target, or the
//! link as a whole.
//!
//! Not here: deciding about links (`links`).

use blueprint::{Address, Name};
use evaluate::resolve::links::slots::LinkAt;
use understand::compare::Change;
use understand::links::overlay::Overlay;
use understand::links::wiring::LinkTarget;

/// The subject of a decision about a link.
#[derive(Clone, Debug)]
pub enum Linked {
    /// A part of the link.
    Part {
        /// The link.
        link: LinkAt,
        /// Its position among the kind's parts.
        part: usize,
    },
    /// A write into one target by a step of its own.
    Write(LinkWrite),
    /// The link as a whole.
    Record(LinkRecord),
}

/// A step in which a link writes into one target, or removes what it wrote.
#[derive(Clone, Debug)]
pub struct LinkWrite {
    /// The link.
    pub link: Address,
    /// The declared link and its target; `None` if the step only removes.
    pub into: Option<(LinkAt, LinkTarget)>,
    /// `a`, `b` or the neighbour's name.
    pub name: Name,
    /// The address of the target.
    pub target: Address,
    /// The target among the declared resources.
    pub member: Option<(u32, Option<u32>)>,
    /// The contributions to remove.
    pub undo: Vec<Overlay>,
    /// Its place among the writes of the link.
    pub(crate) write_index: u32,
    /// The depth of the link behind the links that it needs.
    pub(crate) guarantee_depth: u32,
    /// A call is due whatever the records say: something else may have changed or removed what was
    /// written.
    pub forces_call: bool,
}

/// The step that writes the record of a link.
#[derive(Clone, Debug)]
pub struct LinkRecord {
    /// The declared link; `None` if the link is no longer declared.
    pub link: Option<LinkAt>,
    /// The links that give a guarantee that it needs.
    pub(crate) guarantee_givers: Vec<Address>,
    /// The addresses of its parts that are wanted.
    pub(crate) parts: Vec<Address>,
    /// The changes of its contributions, for the user.
    pub(crate) changes: Vec<ContributionChange>,
}

/// The change of a contribution of a link.
#[derive(Clone, Debug)]
pub(crate) struct ContributionChange {
    /// The phase of the target: `a`, `b` or the neighbour's name.
    pub(crate) into: Name,
    /// Whether the contribution is written with the target's spec, not by a step of its own.
    pub(crate) with_spec: bool,
    pub(crate) change: Change,
}
