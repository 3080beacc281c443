//! Existing objects that are taken under management: by the hint `cyan.import`, or by `cyan import`
//! (decisions/plan#import).
//!
//! A record is created from what the provider reads, and then compared like any other.

use std::sync::Arc;

use blueprint::{Address, DeclarationSite, IndexMap, Kind, Map, Name, TypeId, Value};
use diag::{Diagnostic, Diagnostics, Span};
use evaluate::answers::PinnedRead;
use evaluate::question::{ProviderInstance, ResourceTarget};
use evaluate::resolve::Evaluation;
use evaluate::world::World;
use provider::{
    ImportRequest, Observed, ProviderDiagnostic, ReadOutcome, ReadRequest, ResourceType,
};
use state::{Record, Snapshot, Status, StatusOp, StatusWord};
use understand::partial::declared_part;
use understand::secret_marks::mark_fields;

use crate::codes;
use crate::decision::Decision;
use crate::model::{Action, AddressSet};
use crate::options::ForeignObject;
use crate::provider_diagnostics::report_at;
use crate::provider_instances::instance_of;
use crate::settled::SettledRecords;
use crate::target_set::TargetSet;

/// The imports of a plan.
#[derive(Default)]
pub(crate) struct Imports {
    /// Addresses whose records have just been created from a read.
    pub(crate) done: AddressSet,
    /// The address of each managed object, by type and id; filled only if something is imported.
    managed: Option<IndexMap<(TypeId, Name), Address>>,
    /// Resources that are taken over from another tool.
    foreign_objects: IndexMap<Address, ForeignObject>,
}

/// The context of imports.
pub(crate) struct ImportContext<'a> {
    pub(crate) target_set: &'a TargetSet<'a>,
    pub(crate) snapshot: &'a mut Snapshot,
    pub(crate) settled_records: &'a mut SettledRecords,
    pub(crate) world: &'a dyn World,
}

/// An object to import.
struct ImportTarget {
    address: Address,
    ty: Arc<ResourceType>,
    id: Name,
    desired: Value,
    span: Span,
    /// The configuration of its provider, if a resource declares it.
    provider: Option<Arc<ProviderInstance>>,
    /// The declaration of the resource.
    site: DeclarationSite,
    /// The fields that another tool has stored of the object, if no provider can read it.
    stored_fields: Option<IndexMap<Name, Value>>,
}

impl Imports {
    /// Creates an empty value with the resources that are taken over from another tool.
    pub(crate) fn of(taken: &[ForeignObject]) -> Imports {
        let taken = taken
            .iter()
            .map(|taken| (taken.address.clone(), taken.clone()))
            .collect();
        Imports {
            foreign_objects: taken,
            ..Imports::default()
        }
    }

    /// Reports `import-failed` for each resource that would be created, if the plan takes over
    /// resources of another tool.
    pub(crate) fn refuse_creates_without_id(
        &self,
        decisions: &[Decision],
        found: &mut Diagnostics,
    ) {
        if self.foreign_objects.is_empty() {
            return;
        }
        for decision in decisions
            .iter()
            .filter(|decision| decision.action == Action::Create)
        {
            found.push(failed(&decision.address, decision.span).note("its id was not provided"));
        }
    }

    /// Imports objects for the members of these resources, by hint or from another tool. Members
    /// with records are left out.
    pub(crate) async fn import_members(
        &mut self,
        evaluation: &mut Evaluation,
        resources: &[u32],
        with: ImportContext<'_>,
        found: &mut Diagnostics,
    ) {
        let ImportContext {
            target_set,
            snapshot,
            settled_records,
            world,
        } = with;
        let documents = evaluation.documents.clone();
        let mut wanted = Vec::new();
        for index in resources {
            let Some((_, _, resource)) = documents.resource(*index) else {
                continue;
            };
            let Some(ty) = documents.resource_type(*index) else {
                continue;
            };
            if resource.lifecycle.import.is_none() && self.foreign_objects.is_empty() {
                continue;
            }
            let provider = instance_of(evaluation, *index, snapshot, found);
            for member in evaluation.resources[*index as usize].present() {
                if snapshot.records.contains_key(&member.address)
                    || !target_set.covers(&member.address)
                {
                    continue;
                }
                let taken = self.foreign_objects.get(&member.address);
                let stored_fields = taken.filter(|_| !can_be_read(ty, true));
                let id = taken.map_or(resource.lifecycle.import.as_ref(), |taken| {
                    taken.id.as_ref()
                });
                let Some(id) = id.filter(|id| !id.is_empty()) else {
                    continue;
                };
                if member.condition_open {
                    found.push(
                        failed(&member.address, resource.span)
                            .note("its condition is known only on deploy"),
                    );
                    continue;
                }
                wanted.push(ImportTarget {
                    address: member.address.clone(),
                    ty: ty.clone(),
                    id: id.clone(),
                    desired: member.spec.clone(),
                    span: resource.span,
                    provider: provider.clone(),
                    site: evaluation.site_of(Some(*index)),
                    stored_fields: stored_fields.map(|taken| taken.fields.clone()),
                });
            }
        }
        if wanted.is_empty() {
            return;
        }
        let managed = self.managed.get_or_insert_with(|| managed(snapshot));
        wanted.retain(|wanted| {
            let key = (wanted.ty.name.clone(), wanted.id.clone());
            let is_unmanaged = !managed.contains_key(&key);
            match managed.get(&key) {
                Some(other) => found.push(managed_already(
                    &wanted.address,
                    other,
                    &wanted.id,
                    wanted.span,
                )),
                None => drop(managed.insert(key, wanted.address.clone())),
            }
            is_unmanaged
        });
        let reads = wanted.iter().map(|wanted| {
            let pinned_read = evaluation.answers.imports.get(&wanted.address).cloned();
            async move {
                match (pinned_read, &wanted.stored_fields) {
                    (Some(kept), _) => Ok((kept, Vec::new())),
                    (None, Some(stored_fields)) => {
                        Ok((from_foreign_fields(wanted, stored_fields), Vec::new()))
                    }
                    (None, None) => {
                        let target = (&wanted.address, wanted.provider.as_deref());
                        let declared = wanted.ty.capabilities.imports_declared;
                        let object = ObjectToRead {
                            ty: &wanted.ty,
                            id: &wanted.id,
                            desired: declared.then_some(&wanted.desired),
                        };
                        read(target, object, &wanted.site, world).await
                    }
                }
            }
        });
        let all = futures::future::join_all(reads.collect::<Vec<_>>()).await;
        for (wanted, seen) in wanted.into_iter().zip(all) {
            match seen {
                Ok((seen, diagnostics)) => {
                    report_at(
                        diagnostics,
                        &wanted.address,
                        Some(&evaluation.documents),
                        found,
                    );
                    // The id as the provider writes it: one object may have several spellings.
                    if let PinnedRead::Present { id: real, .. } = &seen {
                        let key = (wanted.ty.name.clone(), real.clone());
                        match managed.get(&key).filter(|other| **other != wanted.address) {
                            Some(other) => {
                                found.push(managed_already(
                                    &wanted.address,
                                    other,
                                    real,
                                    wanted.span,
                                ));
                                continue;
                            }
                            None => drop(managed.insert(key, wanted.address.clone())),
                        }
                    }
                    if let Some(record) = record_of(&wanted.ty, &seen, &wanted.desired, &wanted.id)
                    {
                        settled_records.put(snapshot, &wanted.address, Some(Arc::new(record)));
                        self.done.insert(wanted.address.clone());
                    }
                    evaluation.answers.imports.insert(wanted.address, seen);
                }
                Err(why) => found.push(failed(&wanted.address, wanted.span).note(why)),
            }
        }
    }
}

impl Imports {
    /// Removes the imported records that are out of target.
    pub(crate) fn remove_out_of_target(
        &mut self,
        stays: impl Fn(&Address) -> bool,
        snapshot: &mut Snapshot,
        settled_records: &mut SettledRecords,
    ) {
        for address in self.done.iter().filter(|address| stays(address)) {
            settled_records.put(snapshot, address, None);
        }
        self.done.retain(|address| !stays(address));
    }
}

/// The observation of an object that no provider can read, from its definition and from the fields
/// that another tool has stored: texts, which are JSON if the field is not a text.
fn from_foreign_fields(wanted: &ImportTarget, stored_fields: &IndexMap<Name, Value>) -> PinnedRead {
    let mut fields = wanted.desired.as_map().cloned().unwrap_or_default();
    for (name, value) in stored_fields {
        let Some(field) = wanted
            .ty
            .schema
            .fields
            .get(name)
            .filter(|field| field.computed)
        else {
            continue;
        };
        let text = value
            .as_text()
            .filter(|_| !matches!(field.kind, Kind::String));
        let read = text
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_else(|| value.clone());
        fields.insert(name.clone(), read);
    }
    let id_field = wanted.ty.id_field.as_ref();
    if let Some(field) = id_field.filter(|field| !fields.contains_key(field)) {
        fields.insert(field.clone(), Value::Text(wanted.id.clone()));
    }
    let fields = Value::Map(fields.into());
    PinnedRead::Present {
        id: wanted.id.clone(),
        fields,
        private: Value::Null,
        expired: None,
        inputs: None,
    }
}

/// The address of each managed object, by type and id.
pub(crate) fn managed(snapshot: &Snapshot) -> IndexMap<(TypeId, Name), Address> {
    let records = snapshot
        .records
        .iter()
        .filter(|(_, record)| !record.id.is_empty());
    records
        .map(|(address, record)| {
            (
                (record.type_name.clone(), record.id.clone()),
                address.clone(),
            )
        })
        .collect()
}

/// An object that is read to be imported.
#[derive(Clone, Copy)]
pub(crate) struct ObjectToRead<'a> {
    pub(crate) ty: &'a ResourceType,
    pub(crate) id: &'a Name,
    /// The spec that declares it, if its type needs that.
    pub(crate) desired: Option<&'a Value>,
}

/// Whether the provider can read an object of this type that it does not manage yet. `is_declared`
/// says whether a document declares the object.
fn can_be_read(ty: &ResourceType, is_declared: bool) -> bool {
    let capabilities = &ty.capabilities;
    let leads_to_it = capabilities.imports || is_declared && capabilities.imports_declared;
    capabilities.reads && leads_to_it
}

/// Reads an object that is to be imported, with this configuration of its provider. An error is a
/// phrase for a note.
pub(crate) async fn read(
    (address, instance): (&Address, Option<&ProviderInstance>),
    object: ObjectToRead<'_>,
    site: &DeclarationSite,
    world: &dyn World,
) -> Result<(PinnedRead, Vec<ProviderDiagnostic>), String> {
    let ObjectToRead { ty, id, desired } = object;
    if !can_be_read(ty, desired.is_some()) {
        return Err(format!(
            "resources of type `{}` cannot be imported: the provider cannot read them",
            ty.name
        ));
    }
    let target = ResourceTarget::new(address, &ty.name, site.borrowed()).managed_by(instance);
    let absent = || format!("there is no `{}` with the id `{id}`", ty.name);
    let request = ImportRequest {
        type_name: &ty.name,
        id,
        desired: desired.unwrap_or(&Value::Null),
    };
    match world.import(target, request).await {
        Ok(found) => {
            let of_type = found.into_iter().find(|found| *found.type_name == *ty.name);
            let mut diagnostics = Vec::new();
            let mut pin_and_report = |mut observed: Observed| {
                diagnostics.append(&mut observed.diagnostics);
                pinned(observed)
            };
            let first = of_type.map(|found| pin_and_report(found.observed));
            // A read may depend on the inputs that were sent, so the object is read again with the
            // inputs of its new record.
            let Some(record) = first
                .as_ref()
                .and_then(|first| record_of(ty, first, request.desired, id))
            else {
                return Err(absent());
            };
            let again = ReadRequest {
                type_name: &ty.name,
                id: Some(&record.id),
                inputs: &record.inputs,
                outputs: &record.outputs,
                schema_version: record.schema_version,
                private: &record.private,
                token: None,
            };
            let seen = match world.read(target, again).await {
                Ok(ReadOutcome::Present(observed)) => Ok(pin_and_report(observed)),
                Ok(ReadOutcome::Absent | ReadOutcome::Unknown) => {
                    first.ok_or_else(|| "it has just gone".to_owned())
                }
                Err(error) => Err(error.message),
            };
            seen.map(|seen| (seen, diagnostics))
        }
        Err(error) => Err(error.message),
    }
}

/// The observation as a plan stores it.
pub(crate) fn pinned(observed: Observed) -> PinnedRead {
    let Observed {
        id,
        fields,
        inputs,
        private,
        expired,
        ..
    } = observed;
    PinnedRead::Present {
        id,
        fields,
        private,
        expired: expired.map(Into::into),
        inputs,
    }
}

/// The record of an object that was read. Each field that a document can set counts as set, unless
/// the type controls only what `desired` declares. Fields whose drift does not count have the values
/// of `desired`.
pub(crate) fn record_of(
    ty: &ResourceType,
    seen: &PinnedRead,
    desired: &Value,
    id: &Name,
) -> Option<Record> {
    let PinnedRead::Present {
        id: read,
        fields,
        private,
        inputs: provider_inputs,
        ..
    } = seen
    else {
        return None;
    };
    let outputs = mark_fields(&ty.schema, fields, desired);
    let only_declared = ty.capabilities.partial || ty.capabilities.imports_declared;
    let mut inputs = Map::default();
    for (name, field) in &ty.schema.fields {
        let wanted = desired.get(name);
        let value = if field.ignore_drift && !desired.is_null() {
            wanted
        } else if field.computed && (!field.optional || wanted.is_none()) {
            None
        } else {
            // A field that is sent and never read back has its default.
            outputs
                .get(name)
                .filter(|value| !value.is_null())
                .or(field.default.as_ref())
        };
        let value = value.filter(|value| !value.is_null() && !value.has_unknown());
        let value = match (value, wanted) {
            // Others control what the spec does not declare.
            (Some(_), None) if only_declared && !desired.is_null() => None,
            (Some(value), Some(wanted)) if ty.capabilities.partial => {
                Some(declared_part(Some(field), wanted, value))
            }
            (value, _) => value.cloned(),
        };
        if let Some(value) = value {
            inputs.insert(name.clone(), value);
        }
    }
    Some(Record {
        type_name: ty.name.clone(),
        status: Status::new(StatusOp::Create, StatusWord::Ready),
        id: if read.is_empty() {
            id.clone()
        } else {
            read.clone()
        },
        inputs: match provider_inputs {
            Some(inputs) if !ty.capabilities.partial || desired.is_null() => inputs.clone(),
            _ => Value::Map(inputs.into()),
        },
        outputs,
        private: private.clone(),
        metadata: Value::Null,
        dependencies: Vec::new(),
        retain: false,
        protect: false,
        delete_mode: blueprint::DeleteMode::Delete,
        deposed: None,
        token: None,
        attempt: None,
        attention: None,
        unhealthy: Vec::new(),
        schema_version: ty.schema_version,
        duration_ms: 0,
        origin: Default::default(),
        provider: None,
    })
}

/// The diagnostic `import-failed`.
pub(crate) fn failed(address: &Address, span: Span) -> Diagnostic {
    let diagnostic = codes::IMPORT_FAILED.new(format!("`{address}` cannot be imported"));
    if span.is_some() {
        diagnostic.label(span, "declared here")
    } else {
        diagnostic
    }
}

/// The diagnostic `import-failed` for an object that another address manages.
pub(crate) fn managed_already(
    address: &Address,
    other: &Address,
    id: &str,
    span: Span,
) -> Diagnostic {
    failed(address, span)
        .note(format!("`{id}` is managed already, as `{other}`"))
        .help(format!(
            "move it instead: `cyan state move '{other}' '{address}'`"
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CATALOG: &str = r#"{
      "format": 1,
      "namespace": "toy",
      "resourceTypes": {"toy/net": {
        "capabilities": {"importsDeclared": true, "imports": false},
        "fields": {"name": {"kind": "string"}, "zone": {"kind": "string"}}
      }}
    }"#;

    #[test]
    fn only_what_is_declared_is_recorded_of_an_object_that_others_control_too() {
        let catalog = provider::read_catalog(CATALOG).expect("a catalogue");
        let ty = catalog.resource_type("toy/net").expect("a type");
        assert!(can_be_read(&ty, true) && !can_be_read(&ty, false));
        let fields = Value::map([("name", Value::text("b")), ("zone", Value::text("z"))]);
        let seen = pinned(Observed {
            id: "net-1".into(),
            fields: fields.clone(),
            ..Observed::default()
        });
        let inputs = |desired: Value| {
            let record = record_of(&ty, &seen, &desired, &"net-1".into());
            record.map(|record| record.inputs)
        };
        let name = |name: &str| Value::map([("name", Value::text(name))]);
        assert_eq!(inputs(name("a")), Some(name("b")));
        assert_eq!(inputs(Value::Null), Some(fields));
    }
}
