//! Finds the values that the expressions of a link kind read, for the order of evaluation and of
//! calls.
//!
//! Reading a field of an end normally waits for the whole resource. A field that the document sets
//! is read from the document alone if that wait would close a cycle: if both sides read each other,
//! or if a neighbour's contribution reads the end that refers to it.

use blueprint::{AccessorKind, Expr, Name, Ref, ReferenceHead, Schema};
use provider::{LinkKind, Side, WriteMode};

/// The part of a link that is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkTarget {
    /// One of the ends.
    End(Side),
    /// A neighbour, by its position among the kind's `use`.
    Use(usize),
}

impl LinkTarget {
    /// The target of an effect: `a`, `b` or `use.NAME`.
    pub fn of(into: &str, kind: &LinkKind) -> Option<LinkTarget> {
        match into {
            "a" => Some(LinkTarget::End(Side::A)),
            "b" => Some(LinkTarget::End(Side::B)),
            other => other
                .strip_prefix("use.")
                .and_then(|name| kind.uses.get_index_of(name))
                .map(LinkTarget::Use),
        }
    }

    /// The last element of the phase's address: `a`, `b` or the neighbour's name.
    pub fn phase(self, kind: &LinkKind) -> Name {
        match self {
            LinkTarget::End(Side::A) => "a".into(),
            LinkTarget::End(Side::B) => "b".into(),
            LinkTarget::Use(at) => kind
                .uses
                .get_index(at)
                .map_or_else(|| "".into(), |(name, _)| name.clone()),
        }
    }
}

/// A value that an expression of a link kind reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkRead {
    /// The spec of an end: one field, or the whole spec for `None`.
    Spec(Side, Option<Name>),
    /// The metadata of an end.
    Metadata(Side),
    /// A neighbour.
    Use(usize),
    /// A part, by its position in the kind.
    Part(usize),
}

/// The reads of the expressions of one kind, computed once per kind.
#[derive(Clone, Debug, Default)]
pub struct Wiring {
    /// The reads of `with` contributions, by target.
    pub with: Vec<(LinkTarget, Vec<LinkRead>)>,
    /// The reads of each part.
    pub parts: Vec<Vec<LinkRead>>,
    /// The reads of `data`.
    pub data: Vec<LinkRead>,
    /// The reads of `require`, which must hold before any contribution with a target is sent.
    pub require: Vec<LinkRead>,
    /// Whether `with` contributions on both sides read each other's specs.
    pub(crate) mutual: bool,
    /// Whether a `with` contribution into a, or into b, reads a part, so that the part comes first.
    pub(crate) part_first: [bool; 2],
}

impl Wiring {
    pub(crate) fn of(kind: &LinkKind) -> Wiring {
        let mut wiring = Wiring::default();
        for effect in kind.effects.iter().filter(|effect| !effect.is_own_step) {
            let Some(target) = LinkTarget::of(&effect.target, kind) else {
                continue;
            };
            let mut found = Vec::new();
            if let WriteMode::Put(_, key) = &effect.mode {
                reads(key, kind, &mut found);
            }
            reads(&effect.value, kind, &mut found);
            match wiring.with.iter_mut().find(|(other, _)| *other == target) {
                Some((_, all)) => all.extend(found),
                None => wiring.with.push((target, found)),
            }
        }
        for part in kind.parts.values() {
            let mut found = Vec::new();
            reads(&part.spec, kind, &mut found);
            part.condition
                .iter()
                .for_each(|condition| reads(condition, kind, &mut found));
            wiring.parts.push(found);
        }
        if let Some(data) = &kind.data {
            reads(data, kind, &mut wiring.data);
        }
        for (that, _) in &kind.conditions {
            reads(that, kind, &mut wiring.require);
        }
        let side_reads = |side: Side, other: Side| {
            wiring.with.iter().any(|(target, found)| {
                *target == LinkTarget::End(side)
                    && found
                        .iter()
                        .any(|read| matches!(read, LinkRead::Spec(it, _) if *it == other))
            })
        };
        wiring.mutual = side_reads(Side::A, Side::B) && side_reads(Side::B, Side::A);
        for (at, side) in [Side::A, Side::B].into_iter().enumerate() {
            wiring.part_first[at] = wiring.with.iter().any(|(target, found)| {
                *target == LinkTarget::End(side)
                    && found.iter().any(|read| matches!(read, LinkRead::Part(_)))
            });
        }
        wiring
    }

    /// The positions of the parts, each after the parts that it reads.
    pub fn part_order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.parts.len());
        let mut placed = vec![false; self.parts.len()];
        // Loading a catalogue rejects kinds whose parts read each other in a cycle.
        for _ in 0..self.parts.len() {
            for (at, reads) in self.parts.iter().enumerate() {
                let waits = |read: &LinkRead| matches!(read, LinkRead::Part(other) if !placed.get(*other).copied().unwrap_or(true));
                if !placed[at] && !reads.iter().any(waits) {
                    placed[at] = true;
                    order.push(at);
                }
            }
        }
        order
    }

    /// Whether the end on a side waits for a part, so that the part comes first.
    pub fn end_waits_for_part(&self, side: Side) -> bool {
        self.part_first[usize::from(side == Side::B)]
    }

    /// Whether a contribution into `target` reads a field of the end on `side` from the document
    /// alone.
    pub fn reads_document(
        &self,
        kind: &LinkKind,
        target: LinkTarget,
        side: Side,
        field: Option<&Name>,
        schema: &Schema,
    ) -> bool {
        let settable = field
            .and_then(|field| schema.fields.get(field))
            .is_some_and(|field| !field.computed);
        settable
            && match target {
                LinkTarget::End(own) if own == side => true,
                LinkTarget::End(_) => self.mutual && kind.first != Some(side),
                LinkTarget::Use(at) => kind
                    .uses
                    .get_index(at)
                    .is_some_and(|(_, used)| used.of == side),
            }
    }
}

/// Whether the document can set a field of an end.
pub fn is_settable(schema: &Schema, field: &Name) -> bool {
    schema
        .fields
        .get(field)
        .is_some_and(|field| !field.computed)
}

/// Appends every read of an expression.
pub fn reads(expr: &Expr, kind: &LinkKind, found: &mut Vec<LinkRead>) {
    expr.references(&mut |reference: &Ref| {
        let ReferenceHead::Scoped(head) = &reference.head else {
            return;
        };
        let name = |at: usize| match reference.path.get(at).map(|accessor| &accessor.kind) {
            Some(AccessorKind::Name(name)) => Some(name),
            _ => None,
        };
        let side = match head.as_ref() {
            "a" => Some(Side::A),
            "b" => Some(Side::B),
            _ => None,
        };
        let more = match (side, head.as_ref(), name(0).map(|name| name.as_ref())) {
            (Some(side), _, Some("spec")) => vec![LinkRead::Spec(side, name(1).cloned())],
            (Some(side), _, Some("metadata")) => vec![LinkRead::Metadata(side)],
            (None, "use", Some(used)) => kind
                .uses
                .get_index_of(used)
                .map(LinkRead::Use)
                .into_iter()
                .collect(),
            (None, "part", Some(part)) => kind
                .parts
                .get_index_of(part)
                .map(LinkRead::Part)
                .into_iter()
                .collect(),
            (None, "note", Some(alias)) => {
                let notes = kind
                    .annotations
                    .iter()
                    .filter(|note| note.alias.as_ref() == alias);
                notes
                    .map(|note| LinkRead::Metadata(side_of(&note.side)))
                    .collect()
            }
            _ => Vec::new(),
        };
        for read in more {
            if !found.contains(&read) {
                found.push(read);
            }
        }
    });
}

/// The side of an annotation.
pub fn side_of(side: &str) -> Side {
    if side == "b" { Side::B } else { Side::A }
}
