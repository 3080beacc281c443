//! Calls that read by name: parameters, resources, files, and the resource of a nested template.

use blueprint::{Expr, ExprKind, INVOKE, ReferenceHead, Value};
use diag::{NativeMessage, Severity, Span, Spanned};
use expr::codes::ARGUMENT_TYPE;
use syntax::{Content, Node};

use super::expressions::{CHILD_PATH, FACADE, INSTANCE, RESOURCE, STACK_ID, reference};
use super::kinds::LoweredKind;
use super::lowering::Lowering;
use super::message_path::{HeatPhase, INVALID, TemplatePart};
use super::read::{TextEntry, value_span};
use super::refusal_expressions::refusal_expr;
use dialect::codes::{UNKNOWN_RESOURCE, UNKNOWN_VARIABLE};

/// The function of the provider `openstack` that returns the identifier of the project of its
/// configuration.
const PROJECT_FUNCTION: &str = "openstack/project_id";

/// The project in rehearsals, and where no provider is installed that knows it.
const REHEARSED_PROJECT: &str = "test_tenant_id";

impl Lowering {
    /// `get_param: name` or `[name, path..]`.
    pub(super) fn get_param(&mut self, pair: &TextEntry<'_>, span: Span) -> Expr {
        let node = pair.value;
        if let Some(name) = self.text(node) {
            if name.is_empty() {
                return self.bad_value(
                    node,
                    "Function \"get_param\" must have arguments",
                    "the name is empty",
                    span,
                );
            }
            return self.parameter(name, value_span(node), span);
        }
        match &node.content {
            Content::List(items) => {
                let Some((first, path)) = items.split_first() else {
                    let words = "Function \"get_param\" must have arguments";
                    return self.bad_value(node, words, "the name of a parameter is missing", span);
                };
                let value = match self.text(first) {
                    Some(name) => self.parameter(name, value_span(first), value_span(first)),
                    None if first.as_scalar().is_some() => {
                        let words = "Parameter name in \"get_param\" must be string";
                        return self.bad_value(
                            first,
                            words,
                            "the name of a parameter must be text",
                            span,
                        );
                    }
                    None => self.any_parameter(first),
                };
                if path.is_empty() {
                    return value;
                }
                let path: Vec<Expr> = path.iter().map(|step| self.expr(step)).collect();
                Expr::call(
                    "get_param",
                    pair.key.span,
                    std::iter::once(value).chain(path).collect(),
                    span,
                )
            }
            Content::Map(_) if self.is_call(node) => self.any_parameter(node),
            _ if self.is_null(node) => self.bad_value(
                node,
                "Function \"get_param\" must have arguments",
                "there is no name",
                span,
            ),
            _ => {
                let diagnostic = ARGUMENT_TYPE
                    .new("the name of a parameter must be text")
                    .label(value_span(node), format!("this is {}", self.kind_of(node)))
                    .help("quote it")
                    .with_native_message(self.evaluation_error(
                        "TypeError",
                        "Argument to \"get_param\" must be string or list",
                    ));
                self.report_unknown_name(diagnostic, span)
            }
        }
    }

    /// A reference to a parameter.
    pub(super) fn parameter(&mut self, name: &str, name_span: Span, span: Span) -> Expr {
        if self.parameters.contains_key(name) {
            return reference(ReferenceHead::Input(name.into()), name_span, &[]);
        }
        if let Some(expr) = self.pseudo(name, span) {
            return expr;
        }
        let diagnostic = UNKNOWN_VARIABLE
            .new(format!("there is no parameter `{name}`"))
            .label(name_span, "not declared")
            .help_nearest(name, self.parameters.keys().map(AsRef::as_ref))
            .with_native_message(self.evaluation_error(
                "UserParameterMissing",
                &format!("The Parameter ({name}) was not provided."),
            ));
        self.report_unknown_name(diagnostic, span)
    }

    /// A reference to a parameter with a computed name.
    pub(super) fn any_parameter(&mut self, name: &Node) -> Expr {
        let span = value_span(name);
        let name = self.expr(name);
        let all = self.parameters.iter().map(|(name, at)| {
            (
                Spanned::new(name.clone(), *at),
                reference(ReferenceHead::Input(name.clone()), span, &[]),
            )
        });
        let all = Expr::new(ExprKind::Map(all.collect()), span);
        Expr::call("(parameter)", span, vec![all, name], span)
    }

    /// A pseudo parameter: a fact about the instance that is not passed.
    pub(super) fn pseudo(&mut self, name: &str, span: Span) -> Option<Expr> {
        let fact = |fact: &str| reference(ReferenceHead::Scoped(fact.into()), span, &[]);
        Some(match name {
            "OS::stack_name" => Expr::call(
                "(stack name)",
                span,
                vec![fact(INSTANCE), fact(CHILD_PATH)],
                span,
            ),
            "OS::stack_id" => Expr::call(
                STACK_ID,
                span,
                vec![fact(INSTANCE), fact(CHILD_PATH), self.project_id(span)],
                span,
            ),
            "OS::project_id" => self.project_id(span),
            _ => return None,
        })
    }

    /// The project in the cloud. The provider of the project is asked when a template needs it; the
    /// identifier is a constant if no provider can tell.
    fn project_id(&self, span: Span) -> Expr {
        if !self.has_function(PROJECT_FUNCTION) {
            return Expr::literal(Value::text(REHEARSED_PROJECT), span);
        }
        let function = Expr::literal(Value::text(PROJECT_FUNCTION), span);
        Expr::call(INVOKE, span, vec![function], span)
    }

    /// `get_resource: name`.
    pub(super) fn get_resource(&mut self, pair: &TextEntry<'_>, span: Span) -> Expr {
        let node = pair.value;
        if let Some(name) = self.text(node) {
            return self.resource(name, value_span(node), span);
        }
        if self.is_call(node) {
            let name = self.expr(node);
            self.unsettled = true;
            return Expr::call(RESOURCE, pair.key.span, vec![name], span);
        }
        let diagnostic = ARGUMENT_TYPE
            .new("the name of a resource must be text")
            .label(value_span(node), format!("this is {}", self.kind_of(node)));
        let shown = self.reader.value(node);
        let words = match &shown {
            Value::List(_) => self.evaluation_error("TypeError", "unhashable type: 'list'"),
            Value::Map(_) => self.evaluation_error("TypeError", "unhashable type: 'dict'"),
            other => self.message_path.no_resource(&pycompat::text(other)),
        };
        self.report_unknown_name(diagnostic.with_native_message(words), span)
    }

    /// A reference to the id of a resource.
    pub(super) fn resource(&mut self, name: &str, name_span: Span, span: Span) -> Expr {
        match self.resources.get(name) {
            Some(LoweredKind::Resource) => reference(
                ReferenceHead::Resource {
                    name: name.into(),
                    bare: true,
                },
                name_span,
                &[],
            ),
            Some(LoweredKind::Child | LoweredKind::Group) => reference(
                ReferenceHead::Child(name.into()),
                name_span,
                &["OS::stack_id"],
            ),
            None => self.unknown_resource(name, name_span, span),
        }
    }

    pub(super) fn unknown_resource(&mut self, name: &str, name_span: Span, span: Span) -> Expr {
        let diagnostic = UNKNOWN_RESOURCE
            .new(format!("there is no resource `{name}`"))
            .label(name_span, "not declared")
            .help_nearest(name, self.resources.keys().map(AsRef::as_ref))
            .with_native_message(self.message_path.no_resource(name));
        self.report_unknown_name(diagnostic, span)
    }

    /// `Ref: name`: refers to a resource, or to a parameter if no resource has the name.
    pub(super) fn cfn_ref(&mut self, pair: &TextEntry<'_>, span: Span) -> Expr {
        match self.text(pair.value) {
            Some(name) if self.resources.contains_key(name) => {
                self.resource(name, value_span(pair.value), span)
            }
            Some(name) if self.parameters.contains_key(name) || name.starts_with("OS::") => {
                self.parameter(name, value_span(pair.value), span)
            }
            Some(name) => self.unknown_resource(name, value_span(pair.value), span),
            None => {
                let words = "Argument to \"Ref\" must be string";
                self.bad_value(
                    pair.value,
                    words,
                    "`Ref` takes the name of a resource or a parameter",
                    span,
                )
            }
        }
    }

    /// `get_file: path`: the text of a file, relative to the folder of the template.
    pub(super) fn get_file(&mut self, pair: &TextEntry<'_>, span: Span) -> Expr {
        let node = pair.value;
        if self.text(node).is_none() && !self.is_call(node) {
            let words = "Argument to \"get_file\" must be a string";
            return self.bad_value(node, words, "the name of a file must be text", span);
        }
        let path = self.expr(node);
        let bytes = Expr::call("file", pair.key.span, vec![path], span);
        Expr::call("(file text)", pair.key.span, vec![bytes], span)
    }

    /// `resource_facade`: a part of the resource of the nested template.
    pub(super) fn facade(&mut self, pair: &TextEntry<'_>, span: Span) -> Expr {
        let cfn = pair.key.item.starts_with("Fn");
        let parts: [&str; 3] = if cfn {
            ["Metadata", "DeletionPolicy", "UpdatePolicy"]
        } else {
            ["metadata", "deletion_policy", "update_policy"]
        };
        let Some(part) = self.text(pair.value).filter(|part| parts.contains(part)) else {
            let words = format!(
                "Incorrect arguments to \"{}\" should be one of: {}",
                pair.key.item,
                parts.join(", ")
            );
            let why = "only metadata and policies of the resource above can be read";
            return self.bad_argument(pair.value, &words, why, span);
        };
        self.reads_facade = true;
        let part = Expr::literal(Value::text(part), value_span(pair.value));
        let fact = reference(ReferenceHead::Input(FACADE.into()), span, &[]);
        Expr::call("(facade)", pair.key.span, vec![fact, part], span)
    }

    /// Reports an unknown name. In an output, it fails only this output.
    pub(super) fn report_unknown_name(&mut self, diagnostic: diag::Diagnostic, span: Span) -> Expr {
        if self.in_output {
            return refusal_expr(&diagnostic);
        }
        if self.message_path.section != TemplatePart::Condition {
            self.late_diagnostics.push(self.reader.found.len());
            return self.fail(diagnostic, span);
        }
        // A condition that is never used is not evaluated.
        let refused = refusal_expr(&diagnostic);
        self.report(diagnostic.with_severity(Severity::Warning));
        refused
    }

    /// Heat's message for a mistake that it finds while it computes the current value.
    pub(super) fn evaluation_error(&self, class: &'static str, message: &str) -> NativeMessage {
        self.message_path
            .message(HeatPhase::Evaluate, class, message)
    }

    /// Reports an argument of the wrong kind that Heat notices only during evaluation. In an
    /// output, it fails only this output.
    pub(super) fn bad_value(&mut self, node: &Node, words: &str, why: &str, span: Span) -> Expr {
        let diagnostic = ARGUMENT_TYPE
            .new(why.to_owned())
            .label(value_span(node), format!("this is {}", self.kind_of(node)));
        let words = self.evaluation_error("TypeError", words);
        self.report_unknown_name(diagnostic.with_native_message(words), span)
    }

    pub(super) fn bad_argument(&mut self, node: &Node, words: &str, why: &str, span: Span) -> Expr {
        let diagnostic = ARGUMENT_TYPE
            .new(why.to_owned())
            .label(value_span(node), format!("this is {}", self.kind_of(node)));
        let words = self.message_path.message(HeatPhase::Parse, INVALID, words);
        self.fail(diagnostic.with_native_message(words), span)
    }
}
