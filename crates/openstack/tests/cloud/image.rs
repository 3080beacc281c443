//! Images that Glance downloads.
//!
//! Glance downloads only from port 80 of a host that is not the loopback, so the test serves the
//! data there. Where it cannot, the image stays without data, and the parts that need none are
//! tested.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpListener, UdpSocket};

use serde_json::{Value as Json, json};

use crate::support::Peer;

/// Serves four kilobytes of zeros at `/data`, and nothing elsewhere. Returns the address; `None` if
/// this host cannot.
fn served() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent: the system chooses the address of this host.
    socket.connect("198.51.100.1:9").ok()?;
    let host = socket.local_addr().ok()?.ip();
    if host.is_loopback() {
        return None;
    }
    let listener = TcpListener::bind((host, 80)).ok()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let mut request = [0; 2048];
            let count = stream.read(&mut request).unwrap_or_default();
            let asked = String::from_utf8_lossy(&request[..count]).into_owned();
            let (status, data) = match asked.contains(" /data ") {
                true => ("200 OK", vec![0; 4096]),
                false => ("404 Not Found", Vec::new()),
            };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                data.len()
            );
            // A client that is gone is no concern of the server.
            let _ = stream
                .write_all(head.as_bytes())
                .and_then(|()| stream.write_all(&data));
        }
    });
    Some(host)
}

fn spec(location: &str, more: Json) -> Json {
    let mut spec =
        json!({ "location": location, "disk_format": "raw", "container_format": "bare" });
    if let (Some(spec), Json::Object(more)) = (spec.as_object_mut(), more) {
        spec.extend(more);
    }
    spec
}

#[tokio::test]
async fn a_web_image_lives() {
    let Some(peer) = Peer::of("admin").await else {
        return;
    };
    let location = "http://localhost/data";
    let (error, image) = peer
        .create_partly("OS::Glance::WebImage", "refused", spec(location, json!({})))
        .await;
    assert_eq!(error.field.unwrap().to_string(), "location");
    image.assert_found().await;
    image.delete().await.unwrap();

    let Some(host) = served() else {
        return;
    };
    let location = format!("http://{host}/data");
    let first = json!({ "os_distro": "debian", "architecture": "x86_64", "tags": ["a", "b"],
        "extra_properties": { "hw_disk_bus": "virtio", "old": 1 } });
    let mut image = peer
        .create("OS::Glance::WebImage", "image", spec(&location, first))
        .await
        .unwrap();
    assert!(image.broken.is_empty(), "{:?}", image.broken);
    assert_eq!(image.field("show")["status"], "active");
    assert_eq!(image.field("show")["old"], "1");
    assert_eq!(image.field("show").get("cyan"), None, "no mark is shown");
    image.assert_found().await;
    let settled = [
        "name",
        "os_distro",
        "tags",
        "extra_properties",
        "active",
        "visibility",
    ];
    image.assert_settled(&settled).await;

    let second = json!({ "os_distro": "ubuntu", "tags": ["b", "c"], "active": false,
        "visibility": "shared", "members": ["0123456789abcdef0123456789abcdef"],
        "extra_properties": { "hw_disk_bus": "scsi" } });
    image.update(spec(&location, second)).await.unwrap();
    let shown = image.field("show");
    assert_eq!(shown["status"], "deactivated");
    assert_eq!(
        (&shown["os_distro"], &shown["hw_disk_bus"]),
        (&json!("ubuntu"), &json!("scsi"))
    );
    assert_eq!((shown.get("old"), shown.get("architecture")), (None, None));
    image.assert_found().await;
    image.assert_settled(&settled).await;
    image.update(spec(&location, json!({}))).await.unwrap();
    assert_eq!(image.field("show")["status"], "active");
    image.delete().await.unwrap();

    let inactive = spec(&location, json!({ "active": false }));
    let inactive = peer
        .create("OS::Glance::WebImage", "inactive", inactive)
        .await
        .unwrap();
    assert_eq!(inactive.field("show")["status"], "deactivated");
    inactive.delete().await.unwrap();

    // A download that fails leaves the image without data for ever.
    let missing = spec(&format!("http://{host}/none"), json!({}));
    let missing = peer
        .create("OS::Glance::WebImage", "missing", missing)
        .await
        .unwrap();
    assert!(
        missing.broken[0].contains("could not download"),
        "{:?}",
        missing.broken
    );
    missing.delete().await.unwrap();
}
