//! Objects as resources: lists are unfolded, and fields that only servers set are left out.

use blueprint::{Expr, ExprKind, Name, Resource, Value};
use diag::{Diagnostics, Span, Spanned};
use syntax::Node;

use crate::codes::{NEEDS_RENDERING, NOT_A_MANIFEST};
use crate::identity::{self, ObjectIdentity, WrittenKind};
use crate::recognition::Rendered;
use crate::values::{Entries, entries, is_null, node_kind, set_entries, value, value_span};

/// Fields of `metadata` that only servers set (decisions/manifests#fields-of-servers).
const OF_SERVERS: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// The annotation in which `kubectl apply` keeps the former manifest.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The end of the kinds of lists.
const LIST: &str = "List";

/// A declared object.
pub(crate) struct DeclaredObject {
    /// What identifies it.
    pub(crate) identity: ObjectIdentity,
    /// The resource.
    pub(crate) resource: Resource,
}

/// The objects of a document, in their order, and the mistakes in it.
#[derive(Default)]
pub(crate) struct DeclaredObjects {
    /// The objects that have an identity.
    pub(crate) objects: Vec<DeclaredObject>,
    /// The mistakes.
    pub(crate) found: Diagnostics,
}

impl DeclaredObjects {
    /// Adds the object of a tree, or the objects of a list. A tree without a value adds nothing.
    /// `inherited` is the kind of the items of a list that do not write theirs.
    pub(crate) fn add(&mut self, node: &Node, inherited: Option<&WrittenKind>) {
        if is_null(node) || node.is_missing() {
            return;
        }
        let Some(first) = node.as_map() else {
            let kind = node_kind(node);
            self.found.push(
                NOT_A_MANIFEST
                    .new(format!("a manifest is a map, found {kind}"))
                    .label(value_span(node), kind),
            );
            return;
        };
        let place = first
            .first()
            .map_or(node.span, |entry| value_span(&entry.key));
        let object = entries(node, &mut self.found);
        let items = object.get("items").and_then(|(_, node)| node.as_list());
        let Some(written) = WrittenKind::read(&object, place, inherited, &mut self.found) else {
            return;
        };
        let Some(kind) = written.group_kind(&mut self.found) else {
            return;
        };
        if let Some(items) = items {
            self.items(items, &written);
            return;
        }
        if kind.item.is("kustomize.config.k8s.io", "Kustomization") {
            self.found.push(needs_rendering(
                Rendered::Kustomization,
                kind.span,
                "a kustomization",
            ));
            return;
        }
        let spec = self.spec(&object, &written, node);
        if let Some(identity) = identity::identity(&object, kind, &mut self.found) {
            let ObjectIdentity { kind, name, .. } = &identity;
            let type_name = Spanned::new(kind.item.type_name().into(), kind.span);
            let resource = Resource::new(name.span, type_name, name.span, spec);
            self.objects.push(DeclaredObject { identity, resource });
        }
    }

    /// Adds the items of a list of this kind.
    fn items(&mut self, items: &[Node], list: &WrittenKind) {
        let kind = list.kind.item.strip_suffix(LIST);
        let inherited = kind
            .filter(|kind| !kind.is_empty())
            .map(|kind| WrittenKind {
                api_version: list.api_version.clone(),
                kind: Spanned::new(kind.into(), list.kind.span),
            });
        for item in items {
            self.add(item, inherited.as_ref());
        }
    }

    /// The manifest without what only servers set.
    fn spec(&mut self, object: &Entries<'_>, written: &WrittenKind, node: &Node) -> Expr {
        let mut fields: Vec<(Spanned<Name>, Expr)> = Vec::with_capacity(object.len());
        for (key, text) in [
            ("apiVersion", &written.api_version),
            ("kind", &written.kind),
        ] {
            if object.get(key).is_none_or(|(_, node)| is_null(node)) {
                let value = Value::Text(text.item.clone());
                let field = Expr::literal(value, text.span);
                fields.push((Spanned::new(key.into(), text.span), field));
            }
        }
        for (key, (span, node)) in object {
            let is_inherited = fields.iter().any(|(known, _)| known.item == *key);
            if &**key == "status" || is_inherited || is_null(node) {
                continue;
            }
            let field = match &**key {
                "metadata" if node.as_map().is_some() => self.metadata(node),
                _ => value(node, &mut self.found),
            };
            fields.push((Spanned::new(key.clone(), *span), field));
        }
        Expr::new(ExprKind::Map(fields), value_span(node))
    }

    fn metadata(&mut self, node: &Node) -> Expr {
        let mut fields: Vec<(Spanned<Name>, Expr)> = Vec::new();
        for (key, (span, node)) in set_entries(node, &mut self.found) {
            if OF_SERVERS.contains(&&*key) {
                continue;
            }
            let field = match &*key {
                "annotations" if node.as_map().is_some() => match self.annotations(node) {
                    Some(annotations) => annotations,
                    None => continue,
                },
                _ => value(node, &mut self.found),
            };
            fields.push((Spanned::new(key, span), field));
        }
        Expr::new(ExprKind::Map(fields), value_span(node))
    }

    /// The annotations; `None` if there are none besides that of `kubectl apply`.
    fn annotations(&mut self, node: &Node) -> Option<Expr> {
        let mut written = set_entries(node, &mut self.found);
        if written.shift_remove(LAST_APPLIED).is_some() && written.is_empty() {
            return None;
        }
        let annotations = written
            .into_iter()
            .map(|(key, (span, node))| (Spanned::new(key, span), value(node, &mut self.found)))
            .collect();
        Some(Expr::new(ExprKind::Map(annotations), value_span(node)))
    }
}

/// Reports what has to be rendered first, and how.
pub(crate) fn needs_rendering(rendered: Rendered, place: Span, label: &str) -> diag::Diagnostic {
    let (message, help) = match rendered {
        Rendered::Chart => (
            "a chart is rendered to manifests first",
            "run `helm template NAME . > app.yaml` in its folder, and deploy `app.yaml`",
        ),
        Rendered::Kustomization => (
            "a kustomization is rendered to manifests first",
            "run `kubectl kustomize . > app.yaml` in its folder, and deploy `app.yaml`",
        ),
        Rendered::Ytt => (
            "a template of ytt is rendered to manifests first",
            "run `ytt -f . > ../app.yaml` in its folder, and deploy `app.yaml`",
        ),
    };
    NEEDS_RENDERING.new(message).label(place, label).help(help)
}
