//! The effects of links on the decision about a resource: its dependencies, and the changes that
//! links make.
//!
//! Not here: what links write by steps of their own (`plan::links`), parts of links
//! (`link_resources`).

use std::sync::Arc;

use blueprint::{Address, Value};
use evaluate::resolve::Evaluation;
use understand::compare::Change;
use understand::links::LinkedPair;
use understand::links::wiring::{LinkRead, LinkTarget, is_settable};

use crate::decision::Decision;
use crate::model::{Action, AddressSet, Reason};

/// The dependencies of a member because of links: the end that must exist first, and what
/// contributions to the member read.
pub(crate) fn link_dependencies(
    evaluation: &Evaluation,
    index: u32,
    position: Option<u32>,
) -> Vec<Address> {
    let mut used = AddressSet::default();
    let mut writes = false;
    for (number, at, target) in evaluation.links_of(index, position) {
        let link = (*number, *at);
        let Some(pair) = evaluation
            .declared_links
            .pair(*number)
            .filter(|_| !evaluation.has_absent_end(link))
        else {
            continue;
        };
        let address_of = |target: LinkTarget| {
            let (resource, position) = evaluation.member_of(link, target)?;
            evaluation
                .member(resource, position)
                .map(|member| member.address.clone())
        };
        if let (Some(first), LinkTarget::End(own)) = (pair.kind.first, target)
            && first != *own
        {
            used.extend(address_of(LinkTarget::End(first)));
        }
        for (_, reads) in pair.wiring.with.iter().filter(|(into, _)| into == target) {
            writes = true;
            for read in reads {
                match read {
                    LinkRead::Spec(side, field) => {
                        let (resource, _) = evaluation.end_of(link, *side).unwrap_or_default();
                        let ty = evaluation.type_of(resource);
                        let is_from_document = ty.is_some_and(|ty| {
                            pair.wiring.reads_document(
                                &pair.kind,
                                *target,
                                *side,
                                field.as_ref(),
                                &ty.schema,
                            )
                        });
                        if !is_from_document {
                            used.extend(address_of(LinkTarget::End(*side)));
                        }
                    }
                    LinkRead::Metadata(_) => {}
                    LinkRead::Use(at) => used.extend(address_of(LinkTarget::Use(*at))),
                    LinkRead::Part(at) => {
                        let part = evaluation
                            .link(link)
                            .and_then(|link| link.parts.get(*at)?.as_ref());
                        used.extend(part.map(|part| part.address.clone()));
                    }
                }
            }
        }
    }
    let own = evaluation.member(index, position);
    if writes {
        used.extend(requirement_dependencies(evaluation, index, position));
    }
    if writes && let Some(member) = own {
        // A value that is read from the document alone may wait for other resources.
        let mut waits_for = Vec::new();
        member.spec.waits_for(&mut waits_for);
        used.extend(
            waits_for
                .into_iter()
                .filter(|address| address.link.is_none()),
        );
    }
    if let Some(member) = own {
        used.shift_remove(&member.address);
    }
    used.into_iter().collect()
}

/// The resources that the requirements of links read, for links that write with the step of the
/// member.
pub(crate) fn requirement_dependencies(
    evaluation: &Evaluation,
    index: u32,
    position: Option<u32>,
) -> Vec<Address> {
    let mut used = Vec::new();
    for (number, at, target) in evaluation.links_of(index, position) {
        let link = (*number, *at);
        let writes =
            |pair: &&Arc<LinkedPair>| pair.wiring.with.iter().any(|(into, _)| into == target);
        let Some(pair) = evaluation.declared_links.pair(*number).filter(writes) else {
            continue;
        };
        if evaluation.has_absent_end(link) {
            continue;
        }
        for read in &pair.wiring.require {
            let of = match read {
                LinkRead::Spec(side, _) if *target == LinkTarget::End(*side) => continue,
                LinkRead::Spec(side, _) => LinkTarget::End(*side),
                LinkRead::Use(at) => LinkTarget::Use(*at),
                LinkRead::Metadata(_) | LinkRead::Part(_) => continue,
            };
            let Some((resource, position)) = evaluation.member_of(link, of) else {
                continue;
            };
            let Some(member) = evaluation.member(resource, position) else {
                continue;
            };
            let set = match read {
                LinkRead::Spec(_, Some(field)) => evaluation
                    .type_of(resource)
                    .is_some_and(|ty| is_settable(&ty.schema, field))
                    .then_some(field),
                _ => None,
            };
            match set {
                // A field that the document sets does not wait for the whole resource, only for the
                // references in its value.
                Some(field) => member
                    .spec
                    .get(field)
                    .unwrap_or(&Value::Null)
                    .waits_for(&mut used),
                None => used.push(member.address.clone()),
            }
        }
    }
    used
}

/// Adds the reason that a link makes the change.
pub(crate) fn mark_link_changes(
    evaluation: &Evaluation,
    index: u32,
    position: Option<u32>,
    decision: &mut Decision,
) {
    if !matches!(decision.action, Action::Update | Action::Replace) || decision.changes.is_empty() {
        return;
    }
    let paths = evaluation.paths_written(index, position, decision.prior.as_deref());
    let by_link = |change: &Change| {
        let rest = change.path.strip_prefix("spec.").unwrap_or(&change.path);
        paths.iter().any(|path| {
            rest.strip_prefix(path.as_ref())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    };
    if decision.changes.iter().any(by_link) && !decision.reasons.contains(&Reason::Drifted) {
        decision.reasons.insert(0, Reason::LinkChanged);
    }
}
