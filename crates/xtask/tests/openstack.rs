//! The cloud that `cargo xtask openstack` starts works: a login, a network, a server that becomes
//! active on it, a volume, and a stack of real Heat.
//!
//! Not here: what `cyan` does with a cloud. The requests are plain HTTP, so that a failure here is
//! one of the cloud.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by a panic, and says when its counterpart is missing"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The time within which a server becomes active, and a stack is complete.
const READY: Duration = Duration::from_secs(120);

/// A login to the cloud `demo`.
struct Session {
    token: String,
    catalogue: Vec<Value>,
}

impl Session {
    /// The file `clouds.yaml`, as `crates/xtask` writes it, gives the address and password.
    fn of(clouds: &str) -> Self {
        let demo = clouds.split("demo:").nth(1).unwrap();
        let value = |key: &str| {
            let line = demo.lines().find(|line| line.contains(key)).unwrap();
            line.split(": ").nth(1).unwrap().to_owned()
        };
        let default = json!({"id": "default"});
        let user =
            json!({"name": value("username"), "password": value("password"), "domain": default});
        let project = json!({"name": value("project_name"), "domain": default});
        let login = json!({"auth": {
            "identity": {"methods": ["password"], "password": {"user": user}},
            "scope": {"project": project},
        }});
        let url = format!("{}/auth/tokens", value("auth_url"));
        let answer = exchange("POST", &url, "", Some(&login));
        assert_eq!(answer.status, 201, "{}", answer.body);
        Self {
            token: answer.token.unwrap(),
            catalogue: answer.body["token"]["catalog"].as_array().unwrap().clone(),
        }
    }

    /// The public address of a service.
    fn endpoint(&self, kind: &str) -> String {
        let service = self.catalogue.iter().find(|one| one["type"] == kind);
        let endpoints = service.unwrap()["endpoints"].as_array().unwrap();
        let public = endpoints.iter().find(|one| one["interface"] == "public");
        public.unwrap()["url"].as_str().unwrap().to_owned()
    }

    /// Sends a request whose answer must be a success. Returns the body.
    fn send(&self, method: &str, kind: &str, path: &str, body: Option<&Value>) -> Value {
        let url = format!("{}{path}", self.endpoint(kind));
        let answer = exchange(method, &url, &self.token, body);
        let success = (200..300).contains(&answer.status);
        assert!(success, "{method} {url}: {} {}", answer.status, answer.body);
        answer.body
    }

    fn get(&self, kind: &str, path: &str) -> Value {
        self.send("GET", kind, path, None)
    }

    /// Reads an object until its status is the given one.
    fn wait(&self, kind: &str, path: &str, status_at: &str, status: &str) {
        let begin = Instant::now();
        loop {
            let object = self.get(kind, path);
            let found = object.pointer(status_at).and_then(Value::as_str).unwrap();
            if found == status {
                return;
            }
            let failed = found.to_uppercase().contains("ERROR") || found.contains("FAILED");
            assert!(!failed && begin.elapsed() < READY, "{path}: {object}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Reads an object until it is not there.
    fn wait_until_deleted(&self, kind: &str, path: &str) {
        let begin = Instant::now();
        let url = format!("{}{path}", self.endpoint(kind));
        while exchange("GET", &url, &self.token, None).status != 404 {
            assert!(begin.elapsed() < READY, "{path} is still there");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// What a service answers.
struct Answer {
    status: u16,
    /// The token that Keystone gives.
    token: Option<String>,
    /// The body, or null if it is not JSON.
    body: Value,
}

/// Sends a request. Each service closes the connection after its answer.
fn exchange(method: &str, url: &str, token: &str, body: Option<&Value>) -> Answer {
    let (host, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(READY)).unwrap();
    let length = body.len();
    // Cinder takes a path without a project from version 3.67 on.
    let version = if path.contains("volumes") {
        "volume 3.71"
    } else {
        "compute 2.96"
    };
    let request = format!(
        "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nX-Auth-Token: {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\
         OpenStack-API-Version: {version}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let token = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("x-subject-token")
            .then(|| value.to_owned())
    });
    Answer {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        token,
        body: serde_json::from_str(body).unwrap_or_default(),
    }
}

/// The id of an object that a service gives in an envelope.
fn id(answer: &Value, envelope: &str) -> String {
    answer[envelope]["id"].as_str().unwrap().to_owned()
}

/// A login to the cloud, or nothing if no cloud runs and it need not.
fn session() -> Option<Session> {
    let Some(file) = std::env::var_os("CYAN_TEST_CLOUDS") else {
        let all = std::env::var_os("CYAN_TEST_ALL").is_some();
        assert!(!all, "the cloud of OpenStack is missing");
        eprintln!("skipped: CYAN_TEST_CLOUDS names no cloud of OpenStack");
        return None;
    };
    Some(Session::of(&std::fs::read_to_string(file).unwrap()))
}

/// A name that no other run uses at the same time.
fn unique(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

#[test]
fn a_server_becomes_active_on_a_new_network() {
    let Some(cloud) = session() else { return };
    let post = |kind: &str, path: &str, body: Value| cloud.send("POST", kind, path, Some(&body));
    let delete = |kind: &str, path: &str| cloud.send("DELETE", kind, path, None);

    let network = json!({"network": {"name": unique("check")}});
    let network = id(&post("network", "/v2.0/networks", network), "network");
    let subnet = json!({"subnet": {"network_id": network, "ip_version": 4, "cidr": "10.9.0.0/24"}});
    post("network", "/v2.0/subnets", subnet);
    let flavors = cloud.get("compute", "/flavors");
    let mut flavors = flavors["flavors"].as_array().unwrap().iter();
    let flavor = flavors.find(|flavor| flavor["name"] == "m1.tiny").unwrap();
    let images = cloud.get("image", "/v2/images?name=cirros");
    let server = json!({"server": {
        "name": unique("check"),
        "flavorRef": flavor["id"],
        "imageRef": images["images"][0]["id"],
        "networks": [{"uuid": network}],
    }});
    let server = id(&post("compute", "/servers", server), "server");
    let server = format!("/servers/{server}");
    cloud.wait("compute", &server, "/server/status", "ACTIVE");
    let ports = cloud.get("network", &format!("/v2.0/ports?network_id={network}"));
    assert_eq!(ports["ports"][0]["status"], "ACTIVE", "{ports}");

    delete("compute", &server);
    cloud.wait_until_deleted("compute", &server);
    delete("network", &format!("/v2.0/networks/{network}"));
}

#[test]
fn a_volume_becomes_available_and_one_that_must_fail_fails() {
    let Some(cloud) = session() else { return };
    for (name, status) in [("check", "available"), ("fail-check", "error")] {
        let volume = json!({"volume": {"name": unique(name), "size": 1}});
        let created = cloud.send("POST", "block-storage", "/volumes", Some(&volume));
        let volume = format!("/volumes/{}", id(&created, "volume"));
        let begin = Instant::now();
        while cloud.get("block-storage", &volume)["volume"]["status"] != status {
            assert!(begin.elapsed() < READY, "{name} is not {status}");
            std::thread::sleep(Duration::from_millis(200));
        }
        cloud.send("DELETE", "block-storage", &volume, None);
        cloud.wait_until_deleted("block-storage", &volume);
    }
}

#[test]
fn heat_creates_and_deletes_a_stack() {
    let Some(cloud) = session() else { return };
    let template = json!({
        "heat_template_version": "2021-04-16",
        "resources": {"net": {"type": "OS::Neutron::Net", "properties": {"name": unique("stack")}}},
        "outputs": {"status": {"value": {"get_attr": ["net", "status"]}}},
    });
    let stack = json!({"stack_name": unique("check"), "template": template, "timeout_mins": 5});
    let created = cloud.send("POST", "orchestration", "/stacks", Some(&stack));
    let stack = format!("/stacks/{}/{}", unique("check"), id(&created, "stack"));
    let status = "/stack/stack_status";
    cloud.wait("orchestration", &stack, status, "CREATE_COMPLETE");
    let shown = cloud.get("orchestration", &stack);
    let outputs = &shown["stack"]["outputs"];
    assert_eq!(outputs[0]["output_value"], "ACTIVE", "{outputs}");
    cloud.send("DELETE", "orchestration", &stack, None);
    cloud.wait("orchestration", &stack, status, "DELETE_COMPLETE");
}
