//! Checks that a filter operator fits the kinds of field and search (the table in
//! decisions/documents#filters-of-data-sources).
//!
//! Not here: the existence of an operator (the dialect), matching candidates.

use blueprint::{Filter, Type};
use provider::{FilterField, FilterType};

use super::types::with_article;
use super::{Checker, codes};

impl Checker<'_> {
    /// Reports an operator that is invalid for the kinds of field and search.
    pub(super) fn operator(&mut self, filter: &Filter, field: &FilterField, search: &Type) {
        if search.alternatives().iter().any(|search| {
            search.is_open()
                || *search == Type::Null
                || fits(&field.ty, &filter.operator.item, search)
        }) {
            return;
        }
        let holds = match &field.ty {
            FilterType::Scalar(ty) => with_article(ty),
            FilterType::List(item) => with_article(&Type::list(item.clone())),
            FilterType::Map(value) => with_article(&Type::map(value.clone())),
        };
        let diagnostic = codes::FILTER_KIND_MISMATCH
            .new(format!(
                "`{}` cannot compare {holds} with {}",
                filter.operator.item,
                with_article(search)
            ))
            .label(
                filter.operator.span,
                format!("`{}` is {holds}", filter.field.item),
            )
            .label(
                filter.search.span,
                format!("this is {}", with_article(search)),
            );
        let valid: Vec<String> = OPERATORS
            .iter()
            .filter(|operator| fits(&field.ty, operator, search))
            .map(|operator| format!("`{operator}`"))
            .collect();
        self.found.push(if valid.is_empty() {
            diagnostic
        } else {
            diagnostic.help(format!("use {}", valid.join(", ")))
        });
    }
}

/// Operators without their negations.
const OPERATORS: [&str; 10] = [
    "=",
    "in",
    "has key",
    "contains",
    "starts with",
    "ends with",
    ">",
    ">=",
    "<",
    "<=",
];

/// Whether an operator is valid for the kinds of field and search. Another check reports unknown
/// operators.
fn fits(field: &FilterType, operator: &str, search: &Type) -> bool {
    let operator = match operator {
        "!=" => "=",
        other => other.strip_prefix("not ").unwrap_or(other),
    };
    if !OPERATORS.contains(&operator) {
        return true;
    }
    match (field, search) {
        (FilterType::Scalar(Type::Any) | FilterType::List(Type::Any), _)
            if is_open_field(field) =>
        {
            true
        }
        (FilterType::Scalar(kind), Type::List(item)) => operator == "in" && all_of(item, kind),
        (FilterType::Scalar(kind), search)
            if same(search, kind) || (*kind == Type::Float && *search == Type::Int) =>
        {
            match kind {
                Type::Text => {
                    matches!(
                        operator,
                        "=" | "contains" | "starts with" | "ends with" | ">" | ">=" | "<" | "<="
                    )
                }
                Type::Int | Type::Float => matches!(operator, "=" | ">" | ">=" | "<" | "<="),
                _ => operator == "=",
            }
        }
        (FilterType::List(item), Type::List(searched)) => {
            is_primitive(item) && operator == "=" && all_of(searched, item)
        }
        (FilterType::List(item), search) => {
            is_primitive(item) && operator == "contains" && same(search, item)
        }
        (FilterType::Map(_), Type::Text) if operator == "has key" => true,
        (FilterType::Map(value), search) => {
            is_primitive(value) && operator == "contains" && same(search, value)
        }
        _ => false,
    }
}

/// Whether the catalogue leaves the type of a field open.
fn is_open_field(field: &FilterType) -> bool {
    *field == FilterType::Scalar(Type::Any)
}

fn is_primitive(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Int | Type::Float | Type::Text)
}

fn same(search: &Type, kind: &Type) -> bool {
    search.is_open() || search == kind
}

/// Whether every item of a list may have the kind. An unknown item may have any kind.
fn all_of(item: &Type, kind: &Type) -> bool {
    item.alternatives()
        .iter()
        .all(|item| *item == Type::Null || same(item, kind))
}
