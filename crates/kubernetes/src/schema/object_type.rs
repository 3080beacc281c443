//! The resource type of a kind.

use std::sync::Arc;

use blueprint::{Field, IndexMap, Kind, Name, ReplaceOrder, Schema, SupportStatus, Value};
use provider::{Attributes, Capabilities, ImplicitDependency, Plans, ResourceType};
use serde_json::Value as Json;

use super::forms::ValueForms;
use super::object_meta::object_meta;
use super::reader::{SchemaReader, Schemas, sentence};
use crate::{GroupKind, KindType};

/// A kind in one version: its type in documents, and what a comparison of two objects must know.
#[derive(Clone, Debug)]
pub struct ObjectSchema {
    /// The type. Its name does not have the version.
    pub resource_type: Arc<ResourceType>,
    /// The forms of the values.
    pub forms: Arc<ValueForms>,
}

/// The fields of a kind whose values are secret, at any depth. Empty for most kinds.
pub fn sensitive_fields(kind: &GroupKind) -> &'static [&'static str] {
    if kind.is("", "Secret") {
        &["data", "stringData"]
    } else {
        &[]
    }
}

/// The type `kubernetes/object`: an object of any kind, whose fields are not known.
pub fn any_object() -> ResourceType {
    let (mut fields, _) = identity(None);
    fields.insert("status".into(), computed(Field::of(Kind::Any)));
    let docs = "An object of any kind; its manifest names the kind.";
    let name = KindType::Any.to_string();
    let mut ty = resource_type(name.into(), docs.into(), fields, true);
    ty.waits = vec![namespace_first(), definition_first()];
    ty
}

/// The type of a kind by its schema.
pub(super) fn object_schema(kind: &GroupKind, spec: &Json, schemas: &dyn Schemas) -> ObjectSchema {
    let (mut fields, mut forms) = identity(Some(kind));
    let (declared, declared_forms) = SchemaReader::new(schemas).fields(spec);
    for name in declared_forms.declared {
        if !forms.declared.contains(&name) {
            forms.declared.push(name);
        }
    }
    forms.always_there = declared_forms.always_there;
    for (name, form) in declared_forms.fields {
        if !fields.contains_key(&name) {
            forms.fields.insert(name, form);
        }
    }
    // A schema that allows anything, or is not there, declares no fields.
    let open = spec["x-kubernetes-preserve-unknown-fields"] == true
        || spec["properties"]
            .as_object()
            .is_none_or(|properties| properties.is_empty());
    let secrets = sensitive_fields(kind);
    for (name, field) in declared {
        if fields.contains_key(&name) {
            continue;
        }
        let field = if *name == *"status" {
            computed(field)
        } else {
            // The server fills in what a document leaves out.
            let filled_in = !field.required;
            Field {
                sensitive: secrets.contains(&&*name),
                computed: filled_in,
                optional: filled_in,
                changes_on_update: filled_in,
                // The server moves its entries into `data`.
                ignore_drift: kind.is("", "Secret") && *name == *"stringData",
                ..field
            }
        };
        fields.insert(name, field);
    }
    let docs = sentence(&spec["description"]);
    let mut ty = resource_type(kind.type_name(), docs, fields, open);
    if !kind.is("", "Namespace") {
        ty.waits.push(namespace_first());
    }
    ObjectSchema {
        resource_type: Arc::new(ty),
        forms: Arc::new(forms),
    }
}

/// The rule that an object waits for the namespace that it names.
fn namespace_first() -> ImplicitDependency {
    ImplicitDependency {
        type_name: GroupKind::new("", "Namespace").type_name(),
        own_fields: vec!["metadata.namespace".into()],
        awaited_fields: vec!["metadata.name".into()],
        through: None,
    }
}

/// The rule that an object waits for the definition of the kind that it names.
pub(super) fn definition_first() -> ImplicitDependency {
    ImplicitDependency {
        type_name: GroupKind::new("apiextensions.k8s.io", "CustomResourceDefinition").type_name(),
        own_fields: vec!["kind".into()],
        awaited_fields: vec!["spec.names.kind".into()],
        through: None,
    }
}

/// The fields that every object has, and their forms.
fn identity(kind: Option<&GroupKind>) -> (IndexMap<Name, Field>, ValueForms) {
    let text = |docs: &str, allowed: Vec<Value>| {
        let is_optional = kind.is_some();
        Field {
            required: !is_optional,
            computed: is_optional,
            optional: is_optional,
            nullable: is_optional,
            allowed,
            docs: docs.into(),
            ..Field::of(Kind::String)
        }
    };
    let kinds = kind.map(|kind| Value::from(&*kind.kind));
    let (metadata, forms) = object_meta();
    let fields = [
        (
            "apiVersion",
            text("The group and version of the kind.", Vec::new()),
        ),
        ("kind", text("The kind.", kinds.into_iter().collect())),
        (
            "metadata",
            Field {
                required: true,
                ..metadata
            },
        ),
    ];
    let forms = ValueForms {
        declared: fields.iter().map(|(name, _)| Name::from(*name)).collect(),
        fields: [(Name::from("metadata"), forms)].into_iter().collect(),
        ..ValueForms::default()
    };
    let fields = fields.into_iter();
    (
        fields.map(|(name, field)| (name.into(), field)).collect(),
        forms,
    )
}

/// A field that only the server sets.
fn computed(field: Field) -> Field {
    Field {
        required: false,
        computed: true,
        nullable: true,
        changes_on_update: true,
        ..field
    }
}

fn resource_type(
    name: Name,
    docs: Name,
    fields: IndexMap<Name, Field>,
    open: bool,
) -> ResourceType {
    ResourceType {
        name: name.into(),
        former_names: Vec::new(),
        docs,
        example: "".into(),
        schema: Arc::new(Schema { fields, open }),
        id_field: None,
        replace_order: ReplaceOrder::DeleteFirst,
        needs_stable: Vec::new(),
        rejects: Vec::new(),
        annotations: Vec::new(),
        capabilities: Capabilities {
            plans: Plans::Always,
            exact: false,
            outputs_decide: true,
            adopts: true,
            ..Capabilities::default()
        },
        schema_version: 0,
        attributes: Attributes::Fields,
        update_policy: None,
        service: None,
        support_status: SupportStatus::Supported,
        waits: Vec::new(),
        replaces_where: Vec::new(),
        sources: IndexMap::default(),
        reads_with: None,
        ready_within: None,
        instead: None,
    }
}
