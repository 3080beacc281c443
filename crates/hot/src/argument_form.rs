//! Checks the form of an argument as it is written.

use blueprint::{Expr, ExprKind, Value};
use expr::Refusal;

use super::expressions::literal_value;
use super::functions::function;
use super::message_path::HeatPhase;
use super::version::Version;
use super::yaql::SourceMap;

/// Checks that the argument of a function has the right form, as far as the argument is literal.
pub(super) fn check_argument(
    name: &str,
    argument: &Expr,
    version: Version,
    runs: Option<&SourceMap>,
) -> Result<(), Refusal> {
    if name == "yaql" {
        return super::yaql::form(&literal_value(argument), runs);
    }
    let Some(function) = function(name) else {
        return Ok(());
    };
    (function.form)(&literal_value(argument), version).map_err(Refusal::from)
}

/// The phase in which Heat reports an argument of the wrong form.
pub(super) fn error_phase(name: &str, argument: &Expr) -> HeatPhase {
    let entries = match &argument.kind {
        ExprKind::Map(entries) => entries.as_slice(),
        _ => &[],
    };
    let has = |key: &str| entries.iter().any(|(name, _)| name.item.as_ref() == key);
    match name {
        "make_url" => HeatPhase::Validate,
        "repeat" if has("template") && has("for_each") => {
            let permutations = entries
                .iter()
                .find(|(name, _)| name.item.as_ref() == "permutations");
            let is_boolean = |value: &Expr| matches!(value.as_literal(), Some(Value::Bool(_)));
            if permutations.is_none_or(|(_, value)| is_boolean(value)) {
                HeatPhase::Validate
            } else {
                HeatPhase::Parse
            }
        }
        "yaql"
            if has("expression")
                && entries
                    .iter()
                    .all(|(name, _)| matches!(&*name.item, "expression" | "data")) =>
        {
            HeatPhase::Validate
        }
        _ => HeatPhase::Parse,
    }
}
