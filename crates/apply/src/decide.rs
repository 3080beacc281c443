//! Decides the work of a task once every value that it reads is known.
//!
//! Not here: evaluating values (`values`), carrying out the work (`starting`).

use blueprint::Value;
use plan::linked::Linked;
use plan::model::Action;
use plan::plan::Plan;
use plan::task::{Decided, TaskKind};
use provider::{Operation as Verb, PlanMode};
use state::StatusWord;

use crate::run_values::provider_decides;
use crate::values::{Values, differs};
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
        TaskKind::DeleteTemporary => match values.known.record(&decided.address).is_some() {
            true => TaskWork::Call(Verb::Delete, Value::Null),
            false => TaskWork::Unneeded("it was not made"),
        },
        TaskKind::DeleteIfAbsent if !values.known.is_absent(&decided.address) => {
            TaskWork::Unneeded("its condition holds")
        }
        TaskKind::DeleteIfAbsent
            if matches!(decided.linked.as_deref(), Some(Linked::Record(_))) =>
        {
            TaskWork::Record(Value::Null)
        }
        TaskKind::DeleteIfAbsent if decided.protect => {
            values.results.report(
                codes::PROTECTED
                    .new(format!(
                        "`{}` is protected, and its condition has come out false",
                        decided.address
                    ))
                    .label(decided.span, "protected by `cyan.protect`"),
            );
            TaskWork::Failed
        }
        TaskKind::DeleteIfAbsent if decided.retain => TaskWork::Record(Value::Null),
        TaskKind::DeleteIfAbsent => TaskWork::Call(Verb::Delete, Value::Null),
        TaskKind::Condition => match values.holds(decided) {
            // An earlier operation may have left the resource accepted but not ready.
            Some(true)
                if decided
                    .prior
                    .as_ref()
                    .is_some_and(|it| it.status.word == StatusWord::Configured) =>
            {
                TaskWork::PollPrior
            }
            Some(true) => TaskWork::Unneeded("its condition holds"),
            Some(false) => TaskWork::Unneeded("its condition is false"),
            None => TaskWork::Failed,
        },
        TaskKind::DeleteOld(old) => delete_deposed(plan, values, decided, old),
        TaskKind::Record | TaskKind::Create | TaskKind::Update => {
            if decided.condition_open {
                match values.holds(decided) {
                    Some(true) => {}
                    Some(false) => return TaskWork::Unneeded("its condition is false"),
                    None => return TaskWork::Failed,
                }
            }
            let Some(desired) = values.spec(decided) else {
                return TaskWork::Failed;
            };
            if kind != TaskKind::Record
                && link_values::may_be_linked(values.known, values.results, decided).is_none()
            {
                return TaskWork::Failed;
            }
            values.fill_metadata(decided);
            if provider_decides(decided) {
                return replan::work(plan, values, kind, decided, desired);
            }
            match kind {
                TaskKind::Record => TaskWork::Record(desired),
                TaskKind::Update => match differs(decided, &desired) {
                    (false, _) if !decided.forces_call => TaskWork::Record(desired),
                    _ => TaskWork::Call(Verb::Update, desired),
                },
                _ if decided.action == Action::Replace && decided.may_replace => {
                    match differs(decided, &desired) {
                        (_, true) => TaskWork::Call(Verb::Create, desired),
                        (true, false) => TaskWork::Call(Verb::Update, desired),
                        (false, false) if decided.forces_call => {
                            TaskWork::Call(Verb::Update, desired)
                        }
                        (false, false) => TaskWork::Record(desired),
                    }
                }
                _ => TaskWork::Call(Verb::Create, desired),
            }
        }
    }
}

/// Returns the delete of a deposed object. Nothing is deleted if the evaluated values need no
/// replacement.
fn delete_deposed(plan: &Plan, values: &mut Values<'_>, decided: &Decided, old: u32) -> TaskWork {
    if old == 0 && decided.may_replace {
        let Some(desired) = values.spec(decided) else {
            return TaskWork::Failed;
        };
        let replaced = match provider_decides(decided) {
            false => differs(decided, &desired).1,
            true => match replan::is_replaced(plan, values.known, decided) {
                Some(replaced) => replaced,
                None => return TaskWork::PlanAgain(PlanMode::Update, desired),
            },
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
