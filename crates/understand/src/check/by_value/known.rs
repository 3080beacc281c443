//! Evaluates expressions before deployment. Values that depend on the world or on missing inputs
//! are Unknown.

use std::cell::Cell;

use blueprint::{Blueprint, Expr, ExprKind, Ref, ReferenceHead, Value};
use diag::Diagnostics;
use dialect::rules::MessageRules;
use dialect::{ExpressionPart, ExpressionPlace};
use expr::{Ask, AskFailure, EvaluationStop, FunctionTable, ResolvedHead, Scope};

use crate::graph::{Graph, GraphNode};

/// The values of a document that are known before deployment.
pub(crate) struct KnownValues<'k> {
    /// The inputs by position; `None` if they are not known.
    inputs: Option<&'k [Value]>,
    blueprint: &'k Blueprint,
    /// Named intermediate values by position.
    locals: Vec<Value>,
    functions: &'k FunctionTable,
    messages: &'static dyn MessageRules,
    /// The memory that values have used so far.
    meter: Cell<expr::Meter>,
}

impl<'k> KnownValues<'k> {
    /// Evaluates the intermediate values of a document in the order of `graph`. Their errors go to
    /// `found`.
    pub(crate) fn new(
        blueprint: &'k Blueprint,
        inputs: Option<&'k [Value]>,
        functions: &'k FunctionTable,
        messages: &'static dyn MessageRules,
        graph: &Graph,
        found: &mut Diagnostics,
    ) -> KnownValues<'k> {
        let locals = vec![Value::unknown(None, None); blueprint.locals.len()];
        // Evaluation at stage applies the configured limits. Here a value that is too large is only
        // Unknown.
        let meter = Cell::new(expr::Meter::new(Some(expr::MAX_VALUE_BYTES), None));
        let mut known = KnownValues {
            inputs,
            blueprint,
            locals,
            functions,
            messages,
            meter,
        };
        for node in graph.order() {
            let GraphNode::Local(at) = node else { continue };
            let Some((name, local)) = blueprint.locals.get_index(at as usize) else {
                continue;
            };
            if let Some(value) = known.value_at(
                ExpressionPlace::new(ExpressionPart::Local, name, &local.value),
                found,
            ) {
                known.locals[at as usize] = value;
            }
        }
        known
    }

    /// Whether a condition is known to be false.
    pub(crate) fn is_false(&self, condition: &Expr) -> bool {
        matches!(
            self.value(condition, &mut Diagnostics::new()),
            Some(Value::Bool(false) | Value::Null)
        )
    }

    /// Evaluates the parts of an expression separately. Parts with an error, which is already
    /// reported, are Unknown.
    pub(crate) fn parts(&self, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::List(items) => Value::list(items.iter().map(|item| self.parts(item))),
            ExprKind::Map(entries) => Value::map(
                entries
                    .iter()
                    .map(|(key, value)| (key.item.clone(), self.parts(value)))
                    .collect::<Vec<_>>(),
            ),
            _ => self
                .value(expr, &mut Diagnostics::new())
                .unwrap_or_else(|| Value::unknown(None, None)),
        }
    }

    /// Like [`Self::value`]. The dialect completes the diagnostics about the expression.
    pub(crate) fn value_at(
        &self,
        place: ExpressionPlace<'_>,
        found: &mut Diagnostics,
    ) -> Option<Value> {
        let mut mine = Diagnostics::new();
        let value = self.value(place.expr, &mut mine);
        mine.iter_mut()
            .for_each(|one| self.messages.complete_at(one, &place));
        found.append(mine);
        value
    }

    /// The value of an expression. `None` after an error, which goes to `found`, or if the
    /// expression needs an answer of the world.
    pub(crate) fn value(&self, expr: &Expr, found: &mut Diagnostics) -> Option<Value> {
        let mut frame = KnownFrame {
            known: self,
            meter: self.meter.get(),
        };
        let mut mine = Diagnostics::new();
        let outcome = expr::evaluate(
            expr,
            self.functions.of(self.blueprint.dialect),
            &mut frame,
            &mut mine,
        );
        found.append(mine);
        self.meter.set(frame.meter);
        match outcome {
            Ok(value) => Some(value),
            Err(EvaluationStop::Failed(diagnostic)) => {
                found.push(*diagnostic);
                None
            }
            Err(_) => None,
        }
    }
}

struct KnownFrame<'f, 'k> {
    known: &'f KnownValues<'k>,
    meter: expr::Meter,
}

impl Scope for KnownFrame<'_, '_> {
    fn read(&mut self, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        let blueprint = self.known.blueprint;
        let value = match &reference.head {
            ReferenceHead::Input(name) => {
                let at = blueprint.inputs.get_index_of(name);
                at.and_then(|at| self.known.inputs?.get(at).cloned())
            }
            ReferenceHead::Local(name) => blueprint
                .locals
                .get_index_of(name)
                .map(|at| self.known.locals[at].clone()),
            _ => None,
        };
        match value {
            Some(value) => Ok(ResolvedHead { value, used: 0 }),
            None => Ok(ResolvedHead {
                value: Value::unknown(None, None),
                used: reference.path.len(),
            }),
        }
    }

    fn answer(&mut self, _: &Ask) -> Option<Result<Value, AskFailure>> {
        Some(Ok(Value::unknown(None, None)))
    }

    fn meter(&mut self) -> Option<&mut expr::Meter> {
        Some(&mut self.meter)
    }

    fn link(&mut self, _: &str, _: &str) -> Result<Value, EvaluationStop> {
        Ok(Value::unknown(None, None))
    }
}
