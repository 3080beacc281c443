//! Checks that there is no cycle between crates, nor between the files of a crate.
//!
//! A file depends on another file if it imports a name that the other file defines, or writes it as
//! a path; re-exports are followed. A re-export alone is no dependency, and tests are left out.
//!
//! The methods of one type in several files are checked separately: a file depends on another one
//! if it calls a method on `self` that the type has there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::rust_source::{self, Module, SourceFile};

/// The dependencies of each node, each with the line that causes it.
type Graph = BTreeMap<String, BTreeMap<String, usize>>;

const WHAT_TO_DO: &str = "move what both sides share into a file of its own, or pass it as an argument: `mod.rs` may \
                          import its children, these import shared types, and no arrow leads back";

#[test]
fn files_of_a_crate_import_each_other_in_one_direction() {
    let mut findings = Vec::new();
    for name in crate::folders_in("crates") {
        let folder = format!("crates/{name}/src/");
        let files: Vec<&SourceFile> = rust_source::all()
            .iter()
            .filter(|file| file.path.starts_with(&folder))
            .collect();
        for cycle in cycles(&graph(&folder, &files)) {
            findings.push(shown(&cycle));
        }
    }
    crate::none(&findings, WHAT_TO_DO);
}

#[test]
fn the_table_of_arrows_has_no_cycle() {
    let table = crate::arrows::table();
    let graph: Graph = table
        .into_iter()
        .map(|(name, row)| {
            (
                name,
                row.may_use.into_iter().map(|other| (other, 0)).collect(),
            )
        })
        .collect();
    let findings: Vec<String> = cycles(&graph).iter().map(shown).collect();
    crate::none(
        &findings,
        "the crates of ARCHITECTURE.md's table of arrows use each other in a cycle; take one out",
    );
}

/// The types whose methods still call each other in a cycle of files, each as file and type, with
/// the number of files. The list may only shrink: split a type into parts that own their fields,
/// and pass these as arguments.
const KNOWN_CYCLES_OF_METHODS: &[(&str, usize)] = &[
    ("crates/blueprint_dialect/src/lowering.rs Lowering", 5),
    ("crates/hot/src/lowering.rs Lowering", 5),
    ("crates/contract_tests/src/provider/mod.rs Run", 2),
    ("crates/evaluate/src/children/reader.rs DocumentReader", 2),
    ("crates/evaluate/src/resolve/mod.rs Evaluation", 4),
    ("crates/expr/src/evaluate/machine.rs Machine", 2),
    ("crates/stores/src/sqlite/reading.rs StateReader", 2),
    ("crates/understand/src/check/mod.rs Checker", 14),
    ("crates/yaql/src/model.rs Machine", 2),
];

#[test]
fn methods_of_a_type_call_each_other_in_one_direction_between_files() {
    let mut found: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for name in crate::folders_in("crates") {
        let folder = format!("crates/{name}/src/");
        let files: Vec<&SourceFile> = rust_source::all()
            .iter()
            .filter(|file| file.path.starts_with(&folder))
            .collect();
        for ((owner, home), graph) in graphs_of_methods(&folder, &files) {
            for cycle in cycles(&graph) {
                let (files, text) = found.entry(format!("{home} {owner}")).or_default();
                *files += cycle.len();
                let _ = write!(text, "\n    {}", shown(&cycle));
            }
        }
    }
    let known: BTreeMap<&str, usize> = KNOWN_CYCLES_OF_METHODS.iter().copied().collect();
    let mut findings = Vec::new();
    for (owner, (files, text)) in &found {
        match known.get(owner.as_str()) {
            Some(known) if known == files => {}
            Some(known) if known > files => {
                findings.push(format!("{owner}: lower its number from {known} to {files}"))
            }
            _ => findings.push(format!("{owner}: {files} files{text}")),
        }
    }
    let gone = known.keys().filter(|owner| !found.contains_key(**owner));
    findings.extend(gone.map(|owner| format!("{owner}: take it out of the list, it has no cycle")));
    crate::none(
        &findings,
        "move methods to the part whose fields they use; `KNOWN_CYCLES_OF_METHODS` may only shrink",
    );
}

/// Returns the dependencies between the files of each type's methods, by the type and the file that
/// defines it.
fn graphs_of_methods(folder: &str, files: &[&SourceFile]) -> BTreeMap<(String, String), Graph> {
    let modules = Modules::of(folder, files);
    let home = |file: &SourceFile, owner: &str| {
        let path = module_path(&file.path[folder.len()..])?;
        Some(modules.home(&path, owner).unwrap_or(&file.path).to_owned())
    };
    let mut defined: BTreeMap<(String, &(String, String)), Vec<&str>> = BTreeMap::new();
    for file in files {
        for method in &file.methods {
            if let Some(home) = home(file, &method.0) {
                defined.entry((home, method)).or_default().push(&file.path);
            }
        }
    }
    let mut graphs: BTreeMap<(String, String), Graph> = BTreeMap::new();
    for file in files {
        let others = file
            .self_calls
            .iter()
            .filter(|(method, _)| !file.methods.contains(*method));
        for (method, line) in others {
            let Some(home) = home(file, &method.0) else {
                continue;
            };
            for other in defined.get(&(home.clone(), method)).into_iter().flatten() {
                let graph = graphs.entry((method.0.clone(), home.clone())).or_default();
                graph
                    .entry(file.path.clone())
                    .or_default()
                    .entry((*other).to_owned())
                    .or_insert(*line);
            }
        }
    }
    graphs
}

/// Returns the dependencies between files.
fn graph(folder: &str, files: &[&SourceFile]) -> Graph {
    let modules = Modules::of(folder, files);
    let mut graph = Graph::new();
    for (path, (file, module)) in &modules.by_path {
        let imports = module
            .imports
            .iter()
            .filter(|import| !import.exported)
            .map(|one| (&one.path, one.line));
        let paths = module.paths.iter().map(|(path, line)| (path, *line));
        for (target, line) in imports.chain(paths) {
            if let Some(other) = modules
                .resolve(path, target, 0)
                .filter(|other| other != file)
            {
                graph
                    .entry((*file).to_owned())
                    .or_default()
                    .entry(other.to_owned())
                    .or_insert(line);
            }
        }
    }
    graph
}

/// Returns the module path of a file of `src/`; `None` for tests and for further programs.
fn module_path(path: &str) -> Option<Vec<String>> {
    let mut parts: Vec<String> = path
        .strip_suffix(".rs")?
        .split('/')
        .map(str::to_owned)
        .collect();
    if parts.last().is_some_and(|last| last == "mod") || parts == ["lib"] || parts == ["main"] {
        parts.pop();
    }
    let left_out = parts.iter().any(|part| part == "tests" || part == "bin");
    (!left_out).then_some(parts)
}

/// The modules of a crate by path, each with its file.
#[derive(Default)]
struct Modules<'a> {
    by_path: BTreeMap<Vec<String>, (&'a str, &'a Module)>,
}

impl<'a> Modules<'a> {
    fn of(folder: &str, files: &[&'a SourceFile]) -> Modules<'a> {
        let mut modules = Modules::default();
        for file in files {
            let Some(path) = module_path(&file.path[folder.len()..]) else {
                continue;
            };
            for module in &file.modules {
                let path: Vec<String> = path.iter().chain(&module.inline).cloned().collect();
                modules.by_path.insert(path, (&file.path, module));
            }
        }
        modules
    }

    /// Returns the file that defines the type of an `impl` block in a module.
    fn home(&self, from: &[String], name: &str) -> Option<&'a str> {
        let (file, module) = self.by_path.get(from)?;
        if module.defined.contains_key(name) {
            return Some(file);
        }
        if let Some(import) = module
            .imports
            .iter()
            .find(|import| import.name.as_deref() == Some(name))
        {
            return self.resolve(from, &import.path, 0);
        }
        let mut globs = module.imports.iter().filter(|import| import.name.is_none());
        let glob = globs.find(|import| self.names(from, &import.path, name))?;
        let path: Vec<String> = glob.path.iter().cloned().chain([name.to_owned()]).collect();
        self.resolve(from, &path, 0)
    }

    /// Returns the file that defines the item of a path in a module; `None` for an item of another
    /// crate.
    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> Option<&'a str> {
        let (mut at, mut rest) = self.base(from, path)?;
        while let Some((first, others)) = rest.split_first() {
            let child: Vec<String> = at.iter().chain([first]).cloned().collect();
            if !self.by_path.contains_key(&child) {
                break;
            }
            (at, rest) = (child, others);
        }
        let (file, module) = self.by_path.get(&at)?;
        let Some((first, others)) = rest.split_first() else {
            return Some(file);
        };
        if depth > 8 || module.defined.contains_key(first) {
            return Some(file);
        }
        let mut exported = module.imports.iter().filter(|import| import.exported);
        if let Some(import) = exported
            .clone()
            .find(|import| import.name.as_ref() == Some(first))
        {
            let path: Vec<String> = import.path.iter().chain(others).cloned().collect();
            return self.resolve(&at, &path, depth + 1);
        }
        let through =
            exported.find(|import| import.name.is_none() && self.names(&at, &import.path, first));
        let Some(import) = through else {
            return Some(file);
        };
        let path: Vec<String> = import.path.iter().chain(rest).cloned().collect();
        self.resolve(&at, &path, depth + 1)
    }

    /// Returns the module where a path begins, and the rest of the path; `None` for a path into
    /// another crate.
    fn base<'p>(&self, from: &[String], path: &'p [String]) -> Option<(Vec<String>, &'p [String])> {
        let (first, others) = path.split_first()?;
        match first.as_str() {
            "crate" => Some((Vec::new(), others)),
            "self" => Some((from.to_vec(), others)),
            "super" => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                Some((from[..from.len().checked_sub(ups)?].to_vec(), &path[ups..]))
            }
            _ => {
                let child: Vec<String> = from.iter().chain([first]).cloned().collect();
                self.by_path
                    .contains_key(&child)
                    .then(|| (from.to_vec(), path))
            }
        }
    }

    /// Whether the module of a glob import defines or re-exports a name.
    fn names(&self, from: &[String], glob: &[String], name: &str) -> bool {
        let Some((mut at, rest)) = self.base(from, glob) else {
            return false;
        };
        at.extend(rest.iter().cloned());
        self.by_path.get(&at).is_some_and(|(_, module)| {
            let exported = module
                .imports
                .iter()
                .any(|one| one.exported && one.name.as_deref() == Some(name));
            module.defined.contains_key(name) || exported
        })
    }
}

/// Returns the strongly connected components of a graph that have a cycle, with the arrows inside
/// them.
fn cycles(graph: &Graph) -> Vec<Graph> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = graph
        .keys()
        .map(|node| (node.as_str(), reach(graph, node)))
        .collect();
    let mut found: Vec<Graph> = Vec::new();
    for (node, leads_to) in reached
        .iter()
        .filter(|(node, leads_to)| leads_to.contains(*node))
    {
        if found.iter().any(|cycle| cycle.contains_key(*node)) {
            continue;
        }
        let members: BTreeSet<&str> = leads_to
            .iter()
            .copied()
            .filter(|other| reached.get(other).is_some_and(|back| back.contains(node)))
            .collect();
        let inside = |from: &str| {
            let arrows = graph[from]
                .iter()
                .filter(|(to, _)| members.contains(to.as_str()));
            arrows.map(|(to, line)| (to.clone(), *line)).collect()
        };
        found.push(
            members
                .iter()
                .map(|from| ((*from).to_owned(), inside(from)))
                .collect(),
        );
    }
    found
}

/// Returns every node that can be reached from a node.
fn reach<'a>(graph: &'a Graph, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        for next in graph.get(node).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    found
}

/// Formats a cycle with its arrows for the message.
fn shown(cycle: &Graph) -> String {
    let mut text = format!("a cycle of {}:", cycle.len());
    for (from, arrows) in cycle {
        for (to, line) in arrows {
            let _ = write!(text, "\n    {from}:{line} -> {to}");
        }
    }
    text
}

#[test]
fn a_cycle_through_a_re_export_is_found() {
    let file = |path: &str, text: &str| rust_source::parse(&format!("crates/a/src/{path}"), text);
    let files = [
        file("lib.rs", "mod one;\nmod two;\npub use two::Two;\n"),
        file(
            "one/mod.rs",
            "mod inner;\nuse crate::Two;\npub struct One;\n",
        ),
        file("one/inner.rs", "fn f() { super::super::one::g(); }\n"),
        file(
            "two.rs",
            "pub struct Two;\nfn f() { format!(\"{}\", crate::one::One) }\n",
        ),
    ];
    let files: Vec<&SourceFile> = files.iter().collect();
    let found = cycles(&graph("crates/a/src/", &files));
    let found: Vec<String> = found.iter().map(shown).collect();
    let arrows = "a cycle of 2:\n    crates/a/src/one/mod.rs:2 -> crates/a/src/two.rs\n    \
                  crates/a/src/two.rs:2 -> crates/a/src/one/mod.rs";
    assert_eq!(found, [arrows]);
}

#[test]
fn tests_and_re_exports_alone_make_no_cycle() {
    let file = |path: &str, text: &str| rust_source::parse(&format!("crates/a/src/{path}"), text);
    let files = [
        file(
            "lib.rs",
            "mod one;\npub use one::One;\n#[cfg(test)]\nmod tests { use crate::one::One; }\n",
        ),
        file("one.rs", "pub struct One;\nuse super::Missing;\n"),
    ];
    let files: Vec<&SourceFile> = files.iter().collect();
    assert!(cycles(&graph("crates/a/src/", &files)).is_empty());
}

#[test]
fn methods_of_a_type_in_two_files_make_a_cycle() {
    let file = |path: &str, text: &str| rust_source::parse(&format!("crates/a/src/{path}"), text);
    let files = [
        file(
            "one.rs",
            "struct One;\nimpl One { fn f(&self) { self.g(); self.own(); } fn own(&self) {} }\n",
        ),
        file(
            "two.rs",
            "use crate::one::One;\nimpl One {\n    fn g(&self) { assert!(self.f()); }\n}\nstruct Two;\nimpl Two { fn f(&self) { self.g() } }\n",
        ),
        file(
            "three.rs",
            "use crate::one::*;\nimpl One { fn h(&self) { self.f(); } }\nimpl Trait for One { fn i(&self) { self.h() } }\n",
        ),
    ];
    let files: Vec<&SourceFile> = files.iter().collect();
    let graphs = graphs_of_methods("crates/a/src/", &files);
    let found: Vec<(&str, Vec<String>)> = graphs
        .iter()
        .map(|((owner, _), graph)| (&owner[..], cycles(graph).iter().map(shown).collect()))
        .collect();
    let arrows = "a cycle of 2:\n    crates/a/src/one.rs:2 -> crates/a/src/two.rs\n    \
                  crates/a/src/two.rs:3 -> crates/a/src/one.rs";
    assert_eq!(found, [("One", vec![arrows.to_owned()])]);
}
