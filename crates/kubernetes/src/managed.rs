//! `metadata.managedFields`: which managers hold which fields of an object.

use blueprint::{FieldPath, Name};
use serde_json::{Value as Json, json};

use crate::field_set::{FieldSet, FieldSetError};

/// How a manager wrote its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagerOperation {
    /// By server-side apply.
    Apply,
    /// By any other request.
    Update,
}

/// The fields that a manager holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagerEntry {
    /// The name of the manager.
    pub manager: Name,
    /// How it wrote them.
    pub operation: ManagerOperation,
    /// The API version in which the fields are named.
    pub api_version: Name,
    /// The subresource through which they were written, for example `status`.
    pub subresource: Option<Name>,
    /// The time of the last change, as the server writes it.
    pub time: Option<Name>,
    /// The fields.
    pub fields: FieldSet,
}

/// The managers of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagedFields {
    /// The entries, in the order of the object.
    pub entries: Vec<ManagerEntry>,
}

impl ManagerOperation {
    fn word(self) -> &'static str {
        match self {
            ManagerOperation::Apply => "Apply",
            ManagerOperation::Update => "Update",
        }
    }
}

impl ManagerEntry {
    fn read(entry: &Json) -> Result<ManagerEntry, FieldSetError> {
        let text = |name: &str| entry[name].as_str().map(Name::from);
        let lacks = |name: &str| FieldSetError::EntryLacks(name.into());
        let operation = match entry["operation"].as_str() {
            Some("Apply") => ManagerOperation::Apply,
            Some("Update") => ManagerOperation::Update,
            _ => return Err(lacks("operation")),
        };
        match entry["fieldsType"].as_str() {
            Some("FieldsV1") | None => {}
            Some(other) => return Err(FieldSetError::UnknownFormat(other.into())),
        }
        let fields = match &entry["fieldsV1"] {
            Json::Null => FieldSet::default(),
            fields => FieldSet::read(fields)?,
        };
        Ok(ManagerEntry {
            manager: text("manager").ok_or_else(|| lacks("manager"))?,
            operation,
            api_version: text("apiVersion").ok_or_else(|| lacks("apiVersion"))?,
            subresource: text("subresource").filter(|name| !name.is_empty()),
            time: text("time"),
            fields,
        })
    }

    fn to_json(&self) -> Json {
        let mut entry = json!({
            "manager": *self.manager,
            "operation": self.operation.word(),
            "apiVersion": *self.api_version,
            "fieldsType": "FieldsV1",
            "fieldsV1": self.fields.to_json(),
        });
        if let Some(time) = &self.time {
            entry["time"] = (&**time).into();
        }
        if let Some(subresource) = &self.subresource {
            entry["subresource"] = (&**subresource).into();
        }
        entry
    }

    fn is(&self, manager: &str, operation: ManagerOperation) -> bool {
        *self.manager == *manager && self.operation == operation
    }
}

impl ManagedFields {
    /// The managers of an object; none if the object names none.
    ///
    /// # Errors
    /// If an entry does not have the form of `meta/v1`.
    pub fn of(object: &Json) -> Result<ManagedFields, FieldSetError> {
        let entries = object.pointer("/metadata/managedFields");
        let entries = entries.and_then(Json::as_array).into_iter().flatten();
        Ok(ManagedFields {
            entries: entries.map(ManagerEntry::read).collect::<Result<_, _>>()?,
        })
    }

    /// The list for `metadata.managedFields`.
    pub fn to_json(&self) -> Json {
        self.entries.iter().map(ManagerEntry::to_json).collect()
    }

    /// The fields that a manager holds by an operation, in all versions and subresources.
    pub fn set(&self, manager: &str, operation: ManagerOperation) -> FieldSet {
        self.entries
            .iter()
            .filter(|entry| entry.is(manager, operation))
            .fold(FieldSet::default(), |set, entry| set.union(&entry.fields))
    }

    /// The entries that hold the field at a path of the object, or a part of it, or a value that
    /// contains it as a whole.
    pub fn holders<'a>(
        &'a self,
        object: &'a Json,
        path: &'a FieldPath,
    ) -> impl Iterator<Item = &'a ManagerEntry> {
        self.entries
            .iter()
            .filter(move |entry| entry.fields.holds(object, path))
    }

    /// The entries after a manager that applies has taken over what others wrote by other requests,
    /// such as `kubectl-client-side-apply`: from then on it removes these fields when it no longer
    /// applies them. Entries of subresources stay.
    pub fn taken_over(&self, from: &[&str], by: &str) -> ManagedFields {
        let is_taken = |entry: &ManagerEntry| {
            entry.operation == ManagerOperation::Update
                && entry.subresource.is_none()
                && from.contains(&&*entry.manager)
        };
        let (taken, mut entries): (Vec<ManagerEntry>, Vec<ManagerEntry>) =
            self.entries.iter().cloned().partition(is_taken);
        for entry in taken {
            let own = entries.iter_mut().find(|own| {
                own.is(by, ManagerOperation::Apply)
                    && own.subresource.is_none()
                    && own.api_version == entry.api_version
            });
            match own {
                Some(own) => own.fields = own.fields.union(&entry.fields),
                None => entries.push(ManagerEntry {
                    manager: by.into(),
                    operation: ManagerOperation::Apply,
                    ..entry
                }),
            }
        }
        ManagedFields { entries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> Json {
        json!({"data": {"a": "1", "b": "2"}, "metadata": {"managedFields": [
            {"manager": "cyan:shop", "operation": "Apply", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}}}},
            {"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {".": {}, "f:b": {}}}},
            {"manager": "controller", "operation": "Update", "apiVersion": "v1", "subresource": "status",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:status": {"f:phase": {}}}}]}})
    }

    #[test]
    fn entries_read_back() {
        let object = object();
        let managed = ManagedFields::of(&object).unwrap();
        assert_eq!(managed.to_json(), object["metadata"]["managedFields"]);
        assert_eq!(
            ManagedFields::of(&json!({"metadata": {}})).unwrap().entries,
            []
        );
        for (entry, error) in [
            (
                json!({"manager": "a", "apiVersion": "v1"}),
                FieldSetError::EntryLacks("operation".into()),
            ),
            (
                json!({"operation": "Apply", "apiVersion": "v1"}),
                FieldSetError::EntryLacks("manager".into()),
            ),
            (
                json!({"operation": "Apply", "fieldsType": "FieldsV9"}),
                FieldSetError::UnknownFormat("FieldsV9".into()),
            ),
        ] {
            let object = json!({"metadata": {"managedFields": [entry]}});
            assert_eq!(ManagedFields::of(&object), Err(error));
        }
    }

    #[test]
    fn fields_have_their_holders() {
        let object = object();
        let managed = ManagedFields::of(&object).unwrap();
        let holders = |path: &str| {
            let path = FieldPath::parse(path);
            let holders = managed.holders(&object, &path);
            holders
                .map(|entry| entry.manager.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(holders("data.a"), ["cyan:shop"]);
        assert_eq!(holders("data"), ["cyan:shop", "kubectl-client-side-apply"]);
        assert_eq!(holders("status.phase"), ["controller"]);
        assert!(holders("data.c").is_empty());
        assert!(
            managed
                .set("cyan:shop", ManagerOperation::Update)
                .is_empty()
        );
        assert_eq!(
            managed.set("cyan:shop", ManagerOperation::Apply).to_json(),
            json!({"f:data": {"f:a": {}}})
        );
    }

    #[test]
    fn fields_of_other_requests_are_taken_over() {
        let managed = ManagedFields::of(&object()).unwrap();
        let after = managed.taken_over(&["kubectl-client-side-apply", "controller"], "cyan:shop");
        assert_eq!(after.entries.len(), 2);
        assert_eq!(
            after.set("cyan:shop", ManagerOperation::Apply).to_json(),
            json!({"f:data": {".": {}, "f:a": {}, "f:b": {}}})
        );
        let new = managed.taken_over(&["kubectl-client-side-apply"], "cyan:other");
        assert_eq!(
            new.set("cyan:other", ManagerOperation::Apply).to_json(),
            json!({"f:data": {".": {}, "f:b": {}}})
        );
    }
}
