//! Import and export of states as deployments of another tool, with their secrets.
//!
//! Not here: the format (`foreign::deployment`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use blueprint::{Name, Value};
use diag::{Diagnostic, Diagnostics, FileId, Files, Span};
use dialect::{Dialects, SecretManager};
use serde_json::Value as Json;
use state::{
    Entry, EntryKind, Exported, Finished, Generation, InstanceName, Operation, OperationKind,
    OperationOutcome, Outcome, Revision,
};
use syntax::Format;

use crate::document_source::DocumentSource;
use crate::error::Error;
use crate::foreign::deployment::{
    self, DIALECT, DeploymentError, DeploymentRequest, ReadDeployment, Violation,
};
use crate::frontend::Frontend;
use crate::inspect::is_destroyed;
use crate::key::fill_random;
use crate::recorded_instances::project_of;
use crate::session::Session;

/// Reads a deployment as an exported state, with the name of its stack. `name` is the file in
/// messages.
pub fn read_deployment(
    text: &str,
    name: &str,
    dialects: &Dialects,
    frontend: &mut dyn Frontend,
) -> Result<(Exported, InstanceName), Error> {
    let tree: Json = serde_json::from_str(text).unwrap_or_default();
    let read = deployment::read(&tree, manager_in(dialects)?);
    let ReadDeployment { stack, snapshot } =
        read.map_err(|error| refused(error, text, name, frontend))?;
    let instance = match stack.is_empty() {
        true => InstanceName::from_free_text("stack"),
        false => InstanceName::from_free_text(&stack),
    };
    Ok((Exported::of(&instance, &snapshot), instance))
}

/// Finds the file of a stack in the folder of a file store: `.pulumi/stacks/PROJECT/STACK.json`.
pub fn file_in_store(folder: &Path, stack: Option<&InstanceName>) -> Result<PathBuf, Error> {
    let mut found = Vec::new();
    let stacks = [folder.join(".pulumi/stacks"), folder.join("stacks")];
    for project in stacks.iter().flat_map(|stacks| entries_of(stacks)) {
        found.extend(entries_of(&project).into_iter().filter(|file| {
            let name = file.file_name().and_then(|name| name.to_str());
            let name = name.and_then(|name| name.strip_suffix(".json"));
            name.is_some_and(|name| stack.is_none_or(|stack| stack.as_str() == name))
        }));
    }
    found.sort();
    let shown = |files: &[PathBuf]| -> String {
        let names = files.iter().map(|file| format!("`{}`", file.display()));
        names.collect::<Vec<_>>().join(", ")
    };
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Error::Unfit {
            name: folder.display().to_string(),
            what: "has no state of a stack".to_owned(),
            help: Some(
                "name the folder of Pulumi's file store, or a file of `pulumi stack export`"
                    .to_owned(),
            ),
        }),
        many => Err(Error::Usage {
            message: format!("`{}` has several stacks: {}", folder.display(), shown(many)),
            help: Some("name one of the files, or the stack with `-i`".to_owned()),
        }),
    }
}

/// The paths in a folder; none if it cannot be read.
fn entries_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

/// The secret managers of the tool that has deployments.
fn manager_in(dialects: &Dialects) -> Result<&'static dyn SecretManager, Error> {
    let manager = dialects.secret_manager(DIALECT);
    manager.ok_or_else(|| Error::usage(format!("the dialect `{DIALECT}` is not installed")))
}

/// Reports why a deployment cannot be used.
fn refused(error: DeploymentError, text: &str, name: &str, frontend: &mut dyn Frontend) -> Error {
    match error {
        DeploymentError::Shape(what) => Error::Unfit {
            name: name.to_owned(),
            what,
            help: Some("write it again with `pulumi stack export`".to_owned()),
        },
        DeploymentError::Foreign(what) => Error::usage(what),
        DeploymentError::Locked(why) => Error::Diagnosed(why),
        DeploymentError::Violations(all) => {
            let mut files = Files::new();
            // A deployment may hold secrets.
            let file = files.add_withheld(name.to_owned(), text);
            let found = located(&all, file, text);
            frontend.found(&found, &files);
            Error::Reported
        }
    }
}

/// The violations with the places of their resources.
fn located(all: &[Violation], file: FileId, text: &str) -> Diagnostics {
    let (tree, _) = syntax::parse(file, text, Format::Json);
    let root = tree.root.as_ref();
    let latest = || root?.get("checkpoint")?.get("latest");
    let deployment = root.and_then(|root| root.get("deployment")).or_else(latest);
    let resources = deployment
        .and_then(|deployment| deployment.get("resources")?.as_list())
        .unwrap_or(&[]);
    let whole = Span::new(file, 0, 0);
    let diagnostic = |violation: &Violation| -> Diagnostic {
        let node = violation.resource.and_then(|at| resources.get(at));
        let place = node.and_then(|node| Some(node.entry("urn")?.value.span));
        crate::codes::INVALID_DEPLOYMENT
            .new(violation.message.clone())
            .label(
                place.or(node.map(|node| node.span)).unwrap_or(whole),
                "this resource",
            )
            .help("repair the state with `pulumi state`, then export it again")
    };
    all.iter().map(diagnostic).collect()
}

impl Session {
    /// Returns an imported state with a journal of one operation that makes it, so that it can be
    /// restored without a call. `document` becomes its document if it is a program of that tool.
    pub fn as_operation(
        &self,
        exported: Exported,
        document: Option<&DocumentSource>,
        who: &str,
    ) -> Exported {
        let now = self.installed.runtime.clock.now();
        let document = document
            .filter(|source| self.is_program(source))
            .map(|source| Name::from(self.stored_path(source)));
        let began = Operation {
            id: self.new_run().id().clone(),
            kind: OperationKind::State,
            who: who.into(),
            began: now,
            document: document.clone().unwrap_or_default(),
            memoised: Default::default(),
            stops: None,
            desired: Value::Null,
        };
        let finished = Finished {
            outcome: OperationOutcome::Ready,
            at: now,
            generation: Generation(1),
            exports: Some(exported.exports.clone()),
            memoised: Default::default(),
            groups: Default::default(),
            metadata: Value::Null,
            declared: Default::default(),
            stops: Default::default(),
            counts: Default::default(),
        };
        let outcomes = exported.records.iter().map(|(address, record)| {
            EntryKind::Outcome(Arc::new(Outcome {
                address: address.clone(),
                record: Some(record.clone()),
                error: None,
            }))
        });
        let kinds = std::iter::once(EntryKind::Began(Arc::new(began)))
            .chain(outcomes)
            .chain([EntryKind::Finished(Arc::new(finished))]);
        Exported {
            document: document.unwrap_or_default(),
            revision: Revision(1),
            generation: Generation(1),
            journal: kinds.map(|kind| Entry { step: 0, kind }).collect(),
            ..exported
        }
    }

    /// Whether a document is a program of the tool that has deployments.
    fn is_program(&self, source: &DocumentSource) -> bool {
        let context = dialect::LoadContext::NONE;
        let dialects = &self.installed.dialects;
        let parsed = dialects.parse(FileId::new(0), &source.shown, &source.text, &context);
        parsed
            .dialect
            .is_some_and(|dialect| dialect.name() == DIALECT)
    }

    /// Exports an instance as a deployment. `reveal` writes its secrets in clear text.
    pub async fn export_deployment(
        &self,
        instance: &InstanceName,
        reveal: bool,
    ) -> Result<Json, Error> {
        let snapshot = self.reading().load(instance).await?;
        let dialects = &self.installed.dialects;
        let manager = manager_in(dialects)?;
        let project = project_of(&self.place, &snapshot.document, dialects);
        let project = project.unwrap_or_else(|| "project".into());
        let listed = self.reading().instances().await?;
        let own = listed.iter().find(|info| info.name == *instance);
        let request = DeploymentRequest {
            destroyed: own.is_some_and(is_destroyed),
            instance,
            snapshot: &snapshot,
            project: &project,
            manager: (!reveal).then_some(manager),
        };
        deployment::write(&request, &mut fill_random).map_err(|error| match error {
            DeploymentError::Violations(all) => {
                let first = all.into_iter().next().map(|one| one.message);
                Error::usage(format!(
                    "the state cannot be written as a deployment: {}",
                    first.unwrap_or_default()
                ))
            }
            DeploymentError::Locked(why) => {
                let why = why.help("say `--reveal` to write secrets in clear text");
                Error::Diagnosed(Box::new(why))
            }
            DeploymentError::Shape(what) => {
                Error::usage(format!("a value cannot be written: {what}"))
            }
            DeploymentError::Foreign(what) => Error::usage(what),
        })
    }
}
