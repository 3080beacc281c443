//! Decides the work of a task once every value that it reads is known.
//!
//! Not here: evaluating values (`values`), carrying out the work (`starting`).

use blueprint::{ReplaceOrder, Value};
use plan::linked::Linked;
use plan::model::Action;
use plan::plan::Plan;
use plan::task::{Decided, TaskKind};
use provider::{Operation as Verb, PlanMode, Verdict};
use state::StatusWord;

use crate::run_values::{judges_replacement, provider_decides};
use crate::values::{Difference, Values, difference};
use crate::work::TaskWork;
use crate::{codes, link_values, replan};

/// Evaluates the parts that the plan left open and returns the work of the task. Takes no decision
/// that is not in the plan.
pub(crate) fn decide(
    plan: &Plan,
    values: &mut Values<'_>,
    kind: TaskKind,
    decided: &Decided,
) -> TaskWork {
    match kind {
        TaskKind::Gather
        | TaskKind::Pause(_)
        | TaskKind::Read(_)
        | TaskKind::Gate(_)
        | TaskKind::PollUntilReady
        | TaskKind::Settled
        | TaskKind::LinkWrite
        | TaskKind::Link => TaskWork::Unneeded("nothing to call"),
        TaskKind::Forget => TaskWork::Record(Value::Null),
        TaskKind::Delete => TaskWork::Call(Verb::Delete, Value::Null),
        // The create of a temporary member may have failed or may not have begun.
        TaskKind::DeleteTemporary if values.known.record(&decided.address).is_none() => {
            TaskWork::Unneeded("it was not made")
        }
        TaskKind::DeleteTemporary => TaskWork::Call(Verb::Delete, Value::Null),
        TaskKind::DeleteIfAbsent => delete_if_absent(values, decided),
        TaskKind::Condition => condition(values, decided),
        TaskKind::DeleteOld(old) => delete_deposed(plan, values, decided, old),
        TaskKind::Record | TaskKind::Create | TaskKind::Update => {
            write(plan, values, kind, decided).unwrap_or(TaskWork::Failed)
        }
    }
}

/// The delete of an existing resource whose condition was not known at plan time.
fn delete_if_absent(values: &mut Values<'_>, decided: &Decided) -> TaskWork {
    if !values.known.is_absent(&decided.address) {
        return TaskWork::Unneeded("its condition holds");
    }
    // A link has no object: what it has written is removed by its writes.
    if matches!(decided.linked.as_deref(), Some(Linked::Record(_))) {
        return TaskWork::Record(Value::Null);
    }
    // The plan could not refuse this delete, because it did not know of it.
    if decided.protect {
        values.results.report(
            codes::PROTECTED
                .new(format!(
                    "`{}` is protected, and its condition has come out false",
                    decided.address
                ))
                .label(decided.span, "protected by `cyan.protect`"),
        );
        return TaskWork::Failed;
    }
    if decided.retain {
        return TaskWork::Record(Value::Null);
    }
    TaskWork::Call(Verb::Delete, Value::Null)
}

/// The work of a resource of which only the condition was open.
fn condition(values: &mut Values<'_>, decided: &Decided) -> TaskWork {
    // An earlier operation may have left the resource accepted but not ready.
    let is_configured = decided
        .prior
        .as_ref()
        .is_some_and(|record| record.status.word == StatusWord::Configured);
    match values.holds(decided) {
        Some(true) if is_configured => TaskWork::PollPrior,
        Some(true) => TaskWork::Unneeded("its condition holds"),
        Some(false) => TaskWork::Unneeded("its condition is false"),
        None => TaskWork::Failed,
    }
}

/// The create or update of a resource, or the change of its record. `None` after an error, which is
/// reported.
fn write(
    plan: &Plan,
    values: &mut Values<'_>,
    kind: TaskKind,
    decided: &Decided,
) -> Option<TaskWork> {
    if decided.condition_open && !values.holds(decided)? {
        return Some(TaskWork::Unneeded("its condition is false"));
    }
    let desired = values.spec(decided)?;
    if kind != TaskKind::Record {
        link_values::may_be_linked(values.known, values.results, decided)?;
    }
    values.fill_metadata(decided);
    // The provider planned the change from a spec with unknown parts. Only it can tell what the
    // complete spec means.
    if provider_decides(decided) {
        return Some(replan::work(plan, values, kind, decided, desired));
    }
    if values.known.is_unplanned(&decided.address)
        && let Some(harsher) = harsher_than_planned(kind, decided, &desired)
    {
        return Some(replan::refuse(values, decided, harsher));
    }
    Some(match kind {
        TaskKind::Record => TaskWork::Record(desired),
        TaskKind::Update => {
            let differs = difference(decided, &desired, None);
            update(decided, desired, &differs)
        }
        TaskKind::Create if asks_about_replacement(decided) => {
            return Some(replace_as_judged(values, decided, desired));
        }
        // The plan announced a replacement, because a value that was unknown could force one. Now
        // it is known whether it does.
        _ if decided.action == Action::Replace && decided.may_replace => {
            match difference(decided, &desired, None) {
                Difference::Replacement => TaskWork::Call(Verb::Create, desired),
                other => update(decided, desired, &other),
            }
        }
        _ => TaskWork::Call(Verb::Create, desired),
    })
}

/// Whether the provider is asked about a replacement again, directly before the first call of it: a
/// value that was unknown when the plan was made may force it, or may need another order.
fn asks_about_replacement(decided: &Decided) -> bool {
    let is_of_type = decided
        .prior
        .as_ref()
        .is_some_and(|prior| prior.type_name == decided.type_name);
    // After the delete there is no object to ask about.
    let may_ask = decided.may_replace || decided.replace_order == ReplaceOrder::CreateFirst;
    judges_replacement(decided) && is_of_type && may_ask && decided.desired.has_unknown()
}

/// The create of a replacement whose spec is complete now. The provider may say that the new values
/// mean the same object. The order of the tasks is that of the plan: a create that would have to
/// follow the delete is refused.
fn replace_as_judged(values: &mut Values<'_>, decided: &Decided, desired: Value) -> TaskWork {
    if values.known.replanned(&decided.address).is_none() {
        return TaskWork::PlanAgain(PlanMode::Update, desired);
    }
    let Some(opinion) = values.known.judgement_of(decided) else {
        return replan::not_planned(values, decided);
    };
    let differs = difference(decided, &desired, Some(opinion));
    if decided.may_replace && !matches!(differs, Difference::Replacement) {
        return update(decided, desired, &differs);
    }
    let must_delete_first = Verdict::Replace {
        delete_first: Some(true),
    };
    if opinion.verdict == must_delete_first && decided.replace_order == ReplaceOrder::CreateFirst {
        let what = format!(
            "the old object of `{}` must be deleted before the new one is created",
            decided.address
        );
        return replan::refuse(values, decided, what);
    }
    TaskWork::Call(Verb::Create, desired)
}

/// What a spec that is not the planned one demands beyond the plan.
fn harsher_than_planned(kind: TaskKind, decided: &Decided, desired: &Value) -> Option<String> {
    let address = &decided.address;
    match (kind, difference(decided, desired, None)) {
        (TaskKind::Record, Difference::InPlace | Difference::Replacement) => {
            Some(format!("`{address}` must change after all"))
        }
        (TaskKind::Update, Difference::Replacement) => {
            Some(format!("`{address}` must be replaced after all"))
        }
        _ => None,
    }
}

/// The update of an object. Without a difference there is nothing to call, unless the object has
/// drifted or its last operation failed: then the same spec is sent again.
fn update(decided: &Decided, desired: Value, differs: &Difference) -> TaskWork {
    match differs {
        Difference::None if !decided.forces_call => TaskWork::Record(desired),
        _ => TaskWork::Call(Verb::Update, desired),
    }
}

/// Returns the delete of an old object. The object before the replacement (number 0) is kept if the
/// evaluated values need no replacement after all.
fn delete_deposed(plan: &Plan, values: &mut Values<'_>, decided: &Decided, old: u32) -> TaskWork {
    if old == 0 && decided.may_replace {
        let Some(desired) = values.spec(decided) else {
            return TaskWork::Failed;
        };
        let replaced = if asks_about_replacement(decided) {
            if values.known.replanned(&decided.address).is_none() {
                return TaskWork::PlanAgain(PlanMode::Update, desired);
            }
            let opinion = values.known.judgement_of(decided);
            let Some(opinion) = opinion else {
                return replan::not_planned(values, decided);
            };
            matches!(
                difference(decided, &desired, Some(opinion)),
                Difference::Replacement
            )
        } else if provider_decides(decided) {
            match replan::is_replaced(plan, values.known, decided) {
                Some(replaced) => replaced,
                None => return TaskWork::PlanAgain(PlanMode::Update, desired),
            }
        } else {
            matches!(difference(decided, &desired, None), Difference::Replacement)
        };
        if !replaced {
            return TaskWork::Unneeded("the values turned out equal");
        }
    }
    match decided.old_object(old) {
        Some(_) => TaskWork::Call(Verb::Delete, Value::Null),
        None => TaskWork::Unneeded("nothing is left of it"),
    }
}
