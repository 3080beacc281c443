//! Reading and checking documents, and making plans.

use std::path::PathBuf;
use std::sync::Arc;

use blueprint::{Name, Value};
use diag::{Diagnostics, Files};
use dialects::{Companion, Dialects, Document, LoadContext};
use engine::generation::RollbackTarget;
use engine::shell::RollbackPlanner;
use engine::{Answers, Checked, Documents, Given, Loaded, Options, Pinned, PinnedDocument, Reading, Request, Staged};
use provider::BoxFuture;
use source::Location;

use super::Harness;
use crate::faults::{FaultPlan, SimulatedProcess};

/// A document that was read and checked.
pub struct CheckedDocument {
    /// The texts of the document and of its children.
    pub files: Files,
    /// Errors, warnings and notes.
    pub diagnostics: Diagnostics,
    /// The checked root; `None` if it could not be lowered.
    pub checked: Option<Arc<Checked>>,
    /// The root with its children.
    pub documents: Option<Arc<Documents>>,
    /// The text of the root, as a generation keeps it.
    pub document: PinnedDocument,
}

/// The result of staging a document.
pub struct Stage {
    /// The texts of the document and of its children.
    pub files: Files,
    /// Errors, warnings and notes.
    pub diagnostics: Diagnostics,
    /// The plan; `None` if there was an error.
    pub staged: Option<Staged>,
}

impl Harness {
    /// The absolute folder of the documents, as locations spell it.
    fn whole_folder(&self) -> PathBuf {
        match &self.memory_source {
            Some(_) => self.folder.clone(),
            None => self.folder.canonicalize().unwrap_or_else(|_| self.folder.clone()),
        }
    }

    /// Reads and checks a document with the children whose locations the inputs determine. `complete`: all inputs are
    /// given.
    pub async fn read_all(&self, name: &str, text: &str, given: &Given, complete: bool) -> CheckedDocument {
        self.read_pinned(name, text, given, complete, &Pinned::default()).await
    }

    /// Reads a document as a saved plan does, with the bytes that the plan pinned.
    pub async fn read_with(&self, text: &str, pinned: &Pinned) -> CheckedDocument {
        self.read_pinned("main.yaml", text, &Given::default(), true, pinned).await
    }

    async fn read_pinned(
        &self,
        name: &str,
        text: &str,
        given: &Given,
        complete: bool,
        pinned: &Pinned,
    ) -> CheckedDocument {
        let mut files = Files::new();
        let file = files.add(name, text);
        let mut diagnostics = Diagnostics::new();
        for contradiction in &self.contradictions {
            diagnostics.push(provider::codes::INVALID_CATALOG.new(contradiction.clone()));
        }
        let loaded = engine::load(
            &files,
            file,
            &self.dialects,
            &self.functions,
            self.catalogs.packages(),
            &self.context,
            &mut diagnostics,
        );
        let loaded = self.with_breakpoints(loaded);
        let (shell, _) = self.shell(&SimulatedProcess::new(FaultPlan::default(), None));
        let folder = self.whole_folder();
        let before = self.snapshot().await;
        let reading = Reading {
            files: &mut files,
            catalogs: &self.catalogs,
            functions: &self.functions,
            dialects: &self.dialects,
            given: Some(given),
            around: &self.context,
            world: &shell,
            location: Some(Location::disk(folder.join(name).to_string_lossy().as_ref())),
            folder: folder.to_string_lossy().as_ref().into(),
            complete,
            kept: pinned,
            before: Some(&before),
        };
        let documents = engine::documents(loaded, reading, &mut diagnostics).await.map(Arc::new);
        let checked = documents.as_ref().map(|documents| documents.root().checked.clone());
        let document = PinnedDocument { path: name.into(), text: text.into(), beside: Vec::new() };
        CheckedDocument { files, diagnostics, checked, documents, document }
    }

    /// Adds the harness's breakpoints to a blueprint, as a dialect that can express breakpoints would.
    fn with_breakpoints(&self, mut loaded: Loaded) -> Loaded {
        let Some(blueprint) = loaded.blueprint.as_mut().filter(|_| !self.breakpoints.is_empty()) else { return loaded };
        let blueprint = Arc::make_mut(blueprint);
        for (name, breakpoints) in &self.breakpoints {
            if let Some(resource) = blueprint.resources.get_mut(name) {
                resource.lifecycle.breakpoints = *breakpoints;
            }
            if let Some(child) = blueprint.children.get_mut(name) {
                child.breakpoints = *breakpoints;
            }
        }
        loaded
    }

    /// Reads and checks a document alone, without its children.
    pub fn read(&self, name: &str, text: &str) -> CheckedDocument {
        let mut files = Files::new();
        let file = files.add(name, text);
        let mut diagnostics = Diagnostics::new();
        for contradiction in &self.contradictions {
            diagnostics.push(provider::codes::INVALID_CATALOG.new(contradiction.clone()));
        }
        let loaded = engine::load(
            &files,
            file,
            &self.dialects,
            &self.functions,
            self.catalogs.packages(),
            &self.context,
            &mut diagnostics,
        );
        let checked = loaded.blueprint.map(|blueprint| {
            let rules = self.dialects.rules(blueprint.dialect);
            let context = engine::check::CheckContext::new(&self.catalogs, &self.functions, rules);
            Arc::new(engine::check(blueprint, &context, &mut diagnostics))
        });
        let folder: Name = self.folder.to_string_lossy().as_ref().into();
        let documents = checked.clone().map(|checked| Arc::new(Documents::single(checked, folder)));
        let document = PinnedDocument { path: name.into(), text: text.into(), beside: Vec::new() };
        CheckedDocument { files, diagnostics, checked, documents, document }
    }

    /// Reads, checks and stages a document. A document with errors gets no plan.
    pub async fn stage(&self, name: &str, text: &str, given: Given, options: Options) -> Stage {
        let CheckedDocument { files, mut diagnostics, documents, document, .. } =
            self.read_all(name, text, &given, true).await;
        let Some(documents) = documents.filter(|_| !diagnostics.has_errors()) else {
            return Stage { files, diagnostics, staged: None };
        };
        let staged = self.plan(Some((documents, document)), given, options, None, &mut diagnostics).await;
        Stage { files, diagnostics, staged }
    }

    /// Checks a document offline: evaluates as much of it as the inputs determine.
    pub async fn validate(&self, name: &str, text: &str, given: &Given) -> CheckedDocument {
        let mut read = self.read_all(name, text, given, false).await;
        if let Some(documents) = read.documents.clone().filter(|_| !read.diagnostics.has_errors()) {
            let (shell, _) = self.shell(&SimulatedProcess::new(FaultPlan::default(), None));
            let functions = self.functions.clone();
            engine::check_offline(documents, given, &self.catalogs, functions, &shell, &mut read.diagnostics).await;
        }
        read
    }

    /// Plans without a document: a destroy, unless the options say otherwise.
    pub async fn stage_destroy(&self, options: Options) -> Stage {
        let mut diagnostics = Diagnostics::new();
        let staged = self.plan(None, Given::default(), options, None, &mut diagnostics).await;
        Stage { files: Files::new(), diagnostics, staged }
    }

    /// Stages a rollback.
    pub async fn stage_rollback(&self, goal: RollbackTarget) -> Stage {
        let options = Options { rollback: true, ..Options::default() };
        let RollbackTarget::Generation(kept) = goal else { return self.stage_destroy(options).await };
        let PinnedDocument { path, text, .. } = &kept.document;
        let read = self.read_pinned(path, text, &kept.given, true, &kept.answers.frozen()).await;
        let CheckedDocument { files, mut diagnostics, documents, document, .. } = read;
        let Some(documents) = documents.filter(|_| !diagnostics.has_errors()) else {
            return Stage { files, diagnostics, staged: None };
        };
        let wanted = Some((documents, document));
        let staged = self.plan(wanted, kept.given, options, Some(kept.answers), &mut diagnostics).await;
        Stage { files, diagnostics, staged }
    }

    /// Makes a plan.
    pub async fn plan(
        &self,
        document: Option<(Arc<Documents>, PinnedDocument)>,
        given: Given,
        options: Options,
        answers: Option<Answers>,
        found: &mut Diagnostics,
    ) -> Option<Staged> {
        let (shell, _) = self.shell(&SimulatedProcess::new(FaultPlan::default(), None));
        let request = Request {
            instance: self.name.name().clone(),
            document,
            given,
            options,
            snapshot: self.snapshot().await,
            catalogs: self.catalogs.clone(),
            functions: self.functions.clone(),
            answers,
            others: None,
            world: &shell,
        };
        engine::plan(request, found).await
    }

    /// Evaluates an expression in a staged document.
    pub async fn evaluate(
        &self,
        staged: &mut Staged,
        expr: &blueprint::Expr,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        let (shell, _) = self.shell(&SimulatedProcess::new(FaultPlan::default(), None));
        staged.evaluate(expr, &shell, found).await
    }
}

/// The load context that an environment of Heat gives to a root document. Drops the environment's diagnostics.
pub fn heat_environment(root: &str, text: &str, name: &str, environment: &str) -> LoadContext {
    let mut files = Files::new();
    let (file, beside) = (files.add(root, text), files.add(name, environment));
    let (tree, _) = syntax::parse(file, text, syntax::Format::of_name(root));
    let (given, _) = syntax::parse(beside, environment, syntax::Format::Yaml);
    let alone = LoadContext::NONE;
    let document = Document { file, name: root, text, tree: &tree, around: &alone };
    Dialects::BUILT_IN.surround(&document, &[Companion { file: beside, name, folder: "", tree: &given }]).context
}

impl RollbackPlanner for Harness {
    fn stage<'a>(&'a self, goal: RollbackTarget, found: &'a mut Diagnostics) -> BoxFuture<'a, Option<Staged>> {
        Box::pin(async move {
            let stage = self.stage_rollback(goal).await;
            found.append(stage.diagnostics);
            stage.staged
        })
    }

    fn in_words(&self, found: Diagnostics) -> Diagnostics {
        found
    }
}
