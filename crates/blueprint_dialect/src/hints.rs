//! Hints for this tool: annotations `cyan.*` of resources, and the metadata keys `cyan.moved` and
//! `cyan` (decisions/plan#hints).

use std::str::FromStr;

use blueprint::{Address, Blueprint, Expr, Lifecycle, Move, Name, ReplaceOrder, parse_duration};
use diag::{Span, Spanned};
use syntax::{Content, MapEntry, Node, Scalar};

use super::lowering::{Lowering, value_span};
use super::scalar::{Typed, typed};
use super::shape::{DATA_SOURCE_ANNOTATIONS, RESOURCE_ANNOTATIONS};
use dialect::Section;
use dialect::codes::{INVALID_ANNOTATION, UNKNOWN_ANNOTATION};

/// The hints that the metadata of an include accepts.
const INCLUDE_HINTS: &[&str] = &["cyan.provider"];

/// The hints that the document's metadata accepts.
const DOCUMENT_HINTS: &[&str] = &["cyan.moved"];

/// The hints that the map `cyan` in the document's metadata accepts.
const TOOL_HINTS: &[&str] = &["instance"];

/// The hints of a resource or data source.
pub(super) struct Hints {
    /// The section with the accepted hints.
    known: &'static Section,
    pub(super) lifecycle: Lifecycle,
    /// The resource that declares the configuration of the provider.
    pub(super) provider: Option<Spanned<Name>>,
    each_key: Option<(Expr, Span)>,
}

impl Hints {
    /// Empty hints of a resource.
    pub(super) fn of_resource() -> Hints {
        Hints::taking(&RESOURCE_ANNOTATIONS)
    }

    /// Empty hints of a data source.
    pub(super) fn of_data_source() -> Hints {
        Hints::taking(&DATA_SOURCE_ANNOTATIONS)
    }

    fn taking(known: &'static Section) -> Hints {
        Hints {
            known,
            lifecycle: Lifecycle::default(),
            provider: None,
            each_key: None,
        }
    }
}

impl Lowering<'_> {
    /// Reads a hint of a resource or data source. Returns whether it also stays an annotation; a
    /// hint that is evaluated for each member, or is in error, does not.
    pub(super) fn hint(&mut self, entry: &MapEntry, name: &str, hints: &mut Hints) -> bool {
        if hints.known.key(name).is_none() {
            let known: Vec<&str> = hints.known.keys.iter().map(|key| key.name).collect();
            self.unknown_hint(name, entry.key.span, &known);
            return true;
        }
        let node = &entry.value;
        let scalar = match &node.content {
            Content::Scalar(scalar) => scalar,
            Content::Missing => return false,
            // An annotation that is not a single value is reported once, with the other
            // annotations.
            Content::Map(_) | Content::List(_) => return true,
        };
        if name == "cyan.eachKey" {
            let key = self.scalar(node, scalar);
            hints.each_key = Some((key, value_span(node)));
            return false;
        }
        if self.has_substitution(node, scalar, name) {
            return false;
        }
        if name == "cyan.provider" {
            hints.provider = self.provider_name(node);
            // A data source keeps its annotations for the provider, which does not read this one.
            return hints.provider.is_some() && hints.known.name == RESOURCE_ANNOTATIONS.name;
        }
        let (wanted, fits) = read(&mut hints.lifecycle, name, typed(node, scalar), scalar);
        if !fits {
            self.invalid_hint(node, name, wanted);
        }
        fits
    }

    /// Reads the hints in the metadata of an include: the resources that declare configurations of
    /// providers for its child.
    pub(super) fn include_hints(&mut self, metadata: &Node) -> Vec<Spanned<Name>> {
        let mut providers = Vec::new();
        for entry in self.entries(metadata.as_map().unwrap_or(&[])) {
            let Some(name) = entry.key.text().filter(|name| name.starts_with("cyan.")) else {
                continue;
            };
            if !INCLUDE_HINTS.contains(&name) {
                self.unknown_hint(name, entry.key.span, INCLUDE_HINTS);
                continue;
            }
            if self.is_null(&entry.value) {
                self.null_ignored(entry);
                continue;
            }
            let names = entry
                .value
                .as_list()
                .unwrap_or(std::slice::from_ref(&entry.value));
            for node in names {
                match node.as_scalar() {
                    Some(scalar) if self.has_substitution(node, scalar, name) => {}
                    _ if node.is_missing() => {}
                    _ => providers.extend(self.provider_name(node)),
                }
            }
        }
        providers
    }

    /// The name of a resource that declares the configuration of a provider. Reports other values
    /// and returns `None`.
    fn provider_name(&mut self, node: &Node) -> Option<Spanned<Name>> {
        let scalar = node
            .as_scalar()
            .filter(|scalar| typed(node, scalar) == Typed::Text);
        let text = scalar
            .map(|scalar| scalar.text.trim())
            .filter(|text| !text.is_empty());
        if text.is_none() {
            self.invalid_hint(
                node,
                "cyan.provider",
                "the name of a resource of type `cyan/provider`",
            );
        }
        text.map(|text| Spanned::new(text.into(), value_span(node)))
    }

    /// The expression of `cyan.eachKey`, by which members are addressed. Reports it if the resource
    /// has no `each`.
    pub(super) fn each_key(&mut self, hints: &mut Hints, has_members: bool) -> Option<Expr> {
        let (key, span) = hints.each_key.take()?;
        if !has_members {
            self.found.push(
                INVALID_ANNOTATION
                    .new("`cyan.eachKey` needs `each`")
                    .label(span, "there are no members to tell apart")
                    .help("add `each` or remove the annotation"),
            );
            return None;
        }
        Some(key)
    }

    fn invalid_hint(&mut self, node: &Node, name: &str, wanted: &str) {
        self.found.push(
            INVALID_ANNOTATION
                .new(format!("`{name}` must be {wanted}"))
                .label(value_span(node), "cannot be used as that")
                .help(format!("write {wanted}")),
        );
    }

    fn unknown_hint(&mut self, name: &str, span: Span, known: &[&str]) {
        self.found.push(
            UNKNOWN_ANNOTATION
                .new(format!("`{name}` has no effect"))
                .label(span, "has no effect here")
                .help_nearest(name, known.iter().copied()),
        );
    }

    /// Reads the hints in the document's metadata.
    pub(super) fn document_hints(&mut self, metadata: &Node, blueprint: &mut Blueprint) {
        for entry in self.entries(metadata.as_map().unwrap_or(&[])) {
            if let (Some("cyan"), Some(hints)) = (entry.key.text(), entry.value.as_map()) {
                self.tool_hints(hints, blueprint);
                continue;
            }
            let Some(name) = entry.key.text().filter(|name| name.starts_with("cyan.")) else {
                continue;
            };
            if !DOCUMENT_HINTS.contains(&name) {
                self.unknown_hint(name, entry.key.span, DOCUMENT_HINTS);
            } else if self.is_null(&entry.value) {
                self.null_ignored(entry);
            } else if let Some(moves) = entry.value.as_map() {
                let former = former_addresses(moves, blueprint);
                for entry in self.entries(moves) {
                    self.moved(entry, &former, blueprint);
                }
            } else if !entry.value.is_missing() {
                self.invalid_hint(&entry.value, name, "a map of former names to new ones");
            }
        }
    }

    /// Reads the map `cyan` in the document's metadata.
    fn tool_hints(&mut self, hints: &[MapEntry], blueprint: &mut Blueprint) {
        for entry in self.entries(hints) {
            let Some(name) = entry.key.text() else {
                continue;
            };
            let node = &entry.value;
            if name != "instance" {
                self.unknown_hint(name, entry.key.span, TOOL_HINTS);
                continue;
            }
            let scalar = match &node.content {
                Content::Scalar(scalar) => scalar,
                Content::Missing => continue,
                Content::Map(_) | Content::List(_) => {
                    self.invalid_hint(node, "cyan.instance", INSTANCE_NAME);
                    continue;
                }
            };
            if self.has_substitution(node, scalar, "cyan.instance") {
                continue;
            }
            if typed(node, scalar) == Typed::Text && is_instance_name(&scalar.text) {
                blueprint.instance =
                    Some(Spanned::new(scalar.text.as_ref().into(), value_span(node)));
            } else {
                self.invalid_hint(node, "cyan.instance", INSTANCE_NAME);
            }
        }
    }

    /// Reads one entry of `cyan.moved`. `former` holds the former addresses of all hints: a new
    /// address may be the former one of another hint.
    fn moved(&mut self, entry: &MapEntry, former_of_hints: &[Address], blueprint: &mut Blueprint) {
        let former = entry.key.text().unwrap_or("");
        let node = &entry.value;
        let text = match &node.content {
            Content::Scalar(scalar) if typed(node, scalar) == Typed::Text => {
                if self.has_substitution(node, scalar, "cyan.moved") {
                    return;
                }
                Some(&*scalar.text)
            }
            Content::Missing => return,
            _ => None,
        };
        let to = text.and_then(|text| Address::from_str(text).ok());
        let Some((from, to)) = Address::from_str(former).ok().zip(to) else {
            self.invalid_hint(node, "cyan.moved", "a map of former addresses to new ones");
            return;
        };
        let first = to.path.first().unwrap_or(&to.name);
        let known = match to.path.is_empty() {
            true => blueprint.resources.contains_key(first),
            false => blueprint.children.contains_key(first),
        };
        if known || former_of_hints.contains(&to) {
            blueprint.moves.push(Move {
                from,
                to,
                span: entry.key.span,
            });
            return;
        }
        let what = if to.path.is_empty() {
            "resource"
        } else {
            "child"
        };
        self.found.push(
            UNKNOWN_ANNOTATION
                .new(format!(
                    "`cyan.moved` names the {what} `{first}`, which is not declared"
                ))
                .label(entry.key.span, "has no effect")
                .help("remove it, or name the resource as it is declared now"),
        );
    }
}

/// The former addresses in all hints of a document.
fn former_addresses(moves: &[MapEntry], blueprint: &Blueprint) -> Vec<Address> {
    let of_document = moves.iter().filter_map(|entry| entry.key.text());
    let of_resources = blueprint
        .resources
        .values()
        .flat_map(|resource| resource.lifecycle.moved_from.iter().map(AsRef::as_ref));
    of_document
        .chain(of_resources)
        .filter_map(|text: &str| Address::from_str(text).ok())
        .collect()
}

const INSTANCE_NAME: &str = "a name of at most 128 letters, digits, `_`, `.` and `-`";

/// Whether a text is a valid name of an instance (the rule of `state::InstanceName`).
fn is_instance_name(text: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=128).contains(&text.len())
        && text.bytes().all(is_fit)
        && !text.bytes().all(|byte| byte == b'.')
}

/// Reads a hint into a lifecycle. Returns the accepted form, and whether the value has it.
fn read(
    lifecycle: &mut Lifecycle,
    name: &str,
    kind: Typed,
    scalar: &Scalar,
) -> (&'static str, bool) {
    let text = (kind == Typed::Text)
        .then_some(scalar.text.trim())
        .filter(|text| !text.is_empty());
    match name {
        "cyan.protect" => {
            if let Typed::Bool(value) = kind {
                lifecycle.protect = value;
            }
            ("`true` or `false`", matches!(kind, Typed::Bool(_)))
        }
        "cyan.replaceOrder" => {
            lifecycle.replace_order = match text {
                Some("delete-first") => Some(ReplaceOrder::DeleteFirst),
                Some("create-first") => Some(ReplaceOrder::CreateFirst),
                _ => None,
            };
            (
                "`delete-first` or `create-first`",
                lifecycle.replace_order.is_some(),
            )
        }
        "cyan.ignoreChanges" => {
            let paths: Vec<Name> = text
                .map(|text| text.split(',').map(str::trim).map(Name::from).collect())
                .unwrap_or_default();
            let fits = !paths.is_empty() && paths.iter().all(|path| !path.is_empty());
            // Paths of a malformed list are not checked: the list is one mistake.
            if fits {
                lifecycle.ignore_changes = paths;
            }
            ("paths inside `spec`, separated by commas", fits)
        }
        "cyan.timeout.create" | "cyan.timeout.update" | "cyan.timeout.delete" => {
            let limit = text.and_then(|text| parse_duration(text).ok());
            match name {
                "cyan.timeout.create" => lifecycle.timeouts.create = limit,
                "cyan.timeout.update" => lifecycle.timeouts.update = limit,
                _ => lifecycle.timeouts.delete = limit,
            }
            ("a length of time such as `30s` or `1h30m`", limit.is_some())
        }
        "cyan.import" => {
            lifecycle.import = text.map(Name::from);
            (
                "the provider's id of an existing object, as text",
                text.is_some(),
            )
        }
        _ => {
            let former = text.filter(|text| Address::from_str(text).is_ok());
            lifecycle.moved_from.extend(former.map(Name::from));
            ("the former name, as text", former.is_some())
        }
    }
}
