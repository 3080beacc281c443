//! Conditions: booleans that depend on parameters only (decisions/heat#functions-of-conditions,
//! decisions/heat#the-function-if, decisions/heat#conditions).
//!
//! A named condition becomes a local of the blueprint. `and`, `or` and `not` become choices, so
//! that operands after the deciding one are not evaluated.

use blueprint::{ChoiceExpr, Expr, ExprKind, IndexMap, Local, Name, ReferenceHead, Type, Value};
use diag::{Diagnostic, NativeMessage, Severity, Span};
use expr::codes::ARGUMENT_TYPE;
use syntax::{Content, Node};

use super::codes::{CONDITION_CYCLE, FUNCTION_NOT_HERE, UNKNOWN_CONDITION};
use super::expressions::{AND, NAMED, OR, reference};
use super::function_versions;
use super::lowering::Lowering;
use super::message_path::{HeatPhase, INVALID, MessagePath, MessageStep, TemplatePart, invalid};
use super::read::{TextEntry, value_span};
use super::refusal_expressions;
use super::version::Version::*;
use dialect::codes::INVALID_CONDITION;

/// The beginning of Heat's messages about a condition.
const CONDITION_ERROR: &str = "Condition validation error";

/// The functions that a condition can call, each with its first version.
const CALLABLE: &[(&str, super::version::Version)] = &[
    ("get_param", V2013_05_23),
    ("equals", V2016_10_14),
    ("not", V2016_10_14),
    ("and", V2016_10_14),
    ("or", V2016_10_14),
    ("yaql", V2017_09_01),
    ("contains", V2017_09_01),
];

impl Lowering {
    /// The section `conditions`.
    pub(super) fn conditions(&mut self, pairs: Vec<TextEntry<'_>>) -> IndexMap<Name, Local> {
        let mut locals = IndexMap::default();
        for pair in pairs {
            self.message_path = MessagePath::to(TemplatePart::Condition, &pair.key.item);
            let value = self.definition(&pair);
            let local = Local {
                span: pair.key.span,
                ty: Type::Any,
                value,
                secret: false,
                description: None,
            };
            locals.insert(pair.key.item, local);
        }
        self.break_cycles(&mut locals);
        locals
    }

    /// The definition of a named condition: a boolean or a call.
    fn definition(&mut self, pair: &TextEntry<'_>) -> Expr {
        let node = pair.value;
        let span = value_span(node);
        if self.kind_of(node) == "a boolean" && node.as_scalar().is_some() {
            return Expr::literal(self.reader.value(node), span);
        }
        if let Some(entry) = self.only_entry(node) {
            let step = MessageStep::Call(entry.key.item.clone());
            match self.function_in_condition(&entry.key.item) {
                // The definition must give a boolean, not the name of another condition.
                Some(true) => {
                    return self
                        .with_path_step(step, |this| this.condition_call(&entry, span, false));
                }
                Some(false) => return self.condition(node),
                None => {}
            }
            if let Some(diagnostic) =
                self.with_path_step(step, |this| this.removed_function_diagnostic(&entry))
            {
                return self.fail(diagnostic, span);
            }
        }
        let shown = self.reader.value(node);
        let name = &pair.key.item;
        let diagnostic = INVALID_CONDITION
            .new(format!(
                "the condition `{name}` must be a boolean or a call"
            ))
            .label(span, format!("this is {}", self.kind_of(node)))
            .with_native_message(
                invalid(format!(
                    "The definition of condition \"{name}\" is invalid: {}",
                    pycompat::text(&shown)
                ))
                .error(CONDITION_ERROR),
            );
        self.fail(diagnostic, span)
    }

    fn only_entry<'t>(&mut self, node: &'t Node) -> Option<TextEntry<'t>> {
        let mut pairs = self.reader.pairs(node)?;
        if pairs.len() == 1 { pairs.pop() } else { None }
    }

    /// Whether a name is a function that conditions may use: `Some(false)` for one that is valid
    /// only elsewhere.
    pub(super) fn function_in_condition(&self, name: &str) -> Option<bool> {
        let here = CALLABLE
            .iter()
            .any(|(known, since)| *known == name && self.version >= *since);
        if here {
            return Some(true);
        }
        function_versions::is_function(self.version, name).then_some(false)
    }

    /// Lowers an expression in the place of a condition: a name, a boolean, null (which is true),
    /// or a call.
    pub(super) fn condition(&mut self, node: &Node) -> Expr {
        let span = value_span(node);
        if let Some(name) = self.text(node) {
            return self.condition_named(name, span);
        }
        if self.is_null(node) {
            return Expr::literal(Value::Bool(true), span);
        }
        match &node.content {
            Content::Missing => Expr::error(span),
            Content::Map(_) => match self.only_entry(node) {
                Some(pair) => match self.function_in_condition(&pair.key.item) {
                    Some(true) => self
                        .with_path_step(MessageStep::Call(pair.key.item.clone()), |this| {
                            this.condition_call(&pair, span, true)
                        }),
                    Some(false) => {
                        let diagnostic = FUNCTION_NOT_HERE
                            .new(format!(
                                "`{}` cannot be called in a condition",
                                pair.key.item
                            ))
                            .label(pair.key.span, "conditions depend on parameters only")
                            .with_native_message(self.with_path_step(
                                MessageStep::Call(pair.key.item.clone()),
                                |this| this.message_path.invalid_in_context(&pair.key.item),
                            ));
                        self.fail(diagnostic, span)
                    }
                    None => self.report_invalid_condition(node, span),
                },
                None => self.report_invalid_condition(node, span),
            },
            Content::Scalar(_) if self.kind_of(node) == "a boolean" => {
                Expr::literal(self.reader.value(node), span)
            }
            Content::Scalar(_) | Content::List(_) => self.report_invalid_condition(node, span),
        }
    }

    fn report_invalid_condition(&mut self, node: &Node, span: Span) -> Expr {
        let shown = self.reader.value(node);
        let diagnostic = UNKNOWN_CONDITION
            .new("this names no condition")
            .label(span, format!("this is {}", self.kind_of(node)))
            .help("write the name of a condition, a boolean, or a call such as `equals`")
            .with_native_message(self.invalid_condition_message(&pycompat::text(&shown)));
        self.fail_at_first_use(diagnostic, span)
    }

    fn condition_named(&mut self, name: &str, span: Span) -> Expr {
        if self.conditions.contains_key(name) {
            if let Some(words) = &self.condition_for {
                self.condition_uses.push((name.into(), words.clone()));
            }
            return reference(ReferenceHead::Local(name.into()), span, &[]);
        }
        let diagnostic = self.unknown_condition(name, span);
        self.fail_at_first_use(diagnostic, span)
    }

    /// Reports a mistake that Heat notices only when it evaluates the condition. Heat evaluates a
    /// named condition at its first use.
    pub(super) fn fail_at_first_use(&mut self, diagnostic: Diagnostic, span: Span) -> Expr {
        if self.message_path.section != TemplatePart::Condition {
            return self.fail(diagnostic, span);
        }
        let refused = refusal_expressions::refusal_expr(&diagnostic);
        self.record_first_use_mistake();
        self.report(diagnostic.with_severity(Severity::Warning));
        refused
    }

    /// Heat's message for a value that names no condition, at the place of use.
    fn invalid_condition_message(&self, shown: &str) -> NativeMessage {
        let message = format!("Invalid condition \"{shown}\"");
        match &self.condition_for {
            Some(words) => NativeMessage {
                message: message.into(),
                ..words.clone()
            },
            None => invalid(message),
        }
    }

    /// Notes that the next diagnostic concerns a named condition, which Heat reports at the place
    /// of use.
    fn record_first_use_mistake(&mut self) {
        if self.message_path.section == TemplatePart::Condition {
            self.first_use_mistakes
                .push((self.reader.found.len(), self.message_path.of.clone()));
        }
    }

    /// Completes the messages about named conditions with the place of the first use, direct or
    /// indirect.
    pub(super) fn complete_condition_messages(&mut self, locals: &mut IndexMap<Name, Local>) {
        let unasked = std::mem::take(&mut self.first_use_mistakes);
        if unasked.is_empty() {
            return;
        }
        self.write_first_use_messages(unasked.clone(), locals);
        // The conditions refuse with the messages that are complete now.
        let all: Vec<&Diagnostic> = self.reader.found.iter().collect();
        for (at, name) in &unasked {
            let Some(found) = all.get(*at) else { continue };
            let round = self
                .cycles
                .iter()
                .find(|round| found.code.name == CONDITION_CYCLE.name && round.contains(name));
            match round {
                Some(round) => {
                    for name in round {
                        if let Some(local) = locals.get_mut(name) {
                            local.value = refusal_expressions::refusal_expr(found);
                        }
                    }
                }
                None => {
                    if let Some(local) = locals.get_mut(name) {
                        complete_refusal(&mut local.value, found);
                    }
                }
            }
        }
    }

    fn write_first_use_messages(
        &mut self,
        unasked: Vec<(usize, Name)>,
        locals: &IndexMap<Name, Local>,
    ) {
        let mut first: IndexMap<Name, NativeMessage> = IndexMap::default();
        let rounds = self.cycles.clone();
        // For a cycle, Heat names the condition that it reaches first.
        let mut entered: Vec<Option<Name>> = vec![None; rounds.len()];
        for (name, words) in std::mem::take(&mut self.condition_uses) {
            let mut open = vec![name];
            while let Some(name) = open.pop() {
                if first.contains_key(&name) {
                    continue;
                }
                for (round, entered) in rounds.iter().zip(&mut entered) {
                    if entered.is_none() && round.contains(&name) {
                        *entered = Some(name.clone());
                    }
                }
                if let Some(local) = locals.get(&name) {
                    local.value.references(&mut |reference| {
                        if let ReferenceHead::Local(needed) = &reference.head {
                            open.push(needed.clone());
                        }
                    });
                }
                first.insert(name, words.clone());
            }
        }
        let mut unasked = unasked.into_iter().peekable();
        for (at, found) in self.reader.found.iter_mut().enumerate() {
            while unasked.peek().is_some_and(|(wanted, _)| *wanted < at) {
                unasked.next();
            }
            let Some((_, name)) = unasked.next_if(|(wanted, _)| *wanted == at) else {
                continue;
            };
            let Some(said) = &mut found.native_message else {
                continue;
            };
            if found.code.name == CONDITION_CYCLE.name {
                let round = rounds.iter().position(|round| round.first() == Some(&name));
                if let Some(name) = round.and_then(|round| entered[round].as_ref()) {
                    said.message = circular(name).into();
                }
            } else if let Some(words) = first.get(&name) {
                said.path = words.path.clone();
            }
        }
    }

    fn unknown_condition(&self, name: &str, span: Span) -> Diagnostic {
        let unknown = UNKNOWN_CONDITION
            .new(format!("there is no condition `{name}`"))
            .label(span, "not declared");
        let names = || self.conditions.keys().map(AsRef::as_ref);
        let unknown = match diag::nearest(name, names()) {
            Some(near) => unknown.help(format!("did you mean `{near}`?")),
            None => unknown.help(format!(
                "declare it under `conditions`, as in `{name}: {{equals: [{{get_param: NAME}}, VALUE]}}`"
            )),
        };
        unknown.with_native_message(self.invalid_condition_message(name))
    }

    /// Lowers a call in a condition. With `named`, a text result is the name of a condition.
    pub(super) fn condition_call(&mut self, pair: &TextEntry<'_>, span: Span, named: bool) -> Expr {
        match pair.key.item.as_ref() {
            "not" => {
                if self.is_null(pair.value) {
                    let words = self.message_path.message(
                        HeatPhase::Parse,
                        INVALID,
                        "Argument to \"not\" must be a condition",
                    );
                    let diagnostic = ARGUMENT_TYPE
                        .new("`not` takes a condition")
                        .label(value_span(pair.value), "nothing is written")
                        .with_native_message(words);
                    return self.fail(diagnostic, span);
                }
                let condition = self.condition(pair.value);
                choice(condition, truth(false, span), truth(true, span), span)
            }
            word @ ("and" | "or") => {
                let Some(items) = pair.value.as_list().filter(|items| items.len() >= 2) else {
                    let words = match &pair.value.content {
                        Content::List(_) => {
                            format!("The minimum number of condition arguments to \"{word}\" is 2.")
                        }
                        _ => format!("Arguments to \"{word}\" must be a list of conditions"),
                    };
                    let diagnostic = ARGUMENT_TYPE
                        .new(format!("`{word}` takes a list of at least two conditions"))
                        .label(
                            value_span(pair.value),
                            format!("this is {}", self.kind_of(pair.value)),
                        )
                        .with_native_message(self.message_path.message(
                            HeatPhase::Parse,
                            INVALID,
                            &words,
                        ));
                    return self.fail(diagnostic, span);
                };
                let word = if word == "and" { AND } else { OR };
                // Inline calls are always evaluated, and before the named conditions.
                let (mut inline, mut names) = (Vec::new(), Vec::new());
                for (at, item) in items.iter().enumerate() {
                    let operand = self.with_path_step(MessageStep::Index(at), |this| {
                        if at == 0 {
                            this.condition(item)
                        } else {
                            this.short_circuited_condition(item)
                        }
                    });
                    let position = Value::Int(i64::try_from(at).unwrap_or(i64::MAX));
                    match computed_name(&operand) {
                        // The argument of a named call is always evaluated. The resulting name is
                        // looked up only if the operand decides.
                        Some(value) => {
                            inline.push((Value::Int(i64::MAX), value.clone()));
                            names.push((position, operand));
                        }
                        None if item.as_map().is_some() => inline.push((position, operand)),
                        None => names.push((position, operand)),
                    }
                }
                let count = Value::Int(i64::try_from(inline.len()).unwrap_or(i64::MAX));
                let (positions, operands): (Vec<_>, Vec<_>) =
                    inline.into_iter().chain(names).unzip();
                let positions = Value::list(std::iter::once(count).chain(positions));
                let arguments = std::iter::once(Expr::literal(positions, span))
                    .chain(operands)
                    .collect();
                Expr::call(word, pair.key.span, arguments, span)
            }
            "equals" => {
                let argument = self.arguments_of_condition(pair.value);
                self.condition_function(pair, argument, span)
            }
            "get_param" => {
                let value = self.get_param(pair, span);
                self.checked(value, pair, span, named)
            }
            _ => {
                let argument = self.arguments_of_condition(pair.value);
                let called = self.condition_function(pair, argument, span);
                self.checked(called, pair, span, named)
            }
        }
    }

    /// Checks the result of a call as a condition: a boolean, or with `named` also the name of a
    /// condition.
    fn checked(&mut self, value: Expr, pair: &TextEntry<'_>, span: Span, named: bool) -> Expr {
        if !named {
            return Expr::call(
                "(condition)",
                pair.key.span,
                vec![value, self.condition_name(span)],
                span,
            );
        }
        // All uses share one list with the names.
        let names = &self.conditions;
        let all = self
            .condition_names
            .get_or_insert_with(|| Value::list(names.keys().cloned().map(Value::Text)));
        let all = Expr::literal(all.clone(), span);
        let words = self.invalid_condition_message("");
        let text = |text: &str| Expr::literal(Value::text(text), span);
        let (class, error, path) = (text(&words.class), text(&words.error), text(&words.path));
        Expr::call(
            NAMED,
            pair.key.span,
            vec![value, all, class, error, path],
            span,
        )
    }

    /// The name of the current named condition, for messages.
    fn condition_name(&self, span: Span) -> Expr {
        let name = if self.message_path.section == TemplatePart::Condition {
            self.message_path.of.as_ref()
        } else {
            ""
        };
        Expr::literal(Value::text(name), span)
    }

    /// A condition that is evaluated only if the ones before it do not decide. An unknown name
    /// there is only a warning.
    fn short_circuited_condition(&mut self, node: &Node) -> Expr {
        let span = value_span(node);
        match self.text(node) {
            Some(name) if !self.conditions.contains_key(name) => {
                let diagnostic = self.unknown_condition(name, span);
                let refused = refusal_expressions::refusal_expr(&diagnostic);
                self.record_first_use_mistake();
                self.report(diagnostic.with_severity(Severity::Warning));
                refused
            }
            _ => self.condition(node),
        }
    }

    /// The argument of a function in a condition. Only functions that conditions can call are calls
    /// in it.
    fn arguments_of_condition(&mut self, node: &Node) -> Expr {
        let before = std::mem::replace(&mut self.in_condition, true);
        let argument = self.expr(node);
        self.in_condition = before;
        argument
    }

    /// Lowers a statement about a document that exists: `equals`, `not`, `and` and `or` of any
    /// values. Other values are lowered as in a template. A condition of a template reads only
    /// parameters; a statement reads attributes, too.
    pub(super) fn statement(&mut self, node: &Node) -> Expr {
        let is_map = node.as_map().is_some();
        let Some(pair) = is_map.then(|| self.only_entry(node)).flatten() else {
            return self.expr(node);
        };
        let span = value_span(node);
        match (&*pair.key.item, pair.value.as_list()) {
            ("equals", _) => {
                let argument = self.expr(pair.value);
                self.form(&pair, argument, span)
            }
            ("not", _) => {
                let operand = self.statement(pair.value);
                choice(operand, truth(false, span), truth(true, span), span)
            }
            ("and", Some(items)) => {
                let operands: Vec<Expr> = items.iter().map(|item| self.statement(item)).collect();
                let all = operands.into_iter().rev();
                all.fold(truth(true, span), |rest, operand| {
                    choice(operand, rest, truth(false, span), span)
                })
            }
            ("or", Some(items)) => {
                let operands: Vec<Expr> = items.iter().map(|item| self.statement(item)).collect();
                let all = operands.into_iter().rev();
                all.fold(truth(false, span), |rest, operand| {
                    choice(operand, truth(true, span), rest, span)
                })
            }
            _ => self.expr(node),
        }
    }

    fn condition_function(&mut self, pair: &TextEntry<'_>, argument: Expr, span: Span) -> Expr {
        self.form(pair, argument, span)
    }

    /// Breaks cycles of conditions.
    fn break_cycles(&mut self, locals: &mut IndexMap<Name, Local>) {
        // 0: not visited, 1: being visited, 2: done.
        let mut state = vec![0_u8; locals.len()];
        let needs: Vec<Vec<usize>> = locals
            .values()
            .map(|local| {
                let mut needs = Vec::new();
                local.value.references(&mut |reference| {
                    if let ReferenceHead::Local(name) = &reference.head {
                        needs.extend(locals.get_index_of(name));
                    }
                });
                needs
            })
            .collect();
        for start in 0..locals.len() {
            let mut stack: Vec<(usize, usize)> = Vec::new();
            if state[start] == 0 {
                state[start] = 1;
                stack.push((start, 0));
            }
            while let Some((at, next)) = stack.last_mut() {
                let Some(need) = needs[*at].get(*next).copied() else {
                    state[*at] = 2;
                    stack.pop();
                    continue;
                };
                *next += 1;
                match state[need] {
                    0 => {
                        state[need] = 1;
                        stack.push((need, 0));
                    }
                    1 => {
                        let first = stack.iter().position(|(at, _)| *at == need).unwrap_or(0);
                        let round: Vec<usize> = stack[first..].iter().map(|(at, _)| *at).collect();
                        self.report_cycle(&round, locals);
                    }
                    _ => {}
                }
            }
        }
    }

    fn report_cycle(&mut self, round: &[usize], locals: &mut IndexMap<Name, Local>) {
        let names: Vec<Name> = round
            .iter()
            .filter_map(|at| locals.get_index(*at))
            .map(|(name, _)| name.clone())
            .collect();
        let Some(first) = names.first() else { return };
        let mut diagnostic = CONDITION_CYCLE
            .new(format!(
                "conditions depend on each other: `{}`",
                names.join("` -> `")
            ))
            .with_native_message(invalid(circular(first)).error(CONDITION_ERROR));
        self.first_use_mistakes
            .push((self.reader.found.len(), first.clone()));
        self.cycles.push(names.clone());
        for at in round {
            if let Some((name, local)) = locals.get_index_mut(*at) {
                diagnostic = diagnostic.label(local.span, format!("`{name}` is one of them"));
                local.value = Expr::error(local.value.span);
            }
        }
        self.report(
            diagnostic
                .help("remove one of these references")
                .with_severity(Severity::Warning),
        );
    }
}

/// The expression that computes the name of a condition; `None` for other operands.
fn computed_name(operand: &Expr) -> Option<&Expr> {
    match &operand.kind {
        ExprKind::Call(call) if call.function.as_ref() == NAMED => {
            call.arguments.first().map(|first| &first.value)
        }
        _ => None,
    }
}

/// Replaces a refusal of this mistake by one with the completed message.
fn complete_refusal(expr: &mut Expr, found: &Diagnostic) {
    if expr.span == found.span() && refusal_expressions::refusal_of(expr).is_some() {
        *expr = refusal_expressions::refusal_expr(found);
        return;
    }
    match &mut expr.kind {
        ExprKind::List(items) => items
            .iter_mut()
            .for_each(|item| complete_refusal(item, found)),
        ExprKind::Map(entries) => entries
            .iter_mut()
            .for_each(|(_, value)| complete_refusal(value, found)),
        ExprKind::Choice(choice) => {
            for part in [
                &mut choice.condition,
                &mut choice.then,
                &mut choice.otherwise,
            ] {
                complete_refusal(part, found);
            }
        }
        ExprKind::Call(call) => call
            .arguments
            .iter_mut()
            .for_each(|argument| complete_refusal(&mut argument.value, found)),
        _ => {}
    }
}

/// The diagnostic for a condition that depends on itself through a computed name.
pub(super) fn self_reference_diagnostic(name: &Name, span: Span) -> Diagnostic {
    CONDITION_CYCLE
        .new(format!("conditions depend on each other: `{name}`"))
        .label(span, format!("`{name}` needs itself"))
        .help("remove one of these references")
        .with_native_message(invalid(circular(name)).error(CONDITION_ERROR))
}

fn circular(name: &str) -> String {
    format!("Circular definition for condition \"{name}\"")
}

fn truth(value: bool, span: Span) -> Expr {
    Expr::literal(Value::Bool(value), span)
}

fn choice(condition: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr {
    Expr::new(
        ExprKind::Choice(Box::new(ChoiceExpr {
            condition,
            then,
            otherwise,
        })),
        span,
    )
}
