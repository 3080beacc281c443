//! External objects: they exist already, and the instance reads them and never changes them.
//!
//! Each is read once for a plan, and the answer is pinned in it. A rehearsal reads none, because the
//! simulated world does not have them: only their ids are known there.
//!
//! Not here: rules for their declaration (`understand::check`).

use std::sync::Arc;

use blueprint::{Address, Name, Value};
use diag::{Diagnostic, Diagnostics, Spanned};
use evaluate::answers::PinnedRead;
use evaluate::question::{ProviderInstance, ResourceTarget};
use evaluate::resolve::{Evaluation, Outputs};
use evaluate::retry::failure;
use evaluate::world::World;
use provider::{ProviderDiagnostic, ProviderError, ReadOutcome, ReadRequest, ResourceType};
use state::Snapshot;
use understand::secret_marks::mark_fields;

use crate::codes;
use crate::imports::pinned;
use crate::provider_diagnostics::report_at;
use crate::provider_instances::instance_of;

/// An external object that is read.
pub(crate) struct ExternalObject<'a> {
    index: u32,
    pub(crate) address: Address,
    pub(crate) ty: &'a ResourceType,
    id: &'a Spanned<Name>,
    provider: Option<Arc<ProviderInstance>>,
}

impl<'a> ExternalObject<'a> {
    /// The object of a declared resource; `None` if the resource is not there, or is not external.
    pub(crate) fn of(
        evaluation: &'a Evaluation,
        index: u32,
        snapshot: &Snapshot,
        found: &mut Diagnostics,
    ) -> Option<ExternalObject<'a>> {
        let (.., resource) = evaluation.documents.resource(index)?;
        let ty = evaluation.documents.resource_type(index)?;
        let member = evaluation.member(index, None)?;
        Some(ExternalObject {
            index,
            address: member.address.clone(),
            ty,
            id: resource.lifecycle.external.as_ref()?,
            provider: instance_of(evaluation, index, snapshot, found),
        })
    }

    /// Whether the object is read. A rehearsal knows only its id.
    fn is_read(&self, evaluation: &Evaluation, world: &dyn World) -> bool {
        !evaluation.simulated
            && self.ty.capabilities.reads
            && !self.ty.capabilities.described_only
            && !self.ty.capabilities.state_only
            && world.environment().manages(&self.ty.name)
    }

    /// Reads the object, with the marks of its type.
    pub(crate) async fn read(
        &self,
        evaluation: &Evaluation,
        world: &dyn World,
    ) -> Result<ReadOutcome, ProviderError> {
        let site = evaluation.site_of(Some(self.index));
        let target = ResourceTarget::new(&self.address, &self.ty.name, site.borrowed())
            .managed_by(self.provider.as_deref());
        let request = ReadRequest {
            type_name: &self.ty.name,
            id: Some(&self.id.item),
            inputs: &Value::Null,
            outputs: &Value::Null,
            schema_version: self.ty.schema_version,
            private: &Value::Null,
            token: None,
        };
        let mut outcome = world.read(target, request).await?;
        if let ReadOutcome::Present(observed) = &mut outcome {
            observed.fields = mark_fields(&self.ty.schema, &observed.fields, &Value::Null);
        }
        Ok(outcome)
    }

    /// What the plan pins of an answer: its fields and the remarks of the provider.
    fn pin(outcome: ReadOutcome) -> (PinnedRead, Vec<ProviderDiagnostic>) {
        match outcome {
            ReadOutcome::Present(mut observed) => {
                let remarks = std::mem::take(&mut observed.diagnostics);
                (pinned(observed), remarks)
            }
            ReadOutcome::Absent => (PinnedRead::Absent, Vec::new()),
            ReadOutcome::Unknown => (PinnedRead::Unknown, Vec::new()),
        }
    }

    /// The diagnostic for an object that does not exist.
    fn missing(&self) -> Diagnostic {
        codes::EXTERNAL_MISSING
            .new(format!(
                "there is no `{}` with the id `{}`",
                self.ty.name, self.id.item
            ))
            .label(
                self.id.span,
                format!("`{}` is declared as this object", self.address),
            )
            .help("write the id of an object that exists")
    }
}

/// Sets the fields of external objects, which other elements read. All objects are read together.
pub(crate) async fn settle_external(
    evaluation: &mut Evaluation,
    resources: &[u32],
    snapshot: &Snapshot,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    let known = &*evaluation;
    let objects = resources
        .iter()
        .filter_map(|index| ExternalObject::of(known, *index, snapshot, found));
    let objects: Vec<ExternalObject<'_>> = objects.collect();
    let reads = objects.iter().map(|object| async move {
        if let Some(pinned_read) = known.answers.external.get(&object.address) {
            return Ok(Some((pinned_read.clone(), Vec::new())));
        }
        if !object.is_read(known, world) {
            return Ok(None);
        }
        let outcome = object.read(known, world).await?;
        Ok(Some(ExternalObject::pin(outcome)))
    });
    let answers: Vec<Result<_, ProviderError>> =
        futures::future::join_all(reads.collect::<Vec<_>>()).await;
    let mut settled = Vec::with_capacity(objects.len());
    for (object, answer) in objects.iter().zip(answers) {
        let address = &object.address;
        if snapshot.records.contains_key(address) {
            found.extend(managed_here(known, object));
        }
        // After an error, readers still see the id, so that one mistake has one diagnostic.
        let mut fields = Value::Map(Default::default());
        let mut pinned_read = None;
        match answer {
            Ok(None) => {}
            Ok(Some((seen, remarks))) => {
                report_at(remarks, address, Some(&known.documents), found);
                match &seen {
                    PinnedRead::Present { fields: seen, .. } => fields = seen.clone(),
                    PinnedRead::Absent | PinnedRead::Unknown => found.push(object.missing()),
                }
                pinned_read = Some((address.clone(), seen));
            }
            Err(error) => {
                let diagnostic = failure(&error, || format!("`{address}` cannot be read"));
                found.push(diagnostic.label(object.id.span, "this object"));
            }
        }
        let fields = with_id(fields, object.ty, &object.id.item);
        settled.push((object.index, fields, pinned_read));
    }
    for (index, fields, pinned_read) in settled {
        evaluation.answers.external.extend(pinned_read);
        set_fields(evaluation, index, fields);
    }
}

/// Fields with the field that holds the id, if the provider has not returned it.
fn with_id(fields: Value, ty: &ResourceType, id: &Name) -> Value {
    let mut fields = fields.as_map().cloned().unwrap_or_default();
    if let Some(field) = &ty.id_field
        && fields.get(field).is_none_or(Value::is_null)
    {
        fields.insert(field.clone(), Value::Text(id.clone()));
    }
    Value::Map(fields.into())
}

fn set_fields(evaluation: &mut Evaluation, index: u32, fields: Value) {
    if let Some(member) = evaluation.member_mut(index, None) {
        // The properties that a document writes beside the id are not those of the object.
        member.spec = Value::Map(Default::default());
        member.outputs = Outputs::Known(fields);
    }
}

/// The diagnostic for an external resource whose address has a record.
fn managed_here(evaluation: &Evaluation, object: &ExternalObject<'_>) -> Option<Diagnostic> {
    let address = &object.address;
    let (.., resource) = evaluation.documents.resource(object.index)?;
    let messages = evaluation.documents.root().checked.rules.messages;
    let mut changed = codes::EXTERNAL_CHANGED
        .new(format!(
            "`{address}` is managed by this instance and cannot become an external resource"
        ))
        .label(resource.span, "declared as external now")
        .help("declare the external object under another name, and remove this resource");
    let mistake = dialect::Mistake::ExternalChanged {
        resource: &address.name,
        type_name: &resource.type_name.item,
    };
    changed.native_message = messages.of(&mistake).map(Box::new);
    Some(changed)
}
