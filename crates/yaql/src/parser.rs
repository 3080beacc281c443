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

/// The tree of a text. Fails at the first token that cannot stand where it does.
pub(crate) fn parse(text: &str) -> Result<Tree, Failure> {
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
    fn advance(&mut self) -> Result<Token, Failure> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.token.kind, TokenKind::Sign(found) if found == sign)
    }

    fn expect(&mut self, sign: &str) -> Result<usize, Failure> {
        if !self.is_sign(sign) {
            return Err(self.unexpected());
        }
        Ok(self.advance()?.span.end)
    }

    fn unexpected(&self) -> Failure {
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
        Failure { kind: FailureKind::Syntax, message, span, help: None }
    }

    /// An expression whose operators all bind more strongly than `weakest`.
    fn expression(&mut self, weakest: u8) -> Result<NodeId, Failure> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let span = self.token.span.clone();
            let message = format!("Expression is nested more than {DEEPEST} levels deep");
            return Err(Failure { kind: FailureKind::Limit, message, span, help: None });
        }
        let mut left = self.operand()?;
        while let TokenKind::Sign(sign) = self.token.kind {
            let start = self.tree.node(left).span.start;
            if sign == "[" && INDEX > weakest {
                self.advance()?;
                let mut arguments = vec![Some(left)];
                arguments.extend(self.arguments("]")?);
                let end = self.expect("]")?;
                left = self.call("#indexer".into(), arguments, false, start..end);
                continue;
            }
            let Some((strength, right_leaning)) = binary(sign).filter(|(strength, _)| *strength > weakest) else {
                break;
            };
            self.advance()?;
            let right = self.expression(if right_leaning { strength - 1 } else { strength })?;
            let span = start..self.tree.node(right).span.end;
            left = match sign {
                "." | "?." => self.tree.push(NodeKind::Dot { left, right, safe: sign == "?." }, span),
                _ => self.call(function_of(sign), vec![Some(left), Some(right)], false, span),
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    /// An expression without an operator between two others.
    fn operand(&mut self) -> Result<NodeId, Failure> {
        if let TokenKind::Sign(sign) = self.token.kind {
            return self.sign(sign);
        }
        if self.token.kind == TokenKind::End {
            return Err(self.unexpected());
        }
        let Token { kind, span } = self.advance()?;
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
            TokenKind::Call => {
                let arguments = self.arguments(")")?;
                let end = self.expect(")")?;
                let name = text.strip_suffix('(').unwrap_or(text).into();
                return Ok(self.call(name, arguments, true, span.start..end));
            }
            TokenKind::Null | TokenKind::Sign(_) | TokenKind::End => NodeKind::Constant(Constant::Null),
        };
        Ok(self.tree.push(kind, span))
    }

    /// An expression that begins with a sign.
    fn sign(&mut self, sign: &'static str) -> Result<NodeId, Failure> {
        let start = self.token.span.start;
        if let Some(strength) = prefix(sign) {
            self.advance()?;
            let operand = self.expression(strength)?;
            let span = start..self.tree.node(operand).span.end;
            return Ok(self.call(format!("#unary_operator_{sign}").into(), vec![Some(operand)], false, span));
        }
        let (closing, name) = match sign {
            "(" => {
                self.advance()?;
                let inner = self.expression(0)?;
                let end = self.expect(")")?;
                return Ok(self.tree.push(NodeKind::Wrapped(inner), start..end));
            }
            "[" => ("]", "#list"),
            "{" => ("}", "#map"),
            _ => return Err(self.unexpected()),
        };
        self.advance()?;
        let arguments = self.arguments(closing)?;
        let end = self.expect(closing)?;
        Ok(self.call(name.into(), arguments, false, start..end))
    }

    /// Arguments up to a closing sign, which stays. Some may be left out between commas, not at the end; rules come last.
    fn arguments(&mut self, closing: &str) -> Result<Vec<Option<NodeId>>, Failure> {
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
    fn rules(&mut self, first: NodeId, mut found: Vec<Option<NodeId>>) -> Result<Vec<Option<NodeId>>, Failure> {
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
        let overloads = functions::overloads(&name);
        let ordinal = self.tree.calls;
        self.tree.calls += 1;
        self.tree.push(NodeKind::Call(Box::new(Call { name, overloads, arguments, written, ordinal })), span)
    }
}
