//! Carries out the writes of links: each write adds a link's contributions to one target, or
//! removes them (decisions/links#effects-after-the-target).
//!
//! A write is an update of its target. The writes of one target run one after another, each with a
//! call of its own. After the first few, one call carries out as many writes as the target has had
//! before. The whole spec is therefore merged, compared and sent only a few times. If a shared call
//! is refused, each write is tried alone to find the cause.
//!
//! Not here: the records of links (`link_records`), the choice of the writes (`plan::links`).

use std::sync::Arc;

use blueprint::{Address, DeleteMode, Name, Value};
use diag::{Diagnostic, Diagnostics, Span};
use evaluate::resolve::links::{conflict, placeholder_resource};
use plan::linked::{LinkWrite, Linked};
use plan::task::Decided;
use provider::{Applied, Operation as Verb, ProviderError, Ready};
use state::{Intent, Outcome, Record, StatusOp, StatusWord};
use understand::check::conform::conform_resource;
use understand::compare::same;
use understand::links::DeterministicMap;
use understand::links::contribution::{
    Contribution, ContributionForm, ContributionIndex, Merger, remove_contributions,
};
use understand::links::overlay::{Overlay, overlays_of};
use understand::secret_marks::mark_fields;

use crate::breach::breach;
use crate::codes;
use crate::link_records::LinkExecutor;
use crate::link_state::{ContributionKey, LinkState, Set, entry};
use crate::link_values::required;
use crate::model::CallRequest;
use crate::schedule::{Schedule, TaskProgress};

/// The next step of a started write.
pub(crate) enum NextOfWrite {
    /// No step, for this reason.
    Unneeded(&'static str),
    /// No step: the call of another write has carried out this one.
    Done,
    /// No call: only records of links change.
    Complete,
    /// The write failed, for this reason. The error has been reported.
    Failed(Name),
    /// The call of the write, made once its intent is durable.
    Call(Box<(Intent, CallRequest)>),
}

/// One of the writes that a call carries out.
struct WritingTask {
    task: u32,
    decided: Arc<Decided>,
    contributions: Vec<Contribution>,
}

impl WritingTask {
    fn write(&self) -> Option<&LinkWrite> {
        write_of(&self.decided)
    }

    /// The overlays of the link after the write.
    fn overlays(&self) -> Vec<Overlay> {
        let Some(write) = self.write() else {
            return Vec::new();
        };
        let overlay = |contribution: &Contribution| Overlay {
            target: write.target.clone(),
            phase: write.name.clone(),
            contribution: contribution.clone(),
            open: false,
        };
        self.contributions.iter().map(overlay).collect()
    }
}

pub(crate) fn write_of(decided: &Decided) -> Option<&LinkWrite> {
    match decided.linked.as_deref() {
        Some(Linked::Write(write)) => Some(write),
        _ => None,
    }
}

/// Whether a write waits for another only because both write into the same target for different
/// links.
pub(crate) fn follows_only_in_order(one: &Decided, other: &Decided) -> bool {
    let writes = |write: &&LinkWrite| write.into.is_some();
    let pair = write_of(one)
        .filter(writes)
        .zip(write_of(other).filter(writes));
    pair.is_some_and(|(one, other)| one.target == other.target && one.link != other.link)
}

impl LinkExecutor<'_> {
    /// Starts a write: computes the new spec of the target.
    pub(crate) fn start(
        &mut self,
        task: u32,
        decided: &Arc<Decided>,
        write: &LinkWrite,
        schedule: &Schedule,
    ) -> NextOfWrite {
        match self.links.start(task, write) {
            Some(true) => return NextOfWrite::Done,
            Some(false) => return NextOfWrite::Unneeded("it has been written already"),
            None => {}
        }
        let of_link = self.known.record(&write.link).cloned();
        let before = written_by(of_link.as_deref(), write);
        if self.is_link_absent(write) && before.is_empty() {
            return NextOfWrite::Unneeded("an end of the link is not there");
        }
        let is_target_absent = write.member.is_some_and(|(resource, position)| {
            self.known
                .evaluation
                .as_ref()
                .is_some_and(|it| it.is_absent(resource, position))
        });
        if is_target_absent {
            // The contributions disappear with the target.
            self.record(task, write, &of_link, Vec::new(), None, StatusWord::Running);
            return NextOfWrite::Unneeded("the target of the link is deleted");
        }
        let Some(record) = self
            .known
            .record(&write.target)
            .filter(|record| !record.id.is_empty())
            .cloned()
        else {
            return NextOfWrite::Unneeded("what it writes into is not there");
        };
        let Some((spec, members)) = self.spec_of_writes(task, decided, write, &record, schedule)
        else {
            let message: Name = "what it writes has no usable value".into();
            self.fail(task, &write.link, &write.name, message.clone());
            return NextOfWrite::Failed(message);
        };
        let is_forced = members
            .iter()
            .filter_map(WritingTask::write)
            .any(|write| write.forces_call);
        let called = !same(&spec, &record.inputs) || is_forced;
        if !called && members.len() == 1 && members[0].overlays() == before {
            return NextOfWrite::Unneeded("it has been written already");
        }
        for member in &members {
            let Some(write) = member.write() else {
                continue;
            };
            let of_link = self.known.record(&write.link).cloned();
            let overlays = member.overlays();
            self.links.rewrite(&overlays);
            if called {
                self.links.begin_writing(member.task, overlays.clone());
                // Record the contributions as open before the call.
                let mut open: Vec<Overlay> =
                    of_link.as_deref().map(overlays_of).unwrap_or_default();
                open.retain(|it| {
                    !overlays
                        .iter()
                        .any(|new| new.target == it.target && same_place(new, it))
                });
                open.extend(overlays.into_iter().map(|overlay| Overlay {
                    open: true,
                    ..overlay
                }));
                self.record(
                    member.task,
                    write,
                    &of_link,
                    open,
                    None,
                    StatusWord::Running,
                );
            } else if overlays != written_by(of_link.as_deref(), write) {
                self.record(
                    member.task,
                    write,
                    &of_link,
                    overlays,
                    None,
                    StatusWord::Running,
                );
            }
        }
        let sharing: Vec<u32> = members
            .iter()
            .map(|member| member.task)
            .filter(|it| *it != task)
            .collect();
        if !called {
            // The target does not change. Only the records of the links change.
            self.links.settle_without_call(sharing);
            return NextOfWrite::Complete;
        }
        let token_suffix = if self.links.is_unshared(&write.target) {
            "-alone"
        } else {
            ""
        };
        self.links.share(task, sharing);
        let token: Name = format!("{}-{task}{token_suffix}", self.facts.operation.id).into();
        let intent = Intent {
            address: write.target.clone(),
            op: StatusOp::Update,
            deposed: false,
            token: token.clone(),
            id: record.id.clone(),
            hides_id: record.hides_id(),
            retain: record.retain,
            protect: record.protect,
            delete_mode: record.delete_mode,
            type_name: record.type_name.clone(),
            inputs: spec.clone(),
            private: Value::Null,
            folder: record.origin.folder.clone(),
            urn: record.origin.urn.clone(),
            dependencies: record.dependencies.clone(),
            provider: record.provider.clone(),
        };
        let request = CallRequest {
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
            metadata: record.metadata.clone(),
            delete_mode: DeleteMode::Delete,
            token,
            site: record.origin.site().owned(),
            provider: self.known.instance_of(record.provider.as_ref()),
            limit: None,
        };
        NextOfWrite::Call(Box::new((intent, request)))
    }

    /// Whether the link of a write is absent, so that its contributions are removed.
    fn is_link_absent(&self, write: &LinkWrite) -> bool {
        write.into.is_some_and(|(link, _)| {
            self.known
                .evaluation
                .as_ref()
                .is_some_and(|it| it.has_absent_end(link))
        })
    }

    /// The new spec of the target, and the writes that the spec includes: the first write, and
    /// writes that wait only for it. `None` if the first write fails, which is reported.
    fn spec_of_writes(
        &mut self,
        task: u32,
        decided: &Arc<Decided>,
        write: &LinkWrite,
        record: &Arc<Record>,
        schedule: &Schedule,
    ) -> Option<(Value, Vec<WritingTask>)> {
        let mut mistakes = Diagnostics::new();
        let contributions = self.wanted_of_write(decided, write, &mut mistakes);
        self.results.diagnostics().append(mistakes);
        let mut members = vec![WritingTask {
            task,
            decided: decided.clone(),
            contributions: contributions?,
        }];
        members.extend(self.waiting_writes(task, write, schedule));
        if members.len() > 1 {
            let mut mistakes = Diagnostics::new();
            if let Some(spec) = self.merged_writes(&members, write, record, &mut mistakes) {
                return Some((spec, members));
            }
            // Try each write alone to find the one that fails.
            self.links.unshare(&write.target);
            members.truncate(1);
        }
        let mut mistakes = Diagnostics::new();
        let spec = self.merged_writes(&members, write, record, &mut mistakes);
        self.results.report_errors(mistakes);
        Some((spec?, members))
    }

    /// The contributions of a write; empty if the write only removes contributions. `None` if their
    /// evaluation fails.
    fn wanted_of_write(
        &mut self,
        decided: &Decided,
        write: &LinkWrite,
        found: &mut Diagnostics,
    ) -> Option<Vec<Contribution>> {
        let Some((link, target)) = write.into.filter(|_| !self.is_link_absent(write)) else {
            return Some(Vec::new());
        };
        required(self.known, link, decided, found)?;
        let mut mistakes = Diagnostics::new();
        let contributions = self
            .known
            .evaluation
            .as_mut()?
            .contributions(link, target, true, &mut mistakes)
            .ok()
            .flatten();
        mistakes.retain(Diagnostic::is_error);
        found.append(mistakes);
        let contributions = contributions?;
        if contributions.iter().any(|it| it.value.has_unknown()) {
            found.push(
                codes::PROMISE_BROKEN
                    .new(format!(
                        "what `{}` writes is still not known",
                        decided.address
                    ))
                    .label(decided.span, "something it reads has no value yet"),
            );
            return None;
        }
        Some(contributions)
    }

    /// The writes that wait only for this write or for one another, at most as many as may share
    /// its call.
    fn waiting_writes(
        &mut self,
        task: u32,
        write: &LinkWrite,
        schedule: &Schedule,
    ) -> Vec<WritingTask> {
        let mut members = Vec::new();
        if self.facts.plan.options.until.is_some() {
            return members;
        }
        let most = self.links.most_sharing(write);
        let mut last = task;
        while members.len() < most {
            let next = schedule.waiters(last).find_map(|waiter| {
                let ready = schedule.progress(waiter) == TaskProgress::Waiting(1);
                let decided = self
                    .facts
                    .task(waiter)
                    .decision
                    .as_ref()
                    .filter(|_| ready)?;
                let other = write_of(decided)?;
                let in_line =
                    other.target == write.target && other.into.is_some() == write.into.is_some();
                in_line.then(|| (waiter, decided.clone()))
            });
            let Some((task, decided)) = next else { break };
            let Some(other) = write_of(&decided) else {
                break;
            };
            let Some(contributions) =
                self.wanted_of_write(&decided, other, &mut Diagnostics::new())
            else {
                break;
            };
            members.push(WritingTask {
                task,
                decided,
                contributions,
            });
            last = task;
        }
        members
    }

    /// The spec of a target with the contributions that these writes add, and without those that
    /// they remove. `None` on an error.
    fn merged_writes(
        &self,
        members: &[WritingTask],
        write: &LinkWrite,
        record: &Record,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        let first = members.first()?;
        let place = write.member.and_then(|(resource, position)| {
            let evaluation = self.known.evaluation.as_ref()?;
            Some((
                evaluation.member(resource, position)?.spec.clone(),
                evaluation.place_of(resource),
            ))
        });
        // The document's value. A field returns to it when a link releases the field as a whole.
        let (document, span): (Value, Span) = place.unwrap_or((Value::Null, first.decided.span));
        let mut in_documents = ContributionIndex::new(document.clone());
        let mut rewritten: Set<ContributionKey> = Set::default();
        let mut holders = Holders::of(self.links, members, &write.target);
        let mut removed: Vec<Contribution> = Vec::new();
        for member in members {
            let Some(write) = member.write() else {
                continue;
            };
            let recorded_overlays =
                written_by(self.known.record(&write.link).map(Arc::as_ref), write);
            let left = write
                .undo
                .iter()
                .chain(&recorded_overlays)
                .map(|it| &it.contribution)
                .filter(|it| {
                    let in_document = !matches!(it.form, ContributionForm::Set)
                        && in_documents.value_of(it).is_some();
                    !in_document && !holders.has_another(&write.link, it)
                });
            removed.extend(left.cloned());
            for contribution in &member.contributions {
                let Some(entry) = entry(&write.target, contribution) else {
                    continue;
                };
                // Contributions of earlier runs are replaced. The plan has checked that all links
                // now want the same value.
                let written = !self.links.holders(&entry).is_empty();
                if written && !self.links.is_rewritten(&entry) && !rewritten.contains(&entry) {
                    removed.push(contribution.clone());
                }
                rewritten.insert(entry);
            }
        }
        let mut merger = Merger::new(remove_contributions(
            &record.inputs,
            removed.iter(),
            &document,
        ));
        for member in members {
            let Some(write) = member.write() else {
                continue;
            };
            for contribution in &member.contributions {
                if let Err(refused) = merger.merge(contribution, &write.link) {
                    let target = write.target.to_string();
                    found.push(
                        conflict(&write.link, &target, &refused).label(span, "written to here"),
                    );
                    return None;
                }
            }
        }
        let ty = first.decided.ty.clone()?;
        let mut mistakes = Diagnostics::new();
        let spec = conform_resource(
            &merger.done(),
            &placeholder_resource(first.decided.span, &ty),
            &ty,
            &mut mistakes,
        );
        let failed = mistakes.has_errors();
        found.append(mistakes);
        (!failed).then_some(spec)
    }

    /// Handles the successful call of a write. Returns the record of the target; `None` if the
    /// target has none. An answer that breaks the contract or the plan is an error.
    pub(crate) fn applied(
        &mut self,
        task: u32,
        decided: &Decided,
        write: &LinkWrite,
        request: &CallRequest,
        applied: Applied,
    ) -> Result<Option<Record>, Box<Diagnostic>> {
        if let Some(wrong) = decided
            .ty
            .as_ref()
            .and_then(|ty| breach(ty, request, &applied))
        {
            return Err(Box::new(wrong.diagnostic(&write.target)));
        }
        let Some(before) = self.known.record(&write.target) else {
            return Ok(None);
        };
        let mut record = Record::clone(before);
        record.id = applied.id;
        record.inputs = applied.inputs.unwrap_or_else(|| request.desired.clone());
        record.outputs = match &decided.ty {
            Some(ty) => mark_fields(&ty.schema, &applied.fields, &request.desired),
            None => applied.fields,
        };
        record.private = applied.private;
        record.status.word = if applied.ready == Ready::Yes {
            StatusWord::Ready
        } else {
            StatusWord::Configured
        };
        self.close_writes(task, write);
        Ok(Some(record))
    }

    /// Closes the contributions of a write, and of the writes that shared its call, after a
    /// successful call.
    fn close_writes(&mut self, task: u32, write: &LinkWrite) {
        self.close_write(task, write);
        for other in self.links.take_sharing(task) {
            let Some(decided) = self.facts.decided(other) else {
                continue;
            };
            if let Some(write) = write_of(&decided) {
                self.close_write(other, write);
                self.links.settle_by_call(other);
            }
        }
    }

    fn close_write(&mut self, task: u32, write: &LinkWrite) {
        let of_link = self.known.record(&write.link).cloned();
        // Other open contributions of the write come from an earlier call that failed. This call
        // has removed them.
        let now = self.links.take_writing(task);
        self.record(task, write, &of_link, now, None, StatusWord::Running);
    }

    /// Handles a refused call. If the call was shared, its writes are now tried one by one, and the
    /// result is the outcome of the unchanged target. `None` if the call was not shared, its error
    /// is not final, or nothing may start.
    pub(crate) fn retry_unshared(
        &mut self,
        task: u32,
        write: &LinkWrite,
        error: &ProviderError,
        may_start: bool,
    ) -> Option<Outcome> {
        let is_final = !error.kind.is_retryable() && error.partial.is_none();
        if !self.links.was_shared(task) || !may_start || !is_final {
            return None;
        }
        self.links.start_alone(write);
        let record = self.known.record(&write.target).cloned();
        Some(Outcome {
            address: write.target.clone(),
            record,
            error: Some(error.message.as_str().into()),
        })
    }
}

/// The links that hold each entry of a target after these writes.
struct Holders<'a> {
    links: &'a LinkState,
    target: &'a Address,
    /// The entries that the links write again. The links release all other entries.
    kept: DeterministicMap<&'a Address, Vec<String>>,
    /// At most two links that hold an identity: enough to decide whether another link holds it.
    known: DeterministicMap<String, Vec<&'a Address>>,
}

impl<'a> Holders<'a> {
    fn of(links: &'a LinkState, members: &'a [WritingTask], target: &'a Address) -> Holders<'a> {
        let mut kept: DeterministicMap<&Address, Vec<String>> = DeterministicMap::default();
        for member in members {
            if let Some(write) = member.write() {
                let identities = member
                    .contributions
                    .iter()
                    .filter_map(Contribution::identity);
                kept.entry(&write.link).or_default().extend(identities);
            }
        }
        Holders {
            links,
            target,
            kept,
            known: DeterministicMap::default(),
        }
    }

    /// Whether another link has written the same entry and keeps it after these writes.
    fn has_another(&mut self, link: &Address, contribution: &Contribution) -> bool {
        let Some(identity) = contribution.identity() else {
            return false;
        };
        let links = self.links;
        let target = self.target;
        let kept = &self.kept;
        let known = self.known.entry(identity).or_insert_with_key(|identity| {
            let holders = links.holders(&(target.clone(), identity.clone())).iter();
            let stays =
                |holder: &&Address| kept.get(holder).is_none_or(|kept| kept.contains(identity));
            holders.filter(stays).take(2).collect()
        });
        known.iter().any(|holder| *holder != link)
    }
}

/// The overlays that a link's record lists for a write.
fn written_by(of_link: Option<&Record>, write: &LinkWrite) -> Vec<Overlay> {
    let all = of_link.map(overlays_of).unwrap_or_default().into_iter();
    all.filter(|it| it.target == write.target && it.phase == write.name)
        .collect()
}

fn same_place(a: &Overlay, b: &Overlay) -> bool {
    a.phase == b.phase && a.contribution.identity() == b.contribution.identity()
}
