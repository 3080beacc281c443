//! Connections that break, and servers that have no time, while objects are changed.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cluster::ClusterPlace;

const DOCUMENT: &str = "\
version: 2023-04-20
resources:
  settings:
    type: kubernetes/core/ConfigMap
    spec:
      metadata: {name: settings, namespace: NS}
      data: {color: blue}
";

/// What happens to a change.
#[derive(Clone, Copy)]
enum Fault {
    /// The server makes it, and the answer is lost.
    LosesAnswer,
    /// It gets this answer and does not reach the server.
    Answers(&'static str),
}

/// A proxy that lets the next changes fail.
struct FaultyProxy {
    /// `kubectl proxy`, behind it.
    process: Child,
    /// The number of changes that still fail.
    left: Arc<AtomicUsize>,
}

impl FaultyProxy {
    /// Starts a proxy, and lets `cyan` reach the cluster through it.
    fn start(cluster: &mut ClusterPlace, fault: Fault) -> FaultyProxy {
        let mut process = cluster
            .kubectl_command(&["proxy", "--port=0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let server = line.trim().rsplit(' ').next().unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        cluster.use_server(&format!("http://{}", listener.local_addr().unwrap()));
        let left = Arc::new(AtomicUsize::new(0));
        let shared = left.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, left) = (client.unwrap(), shared.clone());
                let server = TcpStream::connect(&server).unwrap();
                std::thread::spawn(move || pass_on(client, server, fault, &left));
            }
        });
        FaultyProxy { process, left }
    }
}

impl Drop for FaultyProxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Passes the requests of a connection on, and their answers back. Ends with the connection, or
/// with a fault.
fn pass_on(mut client: TcpStream, mut server: TcpStream, fault: Fault, left: &AtomicUsize) {
    let (mut answers, mut back) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let copies = std::thread::spawn(move || std::io::copy(&mut answers, &mut back));
    while let Some(request) = next_request(&mut client) {
        let line = String::from_utf8_lossy(&request);
        let line = line.lines().next().unwrap_or_default().to_owned();
        let is_change = !line.starts_with("GET ") && !line.contains("dryRun");
        let take = |left: usize| left.checked_sub(1);
        let fails =
            is_change && { left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take) }.is_ok();
        match fault {
            Fault::LosesAnswer if fails => {
                let _ = client.shutdown(Shutdown::Both);
                server.write_all(&request).unwrap();
                // A server cancels the work for a client that has gone.
                let _ = copies.join();
                return;
            }
            Fault::Answers(answer) if fails => {
                let answer = format!(
                    "HTTP/1.1 {answer}\r\nRetry-After: 3\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                );
                client.write_all(answer.as_bytes()).unwrap();
                let _ = client.shutdown(Shutdown::Both);
                let _ = server.shutdown(Shutdown::Both);
                break;
            }
            _ => server.write_all(&request).unwrap(),
        }
    }
    let _ = server.shutdown(Shutdown::Write);
    let _ = copies.join();
}

/// The next request with its body. `None` at the end of the connection.
fn next_request(client: &mut TcpStream) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let read = client.read(&mut chunk).ok().filter(|read| *read > 0)?;
        request.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&request).to_lowercase();
        let Some((head, _)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        if request.len() >= head.len() + 4 + length {
            return Some(request);
        }
    }
}

impl ClusterPlace {
    /// Lets `cyan` reach the cluster through a server that needs no credentials.
    pub(super) fn use_server(&mut self, address: &str) {
        let config = serde_json::json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "proxy",
            "clusters": [{"name": "proxy", "cluster": {"server": address}}],
            "users": [{"name": "proxy", "user": {}}],
            "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "proxy"}}],
        });
        self.kubeconfig = self.place.path().join("kubeconfig");
        fs::write(&self.kubeconfig, config.to_string()).unwrap();
    }
}

#[test]
fn change_whose_answer_is_lost_is_looked_up() {
    let Some(mut cluster) = ClusterPlace::with("lost", DOCUMENT) else {
        return;
    };
    let proxy = FaultyProxy::start(&mut cluster, Fault::LosesAnswer);
    let lost = ["was lost", "not known whether the change was made"];
    let object = |cluster: &ClusterPlace| {
        // The server may still work on the request.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        loop {
            let found = cluster.object("configmap/settings");
            if found.is_some() || std::time::Instant::now() > until {
                return found.unwrap();
            }
        }
    };
    proxy.left.store(1, Ordering::SeqCst);
    cluster.refused(&["deploy", "-y"], &lost);
    let made = object(&cluster);
    cluster.exits(0, &["deploy", "-y"]);
    let kept = object(&cluster);
    assert_eq!(kept["metadata"]["uid"], made["metadata"]["uid"]);
    cluster.is_up_to_date();

    cluster.write(&DOCUMENT.replace("blue", "red"));
    proxy.left.store(1, Ordering::SeqCst);
    cluster.refused(&["deploy", "-y"], &lost);
    cluster.exits(0, &["deploy", "-y"]);
    assert_eq!(object(&cluster)["data"]["color"], "red");
    cluster.is_up_to_date();

    proxy.left.store(1, Ordering::SeqCst);
    cluster.refused(&["destroy", "-y"], &lost);
    cluster.exits(0, &["destroy", "-y"]);
    assert_eq!(cluster.object("configmap/settings"), None);
}

#[test]
fn server_without_time_is_asked_again() {
    for answer in ["429 Too Many Requests", "503 Service Unavailable"] {
        let Some(mut cluster) = ClusterPlace::with("busy", DOCUMENT) else {
            return;
        };
        let proxy = FaultyProxy::start(&mut cluster, Fault::Answers(answer));
        proxy.left.store(1, Ordering::SeqCst);
        let deployed = cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
        let said = format!("settings: try 2 follows in 3s: the server answers `{answer}`");
        assert!(deployed.err.contains(&said), "{}", deployed.err);
        assert_eq!(proxy.left.load(Ordering::SeqCst), 0);
        cluster.is_up_to_date();
        proxy.left.store(1, Ordering::SeqCst);
        cluster.ends(&["destroy", "-y"], "0 created, 0 updated, 1 deleted");
        assert_eq!(cluster.object("configmap/settings"), None);
    }
}
