//! Sections and keys as data (decisions Heat 3, Heat 4, Heat 9.1).

use crate::{Form, Key, Offer, Section, Shape};

/// All sections.
pub(super) static SHAPE: Shape = Shape { sections: &[&TEMPLATE, &PARAMETER, &GROUP, &RESOURCE, &OUTPUT] };

/// The top level.
pub(super) static TEMPLATE: Section = Section {
    name: "template",
    keys: &[
        Key::new("heat_template_version", Form::Text, "The version of the language: a date, or the name of a release.")
            .required(),
        Key::new("description", Form::Text, "For people."),
        Key::new("parameter_groups", Form::List, "How parameters are shown together."),
        Key::new("parameters", Form::Map, "What is given from outside.").definitions("parameter"),
        Key::new("conditions", Form::Map, "Named conditions.").substitutions().since("2016-10-14"),
        Key::new("resources", Form::Map, "What is to exist.").definitions("resource"),
        Key::new("outputs", Form::Map, "What is shown when all is done.").definitions("output"),
    ],
};

/// A parameter.
pub(super) static PARAMETER: Section = Section {
    name: "parameter",
    keys: &[
        Key::new("type", Form::Text, "What kind of value it takes.").required().one_of(&[
            "string",
            "number",
            "comma_delimited_list",
            "json",
            "boolean",
        ]),
        Key::new("label", Form::Scalar, "Its name for people."),
        Key::new("description", Form::Scalar, "For people."),
        Key::new("default", Form::Any, "Taken where nothing is given."),
        Key::new("hidden", Form::Scalar, "Must not be shown."),
        Key::new("constraints", Form::List, "What values must meet."),
        Key::new("immutable", Form::Scalar, "May not be changed once the stack exists."),
        Key::new("tags", Form::List, "Words for tools.").since("2018-03-02"),
    ],
};

/// A group of parameters.
pub(super) static GROUP: Section = Section {
    name: "parameter group",
    keys: &[
        Key::new("label", Form::Scalar, "Its name for people."),
        Key::new("description", Form::Scalar, "For people."),
        Key::new("parameters", Form::List, "Names of parameters, in order.").required(),
    ],
};

/// A resource.
pub(super) static RESOURCE: Section = Section {
    name: "resource",
    keys: &[
        Key::new("type", Form::Text, "Its type, or the path of a template.").required().offer(Offer::ResourceType),
        Key::new("properties", Form::Map, "What it is to be.").offer(Offer::Spec).substitutions(),
        Key::new("metadata", Form::Map, "Free data of it.").substitutions(),
        Key::new("depends_on", Form::ScalarOrList, "Resources that must be ready first."),
        Key::new("update_policy", Form::Map, "How it is updated.").substitutions(),
        Key::new("deletion_policy", Form::Any, "What becomes of the thing when the resource goes.").substitutions(),
        Key::new("external_id", Form::Text, "The thing exists under this id; it is read, never changed.")
            .since("2016-10-14"),
        Key::new("condition", Form::Any, "Whether it is there at all.").substitutions().since("2016-10-14"),
        Key::new("description", Form::Text, "For people."),
    ],
};

/// An output.
pub(super) static OUTPUT: Section = Section {
    name: "output",
    keys: &[
        Key::new("description", Form::Scalar, "For people."),
        Key::new("value", Form::Any, "What is shown.").required().substitutions(),
        Key::new("condition", Form::Any, "Whether it is shown; null otherwise.").substitutions().since("2016-10-14"),
    ],
};
