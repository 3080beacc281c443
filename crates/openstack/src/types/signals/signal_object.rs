//! The object of Swift to which guests write their signals.
//!
//! Not here: what the signals mean (`received`).

use ::provider::ProviderError;
use bytes::Bytes;

use crate::client::Service;
use crate::managed::CloudCall;
use crate::object_store::{self, plain_name};

/// The name of the object in its container.
const OBJECT: &str = "signal";

/// The content of the object before the first signal.
const BEFORE: &[u8] = b"in progress";

/// The object to which guests write their signals. It is the only one of its container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::types) struct SignalObject {
    pub(super) container: String,
}

impl SignalObject {
    /// The object of a resource with a generated name.
    pub(in crate::types) fn of_resource(name: &str) -> SignalObject {
        SignalObject {
            container: plain_name(name),
        }
    }

    /// The object that a handle names: by the id of the handle or by its URL. `None` if the URL is
    /// none of the account.
    pub(super) fn named(on: CloudCall<'_>, handle: &str) -> Option<SignalObject> {
        let container = match handle.starts_with("http") {
            true => {
                let base = on.cloud.address(Service::ObjectStore).ok()?;
                let url = reqwest::Url::parse(handle).ok()?;
                container_of(url.path(), base.path())?
            }
            false => handle.to_owned(),
        };
        let is_name = !container.is_empty() && !container.contains('/');
        is_name.then_some(SignalObject { container })
    }

    /// The container.
    pub(in crate::types) fn container(&self) -> &str {
        &self.container
    }

    /// Creates the object, or empties it. With `keeps_all`, Swift keeps old versions, so that each
    /// write counts.
    ///
    /// # Errors
    /// The error of a request.
    pub(in crate::types) async fn open(
        &self,
        on: CloudCall<'_>,
        keeps_all: bool,
    ) -> Result<(), ProviderError> {
        let versions = ("X-Versions-Location".to_owned(), self.container.clone());
        let headers = if keeps_all {
            vec![versions]
        } else {
            Vec::new()
        };
        object_store::put_container(on, &self.container, &headers).await?;
        let content = ("text/plain", Bytes::from_static(BEFORE));
        object_store::put_object(on, &self.container, OBJECT, content).await
    }

    /// The URL to which guests write. It is secret.
    ///
    /// # Errors
    /// As [`Cloud::temporary_url`](crate::client::Cloud::temporary_url).
    pub(in crate::types) async fn url(&self, on: CloudCall<'_>) -> Result<String, ProviderError> {
        on.cloud.temporary_url("PUT", &self.container, OBJECT).await
    }

    /// Whether the object is there.
    ///
    /// # Errors
    /// The error of the request.
    pub(in crate::types) async fn exists(&self, on: CloudCall<'_>) -> Result<bool, ProviderError> {
        let container = object_store::container(on, &self.container).await?;
        Ok(container.is_some())
    }

    /// The signals in the order in which they came; `None` if the object was deleted.
    ///
    /// # Errors
    /// The error of a request.
    pub(in crate::types) async fn signals(
        &self,
        on: CloudCall<'_>,
    ) -> Result<Option<Vec<Bytes>>, ProviderError> {
        // The names of old versions begin with a digit and contain the time.
        let Some(objects) = object_store::objects(on, &self.container, "").await? else {
            return Ok(None);
        };
        let mut signals = object_store::contents(on, &self.container, &objects).await?;
        signals.retain(|signal| signal != BEFORE);
        Ok(Some(signals))
    }

    /// Deletes the object and its versions.
    ///
    /// # Errors
    /// As [`object_store::purge`].
    pub(in crate::types) async fn close(&self, on: CloudCall<'_>) -> Result<(), ProviderError> {
        object_store::purge(on, &self.container).await
    }
}

/// The container in the path of a temporary URL, for the path of the account.
fn container_of(path: &str, account: &str) -> Option<String> {
    let below = path.strip_prefix(account.trim_end_matches('/'))?;
    let (container, object) = below.strip_prefix('/')?.split_once('/')?;
    (object == OBJECT).then(|| container.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_container_is_found_in_the_path_of_the_account_only() {
        let container = |path| container_of(path, "/v1/AUTH_a");
        assert_eq!(container("/v1/AUTH_a/box/signal"), Some("box".to_owned()));
        for other in [
            "/v1/AUTH_b/box/signal",
            "/v1/AUTH_a/box/other",
            "/v1/AUTH_a/box",
            "/v1/AUTH_abc/box/signal",
        ] {
            assert_eq!(container(other), None, "{other}");
        }
    }
}
