//! A cloud whose calls are counted: proxies between a client and the services.
//!
//! Not here: kept connections. Each answer closes its connection, as those of the services do.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use super::session::{CloudLogin, CloudSession};

/// The services that have a proxy.
const COUNTED: [&str; 4] = ["identity", "network", "compute", "image"];

/// How often each kind of call was sent. A kind is a method, a service and a path with `*` for ids.
pub(super) type CallCounts = BTreeMap<String, usize>;

/// A running cloud behind proxies. They run until this program ends.
#[derive(Debug)]
pub(super) struct CountedCloud {
    /// The login, at the proxy of Keystone.
    pub(super) login: CloudLogin,
    /// The address of each other service at its proxy.
    pub(super) addresses: Vec<(&'static str, String)>,
    counts: Arc<Mutex<CallCounts>>,
}

impl CountedCloud {
    /// Starts the proxies for a user of a cloud.
    ///
    /// # Errors
    /// If the cloud does not answer or lacks a service, or no port is free.
    pub(super) fn start(login: &CloudLogin) -> io::Result<Self> {
        let session = CloudSession::open(login)?;
        let counts = Arc::new(Mutex::new(CallCounts::new()));
        let mut counted = login.clone();
        let mut addresses = Vec::new();
        for service in COUNTED {
            let real = session.address(service)?;
            let at_proxy = start_proxy(service, &real, &counts)?;
            if service == "identity" {
                counted.auth_url = at_proxy;
            } else {
                addresses.push((service, at_proxy));
            }
        }
        Ok(Self {
            login: counted,
            addresses,
            counts,
        })
    }

    /// The calls since the last question.
    pub(super) fn take(&self) -> CallCounts {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *counts)
    }
}

/// Starts the proxy of a service. Returns the address of the service at the proxy.
fn start_proxy(
    service: &'static str,
    real: &str,
    counts: &Arc<Mutex<CallCounts>>,
) -> io::Result<String> {
    let address = real.strip_prefix("http://");
    let address = address.ok_or_else(|| io::Error::other(format!("`{real}` is not plain HTTP")))?;
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let (host, path) = (host.to_owned(), format!("/{path}"));
    let base = path.trim_end_matches('/').to_owned();
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let at_proxy = format!("http://{}{base}", listener.local_addr()?);
    let counts = Arc::clone(counts);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (host, base, counts) = (host.clone(), base.clone(), Arc::clone(&counts));
            std::thread::spawn(move || {
                // A client that ends, or a service that does not answer, closes the connection.
                let _ = forward(client, &host, |method, path| {
                    let kind = kind_of(method, service, path.strip_prefix(&base).unwrap_or(path));
                    let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
                    *counts.entry(kind).or_default() += 1;
                });
            });
        }
    });
    Ok(at_proxy)
}

/// Passes one request on, and the answer back. `count` gets the method and the path.
///
/// # Errors
/// If one of the sides closes its connection, or the request is not HTTP.
fn forward(client: TcpStream, host: &str, count: impl FnOnce(&str, &str)) -> io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut head = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        // The service closes its connection after the answer, which ends it for the client too.
        if line == "\r\n" {
            head.push_str("Connection: close\r\n\r\n");
            break;
        }
        if !lower.starts_with("connection:") {
            head.push_str(&line);
        }
    }
    let mut words = head.split(' ');
    if let (Some(method), Some(path)) = (words.next(), words.next()) {
        count(method, path);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut server = TcpStream::connect(host)?;
    server.write_all(head.as_bytes())?;
    server.write_all(&body)?;
    io::copy(&mut server, &mut { client }).map(|_| ())
}

/// The kind of a call: ids, which have digits, and queries are left out.
fn kind_of(method: &str, service: &str, path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let is_version = |part: &&str| {
        part.strip_prefix('v')
            .is_some_and(|rest| rest.starts_with(|one: char| one.is_ascii_digit()))
    };
    let parts = path
        .split('/')
        .filter(|part| !part.is_empty() && !is_version(part));
    let parts: Vec<&str> = parts
        .map(|part| {
            if part.contains(|one: char| one.is_ascii_digit()) {
                "*"
            } else {
                part
            }
        })
        .collect();
    format!("{method} {service} {}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::kind_of;

    #[test]
    fn a_kind_of_call_has_no_ids_and_no_query() {
        let id = "7c0f6e0c-1f4e-4f3e-9a4e-0c8f9a3f1b2d";
        let path = format!("/v2.0/ports/{id}?fields=id");
        assert_eq!(kind_of("GET", "network", &path), "GET network ports/*");
        let path = format!("/servers/{id}/metadata");
        assert_eq!(
            kind_of("POST", "compute", &path),
            "POST compute servers/*/metadata"
        );
        assert_eq!(
            kind_of("GET", "image", "/v2/images?name=x"),
            "GET image images"
        );
    }
}
