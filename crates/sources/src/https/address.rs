//! Resolves a path as written to a canonical address.
//!
//! Not here: requests to the server.

use http_client::is_this_machine;
use reqwest::Url;
use source::{Location, Request, SourceError, SourceKey, SourceKind};

/// The kind of source, with its names and keys in documents.
pub(super) static KIND: SourceKind = SourceKind {
    name: "https",
    about: "A web server, asked without credentials.",
    schemes: &["https", "http"],
    keys: &[SourceKey {
        name: "host",
        required: true,
        about: "The host, with its port unless that is 443.",
    }],
};

/// The address of a request. A remote document may not address this machine, because local servers
/// may trust every local client.
///
/// # Errors
/// [`SourceError::Denied`] for such a request, [`SourceError::Settings`] for an invalid address.
pub(super) fn resolve(request: &Request) -> Result<Url, SourceError> {
    let url = whole(request)?;
    // In the address of a bucket, the host is the name of the bucket.
    let is_web = |from: &Location| &**from.kind() == KIND.name;
    let local_url =
        |from: &Location| Url::parse(from.identity()).is_ok_and(|from| is_this_machine(&from));
    let from_here = |from: &Location| from.is_disk() || is_web(from) && local_url(from);
    if is_this_machine(&url) && !request.from.as_ref().is_none_or(from_here) {
        return Err(SourceError::Denied {
            words: "a remote document must not read from this machine".to_owned(),
        });
    }
    Ok(url)
}

fn whole(request: &Request) -> Result<Url, SourceError> {
    let (path, host) = (&*request.path, request.key("host"));
    if path.split_once("://").is_some_and(|(scheme, _)| {
        ["https", "http"]
            .iter()
            .any(|one| one.eq_ignore_ascii_case(scheme))
    }) {
        return if host.is_none() {
            parse(path)
        } else {
            Err(wrong_path("is a whole address, while `host` names one"))
        };
    }
    let base = match (host, &request.from) {
        (Some(host), _) => of_host(host)?,
        (None, Some(from)) if &**from.kind() == KIND.name => parse(from.identity())?,
        (None, _) => return Err(SourceError::settings("host", "is missing")),
    };
    // Two slashes would start a host name.
    let slash = |character: char| matches!(character, '/' | '\\');
    if path.starts_with(slash) && path[1..].starts_with(slash) {
        return Err(wrong_path("begins with two slashes"));
    }
    // Prevents a first segment with a colon from being read as a scheme.
    let path = if path.starts_with(slash) {
        path.to_owned()
    } else {
        format!("./{path}")
    };
    let url = base
        .join(&path)
        .map_err(|error| wrong_path(format!("cannot be part of an address: {error}")))?;
    if url.origin() != base.origin() {
        return Err(wrong_path("leads to another host"));
    }
    canonical(url)
}

/// Parses an address and makes it canonical.
pub(super) fn parse(text: &str) -> Result<Url, SourceError> {
    canonical(Url::parse(text).map_err(|error| wrong_path(format!("is no address: {error}")))?)
}

fn of_host(host: &str) -> Result<Url, SourceError> {
    let wrong = || {
        SourceError::settings(
            "host",
            "is no host such as `example.com` or `example.com:8443`",
        )
    };
    if host.contains(['/', '\\', '@', '?', '#'])
        || host
            .chars()
            .any(|one| one.is_whitespace() || one.is_control())
    {
        return Err(wrong());
    }
    Url::parse(&format!("https://{host}/")).map_err(|_| wrong())
}

fn canonical(mut url: Url) -> Result<Url, SourceError> {
    match url.scheme() {
        "https" => {}
        "http" if is_this_machine(&url) => {}
        "http" => {
            return Err(wrong_path(
                "is an `http` address; documents are fetched over `https` only",
            ));
        }
        _ => return Err(wrong_path("is no `https` address")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong_path(
            "holds a user or password; no credentials are sent to web servers",
        ));
    }
    url.set_fragment(None);
    let path = plain_escapes(url.path());
    url.set_path(&path);
    Ok(url)
}

/// Decodes escapes that are not needed (`%41` is `A`), and writes the others with capitals, so that
/// two spellings of one address are equal.
fn plain_escapes(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('%') {
        plain.push_str(before);
        let byte = after
            .get(..2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = match byte {
            Some(byte) => {
                if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
                    plain.push(char::from(byte));
                } else {
                    plain.push_str(&format!("%{byte:02X}"));
                }
                after.get(2..).unwrap_or_default()
            }
            None => {
                plain.push('%');
                after
            }
        };
    }
    plain.push_str(rest);
    plain
}

fn wrong_path(problem: impl Into<String>) -> SourceError {
    SourceError::settings("path", problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(from: Option<&str>, host: Option<&str>, path: &str) -> Result<String, String> {
        let request = Request {
            kind: host.map(|_| "https".into()),
            keys: host
                .map(|host| ("host".into(), host.into()))
                .into_iter()
                .collect(),
            ..Request::path(from.map(|from| Location::new("https", from)), path)
        };
        resolve(&request)
            .map(String::from)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_path_is_relative_to_its_document() {
        let base = Some("https://example.com/a/b/main.yaml?ref=1");
        for (path, wanted) in [
            ("c.yaml", "https://example.com/a/b/c.yaml"),
            ("./c.yaml", "https://example.com/a/b/c.yaml"),
            ("../c.yaml", "https://example.com/a/c.yaml"),
            ("../../../../c.yaml", "https://example.com/c.yaml"),
            ("%2e%2e/c.yaml", "https://example.com/a/c.yaml"),
            ("/c.yaml", "https://example.com/c.yaml"),
            ("\\c.yaml", "https://example.com/c.yaml"),
            ("d\\c.yaml", "https://example.com/a/b/d/c.yaml"),
            ("c:d.yaml", "https://example.com/a/b/c:d.yaml"),
            ("a b/ä.yaml", "https://example.com/a/b/a%20b/%C3%A4.yaml"),
            (
                "%41%2fb%c3%a4.yaml",
                "https://example.com/a/b/A%2Fb%C3%A4.yaml",
            ),
            ("c.yaml?x=1#part", "https://example.com/a/b/c.yaml?x=1"),
            ("100%.yaml", "https://example.com/a/b/100%.yaml"),
            (
                "https://other.example:443/x.yaml",
                "https://other.example/x.yaml",
            ),
            (
                "HTTPS://OTHER.example/./y/../x.yaml",
                "https://other.example/x.yaml",
            ),
        ] {
            assert_eq!(resolved(base, None, path), Ok(wanted.to_owned()), "{path}");
        }
    }

    #[test]
    fn paths_to_another_host_are_refused() {
        let base = Some("https://example.com/a/main.yaml");
        for path in [
            "//evil.example/x",
            "/\\evil.example/x",
            "\\\\evil.example\\x",
            "\\/evil.example/x",
        ] {
            assert_eq!(
                resolved(base, None, path).unwrap_err(),
                "`path` begins with two slashes",
                "{path}"
            );
        }
        for path in [
            "http://example.com/x",
            "http://127.0.0.1.example.com/x",
            "http://0x7f.example/x",
        ] {
            assert!(
                resolved(base, None, path)
                    .unwrap_err()
                    .contains("over `https` only"),
                "{path}"
            );
        }
        assert!(
            resolved(base, None, "https://user:secret@example.com/x")
                .unwrap_err()
                .contains("no credentials")
        );
        assert!(
            resolved(base, None, "https://")
                .unwrap_err()
                .contains("is no address")
        );
    }

    #[test]
    fn only_local_documents_may_address_this_machine() {
        let here = Some("http://127.0.0.1:8080/a.yaml");
        assert_eq!(
            resolved(here, None, "http://localhost:80/x"),
            Ok("http://localhost/x".to_owned())
        );
        assert_eq!(
            resolved(None, None, "http://[::1]:8080/x"),
            Ok("http://[::1]:8080/x".to_owned())
        );
        let afar = Some("https://example.com/a.yaml");
        for path in [
            "http://127.0.0.1/x",
            "https://localhost/x",
            "https://localhost./x",
            "https://[::1]/x",
            "https://0.0.0.0/x",
            "https://[::]/x",
            "https://[::ffff:127.0.0.1]/x",
            "https://2130706433/x",
            "http://0x7f.1/x",
        ] {
            assert!(
                resolved(afar, None, path)
                    .unwrap_err()
                    .contains("must not read from this machine"),
                "{path}"
            );
        }
        let request = Request {
            kind: Some("https".into()),
            keys: vec![("host".into(), "localhost:8443".into())],
            ..Request::path(
                Some(Location::new("aws/s3", "s3://docs/a.yaml?region=eu-west-1")),
                "x",
            )
        };
        assert!(matches!(resolve(&request), Err(SourceError::Denied { .. })));
        // A bucket may have the name of a local host.
        let bucket = Location::new("aws/s3", "s3://a.localhost/a.yaml?region=eu-west-1");
        let request = Request::path(Some(bucket), "https://localhost/x");
        assert!(matches!(resolve(&request), Err(SourceError::Denied { .. })));
    }

    #[test]
    fn invalid_hosts_are_refused() {
        assert_eq!(
            resolved(None, Some("Example.com"), "a/b.yaml"),
            Ok("https://example.com/a/b.yaml".to_owned())
        );
        assert_eq!(
            resolved(None, Some("[::1]:8443"), "/b.yaml"),
            Ok("https://[::1]:8443/b.yaml".to_owned())
        );
        assert_eq!(
            resolved(None, Some("bücher.example"), "b"),
            Ok("https://xn--bcher-kva.example/b".to_owned())
        );
        for host in [
            "https://example.com",
            "example.com/a",
            "user@example.com",
            "exa mple.com",
            "a:b:c",
            "a:99999",
            "?",
        ] {
            assert!(
                resolved(None, Some(host), "b.yaml")
                    .unwrap_err()
                    .starts_with("`host` is no host"),
                "{host}"
            );
        }
        assert!(
            resolved(None, Some("example.com"), "https://example.com/b")
                .unwrap_err()
                .contains("`host` names one")
        );
    }

    #[test]
    fn canonical_addresses_are_stable() {
        for path in ["a%20b", "a%2Fb", "%", "%zz", "%C3%A4", "a~b", "x?y=%41"] {
            let once = resolved(None, Some("example.com"), path).unwrap();
            assert_eq!(parse(&once).map(String::from), Ok(once.clone()), "{path}");
        }
    }
}
