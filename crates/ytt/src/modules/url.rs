//! Stub.
use crate::{
    halt::{Outcome, fail},
    heap::Heap,
    native_call::NativeCall,
    value::StarValue,
};
pub(super) fn call(_e: &Heap, _f: &str, _call: &NativeCall) -> Outcome<StarValue> {
    fail("stub")
}
