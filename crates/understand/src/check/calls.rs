//! Checks calls: the function exists, and the number and types of the arguments fit
//! (decisions/functions#conventions).
//!
//! The parameters of functions are data. Code here names only functions with rules about several
//! arguments. Functions as arguments are in `callbacks`.

use blueprint::{Argument, CallExpr, INVOKE, IndexMap, Name, Type, Value};
use diag::{Diagnostic, Span, Spanned};
use dialect::{WordPlace, codes as document};
use expr::{FunctionDef, Returns, codes as language};

use super::types::{function_as_value, joined, with_article};
use super::{Checker, ExpressionContext};

impl Checker<'_> {
    /// Infers the type of a call. Reports its errors; the type is then [`Type::Error`].
    pub(super) fn call(
        &mut self,
        call: &CallExpr,
        span: Span,
        place: ExpressionContext<'_>,
    ) -> Type {
        let functions = self.functions;
        let Some(function) = functions.get(&call.function) else {
            self.found
                .push(self.unknown_function(&call.function, call.name_span));
            self.all_arguments(call, place);
            return Type::Error;
        };
        if function.named {
            return self.named_call(function, call, place);
        }
        let given = call.arguments.len();
        if given < function.min_arguments
            || function.max_arguments().is_some_and(|most| given > most)
        {
            self.found.push(wrong_count(function, call));
            self.all_arguments(call, place);
            return Type::Error;
        }
        if function.name.as_ref() == "link" {
            return self.link_call(call, span, place);
        }
        if function.name.as_ref() == INVOKE {
            return self.invoke_call(call, place);
        }
        if is_chain(function) {
            self.chain(function, call, place);
            return Type::Function;
        }
        let mut types = Vec::with_capacity(given);
        let mut failed = false;
        let mut refused = false;
        for (at, argument) in call.arguments.iter().enumerate() {
            let Some(parameter) = function.parameter(at) else {
                continue;
            };
            if parameter.callback.is_some() || parameter.ty == Type::Function {
                let item = types.first().and_then(item_type);
                self.callback(function, parameter, &argument.value, item.as_ref(), place);
                types.push(Type::Function);
                continue;
            }
            let ty = self.infer(&argument.value, place.guarded(parameter.absent_as_none));
            failed |= ty == Type::Error;
            if !accepts(&parameter.ty, &ty) {
                // Report only one wrong argument per call: `lt("a", "b")` is a wrong choice of
                // function.
                if !refused {
                    self.found
                        .push(wrong_argument(function, at, &ty, &argument.value));
                }
                (failed, refused) = (true, true);
            }
            types.push(ty);
        }
        if failed {
            // A result type that does not depend on the arguments is still known.
            return match &function.returns {
                Returns::Type(_) if function.returned_function.is_some() => Type::Function,
                _ => Type::Error,
            };
        }
        if let Some(diagnostic) = check_argument_rules(function, call, &types, span) {
            self.found.push(diagnostic);
            return Type::Error;
        }
        if function.returned_function.is_some() {
            return Type::Function;
        }
        match &function.returns {
            Returns::Rule(rule) => rule(&types),
            fixed => fixed.ty(),
        }
    }

    /// Checks a call with named arguments: `object` (decisions/blueprint#named-arguments).
    fn named_call(
        &mut self,
        function: &FunctionDef,
        call: &CallExpr,
        place: ExpressionContext<'_>,
    ) -> Type {
        let mut fields: IndexMap<Name, Type> =
            IndexMap::with_capacity_and_hasher(call.arguments.len(), Default::default());
        let mut failed = false;
        for argument in &call.arguments {
            let ty = self.infer(&argument.value, place.guarded(false));
            match &argument.name {
                Some(name) if fields.contains_key(&name.item) => {
                    failed = true;
                    self.found.push(self.repeated_argument(name, call));
                }
                Some(name) => {
                    fields.insert(name.item.clone(), ty);
                }
                None => {
                    failed = true;
                    if ty != Type::Error {
                        self.found.push(
                            language::ARGUMENT_TYPE
                                .new(format!("`{}` takes entries with names", function.name))
                                .label(argument.value.span, "this has no name")
                                .help(format!("write `{}(name = value)`", function.name)),
                        );
                    }
                }
            }
        }
        if failed {
            Type::Error
        } else {
            Type::object(fields)
        }
    }

    /// The diagnostic for a repeated argument name.
    fn repeated_argument(&self, name: &Spanned<Name>, call: &CallExpr) -> Diagnostic {
        let diagnostic = document::DUPLICATE_KEY
            .new(format!("the entry `{}` is written twice", name.item))
            .label(name.span, "ignored");
        match call
            .arguments
            .iter()
            .filter_map(|argument| argument.name.as_ref())
            .find(|first| first.item == name.item)
        {
            Some(first) => diagnostic.label(first.span, "used, because it is the first"),
            None => diagnostic,
        }
    }

    /// Reports the errors in the arguments of a call that is itself wrong. The arguments may be
    /// functions.
    fn all_arguments(&mut self, call: &CallExpr, place: ExpressionContext<'_>) {
        for Argument { value, .. } in &call.arguments {
            let bare_function = match &value.kind {
                blueprint::ExprKind::Ref(reference) => {
                    matches!(&reference.head, blueprint::ReferenceHead::Resource { name, bare: true } if self.functions.get(name).is_some())
                }
                _ => false,
            };
            if !bare_function {
                self.infer_any(value, place.guarded(true));
            }
        }
    }

    /// Checks the condition of `if`: a boolean or `none`.
    pub(super) fn choice_condition(&mut self, ty: &Type, span: Span) {
        if !accepts(&Type::Bool, ty) {
            self.found.push(
                language::ARGUMENT_TYPE
                    .new("the condition of `if` must be a boolean")
                    .label(span, format!("this is {}", with_article(ty)))
                    .help("compare it, for instance with `eq(..)`"),
            );
        }
    }

    /// The diagnostic for an unknown function.
    pub(super) fn unknown_function(&self, name: &str, span: Span) -> Diagnostic {
        let diagnostic = language::UNKNOWN_FUNCTION
            .new(format!("unknown function `{name}`"))
            .label(span, "no function has this name");
        if let Some(row) = self.rules.words.find(WordPlace::Function, name) {
            return match self.functions.get(row.ours) {
                Some(_) => diagnostic.fix(row.help, vec![(span, row.ours.to_owned())], false),
                None => diagnostic.help(row.help),
            };
        }
        let count = self.functions.names().count();
        let diagnostic = self.suggest(diagnostic, name, count, self.functions.names());
        match diagnostic.help.is_empty() {
            true => diagnostic.help("`cyan functions` lists the functions"),
            false => diagnostic,
        }
    }
}

/// Whether a parameter accepts an argument of a type. Only an integer for a float may differ.
/// `none` is always accepted: it propagates, or the function has its own rule for it.
pub(super) fn accepts(wanted: &Type, given: &Type) -> bool {
    if wanted.is_open() || given.is_open() {
        return true;
    }
    given.alternatives().iter().any(|given| {
        *given == Type::Null
            || wanted
                .alternatives()
                .iter()
                .any(|wanted| match (wanted, given) {
                    (Type::Float, Type::Int) => true,
                    (Type::List(wanted), Type::List(given)) => accepts(wanted, given),
                    (Type::Map(wanted), Type::Map(given)) => accepts(wanted, given),
                    (wanted, given) => wanted.overlaps(given),
                })
    })
}

/// Checks the rules about several arguments.
fn check_argument_rules(
    function: &FunctionDef,
    call: &CallExpr,
    types: &[Type],
    span: Span,
) -> Option<Diagnostic> {
    match (function.name.as_ref(), types) {
        ("list", _) => mixed_list(call, types),
        ("eq", [a, b]) => incomparable(call, a, b, span),
        ("compare", [a, b]) => (!comparable(a, b)).then(|| {
            wrong_kind(
                call,
                1,
                format!(
                    "`compare` takes two numbers or two texts, and the first is {}",
                    with_article(a)
                ),
                b,
            )
        }),
        ("contains", [Type::Text, needle]) => (!accepts(&Type::Text, needle))
            .then(|| wrong_kind(call, 1, "text contains only text".into(), needle)),
        _ => None,
    }
}

/// Checks that the items of a list have one kind; integers and floats may mix
/// (decisions/blueprint#time-format-and-mixed-lists).
fn mixed_list(call: &CallExpr, types: &[Type]) -> Option<Diagnostic> {
    let mut first: Option<(usize, ComparedKind)> = None;
    for (at, ty) in types.iter().enumerate() {
        let Some(kind) = kind_of(ty) else { continue };
        match first {
            None => first = Some((at, kind)),
            Some((before, wanted)) if wanted != kind => {
                return Some(
                    language::MIXED_LIST
                        .new("items of different kinds in one list")
                        .label(
                            call.arguments[at].value.span,
                            format!("this is {}", with_article(ty)),
                        )
                        .label(
                            call.arguments[before].value.span,
                            format!("this is {}", with_article(&types[before])),
                        )
                        .help("make all items of one kind"),
                );
            }
            Some(_) => {}
        }
    }
    None
}

fn incomparable(call: &CallExpr, a: &Type, b: &Type, span: Span) -> Option<Diagnostic> {
    if let Some(at) = [a, b].iter().position(|ty| **ty == Type::Function) {
        return Some(function_as_value(&call.arguments[at].value));
    }
    let different = matches!((kind_of(a), kind_of(b)), (Some(a), Some(b)) if a != b);
    different.then(|| {
        language::INCOMPARABLE
            .new(format!(
                "{} never equals {}",
                with_article(a),
                with_article(b)
            ))
            .label(span, "these are of different kinds")
            .help("convert one side first")
    })
}

/// Whether two values can be ordered: both are numbers or both are text.
fn comparable(a: &Type, b: &Type) -> bool {
    match (kind_of(a), kind_of(b)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// The kinds that must agree among items and in comparisons.
#[derive(Clone, Copy, PartialEq)]
enum ComparedKind {
    Boolean,
    Number,
    Text,
    Bytes,
    List,
    Map,
}

/// The kind of a type; `None` if it is open, `none`, or has several kinds.
fn kind_of(ty: &Type) -> Option<ComparedKind> {
    match ty {
        Type::Bool => Some(ComparedKind::Boolean),
        Type::Int | Type::Float => Some(ComparedKind::Number),
        Type::Text => Some(ComparedKind::Text),
        Type::Bytes => Some(ComparedKind::Bytes),
        Type::List(_) => Some(ComparedKind::List),
        Type::Map(_) | Type::Object(_) => Some(ComparedKind::Map),
        Type::Union(types) => {
            let mut kinds = types.iter().filter(|ty| **ty != Type::Null).map(kind_of);
            let first = kinds.next()??;
            kinds.all(|kind| kind == Some(first)).then_some(first)
        }
        Type::Any | Type::Null | Type::Function | Type::Error => None,
    }
}

fn wrong_kind(call: &CallExpr, at: usize, message: String, ty: &Type) -> Diagnostic {
    language::ARGUMENT_TYPE.new(message).label(
        call.arguments[at].value.span,
        format!("this is {}", with_article(ty)),
    )
}

/// The type of the items that a list passes to a function.
fn item_type(list: &Type) -> Option<Type> {
    let items: Vec<Type> = list
        .alternatives()
        .iter()
        .filter_map(|ty| match ty {
            Type::List(item) => Some(item.as_ref().clone()),
            _ => None,
        })
        .collect();
    (!items.is_empty()).then(|| joined(items))
}

fn wrong_count(function: &FunctionDef, call: &CallExpr) -> Diagnostic {
    let takes = match function.max_arguments() {
        Some(most) if most == function.min_arguments => format!("{most}"),
        Some(most) => format!("{} to {most}", function.min_arguments),
        None => format!("at least {}", function.min_arguments),
    };
    let given = call.arguments.len();
    language::ARGUMENT_COUNT
        .new(format!(
            "`{}` takes {takes} argument{}, not {given}",
            function.name,
            if takes == "1" || takes == "at least 1" {
                ""
            } else {
                "s"
            }
        ))
        .label(call.name_span, function.signature())
}

fn wrong_argument(
    function: &FunctionDef,
    at: usize,
    ty: &Type,
    expr: &blueprint::Expr,
) -> Diagnostic {
    let (name, wanted) = function.parameter(at).map_or(("", Type::Any), |parameter| {
        (parameter.name.as_ref(), parameter.ty.clone())
    });
    let diagnostic = language::ARGUMENT_TYPE
        .new(format!(
            "`{name}` of `{}` must be {}",
            function.name,
            with_article(&wanted)
        ))
        .label(expr.span, format!("this is {}", with_article(ty)));
    let is = |wanted: fn(&Type) -> bool| ty.alternatives().iter().all(wanted);
    if matches!(function.name.as_ref(), "and" | "or") {
        return diagnostic
            .help("use `coalesce(..)` for a fallback; `and` and `or` are about booleans");
    }
    if is(|ty| matches!(ty, Type::List(_) | Type::Map(_) | Type::Object(_)))
        && accepts(&wanted, &Type::Text)
    {
        return diagnostic.help("turn it into text with `jsonencode(..)`");
    }
    let diagnostic = diagnostic.help(format!("it is called as `{}`", function.signature()));
    if let Some(Value::Text(text)) = expr.as_literal() {
        return match expr::parse_as(text, &wanted) {
            Some(_) => diagnostic.fix(
                format!("write `{}`, without quotes", text.trim()),
                vec![(expr.span, text.trim().to_owned())],
                false,
            ),
            None => diagnostic,
        };
    }
    if is(|ty| *ty == Type::Text) {
        return diagnostic.help("if the text is JSON, decode it with `jsondecode(..)`");
    }
    diagnostic
}

/// Whether a function composes functions.
pub(super) fn is_chain(def: &FunctionDef) -> bool {
    matches!(def.name.as_ref(), "compose" | "pipe")
}
