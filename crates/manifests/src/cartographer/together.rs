//! Reports what the objects of a document show together: paths and tags that lead nowhere, parts that
//! nobody uses.

use std::collections::HashSet;

use blueprint::{IndexMap, Value};
use cartographer::checks::faults_of_set;
use cartographer::validation::FaultClass;
use diag::{Code, Diagnostics, Span};
use kubernetes::structural::StructuralSchema;

use super::codes;
use super::faults::diagnostic_with;
use super::platform::{CartoObject, Platform};
use super::written::value_of;
use crate::objects::DeclaredObject;

/// The schemas of the kinds that definitions in a document declare, by `apiVersion` and `kind`.
pub(super) struct DefinedSchemas(IndexMap<(String, String), StructuralSchema>);

impl DefinedSchemas {
    /// Reads the definitions among the objects of a document. What an API server would refuse is left
    /// out: it says so when the definition is deployed.
    pub(super) fn read(objects: &[DeclaredObject]) -> DefinedSchemas {
        let mut schemas = IndexMap::default();
        for object in objects {
            let kind = &object.identity.kind.item;
            if kind.is("apiextensions.k8s.io", "CustomResourceDefinition") {
                add_definition(&value_of(&object.resource.spec), &mut schemas);
            }
        }
        DefinedSchemas(schemas)
    }

    fn get(&self, api_version: &str, kind: &str) -> Option<&StructuralSchema> {
        self.0.get(&(api_version.to_owned(), kind.to_owned()))
    }
}

fn add_definition(
    definition: &Value,
    schemas: &mut IndexMap<(String, String), StructuralSchema>,
) -> Option<()> {
    let spec = definition.get("spec")?;
    let group = spec.get("group")?.as_text()?;
    let kind = spec.get("names")?.get("kind")?.as_text()?;
    for version in spec.get("versions")?.as_list()? {
        let Some(version) = version.get("name").and_then(Value::as_text) else {
            continue;
        };
        if let Ok(schema) = StructuralSchema::of_definition(definition, version) {
            schemas.insert((format!("{group}/{version}"), kind.to_owned()), schema);
        }
    }
    Some(())
}

/// Reports what the objects of a platform show together, unless something else is reported at the same
/// place: what an owner shows is the better message.
pub(super) fn check_together(
    platform: &Platform,
    schemas: &DefinedSchemas,
    found: &mut Diagnostics,
) {
    let objects: Vec<&CartoObject> = platform.objects().collect();
    let values: Vec<Value> = objects.iter().map(|object| object.value.clone()).collect();
    let reported: HashSet<Span, foldhash::fast::FixedState> =
        found.iter().map(diag::Diagnostic::span).collect();
    for fault in faults_of_set(&values, &|version, kind| schemas.get(version, kind)) {
        let (Some(object), Some(code)) = (objects.get(fault.object), code_of(fault.fault.class))
        else {
            continue;
        };
        // Mistakes of a platform elsewhere are reported where it is declared.
        if object.is_outside {
            continue;
        }
        let diagnostic = diagnostic_with(code, object, fault.fault);
        if !reported.contains(&diagnostic.span()) {
            found.push(diagnostic);
        }
    }
}

/// The code of a class of faults; `None` if the owners that it is about report it themselves.
fn code_of(class: FaultClass) -> Option<&'static Code> {
    match class {
        FaultClass::SelectorTie | FaultClass::NoOption | FaultClass::NoBlueprint => None,
        FaultClass::UnknownTemplate | FaultClass::UndeclaredParam => Some(&codes::CHAIN_HINT),
        FaultClass::UnusedTemplate | FaultClass::UnusedParam => Some(&codes::UNUSED_PART),
        FaultClass::GenerateName => Some(&codes::TEMPLATE_CONTENT),
        _ => Some(&codes::TEMPLATE_PATH),
    }
}
