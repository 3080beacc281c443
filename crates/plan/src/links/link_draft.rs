//! Decides about the steps of one link: what it writes into each target, and the link as a whole.

use std::sync::Arc;

use blueprint::{Address, Map, Name, TypeId, Value};
use diag::Span;
use evaluate::resolve::links::slots::LinkAt;
use evaluate::resolve::{Evaluation, Member};
use provider::{LinkKind, Side};
use state::{Record, Snapshot, StatusWord};
use understand::compare::{Change, same};
use understand::links::DeterministicMap;
use understand::links::address::part_of;
use understand::links::contribution::Contribution;
use understand::links::overlay::Overlay;
use understand::links::wiring::LinkTarget;
use understand::secret_marks::with_secret_marks_of;

use super::target_contents::{TargetContent, TargetContents, contents_of};
use super::undo::{link_decision, removal_change, undo_writes};
use crate::decision::Decision;
use crate::draft::Draft;
use crate::linked::{LinkRecord, LinkWrite, Linked};
use crate::model::{Action, Reason};

/// A contribution that is written by a step of its own.
pub(super) struct SeparateContribution {
    pub(super) member: (u32, Option<u32>),
    pub(super) link: Address,
    pub(super) contribution: Contribution,
}

/// The evaluated data of one link while the link is decided about.
pub(super) struct EvaluatedLink {
    pub(super) link: LinkAt,
    pub(super) address: Address,
    pub(super) type_name: TypeId,
    pub(super) span: Span,
    pub(super) notes: Value,
    pub(super) with: Vec<(LinkTarget, Contribution)>,
    pub(super) data: Value,
    pub(super) rank: u32,
    pub(super) after: Vec<Address>,
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
pub(super) struct LinkDraft<'a> {
    pub(super) draft: &'a Draft,
    pub(super) evaluation: &'a Evaluation,
    pub(super) snapshot: &'a Snapshot,
    pub(super) positions: &'a DeterministicMap<Address, usize>,
    pub(super) evaluated: &'a EvaluatedLink,
    pub(super) kind: Arc<LinkKind>,
    pub(super) prior: Option<Arc<Record>>,
    /// The contributions that it has written by steps of its own, as recorded.
    pub(super) recorded: Vec<Overlay>,
    pub(super) is_new: bool,
    pub(super) open: bool,
    pub(super) decisions: Vec<Decision>,
    pub(super) written: Vec<SeparateContribution>,
    /// Positions in `recorded` of contributions whose target is still the same.
    pub(super) kept: Vec<usize>,
    /// The changes of its contributions: the target, whether with the target's own spec, and the
    /// change.
    pub(super) changes: Vec<(Name, bool, Change)>,
    pub(super) drifted: bool,
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
    pub(super) fn decide_write(
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
    pub(super) fn undo_former_targets(&mut self) {
        let recorded = self.recorded.iter().enumerate();
        let left = recorded
            .filter(|(at, _)| !self.kept.contains(at))
            .map(|(_, it)| it.clone())
            .collect();
        let one = self.evaluated;
        let verb = self.verb();
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
    pub(super) fn inputs(&self) -> Value {
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
    pub(super) fn compare_contributions(&mut self, standing: &mut TargetContents) {
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
    pub(super) fn decide_whole(&mut self, inputs: Value) {
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
