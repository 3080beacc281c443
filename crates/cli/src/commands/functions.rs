//! `cyan functions`.

use dialects::{Dialects, Explained};
use expr::{FunctionDef, Purity};
use serde_json::{Value as Json, json};

use crate::arguments::{Functions, Global};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::terminal::Paint;
use crate::view::report::Report;
use crate::view::table::table;
use crate::view::wrap;

/// The functions that dialects have of their own, each with its dialect.
fn of_dialects(all: &Dialects) -> Vec<(&'static str, Explained)> {
    all.iter().flat_map(|dialect| dialect.functions().into_iter().map(|one| (dialect.name(), one))).collect()
}

pub(crate) fn run(arguments: Functions, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let library = open::library(global, arguments.all, report)?;
    let others = of_dialects(&library.dialects);
    let paint = report.terminal.out;
    let Some(name) = &arguments.name else {
        let own = library.functions.iter().map(to_json);
        let list: Vec<Json> = own.chain(others.iter().map(|(dialect, one)| explained_json(dialect, one))).collect();
        report.set_result(json!({"functions": list}));
        if !report.is_json() {
            let row = |name: &str, docs: &str| vec![name.to_owned(), summary(docs)];
            let rows: Vec<_> = library.functions.iter().map(|one| row(&one.name, &one.docs)).collect();
            let mut text = table(&["FUNCTION", "DOES"], &rows, paint);
            for dialect in library.dialects.iter() {
                let own = others.iter().filter(|(of, _)| *of == dialect.name());
                let rows: Vec<_> = own.map(|(_, one)| row(one.name, one.docs)).collect();
                if !rows.is_empty() {
                    let head = format!("FUNCTION OF {}", dialect.name().to_uppercase());
                    text.push_str(&format!("\n{}", table(&[&head, "DOES"], &rows, paint)));
                }
            }
            report.terminal.data(&text);
        }
        return Ok(Exit::Done);
    };
    let own = library.functions.get(name);
    let theirs: Vec<&(&str, Explained)> = others.iter().filter(|(_, one)| one.name == name).collect();
    if own.is_none() && theirs.is_empty() {
        let names = library.functions.names().chain(others.iter().map(|(_, one)| one.name));
        return Err(CommandError::Usage {
            message: format!("there is no function `{name}`"),
            help: diag::nearest(name, names)
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some("`cyan functions` lists them all".to_owned())),
        });
    }
    let theirs_json = theirs.iter().map(|(dialect, one)| explained_json(dialect, one));
    let mut all: Vec<Json> = own.map(to_json).into_iter().chain(theirs_json).collect();
    report.set_result(if all.len() == 1 { all.remove(0) } else { json!({"functions": all}) });
    if !report.is_json() {
        let mut texts: Vec<String> = own.map(|function| described(function, paint)).into_iter().collect();
        texts.extend(theirs.iter().map(|(dialect, one)| explained(dialect, one, paint)));
        report.terminal.data(&texts.join("\n"));
    }
    Ok(Exit::Done)
}

/// What a function does, in its first sentence.
fn summary(docs: &str) -> String {
    docs.split(". ").next().unwrap_or_default().to_owned()
}

fn described(function: &FunctionDef, paint: Paint) -> String {
    let docs = wrap::hanging(&function.docs, 0, wrap::columns());
    let mut text = format!("{}\n{docs}\n", paint.bold(function.signature()));
    if let Some(words) = purity(&function.purity) {
        text.push_str(&format!("{words}\n"));
    }
    let examples = function.examples.iter().map(|example| (example.call.to_string(), example.expected.to_string()));
    text.push_str(&examples_text(examples, paint));
    text
}

fn explained(dialect: &str, function: &Explained, paint: Paint) -> String {
    let docs = wrap::hanging(function.docs, 0, wrap::columns());
    let head = format!("{}  (dialect {dialect})", paint.bold(function.name));
    let examples = examples_text(function.examples.iter().cloned(), paint);
    format!("{head}\n{docs}\n{}\n{examples}", function.since)
}

/// Calls, each with what it gives.
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
        Purity::Remembered => Some("Drawn once for the place where it is called, and remembered.".to_owned()),
        Purity::World => Some("Read when a document is staged, and kept with the plan.".to_owned()),
        Purity::Link => Some("Known once the link is made.".to_owned()),
        Purity::Provider { namespace, .. } => Some(format!("Of the provider `{namespace}`.")),
    }
}

fn to_json(function: &FunctionDef) -> Json {
    let examples: Vec<Json> =
        function.examples.iter().map(|example| json!({"call": example.call, "gives": example.expected})).collect();
    json!({"name": function.name, "signature": function.signature(), "docs": function.docs, "examples": examples})
}

fn explained_json(dialect: &str, function: &Explained) -> Json {
    let example = |(call, gives): &(String, String)| match gives.as_str() {
        "" => json!({"call": call}),
        gives => json!({"call": call, "gives": gives}),
    };
    let examples: Vec<Json> = function.examples.iter().map(example).collect();
    let (name, docs, since) = (function.name, function.docs, &function.since);
    json!({"name": name, "dialect": dialect, "docs": docs, "versions": since, "examples": examples})
}
