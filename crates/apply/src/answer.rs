//! Handles answers to calls, readiness polls and wake-ups.

use std::sync::Arc;
use std::time::Duration;

use blueprint::{Address, Name, Value};
use diag::Diagnostic;
use provider::{Applied, ErrorKind, Operation as Verb, ProviderError, Readiness, Ready};
use state::{Record, Status, StatusOp, StatusWord};

use super::record::{Breach, breach};
use crate::codes;
use crate::inquiries::EXPORTS;
use crate::journal::Durable;
use crate::machine::Apply;
use crate::model::{CallRequest, Effect, OnFailure};
use crate::schedule::Progress;
use crate::start::{came, verb_of};
use crate::timers::{AFTER_CANCEL, Wake};
use evaluate::event::Event;
use plan::linked::Linked;
use plan::model::Action;
use plan::task::{Decided, TaskKind, Until};

impl Apply {
    fn decided(&self, task: u32) -> Option<Arc<Decided>> {
        self.plan.tasks.get(task as usize)?.decision.clone()
    }

    pub(crate) fn applied(&mut self, task: u32, answer: Result<Applied, ProviderError>, effects: &mut Vec<Effect>) {
        let Some(decided) = self.decided(task) else { return };
        if self.schedule.running[task as usize].progress != Progress::Calling {
            return;
        }
        self.limits.vacate(task, &self.plan.tasks[task as usize], &mut self.schedule);
        self.limits.answered();
        let Some(request) = self.schedule.running[task as usize].request.clone() else { return };
        match answer {
            Ok(applied) => {
                for said in &applied.diagnostics {
                    let address = decided.address.clone();
                    effects.push(Effect::Tell(Event::Progress { address, text: said.text().into() }));
                }
                if request.operation == Verb::Delete {
                    let left = self.deleted_record(&decided, &request);
                    self.record(task, &decided, left, None, Durable::Done(task));
                    return;
                }
                if let Some(Linked::Write(write)) = decided.linked.as_deref() {
                    if let Err(diagnostic) = self.write_applied(task, &decided, write, &request, applied) {
                        self.write_refused(task, &decided, write, *diagnostic, effects);
                    }
                    return;
                }
                if let Some(owner) = self.owner_of_id(&decided, &applied) {
                    return self.refuse_id(task, &decided, &request, &owner, effects);
                }
                let wrong = decided.ty.as_ref().and_then(|ty| breach(ty, &request, &applied));
                let ready = applied.ready.clone();
                let mut record = self.answered_record(&decided, &request, applied);
                record.duration_ms = self.duration_ms(task).unwrap_or(record.duration_ms);
                if let Some(wrong) = wrong {
                    record.status.word = StatusWord::Failed;
                    let diagnostic = match wrong {
                        Breach::Contract(why) => codes::PROVIDER_BROKE_CONTRACT
                            .new(format!(
                                "the provider's answer about `{}` is not as its catalogue declares",
                                decided.address
                            ))
                            .note(why),
                        Breach::Promise(field) => codes::PROMISE_BROKEN
                            .new(format!("`{field}` of `{}` came out differently than planned", decided.address)),
                    };
                    self.fail(task, &decided, Some(Arc::new(record)), diagnostic, effects);
                    return;
                }
                if let Ready::Broken(why) = ready {
                    return self.broken(task, &decided, Arc::new(record), why, effects);
                }
                let durable = if ready == Ready::Yes { Durable::Done(task) } else { Durable::Configured(task) };
                self.record(task, &decided, Some(Arc::new(record)), None, durable);
            }
            Err(error) => self.refused(task, &decided, error, effects),
        }
    }

    fn refused(&mut self, task: u32, decided: &Arc<Decided>, error: ProviderError, effects: &mut Vec<Effect>) {
        let tries = self.schedule.running[task as usize].tries;
        // The provider and the run measure the time limit separately. Either may report the timeout first.
        let gave_up = error.kind == ErrorKind::TimedOut && self.schedule.running[task as usize].limit.is_some();
        let late = gave_up || self.schedule.running[task as usize].late || self.is_time_over(task);
        if !self.state.stopping
            && !late
            && error.partial.is_none()
            && let Some(after) = self.pause_after(task, &error)
        {
            self.schedule.running[task as usize].progress = Progress::Resting;
            self.try_again(task, decided, after, &error, Wake::Retry(task), effects);
            return;
        }
        if let Some(Linked::Write(write)) = decided.linked.as_deref()
            && self.retry_unshared(task, write, &error)
        {
            return;
        }
        let Some(request) = self.schedule.running[task as usize].request.clone() else { return };
        let verb = request.operation.word();
        let policy = self.limits.policy(request.type_name.package_name());
        let exhausted = policy.of(error.kind).is_some_and(|policy| tries >= policy.attempts);
        let mut diagnostic = if late {
            let limit = self.schedule.running[task as usize].limit.unwrap_or_default();
            let limit = blueprint::format_duration(limit);
            codes::NOT_STABLE.new(format!("the {verb} of `{}` was not done within {limit}", decided.address))
        } else if exhausted {
            codes::RETRIES_EXHAUSTED
                .new(format!("the provider could not {verb} `{}` after {tries} more tries", decided.address))
        } else if error.session.is_some() {
            evaluate::retry::failure(&error, String::new)
        } else if error.kind == ErrorKind::Cancelled {
            codes::PROVIDER_FAILED.new(format!("the {verb} of `{}` was cut short", decided.address))
        } else {
            codes::PROVIDER_FAILED.new(format!("the provider refused to {verb} `{}`", decided.address))
        };
        if let Some(evaluation) = &self.evaluation {
            let (children, resource) = (&decided.address.path, &decided.address.name);
            let mistake = dialects::Mistake::Refused { operation: verb, children, resource, said: &error.message };
            let messages = evaluation.documents.root().checked.rules.messages;
            diagnostic.words = messages.of(&mistake).map(Box::new);
        }
        // The message states the timeout already.
        let is_stated = diagnostic.notes.contains(&error.message);
        if !is_stated && (!late || !matches!(error.kind, ErrorKind::TimedOut | ErrorKind::Cancelled)) {
            diagnostic = diagnostic.note(error.message);
        }
        if let Some(Linked::Write(write)) = decided.linked.as_deref() {
            return self.write_refused(task, decided, write, diagnostic, effects);
        }
        if error.kind == ErrorKind::OutcomeUnknown && error.partial.is_none() {
            let diagnostic = diagnostic.note("whether it was done is not known; the next plan reads its outcome");
            return self.leave_open(task, decided, diagnostic, effects);
        }
        if self.plan.options.force && request.operation == Verb::Delete && !self.state.stopping {
            self.forget(task, decided, &request, diagnostic);
            return;
        }
        // An earlier attempt may have taken effect too.
        let unsure =
            error.kind.is_retryable() || error.kind == ErrorKind::Cancelled || self.state.cancelled || tries > 0;
        let made = error.partial.is_some();
        let mut record = self.failed_record(decided, &request, error.partial.map(|partial| *partial));
        if let Some(failed) = record.as_mut().filter(|_| request.operation == Verb::Create && !made) {
            self.keep_attempt(failed, decided, &request, unsure);
        }
        self.fail(task, decided, record, diagnostic, effects);
    }

    /// Keeps in the record of a failed create what is needed to find the resource, if the create may have succeeded.
    /// The next plan polls the resource up by its token.
    fn keep_attempt(&self, failed: &mut Arc<Record>, decided: &Decided, request: &CallRequest, unsure: bool) {
        let token = Some(request.token.clone()).filter(|_| unsure);
        let private = request.private.clone();
        if failed.id.is_empty() {
            // Keep the private data that the provider returned before the call: see `Provider::recall`.
            let failed = Arc::make_mut(failed);
            (failed.token, failed.private) = (token, private);
        } else if unsure {
            let status = Status::new(StatusOp::Create, StatusWord::Failed);
            let attempt = self.fresh(decided, request.desired.clone(), status);
            Arc::make_mut(failed).attempt = Some(Box::new(Record { token, private, attempt: None, ..attempt }));
        }
    }

    /// Fails a step whose answer has the id of the resource at another address. That id is not recorded a second time,
    /// because a delete of one of the two would delete the other.
    fn refuse_id(
        &mut self,
        task: u32,
        decided: &Arc<Decided>,
        request: &CallRequest,
        owner: &Address,
        effects: &mut Vec<Effect>,
    ) {
        let diagnostic = codes::PROVIDER_BROKE_CONTRACT
            .new(format!("the provider's answer about `{}` has the id of another resource", decided.address))
            .note(format!("the id belongs to `{owner}`"));
        let mut record = self.failed_record(decided, request, None);
        if let Some(failed) = record.as_mut().filter(|_| request.operation == Verb::Create) {
            self.keep_attempt(failed, decided, request, true);
        }
        self.fail(task, decided, record, diagnostic, effects);
    }

    /// Forgets a resource that could not be deleted, as the option `force` demands. Reports what may still exist as a
    /// note.
    fn forget(&mut self, task: u32, decided: &Decided, request: &CallRequest, mut diagnostic: Diagnostic) {
        diagnostic.severity = diag::Severity::Note;
        let message: Name = diagnostic.message.as_str().into();
        self.results.found.push(diagnostic);
        let id = request.id.clone().unwrap_or_default();
        let hides = state::hides_id(&id, [&request.prior_inputs, &request.prior, &request.private]);
        let id = if hides { "(secret)".into() } else { id };
        self.results.left_behind.push((decided.address.clone(), request.type_name.clone(), id));
        self.schedule.forced.insert(task);
        let left = self.deleted_record(decided, request);
        self.record(task, decided, left, Some(message), Durable::Done(task));
    }

    /// Whether the time limit of a step has passed. The wake-up for it may arrive later.
    fn is_time_over(&self, task: u32) -> bool {
        let running = &self.schedule.running[task as usize];
        let spent = self.timers.millis().zip(running.called_at).map(|(now, then)| now.saturating_sub(then));
        spent.zip(running.limit).is_some_and(|(spent, limit)| Duration::from_millis(spent.into()) >= limit)
    }

    /// Gives up a call that waits for a retry.
    pub(super) fn give_up(&mut self, task: u32, effects: &mut Vec<Effect>) {
        if self.ask_no_more(task) {
            return;
        }
        let Some(decided) = self.decided(task) else { return };
        let why = match self.schedule.running[task as usize].late {
            true => "not tried again, because its time is over",
            false => "not tried again, because the operation is stopping",
        };
        let stopped = ProviderError::new(ErrorKind::Permanent, why);
        self.refused(task, &decided, stopped, effects);
    }

    /// Fails a step: records what is known, reports the diagnostic, and stops the run unless it is to keep going.
    pub(crate) fn fail(
        &mut self,
        task: u32,
        decided: &Decided,
        record: Option<Arc<Record>>,
        diagnostic: Diagnostic,
        effects: &mut Vec<Effect>,
    ) {
        let diagnostic =
            if decided.span.is_some() { diagnostic.label(decided.span, "declared here") } else { diagnostic };
        let message: Name = match diagnostic.notes.first() {
            Some(note) => format!("{}: {note}", diagnostic.message).into(),
            None => diagnostic.message.as_str().into(),
        };
        let operation = verb_of(self.plan.tasks[task as usize].kind);
        let failed = Event::Failed { address: decided.address.clone(), operation, message: message.clone() };
        effects.push(Effect::Tell(failed));
        self.results.found.push(diagnostic);
        self.state.failed = true;
        self.part_failed(task, decided, &message);
        self.record(task, decided, record, Some(message), Durable::Failed(task));
        if self.settings.on_failure != OnFailure::KeepGoing {
            self.stop(effects);
        }
    }

    /// Handles a durable failure: skips the dependants.
    pub(super) fn settle_failed(&mut self, task: u32, effects: &mut Vec<Effect>) {
        self.schedule.running[task as usize].progress = Progress::Failed;
        self.after_failure(task, effects);
    }

    pub(super) fn after_failure(&mut self, task: u32, effects: &mut Vec<Effect>) {
        if self.settings.on_failure != OnFailure::KeepGoing {
            self.stop(effects);
        }
        self.leave_out(task, true, effects);
    }

    /// Skips the dependants of a task. Those that only wait until it is over go on if `is_over` is set.
    fn leave_out(&mut self, task: u32, is_over: bool, effects: &mut Vec<Effect>) {
        let mut stack = vec![task];
        while let Some(task) = stack.pop() {
            for (waiter, until) in std::mem::take(&mut self.schedule.after[task as usize]) {
                if is_over && (until == Until::Over || self.follows_only_in_order(task, waiter)) {
                    self.schedule.waited(waiter);
                    continue;
                }
                let running = &mut self.schedule.running[waiter as usize];
                if !matches!(running.progress, Progress::Waiting(_) | Progress::Ready) {
                    continue;
                }
                running.progress = Progress::Skipped;
                if let Some(decided) = self.decided(waiter) {
                    effects.push(Effect::Tell(Event::Skipped {
                        address: decided.address.clone(),
                        reason: "something it needs has failed".into(),
                    }));
                }
                stack.push(waiter);
            }
        }
    }

    /// Handles the durable outcome of a completed task.
    pub(crate) fn done(&mut self, task: u32, effects: &mut Vec<Effect>) {
        let Some(decided) = self.decided(task) else { return };
        let kind = self.plan.tasks[task as usize].kind;
        let called = self.schedule.running[task as usize].request.take();
        let called = called.filter(|_| !self.schedule.running[task as usize].only_polls);
        self.schedule.running[task as usize].record = None;
        self.schedule.running[task as usize].did = called.as_ref().map(|request| request.operation);
        self.schedule.running[task as usize].progress = Progress::Done;
        if self.schedule.forced.contains(&task) {
            let reason = "it could not be deleted, and is forgotten".into();
            effects.push(Effect::Tell(Event::Unneeded { address: decided.address.clone(), reason }));
        } else if let Some(request) = called.filter(|_| kind != TaskKind::PollUntilReady) {
            let slot = match (kind, request.operation) {
                (TaskKind::DeleteOld(_), _) if decided.action != Action::None => None,
                (TaskKind::LinkWrite, _) => None,
                (_, Verb::Create) if decided.action == Action::Replace => Some(3),
                (_, Verb::Create) => Some(0),
                (_, Verb::Update) => Some(1),
                (_, Verb::Delete) => Some(2),
            };
            if let Some(slot) = slot {
                self.results.counts[slot] += 1;
            }
            effects.push(Effect::Tell(Event::Done {
                address: decided.address.clone(),
                operation: request.operation,
                replacing: decided.action == Action::Replace,
            }));
        } else if kind == TaskKind::Record && matches!(decided.action, Action::Move | Action::Import) {
            effects.extend(came(&decided).map(Effect::Tell));
        } else if kind == TaskKind::Record && decided.action == Action::Update {
            self.results.counts[1] += 1;
        }
        self.count_down(task, effects);
    }

    /// Handles a durable record of a resource that is accepted but not ready: readers go on, other dependants wait
    /// (decision 5.3).
    pub(crate) fn configured(&mut self, task: u32, effects: &mut Vec<Effect>) {
        let Some(decided) = self.decided(task) else { return };
        self.schedule.running[task as usize].progress = Progress::Configured;
        self.schedule.running[task as usize].tries = 0;
        effects.push(Effect::Tell(Event::Configured { address: decided.address.clone() }));
        self.poll_until_ready(task, effects);
    }

    /// Polls a resource until it is ready. The time limit holds even if a poll is never answered.
    fn poll_until_ready(&mut self, task: u32, effects: &mut Vec<Effect>) {
        if self.schedule.running[task as usize].limit.is_none() {
            self.timers.wake(Wake::Unstable(task), self.settings.stable_within, effects);
        }
        self.poll(task, effects);
    }

    /// Polls a resource that an earlier operation left accepted but not ready.
    pub(super) fn poll_prior(&mut self, task: u32, decided: &Decided, effects: &mut Vec<Effect>) {
        let Some(prior) = decided.prior.clone() else {
            self.complete(task, effects);
            return;
        };
        let request = self.poll_request(task, decided, &prior);
        let running = &mut self.schedule.running[task as usize];
        running.progress = Progress::Configured;
        running.request = Some(request);
        running.record = Some(prior);
        // The state holds its values already, so readers need not wait.
        self.schedule.release(task, Some(Until::Configured));
        self.poll_until_ready(task, effects);
    }

    /// Records a resource that needs no call, then polls it until it is ready.
    pub(super) fn record_and_poll(&mut self, task: u32, decided: &Decided, record: Arc<Record>) {
        self.schedule.running[task as usize].request = Some(self.poll_request(task, decided, &record));
        self.schedule.running[task as usize].only_polls = true;
        self.record(task, decided, Some(record), None, Durable::Configured(task));
    }

    /// The request for polling a resource that is not called in this run.
    fn poll_request(&self, task: u32, decided: &Decided, record: &Record) -> Box<CallRequest> {
        Box::new(CallRequest {
            address: decided.address.clone(),
            type_name: record.type_name.clone(),
            operation: Verb::Update,
            id: Some(record.id.clone()),
            prior_inputs: record.inputs.clone(),
            prior: record.outputs.clone(),
            desired: record.inputs.clone(),
            schema_version: record.schema_version,
            planned: Value::Null,
            inexact: false,
            private: record.private.clone(),
            sources: Vec::new(),
            token: format!("{}-{task}", self.operation.id).into(),
            folder: record.origin.folder.clone(),
            provider: self.instance_of(record.provider.as_ref()),
            limit: None,
        })
    }

    /// Polls a resource now, or as soon as the limits of its provider allow.
    pub(crate) fn poll(&mut self, task: u32, effects: &mut Vec<Effect>) {
        let Some(request) = self.schedule.running[task as usize].request.as_ref() else { return };
        let type_name = request.type_name.clone();
        if self.schedule.running[task as usize].progress != Progress::Configured
            || !self.limits.may_poll(task, &type_name)
        {
            return;
        }
        let running = &self.schedule.running[task as usize];
        let (Some(request), Some(record)) = (&running.request, &running.record) else { return };
        let mut request = request.clone();
        request.id = Some(record.id.clone());
        request.prior_inputs = record.inputs.clone();
        request.prior = record.outputs.clone();
        request.private = record.private.clone();
        request.limit = Some(running.limit.unwrap_or(self.settings.stable_within).saturating_sub(running.waited));
        effects.push(Effect::Poll(task, *request));
    }

    pub(crate) fn polled(&mut self, task: u32, answer: Result<Readiness, ProviderError>, effects: &mut Vec<Effect>) {
        let Some(decided) = self.decided(task) else { return };
        let running = &mut self.schedule.running[task as usize];
        if running.progress != Progress::Configured {
            return;
        }
        let Some(record) = running.record.clone() else { return };
        // A link may have written into the resource since.
        let now = self.snapshot.records.get(Apply::recorded_at(&decided));
        let record = now.filter(|now| now.id == record.id).cloned().unwrap_or(record);
        let running = &mut self.schedule.running[task as usize];
        match answer {
            Ok(Readiness::Ready(fields)) => {
                let mut record = Record::clone(&record);
                record.status.word = StatusWord::Ready;
                record.unhealthy.clear();
                record.duration_ms = self.duration_ms(task).unwrap_or(record.duration_ms);
                if let (Some(now), Some(ty)) = (fields.as_map(), &decided.ty) {
                    let mut all = record.outputs.as_map().cloned().unwrap_or_default();
                    all.extend(now.iter().map(|(name, value)| (name.clone(), value.clone())));
                    record.outputs =
                        understand::compare::mark_fields(&ty.schema, &Value::Map(Arc::new(all)), &record.outputs);
                }
                self.record(task, &decided, Some(Arc::new(record)), None, Durable::Done(task));
            }
            Ok(Readiness::Broken(why)) => self.broken(task, &decided, record, why, effects),
            Ok(Readiness::NotYet) => {
                let after = growing(running.polls);
                if running.waited + after > running.limit.unwrap_or(self.settings.stable_within) {
                    self.unstable(task, &decided, &record, "it is still not ready".to_owned(), effects);
                    return;
                }
                running.polls += 1;
                running.tries = 0;
                running.waited += after;
                self.timers.wake(Wake::Poll(task), after, effects);
            }
            // The poll was cancelled. The resource is unchanged.
            Err(error) if error.kind == ErrorKind::Cancelled && self.state.cancelled => {}
            Err(error) => match self.pause_after(task, &error) {
                Some(after) => self.try_again(task, &decided, after, &error, Wake::Poll(task), effects),
                None => self.unseen(task, &decided, &record, &error, effects),
            },
        }
    }

    /// The delay before a call or poll is retried; `None` if it is not retried.
    fn pause_after(&self, task: u32, error: &ProviderError) -> Option<Duration> {
        let running = &self.schedule.running[task as usize];
        let request = running.request.as_ref()?;
        self.limits.policy(request.type_name.package_name()).again(error, running.tries, &request.token)
    }

    fn try_again(
        &mut self,
        task: u32,
        decided: &Decided,
        after: Duration,
        error: &ProviderError,
        wake: Wake,
        effects: &mut Vec<Effect>,
    ) {
        let running = &mut self.schedule.running[task as usize];
        running.tries += 1;
        let retrying = Event::Retrying {
            address: decided.address.clone(),
            attempt: running.tries + 1,
            after_ms: after.as_millis() as u64,
            reason: error.message.as_str().into(),
        };
        effects.push(Effect::Tell(retrying));
        self.timers.wake(wake, after, effects);
    }

    /// Fails a step whose readiness cannot be determined. The resource stays accepted, and the next run polls it again.
    fn unseen(
        &mut self,
        task: u32,
        decided: &Decided,
        record: &Record,
        error: &ProviderError,
        effects: &mut Vec<Effect>,
    ) {
        let what = format!("the provider could not tell whether `{}` is ready", decided.address);
        let diagnostic = match (error.kind.is_retryable(), self.schedule.running[task as usize].tries) {
            (true, tries) => codes::RETRIES_EXHAUSTED.new(format!("{what} after {tries} more tries")),
            (false, _) => codes::PROVIDER_FAILED.new(what),
        };
        let mut record = record.clone();
        record.unhealthy = vec![error.message.as_str().into()];
        self.fail(task, decided, Some(Arc::new(record)), diagnostic.note(error.message.clone()), effects);
    }

    fn unstable(&mut self, task: u32, decided: &Decided, record: &Arc<Record>, why: String, effects: &mut Vec<Effect>) {
        let mut record = Record::clone(record);
        record.status.word = StatusWord::Failed;
        record.unhealthy = vec![why.as_str().into()];
        let diagnostic = codes::NOT_STABLE.new(format!("`{}` did not become ready in time", decided.address)).note(why);
        self.fail(task, decided, Some(Arc::new(record)), diagnostic, effects);
    }

    /// Fails a step whose resource exists, but never becomes healthy.
    fn broken(&mut self, task: u32, decided: &Decided, record: Arc<Record>, why: Vec<Name>, effects: &mut Vec<Effect>) {
        let diagnostic = codes::NOT_STABLE.new(format!("`{}` exists, but is not healthy", decided.address));
        let diagnostic = why.iter().fold(diagnostic, |diagnostic, why| diagnostic.note(why.as_ref()));
        let mut record = Record::clone(&record);
        record.status.word = StatusWord::Failed;
        record.unhealthy = why;
        self.fail(task, decided, Some(Arc::new(record)), diagnostic, effects);
    }

    /// Abandons a call that does not end after its cancellation. Its intent stays open, so the next plan polls up the
    /// result. All dependants are skipped, even those that would go on after a failure, because the call may still be
    /// running.
    fn abandon(&mut self, task: u32, decided: &Decided, effects: &mut Vec<Effect>) {
        let limit = blueprint::format_duration(self.schedule.running[task as usize].limit.unwrap_or_default());
        let operation = verb_of(self.plan.tasks[task as usize].kind);
        let diagnostic = codes::NOT_STABLE
            .new(format!("the {} of `{}` was not done within {limit}", operation.word(), decided.address))
            .note("it did not end after it was cancelled; the next plan reads its outcome");
        self.limits.vacate(task, &self.plan.tasks[task as usize], &mut self.schedule);
        self.limits.answered();
        self.leave_open(task, decided, diagnostic, effects);
    }

    /// Fails a step and leaves its intent open, because the outcome of its call is not known. All dependants are
    /// skipped.
    fn leave_open(&mut self, task: u32, decided: &Decided, diagnostic: Diagnostic, effects: &mut Vec<Effect>) {
        let operation = verb_of(self.plan.tasks[task as usize].kind);
        let message: Name = diagnostic.message.as_str().into();
        let at = decided.span;
        self.results.found.push(if at.is_some() { diagnostic.label(at, "declared here") } else { diagnostic });
        effects.push(Effect::Tell(Event::Failed { address: decided.address.clone(), operation, message }));
        self.state.failed = true;
        self.schedule.running[task as usize].progress = Progress::Abandoned;
        self.leave_out(task, false, effects);
        if self.settings.on_failure != OnFailure::KeepGoing {
            self.stop(effects);
        }
    }

    /// Handles the refill of a rate limiter: held tasks and polls go on.
    fn refill(&mut self, at: u32, effects: &mut Vec<Effect>) {
        for task in self.limits.refill(at, &mut self.schedule, !self.state.stopping) {
            self.poll(task, effects);
        }
    }

    pub(super) fn woke(&mut self, number: u64, effects: &mut Vec<Effect>) {
        match self.timers.take(number) {
            Some(Wake::Retry(EXPORTS)) => self.retry_exports(effects),
            Some(Wake::Retry(task)) if self.schedule.running[task as usize].progress == Progress::Resting => {
                self.schedule.running[task as usize].progress = Progress::Ready;
                self.schedule.enqueue_first(task);
            }
            Some(Wake::Refill(queue)) => self.refill(queue, effects),
            Some(Wake::Pause(task)) if self.schedule.running[task as usize].progress == Progress::Resting => {
                self.complete(task, effects);
            }
            Some(Wake::Poll(task)) if self.schedule.running[task as usize].progress == Progress::Configured => {
                self.poll(task, effects)
            }
            Some(Wake::Deadline(task)) => {
                let running = &mut self.schedule.running[task as usize];
                running.late = true;
                let again = running.request.is_some();
                let (progress, record) = (running.progress, running.record.clone());
                match (progress, record, self.decided(task)) {
                    (Progress::Calling, ..) => {
                        effects.push(Effect::CancelOne(task));
                        self.timers.wake(Wake::Abandoned(task), AFTER_CANCEL, effects);
                    }
                    (Progress::Resting, ..) => self.give_up(task, effects),
                    // It was waiting for a free call slot.
                    (Progress::Ready, ..) if again => self.give_up(task, effects),
                    (Progress::Configured, Some(record), Some(decided)) => {
                        self.unstable(task, &decided, &record, "its time is over".to_owned(), effects);
                    }
                    _ => {}
                }
            }
            Some(Wake::Abandoned(task)) if self.schedule.running[task as usize].progress == Progress::Calling => {
                if let Some(decided) = self.decided(task) {
                    self.abandon(task, &decided, effects);
                }
            }
            Some(Wake::Unstable(task)) if self.schedule.running[task as usize].progress == Progress::Configured => {
                if let (Some(record), Some(decided)) =
                    (self.schedule.running[task as usize].record.clone(), self.decided(task))
                {
                    self.unstable(task, &decided, &record, "it is still not ready".to_owned(), effects);
                }
            }
            Some(Wake::Drain) => {
                self.state.cancelled = true;
                if self.limits.in_flight > 0 {
                    effects.push(Effect::Cancel);
                    self.timers.wake(Wake::Abandon, AFTER_CANCEL, effects);
                }
            }
            Some(Wake::Abandon) => {
                self.state.abandoned = true;
                self.state.failed = true;
            }
            Some(Wake::Retry(_) | Wake::Pause(_) | Wake::Poll(_) | Wake::Abandoned(_) | Wake::Unstable(_)) | None => {}
        }
    }
}

/// The delay before the next poll: 0.5 s at first, growing by a factor of 1.5 up to 10 s (decision S65).
fn growing(polls: u32) -> Duration {
    let ms = 500.0 * 1.5_f64.powi(polls.min(20) as i32);
    Duration::from_millis(ms.min(10_000.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poll_delay_grows_up_to_ten_seconds() {
        assert_eq!(growing(0), Duration::from_millis(500));
        assert_eq!(growing(1), Duration::from_millis(750));
        assert_eq!(growing(50), Duration::from_millis(10_000));
    }
}
