//! The modules `md5` and `sha256`.

use md5::Digest as _;

use crate::halt::Evaluated;
use crate::heap::Heap;
use crate::native_call::NativeCall;
use crate::value::StarValue;

/// Calls `md5.sum` or `sha256.sum`.
///
/// # Errors
/// If the argument is no text.
pub(super) fn call(heap: &Heap, call: &NativeCall) -> Evaluated<StarValue> {
    call.exactly(1)?;
    let text = call.text(0)?;
    heap.work.steps(text.len() / 8)?;
    let digest: Vec<u8> = match call.name {
        "md5.sum" => md5::Md5::digest(text.as_bytes()).to_vec(),
        _ => sha2::Sha256::digest(text.as_bytes()).to_vec(),
    };
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    heap.text(digits)
}
