//! One document from one address: redirects, retries, limits, and what an answer means.
//!
//! Not here: the time that all of it may take.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, HeaderMap, IF_NONE_MATCH, LOCATION};
use reqwest::{Response, StatusCode, Url};
use source::{Location, SourceError};
use web::{Clients, is_this_machine, words};

use crate::cache::Cache;

/// How many redirects are followed.
const REDIRECTS: usize = 5;

/// How long is waited before what failed on the way is tried again.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];

/// What is asked for, the best first.
const WANTED: &str = "application/yaml, application/x-yaml, text/yaml, application/json, text/plain, */*;q=0.5";

/// Why a try failed.
enum Failure {
    /// It may go away.
    Passing(SourceError),
    /// It will not.
    Lasting(SourceError),
}

/// The bytes at an address.
pub(super) async fn get(
    clients: &Clients,
    cache: Option<&Cache>,
    location: &Location,
    url: Url,
    most: u64,
) -> Result<Arc<[u8]>, SourceError> {
    // What is kept need not be sent again.
    let mut kept = None;
    if let Some(cache) = cache
        && let Some(seen) = cache.seen(location).await
    {
        kept = cache.get(seen.digest, most).await.map(|bytes| (seen.tag, bytes));
    }
    let mut pauses = PAUSES.into_iter();
    let (tag, bytes) = loop {
        let failed = match once(clients, url.clone(), kept.as_ref().map(|(tag, _)| &**tag), most).await {
            Ok(Some(answer)) => break answer,
            Ok(None) => match kept {
                Some((_, bytes)) => return Ok(bytes),
                None => return Err(SourceError::broken("the server answered 304 Not Modified")),
            },
            Err(Failure::Lasting(error)) => return Err(error),
            Err(Failure::Passing(error)) => error,
        };
        tokio::time::sleep(pauses.next().ok_or(failed)?).await;
    };
    if let Some(cache) = cache {
        cache.put(location, tag, bytes.clone()).await;
    }
    Ok(bytes)
}

type Answer = (Option<String>, Arc<[u8]>);

/// Asks once, following redirects. Nothing if it has not changed.
async fn once(clients: &Clients, first: Url, tag: Option<&str>, most: u64) -> Result<Option<Answer>, Failure> {
    let mut url = first;
    for _ in 0..=REDIRECTS {
        let client = clients.of(&url).await.map_err(|why| Failure::Lasting(SourceError::broken(why)))?;
        let mut request = client.get(url.clone()).header(ACCEPT, WANTED).header(ACCEPT_ENCODING, "identity");
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
        if let Some(encoding) = response.headers().get(CONTENT_ENCODING).filter(|one| *one != "identity") {
            let encoding = String::from_utf8_lossy(encoding.as_bytes()).into_owned();
            return Err(Failure::Lasting(SourceError::broken(format!("the server sent it encoded as `{encoding}`"))));
        }
        let tag = response.headers().get(ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned);
        return Ok(Some((tag, receive(response, most).await?)));
    }
    Err(Failure::Lasting(SourceError::broken(format!("the server redirected more than {REDIRECTS} times"))))
}

/// Where a redirect leads.
fn target(url: &Url, headers: &HeaderMap) -> Result<Url, Failure> {
    let lasting = |message: &str| Failure::Lasting(SourceError::broken(message));
    let written = headers.get(LOCATION).and_then(|target| target.to_str().ok());
    let target = written.ok_or_else(|| lasting("the server redirected to nowhere"))?;
    let target = url.join(target).map_err(|_| lasting("the server redirected to something that is no address"))?;
    // This machine is for documents of this machine.
    let allowed = match target.scheme() {
        "https" => is_this_machine(url) || !is_this_machine(&target),
        "http" => url.scheme() == "http" && is_this_machine(&target),
        _ => false,
    };
    if allowed {
        Ok(target)
    } else {
        let to = target.origin().ascii_serialization();
        Err(lasting(&format!("the server redirected to `{to}`, which is not followed")))
    }
}

async fn receive(mut response: Response, most: u64) -> Result<Arc<[u8]>, Failure> {
    let too_large = || Failure::Lasting(SourceError::TooLarge { limit: most });
    if response.content_length().is_some_and(|length| length > most) {
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

/// What an error of the network means.
fn unanswered(error: reqwest::Error) -> Failure {
    let words = words(&error);
    if is_about_trust(&error) {
        return Failure::Lasting(SourceError::broken(format!("the server is not trusted: {words}")));
    }
    let what = if error.is_connect() { "no connection" } else { "the connection broke" };
    Failure::Passing(SourceError::broken(format!("{what}: {words}")))
}

fn is_about_trust(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(tls) = error.downcast_ref::<rustls::Error>() {
            return matches!(tls, rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented);
        }
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = wrapped.map(|wrapped| wrapped as &(dyn std::error::Error + 'static)).or_else(|| error.source());
    }
    false
}

/// What a status means.
fn refused(status: StatusCode) -> Failure {
    let words = format!("the server answered {status}");
    let error = match status.as_u16() {
        401 | 407 => SourceError::Credentials { words },
        403 => SourceError::Denied { words },
        404 | 410 => SourceError::NotThere { words },
        _ => SourceError::broken(words),
    };
    match status.as_u16() {
        408 | 425 | 429 | 500 | 502..=504 => Failure::Passing(error),
        _ => Failure::Lasting(error),
    }
}
