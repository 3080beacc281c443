//! What identifies an object: its kind, namespace and name.

use blueprint::Name;
use diag::{Diagnostic, Diagnostics, Span, Spanned};
use dialect::codes::{INVALID_NAME, MISSING_FIELD, WRONG_SHAPE};
use kubernetes::{ApiVersion, GroupKind};
use syntax::Node;

use crate::codes::{GENERATED_NAME, NOT_A_MANIFEST};
use crate::values::{Entries, entries, is_null, node_kind, text, value_span};

/// The identity of an object as it is written.
pub(crate) struct ObjectIdentity {
    /// The kind, with the place of `kind`.
    pub(crate) kind: Spanned<GroupKind>,
    /// The namespace; `None` if none is written.
    pub(crate) namespace: Option<Name>,
    /// The name and its place.
    pub(crate) name: Spanned<Name>,
}

impl ObjectIdentity {
    /// The name of the resource: `KIND/NAMESPACE/NAME`, or `KIND/NAME` without a namespace.
    pub(crate) fn resource_name(&self) -> Name {
        self.named(&self.kind.item.kind.to_lowercase())
    }

    /// The name of the resource with the group of its kind: `KIND.GROUP/NAMESPACE/NAME`.
    pub(crate) fn qualified_name(&self) -> Name {
        let GroupKind { group, kind } = &self.kind.item;
        self.named(&format!("{}.{group}", kind.to_lowercase()))
    }

    fn named(&self, kind: &str) -> Name {
        let name = &self.name.item;
        match &self.namespace {
            Some(namespace) => format!("{kind}/{namespace}/{name}").into(),
            None => format!("{kind}/{name}").into(),
        }
    }
}

/// `apiVersion` and `kind` of an object.
#[derive(Clone)]
pub(crate) struct WrittenKind {
    /// The version of the API.
    pub(crate) api_version: Spanned<Name>,
    /// The kind.
    pub(crate) kind: Spanned<Name>,
}

impl WrittenKind {
    /// Reads both from the entries of an object. An absent one is taken from `inherited`.
    pub(crate) fn read(
        object: &Entries<'_>,
        place: Span,
        inherited: Option<&WrittenKind>,
        found: &mut Diagnostics,
    ) -> Option<WrittenKind> {
        let has = |key: &str| object.get(key).is_some_and(|(_, node)| !is_null(node));
        if !has("apiVersion") && !has("kind") {
            if inherited.is_none() {
                found.push(no_manifest("the map is no manifest", place));
            }
            return inherited.cloned();
        }
        let api_version = required_text(object, "apiVersion", place, found);
        let kind = required_text(object, "kind", place, found);
        Some(WrittenKind {
            api_version: api_version?,
            kind: kind?,
        })
    }

    /// The kind with its group, if both are well formed.
    pub(crate) fn group_kind(&self, found: &mut Diagnostics) -> Option<Spanned<GroupKind>> {
        let WrittenKind { api_version, kind } = self;
        let malformed = |key: &str, written: &Spanned<Name>, why: String| {
            WRONG_SHAPE
                .new(format!("`{key}` cannot be `{}`", written.item))
                .label(written.span, why)
        };
        let version: Result<ApiVersion, _> = api_version.item.parse();
        if let Err(error) = &version {
            found.push(malformed("apiVersion", api_version, error.to_string()));
        }
        // A kind is well formed if it is one of any group.
        let known: Result<GroupKind, _> = format!("{}/{}", kubernetes::CORE, kind.item).parse();
        if let Err(error) = &known {
            found.push(malformed("kind", kind, error.to_string()));
        }
        let group_kind = GroupKind::new(version.ok()?.group, known.ok()?.kind);
        Some(Spanned::new(group_kind, kind.span))
    }
}

/// Reports a tree that is no object.
pub(crate) fn no_manifest(message: &str, place: Span) -> Diagnostic {
    NOT_A_MANIFEST
        .new(message)
        .label(place, "without `apiVersion` and `kind`")
        .help("write `apiVersion` and `kind`, or move what is no manifest to another folder")
}

/// Reads the name and the namespace. `kind` names the object in messages.
pub(crate) fn identity(
    object: &Entries<'_>,
    kind: Spanned<GroupKind>,
    found: &mut Diagnostics,
) -> Option<ObjectIdentity> {
    let place = kind.span;
    let metadata = match object.get("metadata") {
        Some((_, node)) if node.as_map().is_some() => *node,
        Some((_, node)) if node.is_missing() => return None,
        Some((_, node)) if !is_null(node) => {
            found.push(wrong_shape("metadata", "a map", node));
            return None;
        }
        _ => {
            found.push(missing("metadata.name", place, &kind.item.kind));
            return None;
        }
    };
    // Mistakes in the entries are reported when the map becomes a value.
    let metadata = entries(metadata, &mut Diagnostics::new());
    let namespace = optional_text(&metadata, "metadata.namespace", found);
    let name = optional_text(&metadata, "metadata.name", found);
    let name = match name? {
        Some(name) if !name.item.is_empty() => Some(name),
        _ => {
            let generated = metadata
                .get("generateName")
                .filter(|(_, node)| !is_null(node));
            found.push(match generated {
                Some((span, _)) => GENERATED_NAME
                    .new("an object needs a name to be found again")
                    .label(*span, "each deploy would create a further object")
                    .help("write `name` instead of `generateName`"),
                None => missing("metadata.name", place, &kind.item.kind),
            });
            None
        }
    };
    Some(ObjectIdentity {
        kind,
        namespace: namespace?
            .filter(|namespace| !namespace.item.is_empty())
            .map(|namespace| namespace.item),
        name: name?,
    })
}

/// The text at a path, of which the last name is the key; `Some(None)` if there is none, `None` if it
/// is wrong.
fn optional_text(
    of: &Entries<'_>,
    path: &str,
    found: &mut Diagnostics,
) -> Option<Option<Spanned<Name>>> {
    let key = path.rsplit('.').next().unwrap_or(path);
    let Some((_, node)) = of.get(key).filter(|(_, node)| !is_null(node)) else {
        return Some(None);
    };
    if node.is_missing() {
        return None;
    }
    let Some(text) = text(node) else {
        found.push(wrong_shape(path, "a string", node));
        return None;
    };
    if text.contains(['/', '%']) || matches!(text, "." | "..") {
        found.push(
            INVALID_NAME
                .new(format!("`{path}` cannot be `{text}`"))
                .label(value_span(node), "cannot be part of a path of the API"),
        );
        return None;
    }
    Some(Some(Spanned::new(text.into(), value_span(node))))
}

fn required_text(
    object: &Entries<'_>,
    key: &str,
    place: Span,
    found: &mut Diagnostics,
) -> Option<Spanned<Name>> {
    match object.get(key) {
        Some((_, node)) if node.is_missing() => None,
        Some((_, node)) if !is_null(node) => match text(node) {
            Some(text) => Some(Spanned::new(text.into(), value_span(node))),
            None => {
                found.push(wrong_shape(key, "a string", node));
                None
            }
        },
        _ => {
            found.push(
                MISSING_FIELD
                    .new(format!("the object has no `{key}`"))
                    .label(place, "this object")
                    .help(format!("add `{key}`")),
            );
            None
        }
    }
}

fn missing(path: &str, place: Span, kind: &str) -> Diagnostic {
    MISSING_FIELD
        .new(format!("the object has no `{path}`"))
        .label(place, format!("this {kind}"))
        .help(match path.split_once('.') {
            Some((above, key)) => format!("add `{key}` under `{above}`"),
            None => format!("add `{path}`"),
        })
}

fn wrong_shape(path: &str, wanted: &str, node: &Node) -> Diagnostic {
    let kind = node_kind(node);
    let mistake = WRONG_SHAPE
        .new(format!("`{path}` must be {wanted}, found {kind}"))
        .label(value_span(node), kind);
    match node.text().filter(|_| wanted == "a string") {
        Some(text) => mistake.fix(
            "quote it",
            vec![(value_span(node), format!("\"{text}\""))],
            false,
        ),
        None => mistake,
    }
}
