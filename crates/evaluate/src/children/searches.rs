//! Reads data sources that the paths of includes use, once, before the included documents
//! (decisions/blueprint#places-of-substitutions, decisions/blueprint#reading-of-data-sources). The
//! plan reuses the results.
//!
//! Not here: the choice of a candidate (`evaluation_question`).

use std::collections::HashSet;
use std::sync::Arc;

use blueprint::{Address, DataSource, Expr, Map, Name, Resource, Value};
use diag::{Diagnostics, Spanned};
use expr::Ask;
use provider::TypeRef;

use super::known::IncludeValue;
use super::reader::DocumentReader;
use crate::data_search::Search;
use crate::question::ProviderInstance;
use crate::resolve::no_instance;
use understand::documents::providers::handed_down;
use understand::pinned::PinnedData;

/// A data source that can be read now: the place, the position and the search.
pub(super) type Ready = ((u32, u32), Search);

/// The result of a filter or an annotation.
enum FilterResult {
    Value(Value),
    /// The value depends on an answer that is not there yet.
    Pending,
    Failed,
}

impl DocumentReader<'_> {
    /// Returns the wanted data sources that can be read now, and those that they depend on. Adds
    /// their questions to `asks`. Settles data sources that are pinned or can never be read.
    pub(super) fn searches(
        &mut self,
        mut wanted: Vec<(u32, u32)>,
        inputs: &[Value],
        asks: &mut Vec<(u32, Ask)>,
    ) -> Vec<Ready> {
        let mut ready = Vec::new();
        let mut seen: HashSet<(u32, u32), foldhash::fast::FixedState> = HashSet::default();
        while let Some((place, at)) = wanted.pop() {
            if self.data.contains_key(&(place, at)) || !seen.insert((place, at)) {
                continue;
            }
            let name = self.data_source_key(place, at);
            if let Some(earlier) = self.reading.earlier_reads.data_sources.get(&name) {
                self.data.insert((place, at), Some(earlier.fields.clone()));
                self.pinned.data_sources.insert(name, earlier.clone());
                // No question is needed, but its readers can continue.
                continue;
            }
            let blueprint = self.text_of(place).blueprint.clone();
            let Some((_, source)) = blueprint.data_sources.get_index(at as usize) else {
                continue;
            };
            let TypeRef::Known(ty) = self
                .reading
                .catalogs
                .data_source_type(&source.type_name.item)
            else {
                self.data.insert((place, at), None);
                continue;
            };
            let mut part = |place: u32, expr: &Expr| match self
                .include_context(inputs)
                .evaluate(place, expr)
            {
                IncludeValue::Value(value) => FilterResult::Value(value),
                IncludeValue::NotYetRead => FilterResult::Pending,
                IncludeValue::Asks(more) => {
                    asks.extend(more.into_iter().map(|ask| (place, ask)));
                    FilterResult::Pending
                }
                IncludeValue::Searches(more) => {
                    wanted.extend(more);
                    FilterResult::Pending
                }
                IncludeValue::Failed(_) => FilterResult::Failed,
            };
            let declared = self.provider_of(place, source);
            let settings = match &declared {
                Some((above, _, resource)) => {
                    let parts = [resource.condition.as_deref(), Some(&resource.spec)];
                    parts
                        .into_iter()
                        .flatten()
                        .map(|expr| part(*above, expr))
                        .collect()
                }
                None => Vec::new(),
            };
            let mut part = |expr: &Expr| part(place, expr);
            let filters: Vec<FilterResult> = source
                .filters
                .iter()
                .map(|filter| part(&filter.search))
                .collect();
            let written: Vec<FilterResult> = source
                .metadata
                .annotations
                .iter()
                .map(|(_, expr)| part(expr))
                .collect();
            let all = || filters.iter().chain(&written).chain(&settings);
            if all().any(|part| matches!(part, FilterResult::Failed)) {
                self.data.insert((place, at), None);
                continue;
            }
            if all().any(|part| matches!(part, FilterResult::Value(value) if value.has_unknown())) {
                self.data
                    .insert((place, at), Some(Value::unknown(None, None)));
                continue;
            }
            if all().any(|part| matches!(part, FilterResult::Pending)) {
                continue;
            }
            let is_false = |part: &FilterResult| matches!(part, FilterResult::Value(value) if *value.unmarked() == Value::Bool(false));
            if let Some((_, name, _)) = &declared
                && settings.iter().any(is_false)
            {
                let text = self.places[place as usize].text as usize;
                self.texts[text]
                    .found
                    .push(no_instance(&name.item, name.span));
                self.data.insert((place, at), None);
                continue;
            }
            let value = |part: FilterResult| match part {
                FilterResult::Value(value) => value,
                FilterResult::Pending | FilterResult::Failed => Value::Null,
            };
            let filters = source.filters.iter().zip(filters);
            let filters = filters.map(|(filter, part)| {
                (
                    filter.field.item.clone(),
                    filter.operator.item.clone(),
                    value(part),
                )
            });
            let written = source.metadata.annotations.iter().zip(written);
            let mut annotations: Map = written
                .map(|((key, _), part)| (key.item.clone(), value(part)))
                .collect();
            for annotation in &ty.annotations {
                if let Some(default) = &annotation.default {
                    annotations.get_or_insert_with(annotation.key.clone(), || default.clone());
                }
            }
            let annotations = Value::Map(Arc::new(annotations));
            let spec = settings.into_iter().next_back().map(value);
            let instance = declared.map(|(above, name, _)| {
                self.instance(
                    above,
                    &name.item,
                    spec.as_ref().and_then(|spec| spec.get("settings")),
                )
            });
            let folder = self.folder_seen_from_root(place);
            let search = Search {
                filters: filters.collect(),
                annotations,
                ty,
                instance,
                folder,
            };
            ready.push(((place, at), search));
        }
        ready
    }

    /// The resource that declares the configuration of a data source's provider, with its place and
    /// the reference to it.
    fn provider_of(
        &self,
        place: u32,
        source: &DataSource,
    ) -> Option<(u32, Spanned<Name>, Resource)> {
        if let Some(name) = source.provider.as_deref() {
            let declared = self.text_of(place).blueprint.resources.get(&name.item)?;
            return Some((place, name.clone(), declared.clone()));
        }
        let mut here = place;
        while let Some((above, include)) = self.places[here as usize].parent {
            let blueprint = &self.text_of(above).blueprint;
            let (_, child) = blueprint.children.get_index(include as usize)?;
            if let Some((at, name)) = handed_down(
                blueprint,
                &child.providers,
                source.type_name.item.package_name(),
                self.reading.catalogs.names(),
            ) {
                return Some((
                    above,
                    name.clone(),
                    blueprint.resources.get_index(at)?.1.clone(),
                ));
            }
            here = above;
        }
        None
    }

    /// A configuration with these settings and with the former settings from the state.
    fn instance(&self, place: u32, name: &Name, settings: Option<&Value>) -> ProviderInstance {
        let mut path = self.path_of(place, name);
        path.pop();
        let address = Address::inside(&path, name.clone());
        let record = self
            .reading
            .before
            .and_then(|before| before.records.get(&address));
        let former = record
            .and_then(|record| record.inputs.get("settings"))
            .cloned()
            .unwrap_or_default();
        ProviderInstance {
            address,
            settings: settings.cloned().unwrap_or_default(),
            former,
        }
    }

    /// Reads data sources. Reports errors in the documents that declare them.
    pub(super) async fn search(&mut self, searches: Vec<Ready>) {
        let world = self.reading.world;
        let now = world.environment().now();
        let reads = searches.iter().map(|((place, at), search)| {
            let blueprint = self.text_of(*place).blueprint.clone();
            async move {
                let mut found = Diagnostics::new();
                let fields = match blueprint.data_sources.get_index(*at as usize) {
                    Some((name, source)) => {
                        crate::data_search::read_alone(name, source, search, world, &mut found)
                            .await
                    }
                    None => None,
                };
                (fields, found)
            }
        });
        let answers = futures::future::join_all(reads.collect::<Vec<_>>()).await;
        for (((place, at), _), (fields, found)) in searches.into_iter().zip(answers) {
            let name = self.data_source_key(place, at);
            let text = self.places[place as usize].text as usize;
            self.texts[text].found.append(found);
            if let Some(fields) = &fields {
                self.pinned.data_sources.insert(
                    name,
                    PinnedData {
                        at: now,
                        fields: fields.clone(),
                        asked: None,
                    },
                );
            }
            self.data.insert((place, at), fields);
        }
    }

    /// The key of a data source: the names of the includes that lead to its place, then its own
    /// name.
    fn data_source_key(&self, place: u32, at: u32) -> Name {
        let blueprint = &self.text_of(place).blueprint;
        let name = blueprint
            .data_sources
            .get_index(at as usize)
            .map(|(name, _)| name.clone());
        self.path_of(place, &name.unwrap_or_default())
            .join("/")
            .into()
    }
}
