//! Data sources of a simulated provider: the rows of the catalogue, or one candidate that matches
//! the filters. Functions of the namespace `test`.

use std::sync::Arc;

use blueprint::{FieldPath, Map, Name, Value};
use expr::{FunctionDef, Purity};
use provider::{
    Arguments, Candidate, Catalog, DataSourceType, ErrorKind, Fetched, Fit, ProviderError,
};

use super::matching_candidate;
use super::plausible::ValueOwner;
use super::read_parts;
use super::values::{self, ValueFacts};

/// The candidates for filters, in the order of the rows.
pub(super) fn fetch(
    data_source_type: &DataSourceType,
    filters: &[(Name, Name, Value)],
    fit: &Fit,
    parts: &[FieldPath],
) -> Fetched {
    if data_source_type.rows.is_empty() {
        return Fetched {
            candidates: vec![invented(data_source_type, filters, fit, parts)],
            applied: (0..filters.len()).collect(),
            ..Fetched::default()
        };
    }
    let applied: Vec<usize> = (0..filters.len())
        .filter(|at| {
            let (field, operator, _) = &filters[*at];
            operator.as_ref() == "="
                && data_source_type
                    .filters
                    .get(field)
                    .is_some_and(|filter| filter.push_down.contains(operator))
        })
        .collect();
    let candidates = data_source_type
        .rows
        .iter()
        .filter(|row| {
            applied.iter().all(|at| {
                let (field, _, search) = &filters[*at];
                at_path(row, field).is_some_and(|value| *value == search.revealed())
            })
        })
        .map(|row| candidate(data_source_type, row, filters))
        .collect();
    Fetched {
        candidates,
        applied,
        ..Fetched::default()
    }
}

fn candidate(
    data_source_type: &DataSourceType,
    row: &Value,
    filters: &[(Name, Name, Value)],
) -> Candidate {
    let fields = data_source_type.schema.fields.keys().filter_map(|name| {
        let value = row.get(name).filter(|value| !value.is_null())?;
        Some((name.clone(), value.clone()))
    });
    let paths = data_source_type
        .filters
        .keys()
        .chain(filters.iter().map(|(field, ..)| field));
    let filter_fields: Map = paths
        .map(|path| {
            (
                path.clone(),
                at_path(row, path).cloned().unwrap_or_default(),
            )
        })
        .collect();
    Candidate {
        filter_fields: Value::Map(Arc::new(filter_fields)),
        fields: Value::Map(Arc::new(fields.collect())),
    }
}

/// The value at a path with dots, `[n]`, and `[]` for the first item. A name with dots takes
/// precedence over a path.
fn at_path<'a>(row: &'a Value, path: &str) -> Option<&'a Value> {
    if let Some(value) = row.get(path) {
        return Some(value);
    }
    let mut value = row;
    for step in path.split('.') {
        let (name, mut rest) = step.split_at(step.find('[').unwrap_or(step.len()));
        if !name.is_empty() {
            value = value.get(name)?;
        }
        while let Some(after) = rest.strip_prefix('[') {
            let (index, more) = after.split_once(']')?;
            let index = if index.is_empty() {
                0
            } else {
                index.parse().ok()?
            };
            value = value.as_list()?.get(index)?;
            rest = more;
        }
    }
    Some(value)
}

/// A candidate of a type without rows. It matches every filter; equal filters give equal fields.
fn invented(
    data_source_type: &DataSourceType,
    filters: &[(Name, Name, Value)],
    fit: &Fit,
    parts: &[FieldPath],
) -> Candidate {
    let mut text = data_source_type.name.to_string();
    for (field, operator, search) in filters {
        text.push_str(&format!("\n{field} {operator} {}", search.revealed()));
    }
    let hash = values::hash(&text);
    let name = filters
        .iter()
        .find(|(path, operator, _)| path.as_ref() == "name" && operator.as_ref() == "=");
    let name = name.and_then(|(.., search)| search.unmarked().as_text());
    let null = Value::Null;
    let facts = ValueFacts {
        hash: &hash,
        id: &hash,
        updates: 1,
        type_name: &data_source_type.name,
        sent: &null,
        name,
        fit,
        parts,
    };
    let fields = data_source_type.schema.fields.iter();
    let mut fields: Map = fields
        .map(|(name, field)| (name.clone(), values::computed(name, name, field, &facts)))
        .collect();
    read_parts::add(
        &mut fields,
        &data_source_type.schema,
        &null,
        parts,
        &facts.subject(),
    );
    for (path, operator, search) in filters {
        matching_candidate::satisfy_filter(
            &mut fields,
            &data_source_type.schema,
            path,
            operator,
            &search.revealed(),
            fit,
        );
    }
    Candidate {
        filter_fields: Value::Map(Arc::default()),
        fields: Value::Map(Arc::new(fields)),
    }
}

/// The result of a function: by its rule in the namespace `test`, otherwise a plausible value of
/// the declared type. Equal arguments give equal results.
pub(super) fn call(
    catalog: &Catalog,
    function: &str,
    arguments: &Arguments,
    fit: &Fit,
) -> Result<Value, ProviderError> {
    let refused = |message: String| ProviderError::new(ErrorKind::Document, message);
    let beyond = || refused("the result is beyond 64 bits".into());
    let revealed = arguments.revealed();
    let by_position = match arguments {
        Arguments::Positional(_) => revealed.as_list().unwrap_or_default(),
        Arguments::Named(_) => &[],
    };
    match (function, by_position) {
        ("test_double", [Value::Int(number)]) => number
            .checked_add(*number)
            .map(Value::Int)
            .ok_or_else(beyond),
        ("test_tag", [Value::Text(item), Value::Int(index)]) => {
            Ok(Value::text(format!("{item}#{index}")))
        }
        ("test_weigh", [Value::Int(sum), Value::Int(item), Value::Int(index)]) => item
            .checked_mul(*index)
            .and_then(|product| sum.checked_add(product))
            .map(Value::Int)
            .ok_or_else(beyond),
        ("test_settings", [any]) => Ok(any.clone()),
        ("test_double" | "test_tag" | "test_weigh" | "test_settings", _) => Err(refused(format!(
            "`{function}` is not called with arguments such as these"
        ))),
        _ => match self::function(catalog, function) {
            Some(known) => {
                let hash = values::hash(&format!("{function}{revealed}"));
                let subject = ValueOwner {
                    type_name: &function.into(),
                    hash: &hash,
                    name: None,
                    fit,
                };
                Ok(subject.of_type(function, &known.returns.ty()))
            }
            None => Err(refused(format!(
                "there is no function `{function}` in the simulated cloud"
            ))),
        },
    }
}

/// The function that the provider of a catalogue executes under its own name.
pub(super) fn function(catalog: &Catalog, own_name: &str) -> Option<Arc<FunctionDef>> {
    let known = |function: &&FunctionDef| match &function.purity {
        Purity::Provider { name, .. } => name.as_ref() == own_name,
        _ => function.name.as_ref() == own_name,
    };
    match catalog.functions.iter().find(known) {
        Some(function) => Some(Arc::new(function.clone())),
        None => catalog.source.as_ref()?.function(own_name),
    }
}
