//! What of a link a decision is about: one of its resources, what it writes into one target, or the link as a whole.
//!
//! Not here: deciding about links (`links`).

use blueprint::{Address, Name};
use evaluate::resolve::links::LinkAt;
use understand::compare::Change;
use understand::links::overlay::Overlay;
use understand::links::wiring::LinkTarget;

/// What of a link a decision is about.
#[derive(Clone, Debug)]
pub enum Linked {
    /// One of its parts.
    Part {
        /// Of which link.
        link: LinkAt,
        /// Its position among the kind's parts.
        part: usize,
    },
    /// What it writes into one target by a step of its own.
    Write(LinkWrite),
    /// All of it.
    Whole(LinkRecord),
}

/// What a link writes into one target by a step of its own, or takes out of it.
#[derive(Clone, Debug)]
pub struct LinkWrite {
    /// The link.
    pub link: Address,
    /// Which of the declared ones it is, and into which of its targets it writes; none where it only takes out.
    pub into: Option<(LinkAt, LinkTarget)>,
    /// `a`, `b` or the neighbour's name.
    pub name: Name,
    /// Into what.
    pub target: Address,
    /// The target among the declared resources.
    pub member: Option<(u32, Option<u32>)>,
    /// What is taken out.
    pub undo: Vec<Overlay>,
    /// Its place among the writes of the link.
    pub(crate) place: u32,
    /// Behind how many links that give it something the link comes.
    pub(crate) rank: u32,
    /// The world has changed what was written, so a call is due whatever the records say.
    pub insist: bool,
}

/// The step that writes the record of a link.
#[derive(Clone, Debug)]
pub struct LinkRecord {
    /// Which of the declared ones it is; none for one that is no longer declared.
    pub link: Option<LinkAt>,
    /// Links that give it something it needs.
    pub(crate) after: Vec<Address>,
    /// The addresses of its parts that are wanted.
    pub(crate) parts: Vec<Address>,
    /// What it contributes to the specs of its targets, and whether with them: for people.
    pub(crate) changes: Vec<(Name, bool, Change)>,
}
