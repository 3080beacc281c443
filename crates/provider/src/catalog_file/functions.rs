//! Functions of a provider: parameters, result, examples.

use blueprint::Value;
use expr::{Example, FunctionDef, Parameter, Purity, Returns};

use super::fields;
use super::reader::{CatalogError, JsonObject, JsonPlace};
use crate::Catalog;

/// The keys of a function.
const FUNCTION: &[&str] = &[
    "parameters",
    "rest",
    "returns",
    "fields",
    "named",
    "takesIndex",
    "docs",
    "about",
    "rule",
    "examples",
    "simulated",
];

/// Reads all functions into the catalogue.
pub(super) fn functions(
    object: &JsonObject<'_>,
    catalog: &mut Catalog,
) -> Result<(), CatalogError> {
    let all = object.place.key("functions");
    let namespace = catalog.key();
    for (name, value) in object.entries("functions")? {
        let place = all.key(name);
        let object = JsonObject::new(value, &place, FUNCTION)?;
        let place = object.place.key("parameters");
        let mut parameters: Vec<Parameter> = Vec::new();
        for (at, item) in object.items("parameters")?.iter().enumerate() {
            let place = place.index(at);
            let parameter = parameter(item, &place)?;
            if parameters.last().is_some_and(|last| last.optional) && !parameter.optional {
                return Err(place.error("a parameter after an optional one must be optional"));
            }
            parameters.push(parameter);
        }
        let rest = object
            .get("rest")
            .map(|item| parameter(item, &object.place.key("rest")))
            .transpose()?;
        let docs = match object.docs()? {
            docs if docs.is_empty() => object.text("rule")?.unwrap_or(docs),
            docs => docs,
        };
        let returns = if object.has("fields") {
            Returns::Fields(fields::schema(&object, "fields")?)
        } else {
            Returns::Type(fields::type_at(&object, "returns")?)
        };
        let rehearsed = rehearsed(&object, &returns)?;
        catalog.functions.push(FunctionDef {
            name: name.clone(),
            min_arguments: parameters
                .iter()
                .filter(|parameter| !parameter.optional)
                .count(),
            parameters,
            rest,
            returns,
            returned_function: None,
            takes_index: object.flag("takesIndex")?,
            named: object.flag("named")?,
            none_propagates: true,
            purity: Purity::Provider {
                namespace: namespace.clone(),
                name: name.clone(),
            },
            not_in_specification: false,
            docs,
            examples: examples(&object)?,
            native: None,
            rehearsed,
        });
    }
    Ok(())
}

/// Reads `simulated`: the result where no provider is asked.
fn rehearsed(object: &JsonObject<'_>, returns: &Returns) -> Result<Option<Value>, CatalogError> {
    let Some(value) = object.get("simulated") else {
        return Ok(None);
    };
    let ty = returns.ty();
    match expr::convert(value, &ty, expr::ValueOrigin::Literal) {
        Ok(value) => Ok(Some(value)),
        Err(_) => Err(object.error("simulated", format!("must be {ty}"))),
    }
}

/// Reads examples: pairs of a call and its result, which is JSON or `!` and a diagnostic code.
fn examples(object: &JsonObject<'_>) -> Result<Vec<Example>, CatalogError> {
    let place = object.place.key("examples");
    let mut examples = Vec::new();
    for (at, item) in object.items("examples")?.iter().enumerate() {
        match item
            .as_list()
            .map(|pair| pair.iter().map(Value::as_text).collect::<Vec<_>>())
            .as_deref()
        {
            Some([Some(call), Some(gives)]) => {
                examples.push(Example {
                    call: (*call).into(),
                    expected: (*gives).into(),
                });
            }
            _ => {
                return Err(place
                    .index(at)
                    .error("must be a list of two texts: a call and what it gives"));
            }
        }
    }
    Ok(examples)
}

fn parameter(value: &Value, place: &JsonPlace<'_>) -> Result<Parameter, CatalogError> {
    let object = JsonObject::new(value, place, &["name", "type", "optional", "docs"])?;
    Ok(Parameter {
        name: object.need_text("name")?,
        ty: fields::type_at(&object, "type")?,
        optional: object.flag("optional")?,
        callback: None,
        absent_as_none: false,
    })
}
