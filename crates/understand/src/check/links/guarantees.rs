//! Checks the cardinality and the guarantees of links, as far as the document alone decides them:
//! between resources without `each` and conditions. Other links are checked at stage.

use blueprint::Name;
use diag::Diagnostic;
use provider::Side;

use crate::check::{Checker, codes};
use crate::links::Links;
use crate::links::guarantees::{
    CardinalityViolation, Guarantees, MemberKey, MemberLink, check_cardinality,
};

impl Checker<'_> {
    /// Reports the violations that no later stage can fix.
    pub(crate) fn guarantees(&mut self, links: &Links) {
        let blueprint = self.blueprint;
        let is_fixed = |at: u32| {
            let resource = blueprint
                .resources
                .get_index(at as usize)
                .map(|(_, resource)| resource);
            resource.is_some_and(|resource| resource.each.is_none() && resource.condition.is_none())
        };
        let between = |pair: &crate::links::LinkedPair| -> (MemberKey, MemberKey) {
            ((pair.a, None), (pair.b, None))
        };
        let fixed = links
            .pairs()
            .iter()
            .filter(|pair| is_fixed(pair.a) && is_fixed(pair.b))
            .map(|pair| {
                let (a, b) = between(pair);
                MemberLink {
                    a,
                    b,
                    kind: &pair.kind,
                }
            });
        let members = (0..blueprint.resources.len() as u32)
            .filter(|at| is_fixed(*at))
            .filter_map(|at| Some(((at, None), self.type_name(at as usize)?)));
        let open = |(at, _): MemberKey, kind: &provider::LinkKind, side: Side| {
            links
                .of(at)
                .iter()
                .filter_map(|(number, _)| links.pair(*number))
                .any(|pair| {
                    let other = if side == Side::A { pair.b } else { pair.a };
                    pair.kind.a == kind.a
                        && pair.kind.b == kind.b
                        && pair.end(side) == at
                        && !is_fixed(other)
                })
        };
        let counted = check_cardinality(fixed, members, self.catalogs, open);
        let name = |(at, _): MemberKey| {
            blueprint
                .resources
                .get_index(at as usize)
                .map_or_else(String::new, |(name, _)| name.to_string())
        };
        let mut found: Vec<Diagnostic> = Vec::new();
        for counted in &counted {
            let span = blueprint
                .resources
                .get_index(counted.at.0 as usize)
                .map(|(_, resource)| resource.span);
            found.extend(span.map(|span| cardinality(counted, name).label(span, "counted here")));
        }
        if links.pairs().iter().any(|pair| !pair.kind.needs.is_empty()) {
            let guarantees = Guarantees::of(links.pairs().iter().map(|pair| {
                let (a, b) = between(pair);
                MemberLink {
                    a,
                    b,
                    kind: &pair.kind,
                }
            }));
            for (at, guarantee, needed_by) in guarantees.missing() {
                let Some((name, resource)) = blueprint.resources.get_index(at.0 as usize) else {
                    continue;
                };
                let by = needed_by
                    .iter()
                    .filter_map(|link| links.pair(*link))
                    .map(|pair| self.link_name(pair));
                found.push(
                    missing_guarantee(guarantee, name, &by.collect::<Vec<_>>())
                        .label(resource.span, "nothing here gives it"),
                );
            }
            found.extend(self.circle(links, &guarantees.ranks().1));
        }
        self.found.extend(found);
    }

    fn circle(&self, links: &Links, circle: &[u32]) -> Option<Diagnostic> {
        let first = links.pair(*circle.first()?)?;
        let names: Vec<String> = circle
            .iter()
            .filter_map(|link| links.pair(*link))
            .map(|pair| format!("`{}`", self.link_name(pair)))
            .collect();
        Some(
            codes::LINK_CYCLE
                .new(format!(
                    "links need each other's guarantees in a circle: {}",
                    names.join(", ")
                ))
                .label(first.span, "the first of them")
                .help("take away one of these links"),
        )
    }

    /// A link in the form of its address.
    pub(crate) fn link_name(&self, pair: &crate::links::LinkedPair) -> String {
        let name = |at: u32| {
            self.blueprint
                .resources
                .get_index(at as usize)
                .map_or("", |(name, _)| name)
        };
        format!("{}::{}", name(pair.a), name(pair.b))
    }
}

/// The diagnostic for too few or too many links. The caller adds the place.
pub fn cardinality(
    counted: &CardinalityViolation,
    name: impl Fn(MemberKey) -> String,
) -> Diagnostic {
    let at = name(counted.at);
    let others: Vec<String> = counted
        .others
        .iter()
        .map(|other| format!("`{}`", name(*other)))
        .collect();
    let (word, ty) = match counted.side {
        Side::A => ("to", &counted.kind.b),
        Side::B => ("from", &counted.kind.a),
    };
    let wanted = match (counted.least, counted.most) {
        (least, Some(most)) if least == most => format!("exactly {least}"),
        (0, Some(most)) => format!("at most {most}"),
        (least, None) => format!("at least {least}"),
        (least, Some(most)) => format!("{least} to {most}"),
    };
    let diagnostic = codes::LINK_CARDINALITY.new(format!(
        "`{at}` has {} link{} {word} `{ty}`, and {wanted} may be",
        others.len(),
        if others.len() == 1 { "" } else { "s" },
    ));
    if others.is_empty() {
        diagnostic
    } else {
        diagnostic.note(format!("linked {word} {}", others.join(", ")))
    }
}

/// The diagnostic for a guarantee that no link gives. The caller adds the place.
pub fn missing_guarantee(guarantee: &Name, at: &str, needed_by: &[String]) -> Diagnostic {
    let by: Vec<String> = needed_by.iter().map(|link| format!("`{link}`")).collect();
    let verb = if by.len() == 1 { "needs" } else { "need" };
    codes::LINK_CAPABILITY_MISSING
        .new(format!("{} {verb} `{guarantee}` on `{at}`", by.join(", ")))
        .help(format!("link `{at}` to something that gives `{guarantee}`"))
}
