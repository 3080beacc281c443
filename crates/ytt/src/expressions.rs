//! The parser: expressions.

use std::sync::Arc;

use blueprint::Name;

use crate::ast::{
    BinaryOperator, Clause, ComprehensionBody, ComprehensionCode, ExprForm, FunctionCode,
    FunctionParameter, NamePlace, Sign, StarArgument, StarExpr, StarFunctionBody,
    StarParameterKind, StarTarget,
};
use crate::lexer::StarTokenKind;
use crate::parser::{StarParser, SyntaxFault, SyntaxResult};

/// The level of `not`.
const NOT: u8 = 2;
/// The level of comparisons, which are not chained.
const COMPARISON: u8 = 3;
/// The level after the last one of operators.
const HIGHEST: u8 = 10;

/// The largest number of operators of a level in a row.
const MAX_CHAIN: usize = 500;

/// An operator between two operands.
#[derive(Clone, Copy, PartialEq)]
enum Infix {
    And,
    Or,
    Binary(BinaryOperator),
}

/// The operator of a sign, and its level: the lowest binds least.
fn infix(sign: &str) -> Option<(Infix, u8)> {
    use BinaryOperator as B;
    Some(match sign {
        "or" => (Infix::Or, 0),
        "and" => (Infix::And, 1),
        "==" => (Infix::Binary(B::Equal), COMPARISON),
        "!=" => (Infix::Binary(B::NotEqual), COMPARISON),
        "<" => (Infix::Binary(B::Less), COMPARISON),
        ">" => (Infix::Binary(B::Greater), COMPARISON),
        "<=" => (Infix::Binary(B::LessOrEqual), COMPARISON),
        ">=" => (Infix::Binary(B::GreaterOrEqual), COMPARISON),
        "in" => (Infix::Binary(B::In), COMPARISON),
        "not" => (Infix::Binary(B::NotIn), COMPARISON),
        "|" => (Infix::Binary(B::Pipe), 4),
        "^" => (Infix::Binary(B::Caret), 5),
        "&" => (Infix::Binary(B::Ampersand), 6),
        "<<" => (Infix::Binary(B::ShiftLeft), 7),
        ">>" => (Infix::Binary(B::ShiftRight), 7),
        "+" => (Infix::Binary(B::Plus), 8),
        "-" => (Infix::Binary(B::Minus), 8),
        "*" => (Infix::Binary(B::Star), 9),
        "/" => (Infix::Binary(B::Slash), 9),
        "//" => (Infix::Binary(B::DoubleSlash), 9),
        "%" => (Infix::Binary(B::Percent), 9),
        _ => return None,
    })
}

fn made(line: u32, form: ExprForm) -> StarExpr {
    StarExpr { line, form }
}

impl StarParser {
    /// An expression, or several with commas between them as a tuple.
    pub(crate) fn expression(&mut self, in_brackets: bool) -> SyntaxResult<StarExpr> {
        let first = self.test()?;
        if !self.is(",") {
            return Ok(first);
        }
        let line = first.line;
        let items = self.more_items(vec![first], in_brackets)?;
        Ok(made(line, ExprForm::Tuple(items)))
    }

    fn more_items(
        &mut self,
        mut items: Vec<StarExpr>,
        may_end: bool,
    ) -> SyntaxResult<Vec<StarExpr>> {
        while self.is(",") {
            let line = self.advance()?;
            let ends = match self.kind() {
                StarTokenKind::End | StarTokenKind::LineBreak => true,
                StarTokenKind::Sign(sign) => matches!(*sign, "=" | "}" | "]" | ")" | ";"),
                _ => false,
            };
            if ends && !may_end {
                return Err(SyntaxFault {
                    line,
                    message: "unparenthesized tuple with trailing comma".into(),
                });
            }
            if ends {
                break;
            }
            items.push(self.test()?);
        }
        Ok(items)
    }

    /// An expression without commas.
    pub(crate) fn test(&mut self) -> SyntaxResult<StarExpr> {
        self.nested(|parser| {
            if parser.is("lambda") {
                return parser.lambda(true);
            }
            let then = parser.operation(0)?;
            if !parser.is("if") {
                return Ok(then);
            }
            let line = parser.advance()?;
            let condition = parser.operation(0)?;
            if !parser.is("else") {
                return Err(SyntaxFault {
                    line,
                    message: "conditional expression without else clause".into(),
                });
            }
            parser.advance()?;
            let otherwise = parser.test()?;
            let parts = Box::new([condition, then, otherwise]);
            Ok(made(line, ExprForm::Condition(parts)))
        })
    }

    fn test_without_condition(&mut self) -> SyntaxResult<StarExpr> {
        match self.is("lambda") {
            true => self.nested(|parser| parser.lambda(false)),
            false => self.operation(0),
        }
    }

    fn lambda(&mut self, may_have_condition: bool) -> SyntaxResult<StarExpr> {
        let line = self.advance()?;
        let parameters = self.parameters()?;
        self.expect(":")?;
        let body = match may_have_condition {
            true => self.test()?,
            false => self.test_without_condition()?,
        };
        let body = StarFunctionBody::Value(Box::new(body));
        let code = function("lambda".into(), line, parameters, body);
        Ok(made(line, ExprForm::Lambda(Arc::new(code))))
    }

    /// Operands and operators of at least a level.
    fn operation(&mut self, level: u8) -> SyntaxResult<StarExpr> {
        self.nested(|parser| parser.operation_of(level))
    }

    fn operation_of(&mut self, level: u8) -> SyntaxResult<StarExpr> {
        let mut left = if level <= NOT && self.is("not") {
            let line = self.advance()?;
            let operand = self.operation(NOT)?;
            made(line, ExprForm::Not(Box::new(operand)))
        } else {
            self.primary_with_suffixes()?
        };
        let mut compared = false;
        // `not` binds less than what may follow its operand on a higher level.
        let mut most = HIGHEST;
        for _ in 0..MAX_CHAIN {
            let StarTokenKind::Sign(sign) = *self.kind() else {
                return Ok(left);
            };
            let Some((operator, own)) = infix(sign) else {
                return Ok(left);
            };
            if own < level || own > most {
                return Ok(left);
            }
            if own == COMPARISON && compared {
                return self.fail(format!(
                    "comparisons do not associate with {sign} (use parens)"
                ));
            }
            let line = self.advance()?;
            if sign == "not" {
                self.expect("in")?;
            }
            let right = self.operation(own + 1)?;
            compared = own == COMPARISON;
            most = own;
            let parts = Box::new([left, right]);
            let form = match operator {
                Infix::And => ExprForm::And(parts),
                Infix::Or => ExprForm::Or(parts),
                Infix::Binary(operator) => ExprForm::Binary(operator, parts),
            };
            left = made(line, form);
        }
        self.fail(format!("more than {MAX_CHAIN} operators in a row"))
    }

    /// An operand with attributes, indexes and calls.
    pub(crate) fn primary_with_suffixes(&mut self) -> SyntaxResult<StarExpr> {
        let mut of = self.primary()?;
        let mut suffixes = 0;
        loop {
            let StarTokenKind::Sign(sign) = *self.kind() else {
                return Ok(of);
            };
            of = match sign {
                "." => {
                    let line = self.advance()?;
                    let name = self.identifier()?;
                    made(line, ExprForm::Attribute(Box::new(of), name))
                }
                "[" => self.index(of)?,
                "(" => {
                    let line = self.advance()?;
                    let arguments = self.arguments()?;
                    self.expect(")")?;
                    made(line, ExprForm::Call(Box::new(of), arguments))
                }
                _ => return Ok(of),
            };
            suffixes += 1;
            if suffixes > 100 {
                return self.fail("more than 100 attributes, indexes and calls in a row");
            }
        }
    }

    fn index(&mut self, of: StarExpr) -> SyntaxResult<StarExpr> {
        let line = self.advance()?;
        let mut bounds = [None, None, None];
        if !self.is(":") {
            let first = self.expression(false)?;
            if self.take("]")? {
                return Ok(made(line, ExprForm::Index(Box::new([of, first]))));
            }
            bounds[0] = Some(first);
        }
        for bound in &mut bounds[1..] {
            if self.take(":")? && !self.is(":") && !self.is("]") {
                *bound = Some(self.test()?);
            }
        }
        self.expect("]")?;
        Ok(made(line, ExprForm::Slice(Box::new(of), Box::new(bounds))))
    }

    fn arguments(&mut self) -> SyntaxResult<Vec<StarArgument>> {
        let mut arguments = Vec::new();
        while !self.is(")") && self.kind() != &StarTokenKind::End {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            if self.is(")") {
                break;
            }
            let argument = if self.take("**")? {
                StarArgument::Entries(self.test()?)
            } else if self.take("*")? {
                StarArgument::Items(self.test()?)
            } else {
                let value = self.test()?;
                if self.is("=") {
                    let ExprForm::Name(name, _) = value.form else {
                        return self.fail("keyword argument must have form name=expr");
                    };
                    self.advance()?;
                    StarArgument::Named(name, self.test()?)
                } else {
                    StarArgument::Positional(value)
                }
            };
            arguments.push(argument);
        }
        Ok(arguments)
    }

    fn primary(&mut self) -> SyntaxResult<StarExpr> {
        let line = self.token().line;
        let form = match self.kind() {
            StarTokenKind::Identifier(_) => {
                ExprForm::Name(self.identifier()?, NamePlace::Unresolved)
            }
            StarTokenKind::Int(number) => {
                let number = *number;
                self.advance()?;
                ExprForm::Int(number)
            }
            StarTokenKind::Float(number) => {
                let number = *number;
                self.advance()?;
                ExprForm::Float(number)
            }
            StarTokenKind::Text(text) => {
                let text = text.clone();
                self.advance()?;
                ExprForm::Text(text)
            }
            StarTokenKind::Sign("[") => return self.nested(|parser| parser.list(line)),
            StarTokenKind::Sign("{") => return self.nested(|parser| parser.dict(line)),
            StarTokenKind::Sign("(") => {
                self.advance()?;
                if self.take(")")? {
                    ExprForm::Tuple(Vec::new())
                } else {
                    let inner = self.nested(|parser| parser.expression(true))?;
                    self.expect(")")?;
                    return Ok(inner);
                }
            }
            StarTokenKind::Sign(sign @ ("-" | "+" | "~")) => {
                let sign = match *sign {
                    "-" => Sign::Minus,
                    "+" => Sign::Plus,
                    _ => Sign::Tilde,
                };
                self.advance()?;
                let operand = self.nested(StarParser::primary_with_suffixes)?;
                ExprForm::Sign(sign, Box::new(operand))
            }
            other => {
                let words = other.words();
                return self.fail(format!("got {words}, want primary expression"));
            }
        };
        Ok(made(line, form))
    }

    fn list(&mut self, line: u32) -> SyntaxResult<StarExpr> {
        self.advance()?;
        if self.take("]")? {
            return Ok(made(line, ExprForm::List(Vec::new())));
        }
        let first = self.test()?;
        if self.is("for") {
            let body = ComprehensionBody::Item(first);
            return self.comprehension(line, body, "]");
        }
        let items = self.more_items(vec![first], true)?;
        self.expect("]")?;
        Ok(made(line, ExprForm::List(items)))
    }

    fn dict(&mut self, line: u32) -> SyntaxResult<StarExpr> {
        self.advance()?;
        let mut entries = Vec::new();
        while !self.is("}") {
            let key = self.test()?;
            self.expect(":")?;
            let value = self.test()?;
            if entries.is_empty() && self.is("for") {
                let body = ComprehensionBody::Entry(key, value);
                return self.comprehension(line, body, "}");
            }
            entries.push((key, value));
            if !self.is("}") {
                self.expect(",")?;
            }
        }
        self.expect("}")?;
        Ok(made(line, ExprForm::Dict(entries)))
    }

    fn comprehension(
        &mut self,
        line: u32,
        body: ComprehensionBody,
        close: &str,
    ) -> SyntaxResult<StarExpr> {
        let mut clauses = Vec::new();
        while !self.is(close) {
            if self.take("for")? {
                let target = self.loop_target()?;
                self.expect("in")?;
                clauses.push(Clause::For(target, self.operation(0)?));
            } else if self.take("if")? {
                clauses.push(Clause::If(self.test_without_condition()?));
            } else {
                let words = self.kind().words();
                return self.fail(format!("got {words}, want '{close}', for, or if"));
            }
            if clauses.len() > 30 {
                return self.fail("more than 30 clauses in a comprehension");
            }
        }
        self.advance()?;
        let code = Box::new(ComprehensionCode { body, clauses });
        Ok(made(line, ExprForm::Comprehension(code)))
    }

    /// The variables of a loop.
    pub(crate) fn loop_target(&mut self) -> SyntaxResult<StarTarget> {
        let first = self.primary_with_suffixes()?;
        if !self.is(",") {
            return Ok(target(first));
        }
        let line = first.line;
        let mut items = vec![first];
        while self.take(",")? {
            if matches!(
                self.kind(),
                StarTokenKind::Sign("in" | "=" | ")" | "]" | "}")
            ) {
                break;
            }
            items.push(self.primary_with_suffixes()?);
        }
        Ok(target(made(line, ExprForm::Tuple(items))))
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

/// An expression as something that is assigned to.
pub(crate) fn target(expr: StarExpr) -> StarTarget {
    let line = expr.line;
    match expr.form {
        ExprForm::Name(name, place) => StarTarget::Name(name, place),
        ExprForm::Index(parts) => StarTarget::Index(parts, line),
        ExprForm::Attribute(of, name) => StarTarget::Attribute(of, name, line),
        ExprForm::Tuple(parts) | ExprForm::List(parts) if !parts.is_empty() => {
            StarTarget::Several(parts.into_iter().map(target).collect(), line)
        }
        _ => StarTarget::Invalid(line),
    }
}
