//! Parts of documents that this version checks but cannot carry out: each gets one diagnostic, and no plan is made.

use blueprint::{ExprKind, Timeouts};
use diag::{Diagnostics, Span};
use expr::{FunctionTable, Purity};

use crate::check::Checked;
use crate::codes;

/// Reports every part of a document that needs something that is not built yet.
pub(super) fn refuse(checked: &Checked, functions: &FunctionTable, found: &mut Diagnostics) {
    let blueprint = &checked.blueprint;
    let mut refuse = |span: Span, what: String| {
        found.push(
            codes::UNSUPPORTED_FEATURE
                .new(format!("{what} cannot be carried out yet"))
                .label(span, "needs a later version of cyan"),
        );
    };
    for (name, child) in &blueprint.children {
        refuse(child.span, format!("the child document `{name}`"));
    }
    for (name, resource) in &blueprint.resources {
        if let Some(selector) = &resource.link_selector {
            refuse(selector.span, format!("the links of `{name}`"));
        }
        let lifecycle = &resource.lifecycle;
        if lifecycle.timeouts != Timeouts::default() {
            refuse(resource.span, format!("the time limits of `{name}`"));
        }
    }
    let mut calls = |expr: &blueprint::Expr| {
        expr.walk(&mut |expr| {
            if let ExprKind::Call(call) = &expr.kind
                && matches!(functions.get(&call.function).map(|function| &function.purity), Some(Purity::Link))
            {
                refuse(call.name_span, format!("the function `{}`", call.function));
            }
        });
    };
    for local in blueprint.locals.values() {
        calls(&local.value);
    }
    for resource in blueprint.resources.values() {
        calls(&resource.spec);
        resource.condition.as_deref().into_iter().for_each(&mut calls);
        resource.each.iter().for_each(|each| calls(&each.list));
        resource.metadata.annotations.iter().for_each(|(_, expr)| calls(expr));
    }
    for data_source in blueprint.data_sources.values() {
        data_source.filters.iter().for_each(|filter| calls(&filter.search));
    }
}
