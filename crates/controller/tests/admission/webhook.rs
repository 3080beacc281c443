//! The webhook over TLS.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use controller::webhook::{CertificateFailure, Webhook, WebhookOptions};
use controller::{Controller, ControllerOptions};
use jiff::Timestamp;
use kube::Client;
use local_cluster::{ClusterOptions, LocalCluster};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::setup::{Files, Serving, bad_chain, good_chain};

/// Sends a request and reads the answer to the end of the connection. The error is that of the
/// handshake.
async fn ask(
    address: SocketAddr,
    certificate: &str,
    head: &str,
    body: &[u8],
) -> std::io::Result<(u16, String)> {
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    roots.add(root).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    let mut stream = connector.connect(name, stream).await?;
    let length = body.len();
    let head = format!(
        "{head} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    // A server that has refused the length does not read the rest.
    let _ = stream.write_all(body).await;
    let _ = stream.flush().await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8(answer).unwrap();
    let code = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
    let text = answer.split_once("\r\n\r\n").map(|(_, text)| text);
    Ok((
        code.unwrap_or_default(),
        text.unwrap_or_default().to_owned(),
    ))
}

fn review(object: &Json) -> String {
    let review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {"uid": "u-1", "operation": "CREATE", "object": object},
    });
    review.to_string()
}

#[tokio::test]
async fn reviews_are_answered() {
    let files = Files::new();
    let certificate = files.write();
    let serving = Serving::start(&files).await;
    let post = "POST /validate?timeout=5s";
    for (object, allowed) in [(good_chain(), true), (bad_chain(), false)] {
        let body = review(&object);
        let asked = ask(serving.address, &certificate, post, body.as_bytes()).await;
        let (code, text) = asked.unwrap();
        let answer: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(code, 200);
        assert_eq!(answer["response"]["uid"], "u-1");
        assert_eq!(answer["response"]["allowed"], allowed, "{text}");
    }
}

#[tokio::test]
async fn other_requests_are_refused_and_do_no_harm() {
    let files = Files::new();
    let certificate = files.write();
    let serving = Serving::start(&files).await;
    let large = vec![b' '; (8 << 20) + 1];
    let not_text = [0xff, 0xfe, 0];
    for (head, body, code) in [
        ("POST /validate", &b"{"[..], 400),
        ("POST /validate", &b"{}"[..], 400),
        ("POST /validate", &not_text[..], 400),
        ("POST /validate", &large[..], 413),
        ("GET /validate", &b""[..], 405),
        ("POST /metrics", &b""[..], 405),
        ("GET /other", &b""[..], 404),
        ("nonsense", &b""[..], 400),
    ] {
        let asked = ask(serving.address, &certificate, head, body).await;
        assert_eq!(asked.unwrap().0, code, "{head}");
    }
    let mut plain = TcpStream::connect(serving.address).await.unwrap();
    plain
        .write_all(b"GET /readyz HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    for path in ["/readyz", "/livez"] {
        let head = format!("GET {path}");
        let asked = ask(serving.address, &certificate, &head, b"").await;
        assert_eq!(asked.unwrap(), (200, "ok".to_owned()));
    }
    let asked = ask(serving.address, &certificate, "GET /metrics", b"").await;
    let (code, text) = asked.unwrap();
    assert_eq!(code, 200);
    assert!(text.contains("cyan_queue_length 0"), "{text}");
}

#[tokio::test]
async fn a_new_certificate_is_used() {
    let files = Files::new();
    let first = files.write();
    let serving = Serving::start(&files).await;
    let get = "GET /readyz";
    assert!(ask(serving.address, &first, get, b"").await.is_ok());
    // Half a change: the key does not fit, so the first certificate stays.
    std::fs::write(files.names().key, "no key").unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(ask(serving.address, &first, get, b"").await.is_ok());
    let second = files.write();
    let started = Instant::now();
    while ask(serving.address, &second, get, b"").await.is_err() {
        assert!(started.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(ask(serving.address, &first, get, b"").await.is_err());
}

#[test]
fn a_certificate_that_cannot_be_used_is_an_error() {
    let files = Files::new();
    let start = || {
        let cluster = LocalCluster::new(ClusterOptions::default());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let _inside = runtime.enter();
        let client = Client::new(cluster.service(), "default");
        let options = ControllerOptions::new(Arc::new(Timestamp::now));
        let controller = Controller::new(client, options);
        Webhook::new(WebhookOptions::new(files.names()), controller).err()
    };
    assert!(matches!(
        start(),
        Some(CertificateFailure::Unreadable { .. })
    ));
    files.write();
    assert!(start().is_none());
    let key = std::fs::read(files.names().key).unwrap();
    std::fs::write(files.names().key, "no key").unwrap();
    assert!(matches!(
        start(),
        Some(CertificateFailure::NotPem { what: "key", .. })
    ));
    files.write();
    std::fs::write(files.names().key, key).unwrap();
    assert!(matches!(start(), Some(CertificateFailure::Tls(_))));
}
