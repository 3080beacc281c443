//! The state of a rendering, and the evaluation of expressions, statements and calls.
//!
//! Not here: the functions of the evaluator (`natives`), the operators, the parts of values.

use std::rc::Rc;
use std::sync::Arc;

use crate::access;
use crate::ast::{
    BinaryOperator, Clause, ComprehensionBody, ComprehensionCode, ContextEnd, ExprForm,
    FunctionCode, NamePlace, Sign, StarArgument, StarExpr, StarFunctionBody, StarParameterKind,
    StarTarget, Statement, StatementForm,
};
use crate::binding::{StarArguments, bind};
use crate::compile::Compiled;
use crate::halt::{Evaluated, Halted, fail};
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

/// How a statement ends.
pub(crate) enum Flow {
    Next,
    Break,
    Continue,
    Return(StarValue),
}

impl Evaluator<'_> {
    /// The value of an expression.
    ///
    /// # Errors
    /// If the evaluation fails; the mistake has the line of the innermost expression.
    pub(crate) fn eval(&mut self, frame: &CallFrame, expr: &StarExpr) -> Evaluated<StarValue> {
        self.heap.work.enter()?;
        let result = self.eval_form(frame, expr);
        self.heap.work.leave();
        result.map_err(|halt| halt.at(expr.line))
    }

    fn eval_form(&mut self, frame: &CallFrame, expr: &StarExpr) -> Evaluated<StarValue> {
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

    fn eval_all(&mut self, frame: &CallFrame, exprs: &[StarExpr]) -> Evaluated<Vec<StarValue>> {
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
    ) -> Evaluated<StarValue> {
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
    ) -> Evaluated<StarValue> {
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

    fn eval_condition(&mut self, frame: &CallFrame, parts: &[StarExpr; 3]) -> Evaluated<StarValue> {
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
    ) -> Evaluated<StarValue> {
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
    fn eval_binary(&mut self, frame: &CallFrame, expr: &StarExpr) -> Evaluated<StarValue> {
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
    ) -> Evaluated<StarValue> {
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
        arguments: &[StarArgument],
    ) -> Evaluated<StarValue> {
        let function = self.eval(frame, function)?;
        let mut found = StarArguments::default();
        for argument in arguments {
            match argument {
                StarArgument::Positional(value) => found.items.push(self.eval(frame, value)?),
                StarArgument::Named(name, value) => {
                    let value = self.eval(frame, value)?;
                    found.named.push((name.clone(), value));
                }
                StarArgument::Items(value) => {
                    let value = self.eval(frame, value)?;
                    found.items.extend(access::items(&self.heap, &value)?);
                }
                StarArgument::Entries(value) => {
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
    ) -> Evaluated<StarValue> {
        let mut defaults = Vec::with_capacity(code.parameters.len());
        for parameter in &code.parameters {
            defaults.push(match &parameter.kind {
                StarParameterKind::Optional(value) => Some(self.eval(frame, value)?),
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
    ) -> Evaluated<StarValue> {
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
        add: &mut dyn FnMut(&mut Self, StarValue, StarValue) -> Evaluated<()>,
    ) -> Evaluated<()> {
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

impl Evaluator<'_> {
    /// Calls a function with some arguments.
    ///
    /// # Errors
    /// As [`Evaluator::call`].
    pub(crate) fn call_with(
        &mut self,
        function: &StarValue,
        items: Vec<StarValue>,
    ) -> Evaluated<StarValue> {
        let named = Vec::new();
        self.call(function, StarArguments { items, named })
    }

    /// Runs the program.
    ///
    /// # Errors
    /// If a statement fails.
    pub(crate) fn run(&mut self) -> Evaluated<()> {
        let program = &self.compiled.program;
        let mut locals = Vec::with_capacity(program.locals);
        for _ in 0..program.locals {
            locals.push(self.heap.variable(None)?);
        }
        let frame = CallFrame {
            locals,
            captured: Vec::new(),
        };
        self.block(&frame, &program.statements)?;
        Ok(())
    }

    fn block(&mut self, frame: &CallFrame, statements: &[Statement]) -> Evaluated<Flow> {
        self.heap.work.enter()?;
        let mut flow = Ok(Flow::Next);
        for statement in statements {
            flow = self.statement(frame, statement);
            if !matches!(flow, Ok(Flow::Next)) {
                flow = flow.map_err(|halt| halt.at(statement.line));
                break;
            }
        }
        self.heap.work.leave();
        flow
    }

    fn statement(&mut self, frame: &CallFrame, statement: &Statement) -> Evaluated<Flow> {
        self.heap.work.steps(1)?;
        match &statement.form {
            StatementForm::Expression(value) => {
                self.eval(frame, value)?;
            }
            StatementForm::Assign(target, value) => {
                let value = self.eval(frame, value)?;
                self.assign(frame, target, value)?;
            }
            StatementForm::Change(target, operator, value) => {
                self.change(frame, target, *operator, value)?;
            }
            StatementForm::If(condition, then, otherwise) => {
                let condition = self.eval(frame, condition)?;
                let block = if truth(&condition)? { then } else { otherwise };
                return match block.is_empty() {
                    true => Ok(Flow::Next),
                    false => self.block(frame, block),
                };
            }
            StatementForm::For(target, items, body) => {
                return self.for_loop(frame, target, items, body);
            }
            StatementForm::While(condition, body) => loop {
                let condition = self.eval(frame, condition)?;
                if !truth(&condition)? {
                    break;
                }
                match self.block(frame, body)? {
                    Flow::Next | Flow::Continue => {}
                    Flow::Break => break,
                    flow @ Flow::Return(_) => return Ok(flow),
                }
            },
            StatementForm::Def(target, code) => {
                let function = self.closure(frame, code)?;
                self.assign(frame, target, function)?;
            }
            StatementForm::Return(value, end) => {
                let value = match value {
                    Some(value) => Some(self.eval(frame, value)?),
                    None => None,
                };
                return Ok(Flow::Return(match end {
                    ContextEnd::Stays => value.unwrap_or(StarValue::None),
                    ContextEnd::Ends => self.end_context(value)?,
                }));
            }
            StatementForm::Break => return Ok(Flow::Break),
            StatementForm::Continue => return Ok(Flow::Continue),
            StatementForm::Load(module, imports) => {
                for import in imports {
                    let value = self.module_member(module, &import.name)?;
                    self.assign(frame, &import.target, value)?;
                }
            }
        }
        Ok(Flow::Next)
    }

    fn for_loop(
        &mut self,
        frame: &CallFrame,
        target: &StarTarget,
        items: &StarExpr,
        body: &[Statement],
    ) -> Evaluated<Flow> {
        let value = self.eval(frame, items)?;
        let found = access::loop_items(&self.heap, &value)?;
        let _guard = access::LoopGuard::new(&value);
        for item in found {
            self.heap.work.steps(1)?;
            self.assign(frame, target, item)?;
            match self.block(frame, body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                flow @ Flow::Return(_) => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    /// Assigns a value.
    ///
    /// # Errors
    /// If the target cannot hold it.
    pub(crate) fn assign(
        &mut self,
        frame: &CallFrame,
        target: &StarTarget,
        value: StarValue,
    ) -> Evaluated<()> {
        match target {
            StarTarget::Name(_, NamePlace::Local(at)) => {
                if let Some(variable) = frame.locals.get(*at) {
                    *variable.borrow_mut() = Some(value);
                }
                Ok(())
            }
            StarTarget::Name(_, NamePlace::Global(at)) => {
                if let Some(variable) = self.globals.get_mut(*at) {
                    *variable = Some(value);
                }
                Ok(())
            }
            StarTarget::Name(name, _) => fail(format!("cannot assign to {name}")),
            StarTarget::Invalid(_) => fail("can't assign to this expression"),
            StarTarget::Index(parts, line) => {
                let of = self.eval(frame, &parts[0])?;
                let index = self.eval(frame, &parts[1])?;
                access::set_index(&self.heap, &of, &index, value).map_err(|halt| halt.at(*line))
            }
            StarTarget::Attribute(of, name, line) => {
                let of = self.eval(frame, of)?;
                let words = format!("can't assign to .{name} field of {}", of.type_name());
                fail(words).map_err(|halt: Halted| halt.at(*line))
            }
            StarTarget::Several(targets, line) => {
                let items = access::items(&self.heap, &value).map_err(|halt| match halt {
                    Halted::Failed(_) => crate::halt::fault(format!(
                        "got {} in sequence assignment",
                        value.type_name()
                    ))
                    .at(*line),
                    halt => halt,
                })?;
                if items.len() != targets.len() {
                    let much = if items.len() > targets.len() {
                        "many"
                    } else {
                        "few"
                    };
                    let words = format!(
                        "too {much} values to unpack (got {}, want {})",
                        items.len(),
                        targets.len()
                    );
                    return fail(words).map_err(|halt: Halted| halt.at(*line));
                }
                for (target, item) in targets.iter().zip(items) {
                    self.assign(frame, target, item)?;
                }
                Ok(())
            }
        }
    }

    /// `target OP= value`; a list is extended in its place.
    fn change(
        &mut self,
        frame: &CallFrame,
        target: &StarTarget,
        operator: BinaryOperator,
        value: &StarExpr,
    ) -> Evaluated<()> {
        let (old, place) = match target {
            StarTarget::Name(name, place) => {
                let line = value.line;
                let form = ExprForm::Name(name.clone(), *place);
                (self.eval(frame, &StarExpr { line, form })?, None)
            }
            StarTarget::Index(parts, line) => {
                let of = self.eval(frame, &parts[0])?;
                let index = self.eval(frame, &parts[1])?;
                let old = access::index(&self.heap, &of, &index).map_err(|halt| halt.at(*line))?;
                (old, Some((of, index)))
            }
            _ => return fail("this cannot be changed in its place"),
        };
        let value = self.eval(frame, value)?;
        let new = match (&old, operator) {
            (StarValue::List(list), BinaryOperator::Plus) if access::is_iterable(&value) => {
                access::check_unlooped(list.loops.get(), "apply += to list")?;
                let more = access::items(&self.heap, &value)?;
                self.heap.work.items(more.len())?;
                list.items.borrow_mut().extend(more);
                old.clone()
            }
            _ => binary(&self.heap, operator, &old, &value)?,
        };
        match place {
            Some((of, index)) => access::set_index(&self.heap, &of, &index, new),
            None => self.assign(frame, target, new),
        }
    }

    /// Calls a function.
    ///
    /// # Errors
    /// If the value is no function, the arguments do not fit, or the function fails.
    pub(crate) fn call(
        &mut self,
        function: &StarValue,
        arguments: StarArguments,
    ) -> Evaluated<StarValue> {
        self.heap.work.enter()?;
        let result = match function.open() {
            StarValue::Function(function) => self.call_function(function, arguments),
            StarValue::Native(native) => self.call_native(native, arguments),
            StarValue::Unknown(_) => Ok(function.clone()),
            other => fail(format!(
                "invalid call of non-function ({})",
                other.type_name()
            )),
        };
        self.heap.work.leave();
        result
    }

    fn call_function(
        &mut self,
        function: &Rc<FunctionValue>,
        arguments: StarArguments,
    ) -> Evaluated<StarValue> {
        let code = &function.code;
        let bound =
            bind(&self.heap, function, arguments).map_err(|halt| halt.at(first_line(code)))?;
        let first = self.heap.variable_count();
        let mut locals = Vec::with_capacity(code.locals);
        for value in bound {
            locals.push(self.heap.variable(value)?);
        }
        while locals.len() < code.locals {
            locals.push(self.heap.variable(None)?);
        }
        let frame = CallFrame {
            locals,
            captured: function.captured.clone(),
        };
        let contexts = self.contexts.len();
        if let Some(dialect) = code.context {
            self.start_context(dialect)?;
        }
        let result = match &code.body {
            StarFunctionBody::Value(value) => self.eval(&frame, value),
            StarFunctionBody::Block(statements) => match self.block(&frame, statements) {
                Ok(Flow::Return(value)) => Ok(value),
                Ok(_) if code.context.is_some() => self.end_context(None),
                Ok(_) => Ok(StarValue::None),
                Err(halt) => Err(halt),
            },
        };
        if result.is_err() {
            // `assert.try_to` may catch the mistake.
            self.contexts.truncate(contexts);
        }
        drop(frame);
        self.heap.release(first);
        result
    }
}

/// The line at which a mistake of the arguments is reported: that of the first statement.
fn first_line(code: &FunctionCode) -> u32 {
    match &code.body {
        StarFunctionBody::Block(statements) => {
            statements.first().map_or(code.line, |first| first.line)
        }
        StarFunctionBody::Value(_) => code.line,
    }
}

/// Whether a value counts as true.
///
/// # Errors
/// If it is not known.
pub(crate) fn truth(value: &StarValue) -> Evaluated<bool> {
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
        StarValue::Unknown(waits_for) => return Err(Halted::Unknown(waits_for.to_vec())),
        StarValue::Function(_)
        | StarValue::Native(_)
        | StarValue::Replaced
        | StarValue::Secret(_) => true,
    })
}

fn negated(value: &StarValue) -> Evaluated<StarValue> {
    if value.unknown().is_some() {
        return Ok(value.clone());
    }
    let (_, secrecy) = value.split();
    Ok(StarValue::Bool(!truth(value)?).marked(secrecy))
}

fn signed(sign: Sign, value: &StarValue) -> Evaluated<StarValue> {
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
