//! Rejects secrets in places that display them: `each`, a display name, or the path of an include
//! (decisions/blueprint#secret-values).
//!
//! The check finds secrets that the document alone shows, and secrets that including documents pass
//! to it. Evaluation rejects values that turn out to be secret later.

use std::collections::HashMap;
use std::sync::Arc;

use blueprint::{
    AccessorKind, Blueprint, CallExpr, Expr, ExprKind, INVOKE, Kind, Name, PackageCall, Ref,
    ReferenceHead, Schema, TextPart,
};
use diag::{Diagnostic, Diagnostics, Span};
use expr::{FunctionDef, Returns};
use provider::DataSourceType;

use super::children::substitutions;
use super::{Checked, Checker, codes};

/// A step of a path.
#[derive(Clone, PartialEq)]
enum SecretPathStep {
    Name(Name),
    Index(u64),
}

/// The maximum number of steps of a search. Evaluation at stage finds the secrets that the search
/// misses.
const MOST_STEPS: usize = 100_000;
/// The maximum depth of a chain of references.
const MOST_DEPTH: usize = 128;

/// The document to search, during its check or afterwards.
#[derive(Clone, Copy)]
enum SearchedDocument<'c, 'a> {
    Checking(&'c Checker<'a>),
    /// A checked document with its children, by position, and for each input whether it receives a
    /// secret.
    Placed(&'c Checked, &'c [Option<Arc<Checked>>], &'c [bool]),
}

impl<'c> SearchedDocument<'c, '_> {
    fn blueprint(&self) -> &'c Blueprint {
        match self {
            SearchedDocument::Checking(checker) => checker.blueprint,
            SearchedDocument::Placed(checked, ..) => &checked.blueprint,
        }
    }

    fn data_source(&self, at: usize) -> Option<&'c DataSourceType> {
        match self {
            SearchedDocument::Checking(checker) => checker.data_sources.get(at)?.as_deref(),
            SearchedDocument::Placed(checked, ..) => checked.data_source_types.get(at)?.as_deref(),
        }
    }

    fn schema(&self, at: usize) -> Option<&'c Schema> {
        match self {
            SearchedDocument::Checking(checker) => {
                checker.resources.get(at)?.schema().map(AsRef::as_ref)
            }
            SearchedDocument::Placed(checked, ..) => checked
                .resource_types
                .get(at)?
                .as_ref()
                .map(|ty| ty.schema.as_ref()),
        }
    }

    fn package_function(&self, name: &Name) -> Option<Arc<FunctionDef>> {
        match self {
            // The check may reach the call later.
            SearchedDocument::Checking(checker) => checker.known_package_function(name),
            SearchedDocument::Placed(checked, ..) => checked.package_functions.get(name).cloned(),
        }
    }

    fn child(&self, at: usize) -> Option<&'c Checked> {
        match self {
            SearchedDocument::Checking(checker) => {
                checker.child(at).map(|included| included.checked.as_ref())
            }
            SearchedDocument::Placed(_, children, _) => children.get(at)?.as_deref(),
        }
    }

    fn is_secret(&self, name: &Name) -> bool {
        let Some((at, _, input)) = self.blueprint().inputs.get_full(name) else {
            return false;
        };
        let passed_secrets = match self {
            SearchedDocument::Checking(_) => false,
            SearchedDocument::Placed(.., passed_secrets) => {
                passed_secrets.get(at).copied().unwrap_or(false)
            }
        };
        input.secret || passed_secrets
    }
}

/// A search for secrets. Caches the results of whole values.
struct Taint<'c, 'a> {
    of: SearchedDocument<'c, 'a>,
    locals: HashMap<usize, bool, foldhash::fast::FixedState>,
    steps: usize,
}

impl Checker<'_> {
    /// Reports every secret in a place that displays it.
    pub(super) fn secrets(&mut self) {
        let exposed = exposed(SearchedDocument::Checking(self));
        if exposed.is_empty() {
            return;
        }
        // A part with an error gets no second diagnostic.
        let mut errors: Vec<u32> = self
            .found
            .iter()
            .filter(|found| found.is_error())
            .map(|found| found.span().start)
            .collect();
        errors.sort_unstable();
        for (span, what) in exposed {
            if errors
                .get(errors.partition_point(|start| *start < span.start))
                .is_some_and(|start| span.contains(*start))
            {
                continue;
            }
            self.found
                .push(secret_exposed(span, what, "this comes from a secret"));
        }
    }
}

/// Every place in a document that would display a secret, and a name of the place.
fn exposed(of: SearchedDocument<'_, '_>) -> Vec<(Span, &'static str)> {
    let blueprint = of.blueprint();
    let mut places: Vec<(Span, &Expr, &'static str)> = Vec::new();
    for resource in blueprint.resources.values() {
        collect(
            resource.each.as_ref().map(|each| &each.list),
            "`each`",
            &mut places,
        );
        collect(
            resource.metadata.display_name.as_ref(),
            "a display name",
            &mut places,
        );
    }
    for source in blueprint.data_sources.values() {
        collect(
            source.metadata.display_name.as_ref(),
            "a display name",
            &mut places,
        );
    }
    for child in blueprint.children.values() {
        collect(Some(&child.path), "the path of an include", &mut places);
    }
    let mut taint = Taint {
        of,
        locals: HashMap::default(),
        steps: 0,
    };
    let shown = places
        .into_iter()
        .filter(|(_, expr, _)| taint.of(expr, &[], 0));
    shown.map(|(span, _, what)| (span, what)).collect()
}

fn secret_exposed(span: Span, what: &str, why: &str) -> Diagnostic {
    codes::SECRET_EXPOSED
        .new(format!("a secret would show in {what}"))
        .label(span, why)
        .help("use a value that is not secret")
}

/// The errors that a document has only because it receives secrets. `passed_secrets` says for each
/// input, by position, whether its value is a secret.
pub fn errors_of_passed_secrets(
    checked: &Checked,
    children: &[Option<Arc<Checked>>],
    passed_secrets: &[bool],
) -> Diagnostics {
    let mut found = Diagnostics::new();
    if !passed_secrets.contains(&true) {
        return found;
    }
    let known = exposed(SearchedDocument::Placed(checked, children, &[]));
    for (span, what) in exposed(SearchedDocument::Placed(checked, children, passed_secrets)) {
        if !known.contains(&(span, what)) {
            found.push(secret_exposed(
                span,
                what,
                "this comes from a secret that the including document hands over",
            ));
        }
    }
    found
}

/// For each child, whether each of its inputs, by position, receives a secret. `passed_secrets`
/// says the same for the document's own inputs.
pub fn secrets_passed_down(
    checked: &Checked,
    children: &[Option<Arc<Checked>>],
    passed_secrets: &[bool],
) -> Vec<Vec<bool>> {
    let of = SearchedDocument::Placed(checked, children, passed_secrets);
    let mut taint = Taint {
        of,
        locals: HashMap::default(),
        steps: 0,
    };
    let each = checked
        .blueprint
        .children
        .values()
        .zip(children)
        .map(|(child, included)| {
            let Some(included) = included else {
                return Vec::new();
            };
            let inputs = &included.blueprint.inputs;
            let mut secret = vec![false; inputs.len()];
            for (name, value) in &child.inputs {
                if let Some(at) = inputs.get_index_of(&name.item) {
                    secret[at] = taint.of(value, &[], 0);
                }
            }
            secret
        });
    each.collect()
}

impl Checker<'_> {
    /// Whether each export, by position, contains a secret.
    pub(super) fn secret_exports(&self) -> Vec<bool> {
        let mut taint = Taint {
            of: SearchedDocument::Checking(self),
            locals: HashMap::default(),
            steps: 0,
        };
        self.blueprint
            .exports
            .values()
            .map(|export| taint.of(&export.field, &[], 0))
            .collect()
    }
}

fn collect<'e>(
    expr: Option<&'e Expr>,
    what: &'static str,
    places: &mut Vec<(Span, &'e Expr, &'static str)>,
) {
    let mut parts = Vec::new();
    if let Some(expr) = expr {
        substitutions(expr, &mut parts);
    }
    places.extend(parts.into_iter().map(|(span, expr)| (span, expr, what)));
}

impl Taint<'_, '_> {
    /// Whether the value at a path in the value of an expression is secret or contains a secret.
    fn of(&mut self, expr: &Expr, path: &[SecretPathStep], depth: usize) -> bool {
        self.steps += 1;
        if self.steps > MOST_STEPS || depth > MOST_DEPTH {
            return false;
        }
        let depth = depth + 1;
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Function(_) | ExprKind::Error => false,
            ExprKind::Substitution(inner) => self.of(inner, path, depth),
            ExprKind::Access(inner, accessors) => {
                let mut whole = steps(accessors);
                whole.extend_from_slice(path);
                self.of(inner, &whole, depth)
            }
            ExprKind::Text(parts) => parts
                .iter()
                .any(|part| matches!(part, TextPart::Expr(expr, _) if self.of(expr, &[], depth))),
            ExprKind::List(items) => match path.split_first() {
                Some((SecretPathStep::Index(at), rest))
                    if items.iter().all(|item| {
                        item.as_literal().is_some()
                            || !matches!(item.kind, ExprKind::Substitution(_))
                    }) =>
                {
                    items
                        .get(*at as usize)
                        .is_some_and(|item| self.of(item, rest, depth))
                }
                Some((_, rest)) => items.iter().any(|item| self.of(item, rest, depth)),
                None => items.iter().any(|item| self.of(item, &[], depth)),
            },
            ExprKind::Map(entries) => match path.split_first() {
                Some((SecretPathStep::Name(name), rest)) => entries
                    .iter()
                    .any(|(key, value)| key.item == *name && self.of(value, rest, depth)),
                Some(_) => false,
                None => entries.iter().any(|(_, value)| self.of(value, &[], depth)),
            },
            ExprKind::Choice(choice) => {
                self.of(&choice.condition, &[], depth)
                    || self.of(&choice.then, path, depth)
                    || self.of(&choice.otherwise, path, depth)
            }
            ExprKind::Call(call) => self.call(call, path, depth),
            ExprKind::Ref(reference) => self.reference(reference, path, depth),
        }
    }

    /// Whether the result of a call is secret. Any secret argument makes the result secret, except
    /// in a few functions that use only a part of their arguments.
    fn call(&mut self, call: &CallExpr, path: &[SecretPathStep], depth: usize) -> bool {
        let arguments = &call.arguments;
        let mut any = |path: &[SecretPathStep]| {
            arguments
                .iter()
                .any(|argument| self.of(&argument.value, path, depth))
        };
        match (call.function.as_ref(), path.split_first()) {
            ("object", Some((SecretPathStep::Name(name), rest))) => {
                let named = arguments.iter().find(|argument| {
                    argument
                        .name
                        .as_ref()
                        .is_some_and(|given| given.item == *name)
                });
                named.is_some_and(|argument| self.of(&argument.value, rest, depth))
            }
            ("list", Some((SecretPathStep::Index(_), rest))) => any(rest),
            ("merge" | "coalesce" | "first", Some(_)) => any(path),
            ("if", _) => {
                let (condition, branches) = arguments.split_at(arguments.len().min(1));
                condition
                    .iter()
                    .any(|argument| self.of(&argument.value, &[], depth))
                    || branches
                        .iter()
                        .any(|argument| self.of(&argument.value, path, depth))
            }
            ("lookup", _) => {
                let Some((map, others)) = arguments.split_first() else {
                    return false;
                };
                let key = match others
                    .first()
                    .and_then(|key| key.value.as_literal())
                    .and_then(|key| key.as_text())
                {
                    Some(key) => {
                        let mut whole = vec![SecretPathStep::Name(key.into())];
                        whole.extend_from_slice(path);
                        whole
                    }
                    None => Vec::new(),
                };
                self.of(&map.value, &key, depth)
                    || others
                        .iter()
                        .any(|argument| self.of(&argument.value, &[], depth))
            }
            (INVOKE, _) => {
                let receives_secret = any(&[]);
                let name = PackageCall { call }.function().map(|(name, _)| name);
                let function = name.and_then(|name| self.of.package_function(name));
                receives_secret
                    || function.is_some_and(|function| is_sensitive_result(&function, path))
            }
            // The keys of a map are secret only if the whole map is.
            ("keys", _) => arguments.iter().any(|argument| self.whole(&argument.value)),
            _ => any(&[]),
        }
    }

    fn reference(&mut self, reference: &Ref, path: &[SecretPathStep], depth: usize) -> bool {
        let blueprint = self.of.blueprint();
        let mut whole = steps(&reference.path);
        whole.extend_from_slice(path);
        match &reference.head {
            ReferenceHead::Input(name) => self.of.is_secret(name),
            ReferenceHead::Local(name) => {
                let Some((at, _, local)) = blueprint.locals.get_full(name) else {
                    return false;
                };
                if local.secret {
                    return true;
                }
                if !whole.is_empty() {
                    return self.of(&local.value, &whole, depth);
                }
                if let Some(known) = self.locals.get(&at) {
                    return *known;
                }
                // A cycle leads to no other values, so treat the local as not secret while it is
                // searched.
                self.locals.insert(at, false);
                let found = self.of(&local.value, &[], depth);
                self.locals.insert(at, found);
                found
            }
            ReferenceHead::DataSource(name) => {
                let Some((at, _, source)) = blueprint.data_sources.get_full(name) else {
                    return false;
                };
                let Some(SecretPathStep::Name(export)) = whole.first() else {
                    return false;
                };
                let field = source
                    .exports
                    .get(export)
                    .and_then(|export| export.alias_for.as_ref())
                    .map_or(export, |alias| &alias.item);
                let ty = self.of.data_source(at);
                // A path may lead into a sensitive field.
                let mut above = field.rmatch_indices('.').map(|(at, _)| &field[..at]);
                ty.is_some_and(|ty| match ty.schema.fields.get(field) {
                    Some(field) => sensitive(field, &whole[1..]),
                    None => {
                        let nearest = above.find_map(|above| ty.schema.fields.get(above));
                        nearest.is_some_and(|field| field.sensitive)
                    }
                })
            }
            ReferenceHead::Resource { name, .. } => self.resource(name, &whole, depth),
            ReferenceHead::Child(name) => {
                let included = blueprint
                    .children
                    .get_index_of(name)
                    .and_then(|at| self.of.child(at));
                let Some(checked) = included else {
                    return false;
                };
                let Some(SecretPathStep::Name(export)) = whole.first() else {
                    return false;
                };
                let at = checked.blueprint.exports.get_index_of(export);
                at.and_then(|at| checked.secret_exports.get(at).copied())
                    .unwrap_or(false)
            }
            ReferenceHead::Item | ReferenceHead::Position | ReferenceHead::Scoped(_) => false,
        }
    }

    fn resource(&mut self, name: &Name, path: &[SecretPathStep], depth: usize) -> bool {
        let Some((at, _, resource)) = self.of.blueprint().resources.get_full(name) else {
            return false;
        };
        let path = match path {
            [SecretPathStep::Index(_), rest @ ..] => rest,
            path => path,
        };
        match path.split_first() {
            Some((SecretPathStep::Name(part), rest))
                if part.as_ref() == "spec" || part.as_ref() == "state" =>
            {
                let schema = self.of.schema(at);
                let marked = match rest.split_first() {
                    Some((SecretPathStep::Name(field), rest)) => schema
                        .and_then(|schema| schema.fields.get(field))
                        .is_some_and(|field| sensitive(field, rest)),
                    _ => schema.is_some_and(any_sensitive),
                };
                marked || self.of(&resource.spec, rest, depth)
            }
            Some((SecretPathStep::Name(_), rest)) => match rest.split_first() {
                Some((SecretPathStep::Name(key), _)) => resource
                    .metadata
                    .annotations
                    .iter()
                    .any(|(name, value)| name.item == *key && self.of(value, &[], depth)),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether an expression refers to a value that is secret as a whole.
    fn whole(&self, expr: &Expr) -> bool {
        let blueprint = self.of.blueprint();
        match &expr.inner().kind {
            ExprKind::Ref(reference) => match &reference.head {
                ReferenceHead::Input(name) => self.of.is_secret(name),
                ReferenceHead::Local(name) => blueprint
                    .locals
                    .get(name)
                    .is_some_and(|local| local.secret || self.whole_of_value(local, reference)),
                _ => false,
            },
            ExprKind::Call(call) => call
                .arguments
                .iter()
                .any(|argument| self.whole(&argument.value)),
            _ => false,
        }
    }

    fn whole_of_value(&self, local: &blueprint::Local, reference: &Ref) -> bool {
        // Follow only one step, so that a cycle of values terminates.
        reference.path.is_empty()
            && matches!(&local.value.inner().kind, ExprKind::Ref(next) if matches!(&next.head, ReferenceHead::Input(name) if self.of.is_secret(name)))
    }
}

fn steps(path: &[blueprint::Accessor]) -> Vec<SecretPathStep> {
    let step = |accessor: &blueprint::Accessor| match &accessor.kind {
        AccessorKind::Name(name) => SecretPathStep::Name(name.clone()),
        AccessorKind::Index(at) => SecretPathStep::Index(*at),
    };
    path.iter().map(step).collect()
}

/// Whether a field, or the field at a path in it, is sensitive or contains a sensitive field.
fn sensitive(field: &blueprint::Field, path: &[SecretPathStep]) -> bool {
    if field.sensitive {
        return true;
    }
    match (&field.kind, path.split_first()) {
        (Kind::Object(schema), Some((SecretPathStep::Name(name), rest))) => schema
            .fields
            .get(name)
            .is_some_and(|field| sensitive(field, rest)),
        (Kind::Object(schema), None) => any_sensitive(schema),
        (Kind::Array(item) | Kind::Map(item), Some((_, rest))) => sensitive(item, rest),
        (Kind::Array(item) | Kind::Map(item), None) => sensitive(item, &[]),
        (Kind::Union(branches), _) => branches.iter().any(|branch| sensitive(branch, path)),
        _ => false,
    }
}

/// Whether the result of a function, or the part at a path in it, is sensitive.
fn is_sensitive_result(function: &FunctionDef, path: &[SecretPathStep]) -> bool {
    let Returns::Fields(schema) = &function.returns else {
        return false;
    };
    match path.split_first() {
        Some((SecretPathStep::Name(name), rest)) => schema
            .fields
            .get(name)
            .is_some_and(|field| sensitive(field, rest)),
        Some((SecretPathStep::Index(_), _)) => false,
        None => any_sensitive(schema),
    }
}

fn any_sensitive(schema: &Schema) -> bool {
    schema.fields.values().any(|field| sensitive(field, &[]))
}
