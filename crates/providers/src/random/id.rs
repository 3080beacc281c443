//! `random/id` and `random/uuid`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use blueprint::{Map, Value};
use rand::rngs::StdRng;
use rand::{Rng, RngExt};
use uuid::{Builder, Uuid};

/// The computed fields of a `random/id`.
pub(super) fn id(spec: &Value, random: &mut StdRng) -> Map {
    let bytes = spec
        .get("bytes")
        .and_then(Value::as_int)
        .and_then(|bytes| usize::try_from(bytes).ok())
        .unwrap_or(8);
    let mut drawn = vec![0; bytes];
    random.fill_bytes(&mut drawn);
    id_of(
        &drawn,
        spec.get("prefix")
            .and_then(Value::as_text)
            .unwrap_or_default(),
    )
}

/// The three texts of an id, each after the prefix.
fn id_of(bytes: &[u8], prefix: &str) -> Map {
    let hex = data_encoding::HEXLOWER.encode(bytes);
    [
        ("hex".into(), format!("{prefix}{hex}").into()),
        (
            "base64Url".into(),
            format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes)).into(),
        ),
        (
            "decimal".into(),
            format!("{prefix}{}", decimal(bytes)).into(),
        ),
    ]
    .into_iter()
    .collect()
}

/// The fields of an id from its hexadecimal digits. `None` if the text is not such an id.
pub(super) fn id_from_hex(text: &str) -> Option<Map> {
    if text.is_empty()
        || text.len() > 2048
        || !text.len().is_multiple_of(2)
        || !text.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        return None;
    }
    let digits = text
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let bytes: Vec<u8> = digits.collect::<Option<_>>()?;
    let mut fields = id_of(&bytes, "");
    fields.insert("bytes".into(), Value::Int(i64::try_from(bytes.len()).ok()?));
    Some(fields)
}

/// The decimal digits of a number from its bytes, the most significant first.
fn decimal(bytes: &[u8]) -> String {
    // Nine digits per limb, the least significant first. The work is quadratic, and the length of
    // an id is bounded.
    const LIMB: u64 = 1_000_000_000;
    let mut limbs: Vec<u64> = vec![0];
    for byte in bytes {
        let mut carry = u64::from(*byte);
        for limb in &mut limbs {
            let value = *limb * 256 + carry;
            *limb = value % LIMB;
            carry = value / LIMB;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    let mut digits = limbs.iter().rev();
    let first = digits.next().map(u64::to_string).unwrap_or_default();
    digits.fold(first, |text, limb| format!("{text}{limb:09}"))
}

/// A version 4 UUID.
pub(super) fn uuid(random: &mut StdRng) -> Uuid {
    Builder::from_random_bytes(random.random()).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_is_written_in_three_ways() {
        let fields = id_of(&[0x01, 0x00, 0xff, 0xfe], "p-");
        assert_eq!(fields.get("hex"), Some(&"p-0100fffe".into()));
        assert_eq!(fields.get("base64Url"), Some(&"p-AQD__g".into()));
        assert_eq!(fields.get("decimal"), Some(&"p-16842750".into()));
    }

    #[test]
    fn decimals_of_any_length_are_exact() {
        assert_eq!(decimal(&[0, 0]), "0");
        assert_eq!(decimal(&[0xff; 8]), u64::MAX.to_string());
        assert_eq!(decimal(&[0xff; 16]), u128::MAX.to_string());
        assert_eq!(decimal(&1_000_000_000_u64.to_be_bytes()), "1000000000");
    }

    #[test]
    fn hexadecimal_text_reads_back() {
        let fields = id_from_hex("0100fffe").unwrap();
        assert_eq!(
            (fields.get("bytes"), fields.get("decimal")),
            (Some(&Value::Int(4)), Some(&"16842750".into()))
        );
        assert_eq!(id_from_hex("abc"), None);
        assert_eq!(id_from_hex("zz"), None);
    }
}
