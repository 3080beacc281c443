//! The syntax tree of a program. Lines are those of the program, not of the template.

use std::sync::Arc;

use blueprint::Name;

/// An expression and the line at which its mistakes are reported.
#[derive(Clone, Debug)]
pub(crate) struct StarExpr {
    pub(crate) line: u32,
    pub(crate) form: ExprForm,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub(crate) enum ExprForm {
    Name(Name, NamePlace),
    Int(i128),
    Float(f64),
    Text(Name),
    List(Vec<StarExpr>),
    Tuple(Vec<StarExpr>),
    Dict(Vec<(StarExpr, StarExpr)>),
    Condition(Box<[StarExpr; 3]>),
    Index(Box<[StarExpr; 2]>),
    Slice(Box<StarExpr>, Box<[Option<StarExpr>; 3]>),
    Attribute(Box<StarExpr>, Name),
    Call(Box<StarExpr>, Vec<StarArgument>),
    Not(Box<StarExpr>),
    Sign(Sign, Box<StarExpr>),
    And(Box<[StarExpr; 2]>),
    Or(Box<[StarExpr; 2]>),
    Binary(BinaryOperator, Box<[StarExpr; 2]>),
    Lambda(Arc<FunctionCode>),
    Comprehension(Box<ComprehensionCode>),
}

/// Where a name is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamePlace {
    /// Not resolved yet.
    Unresolved,
    /// A variable of the function.
    Local(usize),
    /// A variable of a function around, by its place among the captured ones.
    Captured(usize),
    /// A variable of the template.
    Global(usize),
    /// A function or constant that every program has.
    Universal,
}

/// The operators before one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Plus,
    Minus,
    Tilde,
}

/// The operators between two operands that are always both evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOperator {
    Equal,
    NotEqual,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
    In,
    NotIn,
    Pipe,
    Caret,
    Ampersand,
    ShiftLeft,
    ShiftRight,
    Plus,
    Minus,
    Star,
    Slash,
    DoubleSlash,
    Percent,
}

impl BinaryOperator {
    /// The operator as it is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::Less => "<",
            BinaryOperator::Greater => ">",
            BinaryOperator::LessOrEqual => "<=",
            BinaryOperator::GreaterOrEqual => ">=",
            BinaryOperator::In => "in",
            BinaryOperator::NotIn => "not in",
            BinaryOperator::Pipe => "|",
            BinaryOperator::Caret => "^",
            BinaryOperator::Ampersand => "&",
            BinaryOperator::ShiftLeft => "<<",
            BinaryOperator::ShiftRight => ">>",
            BinaryOperator::Plus => "+",
            BinaryOperator::Minus => "-",
            BinaryOperator::Star => "*",
            BinaryOperator::Slash => "/",
            BinaryOperator::DoubleSlash => "//",
            BinaryOperator::Percent => "%",
        }
    }
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub(crate) enum StarArgument {
    Positional(StarExpr),
    Named(Name, StarExpr),
    /// `*items`
    Items(StarExpr),
    /// `**entries`
    Entries(StarExpr),
}

/// A comprehension of a list or dict.
#[derive(Clone, Debug)]
pub(crate) struct ComprehensionCode {
    /// The item, or the key and value.
    pub(crate) body: ComprehensionBody,
    pub(crate) clauses: Vec<Clause>,
}

/// What a comprehension makes in each round.
#[derive(Clone, Debug)]
pub(crate) enum ComprehensionBody {
    Item(StarExpr),
    Entry(StarExpr, StarExpr),
}

/// A clause of a comprehension.
#[derive(Clone, Debug)]
pub(crate) enum Clause {
    For(StarTarget, StarExpr),
    If(StarExpr),
}

/// What is assigned to.
#[derive(Clone, Debug)]
pub(crate) enum StarTarget {
    Name(Name, NamePlace),
    Index(Box<[StarExpr; 2]>, u32),
    Attribute(Box<StarExpr>, Name, u32),
    /// `a, b` or `[a, b]`
    Several(Vec<StarTarget>, u32),
    /// Something that cannot be assigned to, at a line.
    Invalid(u32),
}

/// A statement and its line.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) line: u32,
    pub(crate) form: StatementForm,
}

/// The forms of statements.
#[derive(Clone, Debug)]
pub(crate) enum StatementForm {
    Expression(StarExpr),
    Assign(StarTarget, StarExpr),
    /// `target OP= value`
    Change(StarTarget, BinaryOperator, StarExpr),
    If(StarExpr, Vec<Statement>, Vec<Statement>),
    For(StarTarget, StarExpr, Vec<Statement>),
    While(StarExpr, Vec<Statement>),
    Def(StarTarget, Arc<FunctionCode>),
    Return(Option<StarExpr>, ContextEnd),
    Break,
    Continue,
    Load(Name, Vec<LoadedName>),
}

/// Whether a `return` ends the template context of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContextEnd {
    Stays,
    Ends,
}

/// A name of a module and the variable that gets it.
#[derive(Clone, Debug)]
pub(crate) struct LoadedName {
    pub(crate) target: StarTarget,
    pub(crate) name: Name,
}

/// A function or lambda.
#[derive(Clone, Debug)]
pub(crate) struct FunctionCode {
    pub(crate) name: Name,
    pub(crate) line: u32,
    pub(crate) parameters: Vec<FunctionParameter>,
    pub(crate) body: StarFunctionBody,
    /// The number of variables, parameters first.
    pub(crate) locals: usize,
    /// The names of the variables.
    pub(crate) names: Vec<Name>,
    /// The variables of the functions around that it captures, as places in the function around.
    pub(crate) captures: Vec<NamePlace>,
    /// The kind of nodes that its body makes, if any.
    pub(crate) context: Option<NodeDialect>,
}

/// The kinds of template contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeDialect {
    Yaml,
    Text,
}

/// What a function does.
#[derive(Clone, Debug)]
pub(crate) enum StarFunctionBody {
    Block(Vec<Statement>),
    Value(Box<StarExpr>),
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub(crate) struct FunctionParameter {
    pub(crate) name: Name,
    pub(crate) kind: StarParameterKind,
}

/// The kinds of parameters.
#[derive(Clone, Debug)]
pub(crate) enum StarParameterKind {
    Required,
    Optional(StarExpr),
    /// `*args`
    Items,
    /// `*` alone: named parameters follow.
    Divider,
    /// `**kwargs`
    Entries,
}

/// A whole program.
#[derive(Clone, Debug)]
pub(crate) struct StarProgram {
    pub(crate) statements: Vec<Statement>,
    /// The names of the global variables.
    pub(crate) globals: Vec<Name>,
    /// The number of variables of comprehensions outside of functions.
    pub(crate) locals: usize,
}

/// The name of an instruction that only the compiler writes.
pub(crate) const INSTRUCTION: &str = "__ytt_tpl_";

/// The instruction that names the dialect of the following nodes.
pub(crate) const SET_DIALECT: &str = "__ytt_tpl_set_ctx_type";
/// The instruction that begins a context.
pub(crate) const START_CONTEXT: &str = "__ytt_tpl_start_ctx";
/// The instruction that ends a context.
pub(crate) const END_CONTEXT: &str = "__ytt_tpl_end_ctx";
/// The instruction that annotates the next node.
pub(crate) const ANNOTATE: &str = "__ytt_tpl_start_node_annotation";
/// The instruction that collects the arguments of an annotation.
pub(crate) const COLLECT: &str = "__ytt_tpl_collect_node_annotation";
/// The instruction that begins a node.
pub(crate) const START_NODE: &str = "__ytt_tpl_start_node";
/// The instruction that sets the value of the current node.
pub(crate) const SET_NODE: &str = "__ytt_tpl_set_node";
/// The instruction that sets the key of the next node.
pub(crate) const SET_KEY: &str = "__ytt_tpl_set_map_item_key";
