//! Volumes, attachments, and what administrators set for volumes.

use serde_json::{Value as Json, json};

use crate::support::Peer;

const VOLUME: &str = "OS::Cinder::Volume";

#[tokio::test]
async fn a_volume_lives() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let spec = |size: u64, more: Json| {
        let mut spec = json!({ "size": size, "metadata": { "tier": "gold" } });
        spec.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        spec
    };
    let mut volume = peer
        .create(VOLUME, "volume", spec(1, json!({})))
        .await
        .unwrap();
    assert_eq!(volume.broken, [""; 0]);
    assert_eq!(volume.field("metadata"), json!({ "tier": "gold" }));
    assert_eq!(volume.field("attribute_metadata"), "{\"tier\": \"gold\"}");
    assert_eq!(volume.field("attribute_size"), "1");
    assert_eq!(volume.field("encrypted"), "False");
    assert_eq!(volume.field("status"), "available");
    let settled = ["name", "size", "metadata", "description", "volume_type"];
    volume.assert_settled(&settled).await;
    volume.assert_found().await;

    let more = json!({ "name": format!("{}-renamed", peer.run), "description": "d",
        "metadata": { "tier": "iron", "more": "x" }, "read_only": true });
    volume.update(spec(2, more.clone())).await.unwrap();
    assert_eq!(volume.field("size"), 2);
    assert_eq!(volume.field("description"), "d");
    assert_eq!(volume.field("metadata"), more["metadata"]);
    assert_eq!(volume.field("read_only"), true);
    assert_eq!(volume.field("display_name"), more["name"]);
    volume.assert_found().await;
    volume.assert_settled(&settled).await;

    let error = volume.update(spec(1, more)).await.unwrap_err();
    assert_eq!(error.field.unwrap().to_string(), "size");
    volume.update(spec(2, json!({}))).await.unwrap();
    assert_eq!(volume.field("description"), Json::Null);
    volume.delete().await.unwrap();
}

#[tokio::test]
async fn a_volume_that_cinder_cannot_make_says_why() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let error = peer
        .create(VOLUME, "huge", json!({ "size": 100_000 }))
        .await
        .err()
        .unwrap();
    assert!(error.message.contains("Cinder"), "{}", error.message);
    let error = peer
        .create(
            VOLUME,
            "none",
            json!({ "size": 1, "image": "no-such-image" }),
        )
        .await;
    let error = error.err().unwrap();
    assert_eq!(error.field.unwrap().to_string(), "image");
}

#[tokio::test]
async fn a_volume_is_attached_and_moves_to_another_server() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let net = peer
        .create("OS::Neutron::Net", "net", json!({}))
        .await
        .unwrap();
    let subnet = json!({ "network": net.id(), "cidr": "10.78.1.0/24" });
    let subnet = peer
        .create("OS::Neutron::Subnet", "subnet", subnet)
        .await
        .unwrap();
    let server = json!({ "image": "cirros", "flavor": "m1.nano", "user_data_format": "RAW",
        "networks": [{ "network": net.id() }] });
    let first = peer
        .create("OS::Nova::Server", "first", server.clone())
        .await
        .unwrap();
    let second = peer
        .create("OS::Nova::Server", "second", server)
        .await
        .unwrap();
    let volume = peer
        .create(VOLUME, "volume", json!({ "size": 1 }))
        .await
        .unwrap();

    let spec = |server: &str| json!({ "instance_uuid": server, "volume_id": volume.id() });
    let attachment = "OS::Cinder::VolumeAttachment";
    let mut attached = peer
        .create(attachment, "attached", spec(first.id()))
        .await
        .unwrap();
    assert_eq!(attached.broken, [""; 0]);
    assert_eq!(attached.id(), volume.id());
    attached.assert_found().await;
    let at = |observed: provider::Observed| {
        let all = crate::support::json_field(&observed.fields, "attachments_list");
        all[0]["server_id"].clone()
    };
    assert_eq!(at(volume.read().await.unwrap()), first.id());
    attached.update(spec(second.id())).await.unwrap();
    assert_eq!(at(volume.read().await.unwrap()), second.id());
    attached.delete().await.unwrap();
    for one in [volume, first, second, subnet, net] {
        one.delete().await.unwrap();
    }
}

#[tokio::test]
async fn volume_types_and_their_settings_live() {
    let Some(admin) = Peer::of("admin").await else {
        return;
    };
    let name = |part: &str| format!("{}-{part}", admin.run);
    let spec = |text: &str, specs: Json| json!({ "name": name("type"), "description": text, "metadata": specs });
    let first = spec("a", json!({ "volume_backend_name": "null", "old": "1" }));
    let mut ty = admin
        .create("OS::Cinder::VolumeType", "type", first)
        .await
        .unwrap();
    ty.assert_found().await;
    ty.assert_settled(&["name", "description", "metadata", "is_public"])
        .await;
    ty.update(spec("b", json!({ "volume_backend_name": "null" })))
        .await
        .unwrap();
    assert_eq!(ty.field("description"), "b");
    assert_eq!(
        ty.field("metadata"),
        json!({ "volume_backend_name": "null" })
    );

    let private = json!({ "name": name("private"), "is_public": false, "projects": ["demo"] });
    let private = admin
        .create("OS::Cinder::VolumeType", "private", private)
        .await
        .unwrap();
    private.assert_found().await;
    private.delete().await.unwrap();

    let spec = |iops: &str| json!({ "name": name("qos"), "specs": { "consumer": "back-end", "iops": iops } });
    let mut qos = admin
        .create("OS::Cinder::QoSSpecs", "qos", spec("10"))
        .await
        .unwrap();
    qos.update(spec("20")).await.unwrap();
    qos.assert_found().await;
    assert_eq!(qos.field("show")["specs"]["iops"], "20");
    let spec = json!({ "qos_specs": qos.id(), "volume_types": [name("type")] });
    let association = admin
        .create("OS::Cinder::QoSAssociation", "association", spec)
        .await
        .unwrap();
    assert_eq!(association.field("volume_types"), json!([name("type")]));
    association.unset().await.unwrap();

    let spec = |size: u32| {
        json!({ "volume_type": ty.id(), "provider": "luks", "key_size": size,
            "cipher": "aes-xts-plain64" })
    };
    let kind = "OS::Cinder::EncryptedVolumeType";
    let mut encryption = admin.create(kind, "encryption", spec(256)).await.unwrap();
    assert_eq!(encryption.id(), ty.id());
    encryption.assert_found().await;
    encryption.update(spec(512)).await.unwrap();
    assert_eq!(encryption.field("key_size"), 512);
    encryption.delete().await.unwrap();
    qos.delete().await.unwrap();
    ty.delete().await.unwrap();
}
