//! Fetches one document from one address: redirects, retries, limits, interpretation of answers.
//!
//! Not here: the total time limit.

use std::sync::Arc;
use std::time::Duration;

use http_client::{Clients, innermost_message, is_this_machine};
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, HeaderMap, IF_NONE_MATCH, LOCATION,
};
use reqwest::{Response, StatusCode, Url};
use source::{Location, SourceError};

use crate::cache::Cache;

/// The maximum number of redirects that are followed.
const REDIRECTS: usize = 5;

/// Pauses before the retries after failures of the network.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];

/// The `Accept` header: preferred formats first.
const WANTED: &str =
    "application/yaml, application/x-yaml, text/yaml, application/json, text/plain, */*;q=0.5";

/// The reason why one attempt failed.
enum TryFailure {
    /// A retry may help.
    Retryable(SourceError),
    /// A retry does not help.
    Permanent(SourceError),
}

/// Returns the bytes at an address, from the cache if the server says that they have not changed.
///
/// # Errors
/// Also [`SourceError::TooLarge`] above `most` bytes.
pub(super) async fn get(
    clients: &Clients,
    cache: Option<&Cache>,
    location: &Location,
    url: Url,
    most: u64,
) -> Result<Arc<[u8]>, SourceError> {
    // A cached content need not be transferred again.
    let mut kept = None;
    if let Some(cache) = cache
        && let Some(seen) = cache.last_entry(location).await
    {
        kept = cache
            .get(seen.digest, most)
            .await
            .map(|bytes| (seen.tag, bytes));
    }
    let mut pauses = PAUSES.into_iter();
    let (tag, bytes) = loop {
        let failed = match send_request(
            clients,
            url.clone(),
            kept.as_ref().map(|(tag, _)| &**tag),
            most,
        )
        .await
        {
            Ok(Some(answer)) => break answer,
            Ok(None) => match kept {
                Some((_, bytes)) => return Ok(bytes),
                None => return Err(SourceError::broken("the server answered 304 Not Modified")),
            },
            Err(TryFailure::Permanent(error)) => return Err(error),
            Err(TryFailure::Retryable(error)) => error,
        };
        tokio::time::sleep(pauses.next().ok_or(failed)?).await;
    };
    if let Some(cache) = cache {
        cache.store(location, tag, bytes.clone()).await;
    }
    Ok(bytes)
}

type FetchedBody = (Option<String>, Arc<[u8]>);

/// Sends one request and follows redirects. Returns `None` if the server says that the content has
/// not changed.
async fn send_request(
    clients: &Clients,
    first: Url,
    tag: Option<&str>,
    most: u64,
) -> Result<Option<FetchedBody>, TryFailure> {
    let mut url = first;
    for _ in 0..=REDIRECTS {
        let client = clients
            .of(&url)
            .await
            .map_err(|why| TryFailure::Permanent(SourceError::broken(why)))?;
        let mut request = client
            .get(url.clone())
            .header(ACCEPT, WANTED)
            .header(ACCEPT_ENCODING, "identity");
        if let Some(tag) = tag {
            request = request.header(IF_NONE_MATCH, tag);
        }
        let response = request.send().await.map_err(unanswered)?;
        let status = response.status();
        if matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
            url = target(&url, response.headers())?;
            continue;
        }
        if status == StatusCode::NOT_MODIFIED && tag.is_some() {
            return Ok(None);
        }
        if !status.is_success() || matches!(status.as_u16(), 204..=206) {
            return Err(refused(status));
        }
        if let Some(encoding) = response
            .headers()
            .get(CONTENT_ENCODING)
            .filter(|one| *one != "identity")
        {
            let encoding = String::from_utf8_lossy(encoding.as_bytes()).into_owned();
            return Err(TryFailure::Permanent(SourceError::broken(format!(
                "the server sent it encoded as `{encoding}`"
            ))));
        }
        let tag = response
            .headers()
            .get(ETAG)
            .and_then(|tag| tag.to_str().ok())
            .map(str::to_owned);
        return Ok(Some((tag, receive(response, most).await?)));
    }
    Err(TryFailure::Permanent(SourceError::broken(format!(
        "the server redirected more than {REDIRECTS} times"
    ))))
}

/// The target of a redirect.
///
/// # Errors
/// For a target that is not followed.
fn target(url: &Url, headers: &HeaderMap) -> Result<Url, TryFailure> {
    let permanent = |message: &str| TryFailure::Permanent(SourceError::broken(message));
    let written = headers
        .get(LOCATION)
        .and_then(|target| target.to_str().ok());
    let target = written.ok_or_else(|| permanent("the server redirected to nowhere"))?;
    let target = url
        .join(target)
        .map_err(|_| permanent("the server redirected to something that is no address"))?;
    // A remote server may not redirect to this machine.
    let allowed = match target.scheme() {
        "https" => is_this_machine(url) || !is_this_machine(&target),
        "http" => url.scheme() == "http" && is_this_machine(&target),
        _ => false,
    };
    if allowed {
        Ok(target)
    } else {
        let to = target.origin().ascii_serialization();
        Err(permanent(&format!(
            "the server redirected to `{to}`, which is not followed"
        )))
    }
}

async fn receive(mut response: Response, most: u64) -> Result<Arc<[u8]>, TryFailure> {
    let too_large = || TryFailure::Permanent(SourceError::TooLarge { limit: most });
    if response
        .content_length()
        .is_some_and(|length| length > most)
    {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unanswered)? {
        if (bytes.len() + chunk.len()) as u64 > most {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.into())
}

/// Classifies an error of the network.
fn unanswered(error: reqwest::Error) -> TryFailure {
    let words = innermost_message(&error);
    if is_about_trust(&error) {
        return TryFailure::Permanent(SourceError::broken(format!(
            "the server is not trusted: {words}"
        )));
    }
    let what = if error.is_connect() {
        "no connection"
    } else {
        "the connection broke"
    };
    TryFailure::Retryable(SourceError::broken(format!("{what}: {words}")))
}

fn is_about_trust(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(tls) = error.downcast_ref::<rustls::Error>() {
            return matches!(
                tls,
                rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented
            );
        }
        let wrapped = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        next = wrapped
            .map(|wrapped| wrapped as &(dyn std::error::Error + 'static))
            .or_else(|| error.source());
    }
    false
}

/// Classifies a status that is not a success.
fn refused(status: StatusCode) -> TryFailure {
    let words = format!("the server answered {status}");
    let error = match status.as_u16() {
        401 | 407 => SourceError::Credentials { words },
        403 => SourceError::Denied { words },
        404 | 410 => SourceError::NotFound { words },
        _ => SourceError::broken(words),
    };
    match status.as_u16() {
        408 | 425 | 429 | 500 | 502..=504 => TryFailure::Retryable(error),
        _ => TryFailure::Permanent(error),
    }
}
