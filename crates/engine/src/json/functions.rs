//! Functions as machine output.

use dialect::Explained;
use expr::FunctionDef;
use serde_json::{Value as Json, json};

use crate::inspect::Functions;

/// A list of functions.
pub fn functions(functions: &Functions<'_>) -> Json {
    json!({"functions": each(functions)})
}

/// The functions with one name: an object if there is one function, otherwise a list.
pub fn functions_named(functions: &Functions<'_>) -> Json {
    let mut all = each(functions);
    if all.len() == 1 {
        all.remove(0)
    } else {
        json!({"functions": all})
    }
}

fn each(functions: &Functions<'_>) -> Vec<Json> {
    let own = functions
        .of_expressions
        .iter()
        .map(|one| of_expressions(one));
    own.chain(
        functions
            .of_dialects
            .iter()
            .map(|(dialect, one)| of_dialect(dialect, one)),
    )
    .collect()
}

fn of_expressions(function: &FunctionDef) -> Json {
    let examples: Vec<Json> = function
        .examples
        .iter()
        .map(|example| json!({"call": example.call, "gives": example.expected}))
        .collect();
    json!({"name": function.name, "signature": function.signature(), "docs": function.docs, "examples": examples})
}

fn of_dialect(dialect: &str, function: &Explained) -> Json {
    let example = |(call, gives): &(String, String)| match gives.as_str() {
        "" => json!({"call": call}),
        gives => json!({"call": call, "gives": gives}),
    };
    let examples: Vec<Json> = function.examples.iter().map(example).collect();
    let name = function.name;
    let docs = function.docs;
    let since = &function.since;
    json!({"name": name, "dialect": dialect, "docs": docs, "versions": since, "examples": examples})
}
