//! `cyan import`.

use std::path::Path;

use blueprint::{Address, Blueprint, TypeId};
use diag::{Diagnostic, Diagnostics, Files};
use engine::{Options, Surgery, codes};
use state::InstanceName;

use crate::arguments::{Global, Import, Inputs};
use crate::commands::state::{Place, change, meant};
use crate::exit::{CommandError, Exit};
use crate::inputs;
use crate::operation::Wanted;
use crate::setup::{Document, Known, Setup, Source};
use crate::view::report::Report;

pub(crate) async fn run(arguments: Import, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let Import { type_name, id, address, which, consent } = arguments;
    let type_name = TypeId::parse(type_name);
    if id.is_empty() {
        return Err(CommandError::usage("the id is empty; name the provider's id of the thing"));
    }
    let namespace = type_name.package_name().to_owned();
    let place = Place { which, may_be_new: None, namespaces: vec![namespace] };
    let (setup, instance) = meant(&place, global, report).await?;
    if !is_declared(&type_name, &address, &setup, &instance, report).await? {
        return Ok(Exit::Unusable);
    }
    let surgery = Surgery::Import { type_name, id: id.into(), address };
    let options = Options { refresh: false, surgery: Some(surgery), ..Options::default() };
    change(place, options, &consent.into(), global, report).await
}

/// Whether the document of the instance declares a resource of that type under that address: what it does not declare the
/// next deploy would delete. Why not has been said.
async fn is_declared(
    type_name: &TypeId,
    address: &Address,
    setup: &Setup,
    instance: &InstanceName,
    report: &mut Report,
) -> Result<bool, CommandError> {
    let recorded = setup.reading().load(instance).await?.document;
    let source = match (recorded.as_ref(), Source::here()) {
        ("" | "-", Ok(Some(here))) => Source::find(Some(Path::new(&here)))?,
        ("" | "-", _) => {
            let diagnostic = codes::UNKNOWN_ADDRESS
                .new(format!("there is no document that declares `{address}`"))
                .help("write the resource into a document, and import it in the folder of that");
            report.diagnostics(&[diagnostic].into_iter().collect(), &Files::new());
            return Ok(false);
        }
        (recorded, _) => Source::find(Some(&setup.place.base().join(recorded)))?,
    };
    let document = Document::check(source, &setup.global.offer, &Known::NOTHING, |_| false).await;
    if document.found.has_errors() {
        report.diagnostics(&document.found, &document.files);
        return Ok(false);
    }
    let mut found = Diagnostics::new();
    let units = document.documents.iter().flat_map(|documents| documents.units());
    let inner = units.filter(|unit| unit.path[..] == address.path[..]).map(|unit| unit.blueprint()).next();
    let root = document.checked.as_ref().map(|checked| &*checked.blueprint);
    match (address.path.first(), inner, root) {
        (None, _, Some(blueprint)) | (Some(_), Some(blueprint), _) => {
            found.extend(undeclared(blueprint, &document.source.shown, type_name, address));
        }
        // A child that can be read only with inputs: the include at least is there.
        (Some(child), None, Some(blueprint)) if blueprint.children.contains_key(child) => {}
        (_, _, blueprint) => {
            let known = blueprint.iter().flat_map(|it| it.children.keys()).map(AsRef::as_ref);
            let written = address.path.first().map_or("", AsRef::as_ref);
            let diagnostic = not_declared(&document.source.shown, address).help_nearest(written, known);
            found.push(diagnostic.help("write the resource first, then import it"));
        }
    }
    let declared = found.is_empty();
    report.diagnostics(&found, &document.files);
    let is_conditional =
        root.and_then(|root| root.resources.get(&address.name)).is_some_and(|resource| resource.condition.is_some());
    if !declared || address.key.is_none() && address.path.is_empty() && !is_conditional {
        return Ok(declared);
    }
    let (found, files) = not_there(document, address, setup, instance).await?;
    report.diagnostics(&found, &files);
    Ok(found.is_empty())
}

/// Why there is nothing under a declared address, if that can be told: there is no such element, or a condition is false.
/// Lists and conditions may depend on inputs that are not known here.
async fn not_there(
    mut document: Document,
    address: &Address,
    setup: &Setup,
    instance: &InstanceName,
) -> Result<(Diagnostics, Files), CommandError> {
    let nothing = (Diagnostics::new(), Files::new());
    let Some(checked) = document.checked.clone() else { return Ok(nothing) };
    let (blueprint, mut found) = (&checked.blueprint, Diagnostics::new());
    let (environment, defaults) = (document.environment.clone(), &setup.config.vars);
    let mut given =
        inputs::gather(blueprint, &environment, defaults, &Inputs::default(), &mut document.files, &mut found)?;
    inputs::keep(blueprint, &mut given, setup.reading().as_ref(), instance).await?;
    engine::judge_inputs(&checked, &given, true, &mut found);
    if found.has_errors() {
        return Ok(nothing);
    }
    let snapshot = setup.reading().load(instance).await?;
    let frozen = document.frozen(&setup.place);
    let mut document = document.complete(&given, &snapshot, |_| false).await;
    let Some(documents) = document.documents.clone().filter(|_| !document.found.has_errors()) else {
        return Ok(nothing);
    };
    document.registry.open_world(&setup.place)?;
    let shell = setup.shell(&document.registry, instance, document.source.folder.clone())?;
    let simulated = setup.global.offer.simulated;
    let (targets, importing) = (vec![address.clone()], vec![address.clone()]);
    let options = Options { refresh: false, targets, importing, simulated, ..Options::default() };
    let wanted = Wanted { document: Some((documents, frozen)), given, options, snapshot, answers: None };
    let others = setup.reading();
    // The thing stands where it would be created, so this plan may be refused. Whether it knows the address is told all the same.
    engine::plan(wanted.request(&shell, &document.registry, others.as_ref()), &mut found).await;
    let is_told =
        |one: &&Diagnostic| [&codes::UNKNOWN_ADDRESS, &codes::IMPORT_FAILED].iter().any(|it| it.name == one.code.name);
    Ok((found.iter().filter(is_told).cloned().collect(), document.files))
}

fn not_declared(document: &str, address: &Address) -> Diagnostic {
    codes::UNKNOWN_ADDRESS.new(format!("`{document}` does not declare `{address}`"))
}

/// Why a document has nothing of that type under that address, if so.
fn undeclared(blueprint: &Blueprint, document: &str, type_name: &TypeId, address: &Address) -> Option<Diagnostic> {
    let known = blueprint.resources.keys().map(AsRef::as_ref);
    let resource = match blueprint.resources.get(&address.name) {
        Some(resource) if address.link.is_none() => resource,
        _ => {
            let diagnostic = not_declared(document, address).help_nearest(&address.name, known);
            return Some(diagnostic.help("write the resource first, then import it"));
        }
    };
    let (name, span) = (&address.name, resource.span);
    match (&resource.each, &address.key) {
        (Some(_), None) => Some(
            not_declared(document, address)
                .label(span, format!("`{name}` is a template with `each`"))
                .help(format!("name one of its elements: `{name}[0]`")),
        ),
        (None, Some(_)) => {
            let diagnostic = not_declared(document, address).label(span, format!("`{name}` is a single resource"));
            Some(diagnostic.help(format!("leave the key away: `{name}`")))
        }
        _ if resource.type_name.item != *type_name => Some(
            codes::UNKNOWN_ADDRESS
                .new(format!("`{address}` is declared as `{}`, not as `{type_name}`", resource.type_name.item))
                .label(span, "declared here")
                .help(format!("import it as `{}`, or change the document", resource.type_name.item)),
        ),
        _ => None,
    }
}
