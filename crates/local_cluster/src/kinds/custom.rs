//! Kinds of CustomResourceDefinitions.

use kubernetes::json::from_json;
use std::sync::Arc;

use kubernetes::schema::types_of_crd;
use kubernetes::structural::StructuralSchema;
use serde_json::Value as Json;

use super::scale::ScalePaths;
use super::served::{
    DefinedSchema, GenerationForm, KindNames, KindOrigin, KindScope, ServedKind, ServedVersion,
    StatusForm, VersionSchema, all_verbs,
};
use crate::failure::FieldCause;
use crate::naming::{ResourceName, TypeName};

/// Why a definition is refused; none if it is not.
pub(crate) fn definition_problems(definition: &Json) -> Vec<FieldCause> {
    let mut found = Vec::new();
    let spec = &definition["spec"];
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let (group, plural) = (text(&spec["group"]), text(&spec["names"]["plural"]));
    for (field, value) in [
        ("spec.group", &group),
        ("spec.names.plural", &plural),
        ("spec.names.kind", &text(&spec["names"]["kind"])),
        ("spec.scope", &text(&spec["scope"])),
    ] {
        if value.is_empty() {
            found.push(FieldCause::required(field, ""));
        }
    }
    let scope = &spec["scope"];
    if scope
        .as_str()
        .is_some_and(|scope| !matches!(scope, "Namespaced" | "Cluster"))
    {
        found.push(FieldCause {
            field: "spec.scope".to_owned(),
            reason: "FieldValueNotSupported",
            message: format!(
                "Unsupported value: {scope}: supported values: \"Cluster\", \"Namespaced\""
            ),
        });
    }
    let name = &definition["metadata"]["name"];
    if *name != *format!("{plural}.{group}") {
        let rule = "must be spec.names.plural+\".\"+spec.group";
        found.push(FieldCause::invalid("metadata.name", name, rule));
    }
    let versions = spec["versions"].as_array().map_or(&[][..], Vec::as_slice);
    let stored = versions.iter().filter(|version| version["storage"] == true);
    if stored.count() != 1 {
        let rule = "must have exactly one version marked as storage version";
        found.push(FieldCause::invalid(
            "spec.versions",
            &spec["versions"],
            rule,
        ));
    }
    let value = from_json(definition);
    for (at, version) in versions.iter().enumerate() {
        let field = format!("spec.versions[{at}]");
        let Some(name) = version["name"].as_str().filter(|name| !name.is_empty()) else {
            found.push(FieldCause::required(format!("{field}.name"), ""));
            continue;
        };
        let field = format!("{field}.schema.openAPIV3Schema");
        if !version["schema"]["openAPIV3Schema"].is_object() {
            let rule = "schemas are required";
            found.push(FieldCause::required(field, rule));
        } else if let Err(problem) = StructuralSchema::of_definition(&value, name) {
            let shown = Json::from(name);
            found.push(FieldCause::invalid(field, &shown, &problem.to_string()));
        }
    }
    found
}

/// The kind that a definition defines. `None` if the definition has no served version, or is not
/// well formed.
pub(crate) fn kind_of_definition(definition: &Json) -> Option<ServedKind> {
    let defined = types_of_crd(definition).ok()?;
    let value = from_json(definition);
    let names = &definition["spec"]["names"];
    let list = |field: &str| -> Vec<String> {
        let texts = names[field].as_array().into_iter().flatten();
        texts.filter_map(Json::as_str).map(str::to_owned).collect()
    };
    let kind = defined.kind.kind.to_string();
    let text = |field: &str, default: String| {
        let given = names[field].as_str().filter(|text| !text.is_empty());
        given.map_or(default, str::to_owned)
    };
    let stated = definition["spec"]["versions"].as_array();
    let versions: Vec<ServedVersion> = defined
        .versions
        .iter()
        .filter_map(|version| {
            let structural = StructuralSchema::of_definition(&value, &version.version).ok()?;
            let stated = stated?.iter().find(|own| own["name"] == *version.version)?;
            Some(ServedVersion {
                name: Arc::from(&*version.version),
                status: match stated["subresources"]["status"].is_object() {
                    true => StatusForm::Subresource,
                    false => StatusForm::Field,
                },
                scale: ScalePaths::of_definition(stated),
                columns: Some(
                    stated["additionalPrinterColumns"]
                        .as_array()
                        .cloned()
                        .unwrap_or_default()
                        .into(),
                ),
                schema: VersionSchema::Defined(Box::new(DefinedSchema {
                    structural,
                    forms: version.schema.forms.clone(),
                })),
            })
        })
        .collect();
    if versions.is_empty() {
        return None;
    }
    Some(ServedKind {
        resource: ResourceName::new(&defined.kind.group, &defined.plural),
        type_name: TypeName {
            group: Arc::from(&*defined.kind.group),
            kind: Arc::from(kind.as_str()),
        },
        names: KindNames {
            singular: text("singular", kind.to_lowercase()),
            list_kind: text("listKind", format!("{kind}List")),
            short: list("shortNames"),
            categories: list("categories"),
        },
        scope: match defined.is_namespaced {
            true => KindScope::Namespaced,
            false => KindScope::Cluster,
        },
        versions,
        verbs: all_verbs(),
        origin: KindOrigin::Defined,
        generation: GenerationForm::Counted,
    })
}
