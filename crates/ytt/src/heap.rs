//! Makes containers and texts, charges them, and empties them at the end.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use blueprint::{IndexMap, Name};

use crate::halt::Evaluated;
use crate::limits::Work;
use crate::value::{
    NativeFunction, NodeRef, StarDict, StarKey, StarList, StarStruct, StarValue, StructKind,
    VariableRef, YamlNode,
};

/// The containers of one rendering.
pub(crate) struct Heap {
    pub(crate) work: Work,
    /// Whether there are unknown values or secrets at all.
    pub(crate) has_marks: Cell<bool>,
    held: RefCell<Vec<StarValue>>,
    variables: RefCell<Vec<VariableRef>>,
    nodes: RefCell<Vec<NodeRef>>,
}

/// Entries of a dict by their keys.
pub(crate) type DictEntries = IndexMap<StarKey, (StarValue, StarValue)>;

impl Heap {
    /// A heap without containers.
    pub(crate) fn new(work: Work) -> Heap {
        Heap {
            work,
            has_marks: Cell::new(false),
            held: RefCell::default(),
            variables: RefCell::default(),
            nodes: RefCell::default(),
        }
    }

    fn hold(&self, value: StarValue) -> StarValue {
        self.held.borrow_mut().push(value.clone());
        value
    }

    /// A text.
    pub(crate) fn text(&self, text: impl Into<Name> + AsRef<str>) -> Evaluated<StarValue> {
        self.work.bytes(text.as_ref().len())?;
        Ok(StarValue::Text(text.into()))
    }

    /// A list.
    pub(crate) fn list(&self, items: Vec<StarValue>) -> Evaluated<StarValue> {
        self.work.items(items.len())?;
        Ok(self.hold(StarValue::List(Rc::new(StarList {
            items: RefCell::new(items),
            loops: Cell::new(0),
        }))))
    }

    /// A tuple.
    pub(crate) fn tuple(&self, items: Vec<StarValue>) -> Evaluated<StarValue> {
        self.work.items(items.len())?;
        Ok(self.hold(StarValue::Tuple(Rc::new(items))))
    }

    /// A dict.
    pub(crate) fn dict(&self, entries: DictEntries) -> Evaluated<StarValue> {
        self.work.items(entries.len().saturating_mul(2))?;
        Ok(self.hold(StarValue::Dict(Rc::new(StarDict {
            entries: RefCell::new(entries),
            loops: Cell::new(0),
        }))))
    }

    /// A set.
    pub(crate) fn set(&self, entries: DictEntries) -> Evaluated<StarValue> {
        self.work.items(entries.len().saturating_mul(2))?;
        Ok(self.hold(StarValue::Set(Rc::new(StarDict {
            entries: RefCell::new(entries),
            loops: Cell::new(0),
        }))))
    }

    /// A struct or module.
    pub(crate) fn structure(
        &self,
        kind: StructKind,
        fields: IndexMap<Name, StarValue>,
    ) -> Evaluated<StarValue> {
        self.work.items(fields.len().saturating_mul(2))?;
        Ok(self.hold(StarValue::Struct(Rc::new(StarStruct { kind, fields }))))
    }

    /// A function of the evaluator with bound values.
    pub(crate) fn native(&self, name: &'static str, bound: Vec<StarValue>) -> Evaluated<StarValue> {
        self.work.items(bound.len())?;
        Ok(self.hold(StarValue::Native(Rc::new(NativeFunction { name, bound }))))
    }

    /// A function of the program.
    pub(crate) fn function(&self, function: StarValue) -> Evaluated<StarValue> {
        self.work.items(1)?;
        Ok(self.hold(function))
    }

    /// A variable.
    pub(crate) fn variable(&self, value: Option<StarValue>) -> Evaluated<VariableRef> {
        self.work.bytes(48)?;
        let variable = Rc::new(RefCell::new(value));
        self.variables.borrow_mut().push(variable.clone());
        Ok(variable)
    }

    /// Lets go of the variables of a call that nothing else refers to.
    pub(crate) fn release(&self, from: usize) {
        let mut variables = self.variables.borrow_mut();
        while variables.len() > from
            && variables
                .last()
                .is_some_and(|last| Rc::strong_count(last) == 1)
        {
            variables.pop();
        }
    }

    /// The number of variables.
    pub(crate) fn variable_count(&self) -> usize {
        self.variables.borrow().len()
    }

    /// A node.
    pub(crate) fn node(&self, node: YamlNode) -> Evaluated<NodeRef> {
        self.work.items(node.items.len() + 2)?;
        let node = Rc::new(RefCell::new(node));
        self.nodes.borrow_mut().push(node.clone());
        Ok(node)
    }
}

/// Everything that is shared is held here until the end, so no value drops a chain of others: first
/// the containers that can change are emptied, then the others are dropped, the newest first.
impl Drop for Heap {
    fn drop(&mut self) {
        let mut held = std::mem::take(&mut *self.held.borrow_mut());
        let variables = std::mem::take(&mut *self.variables.borrow_mut());
        let nodes = std::mem::take(&mut *self.nodes.borrow_mut());
        for variable in &variables {
            drop(variable.try_borrow_mut().map(|mut value| value.take()));
        }
        for node in &nodes {
            if let Ok(mut node) = node.try_borrow_mut() {
                node.items.clear();
                node.value = StarValue::None;
                node.key = StarValue::None;
                node.annotations = Rc::new(Vec::new());
            }
        }
        for value in &held {
            match value {
                StarValue::List(list) => {
                    drop(
                        list.items
                            .try_borrow_mut()
                            .map(|mut items| std::mem::take(&mut *items)),
                    );
                }
                StarValue::Dict(dict) | StarValue::Set(dict) => {
                    drop(
                        dict.entries
                            .try_borrow_mut()
                            .map(|mut own| std::mem::take(&mut *own)),
                    );
                }
                _ => {}
            }
        }
        while held.pop().is_some() {}
    }
}
