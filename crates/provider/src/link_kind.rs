//! Kinds of links between two types, as data (decisions/links#kinds-are-data).

use blueprint::{Expr, IndexMap, Name, TypeId};

use crate::Annotation;

/// A kind of link between two types.
#[derive(Clone, Debug)]
pub struct LinkKind {
    /// The type on side a.
    pub a: Name,
    /// The type on side b.
    pub b: Name,
    /// The end that is created first. `None` for a soft link, which orders nothing.
    pub first: Option<LinkEnd>,
    /// Minimum and maximum number of such links per a.
    pub per_a: (u32, Option<u32>),
    /// Minimum and maximum number of such links per b.
    pub per_b: (u32, Option<u32>),
    /// Guarantees that the link gives: side and name.
    pub guarantees: Vec<(LinkEnd, Name)>,
    /// Guarantees that the link needs: side, name, and whether another link must give it.
    pub needs: Vec<(LinkEnd, Name, bool)>,
    /// Annotations that the link reads.
    pub annotations: Vec<Annotation>,
    /// Conditions that must be true, each with the message if it is not.
    pub conditions: Vec<(Expr, Expr)>,
    /// Neighbouring resources that the link writes to, by name.
    pub uses: IndexMap<Name, LinkUse>,
    /// Resources that the link owns, by name.
    pub parts: IndexMap<Name, LinkPart>,
    /// Contributions to specs.
    pub effects: Vec<LinkEffect>,
    /// The value of `link(a, b)`.
    pub data: Option<Expr>,
}

/// An end of a link.
pub type LinkEnd = Side;

/// Side a or b.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The end that has the selector.
    A,
    /// The selected end.
    B,
}

/// An existing resource that a link writes to.
#[derive(Clone, Debug)]
pub struct LinkUse {
    /// The end that holds the reference to the resource.
    pub of: LinkEnd,
    /// The field that holds the reference.
    pub field: Name,
    /// Its type.
    pub type_name: Name,
}

/// A resource that a link owns.
#[derive(Clone, Debug)]
pub struct LinkPart {
    /// Its type.
    pub type_name: TypeId,
    /// Its spec.
    pub spec: Expr,
    /// The condition under which it exists. `None` if it always does.
    pub condition: Option<Expr>,
}

/// A contribution of a link to a spec.
#[derive(Clone, Debug)]
pub struct LinkEffect {
    /// The target: `a`, `b`, or `use.NAME`.
    pub target: Name,
    /// The way in which it writes.
    pub mode: WriteMode,
    /// The value that it writes.
    pub value: Expr,
    /// Whether it is a step of its own once the target is ready. If not, it is merged into the
    /// target's desired spec.
    pub is_own_step: bool,
}

/// The way in which a contribution writes.
#[derive(Clone, Debug)]
pub enum WriteMode {
    /// Sets one field.
    Set(Name),
    /// Sets one entry of a map: path and key.
    Put(Name, Expr),
    /// Adds one item to a list: path and identifying field.
    Add(Name, Option<Name>),
}
