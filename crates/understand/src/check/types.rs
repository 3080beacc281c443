//! Infers the type of an expression from the document and the catalogues.
//!
//! This file handles literals, lists, maps, texts and accessors; `references` handles references,
//! `calls` handles calls. The caller checks whether the type fits the place of the expression.

use std::sync::Arc;

use blueprint::{Accessor, AccessorKind, Expr, ExprKind, TextPart, Type};
use diag::Span;
use expr::codes as language;

use super::{Checker, ExpressionContext};

/// The maximum number of item types of a list. A list with more item types is a list of any type.
const MOST_ALTERNATIVES: usize = 8;

impl Checker<'_> {
    /// Infers the type of an expression that must be data. Reports its errors; a function is an
    /// error.
    pub(super) fn infer(&mut self, expr: &Expr, place: ExpressionContext<'_>) -> Type {
        let ty = self.infer_any(expr, place);
        if ty == Type::Function {
            self.found.push(function_as_value(expr.inner()));
            return Type::Error;
        }
        ty
    }

    /// Infers the type of an expression that may be a function. Reports its errors.
    pub(super) fn infer_any(&mut self, expr: &Expr, place: ExpressionContext<'_>) -> Type {
        match &expr.kind {
            ExprKind::Literal(value) => Type::of(value),
            ExprKind::List(items) => {
                let types: Vec<Type> = items
                    .iter()
                    .map(|item| self.infer(item, place.guarded(false)))
                    .collect();
                Type::list(joined(types))
            }
            ExprKind::Map(entries) => {
                let place = place.guarded(false);
                let fields: Vec<_> = entries
                    .iter()
                    .map(|(key, value)| (key.item.clone(), self.infer(value, place)))
                    .collect();
                Type::object(fields)
            }
            ExprKind::Text(parts) => {
                self.text(parts, place);
                Type::Text
            }
            ExprKind::Ref(reference) => self.reference(reference, place),
            ExprKind::Access(inner, path) => {
                let ty = self.infer(inner, place.guarded(false));
                self.walk(ty, path, place)
            }
            ExprKind::Call(call) => {
                let ty = self.call(call, expr.span, place);
                self.resolve_call(call, &ty);
                ty
            }
            ExprKind::Function(_) => Type::Function,
            ExprKind::Choice(choice) => {
                let condition = self.infer(&choice.condition, place.guarded(false));
                self.choice_condition(&condition, choice.condition.span);
                let then = self.infer(&choice.then, place);
                let otherwise = self.infer(&choice.otherwise, place);
                Type::union([then, otherwise])
            }
            ExprKind::Substitution(inner) => self.infer_any(inner, place),
            ExprKind::Error => Type::Error,
        }
    }

    /// Reports the errors in free content, whose type does not matter.
    pub(super) fn examine(&mut self, expr: &Expr, place: ExpressionContext<'_>) {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Error => {}
            ExprKind::List(items) => items.iter().for_each(|item| self.examine(item, place)),
            ExprKind::Map(entries) => entries
                .iter()
                .for_each(|(_, value)| self.examine(value, place)),
            ExprKind::Text(parts) => self.text(parts, place),
            _ => {
                self.infer(expr, place);
            }
        }
    }

    /// Checks an interpolated text: only scalars become text (decisions/blueprint#interpolation).
    fn text(&mut self, parts: &[TextPart], place: ExpressionContext<'_>) {
        for part in parts {
            let TextPart::Expr(expr, span) = part else {
                continue;
            };
            let ty = self.infer_any(expr, place.guarded(false));
            if ty.is_open() || ty.alternatives().iter().any(is_scalar) {
                continue;
            }
            let diagnostic = language::INTERPOLATED_COMPLEX
                .new(format!("text cannot hold {}", with_article(&ty)))
                .label(*span, format!("this is {}", with_article(&ty)));
            self.found.push(match &ty {
                Type::Function => diagnostic.help("call the function"),
                _ => diagnostic.help(
                    "take a part of it, or turn it into text with `jsonencode(..)` or `join(..)`",
                ),
            });
        }
    }

    /// The type at a path of accessors in a value of type `ty`.
    pub(super) fn walk(
        &mut self,
        mut ty: Type,
        path: &[Accessor],
        place: ExpressionContext<'_>,
    ) -> Type {
        for accessor in path {
            ty = match step(&ty, accessor) {
                AccessedType::To(next) => next,
                AccessedType::Missing if place.guarded => return Type::Any,
                AccessedType::Missing => {
                    self.found.push(missing_key(&ty, accessor));
                    return Type::Error;
                }
                AccessedType::Wrong => {
                    self.found.push(wrong_accessor(&ty, accessor));
                    return Type::Error;
                }
            };
        }
        ty
    }
}

/// The result of one accessor.
enum AccessedType {
    To(Type),
    /// The object has no such key.
    Missing,
    /// The accessor does not fit the type.
    Wrong,
}

fn step(ty: &Type, accessor: &Accessor) -> AccessedType {
    match (ty, &accessor.kind) {
        (Type::Any | Type::Null, _) => AccessedType::To(Type::Any),
        (Type::Error, _) => AccessedType::To(Type::Error),
        (Type::List(item), AccessorKind::Index(_)) => AccessedType::To(item.as_ref().clone()),
        (Type::Map(value), AccessorKind::Name(_)) => AccessedType::To(value.as_ref().clone()),
        (Type::Object(object), AccessorKind::Name(name)) => object
            .fields
            .get(name)
            .map_or(AccessedType::Missing, |ty| AccessedType::To(ty.clone())),
        (Type::Union(types), _) => {
            let mut reached = Vec::new();
            let mut missing = false;
            for ty in types.iter() {
                match step(ty, accessor) {
                    AccessedType::To(next) => reached.push(next),
                    AccessedType::Missing => missing = true,
                    AccessedType::Wrong => {}
                }
            }
            // A value of one alternative may have the part, so the access is allowed.
            if !reached.is_empty() {
                AccessedType::To(Type::union(reached))
            } else if missing {
                AccessedType::Missing
            } else {
                AccessedType::Wrong
            }
        }
        _ => AccessedType::Wrong,
    }
}

fn missing_key(ty: &Type, accessor: &Accessor) -> diag::Diagnostic {
    let AccessorKind::Name(name) = &accessor.kind else {
        return wrong_accessor(ty, accessor);
    };
    let keys = ty.alternatives().iter().filter_map(|ty| match ty {
        Type::Object(object) => Some(object.fields.keys().map(|key| key.as_ref())),
        _ => None,
    });
    language::UNKNOWN_FIELD
        .new(format!("no key `{name}` here"))
        .label(accessor.span, "the object has no such key")
        .help_nearest(name, keys.flatten())
}

/// The diagnostic for an accessor that does not fit a type.
pub(super) fn wrong_accessor(ty: &Type, accessor: &Accessor) -> diag::Diagnostic {
    let how = match accessor.kind {
        AccessorKind::Name(_) => "a name",
        AccessorKind::Index(_) => "a position",
    };
    let diagnostic = language::WRONG_ACCESSOR
        .new(format!("{how} leads nowhere in {}", with_article(ty)))
        .label(
            accessor.span,
            format!("the value before this is {}", with_article(ty)),
        );
    match ty {
        Type::Text => diagnostic
            .help("decode the text first: `jsondecode(..)`, or `fromjson(.., \"/pointer\")`"),
        Type::List(_) => diagnostic.help("choose an item: `[0]`"),
        Type::Map(_) | Type::Object(_) => {
            diagnostic.help("name a key, or list the values with `vals(..)`")
        }
        _ => diagnostic,
    }
}

/// The diagnostic for a function where data is needed.
pub(super) fn function_as_value(expr: &Expr) -> diag::Diagnostic {
    function_as_value_at(expr.span)
}

/// The diagnostic for a function where data is needed, at a place.
pub(super) fn function_as_value_at(span: Span) -> diag::Diagnostic {
    language::FUNCTION_AS_VALUE
        .new("a function where data is needed")
        .label(span, "this is a function")
        .help("call it, or hand it to a function such as `map(..)`")
}

/// Whether values of the type convert to text implicitly; `none` becomes empty text.
pub(super) fn is_scalar(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Any
            | Type::Error
            | Type::Null
            | Type::Bool
            | Type::Int
            | Type::Float
            | Type::Text
            | Type::Bytes
    )
}

/// The common type of items of several types.
pub(super) fn joined(types: Vec<Type>) -> Type {
    let mut distinct: Vec<Type> = Vec::new();
    for ty in types {
        if !distinct.contains(&ty) {
            if distinct.len() == MOST_ALTERNATIVES {
                return Type::Any;
            }
            distinct.push(ty);
        }
    }
    if distinct.is_empty() {
        Type::Any
    } else {
        Type::union(distinct)
    }
}

/// A type without `none`, which lists and maps drop (decisions/blueprint#none).
pub(super) fn without_none(ty: &Type) -> Type {
    match ty {
        Type::Union(types) if types.contains(&Type::Null) => {
            Type::union(types.iter().filter(|ty| **ty != Type::Null).cloned())
        }
        Type::Null => Type::Any,
        other => other.clone(),
    }
}

/// A type for messages: as it is written, but `number` for an integer or float.
pub(super) fn in_words(ty: &Type) -> String {
    let is_number = |ty: &&Type| matches!(ty, Type::Int | Type::Float);
    match ty {
        Type::Union(types) if types.iter().filter(is_number).count() == 2 => {
            let others = types
                .iter()
                .filter(|ty| !is_number(ty))
                .map(|ty| format!(" or {ty}"));
            format!("number{}", others.collect::<String>())
        }
        _ => ty.to_string(),
    }
}

/// A type with its article, for messages: `a string`, `an array`.
pub(super) fn with_article(ty: &Type) -> String {
    let text = in_words(ty);
    match ty {
        Type::Null => text,
        Type::Any => "a value".to_owned(),
        _ if text.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {text}"),
        _ => format!("a {text}"),
    }
}

/// Whether a value of one type may be used where another type is declared. Only an integer may
/// stand for a float (decisions/blueprint#declared-types-must-match).
pub(super) fn fits_declared(from: &Type, declared: &Type) -> bool {
    if from.is_open() || declared.is_open() {
        return true;
    }
    from.alternatives().iter().any(|from| {
        declared
            .alternatives()
            .iter()
            .any(|declared| match (from, declared) {
                (Type::Null, _) | (Type::Int, Type::Float) => true,
                (Type::List(from), Type::List(declared)) => fits_declared(from, declared),
                (Type::Map(from), Type::Map(declared)) => fits_declared(from, declared),
                (from, declared) => from.overlaps(declared),
            })
    })
}

/// The declared type, refined by the inferred one.
pub(super) fn refined(declared: &Type, inferred: &Type) -> Type {
    match (declared, inferred) {
        (Type::List(item), Type::List(_)) if **item == Type::Any => inferred.clone(),
        (Type::Map(value), Type::Map(_) | Type::Object(_)) if **value == Type::Any => {
            inferred.clone()
        }
        (Type::Object(object), Type::Map(_) | Type::Object(_)) if object.fields.is_empty() => {
            inferred.clone()
        }
        // An object type without declared fields accepts any keys.
        (Type::Object(object), _) if object.fields.is_empty() => Type::Map(Arc::new(Type::Any)),
        _ => declared.clone(),
    }
}

/// Names in words: `` `a`, `b`, `c` ``.
pub(super) fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let quoted: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
