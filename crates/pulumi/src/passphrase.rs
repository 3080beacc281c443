//! Encrypts and decrypts values with the passphrase of a stack (Pulumi's passphrase manager).
//!
//! ```text
//! encryptionsalt = v1:SALT:CIPHERTEXT      CIPHERTEXT holds the word `pulumi`
//! ciphertext     = v1:NONCE:DATA           all parts are base64
//! ```
//!
//! The key is PBKDF2-HMAC-SHA256 of the passphrase with a million rounds; the cipher is AES-256-GCM.

use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::{Aes256Gcm, Nonce};
use data_encoding::BASE64;
use dialect::FillRandom;
use sha2::Sha256;

const ROUNDS: u32 = 1_000_000;

/// The word that proves a passphrase.
const PROOF: &str = "pulumi";

/// A cipher with the key of a stack.
pub(crate) struct StackCipher(Aes256Gcm);

/// The reason why nothing can be decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecryptError {
    /// The text has another form.
    Malformed,
    /// The key does not fit, or the text was changed.
    WrongKey,
}

impl StackCipher {
    /// The cipher for a stack's `encryptionsalt` and its passphrase.
    pub(crate) fn unlock(salt: &str, passphrase: &str) -> Result<StackCipher, DecryptError> {
        let rest = salt.strip_prefix("v1:").ok_or(DecryptError::Malformed)?;
        let (salt, proof) = rest.split_once(':').ok_or(DecryptError::Malformed)?;
        let salt = BASE64
            .decode(salt.as_bytes())
            .map_err(|_| DecryptError::Malformed)?;
        let cipher = StackCipher::derived(passphrase, &salt);
        match cipher.decrypt(proof)?.as_str() {
            PROOF => Ok(cipher),
            _ => Err(DecryptError::WrongKey),
        }
    }

    /// A cipher with a new salt, and the `encryptionsalt` that proves its passphrase. `random` is the
    /// source of the salt and of a nonce.
    pub(crate) fn create(
        passphrase: &str,
        random: FillRandom<'_>,
    ) -> Result<(StackCipher, String), String> {
        let mut salt = [0; 8];
        random(&mut salt)?;
        let cipher = StackCipher::derived(passphrase, &salt);
        let proof = cipher.encrypt(PROOF, random)?;
        Ok((cipher, format!("v1:{}:{proof}", BASE64.encode(&salt))))
    }

    fn derived(passphrase: &str, salt: &[u8]) -> StackCipher {
        let key: [u8; 32] =
            pbkdf2::pbkdf2_hmac_array::<Sha256, 32>(passphrase.as_bytes(), salt, ROUNDS);
        StackCipher(Aes256Gcm::new(&key.into()))
    }

    /// Encrypts a value.
    pub(crate) fn encrypt(&self, plain: &str, random: FillRandom<'_>) -> Result<String, String> {
        let mut nonce = [0; 12];
        random(&mut nonce)?;
        let data = self
            .0
            .encrypt(&Nonce::from(nonce), plain.as_bytes())
            .map_err(|_| "the value is too long to be encrypted".to_owned())?;
        Ok(format!(
            "v1:{}:{}",
            BASE64.encode(&nonce),
            BASE64.encode(&data)
        ))
    }

    /// Decrypts a value.
    pub(crate) fn decrypt(&self, text: &str) -> Result<String, DecryptError> {
        let rest = text.strip_prefix("v1:").ok_or(DecryptError::Malformed)?;
        let (nonce, data) = rest.split_once(':').ok_or(DecryptError::Malformed)?;
        let decoded = |part: &str| BASE64.decode(part.as_bytes());
        let (Ok(nonce), Ok(data)) = (decoded(nonce), decoded(data)) else {
            return Err(DecryptError::Malformed);
        };
        let nonce: [u8; 12] = nonce.try_into().map_err(|_| DecryptError::Malformed)?;
        let plain = self
            .0
            .decrypt(&Nonce::from(nonce), data.as_slice())
            .map_err(|_| DecryptError::WrongKey)?;
        String::from_utf8(plain).map_err(|_| DecryptError::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by another implementation (Node's `crypto`) with the passphrase `correct horse`.
    const SALT: &str = "v1:AQIDBAUGBwg=:v1:AQEBAQEBAQEBAQEB:E386FCC/nLtFQ4c0goKZVfriLlkMPw==";
    const VALUE: &str = "v1:AgICAgICAgICAgIC:7tEgyUgePh+j5TdcbgCvdOcMor5dFQsgHQ==";

    #[test]
    fn a_new_salt_proves_its_passphrase_and_values_return() {
        let mut next = 0;
        let mut count = |bytes: &mut [u8]| {
            bytes.fill(next);
            next += 1;
            Ok(())
        };
        let (cipher, salt) = StackCipher::create("horse", &mut count).unwrap();
        let first = cipher.encrypt("s3cret", &mut count).unwrap();
        assert_ne!(first, cipher.encrypt("s3cret", &mut count).unwrap());
        let again = StackCipher::unlock(&salt, "horse").unwrap();
        assert_eq!(again.decrypt(&first).as_deref(), Ok("s3cret"));
        let mut none = |_: &mut [u8]| Err("there is no randomness".to_owned());
        assert!(cipher.encrypt("x", &mut none).is_err());
    }

    #[test]
    fn a_value_is_decrypted_with_the_right_passphrase_only() {
        let cipher = StackCipher::unlock(SALT, "correct horse").unwrap();
        assert_eq!(cipher.decrypt(VALUE).as_deref(), Ok("s3cret-\u{fc}"));
        assert_eq!(
            StackCipher::unlock(SALT, "wrong horse").err(),
            Some(DecryptError::WrongKey)
        );
        for text in ["", "v1:", "v1:AA==:AA==", "v2:a:b", "v1:a"] {
            assert_eq!(cipher.decrypt(text), Err(DecryptError::Malformed), "{text}");
        }
    }
}
