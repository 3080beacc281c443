//! Executes effects: commits, calls, wake-ups and lease renewals.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use blueprint::Address;
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, CallRecords, ErrorKind, PlanPhase, Progress,
    ProviderError, ReadRequest, Readiness,
};
use state::{Counts, Entry, Lease, Revision, Store, StoreError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::scrub::CallSecrets;
use crate::call_records::{CommittedCalls, RecordedCalls};
use crate::shell::Shell;
use apply::machine::Apply;
use apply::model::Asking;
use apply::model::{ApplyInput, CallRequest, Effect, Outcome};
use evaluate::evaluation_question::{EvaluationQuestion, EvaluationReply, ask_world};
use evaluate::event::Event;

/// The validity of a lease without a renewal.
pub const LEASE: Duration = Duration::from_secs(60);

/// The number of steps after which the loop yields to other tasks of the runtime.
const STEPS_BEFORE_YIELD: usize = 8;

/// A stop request of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// Start no further calls, and await running calls.
    Graceful,
    /// Stop now, and do not await running calls.
    Immediate,
}

/// The result of a run that was cut off or whose end could not be recorded.
#[derive(Debug)]
pub struct Aborted {
    /// The store's error, if there was one.
    pub store: Option<StoreError>,
    /// The numbers of resources that were changed, as far as recorded.
    pub counts: Counts,
    /// The resources whose calls were running at the end.
    pub left_in_flight: Vec<Address>,
    /// The resources whose step was not done, as far as recorded.
    pub undone: Vec<Address>,
}

impl Aborted {
    fn now(apply: &Apply, store: Option<StoreError>) -> Aborted {
        Aborted {
            store,
            counts: apply.counts(),
            left_in_flight: apply.left_in_flight(),
            undone: apply.undone(),
        }
    }
}

enum EffectResult {
    Committed(Result<Revision, StoreError>, CommittedCalls),
    Applied(u32, Result<Applied, ProviderError>),
    /// The call was not made: the lease is lost or could not be checked.
    NotCalled(u32, StoreError),
    Polled(u32, Result<Readiness, ProviderError>),
    Answered(Option<u32>, Vec<(EvaluationQuestion, EvaluationReply)>),
    Woke(u64),
}

/// Applies a plan to its end. Passes every event to `report`.
///
/// Renews the lease; the caller takes and releases it. Returns `Err` if [`Interrupt::Immediate`]
/// cut the run off, or if its end could not be recorded. The state can be resumed in both cases.
pub async fn run(
    mut apply: Apply,
    shell: &Shell,
    store: &dyn Store,
    lease: &Lease,
    interrupts: &mut mpsc::UnboundedReceiver<Interrupt>,
    mut report: impl FnMut(Event) + Send,
) -> Result<Outcome, Aborted> {
    let mut state = LoopState::of(apply.plan().revision);
    state.recorded = shell.call_records.clone().map(|records| {
        let providers = shell.providers.clone();
        RecordedCalls::of(records, providers, apply.snapshot(), lease.epoch)
    });
    let mut under_way: FuturesUnordered<BoxFuture<'_, EffectResult>> = FuturesUnordered::new();
    let (progress, mut progress_events) = mpsc::unbounded_channel::<Event>();
    let mut lease_renewals = tokio::time::interval(LEASE / 3);
    lease_renewals.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut effects = Vec::new();
    let mut may_interrupt = true;
    apply
        .values()
        .for_each(|value| shell.secrets.add_secrets_of(value));
    state.inputs.push(ApplyInput::Began(shell.clock.now()));
    let begun = tokio::time::Instant::now();
    let mut steps: usize = 0;
    loop {
        let at = ApplyInput::At(begun.elapsed());
        apply.step(
            std::iter::once(at).chain(state.inputs.drain(..)),
            &mut effects,
        );
        // First report the progress that providers sent before their answers.
        while let Ok(event) = progress_events.try_recv() {
            report(event);
        }
        for effect in effects.drain(..) {
            match effect {
                Effect::Commit(entries) => under_way.push(state.commit(store, lease, entries)),
                Effect::Call(task, request) => {
                    let progress = progress.clone();
                    let cancel = shell.cancel.child_token();
                    state.cancels.insert(task, cancel.clone());
                    let records = state.recorded.as_ref().map(|calls| calls.own().clone());
                    under_way.push(Box::pin(async move {
                        // If this process was suspended since its last commit, another operation
                        // may have taken over the instance.
                        match store.check_lease(lease).await {
                            Ok(()) => EffectResult::Applied(
                                task,
                                call(shell, request, records, cancel, progress).await,
                            ),
                            Err(error) => EffectResult::NotCalled(task, error),
                        }
                    }));
                }
                Effect::Poll(task, request) => {
                    under_way.push(Box::pin(async move {
                        EffectResult::Polled(task, poll(shell, request).await)
                    }));
                }
                Effect::Ask(asking) => under_way.push(Box::pin(ask(shell, asking))),
                Effect::Wake(number, after) => under_way.push(Box::pin(async move {
                    tokio::time::sleep(after).await;
                    EffectResult::Woke(number)
                })),
                Effect::Cancel => shell.cancel.cancel(),
                Effect::CancelOne(task) => {
                    if let Some(cancel) = state.cancels.get(&task) {
                        cancel.cancel();
                    }
                }
                Effect::Report(event) => report(event),
                Effect::Finish(outcome) => {
                    if outcome.outcome.is_some() {
                        return Ok(outcome);
                    }
                    return Err(Aborted {
                        store: state.store_error,
                        counts: outcome.counts,
                        left_in_flight: outcome.left_in_flight,
                        undone: outcome.undone,
                    });
                }
            }
        }
        steps += 1;
        if steps.is_multiple_of(STEPS_BEFORE_YIELD) {
            tokio::task::yield_now().await;
        }
        match interrupts.try_recv() {
            Ok(Interrupt::Graceful) => state.inputs.push(ApplyInput::Interrupt),
            Ok(Interrupt::Immediate) => return Err(Aborted::now(&apply, None)),
            Err(_) => {}
        }
        if lease_renewals.tick().now_or_never().is_some() {
            state.renew(store, lease).await;
        }
        while state.inputs.is_empty() {
            tokio::select! {
                biased;
                Some(event) = progress_events.recv() => report(event),
                interrupt = interrupts.recv(), if may_interrupt => match interrupt {
                    Some(Interrupt::Graceful) => state.inputs.push(ApplyInput::Interrupt),
                    Some(Interrupt::Immediate) => return Err(Aborted::now(&apply, None)),
                    None => may_interrupt = false,
                },
                Some(answer) = under_way.next() => {
                    state.handle_result(answer, shell);
                    // Other answers that are ready share the same commit.
                    while let Some(Some(answer)) = under_way.next().now_or_never() {
                        state.handle_result(answer, shell);
                    }
                }
                _ = lease_renewals.tick() => state.renew(store, lease).await,
                else => return Err(Aborted::now(&apply, state.store_error)),
            }
        }
    }
}

/// The state of a run between two steps of the machine.
struct LoopState {
    revision: Revision,
    /// The error of the store that ended the run.
    store_error: Option<StoreError>,
    cancels: HashMap<u32, CancellationToken>,
    /// Inputs for the next step of the machine.
    inputs: Vec<ApplyInput>,
    /// The calls whose ends are recorded beside the state.
    recorded: Option<RecordedCalls>,
}

impl LoopState {
    fn of(revision: Revision) -> LoopState {
        LoopState {
            revision,
            store_error: None,
            cancels: HashMap::new(),
            inputs: Vec::new(),
            recorded: None,
        }
    }

    /// Announces the calls whose ends are recorded, and commits the entries.
    fn commit<'a>(
        &mut self,
        store: &'a dyn Store,
        lease: &'a Lease,
        entries: Vec<Entry>,
    ) -> BoxFuture<'a, EffectResult> {
        let announced = self.recorded.as_mut().map_or_else(
            || Ok(CommittedCalls::default()),
            |calls| calls.announce(&entries),
        );
        let revision = self.revision;
        Box::pin(async move {
            match announced {
                Ok(calls) => {
                    EffectResult::Committed(store.commit(lease, revision, entries).await, calls)
                }
                Err(error) => EffectResult::Committed(Err(error), CommittedCalls::default()),
            }
        })
    }

    /// Lets recorded calls go on without this run, because it can commit nothing more.
    fn detach(&self) {
        if let Some(recorded) = &self.recorded {
            recorded.detach();
        }
    }

    /// Turns an answer into an input of the machine.
    fn handle_result(&mut self, answer: EffectResult, shell: &Shell) {
        let happened = match answer {
            EffectResult::Committed(Ok(now), calls) => {
                self.revision = now;
                if let Some(recorded) = &mut self.recorded {
                    recorded.committed(&calls);
                }
                ApplyInput::Committed(shell.clock.now())
            }
            EffectResult::Committed(Err(error), _) => {
                let why = error_chain(&error);
                self.store_error = Some(error);
                self.detach();
                ApplyInput::CommitFailed(why)
            }
            EffectResult::Applied(task, answer) => {
                self.cancels.remove(&task);
                ApplyInput::Applied(task, answer)
            }
            EffectResult::NotCalled(task, error) => {
                self.cancels.remove(&task);
                self.inputs
                    .push(ApplyInput::CommitFailed(error_chain(&error)));
                self.store_error.get_or_insert(error);
                self.detach();
                let why =
                    "it was not called, because the instance is no longer held by this operation";
                ApplyInput::Applied(task, Err(ProviderError::new(ErrorKind::Cancelled, why)))
            }
            EffectResult::Polled(task, answer) => ApplyInput::Polled(task, answer),
            EffectResult::Answered(task, replies) => ApplyInput::Answered(task, replies),
            EffectResult::Woke(number) => ApplyInput::Woke(number),
        };
        self.inputs.push(happened);
    }

    /// Renews the lease. A lost lease ends all commits. Any other error is ignored, because the
    /// next renewal may succeed.
    async fn renew(&mut self, store: &dyn Store, lease: &Lease) {
        if let Err(error @ StoreError::Busy { .. }) = store.renew(lease, LEASE).await {
            self.inputs
                .push(ApplyInput::CommitFailed(error_chain(&error)));
            self.store_error = Some(error);
            self.detach();
        }
    }
}

/// Returns the messages of an error and its causes on one line.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

async fn call(
    shell: &Shell,
    request: CallRequest,
    records: Option<Arc<CallRecords>>,
    cancel: CancellationToken,
    progress: mpsc::UnboundedSender<Event>,
) -> Result<Applied, ProviderError> {
    let address = request.address.clone();
    let settings = match &request.provider {
        Some(instance) => instance.settings.clone(),
        None => shell.settings_of(request.type_name.package_name()),
    };
    let values = [
        &request.desired,
        &request.prior_inputs,
        &request.prior,
        &request.private,
        &settings,
    ];
    let secrets = CallSecrets::of(&shell.secrets, values);
    let report_progress = {
        let secrets = secrets.clone();
        Arc::new(move |text: &str| {
            // Sending fails only after the run is over.
            let _ = progress.send(Event::Progress {
                address: address.clone(),
                text: secrets.scrub_text(text).into(),
            });
        })
    };
    let mut call = call_of(shell, &request, report_progress);
    call.call_records = records;
    call.cancel = cancel;
    call.deadline = request.limit;
    let configured = shell
        .session_of(&request.type_name, request.provider.as_ref())
        .await?;
    let asked = ApplyRequest {
        operation: request.operation,
        type_name: &request.type_name,
        id: request.id.as_deref(),
        prior_inputs: &request.prior_inputs,
        prior: &request.prior,
        desired: &request.desired,
        schema_version: request.schema_version,
        planned: &request.planned,
        private: &request.private,
        sources: &request.sources,
        metadata: &request.metadata,
        delete_mode: request.delete_mode,
    };
    secrets.scrub_apply(
        configured.session.apply(&call, asked).await,
        &request.type_name,
        &shell.catalogs,
    )
}

fn call_of(shell: &Shell, request: &CallRequest, progress: Progress) -> Call {
    let CallRequest {
        address,
        type_name,
        provider,
        token,
        site,
        ..
    } = request;
    shell.call_of(
        address,
        type_name.package_name(),
        provider.as_ref(),
        token.clone(),
        progress,
        site.borrowed(),
    )
}

async fn ask(shell: &Shell, asking: Asking) -> EffectResult {
    let Asking {
        task,
        questions,
        now,
        functions,
    } = asking;
    let requests: Vec<_> = questions
        .iter()
        .map(|question| ask_world(question, now, PlanPhase::Apply, &functions, shell))
        .collect();
    let replies = futures::future::join_all(requests).await;
    EffectResult::Answered(task, questions.into_iter().zip(replies).collect())
}

async fn poll(shell: &Shell, request: CallRequest) -> Result<Readiness, ProviderError> {
    let quiet = Arc::new(|_: &str| {});
    let mut call = call_of(shell, &request, quiet);
    call.deadline = request.limit;
    let configured = shell
        .session_of(&request.type_name, request.provider.as_ref())
        .await?;
    let asked = ReadRequest {
        type_name: &request.type_name,
        id: request.id.as_deref(),
        inputs: &request.prior_inputs,
        outputs: &request.prior,
        schema_version: request.schema_version,
        private: &request.private,
        token: None,
    };
    let secrets = CallSecrets::of(
        &shell.secrets,
        [
            &request.prior_inputs,
            &request.prior,
            &request.private,
            &call.settings,
        ],
    );
    match configured.session.poll_ready(&call, asked).await {
        Ok(Readiness::Ready(fields)) => Ok(Readiness::Ready(secrets.mark_secrets(fields))),
        Ok(Readiness::NotYet { why, fields }) => Ok(Readiness::NotYet {
            why,
            fields: secrets.mark_secrets(fields),
        }),
        Ok(Readiness::Broken(why)) => Ok(Readiness::Broken(
            why.iter()
                .map(|why| secrets.scrub_text(why).into())
                .collect(),
        )),
        Err(error) => Err(secrets.scrub_error(error)),
    }
}
