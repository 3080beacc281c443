//! The key algorithms that `tls/private-key` can generate.

use rcgen::{KeyPair, RsaKeySize, SignatureAlgorithm};

/// A key algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyAlgorithm {
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

impl KeyAlgorithm {
    /// The algorithm with the name in a document. `None` if there is none.
    pub(super) fn named(name: &str) -> Option<KeyAlgorithm> {
        Some(match name {
            "ed25519" => KeyAlgorithm::Ed25519,
            "ecdsa-p256" => KeyAlgorithm::EcdsaP256,
            "ecdsa-p384" => KeyAlgorithm::EcdsaP384,
            "rsa-2048" => KeyAlgorithm::Rsa2048,
            "rsa-3072" => KeyAlgorithm::Rsa3072,
            "rsa-4096" => KeyAlgorithm::Rsa4096,
            _ => return None,
        })
    }

    /// The name of the key type in OpenSSH.
    pub(super) fn openssh_name(self) -> &'static str {
        match self {
            KeyAlgorithm::Ed25519 => "ssh-ed25519",
            KeyAlgorithm::EcdsaP256 => "ecdsa-sha2-nistp256",
            KeyAlgorithm::EcdsaP384 => "ecdsa-sha2-nistp384",
            KeyAlgorithm::Rsa2048 | KeyAlgorithm::Rsa3072 | KeyAlgorithm::Rsa4096 => "ssh-rsa",
        }
    }

    /// The name of the curve in OpenSSH, for ECDSA.
    pub(super) fn openssh_curve(self) -> Option<&'static str> {
        self.openssh_name().strip_prefix("ecdsa-sha2-")
    }

    /// Generates a key pair. RSA takes up to some seconds.
    ///
    /// # Errors
    /// If the cryptographic library cannot generate the key.
    pub(super) fn generate(self) -> Result<KeyPair, rcgen::Error> {
        let elliptic: &'static SignatureAlgorithm = match self {
            KeyAlgorithm::Ed25519 => &rcgen::PKCS_ED25519,
            KeyAlgorithm::EcdsaP256 => &rcgen::PKCS_ECDSA_P256_SHA256,
            KeyAlgorithm::EcdsaP384 => &rcgen::PKCS_ECDSA_P384_SHA384,
            KeyAlgorithm::Rsa2048 => {
                return KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_2048);
            }
            KeyAlgorithm::Rsa3072 => {
                return KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_3072);
            }
            KeyAlgorithm::Rsa4096 => {
                return KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_4096);
            }
        };
        KeyPair::generate_for(elliptic)
    }
}
