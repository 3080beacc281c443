//! The subject of a certificate and its alternative names.

use std::net::IpAddr;

use blueprint::Value;
use provider::{CheckFindings, ErrorKind, ProviderError};
use rcgen::{CertificateParams, DistinguishedName, DnType, DnValue, SanType};

/// Fields of the subject, in their order in the certificate.
const SUBJECT: [(&str, DnType); 6] = [
    ("country", DnType::CountryName),
    ("province", DnType::StateOrProvinceName),
    ("locality", DnType::LocalityName),
    ("organization", DnType::OrganizationName),
    ("organizationalUnit", DnType::OrganizationalUnitName),
    ("commonName", DnType::CommonName),
];

/// Lists of alternative names.
const ALTERNATIVES: [&str; 3] = ["dnsNames", "ipAddresses", "uris"];

/// Parses an alternative name of one of these lists. The error is a phrase without the text.
fn alternative(list: &str, text: &str) -> Result<SanType, &'static str> {
    let ascii = |text: &str| {
        text.to_owned()
            .try_into()
            .map_err(|_| "holds other characters than ASCII")
    };
    match list {
        "ipAddresses" => text
            .parse::<IpAddr>()
            .map(SanType::IpAddress)
            .map_err(|_| "is no IP address, such as `127.0.0.1` or `::1`"),
        "uris" if !text.contains(':') => Err("is no URI: there is no scheme, such as `https:`"),
        "uris" => ascii(text).map(SanType::URI),
        _ if is_dns_name(text) => ascii(text).map(SanType::DnsName),
        _ => Err("is no DNS name, such as `example.com` or `*.example.com`"),
    }
}

/// Whether a text is a DNS name: letters, digits, hyphens and underscores between dots; the first
/// label may be `*`.
fn is_dns_name(text: &str) -> bool {
    let text = text.strip_prefix("*.").unwrap_or(text);
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(label)
}

/// Refuses invalid names, and a certificate without any name.
pub(super) fn check(spec: &Value, found: &mut CheckFindings) {
    let mut named = SUBJECT
        .iter()
        .any(|(field, _)| spec.get(field).is_some_and(is_filled));
    for list in ALTERNATIVES {
        let Some(value) = spec.get(list) else {
            continue;
        };
        named |= is_filled(value);
        for (at, item) in value.as_list().unwrap_or_default().iter().enumerate() {
            if let Some(text) = item.as_text()
                && let Err(message) = alternative(list, text)
            {
                found.refuse(format!("{list}[{at}]"), message);
            }
        }
    }
    if !named {
        found.refuse("", "has no name: write at least `commonName` or `dnsNames`");
    }
}

/// Whether a field has or will have a value.
fn is_filled(value: &Value) -> bool {
    match value.unmarked() {
        Value::Null => false,
        Value::Text(text) => !text.is_empty(),
        Value::List(items) => !items.is_empty(),
        _ => true,
    }
}

/// Sets subject and alternative names of a certificate or a request.
pub(super) fn set_names(spec: &Value, params: &mut CertificateParams) -> Result<(), ProviderError> {
    params.distinguished_name = DistinguishedName::new();
    params.subject_alt_names.clear();
    for (field, kind) in SUBJECT {
        let Some(text) = spec
            .get(field)
            .and_then(Value::as_text)
            .filter(|text| !text.is_empty())
        else {
            continue;
        };
        let value = match kind {
            // The standard requires this form for a country, and some readers depend on it.
            DnType::CountryName => DnValue::PrintableString(text.try_into().map_err(|_| {
                ProviderError::new(ErrorKind::Document, "is no country code of two letters")
                    .at(field)
            })?),
            _ => DnValue::Utf8String(text.to_owned()),
        };
        params.distinguished_name.push(kind, value);
    }
    for list in ALTERNATIVES {
        for (at, item) in spec
            .get(list)
            .and_then(Value::as_list)
            .unwrap_or_default()
            .iter()
            .enumerate()
        {
            let name =
                alternative(list, item.as_text().unwrap_or_default()).map_err(|message| {
                    ProviderError::new(ErrorKind::Document, message).at(format!("{list}[{at}]"))
                })?;
            params.subject_alt_names.push(name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(spec: &[(&str, Value)]) -> Vec<String> {
        let mut found = CheckFindings::default();
        check(&Value::map(spec.iter().cloned()), &mut found);
        found
            .diagnostics
            .into_iter()
            .map(|found| found.path.to_string())
            .collect()
    }

    fn texts(items: &[&str]) -> Value {
        Value::list(items.iter().map(|item| Value::from(*item)))
    }

    #[test]
    fn invalid_names_are_rejected_at_their_position() {
        let names = texts(&[
            "example.com",
            "*.example.com",
            "_dmarc.example.com",
            "a b",
            "",
            "a..b",
            "-a.com",
        ]);
        assert_eq!(
            rejected(&[("dnsNames", names)]),
            ["dnsNames[3]", "dnsNames[4]", "dnsNames[5]", "dnsNames[6]"]
        );
        assert_eq!(
            rejected(&[("ipAddresses", texts(&["127.0.0.1", "::1", "localhost"]))]),
            ["ipAddresses[2]"]
        );
        assert_eq!(
            rejected(&[("uris", texts(&["spiffe://a/b", "plain"]))]),
            ["uris[1]"]
        );
    }

    #[test]
    fn a_certificate_needs_a_name() {
        assert_eq!(rejected(&[]), [""]);
        assert_eq!(
            rejected(&[("commonName", "".into()), ("dnsNames", texts(&[]))]),
            [""]
        );
        assert!(rejected(&[("commonName", Value::unknown(None, None))]).is_empty());
    }

    #[test]
    fn messages_do_not_repeat_a_secret_name() {
        let mut found = CheckFindings::default();
        check(
            &Value::map([("dnsNames", Value::list([Value::from("no good").secret()]))]),
            &mut found,
        );
        assert!(!format!("{found:?}").contains("no good"));
    }
}
