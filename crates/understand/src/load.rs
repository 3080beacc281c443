//! Loads a document: parses its text, finds its dialect, and lowers it to a blueprint.

use std::sync::Arc;

use blueprint::{Blueprint, Name, Packages};
use diag::{Diagnostics, FileId, Files};
use dialect::{Dialects, LoadContext, Wanted};
use expr::FunctionTable;

use crate::codes;

/// A loaded document.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The file of the document.
    pub file: FileId,
    /// The path as the caller gave it.
    pub path: Name,
    /// The blueprint, as far as it could be lowered; `None` if no dialect recognises the document.
    pub blueprint: Option<Arc<Blueprint>>,
    /// The data that the dialect needs before the blueprint is final. While this is not empty, the
    /// blueprint is provisional and nothing is reported: answer the requests and load again.
    pub wanted: Vec<Wanted>,
}

/// Loads a text that has been added to `files`. Never fails; errors go to `found`.
///
/// `packages` are the hosted packages that its types may belong to. `context` is the load context,
/// with the answers to the requests of its dialect.
pub fn load(
    files: &Files,
    file: FileId,
    dialects: &Dialects,
    functions: &FunctionTable,
    packages: &Packages,
    context: &LoadContext,
    found: &mut Diagnostics,
) -> Loaded {
    let Some(source) = files.get(file) else {
        return Loaded {
            file,
            path: "".into(),
            blueprint: None,
            wanted: Vec::new(),
        };
    };
    let mut parsed = dialects.parse(file, source.name(), source.text(), context);
    let mut broken = std::mem::take(&mut parsed.found);
    let is_broken = broken.has_errors();
    let document = parsed.document();
    let mut wanted = Vec::new();
    let blueprint = match parsed.dialect {
        Some(dialect) => {
            wanted = dialect.required_data(&document);
            wanted.retain(|one| context.answers.get(one).is_none());
            let mut lowered = dialect.lower(&document, functions, packages);
            if is_broken {
                // Elements that seem to be missing may be in the part that could not be parsed.
                lowered.diagnostics.retain(|one| {
                    !CONSEQUENTIAL_CODES
                        .iter()
                        .any(|code| code.name == one.code.name)
                });
            }
            broken.append(lowered.diagnostics);
            Some(Arc::new(lowered.blueprint))
        }
        None => {
            // Syntax errors are already reported.
            if !is_broken {
                let unknown = codes::UNKNOWN_DIALECT
                    .new(format!("no dialect recognises `{}`", parsed.name))
                    .label(
                        diag::Span::new(file, 0, 0),
                        "neither a blueprint nor another document",
                    );
                let root = document.tree().root.as_ref();
                broken.push(match root.and_then(almost) {
                    Some(help) => unknown.help(help),
                    None => unknown
                        .help("begin a blueprint with `version: 2023-04-20`, a template with `heat_template_version: 2021-04-16`")
                        .help("pass an environment file with `-e`, together with a template"),
                });
            }
            None
        }
    };
    if wanted.is_empty() {
        broken.sort();
        found.append(broken);
    }
    Loaded {
        file,
        path: source.name().into(),
        blueprint,
        wanted,
    }
}

/// Advice for a document that lacks what its dialect is recognised by, or is a document of a tool
/// whose documents nothing here reads.
fn almost(root: &syntax::Node) -> Option<&'static str> {
    let has = |key: &str| root.entry(key).is_some();
    match () {
        () if has("apiVersion") && !has("kind") => {
            Some("add `kind`, which a manifest of Kubernetes needs")
        }
        () if has("kind") && !has("apiVersion") => {
            Some("add `apiVersion`, which a manifest of Kubernetes needs")
        }
        () if has("runtime") => {
            Some("only programs with `runtime: yaml` can be read: write the program in Pulumi YAML")
        }
        () if has("AWSTemplateFormatVersion") => Some(
            "templates of CloudFormation cannot be read: write a blueprint with types of `aws/`, which `cyan types aws` lists",
        ),
        () => None,
    }
}

/// Diagnostics that are dropped if a text has syntax errors, because they may follow from them.
const CONSEQUENTIAL_CODES: &[&diag::Code] = &[
    &dialect::codes::NOTHING_DECLARED,
    &dialect::codes::MISSING_VERSION,
    &dialect::codes::MISSING_FIELD,
];
