//! Sections and keys as data (decisions/heat#sections-of-a-template, decisions/heat#parameters,
//! decisions/heat#keys-of-a-resource).

use diag::Diagnostic;
use dialect::{Detail, ForeignWords, KeyForm, Offer, Section, SectionKey, Shape, WordPlace};

/// Adds to the diagnostic for an unknown key what was probably meant: the key for a word of another
/// tool, or a similar key.
pub(super) fn explained(diagnostic: Diagnostic, section: &Section, key: &str) -> Diagnostic {
    match ForeignWords::HEAT.find(WordPlace::Key(section.name), key) {
        Some(row) => diagnostic.help(row.help),
        None => diagnostic.help_nearest(key, section.keys.iter().map(|key| key.name)),
    }
}

/// All sections.
pub(super) static SHAPE: Shape = Shape {
    sections: &[&TEMPLATE, &PARAMETER, &GROUP, &RESOURCE, &OUTPUT],
};

/// The top level.
pub(super) static TEMPLATE: Section = Section {
    name: "template",
    keys: &[
        SectionKey::new(
            "heat_template_version",
            KeyForm::Text,
            "The version of the language: a date, or the name of a release.",
        )
        .required(),
        SectionKey::new("description", KeyForm::Text, "For people."),
        SectionKey::new(
            "parameter_groups",
            KeyForm::List,
            "How parameters are shown together.",
        ),
        SectionKey::new("parameters", KeyForm::Map, "What is given from outside.")
            .definitions("parameter"),
        SectionKey::new("conditions", KeyForm::Map, "Named conditions.")
            .substitutions()
            .since("2016-10-14"),
        SectionKey::new("resources", KeyForm::Map, "What is to exist.").definitions("resource"),
        SectionKey::new("outputs", KeyForm::Map, "What is shown when all is done.")
            .definitions("output"),
    ],
};

/// A parameter.
pub(super) static PARAMETER: Section = Section {
    name: "parameter",
    keys: &[
        SectionKey::new("type", KeyForm::Text, "What kind of value it takes.")
            .required()
            .one_of(&[
                "string",
                "number",
                "comma_delimited_list",
                "json",
                "boolean",
            ]),
        SectionKey::new("label", KeyForm::Scalar, "Its name for people."),
        SectionKey::new("description", KeyForm::Scalar, "For people."),
        SectionKey::new("default", KeyForm::Any, "Taken where nothing is given."),
        SectionKey::new("hidden", KeyForm::Scalar, "Must not be shown."),
        SectionKey::new("constraints", KeyForm::List, "What values must meet."),
        SectionKey::new(
            "immutable",
            KeyForm::Scalar,
            "May not be changed once the stack exists.",
        ),
        SectionKey::new("tags", KeyForm::List, "Words for tools.").since("2018-03-02"),
    ],
};

/// A group of parameters.
pub(super) static GROUP: Section = Section {
    name: "parameter group",
    keys: &[
        SectionKey::new("label", KeyForm::Scalar, "Its name for people."),
        SectionKey::new("description", KeyForm::Scalar, "For people."),
        SectionKey::new(
            "parameters",
            KeyForm::List,
            "Names of parameters, in order.",
        )
        .required(),
    ],
};

/// A resource.
pub(super) static RESOURCE: Section = Section {
    name: "resource",
    keys: &[
        SectionKey::new(
            "type",
            KeyForm::Text,
            "Its type, or the path of a template.",
        )
        .required()
        .offer(Offer::ResourceType)
        .detail(Detail::AnyType),
        SectionKey::new("properties", KeyForm::Map, "What it is to be.")
            .offer(Offer::Spec)
            .detail(Detail::ConvertedFields)
            .substitutions(),
        SectionKey::new("metadata", KeyForm::Map, "Free data of it.").substitutions(),
        SectionKey::new(
            "depends_on",
            KeyForm::ScalarOrList,
            "Resources that must be ready first.",
        ),
        SectionKey::new("update_policy", KeyForm::Map, "How it is updated.").substitutions(),
        SectionKey::new(
            "deletion_policy",
            KeyForm::Any,
            "What becomes of the object when the resource goes.",
        )
        .substitutions(),
        SectionKey::new(
            "external_id",
            KeyForm::Any,
            "The object exists under this id; it is read, never changed.",
        )
        .substitutions()
        .since("2016-10-14"),
        SectionKey::new("condition", KeyForm::Any, "Whether it is there at all.")
            .substitutions()
            .since("2016-10-14"),
        SectionKey::new("description", KeyForm::Text, "For people."),
    ],
};

/// An output.
pub(super) static OUTPUT: Section = Section {
    name: "output",
    keys: &[
        SectionKey::new("description", KeyForm::Scalar, "For people."),
        SectionKey::new("value", KeyForm::Any, "What is shown.")
            .required()
            .substitutions(),
        SectionKey::new(
            "condition",
            KeyForm::Any,
            "Whether it is shown; null otherwise.",
        )
        .substitutions()
        .since("2016-10-14"),
    ],
};
