//! Values that the program alone determines, such as the defaults of its configuration: literals, and
//! functions of the language with such arguments.

use blueprint::{Expr, ExprKind, Name, TextPart, Value};
use diag::{Diagnostic, Span};

use crate::native::own_function;

/// Why an expression has no constant value.
pub(crate) enum NotConstant {
    /// A part has a mistake, which was reported.
    Reported,
    /// A function refuses its argument.
    Refused(Box<Diagnostic>),
    /// The part at this place reads an element of the program.
    Named(Span),
    /// The part at this place is known only during an operation.
    Called(Span),
}

/// The value of an expression.
pub(crate) fn value_of(expr: &Expr) -> Result<Value, NotConstant> {
    match &expr.kind {
        ExprKind::Literal(value) => Ok(value.clone()),
        ExprKind::List(items) => {
            let items: Result<Vec<Value>, NotConstant> = items.iter().map(value_of).collect();
            Ok(Value::list(items?))
        }
        ExprKind::Map(entries) => {
            let entries: Result<Vec<(Name, Value)>, NotConstant> = entries
                .iter()
                .map(|(key, value)| Ok((key.item.clone(), value_of(value)?)))
                .collect();
            Ok(Value::map(entries?))
        }
        ExprKind::Text(parts) => {
            let mut whole = String::new();
            for part in parts {
                match part {
                    TextPart::Text(text) => whole.push_str(text),
                    TextPart::Expr(expr, _) => {
                        whole.push_str(value_of(expr)?.as_text().unwrap_or_default());
                    }
                }
            }
            Ok(Value::text(whole))
        }
        ExprKind::Call(call) => {
            // A name that is read is the reason, wherever it stands.
            let arguments: Result<Vec<Value>, NotConstant> = call
                .arguments
                .iter()
                .map(|argument| value_of(&argument.value))
                .collect();
            let function = own_function(&call.function);
            let Some(function) = function else {
                return Err(match arguments {
                    Err(named @ NotConstant::Named(_)) => named,
                    _ => NotConstant::Called(expr.span),
                });
            };
            function(&arguments?).map_err(|refusal| {
                let mistake = refusal.code.new(refusal.message);
                let mistake = mistake.label(expr.span, "this call fails");
                NotConstant::Refused(Box::new(mistake))
            })
        }
        ExprKind::Ref(_) | ExprKind::Access(..) => Err(NotConstant::Named(expr.span)),
        ExprKind::Error => Err(NotConstant::Reported),
        _ => Err(NotConstant::Called(expr.span)),
    }
}
