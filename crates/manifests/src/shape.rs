//! The keys of a manifest that every kind has, as data.

use dialect::{KeyForm, Section, SectionKey, Shape};

/// The name of the dialect.
pub const NAME: &str = "manifests";

/// The sections that every kind has. The other keys of an object are fields of its kind.
pub(crate) static SHAPE: Shape = Shape {
    sections: &[&OBJECT, &METADATA],
};

static OBJECT: Section = Section {
    name: "object",
    keys: &[
        SectionKey::new(
            "apiVersion",
            KeyForm::Text,
            "The version of the API, as `v1` or `apps/v1`.",
        )
        .required(),
        SectionKey::new("kind", KeyForm::Text, "The kind of the object.").required(),
        SectionKey::new(
            "metadata",
            KeyForm::Map,
            "What identifies the object. Only a list needs none.",
        )
        .section("object metadata"),
        SectionKey::new("items", KeyForm::List, "The objects of a list."),
        SectionKey::new(SectionKey::OTHERS, KeyForm::Any, "The fields of the kind."),
    ],
};

static METADATA: Section = Section {
    name: "object metadata",
    keys: &[
        SectionKey::new(
            "name",
            KeyForm::Text,
            "The name of the object. Only a list needs none.",
        ),
        SectionKey::new(
            "namespace",
            KeyForm::Text,
            "The namespace; that of the context of the kubeconfig if none is written.",
        ),
        SectionKey::new(
            "labels",
            KeyForm::Map,
            "Labels, by which others select the object.",
        ),
        SectionKey::new(
            "annotations",
            KeyForm::Map,
            "Further data about the object.",
        ),
        SectionKey::new(
            SectionKey::OTHERS,
            KeyForm::Any,
            "Further metadata. What only servers set is left out.",
        ),
    ],
};
