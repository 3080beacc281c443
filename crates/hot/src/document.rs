//! Lowers a template as a whole (decisions/heat#versions, decisions/heat#sections-of-a-template).

use blueprint::{Blueprint, Expr, IndexMap, Input, Name, Type, Value};
use diag::{Diagnostics, NativeMessage, Span, Spanned};
use syntax::Content;

use super::codes::{
    AMBIGUOUS_VERSION, GROUPED_TWICE, TOO_LARGE, UNKNOWN_SECTION, YAML_KEYWORD_NAME,
};
use super::expressions::FACADE;
use super::kinds::LoweredKind;
use super::lowering::Lowering;
use super::message_path::{invalid, path};
use super::read::{NodeReader, TextEntry, value_span};
use super::shape;
use super::version::Version::{self, *};
use super::version::{NAME, VERSION_KEYS};
use dialect::codes::{
    MISSING_FIELD, MISSING_VERSION, NAME_COLLISION, NEWER_THAN_VERSION, UNKNOWN_VARIABLE,
    UNSUPPORTED_VERSION, WRONG_SHAPE,
};
use dialect::{Document, Lowered};

/// The largest template that Heat accepts, in bytes.
const MOST_BYTES: usize = 512 * 1024;

/// Lowers a template. Returns its meaning and all mistakes.
pub(super) fn lower(document: &Document<'_>) -> Lowered {
    let mut blueprint = Blueprint {
        dialect: NAME,
        ..Blueprint::default()
    };
    let mut reader = NodeReader {
        found: Diagnostics::new(),
    };
    let whole = Span::new(document.file, 0, 0);
    let Some(root) = &document.tree().root else {
        let missing = MISSING_VERSION
            .new("the document is empty")
            .label(whole, "not even a version")
            .help("begin with `heat_template_version: 2018-08-31`")
            .with_native_message(NativeMessage::of(
                "ValueError",
                "Template format version not found.",
            ));
        reader.found.push(missing);
        return Lowered {
            blueprint,
            diagnostics: reader.found,
        };
    };
    if document.tree().format == syntax::Format::Yaml {
        super::form::check(document.text, root, &mut reader.found);
    }
    let Some(pairs) = reader.pairs(root) else {
        if !matches!(root.content, Content::Missing) {
            let words = NativeMessage::of(
                "ValueError",
                "The template is not a JSON object or YAML mapping.",
            );
            let wrong = WRONG_SHAPE
                .new("a template is a map")
                .label(value_span(root), "neither a version nor sections")
                .with_native_message(words);
            reader.found.push(wrong);
        }
        return Lowered {
            blueprint,
            diagnostics: reader.found,
        };
    };
    blueprint.span = pairs.first().map(|pair| pair.key.span);
    let (most, who) = match document.context.settings.limits(NAME).bytes {
        Some(most) => (most, "the settings allow"),
        None => (MOST_BYTES, "Heat takes"),
    };
    if document.text.len() > most {
        let size = document.text.len();
        reader.found.push(
            TOO_LARGE
                .new(format!("the template has {size} bytes, {who} {most}"))
                .label(blueprint.span.unwrap_or(whole), "begins here")
                .help("move parts into nested templates, or long texts into files that `get_file` reads")
                .with_native_message(NativeMessage::of(
                    "RequestLimitExceeded",
                    format!("Request limit exceeded: Template size ({size} bytes) exceeds maximum allowed size ({MOST_BYTES} bytes)."),
                )),
        );
    }
    let Some((version, text)) = version(&pairs, &mut reader, value_span(root)) else {
        return Lowered {
            blueprint,
            diagnostics: reader.found,
        };
    };
    blueprint.version = text;
    let mut lowering = Lowering::new(version, document.context, document.context.is_child, reader);
    lowering.keep_source(document.text);
    lowering.template(pairs, document.context.inputs_only, &mut blueprint);
    let mut diagnostics = lowering.reader.found;
    diagnostics.sort();
    Lowered {
        blueprint,
        diagnostics,
    }
}

/// Reads a value with its calls as a part of the template that was lowered to this blueprint, or a
/// statement about it, such as `equals`.
pub(super) fn expression(typed: &Document<'_>, of: &Blueprint) -> (Expr, Diagnostics) {
    let whole = Span::new(
        typed.file,
        0,
        u32::try_from(typed.text.len()).unwrap_or(u32::MAX),
    );
    let names = |span: Span| move |name: &Name| (name.clone(), span);
    let kind = |child: &blueprint::Child| {
        if child.expansion.is_some() {
            LoweredKind::Group
        } else {
            LoweredKind::Child
        }
    };
    let resources = of
        .resources
        .keys()
        .map(|name| (name.clone(), LoweredKind::Resource));
    let version = Version::of(&of.version).unwrap_or(V2021_04_16);
    let reader = NodeReader {
        found: Diagnostics::new(),
    };
    let mut lowering = Lowering::new(version, typed.context, false, reader);
    lowering.keep_source(typed.text);
    lowering.parameters = of.inputs.keys().map(names(whole)).collect();
    lowering.conditions = of.locals.keys().map(names(whole)).collect();
    lowering.resources = resources
        .chain(
            of.children
                .iter()
                .map(|(name, child)| (name.clone(), kind(child))),
        )
        .collect();
    let expr = match &typed.tree().root {
        Some(root) => lowering.statement(root),
        None => Expr::literal(Value::Null, whole),
    };
    (expr, lowering.reader.found)
}

/// The version of a template. Reports an invalid version and returns `None`.
fn version(
    pairs: &[TextEntry<'_>],
    reader: &mut NodeReader,
    root: Span,
) -> Option<(Version, Name)> {
    let written: Vec<&TextEntry<'_>> = pairs
        .iter()
        .filter(|pair| VERSION_KEYS.contains(&pair.key.item.as_ref()))
        .collect();
    let [pair] = written.as_slice() else {
        let diagnostic = match written.as_slice() {
            [] => MISSING_VERSION
                .new("the template does not say its version")
                .label(root.head(), "no version in this document")
                .help("add `heat_template_version: 2018-08-31`")
                .with_native_message(NativeMessage::of(
                    "ValueError",
                    "Template format version not found.",
                )),
            several => {
                let keys: Vec<&str> = several.iter().map(|pair| pair.key.item.as_ref()).collect();
                several.iter().skip(1).fold(
                    AMBIGUOUS_VERSION
                        .new("the template states its version twice")
                        .label(several[0].key.span, "here")
                        .help("keep `heat_template_version`")
                        .with_native_message(NativeMessage::of(
                            "InvalidTemplateVersion",
                            format!(
                                "The template version is invalid: Ambiguous versions ({})",
                                keys.join(", ")
                            ),
                        )),
                    |diagnostic, pair| diagnostic.label(pair.key.span, "and here"),
                )
            }
        };
        reader.found.push(diagnostic);
        return None;
    };
    let span = value_span(pair.value);
    let value = reader.value(pair.value);
    let Some(text) = value.as_text() else {
        reader.found.push(
            MISSING_VERSION
                .new("the version must be text")
                .label(span, "not a date in text")
                .help("write a date with hyphens: `2018-08-31`")
                .with_native_message(NativeMessage::of(
                    "InvalidTemplateVersion",
                    "The template version is invalid: Template version was not provided",
                )),
        );
        return None;
    };
    let key = pair.key.item.as_ref();
    if key != VERSION_KEYS[0] {
        reader.found.push(
            UNSUPPORTED_VERSION
                .new(format!(
                    "`{key}` begins a template of CloudFormation, which is another language"
                ))
                .label(pair.key.span, "only Heat's own templates are read")
                .help("rewrite the template with `heat_template_version`"),
        );
        return None;
    }
    match Version::of(text) {
        Some(version) => Some((version, text.into())),
        None => {
            let all: Vec<&str> = Version::all().collect();
            reader.found.push(
                UNSUPPORTED_VERSION
                    .new(format!("there is no version `{text}` of Heat's templates"))
                    .label(span, "not a known version")
                    .help(format!("use one of: {}", all.join(", ")))
                    .with_native_message(NativeMessage::of(
                        "InvalidTemplateVersion",
                        format!(
                            "The template version is invalid: \"{key}: {text}\". \"{key}\" should be one of: {}",
                            all.join(", ")
                        ),
                    )),
            );
            None
        }
    }
}

impl Lowering {
    /// Keeps the text of the document if it can contain yaql.
    fn keep_source(&mut self, text: &str) {
        if text.contains("yaql") {
            self.source = text.to_owned();
        }
    }

    fn template(
        &mut self,
        mut pairs: Vec<TextEntry<'_>>,
        inputs_only: bool,
        blueprint: &mut Blueprint,
    ) {
        if inputs_only {
            pairs.retain(|pair| pair.key.item.as_ref() == "parameters");
        }
        let (sections, groups) = self.sections(&pairs, blueprint);
        self.keyword_names(&pairs);
        let [parameters, conditions, resources, outputs] = sections;
        self.declare_names(&parameters, &conditions, &resources);
        for pair in parameters {
            if let Some(input) = self.input(&pair) {
                blueprint.inputs.insert(pair.key.item, input);
            }
        }
        if let Some(groups) = groups {
            self.groups(groups);
        }
        blueprint.locals = self.conditions(conditions);
        self.resources(resources, blueprint);
        self.outputs(outputs, blueprint);
        self.complete_condition_messages(&mut blueprint.locals);
        let computed = blueprint
            .locals
            .values()
            .any(|local| local.value.as_literal().is_none());
        blueprint.unsettled = self.unsettled || computed;
        for (group, reads) in std::mem::take(&mut self.reads) {
            if let Some(expansion) = blueprint
                .children
                .get_mut(&group)
                .and_then(|child| child.expansion.as_mut())
            {
                expansion.reads = reads
                    .into_iter()
                    .map(|(name, span)| Spanned::new(name, span))
                    .collect();
            }
        }
        if self.reads_facade {
            let span = blueprint.span.unwrap_or(Span::NONE);
            blueprint
                .inputs
                .insert(FACADE.into(), Input::optional_untyped(span));
        }
        if self.is_child {
            self.exports_of_child(blueprint);
        }
    }

    /// The entries of the sections `parameters`, `conditions`, `resources` and `outputs`, and the
    /// value of `parameter_groups`.
    fn sections<'t>(
        &mut self,
        pairs: &[TextEntry<'t>],
        blueprint: &mut Blueprint,
    ) -> ([Vec<TextEntry<'t>>; 4], Option<&'t syntax::Node>) {
        let mut sections = [const { Vec::new() }; 4];
        let mut groups = None;
        for pair in pairs {
            let key = pair.key.item.as_ref();
            let at = match key {
                "parameters" => 0,
                "conditions" => 1,
                "resources" => 2,
                "outputs" => 3,
                "parameter_groups" => {
                    groups = Some(pair.value);
                    continue;
                }
                "description" => {
                    blueprint.metadata = None;
                    continue;
                }
                _ if VERSION_KEYS.contains(&key) => continue,
                _ => {
                    self.unknown_section(pair);
                    continue;
                }
            };
            if key == "conditions" && self.version < V2016_10_14 {
                let diagnostic = NEWER_THAN_VERSION
                    .new("the section `conditions` came with version 2016-10-14")
                    .label(
                        pair.key.span,
                        format!("the version of the template is {}", self.version.date()),
                    )
                    .with_severity(diag::Severity::Error)
                    .with_native_message(invalid(format!(
                        "The template section is invalid: {key}"
                    )));
                self.report(diagnostic);
                continue;
            }
            if self.is_null(pair.value) && key != "conditions" {
                continue;
            }
            match self.reader.pairs(pair.value) {
                Some(entries) => sections[at] = entries,
                None => {
                    let found = pycompat::type_name(&self.reader.value(pair.value));
                    let words = match key {
                        "conditions" => invalid(format!(
                            "Condition definitions must be a map. Found a {found} instead"
                        ))
                        .error("Conditions validation error"),
                        _ => NativeMessage::of(
                            "AttributeError",
                            format!("'{found}' object has no attribute 'items'"),
                        ),
                    };
                    self.wrong_shape(&format!("the section `{key}`"), "a map", pair.value, words);
                }
            }
        }
        (sections, groups)
    }

    /// Records the names of all sections and the resolved types of resources before any value is
    /// read.
    fn declare_names(
        &mut self,
        parameters: &[TextEntry<'_>],
        conditions: &[TextEntry<'_>],
        resources: &[TextEntry<'_>],
    ) {
        self.parameters = parameters
            .iter()
            .map(|pair| (pair.key.item.clone(), pair.key.span))
            .collect();
        self.conditions = conditions
            .iter()
            .map(|pair| (pair.key.item.clone(), pair.key.span))
            .collect();
        let written = |pair: &TextEntry<'_>| {
            pair.value
                .entry("type")
                .and_then(|entry| entry.value.text())
                .unwrap_or_default()
                .to_owned()
        };
        let types: Vec<String> = resources.iter().map(written).collect();
        let names = resources.iter().map(|pair| pair.key.item.as_ref());
        let meanings = self
            .context
            .resolve_types(names.zip(types.iter().map(String::as_str)));
        for (pair, (kind, meaning)) in resources.iter().zip(meanings) {
            self.resources.insert(pair.key.item.clone(), kind);
            self.resolved_types.insert(pair.key.item.clone(), meaning);
        }
        for pair in resources {
            if let Some(first) = self.parameters.get(&pair.key.item) {
                let diagnostic = NAME_COLLISION
                    .new(format!(
                        "`{}` is both a parameter and a resource",
                        pair.key.item
                    ))
                    .label(pair.key.span, "a resource of that name")
                    .label(*first, "the parameter")
                    .with_native_message(invalid(format!(
                        "Duplicate names {{{}}}",
                        pycompat::repr_text(&pair.key.item)
                    )));
                self.report(diagnostic);
            }
        }
    }

    fn unknown_section(&mut self, pair: &TextEntry<'_>) {
        let key = pair.key.item.as_ref();
        let diagnostic = UNKNOWN_SECTION
            .new(format!("a template has no section `{key}`"))
            .label(pair.key.span, "not a section");
        let diagnostic = shape::explained(diagnostic, &shape::TEMPLATE, key)
            .with_native_message(invalid(format!("The template section is invalid: {key}")));
        self.report(diagnostic);
    }

    /// Reports names that YAML 1.1 reads as another kind of value
    /// (decisions/heat#names-that-yaml-changes).
    fn keyword_names(&mut self, pairs: &[TextEntry<'_>]) {
        for pair in pairs {
            let Some(entries) = pair.value.as_map() else {
                continue;
            };
            if !matches!(
                pair.key.item.as_ref(),
                "parameters" | "conditions" | "resources" | "outputs"
            ) {
                continue;
            }
            for entry in entries {
                let Some(text) = entry.key.text() else {
                    continue;
                };
                let span = value_span(&entry.key);
                let plain = entry
                    .key
                    .as_scalar()
                    .is_some_and(|scalar| !scalar.style.is_text());
                let named = self.reader.value(&entry.key);
                if plain
                    && matches!(named, Value::Bool(_) | Value::Null)
                    && let Some(name) = super::scalar::key_text(&named)
                    && *name != *text
                {
                    let diagnostic = YAML_KEYWORD_NAME
                        .new(format!("the name `{text}` is read as `{name}`"))
                        .label(span, "a keyword of YAML 1.1")
                        .help("quote it");
                    self.report(diagnostic);
                }
            }
        }
    }

    /// Lowers one parameter.
    fn input(&mut self, pair: &TextEntry<'_>) -> Option<Input> {
        let rules = self.reader.value(pair.value);
        let schema = super::inputs::schema(pair, &rules, self.version, &mut self.reader.found);
        rules.as_map()?;
        let own = || rules.get("default").filter(|value| !value.is_null());
        let default = self
            .context
            .default_of(&pair.key.item)
            .or_else(own)
            .cloned();
        let default_span = pair.value.get("default").map_or(pair.key.span, value_span);
        let secret =
            schema.is_some_and(|schema| schema.hidden) || self.context.encrypts(&pair.key.item);
        Some(Input {
            span: pair.key.span,
            ty: Type::Any,
            custom_type: None,
            default: default.map(|value| Spanned::new(value, default_span)),
            allowed: Vec::new(),
            secret,
            description: rules.get("description").and_then(super::scalar::key_text),
            rules: super::inputs::without_later(rules, self.version),
        })
    }

    /// Checks `parameter_groups`, which are only for display but must have valid names.
    fn groups(&mut self, node: &syntax::Node) {
        if !pycompat::truth(&self.reader.value(node)) {
            return;
        }
        let Some(items) = node.as_list() else {
            let words = grouping(&Value::Null, "The parameter_groups should be a list.");
            return self.wrong_shape("`parameter_groups`", "a list", node, words);
        };
        let mut grouped: IndexMap<Name, Span> = IndexMap::default();
        for group in items {
            let Some(keys) = self.reader.pairs(group) else {
                let found = pycompat::type_name(&self.reader.value(group));
                let words = NativeMessage::of(
                    "AttributeError",
                    format!("'{found}' object has no attribute 'get'"),
                );
                self.wrong_shape("a parameter group", "a map", group, words);
                continue;
            };
            let label = keys.iter().find(|pair| pair.key.item.as_ref() == "label");
            let label = label.map_or_else(|| Value::text(""), |pair| self.reader.value(pair.value));
            let Some(names) = keys
                .iter()
                .find(|pair| pair.key.item.as_ref() == "parameters")
            else {
                let diagnostic = MISSING_FIELD
                    .new("the group has no parameters")
                    .label(
                        value_span(group).head(),
                        "`parameters` is required in this map",
                    )
                    .with_native_message(grouping(
                        &label,
                        "The parameters must be provided for each parameter group.",
                    ));
                self.report(diagnostic);
                continue;
            };
            let Some(names) = names.value.as_list() else {
                let words = grouping(
                    &label,
                    "The parameters of parameter group should be a list.",
                );
                self.wrong_shape("`parameters` of a group", "a list", names.value, words);
                continue;
            };
            for node in names {
                let span = value_span(node);
                let value = self.reader.value(node);
                let Some(name) = super::scalar::key_text(&value) else {
                    self.wrong_shape("a grouped parameter", "a name", node, String::new());
                    continue;
                };
                if let Some(first) = grouped.get(&name) {
                    let diagnostic = GROUPED_TWICE
                        .new(format!("the parameter `{name}` is grouped twice"))
                        .label(span, "again here")
                        .label(*first, "first here")
                        .with_native_message(grouping(
                            &label,
                            &format!(
                                "The {name} parameter must be assigned to one parameter group only."
                            ),
                        ));
                    self.report(diagnostic);
                } else if !self.parameters.contains_key(&name) {
                    let diagnostic = UNKNOWN_VARIABLE
                        .new(format!("there is no parameter `{name}`"))
                        .label(span, "not declared")
                        .help_nearest(&name, self.parameters.keys().map(AsRef::as_ref))
                        .with_native_message(grouping(
                            &label,
                            &format!(
                                "The grouped parameter {name} does not reference a valid parameter."
                            ),
                        ));
                    self.report(diagnostic);
                }
                grouped.entry(name).or_insert(span);
            }
        }
    }
}

/// Heat's message about a group of parameters, with the label of the group if it concerns one.
fn grouping(label: &Value, message: &str) -> NativeMessage {
    let words = invalid(message).error("Parameter Groups error");
    match label {
        Value::Null => words.at("parameter_groups"),
        label => words.at(path(&["parameter_groups", &pycompat::text(label)])),
    }
}
