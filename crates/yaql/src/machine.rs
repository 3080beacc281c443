//! Evaluating: what each node of a tree gives, within limits.
//!
//! Not here: which function a call means (`resolve`), and what the functions do (`functions`).

use std::rc::Rc;

use blueprint::{Name, Value};

use crate::datum::{Datum, Entries};
use crate::drawing::{Draw, Drawing, Question, Site};
use crate::failure::{Halt, Step};
use crate::functions;
use crate::key::{Key, TextKey};
use crate::limits::Limits;
use crate::regex::Regex;
use crate::resolve::Arguments;
use crate::scope::{Lambda, Scope};
use crate::stream::{Cursor, Kept, Stream};
use crate::tree::{Constant, NodeId, NodeKind, Tree, Variable};

/// Heavier values are refused: walking through one would take too long.
const HEAVIEST: u32 = 1_000_000;

/// So many bytes or parts of a value count as one step.
const PER_STEP: u64 = 256;

/// One evaluation of one expression.
pub(crate) struct Machine<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) limits: &'a Limits,
    drawing: &'a mut dyn Drawing,
    /// How often each call that draws has drawn.
    turns: Vec<(u32, u32)>,
    steps: u64,
    /// Levels that are entered, a call counting two and an item that is being made one.
    depth: u32,
    pub(crate) kept: Kept,
    /// Expressions that texts were compiled to, the oldest first.
    pub(crate) patterns: Vec<Rc<Regex>>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(tree: &'a Tree, limits: &'a Limits, drawing: &'a mut dyn Drawing) -> Machine<'a> {
        Machine {
            tree,
            limits,
            drawing,
            turns: Vec::new(),
            steps: 0,
            depth: 0,
            kept: Kept::default(),
            patterns: Vec::new(),
        }
    }

    /// The steps taken so far.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Takes steps.
    pub(crate) fn step(&mut self, count: u64) -> Step<()> {
        self.steps += count;
        if self.steps > self.limits.steps {
            return Err(Halt::limit(format!("Expression takes more than {} steps", self.limits.steps)));
        }
        Ok(())
    }

    fn enter(&mut self, levels: u32) -> Step<()> {
        self.depth += levels;
        if self.depth > self.limits.depth.saturating_mul(2) {
            return Err(Halt::limit(format!("Expression is nested more than {} levels deep", self.limits.depth)));
        }
        Ok(())
    }

    /// Goes one level down, into a call.
    pub(crate) fn enter_call(&mut self) -> Step<()> {
        self.enter(2)
    }

    /// Comes back from a call.
    pub(crate) fn leave_call(&mut self) {
        self.depth -= 2;
    }

    /// Goes down into making an item of a sequence.
    pub(crate) fn enter_item(&mut self) -> Step<()> {
        self.enter(1)
    }

    /// Comes back from making an item.
    pub(crate) fn leave_item(&mut self) {
        self.depth -= 1;
    }

    /// Refuses so many bytes if they are more than the limit.
    pub(crate) fn weigh(&self, bytes: usize) -> Step<()> {
        if bytes > self.limits.bytes { Err(Halt::memory()) } else { Ok(()) }
    }

    /// Refuses a value that is too large, too deep or too heavy; counts steps for its size.
    pub(crate) fn measure(&mut self, value: &Datum) -> Step<()> {
        let (size, extent) = (value.size(), value.extent());
        self.weigh(size)?;
        if extent.depth > self.limits.depth.saturating_mul(2) {
            return Err(Halt::limit(format!("Value is nested more than {} levels deep", self.limits.depth * 2)));
        }
        if extent.weight > HEAVIEST {
            return Err(Halt::memory());
        }
        self.step((size as u64 + u64::from(extent.weight)) / PER_STEP)
    }

    /// Refuses a collection that has more items than the limit, and limits one that does not know how many it has.
    pub(crate) fn limited(&mut self, value: Datum) -> Step<Datum> {
        let most = self.limits.items;
        let known = match &value {
            Datum::List(list) => Some(list.items.len()),
            Datum::Map(map) => Some(map.entries.len()),
            Datum::Set(set) => Some(set.items.len()),
            Datum::View(crate::datum::View::Keys | crate::datum::View::Entries, map) => Some(map.entries.len()),
            _ => None,
        };
        match known {
            Some(count) if count > most => Err(Halt::limit(format!("Collection length exceeds {most} elements"))),
            Some(_) => Ok(value),
            None => Ok(Datum::Stream(Stream::limited(value, most))),
        }
    }

    /// All items of a collection.
    pub(crate) fn collect(&mut self, value: Datum) -> Step<Vec<Datum>> {
        if let Datum::List(list) = &value {
            return Ok(list.items.clone());
        }
        let mut items = Vec::new();
        let mut cursor = Cursor::of(value);
        while let Some(item) = cursor.next(self)? {
            items.push(item);
        }
        Ok(items)
    }

    /// What a node gives.
    pub(crate) fn evaluate(&mut self, id: NodeId, scope: &Rc<Scope>) -> Step<Datum> {
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
                let arguments = Arguments::Written(&call.arguments);
                self.call(&call.name, call.overloads.plain, None, arguments, scope, Some(call.ordinal))
            }
        };
        value.map_err(|halt| halt.at(&node.span))
    }

    fn variable(&mut self, variable: &Variable, scope: &Scope) -> Step<Datum> {
        self.step(1)?;
        let value = scope.get(variable);
        self.weigh(value.size())?;
        Ok(value)
    }

    fn rule(&mut self, source: NodeId, destination: NodeId, scope: &Rc<Scope>) -> Step<Datum> {
        let source = self.evaluate(source, scope)?;
        let destination = self.evaluate(destination, scope)?;
        Ok(Datum::Rule(Rc::new((source, destination))))
    }

    fn dot(&mut self, left: NodeId, right: NodeId, safe: bool, scope: &Rc<Scope>) -> Step<Datum> {
        self.step(1)?;
        self.enter_call()?;
        let tree = self.tree;
        let right = tree.node(right);
        let nothing_fits = || Halt::no_match("No function \"#operator_.\" matches supplied arguments").at(&right.span);
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
                let arguments = Arguments::Written(&call.arguments);
                self.call(&call.name, call.overloads.method, Some(receiver), arguments, scope, Some(call.ordinal))
            }
            _ => Err(nothing_fits()),
        };
        let value = value.map_err(|halt| halt.at(&right.span))?;
        self.measure(&value)?;
        self.leave_call();
        Ok(value)
    }

    /// `value.name`: the entry of a map, of each item of a collection, or a property.
    pub(crate) fn property(&mut self, value: Datum, name: &Name) -> Step<Datum> {
        match value {
            Datum::Map(map) => match map.entries.get(&TextKey::of(name)) {
                Some(entry) => Ok(entry.clone()),
                None => Err(Halt::failed(python::repr_text(name))),
            },
            value if value.is_iterable() => {
                let items = self.limited(value)?;
                let (depth, mut items, name) = (items.depth(), Cursor::of(items), name.clone());
                Ok(Datum::Stream(Stream::new(depth, move |machine| match items.next(machine)? {
                    Some(item) => machine.property(item, &name).map(Some),
                    None => Ok(None),
                })))
            }
            value => {
                let function = format!("#property#{name}");
                let overloads = functions::overloads(&function);
                self.call(
                    &function,
                    overloads.plain,
                    None,
                    Arguments::Values(vec![value], Vec::new()),
                    &Scope::root(),
                    None,
                )
            }
        }
    }

    /// What an operator that is a function gives for two values.
    pub(crate) fn operator(&mut self, name: &str, left: &Datum, right: &Datum) -> Step<Datum> {
        self.plain(name, vec![left.clone(), right.clone()])
    }

    /// What a function gives for values.
    pub(crate) fn plain(&mut self, name: &str, values: Vec<Datum>) -> Step<Datum> {
        let overloads = functions::overloads(name);
        self.call(name, overloads.plain, None, Arguments::Values(values, Vec::new()), &Scope::root(), None)
    }

    /// What an argument that is called gives for values, which are `$1`, `$2` and so on inside.
    pub(crate) fn apply(&mut self, lambda: &Lambda, values: &[Datum]) -> Step<Datum> {
        match lambda {
            Lambda::Always(value) => Ok(value.clone()),
            Lambda::Written(node, scope) if values.is_empty() => self.evaluate(*node, scope),
            Lambda::Written(node, scope) => {
                let variables = (1..).zip(values).map(|(at, value)| (Variable::Number(at), value.clone())).collect();
                self.evaluate(*node, &Scope::inside(scope, variables))
            }
        }
    }

    /// What an argument that is called gives in another place than where it was written.
    pub(crate) fn apply_in(&mut self, lambda: &Lambda, scope: &Rc<Scope>) -> Step<Datum> {
        match lambda {
            Lambda::Always(value) => Ok(value.clone()),
            Lambda::Written(node, _) => self.evaluate(*node, scope),
        }
    }

    /// What a step gives, or its failure, with the levels left that the failure did not leave.
    pub(crate) fn attempt(&mut self, step: impl FnOnce(&mut Self) -> Step<Datum>) -> Step<Datum> {
        let depth = self.depth;
        let value = step(self);
        self.depth = depth;
        value
    }

    /// What was drawn for a call. Stops with all that could be asked where it has not been drawn.
    pub(crate) fn draw(&mut self, call: Option<u32>, what: Draw) -> Step<Value> {
        let call = call.unwrap_or(u32::MAX);
        let turn = match what {
            Draw::Now => 0,
            Draw::Random => match self.turns.iter_mut().find(|(known, _)| *known == call) {
                Some((_, turn)) => {
                    *turn += 1;
                    *turn
                }
                None => {
                    self.turns.push((call, 0));
                    0
                }
            },
        };
        let site = Site { call, turn };
        if let Some(value) = self.drawing.drawn(site, what) {
            return Ok(value);
        }
        // A call that draws once for each item is asked for twice as many each time.
        let mut questions: Vec<_> =
            (turn..=turn * 2).map(|turn| Question { site: Site { call, turn }, what }).collect();
        for call in self.tree.all_calls() {
            let site = Site { call: call.ordinal, turn: 0 };
            if let Some(what) = functions::draws(&call.name)
                && self.drawing.drawn(site, what).is_none()
            {
                questions.push(Question { site, what });
            }
        }
        questions.sort();
        questions.dedup();
        Err(Box::new(Halt::Ask(questions)))
    }

    /// A map of these entries, which counts against the limit.
    pub(crate) fn entries(&mut self, pairs: impl IntoIterator<Item = (Datum, Datum)>) -> Step<Entries> {
        let mut entries = Entries::default();
        for (key, value) in pairs {
            entries.insert(Key::of(key)?, value);
            self.weigh(56 + 8 * entries.len())?;
        }
        Ok(entries)
    }
}

impl Constant {
    pub(crate) fn value(&self) -> Datum {
        match self {
            Constant::Null => Datum::Null,
            Constant::Bool(value) => Datum::Bool(*value),
            Constant::Int(value) => Datum::Int(*value),
            Constant::Big(value) => Datum::integer(value.clone()),
            Constant::Float(value) => Datum::Float(*value),
            Constant::Text(text) => Datum::Text(text.clone()),
        }
    }
}
