//! Plans imports of existing resources, after a check that the document declares them.

use std::path::Path;

use crate::codes;
use crate::phases::{Action, Options, Refresh, Staged, StateEdit, Step};
use blueprint::{Address, Blueprint, Name, TypeId, Value};
use diag::{Diagnostic, Diagnostics, Files};
use state::{InstanceName, Snapshot};

use crate::document::{Document, ReadingFacts};
use crate::document_source::DocumentSource;
use crate::error::Error;
use crate::findings::Findings;
use crate::frontend::Frontend;
use crate::inputs::{self, Inputs};
use crate::session::Session;
use crate::stage::{Basis, PlannedOperation};

/// A resource to import.
#[derive(Clone, Debug)]
pub struct ImportRequest {
    /// Its type.
    pub type_name: TypeId,
    /// Its id at the provider.
    pub id: Name,
    /// Its address in the document.
    pub address: Address,
}

impl Session {
    /// Plans an import. Fails if the document of the instance does not declare the resource: the
    /// next deploy would delete it.
    pub async fn import(
        &self,
        instance: InstanceName,
        request: ImportRequest,
        frontend: &mut dyn Frontend,
    ) -> Result<PlannedOperation, Error> {
        let document = self
            .refuse_undeclared(&instance, &request, frontend)
            .await?;
        let address = request.address.clone();
        let planned = self.stage_import(&instance, request, frontend).await?;
        // The declared resource may be another object: then the next deploy would delete this one.
        let would_replace = self
            .plan_imported(document, &address, &instance, &planned)
            .await?;
        frontend.found(&would_replace.diagnostics, &would_replace.files);
        match would_replace.diagnostics.has_errors() {
            true => Err(Error::Reported),
            false => Ok(planned),
        }
    }

    /// Plans the change of the state.
    async fn stage_import(
        &self,
        instance: &InstanceName,
        request: ImportRequest,
        frontend: &mut dyn Frontend,
    ) -> Result<PlannedOperation, Error> {
        let ImportRequest {
            type_name,
            id,
            address,
        } = request;
        let state_edit = StateEdit::Import {
            type_name,
            id,
            address,
        };
        let options = Options {
            refresh: Refresh::Never,
            state_edit: Some(state_edit),
            ..Options::default()
        };
        self.stage_state(instance.clone(), options, frontend).await
    }

    /// Returns the document of the instance. Fails if it does not declare the resource.
    async fn refuse_undeclared(
        &self,
        instance: &InstanceName,
        request: &ImportRequest,
        frontend: &mut dyn Frontend,
    ) -> Result<Document, Error> {
        let address = &request.address;
        let source = self.declaring_source(instance, address, frontend).await?;
        let mut document = self.check(source, ReadingFacts::default()).await;
        if document.found.has_errors() {
            frontend.found(&document.found, &document.files);
            return Err(Error::Reported);
        }
        let found: Diagnostics = undeclared_in(&document, &request.type_name, address)
            .into_iter()
            .collect();
        frontend.found(&found, &document.files);
        if !found.is_empty() {
            return Err(Error::Reported);
        }
        let root = document.checked.as_ref().map(|checked| &*checked.blueprint);
        let resource = root.and_then(|root| root.resources.get(&address.name));
        let is_conditional = resource.is_some_and(|resource| resource.condition.is_some());
        if address.key.is_none() && address.path.is_empty() && !is_conditional {
            return Ok(document);
        }
        let diagnostics = self
            .find_missing_resource(&mut document, address, instance)
            .await?;
        frontend.found(&diagnostics, &document.files);
        if diagnostics.is_empty() {
            Ok(document)
        } else {
            Err(Error::Reported)
        }
    }

    /// Returns the document of an instance: the one it was deployed from, or else the one in the
    /// current folder.
    async fn declaring_source(
        &self,
        instance: &InstanceName,
        address: &Address,
        frontend: &mut dyn Frontend,
    ) -> Result<DocumentSource, Error> {
        let dialects = &self.installed.dialects;
        let recorded = self.reading().load(instance).await?.document;
        match (
            recorded.as_ref(),
            DocumentSource::only_document_in_folder(dialects),
        ) {
            ("" | "-", Ok(Some(here))) => DocumentSource::find(Some(Path::new(&here)), dialects),
            ("" | "-", _) => {
                let diagnostic = codes::UNKNOWN_ADDRESS
                    .new(format!("there is no document that declares `{address}`"))
                    .help(
                        "write the resource into a document, and import it in the folder of that",
                    );
                frontend.found(&std::iter::once(diagnostic).collect(), &Files::new());
                Err(Error::Reported)
            }
            (recorded, _) => {
                DocumentSource::find(Some(&self.place.base().join(recorded)), dialects)
            }
        }
    }

    /// Makes a plan to find out whether a declared address has no resource, because the element
    /// does not exist or a condition is false. Reports nothing if lists or conditions depend on
    /// inputs that are missing.
    async fn find_missing_resource(
        &self,
        document: &mut Document,
        address: &Address,
        instance: &InstanceName,
    ) -> Result<Diagnostics, Error> {
        let snapshot = self.reading().load(instance).await?;
        let mut found = Diagnostics::new();
        // The plan may be refused because the resource already exists where the plan would create
        // it. The diagnostics about the address are valid nevertheless.
        self.plan_address(document, address, instance, snapshot, &mut found)
            .await?;
        let is_reported = |one: &&Diagnostic| {
            [&codes::UNKNOWN_ADDRESS, &codes::IMPORT_FAILED]
                .iter()
                .any(|it| it.name == one.code.name)
        };
        Ok(found.iter().filter(is_reported).cloned().collect())
    }

    /// Plans the resource as the next deploy would after the import, and returns an error if that
    /// plan replaces or deletes the imported object because known values differ. Reports nothing if
    /// there is no such plan, for example because inputs are missing.
    async fn plan_imported(
        &self,
        mut document: Document,
        address: &Address,
        instance: &InstanceName,
        planned: &PlannedOperation,
    ) -> Result<Findings, Error> {
        let snapshot = planned.staged.snapshot.clone();
        let mut found = Diagnostics::new();
        let staged = self
            .plan_address(&mut document, address, instance, snapshot, &mut found)
            .await?;
        if let (None, Some(refusal)) = (&staged, found.iter().find(|one| refuses_actions(one))) {
            let diagnostic = codes::IMPORT_FAILED
                .new(format!(
                    "`{address}` is declared as another object: the next deploy would be refused"
                ))
                .note(refusal.message.clone())
                .help(HELP_ANOTHER_OBJECT);
            return Ok(Findings {
                diagnostics: std::iter::once(diagnostic).collect(),
                files: document.files,
            });
        }
        let steps = staged.iter().flat_map(|staged| &staged.plan.steps);
        let diagnostics = steps
            .filter(|step| step.address == *address)
            .filter_map(replaces_imported)
            .collect();
        Ok(Findings {
            diagnostics,
            files: document.files,
        })
    }

    /// Makes a plan for one declared address, without reading objects. Returns `None` if there is no
    /// plan.
    async fn plan_address(
        &self,
        document: &mut Document,
        address: &Address,
        instance: &InstanceName,
        snapshot: Snapshot,
        found: &mut Diagnostics,
    ) -> Result<Option<Staged>, Error> {
        let Some(checked) = document.checked.clone() else {
            return Ok(None);
        };
        let mut given = self.gather(
            &checked,
            document,
            Some(instance),
            &Inputs::default(),
            found,
        )?;
        inputs::keep_previous_inputs(
            &checked.blueprint,
            &mut given,
            self.reading().as_ref(),
            instance,
        )
        .await?;
        crate::phases::validate_inputs(&checked, &given, true, found);
        if found.has_errors() {
            *found = Diagnostics::new();
            return Ok(None);
        }
        document.complete(&given, &snapshot).await;
        let Some(documents) = document
            .documents
            .clone()
            .filter(|_| !document.found.has_errors())
        else {
            return Ok(None);
        };
        let mut shell = self.shell_for(document, instance, &snapshot).await?;
        let targets = vec![address.clone()];
        let importing = vec![address.clone()];
        let simulated = self.is_simulated();
        let options = Options {
            refresh: Refresh::Never,
            targets,
            importing,
            simulated,
            ..Options::default()
        };
        let wanted = Some((documents, document.pinned(&self.place)));
        let basis = Basis {
            document: wanted,
            given,
            options,
            snapshot,
            answers: None,
        };
        Ok(self
            .plan_quietly(basis, &mut shell, found, &mut |_| {})
            .await)
    }
}

/// Advice for the import of an object that is not the declared one.
const HELP_ANOTHER_OBJECT: &str =
    "import the object that the document describes, or describe this one";

/// Whether a plan was refused because it would replace or delete an object.
fn refuses_actions(diagnostic: &Diagnostic) -> bool {
    let codes = [
        &codes::PRECONDITION_FAILED,
        &codes::PROTECTED,
        &codes::RESTRICTED_ACTION,
    ];
    codes.iter().any(|code| code.name == diagnostic.code.name)
}

/// Returns the error of an import after which the next deploy replaces the imported object, because
/// known values of fields that cannot be changed differ.
fn replaces_imported(step: &Step) -> Option<Diagnostic> {
    let is_known = |value: &Value| !value.is_null() && !value.has_unknown();
    let differing: Vec<String> = step
        .changes
        .iter()
        .filter(|change| change.forces && change.before.as_ref().is_some_and(is_known))
        .map(|change| format!("`{}`", change.path))
        .collect();
    if step.action != Action::Replace || differing.is_empty() {
        return None;
    }
    Some(
        codes::IMPORT_FAILED
            .new(format!(
                "`{}` is declared as another object: the next deploy would replace this one",
                step.address
            ))
            .label(step.span, format!("{} differs", differing.join(", ")))
            .help(HELP_ANOTHER_OBJECT),
    )
}

/// Returns the reason why a document declares no resource of this type at this address; `None` if
/// it declares one.
fn undeclared_in(document: &Document, type_name: &TypeId, address: &Address) -> Option<Diagnostic> {
    let units = document
        .documents
        .iter()
        .flat_map(|documents| documents.units());
    let inner = units
        .filter(|unit| unit.path[..] == address.path[..])
        .map(|unit| unit.blueprint())
        .next();
    let root = document.checked.as_ref().map(|checked| &*checked.blueprint);
    match (address.path.first(), inner, root) {
        (None, _, Some(blueprint)) | (Some(_), Some(blueprint), _) => {
            undeclared(blueprint, &document.source.shown, type_name, address)
        }
        // The child can be read only with inputs. At least the include exists.
        (Some(child), None, Some(blueprint)) if blueprint.children.contains_key(child) => None,
        (_, _, blueprint) => {
            let known = blueprint
                .iter()
                .flat_map(|it| it.children.keys())
                .map(AsRef::as_ref);
            let written = address.path.first().map_or("", AsRef::as_ref);
            let diagnostic =
                not_declared(&document.source.shown, address).help_nearest(written, known);
            Some(diagnostic.help("write the resource first, then import it"))
        }
    }
}

fn not_declared(document: &str, address: &Address) -> Diagnostic {
    codes::UNKNOWN_ADDRESS.new(format!("`{document}` does not declare `{address}`"))
}

/// Returns the reason why a blueprint declares no resource of this type at this address; `None` if
/// it declares one.
fn undeclared(
    blueprint: &Blueprint,
    document: &str,
    type_name: &TypeId,
    address: &Address,
) -> Option<Diagnostic> {
    let known = blueprint.resources.keys().map(AsRef::as_ref);
    let resource = match blueprint.resources.get(&address.name) {
        Some(resource) if address.link.is_none() => resource,
        _ => {
            let diagnostic = not_declared(document, address).help_nearest(&address.name, known);
            return Some(diagnostic.help("write the resource first, then import it"));
        }
    };
    let name = &address.name;
    let span = resource.span;
    match (&resource.each, &address.key) {
        (Some(_), None) => Some(
            not_declared(document, address)
                .label(span, format!("`{name}` is a template with `each`"))
                .help(format!("name one of its elements: `{name}[0]`")),
        ),
        (None, Some(_)) => {
            let diagnostic = not_declared(document, address)
                .label(span, format!("`{name}` is a single resource"));
            Some(diagnostic.help(format!("leave the key away: `{name}`")))
        }
        _ if resource.type_name.item != *type_name => Some(
            codes::UNKNOWN_ADDRESS
                .new(format!(
                    "`{address}` is declared as `{}`, not as `{type_name}`",
                    resource.type_name.item
                ))
                .label(span, "declared here")
                .help(format!(
                    "import it as `{}`, or change the document",
                    resource.type_name.item
                )),
        ),
        _ => None,
    }
}
