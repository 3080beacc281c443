//! The sections and keys of the blueprint dialect, as data.
//!
//! These tables are the only place that states which values a key may have, whether the key is
//! required, whether it takes substitutions (decisions/blueprint#places-of-substitutions) and which
//! version introduced it.

use super::version::LATER;
use dialect::{Detail, KeyForm, Offer, Section, SectionKey, Shape};

/// The types of values and exports.
pub(super) const VALUE_TYPES: &[&str] =
    &["string", "integer", "float", "boolean", "array", "object"];
/// The types of data source exports.
pub(super) const EXPORT_TYPES: &[&str] = &["string", "integer", "float", "boolean", "array"];

/// The operators of a filter: those of every version, then those of the later version.
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
        SectionKey::new(
            "version",
            KeyForm::Text,
            "The version of the specification.",
        )
        .required()
        .one_of(&["2023-04-20", LATER]),
        SectionKey::new(
            "transform",
            KeyForm::ScalarOrList,
            "Transforms to run before anything else, in order.",
        )
        .detail(Detail::Texts),
        SectionKey::new(
            "variables",
            KeyForm::Map,
            "Values that are given from outside.",
        )
        .definitions("variable"),
        SectionKey::new("values", KeyForm::Map, "Named intermediate values.").definitions("value"),
        SectionKey::new(
            "include",
            KeyForm::Map,
            "Other documents as parts of this one.",
        )
        .definitions("include"),
        SectionKey::new(
            "datasources",
            KeyForm::Map,
            "Existing objects that are read, not managed.",
        )
        .definitions("data source"),
        SectionKey::new("resources", KeyForm::Map, "Objects to manage.").definitions("resource"),
        SectionKey::new("exports", KeyForm::Map, "Values that others may read.")
            .definitions("export"),
        SectionKey::new(
            "metadata",
            KeyForm::Map,
            "Free data about the document, for transforms and tools.",
        )
        .substitutions(),
    ],
};

pub(super) static VARIABLE: Section = Section {
    name: "variable",
    keys: &[
        SectionKey::new("type", KeyForm::Text, "The type, or a provider's own one.")
            .required()
            .one_of(&["string", "integer", "float", "boolean"])
            .offer(Offer::VariableType),
        SectionKey::new("description", KeyForm::Text, "For people."),
        SectionKey::new(
            "secret",
            KeyForm::Any,
            "`true` if the value must not be shown.",
        )
        .detail(Detail::Boolean),
        SectionKey::new("default", KeyForm::Any, "The value where none is given.")
            .detail(Detail::Literal),
        SectionKey::new("allowedValues", KeyForm::List, "The only values allowed.")
            .detail(Detail::Literals),
    ],
};

pub(super) static VALUE: Section = Section {
    name: "value",
    keys: &[
        SectionKey::new("type", KeyForm::Text, "The type of the value.")
            .required()
            .one_of(VALUE_TYPES),
        SectionKey::new(
            "value",
            KeyForm::Any,
            "The value; text is read as the declared type.",
        )
        .required()
        .substitutions()
        .detail(Detail::Typed),
        SectionKey::new("description", KeyForm::Text, "For people.").substitutions(),
        SectionKey::new(
            "secret",
            KeyForm::Any,
            "`true` if the value must not be shown.",
        )
        .detail(Detail::Boolean),
    ],
};

pub(super) static INCLUDE: Section = Section {
    name: "include",
    keys: &[
        SectionKey::new(
            "path",
            KeyForm::Text,
            "Where the document is, relative to this one.",
        )
        .required()
        .substitutions()
        .detail(Detail::NonEmptyText),
        SectionKey::new("variables", KeyForm::Map, "Its inputs.")
            .substitutions()
            .detail(Detail::Scalars),
        SectionKey::new(
            "metadata",
            KeyForm::Map,
            "The kind of its source, and the settings of the source.",
        )
        .substitutions(),
        SectionKey::new("description", KeyForm::Text, "For people.").substitutions(),
    ],
};

pub(super) static DATA_SOURCE: Section = Section {
    name: "data source",
    keys: &[
        SectionKey::new("type", KeyForm::Text, "The type, as in `provider/type`.")
            .required()
            .offer(Offer::DataSourceType),
        SectionKey::new(
            "metadata",
            KeyForm::Map,
            "Display name, annotations and free data.",
        )
        .section("data source metadata"),
        SectionKey::new(
            "filter",
            KeyForm::MapOrList,
            "What must hold of the object that is read.",
        )
        .required()
        .section("filter")
        .offer(Offer::Filter),
        SectionKey::new("exports", KeyForm::Any, "The fields that may be read.")
            .required()
            .definitions("data source export"),
        SectionKey::new("description", KeyForm::Text, "For people.").substitutions(),
    ],
};

pub(super) static DATA_SOURCE_METADATA: Section = Section {
    name: "data source metadata",
    keys: &[
        SectionKey::new("displayName", KeyForm::Text, "A name for people.").substitutions(),
        SectionKey::new(
            "annotations",
            KeyForm::Map,
            "Scalars that the provider and `cyan` read.",
        )
        .substitutions()
        .section("data source annotations"),
        SectionKey::new("custom", KeyForm::Map, "Free data.").substitutions(),
    ],
};

pub(super) static FILTER: Section = Section {
    name: "filter",
    keys: &[
        SectionKey::new("field", KeyForm::Text, "The field to compare.").required(),
        SectionKey::new("operator", KeyForm::Text, "How to compare.")
            .required()
            .one_of(OPERATORS),
        SectionKey::new("search", KeyForm::ScalarOrList, "What to compare with.")
            .required()
            .substitutions()
            .detail(Detail::ScalarList),
    ],
};

pub(super) static DATA_SOURCE_EXPORT: Section = Section {
    name: "data source export",
    keys: &[
        SectionKey::new("type", KeyForm::Text, "The type of the field.")
            .required()
            .one_of(EXPORT_TYPES),
        SectionKey::new(
            "aliasFor",
            KeyForm::Text,
            "The field, where it is not called like the export.",
        ),
        SectionKey::new("description", KeyForm::Text, "For people."),
    ],
};

pub(super) static RESOURCE: Section = Section {
    name: "resource",
    keys: &[
        SectionKey::new("type", KeyForm::Text, "The type, as in `provider/type`.")
            .required()
            .offer(Offer::ResourceType),
        SectionKey::new("spec", KeyForm::Map, "The fields of the type.")
            .required()
            .substitutions()
            .offer(Offer::Spec),
        SectionKey::new(
            "metadata",
            KeyForm::Map,
            "Labels, annotations, display name and free data.",
        )
        .section("resource metadata"),
        SectionKey::new(
            "dependsOn",
            KeyForm::ScalarOrList,
            "Names of resources that must be ready first.",
        )
        .detail(Detail::Texts),
        SectionKey::new(
            "condition",
            KeyForm::ScalarOrMap,
            "Whether the resource is there at all.",
        )
        .substitutions()
        .section("condition"),
        SectionKey::new(
            "each",
            KeyForm::Scalar,
            "One resource for each item of a list.",
        )
        .substitutions()
        .detail(Detail::Substitution),
        SectionKey::new("linkSelector", KeyForm::Map, "Which resources it links to.")
            .section("link selector"),
        SectionKey::new("description", KeyForm::Text, "For people.").substitutions(),
        SectionKey::new(
            "removalPolicy",
            KeyForm::Text,
            "What becomes of the object when the resource is removed.",
        )
        .one_of(&["delete", "retain"])
        .since(LATER),
    ],
};

pub(super) static RESOURCE_METADATA: Section = Section {
    name: "resource metadata",
    keys: &[
        SectionKey::new("displayName", KeyForm::Text, "A name for people.").substitutions(),
        SectionKey::new("labels", KeyForm::Map, "What links select by.").detail(Detail::FixedTexts),
        SectionKey::new(
            "annotations",
            KeyForm::Map,
            "Scalars that links, providers and `cyan` read.",
        )
        .substitutions()
        .section("resource annotations"),
        SectionKey::new("custom", KeyForm::Map, "Free data.").substitutions(),
    ],
};

/// A key for all annotations that are not those of this tool.
const OTHER_ANNOTATIONS: SectionKey = SectionKey::new(
    SectionKey::OTHERS,
    KeyForm::Scalar,
    "What links and providers read.",
)
.substitutions();

/// The choice of a configuration of a provider.
const PROVIDER_ANNOTATION: SectionKey = SectionKey::new(
    "cyan.provider",
    KeyForm::Text,
    "The resource of type `cyan/provider` that configures the provider.",
);

pub(super) static RESOURCE_ANNOTATIONS: Section = Section {
    name: "resource annotations",
    keys: &[
        SectionKey::new(
            "cyan.protect",
            KeyForm::Scalar,
            "Refuses each plan that would delete or replace the resource.",
        )
        .detail(Detail::Boolean),
        SectionKey::new(
            "cyan.ignoreChanges",
            KeyForm::Text,
            "Paths inside `spec`, with commas between, that are left as they are.",
        ),
        SectionKey::new(
            "cyan.replaceOrder",
            KeyForm::Text,
            "Which object a replacement handles first.",
        )
        .one_of(&["delete-first", "create-first"]),
        SectionKey::new(
            "cyan.timeout.create",
            KeyForm::Text,
            "The time limit of a create, such as `10m`.",
        ),
        SectionKey::new(
            "cyan.timeout.update",
            KeyForm::Text,
            "The time limit of an update.",
        ),
        SectionKey::new(
            "cyan.timeout.delete",
            KeyForm::Text,
            "The time limit of a delete.",
        ),
        SectionKey::new(
            "cyan.import",
            KeyForm::Text,
            "The provider's id of an existing object to manage.",
        ),
        SectionKey::new(
            "cyan.movedFrom",
            KeyForm::Text,
            "The former address of the resource.",
        ),
        SectionKey::new(
            "cyan.eachKey",
            KeyForm::Scalar,
            "The key of each member of a resource with `each`.",
        )
        .substitutions(),
        PROVIDER_ANNOTATION,
        OTHER_ANNOTATIONS,
    ],
};

pub(super) static DATA_SOURCE_ANNOTATIONS: Section = Section {
    name: "data source annotations",
    keys: &[PROVIDER_ANNOTATION, OTHER_ANNOTATIONS],
};

pub(super) static CONDITION: Section = Section {
    name: "condition",
    keys: &[
        SectionKey::new("and", KeyForm::List, "All must be true.")
            .substitutions()
            .section("condition")
            .detail(Detail::OnlyKey),
        SectionKey::new("or", KeyForm::List, "One must be true.")
            .substitutions()
            .section("condition")
            .detail(Detail::OnlyKey),
        SectionKey::new("not", KeyForm::ScalarOrMap, "Must be false.")
            .substitutions()
            .section("condition")
            .detail(Detail::OnlyKey),
    ],
};

pub(super) static LINK_SELECTOR: Section = Section {
    name: "link selector",
    keys: &[
        SectionKey::new("byLabel", KeyForm::Map, "Labels that the others must have.")
            .detail(Detail::FixedTexts),
        SectionKey::new(
            "exclude",
            KeyForm::ScalarOrList,
            "Names of resources that are skipped.",
        )
        .since(LATER)
        .detail(Detail::Texts),
    ],
};

pub(super) static EXPORT: Section = Section {
    name: "export",
    keys: &[
        SectionKey::new("type", KeyForm::Text, "The type of the value.")
            .required()
            .one_of(VALUE_TYPES),
        SectionKey::new(
            "field",
            KeyForm::Text,
            "The path of what is exported, without `${`.",
        )
        .required()
        .detail(Detail::Path),
        SectionKey::new("description", KeyForm::Text, "For people.").substitutions(),
    ],
};

/// The shape of the dialect.
pub(super) static SHAPE: Shape = Shape {
    sections: &[
        &DOCUMENT,
        &VARIABLE,
        &VALUE,
        &INCLUDE,
        &DATA_SOURCE,
        &DATA_SOURCE_METADATA,
        &DATA_SOURCE_ANNOTATIONS,
        &FILTER,
        &DATA_SOURCE_EXPORT,
        &RESOURCE,
        &RESOURCE_METADATA,
        &RESOURCE_ANNOTATIONS,
        &CONDITION,
        &LINK_SELECTOR,
        &EXPORT,
    ],
};
