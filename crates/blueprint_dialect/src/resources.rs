//! The section `resources`.

use blueprint::{Each, Expr, IndexMap, LinkSelector, Name, Resource, ResourceMetadata, TypeId};
use diag::{Span, Spanned};
use expr::codes::TYPE_MISMATCH;
use syntax::{Content, MapEntry, Node};

use super::hints::Hints;
use super::lowering::{Lowering, SectionFields, value_span};
use super::scalar::{Typed, has_substitution, typed};
use super::shape;
use dialect::codes::{DUPLICATE_KEY, LABEL_NOT_STRING, VALUE_NOT_ALLOWED};

/// Labels: names and texts with their places.
type LabelTexts = Vec<(Spanned<Name>, Spanned<Name>)>;

impl Lowering<'_> {
    pub(super) fn resources(&mut self, node: &Node) -> IndexMap<Name, Resource> {
        let definitions = self.definitions(node, &shape::RESOURCE);
        let mut resources =
            IndexMap::with_capacity_and_hasher(definitions.len(), Default::default());
        self.names.reserve(definitions.len());
        for (entry, map) in definitions {
            let (name, span) = (entry.key.text().unwrap_or(""), entry.key.span);
            self.resource_name(name, span);
            let fields = self.fields(&shape::RESOURCE, map, span);
            let resource = self.resource(&fields, span);
            resources.insert(self.names.share(name), resource);
        }
        resources
    }

    fn resource(&mut self, fields: &SectionFields<'_>, span: Span) -> Resource {
        let type_name = self.element_type(fields, shape::RESOURCE.name, span);
        let (spec, spec_key) = match fields.entry("spec") {
            Some(entry) => (self.content(&entry.value), entry.key.span),
            None => (Expr::error(span), span),
        };
        let condition = fields
            .get("condition")
            .map(|node| Box::new(self.condition(node)));
        let list = fields.get("each").map(|node| match node.as_scalar() {
            Some(scalar) => self.scalar(node, scalar),
            None => Expr::error(node.span),
        });
        let list = match fields.is_written("each") || fields.is_misspelt("each") {
            // `elem` means something, though the list is not known.
            true => list.or_else(|| Some(Expr::error(span))),
            false => list,
        };
        let depends_on = fields
            .get("dependsOn")
            .map(|node| self.names(node, "dependsOn"))
            .unwrap_or_default();
        let link_selector = fields
            .entry("linkSelector")
            .and_then(|entry| self.link_selector(&entry.value, entry.key.span))
            .map(Box::new);
        let mut hints = Hints::of_resource();
        let metadata = match fields.entry("metadata") {
            Some(entry) => self.resource_metadata(&entry.value, entry.key.span, &mut hints),
            None => ResourceMetadata::default(),
        };
        let key = self.each_key(&mut hints, list.is_some());
        let provider = hints.provider.take().map(Box::new);
        let mut lifecycle = hints.lifecycle;
        if fields
            .get("removalPolicy")
            .is_some_and(|node| self.retains(node))
        {
            lifecycle.retain = true;
        }
        let description = fields
            .get("description")
            .map(|node| Box::new(self.substituted_text(node, "description")));
        let each = list.map(|list| Box::new(Each { list, key }));
        Resource {
            span,
            type_name,
            stands_for: None,
            spec,
            spec_key,
            each,
            condition,
            depends_on,
            provider,
            link_selector,
            metadata,
            lifecycle,
            description,
            made_from: None,
            protection: None,
            removal: None,
            external: None,
            readiness: None,
            parent: None,
            logical_name: None,
            ties: None,
            switched_off: None,
            computed: None,
            update_policy: None,
        }
    }

    /// The type of a resource or data source. Reports a missing or invalid type and returns an
    /// empty name.
    pub(super) fn element_type(
        &mut self,
        fields: &SectionFields<'_>,
        section: &str,
        span: Span,
    ) -> Spanned<TypeId> {
        let Some(node) = fields.get("type") else {
            return Spanned::new("".into(), span);
        };
        let name = match self.fixed_text(node, "type") {
            Some("") => {
                self.report_missing_key(section, "type", span);
                ""
            }
            Some(text) => self.type_name(text, value_span(node)).unwrap_or(""),
            None => "",
        };
        Spanned::new(self.packages.resolve(self.names.share(name)), node.span)
    }

    /// Reads one name or a list of names.
    pub(super) fn names(&mut self, node: &Node, key: &str) -> Vec<Spanned<Name>> {
        match node.as_list() {
            None => self.fixed_name(node, key).into_iter().collect(),
            Some(items) => items
                .iter()
                .filter_map(|item| self.fixed_name(item, key))
                .collect(),
        }
    }

    /// Reads the names of transforms, and reports repeated ones.
    pub(super) fn transforms(&mut self, node: &Node) -> Vec<Spanned<Name>> {
        let mut names = self.names(node, "transform");
        let mut seen = std::collections::HashMap::new();
        let found = &mut self.found;
        names.retain(|name| match seen.insert(name.item.clone(), name.span) {
            None => true,
            Some(first) => {
                found.push(
                    DUPLICATE_KEY
                        .new(format!("the transform `{}` is listed twice", name.item))
                        .label(name.span, "ignored")
                        .label(first, "used, because it is the first")
                        .help("remove one of them"),
                );
                false
            }
        });
        names
    }

    /// Reads a link selector. Returns `None` if a label is wrong, because the selection is then
    /// unknown.
    fn link_selector(&mut self, node: &Node, span: Span) -> Option<LinkSelector> {
        let fields = self.fields(&shape::LINK_SELECTOR, node.as_map(), span);
        let by_label = fields
            .get("byLabel")
            .map(|node| self.labels(node, "byLabel"))
            .unwrap_or_default();
        let exclude = fields
            .get("exclude")
            .map(|node| self.names(node, "exclude"))
            .unwrap_or_default();
        let labels = fields
            .get("byLabel")
            .and_then(|node| node.as_map())
            .unwrap_or(&[]);
        let has_substitution = |entry: &MapEntry| entry.value.text().is_some_and(has_substitution);
        (!labels.iter().any(has_substitution)).then_some(LinkSelector {
            span,
            by_label,
            exclude,
        })
    }

    fn labels(&mut self, node: &Node, key: &str) -> LabelTexts {
        let map = node.as_map().unwrap_or(&[]);
        let mut labels = Vec::with_capacity(map.len());
        for entry in self.entries(map) {
            let name = entry.key.text().unwrap_or("");
            let value = &entry.value;
            if self.is_null(value) {
                self.null_ignored(entry);
                continue;
            }
            let found = match &value.content {
                Content::Missing => continue,
                Content::Map(_) => "a map",
                Content::List(_) => "a list",
                Content::Scalar(scalar) => match typed(value, scalar) {
                    Typed::Text => {
                        if !self.has_substitution(value, scalar, key) {
                            let name = Spanned::new(self.names.share(name), entry.key.span);
                            labels
                                .push((name, Spanned::new(Name::from(&*scalar.text), value.span)));
                        }
                        continue;
                    }
                    other => other.words(),
                },
            };
            let not_text = LABEL_NOT_STRING
                .new(format!(
                    "the label `{name}` must be a string, found {found}"
                ))
                .label(value_span(value), found);
            self.found.push(match value.text() {
                Some(text) => {
                    not_text.fix("quote it", vec![(value.span, format!("\"{text}\""))], false)
                }
                None => not_text,
            });
        }
        labels
    }

    fn resource_metadata(
        &mut self,
        node: &Node,
        span: Span,
        hints: &mut Hints,
    ) -> ResourceMetadata {
        let fields = self.fields(&shape::RESOURCE_METADATA, node.as_map(), span);
        let labels = fields
            .get("labels")
            .map(|node| self.labels(node, "labels"))
            .unwrap_or_default();
        let annotations = fields
            .get("annotations")
            .map(|node| self.annotations(node, hints))
            .unwrap_or_default();
        self.other_metadata(&fields, labels, annotations)
    }

    /// The display name and free data, which resources and data sources have in common.
    pub(super) fn other_metadata(
        &mut self,
        fields: &SectionFields<'_>,
        labels: LabelTexts,
        annotations: Vec<(Spanned<Name>, Expr)>,
    ) -> ResourceMetadata {
        let display_name = fields
            .get("displayName")
            .map(|node| self.substituted_text(node, "displayName"));
        let custom = fields.get("custom").map(|node| self.content(node));
        ResourceMetadata {
            display_name,
            labels,
            annotations,
            custom,
            replacement_trigger: None,
        }
    }

    /// Annotations: scalars, or the result of a substitution
    /// (decisions/blueprint#annotations-and-labels). Annotations of this tool are read into
    /// `hints`.
    pub(super) fn annotations(
        &mut self,
        node: &Node,
        hints: &mut Hints,
    ) -> Vec<(Spanned<Name>, Expr)> {
        let map = node.as_map().unwrap_or(&[]);
        let mut annotations = Vec::with_capacity(map.len());
        for entry in self.entries(map) {
            let name = entry.key.text().unwrap_or("");
            if self.is_null(&entry.value) {
                self.null_ignored(entry);
                continue;
            }
            if name.starts_with("cyan.") && !self.hint(entry, name, hints) {
                continue;
            }
            let value = match &entry.value.content {
                Content::Missing => continue,
                Content::Scalar(scalar) => self.scalar(&entry.value, scalar),
                Content::Map(_) | Content::List(_) => {
                    let found = if entry.value.as_map().is_some() {
                        "an object"
                    } else {
                        "an array"
                    };
                    self.found.push(
                        TYPE_MISMATCH
                            .new(format!(
                                "the annotation `{name}` must be a single value, found {found}"
                            ))
                            .label(value_span(&entry.value), found)
                            .help("put other data into `custom`"),
                    );
                    Expr::error(entry.value.span)
                }
            };
            annotations.push((Spanned::new(self.names.share(name), entry.key.span), value));
        }
        annotations
    }

    fn retains(&mut self, node: &Node) -> bool {
        match self.fixed_text(node, "removalPolicy") {
            Some("retain") => true,
            Some("delete") | None => false,
            Some(text) => {
                self.found.push(
                    VALUE_NOT_ALLOWED
                        .new(format!("`removalPolicy` cannot be `{text}`"))
                        .label(value_span(node), "`delete` or `retain`")
                        .help_nearest(text, ["delete", "retain"]),
                );
                false
            }
        }
    }
}
