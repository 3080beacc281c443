//! The cardinality of links, and the guarantees that links give each other
//! (decisions/links#cardinality-and-capabilities).

use std::sync::Arc;

use blueprint::{IndexMap, Name};
use provider::{Catalogs, LinkKind, Side};

use super::DeterministicMap;

/// A member of a resource: the resource's position in the document, and the position among its
/// members.
pub type MemberKey = (u32, Option<u32>);

/// One link between members.
#[derive(Clone, Copy, Debug)]
pub struct MemberLink<'a> {
    /// The end with the selector or the reference.
    pub a: MemberKey,
    /// The other end.
    pub b: MemberKey,
    /// The kind of the link.
    pub kind: &'a Arc<LinkKind>,
}

impl MemberLink<'_> {
    fn end(&self, side: Side) -> MemberKey {
        match side {
            Side::A => self.a,
            Side::B => self.b,
        }
    }
}

/// A member with too few or too many links of a kind.
#[derive(Clone, Debug)]
pub struct CardinalityViolation {
    /// The member.
    pub at: MemberKey,
    pub(crate) kind: Arc<LinkKind>,
    pub(crate) side: Side,
    /// The other ends, in document order.
    pub others: Vec<MemberKey>,
    pub(crate) least: u32,
    pub(crate) most: Option<u32>,
}

/// Checks the number of links against the limits of their kinds. `members` are all present members
/// with their types. `open` returns whether a member may get more links, so that too few links are
/// not an error yet. Returns the violations.
pub fn check_cardinality<'a>(
    links: impl Iterator<Item = MemberLink<'a>>,
    members: impl Iterator<Item = (MemberKey, &'a str)>,
    catalogs: &Catalogs,
    open: impl Fn(MemberKey, &LinkKind, Side) -> bool,
) -> Vec<CardinalityViolation> {
    let limits = |kind: &LinkKind, side: Side| {
        if side == Side::A {
            kind.per_a
        } else {
            kind.per_b
        }
    };
    let place = |kind: &Arc<LinkKind>| Arc::as_ptr(kind) as usize;
    let mut counted: IndexMap<(MemberKey, usize, Side), CardinalityViolation> = IndexMap::default();
    for link in links {
        for side in [Side::A, Side::B] {
            let (least, most) = limits(link.kind, side);
            if least == 0 && most.is_none() {
                continue;
            }
            let at = link.end(side);
            let other = if side == Side::A { link.b } else { link.a };
            let kind = link.kind.clone();
            let entry = counted
                .entry((at, place(link.kind), side))
                .or_insert_with(|| CardinalityViolation {
                    at,
                    kind,
                    side,
                    others: Vec::new(),
                    least,
                    most,
                });
            entry.others.push(other);
        }
    }
    let mut wrong: Vec<CardinalityViolation> = Vec::new();
    let mut demanding: DeterministicMap<&str, Vec<(&Arc<LinkKind>, Side)>> =
        DeterministicMap::default();
    for kind in catalogs.link_kinds() {
        for (side, ty) in [(Side::A, &kind.a), (Side::B, &kind.b)] {
            if limits(kind, side).0 > 0 {
                demanding.entry(ty.as_ref()).or_default().push((kind, side));
            }
        }
    }
    if !demanding.is_empty() {
        for (at, ty) in members {
            for (kind, side) in demanding.get(ty).into_iter().flatten() {
                let (least, most) = limits(kind, *side);
                let counted_others = counted
                    .get(&(at, place(kind), *side))
                    .map_or(&[][..], |counted| &counted.others);
                if (counted_others.len() as u32) < least && !open(at, kind, *side) {
                    let kind = Arc::clone(kind);
                    let others = counted_others.to_vec();
                    wrong.push(CardinalityViolation {
                        at,
                        kind,
                        side: *side,
                        others,
                        least,
                        most,
                    });
                }
            }
        }
    }
    wrong.extend(counted.into_values().filter(|counted| {
        counted
            .most
            .is_some_and(|most| counted.others.len() as u64 > u64::from(most))
    }));
    wrong
}

/// The numbers of the links that give a guarantee, and of the links that need it, each with whether
/// the need is mandatory.
type GiversAndNeeders = (Vec<u32>, Vec<(u32, bool)>);

/// The links that give and need each guarantee at a member.
#[derive(Clone, Debug, Default)]
pub struct Guarantees {
    /// By member and guarantee.
    at: IndexMap<(MemberKey, Name), GiversAndNeeders>,
    links: u32,
}

impl Guarantees {
    /// The guarantees of links, which are numbered in the order of the iterator.
    pub fn of<'a>(links: impl Iterator<Item = MemberLink<'a>>) -> Guarantees {
        let mut guarantees = Guarantees::default();
        for link in links {
            let number = guarantees.links;
            guarantees.links += 1;
            for (side, name) in &link.kind.guarantees {
                guarantees
                    .at
                    .entry((link.end(*side), name.clone()))
                    .or_default()
                    .0
                    .push(number);
            }
            for (side, name, must) in &link.kind.needs {
                guarantees
                    .at
                    .entry((link.end(*side), name.clone()))
                    .or_default()
                    .1
                    .push((number, *must));
            }
        }
        guarantees
    }

    /// Mandatory guarantees that no link gives: the member, the guarantee, and the links that need
    /// it.
    pub fn missing(&self) -> impl Iterator<Item = (MemberKey, &Name, Vec<u32>)> {
        self.at.iter().filter_map(|((at, name), (given, needed))| {
            let must: Vec<u32> = needed
                .iter()
                .filter(|(_, must)| *must)
                .map(|(link, _)| *link)
                .collect();
            (given.is_empty() && !must.is_empty()).then_some((*at, name, must))
        })
    }

    /// The rank of each link: the length of the longest chain of guarantees before it, 0 if it
    /// needs none. Also returns the links on cycles and the links that depend on them.
    pub fn ranks(&self) -> (Vec<u32>, Vec<u32>) {
        let links = self.links as usize;
        let places = self.at.len();
        // Nodes are the links, then the guarantees. A guarantee waits for the links that give it; a
        // link waits for the guarantees that it needs.
        let mut waiting = vec![0_u32; links + places];
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); links + places];
        for (place, (given, needed)) in self.at.values().enumerate() {
            let place = links + place;
            for giver in given {
                after[*giver as usize].push(place as u32);
                waiting[place] += 1;
            }
            for (needer, _) in needed.iter().filter(|_| !given.is_empty()) {
                after[place].push(*needer);
                waiting[*needer as usize] += 1;
            }
        }
        let mut ranks = vec![0_u32; links + places];
        let mut ready: Vec<u32> = (0..waiting.len() as u32)
            .filter(|at| waiting[*at as usize] == 0)
            .collect();
        while let Some(at) = ready.pop() {
            let step = u32::from(at as usize >= links);
            for next in &after[at as usize] {
                let next = *next as usize;
                ranks[next] = ranks[next].max(ranks[at as usize] + step);
                waiting[next] -= 1;
                if waiting[next] == 0 {
                    ready.push(next as u32);
                }
            }
        }
        ranks.truncate(links);
        let circle = (0..links as u32)
            .filter(|link| waiting[*link as usize] > 0)
            .collect();
        (ranks, circle)
    }

    /// For each guarantee at a member: the numbers of the links that give it, and of the links that
    /// need it.
    pub fn givers_and_needers(&self) -> impl Iterator<Item = (&[u32], Vec<u32>)> {
        self.at.values().map(|(given, needed)| {
            (
                given.as_slice(),
                needed.iter().map(|(link, _)| *link).collect(),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(a: &str, gives: &[&str], needs: &[&str]) -> Arc<LinkKind> {
        Arc::new(LinkKind {
            a: a.into(),
            b: "x/b".into(),
            first: None,
            per_a: (0, None),
            per_b: (0, None),
            guarantees: gives
                .iter()
                .map(|name| (Side::A, Name::from(*name)))
                .collect(),
            needs: needs
                .iter()
                .map(|name| (Side::A, Name::from(*name), true))
                .collect(),
            annotations: Vec::new(),
            conditions: Vec::new(),
            uses: IndexMap::default(),
            parts: IndexMap::default(),
            effects: Vec::new(),
            data: None,
        })
    }

    #[test]
    fn links_follow_their_guarantees_and_cycles_are_found() {
        let gives = kind("x/a", &["g"], &[]);
        let needs = kind("x/c", &[], &["g"]);
        let both = kind("x/d", &["h"], &["g"]);
        let at = |kind| MemberLink {
            a: (0, None),
            b: (1, None),
            kind,
        };
        let guarantees = Guarantees::of([at(&needs), at(&gives), at(&both)].into_iter());
        assert_eq!(guarantees.ranks(), (vec![1, 0, 1], vec![]));
        assert_eq!(guarantees.missing().count(), 0);
        let back = kind("x/e", &["g"], &["h"]);
        let guarantees = Guarantees::of([at(&both), at(&back)].into_iter());
        assert_eq!(guarantees.ranks().1, [0, 1]);
        let alone = Guarantees::of([at(&needs)].into_iter());
        assert_eq!(
            alone
                .missing()
                .map(|(_, name, links)| (name.to_string(), links))
                .collect::<Vec<_>>(),
            [("g".into(), vec![0])]
        );
    }
}
