//! `get_attr`: attributes of resources, of nested templates and of groups.

use std::borrow::Cow;

use blueprint::{Expr, ExprKind, ReferenceHead, Value};
use diag::Span;
use syntax::Node;

use super::codes::GET_ATTR_TEXT;
use super::expressions::{ATTRIBUTE, reference};
use super::kinds::LoweredKind;
use super::kinds::{self as groups};
use super::lowering::Lowering;
use super::message_path::{HeatPhase, INVALID};
use super::read::{TextEntry, value_span};
use super::version::Version::*;
use dialect::codes::UNKNOWN_RESOURCE;

impl Lowering {
    /// `get_attr: [resource, attribute, path..]`.
    pub(super) fn get_attr(&mut self, pair: &TextEntry<'_>, span: Span) -> Expr {
        let node = pair.value;
        if let Some(text) = self.text(node) {
            return self.get_attr_text(text.to_owned(), node, span);
        }
        let Some(items) = node.as_list() else {
            if self.is_call(node) {
                let argument = self.expr(node);
                self.unsettled = true;
                return Expr::call(ATTRIBUTE, pair.key.span, vec![argument], span);
            }
            let wrong = if self.version >= V2015_10_15 && !pycompat::truth(&self.reader.value(node))
            {
                self.missing_arguments_message()
            } else {
                "Argument to \"get_attr\" must be a list"
            };
            return self.bad_argument(
                node,
                wrong,
                "`get_attr` takes a list of a resource and an attribute",
                span,
            );
        };
        let least = if self.version >= V2015_10_15 { 1 } else { 2 };
        if items.len() < least {
            return self.bad_argument(
                node,
                self.missing_arguments_message(),
                "`get_attr` takes a resource and an attribute",
                span,
            );
        }
        let (Some(name), attribute) = (
            self.text(&items[0]),
            items.get(1).map(|item| (item, self.text(item))),
        ) else {
            return self.computed_attribute(pair, span);
        };
        match attribute {
            None => self.all_attributes(name, value_span(&items[0]), span),
            Some((at, Some(attribute))) => {
                let mut path: Vec<Expr> = items[2..].iter().map(|step| self.expr(step)).collect();
                let kind = self.resources.get(name);
                let nested = matches!(kind, Some(LoweredKind::Child | LoweredKind::Group))
                    && self.version > V2013_05_23;
                let group = kind == Some(&LoweredKind::Group);
                let attribute = match nested
                    .then(|| inner_attribute(attribute, &mut path))
                    .flatten()
                {
                    Some(whole) => Cow::Owned(whole),
                    None => Cow::Borrowed(attribute),
                };
                if group {
                    return self.attribute_of_group(
                        name,
                        value_span(&items[0]),
                        &attribute,
                        value_span(at),
                        path,
                        span,
                    );
                }
                let value = self.attribute(
                    name,
                    value_span(&items[0]),
                    &attribute,
                    value_span(at),
                    span,
                );
                self.with_path(pair.key.span, value, path, span)
            }
            Some((at, None)) if !self.is_call(at) => {
                let shown = pycompat::text(&self.reader.value(at));
                let words = format!("The Referenced Attribute ({name} {shown}) is incorrect.");
                let words = self
                    .message_path
                    .message(HeatPhase::Validate, INVALID, &words);
                let diagnostic = expr::codes::UNKNOWN_FIELD
                    .new("the name of an attribute must be text")
                    .label(value_span(at), format!("this is {}", self.kind_of(at)))
                    .with_native_message(words);
                self.fail(diagnostic, span)
            }
            Some(_) => self.computed_attribute(pair, span),
        }
    }

    /// Lowers a text argument of `get_attr`, which Heat reads letter by letter.
    pub(super) fn get_attr_text(&mut self, text: String, node: &Node, span: Span) -> Expr {
        const NO_LIST: &str = "Argument to \"get_attr\" must be a list";
        let mut letters = text.chars().map(String::from);
        let (Some(name), attribute) = (letters.next(), letters.next()) else {
            let wrong = if self.version >= V2015_10_15 {
                self.missing_arguments_message()
            } else {
                NO_LIST
            };
            return self.bad_argument(
                node,
                wrong,
                "`get_attr` takes a list of a resource and an attribute",
                span,
            );
        };
        let at = value_span(node);
        self.report(
            GET_ATTR_TEXT
                .new("text where `get_attr` takes a list is read letter by letter")
                .label(at, "the first letter names the resource")
                .help("write a list: `[resource, attribute]`"),
        );
        match attribute {
            None if self.version >= V2015_10_15 => self.all_attributes(&name, at, span),
            None => self.bad_argument(
                node,
                NO_LIST,
                "`get_attr` takes a resource and an attribute",
                span,
            ),
            // Heat also refuses a text of several letters.
            Some(_) => {
                let diagnostic = UNKNOWN_RESOURCE
                    .new(format!("there is no resource `{text}`"))
                    .label(at, "text where a list belongs")
                    .with_native_message(self.message_path.message(
                        HeatPhase::Parse,
                        INVALID,
                        NO_LIST,
                    ));
                self.fail(diagnostic, span)
            }
        }
    }

    /// Heat's message for a list that is too short.
    pub(super) fn missing_arguments_message(&self) -> &'static str {
        if self.version >= V2015_10_15 {
            "Arguments to \"get_attr\" can be of the next forms: [resource_name] or [resource_name, attribute, (path), ...]"
        } else {
            "Arguments to \"get_attr\" must be of the form [resource_name, attribute, (path), ...]"
        }
    }

    /// An attribute whose resource or name is computed. It is settled once the inputs are known.
    pub(super) fn computed_attribute(&mut self, pair: &TextEntry<'_>, span: Span) -> Expr {
        let argument = self.expr(pair.value);
        self.unsettled = true;
        Expr::call(ATTRIBUTE, pair.key.span, vec![argument], span)
    }

    /// Reports an attribute of an undeclared resource. This is an error also in an output.
    pub(super) fn undeclared_resource_attribute(
        &mut self,
        name: &str,
        name_span: Span,
        span: Span,
    ) -> Expr {
        let in_output = std::mem::replace(&mut self.in_output, false);
        let failed = self.unknown_resource(name, name_span, span);
        self.in_output = in_output;
        failed
    }

    pub(super) fn with_path(
        &mut self,
        name_span: Span,
        value: Expr,
        path: Vec<Expr>,
        span: Span,
    ) -> Expr {
        if path.is_empty() {
            return value;
        }
        let function = if self.version == V2013_05_23 {
            "(select path)"
        } else {
            "get_attr"
        };
        Expr::call(
            function,
            name_span,
            std::iter::once(value).chain(path).collect(),
            span,
        )
    }

    /// One attribute of a resource.
    pub(super) fn attribute(
        &mut self,
        name: &str,
        name_span: Span,
        attribute: &str,
        at: Span,
        span: Span,
    ) -> Expr {
        let Some(kind) = self.resources.get(name) else {
            return self.undeclared_resource_attribute(name, name_span, span);
        };
        if attribute == "show" {
            return self.show_attribute(name, name_span, span);
        }
        // `resource.NAME.ATTR` reads a resource of a nested template. The names in it contain no
        // dots.
        if *kind == LoweredKind::Child
            && let Some(inner) = attribute.strip_prefix("resource.")
            && let Some((inner, of_inner)) = inner.split_once('.')
        {
            let export = format!("resource.{inner}.");
            let attributes = reference(ReferenceHead::Child(name.into()), name_span, &[&export]);
            let of_inner = Expr::literal(Value::text(of_inner), at);
            return Expr::call("get_attr", at, vec![attributes, of_inner], span);
        }
        let path: &[&str] = match kind {
            LoweredKind::Resource => &["attributes", attribute],
            LoweredKind::Child | LoweredKind::Group => &[attribute],
        };
        let head = match kind {
            LoweredKind::Resource => ReferenceHead::Resource {
                name: name.into(),
                bare: true,
            },
            LoweredKind::Child | LoweredKind::Group => ReferenceHead::Child(name.into()),
        };
        let mut expr = reference(head, name_span, path);
        if let ExprKind::Ref(reference) = &mut expr.kind
            && let Some(last) = reference.path.last_mut()
        {
            last.span = at;
        }
        expr
    }

    /// An attribute of a group, which the document of the group exports. An attribute of the
    /// members gives a list with the value of each member, and the path applies to each value.
    pub(super) fn attribute_of_group(
        &mut self,
        name: &str,
        name_span: Span,
        attribute: &str,
        at: Span,
        mut path: Vec<Expr>,
        span: Span,
    ) -> Expr {
        if attribute == "show" {
            // Each member has its own attribute `show`.
            let kind = self.resolved_types.get(name).map_or("", AsRef::as_ref);
            if matches!(kind, groups::RESOURCE_GROUP | groups::CHAIN) {
                self.reads
                    .entry(name.into())
                    .or_default()
                    .insert("refs".into(), at);
                let members = reference(ReferenceHead::Child(name.into()), name_span, &["refs"]);
                return Expr::call("(show)", span, vec![members], span);
            }
            return self.show_attribute(name, name_span, span);
        }
        // A stack from a template exports its outputs and its name under their own names.
        if self
            .resolved_types
            .get(name)
            .is_some_and(|kind| kind.as_ref() == groups::STACK)
        {
            let export = match attribute {
                "outputs" => "OS::outputs",
                "stack_name" => "OS::stack_name",
                other => other,
            };
            let value = reference(ReferenceHead::Child(name.into()), name_span, &[export]);
            return self.with_path(at, value, path, span);
        }
        let kind = self.resolved_types.get(name).cloned().unwrap_or_default();
        // The oldest version reads the attribute and then applies the path to the result.
        let apart = self.version == V2013_05_23;
        let scales = kind.as_ref() == groups::SCALING_GROUP;
        let own = groups::group_attributes(&kind).contains(&attribute)
            || attribute.starts_with("resource.");
        let by_name = groups::BY_NAME.contains(&attribute);
        if by_name && apart || scales && !own && !(by_name && attribute != "attributes") {
            let words = format!("The Referenced Attribute ({name} {attribute}) is incorrect.");
            let why = if by_name {
                "it needs the name of an attribute of members"
            } else {
                "not one of its attributes"
            };
            let help = if scales {
                format!("write `[{name}, outputs_list, {attribute}]` for those of the members")
            } else {
                "later versions take a path here".to_owned()
            };
            let diagnostic = expr::codes::UNKNOWN_FIELD
                .new(format!("`{name}` has no attribute `{attribute}` by itself"))
                .label(at, why)
                .help(help)
                .with_native_message(self.evaluation_error("InvalidTemplateAttribute", &words));
            return self.report_unknown_name(diagnostic, span);
        }
        let takes_none = groups::WITHOUT_PATH.contains(&attribute) || scales && attribute == "refs";
        if takes_none && own && !apart {
            path.clear();
        }
        let mut export = attribute.to_owned();
        let mut each = !own && !apart;
        if by_name {
            let first = path
                .first()
                .and_then(Expr::as_literal)
                .and_then(Value::as_text)
                .map(str::to_owned);
            let Some(first) = first else {
                let words = format!("The Referenced Attribute ({name} {attribute}) is incorrect.");
                let diagnostic = expr::codes::UNKNOWN_FIELD
                    .new(format!("`{attribute}` of a group must be followed by the name of a member's attribute"))
                    .label(at, "the attribute of the members is missing")
                    .with_native_message(self.evaluation_error("InvalidTemplateAttribute", &words));
                return self.report_unknown_name(diagnostic, span);
            };
            path.remove(0);
            export = format!("{attribute}.{first}");
            each = true;
        }
        self.reads
            .entry(name.into())
            .or_default()
            .insert(export.as_str().into(), at);
        let mut value = reference(ReferenceHead::Child(name.into()), name_span, &[&export]);
        if let ExprKind::Ref(reference) = &mut value.kind
            && let Some(last) = reference.path.last_mut()
        {
            last.span = at;
        }
        if path.is_empty() {
            return value;
        }
        let function = match (apart, each) {
            (true, _) => "(select path)",
            (_, true) => "(each)",
            _ => "get_attr",
        };
        Expr::call(
            function,
            at,
            std::iter::once(value).chain(path).collect(),
            span,
        )
    }

    /// The attribute `show`: that of a resource, and null for a stack.
    pub(super) fn show_attribute(&mut self, name: &str, name_span: Span, span: Span) -> Expr {
        let attributes = self.all_attributes(name, name_span, span);
        Expr::call("(show)", span, vec![attributes], span)
    }

    pub(super) fn all_attributes(&mut self, name: &str, name_span: Span, span: Span) -> Expr {
        match self.resources.get(name) {
            Some(LoweredKind::Resource) => reference(
                ReferenceHead::Resource {
                    name: name.into(),
                    bare: true,
                },
                name_span,
                &["attributes"],
            ),
            Some(kind @ (LoweredKind::Child | LoweredKind::Group)) => {
                if *kind == LoweredKind::Group {
                    self.reads
                        .entry(name.into())
                        .or_default()
                        .insert(groups::ALL.into(), name_span);
                }
                reference(ReferenceHead::Child(name.into()), name_span, &[groups::ALL])
            }
            None => self.undeclared_resource_attribute(name, name_span, span),
        }
    }
}

/// The attribute `resource.NAME.ATTR`, if the path gives `ATTR` separately.
fn inner_attribute(attribute: &str, path: &mut Vec<Expr>) -> Option<String> {
    let inner = attribute
        .strip_prefix("resource.")
        .filter(|inner| !inner.contains('.'))?;
    let first = path
        .first()
        .and_then(Expr::as_literal)
        .and_then(Value::as_text)?;
    let whole = format!("resource.{inner}.{first}");
    path.remove(0);
    Some(whole)
}
