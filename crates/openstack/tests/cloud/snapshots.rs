//! Snapshots before deletes. The cloud has no hypervisor that stores images and no backup service:
//! the test of servers stores the image in the place of the hypervisor.

use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::support::Peer;

/// The value after a key in the part of `clouds.yaml` about the cloud `demo`.
fn setting(clouds: &str, key: &str) -> String {
    let (_, demo) = clouds.split_once("demo:").unwrap();
    let (_, rest) = demo.split_once(&format!("{key}:")).unwrap();
    let value = rest.split([',', '}', '\n']).next().unwrap();
    value.trim().trim_matches('"').to_owned()
}

/// The image service of the cloud `demo`.
struct Images {
    client: reqwest::Client,
    url: String,
    token: String,
}

impl Images {
    async fn of_demo() -> Images {
        let file = std::env::var("CYAN_TEST_CLOUDS").unwrap();
        let clouds = std::fs::read_to_string(file).unwrap();
        let domain = json!({ "id": "default" });
        let user = json!({ "name": setting(&clouds, "username"), "domain": domain,
            "password": setting(&clouds, "password") });
        let body = json!({ "auth": {
            "identity": { "methods": ["password"], "password": { "user": user } },
            "scope": { "project": { "name": setting(&clouds, "project_name"), "domain": domain } },
        } });
        let url = format!("{}/auth/tokens", setting(&clouds, "auth_url"));
        let clients = http_client::Clients::default();
        let client = clients.of(&url.parse().unwrap()).await.unwrap();
        let answer = client.post(url).json(&body).send().await.unwrap();
        let token = answer.headers()["x-subject-token"]
            .to_str()
            .unwrap()
            .to_owned();
        let body: Json = answer.json().await.unwrap();
        let services = body["token"]["catalog"].as_array().unwrap();
        let images = services
            .iter()
            .find(|service| service["type"] == "image")
            .unwrap();
        let endpoints = images["endpoints"].as_array().unwrap();
        let public = endpoints
            .iter()
            .find(|it| it["interface"] == "public")
            .unwrap();
        let url = public["url"]
            .as_str()
            .unwrap()
            .trim_end_matches('/')
            .to_owned();
        Images { client, url, token }
    }

    async fn of_server(&self, server: &str) -> Vec<Json> {
        let url = format!("{}/v2/images?instance_uuid={server}", self.url);
        let request = self.client.get(url).header("X-Auth-Token", &self.token);
        let answer: Json = request.send().await.unwrap().json().await.unwrap();
        answer["images"].as_array().unwrap().clone()
    }

    /// Stores the image of a server once there is one, as a hypervisor does.
    async fn store(&self, server: &str) -> String {
        loop {
            if let [image] = self.of_server(server).await.as_slice() {
                let id = image["id"].as_str().unwrap();
                let path = format!("{}/v2/images/{id}", self.url);
                let formats = json!([
                    { "op": "replace", "path": "/disk_format", "value": "raw" },
                    { "op": "replace", "path": "/container_format", "value": "bare" },
                ]);
                let patch = self.client.patch(&path).header("X-Auth-Token", &self.token);
                let patch = patch.header(
                    "Content-Type",
                    "application/openstack-images-v2.1-json-patch",
                );
                let patched = patch.body(formats.to_string()).send().await.unwrap();
                assert!(patched.status().is_success(), "{patched:?}");
                let put = self
                    .client
                    .put(format!("{path}/file"))
                    .header("X-Auth-Token", &self.token);
                let put = put.header("Content-Type", "application/octet-stream");
                let stored = put.body("disk").send().await.unwrap();
                assert!(stored.status().is_success(), "{stored:?}");
                return id.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn delete(&self, image: &str) {
        let url = format!("{}/v2/images/{image}", self.url);
        let request = self.client.delete(url).header("X-Auth-Token", &self.token);
        request.send().await.unwrap();
    }
}

#[tokio::test]
async fn a_server_leaves_an_image_of_its_own_name() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let net = peer
        .create("OS::Neutron::Net", "kept-net", json!({}))
        .await
        .unwrap();
    let cidr = json!({ "network": net.id(), "cidr": "10.77.8.0/24" });
    let subnet = peer
        .create("OS::Neutron::Subnet", "kept-subnet", cidr)
        .await
        .unwrap();
    let spec = json!({ "image": "cirros", "flavor": "m1.nano", "user_data_format": "RAW",
        "networks": [{ "network": net.id() }], "name": format!("{}-kept", peer.run) });
    let mut server = peer.create("OS::Nova::Server", "kept", spec).await.unwrap();
    let images = Images::of_demo().await;
    let id = server.id().to_owned();
    let store = async { Ok(images.store(&id).await) };
    let ((), image) = tokio::try_join!(server.delete_after_snapshot(), store).unwrap();
    let [left] = images.of_server(&id).await.try_into().unwrap();
    assert_eq!(left["id"], image.as_str());
    assert_eq!(left["name"], format!("{}-kept", peer.run));
    assert_eq!(left["status"], "active");
    images.delete(&image).await;
    subnet.delete().await.unwrap();
    net.delete().await.unwrap();
}

#[tokio::test]
async fn a_volume_stays_if_its_backup_fails() {
    let Some(peer) = Peer::of("demo").await else {
        return;
    };
    let mut volume = peer
        .create("OS::Cinder::Volume", "kept", json!({ "size": 1 }))
        .await
        .unwrap();
    let error = volume.delete_after_snapshot().await.unwrap_err();
    assert!(
        error
            .message
            .starts_with("the backup of the volume failed: "),
        "{}",
        error.message
    );
    assert!(volume.read().await.is_some());
    volume.delete().await.unwrap();
}
