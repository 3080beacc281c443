//! Lowers a program as a whole (decisions/pulumi#sections).

use blueprint::{Blueprint, Export, Expr, IndexMap, Local, Name, ReferenceHead, Type, Value};
use diag::{Diagnostics, Severity, Span, Spanned};
use dialect::codes::{
    NAME_COLLISION, RESERVED_NAME, UNKNOWN_KEY, UNSUPPORTED_FEATURE, WRONG_SHAPE,
};
use dialect::{Document, Lowered};
use syntax::{Content, Node};

use crate::access::has_access;
use crate::compat;
use crate::lowering::{NamedElement, NamedKind, ProgramLowering, RESERVED, SectionFields};
use crate::packages::{NamedPackages, named_packages, unavailable};
use crate::project::program_folder;
use crate::read::{RepeatedKey, TextEntry, entries, is_null, text, value_span, wrong_shape};
use crate::required_version;
use crate::shape::{self, NAME, UNNAMED};
use crate::stack_file::StackValues;

/// Sections of plugins that are written in this language.
const PLUGIN_SECTIONS: [&str; 2] = ["components", "namespace"];

/// Lowers a program. Returns its meaning and all mistakes.
pub(crate) fn lower<'d>(document: &'d Document<'d>) -> Lowered {
    let mut blueprint = Blueprint {
        dialect: NAME,
        ..Blueprint::default()
    };
    let mut lowering = ProgramLowering::new(document, named_packages(document));
    lowering.compat = compat::is_set(document.context);
    lowering.stack = StackValues::of(document.context);
    let project = lowering.stack.project.as_deref();
    lowering.main = project.and_then(program_folder);
    lowering.has_stack_file = document.context.dialect_context.is_some();
    let Some(root) = &document.tree().root else {
        let whole = Span::new(document.file, 0, 0);
        lowering.found.push(
            WRONG_SHAPE
                .new("the program is empty")
                .label(whole, "not even a name")
                .help("begin with `name: PROJECT` and `runtime: yaml`"),
        );
        return lowering.into_lowered(blueprint);
    };
    if let Content::Map(map) = &root.content {
        blueprint.span = map.first().map(|entry| entry.key.span);
    }
    for (package, request) in &lowering.packages {
        if let Some(why) = unavailable(document, request) {
            lowering
                .missing_packages
                .insert(package.clone(), why.clone());
        }
    }
    lowering.program(root, document.context.inputs_only, &mut blueprint);
    lowering.into_lowered(blueprint)
}

/// Reads a value as a part of the program that was lowered to this blueprint.
pub(crate) fn expression(typed: &Document<'_>, of: &Blueprint) -> (Expr, Diagnostics) {
    let mut lowering = ProgramLowering::new(typed, named_packages(typed));
    let end = u32::try_from(typed.text.len()).unwrap_or(u32::MAX);
    let whole = Span::new(typed.file, 0, end);
    let named =
        |kind: NamedKind| move |name: &Name| (name.clone(), NamedElement { kind, span: whole });
    lowering.compat = compat::is_set(typed.context);
    let inputs = of.inputs.keys().map(named(NamedKind::Config));
    let locals = of.locals.iter().map(|(name, local)| {
        let kind = match crate::existing::is_read(&local.value) {
            true => NamedKind::Read,
            false => NamedKind::Variable,
        };
        named(kind)(name)
    });
    let resources = of.resources.keys().map(named(NamedKind::Resource));
    lowering.names = inputs.chain(locals).chain(resources).collect();
    let expr = match &typed.tree().root {
        Some(root) => lowering.expr(root),
        None => Expr::literal(Value::Null, whole),
    };
    (expr, lowering.found)
}

impl<'d> ProgramLowering<'d> {
    fn new(document: &Document<'d>, packages: NamedPackages) -> ProgramLowering<'d> {
        ProgramLowering {
            file: document.file,
            source: document.text,
            tree: document.tree(),
            main: None,
            project: UNNAMED.into(),
            names: IndexMap::default(),
            variables: IndexMap::default(),
            packages,
            missing_packages: IndexMap::default(),
            default_providers: IndexMap::default(),
            default_plugins: IndexMap::default(),
            called_plugins: IndexMap::default(),
            written_providers: IndexMap::default(),
            compat: false,
            stack: StackValues::default(),
            has_stack_file: false,
            package_settings: IndexMap::default(),
            casings: IndexMap::default(),
            found: Diagnostics::new(),
        }
    }

    fn into_lowered(mut self, blueprint: Blueprint) -> Lowered {
        self.report_casings();
        let mut diagnostics = self.found;
        diagnostics.sort();
        Lowered {
            blueprint,
            diagnostics,
        }
    }

    /// Lowers the sections. With `inputs_only`, only the configuration.
    fn program(&mut self, root: &'d Node, inputs_only: bool, blueprint: &mut Blueprint) {
        let Some(fields) = self.fields(&shape::PROGRAM, root, "a program") else {
            return;
        };
        self.other_sections(&fields.others);
        self.reject_project_keys(&fields);
        if let Some(node) = fields.written("description").filter(|node| {
            // A description may be of any other kind.
            text(node).is_some_and(has_access)
        }) {
            self.fixed_text(node, "`description`");
        }
        if let Some(node) = fields.written("name")
            && let Some(name) = self.fixed_text(node, "`name`")
        {
            self.project = name.item.into();
            blueprint.project = self.project.clone();
        }
        let config = self.config_entries(&fields);
        for (entry, _) in &config {
            self.declare(entry, NamedKind::Config);
        }
        let section = |lowering: &mut Self, key: &str| match fields.get(key) {
            Some(node) => lowering.definitions(node, key),
            None => Vec::new(),
        };
        let variables = section(self, "variables");
        let resources = section(self, "resources");
        if !inputs_only {
            for entry in &variables {
                self.declare(entry, NamedKind::Variable);
                self.variables.insert(entry.key.item.clone(), entry.value);
            }
            resources
                .iter()
                .for_each(|entry| self.declare(entry, Self::resource_kind(entry)));
        }
        blueprint.inputs = self.config(&config);
        if inputs_only {
            return;
        }
        let program = fields.get("pulumi");
        self.ignored_requirements(program);
        let required = program.and_then(|program| program.get("requiredVersion"));
        for node in required
            .into_iter()
            .chain(fields.written("requiredPulumiVersion"))
        {
            self.required_version(node, blueprint);
        }
        self.find_default_providers(&resources);
        self.find_written_providers(&resources);
        self.package_settings(&config);
        let implied = self.implied_providers(blueprint.span.unwrap_or(Span::NONE));
        blueprint.locals = self.variables(&variables);
        let (read, managed): (Vec<_>, Vec<_>) = resources
            .into_iter()
            .partition(|entry| Self::resource_kind(entry) == NamedKind::Read);
        blueprint.locals.extend(self.read_resources(&read));
        blueprint.resources = implied;
        blueprint.resources.extend(self.resources(&managed));
        let outputs = section(self, "outputs");
        blueprint.exports = self.outputs(&outputs);
        let mut resources = blueprint.resources.values();
        blueprint.unsettled = !blueprint.required_versions.is_empty()
            || resources.any(|resource| resource.computed.is_some());
        blueprint.called_plugins = std::mem::take(&mut self.called_plugins);
    }

    /// Reports keys that a program cannot have, and warns about those that are close to a known
    /// one. Other keys have no meaning: programs keep anchors there.
    fn other_sections(&mut self, others: &[TextEntry<'_>]) {
        for entry in others {
            let written = &entry.key.item;
            if PLUGIN_SECTIONS.contains(&written.as_ref()) {
                self.found.push(
                    UNSUPPORTED_FEATURE
                        .new(format!("`{written}` belongs to a plugin, not to a program"))
                        .label(entry.key.span, "components cannot be defined here"),
                );
                continue;
            }
            let known = shape::PROGRAM.keys.iter().map(|key| key.name);
            if let Some(near) = diag::nearest(written, known) {
                self.found.push(
                    UNKNOWN_KEY
                        .new(format!("unknown key `{written}`"))
                        .label(entry.key.span, "has no effect")
                        .with_severity(Severity::Warning)
                        .help(format!("did you mean `{near}`?")),
                );
            }
        }
    }

    /// Reports keys of the project that say where the program is: it is read from this file alone,
    /// and without them it could be an empty one. Warns about versions, which are not compared.
    fn reject_project_keys(&mut self, fields: &SectionFields<'_>) {
        if let Some(entry) = fields.entry("main")
            && program_folder(self.tree).is_some()
        {
            self.found.push(
                UNSUPPORTED_FEATURE
                    .new("this file has no program: `main` names another folder")
                    .label(entry.key.span, "no program was read there")
                    .help("name the program itself, such as `FOLDER/Main.yaml`"),
            );
        }
        let config_dir = fields.entry("stackConfigDir");
        let config_dir = config_dir.filter(|entry| !is_null(entry.value));
        if let Some(entry) = config_dir.filter(|_| !self.has_stack_file) {
            self.found.push(
                UNSUPPORTED_FEATURE
                    .new("the files of stacks in another folder are not found yet")
                    .label(entry.key.span, "without them, the program has its defaults")
                    .with_severity(Severity::Warning)
                    .help("name the file: `-e FOLDER/Pulumi.STACK.yaml`"),
            );
        }
        let options = fields.get("runtime").and_then(|node| node.get("options"));
        if let Some(entry) = options.and_then(|options| options.entry("compiler")) {
            self.found.push(
                UNSUPPORTED_FEATURE
                    .new("programs that a compiler writes are not read yet")
                    .label(entry.key.span, "not available in this version")
                    .help("run the compiler, and give its output as the program"),
            );
        }
        let program = fields.get("pulumi");
        if let Some(node) = program.filter(|node| node.as_map().is_none()) {
            wrong_shape(node, "`pulumi`", "a map", &mut self.found);
        }
    }

    /// Warns about entries of `pulumi` that have no meaning.
    fn ignored_requirements(&mut self, program: Option<&Node>) {
        let entries = program.and_then(Node::as_map).into_iter().flatten();
        for entry in entries {
            let Some(written) = entry.key.text().filter(|key| *key != "requiredVersion") else {
                continue;
            };
            self.found.push(
                UNKNOWN_KEY
                    .new(format!("unknown key `{written}`"))
                    .label(value_span(&entry.key), "has no effect")
                    .with_severity(Severity::Warning)
                    .help_nearest(written, ["requiredVersion"]),
            );
        }
    }

    /// Compares the versions of Pulumi that the program needs. A range that is computed is compared
    /// when the inputs are known.
    fn required_version(&mut self, node: &Node, blueprint: &mut Blueprint) {
        let place = value_span(node);
        let Some(range) = text(node) else {
            wrong_shape(node, "the required version", "a string", &mut self.found);
            return;
        };
        if has_access(range) {
            let range = self.expr(node);
            blueprint.required_versions.push(range);
            return;
        }
        self.found.extend(required_version::refusal(range, place));
    }

    /// The entries of `config` and `configuration`. An entry of `config` takes precedence.
    fn config_entries<'t>(&mut self, fields: &SectionFields<'t>) -> Vec<(TextEntry<'t>, bool)> {
        let mut all: Vec<(TextEntry<'t>, bool)> = Vec::new();
        for (key, is_former) in [("config", false), ("configuration", true)] {
            let Some(entry) = fields.entry(key) else {
                continue;
            };
            if is_former {
                self.deprecated_configuration(entry.key.span);
            }
            for definition in self.definitions(entry.value, key) {
                let name = &definition.key.item;
                if !all.iter().any(|(known, _)| known.key.item == *name) {
                    all.push((definition, is_former));
                }
            }
        }
        all
    }

    /// The definitions of a section. A name that is written twice is a mistake.
    fn definitions<'t>(&mut self, node: &'t Node, section: &str) -> Vec<TextEntry<'t>> {
        match entries(node, RepeatedKey::Mistake, &mut self.found) {
            Some(all) => all,
            None => {
                let what = format!("`{section}`");
                wrong_shape(node, &what, "a map", &mut self.found);
                Vec::new()
            }
        }
    }

    /// Adds a name. All definitions share one namespace.
    fn declare(&mut self, entry: &TextEntry<'_>, kind: NamedKind) {
        let Spanned { item: name, span } = &entry.key;
        if name.as_ref() == RESERVED {
            self.found.push(
                RESERVED_NAME
                    .new(format!("`{RESERVED}` cannot be defined"))
                    .label(*span, "the name of what describes the run")
                    .with_severity(Severity::Error)
                    .help("choose another name"),
            );
            return;
        }
        if let Some(first) = self.names.get(name) {
            self.found.push(
                NAME_COLLISION
                    .new(format!("`{name}` is defined twice"))
                    .label(
                        *span,
                        "configuration, variables and resources share their names",
                    )
                    .label(first.span, "first defined here")
                    .help("rename one of them"),
            );
            return;
        }
        self.names
            .insert(name.clone(), NamedElement { kind, span: *span });
    }

    fn variables(&mut self, all: &[TextEntry<'_>]) -> IndexMap<Name, Local> {
        let mut locals = IndexMap::default();
        for entry in all {
            let name = &entry.key.item;
            let value = self.expr(entry.value);
            let own = ReferenceHead::Local(name.clone());
            let mut reads_itself = None;
            value.references(&mut |reference| {
                if reference.head == own {
                    reads_itself = reads_itself.or(Some(reference.head_span));
                }
            });
            if let Some(place) = reads_itself {
                self.refuse_itself(name, place);
            }
            let local = Local {
                span: entry.key.span,
                ty: Type::Any,
                value,
                secret: false,
                description: None,
            };
            locals.insert(name.clone(), local);
        }
        locals
    }

    fn outputs(&mut self, all: &[TextEntry<'_>]) -> IndexMap<Name, Export> {
        let mut exports = IndexMap::default();
        for entry in all {
            let export = Export {
                span: entry.key.span,
                ty: Type::Any,
                field: self.expr(entry.value),
                may_fail: false,
                hidden: false,
                by_entry: false,
                description: None,
            };
            exports.insert(entry.key.item.clone(), export);
        }
        exports
    }
}
