//! Parts of documents that this version checks but cannot carry out: each gets one diagnostic, and no plan is made.

use diag::{Diagnostics, Span};

use crate::codes;
use understand::check::Checked;

/// Reports every part of a document that needs something that is not built yet.
pub(crate) fn refuse(checked: &Checked, found: &mut Diagnostics) {
    let blueprint = &checked.blueprint;
    let mut refuse = |span: Span, what: String| {
        found.push(
            codes::UNSUPPORTED_FEATURE
                .new(format!("{what} cannot be carried out yet"))
                .label(span, "needs a later version of cyan"),
        );
    };
    if checked.rules.children.are_decided_early() {
        return;
    }
    for (name, child) in &blueprint.children {
        if child.condition.is_some() {
            refuse(child.span, format!("the condition of the child document `{name}`"));
        }
        if child.expansion.is_some() {
            refuse(child.span, format!("the members of the child document `{name}`"));
        }
    }
}
