//! Converts an evaluated spec to its schema: converts values
//! (decisions/blueprint#conversion-table), adds defaults (decisions/plan#comparison), marks
//! sensitive fields as secret (decisions/blueprint#secret-values), and reports the errors that only
//! the results of substitutions show.
//!
//! Literals were checked with the document and are not reported again. Unknown parts stay as they
//! are and are converted once they are known. No given value is dropped (evaluation has already
//! dropped `none`, decisions/blueprint#none).

use blueprint::{Expr, ExprKind, Field, Kind, Map, Name, Resource, Schema, Type, Value};
use diag::{Diagnostics, Severity, Span, Spanned};
use dialect::codes as document;
use dialect::rules::{NativeRules, SpecRules};
use expr::{Mismatch, ValueOrigin, codes as language};
use provider::ResourceType;
use std::sync::Arc;

use super::codes;
use super::limits::{Patterns, constraint, entries_problem, items_problem, same};
use super::spec::{computed_field, mismatch, missing_field, not_utf8, rejected, unknown_field};
use super::types::with_article;

/// Returns the spec for a provider, from the evaluated spec and its expression.
///
/// A part with an error stays as it is, and its diagnostic goes to `found`. A missing required
/// field is reported at the expression; [`conform_resource`] reports it at the key `spec`.
pub fn conform(
    value: &Value,
    expr: &Expr,
    resource_type: &ResourceType,
    found: &mut Diagnostics,
) -> Value {
    conform_at(&NativeRules, value, (expr, expr.span), resource_type, found)
}

/// Like [`conform`], for the spec of a declared resource.
pub fn conform_resource(
    value: &Value,
    resource: &Resource,
    resource_type: &ResourceType,
    found: &mut Diagnostics,
) -> Value {
    conform_resource_by(&NativeRules, value, resource, resource_type, found)
}

/// Like [`conform_resource`], by the rules of a dialect.
pub fn conform_resource_by(
    rules: &dyn SpecRules,
    value: &Value,
    resource: &Resource,
    resource_type: &ResourceType,
    found: &mut Diagnostics,
) -> Value {
    let place = (&resource.spec, resource.spec_key);
    conform_at(rules, value, place, resource_type, found)
}

/// Like [`conform`], for any schema. A missing required field is reported at `holder`.
pub fn conform_schema(
    value: &Value,
    expr: &Expr,
    holder: Span,
    schema: &Arc<Schema>,
    found: &mut Diagnostics,
) -> Value {
    conform_by(&NativeRules, value, (expr, holder), schema, found)
}

/// Like [`conform_schema`], by the rules of a dialect. `place` has the expression, and where a
/// missing required field is reported.
pub fn conform_by(
    rules: &dyn SpecRules,
    value: &Value,
    place: (&Expr, Span),
    schema: &Arc<Schema>,
    found: &mut Diagnostics,
) -> Value {
    let (expr, holder) = place;
    let strict = rules.is_only_check().then_some(rules);
    let (bare, secret) = value.split_secret();
    let Value::Map(map) = bare else {
        let whole = Field::of(Kind::Object(schema.clone()));
        if strict.is_some()
            && !refuse_unfit(bare, &whole, rules, expr.span, found)
            && !matches!(bare, Value::Unknown(_) | Value::Null)
        {
            found.push(mismatch(&Type::of(bare), &whole, expr.span));
        }
        return value.clone();
    };
    let mut conforming = Conforming {
        patterns: Patterns::default(),
        strict,
        found,
    };
    let at = ValueSite {
        expr: Some(expr),
        span: expr.span,
        holder,
    };
    Value::Map(Arc::new(conforming.object(map, schema, at))).tainted(secret)
}

fn conform_at(
    rules: &dyn SpecRules,
    value: &Value,
    place: (&Expr, Span),
    resource_type: &ResourceType,
    found: &mut Diagnostics,
) -> Value {
    let expr = place.0;
    let spec = conform_by(rules, value, place, &resource_type.schema, found);
    if spec.unmarked().as_map().is_none() {
        return spec;
    }
    for rejection in &resource_type.rejects {
        let refused = spec
            .get(&rejection.field)
            .is_some_and(|value| !value.is_null() && same(value, &rejection.equals));
        let written = entry(expr, &rejection.field);
        if refused && written.is_none_or(|value| value.inner().as_literal().is_none()) {
            found.push(rejected(
                &rejection.message,
                written.map_or(expr.span, |value| value.span),
            ));
        }
    }
    spec
}

struct Conforming<'f> {
    patterns: Patterns,
    /// The rules of the dialect, if nothing else checks its specs.
    strict: Option<&'f dyn SpecRules>,
    found: &'f mut Diagnostics,
}

/// The origin of a value.
#[derive(Clone, Copy)]
struct ValueSite<'e> {
    /// The expression of the value; `None` inside the result of a substitution.
    expr: Option<&'e Expr>,
    /// The place of the value, or of the substitution that it comes from.
    span: Span,
    /// The place for reporting missing parts.
    holder: Span,
}

impl<'e> ValueSite<'e> {
    fn of(expr: &'e Expr, holder: Span) -> ValueSite<'e> {
        match expr.kind {
            ExprKind::Literal(_) | ExprKind::List(_) | ExprKind::Map(_) => ValueSite {
                expr: Some(expr),
                span: expr.span,
                holder,
            },
            _ => ValueSite {
                expr: None,
                span: expr.span,
                holder,
            },
        }
    }

    fn source(self) -> ValueOrigin {
        if self.expr.is_some() {
            ValueOrigin::Literal
        } else {
            ValueOrigin::Substitution
        }
    }

    fn entries(self) -> Option<&'e [(Spanned<Name>, Expr)]> {
        match &self.expr?.kind {
            ExprKind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    fn items(self) -> Option<&'e [Expr]> {
        match &self.expr?.kind {
            ExprKind::List(items) => Some(items),
            _ => None,
        }
    }
}

impl Conforming<'_> {
    fn object(&mut self, map: &Map, schema: &Schema, at: ValueSite<'_>) -> Map {
        let mut out = Map::with_capacity(map.len());
        match at.entries() {
            Some(entries) => {
                for (key, expr) in entries {
                    match map.get(&key.item) {
                        Some(value) if !value.is_null() => self.put(
                            &mut out,
                            schema,
                            &key.item,
                            value,
                            ValueSite::of(expr, key.span),
                        ),
                        // A literal null is a value if the field is nullable
                        // (decisions/blueprint#null-means-not-written).
                        _ if matches!(expr.kind, ExprKind::Literal(Value::Null))
                            && schema
                                .fields
                                .get(&key.item)
                                .is_some_and(|field| field.nullable) =>
                        {
                            out.insert(key.item.clone(), Value::Null);
                        }
                        _ => {}
                    }
                }
            }
            None => {
                for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
                    self.put(&mut out, schema, key, value, at);
                }
            }
        }
        for (name, field) in &schema.fields {
            if out.contains_key(name) || !field.is_settable() {
                continue;
            }
            let is_written = |other: &Name| out.get(other).is_some_and(|value| !value.is_null());
            match field.default_given(is_written) {
                Some(default) => {
                    let value = expr::convert(default, &field.ty(), ValueOrigin::Literal)
                        .unwrap_or_else(|_| default.clone());
                    out.insert(name.clone(), value.tainted(field.sensitive));
                }
                None if field.required => self.found.push(missing_field(name, field, at.holder)),
                None => {}
            }
        }
        out
    }

    fn put(
        &mut self,
        out: &mut Map,
        schema: &Schema,
        key: &Name,
        value: &Value,
        at: ValueSite<'_>,
    ) {
        let Some(field) = schema.fields.get(key) else {
            if schema.open {
                out.insert(key.clone(), value.clone());
                return;
            }
            self.found.push(unknown_field(key, schema, at.span));
            out.insert(key.clone(), value.clone());
            return;
        };
        if let Some(constant) = self.constant_instead(value, field) {
            self.found.push(
                document::VALUE_NOT_ALLOWED
                    .new(format!("`{key}` is always {constant}"))
                    .label(at.span, "has no effect")
                    .with_severity(Severity::Warning)
                    .help("remove it"),
            );
            out.insert(key.clone(), constant);
        } else if field.is_settable() {
            out.insert(key.clone(), self.field(value, field, at));
        } else {
            self.found.push(computed_field(key, at.span));
        }
    }

    /// The constant that replaces another value of a field with a fixed value.
    fn constant_instead(&self, value: &Value, field: &Field) -> Option<Value> {
        self.strict?;
        let constant = field.default.as_ref()?;
        let is_fixed = matches!(field.allowed.as_slice(), [only] if same(only, constant));
        let is_other = is_fixed && !value.is_unknown() && !same(value, constant);
        is_other.then(|| constant.clone())
    }

    /// Converts one value to its field. A value that does not fit stays as it is.
    fn field(&mut self, value: &Value, field: &Field, at: ValueSite<'_>) -> Value {
        let (bare, secret) = value.split_secret();
        if let Some(rules) = self.strict {
            if refuse_unfit(bare, field, rules, at.span, self.found) {
                return value.clone();
            }
            if rules.is_resource(bare) {
                return value.clone().tainted(field.sensitive);
            }
        }
        if bare.is_null() || bare.is_unknown() {
            return value.clone().tainted(field.sensitive && !bare.is_null());
        }
        let fitted = match (&field.kind, bare) {
            (Kind::Any, _) => bare.clone(),
            (Kind::Object(schema), Value::Map(map)) => {
                Value::Map(Arc::new(self.object(map, schema, at)))
            }
            (Kind::Map(values), Value::Map(map)) => {
                // Entries and expressions are both in document order; the evaluated map lacks the
                // entries that were `none`.
                let mut written = at.entries().unwrap_or_default().iter();
                let mut entries = Map::with_capacity(map.len());
                for (key, value) in map.iter() {
                    let at = match written.find(|(name, _)| name.item == *key) {
                        Some((name, expr)) => ValueSite::of(expr, name.span),
                        None => ValueSite { expr: None, ..at },
                    };
                    entries.insert(key.clone(), self.field(value, values, at));
                }
                let open = at.entries().is_none_or(|written| {
                    written
                        .iter()
                        .any(|(_, value)| matches!(value.kind, ExprKind::Substitution(_)))
                });
                if open && let Some(problem) = entries_problem(entries.len(), entries.len(), field)
                {
                    self.found
                        .push(constraint(&codes::VALUE_CONSTRAINT, problem, at.span));
                }
                Value::Map(Arc::new(entries))
            }
            (Kind::Array(item), Value::List(items) | Value::Set(items)) => {
                self.items(items, item, field, at)
            }
            (Kind::Union(branches), _) => self.branch(bare, field, branches, at),
            (Kind::Object(_) | Kind::Map(_) | Kind::Array(_), _) => {
                self.found.push(mismatch(&Type::of(bare), field, at.span));
                bare.clone()
            }
            _ => self.scalar(bare, secret, field, at),
        };
        fitted.tainted(secret || field.sensitive)
    }

    fn scalar(&mut self, value: &Value, secret: bool, field: &Field, at: ValueSite<'_>) -> Value {
        let is_number = matches!(
            value,
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Decimal(_)
        );
        // The provider converts a scalar to a text.
        if is_number
            && matches!(field.kind, Kind::String)
            && self
                .strict
                .is_some_and(|rules| rules.accepts(&Type::of(value), field))
        {
            let problem = self.patterns.problem(value, field, at.span);
            self.found.extend(problem);
            return value.clone();
        }
        match expr::convert(value, &field.ty(), at.source()) {
            Ok(converted) => {
                if at.expr.is_none() || self.strict.is_some() {
                    self.found.extend(self.patterns.problem(
                        &converted.clone().tainted(secret),
                        field,
                        at.span,
                    ));
                }
                converted
            }
            Err(problem) => {
                self.found.push(match problem {
                    Mismatch::NotUtf8 => not_utf8(at.span),
                    Mismatch::Kind | Mismatch::NoBranch => {
                        mismatch(&Type::of(value), field, at.span)
                    }
                });
                value.clone()
            }
        }
    }

    fn items(&mut self, items: &[Value], item: &Field, field: &Field, at: ValueSite<'_>) -> Value {
        // If an item was `none`, it was dropped, and positions no longer match the expression.
        let written = at.items().filter(|written| written.len() == items.len());
        let place = |position: usize| match written {
            Some(written) => ValueSite::of(&written[position], written[position].span),
            None => ValueSite { expr: None, ..at },
        };
        let fitted: Vec<Value> = items
            .iter()
            .enumerate()
            .map(|(position, value)| self.field(value, item, place(position)))
            .collect();
        let open = at.items().is_none_or(|written| {
            written
                .iter()
                .any(|item| matches!(item.kind, ExprKind::Substitution(_)))
        });
        if open && let Some(problem) = items_problem(items.len(), items.len(), field) {
            self.found
                .push(constraint(&codes::VALUE_CONSTRAINT, problem, at.span));
        }
        Value::List(Arc::new(fitted))
    }

    /// Takes the first branch that fits, in the order of the schema.
    fn branch(
        &mut self,
        value: &Value,
        field: &Field,
        branches: &[Field],
        at: ValueSite<'_>,
    ) -> Value {
        for branch in branches {
            let mut trial = Diagnostics::new();
            let mut conforming = Conforming {
                patterns: std::mem::take(&mut self.patterns),
                strict: self.strict,
                found: &mut trial,
            };
            let fitted = conforming.field(value, branch, at);
            self.patterns = conforming.patterns;
            if !trial.has_errors() {
                return fitted;
            }
        }
        self.found.push(mismatch(&Type::of(value), field, at.span));
        value.clone()
    }
}

/// Reports an unknown value whose type does not fit, and a value that is not opaque where an opaque
/// one is needed. Returns whether it did.
fn refuse_unfit(
    value: &Value,
    field: &Field,
    rules: &dyn SpecRules,
    span: Span,
    found: &mut Diagnostics,
) -> bool {
    if value.is_null() {
        return false;
    }
    let ty = match value {
        Value::Unknown(unknown) => unknown.ty.clone().unwrap_or(Type::Any),
        known => Type::of(known),
    };
    if let Some(opaque) = field.opaque {
        let fits = match value {
            Value::Unknown(_) => ty.is_open(),
            known => opaque.accepts(known, rules.is_resource(known)),
        };
        if !fits {
            found.push(
                language::TYPE_MISMATCH
                    .new(format!("{} is needed here", opaque.words()))
                    .label(span, format!("this is {}", with_article(&ty))),
            );
        }
        return !fits;
    }
    let is_whole = matches!(value, Value::Unknown(_)) || rules.is_resource(value);
    let is_wrong = match rules.is_resource(value) {
        // A reference stands for the id of its resource, which is a text.
        true => !rules.accepts(&Type::Text, field) && !matches!(field.kind, Kind::Any),
        false => !rules.accepts(&ty, field),
    };
    if is_whole && is_wrong {
        found.push(mismatch(&ty, field, span));
    }
    is_whole && is_wrong
}

/// The expression under a key of a map.
fn entry<'e>(expr: &'e Expr, key: &str) -> Option<&'e Expr> {
    match &expr.kind {
        ExprKind::Map(entries) => entries
            .iter()
            .find(|(name, _)| name.item.as_ref() == key)
            .map(|(_, value)| value),
        _ => None,
    }
}
