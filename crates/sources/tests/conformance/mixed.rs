//! All sources together, as in `cyan`.

use std::sync::Arc;

use source::{Location, ReadLimits, Request, Source, SourceError, Sources};
use sources::Variables;
use sources::disk::Disk;
use sources::https::Https;
use sources::object::{azure, google, s3};
use tokio_util::sync::CancellationToken;

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

async fn resolve(from: Option<Location>, path: &str) -> Result<Location, SourceError> {
    all()
        .resolve(
            &Request::path(from, path),
            &ReadLimits::document(CancellationToken::new()),
        )
        .await
}

#[tokio::test]
async fn the_kinds_are_those_of_the_specification() {
    let kinds: Vec<(&str, Vec<&str>)> = all()
        .kinds()
        .map(|kind| (kind.name, kind.required().collect()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("https", vec!["host"]),
            ("aws/s3", vec!["bucket", "region"]),
            ("googlecloud/storage", vec!["bucket"]),
            ("azure/blob", vec!["container"]),
        ]
    );
}

#[tokio::test]
async fn remote_documents_cannot_read_the_disk() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    assert!(
        resolve(Some(Location::disk("/main.yaml")), path)
            .await
            .unwrap()
            .is_disk()
    );
    for from in [
        Location::new("https", "https://example.com/a/main.yaml"),
        Location::new("aws/s3", "s3://docs/a/main.yaml?region=eu-west-1"),
        Location::new("googlecloud/storage", "gs://docs/a/main.yaml"),
        Location::new("azure/blob", "azure://docs/a/main.yaml"),
    ] {
        for path in [
            path,
            &format!("../../../..{path}"),
            &format!("file://{path}"),
            &format!("disk://{path}"),
            "main.yaml",
        ] {
            if let Ok(location) = resolve(Some(from.clone()), path).await {
                assert_eq!(location.kind(), from.kind(), "{path} from {from}");
            }
        }
        // The kind `disk` is refused too.
        let disk = Request {
            kind: Some("disk".into()),
            ..Request::path(Some(from), path)
        };
        let refused = all()
            .resolve(&disk, &ReadLimits::document(CancellationToken::new()))
            .await;
        assert!(matches!(refused, Err(SourceError::UnknownKind { .. })));
    }
}

#[tokio::test]
async fn a_scheme_names_its_source() {
    let from = || Some(Location::disk("/main.yaml"));
    for (path, wanted) in [
        (
            "https://example.com/a.yaml",
            Location::new("https", "https://example.com/a.yaml"),
        ),
        (
            "gs://docs/a.yaml",
            Location::new("googlecloud/storage", "gs://docs/a.yaml"),
        ),
        (
            "az://docs/a.yaml",
            Location::new("azure/blob", "azure://docs/a.yaml"),
        ),
        (
            "S3://docs/a.yaml",
            Location::new("aws/s3", "s3://docs/a.yaml?region=us-east-1"),
        ),
    ] {
        assert_eq!(resolve(from(), path).await.unwrap(), wanted, "{path}");
    }
    for path in [
        "ftp://example.com/a.yaml",
        "file:///a.yaml",
        "git+ssh://x/y",
    ] {
        let error = resolve(from(), path).await.unwrap_err().to_string();
        assert!(error.starts_with("`path` has the scheme `"), "{error}");
    }
}
