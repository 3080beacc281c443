//! Names and ids that documents write: they are checked before anything changes. Data sources find
//! objects by their names.

use provider::ErrorKind;
use serde_json::json;

use crate::support::Peer;

const NOBODY: &str = "6a5e4f9d-8c10-4c51-9f5f-6a5e4f9d8c10";

#[tokio::test]
async fn names_and_ids_of_a_spec_are_checked() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let spec = json!({ "flavor": "m1.tny", "image": NOBODY, "key_name": "made-in-this-run", "networks": [
        { "network": "public" }, { "network": "pubic" }] });
    let mut refused = peer.refused("OS::Nova::Server", spec).await;
    refused.sort_unstable();
    let at = |place: &str, why: &str| format!("{place}: {why}");
    assert_eq!(
        refused,
        [
            at(
                "flavor",
                "the cloud has no flavor `m1.tny`; a similar one is `m1.tiny`"
            ),
            at(
                "image",
                &format!("the cloud has no image with the name or id `{NOBODY}`")
            ),
            at(
                "networks[1].network",
                "the cloud has no network `pubic`; a similar one is `public`"
            ),
        ]
    );
}

#[tokio::test]
async fn kinds_of_constraints_find_objects() {
    let Some(admin) = Peer::of("admin").await else {
        return;
    };
    for (kind, name) in [
        ("nova.flavor", "m1.tiny"),
        ("neutron.network", "public"),
        ("glance.image", "cirros"),
        ("keystone.project", "demo{Default}"),
        ("keystone.domain", "Default"),
        ("keystone.role", "member"),
        ("keystone.service", "nova"),
        ("keystone.region", "RegionOne"),
    ] {
        let id = admin.object_id(kind, name).await.unwrap();
        assert_eq!(admin.object_id(kind, &id).await.unwrap(), id, "{kind}");
    }
    for kind in [
        "nova.server",
        "nova.keypair",
        "cinder.volume",
        "cinder.snapshot",
        "cinder.backup",
        "cinder.vtype",
        "cinder.qos_specs",
        "neutron.port",
        "neutron.subnet",
        "neutron.router",
        "neutron.security_group",
        "neutron.subnetpool",
        "neutron.address_scope",
        "neutron.qos_policy",
        "neutron.segment",
        "octavia.loadbalancer",
        "octavia.listener",
        "octavia.pool",
        "octavia.l7policy",
        "octavia.flavor",
        "keystone.user",
        "keystone.group",
    ] {
        for name in ["no-such-one", NOBODY] {
            let error = admin.object_id(kind, name).await.err().unwrap();
            assert_eq!(error.kind, ErrorKind::Document, "{kind}: {error}");
            assert!(error.message.contains(name), "{kind}: {error}");
        }
    }
    let unknown = admin.object_id("nova.flavour", "m1.tiny").await;
    assert!(
        unknown
            .err()
            .unwrap()
            .message
            .contains("did you mean `nova.flavor`?")
    );
}

#[tokio::test]
async fn data_sources_find_objects() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let nets = peer
        .fetched("OS::Neutron::Net", &[("name", "public")])
        .await;
    assert_eq!(nets.len(), 1);
    assert_eq!(
        (&nets[0]["name"], &nets[0]["external"]),
        (&json!("public"), &json!(true))
    );
    let subnets = peer.fetched("OS::Neutron::Subnet", &[]).await;
    let of_net = |subnet: &serde_json::Value| subnet["network_id"] == nets[0]["id"];
    assert!(subnets.iter().any(of_net));
    let groups = peer
        .fetched("OS::Neutron::SecurityGroup", &[("name", "default")])
        .await;
    assert!(groups.iter().all(|group| group["name"] == "default"));
    let images = peer
        .fetched("OS::Glance::Image", &[("name", "cirros")])
        .await;
    assert_eq!(images[0]["status"], "active");
    let flavors = peer.fetched("OS::Nova::Flavor", &[]).await;
    let tiny = flavors.iter().find(|flavor| flavor["name"] == "m1.tiny");
    assert_eq!(tiny.unwrap()["is_public"], true);
    assert!(
        peer.fetched("OS::Neutron::Net", &[("name", "no-such-one")])
            .await
            .is_empty()
    );
}
