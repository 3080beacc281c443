//! The parser: an operator-precedence parser from tokens to a tree.

use std::ops::Range;

use blueprint::Name;

use crate::failure::{Failure, FailureKind};
use crate::functions;
use crate::lexer::{self, Lexer, Token, TokenKind};
use crate::tree::{Constant, FunctionCall, NodeId, NodeKind, Tree, Variable};

/// The deepest nesting of parentheses, brackets and prefix operators. A sequence of binary
/// operators does not count.
const DEEPEST: u32 = 200;

/// The precedence of an index.
const INDEX: u8 = 100;

/// The precedence of a binary operator, and whether it is right-associative.
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

/// The precedence of a prefix operator.
fn prefix(sign: &str) -> Option<u8> {
    match sign {
        "+" | "-" => Some(90),
        "not" => Some(40),
        _ => None,
    }
}

/// The name of the function of a binary operator.
fn function_of(sign: &str) -> Name {
    match sign {
        "=" => "*equal".into(),
        "!=" => "*not_equal".into(),
        _ => format!("#operator_{sign}").into(),
    }
}

/// The result of parsing. The failure is boxed, so that the levels of a deep expression need little
/// stack.
type Parsed<T> = Result<T, Box<Failure>>;

/// Parses a text. Fails at the first token in a wrong place.
pub(crate) fn parse(text: &str) -> Parsed<Tree> {
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    let mut parser = Parser {
        text,
        lexer,
        token,
        tree: Tree::default(),
        depth: 0,
    };
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
    /// The current token.
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
                    TokenKind::Float(value) => pycompat::float_text(*value),
                    TokenKind::Text(text) => text.clone(),
                    TokenKind::Bool(true) => "True".into(),
                    TokenKind::Bool(false) => "False".into(),
                    TokenKind::Null => "None".into(),
                    TokenKind::Call => self.text[span.start..span.end - 1].into(),
                    _ => self.text[span.clone()].into(),
                };
                let position = lexer::position(self.text, span.start);
                format!(
                    "Parse error: unexpected '{word}' at position {position} of expression '{}'",
                    self.text
                )
            }
        };
        Box::new(Failure {
            kind: FailureKind::Syntax,
            message,
            span,
            help: None,
        })
    }

    fn too_deep(&self) -> Box<Failure> {
        let span = self.token.span.clone();
        let message = format!("Expression is nested more than {DEEPEST} levels deep");
        Box::new(Failure {
            kind: FailureKind::Limit,
            message,
            span,
            help: None,
        })
    }

    /// Parses an expression of operators with a precedence above `weakest`.
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
                    left = self.combined(
                        left,
                        sign,
                        if right_leaning {
                            strength - 1
                        } else {
                            strength
                        },
                    )?;
                }
                _ => break,
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Parses an index after an expression.
    fn indexed(&mut self, left: NodeId) -> Parsed<NodeId> {
        let start = self.tree.node(left).span.start;
        self.advance()?;
        let mut arguments = self.arguments("]")?;
        arguments.insert(0, Some(left));
        let end = self.expect("]")?;
        Ok(self.call("#indexer".into(), arguments, false, start..end))
    }

    /// Parses a binary operator after an expression, with its right operand.
    fn combined(&mut self, left: NodeId, sign: &str, weakest: u8) -> Parsed<NodeId> {
        self.advance()?;
        let right = self.expression(weakest)?;
        let span = self.tree.node(left).span.start..self.tree.node(right).span.end;
        Ok(match sign {
            "." | "?." => self.tree.push(
                NodeKind::Dot {
                    left,
                    right,
                    safe: sign == "?.",
                },
                span,
            ),
            _ => self.call(
                function_of(sign),
                vec![Some(left), Some(right)],
                false,
                span,
            ),
        })
    }

    /// Parses an expression without a binary operator.
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

    /// Adds an expression of one token.
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

    /// Parses a call, after its name and parenthesis.
    fn written_call(&mut self, span: Range<usize>) -> Parsed<NodeId> {
        let arguments = self.arguments(")")?;
        let end = self.expect(")")?;
        let name = self.text[span.start..span.end - 1].into();
        Ok(self.call(name, arguments, true, span.start..end))
    }

    /// Parses an expression that begins with a sign.
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
        Ok(self.call(
            format!("#unary_operator_{sign}").into(),
            vec![Some(operand)],
            false,
            span,
        ))
    }

    fn wrapped(&mut self, start: usize) -> Parsed<NodeId> {
        self.advance()?;
        let inner = self.expression(0)?;
        let end = self.expect(")")?;
        Ok(self.tree.push(NodeKind::Wrapped(inner), start..end))
    }

    /// Parses a list or map.
    fn bracketed(&mut self, start: usize, closing: &str, name: &str) -> Parsed<NodeId> {
        self.advance()?;
        let arguments = self.arguments(closing)?;
        let end = self.expect(closing)?;
        Ok(self.call(name.into(), arguments, false, start..end))
    }

    /// Parses arguments up to a closing sign, which is not consumed. Arguments can be omitted
    /// between commas, not at the end; rules come last.
    fn arguments(&mut self, closing: &str) -> Parsed<Vec<Option<NodeId>>> {
        let mut found = Vec::new();
        if self.is_sign(closing) {
            return Ok(found);
        }
        // A rule can follow a value and at most one omitted argument, or be the first argument.
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

    /// Parses rules up to the end of the arguments, after the left side of the first rule.
    fn rules(
        &mut self,
        first: NodeId,
        mut found: Vec<Option<NodeId>>,
    ) -> Parsed<Vec<Option<NodeId>>> {
        let mut source = first;
        loop {
            self.expect("=>")?;
            let destination = self.expression(0)?;
            let span = self.tree.node(source).span.start..self.tree.node(destination).span.end;
            found.push(Some(
                self.tree.push(NodeKind::Rule(source, destination), span),
            ));
            if !self.is_sign(",") {
                return Ok(found);
            }
            self.advance()?;
            source = self.expression(0)?;
        }
    }

    fn call(
        &mut self,
        name: Name,
        arguments: Vec<Option<NodeId>>,
        written: bool,
        span: Range<usize>,
    ) -> NodeId {
        let entry = functions::entry(&name);
        let ordinal = self.tree.calls;
        self.tree.calls += 1;
        self.tree.push(
            NodeKind::Call(Box::new(FunctionCall {
                name,
                entry,
                arguments,
                written,
                ordinal,
            })),
            span,
        )
    }
}
