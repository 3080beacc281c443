//! The parser: its tokens, and statements. Expressions are in `expressions`.

use blueprint::Name;

use crate::ast::{
    BinaryOperator, ContextEnd, ExprForm, FunctionCode, FunctionParameter, LoadedName, NamePlace,
    StarExpr, StarFunctionBody, StarParameterKind, StarTarget, Statement, StatementForm,
};
use crate::blocks::with_blocks;
use crate::lexer::{StarToken, StarTokenKind, tokens};

/// The largest number of nested expressions and blocks.
const MAX_NESTING: usize = 200;

/// A mistake of syntax at a line of the program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SyntaxFault {
    pub(crate) line: u32,
    pub(crate) message: String,
}

/// The result of reading something.
pub(crate) type SyntaxResult<T> = Result<T, SyntaxFault>;

/// Parses a program.
///
/// # Errors
/// At the first mistake of syntax.
pub(crate) fn parse(text: &str) -> SyntaxResult<Vec<Statement>> {
    let mut parser = StarParser {
        tokens: with_blocks(tokens(text)),
        at: 0,
        nesting: 0,
    };
    parser.check_current()?;
    let mut statements = Vec::new();
    while parser.kind() != &StarTokenKind::End {
        if parser.kind() == &StarTokenKind::LineBreak {
            parser.advance()?;
            continue;
        }
        parser.statement(&mut statements)?;
    }
    Ok(statements)
}

/// The tokens of a program and the place of the next one.
pub(crate) struct StarParser {
    tokens: Vec<StarToken>,
    at: usize,
    nesting: usize,
}

impl StarParser {
    /// The next token. The last one is never passed.
    pub(crate) fn token(&self) -> &StarToken {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    /// The kind of the next token.
    pub(crate) fn kind(&self) -> &StarTokenKind {
        &self.token().kind
    }

    /// Whether the next token is a word or sign.
    pub(crate) fn is(&self, sign: &str) -> bool {
        matches!(self.kind(), StarTokenKind::Sign(own) if *own == sign)
    }

    /// Passes a token. Returns its line.
    pub(crate) fn advance(&mut self) -> SyntaxResult<u32> {
        let line = self.token().line;
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        self.check_current()?;
        Ok(line)
    }

    fn check_current(&self) -> SyntaxResult<()> {
        let token = self.token();
        match &token.kind {
            StarTokenKind::Invalid(message) => Err(SyntaxFault {
                line: token.line,
                message: message.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Passes a word or sign if it comes next.
    pub(crate) fn take(&mut self, sign: &str) -> SyntaxResult<bool> {
        let found = self.is(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Passes a word or sign that must come next. Returns its line.
    pub(crate) fn expect(&mut self, sign: &str) -> SyntaxResult<u32> {
        if self.is(sign) {
            return self.advance();
        }
        let mut message = format!("got {}, want '{sign}'", self.kind().words());
        if message == "got newline, want ':'" {
            message += " (hint: missing colon at the end of 'if/for/def' statement?)";
        }
        self.fail(message)
    }

    fn expect_kind(&mut self, kind: &StarTokenKind) -> SyntaxResult<()> {
        if self.kind() == kind {
            self.advance()?;
            return Ok(());
        }
        self.fail(format!(
            "got {}, want {}",
            self.kind().words(),
            kind.words()
        ))
    }

    /// A mistake at the next token.
    pub(crate) fn fail<T>(&self, message: impl Into<String>) -> SyntaxResult<T> {
        Err(SyntaxFault {
            line: self.token().end_line,
            message: message.into(),
        })
    }

    /// The result of `inside` one level deeper.
    pub(crate) fn nested<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> SyntaxResult<T>,
    ) -> SyntaxResult<T> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.fail(format!(
                "more than {MAX_NESTING} nested expressions or blocks"
            ));
        }
        let result = inside(self);
        self.nesting -= 1;
        result
    }

    /// An identifier.
    pub(crate) fn identifier(&mut self) -> SyntaxResult<Name> {
        if let StarTokenKind::Identifier(name) = self.kind() {
            let name = name.clone();
            self.advance()?;
            return Ok(name);
        }
        match self.kind() {
            StarTokenKind::Sign(word) if word.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                self.fail(format!(
                    "use of reserved keyword '{word}' is not allowed (expected identifier)"
                ))
            }
            _ => self.fail("not an identifier"),
        }
    }

    fn statement(&mut self, statements: &mut Vec<Statement>) -> SyntaxResult<()> {
        let line = self.token().line;
        let form = match self.kind() {
            StarTokenKind::Sign("def") => self.def()?,
            StarTokenKind::Sign("if") => self.nested(StarParser::if_statement)?,
            StarTokenKind::Sign("for") => {
                self.advance()?;
                let target = self.loop_target()?;
                self.expect("in")?;
                let items = self.expression(false)?;
                self.expect(":")?;
                StatementForm::For(target, items, self.suite()?)
            }
            StarTokenKind::Sign("while") => {
                self.advance()?;
                let condition = self.test()?;
                self.expect(":")?;
                StatementForm::While(condition, self.suite()?)
            }
            _ => return self.simple_statements(statements),
        };
        statements.push(Statement { line, form });
        Ok(())
    }

    fn def(&mut self) -> SyntaxResult<StatementForm> {
        let line = self.advance()?;
        let name = self.identifier()?;
        self.expect("(")?;
        let parameters = self.parameters()?;
        self.expect(")")?;
        self.expect(":")?;
        let body = StarFunctionBody::Block(self.suite()?);
        let target = StarTarget::Name(name.clone(), NamePlace::Unresolved);
        let code = function(name, line, parameters, body);
        Ok(StatementForm::Def(target, std::sync::Arc::new(code)))
    }

    /// `if` or `elif` with everything that belongs to it.
    fn if_statement(&mut self) -> SyntaxResult<StatementForm> {
        self.advance()?;
        let condition = self.test()?;
        self.expect(":")?;
        let then = self.suite()?;
        let line = self.token().line;
        let otherwise = if self.is("elif") {
            let form = self.nested(StarParser::if_statement)?;
            vec![Statement { line, form }]
        } else if self.take("else")? {
            self.expect(":")?;
            self.suite()?
        } else {
            Vec::new()
        };
        Ok(StatementForm::If(condition, then, otherwise))
    }

    /// The statements after a colon: a block, or some on the same line.
    fn suite(&mut self) -> SyntaxResult<Vec<Statement>> {
        let mut statements = Vec::new();
        if self.kind() != &StarTokenKind::LineBreak {
            self.simple_statements(&mut statements)?;
            return Ok(statements);
        }
        self.advance()?;
        self.expect_kind(&StarTokenKind::Indent)?;
        self.nested(|parser| {
            while !matches!(parser.kind(), StarTokenKind::Outdent | StarTokenKind::End) {
                parser.statement(&mut statements)?;
            }
            parser.expect_kind(&StarTokenKind::Outdent)
        })?;
        Ok(statements)
    }

    fn simple_statements(&mut self, statements: &mut Vec<Statement>) -> SyntaxResult<()> {
        loop {
            let line = self.token().line;
            let form = self.small_statement()?;
            statements.push(Statement { line, form });
            if !self.take(";")?
                || matches!(self.kind(), StarTokenKind::LineBreak | StarTokenKind::End)
            {
                break;
            }
        }
        if self.kind() == &StarTokenKind::End {
            return Ok(());
        }
        self.expect_kind(&StarTokenKind::LineBreak)
    }

    fn small_statement(&mut self) -> SyntaxResult<StatementForm> {
        match self.kind() {
            StarTokenKind::Sign("return") => {
                self.advance()?;
                let ends = matches!(self.kind(), StarTokenKind::LineBreak | StarTokenKind::End);
                let value = match ends || self.is(";") {
                    true => None,
                    false => Some(self.expression(false)?),
                };
                return Ok(StatementForm::Return(value, ContextEnd::Stays));
            }
            StarTokenKind::Sign("break") => {
                self.advance()?;
                return Ok(StatementForm::Break);
            }
            StarTokenKind::Sign("continue") => {
                self.advance()?;
                return Ok(StatementForm::Continue);
            }
            StarTokenKind::Sign("load") => return self.load(),
            _ => {}
        }
        let left = self.expression(false)?;
        let StarTokenKind::Sign(sign) = *self.kind() else {
            return Ok(StatementForm::Expression(left));
        };
        if sign == "=" {
            self.advance()?;
            let value = self.expression(false)?;
            return Ok(StatementForm::Assign(self.target(left)?, value));
        }
        let Some(operator) = changing_operator(sign) else {
            return Ok(StatementForm::Expression(left));
        };
        self.advance()?;
        let value = self.expression(false)?;
        match self.target(left)? {
            StarTarget::Several(..) => self.fail("can't use tuple or list in augmented assignment"),
            target => Ok(StatementForm::Change(target, operator, value)),
        }
    }

    /// An expression as something that is assigned to.
    pub(crate) fn target(&self, expr: StarExpr) -> SyntaxResult<StarTarget> {
        let line = expr.line;
        Ok(match expr.form {
            ExprForm::Name(name, place) => StarTarget::Name(name, place),
            ExprForm::Index(parts) => StarTarget::Index(parts, line),
            ExprForm::Attribute(of, name) => StarTarget::Attribute(of, name, line),
            ExprForm::Tuple(parts) | ExprForm::List(parts) if !parts.is_empty() => {
                let targets = parts.into_iter().map(|part| self.target(part));
                StarTarget::Several(targets.collect::<SyntaxResult<_>>()?, line)
            }
            _ => {
                return Err(SyntaxFault {
                    line,
                    message: "can't assign to this expression".into(),
                });
            }
        })
    }

    fn load(&mut self) -> SyntaxResult<StatementForm> {
        self.advance()?;
        self.expect("(")?;
        let StarTokenKind::Text(module) = self.kind() else {
            return self.fail("first operand of load statement must be a string literal");
        };
        let module = module.clone();
        self.advance()?;
        let mut imports = Vec::new();
        while !self.is(")") {
            self.expect(",")?;
            match self.kind() {
                StarTokenKind::Sign(")") => break,
                StarTokenKind::Text(name) => {
                    let name = name.clone();
                    self.advance()?;
                    let target = StarTarget::Name(name.clone(), NamePlace::Unresolved);
                    imports.push(LoadedName { target, name });
                }
                StarTokenKind::Identifier(own) => {
                    let target = StarTarget::Name(own.clone(), NamePlace::Unresolved);
                    self.advance()?;
                    self.expect("=")?;
                    let StarTokenKind::Text(name) = self.kind() else {
                        return self.fail("original name of loaded symbol must be quoted");
                    };
                    let name = name.clone();
                    self.advance()?;
                    imports.push(LoadedName { target, name });
                }
                other => {
                    let words = other.words();
                    return self.fail(format!(
                        "load operand must be \"name\" or localname=\"name\" (got {words})"
                    ));
                }
            }
        }
        self.expect(")")?;
        if imports.is_empty() {
            return self.fail("load statement must import at least 1 symbol");
        }
        Ok(StatementForm::Load(module, imports))
    }

    /// The parameters of a function, up to the bracket or colon behind them.
    pub(crate) fn parameters(&mut self) -> SyntaxResult<Vec<FunctionParameter>> {
        let mut parameters: Vec<FunctionParameter> = Vec::new();
        while !self.is(")") && !self.is(":") && self.kind() != &StarTokenKind::End {
            if !parameters.is_empty() {
                self.expect(",")?;
            }
            if self.is(")") {
                break;
            }
            let parameter = if self.take("**")? {
                parameter(self.identifier()?, StarParameterKind::Entries)
            } else if self.take("*")? {
                match self.kind() {
                    StarTokenKind::Identifier(_) => {
                        parameter(self.identifier()?, StarParameterKind::Items)
                    }
                    _ => parameter("*".into(), StarParameterKind::Divider),
                }
            } else {
                let name = self.identifier()?;
                match self.take("=")? {
                    true => parameter(name, StarParameterKind::Optional(self.test()?)),
                    false => parameter(name, StarParameterKind::Required),
                }
            };
            parameters.push(parameter);
        }
        Ok(parameters)
    }
}

fn parameter(name: Name, kind: StarParameterKind) -> FunctionParameter {
    FunctionParameter { name, kind }
}

/// A function whose names are not resolved yet.
pub(crate) fn function(
    name: Name,
    line: u32,
    parameters: Vec<FunctionParameter>,
    body: StarFunctionBody,
) -> FunctionCode {
    FunctionCode {
        name,
        line,
        parameters,
        body,
        locals: 0,
        names: Vec::new(),
        captures: Vec::new(),
        context: None,
    }
}

fn changing_operator(sign: &str) -> Option<BinaryOperator> {
    Some(match sign {
        "+=" => BinaryOperator::Plus,
        "-=" => BinaryOperator::Minus,
        "*=" => BinaryOperator::Star,
        "/=" => BinaryOperator::Slash,
        "//=" => BinaryOperator::DoubleSlash,
        "%=" => BinaryOperator::Percent,
        "&=" => BinaryOperator::Ampersand,
        "|=" => BinaryOperator::Pipe,
        "^=" => BinaryOperator::Caret,
        "<<=" => BinaryOperator::ShiftLeft,
        ">>=" => BinaryOperator::ShiftRight,
        _ => return None,
    })
}
