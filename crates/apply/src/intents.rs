//! Intents, which are recorded before their calls, and the calls.
//!
//! Not here: which call is made (`start`), how its answer is handled (`answer`).

use std::sync::Arc;
use std::time::Duration;

use blueprint::{Address, Name, Value, parse_duration};
use provider::{Operation as Verb, Verdict};
use state::{EntryKind, Intent, ProviderRef, Record, StatusOp};

use crate::journal::Durable;
use crate::machine::Apply;
use crate::model::{CallRequest, Effect};
use crate::schedule::Progress;
use crate::timers::Wake;
use evaluate::event::Event;
use evaluate::question::ProviderInstance;
use plan::linked::Linked;
use plan::model::Action;
use plan::task::{Decided, TaskKind};

impl Apply {
    /// Records an intent. The call follows once the intent is durable.
    pub(crate) fn intend(&mut self, task: u32, kind: TaskKind, decided: &Arc<Decided>, verb: Verb, desired: Value) {
        let prior = self.prior_of_call(kind, decided, verb);
        let intent = self.intent_of(task, kind, decided, verb, prior.as_deref(), desired);
        let outputs = match &prior {
            Some(record) if self.written_in_this_run(decided) => record.outputs.clone(),
            Some(_) if verb == Verb::Update && !decided.outputs.is_null() => decided.outputs.clone(),
            Some(record) => record.outputs.clone(),
            None => Value::Null,
        };
        let opinion = self.opinion_of(decided).filter(|_| verb != Verb::Delete);
        // A call that is made although the provider finds no difference has no planned outputs.
        let calls = opinion.filter(|opinion| opinion.verdict != Verdict::Same);
        let planned = calls.and_then(|opinion| opinion.outputs.clone()).unwrap_or_default();
        let inexact = opinion.is_some_and(|opinion| opinion.inexact);
        let said = match kind {
            TaskKind::Delete | TaskKind::DeleteOld(0) => self.plan.answers.deletes.get(&decided.address),
            _ => opinion.map(|opinion| &opinion.private),
        };
        let said = said.filter(|private| !private.is_null()).cloned();
        let private = match &prior {
            _ if said.is_some() => said.unwrap_or_default(),
            Some(_) if verb == Verb::Update && !decided.private.is_null() => decided.private.clone(),
            Some(record) => record.private.clone(),
            None => intent.private.clone(),
        };
        self.schedule.running[task as usize].request = Some(Box::new(CallRequest {
            address: decided.address.clone(),
            type_name: intent.type_name.clone(),
            operation: verb,
            id: prior.as_ref().map(|record| record.id.clone()),
            prior_inputs: prior.as_ref().map_or(Value::Null, |record| record.inputs.clone()),
            prior: outputs,
            desired: intent.inputs.clone(),
            schema_version: prior.as_ref().map_or(0, |record| record.schema_version),
            planned,
            inexact,
            private,
            sources: match verb {
                Verb::Delete => Vec::new(),
                _ => self.sources_of(&decided.address),
            },
            token: intent.token.clone(),
            folder: intent.folder.clone(),
            provider: self.instance_of(intent.provider.as_ref()),
            limit: None,
        }));
        self.schedule.running[task as usize].progress = Progress::Intending;
        self.limits.occupy(&self.plan.tasks[task as usize]);
        let step = self.step_of(task);
        self.journal.record(step, EntryKind::Intent(Arc::new(intent)), Durable::Intent(task));
    }

    /// The step number of a task in the journal: 1-based, 0 for a task that belongs to no step.
    pub(crate) fn step_of(&self, task: u32) -> u32 {
        self.plan.tasks[task as usize].step.map_or(0, |step| step + 1)
    }

    /// The record that a call starts from; `None` for a create.
    pub(crate) fn prior_of_call(&self, kind: TaskKind, decided: &Decided, verb: Verb) -> Option<Arc<Record>> {
        if verb == Verb::Create {
            return None;
        }
        match kind {
            TaskKind::DeleteOld(old) => decided.old_object(old).map(|old| Arc::new(old.clone())),
            // The current record: this run may have created the resource or changed it through a link.
            TaskKind::Update | TaskKind::TakeBack => self.snapshot.records.get(&decided.address).cloned(),
            _ => decided.prior.clone(),
        }
    }

    /// The intent of a call.
    pub(crate) fn intent_of(
        &self,
        task: u32,
        kind: TaskKind,
        decided: &Decided,
        verb: Verb,
        prior: Option<&Record>,
        inputs: Value,
    ) -> Intent {
        let token = match verb {
            Verb::Create => self.token_of_create(decided),
            _ => format!("{}-{task}", self.operation.id).into(),
        };
        let deposed = match kind {
            TaskKind::DeleteOld(0) => decided.replace_order == blueprint::ReplaceOrder::CreateFirst,
            TaskKind::DeleteOld(_) => true,
            _ => false,
        };
        Intent {
            address: decided.address.clone(),
            op: match verb {
                Verb::Create => StatusOp::Create,
                Verb::Update => StatusOp::Update,
                Verb::Delete => StatusOp::Delete,
            },
            deposed,
            id: prior.map_or("".into(), |record| record.id.clone()),
            hides_id: prior.is_some_and(Record::hides_id),
            retain: decided.retain,
            protect: decided.protect,
            token,
            type_name: prior.filter(|_| verb == Verb::Delete).map_or(&decided.type_name, |old| &old.type_name).clone(),
            inputs,
            private: match verb {
                Verb::Create => self.planned_private_data(&decided.address),
                _ => Value::Null,
            },
            folder: match prior {
                Some(prior) if verb == Verb::Delete => prior.origin.folder.clone(),
                _ => self.folder_of(decided),
            },
            dependencies: decided.dependencies.clone(),
            provider: match prior {
                Some(prior) if verb == Verb::Delete => prior.provider.clone(),
                _ => self.provider_ref(decided),
            },
        }
    }

    /// The declared configuration of a resource's provider; none for the configuration file's.
    pub(crate) fn provider_ref(&self, decided: &Decided) -> Option<ProviderRef> {
        match &decided.provider {
            Some(instance) => {
                let id = self.snapshot.records.get(&instance.address).map(|record| record.id.clone());
                Some(ProviderRef { address: instance.address.clone(), id: id.unwrap_or_default() })
            }
            // Without a declaration it stays as recorded.
            None if decided.element.is_none() => decided.prior.as_ref()?.provider.clone(),
            None => None,
        }
    }

    /// A configuration of a provider as it is now. It is recorded before anything that it manages is called.
    pub(crate) fn instance_of(&self, of: Option<&ProviderRef>) -> Option<ProviderInstance> {
        ProviderInstance::recorded(of?, &self.snapshot)
    }

    /// The digests that the sources of a resource had at plan time. Sources that this plan may have changed since are
    /// left out.
    pub(crate) fn sources_of(&self, address: &Address) -> Vec<(Name, Value)> {
        let kept = self.plan.answers.preflights.get(address).filter(|kept| !kept.follows);
        let sources = kept.iter().flat_map(|kept| &kept.sources);
        sources.filter_map(|source| Some((source.field.clone(), source.digest.clone()?))).collect()
    }

    /// The private data that the provider returned before the create.
    pub(crate) fn planned_private_data(&self, address: &Address) -> Value {
        let answers = self.evaluation.as_ref().map_or(&self.plan.answers, |evaluation| &evaluation.answers);
        let opinion = answers.opinions.get(address);
        opinion.map_or(Value::Null, |opinion| opinion.private.clone())
    }

    /// The folder of the document that declares a resource, relative to the folder of the root document.
    pub(crate) fn folder_of(&self, decided: &Decided) -> Name {
        let declared = decided.element.zip(self.evaluation.as_ref()).and_then(|((number, _), evaluation)| {
            let (unit, ..) = evaluation.documents.resource(number)?;
            Some(evaluation.documents.folder_seen_from_root(unit))
        });
        let recorded = || decided.prior.as_ref().map(|record| record.origin.folder.clone());
        declared.or_else(recorded).unwrap_or_default()
    }

    /// The idempotency token of a create.
    ///
    /// It is the same when the same plan is made again because a run was interrupted or its last commits were lost, so
    /// a provider that honours it creates nothing twice. The id of the previous resource at the address and the last
    /// generation make the tokens of successive creates differ.
    pub(crate) fn token_of_create(&self, decided: &Decided) -> Name {
        let of_record = |record: &Record| Some(record.id.clone()).filter(|id| !id.is_empty());
        let before = decided.prior.as_deref().and_then(of_record);
        let before =
            before.or_else(|| self.snapshot.records.get(&decided.address).and_then(|record| of_record(record)));
        let before = before.or_else(|| self.snapshot.deleted.get(&decided.address).cloned()).unwrap_or_default();
        let instance = if self.snapshot.uid.is_empty() { &self.operation.id } else { &self.snapshot.uid };
        let generation = self.snapshot.generation.0;
        let whole =
            evaluate::answers::digest(format!("{instance}\0{generation}\0{}\0{before}", decided.address).as_bytes());
        whole.get(..32).unwrap_or(&whole).into()
    }

    /// The time limit of a task's call; `None` without a limit.
    pub(crate) fn limit(&self, decided: &Decided, verb: Verb) -> Option<std::time::Duration> {
        // A write of a link is an update of its target.
        let element = match decided.linked.as_deref() {
            Some(Linked::Write(write)) => write.member,
            _ => decided.element,
        };
        let declared = element.and_then(|(number, _)| {
            let (_, _, resource) = self.evaluation.as_ref()?.documents.resource(number)?;
            Some(resource.lifecycle.timeouts)
        });
        match (verb, declared) {
            (Verb::Create, Some(limits)) => limits.create,
            (Verb::Update, Some(limits)) => limits.update,
            (Verb::Delete, Some(limits)) => limits.delete,
            (Verb::Delete, None) => decided.prior.as_deref().and_then(delete_timeout),
            (_, None) => None,
        }
    }

    pub(crate) fn call(&mut self, task: u32, effects: &mut Vec<Effect>) {
        let Some(request) = self.schedule.running[task as usize].request.clone() else { return };
        if self.schedule.running[task as usize].tries == 0
            && let Some(decided) = self.plan.tasks[task as usize].decision.clone()
            && let Some(limit) = self.limit(&decided, request.operation)
        {
            self.schedule.running[task as usize].limit = Some(limit);
            self.timers.wake(Wake::Deadline(task), limit, effects);
        }
        self.schedule.running[task as usize].progress = Progress::Calling;
        self.schedule.running[task as usize].called_at =
            self.schedule.running[task as usize].called_at.or_else(|| self.timers.millis());
        self.limits.called();
        let spent = self.timers.millis().zip(self.schedule.running[task as usize].called_at);
        let spent = spent.map_or(0, |(now, then)| u64::from(now.saturating_sub(then)));
        let limit = self.schedule.running[task as usize].limit;
        let limit = limit.map(|limit| limit.saturating_sub(std::time::Duration::from_millis(spent)));
        if self.schedule.running[task as usize].tries == 0 {
            let decided = self.plan.tasks[task as usize].decision.as_ref();
            let started = Event::Started {
                address: decided.map_or(&request.address, |decided| &decided.address).clone(),
                operation: request.operation,
                replacing: self.is_replacing(task),
            };
            effects.push(Effect::Tell(started));
        }
        effects.push(Effect::Call(task, CallRequest { limit, ..*request }));
    }

    pub(super) fn is_replacing(&self, task: u32) -> bool {
        let task = &self.plan.tasks[task as usize];
        task.decision.as_ref().is_some_and(|decided| decided.action == Action::Replace)
    }
}

/// The time limit of the deletion, by the annotation that the record stores of its resource. For a record that the
/// documents no longer declare.
fn delete_timeout(record: &Record) -> Option<Duration> {
    let limit = record.metadata.get("annotations")?.get("cyan.timeout.delete")?;
    parse_duration(limit.as_text()?).ok()
}
