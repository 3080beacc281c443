//! What a client needs to reach a server: a token and a certificate.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value as Json, json};

/// The names of the server in its certificate.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The access to a server is not usable.
#[derive(Debug, thiserror::Error)]
pub enum AccessFailure {
    /// The certificate cannot be made.
    #[error("the certificate of the local cluster cannot be made")]
    Certificate(#[from] rcgen::Error),
    /// The certificate cannot be used.
    #[error("the certificate of the local cluster cannot be used")]
    Tls(#[from] rustls::Error),
}

/// What a client needs to reach a server, and what the server proves itself with. It holds secrets.
#[derive(Clone)]
pub struct ServerAccess {
    token: String,
    certificate: CertificateDer<'static>,
    /// In the form PKCS#8.
    key: Vec<u8>,
}

impl fmt::Debug for ServerAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerAccess").finish_non_exhaustive()
    }
}

impl ServerAccess {
    /// A new random token, and a new certificate for this machine.
    ///
    /// # Errors
    /// If the certificate cannot be made.
    pub fn generate() -> Result<ServerAccess, AccessFailure> {
        let key = KeyPair::generate()?;
        let names: Vec<String> = NAMES.map(str::to_owned).into();
        let certificate = CertificateParams::new(names)?.self_signed(&key)?;
        let random: [u8; 32] = rand::random();
        Ok(ServerAccess {
            token: URL_SAFE_NO_PAD.encode(random),
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        })
    }

    /// The token of an administrator.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The kubeconfig of a server at an address, in YAML. It holds the token.
    pub fn kubeconfig(&self, address: SocketAddr) -> String {
        let encoded = STANDARD.encode(self.pem());
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "local", "cluster": {
                "server": format!("https://{address}"),
                "certificate-authority-data": encoded}}],
            "users": [{"name": "local", "user": {"token": self.token}}],
            "contexts": [{"name": "local",
                "context": {"cluster": "local", "user": "local", "namespace": "default"}}],
            "current-context": "local",
        });
        yaml(&config)
    }

    /// Whether a text is the token. The time does not depend on where they differ.
    pub(super) fn is_token(&self, text: &str) -> bool {
        let (own, text) = (self.token.as_bytes(), text.as_bytes());
        let differs = own
            .iter()
            .zip(text)
            .fold(0, |differs, (own, byte)| differs | (own ^ byte));
        own.len() == text.len() && differs == 0
    }

    pub(super) fn tls(&self) -> Result<Arc<ServerConfig>, AccessFailure> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.clone()], key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    fn pem(&self) -> String {
        let text = STANDARD.encode(&self.certificate);
        let mut pem = String::from("-----BEGIN CERTIFICATE-----\n");
        for line in text.as_bytes().chunks(64) {
            pem.push_str(&String::from_utf8_lossy(line));
            pem.push('\n');
        }
        pem.push_str("-----END CERTIFICATE-----\n");
        pem
    }
}

/// JSON with a line for each entry of the outermost map: YAML that people can read.
fn yaml(config: &Json) -> String {
    let entries = config.as_object().into_iter().flatten();
    entries
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect()
}
