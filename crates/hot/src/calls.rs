//! Lowers values and the function calls in them. A map with a single key is a call if the key names
//! a function of the template version; otherwise it is data (decisions/heat#functions).
//!
//! Not here: the form of each argument (`argument_form`), references (`references`), conditions
//! (`conditions`).

use blueprint::{ChoiceExpr, Expr, ExprKind, Value};
use diag::{Severity, Span};
use syntax::{Content, Node};

use super::argument_form;
use super::codes::{FUNCTION_NOT_HERE, MISSPELT_FUNCTION, REMOVED_FUNCTION, YAML_KEYWORD_NAME};
use super::expressions::literal_value;
use super::function_versions::{FUNCTIONS, FunctionStatus, function_status};
use super::lowering::Lowering;
use super::message_path::{HeatPhase, INVALID, MessagePath, MessageStep, TemplatePart};
use super::package_functions::CYAN_INVOKE;
use super::read::{NodeReader, TextEntry, value_span};
use super::version::Version::*;
use super::yaql::SourceMap;
use dialect::codes::NEWER_THAN_VERSION;
use dialect::{ForeignWords, WordPlace};

impl Lowering {
    /// Lowers a value and the calls in it.
    pub(super) fn expr(&mut self, node: &Node) -> Expr {
        let span = value_span(node);
        match &node.content {
            Content::Missing => Expr::error(span),
            Content::Scalar(_) => Expr::literal(self.reader.value(node), span),
            Content::List(_) | Content::Map(_) if NodeReader::has_converting_tag(node) => {
                Expr::literal(self.reader.value(node), span)
            }
            Content::List(items) => {
                let items = items.iter().enumerate();
                let items = items
                    .map(|(at, item)| {
                        self.with_path_step(MessageStep::Index(at), |this| this.expr(item))
                    })
                    .collect();
                Expr::new(ExprKind::List(items), span)
            }
            Content::Map(_) => {
                let pairs = self.reader.pairs(node).unwrap_or_default();
                if let [pair] = pairs.as_slice()
                    && let Some(called) = self.lower_call(pair, span)
                {
                    return called;
                }
                self.entries(pairs, span)
            }
        }
    }

    fn entries(&mut self, pairs: Vec<TextEntry<'_>>, span: Span) -> Expr {
        let mut entries = Vec::with_capacity(pairs.len());
        for TextEntry { key, value, .. } in pairs {
            let value =
                self.with_path_step(MessageStep::Key(key.item.clone()), |this| this.expr(value));
            entries.push((key, value));
        }
        Expr::new(ExprKind::Map(entries), span)
    }

    /// Lowers a map with one entry if it is a call; `None` if it is data.
    fn lower_call(&mut self, pair: &TextEntry<'_>, span: Span) -> Option<Expr> {
        self.with_path_step(MessageStep::Call(pair.key.item.clone()), |this| {
            if this.in_condition {
                this.lower_call_in_condition(pair, span)
            } else {
                this.lower_call_in_value(pair, span)
            }
        })
    }

    fn lower_call_in_value(&mut self, pair: &TextEntry<'_>, span: Span) -> Option<Expr> {
        let key = pair.key.item.clone();
        if key.as_ref() == CYAN_INVOKE {
            return Some(self.package_function(pair, span));
        }
        match function_status(self.version, &key) {
            FunctionStatus::Other => {
                self.warn_of_invisible_characters(pair);
                self.warn_of_misspelt_function(pair);
                None
            }
            FunctionStatus::Later(since) => {
                self.report(
                    NEWER_THAN_VERSION
                        .new(format!(
                            "`{key}` is a function from version {} on; here it is data",
                            since.date()
                        ))
                        .label(
                            pair.key.span,
                            format!("the version of the template is {}", self.version.date()),
                        )
                        .help(format!("say `heat_template_version: {}`", since.date()))
                        .with_severity(Severity::Warning),
                );
                None
            }
            FunctionStatus::Removed => self
                .removed_function_diagnostic(pair)
                .map(|diagnostic| self.fail(diagnostic, span)),
            FunctionStatus::Function => Some(match key.as_ref() {
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

    /// Warns of a key that is a function but for characters that nobody sees, such as a no-break
    /// space.
    fn warn_of_invisible_characters(&mut self, pair: &TextEntry<'_>) {
        let key = pair.key.item.as_ref();
        let is_invisible = |letter: char| {
            letter.is_whitespace() || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{feff}')
        };
        let bare = key.trim_matches(is_invisible);
        let is_function = matches!(
            function_status(self.version, bare),
            FunctionStatus::Function
        );
        let Some(letter) = key
            .chars()
            .find(|letter| is_invisible(*letter))
            .filter(|_| is_function)
        else {
            return;
        };
        let code = u32::from(letter);
        let what = match letter {
            '\u{a0}' => format!("a no-break space (U+{code:04X})"),
            _ => format!("the character U+{code:04X}"),
        };
        self.report(
            YAML_KEYWORD_NAME
                .new(format!(
                    "this key is not `{bare}`, because it also contains {what}"
                ))
                .label(pair.key.span, "so it is data and no call")
                .help(format!("write `{bare}` alone")),
        );
    }

    /// Warns of a key that resembles the name of a function, or is a function of another tool. Only
    /// names of several words count: `filters` or `equal` is probably data.
    fn warn_of_misspelt_function(&mut self, pair: &TextEntry<'_>) {
        let key = pair.key.item.as_ref();
        let foreign = ForeignWords::HEAT.find(WordPlace::Function, key);
        let names = FUNCTIONS
            .iter()
            .map(|(name, ..)| *name)
            .filter(|name| name.contains(['_', ':']))
            .filter(|name| {
                matches!(
                    function_status(self.version, name),
                    FunctionStatus::Function
                )
            });
        let is_long = key.contains(['_', ':']) && key.len() > 5;
        let near = diag::nearest(key, names).filter(|_| is_long);
        let diagnostic = MISSPELT_FUNCTION
            .new(format!("there is no function `{key}`, so this is data"))
            .label(pair.key.span, "not a function");
        match (foreign, near) {
            (Some(row), _) => self.report(diagnostic.help(row.help)),
            (None, Some(near)) => {
                self.report(diagnostic.help(format!("did you mean `{near}`?")).fix(
                    format!("write `{near}`"),
                    vec![(pair.key.span, near.to_owned())],
                    false,
                ))
            }
            (None, None) => {}
        }
    }

    /// The diagnostic for a call of a function that this version no longer has; `None` for any
    /// other name.
    pub(super) fn removed_function_diagnostic(
        &self,
        pair: &TextEntry<'_>,
    ) -> Option<diag::Diagnostic> {
        let key = pair.key.item.as_ref();
        if !matches!(function_status(self.version, key), FunctionStatus::Removed) {
            return None;
        }
        let words = format!(
            "The template version is invalid: The function {key} is not supported in this version of HOT."
        );
        let diagnostic = REMOVED_FUNCTION
            .new(format!(
                "version {} no longer has the function `{key}`",
                self.version.date()
            ))
            .label(pair.key.span, "not a function any more");
        Some(
            diagnostic.with_native_message(self.message_path.message(
                HeatPhase::Validate,
                INVALID,
                &words,
            )),
        )
    }

    /// Lowers a map with one entry in a condition if it is a call; `None` if it is data.
    fn lower_call_in_condition(&mut self, pair: &TextEntry<'_>, span: Span) -> Option<Expr> {
        let key = pair.key.item.as_ref();
        if let Some(diagnostic) = self.removed_function_diagnostic(pair) {
            // In a condition without a name, Heat silently ignores such a call, so the diagnostic
            // is only a warning.
            if self.message_path.section != TemplatePart::Condition {
                self.report(diagnostic.with_severity(Severity::Warning));
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
                    .with_native_message(self.message_path.invalid_in_context(key));
                Some(self.fail(diagnostic, span))
            }
        }
    }

    /// Lowers a call of a function that depends only on its argument. Reports an argument whose
    /// form is wrong as far as its literal parts show.
    pub(super) fn form(&mut self, pair: &TextEntry<'_>, mut argument: Expr, span: Span) -> Expr {
        // In Heat, these functions evaluate each member of the argument separately, so an omitted
        // member becomes null.
        match pair.key.item.as_ref() {
            "list_join" | "filter" | "contains" | "yaql" | "repeat" => {
                null_omitted_members(&mut argument)
            }
            name if name.starts_with("str_replace") => null_omitted_members(&mut argument),
            _ => {}
        }
        let is_yaql = pair.key.item.as_ref() == "yaql";
        let runs = if is_yaql {
            pair.value
                .get("expression")
                .and_then(|node| SourceMap::of_node(node, &self.source))
        } else {
            None
        };
        if let Err(refusal) =
            argument_form::check_argument(&pair.key.item, &argument, self.version, runs.as_ref())
        {
            let mut at = expr::span_at_path(&argument, refusal.path.get(1..).unwrap_or_default());
            if let Some(inside) = refusal.inside {
                at = expr::part_of(at, inside);
            }
            let mut diagnostic = diag::Diagnostic::new(refusal.code, refusal.message)
                .label(at, format!("`{}` does not take this", pair.key.item));
            let when = argument_form::error_phase(&pair.key.item, &argument);
            diagnostic.native_message = refusal
                .words
                .map(|words| Box::new(self.message_path.message(when, INVALID, &words.message)));
            diagnostic.help.extend(refusal.help);
            if when == HeatPhase::Validate {
                self.late_diagnostics.push(self.reader.found.len());
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
            return Expr::call(
                "yaql",
                pair.key.span,
                vec![argument, version, nothing(), nothing(), runs],
                span,
            );
        }
        if is_yaql && super::yaql::draws(&argument) {
            let seed = Expr::call("uuid", span, Vec::new(), span);
            let now = Expr::call(
                "datetime",
                span,
                vec![Expr::literal(Value::text("unix"), span)],
                span,
            );
            let version = Expr::literal(Value::Int(self.version.number()), span);
            return Expr::call(
                "yaql",
                pair.key.span,
                vec![argument, version, seed, now],
                span,
            );
        }
        if let ("filter", ExprKind::List(items)) = (pair.key.item.as_ref(), &argument.kind)
            && let [values, list] = items.as_slice()
            && literal_value(values).has_unknown()
        {
            // The list comes first and the values second: if the list is empty, the call does not
            // evaluate the values.
            let literal = |value: Value| Expr::literal(value, span);
            let version = literal(Value::Int(self.version.number()));
            let apart = vec![list.clone(), values.clone(), version, literal(Value::Null)];
            return Expr::call("filter", pair.key.span, apart, span);
        }
        self.call(&pair.key.item, pair.key.span, argument, span)
    }

    /// Whether a node is a call of a function of this version, outside conditions.
    pub(super) fn is_call(&self, node: &Node) -> bool {
        match node.as_map() {
            Some([entry]) => entry.key.text().is_some_and(|key| {
                matches!(function_status(self.version, key), FunctionStatus::Function)
            }),
            _ => false,
        }
    }

    /// Lowers `if: [condition, a, b]`. From version 2021-04-16 on, `b` is optional.
    fn choice(&mut self, pair: &TextEntry<'_>, span: Span) -> Expr {
        let items = pair.value.as_list();
        let fewest = if self.version >= V2021_04_16 { 2 } else { 3 };
        let Some(items) = items.filter(|items| (fewest..=3).contains(&items.len())) else {
            let words = "Arguments to \"if\" must be of the form: [condition_name, value_if_true, value_if_false]";
            return self.bad_argument(
                pair.value,
                words,
                "`if` takes a condition and two values",
                span,
            );
        };
        // In Heat's message about an error in the condition, the path starts at the `if`, wherever
        // the `if` is.
        let message_path = std::mem::replace(
            &mut self.message_path,
            MessagePath::to(TemplatePart::Choice, &"if".into()),
        );
        let outer = self
            .condition_for
            .replace(message_path.message(HeatPhase::Parse, INVALID, ""));
        let condition = self.condition(&items[0]);
        self.condition_for = outer;
        self.message_path = message_path;
        // Only the branch that is taken is evaluated, so an error in a branch is a warning until
        // that branch is taken (decisions/heat#parts-that-heat-never-reads).
        let in_branch = std::mem::replace(&mut self.in_branch, true);
        let then = self.expr(&items[1]);
        let otherwise = match items.get(2) {
            Some(node) => self.expr(node),
            None => Expr::literal(expr::omitted(), span),
        };
        self.in_branch = in_branch;
        self.unsettled = true;
        Expr::new(
            ExprKind::Choice(Box::new(ChoiceExpr {
                condition,
                then,
                otherwise,
            })),
            span,
        )
    }
}

/// Replaces each member of an argument that would be omitted with null. In a conditional member,
/// replaces only the branches that would be omitted.
fn null_omitted_members(argument: &mut Expr) {
    fn null_if_omitted(expr: &mut Expr) {
        if !expr::may_omit(expr) {
            return;
        }
        match &mut expr.kind {
            ExprKind::Choice(choice) => {
                null_if_omitted(&mut choice.then);
                null_if_omitted(&mut choice.otherwise);
            }
            kind => *kind = ExprKind::Literal(Value::Null),
        }
    }
    match &mut argument.kind {
        ExprKind::List(items) => items.iter_mut().for_each(null_if_omitted),
        ExprKind::Map(entries) => entries
            .iter_mut()
            .for_each(|(_, value)| null_if_omitted(value)),
        _ => {}
    }
}
