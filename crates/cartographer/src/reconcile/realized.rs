//! What became of a resource: its entry of the status, its output and its events.

use std::sync::Arc;

use blueprint::{Name, Value};

use crate::inputs::{ResourceInputs, ResourceOutput};
use crate::outputs::{OutputFailure, OutputFailureClass, read_output};
use crate::resource_status::{Realization, ResourceStatus, resource_status, unstamped_status};

use super::failure::{Failure, RESOURCE_SUBMITTED};
use super::owner_context::OwnerContext;
use super::parts::{group, name, part, shown, text};
use super::requests::{FoundObject, OwnerEvent, Retry};
use super::resource_template::Template;

/// Which object of a namespace it is, in whatever version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenObject {
    /// The group; empty for the core group.
    pub(super) group: Name,
    /// The kind.
    pub(super) kind: Name,
    /// The name.
    pub(super) name: Name,
}

impl WrittenObject {
    /// That of an object.
    pub(super) fn of(object: &Value) -> WrittenObject {
        WrittenObject {
            group: Name::from(group(text(object, &["apiVersion"]))),
            kind: name(object, &["kind"]),
            name: name(object, &["metadata", "name"]),
        }
    }
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
    /// The mutable object that was written, or had nothing to change.
    pub(super) written: Option<WrittenObject>,
    /// Whether the resource accounts for a whole series of objects.
    pub(super) is_series: bool,
}

/// The end of a resource that has an object, or passes an input through.
pub(super) fn finished(
    context: &OwnerContext,
    entry: &Value,
    template: Option<&Arc<Value>>,
    rule: &Value,
    found: Option<&FoundObject>,
    output: Result<ResourceOutput, OutputFailure>,
) -> Realized {
    let resource = text(entry, &["name"]);
    let status = resource_status(
        &Realization {
            resource: entry,
            template: template.map(AsRef::as_ref),
            rule,
            object: found.map(|found| found.object.as_ref()),
            object_resource: found.map_or("", |found| &found.resource),
            output: output.as_ref(),
        },
        context.previous(resource),
        &context.now,
        context.compat,
    );
    let events = changes(resource, &status, found);
    Realized {
        status,
        output: output.ok(),
        retry: Retry::No,
        events,
        kind: None,
        written: None,
        is_series: false,
    }
}

/// The end of a resource that has no object of this run.
pub(super) fn unstamped(
    context: &OwnerContext,
    entry: &Value,
    template: Option<&Template>,
    failure: &Failure,
) -> Realized {
    let status = unstamped_status(
        entry,
        template.map(|template| template.object.as_ref()),
        failure.condition(RESOURCE_SUBMITTED),
        context.previous(text(entry, &["name"])),
        &context.now,
    );
    Realized {
        status,
        output: None,
        retry: failure.retry,
        events: Vec::new(),
        kind: None,
        written: None,
        is_series: false,
    }
}

/// The output of a series. Without a healthy run a value is missing.
pub(super) fn output_of_run(
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
