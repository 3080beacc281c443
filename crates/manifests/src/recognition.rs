//! Whether a text or a folder is a document of this dialect (decisions/manifests#folders).

use dialect::{Document, FolderEntry, certainty};
use syntax::Tree;

use crate::values::text;

/// The ends of the names of files that can hold manifests.
const ENDINGS: [&str; 3] = [".json", ".yaml", ".yml"];

/// The file that makes a folder a chart of Helm.
const CHART: &str = "Chart.yaml";

/// The files that make a folder a kustomization.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Files that make a folder a project of another tool.
const FOREIGN: [&str; 5] = [
    "Main.json",
    "Main.yaml",
    "Pulumi.json",
    "Pulumi.yaml",
    "Pulumi.yml",
];

/// What has to be rendered before its objects are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rendered {
    /// A chart of Helm.
    Chart,
    /// A kustomization.
    Kustomization,
    /// A template of ytt.
    Ytt,
}

/// The certainty that a document is one of this dialect, from 0 to 100. A folder is recognised by the
/// names of its files alone, so a folder of other data has a low certainty, too.
pub(crate) fn recognise(document: &Document<'_>) -> u8 {
    /// Manifests.
    const BY_KEYS: u8 = 80;
    /// A folder that has files which can hold manifests.
    const POSSIBLE: u8 = 20;
    let Some(entries) = document.entries() else {
        return if document.trees().iter().any(is_manifest) {
            BY_KEYS
        } else if is_kustomization_name(document.name) {
            certainty::NAMED
        } else {
            0
        };
    };
    if entries.iter().any(|entry| is_file(entry, &FOREIGN)) {
        0
    } else if rendered_folder(entries).is_some() {
        certainty::REFUSED
    } else if entries
        .iter()
        .any(|entry| !entry.is_folder && can_hold_manifests(&entry.name))
    {
        POSSIBLE
    } else {
        0
    }
}

/// Whether a file of this name can hold manifests.
pub(crate) fn can_hold_manifests(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// What a folder with these entries has to be rendered from; `None` for a folder of manifests.
pub(crate) fn rendered_folder(entries: &[FolderEntry]) -> Option<Rendered> {
    let has = |names: &[&str]| entries.iter().any(|entry| is_file(entry, names));
    if has(&[CHART]) {
        Some(Rendered::Chart)
    } else if has(&KUSTOMIZATIONS) {
        Some(Rendered::Kustomization)
    } else {
        None
    }
}

/// Whether a text is a template of ytt: a line of it begins with code. A template inside of a manifest is
/// indented.
pub(crate) fn is_ytt_template(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("#@"))
}

/// Whether a file of this name is that of a kustomization.
pub(crate) fn is_kustomization_name(name: &str) -> bool {
    KUSTOMIZATIONS.contains(&name)
}

fn is_file(entry: &FolderEntry, names: &[&str]) -> bool {
    !entry.is_folder && names.contains(&entry.name.as_ref())
}

/// Whether a tree has `apiVersion` and `kind` as texts.
fn is_manifest(tree: &Tree) -> bool {
    let has_text = |key: &str| {
        let value = tree.root.as_ref().and_then(|root| root.get(key));
        value.and_then(text).is_some()
    };
    has_text("apiVersion") && has_text("kind")
}
