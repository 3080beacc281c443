//! Checks includes, as far as the including document shows: their locations must be known at stage,
//! and their inputs must be scalars (decisions/blueprint#places-of-substitutions,
//! decisions/documents#children).
//!
//! For a child that could be read, also checks that its inputs are declared, have the right type
//! and are complete. Reports whether the child has errors of its own.
//!
//! Not here: reading children (`load`).

use blueprint::{Child, Expr, ExprKind, SourceMetadata, TextPart, Type, Value};
use diag::Span;
use dialect::codes as document;
use expr::codes as language;
use provider::CustomType;

use super::TypeOf;
use super::edges::{Edges, reads_metadata};
use super::limits::same;
use super::types::{fits_declared, is_scalar, with_article};
use super::{Checked, Checker, ExpressionContext, Included, codes};
use crate::graph::{EdgeKind, Graph, GraphNode};

/// The diagnostic for a child with errors of its own.
pub fn child_failed(name: &str, child: &Child) -> diag::Diagnostic {
    codes::CHILD_FAILED
        .new(format!("the child document `{name}` has errors"))
        .label(child.span, "included here")
        .help("fix the errors of the child")
}

impl Checker<'_> {
    /// Checks every include.
    pub(super) fn children(&mut self, graph: &Graph) {
        let blueprint = self.blueprint;
        if blueprint.children.is_empty() {
            return;
        }
        let computed = self.computed_locals(graph);
        for (at, (_, child)) in blueprint.children.iter().enumerate() {
            let place = ExpressionContext::of(GraphNode::Child(at as u32), "an include");
            let ty = self.infer(&child.path, place);
            if !ty.is_open() && !ty.alternatives().contains(&Type::Text) {
                self.found.push(
                    language::TYPE_MISMATCH
                        .new("the path of an include must be a string")
                        .label(child.path.span, format!("this is {}", with_article(&ty))),
                );
            } else if ty != Type::Error {
                self.known_at_stage(&child.path, "path", &computed);
            }
            self.child_inputs(at, child, place);
            if let Some(source) = &child.source {
                self.source(source, place, &computed);
            }
            if let Some(condition) = &child.condition {
                self.condition(condition, place);
            }
            if let Some(expansion) = &child.expansion {
                self.infer(&expansion.spec, place);
            }
            self.description(child.description.as_ref(), place);
        }
    }

    /// The child at a position, if it could be read.
    pub(super) fn child(&self, at: usize) -> Option<&Included> {
        self.included.get(at)?.as_ref()
    }

    fn child_inputs(&mut self, at: usize, child: &Child, place: ExpressionContext<'_>) {
        let checked = self.child(at).map(|included| included.checked.clone());
        let mut given = vec![
            false;
            checked
                .as_ref()
                .map_or(0, |checked| checked.blueprint.inputs.len())
        ];
        for (name, value) in &child.inputs {
            let declared = checked
                .as_ref()
                .map(|checked| (checked, checked.blueprint.inputs.get_full(&name.item)));
            let position = match declared {
                Some((checked, None)) => {
                    let known = checked.blueprint.inputs.keys().map(|name| name.as_ref());
                    self.found.push(
                        dialect::codes::UNDECLARED_VARIABLE
                            .new(format!(
                                "the child document declares no variable `{}`",
                                name.item
                            ))
                            .label(name.span, "not declared there")
                            .help_nearest(&name.item, known),
                    );
                    self.infer(value, place);
                    continue;
                }
                Some((_, Some((position, ..)))) => Some(position),
                None => None,
            };
            let ty = self.infer(value, place);
            if let Some(position) = position {
                // `none` counts as not written (decisions/blueprint#none).
                given[position] = ty != Type::Null;
            }
            if !ty.alternatives().iter().any(is_scalar) {
                self.found.push(
                    language::TYPE_MISMATCH
                        .new(format!("the input `{}` of an include must be a scalar", name.item))
                        .label(value.span, format!("this is {}", with_article(&ty)))
                        .help("hand it over as text: `jsonencode(..)`, and read it with `jsondecode(..)`"),
                );
            } else if let (Some(checked), Some(position)) = (&checked, position) {
                self.child_input(checked, position, value, &ty);
            }
        }
        let Some(checked) = checked else { return };
        for ((name, input), given) in checked.blueprint.inputs.iter().zip(given) {
            if !given
                && input
                    .default
                    .as_ref()
                    .is_none_or(|default| default.item.is_null())
            {
                self.found.push(missing_input(name, child.span));
            }
        }
    }

    /// Checks the type of a child's input, and that it is one of the allowed values.
    fn child_input(&mut self, checked: &Checked, position: usize, value: &Expr, ty: &Type) {
        let Some((name, input)) = checked.blueprint.inputs.get_index(position) else {
            return;
        };
        let custom = checked.custom_types.get(position).and_then(Option::as_ref);
        // Options are given by label, or passed on unchanged (decisions/documents#custom-types).
        let handed_on = custom.is_some_and(|custom| {
            self.custom_type_of(value)
                .is_some_and(|it| it.name == custom.name)
        });
        if handed_on {
            return;
        }
        let declared = match custom {
            Some(_) => Type::Text,
            None => checked
                .input_types
                .get(position)
                .cloned()
                .unwrap_or(Type::Any),
        };
        if !fits_declared(ty, &declared) {
            self.found.push(
                language::TYPE_MISMATCH
                    .new(format!(
                        "the variable `{name}` of the child document is declared as {}",
                        with_article(&declared)
                    ))
                    .label(value.span, format!("this is {}", with_article(ty))),
            );
            return;
        }
        let Some(literal) = value
            .inner()
            .as_literal()
            .filter(|literal| !literal.is_null())
        else {
            return;
        };
        if let Some(diagnostic) = not_allowed(name, input, custom.map(AsRef::as_ref), literal) {
            self.found
                .push(diagnostic.label(value.span, "not among them"));
        }
    }

    /// The custom type of the variable that an expression refers to.
    fn custom_type_of(&self, value: &Expr) -> Option<&std::sync::Arc<CustomType>> {
        let ExprKind::Ref(reference) = &value.inner().kind else {
            return None;
        };
        let blueprint::ReferenceHead::Input(name) = &reference.head else {
            return None;
        };
        self.custom_types
            .get(self.blueprint.inputs.get_index_of(name)?)?
            .as_ref()
    }

    fn source(&mut self, source: &SourceMetadata, place: ExpressionContext<'_>, computed: &[bool]) {
        let has_kind = source
            .entries
            .iter()
            .any(|(key, _)| key.item.as_ref() == "sourceType");
        for (key, value) in &source.entries {
            let ty = self.infer(value, place);
            // Without a source type, metadata is free data, except for a checksum.
            if ty != Type::Error && (has_kind || key.item.as_ref() == "checksum") {
                self.known_at_stage(value, &format!("`{}`", key.item), computed);
            }
        }
        // If the kinds are not known, the source checks its keys when the document is requested.
        let Some(kinds) = self.kinds else { return };
        let kind = source
            .entries
            .iter()
            .find(|(key, _)| key.item.as_ref() == "sourceType");
        let keys: &[source::SourceKey] = match kind.map(|(_, value)| (value, value.inner())) {
            None => return,
            Some((
                written,
                Expr {
                    kind: ExprKind::Literal(Value::Text(kind)),
                    ..
                },
            )) => {
                let Some(known) = kinds.iter().find(|known| known.name == kind.as_ref()) else {
                    self.found.push(
                        codes::UNKNOWN_SOURCE_TYPE
                            .new(format!("unknown source type `{kind}`"))
                            .label(written.span, "no such kind of remote source")
                            .help_nearest(kind, kinds.iter().map(|known| known.name))
                            .help(format!(
                                "the types are {}",
                                super::types::listed(kinds.iter().map(|known| known.name))
                            )),
                    );
                    return;
                };
                known.keys
            }
            // The kind is known only at stage.
            Some(_) => return,
        };
        let has = |name: &str| {
            source.entries.iter().any(|(key, value)| {
                key.item.as_ref() == name && value.as_literal() != Some(&Value::Null)
            })
        };
        let required = keys.iter().filter(|key| key.required).map(|key| key.name);
        let missing: Vec<&str> = required.filter(|key| !has(key)).collect();
        let keys: Vec<&str> = keys.iter().map(|key| key.name).collect();
        let wrong: Vec<&diag::Spanned<blueprint::Name>> = source
            .entries
            .iter()
            .map(|(key, _)| key)
            .filter(|key| {
                !keys.contains(&key.item.as_ref())
                    && !matches!(key.item.as_ref(), "sourceType" | "checksum")
            })
            .collect();
        if missing.is_empty() && wrong.is_empty() {
            return;
        }
        let mut parts = Vec::new();
        if !missing.is_empty() {
            parts.push(format!("`{}` missing", missing.join("`, `")));
        }
        if let Some(first) = wrong.first() {
            parts.push(format!("`{}` not known", first.item));
        }
        let mut diagnostic = codes::SOURCE_METADATA
            .new("keys of a remote source are missing or wrong")
            .label(source.span, parts.join(", "));
        for key in &wrong {
            diagnostic = diagnostic.label(key.span, "no such key for this kind of source");
        }
        self.found.push(diagnostic.help(format!(
            "keys of this kind: {}",
            [&keys[..], &["checksum"]].concat().join(", ")
        )));
    }

    /// Reports `include-path-unknown` if a part of the expression reads a field that a provider
    /// sets.
    fn known_at_stage(&mut self, expr: &Expr, what: &str, computed: &[bool]) {
        let mut places: Vec<(Span, &Expr)> = Vec::new();
        substitutions(expr, &mut places);
        for (span, inner) in places {
            if self.is_computed(inner, computed) {
                self.found.push(
                    codes::INCLUDE_PATH_UNKNOWN
                        .new(format!("the {what} of an include must be known before the deployment"))
                        .label(span, "this is known on deploy")
                        .help("use variables, values made from them, or data sources that can be read at stage"),
                );
            }
        }
    }

    /// For each local, whether it reads a field that is known only on deploy.
    fn computed_locals(&self, graph: &Graph) -> Vec<bool> {
        let mut computed = vec![false; self.blueprint.locals.len()];
        for node in graph.order() {
            if let GraphNode::Local(at) = node
                && let Some((_, local)) = self.blueprint.locals.get_index(at as usize)
            {
                computed[at as usize] = self.is_computed(&local.value, &computed);
            }
        }
        computed
    }

    fn is_computed(&self, expr: &Expr, computed: &[bool]) -> bool {
        let mut found = false;
        Edges {
            blueprint: self.blueprint,
            links: &self.links,
        }
        .each_need(expr, EdgeKind::Reads, &mut |need| {
            found |= match need.edge.to {
                GraphNode::Local(at) => computed.get(at as usize).copied().unwrap_or(false),
                GraphNode::Resource(at) => need.reference.is_some_and(|reference| {
                    !reads_metadata(reference) && self.computed_field(at as usize, reference)
                }),
                GraphNode::Link(_) => true,
                GraphNode::DataSource(_) | GraphNode::Child(_) | GraphNode::Input(_) => false,
            };
        });
        found
    }

    /// Whether a reference reads a field that the provider sets and the document does not.
    fn computed_field(&self, at: usize, reference: &blueprint::Ref) -> bool {
        let TypeOf::Known(ty) = &self.resources[at] else {
            return false;
        };
        let mut names = reference
            .path
            .iter()
            .filter_map(|accessor| match &accessor.kind {
                blueprint::AccessorKind::Name(name) => Some(name),
                blueprint::AccessorKind::Index(_) => None,
            });
        let name = match (names.next(), names.next()) {
            (None, _) => ty.id_field.as_ref(),
            (_, field) => field,
        };
        let written = |name: &str| match self
            .blueprint
            .resources
            .get_index(at)
            .map(|(_, resource)| &resource.spec.kind)
        {
            Some(ExprKind::Map(entries)) => {
                entries.iter().any(|(key, _)| key.item.as_ref() == name)
            }
            _ => false,
        };
        let computed = |name: &str| ty.schema.fields.get(name).is_some_and(|it| it.computed);
        name.is_some_and(|name| {
            let filled_in = || ty.filled_in(name).is_some_and(&computed);
            !written(name) && (computed(name) || filled_in())
        })
    }
}

/// The diagnostic for a missing input of a child document.
pub fn missing_input(name: &str, include: Span) -> diag::Diagnostic {
    dialect::codes::MISSING_VARIABLE
        .new(format!(
            "no value is given for the variable `{name}` of the child document"
        ))
        .label(include, "it has no default there")
        .help(format!("add `{name}` to its `variables`"))
}

/// The diagnostic for a value that a variable of a child document does not allow, without a place.
/// `None` if the value is allowed.
pub fn not_allowed(
    name: &str,
    input: &blueprint::Input,
    custom: Option<&CustomType>,
    value: &Value,
) -> Option<diag::Diagnostic> {
    let allowed: Vec<&Value> = input.allowed.iter().map(|allowed| &allowed.item).collect();
    let is_option = |label: &str| {
        custom.is_none_or(|custom| {
            custom
                .options
                .iter()
                .any(|option| option.label.as_ref() == label)
        })
    };
    let fine = (allowed.is_empty() || allowed.iter().any(|allowed| same(allowed, value)))
        && value.as_text().is_none_or(is_option);
    if fine {
        return None;
    }
    let options: Vec<String> = match custom {
        Some(custom) if allowed.is_empty() => custom
            .options
            .iter()
            .map(|option| format!("`{}`", option.label))
            .collect(),
        _ => allowed.iter().map(ToString::to_string).collect(),
    };
    let diagnostic = document::VALUE_NOT_ALLOWED.new(format!(
        "the value of the child's variable `{name}` is not among those allowed"
    ));
    Some(diagnostic.help(format!("use one of: {}", options.join(", "))))
}

/// Appends the substitutions in an expression with their places.
pub fn substitutions<'e>(expr: &'e Expr, found: &mut Vec<(Span, &'e Expr)>) {
    match &expr.kind {
        ExprKind::Substitution(inner) => found.push((expr.span, inner)),
        ExprKind::Text(parts) => found.extend(parts.iter().filter_map(|part| match part {
            TextPart::Expr(inner, span) => Some((*span, inner)),
            TextPart::Text(_) => None,
        })),
        ExprKind::List(items) => items.iter().for_each(|item| substitutions(item, found)),
        ExprKind::Map(entries) => entries
            .iter()
            .for_each(|(_, value)| substitutions(value, found)),
        _ => {}
    }
}
