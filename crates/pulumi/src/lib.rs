//! The dialect `pulumi`: programs of Pulumi YAML, as `Pulumi.yaml`, `Main.yaml` or their JSON forms.
//!
//! ```text
//! Tree ──> names of all ──> sections ──> Blueprint
//!          entries          calls, `${..}`
//! ```
//!
//! A program has the meaning of the Pulumi YAML specification and of today's language
//! (docs/decisions/pulumi.md). Configuration becomes inputs, variables become named intermediate values,
//! outputs become exports. A type token `aws:s3/bucket:Bucket` becomes the type
//! `pulumi:aws/s3/bucket:Bucket`: packages of programs have namespaces of their own.
//!
//! Not here: starting plugins (`pulumi_host`), the types of packages (`pulumi_wire`), evaluation.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod access;
mod call_forms;
mod codes;
mod compat;
mod computed;
mod config;
mod constant;
mod document;
mod existing;
mod expressions;
mod fitting;
mod former;
pub mod functions;
mod lock_files;
mod lowering;
mod native;
mod options;
mod packages;
mod passphrase;
#[cfg(test)]
mod program_tests;
mod project;
mod read;
mod reference;
mod required_version;
mod resources;
mod rules;
mod scalar;
mod secret_manager;
mod shape;
mod stack_config;
mod stack_edit;
mod stack_file;
mod stack_reference;
mod std_calls;
mod std_lowering;
mod std_own;
mod std_package;
mod ties;
mod tokens;
mod untyped;
mod version;
mod written;

use blueprint::{Blueprint, Expr, Name, Packages};
use diag::{Code, Diagnostic, Diagnostics};
use dialect::{
    Companion, CompanionNames, ConfigEdit, ConfigEdited, ConfigEntry, ConfigKey, Dialect,
    DialectRules, DialectSetting, DialectSettings, Document, Explained, FillRandom, InstanceFile,
    InstanceFiles, LoadedCompanions, Lowered, NewKey, SecretManager, Shape, TextCipher, Wanted,
};
use expr::FunctionTable;

pub use codes::CODES;
pub use shape::NAME;
pub use stack_config::{StackConfig, StackValue};

/// Pulumi YAML.
pub struct PulumiDialect {
    /// Returns the passphrase of the user's stacks; `Ok(None)` if the user gives none. An error is a
    /// phrase that says why it cannot be read.
    pub passphrase: fn() -> Result<Option<String>, String>,
}

impl PulumiDialect {
    /// The dialect without a passphrase: encrypted values of stacks are reported.
    pub const LOCKED: PulumiDialect = PulumiDialect {
        passphrase: || Ok(None),
    };
}

impl Dialect for PulumiDialect {
    fn name(&self) -> &'static str {
        NAME
    }

    fn codes(&self) -> &'static [&'static [&'static Code]] {
        static ALL: &[&[&Code]] = &[codes::CODES];
        ALL
    }

    fn recognise(&self, document: &Document<'_>) -> u8 {
        let Some(root) = document.tree().root.as_ref() else {
            return 0;
        };
        let runtime = root.get("runtime");
        let runtime = runtime.map(|node| node.get("name").unwrap_or(node));
        if let Some(runtime) = runtime {
            // A project in another language is no program of this one.
            return if runtime.text() == Some("yaml") {
                100
            } else {
                0
            };
        }
        let is_named = shape::FILE_NAMES.contains(&document.name);
        if is_named && root.as_map().is_some() {
            90
        } else {
            0
        }
    }

    fn shape(&self) -> &'static Shape {
        &shape::SHAPE
    }

    fn functions(&self) -> Vec<Explained> {
        functions::explained()
    }

    fn required_data(&self, document: &Document<'_>) -> Vec<Wanted> {
        project::with_project(document, packages::required)
    }

    fn lower(
        &self,
        document: &Document<'_>,
        _functions: &FunctionTable,
        packages: &Packages,
    ) -> Lowered {
        let mut lowered = project::with_project(document, document::lower);
        lowered.blueprint.resolve_types(packages);
        lowered
    }

    fn rules(&self) -> DialectRules {
        rules::RULES
    }

    fn companion_names(&self, document: &str) -> Option<CompanionNames> {
        let is_program = shape::FILE_NAMES.contains(&document);
        is_program.then_some(stack_file::stack_of)
    }

    fn project_files(&self, document: &str) -> &'static [&'static str] {
        project::project_files(document)
    }

    fn project_folders(&self, document: &str) -> &'static [&'static str] {
        match shape::FILE_NAMES.contains(&document) {
            true => &lock_files::FOLDERS,
            false => &[],
        }
    }

    fn programs_of(&self, name: &str, text: &str) -> Vec<Name> {
        project::programs_of(name, text)
    }

    fn instance_files(&self, document: &str) -> Option<&dyn InstanceFiles> {
        shape::FILE_NAMES.contains(&document).then_some(self)
    }

    fn secret_manager(&self) -> Option<&dyn SecretManager> {
        Some(self)
    }

    fn read_companions(
        &self,
        root: &Document<'_>,
        beside: &[Companion<'_>],
    ) -> Option<LoadedCompanions> {
        (self.recognise(root) > 0).then(|| project::read_beside(root, beside, self.passphrase))
    }

    fn settings(&self) -> &'static [DialectSetting] {
        &compat::SETTINGS
    }

    fn insert_functions(&self, table: &mut FunctionTable, _settings: &DialectSettings) {
        native::insert_functions(table);
    }

    fn expression(&self, typed: &Document<'_>, of: &Blueprint) -> Option<(Expr, Diagnostics)> {
        Some(document::expression(typed, of))
    }
}

impl SecretManager for PulumiDialect {
    fn unlock(&self, kind: &str, data: &str) -> Result<Box<dyn TextCipher>, Box<Diagnostic>> {
        secret_manager::unlock(kind, data, self.passphrase)
    }

    fn create(&self, random: FillRandom<'_>) -> Result<NewKey, Box<Diagnostic>> {
        secret_manager::create(self.passphrase, random)
    }
}

impl InstanceFiles for PulumiDialect {
    fn file_name(&self, instance: &str) -> String {
        stack_edit::file_name(instance)
    }

    fn new_file(&self, random: FillRandom<'_>) -> Result<String, Box<Diagnostic>> {
        stack_edit::new_file(self.passphrase, random)
    }

    fn entries(
        &self,
        file: &InstanceFile<'_>,
        reveal: bool,
        found: &mut Diagnostics,
    ) -> Vec<ConfigEntry> {
        with_whole_document(file, |file| {
            stack_edit::read(file, None, reveal, self.passphrase, found)
        })
    }

    fn entry(
        &self,
        file: &InstanceFile<'_>,
        key: &ConfigKey<'_>,
        reveal: bool,
        found: &mut Diagnostics,
    ) -> Option<ConfigEntry> {
        with_whole_document(file, |file| {
            stack_edit::read(file, Some(key), reveal, self.passphrase, found).pop()
        })
    }

    fn edit(
        &self,
        file: &InstanceFile<'_>,
        edit: &ConfigEdit<'_>,
        random: FillRandom<'_>,
    ) -> Result<ConfigEdited, Diagnostics> {
        with_whole_document(file, |file| {
            stack_edit::edit(file, edit, self.passphrase, random)
        })
    }
}

/// Uses a file of an instance beside the program with what its project's file says.
fn with_whole_document<T>(file: &InstanceFile<'_>, then: impl FnOnce(&InstanceFile<'_>) -> T) -> T {
    project::with_project(&file.document, |document| {
        then(&InstanceFile {
            document: *document,
            file: file.file,
            name: file.name,
            text: file.text,
        })
    })
}
