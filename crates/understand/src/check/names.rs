//! Diagnostics for undeclared names: one for each kind of element, with a suggestion.
//!
//! Not here: the types of declared names (`references`).

use blueprint::{AccessorKind, Blueprint, IndexMap, Name, Ref};
use diag::{Code, Diagnostic, Span};
use dialect::WordPlace;

use super::{Checker, ExpressionContext, Repetition, codes};
use crate::graph::GraphNode;

impl Checker<'_> {
    pub(super) fn unknown_variable(&self, name: &str, span: Span) -> Diagnostic {
        self.unknown(
            &codes::UNKNOWN_VARIABLE,
            ("variable", "variables"),
            name,
            span,
            &self.blueprint.inputs,
        )
    }

    pub(super) fn unknown_value(&self, name: &str, span: Span) -> Diagnostic {
        self.unknown(
            &codes::UNKNOWN_VALUE,
            ("value", "values"),
            name,
            span,
            &self.blueprint.locals,
        )
    }

    pub(super) fn unknown_data_source(&self, name: &str, span: Span) -> Diagnostic {
        self.unknown(
            &codes::UNKNOWN_DATA_SOURCE,
            ("data source", "datasources"),
            name,
            span,
            &self.blueprint.data_sources,
        )
    }

    pub(super) fn unknown_child(&self, name: &str, span: Span) -> Diagnostic {
        self.unknown(
            &codes::UNKNOWN_CHILD,
            ("include", "include"),
            name,
            span,
            &self.blueprint.children,
        )
    }

    /// The diagnostic for a reference to an unknown resource by its bare name, which may be a word
    /// of another tool.
    pub(super) fn unknown_bare_name(
        &self,
        name: &str,
        reference: &Ref,
        place: ExpressionContext<'_>,
    ) -> Diagnostic {
        let diagnostic =
            self.unknown_resource_read_by(name, true, reference.head_span, place.owner);
        let row = self.rules.words.find(WordPlace::Reference, name);
        let Some(row) = row.filter(|_| other_head(self.blueprint, name).is_none()) else {
            return diagnostic;
        };
        let diagnostic = Diagnostic {
            help: Vec::new(),
            ..diagnostic
        };
        let first = reference.path.first();
        let next = first.and_then(|accessor| match &accessor.kind {
            AccessorKind::Name(name) => Some(name.as_ref()),
            AccessorKind::Index(_) => None,
        });
        let is_member = matches!(place.repetition, Repetition::Item(_));
        let (edited, ours) = match (name, next) {
            ("each", Some("value")) if is_member => (first.map(|it| it.span), "elem"),
            ("count" | "each", Some("index")) if is_member => (first.map(|it| it.span), "i"),
            _ if next.is_some_and(|next| declares(self.blueprint, row.ours, next)) => {
                (None, row.ours)
            }
            _ => return diagnostic.help(row.help),
        };
        let span = edited.map_or(reference.head_span, |last| Span {
            end: last.end,
            ..reference.head_span
        });
        diagnostic.fix(format!("write `{ours}`"), vec![(span, ours.into())], false)
    }

    /// The diagnostic for an unknown resource. A bare name may mean another kind of element.
    pub(super) fn unknown_resource(&self, name: &str, bare: bool, span: Span) -> Diagnostic {
        self.unknown_resource_read_by(name, bare, span, None)
    }

    /// Like [`Checker::unknown_resource`], in an element, which is not suggested itself.
    fn unknown_resource_read_by(
        &self,
        name: &str,
        bare: bool,
        span: Span,
        owner: Option<GraphNode>,
    ) -> Diagnostic {
        let diagnostic = self.unknown_in(
            &codes::UNKNOWN_RESOURCE,
            ("resource", "resources"),
            name,
            span,
            &self.blueprint.resources,
            match owner {
                Some(GraphNode::Resource(at)) => Some(at as usize),
                _ => None,
            },
        );
        let made = self
            .blueprint
            .resources
            .iter()
            .filter(|(_, resource)| resource.made_from.as_deref() == Some(name));
        let made: Vec<String> = made.map(|(made, _)| format!("`{made}`")).take(5).collect();
        let diagnostic = if made.is_empty() {
            diagnostic
        } else {
            diagnostic.note(format!(
                "a transform has turned it into {}",
                made.join(", ")
            ))
        };
        match other_head(self.blueprint, name) {
            Some(head) if bare => Diagnostic {
                help: Vec::new(),
                ..diagnostic
            }
            .help(format!("write `{head}.{name}` if that is meant")),
            _ => diagnostic,
        }
    }

    fn unknown<T>(
        &self,
        code: &'static Code,
        (word, section): (&str, &str),
        name: &str,
        span: Span,
        declared: &IndexMap<Name, T>,
    ) -> Diagnostic {
        self.unknown_in(code, (word, section), name, span, declared, None)
    }

    /// The diagnostic for an unknown name. The declared name at the position `besides` is not
    /// suggested.
    fn unknown_in<T>(
        &self,
        code: &'static Code,
        (word, section): (&str, &str),
        name: &str,
        span: Span,
        declared: &IndexMap<Name, T>,
        besides: Option<usize>,
    ) -> Diagnostic {
        let diagnostic = code
            .new(format!("unknown {word} `{name}`"))
            .label(span, format!("no {word} of this name is declared"));
        let looks = self.suggestions.get() >= declared.len();
        let diagnostic = self.suggest(
            diagnostic,
            name,
            declared.len(),
            declared
                .keys()
                .enumerate()
                .filter(|(at, _)| besides != Some(*at))
                .map(|(_, name)| name.as_ref()),
        );
        if looks && diagnostic.help.is_empty() {
            diagnostic.help(format!("declare it under `{section}`"))
        } else {
            diagnostic
        }
    }

    /// Adds the nearest of `names` as a suggestion, until the document's limit of comparisons is
    /// reached.
    pub(super) fn suggest<'n>(
        &self,
        diagnostic: Diagnostic,
        written: &str,
        count: usize,
        names: impl Iterator<Item = &'n str>,
    ) -> Diagnostic {
        match self.suggestions.get().checked_sub(count) {
            Some(left) => {
                self.suggestions.set(left);
                diagnostic.help_nearest(written, names)
            }
            None => diagnostic,
        }
    }
}

/// Whether a section declares a name.
fn declares(blueprint: &Blueprint, section: &str, name: &str) -> bool {
    match section {
        "variables" => blueprint.inputs.contains_key(name),
        "values" => blueprint.locals.contains_key(name),
        "datasources" => blueprint.data_sources.contains_key(name),
        "resources" => blueprint.resources.contains_key(name),
        "children" => blueprint.children.contains_key(name),
        _ => false,
    }
}

/// The head of another kind of element with this name.
fn other_head(blueprint: &Blueprint, name: &str) -> Option<&'static str> {
    if blueprint.locals.contains_key(name) {
        Some("values")
    } else if blueprint.inputs.contains_key(name) {
        Some("variables")
    } else if blueprint.data_sources.contains_key(name) {
        Some("datasources")
    } else if blueprint.children.contains_key(name) {
        Some("children")
    } else {
        None
    }
}
