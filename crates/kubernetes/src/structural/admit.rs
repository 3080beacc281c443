//! A structural schema, and what an API server does with an object of it.

use blueprint::{FieldPath, PathStep, Value};

use super::check::violations;
use super::defaults::with_defaults;
use super::metadata::{META_FIELDS, metadata_schema};
use super::node::{SchemaNode, Undeclared};
use super::prune::{PrunedObject, prune};
use super::read::{StructuralSchemaError, read_schema};
use super::rebuild::map_like;
use super::violation::SchemaViolation;

/// The schema of the objects of one version of a kind.
#[derive(Clone, Debug)]
pub struct StructuralSchema {
    root: SchemaNode,
    /// The schema of `metadata`, which the definition does not state.
    metadata: SchemaNode,
    status: StatusPart,
}

/// Whether objects have a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldPresence {
    /// The schema declares it.
    Declared,
    /// The schema leaves it open.
    Open,
    /// No object has it.
    Absent,
}

/// What `status` of an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatusPart {
    /// A field like others.
    Field,
    /// A subresource: a request for the object itself does not change it.
    Subresource,
}

/// What an API server makes of an object that is sent to it.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmittedObject {
    /// The object as it would be stored.
    pub object: Value,
    /// The fields that are dropped. A request with strict field validation is refused if there is
    /// one, before its other violations are looked for.
    pub dropped: Vec<FieldPath>,
    /// Why the object is refused. None if it is accepted.
    pub violations: Vec<SchemaViolation>,
}

impl StructuralSchema {
    /// Reads the `openAPIV3Schema` of a version of a CustomResourceDefinition.
    ///
    /// # Errors
    /// If a keyword has another form, a pattern is no regular expression, or the schema is nested
    /// too deep.
    pub fn read(schema: &Value) -> Result<StructuralSchema, StructuralSchemaError> {
        Ok(StructuralSchema {
            root: read_schema(schema)?,
            metadata: metadata_schema(),
            status: StatusPart::Field,
        })
    }

    /// Reads the schema of a version from a whole CustomResourceDefinition, and whether `status` is
    /// a subresource.
    ///
    /// # Errors
    /// As `read`, and if there is no such version or it has no schema.
    pub fn of_definition(
        definition: &Value,
        version: &str,
    ) -> Result<StructuralSchema, StructuralSchemaError> {
        let versions = definition.get("spec").and_then(|spec| spec.get("versions"));
        let versions = versions.and_then(Value::as_list).unwrap_or_default();
        let named = |own: &&Value| own.get("name").and_then(Value::as_text) == Some(version);
        let missing = || StructuralSchemaError::NoVersion(version.into());
        let stated = versions.iter().find(named).ok_or_else(missing)?;
        let schema = stated.get("schema");
        let schema = schema.and_then(|schema| schema.get("openAPIV3Schema"));
        let mut schema = StructuralSchema::read(schema.ok_or_else(missing)?)?;
        let subresources = stated.get("subresources");
        if subresources.is_some_and(|own| own.get("status").is_some()) {
            schema.status = StatusPart::Subresource;
        }
        Ok(schema)
    }

    /// The object with the defaults of the schema, and without nulls where null is no value.
    pub fn default(&self, object: &Value) -> Value {
        with_defaults(&self.root, &self.metadata, object)
    }

    /// The object without fields that the schema does not declare.
    pub fn prune(&self, object: &Value) -> PrunedObject {
        prune(&self.root, &self.metadata, object)
    }

    /// Why an API server refuses the object; none if it accepts it. Undeclared fields are no
    /// violations.
    pub fn validate(&self, object: &Value) -> Vec<SchemaViolation> {
        violations(&self.root, &self.metadata, object)
    }

    /// Whether the schema has the part of an object that a path names. A step to an item means any
    /// of them.
    pub fn presence(&self, path: &FieldPath) -> FieldPresence {
        let mut node = &self.root;
        let mut is_resource = true;
        for step in &path.0 {
            node = match step {
                PathStep::Index(_) => match (&node.items, node.ty) {
                    (Some(items), _) => items,
                    (None, None) => return FieldPresence::Open,
                    (None, Some(_)) if node.undeclared == Undeclared::Kept => {
                        return FieldPresence::Open;
                    }
                    (None, Some(_)) => return FieldPresence::Absent,
                },
                PathStep::Field(name) | PathStep::Key(name) => {
                    if is_resource && META_FIELDS.contains(&&**name) {
                        if **name != *"metadata" {
                            return FieldPresence::Declared;
                        }
                        &self.metadata
                    } else if let Some(field) = node.field(name) {
                        field
                    } else if node.undeclared == Undeclared::Kept || node.others.is_some() {
                        return FieldPresence::Open;
                    } else {
                        return FieldPresence::Absent;
                    }
                }
            };
            is_resource = node.is_resource;
        }
        FieldPresence::Declared
    }

    /// Adds defaults, drops undeclared fields and checks the result, as an API server does when an
    /// object is created. A status that is a subresource is removed before the check.
    pub fn admit(&self, object: &Value) -> AdmittedObject {
        let PrunedObject {
            mut object,
            dropped,
        } = self.prune(&self.default(object));
        if self.status == StatusPart::Subresource
            && let Some(entries) = object.as_map()
            && entries.contains_key("status")
        {
            let mut entries = entries.clone();
            entries.shift_remove("status");
            object = map_like(&object, entries);
        }
        AdmittedObject {
            violations: self.validate(&object),
            object,
            dropped,
        }
    }
}
