//! Words of other tools that people write into documents, and what a dialect has in their place.
//!
//! One table for all dialects. Not here: misspelt words, which `diag::nearest` finds.

/// Where a word is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordPlace {
    /// A key of the section with this name.
    Key(&'static str),
    /// The first name of a reference.
    Reference,
    /// The name of a function.
    Function,
    /// The type of a variable, value or export.
    Type,
}

/// Words of other tools with the same meaning.
#[derive(Clone, Copy, Debug)]
pub struct ForeignWord {
    /// Where the words are written.
    pub place: WordPlace,
    words: &'static [&'static str],
    /// The word of the dialect that has the same meaning and takes the same value; empty if there
    /// is none.
    pub ours: &'static str,
    /// What to write, as an imperative.
    pub help: &'static str,
}

/// The words of other tools that a dialect explains.
#[derive(Clone, Copy, Debug)]
pub struct ForeignWords(&'static [ForeignWord]);

impl ForeignWords {
    /// A dialect that explains no words.
    pub const NONE: ForeignWords = ForeignWords(&[]);

    /// The words that a blueprint explains.
    pub const BLUEPRINT: ForeignWords = ForeignWords(BLUEPRINT);

    /// The words that a template of Heat explains.
    pub const HEAT: ForeignWords = ForeignWords(HEAT);

    /// The words that a program of Pulumi YAML explains.
    pub const PULUMI: ForeignWords = ForeignWords(PULUMI);

    /// The explanation of a word in a place.
    pub fn find(&self, place: WordPlace, word: &str) -> Option<&'static ForeignWord> {
        self.0
            .iter()
            .find(|row| row.place == place && row.words.contains(&word))
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &'static ForeignWord> {
        self.0.iter()
    }

    /// Whether the dialect explains words of a place.
    pub fn explain(&self, place: WordPlace) -> bool {
        self.0.iter().any(|row| row.place == place)
    }
}

const fn key(
    section: &'static str,
    words: &'static [&'static str],
    ours: &'static str,
    help: &'static str,
) -> ForeignWord {
    ForeignWord {
        place: WordPlace::Key(section),
        words,
        ours,
        help,
    }
}

const fn reference(
    words: &'static [&'static str],
    ours: &'static str,
    help: &'static str,
) -> ForeignWord {
    ForeignWord {
        place: WordPlace::Reference,
        words,
        ours,
        help,
    }
}

const fn function(
    words: &'static [&'static str],
    ours: &'static str,
    help: &'static str,
) -> ForeignWord {
    ForeignWord {
        place: WordPlace::Function,
        words,
        ours,
        help,
    }
}

const fn type_word(words: &'static [&'static str], ours: &'static str) -> ForeignWord {
    ForeignWord {
        place: WordPlace::Type,
        words,
        ours,
        help: "",
    }
}

const BLUEPRINT: &[ForeignWord] = &[
    // Sections of a document.
    key(
        "document",
        &["outputs", "output"],
        "exports",
        "write `exports`, each with `type` and `field`",
    ),
    key(
        "document",
        &["parameters", "params", "inputs", "vars", "args"],
        "variables",
        "write `variables`, each with `type`",
    ),
    key(
        "document",
        &["locals", "local"],
        "values",
        "write `values`, each with `type` and `value`",
    ),
    key(
        "document",
        &["data"],
        "datasources",
        "write `datasources`, each with `type`, `filter` and `exports`",
    ),
    key(
        "document",
        &["modules", "module", "imports", "children"],
        "include",
        "write `include`, each with `path`",
    ),
    key(
        "document",
        &["providers", "provider"],
        "",
        "set a provider under `[providers]` in `cyan.toml`, or declare a resource of type `cyan/provider`",
    ),
    key(
        "document",
        &["plugins", "terraform", "required_providers"],
        "",
        "name plugins under `[plugins]` in `cyan.toml`",
    ),
    key(
        "document",
        &["conditions"],
        "",
        "write `condition` at each resource, or a boolean under `values`",
    ),
    key(
        "document",
        &["name", "description"],
        "",
        "write it under `metadata`",
    ),
    // Keys of a resource.
    key(
        "resource",
        &[
            "properties",
            "props",
            "inputs",
            "attributes",
            "arguments",
            "config",
            "configuration",
            "parameters",
        ],
        "spec",
        "write `spec`",
    ),
    key(
        "resource",
        &["for_each", "forEach", "foreach", "loop", "with_items"],
        "each",
        "write `each` with a list, as in `each: \"${list(\"a\", \"b\")}\"`",
    ),
    key(
        "resource",
        &["count"],
        "each",
        "write `each` with a list, as in `each: \"${range(0, 3)}\"` for three",
    ),
    key(
        "resource",
        &["dependencies", "needs", "requires"],
        "dependsOn",
        "write `dependsOn`",
    ),
    key(
        "resource",
        &["when", "if", "enabled"],
        "condition",
        "write `condition`",
    ),
    key(
        "resource",
        &["deletion_policy", "deletionPolicy"],
        "",
        "write `removalPolicy: retain` to keep the object",
    ),
    key(
        "resource",
        &["labels", "annotations", "displayName"],
        "",
        "write it under `metadata`",
    ),
    key(
        "resource",
        &["provider"],
        "",
        "name the resource of its configuration in the annotation `cyan.provider`: `metadata: {annotations: {cyan.provider: NAME}}`",
    ),
    key(
        "resource",
        &["lifecycle", "options"],
        "",
        "write annotations: `cyan.protect: true`, `cyan.replaceOrder: create-first` or `cyan.ignoreChanges: FIELD` under `metadata`, `annotations`",
    ),
    key(
        "resource",
        &["name"],
        "",
        "leave it out: the key above it is the name; an object's own name is a field of `spec`",
    ),
    // Keys of other definitions.
    key(
        "variable",
        &["required"],
        "",
        "leave it out: a variable without `default` must be given",
    ),
    key(
        "variable",
        &["optional", "nullable"],
        "",
        "leave it out: a variable with a `default` need not be given",
    ),
    key("variable", &["value"], "default", "write `default`"),
    key(
        "variable",
        &["sensitive", "hidden", "noEcho", "NoEcho"],
        "secret",
        "write `secret`",
    ),
    key(
        "variable",
        &["allowed", "enum", "choices", "constraints", "validation"],
        "allowedValues",
        "write `allowedValues` with a list",
    ),
    key(
        "value",
        &["sensitive", "hidden"],
        "secret",
        "write `secret`",
    ),
    key(
        "export",
        &["value", "from", "path", "source"],
        "field",
        "write `field` with a path, as in `field: resources.a.spec.id`",
    ),
    key(
        "export",
        &["sensitive", "secret", "hidden"],
        "",
        "leave it out: an export of a secret is secret",
    ),
    key(
        "include",
        &["vars", "inputs", "parameters", "params", "values", "with"],
        "variables",
        "write `variables`",
    ),
    key(
        "include",
        &["source", "src", "file", "template", "url"],
        "path",
        "write `path`",
    ),
    key(
        "data source",
        &["spec", "properties", "arguments", "query", "where"],
        "",
        "write `filter`, as in `filter: {field: name, operator: \"=\", search: x}`",
    ),
    key(
        "data source",
        &["outputs", "fields", "attributes"],
        "exports",
        "write `exports`",
    ),
    // First names of references.
    reference(
        &[
            "var",
            "vars",
            "param",
            "params",
            "parameters",
            "input",
            "inputs",
            "variable",
        ],
        "variables",
        "read a variable as `variables.NAME`, and declare it under `variables`",
    ),
    reference(
        &["local", "locals", "value"],
        "values",
        "read a value as `values.NAME`, and declare it under `values`",
    ),
    reference(
        &["data", "datasource", "data_source"],
        "datasources",
        "read an export of a data source as `datasources.NAME.EXPORT`, and declare it under `datasources`",
    ),
    reference(
        &["resource"],
        "resources",
        "read a resource as `resources.NAME.spec.FIELD`, and declare it under `resources`",
    ),
    reference(
        &["module", "modules", "child", "include"],
        "children",
        "read an export of a child as `children.NAME.EXPORT`, and declare it under `include`",
    ),
    reference(
        &["each"],
        "",
        "write `elem` for the item and `i` for its position, in a resource with `each`",
    ),
    reference(
        &["item"],
        "elem",
        "write `elem` for the item, in a resource with `each`",
    ),
    reference(
        &["count", "index"],
        "",
        "write `i` for the position of the member, in a resource with `each`",
    ),
    reference(
        &["self", "this"],
        "",
        "put what two fields share into `values`, and read it in both as `values.NAME`; a resource reads itself only in its `description`, by its own name",
    ),
    reference(
        &["path"],
        "",
        "leave it out: paths are relative to the document; `cwd()` is the working directory",
    ),
    reference(
        &["terraform", "pulumi", "workspace", "stack"],
        "",
        "declare a variable, and give its value for each instance",
    ),
    reference(
        &["env", "environ", "environment", "process", "secrets"],
        "",
        ENVIRONMENT,
    ),
    // Functions.
    function(
        &["env", "getenv", "environ", "get_env", "environment"],
        "",
        ENVIRONMENT,
    ),
    function(
        &[
            "toJson",
            "toJSON",
            "tojson",
            "to_json",
            "json_encode",
            "json",
        ],
        "jsonencode",
        "write `jsonencode(..)`",
    ),
    function(
        &[
            "fromJson",
            "fromJSON",
            "from_json",
            "json_decode",
            "parse_json",
        ],
        "jsondecode",
        "write `jsondecode(..)`",
    ),
    function(&["sprintf", "printf"], "format", "write `format(..)`"),
    function(&["str", "string"], "tostring", "write `tostring(..)`"),
    function(
        &["int", "number", "float"],
        "tonumber",
        "write `tonumber(..)`",
    ),
    function(&["bool", "boolean"], "tobool", "write `tobool(..)`"),
    function(&["size"], "length", "write `length(..)`"),
    function(
        &["ternary", "iif", "cond"],
        "if",
        "write `if(condition, a, b)`",
    ),
    function(
        &["try", "can", "default"],
        "coalesce",
        "write `coalesce(a, b)`: the first value that is there",
    ),
    function(
        &["now", "timestamp", "date"],
        "",
        "write `datetime(\"rfc3339\")`",
    ),
    function(
        &["templatefile", "template"],
        "",
        "read the file with `utf8(file(\"PATH\"))`, and fill it in with `replace(..)`",
    ),
    function(
        &["readfile", "read_file", "fileread"],
        "file",
        "write `file(\"PATH\")`, or `utf8(file(\"PATH\"))` for its text",
    ),
    function(
        &["nonsensitive", "unsecret"],
        "",
        "leave it out: what is made from a secret is secret",
    ),
    function(
        &["get_attr", "get_param", "get_resource", "ref"],
        "",
        "write the path, as in `resources.a.spec.id` or `variables.a`",
    ),
    function(&["concatenate"], "concat", "write `concat(..)`"),
    // Types.
    type_word(&["str", "text"], "string"),
    type_word(&["int", "number", "long"], "integer"),
    type_word(&["double", "decimal"], "float"),
    type_word(&["bool"], "boolean"),
    type_word(&["list", "tuple", "set"], "array"),
    type_word(&["map", "dict", "mapping", "json"], "object"),
];

const ENVIRONMENT: &str = "read a variable of the environment with a data source: `datasources: {x: {type: local/environment, metadata: {displayName: x}, filter: {field: name, operator: \"=\", search: NAME}, exports: {value: {type: string}}}}`, then `datasources.x.value`";

const HEAT: &[ForeignWord] = &[
    key(
        "template",
        &["variables", "inputs", "params"],
        "parameters",
        "write `parameters`",
    ),
    key("template", &["exports"], "outputs", "write `outputs`"),
    key(
        "resource",
        &["spec", "props", "inputs"],
        "properties",
        "write `properties`",
    ),
    key(
        "resource",
        &["dependsOn", "needs"],
        "depends_on",
        "write `depends_on`",
    ),
    key("output", &["field"], "value", "write `value`"),
    function(
        &["GetAtt", "Fn::GetAtt", "get_attribute"],
        "get_attr",
        "write `get_attr: [RESOURCE, ATTRIBUTE]`",
    ),
    function(&["Fn::If"], "if", "write `if: [CONDITION, A, B]`"),
    function(
        &["Fn::Sub", "Sub"],
        "",
        "write `str_replace: {template: TEXT, params: {WORD: VALUE}}`",
    ),
    function(
        &["get_var", "get_variable", "get_input"],
        "get_param",
        "write `get_param: NAME`",
    ),
];

const PULUMI: &[ForeignWord] = &[
    key(
        "resource",
        &["spec", "props", "inputs", "args", "arguments"],
        "properties",
        "write `properties`",
    ),
    key(
        "resource",
        &["dependsOn", "depends_on", "protect", "provider", "parent"],
        "options",
        "write it under `options`",
    ),
    key(
        "resource",
        &["count", "for_each", "each", "condition"],
        "",
        "declare each resource: a program of Pulumi YAML has no loops and no conditions",
    ),
    reference(
        &[
            "variables",
            "var",
            "config",
            "resources",
            "resource",
            "local",
            "locals",
            "values",
            "outputs",
        ],
        "",
        "write the name alone",
    ),
];

#[cfg(test)]
mod tests {
    use super::{BLUEPRINT, ForeignWords, HEAT, PULUMI, WordPlace};

    #[test]
    fn word_is_explained_once_in_its_place() {
        for table in [BLUEPRINT, HEAT, PULUMI] {
            let mut seen = Vec::new();
            for row in table {
                assert!(!row.words.is_empty() && (!row.help.is_empty() || !row.ours.is_empty()));
                for word in row.words {
                    assert!(!seen.contains(&(row.place, *word)), "{word}");
                    assert_ne!(*word, row.ours);
                    seen.push((row.place, *word));
                }
            }
        }
    }

    #[test]
    fn word_means_something_only_in_its_place() {
        let words = ForeignWords::BLUEPRINT;
        let found = words.find(WordPlace::Key("document"), "outputs");
        assert_eq!(found.map(|row| row.ours), Some("exports"));
        assert!(words.find(WordPlace::Key("resource"), "outputs").is_none());
        assert!(
            ForeignWords::NONE
                .find(WordPlace::Reference, "var")
                .is_none()
        );
    }
}
