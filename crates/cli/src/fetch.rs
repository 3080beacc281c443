//! Bytes at a URL, for `http_resource` and remote files: up to five redirects, 2xx only, 30 seconds, 16 MiB.

use std::sync::Arc;
use std::time::Duration;

use engine::shell::{HttpGet, MOST_BYTES};
use futures::StreamExt as _;
use reqwest::{Client, redirect::Policy};

/// Fetches with a client that is made when it is first needed.
pub(crate) fn http_get() -> HttpGet {
    Arc::new(|url| Box::pin(async move { get(&url).await }))
}

async fn get(url: &str) -> Result<Vec<u8>, String> {
    // Reading the machine's certificates takes a while.
    let made = tokio::task::spawn_blocking(|| {
        let builder = Client::builder().redirect(Policy::limited(5)).timeout(Duration::from_secs(30));
        builder.user_agent(concat!("cyanotype/", env!("CARGO_PKG_VERSION"))).build()
    });
    let client = made.await.map_err(|_| "no client can be made".to_owned())?.map_err(|error| words(&error))?;
    let answer = client.get(url).send().await.map_err(|error| words(&error))?;
    if !answer.status().is_success() {
        return Err(format!("the server answered {}", answer.status()));
    }
    let mut bytes = Vec::new();
    let mut parts = answer.bytes_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(|error| words(&error))?;
        if bytes.len() as u64 + part.len() as u64 > MOST_BYTES {
            return Err(format!("it has more than {MOST_BYTES} bytes"));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

/// What went wrong, without the address, which the caller names and which may hold a password.
fn words(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    if error.is_timeout() {
        "no answer within 30 seconds".to_owned()
    } else if std::ptr::addr_eq(innermost, error) {
        "the request failed".to_owned()
    } else {
        innermost.to_string()
    }
}
