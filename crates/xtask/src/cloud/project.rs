//! Projects of their own for single runs: they are made, listed and deleted with all their objects.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::session::{CloudLogin, CloudSession};

/// The roles of the user of a project, as far as the cloud has them: those of a user of Heat,
/// Octavia and Barbican.
const ROLES: [&str; 4] = [
    "member",
    "heat_stack_owner",
    "load-balancer_member",
    "creator",
];

/// The further role of an administrator.
const ADMINISTRATOR: &str = "admin";

/// How the names of the projects begin, before the id of the process.
pub(super) const PREFIX: &str = "compare-";

/// How often the deletion of leftovers is tried, one second apart.
const ROUNDS: u32 = 30;

/// The password of every user. The clouds of the tests listen on this machine alone.
const PASSWORD: &str = "secret";

/// A kind of object, and how a project's objects of it are listed.
pub(super) struct ListedKind {
    pub(super) kind: &'static str,
    service: &'static str,
    /// The path of the list, for the given id of a project or user.
    path: &'static str,
    envelope: &'static str,
    /// The field of a member that contains the object, or empty.
    inner: &'static str,
}

macro_rules! kind {
    ($kind:literal, $service:expr, $path:literal, $envelope:literal) => {
        kind!($kind, $service, $path, $envelope, "")
    };
    ($kind:literal, $service:expr, $path:literal, $envelope:literal, $inner:literal) => {
        ListedKind {
            kind: $kind,
            service: $service,
            path: $path,
            envelope: $envelope,
            inner: $inner,
        }
    };
}

/// All kinds of objects of a project, in an order in which they can be deleted.
pub(super) const KINDS: [ListedKind; 22] = [
    kind!(
        "load balancer",
        "load-balancer",
        "/v2/lbaas/loadbalancers?project_id={project}",
        "loadbalancers"
    ),
    kind!(
        "listener",
        "load-balancer",
        "/v2/lbaas/listeners?project_id={project}",
        "listeners"
    ),
    kind!(
        "pool",
        "load-balancer",
        "/v2/lbaas/pools?project_id={project}",
        "pools"
    ),
    kind!(
        "health monitor",
        "load-balancer",
        "/v2/lbaas/healthmonitors?project_id={project}",
        "healthmonitors"
    ),
    kind!(
        "L7 policy",
        "load-balancer",
        "/v2/lbaas/l7policies?project_id={project}",
        "l7policies"
    ),
    kind!(
        "floating IP",
        "network",
        "/v2.0/floatingips?project_id={project}",
        "floatingips"
    ),
    kind!(
        "server",
        "compute",
        "/servers/detail?all_tenants=1&project_id={project}",
        "servers"
    ),
    kind!(
        "trunk",
        "network",
        "/v2.0/trunks?project_id={project}",
        "trunks"
    ),
    kind!(
        "router",
        "network",
        "/v2.0/routers?project_id={project}",
        "routers"
    ),
    kind!(
        "port",
        "network",
        "/v2.0/ports?project_id={project}",
        "ports"
    ),
    kind!(
        "snapshot",
        "block-storage",
        "/snapshots/detail?all_tenants=1&project_id={project}",
        "snapshots"
    ),
    kind!(
        "volume",
        "block-storage",
        "/volumes/detail?all_tenants=1&project_id={project}",
        "volumes"
    ),
    kind!(
        "keypair",
        "compute",
        "/os-keypairs?user_id={user}",
        "keypairs",
        "keypair"
    ),
    kind!(
        "server group",
        "compute",
        "/os-server-groups?all_projects=true",
        "server_groups"
    ),
    kind!(
        "RBAC policy",
        "network",
        "/v2.0/rbac-policies?project_id={project}",
        "rbac_policies"
    ),
    kind!(
        "security group",
        "network",
        "/v2.0/security-groups?project_id={project}",
        "security_groups"
    ),
    kind!(
        "subnet",
        "network",
        "/v2.0/subnets?project_id={project}",
        "subnets"
    ),
    kind!(
        "network",
        "network",
        "/v2.0/networks?project_id={project}",
        "networks"
    ),
    kind!(
        "subnet pool",
        "network",
        "/v2.0/subnetpools?project_id={project}",
        "subnetpools"
    ),
    kind!(
        "address scope",
        "network",
        "/v2.0/address-scopes?project_id={project}",
        "address_scopes"
    ),
    kind!(
        "QoS policy",
        "network",
        "/v2.0/qos/policies?project_id={project}",
        "policies"
    ),
    kind!("image", "image", "/v2/images?owner={project}", "images"),
];

/// Kinds of objects below others, with the kind of the others, whose id is `{parent}`.
const BELOW: [(&str, ListedKind); 2] = [
    (
        "pool",
        kind!(
            "member",
            "load-balancer",
            "/v2/lbaas/pools/{parent}/members",
            "members"
        ),
    ),
    (
        "L7 policy",
        kind!(
            "L7 rule",
            "load-balancer",
            "/v2/lbaas/l7policies/{parent}/rules",
            "rules"
        ),
    ),
];

/// The service of `KEYS`.
const KEY_MANAGER: &str = "key-manager";

/// The kinds of objects of Barbican, which shows them to their project alone. The field of a member
/// is its address, which ends with its id.
const KEYS: [ListedKind; 3] = [
    kind!(
        "order",
        KEY_MANAGER,
        "/v1/orders?limit=100",
        "orders",
        "order_ref"
    ),
    kind!(
        "container",
        KEY_MANAGER,
        "/v1/containers?limit=100",
        "containers",
        "container_ref"
    ),
    kind!(
        "secret",
        KEY_MANAGER,
        "/v1/secrets?limit=100",
        "secrets",
        "secret_ref"
    ),
];

/// Objects of the whole cloud to which a project's objects refer.
const SHARED: [ListedKind; 5] = [
    kind!(
        "network",
        "network",
        "/v2.0/networks?router:external=true",
        "networks"
    ),
    kind!(
        "subnet",
        "network",
        "/v2.0/subnets?name=public-subnet",
        "subnets"
    ),
    kind!("flavor", "compute", "/flavors/detail", "flavors"),
    kind!("image", "image", "/v2/images?visibility=public", "images"),
    kind!("volume type", "block-storage", "/types", "volume_types"),
];

/// An object as its service gives it.
#[derive(Debug)]
pub(super) struct FoundObject {
    pub(super) kind: &'static str,
    pub(super) value: Value,
}

/// A project with a user of its own.
#[derive(Debug)]
pub(super) struct TestProject {
    pub(super) login: CloudLogin,
    pub(super) id: String,
    pub(super) user: String,
}

impl TestProject {
    /// Makes a project and its user.
    ///
    /// # Errors
    /// If the cloud does not answer, or refuses it.
    pub(super) fn create(
        admin: &CloudSession,
        login: &CloudLogin,
        name: &str,
        administrator: bool,
    ) -> io::Result<Self> {
        let id = |answer: &Value, envelope: &str| {
            let id = answer[envelope]["id"].as_str().map(str::to_owned);
            id.ok_or_else(|| io::Error::other(format!("a {envelope} without id: {answer}")))
        };
        let post = |path: &str, body: Value| admin.send("POST", "identity", path, Some(&body));
        let project = json!({"project": {"name": name, "domain_id": "default"}});
        let project = id(&post("/projects", project)?, "project")?;
        let user = json!({"user": {"name": name, "domain_id": "default", "password": PASSWORD}});
        let user = id(&post("/users", user)?, "user")?;
        for role in admin.list("identity", "/roles", "roles")? {
            let known = role["name"].as_str().is_some_and(|name| {
                ROLES.contains(&name) || administrator && name == ADMINISTRATOR
            });
            if let Some(role) = role["id"].as_str().filter(|_| known) {
                let path = format!("/projects/{project}/users/{user}/roles/{role}");
                admin.send("PUT", "identity", &path, None)?;
            }
        }
        Ok(Self {
            login: login_of(login, name),
            id: project,
            user,
        })
    }

    /// Deletes the projects of runs of this machine that have ended without doing it.
    ///
    /// # Errors
    /// If a service does not answer, or an object cannot be deleted.
    pub(super) fn delete_abandoned(admin: &CloudSession, login: &CloudLogin) -> io::Result<()> {
        let users = admin.list("identity", "/users", "users")?;
        for project in admin.list("identity", "/projects", "projects")? {
            let text =
                |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
            let name = text(&project, "name");
            let process = name
                .strip_prefix(PREFIX)
                .and_then(|rest| rest.split('-').next());
            let ended = process.is_some_and(|process| !Path::new("/proc").join(process).exists());
            let user = users.iter().find(|user| user["name"] == name.as_str());
            if let Some(user) = user.filter(|_| ended) {
                let project = Self {
                    login: login_of(login, &name),
                    id: text(&project, "id"),
                    user: text(user, "id"),
                };
                project.delete(admin)?;
            }
        }
        Ok(())
    }

    /// All objects of the project.
    ///
    /// # Errors
    /// If a service does not answer.
    pub(super) fn objects(&self, admin: &CloudSession) -> io::Result<Vec<FoundObject>> {
        let mut all = Vec::new();
        for kind in &KINDS {
            for value in self.list(admin, kind)? {
                // Some lists are those of the whole cloud.
                let project = value.get("project_id").and_then(Value::as_str);
                if project.is_none_or(|project| project == self.id) {
                    all.push(FoundObject {
                        kind: kind.kind,
                        value,
                    });
                }
            }
        }
        for (kind, below) in &BELOW {
            let parents = all.iter().filter(|object| object.kind == *kind);
            let parents: Vec<String> = parents
                .filter_map(|object| object.value["id"].as_str().map(str::to_owned))
                .collect();
            for parent in parents {
                let path = below.path.replace("{parent}", &parent);
                let values = admin.list(below.service, &path, below.envelope)?;
                all.extend(values.into_iter().map(|value| FoundObject {
                    kind: below.kind,
                    value,
                }));
            }
        }
        all.extend(self.keys()?);
        Ok(all)
    }

    /// The objects of Barbican.
    fn keys(&self) -> io::Result<Vec<FoundObject>> {
        let user = CloudSession::open(&self.login)?;
        let mut all = Vec::new();
        for kind in &KEYS {
            for mut value in user.list(kind.service, kind.path, kind.envelope)? {
                let address = value[kind.inner].as_str().unwrap_or_default();
                value["id"] = json!(address.rsplit('/').next());
                all.push(FoundObject {
                    kind: kind.kind,
                    value,
                });
            }
        }
        Ok(all)
    }

    /// The objects of the whole cloud to which those of a project refer.
    ///
    /// # Errors
    /// If a service does not answer.
    pub(super) fn shared(&self, admin: &CloudSession) -> io::Result<Vec<FoundObject>> {
        let mut all = Vec::new();
        for kind in &SHARED {
            let values = self.list(admin, kind)?.into_iter();
            all.extend(values.map(|value| FoundObject {
                kind: kind.kind,
                value,
            }));
        }
        Ok(all)
    }

    fn list(&self, admin: &CloudSession, kind: &ListedKind) -> io::Result<Vec<Value>> {
        let path = kind
            .path
            .replace("{project}", &self.id)
            .replace("{user}", &self.user);
        let mut values = admin.list(kind.service, &path, kind.envelope)?;
        if !kind.inner.is_empty() {
            values = values
                .iter()
                .map(|value| value[kind.inner].clone())
                .collect();
        }
        Ok(values)
    }

    /// Deletes the objects that are left, the user and the project.
    ///
    /// # Errors
    /// If a service does not answer, or objects are still there at the end.
    pub(super) fn delete(&self, admin: &CloudSession) -> io::Result<()> {
        let mut left = self.objects(admin)?;
        for round in 0..ROUNDS {
            if left.iter().all(is_default_group) {
                break;
            }
            if round > 0 {
                std::thread::sleep(Duration::from_secs(1));
            }
            for object in &left {
                self.delete_object(admin, object)?;
            }
            left = self.objects(admin)?;
        }
        for path in ["/users/", "/projects/"] {
            let id = if path == "/users/" {
                &self.user
            } else {
                &self.id
            };
            admin.send("DELETE", "identity", &format!("{path}{id}"), None)?;
        }
        // Nobody deletes the default group of a project before the project.
        for object in left.iter().filter(|object| is_default_group(object)) {
            self.delete_object(admin, object)?;
        }
        left.retain(|object| !is_default_group(object));
        match left.first() {
            None => Ok(()),
            Some(object) => Err(io::Error::other(format!(
                "cannot delete a {}: {}",
                object.kind, object.value
            ))),
        }
    }

    /// Asks for the deletion of an object. A later round deletes what cannot be deleted yet.
    fn delete_object(&self, admin: &CloudSession, object: &FoundObject) -> io::Result<()> {
        let text = |field: &str| object.value[field].as_str().unwrap_or_default();
        let id = text("id");
        if let Some(key) = KEYS.iter().find(|key| key.kind == object.kind) {
            let path = key.path.split('?').next().unwrap_or_default();
            let user = CloudSession::open(&self.login)?;
            let deleted = user.ask("DELETE", KEY_MANAGER, &format!("{path}/{id}"), None);
            return deleted.map(|_| ());
        }
        let (service, path) = match object.kind {
            "load balancer" => {
                let path = format!("/v2/lbaas/loadbalancers/{id}?cascade=true");
                ("load-balancer", path)
            }
            // They go with their load balancer.
            "listener" | "pool" | "health monitor" | "L7 policy" | "member" | "L7 rule" => {
                return Ok(());
            }
            "server" => ("compute", format!("/servers/{id}")),
            "server group" => ("compute", format!("/os-server-groups/{id}")),
            "keypair" => {
                let name = text("name");
                (
                    "compute",
                    format!("/os-keypairs/{name}?user_id={}", self.user),
                )
            }
            "volume" => ("block-storage", format!("/volumes/{id}")),
            "snapshot" => ("block-storage", format!("/snapshots/{id}")),
            "image" => ("image", format!("/v2/images/{id}")),
            "port" if text("device_owner").starts_with("network:router_interface") => {
                let router = text("device_id");
                let path = format!("/v2.0/routers/{router}/remove_router_interface");
                let body = json!({"port_id": id});
                return admin.ask("PUT", "network", &path, Some(&body)).map(|_| ());
            }
            kind => {
                let listed = KINDS.iter().find(|listed| listed.kind == kind);
                let path = listed.map_or("", |listed| listed.path);
                let path = path.split('?').next().unwrap_or_default();
                if kind == "router" {
                    let body = json!({"router": {"routes": []}});
                    admin.ask("PUT", "network", &format!("{path}/{id}"), Some(&body))?;
                }
                ("network", format!("{path}/{id}"))
            }
        };
        admin.ask("DELETE", service, &path, None).map(|_| ())
    }
}

/// The login of the user of a project with this name.
fn login_of(admin: &CloudLogin, name: &str) -> CloudLogin {
    CloudLogin {
        user: name.to_owned(),
        password: PASSWORD.to_owned(),
        project: name.to_owned(),
        ..admin.clone()
    }
}

/// Whether this is the security group that each project has from its first use on.
pub(super) fn is_default_group(object: &FoundObject) -> bool {
    object.kind == "security group" && object.value["name"] == "default"
}
