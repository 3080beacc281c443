//! A parsed and lowered root document with its environment files. Repeated checks start from it, so
//! the text is parsed only once.

use std::sync::Arc;

use crate::phases::Loaded;
use blueprint::{IndexMap, Name, Value};
use diag::{Diagnostic, Diagnostics, FileId, Files};
use dialect::{Companion, Dialects, LoadContext};
use syntax::{Content, Format};

use crate::document_source::{DocumentSource, EnvironmentFile};
use crate::inputs::empty_file;
use crate::installed::RootOptions;
use crate::library::Library;
use crate::paths::folder_of;
use crate::withheld::unquoted;

/// A parsed and lowered root document.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    /// Its blueprint.
    pub(crate) loaded: Loaded,
    /// The load context from its environment files and its dialect.
    pub(crate) context: LoadContext,
    /// Inputs from environment files.
    pub(crate) environment: IndexMap<Name, Value>,
    /// The diagnostics of the texts.
    found: Diagnostics,
}

impl Root {
    /// Reads a document.
    pub(crate) fn read(source: &DocumentSource, library: &Library, roots: &RootOptions) -> Root {
        let mut files = Files::new();
        let ids = add_texts(source, &mut files);
        let mut found = Diagnostics::new();
        let settings = library.selection.dialects.clone();
        let root_context = LoadContext {
            settings,
            is_folder: source.is_folder,
            types: Some(library.types()),
            ..roots.context.clone()
        };
        let (context, environment) =
            load_environments(source, &ids, &library.dialects, root_context, &mut found);
        let mut loaded = {
            let packages = library.catalogs.packages();
            crate::phases::load(
                &files,
                ids.root,
                &library.dialects,
                &library.functions,
                packages,
                &context,
                &mut found,
            )
        };
        if let (Some(change), Some(blueprint)) = (&roots.change, &mut loaded.blueprint) {
            change(Arc::make_mut(blueprint));
        }
        Root {
            loaded,
            context,
            environment,
            found,
        }
    }

    /// Returns the texts for another check, and their diagnostics.
    pub(crate) fn files_and_diagnostics(&self, source: &DocumentSource) -> (Files, Diagnostics) {
        let mut files = Files::new();
        add_texts(source, &mut files);
        (files, self.found.clone())
    }
}

/// The file ids of a root and of its environment files. They are the same in each check.
struct TextIds {
    root: FileId,
    environments: Vec<FileId>,
}

fn add_texts(source: &DocumentSource, files: &mut Files) -> TextIds {
    let root = files.add(source.shown.clone(), source.text.clone());
    // Environment files contain values of inputs, which may be secret.
    let add = |file: &EnvironmentFile| match file.is_shown {
        true => files.add(file.shown.clone(), file.text.clone()),
        false => files.add_withheld(file.shown.clone(), file.text.clone()),
    };
    TextIds {
        root,
        environments: source.environments.iter().map(add).collect(),
    }
}

/// Returns the load context of a document with environment files, and the inputs from these files.
fn load_environments(
    source: &DocumentSource,
    ids: &TextIds,
    dialects: &Dialects,
    context: LoadContext,
    found: &mut Diagnostics,
) -> (LoadContext, IndexMap<Name, Value>) {
    if source.environments.is_empty() {
        return (context, IndexMap::default());
    }
    let parsed = dialects.parse(ids.root, &source.shown, &source.text, &context);
    let mut trees = Vec::with_capacity(source.environments.len());
    let mut broken_files = Vec::new();
    for (environment, file) in source.environments.iter().zip(&ids.environments) {
        let (shown, text) = (&environment.shown, &environment.text);
        let most = context.settings.limits.text_bytes();
        let (tree, broken) = syntax::refuse_longer(*file, text, Format::of_name(shown), most)
            .unwrap_or_else(|| dialects.parse_companion(*file, shown, text));
        if tree
            .root
            .as_ref()
            .is_none_or(|root| matches!(root.content, Content::Missing))
            && !broken.has_errors()
        {
            found.push(empty_file(&environment.shown));
        }
        if broken.has_errors() {
            broken_files.push((*file, &environment.text));
        }
        found.append(
            broken
                .into_iter()
                .map(|one| unquoted(one, &environment.text))
                .collect(),
        );
        // Paths in an environment file are relative to its own folder.
        let folder = folder_of(&environment.path);
        let folder = if folder == source.folder {
            String::new()
        } else {
            folder.to_string_lossy().into_owned()
        };
        trees.push((*file, environment, folder, tree));
    }
    let companions: Vec<Companion<'_>> = trees
        .iter()
        .map(|(file, environment, folder, tree)| Companion {
            file: *file,
            name: &environment.shown,
            folder,
            tree,
            is_check: environment.is_check,
        })
        .collect();
    let companions_read = dialects.read_companions(&parsed.document(), &companions);
    // In a broken text, a value may look like a key.
    let clean = |one: Diagnostic| match broken_files
        .iter()
        .find(|(file, _)| *file == one.span().file)
    {
        Some((_, text)) => unquoted(one, text),
        None => one,
    };
    found.append(companions_read.diagnostics.into_iter().map(clean).collect());
    (companions_read.context, companions_read.input_values)
}
