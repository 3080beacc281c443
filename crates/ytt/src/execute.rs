//! Statements, and calls of functions of the program.

use std::rc::Rc;

use crate::access;
use crate::ast::{
    BinaryOperator, ContextEnd, FunctionBody, FunctionCode, NamePlace, ParameterKind, StarTarget,
    Statement, StatementForm,
};
use crate::evaluator::{CallArguments, CallFrame, Evaluator, truth};
use crate::halt::{Fault, Halt, Outcome, fail};
use crate::heap::DictEntries;
use crate::operators::binary;
use crate::value::{FunctionValue, StarKey, StarValue};

/// How a statement ends.
pub(crate) enum Flow {
    Next,
    Break,
    Continue,
    Return(StarValue),
}

impl Evaluator<'_> {
    /// Runs the program.
    ///
    /// # Errors
    /// If a statement fails.
    pub(crate) fn run(&mut self) -> Outcome<()> {
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

    fn block(&mut self, frame: &CallFrame, statements: &[Statement]) -> Outcome<Flow> {
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

    fn statement(&mut self, frame: &CallFrame, statement: &Statement) -> Outcome<Flow> {
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
        items: &crate::ast::StarExpr,
        body: &[Statement],
    ) -> Outcome<Flow> {
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
    ) -> Outcome<()> {
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
            StarTarget::Index(parts, line) => {
                let of = self.eval(frame, &parts[0])?;
                let index = self.eval(frame, &parts[1])?;
                access::set_index(&self.heap, &of, &index, value).map_err(|halt| halt.at(*line))
            }
            StarTarget::Attribute(of, name, line) => {
                let of = self.eval(frame, of)?;
                let words = format!("can't assign to .{name} field of {}", of.type_name());
                fail(words).map_err(|halt: Halt| halt.at(*line))
            }
            StarTarget::Several(targets, line) => {
                let items = access::items(&self.heap, &value).map_err(|halt| match halt {
                    Halt::Failed(_) => crate::halt::fault(format!(
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
                    return fail(words).map_err(|halt: Halt| halt.at(*line));
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
        value: &crate::ast::StarExpr,
    ) -> Outcome<()> {
        let (old, place) = match target {
            StarTarget::Name(name, place) => {
                let line = value.line;
                let form = crate::ast::ExprForm::Name(name.clone(), *place);
                (
                    self.eval(frame, &crate::ast::StarExpr { line, form })?,
                    None,
                )
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
        arguments: CallArguments,
    ) -> Outcome<StarValue> {
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
        arguments: CallArguments,
    ) -> Outcome<StarValue> {
        let code = &function.code;
        let bound = self
            .bind(function, arguments)
            .map_err(|halt| halt.at(first_line(code)))?;
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
            FunctionBody::Value(value) => self.eval(&frame, value),
            FunctionBody::Block(statements) => match self.block(&frame, statements) {
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

    /// The values of the parameters, in their order.
    fn bind(
        &mut self,
        function: &FunctionValue,
        arguments: CallArguments,
    ) -> Outcome<Vec<Option<StarValue>>> {
        let code = &function.code;
        let name = &code.name;
        let parameters = &code.parameters;
        if parameters.is_empty() {
            let given = arguments.items.len() + arguments.named.len();
            return match given {
                0 => Ok(Vec::new()),
                _ => fail(format!(
                    "function {name} accepts no arguments ({given} given)"
                )),
            };
        }
        let kind_at = |at: usize| &parameters[at].kind;
        let positional = parameters
            .iter()
            .take_while(|own| {
                matches!(
                    own.kind,
                    ParameterKind::Required | ParameterKind::Optional(_)
                )
            })
            .count();
        let mut values: Vec<Option<StarValue>> = vec![None; parameters.len()];
        let given = arguments.items.len();
        let mut items = arguments.items.into_iter();
        for value in values.iter_mut().take(positional) {
            *value = items.next();
        }
        let rest: Vec<StarValue> = items.collect();
        let items_at =
            (0..parameters.len()).find(|at| matches!(kind_at(*at), ParameterKind::Items));
        match items_at {
            Some(at) => values[at] = Some(self.heap.tuple(rest)?),
            None if !rest.is_empty() => {
                let has_optional = parameters[..positional]
                    .iter()
                    .any(|own| matches!(own.kind, ParameterKind::Optional(_)));
                let most = if has_optional { "at most " } else { "" };
                let plural = if positional == 1 { "" } else { "s" };
                return fail(format!(
                    "function {name} accepts {most}{positional} positional argument{plural} \
                     ({given} given)"
                ));
            }
            None => {}
        }
        let mut entries = DictEntries::default();
        let entries_at =
            (0..parameters.len()).find(|at| matches!(kind_at(*at), ParameterKind::Entries));
        for (key, value) in arguments.named {
            let place = parameters.iter().position(|own| {
                own.name == key
                    && matches!(
                        own.kind,
                        ParameterKind::Required | ParameterKind::Optional(_)
                    )
            });
            let is_repeated = match place {
                Some(at) => values[at].replace(value).is_some(),
                None if entries_at.is_none() => {
                    return fail(format!(
                        "function {name} got an unexpected keyword argument \"{key}\""
                    ));
                }
                None => {
                    let own = StarKey::Text(key.clone());
                    let entry = (StarValue::Text(key.clone()), value);
                    entries.insert(own, entry).is_some()
                }
            };
            if is_repeated {
                return fail(format!(
                    "function {name} got multiple values for parameter \"{key}\""
                ));
            }
        }
        if let Some(at) = entries_at {
            values[at] = Some(self.heap.dict(entries)?);
        }
        let mut missing: Vec<&str> = Vec::new();
        for (at, value) in values.iter_mut().enumerate() {
            if value.is_none() {
                match kind_at(at) {
                    ParameterKind::Required => missing.push(&parameters[at].name),
                    ParameterKind::Optional(_) => {
                        *value = function.defaults.get(at).cloned().flatten();
                    }
                    _ => {}
                }
            }
        }
        if !missing.is_empty() {
            let plural = if missing.len() > 1 { "s" } else { "" };
            return fail(format!(
                "function {name} missing {} argument{plural} ({})",
                missing.len(),
                missing.join(", ")
            ));
        }
        Ok(values)
    }
}

/// The line at which a mistake of the arguments is reported: that of the first statement.
fn first_line(code: &FunctionCode) -> u32 {
    match &code.body {
        FunctionBody::Block(statements) => statements.first().map_or(code.line, |first| first.line),
        FunctionBody::Value(_) => code.line,
    }
}

/// The message of a mistake, for `assert.try_to`.
pub(crate) fn message(halt: Halt) -> Result<String, Halt> {
    match halt {
        Halt::Failed(Fault { message, .. }) => Ok(message),
        halt => Err(halt),
    }
}
