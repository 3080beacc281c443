//! The types of the package: `kubernetes/GROUP/KIND` for each kind, and `kubernetes/object`.

use std::sync::Arc;

use ::kubernetes::KindType;
use ::provider::{Attributes, Capabilities, ImplicitDependency, Plans, ResourceType, TypeSource};
use blueprint::{Field, IndexMap, Kind, Name, ReplaceOrder, Schema, SupportStatus, TypeId};

/// The types of the package.
#[derive(Debug, Default)]
pub(crate) struct KubernetesTypes;

impl TypeSource for KubernetesTypes {
    fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
        let ty: KindType = name.parse().ok()?;
        Some(Arc::new(open_type(&ty)))
    }

    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(std::iter::empty())
    }
}

/// The type of a kind whose schema is not known: every field is taken as it is written.
fn open_type(ty: &KindType) -> ResourceType {
    let any = |docs: &str| Field {
        docs: docs.into(),
        ..Field::of(Kind::Any)
    };
    let text = |docs: &str| Field {
        docs: docs.into(),
        ..Field::of(Kind::String)
    };
    let status = Field {
        computed: true,
        ..any("What the cluster reports about the object.")
    };
    let fields: IndexMap<Name, Field> = [
        (
            "apiVersion",
            text("The version of the API, for example `apps/v1`."),
        ),
        ("kind", text("The kind of the object.")),
        (
            "metadata",
            any("The name, namespace, labels and annotations."),
        ),
        ("spec", any("What the object should be.")),
        ("data", any("The content of the object.")),
        ("status", status),
    ]
    .into_iter()
    .map(|(name, field)| (name.into(), field))
    .collect();
    resource_type(
        ty,
        "An object of any kind. Its fields are checked by the server.",
        Schema { fields, open: true },
    )
}

/// The type of a kind with a schema.
pub(crate) fn resource_type(ty: &KindType, docs: &str, schema: Schema) -> ResourceType {
    ResourceType {
        name: TypeId::from(&Name::from(ty.to_string())),
        former_names: Vec::new(),
        docs: docs.into(),
        example: "".into(),
        schema: Arc::new(schema),
        id_field: None,
        replace_order: ReplaceOrder::DeleteFirst,
        needs_stable: Vec::new(),
        rejects: Vec::new(),
        annotations: Vec::new(),
        capabilities: Capabilities {
            checks: true,
            plans: Plans::Always,
            exact: false,
            outputs_decide: true,
            partial: true,
            complete_when_ready: true,
            adopts: true,
            finds: true,
            ..Capabilities::default()
        },
        schema_version: 0,
        attributes: Attributes::Fields,
        update_policy: None,
        service: None,
        support_status: SupportStatus::Supported,
        waits: waits(),
        replaces_where: Vec::new(),
        sources: IndexMap::default(),
        reads_with: None,
    }
}

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
