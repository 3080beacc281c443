//! The project file beside a program, as `Pulumi.yaml` beside `Main.yaml`: the name of the project, and
//! what else it says about the program (decisions/pulumi#project-files).
//!
//! Not here: a project file that is the program itself, which is read as one document.

use std::sync::Arc;

use blueprint::Name;
use diag::{Diagnostics, FileId};
use dialect::{Companion, Document, LoadedCompanions};
use syntax::{Content, Format, MapEntry, Node, Tree};

use crate::lock_files::{self, is_lock_file};
use crate::read::{is_null, text};
use crate::shape::{FILE_NAMES, PROJECT_FILES};
use crate::stack_file::{self, ProjectParts, StackValues};

/// Keys of a project file that describe a program, which is in a file of its own.
const PROGRAM_KEYS: [&str; 4] = ["resources", "variables", "outputs", "configuration"];

/// The key of the folder of the program.
const MAIN: &str = "main";

/// The folder of the program, if a project has it in another one than its file. Without `.`.
pub(crate) fn program_folder(project: &Tree) -> Option<String> {
    let written = text(project.root.as_ref()?.get(MAIN)?)?;
    let parts: Vec<&str> = written
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Where the program of a project may stand, if it is in another folder.
pub(crate) fn programs_of(name: &str, text: &str) -> Vec<Name> {
    // Most programs are in the file of their project, which need not be parsed for this.
    if !is_project_name(name) || !text.contains(MAIN) {
        return Vec::new();
    }
    let (tree, _) = syntax::parse(FileId::new(0), text, Format::of_name(name));
    let Some(folder) = program_folder(&tree) else {
        return Vec::new();
    };
    let places = FILE_NAMES
        .iter()
        .map(|name| format!("{folder}/{name}").into());
    places.collect()
}

fn is_project_name(name: &str) -> bool {
    PROJECT_FILES.contains(&name)
}

/// The files that belong to a program of this name.
pub(crate) fn project_files(document: &str) -> &'static [&'static str] {
    match document {
        "Main.yaml" | "Main.json" => PROJECT_FILES,
        _ => &[],
    }
}

/// The project file among the companions of a root.
fn find<'c>(root: &Document<'_>, beside: &[Companion<'c>]) -> Option<&'c Tree> {
    let project = beside.iter().find(|companion| is_project(root, companion));
    project.map(|companion| companion.tree)
}

/// Whether a companion is the project file of a root: it stands beside it, or says that its program is
/// in another folder.
fn is_project(root: &Document<'_>, companion: &Companion<'_>) -> bool {
    let file = companion.name.rsplit(['/', '\\']).next();
    let Some(file) = file.filter(|file| is_project_name(file)) else {
        return false;
    };
    let is_beside = companion.folder.is_empty() && project_files(root.name).contains(&file);
    is_beside || program_folder(companion.tree).is_some()
}

/// Reads the files beside a program: that of its project, and those of a stack.
pub(crate) fn read_beside(
    root: &Document<'_>,
    beside: &[Companion<'_>],
    passphrase: fn() -> Result<Option<String>, String>,
) -> LoadedCompanions {
    let stack = || {
        let all = beside.iter();
        all.filter(|companion| !is_project(root, companion) && !is_lock_file(companion))
    };
    let mut found = Diagnostics::new();
    let locks = beside.iter().filter(|companion| is_lock_file(companion));
    let locks = lock_files::read(locks, &mut found);
    let Some(tree) = find(root, beside) else {
        let parts = ProjectParts {
            locks,
            found,
            project: None,
        };
        return stack_file::read(root, stack(), parts, passphrase);
    };
    let tree = Arc::new(tree.clone());
    let parts = ProjectParts {
        locks,
        found,
        project: Some(tree.clone()),
    };
    merged(root, &tree, |whole| {
        stack_file::read(whole, stack(), parts, passphrase)
    })
}

/// Does something with a document as if the project's file were a part of it.
pub(crate) fn with_project<T>(
    document: &Document<'_>,
    then: impl for<'d> FnOnce(&'d Document<'d>) -> T,
) -> T {
    let context = StackValues::of(document.context);
    match context.project {
        Some(project) => merged(document, &project, then),
        None => then(document),
    }
}

/// Does something with a document as if this project file were a part of it.
fn merged<T>(
    document: &Document<'_>,
    project: &Arc<Tree>,
    then: impl for<'d> FnOnce(&'d Document<'d>) -> T,
) -> T {
    let mut tree = document.tree().clone();
    let (Some(Content::Map(own)), Some(Content::Map(more))) = (
        tree.root.as_mut().map(|root| &mut root.content),
        project.root.as_ref().map(|root| &root.content),
    ) else {
        return then(document);
    };
    for entry in more {
        add(own, entry);
    }
    let trees = [tree];
    then(&Document::new(
        document.file,
        document.name,
        document.text,
        &trees,
        document.context,
    ))
}

/// Adds an entry of the project's file. What the program says itself takes precedence, except for
/// declarations of the configuration, which the project makes for all its parts.
fn add(own: &mut Vec<MapEntry>, entry: &MapEntry) {
    let Some(key) = entry.key.text() else { return };
    let is = |other: &str| key.eq_ignore_ascii_case(other);
    let is_own = PROGRAM_KEYS.iter().any(|program| is(program)) || is(MAIN);
    if is_own || is_null(&entry.value) {
        return;
    }
    let named = |entry: &&mut MapEntry| {
        let written = entry.key.text();
        written.is_some_and(|written| written.eq_ignore_ascii_case(key))
    };
    let known = own.iter_mut().find(named);
    match known {
        None => own.push(entry.clone()),
        Some(known) if is("config") => merge_config(&mut known.value, &entry.value),
        Some(_) => {}
    }
}

/// Adds the declarations of a project to those of its program.
fn merge_config(own: &mut Node, project: &Node) {
    let (Content::Map(own), Some(project)) = (&mut own.content, project.as_map()) else {
        return;
    };
    let declares = |entry: &MapEntry| {
        let mut named = project.iter().filter_map(|one| text(&one.key));
        named.any(|name| Some(name) == text(&entry.key))
    };
    own.retain(|entry| !declares(entry));
    own.splice(0..0, project.iter().cloned());
}
