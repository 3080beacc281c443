//! Key pairs, flavors, server groups, host aggregates, quotas.

use provider::Verdict;
use serde_json::{Value as Json, json};

use crate::support::Peer;

const PUBLIC_KEY: &str = "ssh-ed25519 \
    AAAAC3NzaC1lZDI1NTE5AAAAIB3mKqHYtKLLtUBAj3oGxkv4aPLHHfZVXnH0nqnRjKqS test";

#[tokio::test]
async fn a_key_pair_lives() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let spec = json!({ "name": format!("{}-key", peer.run), "public_key": PUBLIC_KEY });
    let pair = peer
        .create("OS::Nova::KeyPair", "pair", spec.clone())
        .await
        .unwrap();
    assert_eq!(pair.id(), spec["name"]);
    assert_eq!(pair.field("attribute_public_key"), PUBLIC_KEY);
    assert_eq!(pair.field("private_key"), "");
    pair.assert_found().await;
    pair.assert_settled(&["name", "public_key", "type"]).await;
    let planned = pair.plan(spec).await;
    assert_eq!(
        planned.verdict,
        Verdict::Replace {
            delete_first: Some(true)
        }
    );
    pair.delete().await.unwrap();
    let error = peer
        .create("OS::Nova::KeyPair", "pair", json!({ "name": "x" }))
        .await;
    assert_eq!(
        error.err().unwrap().field.unwrap().to_string(),
        "public_key"
    );
}

#[tokio::test]
async fn a_server_group_lives() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let spec = json!({ "policies": ["anti-affinity"], "rules": { "max_server_per_host": 2 } });
    let group = peer
        .create("OS::Nova::ServerGroup", "group", spec)
        .await
        .unwrap();
    assert_eq!(group.field("show")["policy"], "anti-affinity");
    assert_eq!(group.field("rules"), json!({ "max_server_per_host": 2 }));
    group.assert_found().await;
    group.delete().await.unwrap();
}

#[tokio::test]
async fn a_flavor_lives() {
    let Some(admin) = Peer::of("admin").await else {
        return;
    };
    let spec = |specs: Json, tenants: Json| {
        json!({ "ram": 64, "vcpus": 1, "disk": 1, "is_public": false, "extra_specs": specs,
            "tenants": tenants })
    };
    let first = spec(
        json!({ "aggregate_instance_extra_specs:a": "1", "aggregate_instance_extra_specs:b": "2" }),
        json!(["demo"]),
    );
    let mut flavor = admin
        .create("OS::Nova::Flavor", "flavor", first)
        .await
        .unwrap();
    assert_eq!(
        flavor.field("extra_specs"),
        json!({ "aggregate_instance_extra_specs:a": "1", "aggregate_instance_extra_specs:b": "2" })
    );
    assert_eq!(flavor.field("attribute_is_public"), false);
    flavor.assert_found().await;
    flavor
        .assert_settled(&[
            "name",
            "ram",
            "swap",
            "ephemeral",
            "extra_specs",
            "is_public",
        ])
        .await;
    let second = spec(
        json!({ "aggregate_instance_extra_specs:a": "3" }),
        json!(["admin"]),
    );
    flavor.update(second).await.unwrap();
    assert_eq!(
        flavor.field("extra_specs"),
        json!({ "aggregate_instance_extra_specs:a": "3" })
    );
    flavor.assert_settled(&["extra_specs"]).await;
    flavor.delete().await.unwrap();
}

#[tokio::test]
async fn a_host_aggregate_lives() {
    let Some(admin) = Peer::of("admin").await else {
        return;
    };
    let name = format!("{}-aggregate", admin.run);
    let spec =
        |metadata: Json, hosts: Json| json!({ "name": name, "metadata": metadata, "hosts": hosts });
    let first = spec(json!({ "ssd": "true" }), json!([]));
    let mut aggregate = admin
        .create("OS::Nova::HostAggregate", "aggregate", first)
        .await
        .unwrap();
    assert_eq!(aggregate.field("metadata"), json!({ "ssd": "true" }));
    aggregate.assert_found().await;
    aggregate
        .update(spec(json!({ "fast": "yes" }), json!(["compute"])))
        .await
        .unwrap();
    assert_eq!(aggregate.field("metadata"), json!({ "fast": "yes" }));
    assert_eq!(aggregate.field("hosts"), json!(["compute"]));
    aggregate
        .assert_settled(&["name", "metadata", "hosts", "availability_zone"])
        .await;
    aggregate.delete().await.unwrap();
}

#[tokio::test]
async fn quotas_are_set_and_taken_back() {
    let Some(admin) = Peer::of("admin").await else {
        return;
    };
    // Nobody else works in the project of the services.
    for (kind, limit) in [
        ("OS::Nova::Quota", "cores"),
        ("OS::Cinder::Quota", "volumes"),
    ] {
        let spec = |value: u32| json!({ "project": "service", limit: value });
        let mut quota = admin.create(kind, "quota", spec(7)).await.unwrap();
        assert_eq!(quota.field(limit), 7);
        quota.assert_settled(&[limit]).await;
        quota.update(spec(9)).await.unwrap();
        assert_eq!(quota.field(limit), 9);
        quota.unset().await.unwrap();
    }
}
