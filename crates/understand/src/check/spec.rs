//! Checks a resource's spec against the schema of its type
//! (decisions/blueprint#specs-against-the-schema, decisions/blueprint#null-means-not-written,
//! decisions/blueprint#literals-of-the-wrong-kind, decisions/blueprint#conversion-table): keys,
//! required fields, types, and literals.
//!
//! Not here: the results of substitutions, which [`conform`] checks once they are known.

use std::sync::Arc;

use blueprint::{Expr, ExprKind, Field, Kind, Name, PROVIDER_TYPE, Resource, Schema, Type, Value};
use diag::{Diagnostic, Span, Spanned};
use dialect::codes as document;
use expr::{Mismatch, ValueOrigin, codes as language};

use super::TypeOf;
use super::limits::{constraint, entries_problem, items_problem, same};
use super::types::{in_words, with_article, without_none};
use super::{Checker, ExpressionContext, codes};
use crate::graph::GraphNode;

pub use super::conform::{conform, conform_resource, conform_resource_by};

type SpecEntries = [(Spanned<Name>, Expr)];

impl Checker<'_> {
    /// Checks the spec of the resource at a position.
    pub(super) fn spec(&mut self, at: usize, resource: &Resource, place: ExpressionContext<'_>) {
        let (schema, rejects) = match &self.resources[at] {
            TypeOf::Known(ty) => (
                ty.schema.clone(),
                (!ty.rejects.is_empty()).then(|| ty.clone()),
            ),
            TypeOf::Abstract(schema) => (schema.clone(), None),
            TypeOf::Open => return self.examine(&resource.spec, place),
        };
        let ExprKind::Map(entries) = &resource.spec.kind else {
            return self.examine(&resource.spec, place);
        };
        if resource.type_name.item.as_ref() == PROVIDER_TYPE {
            self.environment_in_settings(entries);
        }
        // A missing spec is already reported.
        let holder = (resource.spec_key != resource.span).then_some(resource.spec_key);
        self.object(entries, &schema, holder, place);
        let Some(ty) = rejects else { return };
        for rejection in &ty.rejects {
            let refused = entries.iter().find(|(key, value)| {
                key.item == rejection.field
                    && value
                        .inner()
                        .as_literal()
                        .is_some_and(|value| !value.is_null() && same(value, &rejection.equals))
            });
            if let Some((_, value)) = refused {
                self.found.push(rejected(&rejection.message, value.span));
            }
        }
    }

    fn object(
        &mut self,
        entries: &SpecEntries,
        schema: &Arc<Schema>,
        holder: Option<Span>,
        place: ExpressionContext<'_>,
    ) {
        // A misspelt required field is one error, not two.
        let mut misspelt: Vec<&str> = Vec::new();
        for (key, value) in entries {
            let Some(field) = schema.fields.get(&key.item) else {
                if schema.open {
                    self.free(value, place);
                    continue;
                }
                let near = diag::nearest(&key.item, settable(schema));
                misspelt.extend(near);
                let unknown = unknown_field(&key.item, schema, key.span);
                self.found.push(match (near, self.type_of_owner(place)) {
                    (None, Some(name)) => {
                        unknown.help(format!("`cyan types {name}` lists the fields"))
                    }
                    _ => unknown,
                });
                self.examine(value, place);
                continue;
            };
            if is_null(value) {
                if !field.nullable {
                    self.found.push(null_ignored(key));
                }
            } else if !field.is_settable() {
                self.found.push(computed_field(&key.item, key.span));
                self.examine(value, place);
            } else {
                self.field(value, field, key.span, place);
            }
        }
        let Some(holder) = holder else { return };
        for (name, field) in &schema.fields {
            if field.required
                && field.default.is_none()
                && !misspelt.contains(&name.as_ref())
                && !entries
                    .iter()
                    .any(|(key, value)| key.item == *name && is_given(value))
            {
                self.found.push(missing_field(name, field, holder));
            }
        }
    }

    /// Checks one value against its field. `holder` is the key above the value, or the place of an
    /// item in a list.
    fn field(&mut self, value: &Expr, field: &Field, holder: Span, place: ExpressionContext<'_>) {
        if let Kind::Union(branches) = &field.kind {
            return self.union(value, field, branches, holder, place);
        }
        match (&value.kind, &field.kind) {
            (ExprKind::Error, _) => {}
            (_, Kind::Any) => self.free(value, place),
            (ExprKind::Literal(written), _) => {
                self.literal(written, field, value.span, ValueOrigin::Literal)
            }
            (ExprKind::List(items), Kind::Array(item)) => {
                self.items(items, item, place);
                // Items from substitutions may be `none`, and such items are dropped.
                let least = items
                    .iter()
                    .filter(|item| !matches!(item.kind, ExprKind::Substitution(_)))
                    .count();
                if let Some(problem) = items_problem(least, items.len(), field) {
                    self.found
                        .push(constraint(&codes::VALUE_CONSTRAINT, problem, value.span));
                }
            }
            (ExprKind::Map(entries), Kind::Object(schema)) => {
                self.object(entries, schema, Some(holder), place)
            }
            (ExprKind::Map(entries), Kind::Map(values)) => {
                // Entries from substitutions may be `none`, and such entries are dropped.
                let written = entries.iter().filter(|(_, value)| !is_null(value));
                let least = written
                    .clone()
                    .filter(|(_, it)| !matches!(it.kind, ExprKind::Substitution(_)))
                    .count();
                if let Some(problem) = entries_problem(least, written.count(), field) {
                    self.found
                        .push(constraint(&codes::VALUE_CONSTRAINT, problem, value.span));
                }
                for (key, value) in entries {
                    if !is_null(value) {
                        self.field(value, values, key.span, place);
                    } else if !values.nullable {
                        self.found.push(null_ignored(key));
                    }
                }
            }
            (ExprKind::List(_) | ExprKind::Map(_), _) => {
                let ty = if matches!(value.kind, ExprKind::List(_)) {
                    Type::list(Type::Any)
                } else {
                    Type::map(Type::Any)
                };
                self.examine(value, place);
                self.found.push(mismatch(&ty, field, value.span));
            }
            _ => self.result(value, field, place),
        }
    }

    fn items(&mut self, items: &[Expr], item: &Field, place: ExpressionContext<'_>) {
        for value in items {
            if is_null(value) {
                if !item.nullable {
                    self.found.push(mismatch(&Type::Null, item, value.span));
                }
            } else {
                self.field(value, item, value.span, place);
            }
        }
    }

    fn literal(&mut self, written: &Value, field: &Field, span: Span, source: ValueOrigin) {
        if written.is_null() {
            return;
        }
        match expr::convert(written, &field.ty(), source) {
            Ok(converted) => self
                .found
                .extend(self.patterns.problem(&converted, field, span)),
            Err(Mismatch::NotUtf8) => self.found.push(not_utf8(span)),
            Err(Mismatch::Kind | Mismatch::NoBranch) => {
                let ty = Type::of(written);
                let wanted = field.ty();
                if self.rules.specs.accepts(&ty, field) {
                    return;
                }
                let diagnostic = match (source, written) {
                    // Quoted text has its own help; the help for results of substitutions does not
                    // fit.
                    (ValueOrigin::Literal, Value::Text(_))
                        if !matches!(field.kind, Kind::Union(_)) =>
                    {
                        wrong_kind(&ty, &wanted, span)
                    }
                    _ => mismatch(&ty, field, span),
                };
                let diagnostic = match source {
                    ValueOrigin::Literal if wanted == Type::Text => {
                        self.as_text(diagnostic, written, field, span)
                    }
                    ValueOrigin::Literal => quoted(diagnostic, written, &wanted, span),
                    ValueOrigin::Substitution => diagnostic,
                };
                self.found.push(diagnostic);
            }
        }
    }

    /// Adds a fix to the diagnostic for a scalar where text is needed: the text that the field
    /// accepts.
    fn as_text(
        &mut self,
        diagnostic: Diagnostic,
        written: &Value,
        field: &Field,
        span: Span,
    ) -> Diagnostic {
        let text = written.to_string();
        let is_decimal = span.end - span.start == text.len() as u32;
        let octal = match written {
            // `0o644` is an integer in YAML.
            Value::Int(number) if !is_decimal && *number >= 0 => Some(format!("0{number:o}")),
            _ => None,
        };
        let quotes_fit = self.patterns.accept(&text, field);
        let with_unit = format!("{text}s");
        let instead = match octal {
            Some(octal) if text.len() as u32 + 2 == span.end - span.start => {
                field.constraint.pattern.is_some().then_some(octal)
            }
            _ if quotes_fit => None,
            _ => Some(with_unit),
        };
        match (instead, &field.constraint.form) {
            (Some(text), _) if self.patterns.accept(&text, field) => diagnostic.fix(
                format!("write `{text}`"),
                vec![(span, format!("\"{text}\""))],
                false,
            ),
            (Some(_), Some(form)) => diagnostic.help(format!("write {form}")),
            (Some(_), None) => diagnostic,
            (None, _) => quoted(diagnostic, written, &field.ty(), span),
        }
    }

    /// The type of the resource that an expression belongs to, if it is known.
    fn type_of_owner(&self, place: ExpressionContext<'_>) -> Option<&blueprint::TypeId> {
        let Some(GraphNode::Resource(at)) = place.owner else {
            return None;
        };
        let (_, resource) = self.blueprint.resources.get_index(at as usize)?;
        let written = resource.stands_for.as_deref();
        Some(&written.unwrap_or(&resource.type_name).item)
    }

    /// Checks the result of a substitution or of interpolation.
    fn result(&mut self, value: &Expr, field: &Field, place: ExpressionContext<'_>) {
        if let ExprKind::Substitution(inner) = &value.kind
            && let ExprKind::Literal(written) = &inner.kind
        {
            return self.literal(written, field, value.span, ValueOrigin::Substitution);
        }
        let ty = self.infer(value, place);
        if !could_become(&ty, &field.ty()) && !self.rules.specs.accepts(&ty, field) {
            self.found.push(mismatch(&ty, field, value.span));
        }
    }

    /// Takes the first branch that fits, in the order of the schema
    /// (decisions/blueprint#conversion-table).
    fn union(
        &mut self,
        value: &Expr,
        field: &Field,
        branches: &[Field],
        holder: Span,
        place: ExpressionContext<'_>,
    ) {
        match &value.kind {
            ExprKind::Error => {}
            ExprKind::Substitution(_) | ExprKind::Text(_) => {
                let ty = self.infer(value, place);
                if !could_become(&ty, &field.ty()) && !self.rules.specs.accepts(&ty, field) {
                    self.found.push(no_branch(&ty, field, value.span));
                }
            }
            _ => match branches.iter().find(|branch| fits(value, branch)) {
                Some(branch) => self.field(value, branch, holder, place),
                None if self.rules.specs.accepts(&written_type(value), field) => {
                    self.examine(value, place)
                }
                None => {
                    let of_kind = |branch: &&Field| {
                        matches!(
                            (&value.kind, &branch.kind),
                            (ExprKind::List(_), Kind::Array(_))
                        )
                    };
                    let mut alike = branches.iter().filter(of_kind);
                    // The mistake is in an item if only one alternative is a list.
                    if let (Some(branch), None) = (alike.next(), alike.next()) {
                        return self.field(value, branch, holder, place);
                    }
                    self.examine(value, place);
                    let diagnostic = no_branch(&written_type(value), field, value.span);
                    self.found.push(match &value.kind {
                        ExprKind::Literal(written) if !matches!(written, Value::Text(_)) => {
                            quoted(diagnostic, written, &field.ty(), value.span)
                        }
                        _ => diagnostic,
                    });
                }
            },
        }
    }

    /// Checks free content. Null counts as not written
    /// (decisions/blueprint#null-means-not-written).
    fn free(&mut self, value: &Expr, place: ExpressionContext<'_>) {
        match &value.kind {
            ExprKind::Map(entries) => {
                for (key, value) in entries {
                    if is_null(value) {
                        self.found.push(null_ignored(key));
                    } else {
                        self.free(value, place);
                    }
                }
            }
            ExprKind::List(items) => {
                for item in items {
                    if is_null(item) {
                        self.found
                            .push(mismatch(&Type::Null, &Field::of(Kind::Any), item.span));
                    } else {
                        self.free(item, place);
                    }
                }
            }
            _ => self.examine(value, place),
        }
    }
}

/// Whether a value may fit a branch of a union. Reports nothing. A substitution may always fit.
fn fits(value: &Expr, field: &Field) -> bool {
    match (&value.kind, &field.kind) {
        (ExprKind::Literal(written), _) => {
            expr::convert(written, &field.ty(), ValueOrigin::Literal).is_ok()
        }
        (_, Kind::Any) => true,
        (_, Kind::Union(branches)) => branches.iter().any(|branch| fits(value, branch)),
        (ExprKind::List(items), Kind::Array(item)) => items.iter().all(|value| fits(value, item)),
        (ExprKind::List(_), _) => false,
        (ExprKind::Map(entries), Kind::Map(values)) => entries
            .iter()
            .all(|(_, value)| is_null(value) || fits(value, values)),
        (ExprKind::Map(entries), Kind::Object(schema)) => {
            let known = entries.iter().all(|(key, value)| {
                schema.fields.get(&key.item).map_or(schema.open, |field| {
                    field.is_settable() && (is_null(value) || fits(value, field))
                })
            });
            let mut required = schema
                .fields
                .iter()
                .filter(|(_, field)| field.required && field.default.is_none());
            known
                && required.all(|(name, _)| {
                    entries
                        .iter()
                        .any(|(key, value)| key.item == *name && is_given(value))
                })
        }
        (ExprKind::Map(_), _) => false,
        _ => true,
    }
}

/// Whether results of a type may be convertible. `none` is left out, so it always fits.
fn could_become(from: &Type, to: &Type) -> bool {
    from.is_open()
        || *from == Type::Null
        || expr::convert_type(&without_none(from), to, ValueOrigin::Substitution)
}

/// Whether the value is a literal null.
fn is_null(value: &Expr) -> bool {
    matches!(&value.kind, ExprKind::Literal(Value::Null))
}

/// Whether the value is neither null nor `${none}`.
fn is_given(value: &Expr) -> bool {
    !matches!(&value.inner().kind, ExprKind::Literal(Value::Null))
}

fn written_type(value: &Expr) -> Type {
    match &value.kind {
        ExprKind::Literal(written) => Type::of(written),
        ExprKind::List(_) => Type::list(Type::Any),
        ExprKind::Map(_) => Type::map(Type::Any),
        _ => Type::Any,
    }
}

/// The diagnostic for a key that the schema does not have.
pub(super) fn unknown_field(name: &str, schema: &Schema, span: Span) -> Diagnostic {
    codes::UNKNOWN_SPEC_FIELD
        .new(format!("unknown field `{name}`"))
        .label(span, "the type has no such field")
        .help_nearest(name, settable(schema))
}

/// The names of the fields that a document may set.
fn settable(schema: &Schema) -> impl Iterator<Item = &str> {
    schema
        .fields
        .iter()
        .filter(|(_, field)| field.is_settable())
        .map(|(name, _)| name.as_ref())
}

/// The diagnostic for setting a field that only the provider sets.
pub(super) fn computed_field(name: &str, span: Span) -> Diagnostic {
    codes::COMPUTED_FIELD_SET
        .new(format!("`{name}` cannot be set"))
        .label(span, "the provider fills this field in")
        .help("take it away; it can be read by references")
}

/// The diagnostic for a missing required field.
pub(super) fn missing_field(name: &str, field: &Field, holder: Span) -> Diagnostic {
    codes::MISSING_SPEC_FIELD
        .new(format!("the required field `{name}` is missing"))
        .label(holder, format!("`{name}` is required in this map"))
        .help(format!("add `{name}`, {}", with_article(&field.ty())))
}

fn null_ignored(key: &Spanned<Name>) -> Diagnostic {
    document::NULL_IGNORED
        .new(format!(
            "`{}` is null, which is treated as not set",
            key.item
        ))
        .label(key.span, "this has no effect")
        .help("write a value, or take the key away")
}

const TEXT_STAYS: &str = "text never becomes another kind by itself: write the value without quotes, or use `jsondecode(..)`";

/// The diagnostic for a value of the wrong type.
pub fn mismatch(found: &Type, field: &Field, span: Span) -> Diagnostic {
    if matches!(field.kind, Kind::Union(_)) {
        return no_branch(found, field, span);
    }
    let wanted = field.ty();
    let diagnostic = wrong_kind(found, &wanted, span);
    match (found, &wanted) {
        (Type::Null, _) => diagnostic.help("take the item away"),
        (
            Type::Text,
            Type::Int | Type::Float | Type::Bool | Type::List(_) | Type::Map(_) | Type::Object(_),
        ) => diagnostic.help(TEXT_STAYS),
        (Type::List(_) | Type::Map(_) | Type::Object(_), Type::Text) => {
            diagnostic.help("turn it into text with `jsonencode(..)`")
        }
        _ => diagnostic,
    }
}

fn wrong_kind(found: &Type, wanted: &Type, span: Span) -> Diagnostic {
    language::TYPE_MISMATCH
        .new(format!("{} is needed here", with_article(wanted)))
        .label(span, format!("this is {}", with_article(found)))
}

fn no_branch(found: &Type, field: &Field, span: Span) -> Diagnostic {
    let wanted = field.ty();
    let is_number = wanted
        .alternatives()
        .iter()
        .all(|ty| matches!(ty, Type::Int | Type::Float));
    let what = if is_number {
        format!("{} is needed here", with_article(&wanted))
    } else {
        format!("the value fits no alternative of {}", in_words(&wanted))
    };
    let diagnostic = codes::NO_UNION_BRANCH
        .new(what)
        .label(span, format!("this is {}", with_article(found)));
    match found {
        Type::Text if is_number => diagnostic.help(TEXT_STAYS),
        _ => diagnostic,
    }
}

/// The diagnostic for bytes that are not UTF-8 where text is needed.
pub(super) fn not_utf8(span: Span) -> Diagnostic {
    language::NOT_UTF8
        .new("these bytes are not text")
        .label(span, "not UTF-8")
        .help("encode them: `base64encode(..)`")
}

/// The diagnostic for a value that the provider rejects.
pub fn rejected(message: &str, span: Span) -> Diagnostic {
    codes::REJECTED_BY_PROVIDER
        .new("the provider refuses this value")
        .label(span, "refused")
        .note(message)
}

/// Adds a fix to the diagnostic for a scalar of the wrong type: adds quotes where text is needed
/// (decisions/blueprint#literals-of-the-wrong-kind), or removes them where the text's content is
/// needed.
pub fn quoted(diagnostic: Diagnostic, value: &Value, wanted: &Type, span: Span) -> Diagnostic {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Float(_)
            if wanted.alternatives().contains(&Type::Text) =>
        {
            let end = Span {
                start: span.end,
                ..span
            };
            diagnostic.fix(
                "quote it",
                vec![(span.head(), "\"".into()), (end, "\"".into())],
                false,
            )
        }
        Value::Text(text) if matches!(wanted, Type::Bool | Type::Int | Type::Float) => {
            let meant = match text.to_ascii_lowercase().as_str() {
                "yes" | "on" | "y" if *wanted == Type::Bool => Some("true"),
                "no" | "off" | "n" if *wanted == Type::Bool => Some("false"),
                _ if expr::parse_as(text, wanted).is_some() => Some(text.trim()),
                _ => None,
            };
            match meant {
                Some(meant) => {
                    let quotes = if meant == text.trim() {
                        ", without quotes"
                    } else {
                        ""
                    };
                    diagnostic.fix(
                        format!("write `{meant}`{quotes}"),
                        vec![(span, meant.to_owned())],
                        false,
                    )
                }
                None => diagnostic.help(format!("write {}", with_article(wanted))),
            }
        }
        Value::Text(_) => {
            diagnostic.help("write the structure itself, or decode text with `${jsondecode(..)}`")
        }
        _ => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn union_of_integer_and_float_is_called_a_number() {
        let of = |kinds: &[Kind]| {
            Field::of(Kind::Union(std::sync::Arc::new(
                kinds.iter().cloned().map(Field::of).collect(),
            )))
        };
        let number = mismatch(&Type::Text, &of(&[Kind::Integer, Kind::Float]), Span::NONE);
        assert_eq!(number.message, "a number is needed here");
        assert!(
            number.help[0].contains("write the value without quotes"),
            "{:?}",
            number.help
        );
        let more = mismatch(
            &Type::list(Type::Any),
            &of(&[Kind::String, Kind::Float, Kind::Integer]),
            Span::NONE,
        );
        assert_eq!(
            more.message,
            "the value fits no alternative of number or string"
        );
    }
}
