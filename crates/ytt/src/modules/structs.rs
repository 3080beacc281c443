//! The modules `struct`, `module` and `template`.

use blueprint::IndexMap;

use crate::binding::StarArguments;
use crate::convert::{has_fragment, plain, structs};
use crate::evaluator::Evaluator;
use crate::halt::{Evaluated, fail};
use crate::native_call::NativeCall;
use crate::value::{StarValue, StructKind};

/// Calls a function.
///
/// # Errors
/// If the arguments do not fit.
pub(super) fn call(evaluator: &mut Evaluator<'_>, call: &NativeCall) -> Evaluated<StarValue> {
    match call.name {
        "struct.make" => match call.items.is_empty() {
            true => made(evaluator, StructKind::Plain, call, None),
            false => fail(
                "unexpected positional arguments (structs are made from keyword arguments only)",
            ),
        },
        "struct.make_and_bind" => {
            if call.items.len() != 1 {
                return fail("expected at exactly one argument");
            }
            made(evaluator, StructKind::Plain, call, Some(call.item(0)))
        }
        "struct.bind" => match call.items.len() {
            0 | 1 => fail("expected at least two arguments"),
            _ => evaluator.heap.native("struct.bound", call.items.clone()),
        },
        "struct.bound" => {
            let mut items = call.bound.get(1..).unwrap_or_default().to_vec();
            items.extend(call.items.iter().cloned());
            let named = call.named.clone();
            evaluator.call(call.receiver(), StarArguments { items, named })
        }
        "struct.encode" => {
            call.exactly(1)?;
            let value = plain(&evaluator.heap, call.item(0))?;
            structs(&evaluator.heap, &value)
        }
        "struct.decode" => {
            call.exactly(1)?;
            let value = plain(&evaluator.heap, call.item(0))?;
            match has_fragment(&evaluator.heap, &value)? {
                true => fail("unknown type yamlfragment for conversion to starlark value"),
                false => Ok(value),
            }
        }
        "module.make" => match call.items.as_slice() {
            [StarValue::Text(name)] => {
                made(evaluator, StructKind::Module(name.clone()), call, None)
            }
            _ => fail("module: want the name as one positional argument"),
        },
        _ => match call.items.as_slice() {
            [value] => evaluator.replace_node(value),
            _ => fail("expected exactly one argument"),
        },
    }
}

/// A struct of the named arguments; functions are bound to a value, if there is one.
fn made(
    evaluator: &Evaluator<'_>,
    kind: StructKind,
    call: &NativeCall,
    bound: Option<&StarValue>,
) -> Evaluated<StarValue> {
    let heap = &evaluator.heap;
    let mut fields = IndexMap::default();
    for (name, value) in &call.named {
        let value = match bound {
            Some(bound) if value.is_callable() => {
                heap.native("struct.bound", vec![value.clone(), bound.clone()])?
            }
            _ => value.clone(),
        };
        fields.insert(name.clone(), value);
    }
    heap.structure(kind, fields)
}
