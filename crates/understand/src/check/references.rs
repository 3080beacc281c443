//! Infers the type of a reference: checks its head, its index and its path
//! (decisions/blueprint#references).
//!
//! Not here: dependencies (`edges`), and the check that the type fits the place of the reference.

use std::sync::Arc;

use blueprint::{
    Accessor, AccessorKind, Expr, ExprKind, Field, Kind, Name, Ref, ReferenceHead, Resource,
    Schema, Type,
};
use diag::Diagnostic;
use expr::codes as language;

use super::TypeOf;
use super::types::{function_as_value_at, refined, wrong_accessor};
use super::{Checker, ExpressionContext, Repetition, codes};
use crate::graph::GraphNode;

impl Checker<'_> {
    /// Infers the type of a reference. Reports its errors; the type is then [`Type::Error`].
    pub(super) fn reference(&mut self, reference: &Ref, place: ExpressionContext<'_>) -> Type {
        let ty = self.reference_type(reference, place);
        self.resolve(reference, place.owner, &ty);
        ty
    }

    fn reference_type(&mut self, reference: &Ref, place: ExpressionContext<'_>) -> Type {
        let found = match &reference.head {
            ReferenceHead::Input(name) => self.input(name, reference),
            ReferenceHead::Local(name) => return self.local_reference(name, reference, place),
            ReferenceHead::DataSource(name) => {
                return self.data_source_reference(name, reference, place);
            }
            ReferenceHead::Child(name) => return self.child_reference(name, reference, place),
            ReferenceHead::Resource { name, bare } => {
                return self.resource_reference(name, *bare, reference, place);
            }
            ReferenceHead::Item | ReferenceHead::Position => {
                return self.repeated(reference, place);
            }
            ReferenceHead::Scoped(_) => Ok(Type::Any),
        };
        self.or_report(found)
    }

    fn or_report(&mut self, found: Result<Type, Box<Diagnostic>>) -> Type {
        found.unwrap_or_else(|diagnostic| self.fail(diagnostic))
    }

    fn fail(&mut self, diagnostic: impl Into<Box<Diagnostic>>) -> Type {
        self.found.push(*diagnostic.into());
        Type::Error
    }

    /// `variables.x`: a scalar, so no path may follow (decisions/blueprint#accessors-on-variables).
    fn input(&self, name: &Name, reference: &Ref) -> Result<Type, Box<Diagnostic>> {
        let Some(at) = self.blueprint.inputs.get_index_of(name) else {
            return Err(Box::new(self.unknown_variable(name, reference.head_span)));
        };
        match reference.path.first() {
            None => Ok(self.input_types[at].clone()),
            Some(accessor) => Err(Box::new(
                language::WRONG_ACCESSOR
                    .new(format!(
                        "the variable `{name}` is a scalar and has no parts"
                    ))
                    .label(accessor.span, "nothing can follow a variable")
                    .help(format!(
                        "decode it if it holds JSON: `fromjson(variables.{name}, \"/pointer\")`"
                    )),
            )),
        }
    }

    fn local_reference(
        &mut self,
        name: &Name,
        reference: &Ref,
        place: ExpressionContext<'_>,
    ) -> Type {
        let Some(at) = self.blueprint.locals.get_index_of(name) else {
            let diagnostic = self.unknown_value(name, reference.head_span);
            return self.fail(diagnostic);
        };
        if let Some(diagnostic) = self_reference(GraphNode::Local(at as u32), reference, place) {
            return self.fail(diagnostic);
        }
        // In a cycle, the type may be missing. The cycle is already reported.
        let ty = self.local_types[at].clone();
        self.walk(ty, &reference.path, place)
    }

    fn data_source_reference(
        &mut self,
        name: &Name,
        reference: &Ref,
        place: ExpressionContext<'_>,
    ) -> Type {
        match self.data_source_export(name, reference, place) {
            Ok(ty) => self.walk(ty, &reference.path[1..], place),
            Err(diagnostic) => self.fail(diagnostic),
        }
    }

    /// The type of the export that the path names (decisions/documents#results-of-data-sources);
    /// dotted names are one name (decisions/blueprint#dotted-export-names).
    fn data_source_export(
        &self,
        name: &Name,
        reference: &Ref,
        place: ExpressionContext<'_>,
    ) -> Result<Type, Box<Diagnostic>> {
        let Some((at, _, source)) = self.blueprint.data_sources.get_full(name) else {
            return Err(Box::new(
                self.unknown_data_source(name, reference.head_span),
            ));
        };
        if let Some(diagnostic) = self_reference(GraphNode::DataSource(at as u32), reference, place)
        {
            return Err(diagnostic.into());
        }
        let Some(first) = reference.path.first() else {
            return Err(Box::new(
                codes::REFERENCE_NEEDS_FIELD
                    .new(format!("the data source `{name}` as a whole is no value"))
                    .label(reference.head_span, "an export of it must be named")
                    .help(match source.exports.keys().next() {
                        Some(export) if export.contains('.') => {
                            format!("name an export: `datasources.{name}[\"{export}\"]`")
                        }
                        Some(export) => format!("name an export: `datasources.{name}.{export}`"),
                        None => "name an export".to_owned(),
                    }),
            ));
        };
        let AccessorKind::Name(export) = &first.kind else {
            return Err(Box::new(wrong_accessor(&Type::object([]), first)));
        };
        let ty = self.data_sources[at].as_ref();
        if let Some(declared) = source.exports.get(export) {
            let field = declared
                .alias_for
                .as_ref()
                .map_or(export, |alias| &alias.item);
            return Ok(match ty.and_then(|ty| ty.schema.fields.get(field)) {
                Some(field) => refined(&declared.ty.item, &field.ty()),
                None => declared.ty.item.clone(),
            });
        }
        if source.export_all.is_some() {
            match ty {
                None => return Ok(Type::Any),
                Some(ty) => {
                    if let Some(field) = ty.schema.fields.get(export) {
                        return Ok(field.ty());
                    }
                }
            }
        }
        let all = ty
            .filter(|_| source.export_all.is_some())
            .map(|ty| ty.schema.fields.keys());
        let names = || {
            source
                .exports
                .keys()
                .chain(all.clone().into_iter().flatten())
                .map(|name| name.as_ref())
        };
        let diagnostic = language::UNKNOWN_FIELD
            .new(format!("the data source `{name}` exports no `{export}`"))
            .label(first.span, "no such export");
        let dotted = dotted(&reference.path);
        let Some(whole) = names().find(|name| {
            let after = dotted.strip_prefix(*name);
            name.contains('.')
                && after.is_some_and(|after| after.is_empty() || after.starts_with('.'))
        }) else {
            return Err(Box::new(diagnostic.help_nearest(export, names())));
        };
        let last = &reference.path[whole.split('.').count().min(reference.path.len()) - 1];
        let edit = (first.span.to(last.span), format!("[\"{whole}\"]"));
        Err(Box::new(
            diagnostic
                .help(format!(
                    "write `datasources.{name}[\"{whole}\"]`: the dots belong to the name"
                ))
                .fix("use brackets", vec![edit], false),
        ))
    }

    fn child_reference(
        &mut self,
        name: &Name,
        reference: &Ref,
        place: ExpressionContext<'_>,
    ) -> Type {
        match self.child_export(name, reference, place) {
            Ok(ty) => self.walk(ty, &reference.path[1..], place),
            Err(diagnostic) => self.fail(diagnostic),
        }
    }

    /// `children.c.export`. A child that could not be read may have any export
    /// (decisions/documents#children).
    fn child_export(
        &self,
        name: &Name,
        reference: &Ref,
        place: ExpressionContext<'_>,
    ) -> Result<Type, Box<Diagnostic>> {
        let Some(at) = self.blueprint.children.get_index_of(name) else {
            return Err(Box::new(self.unknown_child(name, reference.head_span)));
        };
        if let Some(diagnostic) = self_reference(GraphNode::Child(at as u32), reference, place) {
            return Err(diagnostic.into());
        }
        let included = self.child(at).map(|included| &included.checked);
        let exports = included.map(|checked| &checked.blueprint.exports);
        let Some(first) = reference.path.first() else {
            let example = exports
                .and_then(|exports| exports.keys().next())
                .map_or("EXPORT", |name| name.as_ref());
            return Err(Box::new(
                codes::REFERENCE_NEEDS_FIELD
                    .new(format!("the include `{name}` as a whole is no value"))
                    .label(reference.head_span, "an export of it must be named")
                    .help(format!("name an export: `children.{name}.{example}`")),
            ));
        };
        let AccessorKind::Name(export) = &first.kind else {
            return Err(Box::new(wrong_accessor(&Type::object([]), first)));
        };
        let (Some(checked), Some(exports)) = (included, exports) else {
            return Ok(Type::Any);
        };
        match exports.get_index_of(export) {
            Some(at) => Ok(checked.export_types.get(at).cloned().unwrap_or(Type::Any)),
            None => Err(Box::new(
                language::UNKNOWN_FIELD
                    .new(format!("the child document `{name}` exports no `{export}`"))
                    .label(first.span, "no such export")
                    .help_nearest(export, exports.keys().map(|name| name.as_ref())),
            )),
        }
    }

    /// `elem`, `i` (decisions/blueprint#elem-and-i).
    fn repeated(&mut self, reference: &Ref, place: ExpressionContext<'_>) -> Type {
        let position = reference.head == ReferenceHead::Position;
        let word = if position { "i" } else { "elem" };
        let why = match place.repetition {
            Repetition::Item(_) if position => return self.walk(Type::Int, &reference.path, place),
            Repetition::Item(item) => return self.walk(item.clone(), &reference.path, place),
            Repetition::NoEach => "the resource has no `each`".to_owned(),
            Repetition::NotHere(part) => format!("it means nothing in {part}"),
        };
        self.found.push(
            codes::ELEM_OUTSIDE_EACH
                .new(format!("`{word}` has no meaning here"))
                .label(reference.head_span, why)
                .help("use it in the spec, condition, description or metadata of a resource with `each`"),
        );
        Type::Error
    }

    fn resource_reference(
        &mut self,
        name: &Name,
        bare: bool,
        reference: &Ref,
        place: ExpressionContext<'_>,
    ) -> Type {
        let blueprint = self.blueprint;
        let Some((at, _, resource)) = blueprint.resources.get_full(name) else {
            let diagnostic = if bare
                && reference.path.is_empty()
                && self.functions.get(name).is_some()
            {
                function_as_value_at(reference.head_span)
            } else {
                let unknown = match bare {
                    true => self.unknown_bare_name(name, reference, place),
                    false => self.unknown_resource(name, false, reference.head_span),
                };
                let variable = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
                let unknown = match bare && name.len() > 1 && name.chars().all(variable) {
                        true => unknown.help(format!(
                            "a variable of the environment is read by a data source of type `local/environment` whose filter searches `{name}`"
                        )),
                        false => unknown,
                    };
                if bare && reference.path.is_empty() {
                    let literal = format!("${{\"${{\"}}{name}}}");
                    unknown.help(format!(
                        "for the text `${{{name}}}` itself, as in a shell script, write `{literal}`"
                    ))
                } else {
                    unknown
                }
            };
            return self.fail(diagnostic);
        };
        if let Some(diagnostic) = self_reference(GraphNode::Resource(at as u32), reference, place) {
            return self.fail(diagnostic);
        }
        let path = match instance_path(name, resource, reference) {
            Ok(path) => path,
            Err(diagnostic) => return self.fail(diagnostic),
        };
        let Some((first, rest)) = path.split_first() else {
            let found = self.id_type(name, at, reference);
            return self.or_report(found);
        };
        let AccessorKind::Name(part) = &first.kind else {
            return self.fail(wrong_accessor(&Type::object([]), first));
        };
        match part.as_ref() {
            "spec" => self.spec_path(at, rest, place),
            // In versions that still have `state`, the dialect reports it.
            "state" if blueprint.version.as_ref() != "2025-11-02" => {
                self.spec_path(at, rest, place)
            }
            "metadata" => self.metadata_path(resource, reference, rest, place),
            other => {
                let diagnostic = language::UNKNOWN_FIELD
                    .new(format!("a resource has no part `{other}`"))
                    .label(first.span, "only `spec` and `metadata` can be read");
                let has_field = self.resources[at]
                    .schema()
                    .is_some_and(|schema| schema.fields.contains_key(other));
                self.found.push(match other {
                    _ if has_field => diagnostic.help(format!("did you mean `.spec.{other}`?")),
                    "state" => diagnostic.help("write `.spec`").fix(
                        "replace by `.spec`",
                        vec![(first.span, ".spec".into())],
                        false,
                    ),
                    _ => diagnostic.help_nearest(other, ["spec", "metadata"]),
                });
                Type::Error
            }
        }
    }

    /// The type of the id field of the resource, which a bare reference means
    /// (decisions/blueprint#resources-as-values).
    fn id_type(&self, name: &Name, at: usize, reference: &Ref) -> Result<Type, Box<Diagnostic>> {
        let TypeOf::Known(ty) = &self.resources[at] else {
            return Ok(Type::Any);
        };
        match ty.id_field.as_ref() {
            Some(id) => Ok(ty.schema.fields.get(id).map_or(Type::Any, Field::ty)),
            None => {
                let computed = ty
                    .schema
                    .fields
                    .iter()
                    .find(|(_, field)| field.computed)
                    .map_or("FIELD", |(name, _)| name.as_ref());
                Err(Box::new(
                    codes::REFERENCE_NEEDS_FIELD
                        .new(format!("the resource `{name}` as a whole is no value"))
                        .label(
                            reference.head_span,
                            format!("`{}` has no id field", ty.name),
                        )
                        .help(format!("name a field: `{name}.spec.{computed}`")),
                ))
            }
        }
    }

    /// The type at a path in a spec, by the schema of the type
    /// (decisions/blueprint#references-to-fields).
    fn spec_path(&mut self, at: usize, path: &[Accessor], place: ExpressionContext<'_>) -> Type {
        let (schema, complete) = match &self.resources[at] {
            TypeOf::Known(ty) => (ty.schema.clone(), true),
            TypeOf::Abstract(schema) => (schema.clone(), false),
            TypeOf::Open => return Type::Any,
        };
        let Some((first, mut rest)) = path.split_first() else {
            return schema.ty();
        };
        let mut field = match field_of(&schema, first) {
            Ok(field) => field,
            // A transform may add fields to an abstract resource.
            Err(_) if !complete => return Type::Any,
            Err(diagnostic) => return self.fail(diagnostic),
        };
        while let Some((accessor, after)) = rest.split_first() {
            field = match (&field.kind, &accessor.kind) {
                (Kind::Any, _) => return Type::Any,
                (Kind::Object(schema), AccessorKind::Name(_)) => match field_of(schema, accessor) {
                    Ok(field) => field,
                    Err(diagnostic) => return self.fail(diagnostic),
                },
                (Kind::Array(item), AccessorKind::Index(_)) => item,
                (Kind::Map(value), AccessorKind::Name(_)) => value,
                _ => {
                    let ty = field.ty();
                    return self.walk(ty, rest, place);
                }
            };
            rest = after;
        }
        field.ty()
    }

    /// The type at a path in metadata: the display name, an entry of a map, or a whole map
    /// (decisions/blueprint#references-to-metadata).
    fn metadata_path(
        &mut self,
        resource: &Resource,
        reference: &Ref,
        path: &[Accessor],
        place: ExpressionContext<'_>,
    ) -> Type {
        let metadata = &resource.metadata;
        let Some((first, rest)) = path.split_first() else {
            self.found.push(
                codes::REFERENCE_NEEDS_FIELD
                    .new("metadata as a whole is no value")
                    .label(reference.head_span, "a part of its metadata must be named")
                    .help("name `displayName`, `labels`, `annotations` or `custom`"),
            );
            return Type::Error;
        };
        let AccessorKind::Name(part) = &first.kind else {
            return self.fail(wrong_accessor(&Type::object([]), first));
        };
        let known = match part.as_ref() {
            "displayName" if metadata.display_name.is_some() => Some(Type::Text),
            "labels" => {
                let keys = metadata
                    .labels
                    .iter()
                    .map(|(key, _)| (key.item.clone(), Type::Text));
                Some(Type::object(keys))
            }
            "annotations" => {
                let keys = metadata
                    .annotations
                    .iter()
                    .map(|(key, value)| (key.item.clone(), written_type(value)));
                Some(Type::object(keys))
            }
            "custom" => metadata.custom.as_ref().map(written_type),
            _ => None,
        };
        if let Some(ty) = known {
            return self.walk(ty, rest, place);
        }
        let parts = ["displayName", "labels", "annotations", "custom"];
        if place.guarded && parts.contains(&part.as_ref()) {
            return Type::Null;
        }
        let diagnostic = language::UNKNOWN_FIELD.new(format!("no `{part}` in this metadata"));
        self.found.push(if parts.contains(&part.as_ref()) {
            diagnostic.label(first.span, "the resource does not set it")
        } else {
            diagnostic
                .label(first.span, "metadata has no such part")
                .help_nearest(part, parts)
        });
        Type::Error
    }
}

/// The path after the index of an instance. Checks that there is an index exactly if one is needed
/// (decisions/blueprint#indexes-of-templates, decisions/blueprint#members-by-position).
fn instance_path<'r>(
    name: &Name,
    resource: &Resource,
    reference: &'r Ref,
) -> Result<&'r [Accessor], Box<Diagnostic>> {
    let indexed = reference
        .path
        .first()
        .filter(|first| matches!(first.kind, AccessorKind::Index(_)));
    instance_chosen(
        name,
        resource,
        indexed.map(|index| index.span),
        reference.head_span,
    )?;
    Ok(if indexed.is_some() {
        &reference.path[1..]
    } else {
        &reference.path
    })
}

/// Checks that an instance is selected exactly if the resource has several. `index` is the place of
/// the index.
pub(super) fn instance_chosen(
    name: &str,
    resource: &Resource,
    index: Option<diag::Span>,
    span: diag::Span,
) -> Result<(), Box<Diagnostic>> {
    match (resource.each.is_some(), index) {
        (true, Some(_)) | (false, None) => Ok(()),
        (true, None) => Err(Box::new(
            codes::MISSING_EACH_INDEX
                .new(format!(
                    "`{name}` has several instances, and none is chosen"
                ))
                .label(span, "the resource has `each`")
                .label(resource.span, "declared here")
                .help(format!("choose an instance: `{name}[0]`"))
                .help(format!(
                    "for members of two resources that belong together, give both the list of `{name}` under `each`, and read `elem` in both"
                )),
        )),
        (false, Some(index)) => Err(Box::new(
            codes::INDEX_ON_SINGLE
                .new(format!(
                    "`{name}` is a single resource and has no positions"
                ))
                .label(index, "the resource has no `each`")
                .help("take the index away"),
        )),
    }
}

/// The diagnostic for an element that reads itself (decisions/blueprint#self-references). A
/// description may read its element, because it is evaluated last.
fn self_reference(
    node: GraphNode,
    reference: &Ref,
    place: ExpressionContext<'_>,
) -> Option<Diagnostic> {
    if place.owner != Some(node) || place.description {
        return None;
    }
    let (word, name) = match &reference.head {
        ReferenceHead::Local(name) => ("value", name),
        ReferenceHead::DataSource(name) => ("data source", name),
        ReferenceHead::Child(name) => ("include", name),
        ReferenceHead::Resource { name, .. } => ("resource", name),
        _ => return None,
    };
    let diagnostic = codes::SELF_REFERENCE
        .new(format!("the {word} `{name}` needs itself"))
        .label(reference.head_span, "this is the element being defined");
    Some(match word {
        "resource" => {
            diagnostic.help("put the shared part into `values` and read it from both places")
        }
        _ => diagnostic,
    })
}

fn field_of<'s>(
    schema: &'s Arc<Schema>,
    accessor: &Accessor,
) -> Result<&'s Field, Box<Diagnostic>> {
    let AccessorKind::Name(name) = &accessor.kind else {
        return Err(Box::new(wrong_accessor(&Type::object([]), accessor)));
    };
    schema.fields.get(name).ok_or_else(|| {
        let diagnostic = language::UNKNOWN_FIELD
            .new(format!("no field `{name}` here"))
            .label(accessor.span, "the type has no such field");
        let names = || schema.fields.keys().map(|name| name.as_ref());
        Box::new(match diag::nearest(name, names()) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => match schema.fields.len() {
                1..=12 => {
                    diagnostic.help(format!("its fields are {}", super::types::listed(names())))
                }
                _ => diagnostic.help("`cyan types TYPE` lists the fields of a type"),
            },
        })
    })
}

/// The type of a metadata entry, as far as it is known without evaluation.
fn written_type(expr: &Expr) -> Type {
    match &expr.kind {
        ExprKind::Literal(value) => Type::of(value),
        ExprKind::Map(entries) => Type::object(
            entries
                .iter()
                .map(|(key, value)| (key.item.clone(), written_type(value))),
        ),
        ExprKind::List(_) => Type::list(Type::Any),
        ExprKind::Text(_) => Type::Text,
        _ => Type::Any,
    }
}

/// The leading names of a path, joined by dots.
fn dotted(path: &[Accessor]) -> String {
    let names = path.iter().map_while(|accessor| match &accessor.kind {
        AccessorKind::Name(name) => Some(name.as_ref()),
        AccessorKind::Index(_) => None,
    });
    names.collect::<Vec<_>>().join(".")
}
