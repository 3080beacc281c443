//! The sections `datasources`, `include` and `exports`.

use blueprint::{
    Child, DataSource, DataSourceExport, Export, Expr, ExprKind, Filter, IndexMap, Name,
    ResourceMetadata, SourceMetadata,
};
use diag::{Span, Spanned};
use expr::codes::TYPE_MISMATCH;
use syntax::{Content, MapEntry, Node};

use super::hints::Hints;
use super::lowering::{Lowering, SectionFields, value_span};
use super::scalar::{Typed, typed};
use super::shape::{self, EXPORT_TYPES, VALUE_TYPES};
use dialect::codes::{UNKNOWN_KEY, UNKNOWN_OPERATOR};

/// The operators of filters in every version, and those that the later version adds.
const OPERATORS: &[&str] = shape::OPERATORS.split_at(12).0;
const LATER_OPERATORS: &[&str] = shape::OPERATORS.split_at(12).1;

/// Whether a key of a filter is certainly none of its own, so that it is probably a field.
fn is_no_key_of_filters(text: &str) -> bool {
    let keys = || shape::FILTER.keys.iter().map(|key| key.name);
    keys().all(|key| key != text) && diag::nearest(text, keys()).is_none()
}

impl Lowering<'_> {
    pub(super) fn data_sources(&mut self, node: &Node) -> IndexMap<Name, DataSource> {
        let definitions = self.definitions(node, &shape::DATA_SOURCE);
        let mut data_sources =
            IndexMap::with_capacity_and_hasher(definitions.len(), Default::default());
        for (entry, map) in definitions {
            let (name, span) = (entry.key.text().unwrap_or(""), entry.key.span);
            self.name(name, span, "a data source");
            let fields = self.fields(&shape::DATA_SOURCE, map, span);
            let data_source = self.data_source(&fields, span);
            data_sources.insert(Name::from(name), data_source);
        }
        data_sources
    }

    fn data_source(&mut self, fields: &SectionFields<'_>, span: Span) -> DataSource {
        let type_name = self.element_type(fields, shape::DATA_SOURCE.name, span);
        let filters = fields
            .entry("filter")
            .map(|entry| self.filters(&entry.value, entry.key.span, span))
            .unwrap_or_default();
        let mut export_all = None;
        let exports = match fields.get("exports") {
            Some(node) => self.data_source_exports(node, span, &mut export_all),
            None => IndexMap::default(),
        };
        let mut hints = Hints::of_data_source();
        let metadata = match fields.entry("metadata") {
            Some(entry) => {
                let fields = self.fields(
                    &shape::DATA_SOURCE_METADATA,
                    entry.value.as_map(),
                    entry.key.span,
                );
                let annotations = fields
                    .get("annotations")
                    .map(|node| self.annotations(node, &mut hints))
                    .unwrap_or_default();
                self.other_metadata(&fields, Vec::new(), annotations)
            }
            None => ResourceMetadata::default(),
        };
        let description = fields
            .get("description")
            .map(|node| self.substituted_text(node, "description"));
        let provider = hints.provider.take().map(Box::new);
        DataSource {
            span,
            type_name,
            filters,
            exports,
            export_all,
            provider,
            metadata,
            description,
        }
    }

    fn filters(&mut self, node: &Node, key: Span, name: Span) -> Vec<Filter> {
        let empty = node.as_list().is_some_and(<[Node]>::is_empty)
            || node.as_map().is_some_and(<[_]>::is_empty);
        if empty {
            self.report_missing_key(shape::DATA_SOURCE.name, "filter", name);
            return Vec::new();
        }
        let Some(items) = node.as_list() else {
            return self.filter(node, key).into_iter().collect();
        };
        self.report_newer_feature(value_span(node), "a list of filters");
        let mut filters = Vec::with_capacity(items.len());
        for item in items {
            if self.null_item(item, "a filter") {
                continue;
            }
            if self.check_form(item, dialect::KeyForm::Map, "filter") {
                filters.extend(self.filter(item, value_span(item)));
            }
        }
        filters
    }

    /// Reports null as an item of a list that needs values
    /// (decisions/blueprint#null-means-not-written). Returns whether the item is null.
    pub(super) fn null_item(&mut self, node: &Node, what: &str) -> bool {
        let null = self.is_null(node);
        if null {
            let mismatch = self.mismatch(node, "an item", what, "null");
            self.found
                .push(mismatch.help("give it a value or remove it"));
        }
        null
    }

    /// Lowers one filter. Reports a filter without a search value and returns `None`. A field or
    /// operator in error is an empty name.
    fn filter(&mut self, node: &Node, span: Span) -> Option<Filter> {
        if let Some(map) = node.as_map()
            && !map.is_empty()
            && map
                .iter()
                .all(|entry| entry.key.text().is_some_and(is_no_key_of_filters))
        {
            self.report_filter_by_fields(node, map);
            return None;
        }
        let fields = self.fields(&shape::FILTER, node.as_map(), span);
        let nothing = || Spanned::new(Name::from(""), span);
        let field = fields
            .get("field")
            .and_then(|node| self.filled_name(node, "field", shape::FILTER.name, span));
        let operator = fields.get("operator").and_then(|node| {
            let operator = self.filled_name(node, "operator", shape::FILTER.name, span)?;
            self.operator(&operator.item, value_span(node));
            Some(operator)
        });
        let search = fields.get("search").map(|node| self.search(node))?;
        Some(Filter {
            field: field.unwrap_or_else(nothing),
            operator: operator.unwrap_or_else(nothing),
            search,
        })
    }

    /// Reports a filter whose keys are the fields to compare.
    fn report_filter_by_fields(&mut self, node: &Node, map: &[MapEntry]) {
        let keys: Option<Vec<&str>> = map.iter().map(|entry| entry.key.text()).collect();
        let keys = keys.unwrap_or_default();
        let values: Option<Vec<String>> = map.iter().map(|entry| self.flow_value(entry)).collect();
        let operators = super::lowering::listed(shape::OPERATORS);
        let mut wrong = UNKNOWN_KEY
            .new(format!(
                "a filter does not have the form `{}: VALUE`",
                keys.first().unwrap_or(&"FIELD")
            ))
            .label(
                map.first().map_or(node.span, |entry| entry.key.span),
                "a filter has the keys `field`, `operator` and `search`",
            )
            .help(format!("operators are {operators}"));
        let filters = values.map(|values| {
            let one = |(key, value): (&&str, &String)| {
                format!("{{field: {key}, operator: \"=\", search: {value}}}")
            };
            let filters: Vec<String> = keys.iter().zip(&values).map(one).collect();
            match filters.as_slice() {
                [one] => one.clone(),
                several => format!("[{}]", several.join(", ")),
            }
        });
        wrong = match filters {
            Some(filters) => wrong.fix(
                format!("write `{filters}`"),
                vec![(node.span, filters)],
                false,
            ),
            None => wrong.help("write `{field: NAME, operator: \"=\", search: VALUE}`"),
        };
        self.found.push(wrong);
    }

    /// The scalar of an entry as it can stand inside brackets.
    fn flow_value(&self, entry: &MapEntry) -> Option<String> {
        let node = &entry.value;
        let scalar = node.as_scalar()?;
        Some(match typed(node, scalar) {
            Typed::Text => super::lowering::json_text(&scalar.text),
            Typed::Null | Typed::OutOfRange => return None,
            _ => scalar.text.to_string(),
        })
    }

    /// A text that must be neither empty nor substituted.
    pub(super) fn filled_name(
        &mut self,
        node: &Node,
        key: &str,
        section: &str,
        span: Span,
    ) -> Option<Spanned<Name>> {
        let name = self.fixed_name(node, key)?;
        if name.item.is_empty() {
            self.report_missing_key(section, key, span);
            return None;
        }
        Some(name)
    }

    fn operator(&mut self, operator: &str, span: Span) {
        if LATER_OPERATORS.contains(&operator) {
            self.report_newer_feature(span, &format!("the operator `{operator}`"));
        } else if !OPERATORS.contains(&operator) {
            let known = shape::OPERATORS.iter().copied();
            self.found.push(
                UNKNOWN_OPERATOR
                    .new(format!("unknown operator `{operator}`"))
                    .label(span, "no such comparison")
                    .help_nearest(operator, known)
                    .help(format!(
                        "operators are {}",
                        super::lowering::listed(shape::OPERATORS)
                    )),
            );
        }
    }

    fn search(&mut self, node: &Node) -> Expr {
        let Some(items) = node.as_list() else {
            return self.content(node);
        };
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            if self.null_item(item, "a single value") {
                continue;
            }
            if self.check_form(item, dialect::KeyForm::Scalar, "search") {
                list.push(self.content(item));
            }
        }
        Expr::new(ExprKind::List(list), node.span)
    }

    fn data_source_exports(
        &mut self,
        node: &Node,
        name: Span,
        export_all: &mut Option<Span>,
    ) -> IndexMap<Name, DataSourceExport> {
        let mut exports = IndexMap::default();
        match &node.content {
            Content::Map(entries) if entries.is_empty() => {
                self.report_missing_key(shape::DATA_SOURCE.name, "exports", name)
            }
            Content::Map(_) => {
                for (entry, map) in self.definitions(node, &shape::DATA_SOURCE_EXPORT) {
                    let (name, span) = (entry.key.text().unwrap_or(""), entry.key.span);
                    self.data_source_export_name(name, span);
                    let fields = self.fields(&shape::DATA_SOURCE_EXPORT, map, span);
                    let ty = self.declared_type(&fields, "data source export", EXPORT_TYPES, span);
                    // An `aliasFor` in error gives an empty name, so that the export's own name is
                    // not used as the field.
                    let alias_for = fields.is_written("aliasFor").then(|| {
                        let alias = fields
                            .get("aliasFor")
                            .and_then(|node| self.fixed_name(node, "aliasFor"));
                        alias.unwrap_or_else(|| Spanned::new("".into(), span))
                    });
                    let description = fields.get("description").and_then(|node| {
                        let text = self.fixed_text(node, "description")?;
                        Some(Expr::literal(blueprint::Value::text(text), node.span))
                    });
                    exports.insert(
                        Name::from(name),
                        DataSourceExport {
                            span,
                            ty,
                            alias_for,
                            description,
                        },
                    );
                }
            }
            Content::Scalar(scalar) if &*scalar.text == "*" => {
                self.report_newer_feature(value_span(node), "`exports: \"*\"`");
                *export_all = Some(node.span);
            }
            Content::Scalar(scalar) if self.has_substitution(node, scalar, "exports") => {}
            _ => self.wrong_shape(node, "exports", "a map or `\"*\"`"),
        }
        exports
    }

    pub(super) fn include(&mut self, node: &Node) -> IndexMap<Name, Child> {
        let definitions = self.definitions(node, &shape::INCLUDE);
        let mut children =
            IndexMap::with_capacity_and_hasher(definitions.len(), Default::default());
        for (entry, map) in definitions {
            let (name, span) = (entry.key.text().unwrap_or(""), entry.key.span);
            self.name(name, span, "an include");
            let fields = self.fields(&shape::INCLUDE, map, span);
            let path = match fields.get("path") {
                Some(node) if node.text() == Some("") => {
                    self.report_missing_key(shape::INCLUDE.name, "path", span);
                    Expr::error(node.span)
                }
                Some(node) => self.substituted_text(node, "path"),
                None => Expr::error(span),
            };
            let inputs = fields
                .get("variables")
                .map(|node| self.child_inputs(node))
                .unwrap_or_default();
            let providers = fields
                .get("metadata")
                .map(|node| self.include_hints(node))
                .unwrap_or_default();
            let source = fields.entry("metadata").map(|entry| {
                let mut entries = self.named_content(&entry.value);
                entries.retain(|(key, _)| !key.item.starts_with("cyan."));
                SourceMetadata {
                    span: entry.key.span,
                    entries,
                }
            });
            let description = fields
                .get("description")
                .map(|node| self.substituted_text(node, "description"));
            let (condition, removal, expansion, depends_on) = (None, None, None, Vec::new());
            let child = Child {
                span,
                path,
                stands_for: None,
                inputs,
                source,
                condition,
                depends_on,
                providers,
                removal,
                expansion,
                breakpoints: Default::default(),
                description,
            };
            children.insert(Name::from(name), child);
        }
        children
    }

    /// The inputs of a child: scalars (decisions/documents#children).
    fn child_inputs(&mut self, node: &Node) -> Vec<(Spanned<Name>, Expr)> {
        let map = node.as_map().unwrap_or(&[]);
        let mut inputs = Vec::with_capacity(map.len());
        for entry in self.entries(map) {
            let name = entry.key.text().unwrap_or("");
            let value = &entry.value;
            if self.is_null(value) {
                self.null_ignored(entry);
                continue;
            }
            let expr = match &value.content {
                Content::Scalar(scalar) => self.scalar(value, scalar),
                Content::Missing => Expr::error(value.span),
                Content::Map(_) | Content::List(_) => {
                    let found = if value.as_map().is_some() {
                        "an object"
                    } else {
                        "an array"
                    };
                    self.found.push(
                        TYPE_MISMATCH
                            .new(format!(
                                "the input `{name}` must be a single value, found {found}"
                            ))
                            .label(value_span(value), found)
                            .help("hand it over as text: `${jsonencode(..)}`"),
                    );
                    Expr::error(value.span)
                }
            };
            inputs.push((Spanned::new(Name::from(name), entry.key.span), expr));
        }
        inputs
    }

    fn named_content(&mut self, node: &Node) -> Vec<(Spanned<Name>, Expr)> {
        match self.content(node).kind {
            ExprKind::Map(entries) => entries,
            _ => Vec::new(),
        }
    }

    pub(super) fn exports(&mut self, node: &Node) -> IndexMap<Name, Export> {
        let definitions = self.definitions(node, &shape::EXPORT);
        let mut exports = IndexMap::with_capacity_and_hasher(definitions.len(), Default::default());
        for (entry, map) in definitions {
            let (name, span) = (entry.key.text().unwrap_or(""), entry.key.span);
            self.name(name, span, "an export");
            let fields = self.fields(&shape::EXPORT, map, span);
            let ty = self
                .declared_type(&fields, "export", VALUE_TYPES, span)
                .item;
            let field = match fields.get("field") {
                Some(node) => self.export_field(node, span),
                None => Expr::error(span),
            };
            let description = fields
                .get("description")
                .map(|node| self.substituted_text(node, "description"));
            exports.insert(
                Name::from(name),
                Export {
                    span,
                    ty,
                    field,
                    may_fail: false,
                    hidden: false,
                    by_entry: false,
                    description,
                },
            );
        }
        exports
    }

    fn export_field(&mut self, node: &Node, span: Span) -> Expr {
        match self.fixed_text(node, "field") {
            None => Expr::error(node.span),
            Some("") => {
                self.report_missing_key(shape::EXPORT.name, "field", span);
                Expr::error(node.span)
            }
            Some(text) => {
                let map = node.text_map(self.source);
                let mut expr = expr::parse_reference(text, &map, node.span, &mut self.found);
                self.apply_version(&mut expr);
                expr
            }
        }
    }
}
