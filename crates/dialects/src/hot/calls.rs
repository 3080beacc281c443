//! Values with calls in them: a map whose one key names a function of the version is a call (reference, section 5).

use std::borrow::Cow;

use ::blueprint::{Choice, Expr, ExprKind, Head, Value};
use diag::{Severity, Span, Spanned, Words};
use expr::codes::ARGUMENT_TYPE;
use syntax::{Content, Node};

use super::codes::{FUNCTION_NOT_HERE, GET_ATTR_TEXT, REMOVED_FUNCTION};
use super::groups;
use super::lowering::{FACADE, INSTANCE, Lowering, Made, UNIT, call, reference};
use super::read::{Pair, Reader, place};
use super::version::Version::{self, *};
use super::words::{INVALID, Step, Way, When, Within};
use super::yaql::Runs;
use crate::codes::{NEWER_THAN_VERSION, UNKNOWN_RESOURCE, UNKNOWN_VARIABLE};

/// When each function came, and the first version without it.
pub(super) const FUNCTIONS: &[(&str, Version, Option<Version>)] = &[
    ("get_param", V2013_05_23, None),
    ("get_resource", V2013_05_23, None),
    ("get_attr", V2013_05_23, None),
    ("get_file", V2013_05_23, None),
    ("resource_facade", V2013_05_23, None),
    ("list_join", V2013_05_23, None),
    ("str_replace", V2013_05_23, None),
    ("repeat", V2015_04_30, None),
    ("digest", V2015_04_30, None),
    ("str_split", V2015_10_15, None),
    ("map_merge", V2016_04_08, None),
    ("yaql", V2016_10_14, None),
    ("map_replace", V2016_10_14, None),
    ("if", V2016_10_14, None),
    ("filter", V2017_02_24, None),
    ("str_replace_strict", V2017_02_24, None),
    ("make_url", V2017_09_01, None),
    ("list_concat", V2017_09_01, None),
    ("list_concat_unique", V2017_09_01, None),
    ("str_replace_vstrict", V2017_09_01, None),
    ("contains", V2017_09_01, None),
    ("Fn::Select", V2013_05_23, Some(V2015_10_15)),
    ("Fn::GetAZs", V2013_05_23, Some(V2014_10_16)),
    ("Fn::Join", V2013_05_23, Some(V2014_10_16)),
    ("Fn::Split", V2013_05_23, Some(V2014_10_16)),
    ("Fn::Replace", V2013_05_23, Some(V2014_10_16)),
    ("Fn::Base64", V2013_05_23, Some(V2014_10_16)),
    ("Fn::MemberListToMap", V2013_05_23, Some(V2014_10_16)),
    ("Fn::ResourceFacade", V2013_05_23, Some(V2014_10_16)),
    ("Ref", V2013_05_23, Some(V2014_10_16)),
];

/// What a map with one key is in a version.
enum Named {
    Function,
    /// A function that this version no longer has.
    Removed,
    /// A function that it does not have yet: data.
    Later(Version),
    /// Data.
    Other,
}

fn named_in(version: Version, key: &str) -> Named {
    match FUNCTIONS.iter().find(|(name, ..)| *name == key) {
        None => Named::Other,
        Some((.., Some(until))) if version >= *until => Named::Removed,
        Some((_, since, _)) if version < *since => Named::Later(*since),
        Some(_) => Named::Function,
    }
}

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

    /// What is wrong with a function that this version no longer has.
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
            // Of what is written in place Heat makes nothing, and says nothing.
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
        if let Err(refusal) = super::native::form(&pair.key.item, &argument, self.version, runs.as_ref()) {
            let mut at = expr::within(&argument, refusal.path.get(1..).unwrap_or_default());
            if let Some(inside) = refusal.inside {
                at = expr::part_of(at, inside);
            }
            let mut diagnostic = diag::Diagnostic::new(refusal.code, refusal.message)
                .label(at, format!("`{}` does not take this", pair.key.item));
            let when = super::native::when(&pair.key.item, &argument);
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
            && super::native::sketch(values).has_unknown()
        {
            // The values are not looked at where there is nothing to filter.
            let literal = |value: Value| Expr::literal(value, span);
            let version = literal(Value::Int(self.version.number()));
            let apart = vec![list.clone(), values.clone(), version, literal(Value::Null)];
            return call("filter", pair.key.span, apart, span);
        }
        self.call(&pair.key.item, pair.key.span, argument, span)
    }

    /// `get_param: name` or `[name, path..]`.
    pub(super) fn get_param(&mut self, pair: &Pair<'_>, span: Span) -> Expr {
        let node = pair.value;
        if let Some(name) = self.text(node) {
            if name.is_empty() {
                return self.bad_value(node, "Function \"get_param\" must have arguments", "the name is empty", span);
            }
            return self.parameter(name, place(node), span);
        }
        match &node.content {
            Content::List(items) => {
                let Some((first, path)) = items.split_first() else {
                    let words = "Function \"get_param\" must have arguments";
                    return self.bad_value(node, words, "the name of a parameter is missing", span);
                };
                let value = match self.text(first) {
                    Some(name) => self.parameter(name, place(first), place(first)),
                    None if first.as_scalar().is_some() => {
                        let words = "Parameter name in \"get_param\" must be string";
                        return self.bad_value(first, words, "the name of a parameter must be text", span);
                    }
                    None => self.any_parameter(first),
                };
                if path.is_empty() {
                    return value;
                }
                let path: Vec<Expr> = path.iter().map(|step| self.expr(step)).collect();
                call("get_param", pair.key.span, std::iter::once(value).chain(path).collect(), span)
            }
            Content::Map(_) if self.is_call(node) => self.any_parameter(node),
            _ if self.is_null(node) => {
                self.bad_value(node, "Function \"get_param\" must have arguments", "there is no name", span)
            }
            _ => {
                let diagnostic = ARGUMENT_TYPE
                    .new("the name of a parameter must be text")
                    .label(place(node), format!("this is {}", self.kind_of(node)))
                    .help("quote it")
                    .words(self.made("TypeError", "Argument to \"get_param\" must be string or list"));
                self.missing(diagnostic, span)
            }
        }
    }

    /// An argument of the wrong kind that Heat notices only while it evaluates: in an output it fails only that.
    fn bad_value(&mut self, node: &Node, words: &str, why: &str, span: Span) -> Expr {
        let diagnostic =
            ARGUMENT_TYPE.new(why.to_owned()).label(place(node), format!("this is {}", self.kind_of(node)));
        let words = self.made("TypeError", words);
        self.missing(diagnostic.words(words), span)
    }

    fn bad_argument(&mut self, node: &Node, words: &str, why: &str, span: Span) -> Expr {
        let diagnostic =
            ARGUMENT_TYPE.new(why.to_owned()).label(place(node), format!("this is {}", self.kind_of(node)));
        let words = self.way.said(When::Read, INVALID, words);
        self.fail(diagnostic.words(words), span)
    }

    /// Whether a node is a call in this version.
    pub(super) fn is_call(&self, node: &Node) -> bool {
        match node.as_map() {
            Some([entry]) => entry.key.text().is_some_and(|key| matches!(named_in(self.version, key), Named::Function)),
            _ => false,
        }
    }

    /// A parameter by its name.
    fn parameter(&mut self, name: &str, name_span: Span, span: Span) -> Expr {
        if self.parameters.contains_key(name) {
            return reference(Head::Input(name.into()), name_span, &[]);
        }
        if let Some(expr) = self.pseudo(name, span) {
            return expr;
        }
        let diagnostic = UNKNOWN_VARIABLE
            .new(format!("there is no parameter `{name}`"))
            .label(name_span, "not declared")
            .help_nearest(name, self.parameters.keys().map(AsRef::as_ref))
            .words(self.made("UserParameterMissing", &format!("The Parameter ({name}) was not provided.")));
        self.missing(diagnostic, span)
    }

    /// A name that leads nowhere: in an output it fails only that.
    fn missing(&mut self, diagnostic: diag::Diagnostic, span: Span) -> Expr {
        if self.in_output {
            return refusing(&diagnostic);
        }
        if self.way.within != Within::Condition {
            self.unread.push(self.reader.found.len());
            return self.fail(diagnostic, span);
        }
        // A condition that nobody asks for is never evaluated.
        let refused = refusing(&diagnostic);
        self.report(diagnostic.graded(Severity::Warning));
        refused
    }

    /// What Heat says of what it finds while it makes the value at hand.
    fn made(&self, class: &'static str, message: &str) -> Words {
        self.way.said(When::Made, class, message)
    }

    /// What the engine knows without being given it.
    pub(super) fn pseudo(&mut self, name: &str, span: Span) -> Option<Expr> {
        let fact = |fact: &str| reference(Head::Scoped(fact.into()), span, &[]);
        Some(match name {
            "OS::stack_name" => call("(stack name)", span, vec![fact(INSTANCE), fact(UNIT)], span),
            "OS::stack_id" => call("(stack id)", span, vec![fact(INSTANCE), fact(UNIT)], span),
            "OS::project_id" => Expr::literal(Value::text("test_tenant_id"), span),
            _ => return None,
        })
    }

    /// A parameter whose name is computed: one of all.
    fn any_parameter(&mut self, name: &Node) -> Expr {
        let span = place(name);
        let name = self.expr(name);
        let all = self
            .parameters
            .iter()
            .map(|(name, at)| (Spanned::new(name.clone(), *at), reference(Head::Input(name.clone()), span, &[])));
        let all = Expr::new(ExprKind::Map(all.collect()), span);
        call("(parameter)", span, vec![all, name], span)
    }

    /// `get_resource: name`.
    fn get_resource(&mut self, pair: &Pair<'_>, span: Span) -> Expr {
        let node = pair.value;
        if let Some(name) = self.text(node) {
            return self.resource(name, place(node), span);
        }
        if self.is_call(node) {
            let name = self.expr(node);
            self.unsettled = true;
            return call(RESOURCE, pair.key.span, vec![name], span);
        }
        let diagnostic = ARGUMENT_TYPE
            .new("the name of a resource must be text")
            .label(place(node), format!("this is {}", self.kind_of(node)));
        let shown = self.reader.value(node);
        let words = match &shown {
            Value::List(_) => self.made("TypeError", "unhashable type: 'list'"),
            Value::Map(_) => self.made("TypeError", "unhashable type: 'dict'"),
            other => self.way.no_resource(&super::native::shown(other)),
        };
        self.missing(diagnostic.words(words), span)
    }

    fn unknown_resource(&mut self, name: &str, name_span: Span, span: Span) -> Expr {
        let diagnostic = UNKNOWN_RESOURCE
            .new(format!("there is no resource `{name}`"))
            .label(name_span, "not declared")
            .help_nearest(name, self.resources.keys().map(AsRef::as_ref))
            .words(self.way.no_resource(name));
        self.missing(diagnostic, span)
    }

    /// An attribute of a resource that is not declared is an error wherever it is read.
    fn attribute_of_nothing(&mut self, name: &str, name_span: Span, span: Span) -> Expr {
        let in_output = std::mem::replace(&mut self.in_output, false);
        let failed = self.unknown_resource(name, name_span, span);
        self.in_output = in_output;
        failed
    }

    /// The id by which others see a resource.
    fn resource(&mut self, name: &str, name_span: Span, span: Span) -> Expr {
        match self.resources.get(name) {
            Some(Made::Resource) => reference(Head::Resource { name: name.into(), bare: true }, name_span, &[]),
            Some(Made::Child | Made::Group) => reference(Head::Child(name.into()), name_span, &["OS::stack_id"]),
            None => self.unknown_resource(name, name_span, span),
        }
    }

    /// `get_attr: [resource, attribute, path..]`.
    fn get_attr(&mut self, pair: &Pair<'_>, span: Span) -> Expr {
        let node = pair.value;
        if let Some(text) = self.text(node) {
            return self.get_attr_text(text.to_owned(), node, span);
        }
        let Some(items) = node.as_list() else {
            if self.is_call(node) {
                let argument = self.expr(node);
                self.unsettled = true;
                return call(ATTRIBUTE, pair.key.span, vec![argument], span);
            }
            let wrong = if self.version >= V2015_10_15 && !python::truth(&self.reader.value(node)) {
                self.short_attribute()
            } else {
                "Argument to \"get_attr\" must be a list"
            };
            return self.bad_argument(node, wrong, "`get_attr` takes a list of a resource and an attribute", span);
        };
        let least = if self.version >= V2015_10_15 { 1 } else { 2 };
        if items.len() < least {
            return self.bad_argument(
                node,
                self.short_attribute(),
                "`get_attr` takes a resource and an attribute",
                span,
            );
        }
        let (Some(name), attribute) = (self.text(&items[0]), items.get(1).map(|item| (item, self.text(item)))) else {
            return self.computed_attribute(pair, span);
        };
        match attribute {
            None => self.all_attributes(name, place(&items[0]), span),
            Some((at, Some(attribute))) => {
                let mut path: Vec<Expr> = items[2..].iter().map(|step| self.expr(step)).collect();
                let made = self.resources.get(name);
                let nested = matches!(made, Some(Made::Child | Made::Group)) && self.version > V2013_05_23;
                let group = made == Some(&Made::Group);
                let attribute = match nested.then(|| of_inner(attribute, &mut path)).flatten() {
                    Some(whole) => Cow::Owned(whole),
                    None => Cow::Borrowed(attribute),
                };
                if group {
                    return self.attribute_of_group(name, place(&items[0]), &attribute, place(at), path, span);
                }
                let value = self.attribute(name, place(&items[0]), &attribute, place(at), span);
                self.walked(pair.key.span, value, path, span)
            }
            Some((at, None)) if !self.is_call(at) => {
                let shown = super::native::shown(&self.reader.value(at));
                let words = format!("The Referenced Attribute ({name} {shown}) is incorrect.");
                let words = self.way.said(When::Checked, INVALID, &words);
                let diagnostic = expr::codes::UNKNOWN_FIELD
                    .new("the name of an attribute must be text")
                    .label(place(at), format!("this is {}", self.kind_of(at)))
                    .words(words);
                self.fail(diagnostic, span)
            }
            Some(_) => self.computed_attribute(pair, span),
        }
    }

    /// An attribute of which resource or name is computed; it is settled once inputs are known.
    fn computed_attribute(&mut self, pair: &Pair<'_>, span: Span) -> Expr {
        let argument = self.expr(pair.value);
        self.unsettled = true;
        call(ATTRIBUTE, pair.key.span, vec![argument], span)
    }

    /// What Heat says of too short a list.
    fn short_attribute(&self) -> &'static str {
        if self.version >= V2015_10_15 {
            "Arguments to \"get_attr\" can be of the next forms: [resource_name] or [resource_name, attribute, (path), ...]"
        } else {
            "Arguments to \"get_attr\" must be of the form [resource_name, attribute, (path), ...]"
        }
    }

    /// Text is taken letter by letter.
    fn get_attr_text(&mut self, text: String, node: &Node, span: Span) -> Expr {
        const NO_LIST: &str = "Argument to \"get_attr\" must be a list";
        let mut letters = text.chars().map(String::from);
        let (Some(name), attribute) = (letters.next(), letters.next()) else {
            let wrong = if self.version >= V2015_10_15 { self.short_attribute() } else { NO_LIST };
            return self.bad_argument(node, wrong, "`get_attr` takes a list of a resource and an attribute", span);
        };
        let at = place(node);
        self.report(
            GET_ATTR_TEXT
                .new("text where `get_attr` takes a list is read letter by letter")
                .label(at, "the first letter names the resource")
                .help("write a list: `[resource, attribute]`"),
        );
        match attribute {
            None if self.version >= V2015_10_15 => self.all_attributes(&name, at, span),
            None => self.bad_argument(node, NO_LIST, "`get_attr` takes a resource and an attribute", span),
            // More than one letter is no list to Heat either.
            Some(_) => {
                let diagnostic = UNKNOWN_RESOURCE
                    .new(format!("there is no resource `{text}`"))
                    .label(at, "text where a list belongs")
                    .words(self.way.said(When::Read, INVALID, NO_LIST));
                self.fail(diagnostic, span)
            }
        }
    }

    fn walked(&mut self, name_span: Span, value: Expr, path: Vec<Expr>, span: Span) -> Expr {
        if path.is_empty() {
            return value;
        }
        let function = if self.version == V2013_05_23 { "(select path)" } else { "get_attr" };
        call(function, name_span, std::iter::once(value).chain(path).collect(), span)
    }

    /// One attribute of a resource.
    fn attribute(&mut self, name: &str, name_span: Span, attribute: &str, at: Span, span: Span) -> Expr {
        let Some(made) = self.resources.get(name) else { return self.attribute_of_nothing(name, name_span, span) };
        if attribute == "show" {
            return self.shown(name, name_span, span);
        }
        // `resource.NAME.ATTR` reads a resource of a nested template; names do not hold dots there.
        if *made == Made::Child
            && let Some(inner) = attribute.strip_prefix("resource.")
            && let Some((inner, of_inner)) = inner.split_once('.')
        {
            let export = format!("resource.{inner}.");
            let attributes = reference(Head::Child(name.into()), name_span, &[&export]);
            let of_inner = Expr::literal(Value::text(of_inner), at);
            return call("get_attr", at, vec![attributes, of_inner], span);
        }
        let path: &[&str] = match made {
            Made::Resource => &["attributes", attribute],
            Made::Child | Made::Group => &[attribute],
        };
        let head = match made {
            Made::Resource => Head::Resource { name: name.into(), bare: true },
            Made::Child | Made::Group => Head::Child(name.into()),
        };
        let mut expr = reference(head, name_span, path);
        if let ExprKind::Ref(reference) = &mut expr.kind
            && let Some(last) = reference.path.last_mut()
        {
            last.span = at;
        }
        expr
    }

    /// An attribute of a group: the document that it becomes exports what is read of it. What is an attribute of members gives
    /// the value of each, and the path goes on into every one.
    fn attribute_of_group(
        &mut self,
        name: &str,
        name_span: Span,
        attribute: &str,
        at: Span,
        mut path: Vec<Expr>,
        span: Span,
    ) -> Expr {
        if attribute == "show" {
            // Members show what they are, each for itself.
            let kind = self.meanings.get(name).map_or("", AsRef::as_ref);
            if matches!(kind, groups::RESOURCE_GROUP | groups::CHAIN) {
                self.reads.entry(name.into()).or_default().insert("refs".into(), at);
                let members = reference(Head::Child(name.into()), name_span, &["refs"]);
                return call("(show)", span, vec![members], span);
            }
            return self.shown(name, name_span, span);
        }
        // A stack from a template has its outputs, and its name, as it has them itself.
        if self.meanings.get(name).is_some_and(|kind| kind.as_ref() == groups::STACK) {
            let export = match attribute {
                "outputs" => "OS::outputs",
                "stack_name" => "OS::stack_name",
                other => other,
            };
            let value = reference(Head::Child(name.into()), name_span, &[export]);
            return self.walked(at, value, path, span);
        }
        let kind = self.meanings.get(name).cloned().unwrap_or_default();
        // The oldest version asks for the attribute alone, and takes the path of what it gets.
        let apart = self.version == V2013_05_23;
        let scales = kind.as_ref() == groups::SCALING_GROUP;
        let own = groups::own(&kind).contains(&attribute) || attribute.starts_with("resource.");
        let by_name = groups::BY_NAME.contains(&attribute);
        if by_name && apart || scales && !own && !(by_name && attribute != "attributes") {
            let words = format!("The Referenced Attribute ({name} {attribute}) is incorrect.");
            let why =
                if by_name { "it needs the name of an attribute of members" } else { "not one of its attributes" };
            let help = if scales {
                format!("write `[{name}, outputs_list, {attribute}]` for those of the members")
            } else {
                "later versions take a path here".to_owned()
            };
            let diagnostic = expr::codes::UNKNOWN_FIELD
                .new(format!("`{name}` has no attribute `{attribute}` by itself"))
                .label(at, why)
                .help(help)
                .words(self.made("InvalidTemplateAttribute", &words));
            return self.missing(diagnostic, span);
        }
        let takes_none = groups::WITHOUT_PATH.contains(&attribute) || scales && attribute == "refs";
        if takes_none && own && !apart {
            path.clear();
        }
        let mut export = attribute.to_owned();
        let mut each = !own && !apart;
        if by_name {
            let first = path.first().and_then(Expr::as_literal).and_then(Value::as_text).map(str::to_owned);
            let Some(first) = first else {
                let words = format!("The Referenced Attribute ({name} {attribute}) is incorrect.");
                let diagnostic = expr::codes::UNKNOWN_FIELD
                    .new(format!("`{attribute}` of a group takes the name of an attribute behind it"))
                    .label(at, "the attribute of the members is missing")
                    .words(self.made("InvalidTemplateAttribute", &words));
                return self.missing(diagnostic, span);
            };
            path.remove(0);
            export = format!("{attribute}.{first}");
            each = true;
        }
        self.reads.entry(name.into()).or_default().insert(export.as_str().into(), at);
        let mut value = reference(Head::Child(name.into()), name_span, &[&export]);
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
        call(function, at, std::iter::once(value).chain(path).collect(), span)
    }

    /// What a service shows of a thing: nothing without a cloud. The thing is needed all the same.
    fn shown(&mut self, name: &str, name_span: Span, span: Span) -> Expr {
        let thing = self.all_attributes(name, name_span, span);
        call("(show)", span, vec![thing], span)
    }

    fn all_attributes(&mut self, name: &str, name_span: Span, span: Span) -> Expr {
        match self.resources.get(name) {
            Some(Made::Resource) => {
                reference(Head::Resource { name: name.into(), bare: true }, name_span, &["attributes"])
            }
            Some(made @ (Made::Child | Made::Group)) => {
                if *made == Made::Group {
                    self.reads.entry(name.into()).or_default().insert(groups::ALL.into(), name_span);
                }
                reference(Head::Child(name.into()), name_span, &[groups::ALL])
            }
            None => self.attribute_of_nothing(name, name_span, span),
        }
    }

    /// `get_file: path`: the text of a file that lies beside the template.
    fn get_file(&mut self, pair: &Pair<'_>, span: Span) -> Expr {
        let node = pair.value;
        if self.text(node).is_none() && !self.is_call(node) {
            let words = "Argument to \"get_file\" must be a string";
            return self.bad_value(node, words, "the name of a file must be text", span);
        }
        let path = self.expr(node);
        let bytes = call("file", pair.key.span, vec![path], span);
        call("(file text)", pair.key.span, vec![bytes], span)
    }

    /// `Ref: name`: a resource, else a parameter.
    fn cfn_ref(&mut self, pair: &Pair<'_>, span: Span) -> Expr {
        match self.text(pair.value) {
            Some(name) if self.resources.contains_key(name) => self.resource(name, place(pair.value), span),
            Some(name) if self.parameters.contains_key(name) || name.starts_with("OS::") => {
                self.parameter(name, place(pair.value), span)
            }
            Some(name) => self.unknown_resource(name, place(pair.value), span),
            None => {
                let words = "Argument to \"Ref\" must be string";
                self.bad_value(pair.value, words, "`Ref` takes the name of a resource or a parameter", span)
            }
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
        // In Heat's words what is wrong with the condition stands in the `if`, wherever that is.
        let way = std::mem::replace(&mut self.way, Way::to(Within::Choice, &"if".into()));
        let outer = self.condition_for.replace(way.said(When::Read, INVALID, ""));
        let condition = self.condition(&items[0]);
        self.condition_for = outer;
        self.way = way;
        // The branch that is not taken is never read, so nothing in it is an error before it is (D7).
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

    /// A part of the parent's resource, inside of a nested template.
    fn facade(&mut self, pair: &Pair<'_>, span: Span) -> Expr {
        let cfn = pair.key.item.starts_with("Fn");
        let parts: [&str; 3] = if cfn {
            ["Metadata", "DeletionPolicy", "UpdatePolicy"]
        } else {
            ["metadata", "deletion_policy", "update_policy"]
        };
        let Some(part) = self.text(pair.value).filter(|part| parts.contains(part)) else {
            let words = format!("Incorrect arguments to \"{}\" should be one of: {}", pair.key.item, parts.join(", "));
            let why = "only metadata and policies of the resource above can be read";
            return self.bad_argument(pair.value, &words, why, span);
        };
        self.reads_facade = true;
        let part = Expr::literal(Value::text(part), place(pair.value));
        let fact = reference(Head::Input(FACADE.into()), span, &[]);
        call("(facade)", pair.key.span, vec![fact, part], span)
    }
}

/// What gives nothing but a mistake: when it is evaluated, or as soon as it is known to be read.
pub(super) const REFUSE: &str = "(refuse)";
pub(super) const REFUSE_READ: &str = "(refuse read)";
/// A reference whose name is computed, until it is known.
pub(super) const RESOURCE: &str = "(resource)";
/// An attribute of which resource or name is computed, until they are known.
pub(super) const ATTRIBUTE: &str = "(attribute)";

/// `resource.NAME` with an attribute behind it in the path, as `resource.NAME.ATTR`.
fn of_inner(attribute: &str, path: &mut Vec<Expr>) -> Option<String> {
    let inner = attribute.strip_prefix("resource.").filter(|inner| !inner.contains('.'))?;
    let first = path.first().and_then(Expr::as_literal).and_then(Value::as_text)?;
    let whole = format!("resource.{inner}.{first}");
    path.remove(0);
    Some(whole)
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

/// An expression that gives nothing but this mistake, once it is evaluated.
pub(super) fn refusing(diagnostic: &diag::Diagnostic) -> Expr {
    refusal(REFUSE, diagnostic)
}

/// The same of a mistake that Heat notices while it reads a branch: it counts as soon as the branch is known to be taken.
pub(super) fn refusing_when_read(diagnostic: &diag::Diagnostic) -> Expr {
    refusal(REFUSE_READ, diagnostic)
}

fn refusal(function: &str, diagnostic: &diag::Diagnostic) -> Expr {
    let span = diagnostic.span();
    let text = |text: &str| Expr::literal(Value::text(text), span);
    let mut arguments = vec![text(diagnostic.code.name), text(&diagnostic.message)];
    if let Some(words) = &diagnostic.words {
        arguments.extend([&*words.message, &*words.class, &*words.error, &*words.path].map(text));
    }
    call(function, span, arguments, span)
}

/// The mistake that an expression gives, where it gives nothing else: whether it counts when read, and the mistake.
pub(super) fn refusal_of(expr: &Expr) -> Option<(bool, diag::Diagnostic)> {
    let ExprKind::Call(call) = &expr.kind else { return None };
    let read = match call.function.as_ref() {
        REFUSE => false,
        REFUSE_READ => true,
        _ => return None,
    };
    let arguments: Vec<Value> = call.arguments.iter().filter_map(|one| one.value.as_literal().cloned()).collect();
    let refusal = super::native::refused(&arguments);
    let mut diagnostic = diag::Diagnostic::new(refusal.code, refusal.message).label(expr.span, "refused here");
    diagnostic.words = refusal.words;
    diagnostic.help.extend(refusal.help);
    Some((read, diagnostic))
}

/// Whether a name is a function of a version, in conditions or elsewhere.
pub(super) fn is_function(version: Version, name: &str) -> bool {
    let condition = matches!(name, "equals" | "not" | "and" | "or") && version >= V2016_10_14;
    condition || matches!(named_in(version, name), Named::Function)
}
