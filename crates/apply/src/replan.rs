//! Asks a provider, directly before a call, to plan again a resource that it planned while values
//! were unknown.
//!
//! The answer fills the gaps of the plan and must keep its promises: known planned values stay, and
//! the action is at most as severe as the planned one. Otherwise the step fails.
//!
//! Not here: other decisions (`decide`), the questions to providers while a plan is made (`plan`).

use blueprint::{Address, FieldPath, PathStep, Value};
use evaluate::answers::ProviderOpinion;
use evaluate::evaluation_question::{EvaluationQuestion, PlanAgain, plan_key};
use plan::model::Action;
use plan::plan::Plan;
use plan::task::{Decided, TaskKind};
use provider::{Operation as Verb, PlanMode, Plans, Verdict};
use state::Record;
use understand::compare::contradiction;

use crate::calls::Calls;
use crate::codes;
use crate::facts::Facts;
use crate::run_values::RunValues;
use crate::values::Values;
use crate::work::TaskWork;

/// The work of a task whose provider decides. `desired` is the complete spec of the document.
pub(crate) fn work(
    plan: &Plan,
    values: &mut Values<'_>,
    kind: TaskKind,
    decided: &Decided,
    desired: Value,
) -> TaskWork {
    let replanned = values.known.replanned(&decided.address);
    let was_open = decided.desired.has_unknown()
        || was_undecided(plan, &decided.address)
        || values.known.is_unplanned(&decided.address);
    if was_open && replanned.is_none() {
        let mode = match decided.action {
            Action::Create => PlanMode::Create,
            Action::Replace if !decided.may_replace => PlanMode::Replace,
            _ => PlanMode::Update,
        };
        return TaskWork::PlanAgain(mode, desired);
    }
    let Some(opinion) = values.known.opinion_of(plan, decided).cloned() else {
        return match replanned {
            Some(_) => not_planned(values, decided),
            None => work_without_opinion(kind, desired),
        };
    };
    // An answer that demands a replacement is followed by a plan of the new object.
    let is_last =
        replanned != Some(PlanMode::Update) || !matches!(opinion.verdict, Verdict::Replace { .. });
    if replanned.is_some() && is_last {
        match broken_promise(plan, values.known, decided, &opinion) {
            Some(Promise::Exact(path)) => {
                let what = format!(
                    "`{path}` of `{}` came out differently than planned",
                    decided.address
                );
                return refuse(values, decided, what);
            }
            Some(Promise::Forecast(path)) => remark_other_input(values, decided, &path),
            None => {}
        }
    }
    let inputs = opinion.inputs.clone().unwrap_or_else(|| desired.clone());
    if inputs.has_unknown() {
        return refuse(
            values,
            decided,
            format!("the spec of `{}` is still not complete", decided.address),
        );
    }
    let verdict = replanned.map(|_| &opinion.verdict);
    let must_call = decided.forces_call;
    match (kind, verdict) {
        (_, Some(Verdict::Undecided { needs })) => {
            let what = format!(
                "the provider still cannot decide about `{}`: {needs}",
                decided.address
            );
            refuse(values, decided, what)
        }
        (TaskKind::Record, None | Some(Verdict::Same | Verdict::ByCatalogue)) => {
            TaskWork::Record(inputs)
        }
        (TaskKind::Record, Some(_)) => refuse(
            values,
            decided,
            format!("`{}` must change after all", decided.address),
        ),
        (TaskKind::Update, Some(Verdict::Replace { .. })) => refuse(
            values,
            decided,
            format!("`{}` must be replaced after all", decided.address),
        ),
        (TaskKind::Update, Some(Verdict::Same)) if !must_call => TaskWork::Record(inputs),
        (TaskKind::Update, _) => TaskWork::Call(Verb::Update, inputs),
        (_, Some(Verdict::Same))
            if decided.action == Action::Replace && decided.may_replace && !must_call =>
        {
            TaskWork::Record(inputs)
        }
        (_, Some(Verdict::Same | Verdict::Update | Verdict::ByCatalogue))
            if decided.action == Action::Replace
                && decided.may_replace
                && replanned == Some(PlanMode::Update) =>
        {
            TaskWork::Call(Verb::Update, inputs)
        }
        (_, Some(Verdict::Replace { .. })) if replanned == Some(PlanMode::Update) => {
            TaskWork::PlanAgain(PlanMode::Replace, desired)
        }
        _ => TaskWork::Call(Verb::Create, inputs),
    }
}

/// Whether the old object of a replacement that may be unnecessary is deleted. `None` if the
/// provider must plan again first.
pub(crate) fn is_replaced(plan: &Plan, known: &RunValues, decided: &Decided) -> Option<bool> {
    let mode = known.replanned(&decided.address)?;
    let verdict = known
        .opinion_of(plan, decided)
        .map(|opinion| &opinion.verdict);
    // After the new object is planned, the verdict is about that object.
    Some(mode == PlanMode::Replace || matches!(verdict, Some(Verdict::Replace { .. })))
}

/// The opaque data of a planning question. For the new object of a replacement, the data that the
/// planned update returned.
fn private_of_plan(
    plan: &Plan,
    known: &RunValues,
    decided: &Decided,
    mode: PlanMode,
    prior: Option<&Record>,
) -> Value {
    let Some(prior) = prior else {
        return Value::Null;
    };
    let now = || {
        if decided.private.is_null() || known.is_written(decided) {
            &prior.private
        } else {
            &decided.private
        }
    };
    if mode != PlanMode::Replace {
        return now().clone();
    }
    let asked = known.replanned(&decided.address) == Some(PlanMode::Update);
    let planned = known
        .opinion_of(plan, decided)
        .filter(|_| asked)
        .map(|opinion| opinion.private.clone());
    let planned = planned.unwrap_or_else(|| decided.planned_private.clone());
    if planned.is_null() {
        now().clone()
    } else {
        planned
    }
}

/// The work of a task without an opinion: the plan was made without asking the provider, so the
/// engine compares.
fn work_without_opinion(kind: TaskKind, desired: Value) -> TaskWork {
    match kind {
        TaskKind::Record => TaskWork::Record(desired),
        TaskKind::Update => TaskWork::Call(Verb::Update, desired),
        _ => TaskWork::Call(Verb::Create, desired),
    }
}

fn was_undecided(plan: &Plan, address: &Address) -> bool {
    let opinion = plan.answers.opinions.get(address);
    opinion.is_some_and(|opinion| matches!(opinion.verdict, Verdict::Undecided { .. }))
}

/// A known planned value that has changed.
enum Promise {
    /// A value that the provider promised.
    Exact(FieldPath),
    /// An input that the provider only forecast.
    Forecast(FieldPath),
}

/// The first known planned value that has changed: of a field, or of an input that the provider
/// completed.
fn broken_promise(
    plan: &Plan,
    known: &RunValues,
    decided: &Decided,
    now: &ProviderOpinion,
) -> Option<Promise> {
    let before = plan.answers.opinions.get(&decided.address)?;
    let of_inputs = || other_input(before.inputs.as_ref()?, now.inputs.as_ref()?);
    let exact = decided.ty.as_ref().is_some_and(|ty| ty.capabilities.exact)
        && !before.inexact
        && !now.inexact
        // The plan was made from a value that came out differently.
        && !known.is_unplanned(&decided.address);
    if !exact {
        return of_inputs().map(Promise::Forecast);
    }
    let of_outputs = || contradiction(before.outputs.as_ref()?, now.outputs.as_ref()?);
    of_inputs().or_else(of_outputs).map(Promise::Exact)
}

/// The first input that differs from its known planned value. Names that begin with two underscores
/// are a plugin's own notes.
fn other_input(before: &Value, now: &Value) -> Option<FieldPath> {
    let path = contradiction(before, now)?;
    let is_note = matches!(
        path.0.first(),
        Some(PathStep::Field(name)) if name.starts_with("__")
    );
    if !is_note {
        return Some(path);
    }
    let plain = |value: &Value| {
        let entries = value.as_map().into_iter().flatten();
        let plain = entries.filter(|(name, _)| !name.starts_with("__"));
        Value::map(plain.map(|(name, value)| (name.clone(), value.clone())))
    };
    contradiction(&plain(before), &plain(now))
}

/// Warns of an input that its provider forecast otherwise when the plan was made.
fn remark_other_input(values: &mut Values<'_>, decided: &Decided, path: &FieldPath) {
    let what = format!(
        "the provider gives `{path}` of `{}` another value than in the plan",
        decided.address
    );
    let mut remark = codes::PROMISE_BROKEN
        .new(what)
        .label(decided.span, "its plan was a forecast")
        .once();
    remark.severity = diag::Severity::Warning;
    values.results.report(remark);
}

/// Refuses a step whose provider has not answered when it was asked to plan again.
pub(crate) fn not_planned(values: &mut Values<'_>, decided: &Decided) -> TaskWork {
    let failure = values
        .known
        .evaluation
        .as_ref()
        .and_then(|it| it.refused.get(plan_key(&decided.address).as_str()));
    let diagnostic = match failure {
        Some(failure) => {
            let diagnostic = failure.code.new(failure.message.clone());
            failure
                .notes
                .iter()
                .fold(diagnostic, |diagnostic, note| diagnostic.note(note.clone()))
        }
        None => codes::PROVIDER_FAILED.new(format!(
            "the provider has no plan for `{}`",
            decided.address
        )),
    };
    values
        .results
        .report(diagnostic.label(decided.span, "declared here"));
    TaskWork::Failed
}

/// Refuses a step that the plan does not cover.
pub(crate) fn refuse(values: &mut Values<'_>, decided: &Decided, what: String) -> TaskWork {
    let why = if values.known.is_unplanned(&decided.address) {
        "planned from a forecast that came out differently"
    } else {
        "planned before all its values were known"
    };
    let diagnostic = codes::PROMISE_BROKEN
        .new(what)
        .label(decided.span, why)
        .help("make a new plan: what was done so far is recorded");
    values.results.report(diagnostic);
    TaskWork::Failed
}

/// The question to the provider to plan again with the complete spec, or, for a type that adopts,
/// to report the object that exists at the place of a resource before its create.
pub(crate) fn question(
    facts: &Facts,
    known: &RunValues,
    kind: TaskKind,
    decided: &Decided,
    mode: PlanMode,
    desired: Value,
) -> EvaluationQuestion {
    let prior = match mode {
        PlanMode::Update => Calls { facts, known }.prior_of_call(kind, decided, Verb::Update),
        _ => decided.prior.clone().filter(|record| !record.id.is_empty()),
    };
    let prior = prior.filter(|record| record.type_name == decided.type_name);
    let exists = prior.as_ref().filter(|_| mode == PlanMode::Update);
    let declared = decided
        .element
        .and_then(|(number, _)| known.evaluation.as_ref()?.documents.resource(number));
    let lifecycle = declared.map(|(.., resource)| &resource.lifecycle);
    let ignored = lifecycle.map(|lifecycle| lifecycle.ignore_changes.clone());
    let replacing = lifecycle.map(|lifecycle| lifecycle.replace_on_changes.clone());
    EvaluationQuestion::Plan(Box::new(PlanAgain {
        address: decided.address.clone(),
        type_name: decided.type_name.clone(),
        mode,
        id: exists.map(|record| record.id.clone()),
        prior_inputs: prior
            .as_ref()
            .map_or(Value::Null, |record| record.inputs.clone()),
        prior: match exists {
            Some(_) if !decided.outputs.is_null() && !known.is_written(decided) => {
                decided.outputs.clone()
            }
            Some(record) => record.outputs.clone(),
            None => Value::Null,
        },
        schema_version: prior.as_ref().map_or(0, |record| record.schema_version),
        private: private_of_plan(&facts.plan, known, decided, mode, prior.as_deref()),
        unhealthy: exists
            .map(|record| record.unhealthy.clone())
            .unwrap_or_default(),
        desired,
        ignored: ignored.unwrap_or_default(),
        replacing: replacing.unwrap_or_default(),
        seed: facts.plan.answers.seed_of(&decided.address, mode),
        instance: known.instance_of(known.provider_ref(decided).as_ref()),
        site: known.site_of(decided),
    }))
}

/// The planning mode in which a provider that adopts reports the object at the place of a resource
/// before its create. `None` if the plan has asked already, because the spec was known, or if this
/// run has asked.
pub(crate) fn mode_before_create(known: &RunValues, decided: &Decided) -> Option<PlanMode> {
    let adopts = decided
        .ty
        .as_ref()
        .is_some_and(|ty| ty.capabilities.adopts && ty.capabilities.plans != Plans::Always);
    if !adopts || !decided.desired.has_unknown() || known.replanned(&decided.address).is_some() {
        return None;
    }
    Some(if decided.action == Action::Replace {
        PlanMode::Replace
    } else {
        PlanMode::Create
    })
}
