//! Stub.
use crate::{
    evaluator::Evaluator,
    halt::{Outcome, fail},
    native_call::NativeCall,
    value::StarValue,
};
pub(crate) fn call(_e: &mut Evaluator<'_>, _f: &str, _call: &NativeCall) -> Outcome<StarValue> {
    fail("stub")
}
