//! Pairs the members of repeated resources into links (decisions/links#links-of-templates).

use blueprint::{Address, Key, LinkName, Name};
use understand::links::LinkedPair;
use understand::links::address::part_of;

use super::Member;

/// A link between two instances.
#[derive(Clone, Debug)]
pub struct LinkInstance {
    /// The address of the link: `a::b`.
    pub address: Address,
    /// The position of the member at end a; `None` for a resource without `each`.
    pub a: Option<u32>,
    /// The position of the member at end b.
    pub b: Option<u32>,
    /// Whether the existence of an end is known only on deploy.
    pub open: bool,
    /// The parts of the link, by their position in the kind; `None` if the condition is false or
    /// the part is not settled yet.
    pub parts: Vec<Option<Box<Member>>>,
}

impl LinkInstance {
    /// The address of a part or phase.
    pub fn part(&self, part: &Name) -> Address {
        part_of(&self.address, part)
    }
}

/// One member of an end.
#[derive(Clone, Debug)]
pub struct EndMember {
    /// The key of the member.
    pub key: Key,
    /// Whether the member is present; `None` if its condition is open.
    pub is_present: Option<bool>,
}

/// The members of an end.
#[derive(Clone, Debug)]
pub enum Ends {
    /// A plain resource.
    Single(Option<bool>),
    /// The members of a resource with `each`.
    Many(Vec<EndMember>),
}

/// The reason why the members cannot be paired.
pub(crate) struct Unpaired(pub String);

/// Returns the links between the members of two ends. Absent members have no links. With `by_key`,
/// both ends are addressed by key.
pub(crate) fn pair_up(
    path: &[Name],
    pair: &LinkedPair,
    [a_name, b_name]: [&Name; 2],
    a: &Ends,
    b: &Ends,
    by_key: bool,
) -> Result<Vec<LinkInstance>, Unpaired> {
    let mut links = Vec::new();
    let mut link = |a: (Option<u32>, Option<&EndMember>, Option<bool>),
                    b: (Option<u32>, Option<&EndMember>, Option<bool>)| {
        if a.2 == Some(false) || b.2 == Some(false) {
            return;
        }
        let key = |place: Option<&EndMember>| place.map(|place| place.key.clone());
        let name = LinkName {
            b: b_name.clone(),
            b_key: key(b.1),
            part: None,
        };
        let address = Address::inside(path, a_name.clone());
        let address = match key(a.1) {
            Some(key) => address.with_key(key),
            None => address,
        };
        let address = address.with_link(name);
        let open = a.2.is_none() || b.2.is_none();
        links.push(LinkInstance {
            address,
            a: a.0,
            b: b.0,
            open,
            parts: Vec::new(),
        });
    };
    fn numbered(
        places: &[EndMember],
    ) -> impl Iterator<Item = (Option<u32>, Option<&EndMember>, Option<bool>)> {
        places
            .iter()
            .enumerate()
            .map(|(at, place)| (Some(at as u32), Some(place), place.is_present))
    }
    match (a, b, &pair.only) {
        (Ends::Single(a), Ends::Single(b), _) => link((None, None, *a), (None, None, *b)),
        (Ends::Many(a), Ends::Single(b), _) => numbered(a).for_each(|a| link(a, (None, None, *b))),
        (a, Ends::Many(b), Some(only)) => {
            let mut only = only.clone();
            only.sort_unstable();
            only.dedup();
            let named: Vec<_> = numbered(b)
                .filter(|(at, ..)| at.is_some_and(|at| only.binary_search(&at).is_ok()))
                .collect();
            match a {
                Ends::Single(a) => named.iter().for_each(|b| link((None, None, *a), *b)),
                Ends::Many(a) => numbered(a).for_each(|a| named.iter().for_each(|b| link(a, *b))),
            }
        }
        (Ends::Single(a), Ends::Many(b), None) => {
            numbered(b).for_each(|b| link((None, None, *a), b))
        }
        (Ends::Many(a), Ends::Many(b), None) if by_key => {
            let by_key: understand::links::DeterministicMap<&Key, usize> = b
                .iter()
                .enumerate()
                .map(|(at, place)| (&place.key, at))
                .collect();
            if a.len() != b.len() || a.iter().any(|place| !by_key.contains_key(&place.key)) {
                let missing = a.iter().find(|place| !by_key.contains_key(&place.key));
                return Err(Unpaired(match missing {
                    Some(EndMember {
                        key: Key::Name(key),
                        ..
                    }) => {
                        format!("`{b_name}` has no member with the key `{key}`")
                    }
                    _ => format!(
                        "`{a_name}` has {} members, `{b_name}` has {}",
                        a.len(),
                        b.len()
                    ),
                }));
            }
            for from in numbered(a) {
                let Some(at) = from.1.and_then(|place| by_key.get(&place.key)).copied() else {
                    continue;
                };
                link(
                    from,
                    (
                        Some(at as u32),
                        b.get(at),
                        b.get(at).and_then(|place| place.is_present),
                    ),
                );
            }
        }
        (Ends::Many(a), Ends::Many(b), None) => {
            if a.len() != b.len() {
                return Err(Unpaired(format!(
                    "`{a_name}` has {} members, `{b_name}` has {}",
                    a.len(),
                    b.len()
                )));
            }
            numbered(a).zip(numbered(b)).for_each(|(a, b)| link(a, b));
        }
    }
    Ok(links)
}
