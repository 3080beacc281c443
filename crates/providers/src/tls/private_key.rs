//! `tls/private-key`: a new key pair in the formats that other programs read. Also reads a private
//! key from a field.

use blueprint::{Map, Name, Value};
use provider::{ErrorKind, ProviderError};
use rcgen::{KeyPair, PublicKeyData};

use super::algorithm::KeyAlgorithm;
use super::der::{DerReader, inside_pkcs8, pem};
use super::openssh;

/// The PKCS#8 header of an Ed25519 key without its public part; 32 bytes follow.
const ED25519_HEAD: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// The message about a field that holds no private key.
pub(super) const NO_KEY: &str =
    "is no private key in PEM form: PKCS#8, PKCS#1 or SEC 1, not encrypted";

/// Reads the private key in a field.
///
/// # Errors
/// [`ErrorKind::Document`] at the field if it holds no private key. The message does not repeat the
/// text.
pub(super) fn read(spec: &Value, field: &str) -> Result<KeyPair, ProviderError> {
    let text = spec.get(field).and_then(Value::as_text).unwrap_or_default();
    KeyPair::from_pem(text).map_err(|_| ProviderError::new(ErrorKind::Document, NO_KEY).at(field))
}

/// Generates a key pair. Returns its fingerprint and the computed fields. Takes up to some seconds.
/// `None` on failure.
pub(super) fn generate(algorithm: KeyAlgorithm) -> Option<(Name, Map)> {
    let pair = algorithm.generate().ok()?;
    let raw = pair.der_bytes();
    let mut pkcs8 = pair.serialized_der().to_vec();
    if algorithm == KeyAlgorithm::Ed25519 {
        // Many programs refuse the newer form, which includes the public key.
        let seed = DerReader::new(inside_pkcs8(&pkcs8)?).octets()?;
        pkcs8 = [ED25519_HEAD.as_slice(), seed].concat();
    }
    let blob = openssh::public_blob(algorithm, raw)?;
    let fingerprint: Name = openssh::fingerprint(&blob).into();
    let fields = [
        ("privateKeyPem", pem("PRIVATE KEY", &pkcs8, 64)),
        (
            "privateKeyOpenssh",
            openssh::private_file(algorithm, &pkcs8, raw, &blob)?,
        ),
        (
            "publicKeyPem",
            pem("PUBLIC KEY", &pair.subject_public_key_info(), 64),
        ),
        ("publicKeyOpenssh", openssh::public_line(algorithm, &blob)),
        ("fingerprintSha256", fingerprint.to_string()),
    ];
    Some((
        fingerprint,
        fields
            .into_iter()
            .map(|(name, text)| (name.into(), text.into()))
            .collect(),
    ))
}
