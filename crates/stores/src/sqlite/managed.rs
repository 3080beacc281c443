//! The resources that instances manage, without the rest of their snapshots.
//!
//! Not here: whole snapshots (`read`).

use blueprint::{Address, Name, TypeId};
use serde::Deserialize;
use serde_json::Value as Json;
use state::{InstanceName, Managed, Outcome, StoreError};

use super::body;
use super::failure::damaged;
use super::head::{EntryRow, InstanceRow, sequence_of};
use super::reading::StateReader;

/// The identity of a resource in the body of an outcome.
#[derive(Deserialize)]
struct Identified {
    address: Address,
    record: Option<ObjectIdentity>,
}

#[derive(Deserialize)]
struct ObjectIdentity {
    #[serde(rename = "type")]
    type_name: TypeId,
    /// A text, or a map if it is sealed.
    #[serde(default)]
    id: Json,
}

impl StateReader<'_> {
    /// The objects that all instances except `own` manage.
    pub(super) fn managed_by_others(&self, own: &str) -> Result<Vec<Managed>, StoreError> {
        let looking = StateReader {
            display_only: true,
            ..*self
        };
        let mut found = Vec::new();
        for name in looking.names()?.into_iter().filter(|name| name != own) {
            let instance: InstanceName = name.parse().map_err(|_| damaged(self.path))?;
            let Some(head) = looking.head(&instance)? else {
                continue;
            };
            self.managed_by(&instance, &head, &mut found)?;
        }
        Ok(found)
    }

    fn managed_by(
        &self,
        instance: &InstanceName,
        head: &InstanceRow,
        found: &mut Vec<Managed>,
    ) -> Result<(), StoreError> {
        let at = |error| self.at(error);
        let mut entries: Vec<i64> = self
            .record_entries(head)?
            .into_iter()
            .map(|(_, entry)| entry)
            .collect();
        if entries.is_empty() {
            return Ok(());
        }
        if self.format >= 3 && head.tagger.is_none() {
            return Err(self.sealer.cannot_open().into());
        }
        entries.sort_unstable();
        let (columns, records) = (self.entry_columns(), self.records_table());
        let sql = format!(
            "SELECT {columns} FROM entries WHERE id IN (SELECT entry FROM {records} WHERE id BETWEEN ?1 AND ?2) ORDER BY id"
        );
        let mut statement = self.connection.prepare_cached(&sql).map_err(at)?;
        let mut rows = statement
            .query([head.entry(0), head.entry(head.entries())])
            .map_err(at)?;
        for entry in entries {
            let row = rows.next().map_err(at)?.ok_or_else(|| damaged(self.path))?;
            let row = self.genuine(head, sequence_of(entry).cast_signed(), row)?;
            if row.kind != "outcome" {
                return Err(damaged(self.path));
            }
            let (address, type_name, id) = self.identity(head, &row)?;
            if !id.is_empty() {
                found.push(Managed {
                    instance: instance.clone(),
                    address,
                    type_name,
                    id,
                });
            }
        }
        Ok(())
    }

    fn identity(
        &self,
        head: &InstanceRow,
        row: &EntryRow<'_>,
    ) -> Result<(Address, TypeId, Name), StoreError> {
        let place = head.place(row.id);
        // Addresses and types are never sealed, so they are read without opening secrets.
        let Identified { address, record } = body::read(self.sealer, place, false, row.body)?;
        let ObjectIdentity { type_name, id } = record.ok_or_else(|| damaged(self.path))?;
        let id = match id {
            Json::Null => Name::default(),
            Json::String(id) => id.into(),
            _ => {
                let outcome: Outcome = body::read(self.sealer, place, row.sealed, row.body)?;
                outcome
                    .record
                    .map(|record| record.id.clone())
                    .unwrap_or_default()
            }
        };
        Ok((address, type_name, id))
    }
}
