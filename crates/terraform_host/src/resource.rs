//! Resources outside of a change: validation, stored objects, reading, import, and moves from other
//! types.

use blueprint::{Name, Value};
use terraform_wire::Path;

use crate::client::{CallTypes, HOST, accept, read, write};
use crate::messages::{
    Data, ImportAnswer, ImportMessage, ImportedResource, MoveAnswer, MoveMessage, NoticesAnswer,
    ReadAnswer, ReadMessage, StoredData, UpgradeIdentityAnswer, UpgradeMessage, UpgradeStateAnswer,
    ValidateTypeMessage,
};
use crate::object::EnvelopeParts;
use crate::version::Method;
use crate::{
    AnswerWithWarnings, CallFailure, Client, Deferral, Malformed, Object, Stored, StoredIdentity,
    TerraformDiagnostic, json, marks,
};

/// The name of an object to import.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportBy<'a> {
    /// An id in the form of the type.
    Id(&'a str),
    /// An identity: a map.
    Identity(&'a Value),
}

/// One of the objects of an import.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// Its resource type.
    pub type_name: Name,
    /// The object, as it was read after the import.
    pub object: Object,
}

/// A stored object of another type, perhaps of another provider.
#[derive(Clone, Debug)]
pub struct Moved<'a> {
    /// The provider, for example `registry.terraform.io/hashicorp/random`. Providers compare its
    /// end.
    pub provider: &'a str,
    /// Its resource type.
    pub type_name: &'a str,
}

impl Client {
    /// Validates a configuration of a resource. Parts of it may be unknown.
    ///
    /// # Errors
    /// [`CallFailure::Rejected`] if it is not valid, and the failures of the call.
    pub async fn validate_resource(
        &self,
        type_name: &str,
        config: &Value,
    ) -> Result<AnswerWithWarnings<()>, CallFailure> {
        let shape = self.call_types(type_name)?;
        let config = Some(write(&shape.conform(config), &shape.ty, &[])?);
        let request = ValidateTypeMessage {
            type_name: type_name.into(),
            config,
            host: Some(HOST),
        };
        let answer: NoticesAnswer = self.ask(Method::VALIDATE_RESOURCE, request).await?;
        Ok(AnswerWithWarnings {
            value: (),
            warnings: accept(answer.notices)?,
        })
    }

    /// Returns an object from its value and its envelope, if both have the form of the current
    /// schema. Otherwise the object must be upgraded first. Parts of the value of a planned object
    /// may be unknown.
    ///
    /// # Errors
    /// If the provider has no such type.
    pub fn restored(
        &self,
        type_name: &str,
        value: &Value,
        envelope: &Value,
    ) -> Result<Option<Object>, CallFailure> {
        let shape = self.call_types(type_name)?;
        let EnvelopeParts {
            version,
            private,
            dynamic,
            identity,
        } = EnvelopeParts::of(envelope);
        let block = &shape.schema.block;
        let known =
            |name: &Name| block.attributes.contains_key(name) || block.blocks.contains_key(name);
        let fits = value.as_map().is_none_or(|fields| fields.keys().all(known));
        let current = shape.identity.as_ref().map(|schema| schema.version);
        let is_current = identity
            .as_ref()
            .is_none_or(|identity| Some(identity.version) == current);
        if version != Some(shape.schema.version) || !is_current || !fits {
            return Ok(None);
        }
        let value = shape.conform(value);
        Ok(Some(Object {
            value,
            dynamic,
            private,
            identity: identity.map(|identity| identity.value),
        }))
    }

    /// Converts a stored object to the form of the current schema. Call this before every use of a
    /// stored object, even if its version is the current one.
    ///
    /// # Errors
    /// [`CallFailure::Newer`] if a newer version of the provider wrote it,
    /// [`CallFailure::Rejected`] if the provider cannot upgrade it, and the failures of the calls.
    pub async fn upgrade(
        &self,
        type_name: &str,
        stored: &Stored,
    ) -> Result<AnswerWithWarnings<Object>, CallFailure> {
        let shape = self.call_types(type_name)?;
        let raw = StoredData {
            json: stored.json.clone(),
            ..StoredData::default()
        };
        let version = written_version(stored.version, shape.schema.version)?;
        let request = UpgradeMessage {
            type_name: type_name.into(),
            version,
            stored: Some(raw),
        };
        let answer: UpgradeStateAnswer = self.ask(Method::UPGRADE_STATE, request).await?;
        let mut warnings = accept(answer.notices)?;
        let mut object = self.object(Method::UPGRADE_STATE, &shape, answer.state.as_ref())?;
        if object.is_absent() {
            return Err(self.malformed(Method::UPGRADE_STATE, Malformed::Null("upgraded state")));
        }
        object.private = stored.private.clone();
        if let Some(identity) = &stored.identity {
            let upgraded = self.upgrade_identity(type_name, &shape, identity).await?;
            object.identity = upgraded.value;
            warnings.extend(upgraded.warnings);
        }
        Ok(AnswerWithWarnings {
            value: object,
            warnings,
        })
    }

    /// Upgrades an identity. One of the current version stays unchanged, and one that the provider
    /// no longer knows is dropped.
    async fn upgrade_identity(
        &self,
        type_name: &str,
        shape: &CallTypes,
        stored: &StoredIdentity,
    ) -> Result<AnswerWithWarnings<Option<Value>>, CallFailure> {
        let Some(schema) = &shape.identity else {
            return Ok(AnswerWithWarnings {
                value: None,
                warnings: Vec::new(),
            });
        };
        if stored.version == schema.version {
            return Ok(AnswerWithWarnings {
                value: Some(stored.value.clone()),
                warnings: Vec::new(),
            });
        }
        let raw = StoredData {
            json: json::write(&stored.value, &[]).map_err(CallFailure::Unfit)?,
            ..Default::default()
        };
        let version = written_version(stored.version, schema.version)?;
        let request = UpgradeMessage {
            type_name: type_name.into(),
            version,
            stored: Some(raw),
        };
        let answer: UpgradeIdentityAnswer = self.ask(Method::UPGRADE_IDENTITY, request).await?;
        let warnings = accept(answer.notices)?;
        let fault = |problem| self.malformed(Method::UPGRADE_IDENTITY, problem);
        Ok(AnswerWithWarnings {
            value: shape
                .read_identity(answer.identity.as_ref())
                .map_err(fault)?,
            warnings,
        })
    }

    /// Reads the current object. An absent object no longer exists.
    ///
    /// # Errors
    /// [`CallFailure::Rejected`] if it cannot be read, and the failures of the call.
    pub async fn read(
        &self,
        type_name: &str,
        object: &Object,
    ) -> Result<AnswerWithWarnings<Object>, CallFailure> {
        let shape = self.call_types(type_name)?;
        let request = ReadMessage {
            type_name: type_name.into(),
            current: Some(shape.object(Some(object))?),
            private: object.private.clone(),
            meta: self.meta(),
            host: Some(HOST),
            identity: shape.write_identity(object.identity.as_ref())?,
        };
        let answer: ReadAnswer = self.ask(Method::READ, request).await?;
        let warnings = accept(answer.notices)?;
        self.check_not_deferred(Method::READ, answer.deferred)?;
        let mut found = self.object(Method::READ, &shape, answer.state.as_ref())?;
        self.check_known(Method::READ, &found.value)?;
        found.value = marks::copy_secret_marks(&object.value, &found.value);
        found.private = answer.private;
        let identity = shape.read_identity(answer.identity.as_ref());
        found.identity = identity.map_err(|problem| self.malformed(Method::READ, problem))?;
        if found.identity.is_none() && !found.is_absent() {
            found.identity = object.identity.clone();
        }
        Ok(AnswerWithWarnings {
            value: found,
            warnings,
        })
    }

    /// Imports the objects of a name, each read once. Usually there is one object of the requested
    /// type; any others belong to it.
    ///
    /// # Errors
    /// [`CallFailure::NothingImported`] if there is no object of the asked type,
    /// [`CallFailure::Rejected`] if the provider refuses, and the failures of the calls.
    pub async fn import(
        &self,
        type_name: &str,
        by: ImportBy<'_>,
    ) -> Result<AnswerWithWarnings<Vec<Imported>>, CallFailure> {
        let shape = self.call_types(type_name)?;
        let (id, identity) = match by {
            ImportBy::Id(id) => (id.to_owned(), None),
            ImportBy::Identity(_) if shape.identity.is_none() => {
                return Err(CallFailure::Unsupported(
                    "an import by identity for this type",
                ));
            }
            ImportBy::Identity(identity) => (String::new(), shape.write_identity(Some(identity))?),
        };
        let request = ImportMessage {
            type_name: type_name.into(),
            id,
            host: Some(HOST),
            identity,
        };
        let answer: ImportAnswer = self.ask(Method::IMPORT, request).await?;
        let mut warnings = accept(answer.notices)?;
        let mut found = Vec::with_capacity(answer.resources.len());
        for one in answer.resources {
            if let Some(imported) = self.imported(one, &mut warnings).await? {
                found.push(imported);
            }
        }
        if found.iter().all(|one| one.type_name.as_ref() != type_name) {
            return Err(CallFailure::NothingImported);
        }
        Ok(AnswerWithWarnings {
            value: found,
            warnings,
        })
    }

    async fn imported(
        &self,
        answered: ImportedResource,
        warnings: &mut Vec<TerraformDiagnostic>,
    ) -> Result<Option<Imported>, CallFailure> {
        let shape = self.call_types(&answered.type_name)?;
        let mut object = self.object(Method::IMPORT, &shape, answered.state.as_ref())?;
        if object.is_absent() {
            return Err(self.malformed(Method::IMPORT, Malformed::Null("imported object")));
        }
        object.private = answered.private;
        let identity = shape.read_identity(answered.identity.as_ref());
        object.identity = identity.map_err(|problem| self.malformed(Method::IMPORT, problem))?;
        let read = self.read(&answered.type_name, &object).await?;
        warnings.extend(read.warnings);
        let imported = Imported {
            type_name: answered.type_name.into(),
            object: read.value,
        };
        Ok(Some(imported).filter(|imported| !imported.object.is_absent()))
    }

    /// Converts a stored object of another type to an object of a type of this provider. The result
    /// has the form of the current schema.
    ///
    /// # Errors
    /// [`CallFailure::Unsupported`] if the provider supports no moves, [`CallFailure::Rejected`] if
    /// it refuses this object, and the failures of the call.
    pub async fn move_state(
        &self,
        type_name: &str,
        from: &Moved<'_>,
        stored: &Stored,
    ) -> Result<AnswerWithWarnings<Object>, CallFailure> {
        if !self.schemas().abilities.moves {
            return Err(CallFailure::Unsupported("moves from other types"));
        }
        let shape = self.call_types(type_name)?;
        let identity = stored
            .identity
            .as_ref()
            .map(|one| json::write(&one.value, &[]))
            .transpose();
        let raw = |json| StoredData {
            json,
            ..StoredData::default()
        };
        let request = MoveMessage {
            source_provider: from.provider.into(),
            source_type: from.type_name.into(),
            source_version: written_version(stored.version, i64::MAX.unsigned_abs())?,
            source: Some(raw(stored.json.clone())),
            target_type: type_name.into(),
            source_private: stored.private.clone(),
            source_identity: identity.map_err(CallFailure::Unfit)?.map(raw),
            source_identity_version: stored.identity.as_ref().map_or(Ok(0), |one| {
                written_version(one.version, i64::MAX.unsigned_abs())
            })?,
        };
        let answer: MoveAnswer = self.ask(Method::MOVE, request).await?;
        let warnings = accept(answer.notices)?;
        let mut object = self.object(Method::MOVE, &shape, answer.state.as_ref())?;
        if object.is_absent() {
            return Err(self.malformed(Method::MOVE, Malformed::Null("target state")));
        }
        object.private = answer.private;
        let identity = shape.read_identity(answer.identity.as_ref());
        object.identity = identity.map_err(|problem| self.malformed(Method::MOVE, problem))?;
        Ok(AnswerWithWarnings {
            value: object,
            warnings,
        })
    }

    /// Reads a whole object of an answer, in the shape of the schema, without the values that must
    /// not be stored.
    pub(crate) fn object(
        &self,
        method: Method,
        shape: &CallTypes,
        data: Option<&Data>,
    ) -> Result<Object, CallFailure> {
        let (value, dynamic) =
            read(data, &shape.ty, "state").map_err(|problem| self.malformed(method, problem))?;
        let block = &shape.schema.block;
        let value = block.mark_sensitive(&block.without_write_only(&shape.conform(&value)));
        Ok(Object {
            value,
            dynamic,
            ..Object::default()
        })
    }

    /// Checks that an object outside of a plan has no unknown parts.
    pub(crate) fn check_known(&self, method: Method, value: &Value) -> Result<(), CallFailure> {
        let mut places = Vec::new();
        marks::without_unknown(value, &Path::default(), &mut places);
        match places.into_iter().next() {
            None => Ok(()),
            Some(path) => Err(self.malformed(method, Malformed::Unknown(path))),
        }
    }

    pub(crate) fn check_not_deferred(
        &self,
        method: Method,
        deferred: Option<crate::messages::DeferredMessage>,
    ) -> Result<(), CallFailure> {
        match deferred {
            None => Ok(()),
            Some(message) => Err(CallFailure::Deferred {
                method: self.name(method),
                reason: Deferral::of(message),
            }),
        }
    }
}

/// Returns the version of a stored form for a message, if it is not above the known version.
fn written_version(stored: u64, known: u64) -> Result<i64, CallFailure> {
    match i64::try_from(stored) {
        Ok(version) if stored <= known => Ok(version),
        _ => Err(CallFailure::Newer { stored, known }),
    }
}
