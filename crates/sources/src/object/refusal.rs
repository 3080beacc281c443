//! Translates errors of the client library.
//!
//! The library's errors contain the service's answer as text. The code and the message of the
//! service are parsed from it.

use object_store::Error;
use source::SourceError;

use super::address::ObjectAddress;
use super::connection::NoMachineCredentials;
use super::service::Service;

/// Error codes of services that concern the credentials.
const CREDENTIALS: [&str; 11] = [
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "ExpiredToken",
    "InvalidToken",
    "TokenRefreshRequired",
    "AuthorizationHeaderMalformed",
    "AuthenticationFailed",
    "InvalidAuthenticationInfo",
    "NoAuthenticationInformation",
    "MissingSecurityHeader",
    "RequestTimeTooSkewed",
];

/// The source error for an error of the library.
pub(super) fn of(service: &Service, address: &ObjectAddress, error: Error) -> SourceError {
    if has_no_machine_credentials(&error) {
        return SourceError::Credentials {
            words: service.credentials.to_owned(),
        };
    }
    let text = error.to_string();
    let code = element(&text, "Code")
        .or_else(|| element(&text, "AuthenticationErrorDetail").map(|_| "AuthenticationFailed"));
    let words = service_message(code, element(&text, "Message"));
    // Azure has one code for both a wrong signature and a missing permission.
    let unsigned = words.contains("failed to authenticate");
    if unsigned || code.is_some_and(|code| CREDENTIALS.contains(&code)) {
        return SourceError::Credentials { words };
    }
    match error {
        Error::NotFound { .. } if matches!(code, Some("NoSuchBucket" | "ContainerNotFound")) => {
            SourceError::NotFound {
                words: format!("no such {}", service.bucket_word),
            }
        }
        Error::NotFound { .. } => SourceError::NotFound { words },
        Error::PermissionDenied { .. } => SourceError::Denied { words },
        Error::Unauthenticated { .. } => SourceError::Credentials { words },
        _ if text.contains("redirect without LOCATION") || code == Some("PermanentRedirect") => {
            SourceError::settings(
                "region",
                format!("is not that of the {}", service.bucket_word),
            )
        }
        _ if is_about_credentials(&text) => of_setup(service, error),
        _ if words.is_empty() => SourceError::broken(scrubbed(address, &innermost(&error))),
        _ => SourceError::broken(words),
    }
}

/// The source error for a failure to find credentials.
pub(super) fn of_setup(service: &Service, error: Error) -> SourceError {
    SourceError::Credentials {
        words: format!("set {} ({})", service.credentials, innermost(&error)),
    }
}

fn has_no_machine_credentials(error: &Error) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if error.is::<NoMachineCredentials>() {
            return true;
        }
        next = error.source();
    }
    false
}

/// Whether the text of an error is about credentials. The library wraps errors of token services as
/// generic errors.
fn is_about_credentials(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    [
        "oauth2",
        "/token",
        "sts.",
        "credential",
        "access token",
        "metadata",
    ]
    .iter()
    .any(|sign| text.contains(sign))
}

/// The content of an element of the XML answer.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let begin = text.find(&format!("<{name}>"))? + name.len() + 2;
    let end = begin + text[begin..].find("</")?;
    Some(text[begin..end].trim())
}

/// The first line of the service's message with the error code, without control characters.
fn service_message(code: Option<&str>, message: Option<&str>) -> String {
    let first = message
        .unwrap_or_default()
        .lines()
        .next()
        .unwrap_or_default();
    let first: String = first
        .chars()
        .filter(|one| !one.is_control())
        .take(200)
        .collect();
    match (code, first.trim_end_matches('.')) {
        (Some(code), "") => code.to_owned(),
        (Some(code), first) => format!("{first} ({code})"),
        (None, first) => first.to_owned(),
    }
}

/// The message of the innermost cause. The outer messages repeat it and add addresses.
fn innermost(error: &Error) -> String {
    let words = http_client::innermost_message(error);
    let line = words.lines().next().unwrap_or_default();
    line.chars()
        .filter(|one| !one.is_control())
        .take(300)
        .collect()
}

/// A message without the address, which the caller adds.
fn scrubbed(address: &ObjectAddress, words: &str) -> String {
    words.replace(&address.to_string(), "it")
}
