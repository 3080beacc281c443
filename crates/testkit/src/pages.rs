//! The runner of specification pages and of the pages of diagnostic codes: Markdown whose documents
//! run.
//!
//! A fenced block `yaml blueprint`, `json blueprint` or `jsonc blueprint` is a document, and so
//! is `yaml hot`, a template, `yaml pulumi`, a program, `yaml manifests` and `yaml cartographer`. It is
//! checked, and with
//! the further word `stage` staged too, each in a new harness. The comments of the document name the expected
//! diagnostics; any other diagnostic is a failure. With the further word `local`, the provider
//! `local` and the functions of `std` are available:
//!
//! ```text
//! port: "80"        # error: type-mismatch                 at this line, where the first label starts
//! a: *b             # error: unsupported-yaml, note: x     several at one line
//! # anywhere: missing-variable                             at any line
//! # input: region=eu                                       an input as text, for the check and the stage
//! # environment: env.yaml                                  an environment of Heat
//! ```
//!
//! A block `yaml file=NAME` is a file that later documents of the page may include, until another
//! block has its name. Its expected diagnostics belong to each document that includes it.
//!
//! Not here: the prose around the blocks; blocks of other kinds.

use std::fmt;
use std::sync::Arc;

use blueprint::Name;
use diag::{Diagnostic, Diagnostics, FileId, Files};
use engine::{Given, Options};

use crate::document_sources::InMemorySource;
use crate::harness::{Harness, heat_environment};
use crate::runtime::in_runtime;

/// The types of Kubernetes that manifests on pages may have.
const MANIFEST_TYPES: &str = r#"{"format": 1, "namespace": ["kubernetes"],
  "package": {"family": "kubernetes", "version": "1"},
  "resourceTypes": {"kubernetes/core/ConfigMap": {"docs": "Data for programs.", "open": true, "fields": {}}}}"#;

/// A document of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageBlock {
    /// The line of the page at which the block starts, from 1.
    pub line: usize,
    /// The name of the document: `page.yaml`, `page.json` or `page.jsonc`.
    pub name: &'static str,
    /// Whether the document is a template of Heat, for which Heat's types are available.
    pub hot: bool,
    /// Whether the document is a stream of manifests, for which some types of Kubernetes are available.
    pub manifests: bool,
    /// Whether the document is staged, too.
    pub stage: bool,
    /// Whether the provider `local` and the functions of `std` are available.
    pub local: bool,
    /// The text of the document.
    pub text: String,
    /// The files that the document may include: name and text.
    pub included_files: Vec<(String, String)>,
}

/// An expected or a reported diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The line of the block, from 1; `None` for any line.
    pub line: Option<u32>,
    /// `error`, `warning` or `note`; empty for any.
    pub severity: String,
    /// The diagnostic code.
    pub code: String,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {} {}", self.severity, self.code),
            None => write!(f, "anywhere: {}", self.code),
        }
    }
}

/// The documents of a page, in order.
pub fn blocks(page: &str) -> Vec<PageBlock> {
    let mut blocks = Vec::new();
    let mut open: Option<(Option<PageBlock>, String)> = None;
    let mut included_files: Vec<(String, String)> = Vec::new();
    let mut file: Option<(String, String)> = None;
    for (number, line) in (1..).zip(page.lines()) {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &mut open {
            None if ticks.len() >= 3 => {
                let words: Vec<&str> = line[ticks.len()..].split_whitespace().collect();
                // A program of Pulumi YAML is recognised by its name.
                let program = words.get(1) == Some(&"pulumi");
                let name = match words.first() {
                    Some(&"yaml") if program => Some("Pulumi.yaml"),
                    Some(&"yaml") => Some("page.yaml"),
                    Some(&"json") => Some("page.json"),
                    Some(&"jsonc") => Some("page.jsonc"),
                    _ => None,
                };
                let hot = words.get(1) == Some(&"hot");
                let manifests = matches!(words.get(1), Some(&"manifests" | &"cartographer"));
                let is_native = words.get(1) == Some(&"blueprint");
                let block = name
                    .filter(|_| hot || program || manifests || is_native)
                    .map(|name| PageBlock {
                        line: number + 1,
                        name,
                        hot,
                        manifests,
                        stage: words.get(2) == Some(&"stage"),
                        local: words.get(2) == Some(&"local"),
                        text: String::new(),
                        included_files: included_files.clone(),
                    });
                file = words
                    .get(1)
                    .and_then(|word| word.strip_prefix("file="))
                    .map(|name| (name.to_owned(), String::new()));
                open = Some((block, ticks));
            }
            None => {}
            Some((block, fence)) if line.trim_end() == fence => {
                blocks.extend(block.take());
                if let Some((name, text)) = file.take() {
                    included_files.retain(|(other, _)| *other != name);
                    included_files.push((name, text));
                }
                open = None;
            }
            Some((Some(block), _)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            Some((None, _)) => {
                if let Some((_, text)) = &mut file {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
    }
    blocks
}

impl PageBlock {
    /// The expected diagnostics in the comments of the document, in order.
    pub fn marks(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        for (number, line) in (1..).zip(self.text.lines()) {
            if let Some(codes) = self.directive(line, "anywhere") {
                let mark = |code: &str| Mark {
                    line: None,
                    severity: String::new(),
                    code: code.trim().to_owned(),
                };
                marks.extend(codes.split(',').map(mark));
                continue;
            }
            let Some((_, comment)) = line.rsplit_once(self.opener()) else {
                continue;
            };
            let mut severity = "";
            for part in comment.split(',') {
                let code = match part.split_once(": ") {
                    Some((word, code)) => {
                        severity = word.trim();
                        code.trim()
                    }
                    None => part.trim(),
                };
                if !["error", "warning", "note"].contains(&severity) {
                    break;
                }
                marks.push(Mark {
                    line: Some(number),
                    severity: severity.to_owned(),
                    code: code.to_owned(),
                });
            }
        }
        marks.sort();
        marks
    }

    /// The inputs in the comments of the document, as text.
    pub fn given(&self) -> Given {
        let given = self
            .text
            .lines()
            .filter_map(|line| self.directive(line, "input")?.split_once('='));
        let text = given
            .map(|(name, value)| (Name::from(name.trim()), Name::from(value.trim())))
            .collect();
        Given {
            text,
            ..Given::default()
        }
    }

    fn opener(&self) -> &'static str {
        if self.name.ends_with(".yaml") {
            "# "
        } else {
            "// "
        }
    }

    /// What a comment of the document says after a word and a colon.
    pub fn directive<'a>(&self, line: &'a str, word: &str) -> Option<&'a str> {
        line.trim_start()
            .strip_prefix(self.opener())?
            .strip_prefix(word)?
            .strip_prefix(": ")
    }

    /// Checks or stages the document. Returns its files, of which the first one is the document, and
    /// its diagnostics.
    ///
    /// # Errors
    ///
    /// A runtime that cannot be built.
    pub fn diagnostics(&self) -> Result<(Files, Diagnostics), String> {
        in_runtime(async {
            let real: Vec<Arc<dyn provider::Provider>> = match self.hot {
                true => vec![Arc::new(openstack::heat::provider())],
                false if self.local => vec![
                    Arc::new(providers::local::provider()),
                    Arc::new(providers::std::provider()),
                ],
                false => vec![
                    Arc::new(providers::cyan::provider()),
                    Arc::new(pulumi_host::built_in::built_in()),
                ],
            };
            let simulated = match self.manifests {
                true => vec![Arc::new(
                    provider::read_catalog(MANIFEST_TYPES).expect("the catalogue is valid"),
                )],
                false => Vec::new(),
            };
            let mut harness = Harness::with(std::path::PathBuf::from("/nowhere"), simulated, real);
            let texts = self
                .included_files
                .iter()
                .cloned()
                .chain([(self.name.to_owned(), self.text.clone())]);
            if let Some(environment) = self
                .text
                .lines()
                .find_map(|line| self.directive(line, "environment"))
            {
                let name = environment.trim();
                let text = self
                    .included_files
                    .iter()
                    .find(|(file, _)| file == name)
                    .map_or("", |(_, text)| text.as_str());
                harness.context = heat_environment(self.name, &self.text, name, text);
            }
            harness.memory_source = Some(InMemorySource::new(
                texts.map(|(name, text)| (format!("/nowhere/{name}"), text)),
            ));
            if self.stage {
                let stage = harness
                    .stage(self.name, &self.text, self.given(), Options::default())
                    .await;
                (stage.files, stage.diagnostics)
            } else {
                let given = self.given();
                let mut read = harness.read_all(self.name, &self.text, &given, false).await;
                if let Some(checked) = &read.checked {
                    engine::validate_inputs(checked, &given, false, &mut read.diagnostics);
                }
                (read.files, read.diagnostics)
            }
        })
    }

    /// Checks or stages the document. `Err` with the differences from the expected diagnostics.
    pub fn run(&self) -> Result<(), String> {
        let (files, diagnostics) = self.diagnostics()?;
        let mut found: Vec<(Mark, &Diagnostic)> = diagnostics
            .iter()
            .map(|it| (placed(it, &files), it))
            .collect();
        let mut missing = Vec::new();
        // Marks with a line are compared first. Marks for any line match the remaining diagnostics.
        let mut marks: Vec<(Option<FileId>, Mark)> =
            self.marks().into_iter().map(|mark| (None, mark)).collect();
        for (name, text) in &self.included_files {
            let Some((id, _)) = files.iter().find(|(_, file)| file.name() == name) else {
                continue;
            };
            let block = PageBlock {
                name: "page.yaml",
                text: text.clone(),
                included_files: Vec::new(),
                ..*self
            };
            marks.extend(block.marks().into_iter().map(|mark| (Some(id), mark)));
        }
        marks.sort_by_key(|(_, mark)| mark.line.is_none());
        let root = files.iter().next().map(|(id, _)| id);
        for (file, mark) in marks {
            let is_in_file =
                |it: &Diagnostic| !it.span().is_some() || Some(it.span().file) == file.or(root);
            let fits = |it: &(Mark, &Diagnostic)| match mark.line {
                Some(_) => it.0 == mark && is_in_file(it.1),
                None => it.0.code == mark.code,
            };
            match found.iter().position(fits) {
                Some(at) => {
                    found.remove(at);
                }
                None => missing.push(format!("  did not come: {mark}")),
            }
        }
        missing.extend(
            found
                .iter()
                .map(|(mark, it)| format!("  not marked: {mark} ({})", it.message)),
        );
        if missing.is_empty() {
            Ok(())
        } else {
            Err(format!("{}\n{}", missing.join("\n"), self.text))
        }
    }
}

/// A reported diagnostic in the form of an expected one.
fn placed(diagnostic: &Diagnostic, files: &Files) -> Mark {
    let span = diagnostic.span();
    let line = files
        .get(span.file)
        .filter(|_| span.is_some())
        .map(|file| file.position(span.start).line);
    Mark {
        line,
        severity: diagnostic.severity.word().to_owned(),
        code: diagnostic.code.name.to_owned(),
    }
}
