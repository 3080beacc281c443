//! The options of registrations, as the program of a plan states them: what each resource depends on,
//! and how it is managed.
//!
//! Not here: options that the plan carries in another form, such as former identities, time limits
//! and versions of plugins.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use blueprint::{
    Blueprint, Expr, ExprKind, Name, PROVIDER_TYPE, ReferenceHead, ReplaceOrder, Resource, Value,
};
use engine::Staged;
use serde_json::{Value as Json, json};

/// The options that are compared.
pub(super) const COMPARED: [&str; 8] = [
    "dependsOn",
    "propertyDependencies",
    "parent",
    "protect",
    "ignoreChanges",
    "retainOnDelete",
    "deleteBeforeReplace",
    "import",
];

/// The options of all resources of the program, by their URNs.
pub(super) fn of(staged: &Staged) -> BTreeMap<String, Json> {
    let Some(evaluation) = &staged.evaluation else {
        return BTreeMap::new();
    };
    let unit = evaluation.documents.unit(0);
    let blueprint = unit.blueprint();
    let urn = |name: &Name| {
        let resource = blueprint.resources.get(name)?;
        let documents = &evaluation.documents;
        let urn = documents.urn_of(unit, name, resource, &evaluation.instance);
        Some(urn.to_string())
    };
    let program = Program {
        blueprint,
        instance: &evaluation.instance,
        urn: &urn,
    };
    let resources = blueprint.resources.iter();
    resources
        .filter_map(|(name, resource)| Some((urn(name)?, program.options(resource))))
        .collect()
}

struct Program<'p> {
    blueprint: &'p Blueprint,
    instance: &'p str,
    urn: &'p dyn Fn(&Name) -> Option<String>,
}

impl Program<'_> {
    fn options(&self, resource: &Resource) -> Json {
        let parent = resource.parent.as_deref().map(|parent| &parent.item);
        let explicit = resource.depends_on.iter().map(|name| &name.item);
        let explicit = explicit.filter(|name| Some(*name) != parent);
        let mut all: BTreeSet<String> = explicit.filter_map(|name| (self.urn)(name)).collect();
        let mut properties = BTreeMap::new();
        for (name, value) in self.inputs(resource) {
            let needed = self.needed(value);
            all.extend(needed.iter().cloned());
            if !needed.is_empty() {
                properties.insert(name.to_string(), needed);
            }
        }
        let lifecycle = &resource.lifecycle;
        let ignored: Vec<&str> = lifecycle.ignore_changes.iter().map(AsRef::as_ref).collect();
        let first = lifecycle
            .replace_order
            .map(|order| order == ReplaceOrder::DeleteFirst);
        json!({
            "dependsOn": all,
            "propertyDependencies": properties,
            "parent": parent.and_then(|parent| (self.urn)(parent)),
            "protect": lifecycle.protect.then_some(true),
            "ignoreChanges": ignored,
            "retainOnDelete": lifecycle.retain.then_some(true),
            "deleteBeforeReplace": first,
            "import": lifecycle.import.as_deref(),
        })
    }

    /// The inputs of a resource with their names, as far as they are written.
    fn inputs<'e>(&self, resource: &'e Resource) -> Vec<(&'e Name, &'e Expr)> {
        let ExprKind::Map(entries) = &resource.spec.kind else {
            return Vec::new();
        };
        let is_provider = resource.type_name.item.as_ref() == PROVIDER_TYPE;
        let settings = entries
            .iter()
            .find(|(key, _)| is_provider && &*key.item == "settings");
        let entries = match settings.map(|(_, settings)| &settings.kind) {
            Some(ExprKind::Map(settings)) => settings,
            Some(_) => return Vec::new(),
            None => entries,
        };
        entries
            .iter()
            .map(|(key, value)| (&key.item, value))
            .collect()
    }

    /// The URNs of all resources that a value needs.
    fn needed(&self, value: &Expr) -> BTreeSet<String> {
        let mut urns = BTreeSet::new();
        let mut passed: HashSet<&Name> = HashSet::new();
        let mut open = vec![value];
        while let Some(expr) = open.pop() {
            expr.references(&mut |reference| match &reference.head {
                ReferenceHead::Resource { name, .. } => urns.extend((self.urn)(name)),
                ReferenceHead::Local(name) => {
                    let local = self.blueprint.locals.get_key_value(name);
                    let Some((name, local)) = local else { return };
                    match self.read_urn(&local.value) {
                        Some(urn) => urns.extend([urn]),
                        None if passed.insert(name) => open.push(&local.value),
                        None => {}
                    }
                }
                _ => {}
            });
        }
        urns
    }

    /// The URN of an object that a value reads.
    fn read_urn(&self, value: &Expr) -> Option<String> {
        let ExprKind::Call(call) = &value.kind else {
            return None;
        };
        let [function, arguments, ..] = call.arguments.as_slice() else {
            return None;
        };
        let function = function.value.as_literal().and_then(Value::as_text)?;
        let ExprKind::Map(arguments) = &arguments.value.kind else {
            return None;
        };
        let text = |name: &str| {
            let argument = arguments.iter().find(|(key, _)| &*key.item == name)?;
            argument.1.as_literal().and_then(Value::as_text)
        };
        let (stack, project, name) = (self.instance, text("project")?, text("name")?);
        let urn = format!("urn:pulumi:{stack}::{project}::::{name}");
        function.contains("/(get)").then_some(urn)
    }
}
