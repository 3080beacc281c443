//! Planning again, directly before a call, what a provider planned while values were unknown.
//!
//! The answer fills the gaps of the plan. It must keep what the plan promised: known planned values stay, and the
//! action is at most as harsh as the planned one. Otherwise the step fails.
//!
//! Not here: other calls (`start`), what the provider is asked while a plan is made (`plan`).

use blueprint::{Address, FieldPath, Value};
use evaluate::answers::Opinion;
use evaluate::evaluation_question::{EvaluationQuestion, PlanAgain, plan_key};
use plan::model::Action;
use plan::task::{Decided, TaskKind};
use provider::{Operation as Verb, PlanMode, Plans, Verdict};
use state::Record;
use understand::compare::contradiction;

use crate::codes;
use crate::machine::Apply;
use crate::model::Effect;
use crate::schedule::Progress;
use crate::start::Turn;

impl Apply {
    /// Whether the provider of a resource decides what differs.
    pub(crate) fn provider_decides(decided: &Decided) -> bool {
        decided.ty.as_ref().is_some_and(|ty| ty.capabilities.plans == Plans::Always)
    }

    /// The current opinion of a provider that decides: that of the plan, or of planning again.
    pub(crate) fn opinion_of(&self, decided: &Decided) -> Option<&Opinion> {
        if !Apply::provider_decides(decided) {
            return None;
        }
        // A plan without a document has no evaluation, and no values that become known.
        let answers = self.evaluation.as_ref().map_or(&self.plan.answers, |evaluation| &evaluation.answers);
        answers.opinions.get(&decided.address)
    }

    /// The work of a task whose provider decides. `desired` is the complete spec of the document.
    pub(crate) fn turn_by_provider(&mut self, kind: TaskKind, decided: &Decided, desired: Value) -> Turn {
        let replanned = self.results.replanned.get(&decided.address).copied();
        let was_open = decided.desired.has_unknown() || self.was_undecided(&decided.address);
        if was_open && replanned.is_none() {
            let mode = match decided.action {
                Action::Create => PlanMode::Create,
                Action::Replace if !decided.may_replace => PlanMode::Replace,
                _ => PlanMode::Update,
            };
            return Turn::PlanAgain(mode, desired);
        }
        let Some(opinion) = self.opinion_of(decided).cloned() else {
            return match replanned {
                Some(_) => self.not_planned(decided),
                None => Apply::turn_without_opinion(kind, desired),
            };
        };
        // A plan of the update that demands a replacement is followed by a plan of the new resource.
        let is_last = replanned != Some(PlanMode::Update) || !matches!(opinion.verdict, Verdict::Replace { .. });
        if replanned.is_some()
            && is_last
            && let Some(path) = self.broken_promise(decided, &opinion)
        {
            let what = format!("`{path}` of `{}` came out differently than planned", decided.address);
            return self.refuse_replanned(decided, what);
        }
        let inputs = opinion.inputs.clone().unwrap_or_else(|| desired.clone());
        if inputs.has_unknown() {
            return self.refuse_replanned(decided, format!("the spec of `{}` is still not complete", decided.address));
        }
        let verdict = replanned.map(|_| &opinion.verdict);
        let must_call = decided.insist;
        match (kind, verdict) {
            (_, Some(Verdict::Undecided { needs })) => {
                let what = format!("the provider still cannot decide about `{}`: {needs}", decided.address);
                self.refuse_replanned(decided, what)
            }
            (TaskKind::Record, None | Some(Verdict::Same | Verdict::ByCatalogue)) => Turn::Remember(inputs),
            (TaskKind::Record, Some(_)) => {
                self.refuse_replanned(decided, format!("`{}` must change after all", decided.address))
            }
            (TaskKind::Update, Some(Verdict::Replace { .. })) => {
                self.refuse_replanned(decided, format!("`{}` must be replaced after all", decided.address))
            }
            (TaskKind::Update, Some(Verdict::Same)) if !must_call => Turn::Remember(inputs),
            (TaskKind::Update, _) => Turn::Call(Verb::Update, inputs),
            (_, Some(Verdict::Same)) if decided.action == Action::Replace && decided.may_replace && !must_call => {
                Turn::Remember(inputs)
            }
            (_, Some(Verdict::Same | Verdict::Update | Verdict::ByCatalogue))
                if decided.action == Action::Replace && decided.may_replace && replanned == Some(PlanMode::Update) =>
            {
                Turn::Call(Verb::Update, inputs)
            }
            (_, Some(Verdict::Replace { .. })) if replanned == Some(PlanMode::Update) => {
                Turn::PlanAgain(PlanMode::Replace, desired)
            }
            _ => Turn::Call(Verb::Create, inputs),
        }
    }

    /// Whether the old resource of a replacement that may be unnecessary is deleted. `None` if the provider must plan
    /// again first.
    pub(crate) fn is_replaced_by_provider(&self, decided: &Decided) -> Option<bool> {
        self.results.replanned.get(&decided.address)?;
        let verdict = self.opinion_of(decided).map(|opinion| &opinion.verdict);
        // After planning the new resource the verdict is about that one.
        let plans_new = self.results.replanned.get(&decided.address) == Some(&PlanMode::Replace);
        Some(plans_new || matches!(verdict, Some(Verdict::Replace { .. })))
    }

    /// Asks the provider to plan again with the complete spec, or, of a type that adopts, what exists at the place of a
    /// resource before its create.
    pub(crate) fn plan_again(
        &mut self,
        task: u32,
        decided: &Decided,
        mode: PlanMode,
        desired: Value,
        effects: &mut Vec<Effect>,
    ) {
        let kind = self.plan.tasks[task as usize].kind;
        self.schedule.running[task as usize].progress = Progress::Ready;
        let prior = match mode {
            PlanMode::Update => self.prior_of_call(kind, decided, Verb::Update),
            _ => decided.prior.clone().filter(|record| !record.id.is_empty()),
        };
        let prior = prior.filter(|record| record.type_name == decided.type_name);
        let exists = prior.as_ref().filter(|_| mode == PlanMode::Update);
        let declared = decided.element.and_then(|(number, _)| self.evaluation.as_ref()?.documents.resource(number));
        let ignored = declared.map(|(.., resource)| resource.lifecycle.ignore_changes.clone()).unwrap_or_default();
        let question = EvaluationQuestion::Plan(Box::new(PlanAgain {
            address: decided.address.clone(),
            type_name: decided.type_name.clone(),
            mode,
            id: exists.map(|record| record.id.clone()),
            prior_inputs: prior.as_ref().map_or(Value::Null, |record| record.inputs.clone()),
            prior: match exists {
                Some(_) if !decided.outputs.is_null() && !self.written_in_this_run(decided) => decided.outputs.clone(),
                Some(record) => record.outputs.clone(),
                None => Value::Null,
            },
            schema_version: prior.as_ref().map_or(0, |record| record.schema_version),
            private: self.private_of_plan(decided, mode, prior.as_deref()),
            unhealthy: exists.map(|record| record.unhealthy.clone()).unwrap_or_default(),
            desired,
            ignored,
            seed: self.plan.answers.seed_of(&decided.address, mode),
            instance: self.instance_of(self.provider_ref(decided).as_ref()),
            folder: self.folder_of(decided),
        }));
        let questions = vec![question];
        if self.limits.occupy_asking(task, &questions, &self.schedule.ranks) {
            if let Some(evaluation) = self.evaluation.as_mut().filter(|_| Apply::provider_decides(decided)) {
                // An answer that never comes leaves none.
                evaluation.answers.opinions.shift_remove(&decided.address);
            }
            self.results.replanned.insert(decided.address.clone(), mode);
            self.inquiries.pending.insert(questions[0].key(), Vec::new());
            self.put(task, questions, effects);
        }
    }

    /// The opaque data of a planning question: for the new resource of a replacement, what planning the update
    /// answered.
    fn private_of_plan(&self, decided: &Decided, mode: PlanMode, prior: Option<&Record>) -> Value {
        let recorded = || prior.map_or(Value::Null, |record| record.private.clone());
        if mode != PlanMode::Replace || prior.is_none() {
            return recorded();
        }
        let asked = self.results.replanned.get(&decided.address) == Some(&PlanMode::Update);
        let planned = self.opinion_of(decided).filter(|_| asked).map(|opinion| opinion.private.clone());
        let planned = planned.unwrap_or_else(|| decided.private.clone());
        if planned.is_null() { recorded() } else { planned }
    }

    /// A record without an opinion: the plan was made without asking, so the engine compares.
    fn turn_without_opinion(kind: TaskKind, desired: Value) -> Turn {
        match kind {
            TaskKind::Record => Turn::Remember(desired),
            TaskKind::Update => Turn::Call(Verb::Update, desired),
            _ => Turn::Call(Verb::Create, desired),
        }
    }

    fn was_undecided(&self, address: &Address) -> bool {
        let opinion = self.plan.answers.opinions.get(address);
        opinion.is_some_and(|opinion| matches!(opinion.verdict, Verdict::Undecided { .. }))
    }

    /// The first field whose known planned value is another one now.
    fn broken_promise(&self, decided: &Decided, now: &Opinion) -> Option<FieldPath> {
        let exact = decided.ty.as_ref().is_some_and(|ty| ty.capabilities.exact);
        let before = self.plan.answers.opinions.get(&decided.address);
        let before = before.filter(|before| exact && !before.inexact && !now.inexact)?;
        contradiction(before.outputs.as_ref()?, now.outputs.as_ref()?)
    }

    /// The provider has not answered when it was asked to plan again.
    fn not_planned(&mut self, decided: &Decided) -> Turn {
        let failure = self.evaluation.as_ref().and_then(|it| it.refused.get(plan_key(&decided.address).as_str()));
        let diagnostic = match failure {
            Some(failure) => {
                let diagnostic = failure.code.new(failure.message.clone());
                failure.notes.iter().fold(diagnostic, |diagnostic, note| diagnostic.note(note.clone()))
            }
            None => codes::PROVIDER_FAILED.new(format!("the provider has no plan for `{}`", decided.address)),
        };
        self.results.found.push(diagnostic.label(decided.span, "declared here"));
        Turn::Failed
    }

    fn refuse_replanned(&mut self, decided: &Decided, what: String) -> Turn {
        let diagnostic = codes::PROMISE_BROKEN
            .new(what)
            .label(decided.span, "planned before all its values were known")
            .help("make a new plan: what was done so far is recorded");
        self.results.found.push(diagnostic);
        Turn::Failed
    }
}
