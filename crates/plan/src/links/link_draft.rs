//! Decides about the steps of one link: what it writes into each target, and the link as a whole.

use std::sync::Arc;

use blueprint::{Address, Map, TypeId, Value};
use diag::Span;
use evaluate::resolve::links::slots::LinkAt;
use evaluate::resolve::{Evaluation, Member};
use provider::{LinkKind, Side};
use state::{Record, Snapshot, StatusWord};
use understand::compare::{Change, same};
use understand::links::DeterministicMap;
use understand::links::address::part_of;
use understand::links::contribution::Contribution;
use understand::links::guarantees::MemberKey;
use understand::links::overlay::Overlay;
use understand::links::wiring::LinkTarget;
use understand::secret_marks::with_secret_marks_of;

use super::target_contents::{TargetContents, contents_of};
use super::undo::{link_decision, removal_change, undo_writes};
use crate::decision::Decision;
use crate::draft::Draft;
use crate::linked::{ContributionChange, LinkRecord, LinkWrite, Linked};
use crate::model::{Action, Reason};

/// A contribution that the link writes by a step of its own after the target, not with the target's
/// spec.
pub(super) struct SeparateContribution {
    pub(super) target: MemberKey,
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
    /// The contributions that are merged into the specs of their targets.
    pub(super) spec_contributions: Vec<(LinkTarget, Contribution)>,
    pub(super) data: Value,
    /// The depth of the link behind the links that it needs.
    pub(super) guarantee_depth: u32,
    /// The links that give a guarantee that it needs.
    pub(super) guarantee_givers: Vec<Address>,
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
    /// Whether the link exists is known only during apply.
    pub(super) condition_open: bool,
    pub(super) decisions: Vec<Decision>,
    /// What the link contributes by steps of its own, whether it is written already or not.
    pub(super) separate_contributions: Vec<SeparateContribution>,
    /// Positions in `recorded` of contributions whose target is still the same.
    pub(super) kept: Vec<usize>,
    pub(super) changes: Vec<ContributionChange>,
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
        write_index: u32,
        target: LinkTarget,
        contributions: &[Contribution],
        target_contents: &mut TargetContents,
    ) {
        let one = self.evaluated;
        let phase = target.phase(&self.kind);
        let Some(target_key) = self.evaluation.member_of(one.link, target) else {
            return;
        };
        let Some(address) = self.member(target).map(|member| member.address.clone()) else {
            return;
        };
        let Some(decision) = self.decision_at(&address) else {
            return;
        };
        let target_is_created = matches!(decision.action, Action::Create | Action::Replace);
        let recorded_writes: Vec<usize> = (0..self.recorded.len())
            .filter(|at| {
                let overlay = &self.recorded[*at];
                overlay.target == address && overlay.phase == phase
            })
            .collect();
        let write = self.write_changes(
            &address,
            &recorded_writes,
            target_is_created,
            contributions,
            target_contents,
        );
        let was_written = !recorded_writes.is_empty();
        self.kept.extend(recorded_writes);
        self.drifted |= write.drifted;
        self.separate_contributions
            .extend(contributions.iter().map(|it| SeparateContribution {
                target: target_key,
                link: one.address.clone(),
                contribution: it.clone(),
            }));
        let same_as_before = write.changes.is_empty();
        // Apply may find that the link does not exist. Then this step removes what was written.
        let may_be_removed = self.condition_open && was_written;
        if same_as_before && !may_be_removed {
            return;
        }
        let reasons = if same_as_before {
            Vec::new()
        } else if write.drifted {
            vec![Reason::Drifted]
        } else if (target_is_created || write.replaced) && !self.is_new {
            vec![Reason::DependencyReplaced]
        } else {
            vec![if self.is_new {
                Reason::New
            } else {
                Reason::Changed
            }]
        };
        let changes = write.changes.iter().map(|change| ContributionChange {
            into: phase.clone(),
            with_spec: false,
            change: change.clone(),
        });
        self.changes.extend(changes);
        // These writes are called even if the records are equal: the value was lost since, or the
        // outcome of an earlier write is unknown.
        let forces_call = write.drifted || write.replaced || write.undo.iter().any(|it| it.open);
        let linked = LinkWrite {
            link: one.address.clone(),
            into: Some((one.link, target)),
            name: phase.clone(),
            target: address,
            member: Some(target_key),
            forces_call,
            undo: write.undo,
            write_index,
            guarantee_depth: one.guarantee_depth,
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
            condition_open: self.condition_open,
            ..link_decision(
                part_of(&one.address, &phase),
                decision.type_name.clone(),
                action,
                reasons,
                decision.span,
                Linked::Write(linked),
            )
        });
    }

    /// Compares the contributions of the link with the recorded ones (`recorded_writes`, positions
    /// in `recorded`) and with the contents of the target. A target that this plan creates contains
    /// nothing yet.
    fn write_changes(
        &self,
        target: &Address,
        recorded_writes: &[usize],
        target_is_created: bool,
        contributions: &[Contribution],
        target_contents: &mut TargetContents,
    ) -> WriteChanges {
        let mut write = WriteChanges::default();
        let mut target_content =
            contents_of(target_contents, self.evaluation, self.snapshot, target);
        let mut recorded_by_identity: DeterministicMap<String, &Overlay> = recorded_writes
            .iter()
            .map(|at| &self.recorded[*at])
            .filter_map(|overlay| Some((overlay.contribution.identity()?, overlay)))
            .collect();
        for contribution in contributions {
            let recorded = contribution
                .identity()
                .and_then(|identity| recorded_by_identity.remove(&identity));
            let is_as_recorded = recorded
                .is_some_and(|it| !it.open && same(&it.contribution.value, &contribution.value));
            // A value that is not known yet cannot be searched in the target.
            let mut content = target_content
                .as_mut()
                .filter(|_| !contribution.value.has_unknown());
            let observed = content.as_ref().is_some_and(|content| content.observed);
            let is_missing = content
                .as_mut()
                .is_some_and(|content| !content.fields.has(contribution));
            // A cut-off run may have replaced the target. The inputs that were last sent to it then
            // lack the contribution.
            let is_unsent = content
                .and_then(|content| content.sent.as_mut())
                .is_some_and(|sent| !sent.has(contribution));
            let is_lost = is_missing || is_unsent;
            if is_lost && is_as_recorded && !target_is_created {
                // Drift shows only in an observed object. Otherwise the value was lost together with
                // the target.
                let is_lost_with_target = is_unsent || !observed;
                write.replaced |= is_lost_with_target;
                write.drifted |= !is_lost_with_target;
            }
            if target_is_created || !is_as_recorded || is_lost {
                write.changes.push(Change {
                    path: format!("spec.{}", contribution.place()),
                    before: recorded
                        .filter(|_| !target_is_created)
                        .map(|it| it.contribution.value.clone()),
                    after: Some(contribution.value.clone()),
                    forces: false,
                    list: None,
                });
            }
        }
        if !target_is_created {
            write.undo = recorded_by_identity.into_values().cloned().collect();
        }
        let removals = write.undo.iter().map(|it| removal_change(&it.contribution));
        write.changes.extend(removals);
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
            one.guarantee_depth,
            one.span,
        ));
    }

    /// The inputs in the record of the link: its annotations, and its contributions to the specs of
    /// its targets.
    pub(super) fn inputs(&self) -> Value {
        let with = Value::list(self.evaluated.spec_contributions.iter().filter_map(
            |(target, contribution)| {
                let overlay = Overlay {
                    target: self.member(*target)?.address.clone(),
                    phase: target.phase(&self.kind),
                    contribution: contribution.clone(),
                    open: false,
                };
                Some(overlay.to_value())
            },
        ));
        let mut inputs = Map::default();
        inputs.insert("notes".into(), self.evaluated.notes.clone());
        inputs.insert("with".into(), with);
        Value::Map(Arc::new(inputs))
    }

    /// Collects the changes of the contributions to the specs of its targets.
    pub(super) fn compare_contributions(&mut self, target_contents: &mut TargetContents) {
        let recorded = self
            .prior
            .iter()
            .filter_map(|record| record.inputs.get("with"));
        let recorded_values: DeterministicMap<String, Value> = recorded
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
        for (target, contribution) in &self.evaluated.spec_contributions {
            let member = self.member(*target);
            let identity = contribution
                .identity()
                .zip(member)
                .map(|(it, member)| format!("{}\0{it}", member.address));
            let mut before = identity
                .and_then(|identity| recorded_values.get(&identity))
                .cloned();
            let is_as_recorded = before
                .as_ref()
                .is_some_and(|before| same(before, &contribution.value));
            let target_is_updated = member
                .and_then(|member| self.decision_at(&member.address))
                .is_some_and(|decision| decision.action == Action::Update);
            // An update of the target writes a lost contribution again, so no step is needed. The
            // comparison is only for the report, which says that the contribution was lost.
            let observed = member
                .filter(|_| is_as_recorded && target_is_updated)
                .and_then(|member| {
                    contents_of(
                        target_contents,
                        self.evaluation,
                        self.snapshot,
                        &member.address,
                    )
                })
                .filter(|content| content.observed);
            let mut is_missing = false;
            if let Some(content) = observed
                && !content.fields.has(contribution)
            {
                // The contribution already has the secret marks, so no field of the schema is passed.
                before = content
                    .fields
                    .value_of(contribution)
                    .map(|now| with_secret_marks_of(now, Some(&contribution.value), None));
                is_missing = true;
            }
            self.drifted |= is_missing;
            if !is_as_recorded || is_missing {
                let after = Some(contribution.value.clone());
                let change = Change {
                    path: format!("spec.{}", contribution.place()),
                    before,
                    after,
                    forces: false,
                    list: None,
                };
                self.changes.push(ContributionChange {
                    into: target.phase(&self.kind),
                    with_spec: true,
                    change,
                });
            }
        }
    }

    /// The addresses of the link's parts that are wanted and decided, and whether any part is
    /// created, changed or deleted.
    fn parts(&self) -> (Vec<Address>, bool) {
        let mut parts = Vec::new();
        let mut any_changes = false;
        for (at, name) in self.kind.parts.keys().enumerate() {
            let address = part_of(&self.evaluated.address, name);
            let link = self.evaluation.link(self.evaluated.link);
            let is_wanted = link.is_some_and(|link| matches!(link.parts.get(at), Some(Some(_))));
            match self.decision_at(&address).filter(|_| is_wanted) {
                Some(decision) => {
                    any_changes |= decision.action != Action::None;
                    parts.push(address);
                }
                // The part is not wanted, or nothing was decided about it: if it exists, it is
                // deleted.
                None => any_changes |= self.snapshot.records.contains_key(&address),
            }
        }
        (parts, any_changes)
    }

    /// The reasons to create or change the link as a whole; empty if it is as recorded.
    fn reasons(&self, inputs: &Value, parts_change: bool) -> Vec<Reason> {
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
        if reasons.is_empty() && (parts_change || self.decisions.iter().any(acts)) {
            reasons.push(Reason::Changed);
        }
        reasons
    }

    /// Decides about the link as a whole.
    pub(super) fn decide_whole(&mut self, inputs: Value) {
        let one = self.evaluated;
        let (parts, parts_change) = self.parts();
        let reasons = self.reasons(&inputs, parts_change);
        let targets = [Side::A, Side::B]
            .into_iter()
            .map(LinkTarget::End)
            .chain((0..self.kind.uses.len()).map(LinkTarget::Use));
        let members = targets
            .filter_map(|target| self.member(target))
            .map(|member| member.address.clone());
        let dependencies: Vec<Address> = members.chain(parts.iter().cloned()).collect();
        let prior = self.prior.take();
        let dependencies_differ = prior
            .as_ref()
            .is_some_and(|record| record.dependencies != dependencies);
        // Apply may find that the link does not exist. Then its record is removed.
        let may_be_removed = self.condition_open && prior.is_some();
        if reasons.is_empty() && !dependencies_differ && !may_be_removed {
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
            guarantee_givers: one.guarantee_givers.clone(),
            parts,
            changes,
        };
        self.decisions.push(Decision {
            desired: inputs,
            outputs: one.data.clone(),
            prior,
            dependencies,
            // The task of the link writes its record whenever it runs.
            record_differs: true,
            condition_open: self.condition_open,
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
