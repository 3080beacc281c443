//! Lowers the document as a whole: its version, its sections in their order, and required sections.

use blueprint::{Blueprint, Expr, ExprKind, Names, Packages};
use diag::{Diagnostics, Span};
use expr::FunctionTable;
use std::collections::HashSet;
use syntax::{Content, Node};

use super::lowering::{Lowering, SectionFields, listed, value_span};
use super::scalar::typed;
use super::survey::survey;
use super::version::Version;
use super::{shape, survey::Survey};
use dialect::codes::{MISSING_VERSION, NOTHING_DECLARED, UNSUPPORTED_VERSION, WRONG_SHAPE};
use dialect::{Document, Lowered};

/// Lowers a document.
pub(super) fn lower(
    document: &Document<'_>,
    functions: &FunctionTable,
    packages: &Packages,
) -> Lowered {
    let mut found = Diagnostics::new();
    let Survey { bad_keys, aliases } = match &document.tree().root {
        Some(root) => survey(root, &mut found),
        None => Survey::default(),
    };
    let mut lowering = Lowering {
        source: document.text,
        functions,
        packages,
        version: Version::First,
        none_is_resource: false,
        bad_keys,
        names: Names::default(),
        found,
    };
    let blueprint = lowering.document(document);
    let mut found = lowering.found;
    found.sort();
    if aliases {
        // The value of an alias is read at each use, so its mistakes are found several times.
        let mut seen = HashSet::new();
        found.retain(|diagnostic| {
            seen.insert((
                diagnostic.code.name,
                diagnostic.span(),
                diagnostic.message.clone(),
            ))
        });
    }
    Lowered {
        blueprint,
        diagnostics: found,
    }
}

impl Lowering<'_> {
    fn document(&mut self, document: &Document<'_>) -> Blueprint {
        let mut blueprint = Blueprint {
            dialect: "blueprint",
            ..Blueprint::default()
        };
        let nothing = Span::new(document.file, 0, 0);
        let root = match &document.tree().root {
            Some(root) if self.is_null(root) => None,
            Some(root) => match &root.content {
                Content::Map(_) => Some(root),
                Content::Missing => return blueprint,
                Content::List(_) | Content::Scalar(_) => {
                    self.found.push(
                        WRONG_SHAPE
                            .new("a document is a map")
                            .label(value_span(root), "no keys here")
                            .help("begin with `version: 2023-04-20`"),
                    );
                    return blueprint;
                }
            },
            None => None,
        };
        let entries = root.and_then(Node::as_map).unwrap_or(&[]);
        let first = entries.first().map_or(nothing, |entry| entry.key.span);
        blueprint.span = Some(first);

        // The version determines the meaning of the other sections, so it is read first.
        let version = root.and_then(|root| root.get("version"));
        if let Some(version) = version.and_then(Node::text).and_then(Version::of) {
            self.version = version;
        }
        let resources = root.and_then(|root| root.get("resources"));
        self.none_is_resource = self.version == Version::First
            && resources.and_then(Node::as_map).is_some_and(|map| {
                map.iter()
                    .any(|entry| entry.key.text() == Some(super::version::NONE))
            });

        let fields = self.fields(&shape::DOCUMENT, Some(entries), first);
        self.version(&fields, first, &mut blueprint);
        self.sections(&fields, &mut blueprint);
        self.check_not_empty(entries, &fields, first);
        blueprint
    }

    fn version(&mut self, fields: &SectionFields<'_>, first: Span, blueprint: &mut Blueprint) {
        let Some(node) = fields.get("version") else {
            if !fields.is_written("version") && !fields.is_misspelt("version") {
                self.found.push(
                    MISSING_VERSION
                        .new("the document does not say its version")
                        .label(first, "no `version` in this document")
                        .help("add `version: 2023-04-20`"),
                );
            }
            return;
        };
        let Some(scalar) = node.as_scalar() else {
            return;
        };
        if self.has_substitution(node, scalar, "version") {
            return;
        }
        blueprint.version = scalar.text.as_ref().into();
        if Version::of(&scalar.text).is_none() {
            let what = typed(node, scalar).words();
            self.found.push(
                UNSUPPORTED_VERSION
                    .new(format!("unknown version `{}`", scalar.text))
                    .label(
                        value_span(node),
                        if what == "a string" {
                            "read as 2023-04-20"
                        } else {
                            what
                        },
                    )
                    .help(format!("versions are {}", listed(&Version::NAMES))),
            );
        }
    }

    /// Lowers the sections in the order of the table; diagnostics are sorted afterwards.
    fn sections(&mut self, fields: &SectionFields<'_>, blueprint: &mut Blueprint) {
        if let Some(node) = fields.get("transform") {
            blueprint.transforms = self.transforms(node);
        }
        if let Some(node) = fields.get("variables") {
            blueprint.inputs = self.variables(node);
        }
        if let Some(node) = fields.get("values") {
            blueprint.locals = self.values(node);
        }
        if let Some(node) = fields.get("include") {
            blueprint.children = self.include(node);
        }
        if let Some(node) = fields.get("datasources") {
            blueprint.data_sources = self.data_sources(node);
        }
        if let Some(node) = fields.get("resources") {
            blueprint.resources = self.resources(node);
        }
        if let Some(node) = fields.get("exports") {
            blueprint.exports = self.exports(node);
        }
        if let Some(node) = fields.get("metadata") {
            self.document_hints(node, blueprint);
            blueprint.metadata = Some(without_hints(self.content(node), blueprint));
        }
    }

    /// Checks that a document declares a resource or includes another document
    /// (decisions/blueprint#documents-without-resources). Broken sections count as declared.
    fn check_not_empty(
        &mut self,
        entries: &[syntax::MapEntry],
        fields: &SectionFields<'_>,
        first: Span,
    ) {
        let declares = entries.iter().any(|entry| {
            matches!(entry.key.text(), Some("resources" | "include"))
                && match &entry.value.content {
                    Content::Map(entries) => !entries.is_empty(),
                    Content::Missing | Content::List(_) => true,
                    Content::Scalar(_) => !self.is_null(&entry.value),
                }
        });
        if !declares
            && !["resources", "include"]
                .iter()
                .any(|key| fields.is_misspelt(key))
        {
            self.found.push(
                NOTHING_DECLARED
                    .new("the document declares neither a resource nor an include")
                    .label(first, "nothing to deploy in this document")
                    .help("add `include`, or `resources` with a resource in it, as in `resources: {note: {type: local/file, spec: {path: note.txt, content: hello}}}`"),
            );
        }
    }
}

/// The metadata without the hints of this tool, which are not data.
fn without_hints(mut metadata: Expr, blueprint: &Blueprint) -> Expr {
    if let ExprKind::Map(entries) = &mut metadata.kind {
        let is_hint =
            |key: &str| key == "cyan.moved" || key == "cyan" && blueprint.instance.is_some();
        entries.retain(|(key, _)| !is_hint(&key.item));
    }
    metadata
}
