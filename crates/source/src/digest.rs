//! The SHA-256 digest of the bytes of a document, which plans store and `checksum` pins.
//!
//! Not here: other algorithms. The prefix allows to add them later.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// The SHA-256 digest of a document. Prints and reads back as `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// The error for a text that is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a checksum is `sha256:` and 64 hexadecimal digits")]
pub struct DigestError;

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    /// The 64 digits in lower case, without the prefix.
    pub fn hex(&self) -> String {
        self.to_string().split_off("sha256:".len())
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    /// Parses `sha256:` and 64 digits, in upper or lower case.
    fn from_str(text: &str) -> Result<Digest, DigestError> {
        let digits = text.strip_prefix("sha256:").ok_or(DigestError)?.as_bytes();
        let mut bytes = [0; 32];
        if digits.len() != 2 * bytes.len() {
            return Err(DigestError);
        }
        let digit = |byte: u8| {
            char::from(byte)
                .to_digit(16)
                .map(|digit| digit as u8)
                .ok_or(DigestError)
        };
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let [high, low] = pair else {
                return Err(DigestError);
            };
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Digest(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("sha256:")?;
        out.write_str(&data_encoding::HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn digest_round_trips_as_text() {
        assert_eq!(Digest::of(b"").to_string(), EMPTY);
        assert_eq!(EMPTY.parse(), Ok(Digest::of(b"")));
        assert_eq!(format!("sha256:{}", Digest::of(b"").hex()), EMPTY);
        assert_eq!(
            format!("sha256:{}", EMPTY[7..].to_uppercase()).parse(),
            Ok(Digest::of(b""))
        );
    }

    #[test]
    fn invalid_digest_is_refused() {
        for text in [
            "",
            "sha256:",
            "md5:00",
            &EMPTY[7..],
            &EMPTY[..70],
            &format!("{EMPTY}0"),
            &EMPTY.replace('e', "ä"),
        ] {
            assert_eq!(text.parse::<Digest>(), Err(DigestError), "{text}");
        }
    }
}
