//! Evaluation of the nodes of a tree.
//!
//! Not here: the choice of a function for a call (`resolve`), and the functions themselves
//! (`functions`).

use std::rc::Rc;

use blueprint::{Name, Value};

use crate::drawing::{DrawRequest, DrawSite, ExternalValue};
use crate::failure::{Evaluated, Halt};
use crate::functions::{self, SuppliedArguments};
use crate::key::TextKey;
use crate::model::{Cursor, Datum, Lambda, Machine, Scope, Stream};
use crate::tree::{NodeId, NodeKind, Variable};

impl Machine<'_> {
    /// Evaluates a node.
    pub(crate) fn evaluate(&mut self, id: NodeId, scope: &Rc<Scope>) -> Evaluated<Datum> {
        let tree = self.tree;
        let node = tree.node(id);
        let value = match &node.kind {
            NodeKind::Constant(constant) => Ok(constant.value()),
            NodeKind::Word(word) => Ok(Datum::Text(word.clone())),
            NodeKind::Variable(variable) => self.variable(variable, scope),
            NodeKind::Wrapped(inner) => self.evaluate(*inner, scope),
            NodeKind::Dot { left, right, safe } => self.dot(*left, *right, *safe, scope),
            NodeKind::Rule(source, destination) => self.rule(*source, *destination, scope),
            NodeKind::Call(call) => {
                let arguments = SuppliedArguments::Written(&call.arguments);
                let overloads = functions::overloads_at(call.entry);
                self.call(
                    &call.name,
                    overloads.plain,
                    None,
                    arguments,
                    scope,
                    Some(call.ordinal),
                )
            }
        };
        value.map_err(|halt| halt.at(&node.span))
    }

    fn variable(&mut self, variable: &Variable, scope: &Scope) -> Evaluated<Datum> {
        self.step(1)?;
        let value = scope.get(variable);
        self.weigh(value.size())?;
        Ok(value)
    }

    fn rule(&mut self, source: NodeId, destination: NodeId, scope: &Rc<Scope>) -> Evaluated<Datum> {
        let source = self.evaluate(source, scope)?;
        let destination = self.evaluate(destination, scope)?;
        Ok(Datum::Rule(Rc::new((source, destination))))
    }

    fn dot(
        &mut self,
        left: NodeId,
        right: NodeId,
        safe: bool,
        scope: &Rc<Scope>,
    ) -> Evaluated<Datum> {
        self.step(1)?;
        self.budget.enter_call()?;
        let tree = self.tree;
        let right = tree.node(right);
        let nothing_fits = || {
            Halt::no_match("No function \"#operator_.\" matches supplied arguments").at(&right.span)
        };
        let may_be = match &right.kind {
            NodeKind::Word(_) => true,
            NodeKind::Call(call) => call.written,
            _ => false,
        };
        if !may_be && !safe {
            return Err(nothing_fits());
        }
        let receiver = self.evaluate(left, scope)?;
        self.measure(&receiver)?;
        let value = match &right.kind {
            _ if safe && matches!(receiver, Datum::Null) => Ok(Datum::Null),
            NodeKind::Word(name) => self.property(receiver, name),
            NodeKind::Call(call) if call.written => {
                let arguments = SuppliedArguments::Written(&call.arguments);
                let overloads = functions::overloads_at(call.entry);
                self.call(
                    &call.name,
                    overloads.method,
                    Some(receiver),
                    arguments,
                    scope,
                    Some(call.ordinal),
                )
            }
            _ => Err(nothing_fits()),
        };
        let value = value.map_err(|halt| halt.at(&right.span))?;
        self.measure(&value)?;
        self.budget.leave_call();
        Ok(value)
    }

    /// Evaluates `value.name`: an entry of a map, the entries of all items of a collection, or a
    /// property.
    pub(crate) fn property(&mut self, value: Datum, name: &Name) -> Evaluated<Datum> {
        match value {
            Datum::Map(map) => match map.entries.get(&TextKey::of(name)) {
                Some(entry) => Ok(entry.clone()),
                None => Err(Halt::failed(pycompat::repr_text(name))),
            },
            value if value.is_iterable() => {
                let items = self.limited(value)?;
                let (depth, mut items, name) = (items.depth(), Cursor::of(items), name.clone());
                Ok(Datum::Stream(Stream::new(
                    depth,
                    move |machine| match items.next(machine)? {
                        Some(item) => machine.property(item, &name).map(Some),
                        None => Ok(None),
                    },
                )))
            }
            value => self.plain(&format!("#property#{name}"), vec![value]),
        }
    }

    /// Calls an operator with two values.
    pub(crate) fn operator(&mut self, name: &str, left: &Datum, right: &Datum) -> Evaluated<Datum> {
        self.plain(name, vec![left.clone(), right.clone()])
    }

    /// Calls a function with values.
    pub(crate) fn plain(&mut self, name: &str, values: Vec<Datum>) -> Evaluated<Datum> {
        self.call_by_name(
            name,
            None,
            SuppliedArguments::Values(values, Vec::new()),
            &Scope::root(),
            None,
        )
    }

    /// Calls the function with a name or, with a receiver, the method with the name.
    pub(crate) fn call_by_name(
        &mut self,
        name: &str,
        receiver: Option<Datum>,
        arguments: SuppliedArguments<'_>,
        scope: &Rc<Scope>,
        ordinal: Option<u32>,
    ) -> Evaluated<Datum> {
        let overloads = functions::overloads(name);
        let functions = if receiver.is_some() {
            overloads.method
        } else {
            overloads.plain
        };
        self.call(name, functions, receiver, arguments, scope, ordinal)
    }

    /// Calls a lambda with values, which are `$1`, `$2` and so on inside.
    pub(crate) fn apply(&mut self, lambda: &Lambda, values: &[Datum]) -> Evaluated<Datum> {
        match lambda {
            Lambda::Always(value) => Ok(value.clone()),
            Lambda::Written(node, scope) if values.is_empty() => self.evaluate(*node, scope),
            Lambda::Written(node, scope) => {
                let variables = (1..)
                    .zip(values)
                    .map(|(at, value)| (Variable::Number(at), value.clone()))
                    .collect();
                self.evaluate(*node, &Scope::inside(scope, variables))
            }
        }
    }

    /// Evaluates a lambda in another scope than its own.
    pub(crate) fn apply_in(&mut self, lambda: &Lambda, scope: &Rc<Scope>) -> Evaluated<Datum> {
        match lambda {
            Lambda::Always(value) => Ok(value.clone()),
            Lambda::Written(node, _) => self.evaluate(*node, scope),
        }
    }

    /// Returns the time or random number for a call. If the value is missing, stops with requests
    /// for all values that the expression may need.
    pub(crate) fn draw(&mut self, call: Option<u32>, what: ExternalValue) -> Evaluated<Value> {
        let call = call.unwrap_or(u32::MAX);
        let turn = match what {
            ExternalValue::Now => 0,
            ExternalValue::Random => {
                match self.turns.iter_mut().find(|(known, _)| *known == call) {
                    Some((_, turn)) => {
                        *turn += 1;
                        *turn
                    }
                    None => {
                        self.turns.push((call, 0));
                        0
                    }
                }
            }
        };
        let site = DrawSite { call, turn };
        if let Some(value) = self.drawing.stored_value(site, what) {
            return Ok(value);
        }
        // A call that runs once for each item asks for twice as many values each time, so that few
        // evaluations are needed.
        let mut questions: Vec<_> = (turn..=turn * 2)
            .map(|turn| DrawRequest {
                site: DrawSite { call, turn },
                what,
            })
            .collect();
        for call in self.tree.all_calls() {
            let site = DrawSite {
                call: call.ordinal,
                turn: 0,
            };
            if let Some(what) = functions::draws(&call.name)
                && self.drawing.stored_value(site, what).is_none()
            {
                questions.push(DrawRequest { site, what });
            }
        }
        questions.sort();
        questions.dedup();
        Err(Box::new(Halt::Ask(questions)))
    }
}
