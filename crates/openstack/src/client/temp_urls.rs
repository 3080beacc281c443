//! Temporary URLs of Swift: who has one may write or read one object, without a token.
//!
//! A URL is signed with a key of the account. The signature covers the method, the time of expiry
//! and the path of the object. Source: the middleware `tempurl` of Swift.
//!
//! Not here: what is written to the objects (`object_store`).

use std::fmt;

use ::provider::{ErrorKind, ProviderError};
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use rand::TryRng as _;
use rand::rngs::SysRng;
use reqwest::Url;
use serde_json::Value as Json;
use sha1::Sha1;
use sha2::Sha256;

use super::{Cloud, Service, ServiceRequest};

/// The header with the key of an account.
const KEY: &str = "X-Account-Meta-Temp-Url-Key";

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

impl fmt::Debug for UrlSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UrlSigner").finish_non_exhaustive()
    }
}

impl UrlSigner {
    /// The query that lets a method be used on a path without a token.
    fn query(&self, method: &str, path: &str) -> String {
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

impl Cloud {
    /// A URL with which anybody may use a method on an object. It is secret. The names of the
    /// container and the object need no escapes.
    ///
    /// # Errors
    /// [`ErrorKind::Permanent`] if the cloud has no Swift, or if Swift neither shows nor takes the key
    /// of the account; the error of a request.
    pub(crate) async fn temporary_url(
        &self,
        method: &'static str,
        container: &str,
        object: &str,
    ) -> Result<String, ProviderError> {
        let signer = self.url_signer.get_or_try_init(|| self.read_signer());
        let signer = signer.await?;
        let base = self.address(Service::ObjectStore);
        let mut url = base.map_err(|it| it.into_provider_error(false))?.clone();
        let path = format!("{}/{container}/{object}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.set_query(Some(&signer.query(method, &path)));
        Ok(url.into())
    }

    /// The key of the account, which is set if there is none, and the digest of the cluster.
    async fn read_signer(&self) -> Result<UrlSigner, ProviderError> {
        let key = match self.account_key().await? {
            Some(key) => key,
            None => {
                let request = ServiceRequest::post_nothing(Service::ObjectStore, "");
                let request = request.with_header(KEY, random_key()?);
                let set = self.send(request).await;
                set.map_err(|error| error.into_provider_error(true))?;
                // Another program may have set one at the same time: the key that Swift has counts.
                self.account_key().await?.ok_or_else(|| {
                    let message = "Swift: the account has no key for temporary URLs, and the user may \
                                   not set one; ask the owner of the account to set it";
                    ProviderError::new(ErrorKind::Permanent, message)
                })?
            }
        };
        let digest = match self.describe_object_store().await {
            Some(description) => SignatureDigest::of(&description),
            None => SignatureDigest::Sha1,
        };
        Ok(UrlSigner { key, digest })
    }

    async fn account_key(&self) -> Result<Option<String>, ProviderError> {
        let answer = self.send(ServiceRequest::head(Service::ObjectStore, ""));
        let answer = answer.await.map_err(|it| it.into_provider_error(false))?;
        let key = answer.header(KEY).filter(|key| !key.is_empty());
        Ok(key.map(str::to_owned))
    }

    /// What the cluster says about itself; `None` if it says nothing.
    async fn describe_object_store(&self) -> Option<Json> {
        let base = self.address(Service::ObjectStore).ok()?;
        let answer = self.send_to(Service::ObjectStore, description_url(base));
        answer.await.ok().map(|answer| answer.body)
    }
}

/// The address of the description of a cluster: beside the version.
fn description_url(base: &Url) -> Url {
    let mut url = super::endpoints::without_version(base.clone());
    let path = format!("{}/info", url.path().trim_end_matches('/'));
    url.set_path(&path);
    url
}

/// A new key of an account.
///
/// # Errors
/// [`ErrorKind::Transient`] if the operating system gives no random numbers.
fn random_key() -> Result<String, ProviderError> {
    let mut bytes = [0; 32];
    let drawn = SysRng.try_fill_bytes(&mut bytes);
    drawn.map_err(|_| {
        let message = "the operating system gives no random numbers at the moment";
        ProviderError::new(ErrorKind::Transient, message)
    })?;
    Ok(HEXLOWER.encode(&bytes))
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
        for (base, expected) in [
            ("http://h:8080/v1/AUTH_a", "http://h:8080/info"),
            ("http://h/swift/v1", "http://h/swift/info"),
        ] {
            let url = Url::parse(base).map(|base| description_url(&base));
            assert_eq!(url.map(String::from), Ok(expected.to_owned()));
        }
    }
}
