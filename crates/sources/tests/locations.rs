//! Properties of all paths, on every source.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

use std::sync::Arc;

use proptest::prelude::*;
use source::{Location, ReadLimits, Request, Source, SourceError, Sources};
use sources::Variables;
use sources::disk::Disk;
use sources::https::Https;
use sources::object::{azure, google, s3};
use tokio_util::sync::CancellationToken;

/// Parts with a special meaning for some source, and ordinary parts.
const PIECES: [&str; 40] = [
    "a",
    "b.yaml",
    "é",
    "e\u{301}",
    "日本",
    "🦀",
    " ",
    "\t",
    "\n",
    "\0",
    "\u{202e}",
    "\u{feff}",
    ".",
    "..",
    "/",
    "//",
    "\\",
    "\\\\",
    "%",
    "%2e",
    "%2F",
    "%5c",
    "%00",
    "%zz",
    "%C3%A9",
    "?",
    "#",
    "&",
    ":",
    "@",
    "://",
    "https://",
    "http://",
    "s3://",
    "file://",
    "example.com",
    "127.0.0.1",
    "?region=",
    "[",
    "~",
];

/// Hosts that lead to this machine.
const LOCAL_HOSTS: [&str; 19] = [
    "localhost",
    "LocalHost",
    "localhost.",
    "app.localhost",
    "app.localhost.",
    "%6cocalhost",
    "ｌｏｃａｌｈｏｓｔ",
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "0x7f000001",
    "0177.0.0.1",
    "0.0.0.0",
    "0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:0:0]",
    "[::127.0.0.1]",
];

fn path() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(&PIECES[..]);
    prop_oneof![
        4 => proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

fn all() -> Sources {
    let nothing = Variables::default;
    let all: [Arc<dyn Source>; 5] = [
        Arc::new(Disk::new("/")),
        Arc::new(Https::new()),
        Arc::new(s3(nothing())),
        Arc::new(google(nothing())),
        Arc::new(azure(nothing())),
    ];
    Sources::new(all)
}

fn resolve(request: &Request) -> Result<Location, SourceError> {
    let limits = ReadLimits::document(CancellationToken::new());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(all().resolve(request, &limits))
}

fn remote_locations() -> impl Strategy<Value = Location> {
    proptest::sample::select(vec![
        Location::new("https", "https://example.com/a/b/main.yaml?x=1"),
        Location::new("https", "https://example.com/"),
        Location::new("aws/s3", "s3://docs/a/b/main.yaml?region=eu-west-1"),
        Location::new("aws/s3", "s3://docs/main.yaml?region=eu-west-1"),
        Location::new("googlecloud/storage", "gs://docs/a/main.yaml"),
        Location::new("azure/blob", "azure://docs/a/main.yaml"),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// A path in a remote document cannot lead to a file or server of this machine.
    #[test]
    fn remote_documents_cannot_read_local_files_or_hosts(from in remote_locations(), path in path()) {
        if let Ok(location) = resolve(&Request::path(Some(from), path)) {
            prop_assert!(!location.is_disk(), "{}", location);
            let host = location.identity().split("://").nth(1).unwrap_or_default();
            let host = host.split(['/', ':', '?']).next().unwrap_or_default();
            let is_here = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
            prop_assert!(!is_here && host != "localhost", "{}", location);
        }
    }

    /// A remote document cannot address a server of this machine, however its host is written.
    #[test]
    fn a_local_host_is_refused_from_afar(
        from in remote_locations(),
        host in proptest::sample::select(&LOCAL_HOSTS[..]),
        port in proptest::sample::select(&["", ":8080"][..]),
    ) {
        let key = Request {
            kind: Some("https".into()),
            keys: vec![("host".into(), format!("{host}{port}").into())],
            ..Request::path(Some(from.clone()), "a.yaml")
        };
        let address = |scheme: &str| Request::path(Some(from.clone()), format!("{scheme}://{host}{port}/a.yaml"));
        for request in [key, address("https"), address("http")] {
            let resolved = resolve(&request);
            prop_assert!(matches!(resolved, Err(SourceError::Denied { .. })), "{:?}", resolved);
        }
    }

    /// A path without an address stays on its host, or in its bucket.
    #[test]
    fn a_path_stays_in_its_place(from in remote_locations(), path in path()) {
        if let Ok(location) = resolve(&Request::path(Some(from.clone()), path.as_str()))
            && !path.contains("://")
        {
            prop_assert_eq!(location.kind(), from.kind());
            let place = |location: &Location| {
                let rest = location.identity().split("://").nth(1).unwrap_or_default();
                rest.split('/').next().unwrap_or_default().to_owned()
            };
            prop_assert_eq!(place(&location), place(&from), "{}", path);
            let path = location.identity().split("://").nth(1).unwrap_or_default();
            let mut steps = path.split('?').next().unwrap_or_default().split('/');
            prop_assert!(!steps.any(|step| matches!(step, "." | "..")), "{}", location);
        }
    }

    /// A location is canonical: relative paths give the same result from a stored location.
    #[test]
    fn a_location_is_a_fixed_point(from in remote_locations(), path in path()) {
        if let Ok(location) = resolve(&Request::path(Some(from), path))
            && location.kind().as_ref() == "https"
        {
            prop_assert_eq!(all().location(&location.to_string()), Some(location.clone()));
            let again = resolve(&Request::path(None, location.identity().clone()));
            prop_assert_eq!(again, Ok(location));
        }
    }

    /// A host cannot contain a path, a user or another scheme.
    #[test]
    fn a_host_leads_nowhere_else(host in path()) {
        let request = Request {
            kind: Some("https".into()),
            keys: vec![("host".into(), host.as_str().into())],
            ..Request::path(None, "a.yaml")
        };
        match resolve(&request) {
            Ok(location) => {
                prop_assert!(location.identity().starts_with("https://"), "{}", location);
                prop_assert!(location.identity().ends_with("/a.yaml"), "{}", location);
                prop_assert_eq!(location.identity().matches('/').count(), 3, "{}", location);
                prop_assert!(!location.identity().contains('@'), "{}", location);
            }
            Err(error) => prop_assert!(matches!(error, SourceError::Settings { .. }), "{}", error),
        }
    }

    /// A bucket name stays the whole bucket in the location; it cannot change the path or the
    /// region.
    #[test]
    fn a_bucket_leads_nowhere_else(bucket in path(), path in path()) {
        let request = Request {
            kind: Some("aws/s3".into()),
            keys: vec![("bucket".into(), bucket.as_str().into()), ("region".into(), "eu-west-1".into())],
            ..Request::path(None, path.as_str())
        };
        if let Ok(location) = resolve(&request) {
            prop_assert!(location.identity().starts_with(&format!("s3://{bucket}/")), "{}", location);
            prop_assert!(location.identity().ends_with("?region=eu-west-1"), "{}", location);
            prop_assert_eq!(location.identity().matches("?region=").count(), 1, "{}", location);
        }
    }

    /// A location that is stored relative to a folder resolves to the same file, for any folder.
    #[test]
    fn a_file_is_found_again(file in "(/[a-c.é ]{1,3}){1,6}", folder in "(/[a-c.é ]{1,3}){0,6}") {
        let plain = |path: &str| {
            let steps = path.split('/').filter(|step| !matches!(*step, "" | "." | ".."));
            steps.fold(String::new(), |whole, step| format!("{whole}/{step}"))
        };
        let (file, folder) = (plain(&file), plain(&folder));
        prop_assume!(!file.is_empty());
        let folder = if folder.is_empty() { "/".to_owned() } else { folder };
        let location = Location::disk(file.as_str());
        let kept = location.relative_to(&folder);
        prop_assert!(!kept.identity().starts_with('/'), "{}", kept);
        prop_assert_eq!(kept.resolve_in(&folder), location);
    }
}
