//! Lowers a document as a whole: all its objects, and their names.

use blueprint::{Blueprint, IndexMap, Name, Resource};
use diag::{Diagnostics, Span};
use dialect::codes::{NAME_COLLISION, NOTHING_DECLARED};
use dialect::{Document, Lowered};
use syntax::{Format, Tree};

use crate::folder::{self, FolderFile};
use crate::objects::{DeclaredObject, DeclaredObjects, needs_rendering};
use crate::recognition::{Rendered, is_kustomization_name, is_ytt_template, rendered_folder};
use crate::shape::NAME;

/// Lowers a stream or a folder. Returns its objects as resources, and all mistakes.
pub(crate) fn lower(document: &Document<'_>) -> Lowered {
    let (declared, span) = declared(document);
    let DeclaredObjects { objects, mut found } = declared;
    let resources = named(objects, &mut found);
    found.sort();
    Lowered {
        blueprint: Blueprint {
            dialect: NAME,
            span: Some(span),
            resources,
            ..Blueprint::default()
        },
        diagnostics: found,
    }
}

/// The objects of a stream or a folder with the mistakes in them, and the place of the document.
pub(crate) fn declared(document: &Document<'_>) -> (DeclaredObjects, Span) {
    let whole = Span::new(document.file, 0, 0);
    let mut declared = DeclaredObjects::default();
    let mut span = whole;
    if let Some(rendered) = rendered_folder(document.entries().unwrap_or_default()) {
        let mistake = needs_rendering(rendered, whole, "this folder");
        declared.found.push(mistake);
    } else if is_kustomization_name(document.name) && document.entries().is_none() {
        let mistake = needs_rendering(Rendered::Kustomization, whole, "this file");
        declared.found.push(mistake);
    } else if document.entries().is_none() && is_ytt_template(document.text) {
        declared
            .found
            .push(needs_rendering(Rendered::Ytt, whole, "this file"));
    } else {
        span = first_key(document.trees()).unwrap_or(span);
        declared.trees(document.trees());
        let files = folder::read(document);
        declared.found.append(files.found);
        declared.files(&files.files);
        if declared.objects.is_empty() && !declared.found.has_errors() {
            declared.found.push(
                NOTHING_DECLARED
                    .new("there is no object")
                    .label(whole, "without a manifest"),
            );
        }
    }
    (declared, span)
}

impl DeclaredObjects {
    /// Adds the objects of files.
    pub(crate) fn files(&mut self, files: &[FolderFile]) {
        for file in files {
            if is_ytt_template(&file.text) {
                let whole = Span::new(file.file, 0, 0);
                self.found
                    .push(needs_rendering(Rendered::Ytt, whole, "this file"));
                continue;
            }
            let format = Format::of_name(&file.path);
            let (trees, broken) = syntax::parse_stream(file.file, &file.text, format);
            self.found.append(broken);
            self.trees(&trees);
        }
    }

    fn trees(&mut self, trees: &[Tree]) {
        for root in trees.iter().filter_map(|tree| tree.root.as_ref()) {
            self.add(root, None);
        }
    }
}

fn first_key(trees: &[Tree]) -> Option<Span> {
    let mut roots = trees.iter().filter_map(|tree| tree.root.as_ref());
    roots.find_map(|root| Some(root.as_map()?.first()?.key.span))
}

/// The resources by their names. If objects of several groups would have the same name, only the first
/// group in the order of the alphabet keeps it, and the others add their group: so the names do not
/// depend on the order of the objects (decisions/manifests#names-of-resources).
pub(crate) fn named(
    objects: Vec<DeclaredObject>,
    found: &mut Diagnostics,
) -> IndexMap<Name, Resource> {
    let mut first_groups: IndexMap<Name, Name> = IndexMap::default();
    for DeclaredObject { identity, .. } in &objects {
        let group = &identity.kind.item.group;
        let first = first_groups
            .entry(identity.resource_name())
            .or_insert_with(|| group.clone());
        if group < first {
            *first = group.clone();
        }
    }
    let mut resources: IndexMap<Name, Resource> = IndexMap::default();
    for DeclaredObject { identity, resource } in objects {
        let plain = identity.resource_name();
        let keeps = first_groups.get(&plain) == Some(&identity.kind.item.group);
        let name = if keeps {
            plain
        } else {
            identity.qualified_name()
        };
        if let Some(first) = resources.get(&name) {
            found.push(
                NAME_COLLISION
                    .new(format!("`{name}` is declared twice"))
                    .label(resource.span, "declared again")
                    .label(first.span, "first declared here")
                    .help("remove one of them"),
            );
            continue;
        }
        resources.insert(name, resource);
    }
    resources
}
