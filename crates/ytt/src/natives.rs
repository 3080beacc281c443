//! Calls of the functions of the evaluator: marks of their arguments, and which function it is.

use blueprint::Name;

use crate::ast::{
    ANNOTATE, COLLECT, END_CONTEXT, INSTRUCTION, NodeDialect, SET_DIALECT, SET_KEY, SET_NODE,
    START_CONTEXT, START_NODE,
};
use crate::binding::StarArguments;
use crate::convert::{ValueMarks, marks, open_leaves, secret_leaves};
use crate::evaluator::Evaluator;
use crate::halt::{Evaluated, Halted, fail, fault};
use crate::native_call::NativeCall;
use crate::node_context::NodeContext;
use crate::value::{AnnotationValue, NativeFunction, StarValue};
use crate::{containers, modules, strings, universe};

/// The instructions, by which programs make nodes.
const INSTRUCTIONS: [&str; 8] = [
    SET_DIALECT,
    START_CONTEXT,
    END_CONTEXT,
    ANNOTATE,
    COLLECT,
    START_NODE,
    SET_NODE,
    SET_KEY,
];

/// The functions that pass parts of their arguments on as they are, and those that only look at
/// the shape of their arguments. They handle unknown and secret parts themselves.
const TRANSPARENT: [&str; 33] = [
    "dict",
    "dir",
    "enumerate",
    "fail",
    "getattr",
    "hasattr",
    "len",
    "list",
    "print",
    "reversed",
    "set",
    "tuple",
    "type",
    "zip",
    "list.append",
    "list.clear",
    "list.extend",
    "list.insert",
    "list.pop",
    "list.remove",
    "set.union",
    "struct.make",
    "struct.make_and_bind",
    "struct.bind",
    "struct.bound",
    "struct.encode",
    "struct.decode",
    "module.make",
    "template.replace",
    "overlay.apply",
    "assert.try_to",
    "assert.fail",
    "assert.not_null",
];

fn is_transparent(name: &str) -> bool {
    name.starts_with(INSTRUCTION) || name.starts_with("dict.") || TRANSPARENT.contains(&name)
}

/// Whether every program has a name.
pub(crate) fn is_universal(name: &str) -> bool {
    matches!(name, "None" | "True" | "False")
        || universe::function(name).is_some()
        || INSTRUCTIONS.contains(&name)
}

impl Evaluator<'_> {
    /// The value of a name that every program has.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn universal(&self, name: &str) -> Evaluated<StarValue> {
        match name {
            "None" => return Ok(StarValue::None),
            "True" => return Ok(StarValue::Bool(true)),
            "False" => return Ok(StarValue::Bool(false)),
            _ => {}
        }
        let instruction = INSTRUCTIONS.iter().copied().find(|own| *own == name);
        match universe::function(name).or(instruction) {
            Some(name) => self.heap.native(name, Vec::new()),
            None => fail(format!("undefined: {name}")),
        }
    }

    /// A name of a module.
    ///
    /// # Errors
    /// If there is no such module or name.
    pub(crate) fn module_member(&self, module: &Name, name: &Name) -> Evaluated<StarValue> {
        modules::member(self, module, name).map_err(|halt| halt.within("cannot load"))
    }

    /// Calls a function of the evaluator.
    ///
    /// # Errors
    /// If the arguments do not fit, or the function fails.
    pub(crate) fn call_native(
        &mut self,
        native: &NativeFunction,
        arguments: StarArguments,
    ) -> Evaluated<StarValue> {
        self.heap.work.steps(1)?;
        let mut call = NativeCall {
            name: native.name,
            bound: native.bound.clone(),
            items: arguments.items,
            named: arguments.named,
        };
        if !self.heap.has_marks.get() || is_transparent(native.name) {
            return self.dispatch(&call);
        }
        let mut found = ValueMarks::default();
        for value in call.values() {
            marks(&self.heap, value, &mut found)?;
        }
        if let Some(waits_for) = found.waits_for {
            return Ok(StarValue::Unknown(waits_for.into()));
        }
        if !found.has_secret {
            return self.dispatch(&call);
        }
        for value in call.values_mut() {
            *value = open_leaves(&self.heap, value)?;
        }
        match self.dispatch(&call) {
            Ok(value) => secret_leaves(&self.heap, &value),
            Err(Halted::Failed(_)) => fail(format!("{} fails for a secret value", native.name)),
            Err(halt) => Err(halt),
        }
    }

    fn dispatch(&mut self, call: &NativeCall) -> Evaluated<StarValue> {
        let name = call.name;
        if name.starts_with(INSTRUCTION) {
            return self.instruction(call).map_err(|halt| halt.within(name));
        }
        match name.split_once('.') {
            None => universe::call(self, call),
            Some(("string", method)) => strings::call(self, method, call),
            Some(("list" | "dict" | "set", _)) => containers::call(self, call),
            Some((module, function)) => {
                let result = modules::call(self, module, function, call);
                match function.starts_with("check") {
                    true => result,
                    false => result.map_err(|halt| halt.within(name)),
                }
            }
        }
    }

    fn context(&mut self) -> Evaluated<&mut NodeContext> {
        self.contexts
            .last_mut()
            .ok_or_else(|| fault("no context is open"))
    }

    /// Begins a context.
    ///
    /// # Errors
    /// If a limit is reached.
    pub(crate) fn start_context(&mut self, dialect: NodeDialect) -> Evaluated<()> {
        self.heap.work.bytes(128)?;
        self.contexts.push(NodeContext::new(dialect));
        Ok(())
    }

    /// Ends the current context. The result is `value`, or the tree of the context.
    ///
    /// # Errors
    /// If no context is open.
    pub(crate) fn end_context(&mut self, value: Option<StarValue>) -> Evaluated<StarValue> {
        let Some(context) = self.contexts.pop() else {
            return fail("unexpected ctx end");
        };
        if self.contexts.is_empty() && self.root.is_none() {
            self.root = Some(StarValue::Fragment(context.root().cloned()));
        }
        match value {
            Some(value) => Ok(value),
            None => context.value(&self.heap),
        }
    }

    fn instruction(&mut self, call: &NativeCall) -> Evaluated<StarValue> {
        let tag = match call.items.first() {
            Some(StarValue::Int(tag)) => usize::try_from(*tag).unwrap_or(usize::MAX),
            _ => usize::MAX,
        };
        let second = call.items.get(1);
        match call.name {
            START_CONTEXT => {
                let is_text = call.items.first().and_then(StarValue::as_text);
                let is_text = is_text.is_some_and(|dialect| &**dialect == "text");
                self.start_context(if is_text {
                    NodeDialect::Text
                } else {
                    NodeDialect::Yaml
                })?;
            }
            END_CONTEXT => return self.end_context(call.items.first().cloned()),
            COLLECT => {
                let entries = call.named.iter().map(|(name, value)| {
                    let pair = vec![StarValue::Text(name.clone()), value.clone()];
                    self.heap.tuple(pair)
                });
                let entries = entries.collect::<Evaluated<_>>()?;
                return self.heap.tuple(entries);
            }
            ANNOTATE => {
                let name = second
                    .and_then(StarValue::as_text)
                    .cloned()
                    .unwrap_or_default();
                let mut annotation = AnnotationValue::default();
                if let Some(StarValue::Tuple(entries)) = call.items.get(2) {
                    for entry in entries.iter() {
                        if let StarValue::Tuple(pair) = entry
                            && let [StarValue::Text(name), value] = pair.as_slice()
                        {
                            annotation.named.push((name.clone(), value.clone()));
                        }
                    }
                }
                self.context()?.annotate(tag, name, annotation);
            }
            START_NODE => {
                let nodes = &self.compiled.nodes;
                let Some(context) = self.contexts.last_mut() else {
                    return fail("no context is open");
                };
                context.start(&self.heap, nodes, tag)?;
            }
            SET_NODE => {
                let nodes = &self.compiled.nodes;
                let Some(context) = self.contexts.last_mut() else {
                    return fail("no context is open");
                };
                match second {
                    Some(value) => context.set(&self.heap, value)?,
                    None => context.set_default(nodes, tag)?,
                }
            }
            SET_KEY => {
                let Some(context) = self.contexts.last_mut() else {
                    return fail("no context is open");
                };
                context.set_key(&self.heap, tag, second.unwrap_or(&StarValue::None))?;
            }
            _ => {}
        }
        Ok(StarValue::None)
    }

    /// `template.replace`
    ///
    /// # Errors
    /// If the value does not fit the current node.
    pub(crate) fn replace_node(&mut self, value: &StarValue) -> Evaluated<StarValue> {
        let Some(context) = self.contexts.last_mut() else {
            return fail("no context is open");
        };
        context.replace(&self.heap, value)?;
        Ok(StarValue::Replaced)
    }
}
