//! Clients, made when they are first needed.
//!
//! Each has a TLS configuration of its own, so that nothing depends on what the process installed. One that is only used
//! for `http` trusts nobody and so reads no certificates of the machine.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::OnceCell;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Whom a client trusts.
enum Trust {
    /// Nobody: no TLS will be spoken.
    Nobody,
    /// Those whom the machine trusts.
    Machine,
    /// These authorities alone.
    These(RootCertStore),
}

/// The clients of one provider: with and without TLS, through the proxies of the environment and not.
#[derive(Default)]
pub(super) struct Clients {
    usual: [OnceCell<Client>; 4],
}

impl Clients {
    /// The client for an address. With `authorities` (PEM) only these are trusted, and the client is made for this once.
    /// The error is for people and names no part of the PEM text.
    pub(super) async fn of(&self, url: &Url, authorities: Option<&str>) -> Result<Client, String> {
        let tls = url.scheme() == "https";
        let direct = is_this_machine(url);
        if tls && let Some(pem) = authorities {
            let store = roots(pem)?;
            return build(Trust::These(store), direct);
        }
        let place = usize::from(tls) * 2 + usize::from(direct);
        let make = || async move {
            // Reading the machine's certificates takes a while.
            let trust = if tls { Trust::Machine } else { Trust::Nobody };
            let made = tokio::task::spawn_blocking(move || build(trust, direct)).await;
            made.unwrap_or_else(|_| Err("no client can be made".into()))
        };
        self.usual[place].get_or_try_init(make).await.cloned()
    }
}

/// Whether the address is on this machine, where no proxy is asked.
fn is_this_machine(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host.ends_with(".localhost") || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

/// The authorities of a PEM text; what is wrong with it is the error.
pub(super) fn roots(pem: &str) -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|_| "is no list of certificates in PEM form")?;
        store.add(certificate).map_err(|_| "holds a certificate that cannot be trusted as an authority")?;
    }
    if store.is_empty() {
        return Err("holds no certificate in PEM form".into());
    }
    Ok(store)
}

fn build(trust: Trust, direct: bool) -> Result<Client, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be used: {error}"))?;
    let config = match trust {
        Trust::Nobody => config.with_root_certificates(RootCertStore::empty()),
        Trust::These(store) => config.with_root_certificates(store),
        Trust::Machine => {
            let verifier = rustls_platform_verifier::Verifier::new(provider)
                .map_err(|error| format!("the certificates that this machine trusts cannot be read: {error}"))?;
            config.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
    };
    let mut client = Client::builder()
        .tls_backend_preconfigured(config.with_no_client_auth())
        .redirect(Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("cyanotype/", env!("CARGO_PKG_VERSION")));
    if direct {
        client = client.no_proxy();
    }
    client.build().map_err(|_| "no client can be made".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_asked_directly() {
        for (url, direct) in [
            ("http://localhost:80/", true),
            ("http://127.0.0.7/", true),
            ("http://[::1]:8080/", true),
            ("http://app.localhost/", true),
            ("http://example.com/", false),
            ("http://10.0.0.1/", false),
        ] {
            assert_eq!(is_this_machine(&Url::parse(url).unwrap()), direct, "{url}");
        }
    }

    #[test]
    fn what_is_no_certificate_is_not_repeated() {
        let text = "-----BEGIN CERTIFICATE-----\nTk9QRQ==\n-----END CERTIFICATE-----\n";
        for pem in [text, "", "plain"] {
            assert!(!roots(pem).unwrap_err().contains("Tk9"), "{pem}");
        }
    }
}
