//! A toy dialect of several trees: it shows how a dialect reads a YAML stream, the files of a folder,
//! and a folder as a root.
//!
//! ````yaml
//! shelf: disk
//! is: test/data
//! input: 3
//! ---
//! shelf: note
//! is: test/record
//! title: a
//! ---
//! more: parts
//! ````
//!
//! Each tree is a resource, or names a folder with `more`. Of a folder, the files `*.shelf.yaml` are
//! a part of the document. A folder with such a file is a document itself.

use std::sync::Arc;

use blueprint::{Blueprint, Expr, ExprKind, Name, Packages, Resource};
use diag::{Diagnostics, FileId, Span, Spanned};
use dialect::codes::{MISSING_FIELD, NAME_COLLISION};
use dialect::{
    Answer, Dialect, Document, FolderEntry, KeyForm, Lowered, Offer, Section, SectionKey, Shape,
    Wanted,
};
use expr::FunctionTable;
use syntax::{Format, Node, Tree};

use super::dialect::{literal, named};

/// The dialect.
pub static SHELF: ShelfDialect = ShelfDialect;

/// The toy dialect of several trees.
pub struct ShelfDialect;

/// The end of the names of files of a folder that belong to a document.
const ENDING: &str = ".shelf.yaml";

static SHAPE: Shape = Shape {
    sections: &[&OBJECT],
};

static OBJECT: Section = Section {
    name: "object",
    keys: &[
        SectionKey::new("shelf", KeyForm::Text, "The name of the object."),
        SectionKey::new("is", KeyForm::Text, "The type.").offer(Offer::ResourceType),
        SectionKey::new("more", KeyForm::Text, "A folder with further objects."),
    ],
};

impl Dialect for ShelfDialect {
    fn name(&self) -> &'static str {
        "shelf"
    }

    fn reads_streams(&self) -> bool {
        true
    }

    fn reads_folders(&self) -> bool {
        true
    }

    fn recognise(&self, document: &Document<'_>) -> u8 {
        let is_recognised = match document.entries() {
            Some(entries) => entries.iter().any(is_part),
            None => document.trees().iter().any(|tree| has(tree, "shelf")),
        };
        if is_recognised { 100 } else { 0 }
    }

    fn shape(&self) -> &'static Shape {
        &SHAPE
    }

    fn required_data(&self, document: &Document<'_>) -> Vec<Wanted> {
        let mut parts = Parts::new(document);
        parts.document();
        parts.wanted
    }

    fn lower(&self, document: &Document<'_>, _: &FunctionTable, _: &Packages) -> Lowered {
        let mut parts = Parts::new(document);
        parts.document();
        let span = Span::new(document.file, 0, 0);
        let blueprint = Blueprint {
            dialect: "shelf",
            version: "1".into(),
            span: Some(span),
            ..Blueprint::default()
        };
        let mut lowering = ShelfLowering {
            blueprint,
            found: parts.found,
        };
        for tree in document.trees() {
            lowering.object(tree);
        }
        for (file, text) in &parts.texts {
            let (trees, broken) = syntax::parse_stream(*file, text, Format::Yaml);
            lowering.found.append(broken);
            for tree in &trees {
                lowering.object(tree);
            }
        }
        Lowered {
            blueprint: lowering.blueprint,
            diagnostics: lowering.found,
        }
    }
}

fn has(tree: &Tree, key: &str) -> bool {
    tree.root
        .as_ref()
        .is_some_and(|root| root.get(key).is_some())
}

fn is_part(entry: &FolderEntry) -> bool {
    !entry.is_folder && entry.name.ends_with(ENDING)
}

/// The files that belong to a document.
struct Parts<'d> {
    document: &'d Document<'d>,
    /// All files and folders.
    wanted: Vec<Wanted>,
    /// The files whose texts are known.
    texts: Vec<(FileId, Arc<str>)>,
    found: Diagnostics,
}

impl<'d> Parts<'d> {
    fn new(document: &'d Document<'d>) -> Parts<'d> {
        Parts {
            document,
            wanted: Vec::new(),
            texts: Vec::new(),
            found: Diagnostics::new(),
        }
    }

    /// Adds the files of the document itself.
    fn document(&mut self) {
        let file = self.document.file;
        if let Some(entries) = self.document.entries() {
            self.files_of("", entries, Span::new(file, 0, 0));
        }
        for tree in self.document.trees() {
            let more = tree.root.as_ref().and_then(|root| root.get("more"));
            let Some((node, path)) = more.and_then(|node| Some((node, node.text()?))) else {
                continue;
            };
            let wanted = Wanted::Folder(path.into());
            match self.document.context.answers.get(&wanted) {
                Some(Answer::Folder(entries)) => {
                    self.files_of(&format!("{path}/"), entries, node.span)
                }
                answer => self.report_missing(path, answer, node.span),
            }
            self.wanted.push(wanted);
        }
    }

    /// Adds the files of a folder.
    fn files_of(&mut self, folder: &str, entries: &[FolderEntry], span: Span) {
        for entry in entries.iter().filter(|entry| is_part(entry)) {
            let path = format!("{folder}{}", entry.name);
            let wanted = Wanted::Text(path.as_str().into());
            match self.document.context.answers.get(&wanted) {
                Some(Answer::Text(file, text)) => self.texts.push((*file, text.clone())),
                answer => self.report_missing(&path, answer, span),
            }
            self.wanted.push(wanted);
        }
    }

    fn report_missing(&mut self, path: &str, answer: Option<&Answer>, span: Span) {
        if let Some(Answer::Missing(why)) = answer {
            let diagnostic = expr::codes::SOURCE_UNREADABLE.new(format!("`{path}` cannot be read"));
            self.found.push(diagnostic.label(span, why.to_string()));
        }
    }
}

struct ShelfLowering {
    blueprint: Blueprint,
    found: Diagnostics,
}

impl ShelfLowering {
    /// Lowers a tree to a resource, unless it names a folder or is empty.
    fn object(&mut self, tree: &Tree) {
        let Some(root) = &tree.root else { return };
        let Some(name) = root.get("shelf") else {
            return;
        };
        let Some(ty) = root.get("is") else {
            let diagnostic = MISSING_FIELD.new("an object has no `is`");
            self.found.push(diagnostic.label(name.span, "of this"));
            return;
        };
        let text = |node: &Node| Name::from(node.text().unwrap_or_default());
        let spec = named(root)
            .filter(|(key, _)| OBJECT.key(&key.item).is_none())
            .map(|(key, value)| (key, Expr::literal(literal(value), value.span)))
            .collect();
        let resource = Resource::new(
            name.span,
            Spanned::new(text(ty).into(), ty.span),
            name.span,
            Expr::new(ExprKind::Map(spec), root.span),
        );
        if self
            .blueprint
            .resources
            .insert(text(name), resource)
            .is_some()
        {
            let diagnostic = NAME_COLLISION.new(format!("`{}` is written twice", text(name)));
            self.found
                .push(diagnostic.label(name.span, "written before"));
        }
    }
}
