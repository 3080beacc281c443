//! Reads JSON only up to the depth that values may have: a text that nests further could overflow
//! the stack.

use serde::de::{DeserializeOwned, Error as _};

use crate::MAX_DEPTH;

/// The maximum nesting depth of brackets: each level of a value may be wrapped once, and the value
/// is itself part of a larger text.
const MOST: usize = 2 * MAX_DEPTH + 64;

/// Reads JSON of the depth that stored values may have.
///
/// # Errors
/// If the text is not JSON of this form, or is nested deeper than any value.
pub fn read_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, serde_json::Error> {
    if is_too_deep(text) {
        return Err(serde_json::Error::custom(format!(
            "brackets are nested more than {MOST} deep"
        )));
    }
    // Checks the encoding once for the whole text instead of once for each string in it.
    let text = std::str::from_utf8(text).map_err(serde_json::Error::custom)?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Whether brackets outside of strings are nested too deeply.
fn is_too_deep(text: &[u8]) -> bool {
    // Nearly all texts are too short, or have too few opening brackets. The count of a piece fits a
    // byte, so that the compiler can compare many bytes at once.
    let opened = |piece: &[u8]| {
        piece
            .iter()
            .map(|byte| u8::from(matches!(byte, b'[' | b'{')))
            .sum::<u8>()
    };
    if text.len() <= MOST || text.chunks(255).map(opened).map(usize::from).sum::<usize>() <= MOST {
        return false;
    }
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                if depth > MOST {
                    return true;
                }
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;

    #[test]
    fn text_nested_deeper_than_a_value_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read_json::<Json>(nested(MOST).as_bytes()).is_ok());
        let Err(error) = read_json::<Json>(nested(MOST + 1).as_bytes()) else {
            panic!("it was read")
        };
        assert_eq!(error.to_string(), "brackets are nested more than 864 deep");
        assert!(read_json::<Json>("[".repeat(1_000_000).as_bytes()).is_err());
        let many = format!("[{}\"{}\\\"\"]", "[],".repeat(MOST), "[".repeat(MOST));
        assert!(
            read_json::<Json>(many.as_bytes()).is_ok(),
            "many, and not deep"
        );
        assert!(read_json::<Json>(b"[] []").is_err());
    }
}
