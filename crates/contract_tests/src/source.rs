//! The suite of sources.
//!
//! [`check`] runs all cases on places that the caller creates, and returns the failures. Time
//! limits are fixed and nothing is random, so failures are reproducible.
//!
//! Not here: behaviour of a single kind (cyclic links, redirects, wrong credentials).

use std::sync::Arc;
use std::time::Duration;

use blueprint::Name;
use futures::future::{LocalBoxFuture, join_all};
use tokio_util::sync::CancellationToken;

use source::{
    BoxFuture, DISK, Digest, Location, ReadLimits, Request, Source, SourceError, SourceKind,
    Sources,
};

/// An empty place of one kind that can be filled.
pub trait SourcePlace {
    /// The source under test.
    fn source(&self) -> Arc<dyn Source>;

    /// A request for a path at the top of the place, from a document outside of the place.
    fn request(&self, path: &str) -> Request;

    /// Stores a document at a path below the top, and replaces an existing one.
    fn put<'a>(&'a self, path: &'a str, bytes: &'a [u8]) -> BoxFuture<'a, ()>;

    /// Makes requests for a path hang longer than any time limit. Returns whether the place
    /// supports this.
    fn stall(&self, path: &str) -> bool;
}

type ContractCase = for<'p> fn(&'p SourceHarness) -> LocalBoxFuture<'p, Result<(), Failed>>;

const CASES: &[(&str, ContractCase)] = &[
    ("the kind describes itself", |harness| {
        Box::pin(check_description(harness))
    }),
    ("a document comes back as it is", |harness| {
        Box::pin(check_content(harness))
    }),
    ("names may have any letters", |harness| {
        Box::pin(names(harness))
    }),
    ("a location has one spelling", |harness| {
        Box::pin(check_canonical_locations(harness))
    }),
    (
        "a relative path begins at the including document",
        |harness| Box::pin(relative(harness)),
    ),
    ("a missing document is reported", |harness| {
        Box::pin(absent(harness))
    }),
    ("the size limit is kept", |harness| {
        Box::pin(limits(harness))
    }),
    ("keys are checked", |harness| Box::pin(keys(harness))),
    ("a checksum pins the content", |harness| {
        Box::pin(checksum(harness))
    }),
    ("a changed document is read", |harness| {
        Box::pin(changed(harness))
    }),
    ("a web page is no document", |harness| {
        Box::pin(page(harness))
    }),
    ("a folder is listed or refused", |harness| {
        Box::pin(check_folder(harness))
    }),
    ("many documents are read concurrently", |harness| {
        Box::pin(check_concurrent_reads(harness))
    }),
    ("no path leads out of the place", |harness| {
        Box::pin(check_no_escape(harness))
    }),
    ("unusual paths are handled", |harness| {
        Box::pin(check_unusual_paths(harness))
    }),
    ("time limits and cancellation are kept", |harness| {
        Box::pin(time_limits(harness))
    }),
];

/// Runs every case, each on a new place from `make`. Returns one message for each failure.
pub async fn check(make: &dyn Fn() -> Box<dyn SourcePlace>) -> Vec<String> {
    let mut failures = Vec::new();
    for (name, case) in CASES {
        if let Err(Failed(what)) = case(&SourceHarness::of(make())).await {
            failures.push(format!("{name}: {what}"));
        }
    }
    failures
}

/// The reason why a case failed.
struct Failed(String);

impl From<SourceError> for Failed {
    fn from(error: SourceError) -> Failed {
        Failed(format!("unexpected error: {error}"))
    }
}

macro_rules! check {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(Failed(format!($($why)+)));
        }
    };
}

macro_rules! check_eq {
    ($found:expr, $wanted:expr, $what:expr) => {
        match (&$found, &$wanted) {
            (found, wanted) => check!(
                *found == *wanted,
                "{}: {:?} instead of {:?}",
                $what,
                found,
                wanted
            ),
        }
    };
}

macro_rules! check_err {
    ($result:expr, $error:pat, $what:expr) => {
        match $result {
            Err($error) => {}
            Err(other) => return Err(Failed(format!("{}: refused as `{other}`", $what))),
            Ok(_) => return Err(Failed(format!("{}: not refused", $what))),
        }
    };
}

/// A place, and the sources that contain its source.
struct SourceHarness {
    place: Box<dyn SourcePlace>,
    sources: Sources,
    kind: &'static SourceKind,
}

impl SourceHarness {
    fn of(place: Box<dyn SourcePlace>) -> SourceHarness {
        let source = place.source();
        let kind = source.kind();
        SourceHarness {
            place,
            sources: Sources::new([source]),
            kind,
        }
    }

    async fn locate(&self, request: &Request) -> Result<Location, SourceError> {
        self.sources.resolve(request, &default_limits()).await
    }

    async fn location(&self, path: &str) -> Result<Location, SourceError> {
        self.locate(&self.place.request(path)).await
    }

    async fn bytes(&self, path: &str) -> Result<Arc<[u8]>, SourceError> {
        Ok(self
            .sources
            .read(&self.place.request(path), &default_limits())
            .await?
            .bytes)
    }
}

fn default_limits() -> ReadLimits {
    ReadLimits::document(CancellationToken::new())
}

async fn check_description(harness: &SourceHarness) -> Result<(), Failed> {
    let kind = harness.kind;
    check!(
        !kind.name.is_empty() && kind.about.ends_with('.'),
        "the kind `{}` says nothing of itself",
        kind.name
    );
    for (at, key) in kind.keys.iter().enumerate() {
        check!(
            !key.name.is_empty() && key.about.ends_with('.'),
            "the key `{}` says nothing of itself",
            key.name
        );
        check!(
            !matches!(key.name, "sourceType" | "checksum"),
            "`{}` is a key of every kind",
            key.name
        );
        check!(
            kind.keys[..at].iter().all(|other| other.name != key.name),
            "the key `{}` is there twice",
            key.name
        );
    }
    let listed = harness.sources.kinds().any(|one| one == kind);
    check_eq!(listed, kind.name != DISK, "whether a document can name it");
    Ok(())
}

async fn check_content(harness: &SourceHarness) -> Result<(), Failed> {
    let all: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    for (path, bytes) in [
        ("a.yaml", &all[..]),
        ("folder/of/b.yaml", b"version: 2023-04-20\n"),
        ("empty.yaml", b""),
    ] {
        harness.place.put(path, bytes).await;
        let document = harness
            .sources
            .read(&harness.place.request(path), &default_limits())
            .await?;
        check!(
            &*document.bytes == bytes,
            "{path} came back with {} bytes, or others",
            document.bytes.len()
        );
        check_eq!(document.digest, Digest::of(bytes), "the digest");
        check_eq!(
            document.location,
            harness.location(path).await?,
            "the location of what was read"
        );
    }
    Ok(())
}

async fn names(harness: &SourceHarness) -> Result<(), Failed> {
    for path in [
        "with space.yaml",
        "größe/日本.yaml",
        "a+b=c&d@e,f.yaml",
        "(x)'[y]~.yaml",
        "per%cent.yaml",
        "c:d.yaml",
    ] {
        let written = if harness.kind.name == "https" {
            path.replace('%', "%25")
        } else {
            path.to_owned()
        };
        harness.place.put(path, path.as_bytes()).await;
        match harness.bytes(&written).await {
            Ok(bytes) => check_eq!(&*bytes, path.as_bytes(), path),
            Err(error) => check!(false, "{path}: {error}"),
        }
    }
    Ok(())
}

async fn check_canonical_locations(harness: &SourceHarness) -> Result<(), Failed> {
    for path in ["a/c.yaml", "a/b/d.yaml", "a/b/c/e.yaml"] {
        harness.place.put(path, b"x: 1").await;
    }
    let location = harness.location("a/c.yaml").await?;
    check_eq!(
        &**location.kind(),
        harness.kind.name,
        "the kind of a location"
    );
    for path in [
        "./a/c.yaml",
        "a/./c.yaml",
        "a/b/../c.yaml",
        "a/b/c/../../c.yaml",
    ] {
        check_eq!(harness.location(path).await?, location, path);
    }
    check!(
        harness.location("a/b/d.yaml").await? != location,
        "two documents have one location"
    );
    // A location can be stored and read back.
    let again = Location::new(location.kind().clone(), location.identity().clone());
    check_eq!(
        &*harness
            .sources
            .fetch(again, None, &default_limits())
            .await?
            .bytes,
        b"x: 1",
        "what is at a location that was kept"
    );
    Ok(())
}

async fn relative(harness: &SourceHarness) -> Result<(), Failed> {
    for path in [
        "a/b/main.yaml",
        "a/b/c.yaml",
        "a/d.yaml",
        "e.yaml",
        "a/b/f/g.yaml",
    ] {
        harness.place.put(path, path.as_bytes()).await;
    }
    let main = harness.location("a/b/main.yaml").await?;
    for (path, wanted) in [
        ("c.yaml", "a/b/c.yaml"),
        ("../d.yaml", "a/d.yaml"),
        ("../../e.yaml", "e.yaml"),
        ("f/g.yaml", "a/b/f/g.yaml"),
    ] {
        let request = Request::path(Some(main.clone()), path);
        let document = harness.sources.read(&request, &default_limits()).await?;
        check_eq!(&*document.bytes, wanted.as_bytes(), path);
        check_eq!(document.location, harness.location(wanted).await?, path);
        // With keys, the path begins at the top of the place.
        if !harness.kind.keys.is_empty() {
            let request = Request {
                from: Some(main.clone()),
                ..harness.place.request(wanted)
            };
            check_eq!(
                harness.locate(&request).await?,
                document.location,
                "a path with keys"
            );
        }
    }
    Ok(())
}

async fn absent(harness: &SourceHarness) -> Result<(), Failed> {
    harness.place.put("a.yaml", b"x: 1").await;
    for path in ["b.yaml", "no/folder/c.yaml", "a.yaml.bak", "A.yaml"] {
        check_err!(
            harness.bytes(path).await,
            SourceError::NotFound { .. },
            path
        );
    }
    Ok(())
}

async fn limits(harness: &SourceHarness) -> Result<(), Failed> {
    harness.place.put("a.yaml", &[b'#'; 5000]).await;
    for bytes in [5000, 4999, 1, 0] {
        let limits = ReadLimits {
            bytes,
            ..default_limits()
        };
        let read = harness
            .sources
            .read(&harness.place.request("a.yaml"), &limits)
            .await;
        if bytes == 5000 {
            check_eq!(read?.bytes.len(), 5000, "what is as long as allowed");
        } else {
            check_err!(
                read,
                SourceError::TooLarge { .. },
                format!("{bytes} bytes are allowed")
            );
        }
    }
    Ok(())
}

async fn keys(harness: &SourceHarness) -> Result<(), Failed> {
    harness.place.put("a.yaml", b"x: 1").await;
    let request = harness.place.request("a.yaml");
    let at = |result: Result<Location, SourceError>| match result {
        Err(SourceError::Settings { key, .. }) => key,
        other => format!("{other:?}"),
    };
    check_eq!(
        at(harness
            .locate(&Request {
                path: "".into(),
                ..request.clone()
            })
            .await),
        "path",
        "an empty path"
    );
    for key in harness.kind.required() {
        let without = request
            .keys
            .iter()
            .filter(|(name, _)| &**name != key)
            .cloned()
            .collect();
        check_eq!(
            at(harness
                .locate(&Request {
                    keys: without,
                    ..request.clone()
                })
                .await),
            key,
            "a missing key"
        );
        let emptied = |(name, value): &(Name, Name)| {
            (
                name.clone(),
                if &**name == key {
                    "".into()
                } else {
                    value.clone()
                },
            )
        };
        let emptied = request.keys.iter().map(emptied).collect();
        check_eq!(
            at(harness
                .locate(&Request {
                    keys: emptied,
                    ..request.clone()
                })
                .await),
            key,
            "an empty key"
        );
    }
    let mut more = request.keys.clone();
    more.push(("nonsense".into(), "1".into()));
    check_eq!(
        at(harness
            .locate(&Request {
                keys: more,
                ..request.clone()
            })
            .await),
        "nonsense",
        "an unknown key"
    );
    for kind in ["nonsense", DISK, ""] {
        let unknown = Request {
            kind: Some(kind.into()),
            ..request.clone()
        };
        check_err!(
            harness.locate(&unknown).await,
            SourceError::UnknownKind { .. },
            format!("the kind `{kind}`")
        );
    }
    Ok(())
}

async fn checksum(harness: &SourceHarness) -> Result<(), Failed> {
    harness.place.put("a.yaml", b"x: 1").await;
    let pinned = |checksum: &str| Request {
        checksum: Some(checksum.into()),
        ..harness.place.request("a.yaml")
    };
    let right = Digest::of(b"x: 1");
    for _ in 0..2 {
        let document = harness
            .sources
            .read(&pinned(&right.to_string()), &default_limits())
            .await?;
        check_eq!(document.digest, right, "the digest of what is pinned");
    }
    let wrong = Digest::of(b"x: 2");
    match harness
        .sources
        .read(&pinned(&wrong.to_string()), &default_limits())
        .await
    {
        Err(SourceError::Checksum { expected, found }) => {
            check_eq!((expected, found), (wrong, right), "the checksums")
        }
        other => check!(false, "another content is pinned: {other:?}"),
    }
    for text in ["", "sha256:", "md5:0", "x"] {
        check_err!(
            harness.locate(&pinned(text)).await,
            SourceError::Settings { .. },
            format!("the checksum `{text}`")
        );
    }
    Ok(())
}

async fn changed(harness: &SourceHarness) -> Result<(), Failed> {
    for text in ["x: 1", "x: 2", "x: 2", "x: 1"] {
        harness.place.put("a.yaml", text.as_bytes()).await;
        check_eq!(
            &*harness.bytes("a.yaml").await?,
            text.as_bytes(),
            "what was put there last"
        );
    }
    Ok(())
}

async fn page(harness: &SourceHarness) -> Result<(), Failed> {
    let page = b"<!doctype html><title>Sign in</title>";
    harness.place.put("a.yaml", page).await;
    check_err!(
        harness.bytes("a.yaml").await,
        SourceError::NotDocument { .. },
        "a page"
    );
    let limits = ReadLimits::file(CancellationToken::new());
    let file = harness
        .sources
        .read(&harness.place.request("a.yaml"), &limits)
        .await?;
    check_eq!(&*file.bytes, page, "a page where any file will do");
    Ok(())
}

async fn check_folder(harness: &SourceHarness) -> Result<(), Failed> {
    harness.place.put("sub/a.yaml", b"x: 1").await;
    let request = harness.place.request("sub").for_folder();
    match harness.sources.read(&request, &default_limits()).await {
        Ok(listing) => {
            check_eq!(&*listing.bytes, b"a.yaml\n", "the entries of a folder");
            check!(listing.location.is_folder(), "{}", listing.location);
        }
        Err(SourceError::NoFolders { kind }) => {
            check_eq!(kind, harness.kind.name, "the kind that has no folders")
        }
        Err(other) => check!(false, "a folder: {other:?}"),
    }
    Ok(())
}

async fn check_concurrent_reads(harness: &SourceHarness) -> Result<(), Failed> {
    let paths: Vec<String> = (0..12)
        .map(|number| format!("many/{number}.yaml"))
        .collect();
    for path in &paths {
        harness.place.put(path, path.as_bytes()).await;
    }
    let read = join_all(paths.iter().map(|path| harness.bytes(path))).await;
    for (path, bytes) in paths.iter().zip(read) {
        check_eq!(&*bytes?, path.as_bytes(), "one of many");
    }
    Ok(())
}

async fn check_no_escape(harness: &SourceHarness) -> Result<(), Failed> {
    if harness.kind.name == DISK {
        return Ok(());
    }
    harness.place.put("a/main.yaml", b"x: 1").await;
    let main = harness.location("a/main.yaml").await?;
    for path in [
        "/etc/passwd",
        "../../../../../../etc/passwd",
        "file:///etc/passwd",
        "disk:///etc/passwd",
        "~/x",
        "-",
    ] {
        match harness
            .locate(&Request::path(Some(main.clone()), path))
            .await
        {
            Ok(location) => check_eq!(&**location.kind(), harness.kind.name, path),
            Err(SourceError::Settings { .. }) => {}
            Err(other) => check!(false, "{path}: refused as `{other}`"),
        }
    }
    Ok(())
}

async fn check_unusual_paths(harness: &SourceHarness) -> Result<(), Failed> {
    harness.place.put("main.yaml", b"x: 1").await;
    let main = harness.location("main.yaml").await?;
    let long = "x/".repeat(3000);
    let deep = "../".repeat(3000);
    let paths = [
        ".",
        "..",
        "/",
        "//",
        "///",
        "a//b",
        "a/",
        "\\",
        "..\\..\\x",
        "\0",
        "a\0b",
        "\n",
        "\u{202e}x",
        "\u{feff}",
        "%",
        "%0",
        "%00",
        "%2e%2e",
        "%2f",
        "?",
        "#",
        "a?b#c",
        ":",
        "a:b",
        "c:\\x",
        "://",
        "x://",
        "://x",
        "http:x",
        "https:",
        "file:x",
        "[",
        "]",
        "{",
        "}",
        "${x}",
        "*",
        "|",
        "<>",
        "\"",
        "'",
        "$HOME",
        "~",
        "e\u{301}",
        "\u{e9}",
        "🦀",
        &long,
        &deep,
    ];
    for path in paths {
        for request in [
            harness.place.request(path),
            Request::path(Some(main.clone()), path),
        ] {
            let first = harness.locate(&request).await;
            check_eq!(
                harness.locate(&request).await,
                first,
                format!("{path:?}, asked again")
            );
            let Ok(location) = first else { continue };
            let read = harness
                .sources
                .fetch(location.clone(), None, &default_limits())
                .await;
            check!(
                read.is_err() || location == main,
                "something is at {path:?}: `{location}`"
            );
        }
    }
    Ok(())
}

async fn time_limits(harness: &SourceHarness) -> Result<(), Failed> {
    harness.place.put("a.yaml", b"x: 1").await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let cancelled = harness
        .sources
        .read(
            &harness.place.request("a.yaml"),
            &ReadLimits::document(cancel),
        )
        .await;
    check_err!(cancelled, SourceError::Cancelled, "a cancelled read");
    if harness.place.stall("a.yaml") {
        let limits = ReadLimits {
            time: Duration::from_millis(200),
            ..default_limits()
        };
        let late = harness
            .sources
            .read(&harness.place.request("a.yaml"), &limits)
            .await;
        check_err!(
            late,
            SourceError::TimedOut { .. },
            "a place that does not answer"
        );
    }
    Ok(())
}
