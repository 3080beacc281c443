//! Containers and objects of Swift: the calls that several types make.
//!
//! Not here: temporary URLs (`client`), what the objects mean (`types`).

use ::provider::{ErrorKind, ProviderError};
use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _};
use serde_json::Value as Json;

use crate::client::{Service, ServiceAnswer, ServiceError, ServiceRequest, path_segment};
use crate::managed::{CloudCall, Patience};

const SWIFT: Service = Service::ObjectStore;

/// The number of objects that are read or deleted at the same time.
const AT_ONCE: usize = 8;

/// The seconds in which a container may still list objects that are deleted already.
const LISTING: u64 = 60;

/// The longest name of a container in bytes.
pub(crate) const LONGEST_NAME: usize = 256;

/// A header of a request: the name and the value.
pub(crate) type Header = (String, String);

/// An object in the list of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedObject {
    pub(crate) name: String,
    /// The digest of its content.
    pub(crate) hash: String,
}

/// A path with `%` escapes for all characters but letters, digits and `-._~/`.
fn escaped(path: &str) -> String {
    let segments: Vec<String> = path.split('/').map(path_segment).collect();
    segments.join("/")
}

/// A name for a container or object that needs no escapes in a URL. The end of the name, which
/// tells generated names apart, stays.
pub(crate) fn plain_name(name: &str) -> String {
    let plain = |it: char| match it {
        it if it.is_ascii_alphanumeric() || "-._".contains(it) => it,
        _ => '-',
    };
    let plain: String = name.chars().map(plain).collect();
    let start = plain.len().saturating_sub(LONGEST_NAME / 2);
    plain[start..].to_owned()
}

/// The path of an object.
fn object_path(container: &str, object: &str) -> String {
    format!("{}/{}", escaped(container), escaped(object))
}

fn of_change(error: ServiceError) -> ProviderError {
    error.into_provider_error(true)
}

/// Creates a container, or sets headers of the one that is there.
///
/// # Errors
/// The error of the request.
pub(crate) async fn put_container(
    on: CloudCall<'_>,
    container: &str,
    headers: &[Header],
) -> Result<(), ProviderError> {
    let request = ServiceRequest::put_nothing(SWIFT, escaped(container));
    let sent = on.send(with_headers(request, headers)).await;
    sent.map(drop).map_err(of_change)
}

/// Sets headers of the account.
///
/// # Errors
/// The error of the request.
pub(crate) async fn post_account(
    on: CloudCall<'_>,
    headers: &[Header],
) -> Result<(), ProviderError> {
    let request = with_headers(ServiceRequest::post_nothing(SWIFT, ""), headers);
    on.send(request).await.map(drop).map_err(of_change)
}

fn with_headers(request: ServiceRequest, headers: &[Header]) -> ServiceRequest {
    headers.iter().fold(request, |request, (name, value)| {
        request.with_header(name.as_str(), value.as_str())
    })
}

/// The headers of the account.
///
/// # Errors
/// The error of the request.
pub(crate) async fn account(on: CloudCall<'_>) -> Result<ServiceAnswer, ProviderError> {
    let answer = on.send(ServiceRequest::head(SWIFT, "")).await;
    answer.map_err(|error| error.into_provider_error(false))
}

/// The headers of a container; `None` if it does not exist.
///
/// # Errors
/// The error of the request.
pub(crate) async fn container(
    on: CloudCall<'_>,
    container: &str,
) -> Result<Option<ServiceAnswer>, ProviderError> {
    let answer = on.send(ServiceRequest::head(SWIFT, escaped(container)));
    found(answer.await)
}

/// An answer; `None` if nothing is there.
fn found<T>(answer: Result<T, ServiceError>) -> Result<Option<T>, ProviderError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into_provider_error(false)),
    }
}

/// The objects of a container whose names begin with a text, by their names. `None` if the container
/// does not exist.
///
/// # Errors
/// The error of a request.
pub(crate) async fn objects(
    on: CloudCall<'_>,
    container: &str,
    prefix: &str,
) -> Result<Option<Vec<ListedObject>>, ProviderError> {
    let mut all: Vec<ListedObject> = Vec::new();
    loop {
        let request = ServiceRequest::get(SWIFT, escaped(container));
        let request = request.with_query("format", "json");
        let request = request.with_query("prefix", prefix);
        let request = match all.last() {
            Some(last) => request.with_query("marker", last.name.clone()),
            None => request,
        };
        let Some(answer) = found(on.send(request).await)? else {
            return Ok(None);
        };
        let before = all.len();
        let page = answer.body.as_array().into_iter().flatten();
        all.extend(page.filter_map(listed));
        if all.len() == before {
            return Ok(Some(all));
        }
    }
}

fn listed(entry: &Json) -> Option<ListedObject> {
    Some(ListedObject {
        name: entry["name"].as_str()?.to_owned(),
        hash: entry["hash"].as_str().unwrap_or_default().to_owned(),
    })
}

/// The content of an object; `None` if it does not exist.
///
/// # Errors
/// The error of the request.
pub(crate) async fn content(
    on: CloudCall<'_>,
    container: &str,
    object: &str,
) -> Result<Option<Bytes>, ProviderError> {
    let request = ServiceRequest::get(SWIFT, object_path(container, object));
    let answer = found(on.send(request).await)?;
    Ok(answer.map(|answer| answer.bytes))
}

/// The contents of objects in their order. Objects that are deleted meanwhile are left out.
///
/// # Errors
/// The error of a request.
pub(crate) async fn contents(
    on: CloudCall<'_>,
    container: &str,
    objects: &[ListedObject],
) -> Result<Vec<Bytes>, ProviderError> {
    let mut reads = Vec::with_capacity(objects.len());
    for object in objects {
        reads.push(content(on, container, &object.name));
    }
    let read: Vec<Option<Bytes>> = futures::stream::iter(reads)
        .buffered(AT_ONCE)
        .try_collect()
        .await?;
    Ok(read.into_iter().flatten().collect())
}

/// Writes an object.
///
/// # Errors
/// The error of the request.
pub(crate) async fn put_object(
    on: CloudCall<'_>,
    container: &str,
    object: &str,
    (content_type, bytes): (&'static str, Bytes),
) -> Result<(), ProviderError> {
    let request = ServiceRequest::put_nothing(SWIFT, object_path(container, object));
    let sent = on.send(request.with_bytes(content_type, bytes)).await;
    sent.map(drop).map_err(of_change)
}

/// Deletes an object, if it is there.
///
/// # Errors
/// The error of the request.
pub(crate) async fn delete_object(
    on: CloudCall<'_>,
    container: &str,
    object: &str,
) -> Result<(), ProviderError> {
    let request = ServiceRequest::delete(SWIFT, object_path(container, object));
    let deleted = found(on.send(request).await.map(drop));
    deleted.map(drop)
}

/// Deletes a container that is empty, if it is there. Returns whether it was empty.
///
/// # Errors
/// The error of the request.
pub(crate) async fn delete_container(
    on: CloudCall<'_>,
    container: &str,
) -> Result<bool, ProviderError> {
    match on
        .send(ServiceRequest::delete(SWIFT, escaped(container)))
        .await
    {
        Ok(_) => Ok(true),
        Err(error) if error.is_not_found() => Ok(true),
        Err(error) if error.status() == Some(409) => Ok(false),
        Err(error) => Err(of_change(error)),
    }
}

/// Deletes a container with all its objects, old versions included.
///
/// # Errors
/// The error of a request; [`ErrorKind::TimedOut`] if others go on writing objects.
pub(crate) async fn purge(on: CloudCall<'_>, container: &str) -> Result<(), ProviderError> {
    let mut patience = Patience::of_seconds(LISTING);
    // Without this, Swift brings an older version back in place of a deleted object.
    let request = ServiceRequest::post_nothing(SWIFT, escaped(container));
    let request = request.with_header("X-Remove-Versions-Location", "x");
    if found(on.send(request).await)?.is_none() {
        return Ok(());
    }
    loop {
        let Some(all) = objects(on, container, "").await? else {
            return Ok(());
        };
        let mut deletions = Vec::with_capacity(all.len());
        for object in &all {
            deletions.push(delete_object(on, container, &object.name));
        }
        futures::stream::iter(deletions)
            .buffered(AT_ONCE)
            .try_collect::<Vec<()>>()
            .await?;
        if delete_container(on, container).await? {
            return Ok(());
        }
        let paused = patience.pause(on, "Swift lists no object of the container");
        paused.await.map_err(|error| match error.kind {
            ErrorKind::TimedOut => {
                let message = format!("the container `{container}` does not get empty");
                ProviderError::new(ErrorKind::TimedOut, message)
            }
            _ => error,
        })?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_escaped_and_keeps_its_slashes() {
        assert_eq!(escaped("a b/ü?.txt"), "a%20b/%C3%BC%3F.txt");
    }

    #[test]
    fn a_plain_name_keeps_its_end() {
        assert_eq!(plain_name("büro web/done-abc"), "b-ro-web-done-abc");
        let long = format!("{}-abcdefghijkl", "x".repeat(300));
        let plain = plain_name(&long);
        assert_eq!(plain.len(), LONGEST_NAME / 2);
        assert!(plain.ends_with("-abcdefghijkl"), "{plain}");
    }
}
