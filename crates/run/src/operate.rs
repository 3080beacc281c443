//! Runs one operation: takes the lease, checks the state, applies the plan, releases the lease.
//!
//! If the failure policy asks for a rollback, the plan of the rollback runs under the same lease.

use blueprint::Name;
use diag::Diagnostics;
use provider::BoxFuture;
use state::{
    Generation, InstanceName, LeaseHolder, Liveness, Operation, OperationOutcome, Revision, Store,
    StoreError,
};
use tokio::sync::mpsc;

use super::run::{Aborted, Interrupt, LEASE, run};
use crate::codes;
use crate::shell::{Rng, Shell};
use crate::takeover::{end_expired_hold, may_live};
use apply::machine::Apply;
use apply::model::{ApplySettings, OnFailure, Outcome};
use evaluate::event::Event;
use evaluate::world::Environment as _;
use plan::generation::{self, RollbackTarget, TargetOperation};
use plan::model::Purpose;
use plan::plan::{Plan, Staged};
use plan::provider_diagnostics::report_settings;
use plan::unchanged::unchanged;

/// The result of an operation.
#[derive(Debug)]
pub enum Operated {
    /// The operation did not start, for the reasons in the diagnostics.
    Refused(Diagnostics),
    /// The operation did not start, because another operation holds the instance.
    Busy(Diagnostics),
    /// There was nothing to do. Nothing was written.
    Nothing,
    /// The operation ran to its end.
    Done(Outcome),
    /// The operation ran, but was cut off or its end could not be recorded.
    Aborted(Aborted),
    /// The store failed before anything started.
    Store(StoreError),
}

/// Makes the plan of a rollback. The implementation knows facts that this crate does not: the
/// sources of documents and the providers.
pub trait RollbackPlanner: Send + Sync {
    /// Makes the plan that returns from the current state to a target, with
    /// [`Options::rollback`](plan::options::Options). Returns `None` if there is no plan; the
    /// errors are added to `found`.
    fn stage<'a>(
        &'a self,
        target: RollbackTarget,
        found: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Option<Staged>>;

    /// Prepares diagnostics for a report that can show only the documents of the failed operation.
    /// Places in the documents of the target become text.
    fn flatten_places(&self, found: Diagnostics) -> Diagnostics;
}

/// A plan to apply.
pub struct RunRequest<'a> {
    /// The plan.
    pub staged: Staged,
    /// Whether to compare the inputs of the plan with the current ones first, because the plan may
    /// be out of date.
    pub recheck_inputs: bool,
    /// The environment of the run.
    pub shell: &'a Shell,
    /// The store of the state.
    pub store: &'a dyn Store,
    /// The name of the instance.
    pub instance: &'a InstanceName,
    /// The id of the operation in the history. No other operation of the state has it.
    pub id: Name,
    /// The person or process that runs the operation, for the lease and the history.
    pub who: &'a str,
    /// The settings of the operation.
    pub settings: ApplySettings,
    /// Makes the plan of a rollback after a failure; `None` if there is to be no rollback.
    pub rollback_planner: Option<&'a dyn RollbackPlanner>,
    /// Stop requests of the user.
    pub interrupts: mpsc::UnboundedReceiver<Interrupt>,
}

/// The shared context of the runs under one lease: the run of the plan, and the rollback after its
/// failure.
struct Leased<'a> {
    shell: &'a Shell,
    store: &'a dyn Store,
    lease: &'a state::Lease,
    settings: ApplySettings,
    who: &'a str,
}

/// Applies a plan under a new lease.
///
/// With [`OnFailure::Rollback`] and a `rollback_planner`, a failure is followed by a rollback under
/// the same lease. The outcome is that of the failed run and contains that of the rollback.
///
/// The plan is refused if the state has changed since it was made (`plan-stale`), if its sources
/// have changed (`input-changed`, `observation-changed`: compared if `recheck_inputs`), or if
/// secrets cannot be sealed.
pub async fn operate(request: RunRequest<'_>, mut report: impl FnMut(Event) + Send) -> Operated {
    let RunRequest {
        staged,
        recheck_inputs: must_recheck,
        shell,
        store,
        instance,
        id,
        who,
        settings,
        rollback_planner: planner,
        mut interrupts,
    } = request;
    let mut found = Diagnostics::new();
    if staged.plan.secret && !store.can_seal() {
        found.push(
            codes::SECRETS_NEED_KEY
                .new("the operation may store secrets, and there is no key to seal them with")
                .help("make one with `cyan key new`"),
        );
        return Operated::Refused(found);
    }
    if let Some(address) = staged.plan.unread_but_needed().first() {
        let diagnostic = codes::PROVIDER_FAILED
            .new(format!(
                "`{address}` could not be read when the plan was made, and would be changed"
            ))
            .help("stage again once the cause is fixed");
        found.push(diagnostic);
        return Operated::Refused(found);
    }
    if must_recheck {
        // A changed state explains every other difference, so check it first.
        match store.head(instance).await {
            Ok(head) if head != staged.plan.revision => {
                return Operated::Refused(stale(staged.plan.revision, head).into_iter().collect());
            }
            Ok(_) => {}
            Err(error) => return Operated::Store(error),
        }
    }
    if must_recheck && !unchanged(&staged, &shell.root.to_string_lossy(), shell, &mut found).await {
        return Operated::Refused(found);
    }
    let former = match store.holder(instance).await {
        Ok(former) => former,
        Err(error) => return Operated::Store(error),
    };
    // Its lease has expired, but it may have been checked just before.
    let may_call = former.is_some_and(|former| may_live(&former) && !former.is_active());
    let taken = match may_call {
        true => end_expired_hold(store, instance, who).await,
        false => Ok(()),
    };
    let lease = match taken {
        Ok(()) => store.lease(instance, who, LEASE).await,
        Err(error) => Err(error),
    };
    let lease = match lease {
        Ok(lease) => lease,
        Err(StoreError::Busy { holder, .. }) => {
            found.push(busy(instance, holder.as_ref(), shell.clock.now()));
            return Operated::Busy(found);
        }
        Err(error) => return Operated::Store(error),
    };
    // Boxed so that the future does not contain two operations.
    let leased = Leased {
        shell,
        store,
        lease: &lease,
        settings,
        who,
    };
    let mut operated =
        Box::pin(leased.run(staged, lease.revision, id, &mut interrupts, &mut report)).await;
    if let (Operated::Done(outcome), Some(back), OnFailure::Rollback) =
        (&mut operated, planner, settings.on_failure)
        && outcome.outcome == Some(OperationOutcome::Failed)
        && let Some(lost) = leased
            .roll_back(outcome, back, &mut interrupts, report)
            .await
    {
        operated = lost;
    }
    // After an immediate stop the process ends. The lease is released here, or else it expires.
    let released = store.release(&lease).await;
    match (operated, released) {
        (Operated::Done(outcome), Err(error)) => {
            let mut outcome = outcome;
            let mut release_warning = codes::INSTANCE_BUSY
                .new(format!("the lease of `{instance}` could not be released"))
                .note(error.to_string())
                .help("it runs out by itself within a minute");
            release_warning.severity = diag::Severity::Warning;
            outcome.diagnostics.push(release_warning);
            Operated::Done(outcome)
        }
        (operated, _) => operated,
    }
}

impl Leased<'_> {
    /// Applies a plan that must have been made at the revision `head`.
    async fn run(
        &self,
        staged: Staged,
        head: Revision,
        id: Name,
        interrupts: &mut mpsc::UnboundedReceiver<Interrupt>,
        report: impl FnMut(Event) + Send,
    ) -> Operated {
        let Leased {
            shell,
            store,
            lease,
            settings,
            who,
        } = *self;
        if head != staged.plan.revision {
            return Operated::Refused(stale(staged.plan.revision, head).into_iter().collect());
        }
        if staged.plan.writes_nothing(&staged.snapshot) {
            match must_record_end(&staged.plan, store, &lease.instance).await {
                Ok(false) => return Operated::Nothing,
                Ok(true) => {}
                Err(error) => return Operated::Store(error),
            }
        }
        let operation = operation_of(&staged.plan, id, shell.clock.now(), who);
        let documents = staged
            .evaluation
            .as_ref()
            .map(|evaluation| evaluation.documents.clone());
        let apply = Apply::new(staged, settings, operation);
        match run(apply, shell, store, lease, interrupts, report).await {
            Ok(mut outcome) => {
                // Report remarks on settings that became known during the run.
                report_settings(
                    shell.settings_remarks(),
                    documents.as_deref(),
                    &mut outcome.diagnostics,
                );
                Operated::Done(outcome)
            }
            Err(lost) => Operated::Aborted(lost),
        }
    }

    /// Rolls back to the last successful generation after a failure. Adds the result to `outcome`.
    /// Returns `Some` if the rollback was cut off or could not be recorded.
    async fn roll_back(
        &self,
        outcome: &mut Outcome,
        rollback_planner: &dyn RollbackPlanner,
        interrupts: &mut mpsc::UnboundedReceiver<Interrupt>,
        mut report: impl FnMut(Event) + Send,
    ) -> Option<Operated> {
        let Leased {
            shell,
            store,
            lease,
            settings,
            ..
        } = *self;
        let mut found = Diagnostics::new();
        if !outcome.left_in_flight.is_empty() || shell.cancel.is_cancelled() {
            // Calls that may still be running cannot be undone yet.
            outcome.diagnostics.append(generation::report_incomplete(
                &outcome.left_in_flight,
                found,
            ));
            return None;
        }
        let target = match rollback_target(store, &lease.instance, None).await {
            Ok(Ok(goal)) => goal,
            Ok(Err(diagnostic)) => {
                outcome.diagnostics.push(*diagnostic);
                return None;
            }
            Err(error) => return Some(Operated::Aborted(aborted_by_store(outcome, error))),
        };
        let number = match &target {
            RollbackTarget::Generation(kept) => Some(kept.generation.0),
            RollbackTarget::Nothing => None,
        };
        report(Event::RollingBack { generation: number });
        let staged = tokio::select! {
            biased;
            staged = renewing_lease_while(rollback_planner.stage(target, &mut found), store, lease) => staged,
            // Reading the resources may take long. The user may interrupt it.
            Some(_) = interrupts.recv() => None,
        };
        let found = rollback_planner.flatten_places(found);
        let Some(staged) = staged.filter(|_| !found.has_errors()) else {
            outcome
                .diagnostics
                .append(generation::report_incomplete(&[], found));
            return None;
        };
        outcome.diagnostics.append(found);
        let settings = ApplySettings {
            on_failure: OnFailure::KeepGoing,
            ..settings
        };
        let head = match store.head(&lease.instance).await {
            Ok(head) => head,
            Err(error) => return Some(Operated::Aborted(aborted_by_store(outcome, error))),
        };
        let second = Leased { settings, ..*self };
        match Box::pin(second.run(staged, head, operation_id(&shell.rng), interrupts, report)).await
        {
            Operated::Done(mut second) => {
                let diagnostics =
                    rollback_planner.flatten_places(std::mem::take(&mut second.diagnostics));
                match second.outcome {
                    Some(OperationOutcome::Ready | OperationOutcome::Gone) => {
                        outcome.diagnostics.append(diagnostics)
                    }
                    _ => outcome
                        .diagnostics
                        .append(generation::report_incomplete(&second.undone, diagnostics)),
                }
                outcome.rolled_back = Some(Box::new(second));
                None
            }
            Operated::Nothing => None,
            Operated::Refused(diagnostics) | Operated::Busy(diagnostics) => {
                outcome.diagnostics.append(generation::report_incomplete(
                    &[],
                    rollback_planner.flatten_places(diagnostics),
                ));
                None
            }
            Operated::Store(error) => Some(Operated::Aborted(aborted_by_store(outcome, error))),
            Operated::Aborted(second) => Some(Operated::Aborted(Aborted {
                counts: outcome.counts,
                ..second
            })),
        }
    }
}

/// Whether an end must be recorded although no step remains: for a run that was cut off after its
/// last step, or for a destroyed instance.
async fn must_record_end(
    plan: &Plan,
    store: &dyn Store,
    instance: &InstanceName,
) -> Result<bool, StoreError> {
    let last = store
        .info(instance)
        .await?
        .and_then(|info| info.last)
        .map(|(_, outcome)| outcome);
    Ok(match plan.purpose {
        Purpose::Reconcile => false,
        Purpose::Destroy => {
            plan.options.targets.is_empty()
                && last.is_some_and(|last| last != Some(OperationOutcome::Gone))
        }
        Purpose::Deploy => last == Some(None),
    })
}

/// Awaits `work`, and renews the lease meanwhile. The next commit detects a lost lease.
async fn renewing_lease_while<T>(
    work: impl Future<Output = T>,
    store: &dyn Store,
    lease: &state::Lease,
) -> T {
    let mut work = std::pin::pin!(work);
    let mut renewals = tokio::time::interval(LEASE / 3);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            _ = renewals.tick() => {
                let _ = store.renew(lease, LEASE).await;
            }
        }
    }
}

/// Returns the result of an operation that ended, but whose rollback failed because of the store.
/// It contains the counts of the operation.
fn aborted_by_store(outcome: &Outcome, store: StoreError) -> Aborted {
    let left_in_flight = outcome.left_in_flight.clone();
    let undone = outcome.undone.clone();
    Aborted {
        store: Some(store),
        counts: outcome.counts,
        left_in_flight,
        undone,
    }
}

/// Returns the target of a rollback, see [`generation::rollback_operation`]. It is
/// [`RollbackTarget::Nothing`] if no generation succeeded. The outer error is that of the store;
/// the inner one is the reason why there is no target.
pub async fn rollback_target(
    store: &dyn Store,
    instance: &InstanceName,
    wanted: Option<Generation>,
) -> Result<Result<RollbackTarget, Box<diag::Diagnostic>>, StoreError> {
    let history = store.history(instance, usize::MAX).await?;
    Ok(match generation::rollback_operation(&history, wanted) {
        Ok(TargetOperation::Restore(generation, id)) => {
            generation::read_saved(generation, store.operation(instance, &id).await?.as_ref())
        }
        Ok(TargetOperation::Nothing) => Ok(RollbackTarget::Nothing),
        Err(diagnostic) => Err(diagnostic),
    })
}

fn stale(made: Revision, found: Revision) -> Option<diag::Diagnostic> {
    Some(
        codes::PLAN_STALE
            .new(format!(
                "the plan was made at revision {}, the state is at {}",
                made.0, found.0
            ))
            .help("stage again"),
    )
}

/// Returns the diagnostic for an instance that another operation holds.
pub fn busy(instance: &InstanceName, holder: Option<&LeaseHolder>, now: i64) -> diag::Diagnostic {
    let diagnostic = codes::INSTANCE_BUSY.new(format!("another operation holds `{instance}`"));
    match holder {
        Some(holder) => diagnostic.note(held_by(holder, now)).help(format!(
            "wait for it; if that process is gone, or is not to go on, `cyan unlock -i {instance}` ends its hold"
        )),
        None => diagnostic.help("wait for it to end"),
    }
}

/// Returns the diagnostic for an operation whose lease was ended or taken over during its run.
pub fn taken_over(
    instance: &InstanceName,
    holder: Option<&LeaseHolder>,
    now: i64,
) -> diag::Diagnostic {
    let diagnostic = codes::LEASE_LOST.new(format!(
        "`{instance}` has been taken over from this operation"
    ));
    let (by_whom, help) = match holder {
        Some(holder) => (
            held_by(holder, now),
            "run the same command again once that operation has ended",
        ),
        None => (
            "its lease was ended; no operation holds it now".to_owned(),
            "run the same command again",
        ),
    };
    diagnostic
        .note(by_whom)
        .note("later results were not recorded; the next plan reads the affected resources")
        .help(help)
}

/// Describes the holder of an instance, and the time since it took the lease.
fn held_by(holder: &LeaseHolder, now: i64) -> String {
    let begun = match u64::try_from(now.saturating_sub(holder.since)) {
        Ok(seconds @ 1..) => blueprint::format_duration(std::time::Duration::from_secs(seconds)),
        _ => "less than a second".to_owned(),
    };
    let sign = match (holder.liveness, holder.expired) {
        (Liveness::Alive, true) => {
            "; the process runs, but has given no sign of life for a minute: it may be stopped"
        }
        (Liveness::Alive, false) => "; the process runs",
        (Liveness::Dead, _) => "; the process has ended",
        (Liveness::Unknown, _) => "",
    };
    format!("held by {}, who began {begun} ago{sign}", holder.who)
}

/// Draws an id for an operation: 32 hexadecimal digits.
pub fn operation_id(rng: &Rng) -> Name {
    data_encoding::HEXLOWER.encode(&rng.bytes()).into()
}

/// Returns the operation of this plan for the history.
fn operation_of(plan: &Plan, id: Name, began: i64, who: &str) -> Operation {
    let document: Name = plan
        .document
        .as_ref()
        .map_or("".into(), |document| document.path.clone());
    let memoised = plan.answers.memoised.clone();
    Operation {
        memoised: if plan.document.is_some() {
            memoised
        } else {
            Default::default()
        },
        id,
        kind: plan.kind,
        who: who.into(),
        began,
        document,
        stops: None,
        desired: generation::saved_value(plan),
    }
}
