//! The section `resources` (decisions/heat#resources).

use blueprint::{
    Blueprint, Child, ConditionalErrors, Expr, ExprKind, Lifecycle, Name, Resource,
    ResourceMetadata, TypeId, Value,
};
use diag::{Code, Diagnostic, Diagnostics, NativeMessage, Severity, Span, Spanned};
use syntax::{Content, Node};

use expr::codes::UNKNOWN_FIELD;

use super::codes::REMOVED_FUNCTION;
use super::expressions::{FACADE, named};
use super::groups;
use super::kinds::{LoweredKind, STACK};
use super::lowering::Lowering;
use super::message_path::{HeatPhase, MessagePath, TemplatePart, invalid};
use super::messages::cycle_message;
use super::providers::region_of_stack;
use super::read::{TextEntry, value_span};
use super::shape;
use super::version::Version::{self, *};
use dialect::codes::{
    INVALID_DELETION_POLICY, INVALID_NAME, MISSING_FIELD, NEWER_THAN_VERSION, SELF_REFERENCE,
    UNKNOWN_KEY, UNKNOWN_RESOURCE, UNKNOWN_VARIABLE,
};

/// The type that accepts any property and does nothing.
const NONE: &str = "OS::Heat::None";

/// The keys that were introduced with conditions.
const LATER: [&str; 2] = ["external_id", "condition"];

/// The codes of mistakes that Heat notices only if the resource exists.
const LATE_CODES: [&Code; 5] = [
    &REMOVED_FUNCTION,
    &UNKNOWN_RESOURCE,
    &UNKNOWN_FIELD,
    &SELF_REFERENCE,
    &UNKNOWN_VARIABLE,
];

/// The diagnostic for a resource without a type.
fn no_type(name: &str, at: Span, words: &str) -> Diagnostic {
    MISSING_FIELD
        .new(format!("the resource `{name}` has no type"))
        .label(at, "`type` is required in this map")
        .with_native_message(invalid(words))
}

/// The definition of a resource with its entries.
struct Definition<'t> {
    name: Spanned<Name>,
    pairs: Vec<TextEntry<'t>>,
}

impl<'t> Definition<'t> {
    fn get(&self, key: &str) -> Option<&TextEntry<'t>> {
        self.pairs.iter().find(|pair| pair.key.item.as_ref() == key)
    }
}

/// The diagnostic for an invalid deletion policy; `None` for a valid policy.
pub(super) fn removal(policy: &Value, version: Version) -> Option<Diagnostic> {
    match policy.as_text() {
        Some("Delete" | "Retain" | "Snapshot") => None,
        Some("delete" | "retain" | "snapshot") if version >= V2016_10_14 => None,
        _ => {
            let shown = if policy.has_secret() {
                "(secret)".to_owned()
            } else {
                pycompat::text(policy)
            };
            let refused = INVALID_DELETION_POLICY
                .new(format!("there is no deletion policy `{shown}`"))
                .help("write `Delete`, `Retain` or `Snapshot`")
                .with_native_message(invalid(format!("Invalid deletion policy \"{shown}\"")));
            Some(refused)
        }
    }
}

/// A parsed definition.
struct ParsedResource {
    name: Spanned<Name>,
    /// The resolved type: a type, or the path of a template.
    type_name: Spanned<TypeId>,
    /// The written type, if the registry maps it to another type.
    stands_for: Option<Spanned<TypeId>>,
    spec: Expr,
    spec_key: Span,
    metadata: Option<Expr>,
    depends_on: Vec<Spanned<Name>>,
    providers: Vec<Spanned<Name>>,
    lifecycle: Lifecycle,
    removal: Option<Box<Expr>>,
    policy: Option<Expr>,
    description: Option<Box<Expr>>,
    external: Option<Box<Expr>>,
}

fn declare_group(body: ParsedResource, condition: Option<Expr>, blueprint: &mut Blueprint) {
    let ParsedResource {
        name,
        type_name,
        spec,
        spec_key,
        policy,
        metadata,
        ..
    } = body;
    let path = Expr::literal(Value::Text(type_name.item.name().clone()), type_name.span);
    let (expansion, inputs) = groups::expansion(type_name, spec, spec_key, policy, metadata);
    let child = Child {
        span: name.span,
        path,
        stands_for: body.stands_for,
        inputs,
        source: None,
        condition,
        depends_on: body.depends_on,
        providers: body.providers,
        removal: body.removal,
        expansion: Some(Box::new(expansion)),
        breakpoints: body.lifecycle.breakpoints,
        description: body.description.map(|description| *description),
    };
    blueprint.children.insert(name.item, child);
}

fn declare_child(body: ParsedResource, condition: Option<Expr>, blueprint: &mut Blueprint) {
    let ParsedResource {
        name,
        type_name,
        removal,
        ..
    } = body;
    let mut inputs = match body.spec.kind {
        ExprKind::Map(entries) => entries,
        _ => Vec::new(),
    };
    // The nested template can read these properties of its resource.
    let facade = [
        ("metadata", body.metadata),
        ("deletion_policy", removal.as_deref().cloned()),
        ("update_policy", body.policy),
    ];
    let facade = facade
        .into_iter()
        .filter_map(|(key, said)| Some((named(key, name.span), said?)))
        .collect();
    inputs.push((
        named(FACADE, name.span),
        Expr::new(ExprKind::Map(facade), name.span),
    ));
    let child = Child {
        span: name.span,
        path: Expr::literal(Value::Text(type_name.item.name().clone()), type_name.span),
        stands_for: body.stands_for,
        inputs,
        source: None,
        condition,
        depends_on: body.depends_on,
        providers: body.providers,
        removal,
        expansion: None,
        breakpoints: body.lifecycle.breakpoints,
        description: body.description.map(|description| *description),
    };
    blueprint.children.insert(name.item, child);
}

fn declare_resource(body: ParsedResource, condition: Option<Expr>, blueprint: &mut Blueprint) {
    let metadata = ResourceMetadata {
        custom: body.metadata,
        replacement_trigger: None,
        ..ResourceMetadata::default()
    };
    let resource = Resource {
        condition: condition.map(Box::new),
        depends_on: body.depends_on,
        provider: body.providers.into_iter().next().map(Box::new),
        metadata,
        lifecycle: body.lifecycle,
        removal: body.removal,
        stands_for: body.stands_for.map(Box::new),
        update_policy: body.policy.map(Box::new),
        external: body.external,
        description: body.description,
        ..Resource::new(body.name.span, body.type_name, body.spec_key, body.spec)
    };
    blueprint.resources.insert(body.name.item, resource);
}

impl Lowering {
    /// Lowers all resources.
    pub(super) fn resources(&mut self, pairs: Vec<TextEntry<'_>>, blueprint: &mut Blueprint) {
        for pair in pairs {
            let name = pair.key.clone();
            if name.item.contains('/') {
                let diagnostic = INVALID_NAME
                    .new(format!("the name `{}` holds a `/`", name.item))
                    .label(
                        name.span,
                        "`/` separates a child from the names of its elements",
                    )
                    .with_native_message(invalid("Resource name may not contain \"/\""));
                self.report(diagnostic);
            }
            let Some(pairs) = self.reader.pairs(pair.value) else {
                let shown = self.reader.value(pair.value);
                if pair.value.is_missing() {
                    continue;
                }
                if !pycompat::truth(&shown) {
                    let diagnostic = no_type(
                        &name.item,
                        value_span(pair.value),
                        "Each resource must contain a type key.",
                    );
                    self.report(diagnostic);
                    continue;
                }
                let found = pycompat::type_name(&shown);
                let words = invalid(format!(
                    "\"resources\" must contain a map of resource maps. Found a [<class '{found}'>] instead"
                ));
                self.wrong_shape("a resource", "a map", pair.value, words);
                continue;
            };
            let definition = Definition { name, pairs };
            self.lower_definition(definition, blueprint);
        }
    }

    /// Lowers a resource. If it has a condition, some of its mistakes count only if the condition
    /// holds.
    fn lower_definition(&mut self, definition: Definition<'_>, blueprint: &mut Blueprint) {
        let name = definition.name.clone();
        let condition = definition
            .get("condition")
            .filter(|_| self.version >= V2016_10_14)
            .and_then(|pair| {
                let message_path = MessagePath::to(TemplatePart::ResourceCondition, &name.item);
                self.condition_of(pair, message_path)
            });
        let before = self.reader.found.len();
        self.declare(definition, condition.clone(), blueprint);
        self.make_errors_conditional(condition, before, false, blueprint);
    }

    /// Turns errors from number `before` on into warnings for the type that evaluates nothing,
    /// unless Heat notices them while it reads.
    fn downgrade_late_errors(&mut self, type_name: &str, before: usize) {
        if type_name != NONE {
            return;
        }
        for (at, one) in self.reader.found.iter_mut().enumerate().skip(before) {
            let is_reference = one.code.name == UNKNOWN_RESOURCE.name;
            if self.late_diagnostics.contains(&at) && !is_reference
                || one.code.name == REMOVED_FUNCTION.name
            {
                one.severity = Severity::Warning;
            }
        }
    }

    /// Makes errors from number `before` on depend on a condition: with `all` all of them,
    /// otherwise those that Heat does not notice while it reads.
    pub(super) fn make_errors_conditional(
        &mut self,
        condition: Option<Expr>,
        before: usize,
        all: bool,
        blueprint: &mut Blueprint,
    ) {
        let unread = std::mem::take(&mut self.late_diagnostics);
        let Some(condition) = condition else { return };
        self.unsettled = true;
        let mut found = Vec::new();
        for (at, one) in self
            .reader
            .found
            .iter_mut()
            .enumerate()
            .skip(before)
            .filter(|(_, one)| one.is_error())
        {
            if all
                || unread.contains(&at)
                || LATE_CODES.iter().any(|code| code.name == one.code.name)
            {
                found.push(one.clone());
                one.severity = Severity::Warning;
            }
        }
        if !found.is_empty() {
            blueprint
                .guarded
                .push(ConditionalErrors { condition, found });
        }
    }

    fn declare(
        &mut self,
        definition: Definition<'_>,
        condition: Option<Expr>,
        blueprint: &mut Blueprint,
    ) {
        self.check_keys(&definition);
        let Some(mut body) = self.read_body(definition) else {
            return;
        };
        if body.type_name.item.as_ref() == STACK
            && let Some((name, mut configuration)) = self.region_of(&body.name.item, &body.spec)
        {
            body.providers.push(name.clone());
            configuration.condition = condition.clone().map(Box::new);
            blueprint.resources.insert(name.item, configuration);
        }
        match self.resources.get(&body.name.item) {
            Some(LoweredKind::Group) => declare_group(body, condition, blueprint),
            Some(LoweredKind::Child) => declare_child(body, condition, blueprint),
            _ => declare_resource(body, condition, blueprint),
        }
    }

    /// The configuration for the region of an `OS::Heat::Stack`, if it names one.
    fn region_of(&mut self, stack: &Name, spec: &Expr) -> Option<(Spanned<Name>, Resource)> {
        let mut found = Diagnostics::new();
        let is_taken = |name: &str| self.resources.contains_key(name);
        let region = region_of_stack(stack, spec, is_taken, |diagnostic| found.push(diagnostic));
        for diagnostic in found {
            self.report(diagnostic);
        }
        region
    }

    /// Reports keys that a resource does not have in this version.
    fn check_keys(&mut self, definition: &Definition<'_>) {
        for pair in &definition.pairs {
            let key = pair.key.item.as_ref();
            if shape::RESOURCE.key(key).is_none() {
                let diagnostic = UNKNOWN_KEY
                    .new(format!("a resource has no key `{key}`"))
                    .label(pair.key.span, "not a key of a resource");
                let diagnostic = shape::explained(diagnostic, &shape::RESOURCE, key)
                    .with_native_message(invalid(format!(
                        "\"{key}\" is not a valid keyword inside a resource definition"
                    )));
                self.report(diagnostic);
            } else if LATER.contains(&key) && self.version < V2016_10_14 {
                let diagnostic = NEWER_THAN_VERSION
                    .new(format!(
                        "`{key}` of a resource came with version 2016-10-14"
                    ))
                    .label(
                        pair.key.span,
                        format!("the version of the template is {}", self.version.date()),
                    )
                    .with_severity(Severity::Error)
                    .with_native_message(invalid(format!(
                        "Invalid keyword(s) inside a resource definition: {key}"
                    )));
                self.report(diagnostic);
            }
        }
    }

    /// Reads the values of a definition. Reports a missing type and returns `None`.
    fn read_body(&mut self, definition: Definition<'_>) -> Option<ParsedResource> {
        let name = definition.name.clone();
        let written = self.type_of(&definition)?;
        let meaning = self
            .resolved_types
            .get(&name.item)
            .cloned()
            .unwrap_or_else(|| written.item.clone());
        let is_mapped = written.item != meaning;
        let type_name = Spanned::new(TypeId::from(meaning), written.span);
        let stands_for = is_mapped.then(|| Spanned::new(TypeId::from(written.item), written.span));
        self.message_path = MessagePath::to(TemplatePart::Properties, &name.item);
        let before = self.reader.found.len();
        let spec = match definition.get("properties") {
            Some(pair) => match &pair.value.content {
                Content::Map(_) | Content::Missing => self.expr(pair.value),
                _ => {
                    let words = invalid(format!(
                        "Resource {} properties type must be object",
                        name.item
                    ));
                    self.wrong_shape("`properties`", "a map", pair.value, words);
                    Expr::error(value_span(pair.value))
                }
            },
            None => Expr::new(ExprKind::Map(Vec::new()), type_name.span),
        };
        self.downgrade_late_errors(&type_name.item, before);
        let spec_key = definition
            .get("properties")
            .map_or(name.span, |pair| pair.key.span);
        self.message_path = MessagePath::to(TemplatePart::Metadata, &name.item);
        let metadata = self.map_of(&definition, "metadata");
        let providers = match self.resources.get(&name.item) {
            Some(LoweredKind::Group) => {
                self.providers_of_group(&type_name.item, &spec, metadata.as_ref())
            }
            kind => self.providers(metadata.as_ref(), matches!(kind, Some(LoweredKind::Child))),
        };
        let depends_on = self.depends_on(&definition);
        let lifecycle = self.lifecycle(&definition);
        let removal = self.lower_deletion_policy(&definition);
        self.message_path = MessagePath::to(TemplatePart::UpdatePolicy, &name.item);
        let before = self.reader.found.len();
        let policy = self.map_of(&definition, "update_policy");
        self.downgrade_late_errors(&type_name.item, before);
        let description =
            definition
                .get("description")
                .and_then(|pair| match self.text(pair.value) {
                    Some(text) => Some(Box::new(Expr::literal(
                        Value::text(text),
                        value_span(pair.value),
                    ))),
                    None => {
                        let words = invalid(format!(
                            "Resource {} description type must be string",
                            name.item
                        ));
                        self.wrong_shape("`description`", "text", pair.value, words);
                        None
                    }
                });
        let external = definition
            .get("external_id")
            .filter(|pair| self.is_call(pair.value))
            .map(|pair| {
                self.message_path = MessagePath::to(TemplatePart::Properties, &name.item);
                self.unsettled = true;
                Box::new(self.expr(pair.value))
            });
        Some(ParsedResource {
            name,
            type_name,
            stands_for,
            spec,
            spec_key,
            metadata,
            depends_on,
            providers,
            lifecycle,
            removal,
            policy,
            description,
            external,
        })
    }

    /// The value of a key whose value must be a map.
    fn map_of(&mut self, definition: &Definition<'_>, key: &str) -> Option<Expr> {
        let pair = definition.get(key)?;
        if matches!(pair.value.content, Content::Map(_)) {
            return Some(self.expr(pair.value));
        }
        let words = invalid(format!(
            "Resource {} {key} type must be object",
            definition.name.item
        ));
        self.wrong_shape(&format!("`{key}`"), "a map", pair.value, words);
        None
    }

    fn type_of(&mut self, definition: &Definition<'_>) -> Option<Spanned<Name>> {
        let name = &definition.name;
        let missing = |at: Span, words: &str| no_type(&name.item, at, words);
        let Some(pair) = definition.get("type") else {
            self.report(missing(name.span, "Each resource must contain a type key."));
            return None;
        };
        match self.text(pair.value) {
            Some("") => {
                self.report(missing(
                    value_span(pair.value),
                    "Each Resource must contain a Type key.",
                ));
                None
            }
            Some(text) => Some(named(text, value_span(pair.value))),
            None if self.is_null(pair.value) => {
                self.report(missing(
                    value_span(pair.value),
                    "Each Resource must contain a Type key.",
                ));
                None
            }
            None => {
                let words = invalid(format!("Resource {} type type must be string", name.item));
                self.wrong_shape("`type`", "text", pair.value, words);
                None
            }
        }
    }

    /// `depends_on`: a name or a list of names.
    fn depends_on(&mut self, definition: &Definition<'_>) -> Vec<Spanned<Name>> {
        let Some(pair) = definition.get("depends_on") else {
            return Vec::new();
        };
        let own = definition.name.item.clone();
        let (items, words): (Vec<&Node>, _) = match &pair.value.content {
            Content::List(items) => (
                items.iter().collect(),
                format!("Resource {own} depends_on must be a list of strings"),
            ),
            _ => (
                vec![pair.value],
                format!("Resource {own} depends_on type must be list or string"),
            ),
        };
        let words = invalid(words);
        let mut names: Vec<Spanned<Name>> = Vec::with_capacity(items.len());
        for item in items {
            let span = value_span(item);
            let Some(text) = self.text(item) else {
                self.wrong_shape(
                    "`depends_on`",
                    "a name or a list of names",
                    item,
                    words.clone(),
                );
                continue;
            };
            if *text == *own {
                self.report(
                    SELF_REFERENCE
                        .new(format!("the resource `{own}` waits for itself"))
                        .label(span, "this is the resource being defined")
                        .help("take the name away")
                        .with_native_message(cycle_message(&[(
                            &own,
                            self.resolved_types.get(&own).map_or("", AsRef::as_ref),
                        )])),
                );
            } else if !self.resources.contains_key(text) {
                let diagnostic = UNKNOWN_RESOURCE
                    .new(format!("there is no resource `{text}`"))
                    .label(span, "not declared")
                    .help_nearest(text, self.resources.keys().map(AsRef::as_ref))
                    .with_native_message(NativeMessage::of(
                        "InvalidTemplateReference",
                        format!("The specified reference \"{text}\" (in {own}) is incorrect."),
                    ));
                self.report(diagnostic);
            } else if !names.iter().any(|name| name.item.as_ref() == text) {
                names.push(named(text, span));
            }
        }
        names
    }

    /// `deletion_policy`: one of three words, or a call that returns one.
    fn lower_deletion_policy(&mut self, definition: &Definition<'_>) -> Option<Box<Expr>> {
        let pair = definition.get("deletion_policy")?;
        let (own, span) = (&definition.name.item, value_span(pair.value));
        match self.text(pair.value) {
            Some(text) => {
                if let Some(refused) = removal(&Value::text(text), self.version) {
                    self.report(refused.label(span, "not one of them"));
                    return None;
                }
            }
            None if self.is_call(pair.value) => {
                self.message_path = MessagePath::to(TemplatePart::DeletionPolicy, own)
            }
            None => {
                let words = invalid(format!(
                    "Resource {own} deletion_policy type must be string"
                ));
                self.wrong_shape("`deletion_policy`", "text", pair.value, words);
                return None;
            }
        }
        Some(Box::new(self.expr(pair.value)))
    }

    /// The lifecycle of a resource.
    fn lifecycle(&mut self, definition: &Definition<'_>) -> Lifecycle {
        let mut lifecycle = self.context.lifecycle(&definition.name.item);
        if let Some(pair) = definition.get("external_id") {
            match self.text(pair.value) {
                Some(text) => {
                    let id = Spanned::new(text.into(), value_span(pair.value));
                    lifecycle.external = Some(id);
                }
                None if self.is_call(pair.value) => {}
                None => {
                    let words = invalid(format!(
                        "Resource {} external_id type must be string",
                        definition.name.item
                    ));
                    self.wrong_shape("`external_id`", "text", pair.value, words);
                }
            }
        }
        lifecycle
    }

    /// The condition of a resource or of an output.
    pub(super) fn condition_of(
        &mut self,
        pair: &TextEntry<'_>,
        message_path: MessagePath,
    ) -> Option<Expr> {
        let node = pair.value;
        let of_output = message_path.section == TemplatePart::OutputCondition;
        if of_output && self.is_null(node) {
            return None;
        }
        let scalar_or_map = of_output
            || self.text(node).is_some()
            || matches!(node.content, Content::Map(_))
            || self.kind_of(node) == "a boolean";
        if !scalar_or_map {
            let diagnostic = dialect::codes::INVALID_CONDITION
                .new("a condition is a name, a boolean or a call")
                .label(value_span(node), format!("this is {}", self.kind_of(node)))
                .with_native_message(invalid(format!(
                    "Resource {} condition type must be string_or_boolean",
                    message_path.of
                )));
            self.report(diagnostic);
            return None;
        }
        // Heat does not expect an inline condition to fail, so the class of the error is Python's.
        let in_place = message_path.section == TemplatePart::ResourceCondition
            && matches!(node.content, Content::Map(_));
        let unforeseen = || NativeMessage::of("ValueError", "");
        self.condition_for = Some(if in_place {
            unforeseen()
        } else {
            message_path.message(HeatPhase::Evaluate, "ValueError", "")
        });
        self.message_path = message_path;
        let condition = self.condition(node);
        self.condition_for = None;
        // A condition that is always true is left out.
        if matches!(condition.as_literal(), Some(Value::Bool(true))) {
            None
        } else {
            Some(condition)
        }
    }
}
