//! Evaluates literals, lists, maps, texts, references and conditionals.
//!
//! Not here: calls (`call`).

use std::sync::Arc;

use blueprint::{
    Address, Expr, ExprKind, Function, Map, Name, Ref, TextPart, Type, Unknown, Value,
};
use diag::{Diagnostics, Span, Spanned};

use super::access::access;
use super::limits::{DEFAULT_VALUE_BYTES, LimitExceeded, bytes, size};
use super::machine::{DEPTH, ElementStep, Machine, function_as_value, is_omitted, unknown_of};
use crate::codes;
use crate::convert::{Mismatch, to_text};
use crate::scope::EvaluationStop;

impl<'a> Machine<'a> {
    /// Evaluates a value as the document writes it: a list, a map or a scalar.
    pub(super) fn document_value(&mut self, expr: &'a Expr) -> Result<Value, EvaluationStop> {
        let nested = matches!(
            expr.kind,
            ExprKind::List(_) | ExprKind::Map(_) | ExprKind::Literal(_)
        );
        if nested || self.scalar.is_some() {
            return self.eval(expr);
        }
        self.scalar = Some(expr);
        self.callback_calls = 0;
        let result = self.eval(expr);
        self.scalar = None;
        result
    }

    pub(crate) fn eval(&mut self, expr: &'a Expr) -> Result<Value, EvaluationStop> {
        let depth = self.depth;
        let result = self.eval_kind(expr);
        // Restore the depth also after a failure.
        self.depth = depth;
        result
    }

    fn eval_kind(&mut self, expr: &'a Expr) -> Result<Value, EvaluationStop> {
        match &expr.kind {
            ExprKind::Literal(value) => Ok(value.clone()),
            ExprKind::List(items) => self.list(expr.span, items),
            ExprKind::Map(entries) => self.map(expr.span, entries),
            ExprKind::Text(parts) => self.text(parts),
            ExprKind::Ref(reference) => self.reference(reference),
            ExprKind::Access(inner, path) => {
                let value = self.eval(inner)?;
                access(value, path)
            }
            ExprKind::Call(call) => self.call(expr.span, call),
            ExprKind::Function(name) => Ok(Value::Function(Arc::new(Function {
                name: name.clone(),
                bound: Vec::new(),
            }))),
            ExprKind::Choice(choice) => self.choice(choice),
            ExprKind::Substitution(inner) => {
                let value = self.eval(inner)?;
                if let Value::Function(function) = value.unmarked() {
                    return Err(function_as_value(&function.name, expr.span).into());
                }
                Ok(value)
            }
            ExprKind::Error => Err(EvaluationStop::Reported),
        }
    }

    /// Increases the depth. Fails beyond the limit.
    pub(super) fn enter_level(&mut self, span: Span) -> Result<(), EvaluationStop> {
        if self.depth >= DEPTH {
            let message = format!("the expression is nested more than {DEPTH} deep");
            return Err(codes::ARGUMENT_RANGE
                .new(message)
                .label(span, "too deep here")
                .into());
        }
        self.depth += 1;
        Ok(())
    }

    fn reference(&mut self, reference: &Ref) -> Result<Value, EvaluationStop> {
        let read = self.scope.read(reference)?;
        let result = access(
            read.value,
            reference.path.get(read.used..).unwrap_or_default(),
        );
        result.map_err(|stop| match stop {
            // The first label of an absent element is the head; the second label shows where the
            // path ends.
            EvaluationStop::Absent(mut diagnostic) => {
                diagnostic.labels.insert(
                    0,
                    diag::Label {
                        span: reference.head_span,
                        text: "read here".into(),
                    },
                );
                EvaluationStop::Absent(diagnostic)
            }
            stop => stop,
        })
    }

    /// Checks the size of the value of an expression. A value that is only read was checked when it
    /// was created.
    pub(super) fn check_size(
        &mut self,
        expr: &Expr,
        value: Value,
    ) -> Result<Value, EvaluationStop> {
        let is_made = matches!(
            expr.inner().kind,
            ExprKind::List(_) | ExprKind::Map(_) | ExprKind::Choice(_)
        );
        let largest = self.value_limit();
        if !is_made || size(&value, largest).is_some() {
            return Ok(value);
        }
        self.charge_bytes(expr.span, largest)?;
        Err(codes::VALUE_TOO_LARGE
            .new(format!(
                "the value is larger than {} or deeper than {DEPTH} levels",
                bytes(largest)
            ))
            .label(expr.span, "grows beyond the limit")
            .help("make it from less, or raise `value-bytes` under `[documents]` in `cyan.toml`")
            .into())
    }

    /// The size limit of one value in bytes.
    pub(crate) fn value_limit(&mut self) -> usize {
        self.scope
            .meter()
            .map_or(DEFAULT_VALUE_BYTES, |meter| meter.value_limit())
    }

    /// Counts bytes towards the limit of all values of the document.
    pub(crate) fn charge_bytes(&mut self, span: Span, bytes: usize) -> Result<(), EvaluationStop> {
        let Some(meter) = self.scope.meter() else {
            return Ok(());
        };
        // The owner of the meter reports it.
        meter
            .charge(bytes, span)
            .map_err(|LimitExceeded| EvaluationStop::Reported)
    }

    fn list(&mut self, span: Span, items: &'a [Expr]) -> Result<Value, EvaluationStop> {
        self.enter_level(span)?;
        self.charge_bytes(span, (items.len() + 1) * std::mem::size_of::<Value>())?;
        let mut members = MemberCollector {
            keeps_null: self.functions.keeps_null(),
            ..MemberCollector::default()
        };
        for (at, item) in items.iter().enumerate() {
            self.path.push(ElementStep::Index(at));
            let result = self.document_value(item);
            self.path.pop();
            if let Some(value) = members.add_member(item, result, &mut self.found) {
                members.values.push(value);
            }
        }
        self.depth -= 1;
        let MemberCollector { values, stop, .. } = members;
        match stop {
            Some(stop) => Err(stop),
            None => Ok(Value::list(values)),
        }
    }

    fn map(
        &mut self,
        span: Span,
        entries: &'a [(Spanned<Name>, Expr)],
    ) -> Result<Value, EvaluationStop> {
        self.enter_level(span)?;
        self.charge_bytes(span, (entries.len() + 1) * 3 * std::mem::size_of::<Value>())?;
        let mut members = MemberCollector {
            keeps_null: self.functions.keeps_null(),
            ..MemberCollector::default()
        };
        let mut map = Map::with_capacity(entries.len());
        for (key, entry) in entries {
            self.path.push(ElementStep::Key(key.item.clone()));
            let result = self.document_value(entry);
            self.path.pop();
            if let Some(value) = members.add_member(entry, result, &mut self.found) {
                map.insert(key.item.clone(), value);
            }
        }
        self.depth -= 1;
        match members.stop {
            Some(stop) => Err(stop),
            None => Ok(Value::Map(Arc::new(map))),
        }
    }

    fn text(&mut self, parts: &'a [TextPart]) -> Result<Value, EvaluationStop> {
        let mut members = MemberCollector::default();
        // Space for the literal parts, and 16 bytes for each value.
        let about = parts
            .iter()
            .map(|part| {
                if let TextPart::Text(part) = part {
                    part.len()
                } else {
                    16
                }
            })
            .sum();
        let mut text = String::with_capacity(about);
        // Set once a part is unknown: the resources that it waits for.
        let mut unknown: Option<Vec<Address>> = None;
        let mut secret = false;
        let largest = self.value_limit();
        for part in parts {
            let (expr, place) = match part {
                TextPart::Text(part) => {
                    text.push_str(part);
                    continue;
                }
                TextPart::Expr(expr, place) => (expr, *place),
            };
            let result = self.eval(expr).and_then(|value| as_text(&value, place));
            let Some(value) = members.add_member(expr, result, &mut self.found) else {
                continue;
            };
            secret |= value.has_secret();
            match value.unmarked() {
                Value::Text(part) => text.push_str(part),
                _ => value.waits_for(unknown.get_or_insert_default()),
            }
            if text.len() > largest {
                return Err(codes::ARGUMENT_RANGE
                    .new(format!("the text is larger than {}", bytes(largest)))
                    .label(place, "grows beyond the limit")
                    .into());
            }
        }
        if let Some(TextPart::Expr(_, place)) = parts
            .iter()
            .rfind(|part| matches!(part, TextPart::Expr(..)))
        {
            self.charge_bytes(*place, text.len())?;
        }
        if let Some(stop) = members.stop {
            return Err(stop);
        }
        let value = match unknown {
            None => text.into(),
            Some(waits_for) => Value::Unknown(Arc::new(Unknown {
                ty: Some(Type::Text),
                waits_for,
            })),
        };
        Ok(value.tainted(secret))
    }

    fn choice(&mut self, choice: &'a blueprint::ChoiceExpr) -> Result<Value, EvaluationStop> {
        let condition = self.eval(&choice.condition)?;
        let secret = condition.has_secret();
        let branch = match condition.unmarked() {
            Value::Bool(true) => &choice.then,
            Value::Bool(false) | Value::Null => &choice.otherwise,
            Value::Unknown(_) => {
                return Ok(unknown_of(None, std::slice::from_ref(&condition)).tainted(secret));
            }
            other => {
                return Err(codes::TYPE_MISMATCH
                    .new(format!(
                        "a condition must be boolean, this is of kind {}",
                        other.kind_word()
                    ))
                    .label(
                        choice.condition.span,
                        format!("of kind {}", other.kind_word()),
                    )
                    .into());
            }
        };
        self.enter_level(branch.span)?;
        let value = self.eval(branch)?;
        self.depth -= 1;
        Ok(value.tainted(secret))
    }
}

/// The text of a value in an interpolation. Fails if it cannot be converted.
fn as_text(value: &Value, place: Span) -> Result<Value, EvaluationStop> {
    match to_text(value) {
        Some(Ok(text)) => Ok(text),
        Some(Err(Mismatch::NotUtf8)) => Err(codes::NOT_UTF8
            .new("the bytes are not UTF-8 text")
            .label(place, "cannot become text")
            .help("use `base64encode`")
            .into()),
        _ => {
            let kind = match value.unmarked() {
                Value::Unknown(unknown) => unknown
                    .ty
                    .as_ref()
                    .map_or_else(|| "unknown".into(), Type::to_string),
                other => other.kind_word().to_string(),
            };
            Err(codes::INTERPOLATED_COMPLEX
                .new(format!("a value of kind {kind} cannot be part of a text"))
                .label(place, format!("of kind {kind}"))
                .help("use `join` or `jsonencode`")
                .into())
        }
    }
}

/// Collects the members of a list, map or text. Keeps the first stop and still evaluates the other
/// members, so that one evaluation reports every failure and asks every question.
#[derive(Default)]
struct MemberCollector {
    values: Vec<Value>,
    stop: Option<EvaluationStop>,
    keeps_null: bool,
}

impl MemberCollector {
    /// Returns the value, unless it is dropped (decisions/blueprint#none) or failed.
    fn add_member(
        &mut self,
        expr: &Expr,
        result: Result<Value, EvaluationStop>,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        match result {
            Ok(value) if is_omitted(&value) => None,
            Ok(value)
                if value.is_null()
                    && !self.keeps_null
                    && !matches!(expr.kind, ExprKind::Literal(_)) =>
            {
                None
            }
            Ok(value) => Some(value),
            Err(stop) => {
                match (self.stop.take(), stop) {
                    (None, stop) => self.stop = Some(stop),
                    // A question takes precedence: the failures are found again once it is
                    // answered.
                    (Some(earlier @ EvaluationStop::Ask(_)), _) => self.stop = Some(earlier),
                    (Some(_), later @ EvaluationStop::Ask(_)) => self.stop = Some(later),
                    (Some(EvaluationStop::Reported), later) => self.stop = Some(later),
                    (
                        Some(earlier),
                        EvaluationStop::Failed(diagnostic) | EvaluationStop::Absent(diagnostic),
                    ) => {
                        found.push(*diagnostic);
                        self.stop = Some(earlier);
                    }
                    (Some(earlier), EvaluationStop::Reported) => self.stop = Some(earlier),
                }
                None
            }
        }
    }
}
