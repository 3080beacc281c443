//! Checks that a function argument fits its future calls
//! (decisions/functions#functions-that-take-functions): the number of arguments, and their types as
//! far as they are known.
//!
//! Not here: the results of the function (the evaluator reports `callback-result` with the item's
//! position).

use blueprint::{CallExpr, Expr, ExprKind, ReferenceHead, Type};
use diag::{Code, Diagnostic};
use expr::{Callback, FunctionDef, Parameter, codes as language};

use super::calls::{accepts, is_chain};
use super::types::with_article;
use super::{Checker, ExpressionContext, codes};

/// The known ways to call a function value.
struct CallShape {
    least: usize,
    most: Option<usize>,
    /// Whether the function accepts a position as an additional argument.
    takes_index: bool,
    parameters: Vec<Type>,
    returns: Type,
    name: String,
}

impl CallShape {
    /// The shape of a function about which nothing is known.
    fn open() -> CallShape {
        CallShape {
            least: 0,
            most: None,
            takes_index: false,
            parameters: Vec::new(),
            returns: Type::Any,
            name: String::new(),
        }
    }
}

impl Checker<'_> {
    /// Checks an argument that must be a function. `item` is the type of the last argument that the
    /// function will receive.
    pub(super) fn callback(
        &mut self,
        function: &FunctionDef,
        parameter: &Parameter,
        expr: &Expr,
        item: Option<&Type>,
        place: ExpressionContext<'_>,
    ) {
        let Some(shape) = self.shape(function, expr, place) else {
            return;
        };
        let Some(callback) = &parameter.callback else {
            return;
        };
        if let Some((code, problem)) = misfit(&shape, callback, item) {
            self.found.push(problem_at(code, problem, expr, function));
        }
    }

    /// Checks the functions of `compose` and `pipe`: the result of each must fit the next.
    pub(super) fn chain(
        &mut self,
        function: &FunctionDef,
        call: &CallExpr,
        place: ExpressionContext<'_>,
    ) {
        let mut shapes: Vec<Option<CallShape>> = call
            .arguments
            .iter()
            .map(|argument| self.shape(function, &argument.value, place))
            .collect();
        let mut order: Vec<usize> = (0..shapes.len()).collect();
        if function.name.as_ref() == "compose" {
            order.reverse();
        }
        for pair in order.windows(2) {
            let (Some(first), Some(second)) = (shapes[pair[0]].take(), &shapes[pair[1]]) else {
                continue;
            };
            let passed = Callback {
                parameters: vec![first.returns.clone()],
                returns: Type::Any,
                index: false,
            };
            if let Some((_, problem)) = misfit(second, &passed, Some(&first.returns)) {
                let expr = &call.arguments[pair[1]].value;
                self.found.push(problem_at(
                    &language::CALLBACK_TYPE,
                    problem,
                    expr,
                    function,
                ));
            }
        }
    }

    /// The shape of a function argument. Reports an argument that is not a function.
    fn shape(
        &mut self,
        function: &FunctionDef,
        expr: &Expr,
        place: ExpressionContext<'_>,
    ) -> Option<CallShape> {
        let functions = self.functions;
        let name = match &expr.kind {
            ExprKind::Function(name) => Some((name, expr.span)),
            // A bare name means a function first (decisions/blueprint#bare-names).
            ExprKind::Ref(reference) if reference.path.is_empty() => match &reference.head {
                ReferenceHead::Resource { name, bare: true } => Some((name, reference.head_span)),
                _ => None,
            },
            _ => None,
        };
        if let Some((name, span)) = name {
            let declared = self.blueprint.resources.contains_key(name);
            if let Some(def) = functions.get(name) {
                if declared {
                    self.found.push(
                        codes::AMBIGUOUS_NAME
                            .new(format!("`{name}` is a function and a resource"))
                            .label(span, "taken as the function, because one is needed here")
                            .help(format!("write `resources.{name}` for the resource")),
                    );
                }
                self.resolve_function(&def.name, span, Type::Function);
                return Some(shape_of(def));
            }
            if !declared {
                self.found.push(self.unknown_function(name, span));
                return None;
            }
        }
        if let ExprKind::Call(call) = &expr.kind
            && let Some(def) = functions.get(&call.function)
        {
            let ty = self.infer_any(expr, place);
            if ty == Type::Function {
                return Some(self.called(def, call));
            }
            return self.function_or_report(function, expr, &ty);
        }
        let ty = self.infer_any(expr, place);
        self.function_or_report(function, expr, &ty)
    }

    fn function_or_report(
        &mut self,
        function: &FunctionDef,
        expr: &Expr,
        ty: &Type,
    ) -> Option<CallShape> {
        if ty
            .alternatives()
            .iter()
            .any(|ty| ty.is_open() || *ty == Type::Function)
        {
            return None;
        }
        self.found.push(
            language::ARGUMENT_TYPE
                .new(format!("`{}` takes a function here", function.name))
                .label(expr.span, format!("this is {}", with_article(ty)))
                .help(
                    "name a function, such as `to_upper`, or make one, such as `getattr(\"name\")`",
                ),
        );
        None
    }

    /// The shape of the function that a call returns.
    fn called(&self, def: &FunctionDef, call: &CallExpr) -> CallShape {
        if let Some(gives) = &def.returned_function
            && !is_chain(def)
        {
            return CallShape {
                least: gives.parameters.len(),
                most: Some(gives.parameters.len()),
                takes_index: false,
                parameters: gives.parameters.clone(),
                returns: gives.returns.clone(),
                name: format!("{}(..)", def.name),
            };
        }
        if !is_chain(def) {
            return CallShape::open();
        }
        // The composition takes the arguments of the function that is applied first, and returns
        // the result of the one that is applied last.
        let mut first = call.arguments.first();
        let mut last = call.arguments.last();
        if def.name.as_ref() == "compose" {
            std::mem::swap(&mut first, &mut last);
        }
        let known = |argument: Option<&blueprint::Argument>| {
            argument
                .and_then(|argument| self.quiet_shape(&argument.value))
                .unwrap_or_else(CallShape::open)
        };
        let first = known(first);
        let last = known(last);
        CallShape {
            returns: last.returns,
            name: format!("{}(..)", def.name),
            ..first
        }
    }

    /// Like [`Self::shape`], without reporting errors, for an argument that is already checked.
    fn quiet_shape(&self, expr: &Expr) -> Option<CallShape> {
        match &expr.kind {
            ExprKind::Function(name) => self.functions.get(name).map(shape_of),
            ExprKind::Ref(reference) => match &reference.head {
                ReferenceHead::Resource { name, bare: true } if reference.path.is_empty() => {
                    self.functions.get(name).map(shape_of)
                }
                _ => None,
            },
            ExprKind::Call(call) => self
                .functions
                .get(&call.function)
                .map(|def| self.called(def, call)),
            _ => None,
        }
    }
}

fn shape_of(def: &FunctionDef) -> CallShape {
    let mut parameters: Vec<Type> = def
        .parameters
        .iter()
        .map(|parameter| parameter.ty.clone())
        .collect();
    parameters.extend(def.rest.iter().map(|rest| rest.ty.clone()));
    let returns = def.returns.ty();
    CallShape {
        least: def.min_arguments,
        most: def.max_arguments(),
        takes_index: def.takes_index,
        parameters,
        returns,
        name: def.name.to_string(),
    }
}

/// The reason why a function does not fit its future calls; `None` if it fits.
fn misfit(
    shape: &CallShape,
    callback: &Callback,
    item: Option<&Type>,
) -> Option<(&'static Code, String)> {
    let offered = callback.parameters.len();
    let given = offered + usize::from(callback.index && shape.takes_index);
    if given < shape.least || shape.most.is_some_and(|most| given > most) {
        let takes = match shape.most {
            Some(most) if most == shape.least => most.to_string(),
            Some(most) => format!("{} to {most}", shape.least),
            None => format!("at least {}", shape.least),
        };
        return Some((
            &language::CALLBACK_TYPE,
            format!("`{}` takes {takes} and will be given {given}", shape.name),
        ));
    }
    // The item is the last argument before a position.
    let item = item?;
    let wanted = shape.parameters.get(offered.checked_sub(1)?)?;
    if accepts(wanted, item) {
        return None;
    }
    Some((
        &language::ARGUMENT_TYPE,
        format!(
            "`{}` takes {} and will be given {}",
            shape.name,
            with_article(wanted),
            with_article(item)
        ),
    ))
}

fn problem_at(
    code: &'static Code,
    problem: String,
    expr: &Expr,
    function: &FunctionDef,
) -> Diagnostic {
    code.new(format!(
        "the function does not fit what `{}` does with it",
        function.name
    ))
    .label(expr.span, problem)
}
