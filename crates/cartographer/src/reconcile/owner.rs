//! The reconcile of a Workload or a Deliverable.

use std::collections::BTreeSet;
use std::sync::Arc;

use blueprint::{Name, Value};

use crate::conditions::{ConditionCollector, StatusCondition, TRUE, conditions_of, find_condition};
use crate::health::owner_health;
use crate::inputs::{ResourceInputs, ResourceOutputs};
use crate::kinds::CartoKind;
use crate::stamp::YttTemplates;

use super::failure::{Failure, RESOURCE_SUBMITTED, refusal_of, sooner};
use super::options::ReconcileOptions;
use super::orphans::{Accounted, ORPHANS_DELETED, OrphanTask};
use super::outbox::Outbox;
use super::owner_blueprint::{account_of, readiness, selected};
use super::owner_context::OwnerContext;
use super::owner_status::{
    OwnerWords, changed_status, in_order, previous_conditions, with_time, with_uncounted,
};
use super::parts::{items, name, part, text};
use super::realized::{Realized, WrittenObject};
use super::requests::{
    Call, ClusterAnswer, Identity, OwnerEvent, Platform, ReconcileOutcome, RequestId, Retry,
    Watches,
};
use super::resource::ResourceTask;

/// The type of the condition of an owner about its resources.
const RESOURCES_SUBMITTED: &str = "ResourcesSubmitted";

/// An owner that is reconciled.
pub(super) struct OwnerTask {
    context: OwnerContext,
    words: &'static OwnerWords,
    resources: Vec<ResourceTask>,
    outbox: Outbox,
    watches: Watches,
    stage: OwnerStage,
}

enum OwnerStage {
    Account(RequestId),
    Resources,
    Orphans(OrphanTask),
    Done(ReconcileOutcome),
}

impl OwnerTask {
    /// Selects the blueprint, and asks for the account.
    pub(super) fn start(
        owner: Arc<Value>,
        kind: CartoKind,
        platform: &dyn Platform,
        ytt: Arc<dyn YttTemplates + Send + Sync>,
        options: &ReconcileOptions,
    ) -> OwnerTask {
        let words = OwnerWords::of(kind);
        let mut watches = Watches::default();
        let selected = selected(&owner, kind, platform, options, &mut watches);
        let blueprint = match &selected {
            Ok(blueprint) => blueprint.clone(),
            Err(_) => Arc::new(Value::Null),
        };
        let context = OwnerContext {
            owner,
            blueprint,
            ytt,
            compat: options.compat,
            now: options.now.clone(),
        };
        let unready = match selected {
            Ok(_) => readiness(&context.blueprint, words).err(),
            Err(unready) => Some(unready),
        };
        let account = account_of(&context.owner, &context.blueprint);
        let mut task = OwnerTask {
            resources: Vec::new(),
            outbox: Outbox::new(Identity::Account(account.clone())),
            words,
            watches,
            stage: OwnerStage::Resources,
            context,
        };
        task.watch_old_kinds();
        match unready {
            Some(unready) => {
                let condition = StatusCondition::new(
                    words.ready,
                    unready.status,
                    &unready.reason,
                    &unready.message,
                );
                task.end_early(vec![condition], Retry::No);
            }
            None => {
                task.resources = resources_of(&task.context, platform);
                let templates = task.resources.iter();
                let templates = templates.flat_map(|resource| resource.templates.iter().cloned());
                task.watches.platform.extend(templates);
                task.watches.account = Some(account.clone());
                let open = task.outbox.ask_as_controller(Call::Account(account));
                task.stage = OwnerStage::Account(open);
            }
        }
        task
    }

    /// The requests that were not handed out before.
    pub(super) fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// The end, once it is reached.
    pub(super) fn outcome(&self) -> Option<&ReconcileOutcome> {
        match &self.stage {
            OwnerStage::Done(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Takes an answer; one that nobody asked for changes nothing.
    pub(super) fn answer(&mut self, id: RequestId, answer: ClusterAnswer) {
        match &mut self.stage {
            OwnerStage::Account(open) if *open == id => self.has_account(answer),
            OwnerStage::Resources => {
                let mut answer = Some(answer);
                for resource in &mut self.resources {
                    let Some(open) = answer.take() else { break };
                    answer = resource.answer(&self.context, id, open, &mut self.outbox);
                }
                self.advance();
            }
            OwnerStage::Orphans(task) => {
                task.answer(id, answer, &mut self.outbox);
                self.end_if_clean();
            }
            OwnerStage::Account(_) | OwnerStage::Done(_) => {}
        }
    }

    fn has_account(&mut self, answer: ClusterAnswer) {
        let account = account_of(&self.context.owner, &self.context.blueprint);
        let shown = format!("`{}` in `{}`", account.name, account.namespace);
        let failure = match answer {
            ClusterAnswer::Done => {
                self.stage = OwnerStage::Resources;
                self.advance();
                return;
            }
            ClusterAnswer::Missing => Failure::lasting(
                "ServiceAccountError",
                format!("there is no service account {shown}"),
            ),
            other => Failure::passing(
                "ServiceAccountTokenError",
                &format!("there is no token for the service account {shown}"),
                &refusal_of(other),
            ),
        };
        let conditions = vec![
            self.blueprint_ready(),
            failure.condition(RESOURCES_SUBMITTED),
        ];
        self.end_early(conditions, failure.retry);
    }

    fn blueprint_ready(&self) -> StatusCondition {
        StatusCondition::new(self.words.ready, TRUE, "Ready", "")
    }

    /// Starts every resource whose inputs are decided. Once all are done, looks for orphans.
    fn advance(&mut self) {
        loop {
            let is_decided = |at: &usize| {
                let resource: Option<&ResourceTask> = self.resources.get(*at);
                resource.is_none_or(|resource| resource.realized().is_some())
            };
            let startable = self.resources.iter().position(|resource| {
                resource.is_waiting() && resource.producers.iter().all(is_decided)
            });
            let Some(at) = startable.or_else(|| self.stuck()) else {
                break;
            };
            let inputs = self.inputs_of(at);
            let resources = self.resources.iter();
            let taken: Vec<(WrittenObject, Name)> = resources
                .filter_map(|resource| Some((resource.object()?, resource.name.clone())))
                .collect();
            let is_startable = startable.is_some();
            if let Some(resource) = self.resources.get_mut(at) {
                match is_startable {
                    true => resource.begin(&self.context, inputs, &taken, &mut self.outbox),
                    false => resource.end_in_cycle(&self.context),
                }
            }
        }
        if self.realized().count() == self.resources.len() {
            let mut accounted = Accounted::default();
            for realized in self.realized() {
                accounted.add(&realized.status.entry, realized.is_series);
            }
            let task = OrphanTask::start(&self.context.owner, accounted, &mut self.outbox);
            self.stage = OwnerStage::Orphans(task);
            self.end_if_clean();
        }
    }

    fn realized(&self) -> impl Iterator<Item = &Realized> {
        self.resources.iter().filter_map(ResourceTask::realized)
    }

    /// A resource that waits for its own output, if nothing else can go on.
    fn stuck(&self) -> Option<usize> {
        let is_running =
            |resource: &ResourceTask| !resource.is_waiting() && resource.realized().is_none();
        if self.resources.iter().any(is_running) {
            return None;
        }
        let mut waiting = (0..self.resources.len()).filter(|at| {
            let resource = self.resources.get(*at);
            resource.is_some_and(ResourceTask::is_waiting)
        });
        waiting.find(|at| self.needs(*at).contains(at))
    }

    /// Everything that a resource needs, directly or not.
    fn needs(&self, at: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            let producers = self.resources.get(at).map(|resource| &resource.producers);
            for producer in producers.into_iter().flatten() {
                if found.insert(*producer) {
                    open.push(*producer);
                }
            }
        }
        found
    }

    fn inputs_of(&self, at: usize) -> ResourceInputs {
        let Some(resource) = self.resources.get(at) else {
            return ResourceInputs::default();
        };
        let producers = resource.producers.iter();
        let outputs: ResourceOutputs = producers
            .filter_map(|producer| {
                let producer = self.resources.get(*producer)?;
                let output = producer.realized()?.output.clone()?;
                Some((producer.name.clone(), output))
            })
            .collect();
        ResourceInputs::of(&resource.entry, &outputs)
    }

    fn end_if_clean(&mut self) {
        let OwnerStage::Orphans(orphans) = &self.stage else {
            return;
        };
        if !orphans.is_done() {
            return;
        }
        let outcome = self.outcome_after(orphans);
        self.stage = OwnerStage::Done(outcome);
    }

    fn outcome_after(&self, orphans: &OrphanTask) -> ReconcileOutcome {
        let now = self.context.now.as_str();
        let owner = &self.context.owner;
        let previous = previous_conditions(owner);
        let entries: Vec<&Value> = self
            .realized()
            .map(|realized| &realized.status.entry)
            .collect();
        let resources = in_order(owner, &entries);
        let mut collector = ConditionCollector::new("Ready", previous.clone(), now);
        collector.add(self.blueprint_ready());
        collector.add(submitted(&entries));
        collector.add(owner_health(&resources, &previous, now));
        let left = orphans.condition();
        let mut retry = match left {
            Some(_) => Retry::Backoff,
            None => Retry::No,
        };
        let left = left.map(|left| with_time(left, &previous, now));
        let conditions = with_uncounted(collector.finish(), left);
        let mut events: Vec<OwnerEvent> = Vec::new();
        let mut watches = self.watches.clone();
        for realized in self.realized() {
            retry = sooner(retry, realized.retry);
            events.extend(realized.events.iter().cloned());
            if let Some(kind) = &realized.kind {
                watch(&mut watches.stamped, kind.clone());
            }
        }
        events.extend(orphans.events.iter().cloned());
        let list = match resources.is_empty() {
            true => Value::Null,
            false => Value::list(resources),
        };
        let fields = vec![self.reference(), ("resources", list)];
        ReconcileOutcome {
            status: changed_status(owner, &conditions, fields),
            events,
            retry,
            watches,
        }
    }

    /// Ends without a look at resources: those of the status stay.
    fn end_early(&mut self, conditions: Vec<StatusCondition>, retry: Retry) {
        let owner = &self.context.owner;
        let previous = previous_conditions(owner);
        let left = find_condition(&previous, ORPHANS_DELETED).cloned();
        let mut collector = ConditionCollector::new("Ready", previous, &self.context.now);
        for condition in conditions {
            collector.add(condition);
        }
        let conditions = with_uncounted(collector.finish(), left);
        self.stage = OwnerStage::Done(ReconcileOutcome {
            status: changed_status(owner, &conditions, vec![self.reference()]),
            events: Vec::new(),
            retry,
            watches: self.watches.clone(),
        });
    }

    /// The reference to the blueprint: without one, that which the status has.
    fn reference(&self) -> (&'static str, Value) {
        let blueprint = &self.context.blueprint;
        let value = match blueprint.is_null() {
            true => match part(&self.context.owner, &["status", self.words.reference]) {
                Value::Null => Value::map::<&str>([]),
                before => before.clone(),
            },
            false => Value::map([
                ("kind", part(blueprint, &["kind"]).clone()),
                ("name", part(blueprint, &["metadata", "name"]).clone()),
            ]),
        };
        (self.words.reference, value)
    }

    fn watch_old_kinds(&mut self) {
        for entry in items(&self.context.owner, &["status", "resources"]) {
            let object = part(entry, &["stampedRef"]);
            if !object.is_null() {
                let kind = (name(object, &["apiVersion"]), name(object, &["kind"]));
                watch(&mut self.watches.stamped, kind);
            }
        }
    }
}

fn watch(kinds: &mut Vec<(Name, Name)>, kind: (Name, Name)) {
    if !kinds.contains(&kind) {
        kinds.push(kind);
    }
}

/// The resources of a blueprint with the positions of their inputs.
fn resources_of(context: &OwnerContext, platform: &dyn Platform) -> Vec<ResourceTask> {
    let entries = items(&context.blueprint, &["spec", "resources"]);
    let position = |producer: &str| {
        let mut entries = entries.iter();
        entries.position(|entry| text(entry, &["name"]) == producer)
    };
    let resources = entries.iter().enumerate().map(|(at, entry)| {
        let lists = ["sources", "images", "configs"];
        let references = lists.iter().flat_map(|list| items(entry, &[list]).iter());
        let references = references.chain(entry.get("deployment"));
        let mut producers: Vec<usize> = references
            .filter_map(|reference| position(text(reference, &["resource"])))
            // Upstream realizes resources in the order of the list, so that an output of a later one
            // never arrives.
            .filter(|producer| !context.compat.is_upstream() || *producer < at)
            .collect();
        producers.sort_unstable();
        producers.dedup();
        ResourceTask::new(&context.owner, entry, producers, platform, context.compat)
    });
    resources.collect()
}

/// The condition about all resources: that of the first one that is not submitted.
fn submitted(entries: &[&Value]) -> StatusCondition {
    for entry in entries {
        let conditions = conditions_of(part(entry, &["conditions"]));
        let condition = find_condition(&conditions, RESOURCE_SUBMITTED);
        if let Some(condition) = condition.filter(|condition| *condition.status != *TRUE) {
            let resource = text(entry, &["name"]);
            return StatusCondition::new(
                RESOURCES_SUBMITTED,
                &condition.status,
                &condition.reason,
                &format!("`{resource}`: {}", condition.message),
            );
        }
    }
    StatusCondition::new(RESOURCES_SUBMITTED, TRUE, "ResourceSubmissionComplete", "")
}
