//! The configuration file of a stack, `Pulumi.<stack>.yaml`, as a companion of the program
//! (decisions/pulumi#files-of-stacks).
//!
//! A value of a declared entry is given to it. Other values are visible under their keys, and those
//! of packages configure their default providers.
//!
//! Not here: the types of declared entries (`config`).

use std::any::Any;
use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use diag::{Diagnostics, Spanned};
use dialect::codes::{UNSUPPORTED_FEATURE, WRONG_SHAPE};
use dialect::{Companion, DialectContext, Document, LoadContext, LoadedCompanions};
use syntax::{Content, Node};

use crate::document::UNNAMED;
use crate::read::{RepeatedKey, entries, is_null, text, value_span};
use crate::scalar;

/// The files before the name of the stack and the ending.
const PREFIX: &str = "Pulumi.";
/// The endings of the files.
const ENDINGS: [&str; 3] = [".yaml", ".yml", ".json"];

/// The stack that a file beside a program configures.
pub(crate) fn stack_of(document: &str, file: &str) -> Option<Name> {
    if !crate::FILE_NAMES.contains(&document) {
        return None;
    }
    let name = file.strip_prefix(PREFIX)?;
    let stack = ENDINGS
        .iter()
        .find_map(|ending| name.strip_suffix(ending))?;
    (!stack.is_empty()).then(|| stack.into())
}

/// The values of a stack by their full keys, such as `aws:region`.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackConfig {
    values: Arc<IndexMap<Name, Spanned<Value>>>,
}

impl DialectContext for StackConfig {
    /// A child gets its configuration from its parent.
    fn for_child(&self, _child: &str, _type_name: &str) -> Arc<dyn DialectContext> {
        Arc::new(StackConfig::default())
    }

    fn identity(&self) -> usize {
        match self.values.is_empty() {
            true => 0,
            false => Arc::as_ptr(&self.values).addr(),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl StackConfig {
    /// The configuration in a context; empty if there is none.
    pub(crate) fn of(context: &LoadContext) -> StackConfig {
        let own = context.dialect_context.as_ref();
        let own = own.and_then(|own| own.as_any().downcast_ref::<StackConfig>());
        own.cloned().unwrap_or_default()
    }

    /// The value of a full key.
    pub(crate) fn get(&self, key: &str) -> Option<&Spanned<Value>> {
        self.values.get(key)
    }

    /// The values of a namespace with their keys in it.
    pub(crate) fn of_namespace<'a>(
        &'a self,
        namespace: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a Spanned<Value>)> {
        self.values.iter().filter_map(move |(key, value)| {
            let rest = key.strip_prefix(namespace)?.strip_prefix(':')?;
            Some((rest, value))
        })
    }
}

/// Reads the files of a stack. A later file takes precedence.
pub(crate) fn read(root: &Document<'_>, beside: &[Companion<'_>]) -> LoadedCompanions {
    let mut found = Diagnostics::new();
    let program = root.tree().root.as_ref();
    let project = program
        .and_then(|program| program.get("name"))
        .and_then(text)
        .unwrap_or(UNNAMED);
    let mut values = IndexMap::default();
    for companion in beside {
        if let Some(node) = &companion.tree.root {
            read_file(node, project, &mut values, &mut found);
        }
    }
    let mut input_values = IndexMap::default();
    for (entry, stack_key) in program.into_iter().flat_map(declared) {
        let full = match stack_key.contains(':') {
            true => stack_key.to_owned(),
            false => format!("{project}:{stack_key}"),
        };
        if let Some(value) = values.get(full.as_str()) {
            input_values.insert(Name::from(entry), value.item.clone());
        }
    }
    LoadedCompanions {
        context: LoadContext {
            dialect_context: Some(Arc::new(StackConfig {
                values: Arc::new(values),
            })),
            ..root.context.clone()
        },
        input_values,
        diagnostics: found,
    }
}

/// The declared entries of a program with the keys of their values in the stack's file.
fn declared(program: &Node) -> Vec<(&str, &str)> {
    let sections = ["config", "configuration"].into_iter();
    let sections = sections.filter_map(|key| program.get(key)?.as_map());
    let mut declared = Vec::new();
    for entry in sections.flatten() {
        let Some(name) = text(&entry.key) else {
            continue;
        };
        let renamed = entry.value.get("name").and_then(text);
        declared.push((name, renamed.unwrap_or(name)));
    }
    declared
}

fn read_file(
    root: &Node,
    project: &str,
    values: &mut IndexMap<Name, Spanned<Value>>,
    found: &mut Diagnostics,
) {
    if let Some(entry) = root
        .entry("environment")
        .filter(|entry| !is_null(&entry.value))
    {
        found.push(
            UNSUPPORTED_FEATURE
                .new("environments of Pulumi ESC are not read")
                .label(value_span(&entry.key), "not available in this version")
                .help("write the values under `config`, or give them with `--var`"),
        );
    }
    let Some(config) = root.get("config").filter(|node| !is_null(node)) else {
        return;
    };
    let Some(all) = entries(config, RepeatedKey::LastCounts, found) else {
        found.push(
            WRONG_SHAPE
                .new("`config` must be a map")
                .label(value_span(config), "not a map"),
        );
        return;
    };
    for entry in all {
        let Some(key) = full_key(&entry.key.item, project) else {
            found.push(
                WRONG_SHAPE
                    .new(format!("`{}` is no key of configuration", entry.key.item))
                    .label(entry.key.span, "not a key")
                    .help("write `NAMESPACE:KEY`, or `KEY` for the project's own"),
            );
            continue;
        };
        if let Some(value) = stack_value(entry.value, found) {
            values.insert(key, Spanned::new(value, entry.key.span));
        }
    }
}

/// The key with its namespace: `KEY` belongs to the project, `NS:config:KEY` is an older form of
/// `NS:KEY`.
fn full_key(written: &str, project: &str) -> Option<Name> {
    let parts: Vec<&str> = written.split(':').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return None;
    }
    match parts.as_slice() {
        [key] => Some(format!("{project}:{key}").into()),
        [namespace, key] | [namespace, "config", key] => Some(format!("{namespace}:{key}").into()),
        _ => None,
    }
}

/// The value of a node: a text, as the stack stores it, or a list or map. `None` for an encrypted
/// value, which is reported.
fn stack_value(node: &Node, found: &mut Diagnostics) -> Option<Value> {
    if is_encrypted(node) {
        found.push(
            UNSUPPORTED_FEATURE
                .new("encrypted values of a stack are not decrypted yet")
                .label(value_span(node), "encrypted")
                .help("give the value with `--var KEY=VALUE` and remove this entry"),
        );
        return None;
    }
    match &node.content {
        Content::Scalar(scalar) => Some(Value::text(&*scalar.text)),
        _ => nested_value(node, found),
    }
}

/// A value in a list or map. Its scalars have their types.
fn nested_value(node: &Node, found: &mut Diagnostics) -> Option<Value> {
    match &node.content {
        Content::Scalar(scalar) => Some(scalar::typed(node, scalar)),
        Content::List(items) => {
            let mut values = Vec::with_capacity(items.len());
            for item in items {
                values.push(inner_value(item, found)?);
            }
            Some(Value::list(values))
        }
        Content::Map(_) => {
            let mut values = Vec::new();
            for entry in entries(node, RepeatedKey::LastCounts, found)? {
                values.push((entry.key.item, inner_value(entry.value, found)?));
            }
            Some(Value::map(values))
        }
        Content::Missing => None,
    }
}

fn inner_value(node: &Node, found: &mut Diagnostics) -> Option<Value> {
    match is_encrypted(node) {
        true => stack_value(node, found),
        false => nested_value(node, found),
    }
}

/// Whether a value is `{secure: TEXT}`.
fn is_encrypted(node: &Node) -> bool {
    let Some([entry]) = node.as_map() else {
        return false;
    };
    entry.key.text() == Some("secure") && entry.value.as_scalar().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_that_of_the_stack_in_its_name() {
        for (document, file, stack) in [
            ("Pulumi.yaml", "Pulumi.dev.yaml", Some("dev")),
            ("Main.yaml", "Pulumi.prod.eu.yaml", Some("prod.eu")),
            ("Pulumi.json", "Pulumi.dev.json", Some("dev")),
            ("Pulumi.yaml", "Pulumi.yaml", None),
            ("Pulumi.yaml", "Other.dev.yaml", None),
            ("shop.blueprint.yaml", "Pulumi.dev.yaml", None),
        ] {
            assert_eq!(stack_of(document, file).as_deref(), stack, "{file}");
        }
    }

    #[test]
    fn a_key_without_a_namespace_belongs_to_the_project() {
        for (written, key) in [
            ("size", Some("shop:size")),
            ("aws:region", Some("aws:region")),
            ("aws:config:region", Some("aws:region")),
            ("aws:", None),
            ("a:b:c", None),
        ] {
            assert_eq!(full_key(written, "shop").as_deref(), key, "{written}");
        }
    }
}
