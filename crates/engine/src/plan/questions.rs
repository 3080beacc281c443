//! Answers that evaluations need from the world: files, drawn values, data sources.

use std::sync::Arc;

use blueprint::{Field, IndexMap, Kind, Map, Name, Schema, Value};
use diag::{Diagnostic, Diagnostics};
use expr::{Ask, AskFailure, FunctionTable, Returns};
use provider::{Catalogs, DataSourceType, Fetched, ProviderError, TypeRef};
use state::Remembered;

use super::diff::{entry_of, has_sensitive, item_of, mark_like};
use crate::answers::{FrozenBytes, FrozenData};
use crate::codes;
use crate::documents::Documents;
use crate::resolve::{Evaluation, Halt, Need, Site, Slot, bytes_key, site_of};
use crate::world::World;

/// Each once, in the order in which they came, with a fixed hash.
type IndexSet<T> = indexmap::IndexSet<T, foldhash::fast::FixedState>;

/// Answers needs, and whatever they need in turn, so that the evaluations that had them can be tried again. What the
/// world refuses is kept as an answer too, so that the diagnostic stands at the call.
///
/// Everything that can be asked is asked together; answers are kept in the order of the questions.
pub(super) async fn answer(
    evaluation: &mut Evaluation,
    needs: Vec<Need>,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    let documents = evaluation.documents.clone();
    let mut asks: IndexMap<String, (u32, Ask)> = IndexMap::default();
    let add = |asks: &mut IndexMap<String, (u32, Ask)>, unit: u32, owner: Name, more: Vec<Ask>| {
        for ask in more {
            asks.entry(key_of(&documents, unit, &owner, &ask)).or_insert((unit, ask));
        }
    };
    let mut waiting: IndexSet<u32> = IndexSet::default();
    for need in needs {
        match need {
            Need::Ask(unit, owner, more) => add(&mut asks, unit, owner, more),
            Need::Fetch(index) => drop(waiting.insert(index)),
        }
    }
    while !asks.is_empty() || !waiting.is_empty() {
        let mut searches = Vec::new();
        let mut next: IndexSet<u32> = IndexSet::default();
        let mut moved = !asks.is_empty();
        // A data source may read data sources; those come into the same round as they are found.
        let mut at = 0;
        while let Some(index) = waiting.get_index(at).copied() {
            at += 1;
            if !matches!(evaluation.data[index as usize], Slot::Open) {
                moved = true;
                continue;
            }
            let mut mistakes = Diagnostics::new();
            match search(evaluation, index, catalogs, &mut mistakes) {
                Ok(Searched::Settled(slot)) => {
                    found.append(mistakes);
                    evaluation.data[index as usize] = slot;
                    moved = true;
                }
                Ok(Searched::Ask(search)) => {
                    found.append(mistakes);
                    searches.push((index, search));
                    moved = true;
                }
                Err(need) => {
                    next.insert(index);
                    match need {
                        Need::Fetch(other) => moved |= waiting.insert(other),
                        Need::Ask(unit, owner, more) => {
                            add(&mut asks, unit, owner, more);
                            moved = true;
                        }
                    }
                }
            }
        }
        if !moved {
            // They wait for each other, which has been reported.
            next.iter().for_each(|index| evaluation.data[*index as usize] = Slot::Failed);
            return;
        }
        let asked = std::mem::take(&mut asks);
        let now = evaluation.answers.now;
        let functions = evaluation.functions.clone();
        let questions =
            asked.values().map(|(unit, ask)| put(ask, &documents.unit(*unit).folder, now, &functions, world));
        let fetches =
            searches.iter().map(|(_, search)| world.fetch(&search.ty.name, &search.filters, &search.annotations));
        let (answers, fetched) = futures::future::join(
            futures::future::join_all(questions.collect::<Vec<_>>()),
            futures::future::join_all(fetches.collect::<Vec<_>>()),
        )
        .await;
        for ((key, (unit, ask)), answer) in asked.into_iter().zip(answers) {
            keep(evaluation, key, unit, ask, answer);
        }
        let fetched: Vec<_> = searches.into_iter().zip(fetched).collect();
        for ((index, search), fetched) in fetched {
            evaluation.data[index as usize] = settle(evaluation, index, &search, fetched, found);
        }
        waiting = next;
    }
}

/// What a question is kept under, so that each is put once.
fn key_of(documents: &Documents, unit: u32, owner: &str, ask: &Ask) -> String {
    match ask {
        Ask::File { path, .. } => bytes_key(documents, unit, path).into_owned(),
        Ask::Http { url } => url.to_string(),
        Ask::Remembered { path, nth, .. } => site_of(owner, path, *nth).to_string(),
        Ask::WorkingDirectory => String::new(),
        Ask::Provider { namespace, function, arguments } => crate::resolve::call_key(namespace, function, arguments),
    }
}

/// What the world said.
enum Answer {
    Bytes(Arc<[u8]>),
    Value(Value),
    /// Nothing is to be kept.
    None,
}

/// Puts one question to the world.
async fn put(
    ask: &Ask,
    folder: &str,
    now: i64,
    functions: &FunctionTable,
    world: &dyn World,
) -> Result<Answer, AskFailure> {
    let unreadable = |what: &str, why: String| AskFailure {
        code: &expr::codes::SOURCE_UNREADABLE,
        message: format!("`{what}` cannot be read"),
        notes: vec![why],
    };
    match ask {
        Ask::File { path, .. } => {
            world.file(folder, path).await.map(Answer::Bytes).map_err(|error| unreadable(path, error.message))
        }
        Ask::Http { url } => world.http(url).await.map(Answer::Bytes).map_err(|error| unreadable(url, error.message)),
        Ask::Remembered { function, arguments, .. } => expr::remembered_value(function, arguments, now, world.random())
            .map(Answer::Value)
            .ok_or_else(|| AskFailure {
                code: &expr::codes::ARGUMENT_FORMAT,
                message: format!("`{function}` cannot be drawn like this"),
                notes: Vec::new(),
            }),
        // Always answered from what is at hand.
        Ask::WorkingDirectory => Ok(Answer::None),
        Ask::Provider { namespace, function, arguments } => {
            let answer = world.call(namespace, function, arguments).await.map_err(|error| AskFailure {
                code: &codes::PROVIDER_FAILED,
                message: format!("`{function}` failed"),
                notes: vec![error.message],
            })?;
            as_declared(answer, function, functions)
                .map(|answer| Answer::Value(answer.tainted(arguments.iter().any(Value::has_secret))))
        }
    }
}

/// What a provider's function gave, if it is of the kind that the catalogue declares; `none` is.
fn as_declared(answer: Value, function: &str, functions: &FunctionTable) -> Result<Value, AskFailure> {
    let Some(Returns::Type(ty)) = functions.get(function).map(|function| &function.returns) else { return Ok(answer) };
    let is_plain = !answer.has_unknown() && !has_function(&answer);
    match expr::convert(&answer, ty, expr::Source::Literal) {
        Ok(answer) if is_plain => Ok(answer),
        _ if answer.is_null() => Ok(answer),
        _ => Err(AskFailure {
            code: &codes::PROVIDER_BROKE_CONTRACT,
            message: format!("`{function}` gave {}, declared as {ty}", answer.kind_word()),
            notes: Vec::new(),
        }),
    }
}

fn has_function(value: &Value) -> bool {
    match value {
        Value::Function(_) => true,
        Value::Secret(inner) => has_function(inner),
        Value::List(items) | Value::Set(items) => items.iter().any(has_function),
        Value::Map(entries) => entries.values().any(has_function),
        _ => false,
    }
}

fn keep(evaluation: &mut Evaluation, key: String, unit: u32, ask: Ask, answer: Result<Answer, AskFailure>) {
    let key: Name = key.into();
    let answer = match answer {
        Ok(answer) => answer,
        Err(failure) => {
            evaluation.refused.insert(key, failure);
            return;
        }
    };
    let folder = evaluation.documents.unit(unit).folder.clone();
    let answers = &mut evaluation.answers;
    match (ask, answer) {
        (Ask::File { path, .. }, Answer::Bytes(bytes)) => {
            answers.bytes.insert(key, FrozenBytes::new(&folder, &path, bytes));
        }
        (Ask::Http { url }, Answer::Bytes(bytes)) => {
            answers.bytes.insert(key, FrozenBytes::new("", &url, bytes));
        }
        (Ask::Remembered { fingerprint, .. }, Answer::Value(value)) => {
            answers.remembered.insert(key, Remembered { fingerprint, value });
        }
        (Ask::Provider { .. }, Answer::Value(value)) => {
            answers.calls.insert(key, value);
        }
        _ => {}
    }
}

/// What is asked of a data source.
struct Search {
    ty: Arc<DataSourceType>,
    filters: Vec<(Name, Name, Value)>,
    annotations: Value,
}

enum Searched {
    /// There is nothing to be asked.
    Settled(Slot),
    Ask(Search),
}

/// Finds out what to ask of a data source; its search values may need answers themselves.
fn search(
    evaluation: &mut Evaluation,
    index: u32,
    catalogs: &Catalogs,
    found: &mut Diagnostics,
) -> Result<Searched, Need> {
    let documents = evaluation.documents.clone();
    let Some((unit, name, source)) = documents.data_source(index) else {
        return Ok(Searched::Settled(Slot::Failed));
    };
    if let Some(frozen) = evaluation.answers.data_sources.get(documents.unit(unit).named(name).as_str()) {
        return Ok(Searched::Settled(Slot::Value(frozen.fields.clone())));
    }
    let TypeRef::Known(ty) = catalogs.data_source_type(&source.type_name.item) else {
        return Ok(Searched::Settled(Slot::Failed));
    };
    let owner = documents.unit(unit).named(format_args!("datasources.{name}"));
    let site = Site::of(unit, &owner);
    let mut filters: Vec<(Name, Name, Value)> = Vec::new();
    for filter in &source.filters {
        let value = match evaluation.present(site, &filter.search, found) {
            Ok(value) => value,
            Err(Halt::Need(need)) => return Err(need),
            Err(_) => return Ok(Searched::Settled(Slot::Failed)),
        };
        if value.has_unknown() {
            found.push(too_early(name, filter.search.span));
            return Ok(Searched::Settled(Slot::Failed));
        }
        filters.push((filter.field.item.clone(), filter.operator.item.clone(), value));
    }
    let mut annotations = Map::default();
    for (key, expr) in &source.metadata.annotations {
        match evaluation.present(site, expr, found) {
            Ok(value) if value.has_unknown() => {
                found.push(too_early(name, expr.span));
                return Ok(Searched::Settled(Slot::Failed));
            }
            Ok(value) => {
                annotations.insert(key.item.clone(), value);
            }
            Err(Halt::Need(need)) => return Err(need),
            Err(_) => return Ok(Searched::Settled(Slot::Failed)),
        }
    }
    Ok(Searched::Ask(Search { ty, filters, annotations: Value::Map(Arc::new(annotations)) }))
}

fn too_early(name: &str, span: diag::Span) -> Diagnostic {
    codes::UNSUPPORTED_FEATURE
        .new(format!("the data source `{name}` depends on something that does not exist yet"))
        .label(span, "known only on deploy")
        .help("deploy what it reads first, or read the resource's own fields")
}

/// Settles a data source by what was found: the first candidate for which every filter holds.
fn settle(
    evaluation: &mut Evaluation,
    index: u32,
    search: &Search,
    fetched: Result<Fetched, ProviderError>,
    found: &mut Diagnostics,
) -> Slot {
    let documents = evaluation.documents.clone();
    let Some((unit, name, source)) = documents.data_source(index) else { return Slot::Failed };
    let Search { ty, filters, .. } = search;
    let fetched = match fetched {
        Ok(fetched) => fetched,
        Err(error) => {
            found.push(
                codes::PROVIDER_FAILED
                    .new(format!("the data source `{name}` cannot be read"))
                    .label(source.span, "")
                    .note(error.message),
            );
            return Slot::Failed;
        }
    };
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
                        crate::check::codes::FILTER_KIND_MISMATCH
                            .new(format!("`{operator}` cannot compare `{field}` with {}", wanted.kind_word()))
                            .label(filter.operator.span, "not for values of these kinds"),
                    );
                    return Slot::Failed;
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
                .label(source.span, format!("{} candidates were looked at", fetched.candidates.len())),
        );
        return Slot::Failed;
    };
    if matching.len() > 1 {
        found.push(
            codes::SEVERAL_MATCHES
                .new(format!("{} candidates match the data source `{name}`; the first is taken", matching.len()))
                .label(source.span, ""),
        );
    }
    let mut fields = Map::default();
    if source.export_all.is_some() {
        for (field, definition) in &ty.schema.fields {
            if let Some(value) = path_of(&first.fields, field) {
                fields.insert(field.clone(), mark_like(&value, None, Some(definition)));
            }
        }
    }
    for (exported, export) in &source.exports {
        let field = export.alias_for.as_ref().map_or(exported, |alias| &alias.item);
        if let Some(value) = path_of(&first.fields, field) {
            let (definition, sensitive) = definition_of(&ty.schema, field);
            let value = mark_like(&value, None, definition).tainted(sensitive);
            let value = expr::convert(&value, &export.ty.item, expr::Source::Literal).unwrap_or(value);
            fields.insert(exported.clone(), value);
        }
    }
    let fields = Value::Map(Arc::new(fields));
    let at = evaluation.answers.now;
    evaluation
        .answers
        .data_sources
        .insert(documents.unit(unit).named(name).into(), FrozenData { at, fields: fields.clone() });
    Slot::Value(fields)
}

/// The field at a path as [`path_of`] takes it, and whether anything above it is sensitive.
fn definition_of<'s>(schema: &'s Schema, path: &str) -> (Option<&'s Field>, bool) {
    if let Some(field) = schema.fields.get(path) {
        return (Some(field), false);
    }
    let mut names = path
        .split('.')
        .map(|step| step.split_once('[').map_or((step, 0), |(name, rest)| (name, rest.split('[').count())));
    let Some((name, mut lists)) = names.next() else { return (None, false) };
    let mut field = schema.fields.get(name);
    let mut sensitive = false;
    loop {
        for _ in 0..lists {
            sensitive |= field.is_some_and(|field| field.sensitive);
            field = item_of(field);
        }
        let Some((name, more)) = names.next() else { return (field, sensitive) };
        sensitive |= field
            .is_some_and(|field| field.sensitive || matches!(field.kind, Kind::Union(_)) && has_sensitive(Some(field)));
        field = entry_of(field, name);
        lists = more;
    }
}

/// The value at a path of names with dots and positions; a whole name with dots first. `[]` is `[0]`.
fn path_of(fields: &Value, path: &str) -> Option<Value> {
    if let Some(value) = fields.get(path) {
        return Some(value.clone()).filter(|value| !value.is_null());
    }
    let mut value = fields.clone();
    for step in path.split('.') {
        let (name, rest) = step.split_once('[').map_or((step, ""), |(name, rest)| (name, rest));
        value = value.get(name)?.clone();
        for index in rest.split('[').filter(|index| !index.is_empty()) {
            let index = index.trim_end_matches(']');
            let index: usize = if index.is_empty() { 0 } else { index.parse().ok()? };
            value = value.as_list()?.get(index)?.clone();
        }
    }
    Some(value).filter(|value| !value.is_null())
}
