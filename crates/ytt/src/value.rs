//! The values of a program, and the YAML nodes that they can hold.
//!
//! Containers are shared and can hold themselves. The evaluator keeps a list of all of them and
//! empties them at the end, so that no chain of values is dropped recursively.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use blueprint::{Address, IndexMap, Name};

use crate::ast::FunctionCode;
use crate::yaml_tree::YamlKind;

/// A value.
#[derive(Clone)]
pub(crate) enum StarValue {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(Name),
    List(Rc<StarList>),
    Tuple(Rc<Vec<StarValue>>),
    Dict(Rc<StarDict>),
    Set(Rc<StarDict>),
    Range(StarRange),
    Struct(Rc<StarStruct>),
    Function(Rc<FunctionValue>),
    Native(Rc<NativeFunction>),
    /// A YAML fragment; `None` if a function made no node.
    Fragment(Option<NodeRef>),
    /// The result of `template.replace`: nothing is to be set.
    Replaced,
    /// Not known yet; what it waits for.
    Unknown(Rc<Vec<Address>>),
    /// Never directly around another `Secret`.
    Secret(Rc<StarValue>),
}

/// The items of a list.
#[derive(Default)]
pub(crate) struct StarList {
    pub(crate) items: RefCell<Vec<StarValue>>,
    /// The number of loops over it: it cannot be changed meanwhile.
    pub(crate) loops: Cell<u32>,
}

/// The entries of a dict or set, by hashable keys. A set has `None` as values.
#[derive(Default)]
pub(crate) struct StarDict {
    pub(crate) entries: RefCell<IndexMap<StarKey, (StarValue, StarValue)>>,
    /// The number of loops over it: it cannot be changed meanwhile.
    pub(crate) loops: Cell<u32>,
}

/// A key as it is compared: equal numbers are one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StarKey {
    None,
    Bool(bool),
    Int(i128),
    /// The bits of a float that is no integer.
    Float(u64),
    Text(Name),
    Tuple(Vec<StarKey>),
}

/// `range(start, stop, step)`; the step is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StarRange {
    pub(crate) start: i64,
    pub(crate) step: i64,
    pub(crate) len: i64,
}

/// Named fields: a struct, a module, or a value of a module with functions.
pub(crate) struct StarStruct {
    pub(crate) kind: StructKind,
    pub(crate) fields: IndexMap<Name, StarValue>,
}

/// The kinds of values with fields.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum StructKind {
    /// A struct: a mapping, too.
    Plain,
    /// A module with its name.
    Module(Name),
    /// A value that does not become YAML: its type, and what to call.
    Opaque(&'static str, &'static str),
}

/// A function of the program with the variables that it captured.
pub(crate) struct FunctionValue {
    pub(crate) code: Arc<FunctionCode>,
    /// The default values of the parameters; `None` for required ones.
    pub(crate) defaults: Vec<Option<StarValue>>,
    pub(crate) captured: Vec<VariableRef>,
}

/// A variable that functions share.
pub(crate) type VariableRef = Rc<RefCell<Option<StarValue>>>;

/// A function of the evaluator, by its name, with the values that are bound to it.
pub(crate) struct NativeFunction {
    pub(crate) name: &'static str,
    pub(crate) bound: Vec<StarValue>,
}

/// A shared YAML node.
pub(crate) type NodeRef = Rc<RefCell<YamlNode>>;

/// A node of a YAML or text tree.
#[derive(Clone)]
pub(crate) struct YamlNode {
    pub(crate) kind: YamlKind,
    /// The key of a map item.
    pub(crate) key: StarValue,
    /// The nodes of a set of documents, map, list or text.
    pub(crate) items: Vec<NodeRef>,
    /// The value of a document, item or piece of text.
    pub(crate) value: StarValue,
    pub(crate) annotations: Rc<Vec<(Name, AnnotationValue)>>,
    /// The line in the template; `None` if unknown.
    pub(crate) line: Option<u32>,
}

/// The arguments of an annotation.
#[derive(Clone, Default)]
pub(crate) struct AnnotationValue {
    pub(crate) named: Vec<(Name, StarValue)>,
}

impl YamlNode {
    /// A node without content.
    pub(crate) fn new(kind: YamlKind, line: Option<u32>) -> YamlNode {
        YamlNode {
            kind,
            key: StarValue::None,
            items: Vec::new(),
            value: StarValue::None,
            annotations: Rc::new(Vec::new()),
            line,
        }
    }

    /// The arguments of an annotation, if the node has it.
    pub(crate) fn annotation(&self, name: &str) -> Option<&AnnotationValue> {
        let found = self.annotations.iter().find(|(own, _)| **own == *name);
        found.map(|(_, annotation)| annotation)
    }
}

impl StarRange {
    /// The item at a place that is within the range.
    pub(crate) fn item(&self, at: i64) -> StarValue {
        StarValue::Int(i128::from(self.start) + i128::from(self.step) * i128::from(at))
    }
}

impl StarValue {
    /// A text.
    pub(crate) fn text(text: impl Into<Name>) -> StarValue {
        StarValue::Text(text.into())
    }

    /// An integer that is a length.
    pub(crate) fn count(count: usize) -> StarValue {
        StarValue::Int(count as i128)
    }

    /// The value without its mark, and whether it had one.
    pub(crate) fn split(&self) -> (&StarValue, Secrecy) {
        match self {
            StarValue::Secret(inner) => (inner, Secrecy::Secret),
            other => (other, Secrecy::Open),
        }
    }

    /// The value without its mark.
    pub(crate) fn open(&self) -> &StarValue {
        self.split().0
    }

    /// The value with a mark.
    pub(crate) fn secret(self) -> StarValue {
        match self {
            StarValue::Secret(_) | StarValue::Unknown(_) => self,
            other => StarValue::Secret(Rc::new(other)),
        }
    }

    /// The value with a mark, if `secrecy` says so.
    pub(crate) fn marked(self, secrecy: Secrecy) -> StarValue {
        match secrecy {
            Secrecy::Secret => self.secret(),
            Secrecy::Open => self,
        }
    }

    /// What the value waits for, if it is unknown.
    pub(crate) fn unknown(&self) -> Option<&Rc<Vec<Address>>> {
        match self.open() {
            StarValue::Unknown(waits_for) => Some(waits_for),
            _ => None,
        }
    }

    /// The text, if the value is one.
    pub(crate) fn as_text(&self) -> Option<&Name> {
        match self.open() {
            StarValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether the value can be called.
    pub(crate) fn is_callable(&self) -> bool {
        matches!(self.open(), StarValue::Function(_) | StarValue::Native(_))
    }

    /// The name of the type.
    pub(crate) fn type_name(&self) -> &str {
        match self {
            StarValue::None => "NoneType",
            StarValue::Bool(_) => "bool",
            StarValue::Int(_) => "int",
            StarValue::Float(_) => "float",
            StarValue::Text(_) => "string",
            StarValue::List(_) => "list",
            StarValue::Tuple(_) => "tuple",
            StarValue::Dict(_) => "dict",
            StarValue::Set(_) => "set",
            StarValue::Range(_) => "range",
            StarValue::Struct(data) => match &data.kind {
                StructKind::Plain => "struct",
                StructKind::Module(_) => "module",
                StructKind::Opaque(name, _) => name,
            },
            StarValue::Function(_) => "function",
            StarValue::Native(_) => "builtin_function_or_method",
            StarValue::Fragment(_) => "yamlfragment",
            StarValue::Replaced => "noop",
            StarValue::Unknown(_) => "unknown",
            StarValue::Secret(inner) => inner.type_name(),
        }
    }
}

/// Whether something must not be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrecy {
    Open,
    Secret,
}

impl Secrecy {
    /// Secret if one of the two is.
    pub(crate) fn and(self, other: Secrecy) -> Secrecy {
        match (self, other) {
            (Secrecy::Open, Secrecy::Open) => Secrecy::Open,
            _ => Secrecy::Secret,
        }
    }
}
