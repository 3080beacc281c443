//! The functions of the dialect, for the evaluator.
//!
//! Names in parentheses are internal functions: only the lowering creates calls of them.

use std::sync::Arc;

use blueprint::{INVOKE, Type, Unknown, Value};
use data_encoding::{BASE64, HEXLOWER};
use expr::codes::{
    ARGUMENT_TYPE, INDEX_OUT_OF_RANGE, INTERPOLATED_COMPLEX, NOT_UTF8, UNKNOWN_FIELD,
    WRONG_ACCESSOR,
};
use expr::{FunctionDef, FunctionTable, Native, Refusal, ValueStep};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

use crate::compat;
use crate::functions::{PartialArgument, PulumiFunction, functions};
use crate::reference::reference;
use crate::scalar::{float_text, kind_words, type_words};
use crate::std_calls;

/// Walks steps into a value.
pub(crate) const ACCESS: &str = "(access)";
/// A field of the result of a package's function.
pub(crate) const RETURN: &str = "(return)";
/// The result of a package's function without the fields that it left out.
pub(crate) const RESULT: &str = "(result)";
/// The first argument, once the others are known.
pub(crate) const AFTER: &str = "(after)";
/// The reference to a resource, from its URN and id.
pub(crate) const REFERENCE: &str = "(resource)";
/// The URN of a resource, from the URN and the resource, on which it depends.
pub(crate) const URN: &str = "(urn)";
/// A value as a part of a text.
pub(crate) const AS_TEXT: &str = "(text)";
/// A value as a part of a text, as today's tool writes it.
pub(crate) const AS_COMPAT_TEXT: &str = "(compat text)";
/// A map with computed keys: keys and values in turn.
pub(crate) const ENTRIES: &str = "(entries)";
/// The content of a file in the form that a function gives it.
pub(crate) const FILE_CONTENT: &str = "(file content)";

/// Adds the functions of the dialect to the table of all functions.
pub(crate) fn insert_functions(table: &mut FunctionTable) {
    let mut own = FunctionTable::new().keeping_null();
    // Functions that need the world are those of the native dialect.
    for name in ["file", "cwd", "uuid", "datetime", INVOKE] {
        if let Some(asks) = table.get(name) {
            let _ = own.insert(asks.clone());
        }
    }
    for (name, run) in INTERNAL {
        let native = Arc::new(Internal { name, run: *run });
        let docs = "Called by the lowering of programs.";
        let mut def = FunctionDef::of_native(name, docs, native);
        let takes_components = matches!(*name, REFERENCE | URN);
        if let Some(rest) = def.rest.as_mut().filter(|_| takes_components) {
            // A component has no id.
            rest.absent_as_none = true;
        }
        let _ = own.insert(def);
    }
    for function in functions() {
        let native = Arc::new(Row(function));
        let _ = own.insert(FunctionDef::of_native(function.name, function.docs, native));
    }
    std_calls::insert_functions(table, &mut own);
    table.insert_dialect(crate::shape::NAME, own);
}

/// A function that depends on its arguments alone.
pub(crate) type OwnFunction = Box<dyn Fn(&[Value]) -> Result<Value, Refusal>>;

/// The code of a function that depends on its arguments alone.
pub(crate) fn own_function(name: &str) -> Option<OwnFunction> {
    if let Some((_, run)) = INTERNAL.iter().find(|(known, _)| *known == name) {
        return Some(Box::new(*run));
    }
    let row = functions().find(|function| function.name == name)?;
    Some(Box::new(move |arguments| {
        row.run(arguments.first().unwrap_or(&Value::Null))
    }))
}

/// A function of the language.
#[derive(Debug)]
struct Row(&'static PulumiFunction);

impl Native for Row {
    fn call(&self, arguments: &[Value]) -> Result<Value, Refusal> {
        self.0.run(arguments.first().unwrap_or(&Value::Null))
    }

    fn accepts_partial_arguments(&self, _arguments: &[Value]) -> bool {
        self.0.parts == PartialArgument::Leaves
    }

    fn refusal_regardless(&self, arguments: &[Value]) -> Option<Refusal> {
        let argument = arguments.first()?;
        self.0
            .refused_reference(argument)
            .or_else(|| expr::refused_by_known_parts(self, arguments))
    }
}

type InternalCode = fn(&[Value]) -> Result<Value, Refusal>;

const INTERNAL: &[(&str, InternalCode)] = &[
    (ACCESS, access),
    (RETURN, returned),
    (RESULT, result),
    (REFERENCE, reference),
    (URN, |arguments| {
        Ok(arguments.first().cloned().unwrap_or_default())
    }),
    (AFTER, |arguments| {
        Ok(arguments.first().cloned().unwrap_or_default())
    }),
    (AS_TEXT, as_text),
    (AS_COMPAT_TEXT, as_compat_text),
    (ENTRIES, entries),
    (FILE_CONTENT, file_content),
    (std_calls::ABSOLUTE_PATH, std_calls::absolute_path),
];

/// An internal function.
#[derive(Debug)]
struct Internal {
    name: &'static str,
    run: InternalCode,
}

impl Native for Internal {
    fn call(&self, arguments: &[Value]) -> Result<Value, Refusal> {
        (self.run)(arguments)
    }

    /// Not searched for: these functions are not written in programs.
    fn refusal_regardless(&self, _arguments: &[Value]) -> Option<Refusal> {
        None
    }

    fn returns_part_of_arguments(&self) -> bool {
        matches!(self.name, ACCESS | RETURN | RESULT)
    }

    fn accepts_partial_arguments(&self, arguments: &[Value]) -> bool {
        match self.name {
            ACCESS | RETURN | RESULT | REFERENCE | URN => true,
            // The values of a map need not be known, its keys must be.
            ENTRIES => arguments
                .iter()
                .step_by(2)
                .all(|key| !key.has_unknown() && !key.has_secret()),
            _ => false,
        }
    }
}

fn refusal(
    code: &'static diag::Code,
    message: impl Into<String>,
    argument: usize,
    help: Option<&str>,
) -> Refusal {
    Refusal {
        code,
        message: message.into(),
        path: vec![ValueStep::Index(argument)],
        inside: None,
        help: help.map(str::to_owned),
        words: None,
    }
}

/// Walks steps into a value (decisions/pulumi#property-access). A missing entry of a map is null.
fn access(arguments: &[Value]) -> Result<Value, Refusal> {
    let Some((first, steps)) = arguments.split_first() else {
        return Ok(Value::Null);
    };
    let mut value = first;
    let mut typed;
    let mut secret = false;
    for (at, step) in steps.iter().enumerate() {
        let (bare, marked) = value.split_secret();
        secret |= marked;
        value = match (bare, step) {
            (Value::Unknown(unknown), _) => {
                let ty = typed_step(unknown.ty.as_ref(), step)
                    .map_err(|(code, message)| refusal(code, message, at + 1, None))?;
                let next = Unknown {
                    ty,
                    waits_for: unknown.waits_for.clone(),
                };
                typed = Value::Unknown(Arc::new(next));
                &typed
            }
            (Value::Map(entries), Value::Text(name)) => match entries.get(name) {
                Some(entry) => entry,
                // An entry that the provider will fill in is not known yet.
                None if bare.has_unknown() => {
                    return Ok(bare.as_unknown().tainted(secret));
                }
                None => &Value::Null,
            },
            (Value::List(items) | Value::Set(items), Value::Int(index)) => {
                let item = usize::try_from(*index)
                    .ok()
                    .and_then(|index| items.get(index));
                match item {
                    Some(item) => item,
                    None => {
                        let message =
                            format!("the list has no item {index}: it has {}", items.len());
                        return Err(refusal(&INDEX_OUT_OF_RANGE, message, at + 1, None));
                    }
                }
            }
            (other, Value::Text(name)) => {
                let message = format!("{} has no `{name}`", kind_words(other));
                let help = matches!(other, Value::List(_) | Value::Set(_))
                    .then_some("take an item first, such as `[0]`");
                return Err(refusal(&WRONG_ACCESSOR, message, at + 1, help));
            }
            (other, _) => {
                let message = format!("{} has no positions", kind_words(other));
                return Err(refusal(&WRONG_ACCESSOR, message, at + 1, None));
            }
        };
    }
    Ok(value.clone().tainted(secret))
}

/// The type of a part of a value that is not known yet, if it can be told. The error is the mistake
/// of a step that leads nowhere.
fn typed_step(
    ty: Option<&Type>,
    step: &Value,
) -> Result<Option<Type>, (&'static diag::Code, String)> {
    let Some(ty) = ty else {
        return Ok(None);
    };
    let mut reached = Vec::new();
    let mut mistake = None;
    for one in ty.alternatives() {
        let wrong = match (one, step) {
            (Type::Any | Type::Null | Type::Error, _) => return Ok(None),
            (Type::List(item), Value::Int(_)) => {
                reached.push(item.as_ref().clone());
                continue;
            }
            (Type::Map(value), Value::Text(_)) => {
                reached.push(value.as_ref().clone());
                continue;
            }
            (Type::Object(object), Value::Text(name)) => match object.fields.get(name) {
                Some(field) => {
                    reached.push(field.clone());
                    continue;
                }
                None => {
                    let fields = object.fields.keys().map(AsRef::as_ref);
                    let near = diag::nearest(name, fields);
                    let near = near.map(|near| format!(", did you mean `{near}`?"));
                    let message = format!("there is no `{name}` here{}", near.unwrap_or_default());
                    (&UNKNOWN_FIELD, message)
                }
            },
            (other, Value::Text(name)) => (
                &WRONG_ACCESSOR,
                format!("{} has no `{name}`", type_words(other)),
            ),
            (other, _) => {
                let message = format!("{} has no positions", type_words(other));
                (&WRONG_ACCESSOR, message)
            }
        };
        mistake = Some(wrong);
    }
    match mistake.filter(|_| reached.is_empty()) {
        Some(mistake) => Err(mistake),
        None => Ok(Some(Type::union(reached)).filter(|ty| !ty.is_open())),
    }
}

/// The field of a result that `return` names.
fn returned(arguments: &[Value]) -> Result<Value, Refusal> {
    let [result, field] = arguments else {
        return Ok(Value::Null);
    };
    let (bare, secret) = result.split_secret();
    let (Value::Map(entries), Some(name)) = (bare, field.as_text()) else {
        if bare.is_unknown() {
            return access(arguments).map(|value| value.tainted(secret));
        }
        let message = "the function gives no map, so it has no fields";
        return Err(refusal(
            &WRONG_ACCESSOR,
            message,
            1,
            Some("remove `return`"),
        ));
    };
    match entries.get(name) {
        Some(value) => Ok(value.clone().tainted(secret)),
        None if bare.has_unknown() => Ok(bare.as_unknown().tainted(secret)),
        None => {
            let message = format!("the result of the function has no field `{name}`");
            Err(refusal(&UNKNOWN_FIELD, message, 1, None))
        }
    }
}

/// The result of a function, in which a field without a value is missing.
fn result(arguments: &[Value]) -> Result<Value, Refusal> {
    let whole = arguments.first().unwrap_or(&Value::Null);
    let (bare, secret) = whole.split_secret();
    let Value::Map(entries) = bare else {
        return Ok(whole.clone());
    };
    let given = entries.iter().filter(|(_, value)| !value.is_null());
    let given = given.map(|(name, value)| (name.clone(), value.clone()));
    Ok(Value::map(given).tainted(secret))
}

/// A value as a part of a text: a string, number or boolean.
fn as_text(arguments: &[Value]) -> Result<Value, Refusal> {
    let value = arguments.first().unwrap_or(&Value::Null);
    match value {
        Value::Float(float) => Ok(Value::text(float_text(*float))),
        Value::Text(_) | Value::Bool(_) | Value::Int(_) | Value::Decimal(_) => Ok(value.clone()),
        other => Err(no_text(other)),
    }
}

/// A value as a part of a text in Go's notation (decisions/pulumi#compat).
fn as_compat_text(arguments: &[Value]) -> Result<Value, Refusal> {
    let value = arguments.first().unwrap_or(&Value::Null);
    match compat::text_of(value) {
        Some(text) => Ok(Value::text(text)),
        None => Err(no_text(value)),
    }
}

fn no_text(value: &Value) -> Refusal {
    let message = format!("{} cannot be a part of a text", kind_words(value));
    let help = Some("make it text with `fn::toJSON` in a variable");
    refusal(&INTERPOLATED_COMPLEX, message, 0, help)
}

/// The map of keys and values in turn.
fn entries(arguments: &[Value]) -> Result<Value, Refusal> {
    let mut map = blueprint::Map::default();
    for (at, pair) in arguments.chunks(2).enumerate() {
        let [key, value] = pair else { continue };
        let Value::Text(key) = key else {
            let message = format!("a key must be a string, found {}", kind_words(key));
            return Err(refusal(&ARGUMENT_TYPE, message, at * 2, None));
        };
        map.insert(key.clone(), value.clone());
    }
    Ok(Value::Map(Arc::new(map)))
}

/// The bytes of a file as text, base64, or the base64 of their digest.
fn file_content(arguments: &[Value]) -> Result<Value, Refusal> {
    let [content, form] = arguments else {
        return Ok(Value::Null);
    };
    let bytes = match content {
        Value::Bytes(bytes) => bytes.as_ref(),
        Value::Text(text) => text.as_bytes(),
        other => return Ok(other.clone()),
    };
    match form.as_text() {
        Some("filebase64") => Ok(Value::text(BASE64.encode(bytes))),
        Some("filebase64sha256") => Ok(Value::text(BASE64.encode(&Sha256::digest(bytes)))),
        Some("filebase64sha512") => Ok(Value::text(BASE64.encode(&Sha512::digest(bytes)))),
        Some("filemd5") => Ok(Value::text(HEXLOWER.encode(&Md5::digest(bytes)))),
        Some("filesha1") => Ok(Value::text(HEXLOWER.encode(&Sha1::digest(bytes)))),
        Some("filesha256") => Ok(Value::text(HEXLOWER.encode(&Sha256::digest(bytes)))),
        Some("filesha512") => Ok(Value::text(HEXLOWER.encode(&Sha512::digest(bytes)))),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::text(text)),
            Err(_) => {
                let help = Some("read other files with `fn::filebase64`");
                Err(refusal(&NOT_UTF8, "the file is not UTF-8 text", 0, help))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_entry_is_null_and_a_wrong_step_is_refused() {
        let value = Value::map([
            ("list", Value::list([Value::text("a")])),
            ("secret", Value::map([("x", Value::Int(1))]).secret()),
        ]);
        let walk = |steps: &[Value]| {
            let mut arguments = vec![value.clone()];
            arguments.extend(steps.iter().cloned());
            access(&arguments)
        };
        let name = |text: &str| Value::text(text);
        assert_eq!(
            walk(&[name("list"), Value::Int(0)]).unwrap(),
            Value::text("a")
        );
        assert_eq!(walk(&[name("none")]).unwrap(), Value::Null);
        assert_eq!(
            walk(&[name("secret"), name("x")]).unwrap(),
            Value::Int(1).secret()
        );
        for (steps, code, argument) in [
            (vec![name("list"), Value::Int(1)], "index-out-of-range", 2),
            (vec![name("list"), name("x")], "wrong-accessor", 2),
            (vec![Value::Int(0)], "wrong-accessor", 1),
            (vec![name("none"), name("x")], "wrong-accessor", 2),
        ] {
            let refused = walk(&steps).unwrap_err();
            assert_eq!(refused.code.name, code);
            assert_eq!(refused.path, [ValueStep::Index(argument)]);
        }
    }

    #[test]
    fn null_lists_and_maps_are_no_parts_of_a_text() {
        for value in [
            Value::Null,
            Value::list([]),
            Value::map::<blueprint::Name>([]),
        ] {
            assert_eq!(
                as_text(&[value]).unwrap_err().code.name,
                "interpolated-complex"
            );
        }
        assert_eq!(as_text(&[Value::Bool(true)]).unwrap(), Value::Bool(true));
        assert_eq!(
            as_text(&[Value::Float(1000.0)]).unwrap(),
            Value::text("1000")
        );
        assert_eq!(as_text(&[Value::Float(1.5)]).unwrap(), Value::text("1.5"));
    }

    #[test]
    fn a_step_into_a_value_that_is_not_known_follows_its_type() {
        let item = Type::object([("name".into(), Type::Text)]);
        let value = Value::unknown(Some(Type::list(item)), None);
        let walk = |steps: &[Value]| {
            let mut arguments = vec![value.clone()];
            arguments.extend(steps.iter().cloned());
            access(&arguments)
        };
        let name = walk(&[Value::Int(0), Value::text("name")]).unwrap();
        assert_eq!(name, Value::unknown(Some(Type::Text), None));
        let code = |steps: &[Value]| walk(steps).unwrap_err().code.name;
        assert_eq!(code(&[Value::Int(0), Value::text("size")]), "unknown-field");
        assert_eq!(code(&[Value::text("name")]), "wrong-accessor");
    }

    #[test]
    fn a_result_has_only_the_fields_that_the_function_gave() {
        let answer = Value::map([("a", Value::Int(1)), ("b", Value::Null)]);
        let given = result(&[answer.secret()]).unwrap();
        assert_eq!(given, Value::map([("a", Value::Int(1))]).secret());
    }
}
