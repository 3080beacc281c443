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
use diag::{Diagnostics, Span, Spanned};
use dialect::codes::UNSUPPORTED_FEATURE;
use dialect::{Companion, DialectContext, Document, LoadContext, LoadedCompanions};
use syntax::{Node, Tree};

use crate::codes::LOCKED_VALUE;
use crate::lock_files::LockedPackages;
use crate::passphrase::{DecryptError, StackCipher};
use crate::read::{is_null, text, value_span};
use crate::shape::UNNAMED;
use crate::stack_config::{StackConfig, StackValue};

/// The files before the name of the stack and the ending.
const PREFIX: &str = "Pulumi.";
/// The endings of the files.
const ENDINGS: [&str; 3] = [".yaml", ".yml", ".json"];

/// The stack that a file beside a program configures, by its name.
pub(crate) fn stack_of(file: &str) -> Option<&str> {
    let name = file.strip_prefix(PREFIX)?;
    let stack = ENDINGS
        .iter()
        .find_map(|ending| name.strip_suffix(ending))?;
    (!stack.is_empty()).then_some(stack)
}

/// The values of a stack by their full keys, such as `aws:region`.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackValues {
    /// The project's file beside the program, if it has one of its own.
    pub(crate) project: Option<Arc<Tree>>,
    /// The packages of the lock files.
    pub(crate) locks: Arc<LockedPackages>,
    values: Arc<IndexMap<Name, Spanned<Value>>>,
}

impl DialectContext for StackValues {
    /// A child gets its configuration from its parent.
    fn for_child(&self, _child: &str, _type_name: &str) -> Arc<dyn DialectContext> {
        Arc::new(StackValues::default())
    }

    fn identity(&self) -> usize {
        let is_empty = self.values.is_empty() && self.project.is_none() && self.locks.is_empty();
        match is_empty {
            true => 0,
            false => Arc::as_ptr(&self.values).addr(),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl StackValues {
    /// The configuration in a context; empty if there is none.
    pub(crate) fn of(context: &LoadContext) -> StackValues {
        let own = context.dialect_context.as_ref();
        let own = own.and_then(|own| own.as_any().downcast_ref::<StackValues>());
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

/// What the files of a project say that stands beside a program.
#[derive(Default)]
pub(crate) struct ProjectParts {
    /// The project's file, if it has one of its own.
    pub(crate) project: Option<Arc<Tree>>,
    /// The packages of the lock files.
    pub(crate) locks: LockedPackages,
    /// Mistakes in the lock files.
    pub(crate) found: Diagnostics,
}

/// Reads the files of a stack. A later file takes precedence. `passphrase` returns that of the user.
pub(crate) fn read<'c>(
    root: &Document<'_>,
    beside: impl Iterator<Item = &'c Companion<'c>>,
    parts: ProjectParts,
    passphrase: fn() -> Result<Option<String>, String>,
) -> LoadedCompanions {
    let program = root.tree().root.as_ref();
    let project = program
        .and_then(|program| program.get("name"))
        .and_then(text)
        .unwrap_or(UNNAMED);
    let ProjectParts {
        project: own_project,
        locks,
        mut found,
    } = parts;
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
        // An entry such as `aws:region` is a setting of a package and no input.
        let namespace = entry.split_once(':').map(|(namespace, _)| namespace);
        if namespace.is_some_and(|namespace| namespace != project) {
            continue;
        }
        if let Some(value) = values.get(full.as_str()) {
            input_values.insert(Name::from(entry), value.item.clone());
        }
    }
    LoadedCompanions {
        context: LoadContext {
            dialect_context: Some(Arc::new(StackValues {
                project: own_project,
                locks: Arc::new(locks),
                values: Arc::new(values),
            })),
            ..root.context.clone()
        },
        input_values,
        diagnostics: found,
    }
}

/// The declared entries of a program with the keys of their values in the stack's file.
pub(crate) fn declared(program: &Node) -> Vec<(&str, &str)> {
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
pub(crate) struct StackFile<'t> {
    pub(crate) root: &'t Node,
    pub(crate) project: &'t str,
    /// Whether only a check reads it: encrypted values may stay unknown.
    pub(crate) is_check: bool,
    pub(crate) passphrase: fn() -> Result<Option<String>, String>,
    /// The cipher, once it was needed; an error was reported.
    pub(crate) cipher: Option<Result<StackCipher, Locked>>,
    pub(crate) found: &'t mut Diagnostics,
}

/// Nothing can be decrypted; this was reported, or a check does not need it.
#[derive(Clone, Copy)]
pub(crate) struct Locked;

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
        let Some(block) = self.root.get("config") else {
            return;
        };
        let (config, mistakes) = StackConfig::read(block, self.project);
        self.found.append(mistakes);
        for (key, Spanned { item, span }) in config.into_entries() {
            values.insert(key, Spanned::new(self.value(item), span));
        }
    }

    /// The value of an entry. Parts that cannot be decrypted are unknown; this was reported, unless a
    /// check reads the file.
    fn value(&mut self, value: StackValue) -> Value {
        match value {
            StackValue::Scalar(value) => value,
            StackValue::Secure(text, place) => self.decrypted(&text, place),
            StackValue::List(items) => {
                let items: Vec<Value> = items.into_iter().map(|item| self.value(item)).collect();
                Value::list(items)
            }
            StackValue::Map(entries) => {
                let entries: Vec<(Name, Value)> = entries
                    .into_iter()
                    .map(|(key, value)| (key, self.value(value)))
                    .collect();
                Value::map(entries)
            }
        }
    }

    fn decrypted(&mut self, text: &str, place: Span) -> Value {
        // The lack of a key is one error: what reads the value goes on without it.
        match self.decrypt(text, place) {
            Some(plain) => Value::text(plain).secret(),
            None => Value::unknown(None, None).secret(),
        }
    }

    /// Decrypts a text. `None` if that is not possible, which was reported.
    pub(crate) fn decrypt(&mut self, text: &str, place: Span) -> Option<String> {
        if self.cipher.is_none() {
            self.cipher = Some(self.unlock(place));
        }
        let Some(Ok(cipher)) = &self.cipher else {
            return None;
        };
        let plain = cipher.decrypt(text);
        if plain.is_err() {
            self.found.push(
                LOCKED_VALUE
                    .new("the value cannot be decrypted")
                    .label(place, "not encrypted with the key of this stack")
                    .help("set it again: `cyan config set --secret KEY`"),
            );
        }
        plain.ok()
    }

    /// The cipher of the stack. `place` is that of the first encrypted value.
    pub(crate) fn unlock(&mut self, place: Span) -> Result<StackCipher, Locked> {
        let passphrase = (self.passphrase)();
        if self.is_check && !matches!(passphrase, Ok(Some(_))) {
            return Err(Locked);
        }
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
        let passphrase = match passphrase {
            Ok(Some(passphrase)) => passphrase,
            missing => {
                let locked = locked
                    .label(place, "the first of them, and no passphrase is given")
                    .help("set `PULUMI_CONFIG_PASSPHRASE`, or `PULUMI_CONFIG_PASSPHRASE_FILE`");
                self.found.push(match missing {
                    Err(why) => locked.note(why),
                    Ok(_) => locked,
                });
                return Err(Locked);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_that_of_the_stack_in_its_name() {
        for (file, stack) in [
            ("Pulumi.dev.yaml", Some("dev")),
            ("Pulumi.prod.eu.yml", Some("prod.eu")),
            ("Pulumi.dev.json", Some("dev")),
            ("Pulumi.yaml", None),
            ("Pulumi..yaml", None),
            ("Other.dev.yaml", None),
        ] {
            assert_eq!(stack_of(file), stack, "{file}");
        }
    }
}
