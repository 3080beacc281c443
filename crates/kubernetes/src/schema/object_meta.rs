//! The fields of `metadata`, which are the same for all kinds.

use std::sync::Arc;

use blueprint::{Field, IndexMap, Kind, Name, Schema};

use super::forms::{ListForm, ListPatch, ValueForms};

/// The field `metadata` and its forms.
pub(super) fn object_meta() -> (Field, Arc<ValueForms>) {
    let mut fields: IndexMap<Name, Field> = [
        written(
            "name",
            Kind::String,
            "The name, unique for the kind in its namespace.",
        ),
        written("namespace", Kind::String, "The namespace of the object."),
        written(
            "generateName",
            Kind::String,
            "The beginning of a name that the server completes.",
        ),
        written(
            "labels",
            map(Kind::String),
            "Labels, by which objects are selected.",
        ),
        written(
            "annotations",
            map(Kind::String),
            "Annotations: further data of tools.",
        ),
        written(
            "finalizers",
            list(Field::of(Kind::String)),
            "Who must agree before the object is deleted.",
        ),
        written(
            "ownerReferences",
            list(owner()),
            "Objects with which this one is deleted.",
        ),
        filled_in("uid", Kind::String, "The unique id of the object."),
        filled_in(
            "resourceVersion",
            Kind::String,
            "The version of the stored object.",
        ),
        filled_in(
            "generation",
            Kind::Integer,
            "Counts the changes of the spec.",
        ),
        filled_in(
            "creationTimestamp",
            Kind::String,
            "The time of the creation.",
        ),
        filled_in(
            "deletionTimestamp",
            Kind::String,
            "The time at which the deletion was requested.",
        ),
        filled_in(
            "deletionGracePeriodSeconds",
            Kind::Integer,
            "The seconds that the object has to end.",
        ),
        filled_in("selfLink", Kind::String, "No longer set."),
        filled_in(
            "managedFields",
            list(Field::of(Kind::Any)),
            "Which managers hold which fields.",
        ),
    ]
    .into_iter()
    .collect();
    if let Some(finalizers) = fields.get_mut("finalizers") {
        finalizers.set = true;
    }
    if let Some(owners) = fields.get_mut("ownerReferences") {
        owners.keyed_by = Some("uid".into());
    }
    let forms = ValueForms {
        declared: fields.keys().cloned().collect(),
        fields: forms_of_fields(),
        ..ValueForms::default()
    };
    let field = Field {
        docs: "The name and further data of the object.".into(),
        ..Field::of(object(fields))
    };
    (field, Arc::new(forms))
}

fn forms_of_fields() -> IndexMap<Name, Arc<ValueForms>> {
    let map = || ValueForms {
        is_collection: true,
        ..ValueForms::default()
    };
    let list = |list: ListForm, patch: Option<ListPatch>| ValueForms {
        list: Some(list),
        patch,
        ..map()
    };
    let owner = ValueForms {
        is_atomic: true,
        ..ValueForms::default()
    };
    let owners = ValueForms {
        every: Some(Arc::new(owner)),
        ..list(
            ListForm::Map(vec!["uid".into()]),
            Some(ListPatch::ByKey("uid".into())),
        )
    };
    let forms = [
        ("labels", map()),
        ("annotations", map()),
        ("finalizers", list(ListForm::Set, Some(ListPatch::ByValue))),
        ("ownerReferences", owners),
        ("managedFields", list(ListForm::Atomic, None)),
    ];
    let form = |(name, forms): (&str, ValueForms)| (Name::from(name), Arc::new(forms));
    forms.into_iter().map(form).collect()
}

/// A field that documents write.
fn written(name: &str, kind: Kind, docs: &str) -> (Name, Field) {
    let field = Field {
        nullable: true,
        docs: docs.into(),
        ..Field::of(kind)
    };
    (name.into(), field)
}

/// A field that the server fills in. Manifests that were read from a server repeat some of them,
/// and generators write null, so a document may set it.
fn filled_in(name: &str, kind: Kind, docs: &str) -> (Name, Field) {
    let (name, field) = written(name, kind, docs);
    let field = Field {
        computed: true,
        optional: true,
        changes_on_update: true,
        ignore_drift: true,
        ..field
    };
    (name, field)
}

fn owner() -> Field {
    let required = |(name, field): (Name, Field)| {
        let field = Field {
            required: true,
            nullable: false,
            ..field
        };
        (name, field)
    };
    let fields = [
        required(written(
            "apiVersion",
            Kind::String,
            "The API version of the owner.",
        )),
        required(written("kind", Kind::String, "The kind of the owner.")),
        required(written("name", Kind::String, "The name of the owner.")),
        required(written("uid", Kind::String, "The unique id of the owner.")),
        written(
            "controller",
            Kind::Boolean,
            "Whether the owner controls the object.",
        ),
        written(
            "blockOwnerDeletion",
            Kind::Boolean,
            "Whether a foreground deletion of the owner waits for the object.",
        ),
    ];
    Field::of(object(fields.into_iter().collect()))
}

fn object(fields: IndexMap<Name, Field>) -> Kind {
    Kind::Object(Arc::new(Schema {
        fields,
        open: false,
    }))
}

fn map(values: Kind) -> Kind {
    Kind::Map(Arc::new(Field::of(values)))
}

fn list(item: Field) -> Kind {
    Kind::Array(Arc::new(item))
}
