//! Diagnostics for undeclared names: one for each kind of element, with a suggestion.
//!
//! Not here: the types of declared names (`references`).

use blueprint::{Blueprint, IndexMap, Name};
use diag::{Code, Diagnostic, Span};

use super::{Checker, codes};

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

    /// The diagnostic for an unknown resource. A bare name may mean another kind of element.
    pub(super) fn unknown_resource(&self, name: &str, bare: bool, span: Span) -> Diagnostic {
        let diagnostic = self.unknown(
            &codes::UNKNOWN_RESOURCE,
            ("resource", "resources"),
            name,
            span,
            &self.blueprint.resources,
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
        let diagnostic = code
            .new(format!("unknown {word} `{name}`"))
            .label(span, format!("no {word} of this name is declared"));
        let looks = self.suggestions.get() >= declared.len();
        let diagnostic = self.suggest(
            diagnostic,
            name,
            declared.len(),
            declared.keys().map(|name| name.as_ref()),
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
