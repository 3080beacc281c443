//! Runs transforms, which replace abstract resources after the check and before evaluation
//! (decisions/documents#transforms).
//!
//! Transforms run in the listed order, each on the result of the previous one. The result is
//! checked like a written document. Generated resources have the places of the abstract resource
//! that they come from, so every diagnostic points at the user's text.
//!
//! Not here: the transforms themselves (providers offer them); which types are abstract
//! (`understand::check`).

use std::collections::HashMap;
use std::sync::Arc;

use blueprint::wire::WireDocument;
use blueprint::{Blueprint, Name, Resource};
use diag::{Diagnostics, Span, Spanned};
use expr::FunctionTable;
use provider::{Catalogs, TransformError};

use crate::codes;
use crate::packages::open_packages;
use crate::world::World;
use understand::check;
use understand::check::{CheckContext, Checked, Included};
use understand::documents::Documents;

/// Resources of the document by the place of their name, each with its name and whether its type is
/// abstract.
type WrittenResources = HashMap<Span, (Name, bool), foldhash::fast::FixedState>;

/// Returns the document after its transforms, checked again. Returns the document unchanged if it
/// lists no transforms or they have already run. The result carries its digest, so that a saved
/// plan can detect a different result.
///
/// `None` if a transform failed or its result has errors; `found` then receives the errors that the
/// first check has not reported. The document itself must have no errors.
pub async fn transform(
    checked: Arc<Checked>,
    children: &[Option<Included>],
    catalogs: &Catalogs,
    functions: &FunctionTable,
    world: &dyn World,
    found: &mut Diagnostics,
) -> Option<Arc<Checked>> {
    let original = checked.blueprint.clone();
    if original.transforms.is_empty() || checked.transform_digest.is_some() {
        return Some(checked);
    }
    let written = written(&checked, catalogs);
    let mut blueprint = Blueprint::clone(&original);
    for transform in &original.transforms {
        let given: HashMap<Name, Span, foldhash::fast::FixedState> = blueprint
            .resources
            .iter()
            .map(|(name, resource)| (name.clone(), resource.span))
            .collect();
        let document = match world
            .transform(&transform.item, WireDocument::of(blueprint))
            .await
        {
            Ok(document) => document,
            Err(error) => {
                found.push(failed(transform, &error, |name| given.get(name).copied()));
                return None;
            }
        };
        blueprint = merge_transformed(document, &original, transform, &written, found)?;
    }
    name_sources(&mut blueprint, &written);
    let digest = WireDocument::of(blueprint.clone())
        .to_json()
        .ok()
        .map(|text| crate::answers::digest(text.as_bytes()));
    let mut mistakes = Diagnostics::new();
    blueprint.resolve_types(catalogs.packages());
    open_packages(&blueprint, catalogs, world).await;
    let context = CheckContext::new(catalogs, functions, checked.rules);
    let mut transformed =
        check::check_transformed(Arc::new(blueprint), children, &context, &mut mistakes);
    remove_reported(&mut mistakes, &original, &context);
    let wrong = mistakes.has_errors();
    found.append(mistakes);
    transformed.transform_digest = Some(digest.unwrap_or_else(|| "".into()));
    (!wrong).then(|| Arc::new(transformed))
}

/// Returns all documents after their transforms. Transforms a document once, even if it is included
/// several times.
pub async fn transform_documents(
    documents: Arc<Documents>,
    catalogs: &Catalogs,
    functions: &FunctionTable,
    world: &dyn World,
    found: &mut Diagnostics,
) -> Option<Arc<Documents>> {
    let mut transformed_documents: HashMap<usize, Arc<Checked>, foldhash::fast::FixedState> =
        HashMap::default();
    for (number, unit) in (0..).zip(documents.units()) {
        let checked = &unit.checked;
        if checked.blueprint.transforms.is_empty()
            || transformed_documents.contains_key(&Arc::as_ptr(checked).addr())
        {
            continue;
        }
        let children = documents.children_of(number);
        let transformed = transform(
            checked.clone(),
            &children,
            catalogs,
            functions,
            world,
            found,
        )
        .await?;
        transformed_documents.insert(Arc::as_ptr(checked).addr(), transformed);
    }
    if transformed_documents.is_empty() {
        return Some(documents);
    }
    Some(Arc::new(documents.with_checked(
        |checked| {
            transformed_documents
                .get(&Arc::as_ptr(checked).addr())
                .cloned()
        },
        found,
    )))
}

fn written(checked: &Checked, catalogs: &Catalogs) -> WrittenResources {
    let abstract_types = |name: &str| {
        catalogs
            .iter()
            .flat_map(|catalog| catalog.transforms.values())
            .any(|transform| transform.abstract_types.contains_key(name))
    };
    let resources = checked
        .blueprint
        .resources
        .iter()
        .zip(&checked.resource_types);
    resources
        .map(|((name, resource), ty)| {
            let is_abstract = ty.is_none() && abstract_types(&resource.type_name.item);
            (resource.span, (name.clone(), is_abstract))
        })
        .collect()
}

fn failed(
    transform: &Spanned<Name>,
    error: &TransformError,
    place: impl Fn(&Name) -> Option<Span>,
) -> diag::Diagnostic {
    let span = error.resource.as_ref().and_then(place);
    codes::TRANSFORM_FAILED
        .new(format!(
            "the transform `{}` gave up: {}",
            transform.item, error.message
        ))
        .label(
            span.unwrap_or(transform.span),
            if span.is_some() {
                "because of this resource"
            } else {
                ""
            },
        )
}

/// The result of a transform, with the elements that the transform does not receive. `None` if
/// names collide or are invalid.
fn merge_transformed(
    document: WireDocument,
    original: &Blueprint,
    transform: &Spanned<Name>,
    written: &WrittenResources,
    found: &mut Diagnostics,
) -> Option<Blueprint> {
    // A resource without a known place is attributed to the transform as a whole.
    let place = |resource: &Resource| {
        if written.contains_key(&resource.span) {
            resource.span
        } else {
            transform.span
        }
    };
    let mut fine = true;
    let mut first: HashMap<&Name, &Resource, foldhash::fast::FixedState> = HashMap::default();
    for (name, resource) in &document.resources {
        if !is_name(name) {
            fine = false;
            let error = TransformError::whole(format!(
                "it made a resource called `{name}`, which is no name"
            ));
            found
                .push(failed(transform, &error, |_| None).label(place(resource), "made from this"));
        }
        let Some(taken) = first.insert(name, resource) else {
            continue;
        };
        fine = false;
        let is_abstract = |resource: &Resource| {
            written
                .get(&resource.span)
                .is_some_and(|(_, is_abstract)| *is_abstract)
        };
        // Report at the abstract resource; if both or neither are abstract, at the later one.
        let (at, other) = match (is_abstract(taken), is_abstract(resource)) {
            (true, false) => (taken, resource),
            (false, true) => (resource, taken),
            _ if taken.span.start > resource.span.start => (taken, resource),
            _ => (resource, taken),
        };
        found.push(
            codes::NAME_COLLISION
                .new(format!(
                    "the transform `{}` makes a second resource called `{name}`",
                    transform.item
                ))
                .label(place(at), format!("`{name}` would be made from this"))
                .label(place(other), "this has the name already")
                .help("rename one of the two"),
        );
    }
    if !fine {
        return None;
    }
    let (mut blueprint, _) = document.into_blueprint();
    blueprint.dialect = original.dialect;
    blueprint.version = original.version.clone();
    blueprint.span = original.span;
    blueprint.transforms = original.transforms.clone();
    for resource in blueprint.resources.values_mut() {
        resource.span = place(resource);
    }
    Some(blueprint)
}

/// Whether a text is a valid name of a resource (decisions/blueprint#declared-names).
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

/// Records for each resource the abstract resource that it comes from.
fn name_sources(blueprint: &mut Blueprint, written: &WrittenResources) {
    for resource in blueprint.resources.values_mut() {
        let source = written
            .get(&resource.span)
            .filter(|(_, is_abstract)| *is_abstract);
        resource.made_from = source.map(|(name, _)| name.clone());
    }
}

/// Removes the diagnostics that the first check has already reported.
fn remove_reported(
    mistakes: &mut Diagnostics,
    original: &Arc<Blueprint>,
    context: &CheckContext<'_>,
) {
    if mistakes.is_empty() {
        return;
    }
    let mut before = Diagnostics::new();
    check::check(original.clone(), context, &mut before);
    let reported: std::collections::HashSet<(&str, Span, &str), foldhash::fast::FixedState> =
        before
            .iter()
            .map(|it| (it.code.name, it.span(), it.message.as_str()))
            .collect();
    mistakes.retain(|it| !reported.contains(&(it.code.name, it.span(), it.message.as_str())));
}
