//! The HTTP transport of the client library, with the clients of this project, so that there is one
//! TLS configuration and one use of proxies.
//!
//! Not here: retries and signatures, which the library makes itself.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_client::Clients;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use reqwest::Url;

/// The timeout for the metadata service that gives credentials to a cloud machine. Most machines
/// have no such service.
const MACHINE_TIMEOUT: Duration = Duration::from_secs(1);

/// Hosts of metadata services of clouds.
const MACHINE_HOSTS: [&str; 3] = [
    "169.254.169.254",
    "metadata.google.internal",
    "169.254.170.2",
];

/// Connects with clients that are created on first use.
#[derive(Clone, Debug, Default)]
pub(super) struct Connector {
    clients: Arc<Clients>,
}

/// The error that the metadata service of the cloud gave no credentials for this machine.
#[derive(Debug, thiserror::Error)]
#[error("this machine has no credentials of its own")]
pub(super) struct NoMachineCredentials;

/// The error that no client could be created.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NoClient(String);

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(StoreConnection {
            clients: self.clients.clone(),
        }))
    }
}

struct StoreConnection {
    clients: Arc<Clients>,
}

impl StoreConnection {
    async fn answer(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let failed = |words: String| HttpError::new(HttpErrorKind::Unknown, NoClient(words));
        let url =
            Url::parse(&request.uri().to_string()).map_err(|error| failed(error.to_string()))?;
        let client = self.clients.of(&url).await.map_err(failed)?;
        let answer = HttpService::call(&client, request);
        if !url
            .host_str()
            .is_some_and(|host| MACHINE_HOSTS.contains(&host))
        {
            return answer.await;
        }
        let none = || HttpError::new(HttpErrorKind::Unknown, NoMachineCredentials);
        tokio::time::timeout(MACHINE_TIMEOUT, answer)
            .await
            .map_err(|_| none())?
            .map_err(|_| none())
    }
}

impl HttpService for StoreConnection {
    // The signature that `async_trait` generates for the library's trait.
    fn call<'life, 'future>(
        &'life self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'future>>
    where
        'life: 'future,
        Self: 'future,
    {
        Box::pin(self.answer(request))
    }
}

impl fmt::Debug for StoreConnection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Connection")
    }
}
