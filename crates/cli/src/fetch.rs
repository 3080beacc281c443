//! Fetches bytes from a URL, for `http_resource` and remote files. Limits: five redirects, status
//! 2xx, 30 seconds, 16 MiB.

use std::sync::Arc;
use std::time::Duration;

use engine::run::{HttpGet, MOST_BYTES};
use futures::StreamExt as _;
use http_client::Clients;
use reqwest::Url;

/// The maximum number of redirects.
const REDIRECTS: usize = 5;

/// The time limit of a request, including its body.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Returns a function that fetches a URL. Its HTTP clients are created at their first use.
pub(crate) fn http_get() -> HttpGet {
    let clients = Arc::new(Clients::following(REDIRECTS));
    Arc::new(move |url| {
        let clients = clients.clone();
        Box::pin(async move { get(&clients, &url).await })
    })
}

async fn get(clients: &Clients, url: &str) -> Result<Vec<u8>, String> {
    let url = Url::parse(url).map_err(|_| "it is no address".to_owned())?;
    let client = clients.of(&url).await?;
    let answer = client
        .get(url)
        .timeout(TIMEOUT)
        .send()
        .await
        .map_err(words)?;
    if !answer.status().is_success() {
        return Err(format!("the server answered {}", answer.status()));
    }
    let mut bytes = Vec::new();
    let mut parts = answer.bytes_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(words)?;
        if bytes.len() as u64 + part.len() as u64 > MOST_BYTES {
            return Err(format!("it has more than {MOST_BYTES} bytes"));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

/// Returns the message of an error without the URL. The caller names the URL, which may contain a
/// password.
fn words(error: reqwest::Error) -> String {
    match error.is_timeout() {
        true => format!("no answer within {} seconds", TIMEOUT.as_secs()),
        false => http_client::innermost_message(&error.without_url()),
    }
}
