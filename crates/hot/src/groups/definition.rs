//! The definition of the members of a group, as an expression.

use blueprint::{
    Accessor, AccessorKind, Expansion, Expr, ExprKind, Name, ReferenceHead, TypeId, Value,
};
use diag::{Span, Spanned};

use crate::expressions::{FACADE, named, reference};
use crate::kinds::{STACK, definition_property, deployment_type};
use crate::native::indexed;
use dialect::ExpansionContext;

/// The expansion of a group from its definition, and the inputs of its document: the computed parts
/// of the definition of members.
pub(crate) fn expansion(
    kind: Spanned<TypeId>,
    spec: Expr,
    spec_key: Span,
    policy: Option<Expr>,
    metadata: Option<Expr>,
) -> (Expansion, Vec<(Spanned<Name>, Expr)>) {
    // The metadata of the group.
    let says = metadata
        .map(|said| (named("metadata", spec_key), said))
        .into_iter()
        .collect();
    let mut inputs = vec![(
        named(FACADE, spec_key),
        Expr::new(ExprKind::Map(says), spec_key),
    )];
    let member = match definition_of(&spec, &kind.item) {
        Some(member) if kind.item.as_ref() == STACK => {
            if let ExprKind::Map(entries) = &member.kind {
                inputs.extend(entries.iter().cloned());
            }
            Expr::new(ExprKind::Map(Vec::new()), member.span)
        }
        Some(member) => lift_computed_parts(member, &mut inputs),
        None => Expr::new(ExprKind::Map(Vec::new()), spec.span),
    };
    (
        Expansion {
            kind,
            spec,
            spec_key,
            member,
            policy,
            reads: Vec::new(),
        },
        inputs,
    )
}

/// The definition of the members in the spec of a group; `None` if it is not written.
pub(super) fn definition_of<'e>(spec: &'e Expr, kind: &str) -> Option<&'e Expr> {
    match deployment_type(kind) {
        // The members have the properties of the group.
        Some(_) => Some(spec),
        None => part(spec, definition_property(kind)),
    }
}

/// The value of a key in a map expression; `None` for other expressions.
pub(crate) fn part<'e>(expr: &'e Expr, key: &str) -> Option<&'e Expr> {
    match &expr.kind {
        ExprKind::Map(entries) => entries
            .iter()
            .find(|(name, _)| name.item.as_ref() == key)
            .map(|(_, value)| value),
        _ => None,
    }
}

/// A copy of the expression in which every computed part is an input.
pub(super) fn lift_computed_parts(expr: &Expr, inputs: &mut Vec<(Spanned<Name>, Expr)>) -> Expr {
    let kind = match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Error => return expr.clone(),
        ExprKind::List(items) => ExprKind::List(
            items
                .iter()
                .map(|item| lift_computed_parts(item, inputs))
                .collect(),
        ),
        ExprKind::Map(entries) => ExprKind::Map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), lift_computed_parts(value, inputs)))
                .collect(),
        ),
        _ => {
            let name = named(&format!("={}", inputs.len() - 1), expr.span);
            inputs.push((name.clone(), expr.clone()));
            return reference(ReferenceHead::Input(name.item), expr.span, &[]);
        }
    };
    Expr::new(kind, expr.span)
}

/// Replaces the index variable by the name of a member, in values but not in keys.
pub(super) fn with_index(expr: &Expr, variable: &str, name: &str) -> Expr {
    let kind = match &expr.kind {
        ExprKind::Literal(value) => ExprKind::Literal(indexed(value, variable, name)),
        ExprKind::List(items) => ExprKind::List(
            items
                .iter()
                .map(|item| with_index(item, variable, name))
                .collect(),
        ),
        ExprKind::Map(entries) => ExprKind::Map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), with_index(value, variable, name)))
                .collect(),
        ),
        ExprKind::Error => ExprKind::Error,
        _ => {
            let text = |text: &str| Expr::literal(Value::text(text), expr.span);
            return Expr::call(
                "(index)",
                expr.span,
                vec![expr.clone(), text(variable), text(name)],
                expr.span,
            );
        }
    };
    Expr::new(kind, expr.span)
}

/// The lifted definition without the parts that are known to be omitted; `None` if it is omitted as
/// a whole.
pub(super) fn without_omitted(
    written: &Expr,
    lifted: &Expr,
    place: &ExpansionContext<'_>,
) -> Option<Expr> {
    if expr::may_omit(written) {
        let listed = Expr::new(ExprKind::List(vec![written.clone()]), written.span);
        if (place.evaluate)(&listed)
            .as_list()
            .is_some_and(<[Value]>::is_empty)
        {
            return None;
        }
    }
    let kind = match (&written.kind, &lifted.kind) {
        (ExprKind::List(written), ExprKind::List(lifted)) => {
            let items = written.iter().zip(lifted);
            ExprKind::List(
                items
                    .filter_map(|(written, lifted)| without_omitted(written, lifted, place))
                    .collect(),
            )
        }
        (ExprKind::Map(written), ExprKind::Map(lifted)) => {
            let entries = written.iter().zip(lifted);
            let kept = |((_, written), (key, lifted)): (&(_, Expr), &(Spanned<Name>, Expr))| {
                Some((key.clone(), without_omitted(written, lifted, place)?))
            };
            ExprKind::Map(entries.filter_map(kept).collect())
        }
        _ => return Some(lifted.clone()),
    };
    Some(Expr::new(kind, lifted.span))
}

/// Removes the entries of a map that are known to be null: Heat writes a member of a resource group
/// without them.
pub(super) fn remove_null_entries(expr: &mut Expr, value: &Value) {
    let known = value.unmarked();
    match &mut expr.kind {
        ExprKind::Map(entries) => entries.retain(|(key, entry)| {
            let is_null = known.get(&key.item).is_some_and(Value::is_null);
            !is_null && !entry.as_literal().is_some_and(Value::is_null)
        }),
        ExprKind::Literal(literal) if literal.as_map().is_some() => {
            let (bare, secret) = literal.split_secret();
            let entries = bare.as_map().into_iter().flatten();
            let kept = entries.filter(|(_, entry)| !entry.is_null());
            let kept = Value::map(kept.map(|(key, entry)| (key.clone(), entry.clone())));
            *literal = kept.tainted(secret);
        }
        _ => {}
    }
}

/// A map expression with the known keys of a computed map.
pub(super) fn known_keys_map(expr: &Expr, value: &Value) -> Option<Expr> {
    let nothing = || Some(Expr::new(ExprKind::Map(Vec::new()), expr.span));
    match &expr.kind {
        ExprKind::Literal(value) if value.is_null() => return nothing(),
        ExprKind::Map(_) | ExprKind::Literal(_) => return None,
        _ => {}
    }
    let (bare, _) = value.split_secret();
    if bare.is_null() {
        return nothing();
    }
    let entry = |key: &Name| {
        let path = vec![Accessor {
            kind: AccessorKind::Name(key.clone()),
            span: expr.span,
        }];
        let inner = Expr::new(ExprKind::Access(Box::new(expr.clone()), path), expr.span);
        (Spanned::new(key.clone(), expr.span), inner)
    };
    let entries = bare.as_map()?.keys().map(entry).collect();
    Some(Expr::new(ExprKind::Map(entries), expr.span))
}
