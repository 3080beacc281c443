//! A kind that a cluster serves, its versions and their schemas.

use std::sync::{Arc, OnceLock};

use kubernetes::schema::{ObjectSchema, ValueForms};
use kubernetes::structural::StructuralSchema;
use kubernetes::{GroupKind, builtin};
use serde_json::Value as Json;

use super::scale::ScalePaths;
use crate::naming::{ResourceName, TypeName};

/// A kind that the cluster serves.
#[derive(Debug)]
pub(crate) struct ServedKind {
    pub(crate) resource: ResourceName,
    pub(crate) type_name: TypeName,
    pub(crate) names: KindNames,
    pub(crate) scope: KindScope,
    /// The served versions, the preferred one first. Never empty.
    pub(crate) versions: Vec<ServedVersion>,
    pub(crate) verbs: Vec<Arc<str>>,
    pub(crate) origin: KindOrigin,
    pub(crate) generation: GenerationForm,
}

/// The further names of a kind.
#[derive(Debug)]
pub(crate) struct KindNames {
    pub(crate) singular: String,
    pub(crate) list_kind: String,
    pub(crate) short: Vec<String>,
    pub(crate) categories: Vec<String>,
}

/// Whether objects are in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KindScope {
    Namespaced,
    Cluster,
}

/// Where a kind comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KindOrigin {
    /// Every server has it.
    Builtin,
    /// A CustomResourceDefinition defines it.
    Defined,
    /// The first object of a kind without definition.
    Guessed,
}

/// Whether `metadata.generation` counts the changes of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GenerationForm {
    Counted,
    Absent,
}

/// The columns that a version of a definition states.
pub(crate) type StatedColumns = Arc<[Json]>;

/// A version of a kind.
#[derive(Debug)]
pub(crate) struct ServedVersion {
    pub(crate) name: Arc<str>,
    pub(crate) status: StatusForm,
    /// Where the replicas of objects stand, if the version has the subresource `scale`.
    pub(crate) scale: Option<ScalePaths>,
    /// The columns that a definition states; `None` for a kind that every server has.
    pub(crate) columns: Option<StatedColumns>,
    pub(super) schema: VersionSchema,
}

/// What `status` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatusForm {
    /// A field like others.
    Field,
    /// A subresource.
    Subresource,
}

#[derive(Debug)]
pub(super) enum VersionSchema {
    /// Read when it is first used.
    Builtin(GroupKind, OnceLock<Option<ObjectSchema>>),
    Defined(Box<DefinedSchema>),
    Open,
}

#[derive(Debug)]
pub(super) struct DefinedSchema {
    pub(super) structural: StructuralSchema,
    pub(super) forms: Arc<ValueForms>,
}

impl ServedKind {
    pub(crate) fn version(&self, name: &str) -> Option<&ServedVersion> {
        self.versions.iter().find(|own| *own.name == *name)
    }

    /// The `apiVersion` of objects in a version.
    pub(crate) fn api_version(&self, version: &str) -> String {
        match &*self.resource.group {
            "" => version.to_owned(),
            group => format!("{group}/{version}"),
        }
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.scope == KindScope::Namespaced
    }

    /// Whether the kind has a request.
    pub(crate) fn can(&self, verb: &str) -> bool {
        self.verbs.iter().any(|own| **own == *verb)
    }
}

impl ServedVersion {
    /// The structural schema of a kind with a definition.
    pub(crate) fn structural(&self) -> Option<&StructuralSchema> {
        match &self.schema {
            VersionSchema::Defined(schema) => Some(&schema.structural),
            VersionSchema::Builtin(..) | VersionSchema::Open => None,
        }
    }

    /// The schema of a kind that every server has. `None` if it has none.
    pub(crate) fn builtin(&self) -> Option<&ObjectSchema> {
        match &self.schema {
            VersionSchema::Builtin(kind, schema) => {
                let read = || builtin().object_schema(kind, Some(&self.name));
                schema.get_or_init(read).as_ref()
            }
            VersionSchema::Defined(_) | VersionSchema::Open => None,
        }
    }

    /// How the lists and maps of objects are merged.
    pub(crate) fn forms(&self) -> Arc<ValueForms> {
        match &self.schema {
            VersionSchema::Builtin(..) => {
                let forms = self.builtin().map(|schema| schema.forms.clone());
                forms.unwrap_or_default()
            }
            VersionSchema::Defined(schema) => schema.forms.clone(),
            VersionSchema::Open => Arc::default(),
        }
    }
}

/// A kind that is only known from an object: its path gives the plural and the scope.
pub(crate) fn guessed_kind(
    resource: &ResourceName,
    version: &str,
    object: &Json,
    scope: KindScope,
) -> Option<ServedKind> {
    let kind = object["kind"].as_str().filter(|kind| !kind.is_empty())?;
    Some(ServedKind {
        resource: resource.clone(),
        type_name: TypeName {
            group: resource.group.clone(),
            kind: kind.into(),
        },
        names: KindNames {
            singular: kind.to_lowercase(),
            list_kind: format!("{kind}List"),
            short: Vec::new(),
            categories: Vec::new(),
        },
        scope,
        versions: vec![ServedVersion {
            name: version.into(),
            status: StatusForm::Subresource,
            scale: None,
            columns: Some(StatedColumns::default()),
            schema: VersionSchema::Open,
        }],
        verbs: all_verbs(),
        origin: KindOrigin::Guessed,
        generation: GenerationForm::Counted,
    })
}

/// The requests of kinds that are no part of the server.
pub(super) fn all_verbs() -> Vec<Arc<str>> {
    let verbs = [
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "create",
        "update",
        "watch",
    ];
    verbs.map(Arc::from).into()
}
