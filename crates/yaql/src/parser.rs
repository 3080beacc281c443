//! Tokens to a tree, by the strength of operators.

use std::ops::Range;

use blueprint::Name;

use crate::failure::{Failure, FailureKind};
use crate::functions;
use crate::lexer::{self, Lexer, Token, TokenKind};
use crate::tree::{Call, Constant, NodeId, NodeKind, Tree, Variable};

/// How deeply parentheses, brackets and signs before an expression may be nested. Operators that stand in a row do not count.
const DEEPEST: u32 = 200;

/// How strongly an index binds to what stands before it.
const INDEX: u8 = 100;

/// How strongly an operator between two expressions binds, and whether it leans to the right.
fn binary(sign: &str) -> Option<(u8, bool)> {
    Some(match sign {
        "." | "?." => (110, false),
        "=~" | "!~" => (80, false),
        "*" | "/" | "mod" => (70, false),
        "+" | "-" => (60, false),
        ">" | "<" | ">=" | "<=" | "!=" | "=" | "in" => (50, false),
        "and" => (30, false),
        "or" => (20, false),
        "->" => (10, true),
        _ => return None,
    })
}

/// How strongly a sign before an expression binds.
fn prefix(sign: &str) -> Option<u8> {
    match sign {
        "+" | "-" => Some(90),
        "not" => Some(40),
        _ => None,
    }
}

/// The name under which the function of an operator between two expressions is kept.
fn function_of(sign: &str) -> Name {
    match sign {
        "=" => "*equal".into(),
        "!=" => "*not_equal".into(),
        _ => format!("#operator_{sign}").into(),
    }
}

/// A part of a tree. The failure is in a box, so that the levels of a deep expression take little room on the stack.
type Parsed<T> = Result<T, Box<Failure>>;

/// The tree of a text. Fails at the first token that cannot stand where it does.
pub(crate) fn parse(text: &str) -> Parsed<Tree> {
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    let mut parser = Parser { text, lexer, token, tree: Tree::default(), depth: 0 };
    let root = parser.expression(0)?;
    if parser.token.kind != TokenKind::End {
        return Err(parser.unexpected());
    }
    let mut tree = parser.tree;
    tree.root = root;
    Ok(tree)
}

struct Parser<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    /// The token that is looked at.
    token: Token,
    tree: Tree,
    depth: u32,
}

impl Parser<'_> {
    fn advance(&mut self) -> Parsed<Token> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.token.kind, TokenKind::Sign(found) if found == sign)
    }

    fn expect(&mut self, sign: &str) -> Parsed<usize> {
        if !self.is_sign(sign) {
            return Err(self.unexpected());
        }
        Ok(self.advance()?.span.end)
    }

    fn unexpected(&self) -> Box<Failure> {
        let span = self.token.span.clone();
        let message = match &self.token.kind {
            TokenKind::End => "Parse error: unexpected end of statement".to_owned(),
            kind => {
                let word = match kind {
                    TokenKind::Integer(value) => value.to_string(),
                    TokenKind::Float(value) => python::float_text(*value),
                    TokenKind::Text(text) => text.clone(),
                    TokenKind::Bool(true) => "True".into(),
                    TokenKind::Bool(false) => "False".into(),
                    TokenKind::Null => "None".into(),
                    TokenKind::Call => self.text[span.start..span.end - 1].into(),
                    _ => self.text[span.clone()].into(),
                };
                let position = lexer::position(self.text, span.start);
                format!("Parse error: unexpected '{word}' at position {position} of expression '{}'", self.text)
            }
        };
        Box::new(Failure { kind: FailureKind::Syntax, message, span, help: None })
    }

    fn too_deep(&self) -> Box<Failure> {
        let span = self.token.span.clone();
        let message = format!("Expression is nested more than {DEEPEST} levels deep");
        Box::new(Failure { kind: FailureKind::Limit, message, span, help: None })
    }

    /// An expression whose operators all bind more strongly than `weakest`.
    fn expression(&mut self, weakest: u8) -> Parsed<NodeId> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.too_deep());
        }
        let mut left = self.operand()?;
        while let TokenKind::Sign(sign) = self.token.kind {
            if sign == "[" && INDEX > weakest {
                left = self.indexed(left)?;
                continue;
            }
            match binary(sign) {
                Some((strength, right_leaning)) if strength > weakest => {
                    left = self.combined(left, sign, if right_leaning { strength - 1 } else { strength })?;
                }
                _ => break,
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    /// An index behind an expression.
    fn indexed(&mut self, left: NodeId) -> Parsed<NodeId> {
        let start = self.tree.node(left).span.start;
        self.advance()?;
        let mut arguments = self.arguments("]")?;
        arguments.insert(0, Some(left));
        let end = self.expect("]")?;
        Ok(self.call("#indexer".into(), arguments, false, start..end))
    }

    /// An operator behind an expression, and what stands behind that.
    fn combined(&mut self, left: NodeId, sign: &str, weakest: u8) -> Parsed<NodeId> {
        self.advance()?;
        let right = self.expression(weakest)?;
        let span = self.tree.node(left).span.start..self.tree.node(right).span.end;
        Ok(match sign {
            "." | "?." => self.tree.push(NodeKind::Dot { left, right, safe: sign == "?." }, span),
            _ => self.call(function_of(sign), vec![Some(left), Some(right)], false, span),
        })
    }

    /// An expression without an operator between two others.
    fn operand(&mut self) -> Parsed<NodeId> {
        if let TokenKind::Sign(sign) = self.token.kind {
            return self.sign(sign);
        }
        if self.token.kind == TokenKind::End {
            return Err(self.unexpected());
        }
        let Token { kind, span } = self.advance()?;
        if kind == TokenKind::Call {
            return self.written_call(span);
        }
        Ok(self.leaf(kind, span))
    }

    /// An expression of one token.
    fn leaf(&mut self, kind: TokenKind, span: Range<usize>) -> NodeId {
        let text = &self.text[span.clone()];
        let kind = match kind {
            TokenKind::Integer(value) => NodeKind::Constant(match i64::try_from(&value) {
                Ok(value) => Constant::Int(value),
                Err(_) => Constant::Big(value),
            }),
            TokenKind::Float(value) => NodeKind::Constant(Constant::Float(value)),
            TokenKind::Text(text) => NodeKind::Constant(Constant::Text(text.into())),
            TokenKind::Bool(value) => NodeKind::Constant(Constant::Bool(value)),
            TokenKind::Word => NodeKind::Word(text.into()),
            TokenKind::Variable => NodeKind::Variable(Variable::of(text)),
            _ => NodeKind::Constant(Constant::Null),
        };
        self.tree.push(kind, span)
    }

    /// A call, its name and parenthesis read already.
    fn written_call(&mut self, span: Range<usize>) -> Parsed<NodeId> {
        let arguments = self.arguments(")")?;
        let end = self.expect(")")?;
        let name = self.text[span.start..span.end - 1].into();
        Ok(self.call(name, arguments, true, span.start..end))
    }

    /// An expression that begins with a sign.
    fn sign(&mut self, sign: &'static str) -> Parsed<NodeId> {
        let start = self.token.span.start;
        if let Some(strength) = prefix(sign) {
            return self.prefixed(sign, strength, start);
        }
        match sign {
            "(" => self.wrapped(start),
            "[" => self.bracketed(start, "]", "#list"),
            "{" => self.bracketed(start, "}", "#map"),
            _ => Err(self.unexpected()),
        }
    }

    fn prefixed(&mut self, sign: &str, strength: u8, start: usize) -> Parsed<NodeId> {
        self.advance()?;
        let operand = self.expression(strength)?;
        let span = start..self.tree.node(operand).span.end;
        Ok(self.call(format!("#unary_operator_{sign}").into(), vec![Some(operand)], false, span))
    }

    fn wrapped(&mut self, start: usize) -> Parsed<NodeId> {
        self.advance()?;
        let inner = self.expression(0)?;
        let end = self.expect(")")?;
        Ok(self.tree.push(NodeKind::Wrapped(inner), start..end))
    }

    /// A list or map.
    fn bracketed(&mut self, start: usize, closing: &str, name: &str) -> Parsed<NodeId> {
        self.advance()?;
        let arguments = self.arguments(closing)?;
        let end = self.expect(closing)?;
        Ok(self.call(name.into(), arguments, false, start..end))
    }

    /// Arguments up to a closing sign, which stays. Some may be left out between commas, not at the end; rules come last.
    fn arguments(&mut self, closing: &str) -> Parsed<Vec<Option<NodeId>>> {
        let mut found = Vec::new();
        if self.is_sign(closing) {
            return Ok(found);
        }
        // A rule may follow a value and at most one argument that is left out, or be the first of all.
        let (mut values, mut left_out) = (0, 0);
        loop {
            if self.is_sign(",") {
                self.advance()?;
                found.push(None);
                left_out += 1;
                continue;
            }
            let value = self.expression(0)?;
            if self.is_sign("=>") && (found.is_empty() || (values > 0 && left_out <= 1)) {
                return self.rules(value, found);
            }
            found.push(Some(value));
            values += 1;
            left_out = 0;
            if !self.is_sign(",") {
                return Ok(found);
            }
            self.advance()?;
        }
    }

    /// Rules up to the end of the arguments, the left side of the first read already.
    fn rules(&mut self, first: NodeId, mut found: Vec<Option<NodeId>>) -> Parsed<Vec<Option<NodeId>>> {
        let mut source = first;
        loop {
            self.expect("=>")?;
            let destination = self.expression(0)?;
            let span = self.tree.node(source).span.start..self.tree.node(destination).span.end;
            found.push(Some(self.tree.push(NodeKind::Rule(source, destination), span)));
            if !self.is_sign(",") {
                return Ok(found);
            }
            self.advance()?;
            source = self.expression(0)?;
        }
    }

    fn call(&mut self, name: Name, arguments: Vec<Option<NodeId>>, written: bool, span: Range<usize>) -> NodeId {
        let entry = functions::entry(&name);
        let ordinal = self.tree.calls;
        self.tree.calls += 1;
        self.tree.push(NodeKind::Call(Box::new(Call { name, entry, arguments, written, ordinal })), span)
    }
}
