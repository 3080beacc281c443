//! One resource of a blueprint, for one owner: chooses its template, stamps it, and writes the object
//! if it differs from the live one.

use std::sync::Arc;

use blueprint::{FieldPath, Map, Name, Value};

use crate::compat::Compat;
use crate::context::TemplateContext;
use crate::health::effective_rule;
use crate::inputs::{ResourceInputs, ResourceOutput};
use crate::kinds::CartoKind;
use crate::outputs::{OutputFailure, OutputFailureClass, pass_through, read_output};
use crate::params::{ParamSources, Params};
use crate::resource_status::{Realization, ResourceStatus, resource_status, unstamped_status};
use crate::retention::RunLimits;
use crate::selection::{TemplateChoice, choose_template};
use crate::stamp::{
    LabelSubject, OwnerReference, StampFailure, StampRequest, YttTemplates, stamp, stamped_labels,
};

use super::applied::{APPLIED_HASH, INPUTS, changed_field, digest, is_current, with_annotations};
use super::failure::{Failure, RESOURCE_SUBMITTED, refusal_of, sooner};
use super::input_digests::{input_digests, input_values};
use super::outbox::Outbox;
use super::parts::{name, part, shown, text};
use super::requests::{
    Answer, Call, FoundObject, ObjectName, OwnerEvent, Platform, RequestId, Retry,
};
use super::runs::{SeriesFailure, SeriesPlan, SeriesTask, namespace_of};

/// What all resources of an owner share.
pub(super) struct OwnerContext {
    /// The owner.
    pub(super) owner: Arc<Value>,
    /// The blueprint.
    pub(super) blueprint: Arc<Value>,
    /// Evaluates templates of ytt.
    pub(super) ytt: Arc<dyn YttTemplates + Send + Sync>,
    /// Whose behaviour counts.
    pub(super) compat: Compat,
    /// The time.
    pub(super) now: String,
}

impl OwnerContext {
    /// The entry of a resource in the status that the owner has.
    pub(super) fn previous(&self, resource: &str) -> Option<&Value> {
        let entries = part(&self.owner, &["status", "resources"]).as_list()?;
        entries
            .iter()
            .find(|entry| text(entry, &["name"]) == resource)
    }
}

/// What a resource is made with.
enum Choice {
    Template(Template),
    PassThrough(Name),
    Failed(Failure),
}

/// A template that was chosen.
#[derive(Clone)]
struct Template {
    object: Arc<Value>,
    /// Whether it was chosen among options.
    is_option: bool,
}

impl Template {
    fn lifecycle(&self) -> &str {
        match text(&self.object, &["spec", "lifecycle"]) {
            "" => "mutable",
            lifecycle => lifecycle,
        }
    }
}

/// A resource that is realized.
pub(super) struct ResourceTask {
    /// The entry of the blueprint.
    pub(super) entry: Value,
    /// Its name.
    pub(super) name: Name,
    /// The positions of the resources whose outputs it takes.
    pub(super) producers: Vec<usize>,
    /// The kind of its template, and the names that were looked for.
    pub(super) templates: Vec<(CartoKind, Name)>,
    choice: Choice,
    stage: Stage,
}

enum Stage {
    Waiting,
    Reading(RequestId, Box<Writing>),
    Applying(RequestId, Box<Writing>),
    Running(Box<Running>),
    Done(Box<Realized>),
}

/// A mutable object on its way.
struct Writing {
    template: Template,
    inputs: ResourceInputs,
    stamped: Value,
    hash: Name,
    /// The version that the cluster had; `None` if it had no such object.
    before: Option<Name>,
    /// The stamped field that somebody changed since the last write.
    changed: Option<FieldPath>,
}

/// A series on its way.
struct Running {
    template: Template,
    inputs: ResourceInputs,
    rule: Value,
    task: SeriesTask,
    kind: (Name, Name),
}

/// What became of a resource.
pub(super) struct Realized {
    /// The entry of the status.
    pub(super) status: ResourceStatus,
    /// The output, if there is one.
    pub(super) output: Option<ResourceOutput>,
    /// Whether it is tried again by itself.
    pub(super) retry: Retry,
    /// What happened.
    pub(super) events: Vec<OwnerEvent>,
    /// The kind of the object that was stamped, by `apiVersion` and `kind`.
    pub(super) kind: Option<(Name, Name)>,
    /// Whether the resource accounts for a whole series of objects.
    pub(super) is_series: bool,
}

impl ResourceTask {
    /// Chooses the template of a resource. `producers` are the positions of its inputs.
    pub(super) fn new(
        owner: &Value,
        entry: &Value,
        producers: Vec<usize>,
        platform: &dyn Platform,
        compat: Compat,
    ) -> ResourceTask {
        let kind = CartoKind::of_name(text(entry, &["templateRef", "kind"]));
        let mut templates = Vec::new();
        let choice = match choose_template(owner, entry, compat) {
            Err(failure) => {
                Choice::Failed(Failure::lasting(failure.class.as_str(), failure.message))
            }
            Ok(TemplateChoice::PassThrough(input)) => Choice::PassThrough(input),
            Ok(TemplateChoice::Template(template)) => {
                let found = kind.and_then(|kind| platform.find(kind, &template));
                templates.extend(kind.map(|kind| (kind, template.clone())));
                match found {
                    Some(object) => Choice::Template(Template {
                        object,
                        is_option: text(entry, &["templateRef", "name"]).is_empty(),
                    }),
                    None => Choice::Failed(Failure::lasting(
                        "TemplateObjectRetrievalFailure",
                        format!(
                            "there is no {} `{template}`",
                            text(entry, &["templateRef", "kind"])
                        ),
                    )),
                }
            }
        };
        ResourceTask {
            entry: entry.clone(),
            name: name(entry, &["name"]),
            producers,
            templates,
            choice,
            stage: Stage::Waiting,
        }
    }

    /// Whether it was not started.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.stage, Stage::Waiting)
    }

    /// What became of it, once it is done.
    pub(super) fn realized(&self) -> Option<&Realized> {
        match &self.stage {
            Stage::Done(realized) => Some(realized),
            _ => None,
        }
    }

    /// Starts it with the inputs that have a value by now.
    pub(super) fn begin(
        &mut self,
        context: &OwnerContext,
        inputs: ResourceInputs,
        outbox: &mut Outbox,
    ) {
        self.stage = match &self.choice {
            Choice::Failed(failure) => {
                let failure = failure.clone();
                self.failed(context, None, &failure)
            }
            Choice::PassThrough(input) => self.passed(context, input, &inputs),
            Choice::Template(template) => {
                let template = template.clone();
                match self.started(context, &template, inputs, outbox) {
                    Ok(stage) => stage,
                    Err(failure) => self.failed(context, Some(&template), &failure),
                }
            }
        };
    }

    /// Ends a resource that cannot start, because it needs its own output.
    pub(super) fn end_in_cycle(&mut self, context: &OwnerContext) {
        let message = "the resource needs its own output as an input";
        let failure = Failure::lasting("TemplateStampFailure", message);
        self.stage = self.failed(context, None, &failure);
    }

    /// Takes an answer. Returns it if it is none of this resource.
    pub(super) fn answer(
        &mut self,
        context: &OwnerContext,
        id: RequestId,
        answer: Answer,
        outbox: &mut Outbox,
    ) -> Option<Answer> {
        match std::mem::replace(&mut self.stage, Stage::Waiting) {
            Stage::Reading(open, writing) if open == id => {
                self.stage = self.was_read(context, writing, answer, outbox);
            }
            Stage::Applying(open, writing) if open == id => {
                self.stage = self.was_applied(context, &writing, answer);
            }
            Stage::Running(mut running) => {
                let rest = running.task.answer(id, answer, outbox);
                self.stage = match running.task.is_done() {
                    true => self.has_run(context, *running),
                    false => Stage::Running(running),
                };
                return rest;
            }
            other => {
                self.stage = other;
                return Some(answer);
            }
        }
        None
    }

    /// The stage after stamping.
    fn started(
        &self,
        context: &OwnerContext,
        template: &Template,
        inputs: ResourceInputs,
        outbox: &mut Outbox,
    ) -> Result<Stage, Failure> {
        let labels = self.labels(context, template);
        let stamped = self.stamped(context, template, &inputs, &labels)?;
        if text(&stamped, &["apiVersion"]).is_empty() || text(&stamped, &["kind"]).is_empty() {
            let message = "the stamped object has no `apiVersion` or no `kind`";
            return Err(Failure::lasting("TemplateRejectedByAPIServer", message));
        }
        if template.lifecycle() != "mutable" {
            return self.series(context, template, inputs, stamped, outbox);
        }
        let object_name = name(&stamped, &["metadata", "name"]);
        if object_name.is_empty() {
            let message = "the stamped object has no `metadata.name`";
            return Err(Failure::lasting("TemplateRejectedByAPIServer", message));
        }
        let hash = digest(&stamped).ok_or_else(too_deep)?;
        let reading = outbox.ask(Call::Get(ObjectName {
            api_version: name(&stamped, &["apiVersion"]),
            kind: name(&stamped, &["kind"]),
            namespace: namespace_of(&stamped),
            name: object_name,
        }));
        let writing = Writing {
            template: template.clone(),
            inputs,
            stamped,
            hash,
            before: None,
            changed: None,
        };
        Ok(Stage::Reading(reading, Box::new(writing)))
    }

    fn labels(&self, context: &OwnerContext, template: &Template) -> Map {
        let chosen = text(&template.object, &["metadata", "name"]);
        stamped_labels(&LabelSubject {
            owner: &context.owner,
            blueprint: text(&context.blueprint, &["metadata", "name"]),
            resource: &self.name,
            template_kind: text(&self.entry, &["templateRef", "kind"]),
            // Upstream does not name a template that was chosen among options.
            template: match context.compat.is_upstream() && template.is_option {
                true => "",
                false => chosen,
            },
            lifecycle: template.lifecycle(),
        })
    }

    fn stamped(
        &self,
        context: &OwnerContext,
        template: &Template,
        inputs: &ResourceInputs,
        labels: &Map,
    ) -> Result<Value, Failure> {
        let params = Params::merge(&ParamSources {
            template: part(&template.object, &["spec", "params"]),
            blueprint: part(&context.blueprint, &["spec", "params"]),
            resource: part(&self.entry, &["params"]),
            owner: part(&context.owner, &["spec", "params"]),
        });
        let tags = TemplateContext::of_resource(&context.owner, &params, inputs, labels);
        let stamped = stamp(&StampRequest {
            template: &template.object,
            context: &tags,
            owner: &context.owner,
            labels,
            owner_reference: OwnerReference::Written,
            compat: context.compat,
            ytt: context.ytt.as_ref(),
        });
        stamped
            .map(|stamped| stamped.object)
            .map_err(|failures| stamp_failure(&failures))
    }

    fn series(
        &self,
        context: &OwnerContext,
        template: &Template,
        inputs: ResourceInputs,
        stamped: Value,
        outbox: &mut Outbox,
    ) -> Result<Stage, Failure> {
        if text(&stamped, &["metadata", "generateName"]).is_empty() {
            let message = "an immutable object needs `metadata.generateName`";
            return Err(Failure::lasting("TemplateStampFailure", message));
        }
        let own = part(&stamped, &["metadata", "labels"]);
        let mut labels = own.as_map().cloned().unwrap_or_default();
        labels.retain(|key, _| SERIES_LABELS.contains(&key.as_ref()));
        let rule = effective_rule(&template.object);
        let kind = kind_of(&stamped);
        let owner = |path: &[&str]| part(&context.owner, path).clone();
        let plan = SeriesPlan {
            cause: Value::map([
                (
                    "blueprint",
                    part(&context.blueprint, &["metadata", "name"]).clone(),
                ),
                ("spec", owner(&["spec"])),
                ("labels", owner(&["metadata", "labels"])),
                ("annotations", owner(&["metadata", "annotations"])),
                ("template", part(&template.object, &["spec"]).clone()),
                ("resource", self.entry.clone()),
                (
                    "params",
                    part(&context.blueprint, &["spec", "params"]).clone(),
                ),
                ("inputs", input_values(&inputs)),
            ]),
            inputs: input_digests(&inputs),
            labels,
            rule: rule.clone(),
            limits: RunLimits::of(part(&template.object, &["spec", "retentionPolicy"])),
            stamped,
        };
        let task = SeriesTask::start(plan, outbox).ok_or_else(too_deep)?;
        Ok(Stage::Running(Box::new(Running {
            template: template.clone(),
            inputs,
            rule,
            task,
            kind,
        })))
    }

    /// Writes the object unless the live one is as it was stamped.
    fn was_read(
        &self,
        context: &OwnerContext,
        mut writing: Box<Writing>,
        answer: Answer,
        outbox: &mut Outbox,
    ) -> Stage {
        match answer {
            Answer::Object(found) if is_current(&found.object, &writing.stamped, &writing.hash) => {
                return self.has_object(context, &writing, &found, Vec::new());
            }
            Answer::Object(found) => {
                writing.before = Some(name(&found.object, &["metadata", "resourceVersion"]));
                writing.changed = changed_field(&found.object, &writing.stamped, &writing.hash);
            }
            Answer::Missing => {}
            other => return self.rejected(context, &writing, other),
        }
        let mut annotations = vec![(APPLIED_HASH, writing.hash.to_string())];
        let inputs = input_digests(&writing.inputs);
        if !inputs.is_empty() {
            annotations.push((INPUTS, inputs));
        }
        let object = with_annotations(&writing.stamped, &annotations);
        Stage::Applying(outbox.ask(Call::Apply(object)), writing)
    }

    fn was_applied(&self, context: &OwnerContext, writing: &Writing, answer: Answer) -> Stage {
        let Answer::Object(found) = answer else {
            return self.rejected(context, writing, answer);
        };
        let version = text(&found.object, &["metadata", "resourceVersion"]);
        let what = match &writing.before {
            None => Some("Created"),
            // The server had nothing to change.
            Some(before) if **before == *version && !version.is_empty() => None,
            Some(_) => Some("Patched"),
        };
        let why = match &writing.changed {
            Some(path) => format!(": somebody else changed `{path}`"),
            None => String::new(),
        };
        let events = what.map(|what| OwnerEvent {
            reason: "StampedObjectApplied",
            message: format!("{what} object [{}]{why}", shown(&found)),
        });
        self.has_object(context, writing, &found, events.into_iter().collect())
    }

    fn rejected(&self, context: &OwnerContext, writing: &Writing, answer: Answer) -> Stage {
        let refusal = refusal_of(answer);
        let kind = text(&writing.stamped, &["kind"]);
        let object = text(&writing.stamped, &["metadata", "name"]);
        let what = format!("the {kind} `{object}` cannot be applied");
        let failure = Failure::of_object("TemplateRejectedByAPIServer", &what, &refusal);
        self.failed(context, Some(&writing.template), &failure)
            .of_kind(kind_of(&writing.stamped))
    }

    fn has_object(
        &self,
        context: &OwnerContext,
        writing: &Writing,
        found: &FoundObject,
        events: Vec<OwnerEvent>,
    ) -> Stage {
        let template = &writing.template.object;
        let output = read_output(template, Some(&found.object), &writing.inputs);
        let rule = effective_rule(template);
        let realized = self.finished(context, Some(template), &rule, Some(found), output);
        let mut realized = Realized {
            kind: Some(kind_of(&writing.stamped)),
            ..realized
        };
        realized.events.splice(0..0, events);
        Stage::Done(Box::new(realized))
    }

    fn has_run(&self, context: &OwnerContext, running: Running) -> Stage {
        let task = running.task;
        let template = &running.template.object;
        let failure = match &task.failure {
            None => None,
            Some(SeriesFailure::List(refusal)) => Some(Failure::passing(
                "FailedToListCreatedObjects",
                &format!(
                    "the objects of the kind {} cannot be listed",
                    running.kind.1
                ),
                refusal,
            )),
            Some(SeriesFailure::Create(refusal)) => Some(Failure::of_object(
                "TemplateRejectedByAPIServer",
                &format!("an object of the kind {} cannot be created", running.kind.1),
                refusal,
            )),
            Some(SeriesFailure::Endless) => Some(Failure::lasting(
                "TemplateStampFailure",
                "each object changes what the next one is made of, so that there would be no end",
            )),
        };
        let mut realized = match (failure, task.newest()) {
            (None, Some(newest)) => {
                let healthy = task.newest_healthy().map(|run| run.object.as_ref());
                let output = output_of_run(template, healthy, &running.inputs);
                self.finished(context, Some(template), &running.rule, Some(newest), output)
            }
            (Some(failure), _) => self.unstamped(context, Some(&running.template), &failure),
            (None, None) => {
                let message = "no run is kept";
                let failure = Failure::waiting("MissingValueAtPath", message);
                self.unstamped(context, Some(&running.template), &failure)
            }
        };
        realized.kind = Some(running.kind);
        realized.is_series = task.failure.is_none();
        if !task.undeleted.is_empty() {
            realized.retry = Retry::Backoff;
        }
        realized.events.splice(0..0, task.events);
        Stage::Done(Box::new(realized))
    }

    fn passed(&self, context: &OwnerContext, input: &str, inputs: &ResourceInputs) -> Stage {
        let kind = text(&self.entry, &["templateRef", "kind"]);
        let output = pass_through(kind, input, inputs);
        Stage::Done(Box::new(self.finished(
            context,
            None,
            &Value::Null,
            None,
            output,
        )))
    }

    /// The end of a resource that has an object, or passes an input through.
    fn finished(
        &self,
        context: &OwnerContext,
        template: Option<&Arc<Value>>,
        rule: &Value,
        found: Option<&FoundObject>,
        output: Result<ResourceOutput, OutputFailure>,
    ) -> Realized {
        let status = resource_status(
            &Realization {
                resource: &self.entry,
                template: template.map(AsRef::as_ref),
                rule,
                object: found.map(|found| found.object.as_ref()),
                object_resource: found.map_or("", |found| &found.resource),
                output: output.as_ref(),
            },
            context.previous(&self.name),
            &context.now,
            context.compat,
        );
        let events = changes(&self.name, &status, found);
        Realized {
            status,
            output: output.ok(),
            retry: Retry::No,
            events,
            kind: None,
            is_series: false,
        }
    }

    fn failed(
        &self,
        context: &OwnerContext,
        template: Option<&Template>,
        failure: &Failure,
    ) -> Stage {
        Stage::Done(Box::new(self.unstamped(context, template, failure)))
    }

    fn unstamped(
        &self,
        context: &OwnerContext,
        template: Option<&Template>,
        failure: &Failure,
    ) -> Realized {
        let status = unstamped_status(
            &self.entry,
            template.map(|template| template.object.as_ref()),
            failure.condition(RESOURCE_SUBMITTED),
            context.previous(&self.name),
            &context.now,
        );
        Realized {
            status,
            output: None,
            retry: sooner(failure.retry, Retry::No),
            events: Vec::new(),
            kind: None,
            is_series: false,
        }
    }
}

impl Stage {
    fn of_kind(mut self, kind: (Name, Name)) -> Stage {
        if let Stage::Done(realized) = &mut self {
            realized.kind = Some(kind);
        }
        self
    }
}

/// The labels that find the runs of a resource: those of its owner, its own name and its template.
const SERIES_LABELS: [&str; 7] = [
    "carto.run/workload-name",
    "carto.run/workload-namespace",
    "carto.run/deliverable-name",
    "carto.run/deliverable-namespace",
    "carto.run/resource-name",
    "carto.run/template-kind",
    "carto.run/cluster-template-name",
];

fn kind_of(object: &Value) -> (Name, Name) {
    (name(object, &["apiVersion"]), name(object, &["kind"]))
}

fn too_deep() -> Failure {
    let message = "the stamped object cannot be expressed as JSON";
    Failure::lasting("TemplateStampFailure", message)
}

/// The first failure, unless all are due to inputs that will come.
fn stamp_failure(failures: &[StampFailure]) -> Failure {
    let definite = failures.iter().find(|failure| failure.waits_for.is_empty());
    let place = |failure: &StampFailure| match (failure.path.0.is_empty(), failure.line) {
        (false, _) => format!("`{}`: {}", failure.path, failure.message),
        (true, Some(line)) => format!("line {line} of the template: {}", failure.message),
        (true, None) => failure.message.clone(),
    };
    match (definite, failures.first()) {
        (Some(failure), _) => Failure::lasting("TemplateStampFailure", place(failure)),
        (None, Some(failure)) => {
            let producers: Vec<String> = failure
                .waits_for
                .iter()
                .map(|input| format!("`{}`", input.producer))
                .collect();
            let message = format!("waiting for the output of {}", producers.join(", "));
            Failure::waiting("MissingValueAtPath", message)
        }
        (None, None) => Failure::lasting("TemplateStampFailure", "the template cannot be stamped"),
    }
}

/// The output of a series. Without a healthy run a value is missing.
fn output_of_run(
    template: &Value,
    healthy: Option<&Value>,
    inputs: &ResourceInputs,
) -> Result<ResourceOutput, OutputFailure> {
    if healthy.is_none() && text(template, &["kind"]) == "ClusterDeploymentTemplate" {
        return Err(OutputFailure {
            class: OutputFailureClass::JsonPath,
            message: "no object is healthy yet".to_owned(),
            path: None,
            waits_for: Vec::new(),
        });
    }
    read_output(template, healthy, inputs)
}

/// The events of changed outputs and health.
fn changes(
    resource: &str,
    status: &ResourceStatus,
    found: Option<&FoundObject>,
) -> Vec<OwnerEvent> {
    let mut events = Vec::new();
    if status.outputs_changed {
        events.push(OwnerEvent {
            reason: "ResourceOutputChanged",
            message: match found {
                Some(found) => format!("[{resource}] found a new output in [{}]", shown(found)),
                None => format!("[{resource}] passed through a new output"),
            },
        });
    }
    if let Some(found) = found.filter(|_| status.health_changed) {
        let conditions = part(&status.entry, &["conditions"]).as_list();
        let mut conditions = conditions.unwrap_or_default().iter();
        let health = conditions.find(|condition| text(condition, &["type"]) == "Healthy");
        let health = health.map_or("Unknown", |health| text(health, &["status"]));
        events.push(OwnerEvent {
            reason: "ResourceHealthyStatusChanged",
            message: format!(
                "[{resource}] found healthy status in [{}] changed to [{health}]",
                shown(found)
            ),
        });
    }
    events
}
