//! The lock files of packages below a program: `sdks/NAME.yaml` and the like, which state the version of
//! a package, and what it is made of (decisions/pulumi#lock-files).
//!
//! Not here: the packages that a program names (`packages`).

use blueprint::{IndexMap, Name};
use diag::{Diagnostics, Spanned};
use dialect::codes::{MISSING_FIELD, WRONG_SHAPE};
use dialect::{Answer, Document, Wanted};
use syntax::{Format, Node};

use crate::codes::INVALID_VERSION;
use crate::plugin_version::is_version;
use crate::read::{is_null, text, value_span};

/// The folders whose files may lock packages. The listings are pinned in saved plans, so the folder of
/// the program itself is none of them.
const FOLDERS: [&str; 2] = ["sdks", "sdk/yaml"];

/// How deep folders below these are searched: tools give each package a folder of its own.
const DEPTH: usize = 1;

/// The key by which a lock file is told from other files.
const MARK: &str = "packageDeclarationVersion";

/// What a lock file says about a package.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockedPackage {
    /// The version.
    pub(crate) version: Option<Spanned<Name>>,
    /// The place to get the plugin from.
    pub(crate) url: Option<Name>,
    /// Why the package cannot be used, as a phrase.
    pub(crate) unsupported: Option<Name>,
}

/// The locked packages by their names in tokens.
pub(crate) type LockedPackages = IndexMap<Name, LockedPackage>;

/// The folders and files that must be read to know the locked packages, as far as they are known to
/// be there. Those that were read are left out.
pub(crate) fn wanted(document: &Document<'_>) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    files(document, &mut |request| wanted.push(request));
    wanted
}

/// Reads the lock files in the order of their paths. A later one takes precedence. Mistakes in them
/// are reported.
pub(crate) fn read(document: &Document<'_>, found: &mut Diagnostics) -> LockedPackages {
    let mut locked = LockedPackages::default();
    for path in files(document, &mut |_| {}) {
        if let Some(Answer::Text(file, content)) = document.context.answers.get(&file_of(&path)) {
            let (tree, mistakes) = syntax::parse(*file, content, Format::Yaml);
            let Some(root) = tree.root.filter(|root| root.get(MARK).is_some()) else {
                continue;
            };
            found.append(mistakes);
            if let Some((name, package)) = package(&root, &path, found) {
                locked.insert(name, package);
            }
        }
    }
    locked
}

/// Reports a version of a lock file that is none.
pub(crate) fn check_version(package: &LockedPackage, found: &mut Diagnostics) {
    if let Some(version) = package
        .version
        .as_ref()
        .filter(|one| !is_version(&one.item))
    {
        found.push(
            INVALID_VERSION
                .new(format!("`{}` is no version", version.item))
                .label(version.span, "one to three numbers are needed")
                .help("write a version such as `1.2.3`"),
        );
    }
}

fn file_of(path: &str) -> Wanted {
    Wanted::Text(path.into())
}

/// The paths of the files that may be lock files. What has not been read is given to `unread`.
fn files(document: &Document<'_>, unread: &mut dyn FnMut(Wanted)) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders: Vec<(String, usize)> = FOLDERS
        .iter()
        .rev()
        .map(|folder| ((*folder).to_owned(), 0))
        .collect();
    while let Some((folder, depth)) = folders.pop() {
        let wanted = Wanted::Folder(folder.as_str().into());
        let entries = match document.context.answers.get(&wanted) {
            Some(Answer::Folder(entries)) => entries,
            Some(_) => continue,
            None => {
                unread(wanted);
                continue;
            }
        };
        for entry in entries.iter() {
            let path = format!("{folder}/{}", entry.name);
            match entry.is_folder {
                true if depth < DEPTH => folders.push((path, depth + 1)),
                false if path.ends_with(".yaml") => {
                    if document.context.answers.get(&file_of(&path)).is_none() {
                        unread(file_of(&path));
                    }
                    files.push(path);
                }
                _ => {}
            }
        }
    }
    files
}

/// The package that a lock file is about, by its name in tokens.
fn package(root: &Node, path: &str, found: &mut Diagnostics) -> Option<(Name, LockedPackage)> {
    let part = |key: &str| root.get(key).filter(|node| !is_null(node));
    let Some(name) = part("name").and_then(text) else {
        found.push(
            MISSING_FIELD
                .new("the lock file of a package has no `name`")
                .label(value_span(root), "`name` is missing")
                .help("add the package again, or remove the file"),
        );
        return None;
    };
    let (parameters, extension) = (part("parameterization"), part("extension"));
    if let (Some(parameters), Some(extension)) = (parameters, extension) {
        found.push(
            WRONG_SHAPE
                .new("a package has parameters or an extension, not both")
                .label(value_span(extension), "an extension")
                .label(value_span(parameters), "parameters"),
        );
        return None;
    }
    // The token of a parameterized package has the name of its parameters.
    let named = parameters.and_then(|parameters| text(parameters.get("name")?));
    let what = match (parameters, extension) {
        (Some(_), _) => Some("with parameters"),
        (None, Some(_)) => Some("with an extension"),
        (None, None) => None,
    };
    let version = part("version").and_then(|node| {
        let version = node.text()?;
        Some(Spanned::new(Name::from(version), value_span(node)))
    });
    let package = LockedPackage {
        version,
        url: part("downloadUrl").and_then(text).map(Name::from),
        unsupported: what.map(|what| {
            format!("`{path}` makes it of `{name}` {what}, which is not supported yet").into()
        }),
    };
    Some((named.unwrap_or(name).into(), package))
}
