//! One resource of a blueprint, for one owner: chooses its template, stamps it, and writes the object
//! if it differs from the live one.

use blueprint::{FieldPath, Name, Value};

use crate::compat::Compat;
use crate::health::effective_rule;
use crate::inputs::ResourceInputs;
use crate::kinds::CartoKind;
use crate::outputs::{pass_through, read_output};
use crate::retention::RunLimits;

use super::applied::{APPLIED_HASH, INPUTS, changed_field, digest, is_current, with_annotations};
use super::failure::{Failure, refusal_of};
use super::input_digests::{input_digests, input_values};
use super::outbox::Outbox;
use super::owner_context::OwnerContext;
use super::parts::{name, part, shown, text};
use super::realized::{Realized, WrittenObject, finished, output_of_run, unstamped};
use super::requests::{
    Call, ClusterAnswer, FoundObject, ObjectName, OwnerEvent, Platform, RequestId, Retry,
};
use super::resource_template::{Choice, Template};
use super::runs::{SeriesFailure, SeriesPlan, SeriesTask, namespace_of};

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
    stage: ResourceStage,
}

enum ResourceStage {
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

impl ResourceTask {
    /// Chooses the template of a resource. `producers` are the positions of its inputs.
    pub(super) fn new(
        owner: &Value,
        entry: &Value,
        producers: Vec<usize>,
        platform: &dyn Platform,
        compat: Compat,
    ) -> ResourceTask {
        let (choice, templates) = Choice::of(owner, entry, platform, compat);
        ResourceTask {
            entry: entry.clone(),
            name: name(entry, &["name"]),
            producers,
            templates,
            choice,
            stage: ResourceStage::Waiting,
        }
    }

    /// Whether it was not started.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.stage, ResourceStage::Waiting)
    }

    /// What became of it, once it is done.
    pub(super) fn realized(&self) -> Option<&Realized> {
        match &self.stage {
            ResourceStage::Done(realized) => Some(realized),
            _ => None,
        }
    }

    /// The mutable object that it writes, or has written in this run.
    pub(super) fn object(&self) -> Option<WrittenObject> {
        match &self.stage {
            ResourceStage::Reading(_, writing) | ResourceStage::Applying(_, writing) => {
                Some(WrittenObject::of(&writing.stamped))
            }
            ResourceStage::Done(realized) => realized.written.clone(),
            ResourceStage::Waiting | ResourceStage::Running(_) => None,
        }
    }

    /// Starts it with the inputs that have a value by now. `taken` are the objects of other resources.
    pub(super) fn begin(
        &mut self,
        context: &OwnerContext,
        inputs: ResourceInputs,
        taken: &[(WrittenObject, Name)],
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
                match self.started(context, &template, inputs, taken, outbox) {
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
        answer: ClusterAnswer,
        outbox: &mut Outbox,
    ) -> Option<ClusterAnswer> {
        match std::mem::replace(&mut self.stage, ResourceStage::Waiting) {
            ResourceStage::Reading(open, writing) if open == id => {
                self.stage = self.was_read(context, writing, answer, outbox);
            }
            ResourceStage::Applying(open, writing) if open == id => {
                self.stage = self.was_applied(context, &writing, answer);
            }
            ResourceStage::Running(mut running) => {
                let rest = running.task.answer(id, answer, outbox);
                self.stage = match running.task.is_done() {
                    true => self.has_run(context, *running),
                    false => ResourceStage::Running(running),
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
        taken: &[(WrittenObject, Name)],
        outbox: &mut Outbox,
    ) -> Result<ResourceStage, Failure> {
        let labels = template.labels(context, &self.entry);
        let stamped = template.stamped(context, &self.entry, &inputs, &labels)?;
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
        // Two resources with one object would undo each other's changes without end.
        let identity = WrittenObject::of(&stamped);
        if let Some((_, other)) = taken.iter().find(|(taken, _)| *taken == identity) {
            let message = format!(
                "the {} `{object_name}` is the object of the resource `{other}`",
                identity.kind
            );
            return Err(Failure::lasting("TemplateStampFailure", message));
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
        Ok(ResourceStage::Reading(reading, Box::new(writing)))
    }

    fn series(
        &self,
        context: &OwnerContext,
        template: &Template,
        inputs: ResourceInputs,
        stamped: Value,
        outbox: &mut Outbox,
    ) -> Result<ResourceStage, Failure> {
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
        Ok(ResourceStage::Running(Box::new(Running {
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
        answer: ClusterAnswer,
        outbox: &mut Outbox,
    ) -> ResourceStage {
        match answer {
            ClusterAnswer::Object(found)
                if is_current(&found.object, &writing.stamped, &writing.hash) =>
            {
                return self.has_object(context, &writing, &found, Vec::new());
            }
            ClusterAnswer::Object(found) => {
                writing.before = Some(name(&found.object, &["metadata", "resourceVersion"]));
                writing.changed = changed_field(&found.object, &writing.stamped, &writing.hash);
            }
            ClusterAnswer::Missing => {}
            other => return self.rejected(context, &writing, other),
        }
        let mut annotations = vec![(APPLIED_HASH, writing.hash.to_string())];
        let inputs = input_digests(&writing.inputs);
        if !inputs.is_empty() {
            annotations.push((INPUTS, inputs));
        }
        let object = with_annotations(&writing.stamped, &annotations);
        ResourceStage::Applying(outbox.ask(Call::Apply(object)), writing)
    }

    fn was_applied(
        &self,
        context: &OwnerContext,
        writing: &Writing,
        answer: ClusterAnswer,
    ) -> ResourceStage {
        let ClusterAnswer::Object(found) = answer else {
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

    fn rejected(
        &self,
        context: &OwnerContext,
        writing: &Writing,
        answer: ClusterAnswer,
    ) -> ResourceStage {
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
    ) -> ResourceStage {
        let template = &writing.template.object;
        let output = read_output(template, Some(&found.object), &writing.inputs);
        let rule = effective_rule(template);
        let realized = finished(
            context,
            &self.entry,
            Some(template),
            &rule,
            Some(found),
            output,
        );
        let mut realized = Realized {
            kind: Some(kind_of(&writing.stamped)),
            written: Some(WrittenObject::of(&writing.stamped)),
            ..realized
        };
        realized.events.splice(0..0, events);
        ResourceStage::Done(Box::new(realized))
    }

    fn has_run(&self, context: &OwnerContext, running: Running) -> ResourceStage {
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
                finished(
                    context,
                    &self.entry,
                    Some(template),
                    &running.rule,
                    Some(newest),
                    output,
                )
            }
            (Some(failure), _) => {
                unstamped(context, &self.entry, Some(&running.template), &failure)
            }
            (None, None) => {
                let message = "no run is kept";
                let failure = Failure::waiting("MissingValueAtPath", message);
                unstamped(context, &self.entry, Some(&running.template), &failure)
            }
        };
        realized.kind = Some(running.kind);
        realized.is_series = task.failure.is_none();
        if !task.undeleted.is_empty() {
            realized.retry = Retry::Backoff;
        }
        realized.events.splice(0..0, task.events);
        ResourceStage::Done(Box::new(realized))
    }

    fn passed(
        &self,
        context: &OwnerContext,
        input: &str,
        inputs: &ResourceInputs,
    ) -> ResourceStage {
        let kind = text(&self.entry, &["templateRef", "kind"]);
        let output = pass_through(kind, input, inputs);
        ResourceStage::Done(Box::new(finished(
            context,
            &self.entry,
            None,
            &Value::Null,
            None,
            output,
        )))
    }

    fn failed(
        &self,
        context: &OwnerContext,
        template: Option<&Template>,
        failure: &Failure,
    ) -> ResourceStage {
        ResourceStage::Done(Box::new(unstamped(context, &self.entry, template, failure)))
    }
}

impl ResourceStage {
    fn of_kind(mut self, kind: (Name, Name)) -> ResourceStage {
        if let ResourceStage::Done(realized) = &mut self {
            realized.kind = Some(kind);
        }
        self
    }
}

fn too_deep() -> Failure {
    let message = "the stamped object cannot be expressed as JSON";
    Failure::lasting("TemplateStampFailure", message)
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
