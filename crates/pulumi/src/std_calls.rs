//! Calls of the package `std`: converts arguments by the declaration of a function and computes the
//! result.
//!
//! Not here: the declarations (`std_package`), the lowering of calls (`std_lowering`).

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use blueprint::Value;
use expr::codes::ARGUMENT_TYPE;
use expr::{FunctionDef, FunctionTable, Native, Refusal, ValueStep};

use crate::scalar::kind_words;
use crate::std_package::{ParameterKind, StdBody, StdRow, rows};

/// Joins the working directory and a path.
pub(crate) const ABSOLUTE_PATH: &str = "(absolute path)";

/// Adds the functions of the package to the table of the dialect. `all` has those of the provider
/// `std`; a function that is not in it cannot be called.
pub(crate) fn insert_functions(all: &FunctionTable, own: &mut FunctionTable) {
    for row in rows() {
        let body = match row.body {
            StdBody::Native(name) => {
                let native = all.get(name).and_then(|found| found.native.clone());
                let Some(native) = native else { continue };
                Computed::Native(native)
            }
            StdBody::Own(run) => Computed::Own(run),
            _ => continue,
        };
        let call = Arc::new(StdCall { row, body });
        let name = row.internal_name();
        let docs = "Called by the lowering of programs.";
        let _ = own.insert(FunctionDef::of_native(&name, docs, call));
    }
}

/// The implementation of a function.
#[derive(Debug)]
enum Computed {
    Native(Arc<dyn Native>),
    Own(fn(&[Value]) -> Result<Value, Refusal>),
}

/// A function of the package.
#[derive(Debug)]
struct StdCall {
    row: &'static StdRow,
    body: Computed,
}

impl Native for StdCall {
    fn call(&self, arguments: &[Value]) -> Result<Value, Refusal> {
        let mut fitted = Vec::with_capacity(arguments.len());
        for (at, parameter) in self.row.parameters.iter().enumerate() {
            let given = arguments.get(at).unwrap_or(&Value::Null);
            if given.is_null() && !parameter.required {
                fitted.push(Value::Null);
                continue;
            }
            let value = fit(given, parameter.kind, &mut vec![ValueStep::Index(at)]);
            fitted.push(value.map_err(|mut wrong| {
                wrong.message = format!("`{}`: {}", parameter.name, wrong.message);
                wrong
            })?);
        }
        let native = match &self.body {
            Computed::Own(run) => return run(&fitted),
            Computed::Native(native) => native,
        };
        match self.row.name {
            // These count from the beginning by default.
            "range" | "slice" => {
                let first = if self.row.name == "range" { 0 } else { 1 };
                if fitted[first].is_null() {
                    fitted[first] = Value::Int(0);
                }
            }
            // The last parameter is a list here and further arguments there.
            "format" | "formatlist" => {
                let rest = fitted.pop().unwrap_or_default();
                fitted.extend(rest.as_list().unwrap_or_default().iter().cloned());
                return native.call(&fitted).map_err(|mut wrong| {
                    if let Some(ValueStep::Index(at)) = wrong.path.first().cloned()
                        && at > 0
                    {
                        wrong.path.insert(0, ValueStep::Index(1));
                        wrong.path[1] = ValueStep::Index(at - 1);
                    }
                    wrong
                });
            }
            _ => {}
        }
        native.call(&fitted)
    }

    fn accepts_partial_arguments(&self, _arguments: &[Value]) -> bool {
        false
    }
}

/// A value as a parameter of a kind accepts it. `path` leads to the value.
fn fit(value: &Value, kind: ParameterKind, path: &mut Vec<ValueStep>) -> Result<Value, Refusal> {
    let items = |of: ParameterKind, path: &mut Vec<ValueStep>| {
        let Some(items) = value.unmarked().as_list() else {
            return Err(wrong_kind("a list is needed", value, path));
        };
        let mut fitted = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            path.push(ValueStep::Index(at));
            fitted.push(fit(item, of, path)?);
            path.pop();
        }
        Ok(Value::list(fitted))
    };
    match (kind, value.unmarked()) {
        (ParameterKind::Any, _) => Ok(value.clone()),
        (ParameterKind::Text, Value::Text(_)) => Ok(value.clone()),
        (ParameterKind::Text, Value::Bool(flag)) => Ok(Value::text(flag.to_string())),
        (ParameterKind::Text, Value::Int(number)) => Ok(Value::text(number.to_string())),
        (ParameterKind::Text, Value::Float(number)) => {
            Ok(Value::text(crate::scalar::float_text(*number)))
        }
        (ParameterKind::Text, _) => Err(wrong_kind("a string is needed", value, path)),
        (ParameterKind::Integer, Value::Int(_)) => Ok(value.clone()),
        (ParameterKind::Integer, Value::Float(number)) if number.fract() == 0.0 => {
            Ok(value.clone())
        }
        (ParameterKind::Number, Value::Int(_) | Value::Float(_)) => Ok(value.clone()),
        (ParameterKind::Number | ParameterKind::Integer, Value::Text(text)) => {
            let whole = text.parse::<i64>().map(Value::Int).ok();
            let float = || {
                let number = text.parse::<f64>().ok()?;
                let is_lossless =
                    number.is_finite() && crate::scalar::float_text(number) == text.as_ref();
                is_lossless.then_some(Value::Float(number))
            };
            let number = match kind {
                ParameterKind::Integer => whole,
                _ => whole.or_else(float),
            };
            number.ok_or_else(|| wrong_kind("a number is needed", value, path))
        }
        (ParameterKind::Number, _) => Err(wrong_kind("a number is needed", value, path)),
        (ParameterKind::Integer, _) => Err(wrong_kind("a whole number is needed", value, path)),
        (ParameterKind::Map, Value::Map(_)) => Ok(value.clone()),
        (ParameterKind::Map, _) => Err(wrong_kind("a map is needed", value, path)),
        (ParameterKind::List, _) => items(ParameterKind::Any, path),
        (ParameterKind::Texts, _) => items(ParameterKind::Text, path),
        (ParameterKind::Numbers, _) => items(ParameterKind::Number, path),
        (ParameterKind::Lists, _) => items(ParameterKind::List, path),
        (ParameterKind::Maps, _) => items(ParameterKind::Map, path),
    }
}

fn wrong_kind(wanted: &str, found: &Value, path: &[ValueStep]) -> Refusal {
    Refusal {
        code: &ARGUMENT_TYPE,
        message: format!("{wanted}, found {}", kind_words(found)),
        path: path.to_vec(),
        inside: None,
        help: None,
        words: None,
    }
}

/// The absolute form of a path: the working directory and the path.
pub(crate) fn absolute_path(arguments: &[Value]) -> Result<Value, Refusal> {
    let [folder, path] = arguments else {
        return Ok(Value::Null);
    };
    let Some(written) = path.as_text() else {
        return Err(wrong_kind(
            "a string is needed",
            path,
            &[ValueStep::Index(1)],
        ));
    };
    let joined = Path::new(folder.as_text().unwrap_or("/")).join(written);
    let mut cleaned = PathBuf::new();
    for part in joined.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(cleaned.pop()),
            other => cleaned.push(other),
        }
    }
    Ok(Value::text(cleaned.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_become_the_declared_kind_if_nothing_is_lost() {
        let fitted = |value: Value, kind| fit(&value, kind, &mut vec![ValueStep::Index(0)]);
        assert_eq!(
            fitted(Value::text("12"), ParameterKind::Integer).unwrap(),
            Value::Int(12)
        );
        assert_eq!(
            fitted(Value::Int(5), ParameterKind::Text).unwrap(),
            Value::text("5")
        );
        assert!(fitted(Value::text("1.50"), ParameterKind::Number).is_err());
        assert!(fitted(Value::Float(1.5), ParameterKind::Integer).is_err());
        let list = Value::list([Value::list([]), Value::text("x")]);
        let wrong = fitted(list, ParameterKind::Lists).unwrap_err();
        assert_eq!(wrong.path, [ValueStep::Index(0), ValueStep::Index(1)]);
    }

    #[test]
    fn an_absolute_path_has_no_dots() {
        let of = |path: &str| absolute_path(&[Value::text("/w/x"), Value::text(path)]).unwrap();
        assert_eq!(of("../a/./b"), Value::text("/w/a/b"));
        assert_eq!(of("/c"), Value::text("/c"));
    }
}
