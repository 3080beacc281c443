//! Lowers calls of the package `std` (decisions/pulumi#built-in-packages).
//!
//! Not here: the functions (`std_package`, `std_calls`).

use blueprint::{Expr, ExprKind, Name, Value};
use diag::{Span, Spanned};
use dialect::codes::{UNKNOWN_KEY, UNSUPPORTED_FEATURE};
use expr::codes::{ARGUMENT_COUNT, UNKNOWN_FUNCTION};

use crate::lowering::ProgramLowering;
use crate::native::FILE_CONTENT;
use crate::std_calls::ABSOLUTE_PATH;
use crate::std_package::{self, StdBody, StdRow};

impl ProgramLowering<'_> {
    /// Lowers the call of a function of the package. Its result is a map with the entry `result`.
    pub(crate) fn std_call(
        &mut self,
        token: Spanned<&str>,
        rest: &str,
        arguments: Expr,
        span: Span,
    ) -> Expr {
        let Some(row) = std_package::function(rest) else {
            let name = rest.rsplit(':').next().unwrap_or(rest);
            let names = std_package::rows().iter().map(|row| row.name);
            let mistake = UNKNOWN_FUNCTION
                .new(format!("the package `std` has no function `{name}`"))
                .label(token.span, "no such function")
                .help_nearest(name, names);
            return self.fail(mistake, span);
        };
        let Some(arguments) = self.std_arguments(row, arguments, token.span) else {
            return Expr::error(span);
        };
        let at = token.span;
        let value = match row.body {
            StdBody::Native(_) | StdBody::Own(_) => {
                Expr::call(&row.internal_name(), at, arguments, span)
            }
            StdBody::File(form) => {
                let content = Expr::call("file", at, arguments, span);
                let form = Expr::literal(Value::text(form), at);
                Expr::call(FILE_CONTENT, at, vec![content, form], span)
            }
            StdBody::Timestamp => {
                let format = Expr::literal(Value::text("rfc3339"), at);
                Expr::call("datetime", at, vec![format], span)
            }
            StdBody::Uuid => Expr::call("uuid", at, Vec::new(), span),
            StdBody::AbsolutePath => {
                let folder = Expr::call("cwd", at, Vec::new(), at);
                let all = std::iter::once(folder).chain(arguments).collect();
                Expr::call(ABSOLUTE_PATH, at, all, span)
            }
            StdBody::Deferred => {
                let mistake = UNSUPPORTED_FEATURE
                    .new(format!("`std:{}` cannot be called yet", row.name))
                    .label(at, "not available in this version");
                return self.fail(mistake, span);
            }
        };
        let entry = (Spanned::new(Name::from("result"), at), value);
        Expr::new(ExprKind::Map(vec![entry]), span)
    }

    /// The arguments in the order of the parameters. `None` if a mistake was reported.
    fn std_arguments(&mut self, row: &StdRow, given: Expr, at: Span) -> Option<Vec<Expr>> {
        let place = given.span;
        let ExprKind::Map(mut entries) = given.kind else {
            return None;
        };
        let mut complete = true;
        let mut arguments = Vec::with_capacity(row.parameters.len());
        for parameter in row.parameters {
            let found = entries
                .iter()
                .position(|(key, _)| key.item.as_ref() == parameter.name);
            match found {
                Some(found) => arguments.push(entries.remove(found).1),
                None if parameter.required => {
                    complete = false;
                    self.found.push(
                        ARGUMENT_COUNT
                            .new(format!("`std:{}` needs `{}`", row.name, parameter.name))
                            .label(at, "an argument is missing")
                            .help(format!("add `{}`", parameter.name)),
                    );
                }
                None => arguments.push(Expr::literal(Value::Null, place)),
            }
        }
        for (key, _) in entries {
            complete = false;
            let names = row.parameters.iter().map(|parameter| parameter.name);
            self.found.push(
                UNKNOWN_KEY
                    .new(format!("`std:{}` has no argument `{}`", row.name, key.item))
                    .label(key.span, "no such argument")
                    .help_nearest(&key.item, names),
            );
        }
        complete.then_some(arguments)
    }
}
