//! Reads data sources: what their searches ask, and what the replies make of their exports.

use std::sync::Arc;

use blueprint::{DataSource, Field, Kind, Map, Name, Schema, Type, Unknown, Value};
use diag::{Diagnostic, Diagnostics};
use provider::{Catalogs, DataSourceType, FetchRequest, Fetched, ProviderError, TypeRef};
use understand::compare::{entry_of, item_of};
use understand::graph::GraphNode;
use understand::pinned::{PinnedData, PinnedInstance, PinnedSearch};
use understand::secret_marks::{has_sensitive, with_secret_marks_of};

use crate::codes;
use crate::question::ProviderInstance;
use crate::resolve::{Evaluation, ExpressionSite, Halt, Need, NoProviderInstance, Slot};
use crate::world::World;

/// The search of a data source.
#[derive(Clone, Debug)]
pub struct Search {
    /// The type of the data source.
    pub ty: Arc<DataSourceType>,
    /// Field, operator and search value of each filter.
    pub filters: Vec<(Name, Name, Value)>,
    /// The evaluated annotations of the data source.
    pub annotations: Value,
    /// The configuration of its provider, if a resource declares it.
    pub instance: Option<ProviderInstance>,
    /// The folder of its document, relative to that of the root document.
    pub folder: Name,
}

impl Search {
    pub(crate) async fn fetch(&self, world: &dyn World) -> Result<Fetched, ProviderError> {
        let type_name = &self.ty.name;
        let request = FetchRequest {
            type_name,
            filters: &self.filters,
            annotations: &self.annotations,
        };
        world
            .fetch(type_name, self.instance.as_ref(), &self.folder, request)
            .await
    }
}

pub(crate) enum Searched {
    /// Nothing needs to be asked.
    Settled(Slot),
    Ask(Search),
}

/// Determines the search of a data source. Its search values may need answers themselves.
pub(crate) fn search(
    evaluation: &mut Evaluation,
    index: u32,
    catalogs: &Catalogs,
    found: &mut Diagnostics,
) -> Result<Searched, Need> {
    let documents = evaluation.documents.clone();
    let Some((unit, name, source)) = documents.data_source(index) else {
        return Ok(Searched::Settled(Slot::Failed));
    };
    if let Some(pinned) = evaluation
        .answers
        .data_sources
        .get(documents.unit(unit).named(name).as_str())
    {
        return Ok(Searched::Settled(Slot::Value(pinned.fields.clone())));
    }
    let TypeRef::Known(ty) = catalogs.data_source_type(&source.type_name.item) else {
        return Ok(Searched::Settled(Slot::Failed));
    };
    let owner = documents
        .unit(unit)
        .named(format_args!("datasources.{name}"));
    let site = ExpressionSite::of(unit, &owner);
    let mut filters: Vec<(Name, Name, Value)> = Vec::new();
    let mut unknown = false;
    let mut waits_for = Vec::new();
    for filter in &source.filters {
        let value = match evaluation.present(site, &filter.search, found) {
            Ok(value) => value,
            Err(Halt::Need(need)) => return Err(need),
            Err(_) => return Ok(Searched::Settled(Slot::Failed)),
        };
        unknown |= value.has_unknown();
        value.waits_for(&mut waits_for);
        filters.push((
            filter.field.item.clone(),
            filter.operator.item.clone(),
            value,
        ));
    }
    let mut annotations = Map::default();
    for (key, expr) in &source.metadata.annotations {
        match evaluation.present(site, expr, found) {
            Ok(value) => {
                unknown |= value.has_unknown();
                value.waits_for(&mut waits_for);
                annotations.insert(key.item.clone(), value);
            }
            Err(Halt::Need(need)) => return Err(need),
            Err(_) => return Ok(Searched::Settled(Slot::Failed)),
        }
    }
    for annotation in &ty.annotations {
        if let Some(default) = &annotation.default {
            annotations.get_or_insert_with(annotation.key.clone(), || default.clone());
        }
    }
    let instance = match evaluation.provider_of(GraphNode::DataSource(index)) {
        Ok(instance) => instance,
        Err(NoProviderInstance(why)) => {
            found.extend(why.map(|why| *why));
            return Ok(Searched::Settled(Slot::Failed));
        }
    };
    if let Some(instance) = &instance
        && instance.settings.has_unknown()
    {
        unknown = true;
        waits_for.push(instance.address.clone());
        instance.settings.waits_for(&mut waits_for);
    }
    if unknown {
        return Ok(Searched::Settled(read_on_deploy(source, &ty, &waits_for)));
    }
    let folder = documents.folder_seen_from_root(unit);
    Ok(Searched::Ask(Search {
        ty,
        filters,
        annotations: Value::Map(Arc::new(annotations)),
        instance,
        folder,
    }))
}

/// The exports of a data source that can be read only on deploy: all are Unknown
/// (decisions/blueprint#places-of-substitutions).
fn read_on_deploy(
    source: &DataSource,
    ty: &DataSourceType,
    waits_for: &[blueprint::Address],
) -> Slot {
    let unknown = |ty: Type, secret: bool| {
        Value::Unknown(Arc::new(Unknown {
            ty: Some(ty),
            waits_for: waits_for.to_vec(),
        }))
        .tainted(secret)
    };
    let mut fields = Map::default();
    if source.export_all.is_some() {
        for (field, definition) in &ty.schema.fields {
            fields.insert(
                field.clone(),
                unknown(definition.ty(), has_sensitive(Some(definition))),
            );
        }
    }
    for (exported, export) in &source.exports {
        let field = export
            .alias_for
            .as_ref()
            .map_or(exported, |alias| &alias.item);
        let (definition, sensitive) = definition_of(&ty.schema, field);
        fields.insert(
            exported.clone(),
            unknown(
                export.ty.item.clone(),
                sensitive || has_sensitive(definition),
            ),
        );
    }
    Slot::Partial(Value::Map(Arc::new(fields)))
}

/// The diagnostic for a data source without a provider.
pub(crate) fn missing_provider(
    evaluation: &Evaluation,
    index: u32,
    search: &Search,
) -> Option<Diagnostic> {
    let (_, name, source) = evaluation.documents.data_source(index)?;
    Some(no_provider(name, source, search))
}

fn no_provider(name: &Name, source: &DataSource, search: &Search) -> Diagnostic {
    let namespace = search.ty.name.package_name();
    codes::NO_PROVIDER
        .new(format!("there is no provider for `{namespace}` here yet"))
        .label(source.span, format!("`{name}` cannot be read without one"))
        .help("run it with `--simulate`: the simulation returns generated data that matches the filters")
        .help("to define the data, add `rows` to the type in a catalogue of your own: `--simulate --catalog FILE`")
}

/// Settles a data source with the first candidate that meets every filter.
pub(crate) fn settle_data_source(
    evaluation: &mut Evaluation,
    index: u32,
    search: &Search,
    fetched: Result<Fetched, ProviderError>,
    found: &mut Diagnostics,
) -> Slot {
    let documents = evaluation.documents.clone();
    let Some((unit, name, source)) = documents.data_source(index) else {
        return Slot::Failed;
    };
    let Some(fields) = select_candidate(name, source, search, fetched, found) else {
        return Slot::Failed;
    };
    let at = evaluation.answers.now;
    evaluation.answers.data_sources.insert(
        documents.unit(unit).named(name).into(),
        PinnedData {
            at,
            fields: fields.clone(),
            asked: repeatable_search(search),
        },
    );
    Slot::Value(fields)
}

/// The search in the form that a saved plan keeps. `None` if reading runs a command or sends a
/// request.
fn repeatable_search(search: &Search) -> Option<Box<PinnedSearch>> {
    let Search {
        ty,
        filters,
        annotations,
        instance,
        folder,
    } = search;
    let again = || PinnedSearch {
        filters: filters.clone(),
        annotations: annotations.clone(),
        instance: instance.as_ref().map(|instance| PinnedInstance {
            address: instance.address.clone(),
            settings: instance.settings.clone(),
        }),
        folder: folder.clone(),
    };
    (!ty.acts).then(|| Box::new(again()))
}

/// The exports of a data source, from the first candidate that meets every filter. `None` if there
/// is none or the read failed, which is reported.
fn select_candidate(
    name: &Name,
    source: &DataSource,
    search: &Search,
    fetched: Result<Fetched, ProviderError>,
    found: &mut Diagnostics,
) -> Option<Value> {
    let Search { ty, filters, .. } = search;
    let fetched = match fetched {
        Ok(fetched) => fetched,
        Err(error) => {
            found.push(
                crate::retry::failure(&error, || {
                    format!("the data source `{name}` cannot be read")
                })
                .label(source.span, ""),
            );
            return None;
        }
    };
    for diagnostic in &fetched.diagnostics {
        let field = diagnostic.path.to_string();
        let filter = source
            .filters
            .iter()
            .find(|filter| filter.field.item.as_ref() == field);
        let mut warning = understand::check::codes::REJECTED_BY_PROVIDER
            .new(format!(
                "the provider has a remark about the data source `{name}`"
            ))
            .label(
                filter.map_or(source.span, |filter| filter.search.span),
                diagnostic.text(),
            );
        warning.severity = diag::Severity::Warning;
        found.push(warning);
    }
    let mut matching = Vec::new();
    for candidate in &fetched.candidates {
        let mut all = true;
        for (at, (field, operator, wanted)) in filters.iter().enumerate() {
            let seen = path_of(&candidate.filter_fields, field);
            if seen.is_none() && fetched.applied.contains(&at) {
                continue;
            }
            match super::filters::holds(operator, seen.as_ref(), wanted) {
                Some(holds) => all &= holds,
                None => {
                    let filter = &source.filters[at];
                    found.push(
                        understand::check::codes::FILTER_KIND_MISMATCH
                            .new(format!(
                                "`{operator}` cannot compare `{field}` with {}",
                                wanted.kind_word()
                            ))
                            .label(filter.operator.span, "not for values of these kinds"),
                    );
                    return None;
                }
            }
        }
        if all {
            matching.push(candidate);
        }
    }
    let Some(first) = matching.first() else {
        found.push(
            codes::DATA_SOURCE_EMPTY
                .new(format!("nothing matches the data source `{name}`"))
                .label(
                    source.span,
                    match fetched.candidates.len() {
                        0 => "nothing was found".to_owned(),
                        1 => "one candidate was looked at".to_owned(),
                        count => format!("{count} candidates were examined"),
                    },
                )
                .help(
                    "compare its filters with what is there; in a rehearsal that is the type's `rows` in its catalogue",
                ),
        );
        return None;
    };
    if matching.len() > 1 {
        found.push(
            codes::SEVERAL_MATCHES
                .new(format!(
                    "{} candidates match the data source `{name}`; the first is taken",
                    matching.len()
                ))
                .label(source.span, ""),
        );
    }
    let mut fields = Map::default();
    if source.export_all.is_some() {
        for (field, definition) in &ty.schema.fields {
            if let Some(value) = path_of(&first.fields, field) {
                fields.insert(
                    field.clone(),
                    with_secret_marks_of(&value, None, Some(definition)),
                );
            }
        }
    }
    for (exported, export) in &source.exports {
        let field = export
            .alias_for
            .as_ref()
            .map_or(exported, |alias| &alias.item);
        if let Some(value) = path_of(&first.fields, field) {
            let (definition, sensitive) = definition_of(&ty.schema, field);
            let value = with_secret_marks_of(&value, None, definition).tainted(sensitive);
            let value =
                expr::convert(&value, &export.ty.item, expr::ValueOrigin::Literal).unwrap_or(value);
            fields.insert(exported.clone(), value);
        }
    }
    Some(Value::Map(Arc::new(fields)))
}

/// Reads a data source on its own, with these filters and annotations. `None` after an error, which
/// is reported.
pub async fn read_alone(
    name: &Name,
    source: &DataSource,
    search: &Search,
    world: &dyn World,
    found: &mut Diagnostics,
) -> Option<Value> {
    if !world.environment().manages(&search.ty.name) {
        found.push(no_provider(name, source, search));
        return None;
    }
    let fetched = search.fetch(world).await;
    select_candidate(name, source, search, fetched, found)
}

/// The field at a path in the form of [`path_of`], and whether a field above it is sensitive.
fn definition_of<'s>(schema: &'s Schema, path: &str) -> (Option<&'s Field>, bool) {
    if let Some(field) = schema.fields.get(path) {
        return (Some(field), false);
    }
    let mut names = path.split('.').map(|step| {
        step.split_once('[')
            .map_or((step, 0), |(name, rest)| (name, rest.split('[').count()))
    });
    let Some((name, mut lists)) = names.next() else {
        return (None, false);
    };
    let mut field = schema.fields.get(name);
    let mut sensitive = false;
    loop {
        for _ in 0..lists {
            sensitive |= field.is_some_and(|field| field.sensitive);
            field = item_of(field);
        }
        let Some((name, more)) = names.next() else {
            return (field, sensitive);
        };
        sensitive |= field.is_some_and(|field| {
            field.sensitive || matches!(field.kind, Kind::Union(_)) && has_sensitive(Some(field))
        });
        field = entry_of(field, name);
        lists = more;
    }
}

/// The value at a path of dotted names and positions. A field whose whole name is the path takes
/// precedence. `[]` means `[0]`.
fn path_of(fields: &Value, path: &str) -> Option<Value> {
    if let Some(value) = fields.get(path) {
        return Some(value.clone()).filter(|value| !value.is_null());
    }
    let mut value = fields.clone();
    for step in path.split('.') {
        let (name, rest) = step
            .split_once('[')
            .map_or((step, ""), |(name, rest)| (name, rest));
        value = value.get(name)?.clone();
        for index in rest.split('[').filter(|index| !index.is_empty()) {
            let index = index.trim_end_matches(']');
            let index: usize = if index.is_empty() {
                0
            } else {
                index.parse().ok()?
            };
            value = value.as_list()?.get(index)?.clone();
        }
    }
    Some(value).filter(|value| !value.is_null())
}
