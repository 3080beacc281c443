//! The types of the package: `kubernetes/GROUP/KIND` for each kind, and `kubernetes/object`.
//!
//! Not here: schemas (`kubernetes::schema`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ::kubernetes::{KindType, builtin, schema};
use ::provider::{
    Capabilities, DataSourceType, ImplicitDependency, Plans, ResourceType, TypeSource,
};
use blueprint::{Field, Kind, Name, Schema, TypeId};

use crate::data::{data_source_type, readable_type};

/// The types of the package. A type is made when it is first used.
#[derive(Debug)]
pub(crate) struct KubernetesTypes {
    /// The types of the kinds that every cluster has.
    names: Vec<String>,
    made: Mutex<HashMap<Name, Arc<ResourceType>>>,
}

impl KubernetesTypes {
    /// The types. None is made.
    pub(crate) fn new() -> KubernetesTypes {
        let kinds = builtin().kinds().filter(|kind| kind.is_managed());
        KubernetesTypes {
            names: kinds
                .map(|info| info.kind.type_name().to_string())
                .collect(),
            made: Mutex::default(),
        }
    }
}

impl TypeSource for KubernetesTypes {
    fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
        let ty: KindType = name.parse().ok()?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(name) {
            return Some(known.clone());
        }
        let new = Arc::new(type_of(&ty));
        made.insert(name.into(), new.clone());
        Some(new)
    }

    fn has_resource_type(&self, name: &str) -> bool {
        name.parse::<KindType>().is_ok()
    }

    fn data_source_type(&self, name: &str) -> Option<Arc<DataSourceType>> {
        let ty: KindType = name.parse().ok()?;
        Some(Arc::new(data_source_type(&ty, &readable_type(&ty)?)))
    }

    fn data_source_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.names.iter().map(String::as_str))
    }

    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.names.iter().map(String::as_str))
    }
}

fn type_of(ty: &KindType) -> ResourceType {
    let known = match ty {
        KindType::Any => Some(open_type(ty)),
        KindType::Kind(kind) => builtin()
            .object_schema(kind, None)
            .map(|schema| ResourceType::clone(&schema.resource_type)),
    };
    let known = known.unwrap_or_else(|| open_type(ty));
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
