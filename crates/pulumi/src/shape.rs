//! Sections and keys as data (decisions/pulumi#sections).

use dialect::{Detail, KeyForm, Offer, Section, SectionKey, Shape};

/// The name of the dialect.
pub const NAME: &str = "pulumi";

/// The names of files that may be programs.
pub(crate) const FILE_NAMES: [&str; 5] = [
    "Main.json",
    "Main.yaml",
    "Pulumi.yaml",
    "Pulumi.yml",
    "Pulumi.json",
];

/// The names of files that describe a project.
pub(crate) const PROJECT_FILES: &[&str] = &["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];

/// The name of a project that states none.
pub(crate) const UNNAMED: &str = "project";

/// All sections.
pub(crate) static SHAPE: Shape = Shape {
    sections: &[
        &PROGRAM,
        &CONFIG,
        &RESOURCE,
        &OPTIONS,
        &TIMEOUTS,
        &ALIAS,
        &GET,
        &STACK_REFERENCE,
    ],
};

/// The top level: the program, and the project layer that is no part of it.
pub(crate) static PROGRAM: Section = Section {
    name: "program",
    keys: &[
        SectionKey::new("name", KeyForm::Text, "The name of the project."),
        SectionKey::new(
            "runtime",
            KeyForm::ScalarOrMap,
            "`yaml`, or a map with the name and options.",
        ),
        SectionKey::new("description", KeyForm::Text, "For people."),
        SectionKey::new("config", KeyForm::Map, "What is given from outside.")
            .definitions("config"),
        SectionKey::new(
            "configuration",
            KeyForm::Map,
            "The former name of `config`.",
        )
        .definitions("config"),
        SectionKey::new("variables", KeyForm::Map, "Named values.").substitutions(),
        SectionKey::new("resources", KeyForm::Map, "What is to exist.").definitions("resource"),
        SectionKey::new("outputs", KeyForm::Map, "What is shown when all is done.").substitutions(),
        SectionKey::new(
            "pulumi",
            KeyForm::Map,
            "Which versions of Pulumi the program needs.",
        ),
        SectionKey::new("author", KeyForm::Scalar, "Of the project."),
        SectionKey::new("website", KeyForm::Scalar, "Of the project."),
        SectionKey::new("license", KeyForm::Scalar, "Of the project."),
        SectionKey::new("main", KeyForm::Text, "The folder of the program."),
        SectionKey::new(
            "stackConfigDir",
            KeyForm::Text,
            "The folder of the stack files.",
        ),
        SectionKey::new("template", KeyForm::Any, "Of the project."),
        SectionKey::new(
            "backend",
            KeyForm::Any,
            "Of the project: where Pulumi keeps its state.",
        ),
        SectionKey::new("options", KeyForm::Any, "Of the project."),
        SectionKey::new(
            "packages",
            KeyForm::Any,
            "Of the project: sources of packages.",
        ),
        SectionKey::new("plugins", KeyForm::Map, "Of the project: paths of plugins."),
        SectionKey::new("requiredPulumiVersion", KeyForm::Text, "Of the project."),
    ],
};

/// A configuration entry.
pub(crate) static CONFIG: Section = Section {
    name: "config",
    keys: &[
        SectionKey::new(
            "type",
            KeyForm::Text,
            "`string`, `number`, `integer`, `boolean`, `object`, `array` or `list<..>`.",
        ),
        SectionKey::new("default", KeyForm::Any, "Taken where nothing is given."),
        SectionKey::new("value", KeyForm::Any, "The value for all stacks."),
        SectionKey::new("secret", KeyForm::Scalar, "Must not be shown.").detail(Detail::Boolean),
        SectionKey::new(
            "items",
            KeyForm::Map,
            "The type of the items of an `array`.",
        ),
        SectionKey::new(
            "name",
            KeyForm::Text,
            "The key of the stack's configuration.",
        ),
        SectionKey::new("description", KeyForm::Scalar, "For people."),
    ],
};

/// A resource.
pub(crate) static RESOURCE: Section = Section {
    name: "resource",
    keys: &[
        SectionKey::new("type", KeyForm::Text, "The type token.")
            .required()
            .offer(Offer::ResourceType)
            .detail(Detail::AnyType),
        SectionKey::new("properties", KeyForm::Any, "The inputs.").substitutions(),
        SectionKey::new("options", KeyForm::Map, "How it is managed.").section("options"),
        SectionKey::new(
            "name",
            KeyForm::Text,
            "The name, if it differs from the key.",
        ),
        SectionKey::new("get", KeyForm::Map, "Reads an existing resource.").section("get"),
        SectionKey::new(
            "defaultProvider",
            KeyForm::Scalar,
            "Whether it serves all resources of its package.",
        )
        .detail(Detail::Boolean),
    ],
};

/// The options of a resource.
pub(crate) static OPTIONS: Section = Section {
    name: "options",
    keys: &[
        SectionKey::new(
            "additionalSecretOutputs",
            KeyForm::List,
            "Outputs that must not be shown.",
        ),
        SectionKey::new("aliases", KeyForm::List, "Former identities.").substitutions(),
        SectionKey::new("customTimeouts", KeyForm::Map, "Time limits.").section("time limits"),
        SectionKey::new(
            "deleteBeforeReplace",
            KeyForm::Scalar,
            "Whether a replacement deletes first.",
        )
        .detail(Detail::Boolean),
        SectionKey::new(
            "dependsOn",
            KeyForm::Any,
            "Resources that must be there first.",
        )
        .substitutions(),
        SectionKey::new(
            "ignoreChanges",
            KeyForm::List,
            "Paths whose changes have no effect.",
        ),
        SectionKey::new(
            "import",
            KeyForm::Text,
            "The id of an existing resource to manage.",
        ),
        SectionKey::new("parent", KeyForm::Any, "The resource that it belongs to.").substitutions(),
        SectionKey::new(
            "protect",
            KeyForm::Scalar,
            "Whether it must not be deleted.",
        )
        .substitutions(),
        SectionKey::new("provider", KeyForm::Any, "The provider that manages it.").substitutions(),
        SectionKey::new(
            "providers",
            KeyForm::MapOrList,
            "The providers of its children.",
        )
        .substitutions(),
        SectionKey::new("version", KeyForm::Scalar, "The version of the plugin."),
        SectionKey::new("pluginDownloadURL", KeyForm::Text, "Where the plugin is."),
        SectionKey::new(
            "replaceOnChanges",
            KeyForm::List,
            "Paths whose changes replace it.",
        ),
        SectionKey::new(
            "retainOnDelete",
            KeyForm::Scalar,
            "Whether the object is kept.",
        )
        .detail(Detail::Boolean),
        SectionKey::new(
            "deletedWith",
            KeyForm::Any,
            "The resource whose deletion deletes it.",
        )
        .substitutions(),
        SectionKey::new(
            "replaceWith",
            KeyForm::List,
            "Resources whose replacement replaces it.",
        )
        .substitutions(),
        SectionKey::new(
            "hideDiffs",
            KeyForm::List,
            "Paths whose changes are not shown.",
        ),
        SectionKey::new(
            "replacementTrigger",
            KeyForm::Any,
            "A value whose change replaces it.",
        )
        .substitutions(),
        SectionKey::new(
            "envVarMappings",
            KeyForm::Map,
            "New names of environment variables.",
        )
        .substitutions(),
    ],
};

/// Time limits.
pub(crate) static TIMEOUTS: Section = Section {
    name: "time limits",
    keys: &[
        SectionKey::new("create", KeyForm::Scalar, "The limit of a create.").substitutions(),
        SectionKey::new("update", KeyForm::Scalar, "The limit of an update.").substitutions(),
        SectionKey::new("delete", KeyForm::Scalar, "The limit of a delete.").substitutions(),
        SectionKey::new("read", KeyForm::Scalar, "The limit of a read.").substitutions(),
    ],
};

/// A former identity of a resource.
pub(crate) static ALIAS: Section = Section {
    name: "alias",
    keys: &[
        SectionKey::new("urn", KeyForm::Text, "The whole former URN."),
        SectionKey::new("name", KeyForm::Text, "The former name."),
        SectionKey::new("type", KeyForm::Text, "The former type."),
        SectionKey::new("parent", KeyForm::Scalar, "The former parent.").substitutions(),
        SectionKey::new("noParent", KeyForm::Scalar, "Whether it had no parent.")
            .detail(Detail::Boolean),
        SectionKey::new("stack", KeyForm::Text, "The former stack."),
        SectionKey::new("project", KeyForm::Text, "The former project."),
    ],
};

/// An existing resource that is read.
pub(crate) static GET: Section = Section {
    name: "get",
    keys: &[
        SectionKey::new("id", KeyForm::Scalar, "The id.").substitutions(),
        SectionKey::new("state", KeyForm::Map, "Properties that help to find it.").substitutions(),
    ],
};

/// The properties of a reference to another stack.
pub(crate) static STACK_REFERENCE: Section = Section {
    name: "properties of a stack reference",
    keys: &[SectionKey::new(
        "name",
        KeyForm::Scalar,
        "The stack: `STACK`, `ORGANIZATION/STACK` or `ORGANIZATION/PROJECT/STACK`.",
    )
    .substitutions()],
};
