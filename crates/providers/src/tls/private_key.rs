//! `tls/private-key`: a new key pair, in the forms in which others take it.

use blueprint::{Map, Name};
use rcgen::{KeyPair, PublicKeyData, RsaKeySize, SignatureAlgorithm};

use super::der::{inside_pkcs8, pem};
use super::openssh;

/// What comes before the 32 bytes of an Ed25519 key in its plainest PKCS#8 form.
const ED25519_HEAD: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// A kind of key that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// Ed25519.
    Ed25519,
    /// ECDSA on NIST P-256.
    EcdsaP256,
    /// ECDSA on NIST P-384.
    EcdsaP384,
    /// RSA of 2048 bits.
    Rsa2048,
    /// RSA of 3072 bits.
    Rsa3072,
    /// RSA of 4096 bits.
    Rsa4096,
}

impl Algorithm {
    /// By the name that a document writes; `None` if it is no such name.
    pub(super) fn named(name: &str) -> Option<Algorithm> {
        Some(match name {
            "ed25519" => Algorithm::Ed25519,
            "ecdsa-p256" => Algorithm::EcdsaP256,
            "ecdsa-p384" => Algorithm::EcdsaP384,
            "rsa-2048" => Algorithm::Rsa2048,
            "rsa-3072" => Algorithm::Rsa3072,
            "rsa-4096" => Algorithm::Rsa4096,
            _ => return None,
        })
    }

    /// The name of the key type in OpenSSH.
    pub(super) fn openssh_name(self) -> &'static str {
        match self {
            Algorithm::Ed25519 => "ssh-ed25519",
            Algorithm::EcdsaP256 => "ecdsa-sha2-nistp256",
            Algorithm::EcdsaP384 => "ecdsa-sha2-nistp384",
            Algorithm::Rsa2048 | Algorithm::Rsa3072 | Algorithm::Rsa4096 => "ssh-rsa",
        }
    }

    /// The name of its curve in OpenSSH, for ECDSA.
    pub(super) fn openssh_curve(self) -> Option<&'static str> {
        self.openssh_name().strip_prefix("ecdsa-sha2-")
    }

    fn generate(self) -> Result<KeyPair, rcgen::Error> {
        let elliptic: &'static SignatureAlgorithm = match self {
            Algorithm::Ed25519 => &rcgen::PKCS_ED25519,
            Algorithm::EcdsaP256 => &rcgen::PKCS_ECDSA_P256_SHA256,
            Algorithm::EcdsaP384 => &rcgen::PKCS_ECDSA_P384_SHA384,
            Algorithm::Rsa2048 => return KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_2048),
            Algorithm::Rsa3072 => return KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_3072),
            Algorithm::Rsa4096 => return KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_4096),
        };
        KeyPair::generate_for(elliptic)
    }
}

/// A new key pair: its fingerprint, and the computed fields. Takes up to some seconds. `None` if it cannot be made.
pub(super) fn generate(algorithm: Algorithm) -> Option<(Name, Map)> {
    let pair = algorithm.generate().ok()?;
    let raw = pair.der_bytes();
    let mut pkcs8 = pair.serialized_der().to_vec();
    if algorithm == Algorithm::Ed25519 {
        // The form with the public key inside, which is newer, is refused by many.
        let seed = super::der::Reader::new(inside_pkcs8(&pkcs8)?).octets()?;
        pkcs8 = [ED25519_HEAD.as_slice(), seed].concat();
    }
    let blob = openssh::public_blob(algorithm, raw)?;
    let fingerprint: Name = openssh::fingerprint(&blob).into();
    let fields = [
        ("privateKeyPem", pem("PRIVATE KEY", &pkcs8, 64)),
        ("privateKeyOpenssh", openssh::private_file(algorithm, &pkcs8, raw, &blob)?),
        ("publicKeyPem", pem("PUBLIC KEY", &pair.subject_public_key_info(), 64)),
        ("publicKeyOpenssh", openssh::public_line(algorithm, &blob)),
        ("fingerprintSha256", fingerprint.to_string()),
    ];
    Some((fingerprint, fields.into_iter().map(|(name, text)| (name.into(), text.into())).collect()))
}
