//! Finds the functions whose bodies make nodes: a call of one begins a context of its own, which
//! its end and its `return` statements end.
//!
//! A `return` before the first node of its function does not end the context, as in ytt.

use std::sync::Arc;

use crate::ast::{
    Clause, ComprehensionBody, ContextEnd, ExprForm, FunctionCode, NodeDialect, SET_DIALECT,
    SET_NODE, START_NODE, StarArgument, StarExpr, StarFunctionBody, StarParameterKind, Statement,
    StatementForm,
};

/// Marks the functions and `return` statements of a program.
pub(crate) fn mark(statements: &mut [Statement]) {
    let mut walk = Walk {
        makes_nodes: Vec::new(),
        dialect: NodeDialect::Yaml,
    };
    walk.block(statements);
}

struct Walk {
    /// For each open function, whether a node was seen in it.
    makes_nodes: Vec<bool>,
    dialect: NodeDialect,
}

impl Walk {
    fn block(&mut self, statements: &mut [Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        match &mut statement.form {
            StatementForm::Expression(value)
            | StatementForm::Assign(_, value)
            | StatementForm::Change(_, _, value) => self.expr(value),
            StatementForm::If(condition, then, otherwise) => {
                self.expr(condition);
                self.block(then);
                self.block(otherwise);
            }
            StatementForm::For(_, items, body) => {
                self.expr(items);
                self.block(body);
            }
            StatementForm::While(condition, body) => {
                self.expr(condition);
                self.block(body);
            }
            StatementForm::Def(_, code) => {
                if let Some(code) = Arc::get_mut(code) {
                    self.function(code);
                }
            }
            StatementForm::Return(value, end) => match self.makes_nodes.last() {
                Some(true) => *end = ContextEnd::Ends,
                Some(false) => {}
                None => value.iter().for_each(|value| self.expr(value)),
            },
            StatementForm::Break | StatementForm::Continue | StatementForm::Load(..) => {}
        }
    }

    fn function(&mut self, code: &mut FunctionCode) {
        self.makes_nodes.push(false);
        for parameter in &code.parameters {
            if let StarParameterKind::Optional(default) = &parameter.kind {
                self.expr(default);
            }
        }
        if let StarFunctionBody::Block(statements) = &mut code.body {
            self.block(statements);
        }
        if self.makes_nodes.pop() == Some(true) {
            code.context = Some(self.dialect);
        }
    }

    fn all<'a>(&mut self, exprs: impl IntoIterator<Item = &'a StarExpr>) {
        for expr in exprs {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &StarExpr) {
        match &expr.form {
            ExprForm::Name(name, _) => {
                if matches!(&**name, START_NODE | SET_NODE)
                    && let Some(last) = self.makes_nodes.last_mut()
                {
                    *last = true;
                }
            }
            ExprForm::Int(_) | ExprForm::Float(_) | ExprForm::Text(_) => {}
            ExprForm::List(items) | ExprForm::Tuple(items) => self.all(items),
            ExprForm::Dict(entries) => {
                for (key, value) in entries {
                    self.all([key, value]);
                }
            }
            ExprForm::Condition(parts) => self.all(parts.iter()),
            ExprForm::Index(parts)
            | ExprForm::And(parts)
            | ExprForm::Or(parts)
            | ExprForm::Binary(_, parts) => self.all(parts.iter()),
            ExprForm::Slice(of, bounds) => {
                self.expr(of);
                self.all(bounds.iter().flatten());
            }
            ExprForm::Attribute(of, _) | ExprForm::Not(of) | ExprForm::Sign(_, of) => {
                self.expr(of);
            }
            ExprForm::Call(function, arguments) => {
                self.call(function, arguments);
            }
            ExprForm::Lambda(code) => {
                if let StarFunctionBody::Value(value) = &code.body {
                    self.expr(value);
                }
            }
            ExprForm::Comprehension(code) => {
                for clause in &code.clauses {
                    match clause {
                        Clause::For(_, items) => self.expr(items),
                        Clause::If(condition) => self.expr(condition),
                    }
                }
                match &code.body {
                    ComprehensionBody::Item(item) => self.expr(item),
                    ComprehensionBody::Entry(key, value) => self.all([key, value]),
                }
            }
        }
    }

    fn call(&mut self, function: &StarExpr, arguments: &[StarArgument]) {
        if let ExprForm::Name(name, _) = &function.form
            && &**name == SET_DIALECT
            && let Some(StarArgument::Positional(dialect)) = arguments.first()
            && let ExprForm::Text(dialect) = &dialect.form
        {
            self.dialect = match &**dialect {
                "text" => NodeDialect::Text,
                _ => NodeDialect::Yaml,
            };
        }
        self.expr(function);
        for argument in arguments {
            match argument {
                StarArgument::Positional(value)
                | StarArgument::Named(_, value)
                | StarArgument::Items(value)
                | StarArgument::Entries(value) => self.expr(value),
            }
        }
    }
}
