//! `digest`.

use blueprint::Value;
use expr::codes::{ARGUMENT_FORMAT, ARGUMENT_RANGE};
use sha2::Digest as _;

use super::function::{
    FunctionResult, HotFunction, PartialArgument, any, example, items, kind, wrong_type,
};
use crate::refusal::ValueRefusal;
use crate::version::Version;

pub(super) const FUNCTIONS: &[HotFunction] = &[HotFunction {
    name: "digest",
    since: Version::V2015_04_30,
    until: None,
    in_conditions: None,
    in_values: true,
    form: any,
    call: digest,
    parts: PartialArgument::Whole,
    docs: "`[algorithm, text]`: the digest of the text in lower-case hexadecimal digits. The text is encoded as latin-1. Algorithms: \
           md5, sha1, sha224, sha256, sha384, sha512, sha512_224, sha512_256, sha3_224, sha3_256, sha3_384, sha3_512, blake2b, \
           blake2s, ripemd160, sm3, md5-sha1.",
    examples: &[
        example(r#"["md5", "é"]"#, r#""3406877694691ddd1dfb0aca54681407""#),
        example(r#"["MD5", "x"]"#, r#""9dd4e461268c8034f5c8564e155c67a6""#),
        example(
            r#"["sha256", ""]"#,
            r#""e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855""#,
        ),
        example(
            r#"["sm3", "abc"]"#,
            r#""66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0""#,
        ),
        example(
            r#"["ripemd160", "abc"]"#,
            r#""8eb208f7e05d987a9b044a8e98c6b087f15a0bfc""#,
        ),
        example(r#"["md5", "€"]"#, "! argument-format"),
        example(r#"["crc32", "a"]"#, "! argument-range"),
        example(r#"["shake_128", "a"]"#, "! argument-range"),
        example(r#"["md5", 1]"#, "! argument-type"),
        example(r#"["md5"]"#, "! argument-type"),
    ],
}];

type DigestFunction = fn(&[u8]) -> Vec<u8>;

/// The algorithms, each with the accepted spellings of its name.
const ALGORITHMS: &[(&str, DigestFunction, NameCase)] = &[
    (
        "md5",
        |bytes| md5::Md5::digest(bytes).to_vec(),
        NameCase::Any,
    ),
    (
        "sha1",
        |bytes| sha1::Sha1::digest(bytes).to_vec(),
        NameCase::Any,
    ),
    (
        "sha224",
        |bytes| sha2::Sha224::digest(bytes).to_vec(),
        NameCase::Any,
    ),
    (
        "sha256",
        |bytes| sha2::Sha256::digest(bytes).to_vec(),
        NameCase::Any,
    ),
    (
        "sha384",
        |bytes| sha2::Sha384::digest(bytes).to_vec(),
        NameCase::Any,
    ),
    (
        "sha512",
        |bytes| sha2::Sha512::digest(bytes).to_vec(),
        NameCase::Any,
    ),
    (
        "sha512_224",
        |bytes| sha2::Sha512_224::digest(bytes).to_vec(),
        NameCase::UpperOrLower,
    ),
    (
        "sha512_256",
        |bytes| sha2::Sha512_256::digest(bytes).to_vec(),
        NameCase::UpperOrLower,
    ),
    (
        "sha3_224",
        |bytes| sha3::Sha3_224::digest(bytes).to_vec(),
        NameCase::Lower,
    ),
    (
        "sha3_256",
        |bytes| sha3::Sha3_256::digest(bytes).to_vec(),
        NameCase::Lower,
    ),
    (
        "sha3_384",
        |bytes| sha3::Sha3_384::digest(bytes).to_vec(),
        NameCase::Lower,
    ),
    (
        "sha3_512",
        |bytes| sha3::Sha3_512::digest(bytes).to_vec(),
        NameCase::Lower,
    ),
    (
        "blake2b",
        |bytes| blake2::Blake2b512::digest(bytes).to_vec(),
        NameCase::Lower,
    ),
    (
        "blake2s",
        |bytes| blake2::Blake2s256::digest(bytes).to_vec(),
        NameCase::Lower,
    ),
    (
        "ripemd160",
        |bytes| ripemd::Ripemd160::digest(bytes).to_vec(),
        NameCase::Any,
    ),
    (
        "sm3",
        |bytes| sm3::Sm3::digest(bytes).to_vec(),
        NameCase::Any,
    ),
    (
        "md5-sha1",
        |bytes| {
            [
                md5::Md5::digest(bytes).to_vec(),
                sha1::Sha1::digest(bytes).to_vec(),
            ]
            .concat()
        },
        NameCase::Any,
    ),
];

/// The accepted spellings of a name. Heat checks the lower-case name, but passes the original to
/// two libraries that accept other spellings.
#[derive(Clone, Copy, PartialEq)]
enum NameCase {
    Any,
    UpperOrLower,
    Lower,
}

impl NameCase {
    fn allows(self, name: &str) -> bool {
        match self {
            NameCase::Any => true,
            NameCase::UpperOrLower => {
                !name.contains(|next: char| next.is_ascii_uppercase())
                    || !name.contains(|next: char| next.is_ascii_lowercase())
            }
            NameCase::Lower => !name.contains(|next: char| next.is_ascii_uppercase()),
        }
    }
}

fn digest(argument: &Value, _: Version) -> FunctionResult {
    let wanted = "`digest` takes a list of two texts: an algorithm and a value";
    let list = items(argument);
    let wrong = list.and_then(|items| {
        items
            .iter()
            .position(|item| !matches!(item, Value::Text(_)))
    });
    let (Some(list), None) = (list, wrong) else {
        let message = match list.zip(wrong) {
            Some((items, at)) => format!("{wanted}, not {}", kind(&items[at])),
            None => wanted.to_owned(),
        };
        let refusal = wrong_type(
            message,
            "Argument to function \"digest\" must be a list of strings",
        );
        return Err(match wrong {
            Some(at) => refusal.within(at),
            None => refusal,
        });
    };
    let [Value::Text(name), Value::Text(text)] = list else {
        return Err(wrong_type(
            wanted,
            "Function \"digest\" usage: [\"<algorithm>\", \"<value>\"]",
        ));
    };
    let known = ALGORITHMS
        .iter()
        .find(|(known, ..)| name.to_lowercase() == *known);
    let Some((known, algorithm, case)) = known else {
        let shake = matches!(name.to_lowercase().as_str(), "shake_128" | "shake_256");
        let (message, words) = if shake {
            let words = if NameCase::Lower.allows(name) {
                "hexdigest() missing required argument 'length' (pos 1)".to_owned()
            } else {
                format!("unsupported hash type {name}")
            };
            (
                format!("`{name}` has no fixed length and cannot be used here"),
                words,
            )
        } else {
            let names: Vec<String> = ALGORITHMS
                .iter()
                .map(|(name, ..)| format!("'{name}'"))
                .collect();
            (
                format!("there is no digest algorithm `{name}`"),
                format!("Algorithm must be one of {{{}}}", names.join(", ")),
            )
        };
        let refusal = ValueRefusal::new(&ARGUMENT_RANGE, message)
            .heat(words)
            .within(0);
        let nearest = diag::nearest(
            &name.to_lowercase(),
            ALGORITHMS.iter().map(|(name, ..)| *name),
        );
        return Err(match nearest {
            Some(nearest) if !shake => refusal.help(format!("did you mean `{nearest}`?")),
            _ => refusal.help("use `sha256`"),
        });
    };
    if !case.allows(name) {
        return Err(ValueRefusal::new(
            &ARGUMENT_RANGE,
            format!("there is no digest algorithm `{name}`"),
        )
        .heat(format!("unsupported hash type {name}"))
        .help(format!("write `{known}`"))
        .within(0));
    }
    let mut hexadecimal = String::new();
    for byte in algorithm(&latin_1(text).map_err(|refusal| refusal.within(1))?) {
        hexadecimal.push_str(&format!("{byte:02x}"));
    }
    Ok(Value::from(hexadecimal))
}

/// A text as bytes, one for each character.
fn latin_1(text: &str) -> Result<Vec<u8>, ValueRefusal> {
    let bytes: Result<Vec<u8>, _> = text
        .chars()
        .map(|character| u8::try_from(u32::from(character)))
        .collect();
    bytes.map_err(|_| {
        let outside = |character: &char| u32::from(*character) > 0xff;
        let first = text
            .chars()
            .position(|character| outside(&character))
            .unwrap_or_default();
        let run = text.chars().skip(first).take_while(outside).count();
        let shown = text.chars().nth(first).unwrap_or_default();
        let code = u32::from(shown);
        let place = if run == 1 {
            let escaped = if code > 0xffff {
                format!("\\U{code:08x}")
            } else {
                format!("\\u{code:04x}")
            };
            format!("character '{escaped}' in position {first}")
        } else {
            format!("characters in position {first}-{}", first + run - 1)
        };
        ValueRefusal::new(
            &ARGUMENT_FORMAT,
            format!("`digest` takes characters up to U+00FF only, and `{shown}` is beyond"),
        )
        .heat(format!(
            "'latin-1' codec can't encode {place}: ordinal not in range(256)"
        ))
    })
}
