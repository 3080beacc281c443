//! Servers: the whole life, interfaces, volumes, and what Nova refuses.

use provider::{ReadOutcome, Verdict};
use serde_json::{Value as Json, json};

use crate::support::{Live, Peer, json_field};

const SERVER: &str = "OS::Nova::Server";

/// A network with a subnet.
async fn network<'p>(peer: &'p Peer, name: &'static str, cidr: &str) -> [Live<'p>; 2] {
    let net = peer
        .create("OS::Neutron::Net", name, json!({}))
        .await
        .unwrap();
    let spec = json!({ "network": net.id(), "cidr": cidr });
    let subnet_name = format!("{name}-subnet");
    let subnet = peer.create("OS::Neutron::Subnet", &subnet_name, spec).await;
    [subnet.unwrap(), net]
}

async fn delete_all<const N: usize>(all: [Live<'_>; N]) {
    for one in all {
        one.delete().await.unwrap();
    }
}

#[tokio::test]
async fn a_server_lives() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let [subnet, net] = network(&peer, "life", "10.77.1.0/24").await;
    let spec = |more: Json| {
        let mut spec = json!({
            "image": "cirros", "flavor": "m1.nano", "networks": [{ "network": net.id() }],
            "metadata": { "role": "web", "count": 3 }, "tags": ["blue"],
            "user_data": "#!/bin/sh\necho hi\n", "user_data_format": "RAW",
            "security_groups": ["default"],
        });
        spec.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        spec
    };
    let mut server = peer
        .create(SERVER, "server", spec(json!({})))
        .await
        .unwrap();
    assert_eq!(server.broken, [""; 0]);
    assert_eq!(
        server.field("metadata"),
        json!({ "role": "web", "count": "3" })
    );
    assert_eq!(server.field("tags"), json!(["blue"]));
    assert_eq!(server.field("show")["status"], "ACTIVE");
    assert_eq!(server.field("show")["tags"], json!(["blue"]));
    let address = server.field("first_address");
    assert!(
        address.as_str().unwrap().starts_with("10.77.1."),
        "{address}"
    );
    let by_id = &server.field("attribute_networks")[net.id()];
    assert_eq!(*by_id, json!([address]));
    let addresses = &server.field("addresses")[net.id()][0];
    assert_eq!(addresses["addr"], address);
    assert!(addresses["port"].is_string());
    assert_eq!(addresses["network"]["id"], net.id());
    assert_eq!(addresses["subnets"][0]["cidr"], "10.77.1.0/24");
    let settled = [
        "name",
        "flavor",
        "image",
        "metadata",
        "tags",
        "attribute_networks",
        "addresses",
    ];
    server.assert_settled(&settled).await;
    server.assert_found().await;

    let named = json!({ "name": format!("{}-renamed", peer.run), "metadata": { "role": "db" },
        "tags": ["green", "red"] });
    server.update(spec(named.clone())).await.unwrap();
    assert_eq!(server.field("metadata"), json!({ "role": "db" }));
    assert_eq!(server.field("tags"), json!(["green", "red"]));
    assert_eq!(server.field("name"), named["name"]);
    // The mark stays: a server with a given name is found by it.
    server.assert_found().await;

    let mut larger = named.clone();
    larger["flavor"] = json!("m1.tiny");
    server.update(spec(larger.clone())).await.unwrap();
    assert_eq!(server.field("flavor"), "m1.tiny");
    assert_eq!(server.field("show")["status"], "ACTIVE");
    let planned = server.plan(spec(larger)).await;
    assert_eq!(planned.verdict, Verdict::ByCatalogue);
    server.delete().await.unwrap();
    delete_all([subnet, net]).await;
}

#[tokio::test]
async fn a_server_moves_its_interfaces() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let [subnet, net] = network(&peer, "first", "10.77.2.0/24").await;
    let [other_subnet, other_net] = network(&peer, "second", "10.77.3.0/24").await;
    let port = json!({ "network": net.id() });
    let port = peer
        .create("OS::Neutron::Port", "port", port)
        .await
        .unwrap();
    let spec = |networks: Json| {
        json!({ "image": "cirros", "flavor": "m1.nano", "networks": networks,
            "user_data_format": "RAW" })
    };
    let given = spec(json!([{ "port": port.id() }]));
    let mut server = peer.create(SERVER, "server", given.clone()).await.unwrap();
    assert_eq!(server.broken, [""; 0]);
    // Another server with the port must wait until this one is gone.
    let planned = server.plan(given).await;
    assert_eq!(
        planned.verdict,
        Verdict::Replace {
            delete_first: Some(true)
        }
    );

    // An entry with a subnet has a port of its own.
    let both = spec(json!([{ "port": port.id() },
        { "network": other_net.id(), "subnet": other_subnet.id(), "fixed_ip": "10.77.3.9" }]));
    server.update(both.clone()).await.unwrap();
    let own = &server.field("addresses")[other_net.id()][0];
    assert_eq!(own["addr"], "10.77.3.9");
    assert_eq!(server.field("addresses")[net.id()][0]["port"], port.id());

    server
        .update(spec(json!([{ "port": port.id() }])))
        .await
        .unwrap();
    assert_eq!(
        server.field("attribute_networks")[other_net.id()],
        Json::Null
    );
    server.update(both).await.unwrap();
    server.delete().await.unwrap();
    // The port that the template declares stays, and that of the server itself does not hold the
    // subnet any more.
    assert!(port.read().await.is_some());
    delete_all([port, other_subnet, other_net, subnet, net]).await;
}

#[tokio::test]
async fn a_server_starts_with_a_port_of_its_own_and_leaves_none() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let [subnet, net] = network(&peer, "own", "10.77.4.0/24").await;
    let spec = json!({ "image": "cirros", "flavor": "m1.nano", "user_data": "#!/bin/sh\n",
        "networks": [{ "subnet": subnet.id(), "fixed_ip": "10.77.4.20",
            "port_extra_properties": { "port_security_enabled": false } }] });
    let server = peer.create(SERVER, "server", spec).await.unwrap();
    assert_eq!(server.broken, [""; 0]);
    assert_eq!(server.field("first_address"), "10.77.4.20");
    // A create whose answer was lost knows its port, too.
    let found = server.found().await;
    assert!(!found.private().is_null());
    assert_eq!(found.private(), server.private());
    server.delete().await.unwrap();
    delete_all([subnet, net]).await;
}

#[tokio::test]
async fn what_nova_cannot_place_is_an_error_with_its_words() {
    let (Some(peer), Some(admin)) = (Peer::of("demo").await, Peer::of("admin").await) else {
        return;
    };
    let huge = json!({ "ram": 64, "vcpus": 1, "disk": 2_000_000_000 });
    let huge = admin
        .create("OS::Nova::Flavor", "huge", huge)
        .await
        .unwrap();
    let [subnet, net] = network(&peer, "room", "10.77.5.0/24").await;
    let spec = |flavor: &str| {
        json!({ "image": "cirros", "flavor": flavor, "networks": [{ "network": net.id() }],
            "user_data_format": "RAW" })
    };
    let broken = peer
        .create(SERVER, "broken", spec(huge.id()))
        .await
        .unwrap();
    let reasons = broken.broken.join(" ");
    assert!(
        reasons.contains("ERROR") && reasons.contains("No valid host"),
        "{reasons}"
    );
    broken.delete().await.unwrap();

    // A resize without room leaves the server as it is. Nova tells only in the list of actions.
    let mut server = peer
        .create(SERVER, "server", spec("m1.nano"))
        .await
        .unwrap();
    let error = server.update(spec(huge.id())).await.unwrap_err();
    assert!(
        error.message.contains("the resize failed"),
        "{}",
        error.message
    );
    assert_eq!(error.field.unwrap().to_string(), "flavor");
    let observed = server.read().await.unwrap();
    assert_eq!(
        crate::support::json_field(&observed.fields, "flavor"),
        "m1.nano"
    );
    server.delete().await.unwrap();

    let error = peer
        .create(SERVER, "nowhere", spec("no-such-flavor"))
        .await
        .err()
        .unwrap();
    assert!(error.message.contains("no flavor"), "{}", error.message);
    assert_eq!(error.field.unwrap().to_string(), "flavor");
    delete_all([subnet, net]).await;
    huge.delete().await.unwrap();
}

#[tokio::test]
async fn a_server_is_rebuilt_or_starts_from_a_volume() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let [subnet, net] = network(&peer, "disk", "10.77.6.0/24").await;
    let networks = json!([{ "network": net.id() }]);
    let volume = json!({ "size": 1, "image": "cirros" });
    let volume = peer
        .create("OS::Cinder::Volume", "root", volume)
        .await
        .unwrap();
    let spec = json!({ "flavor": "m1.nano", "networks": networks, "user_data_format": "RAW",
        "block_device_mapping_v2": [{ "volume_id": volume.id(), "boot_index": 0 }] });
    let server = peer.create(SERVER, "from-volume", spec).await.unwrap();
    assert_eq!(server.broken, [""; 0]);
    assert_eq!(server.field("show")["image"], "");
    server.delete().await.unwrap();
    volume.delete().await.unwrap();

    let spec = |user_data: &str| {
        json!({ "image": "cirros", "flavor": "m1.nano", "networks": networks,
            "user_data": user_data, "user_data_format": "RAW",
            "user_data_update_policy": "REBUILD" })
    };
    let mut server = peer.create(SERVER, "rebuilt", spec("a")).await.unwrap();
    server.update(spec("b")).await.unwrap();
    assert_eq!(server.broken, [""; 0]);
    assert_eq!(server.field("show")["status"], "ACTIVE");
    server.delete().await.unwrap();
    delete_all([subnet, net]).await;
}

#[tokio::test]
async fn a_create_that_made_nothing_is_found_absent() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let [subnet, net] = network(&peer, "none", "10.77.7.0/24").await;
    let spec = json!({ "image": "cirros", "flavor": "m1.nano",
        "networks": [{ "network": net.id() }], "user_data_format": "RAW" });
    let server = peer.create(SERVER, "server", spec).await.unwrap();
    let lost = server.lost();
    server.delete().await.unwrap();
    assert!(matches!(lost.find().await, ReadOutcome::Absent));
    delete_all([subnet, net]).await;
}

#[tokio::test]
async fn a_server_is_imported_as_its_document_spells_it() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let [subnet, net] = network(&peer, "taken", "10.77.9.0/24").await;
    let spec = json!({
        "image": "cirros", "flavor": "m1.nano", "networks": [{ "subnet": subnet.id() }],
        "user_data": "#!/bin/sh\n", "user_data_format": "RAW",
    });
    let server = peer.create(SERVER, "server", spec).await.unwrap();
    let imported = server.imported().await;
    assert_eq!(imported.id.as_ref(), server.id());
    for property in ["image", "flavor", "networks", "user_data"] {
        let read = json_field(&imported.fields, property);
        assert_eq!(read, server.input(property), "{property}");
    }
    // What the document does not set is no property, and the port of the entry is its own.
    assert_eq!(
        json_field(&imported.fields, "availability_zone"),
        Json::Null
    );
    assert_eq!(imported.private, *server.private());
    assert!(!imported.private.is_null());
    assert_eq!(
        json_field(&imported.fields, "addresses"),
        server.field("addresses")
    );
    delete_all([server]).await;
    delete_all([subnet, net]).await;
}
