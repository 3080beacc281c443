//! A parsed expression: nodes in one vector that refer to each other by index.
//!
//! With a vector instead of boxes, dropping a deeply nested expression needs no recursion, and
//! threads can share it.

use std::ops::Range;

use blueprint::Name;
use pycompat::BigInt;

/// The index of a node.
pub(crate) type NodeId = u32;

/// A parsed expression.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    pub(crate) root: NodeId,
    /// The number of calls.
    pub(crate) calls: u32,
}

/// An expression and its range of bytes.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) span: Range<usize>,
}

/// The kind of an expression.
#[derive(Debug)]
pub(crate) enum NodeKind {
    /// A literal.
    Constant(Constant),
    /// A bare word: text, a property, or the name of an argument.
    Word(Name),
    /// `$name`.
    Variable(Variable),
    /// An expression in parentheses. The enclosing expression treats it neither as a word nor as a
    /// call.
    Wrapped(NodeId),
    /// `left.right`, or `left?.right`.
    Dot {
        left: NodeId,
        right: NodeId,
        safe: bool,
    },
    /// `left => right`, as an argument only.
    Rule(NodeId, NodeId),
    /// A call, an operator, an index, a list or a map.
    Call(Box<FunctionCall>),
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Constant {
    Null,
    Bool(bool),
    Int(i64),
    Big(BigInt),
    Float(f64),
    Text(Name),
}

/// The name of a variable without its `$`; numbered variables are numbers, and the empty name is
/// number 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    Number(u32),
    Name(Name),
}

impl Variable {
    /// Returns the variable with a name, with or without `$`.
    pub(crate) fn of(name: &str) -> Variable {
        let name = name.strip_prefix('$').unwrap_or(name);
        let counted = name.bytes().all(|byte| byte.is_ascii_digit())
            && (name == "0" || !name.starts_with('0'));
        match name.parse() {
            _ if name.is_empty() => Variable::Number(1),
            Ok(number) if counted => Variable::Number(number),
            _ => Variable::Name(name.into()),
        }
    }
}

/// A call of a named function.
#[derive(Debug)]
pub(crate) struct FunctionCall {
    pub(crate) name: Name,
    /// The index of the name in the table of functions; `None` for an unknown name.
    pub(crate) entry: Option<usize>,
    /// The arguments in order, with rules; `None` for an argument that is omitted between commas.
    pub(crate) arguments: Vec<Option<NodeId>>,
    /// Whether the call is written as `name(..)`, so that it can be a method.
    pub(crate) written: bool,
    /// The index of the call in the expression.
    pub(crate) ordinal: u32,
}

impl Tree {
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    pub(crate) fn push(&mut self, kind: NodeKind, span: Range<usize>) -> NodeId {
        self.nodes.push(Node { kind, span });
        (self.nodes.len() - 1) as NodeId
    }

    /// All calls, in the order of the text.
    pub(crate) fn all_calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Call(call) => Some(&**call),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_has_a_number_or_a_name() {
        assert_eq!(Variable::of("$"), Variable::Number(1));
        assert_eq!(Variable::of("2"), Variable::Number(2));
        assert_eq!(Variable::of("$01"), Variable::Name("01".into()));
        assert_eq!(Variable::of("$x"), Variable::Name("x".into()));
        assert_eq!(
            Variable::of("99999999999"),
            Variable::Name("99999999999".into())
        );
    }
}
