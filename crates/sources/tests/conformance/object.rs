//! Object stores: against emulators if they were started, and against a small server for answers
//! that the emulators do not give.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use contract_tests::source::SourcePlace;
use object_store::client::{HttpClient, HttpConnector};
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt as _};
use source::{BoxFuture, Digest, Location, ReadLimits, Request, Source, SourceError, Sources};
use sources::object::{ObjectSource, azure, google, s3};
use sources::{Cache, Variables};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::counterpart;
use crate::server::{Documents, ReceivedRequest, Server, ServerReply, from_memory, status, text};

fn environment(variables: &[(&str, &str)]) -> Variables {
    variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// A bucket with a writer.
struct Bucket {
    make: Box<dyn Fn() -> ObjectSource + Send + Sync>,
    kind: &'static str,
    keys: Vec<(&'static str, String)>,
    writer: Writer,
    cache: Option<TempDir>,
}

enum Writer {
    Store(Box<dyn ObjectStore>),
    Documents(Documents),
}

impl SourcePlace for Bucket {
    fn source(&self) -> Arc<dyn Source> {
        match &self.cache {
            Some(folder) => Arc::new((self.make)().cached(Cache::new(folder.path()))),
            None => Arc::new((self.make)()),
        }
    }

    fn request(&self, path: &str) -> Request {
        Request {
            kind: Some(self.kind.into()),
            keys: self
                .keys
                .iter()
                .map(|(key, value)| ((*key).into(), value.as_str().into()))
                .collect(),
            ..Request::path(Some(Location::disk("/somewhere/main.yaml")), path)
        }
    }

    fn put<'a>(&'a self, path: &'a str, bytes: &'a [u8]) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            match &self.writer {
                Writer::Store(store) => {
                    let path = object_store::path::Path::parse(path).unwrap();
                    store.put(&path, bytes.to_vec().into()).await.unwrap();
                }
                Writer::Documents(documents) => {
                    documents
                        .lock()
                        .unwrap()
                        .insert(path.to_owned(), Some(bytes.to_vec()));
                }
            }
        })
    }

    fn stall(&self, path: &str) -> bool {
        match &self.writer {
            Writer::Store(_) => false,
            Writer::Documents(documents) => {
                documents.lock().unwrap().insert(path.to_owned(), None);
                true
            }
        }
    }
}

/// A name that is unique in this run.
fn fresh() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!(
        "docs-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

#[derive(Debug)]
struct Plain;

impl HttpConnector for Plain {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let client = reqwest::Client::builder()
            .no_proxy()
            .tls_backend_preconfigured(config)
            .build();
        Ok(HttpClient::new(client.unwrap()))
    }
}

/// Sends a request with an empty body and returns the status.
async fn put_nothing(address: &str, path: &str, headers: &str) -> u16 {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let host = address.trim_start_matches("http://");
    let mut stream = tokio::net::TcpStream::connect(host).await.unwrap();
    let request = format!(
        "PUT {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer)
        .split(' ')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

fn s3_environment(endpoint: &str) -> Variables {
    environment(&[
        ("AWS_ACCESS_KEY_ID", "testing"),
        ("AWS_SECRET_ACCESS_KEY", "testing"),
        ("AWS_ENDPOINT_URL", endpoint),
    ])
}

fn s3_bucket(endpoint: &str, cached: bool) -> Bucket {
    let name = fresh();
    let made = tokio::task::block_in_place(|| {
        tokio::runtime::Handle::current().block_on(put_nothing(endpoint, &format!("/{name}"), ""))
    });
    assert_eq!(made, 200, "the bucket is made");
    let store = object_store::aws::AmazonS3Builder::new()
        .with_endpoint(endpoint)
        .with_allow_http(true)
        .with_region("us-east-1")
        .with_bucket_name(&name)
        .with_access_key_id("testing")
        .with_secret_access_key("testing")
        .with_http_connector(Plain)
        .build();
    let endpoint = endpoint.to_owned();
    Bucket {
        make: Box::new(move || s3(s3_environment(&endpoint))),
        kind: "aws/s3",
        keys: vec![("bucket", name), ("region", "us-east-1".into())],
        writer: Writer::Store(Box::new(store.unwrap())),
        cache: cached.then(|| tempfile::tempdir().unwrap()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s3_conforms() {
    let Some(endpoint) = counterpart("CYAN_TEST_S3", "a server of S3") else {
        return;
    };
    for cached in [false, true] {
        let failures =
            contract_tests::source::check(&|| Box::new(s3_bucket(&endpoint, cached))).await;
        assert!(failures.is_empty(), "cached: {cached}: {failures:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s3_reports_a_missing_bucket() {
    let Some(endpoint) = counterpart("CYAN_TEST_S3", "a server of S3") else {
        return;
    };
    let bucket = s3_bucket(&endpoint, false);
    let sources = Sources::new([bucket.source()]);
    let mut request = bucket.request("a.yaml");
    let error = sources
        .read(&request, &limits())
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "there is nothing at this place: The specified key does not exist (NoSuchKey)"
    );
    request.keys[0].1 = "no-such-bucket-here".into();
    let error = sources
        .read(&request, &limits())
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(error, "there is nothing at this place: no such bucket");
}

#[tokio::test(flavor = "multi_thread")]
async fn s3_refuses_unknown_keys() {
    let Some(endpoint) = counterpart(
        "CYAN_TEST_S3_STRICT",
        "a server of S3 that looks at credentials",
    ) else {
        return;
    };
    let error = read_s3(s3_environment(&endpoint)).await.unwrap_err();
    let SourceError::Credentials { words } = &error else {
        panic!("{error}")
    };
    assert!(words.ends_with("(InvalidAccessKeyId)"), "{error}");
}

const AZURE_ACCOUNT: &str = "devstoreaccount1";
const AZURE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

fn azure_environment(endpoint: &str, key: &str) -> Variables {
    let text = format!(
        "AccountName={AZURE_ACCOUNT};AccountKey={key};BlobEndpoint={endpoint}/{AZURE_ACCOUNT};"
    );
    environment(&[("AZURE_STORAGE_CONNECTION_STRING", &text)])
}

/// Creates a container with a signed request.
async fn make_container(endpoint: &str, name: &str) {
    use base64::Engine as _;
    let base64 = base64::engine::general_purpose::STANDARD;
    let date = "Mon, 02 Jan 2023 15:04:05 GMT";
    let headers = format!("x-ms-date:{date}\nx-ms-version:2021-12-02");
    // The account occurs twice: as the account, and as the first part of the path.
    let resource = format!("/{AZURE_ACCOUNT}/{AZURE_ACCOUNT}/{name}\nrestype:container");
    let text = format!("PUT\n\n\n\n\n\n\n\n\n\n\n\n{headers}\n{resource}");
    let signature = base64.encode(hmac(&base64.decode(AZURE_KEY).unwrap(), text.as_bytes()));
    let headers = format!(
        "x-ms-date: {date}\r\nx-ms-version: 2021-12-02\r\nAuthorization: SharedKey {AZURE_ACCOUNT}:{signature}\r\n"
    );
    let made = put_nothing(
        endpoint,
        &format!("/{AZURE_ACCOUNT}/{name}?restype=container"),
        &headers,
    )
    .await;
    assert_eq!(made, 201, "the container is made");
}

/// HMAC-SHA-256 (RFC 2104).
fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    use sha2::Digest as _;
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let inner = sha2::Sha256::new()
        .chain_update(block.map(|byte| byte ^ 0x36))
        .chain_update(text)
        .finalize();
    sha2::Sha256::new()
        .chain_update(block.map(|byte| byte ^ 0x5c))
        .chain_update(inner)
        .finalize()
        .into()
}

fn azure_container(endpoint: &str, cached: bool) -> Bucket {
    let name = fresh();
    tokio::task::block_in_place(|| {
        tokio::runtime::Handle::current().block_on(make_container(endpoint, &name))
    });
    let store = object_store::azure::MicrosoftAzureBuilder::new()
        .with_account(AZURE_ACCOUNT)
        .with_access_key(AZURE_KEY)
        .with_endpoint(format!("{endpoint}/{AZURE_ACCOUNT}"))
        .with_allow_http(true)
        .with_container_name(&name)
        .with_http_connector(Plain)
        .build();
    let endpoint = endpoint.to_owned();
    Bucket {
        make: Box::new(move || azure(azure_environment(&endpoint, AZURE_KEY))),
        kind: "azure/blob",
        keys: vec![("container", name)],
        writer: Writer::Store(Box::new(store.unwrap())),
        cache: cached.then(|| tempfile::tempdir().unwrap()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn azure_conforms() {
    let Some(endpoint) = counterpart("CYAN_TEST_AZURE", "a server of Azure Blob Storage") else {
        return;
    };
    for cached in [false, true] {
        let failures =
            contract_tests::source::check(&|| Box::new(azure_container(&endpoint, cached))).await;
        assert!(failures.is_empty(), "cached: {cached}: {failures:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn azure_refuses_another_key() {
    let Some(endpoint) = counterpart("CYAN_TEST_AZURE", "a server of Azure Blob Storage") else {
        return;
    };
    let bucket = azure_container(&endpoint, false);
    bucket.put("a.yaml", b"x: 1").await;
    let other = azure(azure_environment(&endpoint, "b3RoZXIga2V5"));
    let sources = Sources::new([Arc::new(other) as Arc<dyn Source>]);
    let error = sources
        .read(&bucket.request("a.yaml"), &limits())
        .await
        .unwrap_err();
    assert!(
        matches!(error, SourceError::Credentials { .. }),
        "{error:?}"
    );
    let sources = Sources::new([bucket.source()]);
    let mut request = bucket.request("a.yaml");
    request.keys[0].1 = "no-such-container".into();
    let error = sources
        .read(&request, &limits())
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(error, "there is nothing at this place: no such container");
}

const GOOGLE_MISSING: &str = "<?xml version='1.0' encoding='UTF-8'?><Error><Code>NoSuchKey</Code>\
                              <Message>The specified key does not exist.</Message></Error>";

fn google_bucket(cached: bool) -> Bucket {
    let documents = Documents::default();
    let server = Server::plain(from_memory(documents.clone(), "/docs/", GOOGLE_MISSING));
    Bucket {
        make: Box::new(move || {
            google(environment(&[(
                "STORAGE_EMULATOR_HOST",
                &format!("127.0.0.1:{}", server.port),
            )]))
        }),
        kind: "googlecloud/storage",
        keys: vec![("bucket", "docs".into())],
        writer: Writer::Documents(documents),
        cache: cached.then(|| tempfile::tempdir().unwrap()),
    }
}

#[tokio::test]
async fn google_conforms() {
    for cached in [false, true] {
        let failures = contract_tests::source::check(&|| Box::new(google_bucket(cached))).await;
        assert!(failures.is_empty(), "cached: {cached}: {failures:#?}");
    }
}

fn limits() -> ReadLimits {
    ReadLimits::document(CancellationToken::new())
}

async fn read_s3(environment: Variables) -> Result<String, SourceError> {
    let request = Request {
        kind: Some("aws/s3".into()),
        keys: vec![
            ("bucket".into(), "docs".into()),
            ("region".into(), "eu-west-1".into()),
        ],
        ..Request::path(None, "a/b.yaml")
    };
    let sources = Sources::new([Arc::new(s3(environment)) as Arc<dyn Source>]);
    let document = sources.read(&request, &limits()).await?;
    Ok(String::from_utf8(document.bytes.to_vec()).unwrap())
}

fn refusal(code: &str, message: &str) -> String {
    format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>")
}

#[tokio::test]
async fn refusals_of_s3_are_classified() {
    for (code, said, message, wanted) in [
        (
            403,
            "SignatureDoesNotMatch",
            "Check your key.",
            "credentials are needed: Check your key (SignatureDoesNotMatch)",
        ),
        (
            400,
            "ExpiredToken",
            "Expired.",
            "credentials are needed: Expired (ExpiredToken)",
        ),
        (
            403,
            "AccessDenied",
            "Access Denied",
            "access is denied: Access Denied (AccessDenied)",
        ),
        (
            404,
            "NoSuchBucket",
            "No.",
            "there is nothing at this place: no such bucket",
        ),
        (
            301,
            "PermanentRedirect",
            "Elsewhere.",
            "`region` is not that of the bucket",
        ),
        (
            500,
            "InternalError",
            "Try again.",
            "it cannot be read: Try again (InternalError)",
        ),
    ] {
        let server = Server::plain(move |_| status(code, &refusal(said, message)));
        let error = read_s3(s3_environment(&server.url(""))).await.unwrap_err();
        assert_eq!(error.to_string(), wanted, "{said}");
        assert_eq!(
            server.received().len(),
            if code == 500 { 3 } else { 1 },
            "{said}"
        );
    }
}

#[tokio::test]
async fn requests_to_s3_are_signed_with_the_credentials_of_the_environment() {
    let server = Server::plain(|_| text("x: 1"));
    let url = server.url("");
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".aws")).unwrap();
    let file = "[default]\naws_access_key_id = FILEKEY\naws_secret_access_key = s\n\
                [work]\naws_access_key_id = WORKKEY\naws_secret_access_key = s\naws_session_token = TOKEN\n";
    std::fs::write(home.path().join(".aws/credentials"), file).unwrap();
    let home = home.path().to_str().unwrap();
    for (variables, key) in [
        (
            &[
                ("AWS_ACCESS_KEY_ID", "ENVKEY"),
                ("AWS_SECRET_ACCESS_KEY", "s"),
                ("HOME", home),
            ][..],
            "ENVKEY",
        ),
        (&[("HOME", home)], "FILEKEY"),
        (&[("HOME", home), ("AWS_PROFILE", "work")], "WORKKEY"),
    ] {
        let mut variables = variables.to_vec();
        variables.push(("AWS_ENDPOINT_URL_S3", &url));
        assert_eq!(read_s3(environment(&variables)).await.unwrap(), "x: 1");
        let got = server.received().pop().unwrap();
        let signed = &got.headers["authorization"];
        assert!(
            signed.contains(&format!("Credential={key}/")) && signed.contains("/eu-west-1/s3/"),
            "{signed}"
        );
        assert_eq!(
            got.headers.contains_key("x-amz-security-token"),
            key == "WORKKEY"
        );
        assert_eq!(got.path, "/docs/a/b.yaml");
    }
    let unsigned = environment(&[("AWS_SKIP_SIGNATURE", "true"), ("AWS_ENDPOINT_URL", &url)]);
    assert_eq!(read_s3(unsigned).await.unwrap(), "x: 1");
    assert!(
        !server
            .received()
            .pop()
            .unwrap()
            .headers
            .contains_key("authorization")
    );
}

#[tokio::test]
async fn missing_credentials_are_reported() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().to_str().unwrap();
    let none = [("HOME", home), ("AWS_EC2_METADATA_DISABLED", "true")];
    let error = read_s3(environment(&none)).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "credentials are needed: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or a profile in `~/.aws/credentials`"
    );
    let profile = [("HOME", home), ("AWS_PROFILE", "work")];
    let error = read_s3(environment(&profile))
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "credentials are needed: the profile `work` has no keys in the shared files"
    );
    let half = [("HOME", home), ("AWS_ACCESS_KEY_ID", "x")];
    let error = read_s3(environment(&half)).await.unwrap_err();
    assert!(matches!(error, SourceError::Credentials { .. }), "{error}");
}

#[tokio::test]
async fn a_machine_without_credentials_is_reported() {
    let home = tempfile::tempdir().unwrap();
    let machine = Server::plain(|_| status(404, ""));
    let variables = [
        ("HOME", home.path().to_str().unwrap()),
        ("AWS_METADATA_ENDPOINT", &machine.url("")),
    ];
    let error = read_s3(environment(&variables)).await.unwrap_err();
    let SourceError::Credentials { words } = &error else {
        panic!("{error:?}")
    };
    assert!(words.starts_with("set `AWS_ACCESS_KEY_ID`"), "{error}");
    assert!(!machine.received().is_empty());
}

#[tokio::test]
async fn an_azure_account_must_be_named() {
    let request = Request {
        kind: Some("azure/blob".into()),
        keys: vec![("container".into(), "docs".into())],
        ..Request::path(None, "a.yaml")
    };
    let sources = Sources::new([Arc::new(azure(Variables::default())) as Arc<dyn Source>]);
    let error = sources.read(&request, &limits()).await.unwrap_err();
    let SourceError::Credentials { words } = &error else {
        panic!("{error}")
    };
    assert!(words.contains("`AZURE_STORAGE_ACCOUNT`"), "{error}");
}

#[tokio::test]
async fn network_failures_of_objects_are_retried() {
    for (say, wanted) in [
        (ServerReply::Giant, "it has more than 33554432 bytes"),
        (
            ServerReply::Answer(200, Vec::new(), b"<!doctype html><p>proxy".to_vec()),
            "it is an HTML page, not a document",
        ),
    ] {
        let server = Server::plain(move |_| say.clone());
        let error = read_s3(s3_environment(&server.url(""))).await.unwrap_err();
        assert_eq!(error.to_string(), wanted);
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let server =
        Server::plain(
            move |_: &ReceivedRequest| match asked.fetch_add(1, Ordering::SeqCst) {
                0 => status(503, &refusal("SlowDown", "Slow down.")),
                _ => text("x: 1"),
            },
        );
    assert_eq!(
        read_s3(s3_environment(&server.url(""))).await.unwrap(),
        "x: 1",
        "what passes is tried again"
    );
    let cut = Server::plain(|_| ServerReply::Cut);
    let error = read_s3(s3_environment(&cut.url(""))).await.unwrap_err();
    assert!(matches!(error, SourceError::Broken { .. }), "{error:?}");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let error = read_s3(s3_environment(&url)).await.unwrap_err();
    assert!(matches!(error, SourceError::Broken { .. }), "{error:?}");
    assert!(
        error.to_string().to_lowercase().contains("refused"),
        "{error}"
    );
}

#[tokio::test]
async fn a_pinned_object_is_requested_once() {
    let server = Server::plain(|_| text("x: 1"));
    let folder = tempfile::tempdir().unwrap();
    let request = Request {
        kind: Some("aws/s3".into()),
        keys: vec![
            ("bucket".into(), "docs".into()),
            ("region".into(), "eu-west-1".into()),
        ],
        checksum: Some(Digest::of(b"x: 1").to_string().into()),
        ..Request::path(None, "a.yaml")
    };
    for _ in 0..2 {
        let source = s3(s3_environment(&server.url(""))).cached(Cache::new(folder.path()));
        let sources = Sources::new([Arc::new(source) as Arc<dyn Source>]);
        let limits = ReadLimits {
            time: Duration::from_secs(10),
            ..limits()
        };
        assert_eq!(
            &*sources.read(&request, &limits).await.unwrap().bytes,
            b"x: 1"
        );
    }
    assert_eq!(server.received().len(), 1);
}
