//! Decides about links (decisions/links#effects-after-the-target): what they write once their
//! targets are ready, and the links themselves.
//!
//! A contribution that a link writes *with* a target is a part of the target's own spec and
//! decision. The steps of links are of two kinds: a *write* changes one target, and the *whole*
//! writes the record of the link.
//!
//! Not here: parts (`drafting`), the order of the steps (`tasks`), running them
//! (`apply::link_writes`).

mod link_draft;
pub(crate) mod report;
mod target_contents;
mod undo;

use blueprint::Address;
use diag::{Diagnostics, Span};
use evaluate::evaluation_question::evaluate_until_answered;
use evaluate::resolve::links::conflict;
use evaluate::resolve::links::slots::{LinkAt, LinkSlot};
use evaluate::resolve::{Evaluation, Members, Need};
use evaluate::world::World;
use provider::{Catalogs, Side};
use state::{Snapshot, StatusOp, StatusWord};
use understand::check::links::guarantees::{cardinality, missing_guarantee};
use understand::links::DeterministicMap;
use understand::links::contribution::Merger;
use understand::links::guarantees::{Guarantees, MemberKey, MemberLink, check_cardinality};
use understand::links::overlay::overlays_of;
use understand::links::wiring::LinkTarget;

use link_draft::{EvaluatedLink, LinkDraft, SeparateContribution};
use target_contents::TargetContents;
pub(crate) use undo::undo_link;

use crate::decision::Decision;
use crate::draft::Draft;
use crate::linked::LinkRecord;

/// Decides about every link of the documents. All resources and parts of links are decided already.
pub(crate) async fn decide_links(
    draft: &mut Draft,
    evaluation: &mut Evaluation,
    snapshot: &Snapshot,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    let declared = evaluation.declared_links.clone();
    let demanded = catalogs
        .link_kinds()
        .any(|kind| kind.per_a.0 > 0 || kind.per_b.0 > 0);
    if declared.is_empty() && !demanded {
        return;
    }
    for number in 0..declared.pairs().len() as u32 {
        evaluate_until_answered(evaluation, catalogs, world, found, |evaluation, found| {
            evaluation.settle_link(number, found)
        })
        .await;
    }
    let mut links: Vec<LinkAt> = Vec::new();
    for (number, slot) in evaluation.links.slots.iter().enumerate() {
        match slot {
            LinkSlot::Ready(ready) => {
                links.extend((0..ready.len() as u32).map(|at| (number as u32, at)))
            }
            // The cause has been reported.
            LinkSlot::Open | LinkSlot::Failed => {}
        }
    }
    // A link is settled before its ends are. An end may since have turned out to be absent.
    links.retain(|link| !evaluation.has_absent_end(*link));
    let (depths, givers) = check_cardinality_and_guarantees(evaluation, &links, catalogs, found);
    let mut wanted = Vec::with_capacity(links.len());
    for (at, link) in links.iter().enumerate() {
        let Some(mut one) =
            evaluate_until_answered(evaluation, catalogs, world, found, |evaluation, found| {
                evaluate(evaluation, *link, found)
            })
            .await
            .flatten()
        else {
            continue;
        };
        one.guarantee_depth = depths.get(at).copied().unwrap_or_default();
        one.guarantee_givers = givers
            .get(at)
            .into_iter()
            .flatten()
            .filter_map(|giver| {
                evaluation
                    .link(links[*giver as usize])
                    .map(|giver| giver.address.clone())
            })
            .collect();
        wanted.push(one);
    }
    if found.has_errors() {
        return;
    }
    let positions = positions(draft);
    let mut target_contents = DeterministicMap::default();
    let mut separate_contributions: Vec<SeparateContribution> = Vec::new();
    for one in wanted {
        let decided =
            evaluate_until_answered(evaluation, catalogs, world, found, |evaluation, found| {
                decide_link(
                    draft,
                    evaluation,
                    snapshot,
                    &positions,
                    &mut target_contents,
                    &one,
                    found,
                )
            })
            .await
            .flatten();
        if let Some((decisions, of_link)) = decided {
            draft.decisions.extend(decisions);
            separate_contributions.extend(of_link);
        }
        draft.links.insert(one.address.clone());
    }
    report_conflicts(evaluation, separate_contributions, found);
}

/// The positions of the decisions, by address.
fn positions(draft: &Draft) -> DeterministicMap<Address, usize> {
    draft
        .decisions
        .iter()
        .enumerate()
        .map(|(at, decision)| (decision.address.clone(), at))
        .collect()
}

/// Reports too few and too many links and missing guarantees, member by member. Returns for each
/// link its depth behind the links that it needs, and these links.
fn check_cardinality_and_guarantees(
    evaluation: &Evaluation,
    links: &[LinkAt],
    catalogs: &Catalogs,
    found: &mut Diagnostics,
) -> (Vec<u32>, Vec<Vec<u32>>) {
    let declared = &evaluation.declared_links;
    let between = || {
        links.iter().filter_map(|link| {
            let pair = declared.pair(link.0)?;
            let a = evaluation.end_of(*link, Side::A)?;
            let b = evaluation.end_of(*link, Side::B)?;
            Some(MemberLink {
                a,
                b,
                kind: &pair.kind,
            })
        })
    };
    let documents = evaluation.documents_of_resources();
    let members = documents
        .iter()
        .enumerate()
        .flat_map(|(resource, (_, _, ty))| {
            let positions: Vec<Option<u32>> = match &evaluation.resources[resource] {
                Members::Single(_) => vec![None],
                Members::Many(members) => {
                    let present = members
                        .iter()
                        .enumerate()
                        .filter(|(_, member)| member.is_some());
                    present.map(|(at, _)| Some(at as u32)).collect()
                }
                _ => Vec::new(),
            };
            let ty = ty.as_deref();
            positions
                .into_iter()
                .filter_map(move |position| Some(((resource as u32, position), ty?)))
        });
    let uncertain = evaluation
        .links
        .slots
        .iter()
        .any(|slot| !matches!(slot, LinkSlot::Ready(_)));
    let counted = check_cardinality(between(), members, catalogs, |_, _, _| uncertain);
    let name = |(resource, position): MemberKey| {
        evaluation
            .member(resource, position)
            .map(|member| member.address.to_string())
            .unwrap_or_default()
    };
    let span = |(resource, _): MemberKey| {
        documents
            .get(resource as usize)
            .map_or(Span::NONE, |(_, span, _)| *span)
    };
    for counted in &counted {
        found.push(cardinality(counted, name).label(span(counted.at), "counted here"));
    }
    if !declared
        .pairs()
        .iter()
        .any(|pair| !pair.kind.needs.is_empty())
    {
        return (Vec::new(), Vec::new());
    }
    let guarantees = Guarantees::of(between());
    for (at, guarantee, needed_by) in guarantees.missing() {
        let by = needed_by
            .iter()
            .filter_map(|link| links.get(*link as usize));
        let by: Vec<String> = by
            .filter_map(|link| evaluation.link(*link))
            .map(|link| link.address.to_string())
            .collect();
        found.push(
            missing_guarantee(guarantee, &name(at), &by).label(span(at), "nothing here gives it"),
        );
    }
    let mut givers: Vec<Vec<u32>> = vec![Vec::new(); links.len()];
    for (given, needed) in guarantees.givers_and_needers() {
        for link in needed {
            givers[link as usize].extend_from_slice(given);
        }
    }
    (guarantees.ranks().0, givers)
}

/// Evaluates everything that the kind of a link says of the link; `None` if it is in error.
fn evaluate(
    evaluation: &mut Evaluation,
    link: LinkAt,
    found: &mut Diagnostics,
) -> Result<Option<EvaluatedLink>, Need> {
    let Some(pair) = evaluation.pair(link.0) else {
        return Ok(None);
    };
    let Some(address) = evaluation.link(link).map(|link| link.address.clone()) else {
        return Ok(None);
    };
    let Some(notes) = evaluation.annotations(link, found)? else {
        return Ok(None);
    };
    match evaluation.requirements(link, found)? {
        Some(true) => {}
        Some(false) => return Ok(None),
        None => drop(evaluation.links.unchecked_requirements.insert(link)),
    }
    let mut spec_contributions = Vec::new();
    for (target, _) in &pair.wiring.with {
        let Some(contributions) = evaluation.contributions(link, *target, false, found)? else {
            return Ok(None);
        };
        spec_contributions.extend(
            contributions
                .into_iter()
                .map(|contribution| (*target, contribution)),
        );
    }
    let data = match evaluation.link_data(link, found) {
        Ok(data) => data,
        Err(evaluate::resolve::Halt::Need(need)) => return Err(need),
        Err(_) => return Ok(None),
    };
    let type_name = format!("{}::{}", pair.kind.a, pair.kind.b).into();
    Ok(Some(EvaluatedLink {
        link,
        address,
        type_name,
        span: pair.span,
        notes,
        spec_contributions,
        data,
        guarantee_depth: 0,
        guarantee_givers: Vec::new(),
    }))
}

/// The decisions about a link, and the contributions that it writes by steps of its own.
type LinkDecisions = (Vec<Decision>, Vec<SeparateContribution>);

/// Decides about the steps of one link; `None` if it is in error.
fn decide_link(
    draft: &Draft,
    evaluation: &mut Evaluation,
    snapshot: &Snapshot,
    positions: &DeterministicMap<Address, usize>,
    target_contents: &mut TargetContents,
    evaluated: &EvaluatedLink,
    found: &mut Diagnostics,
) -> Result<Option<LinkDecisions>, Need> {
    let Some(pair) = evaluation.pair(evaluated.link.0) else {
        return Ok(None);
    };
    let kind = pair.kind.clone();
    let mut targets = vec![LinkTarget::End(Side::A), LinkTarget::End(Side::B)];
    targets.extend((0..kind.uses.len()).map(LinkTarget::Use));
    targets.retain(|target| {
        kind.effects.iter().any(|effect| {
            effect.is_own_step && LinkTarget::of(&effect.target, &kind) == Some(*target)
        })
    });
    let mut writes = Vec::with_capacity(targets.len());
    for target in targets {
        let Some(contributions) = evaluation.contributions(evaluated.link, target, true, found)?
        else {
            return Ok(None);
        };
        writes.push((target, contributions));
    }
    let prior = snapshot.records.get(&evaluated.address).cloned();
    // A link whose first writes were never all done is still being created.
    let is_new = prior.as_ref().is_none_or(|record| {
        record.status.op == StatusOp::Create && record.status.word != StatusWord::Ready
    });
    let mut link = LinkDraft {
        draft,
        evaluation,
        snapshot,
        positions,
        evaluated,
        recorded: prior.as_deref().map(overlays_of).unwrap_or_default(),
        prior,
        is_new,
        condition_open: evaluation.is_open(evaluated.link),
        decisions: Vec::new(),
        separate_contributions: Vec::new(),
        kept: Vec::new(),
        changes: Vec::new(),
        drifted: false,
        kind,
    };
    for (write_index, (target, contributions)) in writes.into_iter().enumerate() {
        link.decide_write(write_index as u32, target, &contributions, target_contents);
    }
    link.undo_former_targets();
    let inputs = link.inputs();
    link.compare_contributions(target_contents);
    link.decide_whole(inputs);
    Ok(Some((link.decisions, link.separate_contributions)))
}

/// The positions of the decisions, for [`undo_link`].
pub(crate) fn decided_resources(draft: &Draft) -> DeterministicMap<Address, usize> {
    positions(draft)
}

/// Reports conflicts between values that links write by steps of their own and values of the
/// document or other links.
fn report_conflicts(
    evaluation: &Evaluation,
    mut contributions: Vec<SeparateContribution>,
    found: &mut Diagnostics,
) {
    contributions.sort_by(|a, b| (a.target, &a.link).cmp(&(b.target, &b.link)));
    let documents = if contributions.is_empty() {
        Vec::new()
    } else {
        evaluation.documents_of_resources()
    };
    for of_target in contributions.chunk_by(|a, b| a.target == b.target) {
        let (resource, position) = of_target[0].target;
        let Some(member) = evaluation.member(resource, position) else {
            continue;
        };
        let mut merger = Merger::new(member.spec.clone());
        for one in of_target {
            if let Err(refused) = merger.merge(&one.contribution, &one.link) {
                let span = documents
                    .get(resource as usize)
                    .map_or(Span::NONE, |(_, span, _)| *span);
                let target = member.address.to_string();
                found.push(conflict(&one.link, &target, &refused).label(span, "written to here"));
            }
        }
    }
}
