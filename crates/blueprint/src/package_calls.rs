//! Calls of functions of packages: `invoke("package/token", arguments, provider)`.
//!
//! Not here: the functions that a package offers (`provider`), the values of arguments (`expr`).

use diag::Span;

use crate::{
    Blueprint, CallExpr, Child, Expr, ExprKind, Name, ReferenceHead, Resource, ResourceMetadata,
    TypeId, Value,
};

/// The function of the expression language that calls a function of a package. Every dialect lowers
/// its calls of such functions to it.
pub const INVOKE: &str = "invoke";

/// A call of a function of a package.
#[derive(Clone, Copy, Debug)]
pub struct PackageCall<'b> {
    /// The call of [`INVOKE`].
    pub call: &'b CallExpr,
}

impl<'b> PackageCall<'b> {
    /// The call of a package's function that a call of the language makes, if it makes one.
    pub fn of(call: &'b CallExpr) -> Option<PackageCall<'b>> {
        (call.function.as_ref() == INVOKE).then_some(PackageCall { call })
    }

    /// The function as `package/token`, and its place. `None` if it is not a literal.
    pub fn function(self) -> Option<(&'b Name, Span)> {
        let argument = &self.call.arguments.first()?.value;
        match argument.inner().as_literal()? {
            Value::Text(name) => Some((name, argument.span)),
            _ => None,
        }
    }

    /// The arguments of the function.
    pub fn arguments(self) -> Option<&'b Expr> {
        self.call.arguments.get(1).map(|argument| &argument.value)
    }

    /// The expression that names the resource with the configuration of the provider.
    pub fn provider(self) -> Option<&'b Expr> {
        let argument = &self.call.arguments.get(2)?.value;
        let is_none = argument.inner().as_literal().is_some_and(Value::is_null);
        (!is_none).then_some(argument)
    }

    /// The resource with the configuration of the provider, if the argument is a reference to it.
    pub fn provider_name(self) -> Option<(&'b Name, Span)> {
        let argument = self.provider()?;
        match &argument.inner().kind {
            ExprKind::Ref(reference) if reference.path.is_empty() => match &reference.head {
                ReferenceHead::Resource { name, .. } => Some((name, reference.head_span)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Blueprint {
    /// The packages whose functions the expressions call, each once, in the order of their calls.
    pub fn called_packages(&self) -> Vec<Name> {
        let mut packages: Vec<Name> = Vec::new();
        self.package_calls(&mut |call| {
            let Some((name, _)) = call.function() else {
                return;
            };
            let id = TypeId::parse(name.clone());
            if !packages
                .iter()
                .any(|known| known.as_ref() == id.package_name())
            {
                packages.push(id.package_name().into());
            }
        });
        packages
    }

    /// Visits the calls of functions of packages in all expressions.
    pub fn package_calls<'b>(&'b self, visit: &mut impl FnMut(PackageCall<'b>)) {
        self.expressions(&mut |expr| {
            expr.walk(&mut |part| {
                if let ExprKind::Call(call) = &part.kind
                    && let Some(call) = PackageCall::of(call)
                {
                    visit(call);
                }
            });
        });
    }

    /// Visits all expressions of the elements, without their subexpressions.
    pub fn expressions<'b>(&'b self, visit: &mut impl FnMut(&'b Expr)) {
        for local in self.locals.values() {
            visit(&local.value);
            local.description.iter().for_each(&mut *visit);
        }
        for source in self.data_sources.values() {
            source
                .filters
                .iter()
                .for_each(|filter| visit(&filter.search));
            metadata(&source.metadata, visit);
            source.exports.values().for_each(|export| {
                export.description.iter().for_each(&mut *visit);
            });
            source.description.iter().for_each(&mut *visit);
        }
        for resource in self.resources.values() {
            of_resource(resource, visit);
        }
        for child in self.children.values() {
            of_child(child, visit);
        }
        for export in self.exports.values() {
            visit(&export.field);
            export.description.iter().for_each(&mut *visit);
        }
        self.metadata.iter().for_each(visit);
    }
}

fn of_resource<'b>(resource: &'b Resource, visit: &mut impl FnMut(&'b Expr)) {
    if let Some(each) = &resource.each {
        visit(&each.list);
        each.key.iter().for_each(&mut *visit);
    }
    visit(&resource.spec);
    let others = [
        &resource.condition,
        &resource.protection,
        &resource.removal,
        &resource.update_policy,
        &resource.external,
        &resource.switched_off,
        &resource.computed,
        &resource.description,
    ];
    others
        .into_iter()
        .flatten()
        .for_each(|expr| visit(expr.as_ref()));
    metadata(&resource.metadata, visit);
}

fn of_child<'b>(child: &'b Child, visit: &mut impl FnMut(&'b Expr)) {
    visit(&child.path);
    child.inputs.iter().for_each(|(_, value)| visit(value));
    let source = child.source.iter().flat_map(|source| &source.entries);
    source.for_each(|(_, value)| visit(value));
    child.condition.iter().for_each(&mut *visit);
    child.removal.iter().for_each(|expr| visit(expr));
    if let Some(expansion) = &child.expansion {
        visit(&expansion.spec);
        visit(&expansion.member);
        expansion.policy.iter().for_each(&mut *visit);
    }
    child.description.iter().for_each(visit);
}

fn metadata<'b>(metadata: &'b ResourceMetadata, visit: &mut impl FnMut(&'b Expr)) {
    metadata.display_name.iter().for_each(&mut *visit);
    metadata
        .annotations
        .iter()
        .for_each(|(_, value)| visit(value));
    metadata.custom.iter().for_each(&mut *visit);
    let trigger = metadata.replacement_trigger.as_deref();
    trigger.into_iter().for_each(visit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Argument, Export, Type};

    fn call(function: &str, name: &str) -> Expr {
        let value = Expr::literal(Value::text(name), Span::NONE);
        let call = CallExpr {
            function: function.into(),
            name_span: Span::NONE,
            arguments: vec![Argument { name: None, value }],
        };
        Expr::new(ExprKind::Call(Box::new(call)), Span::NONE)
    }

    #[test]
    fn packages_of_calls_are_listed_once() {
        let calls = vec![
            call(INVOKE, "shop/index:getItem"),
            call("uppercase", "town/index:getStreet"),
            call(INVOKE, "time/rfc3339_parse"),
            call(INVOKE, "shop/index:getPrice"),
        ];
        let export = Export {
            span: Span::NONE,
            ty: Type::Any,
            field: Expr::new(ExprKind::List(calls), Span::NONE),
            may_fail: false,
            hidden: false,
            by_entry: false,
            description: None,
        };
        let mut blueprint = Blueprint::default();
        blueprint.exports.insert("all".into(), export);
        assert_eq!(
            blueprint.called_packages(),
            [Name::from("shop"), Name::from("time")]
        );
    }
}
