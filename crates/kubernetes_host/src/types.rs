//! The types of the package: `kubernetes/GROUP/KIND` for each kind, `kubernetes/object` and
//! `kubernetes/run`.
//!
//! Not here: schemas (`kubernetes::schema`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ::kubernetes::schema::{self, DefinedKind};
use ::kubernetes::{GroupKind, KindType, builtin};
use ::provider::{
    Capabilities, DataSourceType, ImplicitDependency, Plans, ResourceType, TypeSource,
};
use blueprint::{Field, Kind, Name, Schema, TypeId};

use crate::data::data_source_type;
use crate::runs::{RUN_TYPE, run_type};

/// The types of the package. A type is made when it is first used.
#[derive(Debug)]
pub(crate) struct KubernetesTypes {
    /// The types of the kinds that every cluster has.
    names: Vec<String>,
    /// The types of the kinds that the setting `crds` defines.
    defined: HashMap<GroupKind, Arc<ResourceType>>,
    made: Mutex<HashMap<Name, Arc<ResourceType>>>,
}

impl KubernetesTypes {
    /// The types of all clusters and of these kinds.
    pub(crate) fn new(defined: Vec<DefinedKind>) -> KubernetesTypes {
        let kinds = builtin().kinds().filter(|kind| kind.is_managed());
        let own = defined.iter().map(|defined| &defined.kind);
        let names = kinds.map(|info| &info.kind).chain(own);
        let names = names.map(|kind| kind.type_name().to_string()).collect();
        let types = defined.into_iter().filter_map(|defined| {
            let preferred = defined.versions.into_iter().next()?;
            Some((defined.kind, preferred.schema.resource_type))
        });
        KubernetesTypes {
            names,
            defined: types.collect(),
            made: Mutex::default(),
        }
    }
}

impl TypeSource for KubernetesTypes {
    fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
        if name == RUN_TYPE {
            let object = open_type(&KindType::Any).schema;
            return Some(Arc::new(run_type(object)));
        }
        let ty = self.known(name)?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(name) {
            return Some(known.clone());
        }
        let new = Arc::new(managed_type(&ty, self.schema_type(&ty)));
        made.insert(name.into(), new.clone());
        Some(new)
    }

    fn has_resource_type(&self, name: &str) -> bool {
        name == RUN_TYPE || self.known(name).is_some()
    }

    fn data_source_type(&self, name: &str) -> Option<Arc<DataSourceType>> {
        let ty = self.known(name)?;
        let KindType::Kind(_) = ty else { return None };
        Some(Arc::new(data_source_type(&ty, &self.schema_type(&ty))))
    }

    fn data_source_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.names.iter().map(String::as_str))
    }

    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.names.iter().map(String::as_str))
    }
}

impl KubernetesTypes {
    /// The type that a name stands for. `None` if no cluster has it: a group of the API itself has
    /// only the kinds that are built in. Other groups may have any kind.
    fn known(&self, name: &str) -> Option<KindType> {
        let ty: KindType = name.parse().ok()?;
        let KindType::Kind(kind) = &ty else {
            return Some(ty);
        };
        let is_of_api = builtin().kinds().any(|info| info.kind.group == kind.group);
        let exists = builtin().kind(kind).is_some() || self.defined.contains_key(kind);
        (exists || !is_of_api).then_some(ty)
    }

    /// The type of a kind by its schema, if it is known.
    fn schema_type(&self, ty: &KindType) -> ResourceType {
        let KindType::Kind(kind) = ty else {
            return open_type(ty);
        };
        if let Some(defined) = self.defined.get(kind) {
            return ResourceType::clone(defined);
        }
        match builtin().object_schema(kind, None) {
            Some(schema) => ResourceType::clone(&schema.resource_type),
            None => open_type(ty),
        }
    }
}

/// A type with what this provider can do with its objects.
fn managed_type(ty: &KindType, known: ResourceType) -> ResourceType {
    let described_only = known.capabilities.described_only && *ty != KindType::Any;
    ResourceType {
        capabilities: Capabilities {
            checks: true,
            plans: Plans::Always,
            exact: false,
            outputs_decide: true,
            partial: true,
            complete_when_ready: true,
            adopts: true,
            finds: true,
            described_only,
            ..known.capabilities
        },
        waits: waits(),
        ..known
    }
}

/// The type of a kind whose schema is not known: every field is taken as it is written, and most
/// kinds have these.
fn open_type(ty: &KindType) -> ResourceType {
    let any = schema::any_object();
    let mut fields = any.schema.fields.clone();
    let field = |docs: &str| Field {
        docs: docs.into(),
        // The object may be a Secret.
        sensitive: *ty == KindType::Any && docs == DATA,
        ..Field::of(Kind::Any)
    };
    for (name, docs) in [("spec", SPEC), ("data", DATA), ("stringData", DATA)] {
        if *ty == KindType::Any || name != "stringData" {
            fields.insert(name.into(), field(docs));
        }
    }
    if *ty != KindType::Any {
        // The type has the kind.
        for name in ["apiVersion", "kind"] {
            if let Some(field) = fields.get_mut(name) {
                field.required = false;
            }
        }
    }
    ResourceType {
        name: TypeId::from(&Name::from(ty.to_string())),
        schema: Arc::new(Schema { fields, open: true }),
        ..any
    }
}

/// The description of the field `spec` of a kind without a schema.
const SPEC: &str = "What the object should be.";

/// The description of the field `data` of a kind without a schema.
const DATA: &str = "The content of the object.";

/// An object waits for its namespace, and for the definition of its kind if it writes the kind.
fn waits() -> Vec<ImplicitDependency> {
    let wait = |type_name: &str, own: &str, awaited: &str| ImplicitDependency {
        type_name: type_name.into(),
        own_fields: vec![own.into()],
        awaited_fields: vec![awaited.into()],
        through: None,
    };
    vec![
        wait(
            "kubernetes/core/Namespace",
            "metadata.namespace",
            "metadata.name",
        ),
        wait(
            "kubernetes/apiextensions.k8s.io/CustomResourceDefinition",
            "kind",
            "spec.names.kind",
        ),
    ]
}
