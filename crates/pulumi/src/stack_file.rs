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

use crate::codes::LOCKED_VALUE;
use crate::passphrase::{DecryptError, StackCipher};
use crate::read::{RepeatedKey, entries, is_null, text, value_span};
use crate::scalar;
use crate::shape::UNNAMED;

/// The files before the name of the stack and the ending.
const PREFIX: &str = "Pulumi.";
/// The endings of the files.
const ENDINGS: [&str; 3] = [".yaml", ".yml", ".json"];

/// The stack that a file beside a program configures.
pub(crate) fn stack_of(document: &str, file: &str) -> Option<Name> {
    if !crate::shape::FILE_NAMES.contains(&document) {
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

/// Reads the files of a stack. A later file takes precedence. `passphrase` returns that of the user.
pub(crate) fn read(
    root: &Document<'_>,
    beside: &[Companion<'_>],
    passphrase: fn() -> Option<String>,
) -> LoadedCompanions {
    let program = root.tree().root.as_ref();
    let project = program
        .and_then(|program| program.get("name"))
        .and_then(text)
        .unwrap_or(UNNAMED);
    let mut found = Diagnostics::new();
    let mut values = IndexMap::default();
    for companion in beside {
        if let Some(node) = &companion.tree.root {
            let mut file = StackFile {
                root: node,
                project,
                is_check: companion.is_check,
                passphrase,
                cipher: None,
                found: &mut found,
            };
            file.read(&mut values);
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

/// A file of a stack while it is read.
struct StackFile<'t> {
    root: &'t Node,
    project: &'t str,
    /// Whether only a check reads it: encrypted values may stay unknown.
    is_check: bool,
    passphrase: fn() -> Option<String>,
    /// The cipher, once it was needed; an error was reported.
    cipher: Option<Result<StackCipher, Locked>>,
    found: &'t mut Diagnostics,
}

/// Nothing can be decrypted; this was reported, or a check does not need it.
#[derive(Clone, Copy)]
struct Locked;

impl StackFile<'_> {
    fn read(&mut self, values: &mut IndexMap<Name, Spanned<Value>>) {
        let environment = self.root.entry("environment");
        if let Some(entry) = environment.filter(|entry| !is_null(&entry.value)) {
            self.found.push(
                UNSUPPORTED_FEATURE
                    .new("environments of Pulumi ESC are not read")
                    .label(value_span(&entry.key), "not available in this version")
                    .help("write the values under `config`, or give them with `--var`"),
            );
        }
        let Some(config) = self.root.get("config").filter(|node| !is_null(node)) else {
            return;
        };
        let Some(all) = entries(config, RepeatedKey::LastCounts, self.found) else {
            self.found.push(
                WRONG_SHAPE
                    .new("`config` must be a map")
                    .label(value_span(config), "not a map"),
            );
            return;
        };
        for entry in all {
            let Some(key) = full_key(&entry.key.item, self.project) else {
                self.found.push(
                    WRONG_SHAPE
                        .new(format!("`{}` is no key of configuration", entry.key.item))
                        .label(entry.key.span, "not a key")
                        .help("write `NAMESPACE:KEY`, or `KEY` for the project's own"),
                );
                continue;
            };
            if let Some(value) = self.value(entry.value) {
                values.insert(key, Spanned::new(value, entry.key.span));
            }
        }
    }

    /// The value of a node: a text, as the stack stores it, or a list or map. Unknown parts cannot be
    /// decrypted; this was reported, unless a check reads the file.
    fn value(&mut self, node: &Node) -> Option<Value> {
        match &node.content {
            Content::Scalar(scalar) => Some(Value::text(&*scalar.text)),
            _ => self.nested(node),
        }
    }

    /// A value in a list or map. Its scalars have their types.
    fn nested(&mut self, node: &Node) -> Option<Value> {
        if let Some(encrypted) = encrypted_text(node) {
            return self.decrypted(encrypted, node);
        }
        match &node.content {
            Content::Scalar(scalar) => Some(scalar::typed(node, scalar)),
            Content::List(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(self.nested(item)?);
                }
                Some(Value::list(values))
            }
            Content::Map(_) => {
                let mut values = Vec::new();
                for entry in entries(node, RepeatedKey::LastCounts, self.found)? {
                    values.push((entry.key.item, self.nested(entry.value)?));
                }
                Some(Value::map(values))
            }
            Content::Missing => None,
        }
    }

    fn decrypted(&mut self, text: &str, node: &Node) -> Option<Value> {
        if self.cipher.is_none() {
            self.cipher = Some(self.unlock(node));
        }
        // The lack of a key is one error: what reads the value goes on without it.
        let unknown = Some(Value::unknown(None, None).secret());
        let Some(Ok(cipher)) = &self.cipher else {
            return unknown;
        };
        match cipher.decrypt(text) {
            Ok(plain) => Some(Value::text(plain).secret()),
            Err(_) => {
                self.found.push(
                    LOCKED_VALUE
                        .new("the value cannot be decrypted")
                        .label(value_span(node), "not encrypted with the key of this stack")
                        .help("set it again: `pulumi config set --secret KEY`"),
                );
                unknown
            }
        }
    }

    /// The cipher of the stack. `node` is the first encrypted value.
    fn unlock(&mut self, node: &Node) -> Result<StackCipher, Locked> {
        let passphrase = (self.passphrase)();
        if self.is_check && passphrase.is_none() {
            return Err(Locked);
        }
        let place = value_span(node);
        let locked = LOCKED_VALUE.new("the values of the stack are encrypted");
        let manager = self.root.entry("secretsprovider");
        let manager = manager.filter(|entry| {
            text(&entry.value).is_some_and(|name| !name.is_empty() && name != "passphrase")
        });
        if let Some(entry) = manager {
            self.found.push(
                locked
                    .label(place, "the first of them")
                    .label(value_span(&entry.value), "by a key service")
                    .help("key services are not available in this version: give the values with `--var`"),
            );
            return Err(Locked);
        }
        let Some(salt) = self.root.get("encryptionsalt").and_then(Node::text) else {
            self.found.push(
                locked
                    .label(place, "encrypted, and the file has no `encryptionsalt`")
                    .help("give the value with `--var KEY=VALUE`"),
            );
            return Err(Locked);
        };
        let Some(passphrase) = passphrase else {
            self.found.push(
                locked
                    .label(place, "the first of them, and no passphrase is given")
                    .help("set `PULUMI_CONFIG_PASSPHRASE`, or `PULUMI_CONFIG_PASSPHRASE_FILE`"),
            );
            return Err(Locked);
        };
        StackCipher::unlock(salt, &passphrase).map_err(|error| {
            let why = match error {
                DecryptError::WrongKey => "the passphrase does not fit",
                DecryptError::Malformed => "the key of the stack has another form",
            };
            let salt = self.root.get("encryptionsalt");
            self.found.push(
                LOCKED_VALUE
                    .new(why)
                    .label(salt.map_or(place, value_span), "the key of the stack")
                    .help("see `PULUMI_CONFIG_PASSPHRASE` and `PULUMI_CONFIG_PASSPHRASE_FILE`"),
            );
            Locked
        })
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

/// The text in `{secure: TEXT}`.
fn encrypted_text(node: &Node) -> Option<&str> {
    let [entry] = node.as_map()? else {
        return None;
    };
    let text = entry.value.as_scalar()?;
    (entry.key.text() == Some("secure")).then_some(&text.text)
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
