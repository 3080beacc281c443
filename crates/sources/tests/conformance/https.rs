//! Web servers: conformance and their own behaviour.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use contract_tests::source::SourcePlace;
use source::{
    BoxFuture, Digest, FetchedDocument, Location, ReadLimits, Request, Source, SourceError, Sources,
};
use sources::Cache;
use sources::https::Https;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::server::{
    Documents, ReceivedRequest, Server, ServerReply, from_memory, redirect, status, text,
};

struct WebServer {
    server: Server,
    documents: Documents,
    cache: Option<TempDir>,
}

impl WebServer {
    fn new(cached: bool) -> WebServer {
        let documents = Documents::default();
        let server = Server::tls(from_memory(documents.clone(), "/", ""));
        WebServer {
            server,
            documents,
            cache: cached.then(|| tempfile::tempdir().unwrap()),
        }
    }
}

impl SourcePlace for WebServer {
    fn source(&self) -> Arc<dyn Source> {
        let https = Https::trusting(&self.server.authority);
        match &self.cache {
            Some(folder) => Arc::new(https.cached(Cache::new(folder.path()))),
            None => Arc::new(https),
        }
    }

    fn request(&self, path: &str) -> Request {
        Request {
            kind: Some("https".into()),
            keys: vec![(
                "host".into(),
                format!("localhost:{}", self.server.port).into(),
            )],
            ..Request::path(Some(Location::disk("/somewhere/main.yaml")), path)
        }
    }

    fn put<'a>(&'a self, path: &'a str, bytes: &'a [u8]) -> BoxFuture<'a, ()> {
        self.documents
            .lock()
            .unwrap()
            .insert(path.to_owned(), Some(bytes.to_vec()));
        Box::pin(std::future::ready(()))
    }

    fn stall(&self, path: &str) -> bool {
        self.documents.lock().unwrap().insert(path.to_owned(), None);
        true
    }
}

#[tokio::test]
async fn web_servers_conform() {
    for cached in [false, true] {
        let failures = contract_tests::source::check(&|| Box::new(WebServer::new(cached))).await;
        assert!(failures.is_empty(), "cached: {cached}: {failures:#?}");
    }
}

fn limits() -> ReadLimits {
    ReadLimits::document(CancellationToken::new())
}

async fn read_by(https: Https, url: &str) -> Result<FetchedDocument, SourceError> {
    Sources::new([Arc::new(https) as Arc<dyn Source>])
        .read(&Request::path(None, url), &limits())
        .await
}

/// Reads a path from a local server without TLS.
async fn read(server: &Server, path: &str) -> Result<String, SourceError> {
    let document = read_by(Https::new(), &server.url(path)).await?;
    Ok(String::from_utf8(document.bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn statuses_are_translated() {
    let server = Server::plain(|got: &ReceivedRequest| {
        status(got.path[1..].parse().unwrap(), "<html>no</html>")
    });
    for (path, words) in [
        (
            "/401",
            "credentials are needed: the server answered 401 Unauthorized",
        ),
        (
            "/403",
            "access is denied: the server answered 403 Forbidden",
        ),
        (
            "/404",
            "there is nothing at this place: the server answered 404 Not Found",
        ),
        (
            "/410",
            "there is nothing at this place: the server answered 410 Gone",
        ),
        (
            "/204",
            "it cannot be read: the server answered 204 No Content",
        ),
        (
            "/304",
            "it cannot be read: the server answered 304 Not Modified",
        ),
        (
            "/418",
            "it cannot be read: the server answered 418 I'm a teapot",
        ),
        (
            "/501",
            "it cannot be read: the server answered 501 Not Implemented",
        ),
    ] {
        assert_eq!(read(&server, path).await.unwrap_err().to_string(), words);
    }
    assert_eq!(server.received().len(), 8, "what lasts is not tried again");
    let words = read(&server, "/500").await.unwrap_err().to_string();
    assert_eq!(
        words,
        "it cannot be read: the server answered 500 Internal Server Error"
    );
    assert_eq!(
        server.received().len(),
        11,
        "what may pass is tried again twice"
    );
}

#[tokio::test]
async fn temporary_failures_are_retried() {
    let asked = AtomicUsize::new(0);
    let server = Server::plain(move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => status(503, ""),
        1 => ServerReply::Cut,
        _ => text("x: 1"),
    });
    assert_eq!(read(&server, "/a.yaml").await.unwrap(), "x: 1");
}

#[tokio::test]
async fn a_truncated_answer_is_no_document() {
    let server = Server::plain(|_| ServerReply::Cut);
    let error = read(&server, "/a.yaml").await.unwrap_err().to_string();
    assert!(
        error.starts_with("it cannot be read: the connection broke: "),
        "{error}"
    );
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn a_refused_connection_is_reported() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a.yaml", closed.local_addr().unwrap());
    drop(closed);
    let error = read_by(Https::new(), &url).await.unwrap_err().to_string();
    assert!(
        error.starts_with("it cannot be read: no connection: "),
        "{error}"
    );
    assert!(!error.contains("a.yaml"), "{error}");
}

#[tokio::test]
async fn redirects_are_followed_and_the_location_stays() {
    let server = Server::plain(|got: &ReceivedRequest| match got.path.as_str() {
        "/a.yaml" => redirect("moved/b.yaml"),
        "/moved/b.yaml" => redirect("/c.yaml?x=1"),
        "/c.yaml?x=1" => text("x: 1"),
        "/loop" => redirect("/loop"),
        "/nowhere" => status(302, ""),
        "/away" => redirect("http://plain.example/a.yaml"),
        "/file" => redirect("file:///etc/passwd"),
        _ => status(404, ""),
    });
    let document = read_by(Https::new(), &server.url("/a.yaml")).await.unwrap();
    assert_eq!(&*document.bytes, b"x: 1");
    assert_eq!(&**document.location.identity(), server.url("/a.yaml"));
    for (path, words) in [
        (
            "/loop",
            "it cannot be read: the server redirected more than 5 times",
        ),
        (
            "/nowhere",
            "it cannot be read: the server redirected to nowhere",
        ),
        (
            "/away",
            "it cannot be read: the server redirected to `http://plain.example`, which is not followed",
        ),
        (
            "/file",
            "it cannot be read: the server redirected to `null`, which is not followed",
        ),
    ] {
        assert_eq!(read(&server, path).await.unwrap_err().to_string(), words);
    }
    assert_eq!(
        server
            .paths()
            .iter()
            .filter(|path| *path == "/loop")
            .count(),
        6
    );
}

#[tokio::test]
async fn a_redirect_does_not_leave_tls() {
    let plain = Server::plain(|_| text("x: 1"));
    let to = plain.url("/a.yaml");
    let server = Server::tls(move |_| redirect(&to));
    let error = read_by(Https::trusting(&server.authority), &server.url("/a.yaml"))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("which is not followed"),
        "{error}"
    );
    assert!(plain.received().is_empty());
}

#[tokio::test]
async fn servers_with_untrusted_certificates_are_refused() {
    let server = Server::tls(|_| text("x: 1"));
    let stranger = read_by(Https::new(), &server.url("/a.yaml"))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        stranger.starts_with("it cannot be read: the server is not trusted: "),
        "{stranger}"
    );
    let url = format!("https://127.0.0.1:{}/a.yaml", server.port);
    let other_name = read_by(Https::trusting(&server.authority), &url)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        other_name.starts_with("it cannot be read: the server is not trusted: "),
        "{other_name}"
    );
    assert!(server.received().is_empty(), "nothing is said to them");
    let document = read_by(Https::trusting(&server.authority), &server.url("/a.yaml"))
        .await
        .unwrap();
    assert_eq!(&*document.bytes, b"x: 1");
}

#[tokio::test]
async fn too_large_documents_are_not_read() {
    let server = Server::plain(|got: &ReceivedRequest| {
        if got.path == "/giant" {
            ServerReply::Giant
        } else {
            ServerReply::Endless
        }
    });
    for path in ["/giant", "/endless"] {
        let before = server.sent();
        assert_eq!(
            read(&server, path).await,
            Err(SourceError::TooLarge { limit: 32 << 20 }),
            "{path}"
        );
        // Bytes in buffers count as sent.
        let sent = server.sent() - before;
        assert!(
            sent < if path == "/giant" { 24 << 20 } else { 64 << 20 },
            "{path}: {sent} bytes"
        );
    }
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn slow_answers_time_out() {
    let server = Server::plain(|got: &ReceivedRequest| {
        if got.path == "/nothing" {
            ServerReply::Nothing
        } else {
            ServerReply::Trickle
        }
    });
    let sources = Sources::new([Arc::new(Https::new()) as Arc<dyn Source>]);
    for path in ["/nothing", "/trickle"] {
        let request = Request::path(None, server.url(path));
        let limits = ReadLimits {
            time: Duration::from_millis(300),
            ..limits()
        };
        let late = sources.read(&request, &limits).await.unwrap_err();
        assert_eq!(late, SourceError::TimedOut { after: limits.time }, "{path}");
        assert_eq!(late.to_string(), "it took longer than 0.3 s");
        let cancel = CancellationToken::new();
        let limits = ReadLimits::document(cancel.clone());
        let (read, ()) = tokio::join!(sources.read(&request, &limits), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            cancel.cancel();
        });
        assert_eq!(read, Err(SourceError::Cancelled), "{path}");
    }
}

#[tokio::test]
async fn web_pages_are_recognised() {
    let server = Server::plain(|got: &ReceivedRequest| match got.path.as_str() {
        "/login" => {
            text("\n<!DOCTYPE html><html><head><title>Sign in to continue</title></head></html>")
        }
        "/packed" => ServerReply::Answer(
            200,
            vec![("Content-Encoding".into(), "gzip".into())],
            vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0],
        ),
        // The content type of a server is not trusted.
        _ => ServerReply::Answer(
            200,
            vec![("Content-Type".into(), "text/html".into())],
            b"x: 1".to_vec(),
        ),
    });
    let login = read(&server, "/login").await.unwrap_err();
    assert_eq!(
        login.to_string(),
        "it is an HTML page with the title `Sign in to continue`, not a document"
    );
    let packed = read(&server, "/packed").await.unwrap_err();
    assert_eq!(
        packed.to_string(),
        "it cannot be read: the server sent it encoded as `gzip`"
    );
    assert_eq!(read(&server, "/a.yaml").await.unwrap(), "x: 1");
}

#[tokio::test]
async fn no_credentials_are_sent() {
    let server = Server::plain(|_| text("x: 1"));
    read(&server, "/a.yaml").await.unwrap();
    let got = server.received().remove(0);
    assert!(
        !got.headers
            .keys()
            .any(|name| name.contains("auth") || name.contains("cookie")),
        "{got:?}"
    );
    assert!(got.headers["user-agent"].starts_with("cyanotype/"));
    let url = format!("http://ann:pass@127.0.0.1:{}/a.yaml", server.port);
    let error = read_by(Https::new(), &url).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "`path` holds a user or password; no credentials are sent to web servers"
    );
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_pinned_document_is_requested_once() {
    let server = Server::plain(|_| text("x: 1"));
    let folder = tempfile::tempdir().unwrap();
    let pinned = Request {
        checksum: Some(Digest::of(b"x: 1").to_string().into()),
        ..Request::path(None, server.url("/a.yaml"))
    };
    for _ in 0..3 {
        let https = Https::new().cached(Cache::new(folder.path()));
        let sources = Sources::new([Arc::new(https) as Arc<dyn Source>]);
        assert_eq!(
            &*sources.read(&pinned, &limits()).await.unwrap().bytes,
            b"x: 1"
        );
    }
    assert_eq!(server.received().len(), 1);
    // Equal contents are cached once, regardless of their locations.
    let https = Https::new().cached(Cache::new(folder.path()));
    let elsewhere = Request {
        path: server.url("/b.yaml").into(),
        ..pinned
    };
    let document = Sources::new([Arc::new(https) as Arc<dyn Source>])
        .read(&elsewhere, &limits())
        .await
        .unwrap();
    assert_eq!(&**document.location.identity(), server.url("/b.yaml"));
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn unchanged_documents_are_not_transferred_again() {
    let documents = Documents::default();
    documents
        .lock()
        .unwrap()
        .insert("a.yaml".into(), Some(b"x: 1".to_vec()));
    let server = Server::plain(from_memory(documents, "/", ""));
    let folder = tempfile::tempdir().unwrap();
    let url = server.url("/a.yaml");
    let read = || read_by(Https::new().cached(Cache::new(folder.path())), &url);
    let asked = |server: &Server| {
        server
            .received()
            .last()
            .unwrap()
            .headers
            .contains_key("if-none-match")
    };
    assert_eq!(&*read().await.unwrap().bytes, b"x: 1");
    assert!(!asked(&server));
    assert_eq!(&*read().await.unwrap().bytes, b"x: 1");
    assert!(asked(&server), "the tag is shown");
    // A damaged file is ignored.
    for file in files(folder.path())
        .iter()
        .filter(|file| !file.to_string_lossy().contains("seen"))
    {
        std::fs::write(file, "x: 2").unwrap();
    }
    assert_eq!(&*read().await.unwrap().bytes, b"x: 1");
    assert!(!asked(&server), "there is nothing to compare with");
    assert_eq!(&*read().await.unwrap().bytes, b"x: 1");
    assert!(asked(&server));
    // A damaged entry is ignored.
    for file in files(&folder.path().join("seen")) {
        std::fs::write(file, "{").unwrap();
    }
    assert_eq!(&*read().await.unwrap().bytes, b"x: 1");
    assert!(!asked(&server));
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_is_ignored() {
    let server = Server::plain(|_| text("x: 1"));
    let document = read_by(
        Https::new().cached(Cache::new("/dev/null/cache")),
        &server.url("/a.yaml"),
    )
    .await;
    assert_eq!(&*document.unwrap().bytes, b"x: 1");
}

#[tokio::test]
async fn the_cache_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = Server::plain(|_| text("x: 1"));
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("new/cache");
    read_by(
        Https::new().cached(Cache::new(&cache)),
        &server.url("/a.yaml"),
    )
    .await
    .unwrap();
    let found = files(&cache);
    // The content, and the mark of the last pruning.
    assert_eq!(found.len(), 2);
    for file in found {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0);
        assert_eq!(
            file.parent()
                .unwrap()
                .metadata()
                .unwrap()
                .permissions()
                .mode()
                & 0o077,
            0
        );
    }
}

fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path))
        } else {
            found.push(path)
        }
    }
    found
}
