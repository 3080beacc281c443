//! Calls of functions of packages: `cyan_invoke: {function, arguments, provider}`.
//!
//! Heat has no such function, so every version of the language has this one. The check of the
//! arguments is that of all dialects (`understand`).

use blueprint::{Expr, INVOKE, Value};
use diag::{Diagnostic, Span};
use expr::codes::{ARGUMENT_COUNT, ARGUMENT_TYPE, UNKNOWN_FIELD};

use super::lowering::Lowering;
use super::read::{TextEntry, value_span};

/// The name of the function. No template has it as data: names that begin with `cyan_` belong to
/// this project.
pub(super) const CYAN_INVOKE: &str = "cyan_invoke";

/// The entries of the argument.
const ENTRIES: [&str; 3] = ["function", "arguments", "provider"];

impl Lowering {
    /// Lowers `cyan_invoke`.
    pub(super) fn package_function(&mut self, pair: &TextEntry<'_>, span: Span) -> Expr {
        let wrong = |message: &str, place: Span, label: &str| {
            ARGUMENT_TYPE.new(message).label(place, label).help(
                "write `cyan_invoke: {function: package/name, arguments: {..}, provider: NAME}`",
            )
        };
        let argument_span = value_span(pair.value);
        let Some(entries) = self.reader.pairs(pair.value) else {
            let label = format!("this is {}", self.kind_of(pair.value));
            let mistake = wrong("`cyan_invoke` takes a map", argument_span, &label);
            return self.fail(mistake, span);
        };
        let nothing = || Expr::literal(Value::Null, argument_span);
        let mut function = None;
        let mut arguments = nothing();
        let mut provider = nothing();
        for TextEntry { key, value, .. } in &entries {
            let place = value_span(value);
            match key.item.as_ref() {
                "function" => match self.text(value) {
                    Some(name) => function = Some(Expr::literal(Value::text(name), place)),
                    None => {
                        let message = "the function of `cyan_invoke` must be text";
                        return self.fail(wrong(message, place, "a name is needed"), span);
                    }
                },
                "arguments" => arguments = self.expr(value),
                "provider" => match self.text(value) {
                    Some(name) => provider = self.resource(name, place, place),
                    None => {
                        let message =
                            "the provider of `cyan_invoke` must be the name of a resource";
                        return self.fail(wrong(message, place, "a name is needed"), span);
                    }
                },
                other => {
                    let mistake = unknown_entry(other, key.span);
                    return self.fail(mistake, span);
                }
            }
        }
        let Some(function) = function else {
            let mistake = ARGUMENT_COUNT
                .new("`cyan_invoke` needs the entry `function`")
                .label(argument_span, "names no function")
                .help("write the package and the function: `function: shop/index:getItem`");
            return self.fail(mistake, span);
        };
        Expr::call(
            INVOKE,
            pair.key.span,
            vec![function, arguments, provider],
            span,
        )
    }
}

fn unknown_entry(name: &str, place: Span) -> Diagnostic {
    UNKNOWN_FIELD
        .new(format!("`cyan_invoke` has no entry `{name}`"))
        .label(place, "not an entry of its argument")
        .help_nearest(name, ENTRIES)
}
