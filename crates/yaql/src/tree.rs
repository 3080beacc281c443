//! A parsed expression: nodes in one row, which refer to each other by number.
//!
//! A row instead of a tree of boxes: however deeply an expression is nested, taking it down needs no recursion, and it can be
//! shared between threads.

use std::ops::Range;

use blueprint::Name;
use python::BigInt;

/// A node of the row.
pub(crate) type NodeId = u32;

/// A parsed expression.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    pub(crate) root: NodeId,
    /// How many calls there are.
    pub(crate) calls: u32,
}

/// An expression and the bytes where it stands.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) span: Range<usize>,
}

/// What an expression is.
#[derive(Debug)]
pub(crate) enum NodeKind {
    /// A value that stands in the text.
    Constant(Constant),
    /// A bare word: text, a property, or the name of an argument.
    Word(Name),
    /// `$name`.
    Variable(Variable),
    /// An expression in parentheses. It is neither a word nor a call to what is around it.
    Wrapped(NodeId),
    /// `left.right`, or `left?.right`.
    Dot { left: NodeId, right: NodeId, safe: bool },
    /// `left => right`, only as an argument.
    Rule(NodeId, NodeId),
    /// A call, an operator, an index, a list or a map.
    Call(Box<Call>),
}

/// A value that stands in the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Constant {
    Null,
    Bool(bool),
    Int(i64),
    Big(BigInt),
    Float(f64),
    Text(Name),
}

/// The name of a variable without its `$`; those that are counted are numbers, and the empty one is the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    Number(u32),
    Name(Name),
}

impl Variable {
    /// The variable of a name, with or without `$`.
    pub(crate) fn of(name: &str) -> Variable {
        let name = name.strip_prefix('$').unwrap_or(name);
        let counted = name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
        match name.parse() {
            _ if name.is_empty() => Variable::Number(1),
            Ok(number) if counted => Variable::Number(number),
            _ => Variable::Name(name.into()),
        }
    }
}

/// A call of what has a name.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: Name,
    /// The index of the name in the table of functions; `None` for an unknown name.
    pub(crate) entry: Option<usize>,
    /// The arguments in order; `None` where one is left out between commas. Rules stand among them.
    pub(crate) arguments: Vec<Option<NodeId>>,
    /// Written as `name(..)`, so that it can be a method.
    pub(crate) written: bool,
    /// The how-manieth call it is.
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

    /// All calls, in the order in which they were pushed.
    pub(crate) fn all_calls(&self) -> impl Iterator<Item = &Call> {
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
    fn a_variable_is_counted_or_named() {
        assert_eq!(Variable::of("$"), Variable::Number(1));
        assert_eq!(Variable::of("2"), Variable::Number(2));
        assert_eq!(Variable::of("$01"), Variable::Name("01".into()));
        assert_eq!(Variable::of("$x"), Variable::Name("x".into()));
        assert_eq!(Variable::of("99999999999"), Variable::Name("99999999999".into()));
    }
}
