//! Answers that evaluations need from the world: files, drawn values, data sources.

use std::sync::Arc;

use blueprint::{Map, Name, Value};
use diag::Diagnostics;
use expr::{Ask, AskFailure};
use provider::{Catalogs, TypeRef};
use state::Remembered;

use super::filters;
use crate::answers::{FrozenBytes, FrozenData};
use crate::codes;
use crate::resolve::{Evaluation, Halt, Need, Slot, site_of};
use crate::world::World;

/// Answers needs, and whatever they need in turn, so that the evaluations that had them can be tried again. What the
/// world refuses is kept as an answer too, so that the diagnostic stands at the call.
pub(super) async fn answer(
    evaluation: &mut Evaluation,
    needs: Vec<Need>,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    for need in needs {
        match need {
            Need::Ask(owner, ask) => ask_world(evaluation, &owner, ask, world).await,
            Need::Fetch(index) => fetch(evaluation, index, catalogs, world, found).await,
        }
    }
}

async fn ask_world(evaluation: &mut Evaluation, owner: &str, ask: Ask, world: &dyn World) {
    let unreadable = |what: &str, why: String| AskFailure {
        code: &expr::codes::SOURCE_UNREADABLE,
        message: format!("`{what}` cannot be read"),
        notes: vec![why],
    };
    match ask {
        Ask::File { path, .. } => {
            let folder = evaluation.folder.clone();
            match world.file(&folder, &path).await {
                Ok(bytes) => {
                    evaluation.answers.bytes.insert(path.clone(), FrozenBytes::new(&folder, &path, bytes));
                }
                Err(error) => {
                    let failure = unreadable(&path, error.message);
                    evaluation.refused.insert(path, failure);
                }
            }
        }
        Ask::Http { url } => match world.http(&url).await {
            Ok(bytes) => {
                evaluation.answers.bytes.insert(url.clone(), FrozenBytes::new("", &url, bytes));
            }
            Err(error) => {
                let failure = unreadable(&url, error.message);
                evaluation.refused.insert(url, failure);
            }
        },
        Ask::Remembered { path, nth, fingerprint, function, arguments } => {
            let site = site_of(owner, &path, nth);
            match expr::remembered_value(&function, &arguments, evaluation.answers.now, world.random()) {
                Some(value) => {
                    evaluation.answers.remembered.insert(site, Remembered { fingerprint, value });
                }
                None => {
                    let failure = AskFailure {
                        code: &expr::codes::ARGUMENT_FORMAT,
                        message: format!("`{function}` cannot be drawn like this"),
                        notes: Vec::new(),
                    };
                    evaluation.refused.insert(site, failure);
                }
            }
        }
        // Always answered from what is at hand.
        Ask::WorkingDirectory => {}
        Ask::Provider { namespace, function, arguments } => {
            let key: Name = crate::resolve::call_key(&namespace, &function, &arguments).into();
            match world.call(&namespace, &function, &arguments).await {
                Ok(value) => {
                    evaluation.answers.calls.insert(key, value);
                }
                Err(error) => {
                    let failure = AskFailure {
                        code: &codes::PROVIDER_FAILED,
                        message: format!("`{function}` failed"),
                        notes: vec![error.message],
                    };
                    evaluation.refused.insert(key, failure);
                }
            }
        }
    }
}

/// Reads a data source once and settles it. Its search values may need answers themselves.
async fn fetch(evaluation: &mut Evaluation, index: u32, catalogs: &Catalogs, world: &dyn World, found: &mut Diagnostics) {
    // Data sources may read data sources: what is waited for lies on a stack, so that no chain is too deep.
    let mut stack = vec![index];
    while let Some(index) = stack.last().copied() {
        if !matches!(evaluation.data[index as usize], Slot::Open) {
            stack.pop();
            continue;
        }
        match try_fetch(evaluation, index, catalogs, world, found).await {
            Ok(slot) => {
                evaluation.data[index as usize] = slot;
                stack.pop();
            }
            Err(Need::Fetch(other)) if !stack.contains(&other) => stack.push(other),
            Err(Need::Fetch(_)) => evaluation.data[index as usize] = Slot::Failed,
            Err(Need::Ask(owner, ask)) => ask_world(evaluation, &owner, ask, world).await,
        }
    }
}

async fn try_fetch(
    evaluation: &mut Evaluation,
    index: u32,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
) -> Result<Slot, Need> {
    let blueprint = evaluation.blueprint().clone();
    let Some((name, source)) = blueprint.data_sources.get_index(index as usize) else { return Ok(Slot::Failed) };
    if let Some(frozen) = evaluation.answers.data_sources.get(name) {
        return Ok(Slot::Value(frozen.fields.clone()));
    }
    let TypeRef::Known(ty) = catalogs.data_source_type(&source.type_name.item) else { return Ok(Slot::Failed) };
    let owner = format!("datasources.{name}");
    let mut asked: Vec<(Name, Name, Value)> = Vec::new();
    for filter in &source.filters {
        let value = match evaluation.present(&owner, None, &filter.search, found) {
            Ok(value) => value,
            Err(Halt::Need(need)) => return Err(need),
            Err(_) => return Ok(Slot::Failed),
        };
        if value.has_unknown() {
            found.push(
                codes::UNSUPPORTED_FEATURE
                    .new(format!("the data source `{name}` depends on something that does not exist yet"))
                    .label(filter.search.span, "known only on deploy")
                    .help("deploy what it reads first, or read the resource's own fields"),
            );
            return Ok(Slot::Failed);
        }
        asked.push((filter.field.item.clone(), filter.operator.item.clone(), value));
    }
    let mut annotations = Map::default();
    for (key, expr) in &source.metadata.annotations {
        match evaluation.present(&owner, None, expr, found) {
            Ok(value) => {
                annotations.insert(key.item.clone(), value);
            }
            Err(Halt::Need(need)) => return Err(need),
            Err(_) => return Ok(Slot::Failed),
        }
    }
    let fetched = match world.fetch(&ty.name, &asked, &Value::Map(Arc::new(annotations))).await {
        Ok(fetched) => fetched,
        Err(error) => {
            found.push(
                codes::PROVIDER_FAILED.new(format!("the data source `{name}` cannot be read")).label(source.span, "").note(error.message),
            );
            return Ok(Slot::Failed);
        }
    };
    let mut matching = Vec::new();
    for candidate in &fetched.candidates {
        let mut all = true;
        for (at, (field, operator, search)) in asked.iter().enumerate() {
            let seen = path_of(&candidate.filter_fields, field);
            if seen.is_none() && fetched.applied.contains(&at) {
                continue;
            }
            match filters::holds(operator, seen.as_ref(), search) {
                Some(holds) => all &= holds,
                None => {
                    let filter = &source.filters[at];
                    found.push(
                        crate::check::codes::FILTER_KIND_MISMATCH
                            .new(format!("`{operator}` cannot compare `{field}` with {}", search.kind_word()))
                            .label(filter.operator.span, "not for values of these kinds"),
                    );
                    return Ok(Slot::Failed);
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
        return Ok(Slot::Failed);
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
                fields.insert(field.clone(), value.tainted(definition.sensitive));
            }
        }
    }
    for (exported, export) in &source.exports {
        let field = export.alias_for.as_ref().map_or(exported, |alias| &alias.item);
        if let Some(value) = path_of(&first.fields, field) {
            let sensitive = ty.schema.fields.get(field).is_some_and(|field| field.sensitive);
            let value = expr::convert(&value, &export.ty.item, expr::Source::Literal).unwrap_or(value);
            fields.insert(exported.clone(), value.tainted(sensitive));
        }
    }
    let fields = Value::Map(Arc::new(fields));
    let at = evaluation.answers.now;
    evaluation.answers.data_sources.insert(name.clone(), FrozenData { at, fields: fields.clone() });
    Ok(Slot::Value(fields))
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
