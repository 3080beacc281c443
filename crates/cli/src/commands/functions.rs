//! `cyan functions`.

use dialect::Explained;
use engine::json;
use expr::{FunctionDef, Purity};

use crate::arguments::{Functions, Global};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::terminal::Paint;
use crate::view::report::Report;
use crate::view::table::table;
use crate::view::wrap;

pub(crate) fn run(
    arguments: Functions,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let library = open::library(global, arguments.all, report)?;
    let paint = report.terminal.out;
    let Some(name) = &arguments.name else {
        let all = library.all_functions();
        report.set_result(json::functions(&all));
        if !report.is_json() {
            let row = |name: &str, docs: &str| vec![name.to_owned(), summary(docs)];
            let rows: Vec<_> = all
                .of_expressions
                .iter()
                .map(|one| row(&one.name, &one.docs))
                .collect();
            let mut text = table(&["FUNCTION", "DOES"], &rows, paint);
            for dialect in library.dialects.iter() {
                let own = all
                    .of_dialects
                    .iter()
                    .filter(|(of, _)| *of == dialect.name());
                let rows: Vec<_> = own.map(|(_, one)| row(one.name, one.docs)).collect();
                if !rows.is_empty() {
                    let head = format!("FUNCTION OF {}", dialect.name().to_uppercase());
                    text.push_str(&format!("\n{}", table(&[&head, "DOES"], &rows, paint)));
                }
            }
            report.terminal.write_result(&text);
        }
        return Ok(Exit::Done);
    };
    let found = library.functions_named(name)?;
    report.set_result(json::functions_named(&found));
    if !report.is_json() {
        let own = found
            .of_expressions
            .iter()
            .map(|function| described(function, paint));
        let dialect_functions = found
            .of_dialects
            .iter()
            .map(|(dialect, one)| explained(dialect, one, paint));
        report.terminal.write_result(
            &own.chain(dialect_functions)
                .collect::<Vec<String>>()
                .join("\n"),
        );
    }
    Ok(Exit::Done)
}

/// The first sentence of the documentation of a function.
fn summary(docs: &str) -> String {
    docs.split(". ").next().unwrap_or_default().to_owned()
}

fn described(function: &FunctionDef, paint: Paint) -> String {
    let docs = wrap::hanging(&function.docs, 0, wrap::columns());
    let mut text = format!("{}\n{docs}\n", paint.bold(function.signature()));
    if let Some(words) = purity(&function.purity) {
        text.push_str(&format!("{words}\n"));
    }
    let examples = function
        .examples
        .iter()
        .map(|example| (example.call.to_string(), example.expected.to_string()));
    text.push_str(&examples_text(examples, paint));
    text
}

fn explained(dialect: &str, function: &Explained, paint: Paint) -> String {
    let docs = wrap::hanging(function.docs, 0, wrap::columns());
    let head = format!("{}  (dialect {dialect})", paint.bold(function.name));
    let examples = examples_text(function.examples.iter().cloned(), paint);
    format!("{head}\n{docs}\n{}\n{examples}", function.since)
}

/// Prints example calls with their results.
fn examples_text(examples: impl Iterator<Item = (String, String)>, paint: Paint) -> String {
    let mut text = String::new();
    for (call, gives) in examples {
        if text.is_empty() {
            text.push_str(&format!("\n{}\n", paint.bold("examples")));
        }
        text.push_str(&format!("  {call}\n"));
        match gives.strip_prefix('!') {
            Some(code) => text.push_str(&format!("      is an error: {}\n", code.trim())),
            None if gives.is_empty() => {}
            None => text.push_str(&format!("      gives {gives}\n")),
        }
    }
    text
}

fn purity(purity: &Purity) -> Option<String> {
    match purity {
        Purity::Pure => None,
        Purity::Memoised => {
            Some("Drawn once for the place where it is called, and remembered.".to_owned())
        }
        Purity::World => Some("Read when a document is staged, and kept with the plan.".to_owned()),
        Purity::Link => Some("Known once the link is made.".to_owned()),
        Purity::Provider { namespace, .. } => Some(format!("Of the provider `{namespace}`.")),
    }
}
