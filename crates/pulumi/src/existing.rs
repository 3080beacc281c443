//! Resources with `get`, and references to stacks: existing objects that are read and not managed
//! (decisions/pulumi#get).
//!
//! Such a resource is a named value: the result of the function of its package that reads an object
//! of the type by its id.

use blueprint::{Expr, ExprKind, IndexMap, Local, Name, Type, Value};
use diag::{Severity, Span, Spanned};

use crate::expressions::PackageCallForm;
use crate::lowering::{ProgramLowering, SectionFields};
use crate::read::{RepeatedKey, TextEntry, entries, is_null, value_span, wrong_shape};
use crate::shape;
use crate::stack_reference::{is_stack_reference, reading_function};
use crate::tokens::{READ_PREFIX, TypeToken};
use dialect::codes::{MISSING_FIELD, UNSUPPORTED_FEATURE, WRONG_SHAPE};

/// Options that say who reads the object. The others concern managed objects.
const FOLLOWED: [&str; 4] = ["provider", "parent", "version", "pluginDownloadURL"];

/// Whether the value of a local is a resource that is read.
pub(crate) fn is_read(value: &Expr) -> bool {
    let ExprKind::Call(call) = &value.kind else {
        return false;
    };
    let function = call.arguments.first().map(|argument| &argument.value);
    let name = function.and_then(Expr::as_literal).and_then(Value::as_text);
    name.is_some_and(|name| name.contains(&format!("/{READ_PREFIX}")))
}

impl ProgramLowering<'_> {
    /// Lowers the resources with `get`.
    pub(crate) fn read_resources(&mut self, all: &[TextEntry<'_>]) -> IndexMap<Name, Local> {
        let mut locals = IndexMap::default();
        for entry in all {
            let span = entry.key.span;
            let local = Local {
                span,
                ty: Type::Any,
                value: self
                    .read_resource(entry)
                    .unwrap_or_else(|| Expr::error(span)),
                secret: false,
                description: None,
            };
            locals.insert(entry.key.item.clone(), local);
        }
        locals
    }

    fn read_resource(&mut self, entry: &TextEntry<'_>) -> Option<Expr> {
        let (name, span) = (&entry.key.item, entry.key.span);
        let fields = self.fields(
            &shape::RESOURCE,
            entry.value,
            &format!("the resource `{name}`"),
        )?;
        self.misplaced_options(&fields);
        if let Some(get) = fields.entry("get").filter(|one| !is_null(one.value))
            && let Some(properties) = fields.entry("properties").filter(|one| !is_null(one.value))
        {
            self.found.push(
                WRONG_SHAPE
                    .new(format!("`{name}` has both `get` and `properties`"))
                    .label(
                        properties.key.span,
                        "a resource that is read has no properties",
                    )
                    .label(get.key.span, "read because of this")
                    .help("remove one of them; `get.state` helps to find the object"),
            );
        }
        let provider = self.reading_provider(&fields);
        let token = fields
            .written("type")
            .and_then(|node| self.fixed_text(node, "`type`"));
        let Some(token) = token else {
            self.found.push(
                MISSING_FIELD
                    .new(format!("the resource `{name}` has no type"))
                    .label(span, "`type` is missing")
                    .help("add `type: package:module:Type`"),
            );
            return None;
        };
        let logical = fields
            .written("name")
            .and_then(|node| self.fixed_text(node, "`name`"));
        let logical = logical.map_or(name.clone(), |written| written.item.into());
        let refers = fields.written("get").is_none() && is_stack_reference(token.item);
        let arguments = match refers {
            true => self.stack_reference(&fields, &logical, span)?,
            false => self.read_arguments(&fields, &logical, span)?,
        };
        // Other tokens are reported as the tokens of functions are.
        let function = match TypeToken::read(token.item) {
            _ if is_stack_reference(token.item) => reading_function(),
            Some(TypeToken::Packaged { package, rest }) => format!("{package}:{READ_PREFIX}{rest}"),
            _ => token.item.to_owned(),
        };
        let function = Spanned::new(function.as_str(), token.span);
        Some(self.package_call(PackageCallForm {
            provider,
            ..PackageCallForm::of(function, arguments, span)
        }))
    }

    /// The provider in the options of a resource that is read. Options without effect are reported.
    fn reading_provider(&mut self, fields: &SectionFields<'_>) -> Option<Expr> {
        let node = fields.written("options")?;
        let options = self.fields(&shape::OPTIONS, node, "`options`")?;
        self.unknown_keys(&shape::OPTIONS, &options.others);
        let known = shape::OPTIONS.keys.iter().map(|key| key.name);
        for name in known.filter(|name| !FOLLOWED.contains(name)) {
            if let Some(entry) = options.entry(name).filter(|entry| !is_null(entry.value)) {
                self.found.push(
                    UNSUPPORTED_FEATURE
                        .new(format!("`{name}` has no effect on a resource that is read"))
                        .label(entry.key.span, "the object is not managed")
                        .with_severity(Severity::Warning),
                );
            }
        }
        let provider = self.named_resource(options.written("provider")?, "`provider`")?;
        Some(self.resource_value(provider))
    }

    /// The arguments of the function that reads: the id, the state, and what its URN is made of.
    fn read_arguments(
        &mut self,
        fields: &SectionFields<'_>,
        name: &Name,
        span: Span,
    ) -> Option<Expr> {
        let node = fields.written("get")?;
        let place = value_span(node);
        let get = self.fields(&shape::GET, node, "`get`")?;
        self.unknown_keys(&shape::GET, &get.others);
        let Some(id) = get.written("id") else {
            self.found.push(
                MISSING_FIELD
                    .new("`get` has no `id`")
                    .label(place, "`id` is missing")
                    .help("add `id: ID` with the id of the existing resource"),
            );
            return None;
        };
        let key = |name: &str| Spanned::new(Name::from(name), place);
        let fixed = |text: &Name| Expr::literal(Value::Text(text.clone()), place);
        let mut arguments = vec![
            (key("id"), self.expr(id)),
            (key("name"), fixed(name)),
            (key("project"), fixed(&self.project)),
        ];
        if let Some(state) = get.written("state") {
            match entries(state, RepeatedKey::LastCounts, &mut self.found) {
                Some(all) => {
                    let state = self.plain_map(&all, value_span(state));
                    arguments.push((key("state"), state));
                }
                None => wrong_shape(state, "`state`", "a map", &mut self.found),
            }
        }
        Some(Expr::new(ExprKind::Map(arguments), span))
    }

    /// The arguments of the function that reads the stack of a resource. Its name is `logical`.
    fn stack_reference(
        &mut self,
        fields: &SectionFields<'_>,
        logical: &Name,
        span: Span,
    ) -> Option<Expr> {
        let mut stack = Expr::literal(Value::Text(logical.clone()), span);
        let properties = fields.written("properties");
        if let Some(node) = properties.filter(|node| !is_null(node)) {
            let Some(all) = entries(node, RepeatedKey::LastCounts, &mut self.found) else {
                wrong_shape(node, "`properties`", "a map", &mut self.found);
                return None;
            };
            let is_name = |entry: &TextEntry<'_>| entry.key.item.as_ref() == "name";
            let others: Vec<_> = all
                .iter()
                .filter(|entry| !is_name(entry))
                .cloned()
                .collect();
            self.unknown_keys(&shape::STACK_REFERENCE, &others);
            if let Some(entry) = all.iter().find(|entry| is_name(entry)) {
                self.refuse_late_name(entry.value)?;
                stack = self.expr(entry.value);
            }
        }
        Some(self.stack_arguments(stack, logical, span))
    }
}
