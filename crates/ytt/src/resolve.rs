//! Finds the variable that each name stands for, and the mistakes that need no evaluation.

use std::collections::HashMap;
use std::sync::Arc;

use blueprint::Name;

use crate::ast::{
    Clause, ComprehensionBody, ComprehensionCode, ExprForm, FunctionCode, NamePlace, StarArgument,
    StarExpr, StarFunctionBody, StarParameterKind, StarProgram, StarTarget, Statement,
    StatementForm,
};
use crate::parser::{SyntaxFault, SyntaxResult};

/// Resolves the names of a program. `is_universal` knows the names that every program has.
///
/// # Errors
/// At the first name without a meaning, or statement that is not allowed at its place.
pub(crate) fn resolve(
    mut statements: Vec<Statement>,
    is_universal: fn(&str) -> bool,
) -> SyntaxResult<StarProgram> {
    let mut resolver = Resolver {
        functions: vec![FunctionScope::default()],
        globals: HashMap::new(),
        global_names: Vec::new(),
        is_universal,
        loops: 0,
        undefined: None,
        undefined_inside: None,
    };
    let mut names = Vec::new();
    bound_names(&statements, &mut names);
    for name in names {
        if !resolver.globals.contains_key(&name) {
            resolver
                .globals
                .insert(name.clone(), resolver.global_names.len());
            resolver.global_names.push(name);
        }
    }
    let result = resolver.block(&mut statements);
    if let Some(fault) = resolver.undefined {
        return Err(fault);
    }
    result?;
    if let Some(fault) = resolver.undefined_inside {
        return Err(fault);
    }
    let locals = resolver
        .functions
        .first()
        .map_or(0, |scope| scope.names.len());
    Ok(StarProgram {
        statements,
        globals: resolver.global_names,
        locals,
    })
}

/// The variables of a function.
#[derive(Default)]
struct FunctionScope {
    names: Vec<Name>,
    locals: HashMap<Name, usize>,
    /// The variables of the open comprehensions.
    blocks: Vec<HashMap<Name, usize>>,
    captured: Vec<(Name, NamePlace)>,
}

impl FunctionScope {
    fn add(&mut self, name: &Name) -> usize {
        self.names.push(name.clone());
        self.names.len() - 1
    }

    fn add_local(&mut self, name: &Name) {
        if !self.locals.contains_key(name) {
            let at = self.add(name);
            self.locals.insert(name.clone(), at);
        }
    }

    fn own(&self, name: &str) -> Option<usize> {
        let blocks = self.blocks.iter().rev();
        let mut scopes = blocks.chain([&self.locals]);
        scopes.find_map(|scope| scope.get(name)).copied()
    }
}

struct Resolver {
    /// The open functions; the first is the program itself.
    functions: Vec<FunctionScope>,
    globals: HashMap<Name, usize>,
    global_names: Vec<Name>,
    is_universal: fn(&str) -> bool,
    loops: u32,
    /// The first name without a meaning outside of functions and comprehensions.
    undefined: Option<SyntaxFault>,
    /// The first one inside: it is reported if there is no other mistake.
    undefined_inside: Option<SyntaxFault>,
}

fn mistake<T>(line: u32, message: impl Into<String>) -> SyntaxResult<T> {
    Err(SyntaxFault {
        line,
        message: message.into(),
    })
}

impl Resolver {
    fn scope(&mut self) -> &mut FunctionScope {
        if self.functions.is_empty() {
            self.functions.push(FunctionScope::default());
        }
        let last = self.functions.len() - 1;
        &mut self.functions[last]
    }

    fn find(&mut self, level: usize, name: &Name) -> Option<NamePlace> {
        if let Some(at) = self.functions[level].own(name) {
            return Some(NamePlace::Local(at));
        }
        if level == 0 {
            return None;
        }
        let known = self.functions[level].captured.iter();
        if let Some(at) = known
            .map(|(known, _)| known)
            .position(|known| known == name)
        {
            return Some(NamePlace::Captured(at));
        }
        let place = self.find(level - 1, name)?;
        let captured = &mut self.functions[level].captured;
        captured.push((name.clone(), place));
        Some(NamePlace::Captured(captured.len() - 1))
    }

    fn place(&mut self, name: &Name, line: u32) -> SyntaxResult<NamePlace> {
        if let Some(place) = self.find(self.functions.len() - 1, name) {
            return Ok(place);
        }
        if let Some(at) = self.globals.get(name) {
            return Ok(NamePlace::Global(*at));
        }
        if (self.is_universal)(name) {
            return Ok(NamePlace::Universal);
        }
        let hint = match &**name {
            "true" => " (hint: use 'True' instead of 'true' for boolean assignment)",
            "false" => " (hint: use 'False' instead of 'false' for boolean assignment)",
            "null" | "nil" | "none" => " (hint: use 'None' to indicate no value)",
            _ => "",
        };
        let fault = SyntaxFault {
            line,
            message: format!("undefined: {name}{hint}"),
        };
        let is_outside = self.functions.len() == 1 && self.scope().blocks.is_empty();
        let first = match is_outside {
            true => &mut self.undefined,
            false => &mut self.undefined_inside,
        };
        first.get_or_insert(fault);
        Ok(NamePlace::Universal)
    }

    fn block(&mut self, statements: &mut [Statement]) -> SyntaxResult<()> {
        statements
            .iter_mut()
            .try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &mut Statement) -> SyntaxResult<()> {
        let line = statement.line;
        match &mut statement.form {
            StatementForm::Expression(value) => self.expr(value),
            StatementForm::Assign(target, value) => {
                self.expr(value)?;
                self.target(target, line)
            }
            StatementForm::Change(target, _, value) => {
                self.expr(value)?;
                self.target(target, line)
            }
            StatementForm::If(condition, then, otherwise) => {
                self.expr(condition)?;
                self.block(then)?;
                self.block(otherwise)?;
                Ok(())
            }
            StatementForm::For(target, items, body) => {
                self.expr(items)?;
                self.target(target, line)?;
                self.loop_body(body)
            }
            StatementForm::While(condition, body) => {
                self.expr(condition)?;
                self.loop_body(body)
            }
            StatementForm::Def(target, code) => {
                self.target(target, line)?;
                match Arc::get_mut(code) {
                    Some(code) => self.function(code),
                    None => Ok(()),
                }
            }
            StatementForm::Return(value, _) => {
                if self.functions.len() < 2 {
                    return mistake(line, "return statement not within a function");
                }
                value.iter_mut().try_for_each(|value| self.expr(value))
            }
            StatementForm::Break if self.loops == 0 => mistake(line, "break not in a loop"),
            StatementForm::Continue if self.loops == 0 => mistake(line, "continue not in a loop"),
            StatementForm::Break | StatementForm::Continue => Ok(()),
            StatementForm::Load(_, imports) => {
                if self.functions.len() > 1 {
                    return mistake(line, "load statement within a function");
                }
                for import in imports {
                    if import.name.starts_with('_') {
                        let words = "names with leading underscores are not exported";
                        return mistake(line, format!("load: {words}: {}", import.name));
                    }
                    self.target(&mut import.target, line)?;
                }
                Ok(())
            }
        }
    }

    fn loop_body(&mut self, body: &mut [Statement]) -> SyntaxResult<()> {
        self.loops += 1;
        self.block(body)?;
        self.loops -= 1;
        Ok(())
    }

    fn target(&mut self, target: &mut StarTarget, line: u32) -> SyntaxResult<()> {
        match target {
            StarTarget::Name(name, place) => {
                *place = self.place(name, line)?;
                Ok(())
            }
            StarTarget::Index(parts, _) => parts.iter_mut().try_for_each(|part| self.expr(part)),
            StarTarget::Attribute(of, ..) => self.expr(of),
            StarTarget::Invalid(line) => mistake(*line, "can't assign to this expression"),
            StarTarget::Several(targets, _) => targets
                .iter_mut()
                .try_for_each(|target| self.target(target, line)),
        }
    }

    fn function(&mut self, code: &mut FunctionCode) -> SyntaxResult<()> {
        let mut scope = FunctionScope::default();
        let (mut optional, mut named_only, mut ended) = (false, false, false);
        for parameter in &mut code.parameters {
            if ended {
                return mistake(code.line, "no parameter may follow **kwargs");
            }
            ended = matches!(parameter.kind, StarParameterKind::Entries);
            match &mut parameter.kind {
                StarParameterKind::Optional(default) => {
                    self.expr(default)?;
                    optional = true;
                }
                StarParameterKind::Required if optional && !named_only => {
                    return mistake(code.line, "required parameter may not follow optional");
                }
                StarParameterKind::Items | StarParameterKind::Divider => named_only = true,
                _ => {}
            }
            if scope.locals.contains_key(&parameter.name) {
                return mistake(
                    code.line,
                    format!("duplicate parameter: {}", parameter.name),
                );
            }
            scope.add_local(&parameter.name);
        }
        if let StarFunctionBody::Block(statements) = &code.body {
            let mut names = Vec::new();
            bound_names(statements, &mut names);
            names.iter().for_each(|name| scope.add_local(name));
        }
        self.functions.push(scope);
        let outside = std::mem::take(&mut self.loops);
        match &mut code.body {
            StarFunctionBody::Block(statements) => self.block(statements)?,
            StarFunctionBody::Value(value) => self.expr(value)?,
        }
        self.loops = outside;
        let scope = self.functions.pop().unwrap_or_default();
        code.locals = scope.names.len();
        code.names = scope.names;
        code.captures = scope.captured.into_iter().map(|(_, place)| place).collect();
        Ok(())
    }

    fn expr(&mut self, expr: &mut StarExpr) -> SyntaxResult<()> {
        let line = expr.line;
        match &mut expr.form {
            ExprForm::Name(name, place) => {
                *place = self.place(name, line)?;
                Ok(())
            }
            ExprForm::Int(_) | ExprForm::Float(_) | ExprForm::Text(_) => Ok(()),
            ExprForm::List(items) | ExprForm::Tuple(items) => {
                items.iter_mut().try_for_each(|item| self.expr(item))
            }
            ExprForm::Dict(entries) => entries.iter_mut().try_for_each(|(key, value)| {
                self.expr(key)?;
                self.expr(value)
            }),
            ExprForm::Condition(parts) => parts.iter_mut().try_for_each(|part| self.expr(part)),
            ExprForm::Index(parts)
            | ExprForm::And(parts)
            | ExprForm::Or(parts)
            | ExprForm::Binary(_, parts) => parts.iter_mut().try_for_each(|part| self.expr(part)),
            ExprForm::Slice(of, bounds) => {
                self.expr(of)?;
                bounds
                    .iter_mut()
                    .flatten()
                    .try_for_each(|part| self.expr(part))
            }
            ExprForm::Attribute(of, _) | ExprForm::Not(of) | ExprForm::Sign(_, of) => self.expr(of),
            ExprForm::Call(function, arguments) => {
                self.expr(function)?;
                self.arguments(arguments, line)
            }
            ExprForm::Lambda(code) => match Arc::get_mut(code) {
                Some(code) => self.function(code),
                None => Ok(()),
            },
            ExprForm::Comprehension(code) => self.comprehension(code, line),
        }
    }

    fn arguments(&mut self, arguments: &mut [StarArgument], line: u32) -> SyntaxResult<()> {
        let mut names: Vec<Name> = Vec::new();
        for argument in arguments {
            match argument {
                StarArgument::Positional(value) => {
                    if !names.is_empty() {
                        return mistake(line, "positional argument may not follow named");
                    }
                    self.expr(value)?;
                }
                StarArgument::Named(name, value) => {
                    if names.contains(name) {
                        return mistake(line, format!("keyword argument {name} repeated"));
                    }
                    names.push(name.clone());
                    self.expr(value)?;
                }
                StarArgument::Items(value) | StarArgument::Entries(value) => self.expr(value)?,
            }
        }
        Ok(())
    }

    fn comprehension(&mut self, code: &mut ComprehensionCode, line: u32) -> SyntaxResult<()> {
        for (at, clause) in code.clauses.iter_mut().enumerate() {
            match clause {
                Clause::For(target, items) => {
                    self.expr(items)?;
                    // The first operand of `in` belongs to the block around.
                    if at == 0 {
                        self.scope().blocks.push(HashMap::new());
                    }
                    let mut names = Vec::new();
                    target_names(target, &mut names);
                    for name in names {
                        let scope = self.scope();
                        let place = scope.add(&name);
                        if let Some(block) = scope.blocks.last_mut() {
                            block.insert(name, place);
                        }
                    }
                    self.target(target, line)?;
                }
                Clause::If(condition) => self.expr(condition)?,
            }
        }
        match &mut code.body {
            ComprehensionBody::Item(item) => self.expr(item)?,
            ComprehensionBody::Entry(key, value) => {
                self.expr(key)?;
                self.expr(value)?;
            }
        }
        self.scope().blocks.pop();
        Ok(())
    }
}

/// Adds the names that the statements of a function assign to.
fn bound_names(statements: &[Statement], names: &mut Vec<Name>) {
    for statement in statements {
        match &statement.form {
            StatementForm::Assign(target, _)
            | StatementForm::Change(target, ..)
            | StatementForm::Def(target, _) => target_names(target, names),
            StatementForm::If(_, then, otherwise) => {
                bound_names(then, names);
                bound_names(otherwise, names);
            }
            StatementForm::For(target, _, body) => {
                target_names(target, names);
                bound_names(body, names);
            }
            StatementForm::While(_, body) => bound_names(body, names),
            StatementForm::Load(_, imports) => {
                for import in imports {
                    target_names(&import.target, names);
                }
            }
            _ => {}
        }
    }
}

fn target_names(target: &StarTarget, names: &mut Vec<Name>) {
    match target {
        StarTarget::Name(name, _) => names.push(name.clone()),
        StarTarget::Several(targets, _) => {
            targets
                .iter()
                .for_each(|target| target_names(target, names));
        }
        StarTarget::Index(..) | StarTarget::Attribute(..) | StarTarget::Invalid(_) => {}
    }
}
