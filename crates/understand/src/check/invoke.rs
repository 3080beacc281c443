//! Checks calls of functions of packages: the function exists, its arguments fit, and the third
//! argument is a configuration of its provider.
//!
//! In documents that are checked by type, a call is checked where its type is inferred. In others,
//! all calls are checked together, as far as literals show the types of arguments.

use std::sync::Arc;

use blueprint::{CallExpr, Expr, ExprKind, Name, PackageCall, Type, TypeId, Value};
use diag::{Diagnostic, Span, Spanned};
use dialect::Checks;
use expr::{FunctionDef, Parameter, ValueOrigin, codes as language, convert_type};
use provider::TypeRef;

use super::types::{with_article, without_none};
use super::{Checker, ExpressionContext, codes};
use crate::graph::GraphNode;

impl<'a> Checker<'a> {
    /// Checks the calls of functions of packages in a document that is not checked by type alone.
    /// In other documents, each call is checked where its type is inferred, so that no expression
    /// is walked twice.
    pub(super) fn package_functions(&mut self) {
        if self.rules.checks == Checks::BY_TYPE {
            return;
        }
        let mut calls: Vec<PackageCall<'a>> = Vec::new();
        self.blueprint.package_calls(&mut |call| calls.push(call));
        // All functions are resolved before the first call is checked: the arguments of a call may
        // have other calls.
        for (name, _) in calls.iter().filter_map(|call| call.function()) {
            self.package_function(name);
        }
        for call in calls {
            self.package_call(call, None);
        }
    }

    /// The function of a package with this name, which is resolved once.
    fn package_function(&mut self, name: &Name) -> Option<Arc<FunctionDef>> {
        let function = self.known_package_function(name)?;
        let known = self.package_functions.entry(name.clone());
        known.or_insert_with(|| function.clone());
        Some(function)
    }

    /// The function of a package with this name.
    pub(super) fn known_package_function(&self, name: &Name) -> Option<Arc<FunctionDef>> {
        if let Some(known) = self.package_functions.get(name) {
            return Some(known.clone());
        }
        let id = self.catalogs.packages().resolve(name.clone());
        match self.catalogs.package_function(&id) {
            TypeRef::Known(function) => Some(function),
            _ => None,
        }
    }

    /// Infers the type of a call of `invoke`. Reports its errors.
    pub(super) fn invoke_call(&mut self, call: &CallExpr, place: ExpressionContext<'_>) -> Type {
        self.package_call(PackageCall { call }, Some(place.guarded(false)))
    }

    /// Checks a call. `place` is `None` if the types of its arguments are not inferred.
    fn package_call(
        &mut self,
        call: PackageCall<'_>,
        place: Option<ExpressionContext<'_>>,
    ) -> Type {
        let Some((name, span)) = call.function() else {
            let argument = call.call.arguments.first().map(|argument| &argument.value);
            let mistake = language::ARGUMENT_TYPE
                .new("`invoke` needs the name of a function as a literal")
                .label(
                    argument.map_or(call.call.name_span, |argument| argument.span),
                    "the function must be known before the deployment",
                )
                .help("write the package and the function, such as `\"shop/index:getItem\"`");
            self.found.push(mistake);
            self.argument_types(call.arguments(), place);
            return Type::Error;
        };
        let id = self.catalogs.packages().resolve(name.clone());
        self.provider_argument(call, id.package_name(), place);
        let Some(function) = self.package_function(name) else {
            self.found.push(self.no_package_function(&id, span));
            self.argument_types(call.arguments(), place);
            return Type::Error;
        };
        let argument = call.arguments();
        if function.named {
            self.named_arguments(&function, argument, span, place);
        } else {
            self.positional_arguments(&function, argument, span, place);
        }
        function.returns.ty()
    }

    /// The diagnostic for a function that no package offers.
    fn no_package_function(&self, id: &TypeId, span: Span) -> Diagnostic {
        let package = id.package_name();
        match self.catalogs.package_function(id) {
            TypeRef::UnknownNamespace => codes::UNKNOWN_PROVIDER
                .new(format!("unknown provider `{package}`"))
                .label(span, format!("no provider offers functions of `{package}`"))
                .help_nearest(package, self.catalogs.namespaces()),
            TypeRef::Unavailable(why) => why.diagnostic().label(span, "a function of this package"),
            TypeRef::Known(_) | TypeRef::UnknownType => {
                let diagnostic = language::UNKNOWN_FUNCTION
                    .new(format!("unknown function `{id}`"))
                    .label(span, format!("`{package}` has no such function"));
                let offered: Vec<Name> = self
                    .catalogs
                    .of(package)
                    .into_iter()
                    .flat_map(|catalog| catalog.package_function_names())
                    .collect();
                let names = offered.iter().map(|name| name.as_ref());
                self.suggest(diagnostic, id, offered.len(), names)
            }
        }
    }

    /// Checks the third argument: a resource that configures the provider of the function.
    fn provider_argument(
        &mut self,
        call: PackageCall<'_>,
        package: &str,
        place: Option<ExpressionContext<'_>>,
    ) {
        let Some(argument) = call.provider() else {
            return;
        };
        let Some((name, span)) = call.provider_name() else {
            self.found.push(
                language::ARGUMENT_TYPE
                    .new("the third argument of `invoke` must be a resource")
                    .label(argument.span, "this is no resource")
                    .help("name a resource of type `cyan/provider`"),
            );
            return;
        };
        let name = Spanned::new(name.clone(), span);
        let own = place.and_then(|place| place.owner);
        let declared = self.blueprint.resources.get_index_of(&name.item);
        if own.is_some() && own == declared.map(|at| GraphNode::Resource(at as u32)) {
            self.found.push(
                codes::SELF_REFERENCE
                    .new(format!("`{}` reads itself", name.item))
                    .label(span, "this is the resource being defined")
                    .help("name another configuration, or none"),
            );
            return;
        }
        self.provider_for(&name, package, "function");
    }

    /// Checks the arguments of a function that takes them by name.
    fn named_arguments(
        &mut self,
        function: &FunctionDef,
        argument: Option<&Expr>,
        function_span: Span,
        place: Option<ExpressionContext<'_>>,
    ) {
        let name = &function.name;
        let ty = match argument {
            Some(argument) => without_none(&self.argument_type(argument, place)),
            None => Type::object(Vec::<(Name, Type)>::new()),
        };
        let span = argument.map_or(function_span, |argument| argument.span);
        let Type::Object(given) = &ty else {
            if !ty.is_open() && !ty.alternatives().iter().any(is_map) {
                self.found.push(
                    language::ARGUMENT_TYPE
                        .new(format!("`{name}` takes its arguments by name"))
                        .label(span, format!("this is {}", with_article(&ty)))
                        .note(function.signature())
                        .help("write a map, such as `object(name = value)`"),
                );
            }
            return;
        };
        // A misspelt required argument is one error, not two.
        let mut misspelt: Vec<&str> = Vec::new();
        for (key, ty) in &given.fields {
            let Some(parameter) = function.parameters.iter().find(|one| one.name == *key) else {
                let known = || function.parameters.iter().map(|one| one.name.as_ref());
                misspelt.extend(diag::nearest(key, known()));
                self.found.push(
                    language::UNKNOWN_FIELD
                        .new(format!("`{name}` has no argument `{key}`"))
                        .label(
                            key_span(argument, key).unwrap_or(span),
                            "the function has no such argument",
                        )
                        .help_nearest(key, known()),
                );
                continue;
            };
            let place = value_span(argument, key).unwrap_or(span);
            self.found
                .extend(wrong_argument(function, parameter, ty, place));
        }
        for parameter in function.parameters.iter().filter(|one| !one.optional) {
            let missing = !given.fields.contains_key(&parameter.name)
                && !misspelt.contains(&parameter.name.as_ref());
            if missing {
                self.found.push(
                    language::ARGUMENT_COUNT
                        .new(format!("`{name}` needs the argument `{}`", parameter.name))
                        .label(span, format!("`{}` is missing", parameter.name))
                        .note(function.signature()),
                );
            }
        }
    }

    /// Checks the arguments of a function that takes them by position.
    fn positional_arguments(
        &mut self,
        function: &FunctionDef,
        argument: Option<&Expr>,
        function_span: Span,
        place: Option<ExpressionContext<'_>>,
    ) {
        let name = &function.name;
        let span = argument.map_or(function_span, |argument| argument.span);
        // The items may be of different kinds, unlike those of other lists.
        let Some(items) = argument.map_or(Some(Vec::new()), written_items) else {
            let ty = self.argument_types(argument, place);
            let is_list = ty.is_open()
                || ty
                    .alternatives()
                    .iter()
                    .any(|ty| matches!(ty, Type::List(_)));
            if !is_list {
                self.found.push(
                    language::ARGUMENT_TYPE
                        .new(format!("`{name}` takes its arguments by position"))
                        .label(span, format!("this is {}", with_article(&ty)))
                        .note(function.signature())
                        .help("write a list, such as `list(value)`"),
                );
            }
            return;
        };
        let types: Vec<(Type, Span)> = items
            .iter()
            .map(|item| (self.argument_type(item, place), item.span))
            .collect();
        let count = types.len();
        if count < function.min_arguments
            || function.max_arguments().is_some_and(|most| count > most)
        {
            let plural = if count == 1 { "" } else { "s" };
            self.found.push(
                language::ARGUMENT_COUNT
                    .new(format!("`{name}` does not take {count} argument{plural}"))
                    .label(span, function.signature()),
            );
            return;
        }
        for (at, (ty, span)) in types.iter().enumerate() {
            let parameter = function.parameter(at);
            self.found.extend(
                parameter.and_then(|parameter| wrong_argument(function, parameter, ty, *span)),
            );
        }
    }

    fn argument_types(
        &mut self,
        argument: Option<&Expr>,
        place: Option<ExpressionContext<'_>>,
    ) -> Type {
        argument.map_or(Type::Null, |argument| self.argument_type(argument, place))
    }

    fn argument_type(&mut self, argument: &Expr, place: Option<ExpressionContext<'_>>) -> Type {
        match place {
            Some(place) => self.infer(argument, place),
            None => literal_type(argument),
        }
    }
}

/// The type of an expression as far as its literals show it.
fn literal_type(expr: &Expr) -> Type {
    match &expr.inner().kind {
        ExprKind::Literal(value) => Type::of(value),
        ExprKind::List(_) => Type::list(Type::Any),
        ExprKind::Map(entries) => Type::object(
            entries
                .iter()
                .map(|(key, value)| (key.item.clone(), literal_type(value))),
        ),
        ExprKind::Text(_) => Type::Text,
        _ => Type::Any,
    }
}

fn is_map(ty: &Type) -> bool {
    matches!(ty, Type::Map(_) | Type::Object(_))
}

/// The items of a written list; `None` if the expression is something else.
fn written_items(expr: &Expr) -> Option<Vec<&Expr>> {
    match &expr.inner().kind {
        ExprKind::List(items) => Some(items.iter().collect()),
        ExprKind::Call(call) if call.function.as_ref() == "list" => {
            Some(call.arguments.iter().map(|one| &one.value).collect())
        }
        ExprKind::Literal(Value::Null) => Some(Vec::new()),
        _ => None,
    }
}

/// The place of a key in a written map or a call of `object`.
fn key_span(expr: Option<&Expr>, key: &Name) -> Option<Span> {
    match &expr?.inner().kind {
        ExprKind::Map(entries) => {
            let mut keys = entries.iter().map(|(name, _)| name);
            keys.find(|name| name.item == *key).map(|name| name.span)
        }
        ExprKind::Call(call) => {
            let mut names = call.arguments.iter().filter_map(|one| one.name.as_ref());
            names.find(|name| name.item == *key).map(|name| name.span)
        }
        _ => None,
    }
}

/// The place of the value of a key in a written map or a call of `object`.
fn value_span(expr: Option<&Expr>, key: &Name) -> Option<Span> {
    match &expr?.inner().kind {
        ExprKind::Map(entries) => {
            let mut entries = entries.iter();
            let (_, value) = entries.find(|(name, _)| name.item == *key)?;
            Some(value.span)
        }
        ExprKind::Call(call) => {
            let is_named = |one: &&blueprint::Argument| {
                one.name.as_ref().is_some_and(|name| name.item == *key)
            };
            call.arguments
                .iter()
                .find(is_named)
                .map(|one| one.value.span)
        }
        _ => None,
    }
}

/// The diagnostic for an argument of a type that the function does not take.
fn wrong_argument(
    function: &FunctionDef,
    parameter: &Parameter,
    ty: &Type,
    span: Span,
) -> Option<Diagnostic> {
    let fits = ty.is_open()
        || *ty == Type::Null
        || convert_type(&without_none(ty), &parameter.ty, ValueOrigin::Substitution);
    (!fits).then(|| {
        language::ARGUMENT_TYPE
            .new(format!(
                "`{}` of `{}` must be {}",
                parameter.name,
                function.name,
                with_article(&parameter.ty)
            ))
            .label(span, format!("this is {}", with_article(ty)))
    })
}
