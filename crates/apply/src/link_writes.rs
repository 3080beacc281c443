//! The writes of links: each writes a link's contributions into one target, or removes them (decision 3.2).
//!
//! A write is an update of its target. The writes of one target run one after another, each with a call of its own.
//! From a certain number on, one call carries out as many writes as the target has had before, so the whole spec is
//! merged, compared and sent only a few times. If such a call is refused, each write is tried alone to find the cause.
//!
//! Not here: the records of links (`links`), which writes exist (`plan::links`).

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
use plan::linked::{LinkWrite, Linked};
use plan::task::Decided;
use plan::tasks::links::ONE_BY_ONE;
use understand::check::conform::conform_resource;
use understand::compare::same;
use understand::links::FixedMap;
use understand::links::contribution::{Contribution, ContributionIndex, Merger, Written, without};
use understand::links::overlay::{Overlay, overlays_of};

/// One of the writes that a call carries out.
struct Member {
    task: u32,
    decided: Arc<Decided>,
    contributions: Vec<Contribution>,
}

impl Member {
    fn write(&self) -> Option<&LinkWrite> {
        write_of(&self.decided)
    }

    /// The overlays of the link after this write.
    fn overlays(&self) -> Vec<Overlay> {
        let Some(write) = self.write() else { return Vec::new() };
        let overlay = |contribution: &Contribution| Overlay {
            target: write.target.clone(),
            phase: write.name.clone(),
            contribution: contribution.clone(),
            open: false,
        };
        self.contributions.iter().map(overlay).collect()
    }
}

fn write_of(decided: &Decided) -> Option<&LinkWrite> {
    match decided.linked.as_deref() {
        Some(Linked::Write(write)) => Some(write),
        _ => None,
    }
}

impl Apply {
    /// Starts a write: computes the new spec of the target.
    pub(super) fn start_write(
        &mut self,
        task: u32,
        decided: &Arc<Decided>,
        write: &LinkWrite,
        effects: &mut Vec<Effect>,
    ) {
        let unneeded = |apply: &mut Apply, effects: &mut Vec<Effect>, reason: &str| {
            apply.journal.emit(Event::Unneeded { address: decided.address.clone(), reason: reason.into() }, effects);
            apply.complete(task, effects);
        };
        *self.links.batches.started.entry((write.target.clone(), write.into.is_some())).or_default() += 1;
        match self.links.batches.settled_by_other.remove(&task) {
            Some(true) => {
                let (address, operation) = (decided.address.clone(), Verb::Update);
                self.journal.emit(Event::Done { address, operation, replacing: false }, effects);
                return self.complete(task, effects);
            }
            Some(false) => return unneeded(self, effects, "it has been written already"),
            None => {}
        }
        let of_link = self.snapshot.records.get(&write.link).cloned();
        let before = written_by(of_link.as_deref(), write);
        if self.is_write_gone(write) && before.is_empty() {
            return unneeded(self, effects, "an end of the link is not there");
        }
        let goes = write.member.is_some_and(|(resource, position)| {
            self.evaluation.as_ref().is_some_and(|it| it.is_absent(resource, position))
        });
        if goes {
            // The contributions disappear with the target.
            self.record_link(task, write, &of_link, Vec::new(), None, StatusWord::Running);
            return unneeded(self, effects, "what it writes into goes");
        }
        let Some(record) = self.snapshot.records.get(&write.target).filter(|record| !record.id.is_empty()).cloned()
        else {
            return unneeded(self, effects, "what it writes into is not there");
        };
        let Some((spec, members)) = self.spec_of_writes(task, decided, write, &record) else {
            return self.write_failed(task, decided, write, effects);
        };
        let insists = members.iter().filter_map(Member::write).any(|write| write.insist);
        let called = !same(&spec, &record.inputs) || insists;
        if !called && members.len() == 1 && members[0].overlays() == before {
            return unneeded(self, effects, "it has been written already");
        }
        for member in &members {
            let Some(write) = member.write() else { continue };
            let of_link = self.snapshot.records.get(&write.link).cloned();
            let overlays = member.overlays();
            self.links
                .rewritten
                .extend(overlays.iter().filter_map(|it| Some((write.target.clone(), it.contribution.identity()?))));
            if called {
                // Record the contributions as open before the call.
                let mut open: Vec<Overlay> = of_link.as_deref().map(overlays_of).unwrap_or_default();
                open.retain(|it| !overlays.iter().any(|new| new.target == it.target && same_place(new, it)));
                open.extend(overlays.into_iter().map(|overlay| Overlay { open: true, ..overlay }));
                self.record_link(member.task, write, &of_link, open, None, StatusWord::Running);
            } else if overlays != written_by(of_link.as_deref(), write) {
                self.record_link(member.task, write, &of_link, overlays, None, StatusWord::Running);
            }
        }
        let sharing: Vec<u32> = members.iter().map(|member| member.task).filter(|it| *it != task).collect();
        if !called {
            // The target does not change. Only the records of the links do.
            self.links.batches.settled_by_other.extend(sharing.into_iter().map(|task| (task, false)));
            return self.complete(task, effects);
        }
        let alone = if self.links.batches.unshared.contains(&write.target) { "-alone" } else { "" };
        if !sharing.is_empty() {
            self.links.batches.sharing.insert(task, sharing);
        }
        let token: Name = format!("{}-{task}{alone}", self.operation.id).into();
        let intent = Intent {
            address: write.target.clone(),
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
            address: write.target.clone(),
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

    /// Whether one write waits for another only because both write into the same target for different links.
    pub(super) fn follows_only_in_order(&self, task: u32, waiter: u32) -> bool {
        let write = |task: u32| write_of(self.plan.tasks[task as usize].decision.as_ref()?);
        let writes = |write: &&LinkWrite| write.into.is_some();
        let pair = write(task).filter(writes).zip(write(waiter).filter(writes));
        pair.is_some_and(|(one, other)| one.target == other.target && one.link != other.link)
    }

    /// Whether the link of a write is absent: its contributions are removed.
    fn is_write_gone(&self, write: &LinkWrite) -> bool {
        write.into.is_some_and(|(link, _)| self.evaluation.as_ref().is_some_and(|it| it.is_gone(link)))
    }

    /// The new spec of the target, and the writes that it includes: the first one, and ready writes that wait behind
    /// it. `None` if the first one fails, which is reported.
    fn spec_of_writes(
        &mut self,
        task: u32,
        decided: &Arc<Decided>,
        write: &LinkWrite,
        record: &Arc<Record>,
    ) -> Option<(Value, Vec<Member>)> {
        let mut mistakes = Diagnostics::new();
        let contributions = self.wanted_of_write(decided, write, &mut mistakes);
        self.results.found.append(mistakes);
        let mut members = vec![Member { task, decided: decided.clone(), contributions: contributions? }];
        members.extend(self.waiting_writes(task, write));
        if members.len() > 1 {
            let mut mistakes = Diagnostics::new();
            if let Some(spec) = self.merged_writes(&members, write, record, &mut mistakes) {
                return Some((spec, members));
            }
            // Trying each write alone shows which one fails.
            self.links.batches.unshared.insert(write.target.clone());
            members.truncate(1);
        }
        let mut mistakes = Diagnostics::new();
        let spec = self.merged_writes(&members, write, record, &mut mistakes);
        mistakes.retain(Diagnostic::is_error);
        self.results.found.append(mistakes);
        Some((spec?, members))
    }

    /// The contributions of a write; empty if it only removes. `None` if their evaluation fails.
    fn wanted_of_write(
        &mut self,
        decided: &Decided,
        write: &LinkWrite,
        found: &mut Diagnostics,
    ) -> Option<Vec<Contribution>> {
        let Some((link, target)) = write.into.filter(|_| !self.is_write_gone(write)) else { return Some(Vec::new()) };
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

    /// The writes that wait behind this one and for nothing else, at most as many as the target has had; none for the
    /// first few.
    fn waiting_writes(&mut self, task: u32, write: &LinkWrite) -> Vec<Member> {
        let mut members = Vec::new();
        let started =
            self.links.batches.started.get(&(write.target.clone(), write.into.is_some())).copied().unwrap_or_default();
        // `started` includes the current write. The batch holds as many writes as came before it.
        if started <= ONE_BY_ONE
            || self.links.batches.unshared.contains(&write.target)
            || self.plan.options.until.is_some()
        {
            return members;
        }
        let mut last = task;
        while members.len() + 2 < started {
            let next = self.schedule.after[last as usize].iter().find_map(|(waiter, _)| {
                let ready = self.schedule.running[*waiter as usize].progress == Progress::Waiting(1);
                let decided = self.plan.tasks[*waiter as usize].decision.as_ref().filter(|_| ready)?;
                let other = write_of(decided)?;
                let in_line = other.target == write.target && other.into.is_some() == write.into.is_some();
                in_line.then(|| (*waiter, decided.clone()))
            });
            let Some((task, decided)) = next else { break };
            let Some(other) = write_of(&decided) else { break };
            let Some(contributions) = self.wanted_of_write(&decided, other, &mut Diagnostics::new()) else { break };
            members.push(Member { task, decided, contributions });
            last = task;
        }
        members
    }

    /// The spec of a target with the contributions of these writes, and without those that they remove. `None` on an
    /// error.
    fn merged_writes(
        &self,
        members: &[Member],
        write: &LinkWrite,
        record: &Record,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        let first = members.first()?;
        let place = write.member.and_then(|(resource, position)| {
            let evaluation = self.evaluation.as_ref()?;
            Some((evaluation.member(resource, position)?.spec.clone(), evaluation.place_of(resource)))
        });
        // The document's value, to which a field returns when a link releases it as a whole.
        let (document, span): (Value, Span) = place.unwrap_or((Value::Null, first.decided.span));
        let mut said = ContributionIndex::new(document.clone());
        let mut rewritten: Set<(Address, String)> = Set::default();
        let mut holders = Holders::of(&self.links.written, members, &write.target);
        let mut taken: Vec<Contribution> = Vec::new();
        for member in members {
            let Some(write) = member.write() else { continue };
            let mine = written_by(self.snapshot.records.get(&write.link).map(Arc::as_ref), write);
            let left = write.undo.iter().chain(&mine).map(|it| &it.contribution).filter(|it| {
                let in_document = !matches!(it.how, Written::Set) && said.found(it).is_some();
                !in_document && !holders.has_another(&write.link, it)
            });
            taken.extend(left.cloned());
            for contribution in &member.contributions {
                let Some(identity) = contribution.identity() else { continue };
                let key = (write.target.clone(), identity);
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
            let Some(write) = member.write() else { continue };
            for contribution in &member.contributions {
                if let Err(refused) = merger.merge(contribution, &write.link) {
                    let target = write.target.to_string();
                    found.push(conflict(&write.link, &target, &refused).label(span, "written to here"));
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

    /// Closes the contributions of a write, and of those that shared its call, after a successful call.
    pub(super) fn close_writes(&mut self, task: u32, write: &LinkWrite) {
        self.close_write(task, write);
        for other in self.links.batches.sharing.remove(&task).unwrap_or_default() {
            let Some(decided) = self.plan.tasks[other as usize].decision.clone() else { continue };
            if let Some(write) = write_of(&decided) {
                self.close_write(other, write);
                self.links.batches.settled_by_other.insert(other, true);
            }
        }
    }

    fn close_write(&mut self, task: u32, write: &LinkWrite) {
        let of_link = self.snapshot.records.get(&write.link).cloned();
        let written = written_by(of_link.as_deref(), write).into_iter().filter(|it| it.open);
        let now = written.map(|overlay| Overlay { open: false, ..overlay }).collect();
        self.record_link(task, write, &of_link, now, None, StatusWord::Running);
    }

    /// Retries the writes of a permanently refused shared call one by one. Returns false if the call was not shared.
    pub(super) fn retry_unshared(&mut self, task: u32, write: &LinkWrite, error: &ProviderError) -> bool {
        let many = self.links.batches.sharing.remove(&task).is_some();
        if !many || self.state.stopping || error.kind.is_retryable() || error.partial.is_some() {
            return false;
        }
        self.links.batches.unshared.insert(write.target.clone());
        if let Some(started) = self.links.batches.started.get_mut(&(write.target.clone(), write.into.is_some())) {
            *started -= 1;
        }
        // The target is unchanged.
        let record = self.snapshot.records.get(&write.target).cloned();
        let outcome =
            state::Outcome { address: write.target.clone(), record, error: Some(error.message.as_str().into()) };
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

/// Which links hold each entry of a target after these writes.
struct Holders<'a> {
    written: &'a FixedMap<(Address, String), Vec<Address>>,
    target: &'a Address,
    /// What the links write again. They release all other entries.
    kept: FixedMap<&'a Address, Vec<String>>,
    /// At most two links that hold an identity: enough to tell whether another link holds it.
    known: FixedMap<String, Vec<&'a Address>>,
}

impl<'a> Holders<'a> {
    fn of(
        written: &'a FixedMap<(Address, String), Vec<Address>>,
        members: &'a [Member],
        target: &'a Address,
    ) -> Holders<'a> {
        let mut kept: FixedMap<&Address, Vec<String>> = FixedMap::default();
        for member in members {
            if let Some(write) = member.write() {
                let identities = member.contributions.iter().filter_map(Contribution::identity);
                kept.entry(&write.link).or_default().extend(identities);
            }
        }
        Holders { written, target, kept, known: FixedMap::default() }
    }

    /// Whether another link has written the same entry and keeps it after these writes.
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

/// The overlays that a link's record lists for a write.
fn written_by(of_link: Option<&Record>, write: &LinkWrite) -> Vec<Overlay> {
    let all = of_link.map(overlays_of).unwrap_or_default().into_iter();
    all.filter(|it| it.target == write.target && it.phase == write.name).collect()
}

fn same_place(a: &Overlay, b: &Overlay) -> bool {
    a.phase == b.phase && a.contribution.identity() == b.contribution.identity()
}
