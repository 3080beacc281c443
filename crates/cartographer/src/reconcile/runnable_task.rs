//! The reconcile of a Runnable.

use std::sync::Arc;

use blueprint::{Map, Name, Value};

use crate::compat::Compat;
use crate::conditions::{ConditionCollector, StatusCondition, TRUE, UNKNOWN, find_condition};
use crate::context::TemplateContext;
use crate::health::object_conditions;
use crate::kinds::CartoKind;
use crate::outputs::are_equal;
use crate::retention::RunLimits;
use crate::run_outputs::run_outputs;
use crate::stamp::{OwnerReference, StampRequest, YttTemplates, run_labels, stamp};

use super::failure::{Failure, refusal_of, sooner};
use super::options::ReconcileOptions;
use super::outbox::Outbox;
use super::owner_status::{changed_status, previous_conditions};
use super::parts::{label, name, part, shown, text};
use super::requests::{
    AccountName, Call, ClusterAnswer, Identity, OwnerEvent, Platform, ReconcileOutcome, RequestId,
    Retry, Watches,
};
use super::runs::{SeriesFailure, SeriesPlan, SeriesTask};

/// The type of the condition about the template and the object.
const RUN_TEMPLATE_READY: &str = "RunTemplateReady";

/// The type of the condition that shows how the newest run does.
const STAMPED_OBJECT: &str = "StampedObjectCondition";

/// A Runnable that is reconciled.
pub(super) struct RunnableTask {
    runnable: Arc<Value>,
    template: Option<Arc<Value>>,
    ytt: Arc<dyn YttTemplates + Send + Sync>,
    compat: Compat,
    now: String,
    outbox: Outbox,
    watches: Watches,
    stage: RunnableStage,
}

enum RunnableStage {
    Account(RequestId),
    Selecting(RequestId),
    Running(Box<SeriesTask>),
    Done(ReconcileOutcome),
}

impl RunnableTask {
    /// Asks for the account.
    pub(super) fn start(
        runnable: Arc<Value>,
        platform: &dyn Platform,
        ytt: Arc<dyn YttTemplates + Send + Sync>,
        options: &ReconcileOptions,
    ) -> RunnableTask {
        let account = account_of(&runnable);
        let mut outbox = Outbox::new(Identity::Account(account.clone()));
        let template = name(&runnable, &["spec", "runTemplateRef", "name"]);
        let kind = CartoKind::ClusterRunTemplate;
        let mut watches = Watches {
            platform: vec![(kind, template.clone())],
            account: Some(account.clone()),
            ..Watches::default()
        };
        if let Some(selector) = selector_of(&runnable) {
            watches.selected.push((selector.api_version, selector.kind));
        }
        let open = outbox.ask_as_controller(Call::Account(account));
        RunnableTask {
            template: platform.find(kind, &template),
            runnable,
            ytt,
            compat: options.compat,
            now: options.now.clone(),
            outbox,
            watches,
            stage: RunnableStage::Account(open),
        }
    }

    /// The requests that were not handed out before.
    pub(super) fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// The end, once it is reached.
    pub(super) fn outcome(&self) -> Option<&ReconcileOutcome> {
        match &self.stage {
            RunnableStage::Done(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Takes an answer; one that nobody asked for changes nothing.
    pub(super) fn answer(&mut self, id: RequestId, answer: ClusterAnswer) {
        match &mut self.stage {
            RunnableStage::Account(open) if *open == id => self.has_account(answer),
            RunnableStage::Selecting(open) if *open == id => self.has_selected(answer),
            RunnableStage::Running(task) => {
                task.answer(id, answer, &mut self.outbox);
                if task.is_done() {
                    self.has_run();
                }
            }
            RunnableStage::Account(_) | RunnableStage::Selecting(_) | RunnableStage::Done(_) => {}
        }
    }

    fn has_account(&mut self, answer: ClusterAnswer) {
        let account = account_of(&self.runnable);
        let failure = match answer {
            ClusterAnswer::Done => {
                self.select();
                return;
            }
            ClusterAnswer::Missing => Failure::lasting(
                "ServiceAccountError",
                format!("there is no service account `{}`", account.name),
            ),
            other => Failure::passing(
                "ServiceAccountTokenError",
                &format!(
                    "there is no token for the service account `{}`",
                    account.name
                ),
                &refusal_of(other),
            ),
        };
        self.end(
            vec![failure.condition(RUN_TEMPLATE_READY)],
            None,
            failure.retry,
        );
    }

    fn select(&mut self) {
        if self.template.is_none() {
            let template = text(&self.runnable, &["spec", "runTemplateRef", "name"]);
            let message = format!("there is no ClusterRunTemplate `{template}`");
            self.fail(&Failure::lasting("RunTemplateNotFound", message));
            return;
        }
        match selector_of(&self.runnable) {
            None => self.run(None),
            Some(selector) => {
                let namespace = name(&self.runnable, &["metadata", "namespace"]);
                let open = self.outbox.ask(Call::List {
                    api_version: selector.api_version,
                    kind: selector.kind,
                    namespace: Some(namespace).filter(|namespace| !namespace.is_empty()),
                    labels: selector.labels,
                });
                self.stage = RunnableStage::Selecting(open);
            }
        }
    }

    fn has_selected(&mut self, answer: ClusterAnswer) {
        let ClusterAnswer::List(found) = answer else {
            let what = "the selector cannot be resolved";
            let failure = Failure::of_object("TemplateStampFailure", what, &refusal_of(answer));
            self.fail(&failure);
            return;
        };
        match found.as_slice() {
            [one] => {
                let selected = one.object.clone();
                self.run(Some(&selected));
            }
            found => {
                let message = format!(
                    "the selector must find exactly one object, and finds {}",
                    found.len()
                );
                self.fail(&Failure::lasting("TemplateStampFailure", message));
            }
        }
    }

    /// Stamps the template, and starts the series.
    fn run(&mut self, selected: Option<&Value>) {
        let template = self.template.clone().unwrap_or_default();
        let template_name = text(&template, &["metadata", "name"]);
        let labels = run_labels(&self.runnable, template_name);
        let stamped = stamp(&StampRequest {
            template: &template,
            context: &TemplateContext::of_runnable(&self.runnable, selected),
            owner: &self.runnable,
            labels: &labels,
            owner_reference: OwnerReference::Written,
            compat: self.compat,
            ytt: self.ytt.as_ref(),
        });
        let stamped = match stamped {
            Ok(stamped) => stamped.object,
            Err(failures) => {
                let messages: Vec<String> = failures
                    .iter()
                    .map(|failure| match failure.path.0.is_empty() {
                        true => failure.message.clone(),
                        false => format!("`{}`: {}", failure.path, failure.message),
                    })
                    .collect();
                let message = messages.join("; ");
                self.fail(&Failure::lasting("TemplateStampFailure", message));
                return;
            }
        };
        if let Some(failure) = unfit(&stamped) {
            self.fail(&failure);
            return;
        }
        let kind = (name(&stamped, &["apiVersion"]), name(&stamped, &["kind"]));
        self.watches.stamped.push(kind);
        let own = part(&stamped, &["metadata", "labels"]).as_map();
        let mut series = own.cloned().unwrap_or_default();
        series.retain(|key, _| labels.contains_key(key));
        let plan = SeriesPlan {
            cause: self.cause(&template, selected),
            inputs: String::new(),
            labels: series,
            rule: Value::map([("singleConditionType", Value::from("Succeeded"))]),
            limits: RunLimits::of(part(&self.runnable, &["spec", "retentionPolicy"])),
            stamped,
        };
        match SeriesTask::start(plan, &mut self.outbox) {
            Some(task) => self.stage = RunnableStage::Running(Box::new(task)),
            None => {
                let message = "the stamped object cannot be expressed as JSON";
                self.fail(&Failure::lasting("TemplateStampFailure", message));
            }
        }
    }

    /// Everything that others decide about a run. What earlier runs gave is not of that: the status
    /// of the Runnable, and a run that its own selector finds.
    fn cause(&self, template: &Value, selected: Option<&Value>) -> Value {
        let runnable = |path: &[&str]| part(&self.runnable, path).clone();
        let own = text(&self.runnable, &["metadata", "name"]);
        let selected =
            selected.filter(|object| label(object, "carto.run/runnable-name") != Some(own));
        Value::map([
            ("spec", runnable(&["spec"])),
            ("labels", runnable(&["metadata", "labels"])),
            ("annotations", runnable(&["metadata", "annotations"])),
            ("template", part(template, &["spec"]).clone()),
            ("selected", selected.cloned().unwrap_or_default()),
        ])
    }

    fn has_run(&mut self) {
        let RunnableStage::Running(task) = &self.stage else {
            return;
        };
        let failure = task.failure.as_ref().map(series_failure);
        let template = self.template.clone().unwrap_or_default();
        let healthy = task.newest_healthy();
        let objects: Vec<&Value> = healthy.iter().map(|run| run.object.as_ref()).collect();
        let found = run_outputs(&template, &objects);
        let failure = failure.or_else(|| {
            let missing = found.failures.first()?;
            let message = format!(
                "the output `{}` at `{}`: {}",
                missing.name, missing.path, missing.failure
            );
            Some(Failure::lasting("OutputPathNotSatisfied", message))
        });
        // Without a run of the template, no object is looked at.
        let newest = task.newest().filter(|_| task.failure.is_none());
        let state = newest.and_then(|run| {
            let conditions = object_conditions(&run.object);
            find_condition(&conditions, "Succeeded").cloned()
        });
        let object = match &state {
            Some(state) => StatusCondition::new(
                STAMPED_OBJECT,
                &state.status,
                "SucceededCondition",
                &state.message,
            ),
            None => unknown_object(),
        };
        let mut events = task.events.clone();
        let outputs = match (&failure, found.from) {
            (None, Some(_)) => Some(found.outputs),
            _ => None,
        };
        if let (Some(outputs), Some(newest)) = (&outputs, newest)
            && self.has_news(outputs, &object)
        {
            events.push(OwnerEvent {
                reason: "ResourceOutputChanged",
                message: format!(
                    "Runnable [{}] found a new output in [{}]",
                    text(&self.runnable, &["metadata", "name"]),
                    shown(newest)
                ),
            });
        }
        let mut retry = match task.undeleted.is_empty() {
            true => Retry::No,
            false => Retry::Backoff,
        };
        let ready = match &failure {
            None => StatusCondition::new(RUN_TEMPLATE_READY, TRUE, "Ready", ""),
            Some(failure) => {
                retry = sooner(retry, failure.retry);
                failure.condition(RUN_TEMPLATE_READY)
            }
        };
        self.end(vec![ready, object], outputs, retry);
        if let RunnableStage::Done(outcome) = &mut self.stage {
            outcome.events = events;
        }
    }

    /// Whether the outputs are others, or a run has just given its own, of which there can be none.
    fn has_news(&self, outputs: &Value, object: &StatusCondition) -> bool {
        let before = match part(&self.runnable, &["status", "outputs"]) {
            Value::Null => Value::map::<&str>([]),
            before => before.clone(),
        };
        let conditions = previous_conditions(&self.runnable);
        let previous = find_condition(&conditions, STAMPED_OBJECT);
        let had_succeeded = previous.is_some_and(|previous| *previous.status == *TRUE);
        !are_equal(outputs, &before) || (*object.status == *TRUE && !had_succeeded)
    }

    fn fail(&mut self, failure: &Failure) {
        let conditions = vec![failure.condition(RUN_TEMPLATE_READY), unknown_object()];
        self.end(conditions, None, failure.retry);
    }

    /// Ends. Without new outputs, those of the status stay.
    fn end(&mut self, conditions: Vec<StatusCondition>, outputs: Option<Value>, retry: Retry) {
        let previous = previous_conditions(&self.runnable);
        let mut collector = ConditionCollector::new("Ready", previous, &self.now);
        for condition in conditions {
            collector.add(condition);
        }
        let conditions = collector.finish().conditions;
        let is_empty = |outputs: &Value| outputs.as_map().is_none_or(|entries| entries.is_empty());
        let fields = match outputs {
            Some(outputs) if is_empty(&outputs) => vec![("outputs", Value::Null)],
            Some(outputs) => vec![("outputs", outputs)],
            None => Vec::new(),
        };
        self.stage = RunnableStage::Done(ReconcileOutcome {
            status: changed_status(&self.runnable, &conditions, fields),
            events: Vec::new(),
            retry,
            watches: self.watches.clone(),
        });
    }
}

fn unknown_object() -> StatusCondition {
    StatusCondition::new(STAMPED_OBJECT, UNKNOWN, "Unknown", "")
}

fn account_of(runnable: &Value) -> AccountName {
    let own = name(runnable, &["spec", "serviceAccountName"]);
    AccountName {
        namespace: name(runnable, &["metadata", "namespace"]),
        name: match own.is_empty() {
            true => "default".into(),
            false => own,
        },
    }
}

/// What a Runnable selects.
struct RunSelector {
    api_version: Name,
    kind: Name,
    labels: Map,
}

fn selector_of(runnable: &Value) -> Option<RunSelector> {
    let selector = part(runnable, &["spec", "selector"]);
    if selector.is_null() {
        return None;
    }
    let labels = part(selector, &["matchingLabels"]).as_map();
    Some(RunSelector {
        api_version: name(selector, &["resource", "apiVersion"]),
        kind: name(selector, &["resource", "kind"]),
        labels: labels.cloned().unwrap_or_default(),
    })
}

/// Why an object cannot be a run; `None` if it can.
fn unfit(stamped: &Value) -> Option<Failure> {
    let is_empty = |path: &[&str]| text(stamped, path).is_empty();
    if is_empty(&["apiVersion"]) || is_empty(&["kind"]) {
        let message = "the stamped object has no `apiVersion` or no `kind`";
        return Some(Failure::lasting(
            "StampedObjectRejectedByAPIServer",
            message,
        ));
    }
    if is_empty(&["metadata", "generateName"]) {
        let message = "the stamped object needs `metadata.generateName`";
        return Some(Failure::lasting("TemplateStampFailure", message));
    }
    None
}

fn series_failure(failure: &SeriesFailure) -> Failure {
    match failure {
        SeriesFailure::List(refusal) => Failure::passing(
            "FailedToListCreatedObjects",
            "the runs cannot be listed",
            refusal,
        ),
        SeriesFailure::Create(refusal) => Failure::of_object(
            "StampedObjectRejectedByAPIServer",
            "the run cannot be created",
            refusal,
        ),
        SeriesFailure::Endless => Failure::lasting(
            "TemplateStampFailure",
            "each run changes what the next one is made of, so that there would be no end",
        ),
    }
}
