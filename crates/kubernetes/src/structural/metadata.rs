//! The metadata that every object has.

use blueprint::{Entries, Name};

use super::node::{OtherFields, SchemaNode, SchemaType, Undeclared};

/// The fields of every object that no schema declares.
pub(crate) const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The schema of `metadata`. A null in it means a missing field.
pub(crate) fn metadata_schema() -> SchemaNode {
    let texts = |names: &[&str]| -> Vec<(Name, SchemaNode)> {
        let field = |name: &&str| (Name::from(*name), of_type(SchemaType::Text));
        names.iter().map(field).collect()
    };
    let mut fields = texts(&[
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "deletionTimestamp",
    ]);
    for name in ["generation", "deletionGracePeriodSeconds"] {
        fields.push((name.into(), of_type(SchemaType::Integer)));
    }
    for name in ["labels", "annotations"] {
        let mut map = of_type(SchemaType::Object);
        map.others = Some(OtherFields::Of(Box::new(of_type(SchemaType::Text))));
        fields.push((name.into(), map));
    }
    fields.push(("finalizers".into(), list_of(of_type(SchemaType::Text))));
    let mut owner = texts(&["apiVersion", "kind", "name", "uid"]);
    for name in ["controller", "blockOwnerDeletion"] {
        owner.push((name.into(), of_type(SchemaType::Boolean)));
    }
    fields.push(("ownerReferences".into(), list_of(object_of(owner))));
    let mut manager = texts(&[
        "manager",
        "operation",
        "apiVersion",
        "time",
        "fieldsType",
        "subresource",
    ]);
    let mut set = of_type(SchemaType::Object);
    set.undeclared = Undeclared::Kept;
    manager.push(("fieldsV1".into(), set));
    fields.push(("managedFields".into(), list_of(object_of(manager))));
    object_of(fields)
}

fn of_type(ty: SchemaType) -> SchemaNode {
    SchemaNode {
        ty: Some(ty),
        ..SchemaNode::default()
    }
}

fn object_of(fields: Vec<(Name, SchemaNode)>) -> SchemaNode {
    SchemaNode {
        fields: fields.into_iter().collect::<Entries<SchemaNode>>(),
        ..of_type(SchemaType::Object)
    }
}

fn list_of(items: SchemaNode) -> SchemaNode {
    SchemaNode {
        items: Some(Box::new(items)),
        ..of_type(SchemaType::Array)
    }
}
