//! Resolves the address of an object: service, bucket, key, and for S3 the region.
//!
//! Not here: the check that the object exists.

use std::fmt;

use object_store::path::Path;
use source::{Location, Request, SourceError};

use super::service::Service;
use crate::environment::Variables;

/// The address of an object. Prints as `scheme://bucket/key`, with `?region=..` if the service has
/// regions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ObjectAddress {
    scheme: &'static str,
    pub(super) bucket: String,
    key: String,
    pub(super) region: Option<String>,
}

/// The address of a request.
///
/// # Errors
/// [`SourceError::Settings`] with the key at fault.
pub(super) fn resolve(
    service: &'static Service,
    environment: &Variables,
    request: &Request,
) -> Result<ObjectAddress, SourceError> {
    let written = &*request.path;
    let scheme = scheme_of(service);
    let whole = written.split_once("://").filter(|(one, _)| {
        service
            .kind
            .schemes
            .iter()
            .any(|s| s.eq_ignore_ascii_case(one))
    });
    let named = request.key(service.bucket_key);
    let (bucket, folder, path, region) = match (named, &request.from, whole) {
        (Some(_), _, Some(_)) => {
            let problem = format!(
                "is a whole address, while `{}` names a {}",
                service.bucket_key, service.bucket_word
            );
            return Err(wrong_path(problem));
        }
        (Some(bucket), ..) => {
            let region = request.key("region").map(|region| region.to_string());
            (bucket.to_string(), String::new(), written, region)
        }
        (None, _, Some((_, rest))) => {
            let (bucket, path) = rest.split_once('/').unwrap_or((rest, ""));
            (
                bucket.to_owned(),
                String::new(),
                path,
                (service.default_region)(environment),
            )
        }
        (None, Some(from), None) if &**from.kind() == service.kind.name => {
            let from = ObjectAddress::parse(service, Location::identity(from))?;
            let folder = from
                .key
                .rsplit_once('/')
                .map_or("", |(folder, _)| folder)
                .to_owned();
            (from.bucket, folder, written, from.region)
        }
        (None, _, None) => return Err(SourceError::settings(service.bucket_key, "is missing")),
    };
    if !(service.is_bucket_name)(&bucket) {
        return Err(SourceError::settings(
            if named.is_some() {
                service.bucket_key
            } else {
                "path"
            },
            format!("names no {}: `{bucket}`", service.bucket_word),
        ));
    }
    if let Some(region) = &region
        && !region
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    {
        return Err(SourceError::settings(
            "region",
            "is no region such as `eu-west-1`",
        ));
    }
    let key = key(service, &folder, path)?;
    Ok(ObjectAddress {
        scheme,
        bucket,
        key,
        region,
    })
}

/// The key of a path that is relative to a folder of keys.
fn key(service: &Service, folder: &str, path: &str) -> Result<String, SourceError> {
    let (folder, path) = match path.strip_prefix('/') {
        Some(path) => ("", path),
        None => (folder, path),
    };
    let mut steps: Vec<&str> = folder.split('/').filter(|step| !step.is_empty()).collect();
    let mut written = path.split('/').peekable();
    while let Some(step) = written.next() {
        match step {
            "." | ".." if written.peek().is_none() => return Err(wrong_path("names no object")),
            "." => {}
            ".." if steps.pop().is_none() => {
                return Err(wrong_path(format!(
                    "leads out of the {}",
                    service.bucket_word
                )));
            }
            ".." => {}
            "" if written.peek().is_none() => return Err(wrong_path("names no object")),
            "" => return Err(wrong_path("has an empty step: `//`")),
            step if step.contains(|one: char| one.is_control()) => {
                return Err(wrong_path("holds a control character"));
            }
            step => steps.push(step),
        }
    }
    Ok(steps.join("/"))
}

impl ObjectAddress {
    /// Parses a printed address.
    pub(super) fn parse(
        service: &'static Service,
        text: &str,
    ) -> Result<ObjectAddress, SourceError> {
        let wrong = || wrong_path("is no address of this kind");
        let scheme = scheme_of(service);
        let rest = text
            .strip_prefix(scheme)
            .and_then(|rest| rest.strip_prefix("://"))
            .ok_or_else(wrong)?;
        let (bucket, rest) = rest.split_once('/').ok_or_else(wrong)?;
        let (key, region) = match rest.split_once("?region=") {
            Some((key, region)) => (key, Some(region.to_owned())),
            None => (rest, None),
        };
        let key = key.replace("%3F", "?").replace("%25", "%");
        Ok(ObjectAddress {
            scheme,
            bucket: bucket.to_owned(),
            key,
            region,
        })
    }

    /// The printed address of the bucket, without a key.
    pub(super) fn bucket_alone(&self) -> String {
        ObjectAddress {
            key: String::new(),
            ..self.clone()
        }
        .to_string()
    }

    /// The key in the form of the client library.
    pub(super) fn path(&self) -> Result<Path, SourceError> {
        Path::parse(&self.key).map_err(|error| wrong_path(format!("is no key: {error}")))
    }
}

impl fmt::Display for ObjectAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Escape only the ambiguous characters, so that the address stays readable.
        let key = self.key.replace('%', "%25").replace('?', "%3F");
        write!(out, "{}://{}/{key}", self.scheme, self.bucket)?;
        self.region
            .as_ref()
            .map_or(Ok(()), |region| write!(out, "?region={region}"))
    }
}

fn scheme_of(service: &Service) -> &'static str {
    service.kind.schemes.first().copied().unwrap_or_default()
}

fn wrong_path(problem: impl Into<String>) -> SourceError {
    SourceError::settings("path", problem)
}

#[cfg(test)]
mod tests {
    use super::super::{azure, google, s3};
    use super::*;

    fn resolved(from: Option<&str>, path: &str) -> Result<String, String> {
        let request = Request {
            keys: match from {
                Some(_) => Vec::new(),
                None => vec![
                    ("bucket".into(), "docs".into()),
                    ("region".into(), "eu-west-1".into()),
                ],
            },
            ..Request::path(from.map(|from| Location::new("aws/s3", from)), path)
        };
        let environment = [("AWS_REGION".to_owned(), "us-west-2".to_owned())]
            .into_iter()
            .collect();
        resolve(&s3::SERVICE, &environment, &request)
            .map(|it| it.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_path_is_relative_to_its_document() {
        let from = Some("s3://docs/a/b/main.yaml?region=eu-west-1");
        for (path, wanted) in [
            ("c.yaml", "s3://docs/a/b/c.yaml?region=eu-west-1"),
            ("./d/../c.yaml", "s3://docs/a/b/c.yaml?region=eu-west-1"),
            ("../../c.yaml", "s3://docs/c.yaml?region=eu-west-1"),
            ("/c.yaml", "s3://docs/c.yaml?region=eu-west-1"),
            ("a b/ä.yaml", "s3://docs/a/b/a b/ä.yaml?region=eu-west-1"),
            (
                "100%/what?.yaml",
                "s3://docs/a/b/100%25/what%3F.yaml?region=eu-west-1",
            ),
            (
                "%2e%2e/c.yaml",
                "s3://docs/a/b/%252e%252e/c.yaml?region=eu-west-1",
            ),
            ("..\\c.yaml", "s3://docs/a/b/..\\c.yaml?region=eu-west-1"),
            ("s3://other/c.yaml", "s3://other/c.yaml?region=us-west-2"),
        ] {
            let found = resolved(from, path);
            assert_eq!(found, Ok(wanted.to_owned()), "{path}");
            assert_eq!(
                ObjectAddress::parse(&s3::SERVICE, wanted)
                    .unwrap()
                    .to_string(),
                wanted
            );
        }
        assert_eq!(
            resolved(None, "c.yaml"),
            Ok("s3://docs/c.yaml?region=eu-west-1".to_owned())
        );
        assert_eq!(
            resolved(None, "/c.yaml"),
            Ok("s3://docs/c.yaml?region=eu-west-1".to_owned())
        );
    }

    #[test]
    fn invalid_keys_are_refused() {
        let from = Some("s3://docs/a/main.yaml?region=eu-west-1");
        for (path, problem) in [
            ("../../c.yaml", "`path` leads out of the bucket"),
            ("/../c.yaml", "`path` leads out of the bucket"),
            ("c/..", "`path` names no object"),
            (".", "`path` names no object"),
            ("/", "`path` names no object"),
            ("c/", "`path` names no object"),
            ("c//d", "`path` has an empty step: `//`"),
            ("a\nb", "`path` holds a control character"),
            ("s3://docs", "`path` names no object"),
            ("s3:///c.yaml", "`path` names no bucket: ``"),
            ("s3://a b/c.yaml", "`path` names no bucket: `a b`"),
        ] {
            assert_eq!(resolved(from, path), Err(problem.to_owned()), "{path}");
        }
        assert_eq!(
            resolved(None, "s3://docs/c.yaml"),
            Err("`path` is a whole address, while `bucket` names a bucket".to_owned())
        );
    }

    #[test]
    fn services_have_schemes_of_their_own() {
        let nothing = Variables::default();
        for (service, path, wanted) in [
            (&google::SERVICE, "gs://docs/a.yaml", "gs://docs/a.yaml"),
            (
                &azure::SERVICE,
                "azure://docs/a.yaml",
                "azure://docs/a.yaml",
            ),
            (
                &s3::SERVICE,
                "s3://docs/a.yaml",
                "s3://docs/a.yaml?region=us-east-1",
            ),
        ] {
            let found =
                resolve(service, &nothing, &Request::path(None, path)).map(|it| it.to_string());
            assert_eq!(found, Ok(wanted.to_owned()));
        }
    }
}
