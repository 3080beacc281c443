//! One operation from end to end: the lease, the last look at the state, the run, the release.

use blueprint::{Map, Name, Value};
use diag::Diagnostics;
use state::{InstanceName, LeaseHolder, Operation, Revision, Store, StoreError};
use tokio::sync::mpsc;

use super::Shell;
use super::run::{Interrupt, LEASE, Lost, run};
use crate::apply::{Apply, Outcome, Settings};
use crate::codes;
use crate::event::Event;
use crate::plan::{Plan, Staged, inputs_unchanged};

/// What became of an operation.
#[derive(Debug)]
pub enum Operated {
    /// Nothing was begun; why.
    Refused(Diagnostics),
    /// Another operation holds the instance.
    Busy(Diagnostics),
    /// There was nothing to do, and nothing was written.
    Nothing,
    /// It ran to an end.
    Done(Outcome),
    /// It ran, and its end could not be recorded or was not waited for.
    Lost(Lost),
    /// The store could not be used; nothing was begun.
    Store(StoreError),
}

/// Carries a plan out under a lease of its own.
///
/// Refused if the state has moved on since the plan was made (`plan-stale`), if what it was made from has changed
/// (`input-changed`, looked at where `kept` says that time has passed), or if secrets could not be sealed.
#[expect(clippy::too_many_arguments, reason = "each is a thing of its own, and there is one caller per face")]
pub async fn operate(
    staged: Staged,
    kept: bool,
    shell: &Shell,
    store: &dyn Store,
    instance: &InstanceName,
    who: &str,
    settings: Settings,
    interrupts: mpsc::UnboundedReceiver<Interrupt>,
    tell: impl FnMut(Event),
) -> Operated {
    let mut found = Diagnostics::new();
    if staged.plan.secret && !store.can_seal() {
        found.push(
            codes::SECRETS_NEED_KEY
                .new("something secret has to be stored, and there is no key to seal it with")
                .help("make one with `cyan key new`"),
        );
        return Operated::Refused(found);
    }
    if kept && !inputs_unchanged(&staged.plan.answers, &shell.root.to_string_lossy(), shell, &mut found).await {
        return Operated::Refused(found);
    }
    let lease = match store.lease(instance, who, shell.clock.now(), LEASE).await {
        Ok(lease) => lease,
        Err(StoreError::Busy { holder, .. }) => {
            found.push(busy(instance, holder.as_ref(), shell.clock.now()));
            return Operated::Busy(found);
        }
        Err(error) => return Operated::Store(error),
    };
    let operated = under_lease(staged, shell, store, &lease, settings, who, interrupts, tell).await;
    // Whoever cut the run off at once is a process that ends: its lease runs out by itself, or goes with it here.
    let released = store.release(&lease).await;
    match (operated, released) {
        (Operated::Done(outcome), Err(error)) => {
            let mut outcome = outcome;
            let mut late = codes::INSTANCE_BUSY
                .new(format!("the hold on `{instance}` could not be given back"))
                .note(error.to_string())
                .help("it runs out by itself within a minute");
            late.severity = diag::Severity::Warning;
            outcome.diagnostics.push(late);
            Operated::Done(outcome)
        }
        (operated, _) => operated,
    }
}

#[expect(clippy::too_many_arguments, reason = "the inner half of `operate`")]
async fn under_lease(
    staged: Staged,
    shell: &Shell,
    store: &dyn Store,
    lease: &state::Lease,
    settings: Settings,
    who: &str,
    interrupts: mpsc::UnboundedReceiver<Interrupt>,
    tell: impl FnMut(Event),
) -> Operated {
    let head = match store.head(&lease.instance).await {
        Ok(head) => head,
        Err(error) => return Operated::Store(error),
    };
    if head != staged.plan.revision {
        return Operated::Refused(stale(staged.plan.revision, head).into_iter().collect());
    }
    if staged.plan.writes_nothing(&staged.snapshot) {
        return Operated::Nothing;
    }
    let operation = operation_of(&staged.plan, shell, who);
    let apply = Apply::new(staged, settings, operation);
    match run(apply, shell, store, lease, interrupts, tell).await {
        Ok(outcome) => Operated::Done(outcome),
        Err(lost) => Operated::Lost(lost),
    }
}

fn stale(made: Revision, found: Revision) -> Option<diag::Diagnostic> {
    Some(
        codes::PLAN_STALE
            .new(format!("the plan was made at revision {}, the state is at {}", made.0, found.0))
            .help("stage again"),
    )
}

/// The diagnostic for an instance that another operation holds.
pub fn busy(instance: &InstanceName, holder: Option<&LeaseHolder>, now: i64) -> diag::Diagnostic {
    let diagnostic = codes::INSTANCE_BUSY.new(format!("another operation holds `{instance}`"));
    match holder {
        Some(holder) => {
            let since = std::time::Duration::from_secs(u64::try_from(now - holder.since).unwrap_or(0));
            diagnostic
                .note(format!("{} since {} ago", holder.who, blueprint::format_duration(since)))
                .help(format!("wait for it; if that process is gone, `cyan unlock -i {instance}` ends its hold"))
        }
        None => diagnostic.help("wait for it to end"),
    }
}

/// What the history will say of a run of this plan.
fn operation_of(plan: &Plan, shell: &Shell, who: &str) -> Operation {
    let id = shell.chance.bytes();
    let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut desired = Map::default();
    if let Some(document) = &plan.document {
        desired.insert("document".into(), Value::Text(document.text.clone()));
        desired.insert(
            "typed".into(),
            Value::map(plan.given.typed.iter().map(|(name, value)| (name.clone(), value.clone()))),
        );
        desired.insert(
            "text".into(),
            Value::map(plan.given.text.iter().map(|(name, text)| (name.clone(), Value::Text(text.clone())))),
        );
    }
    let desired = if desired.is_empty() { Value::Null } else { Value::Map(desired.into()).tainted(plan.secret) };
    let document: Name = plan.document.as_ref().map_or("".into(), |document| document.path.clone());
    let remembered = plan.answers.remembered.clone();
    Operation {
        remembered: if plan.document.is_some() { remembered } else { Default::default() },
        id: id.into(),
        kind: plan.kind,
        who: who.into(),
        began: shell.clock.now(),
        document,
        desired,
    }
}
