//! Temporary URLs of Swift: who has one may write or read one object, without a token.
//!
//! Not here: the signature (`url_signer`), what is written to the objects (`object_store`).

use ::provider::{ErrorKind, ProviderError};
use data_encoding::HEXLOWER;
use rand::TryRng as _;
use rand::rngs::SysRng;
use reqwest::Url;
use serde_json::Value as Json;

use super::url_signer::UrlSigner;
use super::{Cloud, Service, ServiceRequest};

/// The header with the key of an account.
const KEY: &str = "X-Account-Meta-Temp-Url-Key";

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
        let description = self.describe_object_store().await;
        Ok(UrlSigner::new(key, description.as_ref()))
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

    #[test]
    fn a_cluster_describes_itself_beside_the_version() {
        for (base, expected) in [
            ("http://h:8080/v1/AUTH_a", "http://h:8080/info"),
            ("http://h/swift/v1", "http://h/swift/info"),
        ] {
            let url = Url::parse(base).map(|base| description_url(&base));
            assert_eq!(url.map(String::from), Ok(expected.to_owned()));
        }
    }
}
