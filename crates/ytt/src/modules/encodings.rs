//! The modules `base64` and `yaml`.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::convert::{from_source, plain};
use crate::evaluator::Evaluator;
use crate::halt::{Evaluated, fail};
use crate::native_call::NativeCall;
use crate::read::read;
use crate::value::StarValue;
use crate::yaml_write;

/// Calls a function.
///
/// # Errors
/// If the argument does not fit.
pub(super) fn call(evaluator: &mut Evaluator<'_>, call: &NativeCall) -> Evaluated<StarValue> {
    let heap = &evaluator.heap;
    call.exactly(1)?;
    match call.name {
        "base64.encode" => {
            let text = call.text(0)?;
            let encoding = encoding(call)?;
            heap.work.bytes(text.len())?;
            heap.text(encoding.encode(text.as_bytes()))
        }
        "base64.decode" => {
            let text = call.text(0)?;
            let encoding = encoding(call)?;
            heap.work.bytes(text.len())?;
            let written: String = text
                .chars()
                .filter(|own| !matches!(own, '\n' | '\r'))
                .collect();
            match encoding.decode(written) {
                Ok(bytes) => heap.text(String::from_utf8_lossy(&bytes).as_ref()),
                Err(error) => fail(format!("illegal base64 data: {error}")),
            }
        }
        "yaml.encode" => {
            let value = plain(heap, call.item(0))?;
            let text = yaml_write::write(heap, &value)?;
            heap.text(text)
        }
        _ => {
            let text = call.text(0)?;
            heap.work.bytes(text.len())?;
            let source = read(text).map_err(|mistake| crate::halt::fault(mistake.message))?;
            // A comment at the end is no document here.
            let mut documents = source.children.as_slice();
            if let [before @ .., last] = documents
                && !before.is_empty()
                && last.line.is_none()
            {
                documents = before;
            }
            match documents {
                [document] => from_source(heap, document),
                _ => fail("Expected to find exactly one YAML document"),
            }
        }
    }
}

fn encoding(call: &NativeCall) -> Evaluated<GeneralPurpose> {
    let alphabet = if call.flag("url", false)? {
        URL_SAFE
    } else {
        STANDARD
    };
    let is_raw = call.flag("raw", false)?;
    let is_strict = call.flag("strict", false)?;
    let padding = match is_raw {
        true => DecodePaddingMode::RequireNone,
        false => DecodePaddingMode::RequireCanonical,
    };
    let config = GeneralPurposeConfig::new()
        .with_encode_padding(!is_raw)
        .with_decode_allow_trailing_bits(!is_strict)
        .with_decode_padding_mode(padding);
    Ok(GeneralPurpose::new(&alphabet, config))
}
