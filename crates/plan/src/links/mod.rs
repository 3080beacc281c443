//! Decides about links (decisions/links#effects-after-the-target): what they write once their
//! targets are ready, and the links themselves.
//!
//! A contribution that a link writes *with* a target is a part of the target's own spec and
//! decision. The steps of links are of two kinds: a *write* changes one target, and the *whole*
//! writes the record of the link.
//!
//! Not here: parts (`drafting`), the order of the steps (`tasks`), running them
//! (`apply::link_writes`).

pub(crate) mod report;

use std::sync::Arc;

use blueprint::{Address, Map, Name, ReplaceOrder, TypeId, Value};
use diag::{Diagnostics, Span};
use evaluate::answers::PinnedRead;
use evaluate::evaluation_question;
use evaluate::resolve::links::{LinkAt, LinkSlot, conflict};
use evaluate::resolve::{Evaluation, Member, Members, Need};
use evaluate::world::World;
use provider::{Catalogs, LinkKind, Side};
use state::{Record, Snapshot, StatusOp, StatusWord};
use understand::check::links::guarantees::{cardinality, missing_guarantee};
use understand::compare::{Change, same, with_secret_marks_of};
use understand::links::DeterministicMap;
use understand::links::address::part_of;
use understand::links::contribution::{Contribution, ContributionIndex, Merger};
use understand::links::guarantees::{Guarantees, MemberKey, MemberLink, check_cardinality};
use understand::links::overlay::{Overlay, overlays_of};
use understand::links::wiring::LinkTarget;

use crate::decision::{Decision, Lineage, PrivateData};
use crate::draft::Draft;
use crate::linked::{LinkRecord, LinkWrite, Linked};
use crate::model::{Action, Reason};

/// Evaluates something about a link. Asks the world what the evaluation needs, until nothing is
/// missing.
pub(crate) async fn evaluate_until_answered<T>(
    evaluation: &mut Evaluation,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
    mut ask: impl FnMut(&mut Evaluation, &mut Diagnostics) -> Result<T, Need>,
) -> Option<T> {
    // Each round answers a question, and the expressions of a kind contain finitely many questions.
    for _ in 0..1000 {
        let mut mistakes = Diagnostics::new();
        match ask(evaluation, &mut mistakes) {
            Ok(value) => {
                found.append(mistakes);
                return Some(value);
            }
            Err(need) => {
                evaluation_question::answer(evaluation, vec![need], catalogs, world, found).await
            }
        }
    }
    None
}

/// A contribution that is written by a step of its own.
struct SeparateContribution {
    member: (u32, Option<u32>),
    link: Address,
    contribution: Contribution,
}

/// The evaluated data of one link while the link is decided about.
struct EvaluatedLink {
    link: LinkAt,
    address: Address,
    type_name: TypeId,
    span: Span,
    notes: Value,
    with: Vec<(LinkTarget, Contribution)>,
    data: Value,
    rank: u32,
    after: Vec<Address>,
}

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
    let (ranks, givers) = check_cardinality_and_guarantees(evaluation, &links, catalogs, found);
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
        one.rank = ranks.get(at).copied().unwrap_or_default();
        one.after = givers
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
    let mut after: Vec<SeparateContribution> = Vec::new();
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
        if let Some((decisions, written)) = decided {
            draft.decisions.extend(decisions);
            after.extend(written);
        }
        draft.links.insert(one.address.clone());
    }
    report_conflicts(evaluation, after, found);
}

/// The resources that links write into, as far as their contents are known.
type TargetContents = DeterministicMap<Address, Option<TargetContent>>;

/// A resource that links write into.
struct TargetContent {
    /// The fields of the object.
    fields: ContributionIndex,
    /// Whether the fields were read from the object. They are the recorded ones otherwise.
    observed: bool,
    /// The inputs that were last sent, as recorded; `None` without a record.
    sent: Option<ContributionIndex>,
}

/// The contents of a resource, as observed or as recorded. A resource that a cut-off run has
/// replaced lacks a part of what links had written into the former object. If the commits of such a
/// run are lost, the object has contributions that the record does not list.
fn contents_of<'s>(
    seen: &'s mut TargetContents,
    evaluation: &Evaluation,
    snapshot: &Snapshot,
    address: &Address,
) -> Option<&'s mut TargetContent> {
    let of = seen.entry(address.clone()).or_insert_with(|| {
        let record = snapshot
            .records
            .get(address)
            .filter(|record| !record.id.is_empty());
        let (fields, observed) = match evaluation.answers.seen.get(address) {
            Some(PinnedRead::Present { fields, .. }) => (fields, true),
            Some(_) => return None,
            None => (&record?.outputs, false),
        };
        let sent = record.map(|record| ContributionIndex::new(record.inputs.clone()));
        Some(TargetContent {
            fields: ContributionIndex::new(fields.clone()),
            observed,
            sent,
        })
    });
    of.as_mut()
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
            let (a, b) = (
                evaluation.end_of(*link, Side::A)?,
                evaluation.end_of(*link, Side::B)?,
            );
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
    let mut with = Vec::new();
    for (target, _) in &pair.wiring.with {
        let Some(contributions) = evaluation.contributions(link, *target, false, found)? else {
            return Ok(None);
        };
        with.extend(
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
        with,
        data,
        rank: 0,
        after: Vec::new(),
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
        // Whether the link exists is known only during apply. If it does not, its writes are
        // removed then.
        open: evaluation.is_open(evaluated.link),
        decisions: Vec::new(),
        written: Vec::new(),
        kept: Vec::new(),
        changes: Vec::new(),
        drifted: false,
        kind,
    };
    for (place, (target, contributions)) in writes.into_iter().enumerate() {
        link.decide_write(place as u32, target, &contributions, target_contents);
    }
    link.undo_former_targets();
    let inputs = link.inputs();
    link.compare_contributions(target_contents);
    link.decide_whole(inputs);
    Ok(Some((link.decisions, link.written)))
}

/// The changes of a write.
#[derive(Default)]
struct WriteChanges {
    changes: Vec<Change>,
    /// A value was written before, and something else has changed it since.
    drifted: bool,
    /// A value was written before, and was lost with a target that was replaced.
    replaced: bool,
    undo: Vec<Overlay>,
}

/// One link while its steps are decided.
struct LinkDraft<'a> {
    draft: &'a Draft,
    evaluation: &'a Evaluation,
    snapshot: &'a Snapshot,
    positions: &'a DeterministicMap<Address, usize>,
    evaluated: &'a EvaluatedLink,
    kind: Arc<LinkKind>,
    prior: Option<Arc<Record>>,
    /// The contributions that it has written by steps of its own, as recorded.
    recorded: Vec<Overlay>,
    is_new: bool,
    open: bool,
    decisions: Vec<Decision>,
    written: Vec<SeparateContribution>,
    /// Positions in `recorded` of contributions whose target is still the same.
    kept: Vec<usize>,
    /// The changes of its contributions: the target, whether with the target's own spec, and the
    /// change.
    changes: Vec<(Name, bool, Change)>,
    drifted: bool,
}

impl<'a> LinkDraft<'a> {
    fn verb(&self) -> Action {
        if self.is_new {
            Action::Link
        } else {
            Action::Relink
        }
    }

    fn member(&self, target: LinkTarget) -> Option<&'a Member> {
        let (resource, position) = self.evaluation.member_of(self.evaluated.link, target)?;
        self.evaluation.member(resource, position)
    }

    fn decision_at(&self, address: &Address) -> Option<&'a Decision> {
        self.positions
            .get(address)
            .and_then(|at| self.draft.decisions.get(*at))
    }

    /// Decides about the write of the link into one target.
    fn decide_write(
        &mut self,
        place: u32,
        target: LinkTarget,
        contributions: &[Contribution],
        standing: &mut TargetContents,
    ) {
        let one = self.evaluated;
        let name = target.phase(&self.kind);
        let member = self.evaluation.member_of(one.link, target);
        let Some(address) = self.member(target).map(|member| member.address.clone()) else {
            return;
        };
        let Some(decision) = self.decision_at(&address) else {
            return;
        };
        let fresh = matches!(decision.action, Action::Create | Action::Replace);
        let is_same_write = |it: &&Overlay| it.target == address && it.phase == name;
        let recorded_writes: Vec<usize> = (0..self.recorded.len())
            .filter(|at| is_same_write(&&self.recorded[*at]))
            .collect();
        let write = self.write_changes(&address, &recorded_writes, fresh, contributions, standing);
        let was_written = !recorded_writes.is_empty();
        self.kept.extend(recorded_writes);
        self.drifted |= write.drifted;
        self.written.extend(member.into_iter().flat_map(|member| {
            let link = &one.address;
            contributions.iter().map(move |it| SeparateContribution {
                member,
                link: link.clone(),
                contribution: it.clone(),
            })
        }));
        let same_as_before = write.changes.is_empty();
        if same_as_before && (!self.open || !was_written) {
            return;
        }
        let reasons = if same_as_before {
            Vec::new()
        } else if write.drifted {
            vec![Reason::Drifted]
        } else if (fresh || write.replaced) && !self.is_new {
            vec![Reason::DependencyReplaced]
        } else {
            vec![if self.is_new {
                Reason::New
            } else {
                Reason::Changed
            }]
        };
        self.changes.extend(
            write
                .changes
                .iter()
                .map(|change| (name.clone(), false, change.clone())),
        );
        let linked = LinkWrite {
            link: one.address.clone(),
            into: Some((one.link, target)),
            name: name.clone(),
            target: address,
            member,
            forces_call: write.drifted || write.replaced || write.undo.iter().any(|it| it.open),
            undo: write.undo,
            write_index: place,
            guarantee_depth: one.rank,
        };
        let action = if same_as_before {
            Action::None
        } else {
            self.verb()
        };
        self.decisions.push(Decision {
            changes: write.changes,
            desired: Value::list(contributions.iter().map(|it| it.value.clone())),
            ty: decision.ty.clone(),
            condition_open: self.open,
            ..link_decision(
                part_of(&one.address, &name),
                decision.type_name.clone(),
                action,
                reasons,
                decision.span,
                Linked::Write(linked),
            )
        });
    }

    /// Compares the contributions of a link with the recorded ones (`mine`, positions in
    /// `recorded`) and with the contents of the target. A target that is `fresh` is created by this
    /// plan and contains nothing yet.
    fn write_changes(
        &self,
        address: &Address,
        recorded_writes: &[usize],
        fresh: bool,
        contributions: &[Contribution],
        standing: &mut TargetContents,
    ) -> WriteChanges {
        let mut write = WriteChanges::default();
        let mut seen = contents_of(standing, self.evaluation, self.snapshot, address);
        let mine = recorded_writes.iter().map(|at| &self.recorded[*at]);
        let mut before: DeterministicMap<String, &Overlay> = mine
            .filter_map(|overlay| Some((overlay.contribution.identity()?, overlay)))
            .collect();
        for contribution in contributions {
            let before = contribution
                .identity()
                .and_then(|identity| before.remove(&identity));
            let intact = before
                .is_some_and(|it| !it.open && same(&it.contribution.value, &contribution.value));
            let mut target = seen.as_mut().filter(|_| !contribution.value.has_unknown());
            let observed = target.as_ref().is_some_and(|target| target.observed);
            let is_missing = target
                .as_mut()
                .is_some_and(|target| !target.fields.has(contribution));
            // A cut-off run has replaced the target: its last inputs do not have the contribution.
            let is_unsent = target
                .and_then(|target| target.sent.as_mut())
                .is_some_and(|sent| !sent.has(contribution));
            write.drifted |= intact && !fresh && is_missing && observed && !is_unsent;
            write.replaced |= intact && !fresh && (is_unsent || is_missing && !observed);
            if fresh || !intact || is_missing || is_unsent {
                write.changes.push(Change {
                    path: format!("spec.{}", contribution.place()),
                    before: before
                        .filter(|_| !fresh)
                        .map(|it| it.contribution.value.clone()),
                    after: Some(contribution.value.clone()),
                    forces: false,
                });
            }
        }
        write.undo = before.into_values().filter(|_| !fresh).cloned().collect();
        write
            .changes
            .extend(write.undo.iter().map(|it| removal_change(&it.contribution)));
        write
    }

    /// Removes the contributions of the link from resources that are no longer its targets.
    fn undo_former_targets(&mut self) {
        let recorded = self.recorded.iter().enumerate();
        let left = recorded
            .filter(|(at, _)| !self.kept.contains(at))
            .map(|(_, it)| it.clone())
            .collect();
        let (one, verb) = (self.evaluated, self.verb());
        self.decisions.extend(undo_writes(
            self.draft,
            self.positions,
            &one.address,
            left,
            verb,
            one.rank,
            one.span,
        ));
    }

    /// The inputs in the record of the link: its annotations, and its contributions to the specs of
    /// its targets.
    fn inputs(&self) -> Value {
        let with = Value::list(
            self.evaluated
                .with
                .iter()
                .filter_map(|(target, contribution)| {
                    let overlay = Overlay {
                        target: self.member(*target)?.address.clone(),
                        phase: target.phase(&self.kind),
                        contribution: contribution.clone(),
                        open: false,
                    };
                    Some(overlay.to_value())
                }),
        );
        let mut inputs = Map::default();
        inputs.insert("notes".into(), self.evaluated.notes.clone());
        inputs.insert("with".into(), with);
        Value::Map(Arc::new(inputs))
    }

    /// Collects the changes of the contributions to the specs of its targets.
    fn compare_contributions(&mut self, standing: &mut TargetContents) {
        let recorded = self
            .prior
            .iter()
            .filter_map(|record| record.inputs.get("with"));
        let before: DeterministicMap<String, Value> = recorded
            .filter_map(|with| with.as_list())
            .flatten()
            .filter_map(Overlay::from_value)
            .filter_map(|it| {
                Some((
                    format!("{}\0{}", it.target, it.contribution.identity()?),
                    it.contribution.value,
                ))
            })
            .collect();
        for (target, contribution) in &self.evaluated.with {
            let member = self.member(*target);
            let identity = contribution
                .identity()
                .zip(member)
                .map(|(it, member)| format!("{}\0{it}", member.address));
            let mut before = identity.and_then(|identity| before.get(&identity)).cloned();
            let intact = before
                .as_ref()
                .is_some_and(|before| same(before, &contribution.value));
            // The target's own update sets the value back; the report says that the link's
            // contribution was lost.
            let set_back = member.filter(|member| {
                let decision = self.decision_at(&member.address);
                intact && decision.is_some_and(|decision| decision.action == Action::Update)
            });
            let mut is_missing = false;
            if let Some(TargetContent {
                fields,
                observed: true,
                ..
            }) = set_back.and_then(|member| {
                contents_of(standing, self.evaluation, self.snapshot, &member.address)
            }) && !fields.has(contribution)
            {
                before = fields
                    .value_of(contribution)
                    .map(|now| with_secret_marks_of(now, Some(&contribution.value), None));
                is_missing = true;
            }
            self.drifted |= is_missing;
            if !intact || is_missing {
                let after = Some(contribution.value.clone());
                let change = Change {
                    path: format!("spec.{}", contribution.place()),
                    before,
                    after,
                    forces: false,
                };
                self.changes.push((target.phase(&self.kind), true, change));
            }
        }
    }

    /// The addresses of the link's resources that are wanted, and whether any of them changes.
    fn resources(&self) -> (Vec<Address>, bool) {
        let mut resources = Vec::new();
        let mut change = false;
        for (at, name) in self.kind.parts.keys().enumerate() {
            let address = part_of(&self.evaluated.address, name);
            let link = self.evaluation.link(self.evaluated.link);
            let is_wanted = link.is_some_and(|link| matches!(link.parts.get(at), Some(Some(_))));
            match self.decision_at(&address).filter(|_| is_wanted) {
                Some(decision) => {
                    change |= decision.action != Action::None;
                    resources.push(address);
                }
                None => change |= self.snapshot.records.contains_key(&address),
            }
        }
        (resources, change)
    }

    /// The reasons to create or change the link as a whole; empty if it is as recorded.
    fn reasons(&self, inputs: &Value, resources_change: bool) -> Vec<Reason> {
        let Some(record) = &self.prior else {
            return vec![Reason::New];
        };
        let mut reasons = Vec::new();
        if !same(&record.inputs, inputs) || !same(&record.outputs, &self.evaluated.data) {
            reasons.push(Reason::Changed);
        }
        if record.status.word != StatusWord::Ready {
            reasons.push(Reason::FailedBefore);
        }
        if self.drifted {
            reasons.push(Reason::Drifted);
        }
        let acts = |decision: &Decision| decision.action != Action::None;
        if reasons.is_empty() && (resources_change || self.decisions.iter().any(acts)) {
            reasons.push(Reason::Changed);
        }
        reasons
    }

    /// Decides about the link as a whole.
    fn decide_whole(&mut self, inputs: Value) {
        let one = self.evaluated;
        let (parts, parts_change) = self.resources();
        let reasons = self.reasons(&inputs, parts_change);
        let ends = [Side::A, Side::B]
            .into_iter()
            .map(LinkTarget::End)
            .chain((0..self.kind.uses.len()).map(LinkTarget::Use));
        let members = ends
            .filter_map(|target| self.member(target))
            .map(|member| member.address.clone());
        let dependencies: Vec<Address> = members.chain(parts.iter().cloned()).collect();
        let prior = self.prior.take();
        let differs = prior
            .as_ref()
            .is_some_and(|record| record.dependencies != dependencies);
        if reasons.is_empty() && !differs && !(self.open && prior.is_some()) {
            return;
        }
        let action = if reasons.is_empty() {
            Action::None
        } else {
            self.verb()
        };
        let changes = std::mem::take(&mut self.changes);
        let whole = LinkRecord {
            link: Some(one.link),
            guarantee_givers: one.after.clone(),
            parts,
            changes,
        };
        self.decisions.push(Decision {
            desired: inputs,
            outputs: one.data.clone(),
            prior,
            dependencies,
            record_differs: true,
            condition_open: self.open,
            ..link_decision(
                one.address.clone(),
                one.type_name.clone(),
                action,
                reasons,
                one.span,
                Linked::Record(whole),
            )
        });
    }
}

fn removal_change(contribution: &Contribution) -> Change {
    Change {
        path: format!("spec.{}", contribution.place()),
        before: Some(contribution.value.clone()),
        after: None,
        forces: false,
    }
}

/// Steps that remove what a link has written. If the target is deleted or replaced, there is
/// nothing to remove.
fn undo_writes(
    draft: &Draft,
    positions: &DeterministicMap<Address, usize>,
    link: &Address,
    overlays: Vec<Overlay>,
    action: Action,
    rank: u32,
    span: Span,
) -> Vec<Decision> {
    let mut groups: blueprint::IndexMap<(Address, Name), Vec<Overlay>> =
        blueprint::IndexMap::default();
    for overlay in overlays {
        groups
            .entry((overlay.target.clone(), overlay.phase.clone()))
            .or_default()
            .push(overlay);
    }
    let mut decisions = Vec::new();
    for (place, ((target, name), undo)) in groups.into_iter().enumerate() {
        let Some(of) = positions
            .get(&target)
            .and_then(|at| draft.decisions.get(*at))
        else {
            continue;
        };
        if of.element.is_none() || !matches!(of.action, Action::Update | Action::None) {
            continue;
        }
        let changes = undo
            .iter()
            .map(|it| removal_change(&it.contribution))
            .collect();
        let write = LinkWrite {
            link: link.clone(),
            into: None,
            name: name.clone(),
            target,
            member: of.element,
            // It is unknown whether an open contribution was written.
            forces_call: undo.iter().any(|it| it.open),
            undo,
            write_index: place as u32,
            guarantee_depth: rank,
        };
        decisions.push(Decision {
            changes,
            ty: of.ty.clone(),
            ..link_decision(
                part_of(link, &name),
                of.type_name.clone(),
                action,
                vec![Reason::Removed],
                span,
                Linked::Write(write),
            )
        });
    }
    decisions
}

/// The decisions about a link that only the state knows: what it wrote is removed, then its record.
pub(crate) fn undo_link(
    draft: &Draft,
    positions: Option<&DeterministicMap<Address, usize>>,
    address: &Address,
    record: &Arc<Record>,
    reason: Reason,
) -> Vec<Decision> {
    let mut decisions = match positions {
        Some(positions) => undo_writes(
            draft,
            positions,
            address,
            overlays_of(record),
            Action::Unlink,
            0,
            Span::NONE,
        ),
        None => Vec::new(),
    };
    let whole = LinkRecord {
        link: None,
        guarantee_givers: Vec::new(),
        parts: Vec::new(),
        changes: Vec::new(),
    };
    decisions.push(Decision {
        prior: Some(record.clone()),
        dependencies: record.dependencies.clone(),
        ..link_decision(
            address.clone(),
            record.type_name.clone(),
            Action::Unlink,
            vec![reason],
            Span::NONE,
            Linked::Record(whole),
        )
    });
    decisions
}

/// The positions of the decisions, for [`undo_link`].
pub(crate) fn decided_resources(draft: &Draft) -> DeterministicMap<Address, usize> {
    positions(draft)
}

fn link_decision(
    address: Address,
    type_name: TypeId,
    action: Action,
    reasons: Vec<Reason>,
    span: Span,
    linked: Linked,
) -> Decision {
    Decision {
        address,
        element: None,
        linked: Some(Arc::new(linked)),
        type_name,
        ty: None,
        action,
        reasons,
        changes: Vec::new(),
        replace_order: ReplaceOrder::DeleteFirst,
        may_replace: false,
        condition_open: false,
        only_recorded: false,
        record_differs: false,
        desired: Value::Null,
        metadata: Value::Null,
        prior: None,
        outputs: Value::Null,
        private: PrivateData::default(),
        provider: None,
        expired: None,
        lineage: Lineage {
            made_from: None,
            moved_from: None,
        },
        rolling: Default::default(),
        dependencies: Vec::new(),
        protection: Default::default(),
        span,
    }
}

/// Reports conflicts between values that links write by steps of their own and values of the
/// document or other links.
fn report_conflicts(
    evaluation: &Evaluation,
    mut written: Vec<SeparateContribution>,
    found: &mut Diagnostics,
) {
    written.sort_by(|a, b| (a.member, &a.link).cmp(&(b.member, &b.link)));
    let documents = if written.is_empty() {
        Vec::new()
    } else {
        evaluation.documents_of_resources()
    };
    for of_target in written.chunk_by(|a, b| a.member == b.member) {
        let (resource, position) = of_target[0].member;
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
