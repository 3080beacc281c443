//! The parts of links: resources that a link owns, decided about like any other
//! (decisions/links#kinds-are-data).
//!
//! Not here: finding links (`evaluate::resolve`), what links write (`plan::links`).

use blueprint::Address;
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
/// `pairs` has the positions of the declared links.
pub(crate) async fn decide_parts(
    evaluation: &mut Evaluation,
    pairs: &[u32],
    snapshot: &Snapshot,
    catalogs: &Catalogs,
    world: &dyn World,
    decided: &mut DecidedSoFar,
    found: &mut Diagnostics,
) {
    // The first parts of all links are decided in the first round, the second parts in the second
    // round, and so on: the providers are asked once for each round.
    let mut rounds: Vec<Vec<(LinkAt, usize)>> = Vec::new();
    for number in pairs {
        let slot = evaluation.links.slots.get(*number as usize);
        let (Some(pair), Some(LinkSlot::Ready(links))) = (evaluation.pair(*number), slot) else {
            continue;
        };
        for (round, part) in pair.wiring.part_order().into_iter().enumerate() {
            if rounds.len() <= round {
                rounds.push(Vec::new());
            }
            for at in 0..links.len() as u32 {
                let link: LinkAt = (*number, at);
                rounds[round].push((link, part));
            }
        }
    }
    for round in rounds {
        let mut drafts = Vec::with_capacity(round.len());
        for (link, part) in round {
            if evaluation.has_absent_end(link) {
                continue;
            }
            let evaluated =
                evaluate_until_answered(evaluation, catalogs, world, found, |evaluation, found| {
                    evaluation.link_part(link, part, found)
                })
                .await;
            // Without a value after an error, or if the condition of the part is false.
            let member = evaluated.flatten();
            let is_present = member.is_some();
            evaluation.set_part(link, part, member);
            if !is_present {
                continue;
            }
            let Some(pair) = evaluation.pair(link.0) else {
                continue;
            };
            let Some(Some(ty)) = pair.part_types.get(part) else {
                continue;
            };
            let dependencies = dependencies(evaluation, link, part);
            // The evaluation owns the member since `set_part`.
            let Some(member) = evaluation
                .link(link)
                .and_then(|link| link.parts.get(part)?.as_deref())
            else {
                continue;
            };
            let written = evaluation.links.written_into(&member.address);
            // No document declares a part. Diagnostics about it point to the declaration of end `a`.
            let placeholder = placeholder_resource(evaluation.place_of(pair.a), ty);
            let wanted = DesiredMember {
                member,
                resource: &placeholder,
                ty,
                dependencies,
                // The default configuration: a part cannot name a declared one.
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

/// The dependencies of a part: each end, unless the end waits for the part; the neighbours and the
/// other parts that the part reads; and what unknown values of its spec wait for.
pub(crate) fn dependencies(evaluation: &Evaluation, link: LinkAt, part: usize) -> Vec<Address> {
    let mut dependencies = AddressSet::default();
    let Some(pair) = evaluation.pair(link.0) else {
        return Vec::new();
    };
    let address_of = |target: LinkTarget| {
        let (resource, position) = evaluation.member_of(link, target)?;
        evaluation
            .member(resource, position)
            .map(|member| member.address.clone())
    };
    for side in [Side::A, Side::B] {
        if !pair.wiring.end_waits_for_part(side) {
            dependencies.extend(address_of(LinkTarget::End(side)));
        }
    }
    let ready_link = evaluation.link(link);
    let reads = pair.wiring.parts.get(part);
    for read in reads.into_iter().flatten() {
        match read {
            LinkRead::Use(at) => dependencies.extend(address_of(LinkTarget::Use(*at))),
            LinkRead::Part(other) => {
                let other = pair.kind.parts.get_index(*other);
                if let (Some(link), Some((name, _))) = (ready_link, other) {
                    dependencies.insert(part_of(&link.address, name));
                }
            }
            // These are fields of the ends, which are considered above.
            LinkRead::Spec(..) | LinkRead::Metadata(_) => {}
        }
    }
    let member = ready_link.and_then(|link| link.parts.get(part)?.as_ref());
    if let Some(member) = member {
        let mut awaited = Vec::new();
        member.spec.waits_for(&mut awaited);
        dependencies.extend(awaited);
    }
    dependencies.into_iter().collect()
}
