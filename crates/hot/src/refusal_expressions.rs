//! Expressions that only refuse.

use super::expressions::{REFUSE, REFUSE_READ};
use blueprint::{Expr, ExprKind, Value};
use diag::NativeMessage;
use expr::codes::ARGUMENT_TYPE;
use expr::{Refusal, ValueStep};

/// An expression that refuses with this mistake when it is evaluated.
pub(super) fn refusal_expr(diagnostic: &diag::Diagnostic) -> Expr {
    refusal(REFUSE, diagnostic)
}

/// An expression that refuses with this mistake as soon as its branch is known to be taken. Heat
/// notices such a mistake while it reads the branch.
pub(super) fn refusal_expr_when_read(diagnostic: &diag::Diagnostic) -> Expr {
    refusal(REFUSE_READ, diagnostic)
}

fn refusal(function: &str, diagnostic: &diag::Diagnostic) -> Expr {
    let span = diagnostic.span();
    let text = |text: &str| Expr::literal(Value::text(text), span);
    let mut arguments = vec![text(diagnostic.code.name), text(&diagnostic.message)];
    if let Some(words) = &diagnostic.native_message {
        arguments.extend([&*words.message, &*words.class, &*words.error, &*words.path].map(text));
    }
    Expr::call(function, span, arguments, span)
}

/// The mistake of an expression that only refuses, and whether Heat reports it while reading.
pub(super) fn refusal_of(expr: &Expr) -> Option<(bool, diag::Diagnostic)> {
    let ExprKind::Call(call) = &expr.kind else {
        return None;
    };
    let read = match call.function.as_ref() {
        REFUSE => false,
        REFUSE_READ => true,
        _ => return None,
    };
    let arguments: Vec<Value> = call
        .arguments
        .iter()
        .filter_map(|one| one.value.as_literal().cloned())
        .collect();
    let refusal = refusal_from_arguments(&arguments);
    let mut diagnostic =
        diag::Diagnostic::new(refusal.code, refusal.message).label(expr.span, "refused here");
    diagnostic.native_message = refusal.words;
    diagnostic.help.extend(refusal.help);
    Some((read, diagnostic))
}

/// The mistake in the arguments of such a call.
pub(super) fn refusal_from_arguments(arguments: &[Value]) -> Refusal {
    let text = |at: usize| {
        arguments
            .get(at)
            .and_then(Value::as_text)
            .unwrap_or_default()
    };
    let known = [
        expr::codes::CODES,
        dialect::codes::CODES,
        super::codes::CODES,
        super::functions::codes::CODES,
    ];
    let code = known
        .into_iter()
        .flatten()
        .find(|code| code.name == text(0))
        .copied()
        .unwrap_or(&ARGUMENT_TYPE);
    let words = arguments.get(2).map(|_| {
        let words = NativeMessage {
            class: text(3).to_owned().into(),
            error: text(4).to_owned().into(),
            ..text(2).into()
        };
        Box::new(words.at(text(5)))
    });
    let path = vec![ValueStep::Index(0)];
    Refusal {
        code,
        message: text(1).to_owned(),
        path,
        inside: None,
        help: None,
        words,
    }
}
