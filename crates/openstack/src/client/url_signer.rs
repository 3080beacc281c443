//! Signs temporary URLs of Swift. The signature covers the method, the time of expiry and the path of
//! the object. Source: the middleware `tempurl` of Swift.
//!
//! Not here: the key of the account (`temp_urls`).

use std::fmt;

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value as Json;
use sha1::Sha1;
use sha2::Sha256;

/// The time of expiry: the last second that 32 bits hold, less a minute. Heat uses the same, because
/// nobody knows when the guest writes.
const EXPIRES: u32 = 2_147_483_647 - 60;

/// The digest of the signatures that a cluster accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignatureDigest {
    Sha1,
    Sha256,
}

impl SignatureDigest {
    /// The better digest that the description of a cluster lists. Old clusters describe nothing.
    fn of(description: &Json) -> SignatureDigest {
        let allowed = description["tempurl"]["allowed_digests"].as_array();
        match allowed.is_some_and(|all| all.iter().any(|it| it == "sha256")) {
            true => SignatureDigest::Sha256,
            false => SignatureDigest::Sha1,
        }
    }
}

/// Signs the URLs of an account.
pub(super) struct UrlSigner {
    key: String,
    digest: SignatureDigest,
}

impl UrlSigner {
    /// The signer with the key of an account. A cluster may describe itself.
    pub(super) fn new(key: String, description: Option<&Json>) -> UrlSigner {
        let digest = description.map_or(SignatureDigest::Sha1, SignatureDigest::of);
        UrlSigner { key, digest }
    }
}

impl fmt::Debug for UrlSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UrlSigner").finish_non_exhaustive()
    }
}

impl UrlSigner {
    /// The query that lets a method be used on a path without a token.
    pub(super) fn query(&self, method: &str, path: &str) -> String {
        let signed = format!("{method}\n{EXPIRES}\n{path}");
        let signature = match self.digest {
            SignatureDigest::Sha1 => signature::<Hmac<Sha1>>(&self.key, &signed),
            SignatureDigest::Sha256 => signature::<Hmac<Sha256>>(&self.key, &signed),
        };
        format!("temp_url_sig={signature}&temp_url_expires={EXPIRES}")
    }
}

/// The signature of a text, in hexadecimal digits.
fn signature<M: Mac + KeyInit>(key: &str, text: &str) -> String {
    // HMAC takes keys of any length.
    let mac = <M as KeyInit>::new_from_slice(key.as_bytes()).map(|mac| mac.chain_update(text));
    mac.map_or_else(
        |_| String::new(),
        |mac| HEXLOWER.encode(&mac.finalize().into_bytes()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_signature_is_that_of_the_swift_client() {
        let signer = |digest| UrlSigner {
            key: "secret".to_owned(),
            digest,
        };
        // Made by `swiftclient.utils.generate_temp_url` with the same key, path and time.
        let sha1 = signer(SignatureDigest::Sha1).query("PUT", "/v1/AUTH_a/box/signal");
        let sha256 = signer(SignatureDigest::Sha256).query("PUT", "/v1/AUTH_a/box/signal");
        assert_eq!(
            [sha1, sha256],
            [
                "temp_url_sig=0e0e3dbee9651c7995266c56dcb9db01958e07ac&temp_url_expires=2147483587",
                "temp_url_sig=72d59ef4399dfa54ebf6edfcd6585e53009c1481195c3c705ac426dec3070698\
                 &temp_url_expires=2147483587",
            ]
        );
    }

    #[test]
    fn the_description_says_which_digest_is_accepted() {
        let modern = json!({"tempurl": {"allowed_digests": ["sha1", "sha256"]}});
        assert_eq!(SignatureDigest::of(&modern), SignatureDigest::Sha256);
        let old = json!({"tempurl": {"allowed_digests": ["sha1"]}});
        assert_eq!(SignatureDigest::of(&old), SignatureDigest::Sha1);
        assert_eq!(SignatureDigest::of(&json!({})), SignatureDigest::Sha1);
    }
}
