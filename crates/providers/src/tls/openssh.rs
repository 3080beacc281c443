//! Keys in the formats of OpenSSH: public line, private file, fingerprint.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest, Sha256};

use super::algorithm::KeyAlgorithm;
use super::der::{DerReader, inside_pkcs8, pem};

/// The block size in bytes to which an unencrypted private part is padded.
const BLOCK: usize = 8;

/// Writes the length and the bytes.
fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend(length.to_be_bytes());
    out.extend(bytes);
}

/// Writes a positive number. `bytes` have no leading zeros.
fn number(out: &mut Vec<u8>, bytes: &[u8]) {
    // Without padding, a leading 1 bit would make the number negative.
    if bytes.first().is_some_and(|byte| byte & 0x80 != 0) {
        let mut padded = vec![0];
        padded.extend(bytes);
        string(out, &padded);
    } else {
        string(out, bytes);
    }
}

/// The public key in the wire format of OpenSSH. `raw` is the content of the key's bit string.
/// `None` if it is invalid.
pub(super) fn public_blob(algorithm: KeyAlgorithm, raw: &[u8]) -> Option<Vec<u8>> {
    let mut blob = Vec::new();
    string(&mut blob, algorithm.openssh_name().as_bytes());
    match algorithm.openssh_curve() {
        Some(curve) => {
            string(&mut blob, curve.as_bytes());
            string(&mut blob, raw);
        }
        None if algorithm == KeyAlgorithm::Ed25519 => string(&mut blob, raw),
        None => {
            let mut key = DerReader::new(raw).sequence()?;
            let (modulus, exponent) = (key.integer()?, key.integer()?);
            number(&mut blob, exponent);
            number(&mut blob, modulus);
        }
    }
    Some(blob)
}

/// The line for `authorized_keys`.
pub(super) fn public_line(algorithm: KeyAlgorithm, blob: &[u8]) -> String {
    format!("{} {}", algorithm.openssh_name(), STANDARD.encode(blob))
}

/// The fingerprint in the form of `ssh-keygen -l`.
pub(super) fn fingerprint(blob: &[u8]) -> String {
    format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(blob)))
}

/// The private key in the file format of OpenSSH, not encrypted. `None` if it is invalid.
pub(super) fn private_file(
    algorithm: KeyAlgorithm,
    pkcs8: &[u8],
    raw: &[u8],
    blob: &[u8],
) -> Option<String> {
    let inside = inside_pkcs8(pkcs8)?;
    let mut secret = Vec::new();
    // Two equal numbers, by which a reader verifies the decryption. Without encryption any number
    // works.
    let check = Sha256::digest(pkcs8);
    secret.extend(check.iter().take(4));
    secret.extend(check.iter().take(4));
    string(&mut secret, algorithm.openssh_name().as_bytes());
    match algorithm.openssh_curve() {
        Some(curve) => {
            let mut key = DerReader::new(inside).sequence()?;
            key.integer()?;
            let scalar = key.octets()?;
            let zeros = scalar.iter().take_while(|byte| **byte == 0).count();
            string(&mut secret, curve.as_bytes());
            string(&mut secret, raw);
            number(&mut secret, scalar.get(zeros..)?);
        }
        None if algorithm == KeyAlgorithm::Ed25519 => {
            let seed = DerReader::new(inside).octets()?;
            string(&mut secret, raw);
            string(&mut secret, &[seed, raw].concat());
        }
        None => {
            let mut key = DerReader::new(inside).sequence()?;
            key.integer()?;
            let (modulus, exponent, private) = (key.integer()?, key.integer()?, key.integer()?);
            let (p, q) = (key.integer()?, key.integer()?);
            key.integer()?;
            key.integer()?;
            let inverse = key.integer()?;
            for part in [modulus, exponent, private, inverse, p, q] {
                number(&mut secret, part);
            }
        }
    }
    string(&mut secret, b"");
    let missing = secret.len().next_multiple_of(BLOCK) - secret.len();
    secret.extend((1_u8..).take(missing));

    let mut file = b"openssh-key-v1\0".to_vec();
    string(&mut file, b"none");
    string(&mut file, b"none");
    string(&mut file, b"");
    file.extend(1_u32.to_be_bytes());
    string(&mut file, blob);
    string(&mut file, &secret);
    Some(pem("OPENSSH PRIVATE KEY", &file, 70))
}
