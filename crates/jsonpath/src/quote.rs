//! Quoted strings with the escapes of Go.

/// The text in a quoted string. The quotes are part of `quoted`, and equal. `None` if it has a
/// quote inside or a bad escape.
pub(crate) fn unquote(quoted: &str) -> Option<String> {
    let quote = quoted.chars().next()?;
    let text = quoted.get(1..quoted.len().checked_sub(1)?)?;
    if !text.contains(['\\', quote]) {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == quote {
            return None;
        }
        if character == '\\' {
            escape(&mut characters, quote, &mut bytes)?;
        } else {
            push(character, &mut bytes);
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn push(character: char, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Reads an escape after its backslash.
fn escape(characters: &mut std::str::Chars<'_>, quote: char, bytes: &mut Vec<u8>) -> Option<()> {
    let character = characters.next()?;
    match character {
        'a' => bytes.push(7),
        'b' => bytes.push(8),
        'f' => bytes.push(12),
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        't' => bytes.push(b'\t'),
        'v' => bytes.push(11),
        '\\' => bytes.push(b'\\'),
        'x' => bytes.push(u8::try_from(number(characters, 2, 16)?).ok()?),
        'u' => push(char::from_u32(number(characters, 4, 16)?)?, bytes),
        'U' => push(char::from_u32(number(characters, 8, 16)?)?, bytes),
        '0'..='7' => {
            let rest = number(characters, 2, 8)?;
            let value = character.to_digit(8)? * 64 + rest;
            bytes.push(u8::try_from(value).ok()?);
        }
        '\'' | '"' if character == quote => push(character, bytes),
        _ => return None,
    }
    Some(())
}

/// Reads exactly `digits` digits.
fn number(characters: &mut std::str::Chars<'_>, digits: usize, radix: u32) -> Option<u32> {
    let mut value: u32 = 0;
    for _ in 0..digits {
        let digit = characters.next()?.to_digit(radix)?;
        value = value.checked_mul(radix)?.checked_add(digit)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::unquote;

    #[test]
    fn escapes_are_those_of_go() {
        assert_eq!(unquote(r#""a\tb""#).as_deref(), Some("a\tb"));
        assert_eq!(unquote(r"'\''").as_deref(), Some("'"));
        assert_eq!(unquote(r#""\'""#), None);
        assert_eq!(unquote(r#""\x41\102\u0043""#).as_deref(), Some("ABC"));
        assert_eq!(unquote(r#""\q""#), None);
        assert_eq!(unquote(r#""\777""#), None);
        assert_eq!(unquote("\""), None);
    }
}
