//! A client that sends the calls of one template and does nothing else: what the life of that
//! template costs at least. It sends as many at a time as `cyan`, and waits as long between polls.
//!
//! Not here: errors that clear with time, states, plans.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::calls::CountedCloud;
use super::session::CloudSession;

/// The calls at a time.
const PARALLEL: usize = 4;

/// The number of ports.
const PORTS: usize = 20;

/// The first time between two polls. Each further one is twice as long.
const POLL: Duration = Duration::from_millis(500);

/// A client with the ids of what it has made.
#[derive(Debug)]
pub(super) struct BareClient<'a> {
    cloud: &'a CountedCloud,
    network: String,
    subnet: String,
    ports: Vec<String>,
    server: String,
}

/// The text of a field, for example `["port", "id"]`.
fn text(answer: &Value, path: [&str; 2]) -> io::Result<String> {
    let found = answer[path[0]][path[1]].as_str();
    let missing = || io::Error::other(format!("no `{}` in {answer}", path.join(".")));
    found.map(str::to_owned).ok_or_else(missing)
}

impl<'a> BareClient<'a> {
    pub(super) fn new(cloud: &'a CountedCloud) -> Self {
        let none = String::new;
        Self {
            cloud,
            network: none(),
            subnet: none(),
            ports: Vec::new(),
            server: none(),
        }
    }

    /// Signs in.
    fn session(&self) -> io::Result<CloudSession> {
        let session = CloudSession::open(&self.cloud.login)?;
        Ok(session.with_addresses(&self.cloud.addresses))
    }

    /// Creates all objects.
    ///
    /// # Errors
    /// If a service refuses a call.
    pub(super) fn create(&mut self) -> io::Result<()> {
        let session = self.session()?;
        let send = |method, service, path: &str, body: Value| {
            session.send(method, service, path, Some(&body))
        };
        // The names of the flavor and the image become ids.
        let flavors = session.list("compute", "/flavors", "flavors")?;
        let images = session.list("image", "/v2/images?name=cirros", "images")?;
        let named = |all: &[Value], name: &str| {
            let found = all.iter().find(|one| one["name"] == name);
            let id = found.and_then(|one| one["id"].as_str());
            id.map(str::to_owned)
                .ok_or_else(|| io::Error::other(format!("no `{name}`")))
        };
        let (flavor, image) = (named(&flavors, "m1.nano")?, named(&images, "cirros")?);
        let mark = "made by a client that measures";
        let body = json!({"network": {"name": "speed", "description": mark}});
        self.network = text(
            &send("POST", "network", "/v2.0/networks", body)?,
            ["network", "id"],
        )?;
        let body = json!({"subnet": {"name": "speed", "description": mark, "ip_version": 4,
            "network_id": self.network, "cidr": "10.77.0.0/24"}});
        self.subnet = text(
            &send("POST", "network", "/v2.0/subnets", body)?,
            ["subnet", "id"],
        )?;
        let ids = Mutex::new(vec![String::new(); PORTS]);
        at_a_time(PORTS, |index| {
            let body = json!({"port": {"name": format!("speed-{index}"), "description": mark,
                "network_id": self.network, "fixed_ips": [{"subnet_id": self.subnet}]}});
            let id = text(
                &send("POST", "network", "/v2.0/ports", body)?,
                ["port", "id"],
            )?;
            if let Some(place) = ids.lock().map_err(|_| poisoned())?.get_mut(index) {
                *place = id;
            }
            Ok(())
        })?;
        self.ports = ids.into_inner().map_err(|_| poisoned())?;
        let body = json!({"server": {"name": "speed", "flavorRef": flavor, "imageRef": image,
            "networks": [{"port": self.ports.first()}], "metadata": {"form": "first"},
            "tags": ["mark"]}});
        self.server = text(
            &send("POST", "compute", "/servers", body)?,
            ["server", "id"],
        )?;
        let path = format!("/servers/{}", self.server);
        poll(|| {
            let answer = session.send("GET", "compute", &path, None)?;
            Ok(text(&answer, ["server", "status"])? == "ACTIVE")
        })?;
        session.list("network", "/v2.0/segments", "segments")?;
        self.read_addresses(&session)
    }

    /// Reads what the attributes of the server show of its addresses.
    fn read_addresses(&self, session: &CloudSession) -> io::Result<()> {
        let of_server = format!("device_id={}", self.server);
        let lists = [
            (format!("/v2.0/ports?{of_server}"), "ports"),
            (format!("/v2.0/networks?id={}", self.network), "networks"),
            (format!("/v2.0/subnets?id={}", self.subnet), "subnets"),
            ("/v2.0/floatingips".to_owned(), "floatingips"),
        ];
        for (path, envelope) in lists {
            session.list("network", &path, envelope)?;
        }
        Ok(())
    }

    /// The paths of all objects.
    fn paths(&self) -> Vec<(&'static str, String)> {
        let ports = self.ports.iter();
        let mut paths: Vec<(&str, String)> = ports
            .map(|port| ("network", format!("/v2.0/ports/{port}")))
            .collect();
        paths.push(("network", format!("/v2.0/networks/{}", self.network)));
        paths.push(("network", format!("/v2.0/subnets/{}", self.subnet)));
        paths.push(("compute", format!("/servers/{}", self.server)));
        paths
    }

    /// Reads all objects.
    ///
    /// # Errors
    /// If a service refuses a call.
    pub(super) fn read(&mut self) -> io::Result<()> {
        self.read_with(&self.session()?)
    }

    fn read_with(&self, session: &CloudSession) -> io::Result<()> {
        let paths = self.paths();
        at_a_time(paths.len(), |index| {
            let (service, path) = &paths[index];
            session.send("GET", service, path, None).map(|_| ())
        })
    }

    /// Reads all objects, then changes the metadata of the server, whose flavor and image become
    /// ids.
    ///
    /// # Errors
    /// If a service refuses a call.
    pub(super) fn change(&mut self) -> io::Result<()> {
        let session = self.session()?;
        self.read_with(&session)?;
        session.list("compute", "/flavors", "flavors")?;
        session.list("image", "/v2/images?name=cirros", "images")?;
        let server = format!("/servers/{}", self.server);
        let body = json!({"metadata": {"form": "second"}});
        let path = format!("{server}/metadata");
        session.send("PUT", "compute", &path, Some(&body))?;
        session.send("GET", "compute", &server, None)?;
        self.read_addresses(&session)
    }

    /// Reads and deletes all objects.
    ///
    /// # Errors
    /// If a service refuses a call.
    pub(super) fn delete(&mut self) -> io::Result<()> {
        let session = self.session()?;
        self.read_with(&session)?;
        let path = format!("/servers/{}", self.server);
        session.send("DELETE", "compute", &path, None)?;
        poll(|| {
            let (status, _) = session.ask("GET", "compute", &path, None)?;
            Ok(status == 404)
        })?;
        at_a_time(self.ports.len(), |index| {
            let path = format!("/v2.0/ports/{}", self.ports[index]);
            session.send("DELETE", "network", &path, None).map(|_| ())
        })?;
        for path in [
            format!("/v2.0/subnets/{}", self.subnet),
            format!("/v2.0/networks/{}", self.network),
        ] {
            session.send("DELETE", "network", &path, None)?;
        }
        Ok(())
    }
}

fn poisoned() -> io::Error {
    io::Error::other("a thread panicked")
}

/// Asks until the answer is yes.
fn poll(mut done: impl FnMut() -> io::Result<bool>) -> io::Result<()> {
    let mut delay = POLL;
    while !done()? {
        std::thread::sleep(delay);
        delay *= 2;
    }
    Ok(())
}

/// Does something for each number below `count`, for some at a time. Returns the first error.
fn at_a_time(count: usize, work: impl Fn(usize) -> io::Result<()> + Sync) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..PARALLEL)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        if index >= count {
                            return Ok(());
                        }
                        work(index)?;
                    }
                })
            })
            .collect();
        let mut ends = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(poisoned())));
        ends.find(Result::is_err).unwrap_or(Ok(()))
    })
}
