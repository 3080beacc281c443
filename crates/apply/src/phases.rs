//! The phases of links: each writes a link's contributions into one target, or removes them (decision 3.2).
//!
//! A phase is an update of its target. The phases of one target run one after another, each with a call of its own.
//! From a certain number on, one call carries out as many phases as the target has had before, so the whole spec is
//! merged, compared and sent only a few times. If such a call is refused, each phase is tried alone to find the cause.
//!
//! Not here: the records of links (`links`), which phases exist (`plan::links`).

use std::sync::Arc;

use blueprint::{Address, Name, Value};
use diag::{Diagnostic, Diagnostics, Span};
use provider::{Operation as Verb, ProviderError};
use state::{EntryKind, Intent, Record, StatusOp, StatusWord};

use crate::codes;
use crate::journal::Durable;
use crate::link_state::Set;
use crate::machine::Apply;
use crate::model::{CallRequest, Effect};
use crate::schedule::Progress;
use evaluate::event::Event;
use evaluate::resolve::links::{conflict, part_resource};
use plan::linked::{Linked, Phase};
use plan::task::Decided;
use plan::tasks::links::ONE_BY_ONE;
use understand::check::conform::conform_resource;
use understand::compare::same;
use understand::links::DeterministicMap;
use understand::links::contribution::{Contribution, ContributionIndex, Merger, Written, without};
use understand::links::overlay::{Overlay, overlays_of};

/// One of the phases that a call carries out.
struct Member {
    task: u32,
    decided: Arc<Decided>,
    contributions: Vec<Contribution>,
}

impl Member {
    fn phase(&self) -> Option<&Phase> {
        phase_of(&self.decided)
    }

    /// The overlays of the link after this phase.
    fn overlays(&self) -> Vec<Overlay> {
        let Some(phase) = self.phase() else { return Vec::new() };
        let overlay = |contribution: &Contribution| Overlay {
            target: phase.target.clone(),
            phase: phase.name.clone(),
            contribution: contribution.clone(),
            open: false,
        };
        self.contributions.iter().map(overlay).collect()
    }
}

fn phase_of(decided: &Decided) -> Option<&Phase> {
    match decided.linked.as_deref() {
        Some(Linked::Phase(phase)) => Some(phase),
        _ => None,
    }
}

impl Apply {
    /// Starts a phase: computes the new spec of the target.
    pub(super) fn start_phase(&mut self, task: u32, decided: &Arc<Decided>, phase: &Phase, effects: &mut Vec<Effect>) {
        let unneeded = |apply: &mut Apply, effects: &mut Vec<Effect>, reason: &str| {
            apply.journal.emit(Event::Unneeded { address: decided.address.clone(), reason: reason.into() }, effects);
            apply.complete(task, effects);
        };
        *self.links.batches.had.entry((phase.target.clone(), phase.into.is_some())).or_default() += 1;
        match self.links.batches.carried.remove(&task) {
            Some(true) => {
                let (address, operation) = (decided.address.clone(), Verb::Update);
                self.journal.emit(Event::Done { address, operation, replacing: false }, effects);
                return self.complete(task, effects);
            }
            Some(false) => return unneeded(self, effects, "it has been written already"),
            None => {}
        }
        let of_link = self.snapshot.records.get(&phase.link).cloned();
        let before = written_by(of_link.as_deref(), phase);
        if self.is_phase_gone(phase) && before.is_empty() {
            return unneeded(self, effects, "an end of the link is not there");
        }
        let goes = phase.member.is_some_and(|(resource, position)| {
            self.evaluation.as_ref().is_some_and(|it| it.is_absent(resource, position))
        });
        if goes {
            // The contributions disappear with the target.
            self.record_link(task, phase, &of_link, Vec::new(), None, StatusWord::Running);
            return unneeded(self, effects, "what it writes into goes");
        }
        let Some(record) = self.snapshot.records.get(&phase.target).filter(|record| !record.id.is_empty()).cloned()
        else {
            return unneeded(self, effects, "what it writes into is not there");
        };
        let Some((spec, members)) = self.spec_of_phases(task, decided, phase, &record) else {
            return self.phase_undone(task, decided, phase, effects);
        };
        let insists = members.iter().filter_map(Member::phase).any(|phase| phase.insist);
        let called = !same(&spec, &record.inputs) || insists;
        if !called && members.len() == 1 && members[0].overlays() == before {
            return unneeded(self, effects, "it has been written already");
        }
        for member in &members {
            let Some(phase) = member.phase() else { continue };
            let of_link = self.snapshot.records.get(&phase.link).cloned();
            let overlays = member.overlays();
            self.links
                .rewritten
                .extend(overlays.iter().filter_map(|it| Some((phase.target.clone(), it.contribution.identity()?))));
            if called {
                // Record the contributions as open before the call.
                let mut open: Vec<Overlay> = of_link.as_deref().map(overlays_of).unwrap_or_default();
                open.retain(|it| !overlays.iter().any(|new| new.target == it.target && same_place(new, it)));
                open.extend(overlays.into_iter().map(|overlay| Overlay { open: true, ..overlay }));
                self.record_link(member.task, phase, &of_link, open, None, StatusWord::Running);
            } else if overlays != written_by(of_link.as_deref(), phase) {
                self.record_link(member.task, phase, &of_link, overlays, None, StatusWord::Running);
            }
        }
        let along: Vec<u32> = members.iter().map(|member| member.task).filter(|it| *it != task).collect();
        if !called {
            // The target does not change. Only the records of the links do.
            self.links.batches.carried.extend(along.into_iter().map(|task| (task, false)));
            return self.complete(task, effects);
        }
        let alone = if self.links.batches.alone.contains(&phase.target) { "-alone" } else { "" };
        if !along.is_empty() {
            self.links.batches.along.insert(task, along);
        }
        let token: Name = format!("{}-{task}{alone}", self.operation.id).into();
        let intent = Intent {
            address: phase.target.clone(),
            op: StatusOp::Update,
            deposed: false,
            token: token.clone(),
            id: record.id.clone(),
            hides_id: record.hides_id(),
            retain: record.retain,
            protect: record.protect,
            type_name: record.type_name.clone(),
            inputs: spec.clone(),
            private: Value::Null,
            folder: record.origin.folder.clone(),
            dependencies: record.dependencies.clone(),
            provider: record.provider.clone(),
        };
        self.schedule.running[task as usize].request = Some(Box::new(CallRequest {
            address: phase.target.clone(),
            type_name: record.type_name.clone(),
            operation: Verb::Update,
            id: Some(record.id.clone()),
            prior_inputs: record.inputs.clone(),
            prior: record.outputs.clone(),
            desired: spec,
            schema_version: record.schema_version,
            planned: Value::Null,
            inexact: false,
            private: record.private.clone(),
            sources: Vec::new(),
            token,
            folder: record.origin.folder.clone(),
            provider: self.instance_of(record.provider.as_ref()),
            limit: None,
        }));
        self.schedule.running[task as usize].progress = Progress::Intending;
        self.limits.occupy(&self.plan.tasks[task as usize]);
        let step = self.plan.tasks[task as usize].step.map_or(0, |step| step + 1);
        self.journal.record(step, EntryKind::Intent(Arc::new(intent)), Durable::Intent(task));
    }

    /// Whether one phase waits for another only because both write into the same target for different links.
    pub(super) fn stand_in_line(&self, task: u32, waiter: u32) -> bool {
        let phase = |task: u32| phase_of(self.plan.tasks[task as usize].decision.as_ref()?);
        let writes = |phase: &&Phase| phase.into.is_some();
        let pair = phase(task).filter(writes).zip(phase(waiter).filter(writes));
        pair.is_some_and(|(one, other)| one.target == other.target && one.link != other.link)
    }

    /// Whether the link of a phase is absent: its contributions are removed.
    fn is_phase_gone(&self, phase: &Phase) -> bool {
        phase.into.is_some_and(|(link, _)| self.evaluation.as_ref().is_some_and(|it| it.is_gone(link)))
    }

    /// The new spec of the target, and the phases that it includes: the first one, and ready phases that wait behind
    /// it. `None` if the first one fails, which is reported.
    fn spec_of_phases(
        &mut self,
        task: u32,
        decided: &Arc<Decided>,
        phase: &Phase,
        record: &Arc<Record>,
    ) -> Option<(Value, Vec<Member>)> {
        let mut mistakes = Diagnostics::new();
        let contributions = self.wanted_of_phase(decided, phase, &mut mistakes);
        self.results.found.append(mistakes);
        let mut members = vec![Member { task, decided: decided.clone(), contributions: contributions? }];
        members.extend(self.behind_in_line(task, phase));
        if members.len() > 1 {
            let mut mistakes = Diagnostics::new();
            if let Some(spec) = self.merged_phases(&members, phase, record, &mut mistakes) {
                return Some((spec, members));
            }
            // Trying each phase alone shows which one fails.
            self.links.batches.alone.insert(phase.target.clone());
            members.truncate(1);
        }
        let mut mistakes = Diagnostics::new();
        let spec = self.merged_phases(&members, phase, record, &mut mistakes);
        mistakes.retain(Diagnostic::is_error);
        self.results.found.append(mistakes);
        Some((spec?, members))
    }

    /// The contributions of a phase; empty if it only removes. `None` if their evaluation fails.
    fn wanted_of_phase(
        &mut self,
        decided: &Decided,
        phase: &Phase,
        found: &mut Diagnostics,
    ) -> Option<Vec<Contribution>> {
        let Some((link, target)) = phase.into.filter(|_| !self.is_phase_gone(phase)) else { return Some(Vec::new()) };
        self.required(link, decided, found)?;
        let mut mistakes = Diagnostics::new();
        let contributions = self.evaluation.as_mut()?.contributions(link, target, true, &mut mistakes).ok().flatten();
        mistakes.retain(Diagnostic::is_error);
        found.append(mistakes);
        let contributions = contributions?;
        if contributions.iter().any(|it| it.value.has_unknown()) {
            found.push(
                codes::PROMISE_BROKEN
                    .new(format!("what `{}` writes is still not known", decided.address))
                    .label(decided.span, "something it reads has no value yet"),
            );
            return None;
        }
        Some(contributions)
    }

    /// The phases that wait behind this one and for nothing else, at most as many as the target has had; none for the
    /// first few.
    fn behind_in_line(&mut self, task: u32, phase: &Phase) -> Vec<Member> {
        let mut members = Vec::new();
        let had =
            self.links.batches.had.get(&(phase.target.clone(), phase.into.is_some())).copied().unwrap_or_default();
        // `had` includes the current phase. The batch holds as many phases as came before it.
        if had <= ONE_BY_ONE || self.links.batches.alone.contains(&phase.target) || self.plan.options.until.is_some() {
            return members;
        }
        let mut last = task;
        while members.len() + 2 < had {
            let next = self.schedule.after[last as usize].iter().find_map(|(waiter, _)| {
                let ready = self.schedule.running[*waiter as usize].progress == Progress::Waiting(1);
                let decided = self.plan.tasks[*waiter as usize].decision.as_ref().filter(|_| ready)?;
                let other = phase_of(decided)?;
                let in_line = other.target == phase.target && other.into.is_some() == phase.into.is_some();
                in_line.then(|| (*waiter, decided.clone()))
            });
            let Some((task, decided)) = next else { break };
            let Some(other) = phase_of(&decided) else { break };
            let Some(contributions) = self.wanted_of_phase(&decided, other, &mut Diagnostics::new()) else { break };
            members.push(Member { task, decided, contributions });
            last = task;
        }
        members
    }

    /// The spec of a target with the contributions of these phases, and without those that they remove. `None` on an
    /// error.
    fn merged_phases(
        &self,
        members: &[Member],
        phase: &Phase,
        record: &Record,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        let first = members.first()?;
        let place = phase.member.and_then(|(resource, position)| {
            let evaluation = self.evaluation.as_ref()?;
            Some((evaluation.member(resource, position)?.spec.clone(), evaluation.place_of(resource)))
        });
        // The document's value, to which a field returns when a link releases it as a whole.
        let (document, span): (Value, Span) = place.unwrap_or((Value::Null, first.decided.span));
        let mut said = ContributionIndex::new(document.clone());
        let mut rewritten: Set<(Address, String)> = Set::default();
        let mut holders = Holders::of(&self.links.written, members, &phase.target);
        let mut taken: Vec<Contribution> = Vec::new();
        for member in members {
            let Some(phase) = member.phase() else { continue };
            let mine = written_by(self.snapshot.records.get(&phase.link).map(Arc::as_ref), phase);
            let left = phase.undo.iter().chain(&mine).map(|it| &it.contribution).filter(|it| {
                let in_document = !matches!(it.how, Written::Set) && said.found(it).is_some();
                !in_document && !holders.has_another(&phase.link, it)
            });
            taken.extend(left.cloned());
            for contribution in &member.contributions {
                let Some(identity) = contribution.identity() else { continue };
                let key = (phase.target.clone(), identity);
                // Contributions of earlier runs give way. The plan has checked that all links want the same value now.
                let written = self.links.written.get(&key).is_some_and(|holders| !holders.is_empty());
                if written && !self.links.rewritten.contains(&key) && !rewritten.contains(&key) {
                    taken.push(contribution.clone());
                }
                rewritten.insert(key);
            }
        }
        let mut merger = Merger::new(without(&record.inputs, taken.iter(), &document));
        for member in members {
            let Some(phase) = member.phase() else { continue };
            for contribution in &member.contributions {
                if let Err(refused) = merger.merge(contribution, &phase.link) {
                    let target = phase.target.to_string();
                    found.push(conflict(&phase.link, &target, &refused).label(span, "written to here"));
                    return None;
                }
            }
        }
        let ty = first.decided.ty.clone()?;
        let mut mistakes = Diagnostics::new();
        let spec = conform_resource(&merger.done(), &part_resource(first.decided.span, &ty), &ty, &mut mistakes);
        let failed = mistakes.has_errors();
        found.append(mistakes);
        (!failed).then_some(spec)
    }

    /// Closes the contributions of a phase, and of those that shared its call, after a successful call.
    pub(super) fn close_phases(&mut self, task: u32, phase: &Phase) {
        self.close_phase(task, phase);
        for along in self.links.batches.along.remove(&task).unwrap_or_default() {
            let Some(decided) = self.plan.tasks[along as usize].decision.clone() else { continue };
            if let Some(phase) = phase_of(&decided) {
                self.close_phase(along, phase);
                self.links.batches.carried.insert(along, true);
            }
        }
    }

    fn close_phase(&mut self, task: u32, phase: &Phase) {
        let of_link = self.snapshot.records.get(&phase.link).cloned();
        let written = written_by(of_link.as_deref(), phase).into_iter().filter(|it| it.open);
        let now = written.map(|overlay| Overlay { open: false, ..overlay }).collect();
        self.record_link(task, phase, &of_link, now, None, StatusWord::Running);
    }

    /// Retries the phases of a permanently refused shared call one by one. Returns false if the call was not shared.
    pub(super) fn tried_alone(&mut self, task: u32, phase: &Phase, error: &ProviderError) -> bool {
        let many = self.links.batches.along.remove(&task).is_some();
        if !many || self.state.stopping || error.kind.is_retryable() || error.partial.is_some() {
            return false;
        }
        self.links.batches.alone.insert(phase.target.clone());
        if let Some(had) = self.links.batches.had.get_mut(&(phase.target.clone(), phase.into.is_some())) {
            *had -= 1;
        }
        // The target is unchanged.
        let record = self.snapshot.records.get(&phase.target).cloned();
        let outcome =
            state::Outcome { address: phase.target.clone(), record, error: Some(error.message.as_str().into()) };
        let step = self.plan.tasks[task as usize].step.map_or(0, |step| step + 1);
        self.journal.record(step, EntryKind::Outcome(Arc::new(outcome)), Durable::Nothing);
        self.schedule.running[task as usize].request = None;
        self.schedule.running[task as usize].tries = 0;
        self.schedule.running[task as usize].late = false;
        self.schedule.running[task as usize].progress = Progress::Ready;
        self.schedule.enqueue_first(task);
        true
    }
}

/// Which links hold each entry of a target after these phases.
struct Holders<'a> {
    written: &'a DeterministicMap<(Address, String), Vec<Address>>,
    target: &'a Address,
    /// What the links of these phases write again. They release all other entries.
    kept: DeterministicMap<&'a Address, Vec<String>>,
    /// At most two links that hold an identity: enough to tell whether another link holds it.
    known: DeterministicMap<String, Vec<&'a Address>>,
}

impl<'a> Holders<'a> {
    fn of(
        written: &'a DeterministicMap<(Address, String), Vec<Address>>,
        members: &'a [Member],
        target: &'a Address,
    ) -> Holders<'a> {
        let mut kept: DeterministicMap<&Address, Vec<String>> = DeterministicMap::default();
        for member in members {
            if let Some(phase) = member.phase() {
                let identities = member.contributions.iter().filter_map(Contribution::identity);
                kept.entry(&phase.link).or_default().extend(identities);
            }
        }
        Holders { written, target, kept, known: DeterministicMap::default() }
    }

    /// Whether another link has written the same entry and keeps it after these phases.
    fn has_another(&mut self, link: &Address, contribution: &Contribution) -> bool {
        let Some(identity) = contribution.identity() else { return false };
        let (written, target, kept) = (self.written, self.target, &self.kept);
        let known = self.known.entry(identity).or_insert_with_key(|identity| {
            let holders = written.get(&(target.clone(), identity.clone())).into_iter().flatten();
            let stays = |holder: &&Address| kept.get(holder).is_none_or(|kept| kept.contains(identity));
            holders.filter(stays).take(2).collect()
        });
        known.iter().any(|holder| *holder != link)
    }
}

/// The overlays that a link's record lists for a phase.
fn written_by(of_link: Option<&Record>, phase: &Phase) -> Vec<Overlay> {
    let all = of_link.map(overlays_of).unwrap_or_default().into_iter();
    all.filter(|it| it.target == phase.target && it.phase == phase.name).collect()
}

fn same_place(a: &Overlay, b: &Overlay) -> bool {
    a.phase == b.phase && a.contribution.identity() == b.contribution.identity()
}
