//! Chains, a certificate in files, and a webhook that serves with it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use controller::webhook::{CertificateFiles, Webhook, WebhookOptions};
use controller::{Controller, ControllerOptions};
use jiff::Timestamp;
use kube::Client;
use local_cluster::{ClusterOptions, LocalCluster};
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value as Json, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A chain with a selector.
pub(crate) fn good_chain() -> Json {
    let mut chain = bad_chain();
    chain["spec"]["selector"] = json!({"app": "web"});
    chain
}

/// A chain without one.
pub(crate) fn bad_chain() -> Json {
    json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "ClusterSupplyChain",
        "metadata": {"name": "chain"},
        "spec": {"resources": [{
            "name": "source",
            "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"},
        }]},
    })
}

/// A folder of its own below the build folder, removed at the end.
pub(crate) struct Files(PathBuf);

static NEXT: AtomicU32 = AtomicU32::new(0);

impl Files {
    pub(crate) fn new() -> Files {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("webhook-{}-{number}", std::process::id());
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Files(folder)
    }

    pub(crate) fn names(&self) -> CertificateFiles {
        CertificateFiles {
            certificate: self.0.join("tls.crt"),
            key: self.0.join("tls.key"),
        }
    }

    /// Writes a new certificate for loopback. Returns it in PEM.
    pub(crate) fn write(&self) -> String {
        let key = KeyPair::generate().unwrap();
        let names = vec!["127.0.0.1".to_owned()];
        let certificate = CertificateParams::new(names).unwrap();
        let certificate = certificate.self_signed(&key).unwrap().pem();
        let files = self.names();
        std::fs::write(files.certificate, &certificate).unwrap();
        std::fs::write(files.key, key.serialize_pem()).unwrap();
        certificate
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A webhook that serves until this is dropped.
pub(crate) struct Serving {
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
}

impl Serving {
    pub(crate) async fn start(files: &Files) -> Serving {
        let cluster = LocalCluster::new(ClusterOptions::default());
        let client = Client::new(cluster.service(), "default");
        let options = ControllerOptions::new(Arc::new(Timestamp::now));
        let controller = Controller::new(client, options);
        let mut options = WebhookOptions::new(files.names());
        options.certificate_pause = Duration::from_millis(20);
        let webhook = Webhook::new(options, controller).unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(webhook.serve(listener, stop.clone()));
        Serving { address, stop }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
