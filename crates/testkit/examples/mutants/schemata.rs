//! Many changes in one text: each changed function contains its original body, and its body with
//! each change.
//!
//! ````text
//! fn f(..) -> T { body }   becomes   fn f(..) -> T { match crate::mutation::on(9) {
//!                                        17 => { body with change 17 }
//!                                        _ => { body }
//!                                    } }
//! ````
//!
//! This module works on text alone. A function that cannot be written like this (a `const fn`, some
//! that return `impl Trait`) causes an error of the compiler ([`crate::building`]), and its changes
//! are then removed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Error;
use std::ops::Range;
use std::path::Path;

use crate::sample::{Mutant, Region};

/// The source of the switch, which is written into each changed crate.
const SWITCH: &str = include_str!("switch.rs");

/// A function with its changes, by their numbers in the sample.
struct Function {
    file: String,
    region: Region,
    /// The body, with its braces.
    body: Range<usize>,
    /// The body with each change.
    changed: BTreeMap<usize, String>,
}

/// A range of lines of a written file, both ends included.
struct Lines {
    file: String,
    first: usize,
    last: usize,
    /// The change whose body is in these lines; `None` for the whole function.
    mutant: Option<usize>,
    function: usize,
}

/// The functions and changes that are built together.
pub(crate) struct Schemata {
    /// The original texts of the changed files and of the `lib.rs` of each changed crate.
    sources: BTreeMap<String, String>,
    functions: Vec<Function>,
    places: Vec<Lines>,
}

impl Schemata {
    /// The schemata of these changes. A change is left out if its function is not found in the
    /// text.
    pub(crate) fn of(root: &Path, mutants: &[(usize, Mutant)]) -> Result<Schemata, Error> {
        let mut sources = BTreeMap::new();
        let mut functions: Vec<Function> = Vec::new();
        let mut sorted: Vec<&(usize, Mutant)> = mutants.iter().collect();
        // An outer function comes before an inner one, and takes over the changes of the inner one.
        sorted.sort_by_key(|(_, mutant)| {
            let region = mutant.function.unwrap_or(mutant.span);
            (&mutant.file, region.start, std::cmp::Reverse(region.end))
        });
        for (number, mutant) in sorted {
            if !sources.contains_key(&mutant.file) {
                sources.insert(
                    mutant.file.clone(),
                    std::fs::read_to_string(root.join(&mutant.file))?,
                );
            }
            let source = &sources[&mutant.file];
            let Some(region) = mutant.function else {
                continue;
            };
            let within = |function: &&mut Function| {
                function.file == mutant.file
                    && function.region.start <= region.start
                    && region.end <= function.region.end
            };
            let function = match functions.last_mut().filter(within) {
                Some(function) => function,
                None => {
                    let Some(body) = body(source, region, &mutant.function_name) else {
                        continue;
                    };
                    let file = mutant.file.clone();
                    functions.push(Function {
                        file,
                        region,
                        body,
                        changed: BTreeMap::new(),
                    });
                    let Some(function) = functions.last_mut() else {
                        continue;
                    };
                    function
                }
            };
            let within = |span: &Range<usize>| {
                function.body.start < span.start && span.end < function.body.end
            };
            if mutant.span.bytes(source).is_some_and(|span| within(&span))
                && let Some(changed) = mutant.applied(source)
            {
                // The end of the body moves by the difference in length of the texts.
                let end = changed.len() - (source.len() - function.body.end);
                function
                    .changed
                    .insert(*number, changed[function.body.start..end].to_owned());
            }
        }
        for folder in folders(sources.keys()) {
            let library = format!("{folder}/src/lib.rs");
            let text = std::fs::read_to_string(root.join(&library))?;
            sources.insert(library, text);
        }
        Ok(Schemata {
            sources,
            functions,
            places: Vec::new(),
        })
    }

    /// The numbers of the changes that are built.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = usize> {
        self.functions
            .iter()
            .flat_map(|function| function.changed.keys().copied())
    }

    /// The function of a change that is built.
    pub(crate) fn function_of(&self, number: usize) -> Option<usize> {
        self.functions
            .iter()
            .position(|function| function.changed.contains_key(&number))
    }

    /// The original texts of the files, by path.
    pub(crate) fn sources(&self) -> &BTreeMap<String, String> {
        &self.sources
    }

    /// The names of the crates that are changed.
    pub(crate) fn crates(&self) -> BTreeSet<String> {
        folders(self.sources.keys())
            .into_iter()
            .map(|folder| folder.replacen("crates/", "", 1))
            .collect()
    }

    /// The texts of all files that differ from the tree's, with the switch. Records the lines of
    /// each change in `places`.
    pub(crate) fn texts(&mut self) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        self.places.clear();
        for (file, source) in &self.sources {
            let (mut text, mut line, mut at) = (String::new(), 1, 0);
            let mut write = |text: &mut String, part: &str| {
                text.push_str(part);
                line += part.matches('\n').count();
                line
            };
            for (id, function) in self.functions.iter().enumerate() {
                if &function.file != file || function.changed.is_empty() {
                    continue;
                }
                let first = write(&mut text, &source[at..function.body.start]);
                write(
                    &mut text,
                    &format!("{{ match crate::mutation::on({id}) {{\n"),
                );
                for (number, changed) in &function.changed {
                    let first = write(&mut text, &format!("{number} => "));
                    let last = write(&mut text, changed);
                    self.places.push(Lines {
                        file: file.clone(),
                        first,
                        last,
                        mutant: Some(*number),
                        function: id,
                    });
                    write(&mut text, "\n");
                }
                write(
                    &mut text,
                    &format!("_ => {}\n", &source[function.body.clone()]),
                );
                let last = write(&mut text, "} }");
                self.places.push(Lines {
                    file: file.clone(),
                    first,
                    last,
                    mutant: None,
                    function: id,
                });
                at = function.body.end;
            }
            write(&mut text, &source[at..]);
            texts.insert(file.clone(), text);
        }
        for folder in folders(self.sources.keys()) {
            texts
                .entry(format!("{folder}/src/lib.rs"))
                .or_default()
                .push_str("\nmod mutation;\n");
            texts.insert(format!("{folder}/src/mutation.rs"), SWITCH.to_owned());
        }
        texts
    }

    /// Removes the change on this line, or all changes of the function on this line. Returns
    /// whether a change or function is on the line.
    pub(crate) fn take_out(&mut self, file: &str, line: usize) -> bool {
        let here =
            |place: &&Lines| place.file == file && (place.first..=place.last).contains(&line);
        // The lines of a change come before those of the whole function.
        let Some(place) = self.places.iter().find(here) else {
            return false;
        };
        if let Some(function) = self.functions.get_mut(place.function) {
            match place.mutant {
                Some(mutant) => drop(function.changed.remove(&mutant)),
                None => function.changed.clear(),
            }
        }
        true
    }
}

/// The folders of the crates that these files are in.
fn folders<'a>(files: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    files
        .filter_map(|file| file.split("/src/").next())
        .map(str::to_owned)
        .collect()
}

/// The body of a function, from brace to brace.
fn body(source: &str, region: Region, name: &str) -> Option<Range<usize>> {
    let range = region.bytes(source)?;
    let name = format!("fn {}", name.rsplit("::").next()?);
    let mut at = range.start;
    for line in source[range.clone()].split_inclusive('\n') {
        let is_code = !line.trim_start().starts_with("//");
        if is_code && let Some(found) = line.find(&name) {
            let open = source[at + found..range.end].find('{')?;
            return Some(at + found + open..range.end);
        }
        at += line.len();
    }
    None
}
