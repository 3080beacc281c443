//! Brings records of an older schema to the version of the catalogue, before anything else reads
//! them.
//!
//! The records in the state stay as they are until an operation writes them.

use std::sync::Arc;

use diag::Diagnostics;
use evaluate::question::{RecordedInstances, ResourceTarget};
use evaluate::retry::code_of;
use evaluate::world::World;
use provider::{Catalogs, TypeRef, UpgradeRequest};
use state::{Record, Snapshot};
use understand::secret_marks::{mark_fields, with_secret_marks_of};

use crate::codes;

/// Upgrades the records of a snapshot. Returns whether all records have a version that their
/// providers understand; `found` receives the reasons otherwise.
pub(crate) async fn upgrade_records(
    snapshot: &mut Snapshot,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
) -> bool {
    let differs = |record: &Record| match catalogs.resource_type(&record.type_name) {
        TypeRef::Known(ty) if ty.schema_version != record.schema_version => Some(ty),
        _ => None,
    };
    let old: Vec<_> = snapshot
        .records
        .iter()
        .filter(|(_, record)| {
            !record.id.is_empty() && world.environment().manages(&record.type_name)
        })
        .filter_map(|(address, record)| Some((address.clone(), record.clone(), differs(record)?)))
        .collect();
    let asked = old
        .iter()
        .filter(|(_, record, ty)| record.schema_version < ty.schema_version);
    if old.is_empty() {
        return true;
    }
    let instances = &RecordedInstances::of(snapshot);
    let asked = asked.map(async |(address, record, ty)| {
        let target = ResourceTarget::new(address, &record.type_name, record.origin.site())
            .managed_by(instances.get(record.provider.as_ref()));
        let request = UpgradeRequest {
            type_name: &record.type_name,
            schema_version: record.schema_version,
            inputs: &record.inputs,
            fields: &record.outputs,
            private: &record.private,
        };
        (address, record, ty, world.upgrade(target, request).await)
    });
    let mut complete = true;
    for (address, record, ty, answer) in futures::future::join_all(asked.collect::<Vec<_>>()).await
    {
        match answer {
            Ok(upgraded) => {
                let upgraded = Record {
                    outputs: mark_fields(&ty.schema, &upgraded.fields, &record.outputs),
                    inputs: with_secret_marks_of(&upgraded.inputs, Some(&record.inputs), None),
                    private: upgraded.private,
                    schema_version: ty.schema_version,
                    ..Record::clone(record)
                };
                snapshot.records.insert(address.clone(), Arc::new(upgraded));
            }
            Err(error) => {
                complete = false;
                let what = format!("the provider cannot upgrade the record of `{address}`");
                found.push(code_of(&error).new(what).note(error.message));
            }
        }
    }
    for (address, record, ty) in old
        .iter()
        .filter(|(_, record, ty)| record.schema_version > ty.schema_version)
    {
        complete = false;
        let has = record.schema_version;
        let knows = ty.schema_version;
        let what = format!("`{address}` was recorded by a newer version of its provider");
        let why = format!("its record has schema version {has}, the provider here has {knows}");
        found.push(
            codes::PROVIDER_FAILED
                .new(what)
                .note(why)
                .help("use the newer version of the provider"),
        );
    }
    complete
}
