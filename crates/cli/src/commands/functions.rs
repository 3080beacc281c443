//! `cyan functions`.

use expr::{FunctionDef, Purity};
use serde_json::{Value as Json, json};

use crate::arguments::{Functions, Global};
use crate::catalogs;
use crate::exit::{CommandError, Exit};
use crate::registry::SIMULATED;
use crate::view::report::Report;
use crate::view::table::table;
use crate::view::wrap;

pub(crate) fn run(arguments: Functions, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let registry = catalogs::offer_here(global, report)?.registry(|namespace| namespace != SIMULATED || arguments.all);
    let Some(name) = &arguments.name else {
        let list: Vec<Json> = registry.functions.iter().map(to_json).collect();
        report.set_result(json!({"functions": list}));
        if !report.is_json() {
            let rows: Vec<Vec<String>> = registry
                .functions
                .iter()
                .map(|function| {
                    vec![function.name.to_string(), function.docs.split(". ").next().unwrap_or_default().to_owned()]
                })
                .collect();
            report.terminal.data(&table(&["FUNCTION", "DOES"], &rows, report.terminal.out));
        }
        return Ok(Exit::Done);
    };
    let Some(function) = registry.functions.get(name) else {
        return Err(CommandError::Usage {
            message: format!("there is no function `{name}`"),
            help: diag::nearest(name, registry.functions.names())
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some("`cyan functions` lists them all".to_owned())),
        });
    };
    report.set_result(to_json(function));
    if !report.is_json() {
        let paint = report.terminal.out;
        let docs = wrap::hanging(&function.docs, 0, wrap::columns());
        let mut text = format!("{}\n{docs}\n", paint.bold(function.signature()));
        if let Some(words) = purity(&function.purity) {
            text.push_str(&format!("{words}\n"));
        }
        if !function.examples.is_empty() {
            text.push_str(&format!("\n{}\n", paint.bold("examples")));
            for example in &function.examples {
                let gives = match example.gives.strip_prefix('!') {
                    Some(code) => format!("is an error: {}", code.trim()),
                    None => format!("gives {}", example.gives),
                };
                text.push_str(&format!("  {}\n      {gives}\n", example.call));
            }
        }
        report.terminal.data(&text);
    }
    Ok(Exit::Done)
}

fn purity(purity: &Purity) -> Option<String> {
    match purity {
        Purity::Pure => None,
        Purity::Remembered => Some("Drawn once for the place where it is called, and remembered.".to_owned()),
        Purity::World => Some("Read when a document is staged, and kept with the plan.".to_owned()),
        Purity::Link => Some("Known once the link is made.".to_owned()),
        Purity::Provider(namespace) => Some(format!("Of the provider `{namespace}`.")),
    }
}

fn to_json(function: &FunctionDef) -> Json {
    let examples: Vec<Json> =
        function.examples.iter().map(|example| json!({"call": example.call, "gives": example.gives})).collect();
    json!({"name": function.name, "signature": function.signature(), "docs": function.docs, "examples": examples})
}
