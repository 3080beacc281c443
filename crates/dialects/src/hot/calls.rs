//! Values with calls in them: a map whose one key names a function of the version is a call (decision Heat 5).

use ::blueprint::{Choice, Expr, ExprKind, Value};
use diag::{Severity, Span};
use syntax::{Content, Node};

use super::argument_form;
use super::codes::{FUNCTION_NOT_HERE, REMOVED_FUNCTION};
use super::expressions::{call, sketch};
use super::function_versions::{Named, named_in};
use super::lowering::Lowering;
use super::read::{Pair, Reader, place};
use super::version::Version::*;
use super::way::{INVALID, Step, Way, When, Within};
use super::yaql::Runs;
use crate::codes::NEWER_THAN_VERSION;

impl Lowering {
    /// A value in which calls are read.
    pub(super) fn expr(&mut self, node: &Node) -> Expr {
        let span = place(node);
        match &node.content {
            Content::Missing => Expr::error(span),
            Content::Scalar(_) => Expr::literal(self.reader.value(node), span),
            Content::List(_) | Content::Map(_) if Reader::is_remade(node) => {
                Expr::literal(self.reader.value(node), span)
            }
            Content::List(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(at, item)| self.further(Step::Index(at), |this| this.expr(item))).collect();
                Expr::new(ExprKind::List(items), span)
            }
            Content::Map(_) => {
                let pairs = self.reader.pairs(node).unwrap_or_default();
                if let [pair] = pairs.as_slice()
                    && let Some(called) = self.called(pair, span)
                {
                    return called;
                }
                self.entries(pairs, span)
            }
        }
    }

    fn entries(&mut self, pairs: Vec<Pair<'_>>, span: Span) -> Expr {
        let mut entries = Vec::with_capacity(pairs.len());
        for Pair { key, value, .. } in pairs {
            let value = self.further(Step::Key(key.item.clone()), |this| this.expr(value));
            entries.push((key, value));
        }
        Expr::new(ExprKind::Map(entries), span)
    }

    /// The call that a map with one entry is; none for data.
    fn called(&mut self, pair: &Pair<'_>, span: Span) -> Option<Expr> {
        self.further(Step::Call(pair.key.item.clone()), |this| {
            if this.in_condition { this.called_in_condition(pair, span) } else { this.called_in_value(pair, span) }
        })
    }

    fn called_in_value(&mut self, pair: &Pair<'_>, span: Span) -> Option<Expr> {
        let key = pair.key.item.clone();
        match named_in(self.version, &key) {
            Named::Other => None,
            Named::Later(since) => {
                self.report(
                    NEWER_THAN_VERSION
                        .new(format!("`{key}` is a function from version {} on; here it is data", since.date()))
                        .label(pair.key.span, format!("the template says {}", self.version.date()))
                        .help(format!("say `heat_template_version: {}`", since.date()))
                        .graded(Severity::Warning),
                );
                None
            }
            Named::Removed => self.removed(pair).map(|diagnostic| self.fail(diagnostic, span)),
            Named::Function => Some(match key.as_ref() {
                "get_param" => self.get_param(pair, span),
                "get_resource" => self.get_resource(pair, span),
                "get_attr" => self.get_attr(pair, span),
                "get_file" => self.get_file(pair, span),
                "Ref" => self.cfn_ref(pair, span),
                "if" => self.choice(pair, span),
                "resource_facade" | "Fn::ResourceFacade" => self.facade(pair, span),
                _ => {
                    let argument = self.expr(pair.value);
                    self.form(pair, argument, span)
                }
            }),
        }
    }

    /// The diagnostic for a function that this version no longer has; none for other names.
    pub(super) fn removed(&self, pair: &Pair<'_>) -> Option<diag::Diagnostic> {
        let key = pair.key.item.as_ref();
        if !matches!(named_in(self.version, key), Named::Removed) {
            return None;
        }
        let words =
            format!("The template version is invalid: The function {key} is not supported in this version of HOT.");
        let diagnostic = REMOVED_FUNCTION
            .new(format!("version {} no longer has the function `{key}`", self.version.date()))
            .label(pair.key.span, "not a function any more");
        Some(diagnostic.words(self.way.said(When::Checked, INVALID, &words)))
    }

    /// The call that a map with one entry is inside of a condition.
    fn called_in_condition(&mut self, pair: &Pair<'_>, span: Span) -> Option<Expr> {
        let key = pair.key.item.as_ref();
        if let Some(diagnostic) = self.removed(pair) {
            // Heat ignores such a call in an inline condition without a message.
            if self.way.within != Within::Condition {
                self.report(diagnostic.graded(Severity::Warning));
                return Some(Expr::literal(Value::Null, span));
            }
            return Some(self.fail(diagnostic, span));
        }
        match (key, self.function_in_condition(key)?) {
            ("get_param", true) => Some(self.get_param(pair, span)),
            ("yaql" | "contains", true) => {
                let argument = self.expr(pair.value);
                Some(self.form(pair, argument, span))
            }
            (_, true) => Some(self.condition_call(pair, span, true)),
            (_, false) => {
                let diagnostic = FUNCTION_NOT_HERE
                    .new(format!("`{key}` cannot be called in a condition"))
                    .label(pair.key.span, "conditions depend on parameters only")
                    .words(self.way.not_here(key));
                Some(self.fail(diagnostic, span))
            }
        }
    }

    /// A call of a function that looks at nothing but its argument; whether that has the right form is seen now.
    pub(super) fn form(&mut self, pair: &Pair<'_>, mut argument: Expr, span: Span) -> Expr {
        // These evaluate each argument by itself, so that one that is omitted is null.
        match pair.key.item.as_ref() {
            "list_join" | "filter" | "contains" | "yaql" | "repeat" => by_themselves(&mut argument),
            name if name.starts_with("str_replace") => by_themselves(&mut argument),
            _ => {}
        }
        let is_yaql = pair.key.item.as_ref() == "yaql";
        let runs = if is_yaql {
            pair.value.get("expression").and_then(|node| Runs::of_node(node, &self.source))
        } else {
            None
        };
        if let Err(refusal) = argument_form::form(&pair.key.item, &argument, self.version, runs.as_ref()) {
            let mut at = expr::within(&argument, refusal.path.get(1..).unwrap_or_default());
            if let Some(inside) = refusal.inside {
                at = expr::part_of(at, inside);
            }
            let mut diagnostic = diag::Diagnostic::new(refusal.code, refusal.message)
                .label(at, format!("`{}` does not take this", pair.key.item));
            let when = argument_form::when(&pair.key.item, &argument);
            diagnostic.words = refusal.words.map(|words| Box::new(self.way.said(when, INVALID, &words.message)));
            diagnostic.help.extend(refusal.help);
            if when == When::Checked {
                self.unread.push(self.reader.found.len());
            }
            return self.fail(diagnostic, span);
        }
        if is_yaql
            && !super::yaql::draws(&argument)
            && let Some(runs) = runs
        {
            let nothing = || Expr::literal(Value::Null, span);
            let version = Expr::literal(Value::Int(self.version.number()), span);
            let runs = Expr::literal(runs.written(), span);
            return call("yaql", pair.key.span, vec![argument, version, nothing(), nothing(), runs], span);
        }
        if is_yaql && super::yaql::draws(&argument) {
            let seed = call("uuid", span, Vec::new(), span);
            let now = call("datetime", span, vec![Expr::literal(Value::text("unix"), span)], span);
            let version = Expr::literal(Value::Int(self.version.number()), span);
            return call("yaql", pair.key.span, vec![argument, version, seed, now], span);
        }
        if let ("filter", ExprKind::List(items)) = (pair.key.item.as_ref(), &argument.kind)
            && let [values, list] = items.as_slice()
            && sketch(values).has_unknown()
        {
            // The values are not looked at where there is nothing to filter.
            let literal = |value: Value| Expr::literal(value, span);
            let version = literal(Value::Int(self.version.number()));
            let apart = vec![list.clone(), values.clone(), version, literal(Value::Null)];
            return call("filter", pair.key.span, apart, span);
        }
        self.call(&pair.key.item, pair.key.span, argument, span)
    }

    /// Whether a node is a call in this version.
    pub(super) fn is_call(&self, node: &Node) -> bool {
        match node.as_map() {
            Some([entry]) => entry.key.text().is_some_and(|key| matches!(named_in(self.version, key), Named::Function)),
            _ => false,
        }
    }

    /// `if: [condition, a, b]`.
    fn choice(&mut self, pair: &Pair<'_>, span: Span) -> Expr {
        let items = pair.value.as_list();
        let few = if self.version >= V2021_04_16 { 2 } else { 3 };
        let Some(items) = items.filter(|items| (few..=3).contains(&items.len())) else {
            let words = "Arguments to \"if\" must be of the form: [condition_name, value_if_true, value_if_false]";
            return self.bad_argument(pair.value, words, "`if` takes a condition and two values", span);
        };
        // Heat's path for a mistake in the condition begins at the `if`, wherever that stands.
        let way = std::mem::replace(&mut self.way, Way::to(Within::Choice, &"if".into()));
        let outer = self.condition_for.replace(way.said(When::Read, INVALID, ""));
        let condition = self.condition(&items[0]);
        self.condition_for = outer;
        self.way = way;
        // The branch that is not taken is never read, so nothing in it is an error before it is (decision D7).
        let in_branch = std::mem::replace(&mut self.in_branch, true);
        let then = self.expr(&items[1]);
        let otherwise = match items.get(2) {
            Some(node) => self.expr(node),
            None => Expr::literal(expr::omitted(), span),
        };
        self.in_branch = in_branch;
        self.unsettled = true;
        Expr::new(ExprKind::Choice(Box::new(Choice { condition, then, otherwise })), span)
    }
}

/// The members of an argument, each of which is null where it would be omitted.
fn by_themselves(argument: &mut Expr) {
    fn nothing_omitted(expr: &mut Expr) {
        if !expr::may_omit(expr) {
            return;
        }
        match &mut expr.kind {
            ExprKind::Choice(choice) => {
                nothing_omitted(&mut choice.then);
                nothing_omitted(&mut choice.otherwise);
            }
            kind => *kind = ExprKind::Literal(Value::Null),
        }
    }
    match &mut argument.kind {
        ExprKind::List(items) => items.iter_mut().for_each(nothing_omitted),
        ExprKind::Map(entries) => entries.iter_mut().for_each(|(_, value)| nothing_omitted(value)),
        _ => {}
    }
}
