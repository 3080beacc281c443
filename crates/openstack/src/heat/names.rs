//! Names and ids of resources, derived from the token of the create: the same call gives the same
//! names and ids.
//!
//! A physical name is the instance, the resource and twelve characters. A resource in a child uses
//! the name of the child's own instance, which is derived from its parent in the same way.

use blueprint::{Key, Name};
use data_encoding::{Encoding, Specification};
use provider::Call;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;
use uuid::{Builder, Uuid};

/// Maximum number of characters of a physical name.
const LONGEST: usize = 255;

/// Lower-case letters and digits that cannot be confused with each other.
static LETTERS: LazyLock<Encoding> = LazyLock::new(|| {
    let mut letters = Specification::new();
    letters.symbols.push_str("abcdefghijklmnopqrstuvwxyz234567");
    letters
        .encoding()
        .expect("thirty-two different characters are an encoding")
});

/// The physical name of the resource that a call creates.
pub(crate) fn physical_name(call: &Call) -> Name {
    let mut instance = call.instance.to_string();
    for child in &call.address.path {
        let mark = short_digest(&["child", &instance, child]);
        instance = format!("{instance}-{child}-{mark}");
    }
    let resource = match &call.address.key {
        None => call.address.name.to_string(),
        Some(Key::Index(index)) => format!("{}-{index}", call.address.name),
        Some(Key::Name(key)) => format!("{}-{key}", call.address.name),
    };
    let mark = short_digest(&["thing", &call.token]);
    shortened(&format!("{instance}-{resource}-{mark}")).into()
}

/// Shortens a name to the first two characters, a hyphen, and the end.
fn shortened(name: &str) -> String {
    let length = name.chars().count();
    if length <= LONGEST {
        return name.to_owned();
    }
    let end = name.chars().skip(length - (LONGEST - 3));
    name.chars().take(2).chain(['-']).chain(end).collect()
}

/// A UUID for the resource that a call creates. `what` distinguishes several UUIDs of one call.
pub(crate) fn uuid(call: &Call, what: &str) -> Uuid {
    let digest = digest(&["uuid", what, &call.token]);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Builder::from_random_bytes(bytes).into_uuid()
}

/// Twelve letters and digits that stand for some parts.
pub(crate) fn short_digest(parts: &[&str]) -> String {
    let mut text = LETTERS.encode(&digest(parts)[..10]);
    text.truncate(12);
    text
}

/// A digest of parts, which depends on their boundaries.
fn digest(parts: &[&str]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_ends() {
        let name = format!("ab{}-abcdefghijkl", "x".repeat(300));
        let short = shortened(&name);
        assert_eq!(short.chars().count(), 255);
        assert!(
            short.starts_with("ab-x") && short.ends_with("x-abcdefghijkl"),
            "{short}"
        );
        assert_eq!(shortened(&"é".repeat(255)), "é".repeat(255));
    }

    #[test]
    fn marks_have_twelve_small_letters_and_digits() {
        let mark = short_digest(&["thing", "a"]);
        assert!(
            mark.len() == 12
                && mark
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        );
        assert_ne!(digest(&["a", "bc"]), digest(&["ab", "c"]));
    }
}
