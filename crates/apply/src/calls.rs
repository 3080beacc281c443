//! Builds intents and the calls that follow them.
//!
//! Not here: the choice of the call (`decide`), making the call (`calling`).

use std::sync::Arc;
use std::time::Duration;

use blueprint::{Address, DeleteMode, Name, Value, parse_duration};
use plan::linked::Linked;
use plan::task::{Decided, TaskKind};
use provider::{Operation as Verb, Verdict};
use state::{Intent, Record, StatusOp};

use crate::facts::Facts;
use crate::model::CallRequest;
use crate::run_values::{RunValues, judges_replacement, provider_decides};

/// Builds calls from the values that the run knows.
pub(crate) struct Calls<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) known: &'a RunValues,
}

impl Calls<'_> {
    /// Returns the intent of a call, and the call.
    pub(crate) fn call(
        &self,
        task: u32,
        kind: TaskKind,
        decided: &Decided,
        verb: Verb,
        desired: Value,
    ) -> (Intent, CallRequest) {
        let prior = self.prior_of_call(kind, decided, verb);
        let intent = self.intent_of(task, kind, decided, verb, prior.as_deref(), desired);
        // Whether the call starts from the object as the plan read it; false if a link write of
        // this run has changed the object since.
        let is_as_planned = match kind {
            TaskKind::Delete | TaskKind::DeleteOld(0) | TaskKind::DeleteIfAbsent => true,
            _ => verb == Verb::Update,
        };
        let is_as_planned = is_as_planned && !self.known.is_written(decided);
        let outputs = match &prior {
            Some(_) if is_as_planned && !decided.outputs.is_null() => decided.outputs.clone(),
            Some(record) => record.outputs.clone(),
            None => Value::Null,
        };
        let opinion = self
            .known
            .opinion_of(&self.facts.plan, decided)
            .filter(|_| verb != Verb::Delete);
        // A call for which the provider found no difference has no planned outputs.
        let calls = opinion.filter(|opinion| opinion.verdict != Verdict::Same);
        let planned = calls
            .and_then(|opinion| opinion.outputs.clone())
            .unwrap_or_default();
        let inexact = opinion.is_some_and(|opinion| opinion.inexact);
        let planned_private = match kind {
            TaskKind::Delete | TaskKind::DeleteOld(0) => {
                self.facts.plan.answers.deletes.get(&decided.address)
            }
            _ if verb != Verb::Update => None,
            _ => opinion
                .map(|opinion| &opinion.private)
                .or(Some(&decided.planned_private)),
        };
        let planned_private = planned_private
            .filter(|private| !private.is_null())
            .cloned();
        let private = match &prior {
            _ if planned_private.is_some() => planned_private.unwrap_or_default(),
            Some(_) if is_as_planned && !decided.private.is_null() => decided.private.clone(),
            Some(record) => record.private.clone(),
            None => intent.private.clone(),
        };
        let request = CallRequest {
            address: decided.address.clone(),
            type_name: intent.type_name.clone(),
            operation: verb,
            id: prior.as_ref().map(|record| record.id.clone()),
            prior_inputs: prior
                .as_ref()
                .map_or(Value::Null, |record| record.inputs.clone()),
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
            metadata: match verb {
                Verb::Delete => Value::Null,
                _ => self.known.metadata_of(decided),
            },
            delete_mode: prior
                .as_deref()
                .filter(|_| verb == Verb::Delete)
                .map(Record::effective_delete_mode)
                .unwrap_or_default(),
            token: intent.token.clone(),
            site: intent.site().owned(),
            provider: self.known.instance_of(intent.provider.as_ref()),
            limit: None,
        };
        (intent, request)
    }

    /// The record that a call starts from; `None` for a create.
    pub(crate) fn prior_of_call(
        &self,
        kind: TaskKind,
        decided: &Decided,
        verb: Verb,
    ) -> Option<Arc<Record>> {
        if verb == Verb::Create {
            return None;
        }
        match kind {
            TaskKind::DeleteOld(old) => decided.old_object(old).map(|old| Arc::new(old.clone())),
            // The current record: this run may have created the resource or changed it through a
            // link.
            TaskKind::Update | TaskKind::DeleteTemporary => {
                self.known.record(&decided.address).cloned()
            }
            _ => decided.prior.clone(),
        }
    }

    /// The intent of a call.
    fn intent_of(
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
            _ => self.facts.token_of(task),
        };
        let deposed = match kind {
            TaskKind::DeleteOld(0) => decided.replace_order == blueprint::ReplaceOrder::CreateFirst,
            TaskKind::DeleteOld(_) => true,
            _ => false,
        };
        let site = match prior {
            Some(prior) if verb == Verb::Delete => prior.origin.site().owned(),
            _ => self.known.site_of(decided),
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
            delete_mode: decided.delete_mode,
            token,
            type_name: prior
                .filter(|_| verb == Verb::Delete)
                .map_or(&decided.type_name, |old| &old.type_name)
                .clone(),
            inputs,
            private: match verb {
                Verb::Create => self.planned_private_data(decided),
                _ => Value::Null,
            },
            folder: site.folder,
            urn: site.urn,
            dependencies: decided.dependencies.clone(),
            provider: match prior {
                Some(prior) if verb == Verb::Delete => prior.provider.clone(),
                _ => self.known.provider_ref(decided),
            },
        }
    }

    /// The digests that the sources of a resource had at plan time. Empty if the plan may have
    /// changed the sources since.
    fn sources_of(&self, address: &Address) -> Vec<(Name, Value)> {
        let preflight = self
            .facts
            .plan
            .answers
            .preflights
            .get(address)
            .filter(|kept| !kept.follows);
        let sources = preflight.iter().flat_map(|kept| &kept.sources);
        sources
            .filter_map(|source| Some((source.field.clone(), source.digest.clone()?)))
            .collect()
    }

    /// The private data that the provider returned before the create.
    fn planned_private_data(&self, decided: &Decided) -> Value {
        // A provider that does not decide has planned the update which the replacement replaces.
        let is_about_old_object = !provider_decides(decided) && !decided.planned_private.is_null();
        if is_about_old_object || judges_replacement(decided) {
            return Value::Null;
        }
        let opinion = self
            .known
            .answers(&self.facts.plan)
            .opinions
            .get(&decided.address);
        opinion.map_or(Value::Null, |opinion| opinion.private.clone())
    }

    /// The idempotency token of a create.
    ///
    /// The token is the same when the same plan is made again because a run was interrupted or its
    /// last commits were lost, so a provider that supports it creates nothing twice. The id of the
    /// previous resource at the address and the last generation make the tokens of successive
    /// creates differ.
    fn token_of_create(&self, decided: &Decided) -> Name {
        let of_record = |record: &Record| Some(record.id.clone()).filter(|id| !id.is_empty());
        let before = decided.prior.as_deref().and_then(of_record);
        let before = before.or_else(|| {
            self.known
                .record(&decided.address)
                .and_then(|record| of_record(record))
        });
        let before = before
            .or_else(|| self.known.snapshot.deleted.get(&decided.address).cloned())
            .unwrap_or_default();
        let instance = if self.known.snapshot.uid.is_empty() {
            &self.facts.operation.id
        } else {
            &self.known.snapshot.uid
        };
        let generation = self.known.snapshot.generation.0;
        let whole = evaluate::answers::digest(
            format!("{instance}\0{generation}\0{}\0{before}", decided.address).as_bytes(),
        );
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
            let (_, _, resource) = self.known.evaluation.as_ref()?.documents.resource(number)?;
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

    /// The request for polling a resource that is not called in this run.
    pub(crate) fn poll(&self, task: u32, decided: &Decided, record: &Record) -> CallRequest {
        CallRequest {
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
            metadata: record.metadata.clone(),
            delete_mode: DeleteMode::Delete,
            token: self.facts.token_of(task),
            site: record.origin.site().owned(),
            provider: self.known.instance_of(record.provider.as_ref()),
            limit: None,
        }
    }
}

/// The time limit of the deletion of a resource that the documents no longer declare: the value of
/// the annotation `cyan.timeout.delete` in its record.
fn delete_timeout(record: &Record) -> Option<Duration> {
    let limit = record
        .metadata
        .get("annotations")?
        .get("cyan.timeout.delete")?;
    parse_duration(limit.as_text()?).ok()
}
