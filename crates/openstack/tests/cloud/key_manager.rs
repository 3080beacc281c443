//! Secrets, containers of secrets, and orders for secrets.

use provider::ReadOutcome;
use serde_json::{Value as Json, json};

use crate::support::Peer;

const SECRET: &str = "OS::Barbican::Secret";

#[tokio::test]
async fn a_secret_lives_with_its_address_as_its_id() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let spec = json!({"payload": "the payload", "payload_content_type": "text/plain"});
    let secret = peer.create(SECRET, "text", spec).await.unwrap();
    assert!(secret.id().contains("://"), "{}", secret.id());
    assert_eq!(secret.field("id"), secret.id());
    assert_eq!(secret.field("status"), "ACTIVE");
    assert_eq!(secret.field("decrypted_payload"), "the payload");
    secret
        .assert_settled(&["name", "payload", "secret_type", "decrypted_payload"])
        .await;
    // The generated name tells which create made it.
    secret.assert_found().await;

    let spec = json!({"name": peer.run, "payload": "gIE=", "secret_type": "symmetric",
        "payload_content_type": "application/octet-stream", "payload_content_encoding": "base64",
        "algorithm": "aes", "bit_length": 128, "mode": "cbc",
        "expiration": "2099-01-02T03:04:05"});
    let octets = peer.create(SECRET, "octets", spec).await.unwrap();
    // These octets are no text.
    assert_eq!(octets.field("decrypted_payload"), "gIE=");
    octets
        .assert_settled(&["name", "algorithm", "bit_length", "mode", "expiration"])
        .await;
    assert!(matches!(octets.find().await, ReadOutcome::Unknown));

    let listed = json!([{"name": "b", "ref": secret.id()}, {"name": "a", "ref": octets.id()}]);
    let spec = json!({"name": peer.run, "secrets": listed});
    let kind = "OS::Barbican::GenericContainer";
    let generic = peer.create(kind, "generic", spec).await.unwrap();
    assert_eq!(generic.field("container_ref"), generic.id());
    let refs = json!({"b": secret.id(), "a": octets.id()});
    assert_eq!(generic.field("secret_refs"), refs);
    generic.assert_settled(&["name", "secrets"]).await;

    let spec = json!({"private_key_ref": secret.id(), "public_key_ref": octets.id()});
    let kind = "OS::Barbican::RSAContainer";
    let pair = peer.create(kind, "pair", spec).await.unwrap();
    pair.assert_settled(&["private_key_ref", "public_key_ref"])
        .await;
    pair.assert_found().await;

    let spec = json!({"certificate_ref": secret.id()});
    let kind = "OS::Barbican::CertificateContainer";
    let certificate = peer.create(kind, "certificate", spec).await.unwrap();
    let refs = json!({"certificate": secret.id()});
    assert_eq!(certificate.field("secret_refs"), refs);

    for live in [certificate, pair, generic, octets, secret] {
        live.delete().await.unwrap();
    }
}

#[tokio::test]
async fn an_order_makes_a_secret() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let spec = json!({"type": "key", "name": peer.run, "algorithm": "aes", "bit_length": 256,
        "mode": "cbc", "payload_content_type": "application/octet-stream"});
    let order = peer.create("OS::Barbican::Order", "order", spec).await;
    let order = order.unwrap();
    assert_eq!(order.field("order_ref"), order.id());
    assert_eq!(order.field("status"), "ACTIVE");
    assert_eq!(order.field("private_key"), Json::Null);
    order
        .assert_settled(&["type", "name", "algorithm", "bit_length", "mode"])
        .await;
    let made = order.field("secret_ref");
    order.delete().await.unwrap();
    // The secret that it made stays, as with Heat.
    assert!(made.as_str().unwrap().contains("/secrets/"), "{made}");
}
