//! Checks data sources: filters must name filterable fields, and exports must name fields of the
//! type (decisions/documents#filters-of-data-sources).
//!
//! Not here: which operator fits which kind (`filters`), and reading.

use blueprint::{DataSource, Kind, Name, Schema};
use dialect::codes as document;
use expr::codes as language;
use provider::{DataSourceType, FilterField};

use super::links::annotations::KnownAnnotations;
use super::types::{fits_declared, with_article};
use super::{Checker, ExpressionContext, codes};
use crate::graph::GraphNode;

impl Checker<'_> {
    /// Checks every data source.
    pub(super) fn data_sources(&mut self) {
        for (at, (name, source)) in self.blueprint.data_sources.iter().enumerate() {
            let place = ExpressionContext::of(GraphNode::DataSource(at as u32), "a data source");
            let ty = self.data_sources[at].clone();
            for filter in &source.filters {
                let search = self.infer(&filter.search, place);
                let Some(ty) = &ty else { continue };
                match filter_field(ty, &filter.field.item) {
                    Some(field) => self.operator(filter, field, &search),
                    None if filter.field.item.is_empty() => {}
                    None => self.found.push(
                        codes::UNSUPPORTED_FILTER_FIELD
                            .new(format!(
                                "`{}` cannot be filtered on `{}`",
                                ty.name, filter.field.item
                            ))
                            .label(filter.field.span, "no such filter field")
                            .help_nearest(
                                &filter.field.item,
                                ty.filters.keys().map(|name| name.as_ref()),
                            ),
                    ),
                }
            }
            if let Some(ty) = &ty {
                self.exclusive(source, ty);
                self.required_filters(name, source, ty);
                self.source_exports(source, ty);
            }
            let known =
                KnownAnnotations::of_type(ty.as_ref().map_or(&[][..], |ty| &ty.annotations));
            let type_name = ty.as_ref().map(|ty| ty.name.clone()).unwrap_or_default();
            self.resource_metadata(&source.metadata, &known, &type_name, source.span, place);
            self.description(source.description.as_ref(), place);
            for export in source.exports.values() {
                self.description(export.description.as_ref(), place);
            }
        }
    }

    /// Reports filters on fields that exclude each other.
    fn exclusive(&mut self, source: &DataSource, ty: &DataSourceType) {
        for group in &ty.exclusive {
            let mut used = source
                .filters
                .iter()
                .filter(|filter| group.contains(&plain_path(&filter.field.item)));
            let Some(first) = used.next() else { continue };
            for later in used.filter(|later| later.field.item != first.field.item) {
                self.found.push(
                    codes::FILTER_CONFLICT
                        .new(format!(
                            "`{}` and `{}` exclude each other",
                            first.field.item, later.field.item
                        ))
                        .label(later.field.span, "cannot be combined with the other")
                        .label(first.field.span, "the other one"),
                );
            }
        }
    }

    /// Reports missing filters on required fields.
    fn required_filters(&mut self, name: &Name, source: &DataSource, ty: &DataSourceType) {
        // The dialect has already reported the missing section.
        if source.filters.is_empty() {
            return;
        }
        for field in &ty.required {
            if !source
                .filters
                .iter()
                .any(|filter| filter.field.item == *field)
            {
                self.found.push(
                    document::MISSING_FIELD
                        .new(format!(
                            "the data source `{name}` needs a filter on `{field}`"
                        ))
                        .label(
                            source.span,
                            format!("`{}` cannot be read without it", ty.name),
                        )
                        .help(format!(
                            "add `{{ field: {field}, operator: \"=\", search: .. }}` to `filter`"
                        )),
                );
            }
        }
    }

    fn source_exports(&mut self, source: &DataSource, ty: &DataSourceType) {
        for (name, export) in &source.exports {
            let (field, span) = match &export.alias_for {
                Some(alias) => (&alias.item, alias.span),
                None => (name, export.span),
            };
            let Some(found) = ty.schema.fields.get(field) else {
                if ty.schema.open || is_entry(&ty.schema, field) {
                    continue;
                }
                // Malformed aliases are empty and already reported.
                if !field.is_empty() {
                    self.found.push(
                        language::UNKNOWN_FIELD
                            .new(format!("`{}` has no field `{field}`", ty.name))
                            .label(span, "no such field")
                            .help_nearest(field, ty.schema.fields.keys().map(|name| name.as_ref())),
                    );
                }
                continue;
            };
            let given = found.ty();
            if !fits_declared(&given, &export.ty.item) {
                self.found.push(
                    language::TYPE_MISMATCH
                        .new(format!(
                            "the export `{name}` is declared as {}",
                            with_article(&export.ty.item)
                        ))
                        .label(
                            export.ty.span,
                            format!("`{field}` is {}", with_article(&given)),
                        ),
                );
            }
        }
    }
}

/// Whether a path leads into a field whose entries have any names.
fn is_entry(schema: &Schema, path: &str) -> bool {
    let mut above = path.rmatch_indices('.').map(|(at, _)| &path[..at]);
    let nearest = above.find_map(|above| schema.fields.get(above));
    nearest.is_some_and(|field| matches!(field.kind, Kind::Map(_) | Kind::Any))
}

/// The filterable field at a path. Any position matches the catalogue's `[]`.
fn filter_field<'t>(ty: &'t DataSourceType, path: &str) -> Option<&'t FilterField> {
    ty.filters
        .get(path)
        .or_else(|| ty.filters.get(&plain_path(path)))
}

/// A path without its positions: `subnets[0].zone` as `subnets[].zone`.
fn plain_path(path: &str) -> Name {
    let mut plain = String::with_capacity(path.len());
    let mut inside = false;
    for c in path.chars() {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            _ if inside && c.is_ascii_digit() => continue,
            _ => {}
        }
        plain.push(c);
    }
    plain.into()
}
