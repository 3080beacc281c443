//! The state of a rendering, and the evaluation of expressions.
//!
//! Other files add methods: `execute` (statements), `calls`, `natives`.

use std::rc::Rc;
use std::sync::Arc;

use crate::access;
use crate::ast::{
    Argument, BinaryOperator, Clause, ComprehensionBody, ComprehensionCode, ExprForm, FunctionCode,
    NamePlace, ParameterKind, Sign, StarExpr,
};
use crate::compile::Compiled;
use crate::halt::{Halt, Outcome, fail};
use crate::heap::{DictEntries, Heap};
use crate::keys;
use crate::node_context::NodeContext;
use crate::operators::binary;
use crate::value::{FunctionValue, Secrecy, StarValue, VariableRef};

/// The state of one rendering.
pub(crate) struct Evaluator<'t> {
    pub(crate) compiled: &'t Compiled,
    pub(crate) globals: Vec<Option<StarValue>>,
    /// The open contexts in which nodes are made.
    pub(crate) contexts: Vec<NodeContext>,
    /// The root of the first context.
    pub(crate) root: Option<StarValue>,
    /// `data.values`
    pub(crate) data: StarValue,
    /// The last field, so that everything that it holds is dropped by it.
    pub(crate) heap: Heap,
}

/// The variables of a call.
pub(crate) struct CallFrame {
    pub(crate) locals: Vec<VariableRef>,
    pub(crate) captured: Vec<VariableRef>,
}

/// The arguments of a call.
#[derive(Default)]
pub(crate) struct CallArguments {
    pub(crate) items: Vec<StarValue>,
    pub(crate) named: Vec<(blueprint::Name, StarValue)>,
}

impl Evaluator<'_> {
    /// The value of an expression.
    ///
    /// # Errors
    /// If the evaluation fails; the mistake has the line of the innermost expression.
    pub(crate) fn eval(&mut self, frame: &CallFrame, expr: &StarExpr) -> Outcome<StarValue> {
        self.heap.work.enter()?;
        let result = self.eval_form(frame, expr);
        self.heap.work.leave();
        result.map_err(|halt| halt.at(expr.line))
    }

    fn eval_form(&mut self, frame: &CallFrame, expr: &StarExpr) -> Outcome<StarValue> {
        match &expr.form {
            ExprForm::Name(name, place) => self.variable(frame, name, *place),
            ExprForm::Int(number) => Ok(StarValue::Int(*number)),
            ExprForm::Float(number) => Ok(StarValue::Float(*number)),
            ExprForm::Text(text) => Ok(StarValue::Text(text.clone())),
            ExprForm::List(items) => {
                let items = self.eval_all(frame, items)?;
                self.heap.list(items)
            }
            ExprForm::Tuple(items) => {
                let items = self.eval_all(frame, items)?;
                self.heap.tuple(items)
            }
            ExprForm::Dict(entries) => self.eval_dict(frame, entries),
            ExprForm::Condition(parts) => self.eval_condition(frame, parts),
            ExprForm::Index(parts) => {
                let of = self.eval(frame, &parts[0])?;
                let index = self.eval(frame, &parts[1])?;
                access::index(&self.heap, &of, &index)
            }
            ExprForm::Slice(of, bounds) => self.eval_slice(frame, of, bounds),
            ExprForm::Attribute(of, name) => {
                let of = self.eval(frame, of)?;
                access::attribute(&self.heap, &of, name)
            }
            ExprForm::Call(function, arguments) => self.eval_call(frame, function, arguments),
            ExprForm::Not(operand) => {
                let value = self.eval(frame, operand)?;
                negated(&value)
            }
            ExprForm::Sign(sign, operand) => {
                let value = self.eval(frame, operand)?;
                signed(*sign, &value)
            }
            ExprForm::And(parts) => self.eval_either(frame, parts, false),
            ExprForm::Or(parts) => self.eval_either(frame, parts, true),
            ExprForm::Binary(..) => self.eval_binary(frame, expr),
            ExprForm::Lambda(code) => self.closure(frame, code),
            ExprForm::Comprehension(code) => self.eval_comprehension(frame, code),
        }
    }

    fn eval_all(&mut self, frame: &CallFrame, exprs: &[StarExpr]) -> Outcome<Vec<StarValue>> {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            values.push(self.eval(frame, expr)?);
        }
        Ok(values)
    }

    fn variable(
        &self,
        frame: &CallFrame,
        name: &blueprint::Name,
        place: NamePlace,
    ) -> Outcome<StarValue> {
        let (kind, value) = match place {
            NamePlace::Local(at) => (
                "local",
                frame.locals.get(at).map(|own| own.borrow().clone()),
            ),
            NamePlace::Captured(at) => (
                "local",
                frame.captured.get(at).map(|own| own.borrow().clone()),
            ),
            NamePlace::Global(at) => ("global", self.globals.get(at).cloned()),
            NamePlace::Universal | NamePlace::Unresolved => {
                return self.universal(name);
            }
        };
        match value.flatten() {
            Some(value) => Ok(value),
            None => fail(format!(
                "{kind} variable {name} referenced before assignment"
            )),
        }
    }

    fn eval_dict(
        &mut self,
        frame: &CallFrame,
        entries: &[(StarExpr, StarExpr)],
    ) -> Outcome<StarValue> {
        let mut found = DictEntries::default();
        for (key, value) in entries {
            let key = self.eval(frame, key)?;
            let value = self.eval(frame, value)?;
            let count = found.len();
            keys::insert(&self.heap, &mut found, key, value)?;
            if found.len() == count {
                return fail("duplicate key in dict literal");
            }
        }
        self.heap.dict(found)
    }

    fn eval_condition(&mut self, frame: &CallFrame, parts: &[StarExpr; 3]) -> Outcome<StarValue> {
        let condition = self.eval(frame, &parts[0])?;
        if condition.unknown().is_some() {
            return Ok(condition);
        }
        let (_, secrecy) = condition.split();
        let part = if truth(&condition)? {
            &parts[1]
        } else {
            &parts[2]
        };
        let value = self.eval(frame, part)?;
        match secrecy {
            Secrecy::Open => Ok(value),
            Secrecy::Secret => crate::convert::secret_leaves(&self.heap, &value),
        }
    }

    /// `and` and `or`: the first value that decides, or the second.
    fn eval_either(
        &mut self,
        frame: &CallFrame,
        parts: &[StarExpr; 2],
        decides: bool,
    ) -> Outcome<StarValue> {
        let first = self.eval(frame, &parts[0])?;
        if first.unknown().is_some() || truth(&first)? == decides {
            return Ok(first);
        }
        let second = self.eval(frame, &parts[1])?;
        match first.split().1 {
            Secrecy::Open => Ok(second),
            Secrecy::Secret => crate::convert::secret_leaves(&self.heap, &second),
        }
    }

    /// Operators in a row, from the left, without a level for each.
    fn eval_binary(&mut self, frame: &CallFrame, expr: &StarExpr) -> Outcome<StarValue> {
        let mut rights: Vec<(BinaryOperator, &StarExpr, u32)> = Vec::new();
        let mut left = expr;
        while let ExprForm::Binary(operator, parts) = &left.form {
            rights.push((*operator, &parts[1], left.line));
            left = &parts[0];
        }
        let mut value = self.eval(frame, left)?;
        for (operator, right, line) in rights.into_iter().rev() {
            let right = self.eval(frame, right)?;
            value = binary(&self.heap, operator, &value, &right).map_err(|halt| halt.at(line))?;
        }
        Ok(value)
    }

    fn eval_slice(
        &mut self,
        frame: &CallFrame,
        of: &StarExpr,
        bounds: &[Option<StarExpr>; 3],
    ) -> Outcome<StarValue> {
        let of = self.eval(frame, of)?;
        let mut values = [StarValue::None, StarValue::None, StarValue::None];
        for (value, bound) in values.iter_mut().zip(bounds) {
            if let Some(bound) = bound {
                *value = self.eval(frame, bound)?;
            }
        }
        access::slice(&self.heap, &of, &values)
    }

    fn eval_call(
        &mut self,
        frame: &CallFrame,
        function: &StarExpr,
        arguments: &[Argument],
    ) -> Outcome<StarValue> {
        let function = self.eval(frame, function)?;
        let mut found = CallArguments::default();
        for argument in arguments {
            match argument {
                Argument::Positional(value) => found.items.push(self.eval(frame, value)?),
                Argument::Named(name, value) => {
                    let value = self.eval(frame, value)?;
                    found.named.push((name.clone(), value));
                }
                Argument::Items(value) => {
                    let value = self.eval(frame, value)?;
                    found.items.extend(access::items(&self.heap, &value)?);
                }
                Argument::Entries(value) => {
                    let value = self.eval(frame, value)?;
                    found
                        .named
                        .extend(access::named_entries(&self.heap, &value)?);
                }
            }
        }
        self.call(&function, found)
    }

    /// A function with the variables that it captures.
    pub(crate) fn closure(
        &mut self,
        frame: &CallFrame,
        code: &Arc<FunctionCode>,
    ) -> Outcome<StarValue> {
        let mut defaults = Vec::with_capacity(code.parameters.len());
        for parameter in &code.parameters {
            defaults.push(match &parameter.kind {
                ParameterKind::Optional(value) => Some(self.eval(frame, value)?),
                _ => None,
            });
        }
        let captured = code.captures.iter().filter_map(|place| match place {
            NamePlace::Local(at) => frame.locals.get(*at).cloned(),
            NamePlace::Captured(at) => frame.captured.get(*at).cloned(),
            _ => None,
        });
        self.heap
            .function(StarValue::Function(Rc::new(FunctionValue {
                code: code.clone(),
                defaults,
                captured: captured.collect(),
            })))
    }

    fn eval_comprehension(
        &mut self,
        frame: &CallFrame,
        code: &ComprehensionCode,
    ) -> Outcome<StarValue> {
        match &code.body {
            ComprehensionBody::Item(_) => {
                let mut items = Vec::new();
                self.rounds(frame, code, 0, &mut |evaluator, value, _| {
                    evaluator.heap.work.items(1)?;
                    items.push(value);
                    Ok(())
                })?;
                self.heap.list(items)
            }
            ComprehensionBody::Entry(..) => {
                let mut entries = DictEntries::default();
                self.rounds(frame, code, 0, &mut |evaluator, key, value| {
                    keys::insert(&evaluator.heap, &mut entries, key, value)
                })?;
                self.heap.dict(entries)
            }
        }
    }

    /// Gives the results of a comprehension to `add`: an item and nothing, or a key and its value.
    fn rounds(
        &mut self,
        frame: &CallFrame,
        code: &ComprehensionCode,
        at: usize,
        add: &mut dyn FnMut(&mut Self, StarValue, StarValue) -> Outcome<()>,
    ) -> Outcome<()> {
        self.heap.work.steps(1)?;
        match code.clauses.get(at) {
            None => match &code.body {
                ComprehensionBody::Item(item) => {
                    let item = self.eval(frame, item)?;
                    add(self, item, StarValue::None)
                }
                ComprehensionBody::Entry(key, value) => {
                    let key = self.eval(frame, key)?;
                    let value = self.eval(frame, value)?;
                    add(self, key, value)
                }
            },
            Some(Clause::If(condition)) => {
                let condition = self.eval(frame, condition)?;
                match truth(&condition)? {
                    true => self.rounds(frame, code, at + 1, add),
                    false => Ok(()),
                }
            }
            Some(Clause::For(target, items)) => {
                let items_value = self.eval(frame, items)?;
                let found = access::loop_items(&self.heap, &items_value);
                let found = found.map_err(|halt| halt.at(items.line))?;
                let _guard = access::LoopGuard::new(&items_value);
                for item in found {
                    self.assign(frame, target, item)?;
                    self.rounds(frame, code, at + 1, add)?;
                }
                Ok(())
            }
        }
    }
}

/// Whether a value counts as true.
///
/// # Errors
/// If it is not known.
pub(crate) fn truth(value: &StarValue) -> Outcome<bool> {
    Ok(match value.open() {
        StarValue::None => false,
        StarValue::Bool(flag) => *flag,
        StarValue::Int(number) => *number != 0,
        StarValue::Float(number) => *number != 0.0,
        StarValue::Text(text) => !text.is_empty(),
        StarValue::List(list) => !list.items.borrow().is_empty(),
        StarValue::Tuple(items) => !items.is_empty(),
        StarValue::Dict(dict) | StarValue::Set(dict) => !dict.entries.borrow().is_empty(),
        StarValue::Range(range) => range.len > 0,
        StarValue::Struct(data) => !data.fields.is_empty(),
        StarValue::Fragment(node) => node
            .as_ref()
            .is_some_and(|node| !node.borrow().items.is_empty()),
        StarValue::Unknown(waits_for) => return Err(Halt::Unknown(waits_for.to_vec())),
        StarValue::Function(_)
        | StarValue::Native(_)
        | StarValue::Replaced
        | StarValue::Secret(_) => true,
    })
}

fn negated(value: &StarValue) -> Outcome<StarValue> {
    if value.unknown().is_some() {
        return Ok(value.clone());
    }
    let (_, secrecy) = value.split();
    Ok(StarValue::Bool(!truth(value)?).marked(secrecy))
}

fn signed(sign: Sign, value: &StarValue) -> Outcome<StarValue> {
    let (inner, secrecy) = value.split();
    let result = match (sign, inner) {
        (_, StarValue::Unknown(_)) => inner.clone(),
        (Sign::Plus, StarValue::Int(_) | StarValue::Float(_)) => inner.clone(),
        (Sign::Minus, StarValue::Int(number)) => StarValue::Int(number.saturating_neg()),
        (Sign::Minus, StarValue::Float(number)) => StarValue::Float(-number),
        (Sign::Tilde, StarValue::Int(number)) => StarValue::Int(!number),
        (sign, inner) => {
            let sign = match sign {
                Sign::Plus => '+',
                Sign::Minus => '-',
                Sign::Tilde => '~',
            };
            return fail(format!("unknown unary op: {sign} {}", inner.type_name()));
        }
    };
    Ok(result.marked(secrecy))
}
