//! The provider `tls`: the conformance suite, and checks with other programs.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops where something is not as it should be"
)]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use blueprint::{Address, Value};
use contract_tests::provider::{Case, Setup};
use provider::{
    Applied, ApplyRequest, Call, CheckRequest, ErrorKind, Finding, Observed, Operation, Provider,
    ProviderError, ProviderSeverity, ReadOutcome, ReadRequest, Session,
};
use tokio_util::sync::CancellationToken;
use x509_parser::prelude::*;

const NOW: i64 = 1_672_671_845;
const YEAR: i64 = 8760 * 3600;

fn call() -> Call {
    Call {
        call_records: None,
        instances: None,
        instance: "test".into(),
        address: Address::root("thing"),
        urn: Default::default(),
        token: "token".into(),
        deadline: None,
        cancel: CancellationToken::new(),
        root: Path::new("").into(),
        folder: Path::new("").into(),
        settings: Value::Map(Arc::default()),
        files: provider::FileAccess::default(),
        now: NOW,
        progress: Arc::new(|_| {}),
    }
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::map(entries.iter().cloned())
}

fn texts(items: &[&str]) -> Value {
    Value::list(items.iter().map(|item| Value::from(*item)))
}

fn create_request<'a>(type_name: &'a str, spec: &'a Value) -> ApplyRequest<'a> {
    ApplyRequest {
        operation: Operation::Create,
        type_name,
        id: None,
        prior_inputs: &Value::Null,
        prior: &Value::Null,
        desired: spec,
        private: &Value::Null,
        sources: &[],
        metadata: &Value::Null,
        delete_mode: blueprint::DeleteMode::Delete,
        schema_version: 0,
        planned: &Value::Null,
    }
}

async fn create(type_name: &str, spec: &Value) -> Result<Applied, ProviderError> {
    providers::tls::provider()
        .apply(&call(), create_request(type_name, spec))
        .await
}

async fn made(type_name: &str, entries: &[(&str, Value)]) -> Value {
    create(type_name, &map(entries)).await.unwrap().fields
}

fn text<'a>(fields: &'a Value, name: &str) -> &'a str {
    fields
        .get(name)
        .and_then(Value::as_text)
        .unwrap_or_else(|| panic!("no text in `{name}`"))
}

/// A private key as the engine passes it: marked secret.
async fn key(algorithm: &str) -> Value {
    let fields = made("tls/private-key", &[("algorithm", algorithm.into())]).await;
    Value::from(text(&fields, "privateKeyPem")).secret()
}

/// The key and the certificate of an authority.
async fn authority(algorithm: &str) -> (Value, Value) {
    let key = key(algorithm).await;
    let fields = made(
        "tls/self-signed-certificate",
        &[
            ("privateKeyPem", key.clone()),
            ("commonName", "Authority".into()),
            ("isCa", true.into()),
        ],
    )
    .await;
    (key, text(&fields, "certificatePem").into())
}

/// A request for `service.internal` and `10.0.0.1`.
async fn request(key: Value) -> Value {
    let fields = made(
        "tls/certificate-request",
        &[
            ("privateKeyPem", key),
            ("commonName", "service".into()),
            ("organization", "Häuser & Co".into()),
            ("country", "DE".into()),
            ("dnsNames", texts(&["service.internal"])),
            ("ipAddresses", texts(&["10.0.0.1"])),
        ],
    )
    .await;
    text(&fields, "certificateRequestPem").into()
}

async fn rejected(type_name: &str, entries: &[(&str, Value)]) -> Vec<String> {
    let spec = map(entries);
    let found = providers::tls::provider()
        .check(
            &call(),
            CheckRequest {
                type_name,
                spec: &spec,
            },
        )
        .await
        .unwrap();
    found
        .diagnostics
        .into_iter()
        .filter(|it| it.severity == ProviderSeverity::Error && it.finding == Finding::Refused)
        .map(|it| it.path.to_string())
        .collect()
}

/// Runs a program and returns its output. If the program is missing, the test reports that and
/// skips the check.
fn program(name: &str, arguments: &[&str]) -> Option<std::process::Output> {
    match Command::new(name).args(arguments).output() {
        Ok(output) => Some(output),
        Err(_) => {
            println!("skipped: `{name}` is not installed");
            None
        }
    }
}

#[tokio::test]
async fn every_type_passes_the_conformance_suite() {
    let (ca_key, ca) = authority("ecdsa-p256").await;
    let key = key("ecdsa-p256").await;
    let request = request(key.clone()).await;
    let self_signed = [
        ("privateKeyPem", key.revealed()),
        ("commonName", "localhost".into()),
    ];
    let signed = [
        ("certificateRequestPem", request),
        ("caCertificatePem", ca),
        ("caPrivateKeyPem", ca_key.revealed()),
    ];
    let renewed =
        |entries: &[(&str, Value)]| map(&[entries, &[("renewBefore", "24h".into())]].concat());
    let cases = [
        Case::new("tls/private-key", map(&[])).stateless(),
        Case::new("tls/self-signed-certificate", map(&self_signed))
            .stateless()
            .changed(renewed(&self_signed)),
        Case::new("tls/certificate-request", map(&self_signed)).stateless(),
        Case::new("tls/signed-certificate", map(&signed))
            .stateless()
            .changed(renewed(&signed)),
    ];
    let make = || Arc::new(providers::tls::provider()) as Arc<dyn Provider>;
    let failures = contract_tests::provider::check(make, &Setup::in_folder(""), &cases).await;
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test]
async fn every_field_has_docs() {
    for (name, found) in &providers::tls::provider().catalog().resource_types {
        for (field_name, field) in &found.schema.fields {
            assert!(!field.docs.is_empty(), "{name}: {field_name}");
            let in_place = field_name.as_ref() == "renewBefore";
            assert_eq!(
                field.is_settable() && !in_place,
                field.must_recreate,
                "{name}: {field_name}"
            );
        }
    }
}

#[tokio::test]
async fn keys_of_every_algorithm_are_read_by_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    for algorithm in ["ed25519", "ecdsa-p256", "ecdsa-p384", "rsa-2048"] {
        let fields = made("tls/private-key", &[("algorithm", algorithm.into())]).await;
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let write = |name: &str, contents: &str| {
            use std::os::unix::fs::PermissionsExt;
            std::fs::write(path(name), contents).unwrap();
            std::fs::set_permissions(path(name), std::fs::Permissions::from_mode(0o600)).unwrap();
        };
        write("key.pem", text(&fields, "privateKeyPem"));
        write("key", text(&fields, "privateKeyOpenssh"));
        write("key.pub", text(&fields, "publicKeyOpenssh"));
        assert!(text(&fields, "privateKeyPem").starts_with("-----BEGIN PRIVATE KEY-----\n"));
        if let Some(output) = program("openssl", &["pkey", "-in", &path("key.pem"), "-pubout"]) {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{algorithm}: {said}");
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                text(&fields, "publicKeyPem"),
                "{algorithm}"
            );
        }
        if let Some(output) = program("ssh-keygen", &["-l", "-f", &path("key.pub")]) {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                said.contains(text(&fields, "fingerprintSha256")),
                "{algorithm}: {said}"
            );
        }
        // The private key must work without the file of the public key.
        std::fs::remove_file(path("key.pub")).unwrap();
        if let Some(output) = program("ssh-keygen", &["-y", "-f", &path("key")]) {
            let said = String::from_utf8_lossy(&output.stdout);
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(
                said.starts_with(text(&fields, "publicKeyOpenssh")),
                "{algorithm}: {said}{error}"
            );
        }
    }
}

#[tokio::test]
async fn the_longest_keys_are_generated() {
    for (algorithm, bits) in [("rsa-3072", 3072), ("rsa-4096", 4096)] {
        let fields = made("tls/private-key", &[("algorithm", algorithm.into())]).await;
        let (_, public) =
            x509_parser::pem::parse_x509_pem(text(&fields, "publicKeyPem").as_bytes()).unwrap();
        let (_, public) = SubjectPublicKeyInfo::from_der(&public.contents).unwrap();
        assert_eq!(public.parsed().unwrap().key_size(), bits, "{algorithm}");
    }
}

#[tokio::test]
async fn a_self_signed_certificate_holds_what_was_requested() {
    let fields = made(
        "tls/self-signed-certificate",
        &[
            ("privateKeyPem", key("ed25519").await),
            ("commonName", "localhost".into()),
            ("organization", "Cyanotype".into()),
            ("dnsNames", texts(&["localhost", "*.localhost"])),
            ("ipAddresses", texts(&["127.0.0.1", "::1"])),
            ("validity", "48h".into()),
            ("usages", texts(&["digital-signature", "client-auth"])),
        ],
    )
    .await;
    assert_eq!(text(&fields, "notBefore"), "2023-01-02T15:04:05Z");
    assert_eq!(text(&fields, "notAfter"), "2023-01-04T15:04:05Z");
    let (_, document) =
        x509_parser::pem::parse_x509_pem(text(&fields, "certificatePem").as_bytes()).unwrap();
    let found = document.parse_x509().unwrap();
    assert_eq!(found.subject().to_string(), "O=Cyanotype, CN=localhost");
    assert_eq!(found.subject(), found.issuer());
    assert_eq!(found.validity().not_before.timestamp(), NOW);
    assert_eq!(found.validity().not_after.timestamp(), NOW + 48 * 3600);
    assert!(!found.is_ca());
    assert_eq!(
        found.raw_serial_as_string().replace(':', ""),
        text(&fields, "serialNumber")
    );
    let names = &found
        .subject_alternative_name()
        .unwrap()
        .unwrap()
        .value
        .general_names;
    assert_eq!(names.len(), 4);
    let usage = found.key_usage().unwrap().unwrap().value;
    assert!(usage.digital_signature() && !usage.key_encipherment());
    let extended = found.extended_key_usage().unwrap().unwrap().value;
    assert!(extended.client_auth && !extended.server_auth);
    found.verify_signature(None).unwrap();
}

#[tokio::test]
async fn serial_numbers_differ() {
    let key = key("ecdsa-p256").await;
    let spec = map(&[("privateKeyPem", key), ("commonName", "a".into())]);
    let one = create("tls/self-signed-certificate", &spec).await.unwrap();
    let two = create("tls/self-signed-certificate", &spec).await.unwrap();
    assert_ne!(one.id, two.id);
}

#[tokio::test]
async fn a_chain_verifies_for_every_key_algorithm() {
    let folder = tempfile::tempdir().unwrap();
    for (ca_algorithm, algorithm) in [
        ("ecdsa-p256", "rsa-2048"),
        ("rsa-2048", "ed25519"),
        ("ed25519", "ecdsa-p384"),
        ("ecdsa-p384", "ecdsa-p256"),
    ] {
        let kinds = format!("{ca_algorithm} signs {algorithm}");
        let (ca_key, ca) = authority(ca_algorithm).await;
        let request = request(key(algorithm).await).await;
        let fields = made(
            "tls/signed-certificate",
            &[
                ("certificateRequestPem", request),
                ("caCertificatePem", ca.clone()),
                ("caPrivateKeyPem", ca_key),
                ("validity", "24h".into()),
            ],
        )
        .await;
        let pem = text(&fields, "certificatePem");
        let (_, document) = x509_parser::pem::parse_x509_pem(pem.as_bytes()).unwrap();
        let found = document.parse_x509().unwrap();
        let (_, ca_document) =
            x509_parser::pem::parse_x509_pem(ca.as_text().unwrap().as_bytes()).unwrap();
        let authority = ca_document.parse_x509().unwrap();
        assert!(authority.is_ca(), "{kinds}");
        assert_eq!(found.issuer(), authority.subject(), "{kinds}");
        found
            .verify_signature(Some(authority.public_key()))
            .unwrap_or_else(|error| panic!("{kinds}: {error}"));
        assert_eq!(
            found.subject().to_string(),
            "C=DE, O=Häuser & Co, CN=service",
            "{kinds}"
        );
        assert_eq!(
            found
                .subject_alternative_name()
                .unwrap()
                .unwrap()
                .value
                .general_names
                .len(),
            2,
            "{kinds}"
        );

        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("ca.pem"), ca.as_text().unwrap()).unwrap();
        std::fs::write(path("leaf.pem"), pem).unwrap();
        let at = NOW.to_string();
        let arguments = [
            "verify",
            "-x509_strict",
            "-purpose",
            "sslserver",
            "-verify_hostname",
            "service.internal",
            "-attime",
            &at,
            "-CAfile",
            &path("ca.pem"),
            &path("leaf.pem"),
        ];
        if let Some(output) = program("openssl", &arguments) {
            let said = [output.stdout, output.stderr].concat();
            assert!(
                output.status.success(),
                "{kinds}: {}",
                String::from_utf8_lossy(&said)
            );
        }
    }
}

#[tokio::test]
async fn the_signer_decides_what_a_certificate_is_for() {
    let (ca_key, ca) = authority("ecdsa-p256").await;
    // A request to become an authority, made with another tool.
    let mut wish = rcgen::CertificateParams::default();
    wish.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let wish = wish
        .serialize_request(&rcgen::KeyPair::generate().unwrap())
        .unwrap()
        .pem()
        .unwrap();
    let fields = made(
        "tls/signed-certificate",
        &[
            ("certificateRequestPem", wish.into()),
            ("caCertificatePem", ca),
            ("caPrivateKeyPem", ca_key),
        ],
    )
    .await;
    let (_, document) =
        x509_parser::pem::parse_x509_pem(text(&fields, "certificatePem").as_bytes()).unwrap();
    assert!(!document.parse_x509().unwrap().is_ca());
}

#[tokio::test]
async fn requests_of_openssl_are_signed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    // A key on one curve and a signature with the digest of another: the key must stay unchanged.
    let arguments = [
        "req",
        "-new",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:secp384r1",
        "-nodes",
        "-sha256",
        "-subj",
        "/CN=outside",
        "-keyout",
        &path("key.pem"),
        "-out",
        &path("request.pem"),
    ];
    let Some(output) = program("openssl", &arguments) else {
        return;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let request = std::fs::read_to_string(path("request.pem")).unwrap();
    let (ca_key, ca) = authority("ecdsa-p256").await;
    let spec = [
        ("certificateRequestPem", request.into()),
        ("caCertificatePem", ca),
        ("caPrivateKeyPem", ca_key),
    ];
    assert!(rejected("tls/signed-certificate", &spec).await.is_empty());
    let fields = made("tls/signed-certificate", &spec).await;
    std::fs::write(path("leaf.pem"), text(&fields, "certificatePem")).unwrap();
    let certified = program(
        "openssl",
        &["x509", "-in", &path("leaf.pem"), "-noout", "-pubkey"],
    )
    .unwrap();
    let own = program("openssl", &["pkey", "-in", &path("key.pem"), "-pubout"]).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&certified.stdout),
        String::from_utf8_lossy(&own.stdout)
    );
}

#[tokio::test]
async fn only_a_certificate_close_to_its_end_is_expired() {
    let spec = map(&[
        ("privateKeyPem", key("ecdsa-p256").await),
        ("commonName", "a".into()),
        ("renewBefore", "720h".into()),
    ]);
    let provider = providers::tls::provider();
    let made = create("tls/self-signed-certificate", &spec).await.unwrap();
    for (after, expected) in [
        (0, false),
        (YEAR - 720 * 3600 - 1, false),
        (YEAR - 720 * 3600, true),
        (YEAR + 1, true),
    ] {
        let call = Call {
            now: NOW + after,
            ..call()
        };
        let request = ReadRequest {
            type_name: "tls/self-signed-certificate",
            id: Some(&made.id),
            inputs: &spec,
            outputs: &made.fields,
            private: &Value::Null,
            token: None,
            schema_version: 0,
        };
        let ReadOutcome::Present(Observed {
            expired, fields, ..
        }) = provider.read(&call, request).await.unwrap()
        else {
            panic!("not there")
        };
        assert_eq!(expired.is_some(), expected, "{after}: {expired:?}");
        assert_eq!(fields, made.fields);
    }
}

/// A type, a refused spec, and the field at fault.
type Refusal<'a> = (&'a str, Vec<(&'a str, Value)>, &'a str);

#[tokio::test]
async fn invalid_keys_and_certificates_are_refused_at_their_field_and_not_repeated() {
    let hidden = "-----BEGIN PRIVATE KEY-----\nTk9UQUtFWQ==\n-----END PRIVATE KEY-----";
    let bad = Value::from(hidden).secret();
    let (ca_key, ca) = authority("ecdsa-p256").await;
    let good_request = request(ca_key.clone()).await;
    let cases: Vec<Refusal<'_>> = vec![
        (
            "tls/self-signed-certificate",
            vec![("privateKeyPem", bad.clone()), ("commonName", "a".into())],
            "privateKeyPem",
        ),
        (
            "tls/certificate-request",
            vec![("privateKeyPem", bad.clone()), ("commonName", "a".into())],
            "privateKeyPem",
        ),
        (
            "tls/signed-certificate",
            vec![
                ("certificateRequestPem", good_request.clone()),
                ("caCertificatePem", ca.clone()),
                ("caPrivateKeyPem", bad.clone()),
            ],
            "caPrivateKeyPem",
        ),
        (
            "tls/signed-certificate",
            vec![
                ("certificateRequestPem", good_request),
                ("caCertificatePem", bad.clone()),
                ("caPrivateKeyPem", ca_key.clone()),
            ],
            "caCertificatePem",
        ),
        (
            "tls/signed-certificate",
            vec![
                ("certificateRequestPem", bad),
                ("caCertificatePem", ca),
                ("caPrivateKeyPem", ca_key),
            ],
            "certificateRequestPem",
        ),
    ];
    for (type_name, entries, field) in cases {
        assert_eq!(rejected(type_name, &entries).await, [field], "{type_name}");
        let error = create(type_name, &map(&entries)).await.unwrap_err();
        assert_eq!(
            (
                error.kind,
                error.field.as_ref().map(ToString::to_string).as_deref()
            ),
            (ErrorKind::Document, Some(field)),
            "{type_name}"
        );
        assert!(!format!("{error:?}").contains("Tk9UQUtFWQ"), "{error:?}");
    }
}

#[tokio::test]
async fn an_authority_needs_a_ca_certificate_with_its_own_key() {
    let (ca_key, ca) = authority("ecdsa-p256").await;
    let leaf_key = key("ecdsa-p256").await;
    let fields = made(
        "tls/self-signed-certificate",
        &[
            ("privateKeyPem", leaf_key.clone()),
            ("commonName", "leaf".into()),
        ],
    )
    .await;
    let leaf: Value = text(&fields, "certificatePem").into();
    let request = request(leaf_key.clone()).await;
    let field = async |certificate: &Value, key: &Value, now: i64| {
        let spec = map(&[
            ("certificateRequestPem", request.clone()),
            ("caCertificatePem", certificate.clone()),
            ("caPrivateKeyPem", key.clone()),
        ]);
        let call = Call { now, ..call() };
        let result = providers::tls::provider()
            .apply(&call, create_request("tls/signed-certificate", &spec))
            .await;
        let warned = |applied: Applied| {
            assert!(
                applied
                    .diagnostics
                    .iter()
                    .all(|it| it.severity == ProviderSeverity::Warning)
            );
            applied.diagnostics.len()
        };
        result.map(warned).map_err(|error| error.field)
    };
    assert_eq!(
        field(&leaf, &leaf_key, NOW).await,
        Err(Some("caCertificatePem".into()))
    );
    assert_eq!(
        field(&ca, &leaf_key, NOW).await,
        Err(Some("caPrivateKeyPem".into()))
    );
    assert_eq!(
        field(&ca, &ca_key, NOW + YEAR + 1).await,
        Err(Some("caCertificatePem".into()))
    );
    assert_eq!(field(&ca, &ca_key, NOW).await, Ok(0));
    // The validity would end after that of the authority's certificate.
    assert_eq!(field(&ca, &ca_key, NOW + 1).await, Ok(1));
}

#[tokio::test]
async fn durations_are_checked() {
    let key = key("ecdsa-p256").await;
    let of = |validity: &str, renew: &str| {
        vec![
            ("privateKeyPem", key.clone()),
            ("commonName", "a".into()),
            ("validity", validity.into()),
            ("renewBefore", renew.into()),
        ]
    };
    assert_eq!(
        rejected("tls/self-signed-certificate", &of("1h", "2h")).await,
        ["renewBefore"]
    );
    assert_eq!(
        rejected("tls/self-signed-certificate", &of("ten days", "2h")).await,
        ["validity"]
    );
    let error = create("tls/self-signed-certificate", &map(&of("99999999d", "2h")))
        .await
        .unwrap_err();
    assert_eq!(
        error.field.as_ref().map(ToString::to_string).as_deref(),
        Some("validity")
    );
}

#[tokio::test]
async fn key_generation_ends_with_its_call() {
    let spec = map(&[("algorithm", "rsa-2048".into())]);
    let provider = providers::tls::provider();
    let call_in_time = Call {
        deadline: Some(Duration::ZERO),
        ..call()
    };
    let error = provider
        .apply(&call_in_time, create_request("tls/private-key", &spec))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::TimedOut);
    let cancelled = call();
    let cancel = cancelled.cancel.clone();
    let request = create_request("tls/private-key", &spec);
    let (result, ()) = tokio::join!(provider.apply(&cancelled, request), async move {
        cancel.cancel()
    });
    assert_eq!(result.unwrap_err().kind, ErrorKind::Cancelled);
}
