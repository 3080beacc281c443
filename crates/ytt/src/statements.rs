//! The parser: statements.

use std::sync::Arc;

use crate::ast::{
    BinaryOperator, ContextEnd, LoadedName, NamePlace, StarFunctionBody, StarTarget, Statement,
    StatementForm,
};
use crate::expressions::{function, target};
use crate::lexer::StarTokenKind;
use crate::parser::{StarParser, SyntaxResult};

/// Parses a program.
///
/// # Errors
/// At the first mistake of syntax.
pub(crate) fn parse(text: &str) -> SyntaxResult<Vec<Statement>> {
    let mut parser = StarParser::new(text)?;
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

impl StarParser {
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
        Ok(StatementForm::Def(target, Arc::new(code)))
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
            return Ok(StatementForm::Assign(target(left), value));
        }
        let Some(operator) = changing_operator(sign) else {
            return Ok(StatementForm::Expression(left));
        };
        self.advance()?;
        let value = self.expression(false)?;
        match target(left) {
            StarTarget::Several(..) => self.fail("can't use tuple or list in augmented assignment"),
            target => Ok(StatementForm::Change(target, operator, value)),
        }
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
