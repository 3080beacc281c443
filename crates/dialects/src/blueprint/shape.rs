//! The sections and keys of the blueprint dialect, as data.
//!
//! What a key may hold, whether it must be there, whether it takes substitutions (decision 1.6) and which version
//! brought it is stated here and nowhere else.

use super::version::LATER;
use crate::{Detail, Form, Key, Offer, Section, Shape};

/// Types of values and exports.
pub(super) const VALUE_TYPES: &[&str] = &["string", "integer", "float", "boolean", "array", "object"];
/// Types of data source exports.
pub(super) const EXPORT_TYPES: &[&str] = &["string", "integer", "float", "boolean", "array"];

/// The operators of a filter: those of every version, then those of the later one.
pub(super) const OPERATORS: &[&str] = &[
    "=",
    "!=",
    "in",
    "not in",
    "has key",
    "not has key",
    "contains",
    "not contains",
    "starts with",
    "not starts with",
    "ends with",
    "not ends with",
    ">",
    ">=",
    "<",
    "<=",
];

pub(super) static DOCUMENT: Section = Section {
    name: "document",
    keys: &[
        Key::new("version", Form::Text, "The version of the specification.").required().one_of(&["2023-04-20", LATER]),
        Key::new("transform", Form::ScalarOrList, "Transforms to run before anything else, in order.")
            .detail(Detail::Texts),
        Key::new("variables", Form::Map, "Values that are given from outside.").definitions("variable"),
        Key::new("values", Form::Map, "Named intermediate values.").definitions("value"),
        Key::new("include", Form::Map, "Other documents as parts of this one.").definitions("include"),
        Key::new("datasources", Form::Map, "Things outside that are read, not managed.").definitions("data source"),
        Key::new("resources", Form::Map, "Things to manage.").definitions("resource"),
        Key::new("exports", Form::Map, "Values that others may read.").definitions("export"),
        Key::new("metadata", Form::Map, "Free data about the document, for transforms and tools.").substitutions(),
    ],
};

pub(super) static VARIABLE: Section = Section {
    name: "variable",
    keys: &[
        Key::new("type", Form::Text, "The type, or a provider's own one.")
            .required()
            .one_of(&["string", "integer", "float", "boolean"])
            .offer(Offer::VariableType),
        Key::new("description", Form::Text, "For people."),
        Key::new("secret", Form::Any, "`true` if the value must not be shown.").detail(Detail::Boolean),
        Key::new("default", Form::Any, "The value where none is given.").detail(Detail::Literal),
        Key::new("allowedValues", Form::List, "The only values allowed.").detail(Detail::Literals),
    ],
};

pub(super) static VALUE: Section = Section {
    name: "value",
    keys: &[
        Key::new("type", Form::Text, "The type of the value.").required().one_of(VALUE_TYPES),
        Key::new("value", Form::Any, "The value; text is read as the declared type.")
            .required()
            .substitutions()
            .detail(Detail::Typed),
        Key::new("description", Form::Text, "For people.").substitutions(),
        Key::new("secret", Form::Any, "`true` if the value must not be shown.").detail(Detail::Boolean),
    ],
};

pub(super) static INCLUDE: Section = Section {
    name: "include",
    keys: &[
        Key::new("path", Form::Text, "Where the document is, relative to this one.")
            .required()
            .substitutions()
            .detail(Detail::Filled),
        Key::new("variables", Form::Map, "Its inputs.").substitutions().detail(Detail::Scalars),
        Key::new("metadata", Form::Map, "From what kind of place it comes.").substitutions(),
        Key::new("description", Form::Text, "For people.").substitutions(),
    ],
};

pub(super) static DATA_SOURCE: Section = Section {
    name: "data source",
    keys: &[
        Key::new("type", Form::Text, "The type, as in `provider/type`.").required().offer(Offer::DataSourceType),
        Key::new("metadata", Form::Map, "Display name, annotations and free data.").section("data source metadata"),
        Key::new("filter", Form::MapOrList, "What must hold of the thing that is read.")
            .required()
            .section("filter")
            .offer(Offer::Filter),
        Key::new("exports", Form::Any, "The fields that may be read.").required().definitions("data source export"),
        Key::new("description", Form::Text, "For people.").substitutions(),
    ],
};

pub(super) static DATA_SOURCE_METADATA: Section = Section {
    name: "data source metadata",
    keys: &[
        Key::new("displayName", Form::Text, "A name for people.").substitutions(),
        Key::new("annotations", Form::Map, "Scalars that the provider reads.").substitutions().detail(Detail::Scalars),
        Key::new("custom", Form::Map, "Free data.").substitutions(),
    ],
};

pub(super) static FILTER: Section = Section {
    name: "filter",
    keys: &[
        Key::new("field", Form::Text, "The field to compare.").required(),
        Key::new("operator", Form::Text, "How to compare.").required().one_of(OPERATORS),
        Key::new("search", Form::ScalarOrList, "What to compare with.")
            .required()
            .substitutions()
            .detail(Detail::ScalarList),
    ],
};

pub(super) static DATA_SOURCE_EXPORT: Section = Section {
    name: "data source export",
    keys: &[
        Key::new("type", Form::Text, "The type of the field.").required().one_of(EXPORT_TYPES),
        Key::new("aliasFor", Form::Text, "The field, where it is not called like the export."),
        Key::new("description", Form::Text, "For people."),
    ],
};

pub(super) static RESOURCE: Section = Section {
    name: "resource",
    keys: &[
        Key::new("type", Form::Text, "The type, as in `provider/type`.").required().offer(Offer::ResourceType),
        Key::new("spec", Form::Map, "The fields of the type.").required().substitutions().offer(Offer::Spec),
        Key::new("metadata", Form::Map, "Labels, annotations, display name and free data.")
            .section("resource metadata"),
        Key::new("dependsOn", Form::ScalarOrList, "Names of resources that must be ready first.").detail(Detail::Texts),
        Key::new("condition", Form::ScalarOrMap, "Whether the resource is there at all.")
            .substitutions()
            .section("condition"),
        Key::new("each", Form::Scalar, "One resource for each item of a list.")
            .substitutions()
            .detail(Detail::Substitution),
        Key::new("linkSelector", Form::Map, "Which resources it links to.").section("link selector"),
        Key::new("description", Form::Text, "For people.").substitutions(),
        Key::new("removalPolicy", Form::Text, "What becomes of the thing when the resource is removed.")
            .one_of(&["delete", "retain"])
            .since(LATER),
    ],
};

pub(super) static RESOURCE_METADATA: Section = Section {
    name: "resource metadata",
    keys: &[
        Key::new("displayName", Form::Text, "A name for people.").substitutions(),
        Key::new("labels", Form::Map, "What links select by.").detail(Detail::FixedTexts),
        Key::new("annotations", Form::Map, "Scalars that links, providers and hints read.")
            .substitutions()
            .detail(Detail::Scalars),
        Key::new("custom", Form::Map, "Free data.").substitutions(),
    ],
};

pub(super) static CONDITION: Section = Section {
    name: "condition",
    keys: &[
        Key::new("and", Form::List, "All must be true.").substitutions().section("condition").detail(Detail::Alone),
        Key::new("or", Form::List, "One must be true.").substitutions().section("condition").detail(Detail::Alone),
        Key::new("not", Form::ScalarOrMap, "Must be false.").substitutions().section("condition").detail(Detail::Alone),
    ],
};

pub(super) static LINK_SELECTOR: Section = Section {
    name: "link selector",
    keys: &[
        Key::new("byLabel", Form::Map, "Labels that the others must have.").detail(Detail::FixedTexts),
        Key::new("exclude", Form::ScalarOrList, "Names of resources that are skipped.")
            .since(LATER)
            .detail(Detail::Texts),
    ],
};

pub(super) static EXPORT: Section = Section {
    name: "export",
    keys: &[
        Key::new("type", Form::Text, "The type of the value.").required().one_of(VALUE_TYPES),
        Key::new("field", Form::Text, "The path of what is exported, without `${`.").required().detail(Detail::Path),
        Key::new("description", Form::Text, "For people.").substitutions(),
    ],
};

/// All of it.
pub(super) static SHAPE: Shape = Shape {
    sections: &[
        &DOCUMENT,
        &VARIABLE,
        &VALUE,
        &INCLUDE,
        &DATA_SOURCE,
        &DATA_SOURCE_METADATA,
        &FILTER,
        &DATA_SOURCE_EXPORT,
        &RESOURCE,
        &RESOURCE_METADATA,
        &CONDITION,
        &LINK_SELECTOR,
        &EXPORT,
    ],
};
