//! Names and identifiers of stacks and members, the same in every run.

use blueprint::Name;

/// The name of the stack of a document, from the instance and the children above the document.
pub(super) fn stack_name(instance: &str, unit: &[Name]) -> String {
    let mut name = instance.to_owned();
    for child in unit {
        let mark = child_digest(&name, child);
        name = format!("{name}-{child}-{mark}");
    }
    name
}

/// Twelve characters that identify a child of a stack. Providers compute the same characters,
/// because a physical name begins with the name of its stack.
fn child_digest(stack: &str, child: &str) -> String {
    use sha2::Digest as _;
    let mut hasher = sha2::Sha256::new();
    for part in ["child", stack, child] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut text = data_encoding::BASE32_NOPAD
        .encode(&hasher.finalize()[..10])
        .to_ascii_lowercase();
    text.truncate(12);
    text
}

/// The identifier of the stack of a document.
pub(super) fn stack_identifier(instance: &str, unit: &[Name]) -> String {
    identifier(instance, unit).to_string()
}

pub(super) fn identifier(instance: &str, unit: &[Name]) -> uuid::Uuid {
    let mut bytes = [0_u8; 16];
    bytes.copy_from_slice(&digest(instance, unit)[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

pub(super) fn digest(instance: &str, unit: &[Name]) -> [u8; 32] {
    use sha2::Digest as _;
    let mut digest = sha2::Sha256::new();
    digest.update(instance.as_bytes());
    for name in unit {
        digest.update([0]);
        digest.update(name.as_bytes());
    }
    digest.finalize().into()
}

/// Twelve characters of a-z0-9.
pub(super) fn letters(digest: &[u8; 32]) -> String {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    digest[16..28]
        .iter()
        .map(|byte| char::from(LETTERS[usize::from(*byte) % 36]))
        .collect()
}
