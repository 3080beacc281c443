//! The parts of links: resources that a link owns, decided about like any other
//! (decisions/links#kinds-are-data).
//!
//! Not here: finding links (`evaluate::resolve`), what links write (`plan::links`).

use blueprint::{Address, Value};
use diag::Diagnostics;
use evaluate::resolve::Evaluation;
use evaluate::resolve::links::placeholder_resource;
use evaluate::resolve::links::slots::{LinkAt, LinkSlot};
use evaluate::world::World;
use provider::{Catalogs, Side};
use state::Snapshot;
use understand::links::address::part_of;
use understand::links::wiring::{LinkRead, LinkTarget};

use crate::drafting::decide::{DesiredMember, decide};
use crate::drafting::decided::{DecidedSoFar, conclude};
use crate::drafting::opinions::ask_providers;
use crate::drafting::preflight;
use crate::linked::Linked;
use crate::model::AddressSet;
use evaluate::evaluation_question::evaluate_until_answered;

/// Evaluates the parts of links and decides about them. Parts that other parts read come first.
pub(crate) async fn decide_parts(
    evaluation: &mut Evaluation,
    numbers: &[u32],
    snapshot: &Snapshot,
    catalogs: &Catalogs,
    world: &dyn World,
    decided: &mut DecidedSoFar,
    found: &mut Diagnostics,
) {
    let mut rounds: Vec<Vec<(LinkAt, usize)>> = Vec::new();
    for number in numbers {
        let (Some(pair), Some(LinkSlot::Ready(links))) = (
            evaluation.pair(*number),
            evaluation.links.slots.get(*number as usize),
        ) else {
            continue;
        };
        for (round, part) in pair.wiring.part_order().into_iter().enumerate() {
            if rounds.len() <= round {
                rounds.push(Vec::new());
            }
            rounds[round].extend((0..links.len() as u32).map(|at| ((*number, at), part)));
        }
    }
    for round in rounds {
        let mut drafts = Vec::with_capacity(round.len());
        for (link, part) in round {
            if evaluation.has_absent_end(link) {
                continue;
            }
            let asked =
                evaluate_until_answered(evaluation, catalogs, world, found, |evaluation, found| {
                    evaluation.link_part(link, part, found)
                });
            let member = asked.await.flatten();
            let is_present = member.is_some();
            evaluation.set_part(link, part, member);
            let Some(pair) = evaluation.pair(link.0).filter(|_| is_present) else {
                continue;
            };
            let Some(Some(ty)) = pair.part_types.get(part) else {
                continue;
            };
            let dependencies = dependencies(evaluation, link, part);
            let Some(member) = evaluation
                .link(link)
                .and_then(|link| link.parts.get(part)?.as_deref())
            else {
                continue;
            };
            let written = evaluation.links.written_into(&member.address);
            let holder = placeholder_resource(evaluation.place_of(pair.a), ty);
            let wanted = DesiredMember {
                member,
                resource: &holder,
                ty,
                dependencies,
                provider: None,
                written,
            };
            let mut decision = decide(wanted, snapshot, &evaluation.answers);
            decision.linked = Some(std::sync::Arc::new(Linked::Part { link, part }));
            drafts.push(decision);
        }
        preflight::ask(
            evaluation,
            &mut drafts,
            &decided.changing,
            &mut decided.obstacles,
            world,
            found,
        )
        .await;
        ask_providers(evaluation, &mut drafts, world, found).await;
        for decision in drafts {
            conclude(evaluation, decision, decided);
        }
    }
}

/// The dependencies of a part: both ends, except an end that waits for the part; neighbours and
/// other parts.
pub(crate) fn dependencies(evaluation: &Evaluation, link: LinkAt, part: usize) -> Vec<Address> {
    let mut used = AddressSet::default();
    let Some(pair) = evaluation.pair(link.0) else {
        return Vec::new();
    };
    let address_of = |target: LinkTarget| {
        let (resource, position) = evaluation.member_of(link, target)?;
        evaluation
            .member(resource, position)
            .map(|member| member.address.clone())
    };
    for side in [Side::A, Side::B]
        .into_iter()
        .filter(|side| !pair.wiring.is_part_first(*side))
    {
        used.extend(address_of(LinkTarget::End(side)));
    }
    for read in pair.wiring.parts.get(part).into_iter().flatten() {
        match read {
            LinkRead::Use(at) => used.extend(address_of(LinkTarget::Use(*at))),
            LinkRead::Part(at) => {
                let name = pair.kind.parts.get_index(*at).map(|(name, _)| name);
                let link = evaluation.link(link);
                used.extend(
                    link.zip(name)
                        .map(|(link, name)| part_of(&link.address, name)),
                );
            }
            LinkRead::Spec(..) | LinkRead::Metadata(_) => {}
        }
    }
    let spec = evaluation
        .link(link)
        .and_then(|link| Some(&link.parts.get(part)?.as_ref()?.spec));
    let mut waits_for = Vec::new();
    spec.unwrap_or(&Value::Null).waits_for(&mut waits_for);
    used.extend(waits_for);
    used.into_iter().collect()
}
