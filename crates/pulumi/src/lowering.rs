//! The state that the lowering of all sections shares: the names of the program, and the
//! diagnostics so far.

use blueprint::{Expr, IndexMap, Name, StatedPlugin, Value};
use diag::{Diagnostic, Diagnostics, FileId, Severity, Span, Spanned};
use syntax::{Node, Tree};

use crate::access::has_access;
use crate::codes::{INVALID_VERSION, KEY_CASING, PROVIDER_CONFLICT};
use crate::compat;
use crate::packages::NamedPackages;
use crate::read::{RepeatedKey, TextEntry, entries, is_null, value_span};
use crate::stack_file::StackValues;
use crate::untyped::guessed;
use crate::version::is_version;
use dialect::codes::{SELF_REFERENCE, UNKNOWN_KEY, WRONG_SHAPE};
use dialect::{ForeignWords, Section, SectionKey, WordPlace};

/// The name whose value describes the run.
pub(crate) const RESERVED: &str = "pulumi";

/// The kind of element that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NamedKind {
    /// A configuration entry.
    Config,
    /// A variable.
    Variable,
    /// A resource.
    Resource,
    /// A resource that is a provider.
    Provider,
    /// An existing resource that is read.
    Read,
}

/// A name of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedElement {
    /// What it stands for.
    pub(crate) kind: NamedKind,
    /// The place of its definition.
    pub(crate) span: Span,
}

/// The state of lowering a program to a blueprint.
pub(crate) struct ProgramLowering<'d> {
    /// The file of the program.
    pub(crate) file: FileId,
    /// The source text, for places inside of scalars.
    pub(crate) source: &'d str,
    /// The tree of the program, with what its project adds.
    pub(crate) tree: &'d Tree,
    /// The folder of the program, if it is not that of its project.
    pub(crate) main: Option<String>,
    /// The name of the project.
    pub(crate) project: Name,
    /// All names: configuration, variables and resources share one namespace.
    pub(crate) names: IndexMap<Name, NamedElement>,
    /// The values of the variables as they are written.
    pub(crate) variables: IndexMap<Name, &'d Node>,
    /// The packages that the program names.
    pub(crate) packages: NamedPackages,
    /// The packages that cannot be used. Reported at their first use.
    pub(crate) missing_packages: IndexMap<Name, Name>,
    /// The provider that serves a package by default, by package.
    pub(crate) default_providers: IndexMap<Name, Spanned<Name>>,
    /// The versions and URLs of the plugins of default providers, by package.
    pub(crate) default_plugins: IndexMap<Name, [Option<Name>; 2]>,
    /// The providers that resources name or inherit, by resource, as far as the program writes them.
    pub(crate) written_providers: IndexMap<Name, Name>,
    /// The plugins of packages whose functions are called with the default configuration.
    pub(crate) called_plugins: IndexMap<Name, StatedPlugin>,
    /// Whether the texts and guesses are those of today's tool.
    pub(crate) compat: bool,
    /// The configuration of the stack.
    pub(crate) stack: StackValues,
    /// Whether a file of a stack was read.
    pub(crate) has_stack_file: bool,
    /// The settings of packages in the program's own configuration, by their full keys.
    pub(crate) package_settings: IndexMap<Name, Spanned<Value>>,
    /// The keys in another case by their places: as written, and as known.
    pub(crate) casings: IndexMap<Span, (Name, Name)>,
    pub(crate) found: Diagnostics,
}

/// The entries of a map with fixed keys, by the names in their table.
pub(crate) struct SectionFields<'t> {
    entries: Vec<(&'static SectionKey, TextEntry<'t>)>,
    /// Entries with keys that the section does not have.
    pub(crate) others: Vec<TextEntry<'t>>,
}

impl<'t> SectionFields<'t> {
    /// The entry of a key.
    pub(crate) fn entry(&self, key: &str) -> Option<&TextEntry<'t>> {
        let found = self.entries.iter().find(|(known, _)| known.name == key);
        found.map(|(_, entry)| entry)
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&'t Node> {
        self.entry(key).map(|entry| entry.value)
    }

    /// The value of a key, unless it is null.
    pub(crate) fn written(&self, key: &str) -> Option<&'t Node> {
        self.get(key).filter(|node| !is_null(node))
    }
}

impl ProgramLowering<'_> {
    /// The value of a key that no entry declares: a key of the project with or without its
    /// namespace, or a key of a package. Its type is guessed.
    pub(crate) fn stack_value(&self, key: &str) -> Option<Value> {
        let full = match key.contains(':') {
            true => key.to_owned(),
            false => format!("{}:{key}", self.project),
        };
        let own = self.package_settings.get(full.as_str());
        let value = self.stack.get(&full).or(own)?;
        Some(match self.compat {
            true => compat::guessed(&value.item),
            false => guessed(&value.item),
        })
    }

    /// Reports an element that needs itself.
    pub(crate) fn refuse_itself(&mut self, name: &str, place: Span) {
        self.found.push(
            SELF_REFERENCE
                .new(format!("`{name}` needs itself"))
                .label(place, "this is the element being defined"),
        );
    }

    /// Reports a mistake and returns the expression in error.
    pub(crate) fn fail(&mut self, diagnostic: Diagnostic, span: Span) -> Expr {
        self.found.push(diagnostic);
        Expr::error(span)
    }

    /// Reads a map by the table of its keys, without regard to case. `None` if the node is no map,
    /// which is reported.
    pub(crate) fn fields<'t>(
        &mut self,
        section: &'static Section,
        node: &'t Node,
        what: &str,
    ) -> Option<SectionFields<'t>> {
        let Some(all) = entries(node, RepeatedKey::LastCounts, &mut self.found) else {
            crate::read::wrong_shape(node, what, "a map", &mut self.found);
            return None;
        };
        let mut fields = SectionFields {
            entries: Vec::with_capacity(all.len()),
            others: Vec::new(),
        };
        for entry in all {
            let written = entry.key.item.as_ref();
            let exact = section.keys.iter().find(|key| key.name == written);
            let loose = || {
                let mut keys = section.keys.iter();
                keys.find(|key| key.name.eq_ignore_ascii_case(written))
            };
            match exact.or_else(loose) {
                Some(key) => {
                    if key.name != written {
                        self.unusual_case(written, key.name, entry.key.span);
                    }
                    fields.entries.push((key, entry));
                }
                None => fields.others.push(entry),
            }
        }
        Some(fields)
    }

    /// Reports keys that a section does not have.
    pub(crate) fn unknown_keys(&mut self, section: &'static Section, others: &[TextEntry<'_>]) {
        for entry in others {
            self.found.push(unknown_key(section, entry));
        }
    }

    /// Warns about keys that a section does not have, where they have no effect.
    pub(crate) fn ignored_keys(&mut self, section: &'static Section, others: &[TextEntry<'_>]) {
        for entry in others {
            let mistake = unknown_key(section, entry);
            self.found.push(mistake.with_severity(Severity::Warning));
        }
    }

    /// Keeps a key in another case for the warning about all of them.
    pub(crate) fn unusual_case(&mut self, written: &str, known: &str, span: Span) {
        self.casings.insert(span, (written.into(), known.into()));
    }

    /// Warns once in a program about all keys in another case.
    pub(crate) fn report_casings(&mut self) {
        let mut casings = std::mem::take(&mut self.casings).into_iter();
        let Some((span, (written, known))) = casings.next() else {
            return;
        };
        let mut edits = vec![(span, known.to_string())];
        let mut warning = KEY_CASING
            .new(format!("`{written}` is read as `{known}`"))
            .label(span, "other capital letters than the key has");
        for (span, (_, known)) in casings {
            warning = warning.label(span, format!("read as `{known}`"));
            edits.push((span, known.to_string()));
        }
        self.found
            .push(warning.fix("write the keys as they are", edits, false));
    }

    /// A boolean; any other value is reported. `None` for null.
    pub(crate) fn switch(&mut self, node: &Node, what: &str) -> Option<bool> {
        if is_null(node) {
            return None;
        }
        let value = node
            .as_scalar()
            .map(|scalar| crate::scalar::typed(node, scalar));
        match value {
            Some(Value::Bool(value)) => Some(value),
            _ => {
                crate::read::wrong_shape(node, what, "a boolean", &mut self.found);
                None
            }
        }
    }

    /// A text without accesses; any other value is reported. `None` for null.
    pub(crate) fn fixed_text<'t>(
        &mut self,
        node: &'t Node,
        what: &str,
    ) -> Option<Spanned<&'t str>> {
        if is_null(node) {
            return None;
        }
        match crate::read::text(node) {
            Some(text) if has_access(text) => {
                self.found.push(
                    WRONG_SHAPE
                        .new(format!("{what} cannot be computed"))
                        .label(value_span(node), "plain text is needed")
                        .help("write the value itself"),
                );
                None
            }
            Some(text) => Some(Spanned::new(text, value_span(node))),
            None => {
                crate::read::wrong_shape(node, what, "a string", &mut self.found);
                None
            }
        }
    }

    /// A version of a plugin; any other text is reported.
    pub(crate) fn version(&mut self, node: &Node, what: &str) {
        let Some(version) = self.fixed_text(node, what) else {
            return;
        };
        if !is_version(version.item) {
            self.found.push(
                INVALID_VERSION
                    .new(format!("`{}` is no version", version.item))
                    .label(version.span, "one to three numbers are needed")
                    .help("write a version such as `1.2.3`"),
            );
        }
    }

    /// Reports options of a resource or call that ask for another plugin than that of the default
    /// provider that serves it: its version, and its URL.
    pub(crate) fn refuse_other_plugin(&mut self, package: &str, options: [Option<&Node>; 2]) {
        let Some(plugin) = self.default_plugins.get(package).cloned() else {
            return;
        };
        for (node, of_default) in options.into_iter().zip(plugin) {
            let Some(node) = node else { continue };
            let same = of_default
                .as_deref()
                .is_some_and(|one| Some(one) == node.text());
            if !same {
                self.found.push(
                    PROVIDER_CONFLICT
                        .new(format!(
                            "the default provider of `{package}` has another plugin"
                        ))
                        .label(value_span(node), "not the plugin of the default provider")
                        .help("remove the option, or name a provider"),
                );
            }
        }
    }

    /// The texts of a list; other values are reported.
    pub(crate) fn fixed_texts<'t>(&mut self, node: &'t Node, what: &str) -> Vec<Spanned<&'t str>> {
        if is_null(node) {
            return Vec::new();
        }
        let Some(items) = node.as_list() else {
            crate::read::wrong_shape(node, what, "a list", &mut self.found);
            return Vec::new();
        };
        items
            .iter()
            .filter_map(|item| self.fixed_text(item, &format!("an item of {what}")))
            .collect()
    }
}

fn unknown_key(section: &'static Section, entry: &TextEntry<'_>) -> Diagnostic {
    let written = &entry.key.item;
    let known = || section.keys.iter().map(|key| key.name);
    let unknown = UNKNOWN_KEY.new(format!("unknown key `{written}`")).label(
        entry.key.span,
        format!("`{}` has no such key", section.name),
    );
    if let Some(row) = ForeignWords::PULUMI.find(WordPlace::Key(section.name), written) {
        return unknown.help(row.help);
    }
    match diag::nearest(written, known()) {
        Some(near) => unknown.help(format!("did you mean `{near}`?")),
        None => {
            let keys: Vec<String> = known().map(|key| format!("`{key}`")).collect();
            unknown.help(format!("its keys are {}", keys.join(", ")))
        }
    }
}
