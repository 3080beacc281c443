//! HTTP clients, made when they are first needed.
//!
//! Each has a TLS configuration of its own, so that nothing depends on what the process installed. One that is only used
//! for `http` trusts nobody and so reads no certificates of the machine. Proxies are those of the environment
//! (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`); this machine is asked without one.
//!
//! Not here: what is asked, and which redirects are followed (`https`, `object`).

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use source::SourceError;
use tokio::sync::OnceCell;

use crate::limit::blocking;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The clients of one source: with and without TLS, through the proxies of the environment and not.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    /// The only authorities to trust, in PEM form; those of the machine without them.
    authorities: Option<Arc<str>>,
    usual: [OnceCell<Client>; 4],
}

impl Clients {
    /// Clients that trust these authorities (in PEM form) and nobody else.
    pub(crate) fn trusting(authorities: &str) -> Clients {
        Clients { authorities: Some(authorities.into()), ..Clients::default() }
    }

    /// The client for an address.
    pub(crate) async fn of(&self, url: &Url) -> Result<Client, SourceError> {
        let (tls, direct) = (url.scheme() == "https", is_this_machine(url));
        let place = usize::from(tls) * 2 + usize::from(direct);
        let authorities = self.authorities.clone();
        // Reading the machine's certificates takes a while.
        let make = || blocking(move || build(tls, direct, authorities.as_deref()).map_err(SourceError::broken));
        self.usual[place].get_or_try_init(make).await.cloned()
    }
}

/// Whether the address is on this machine.
pub(crate) fn is_this_machine(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn build(tls: bool, direct: bool, authorities: Option<&str>) -> Result<Client, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be used: {error}"))?;
    let config = match authorities {
        _ if !tls => config.with_root_certificates(RootCertStore::empty()),
        Some(authorities) => config.with_root_certificates(roots(authorities)?),
        None => {
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
    client.build().map_err(|_| "no client can be made".to_owned())
}

fn roots(pem: &str) -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let added = certificate.ok().and_then(|certificate| store.add(certificate).ok());
        added.ok_or("what should be trusted is no list of certificates in PEM form")?;
    }
    Ok(store)
}

/// What went wrong, in the words of the innermost cause, which names no address.
pub(crate) fn words(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    loop {
        if let Some(tls) = innermost.downcast_ref::<rustls::Error>() {
            return format!("{tls}");
        }
        // What an I/O error wraps is not among its causes.
        let wrapped = innermost.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        match wrapped.map(|wrapped| wrapped as &(dyn std::error::Error + 'static)).or_else(|| innermost.source()) {
            Some(source) => innermost = source,
            None => return innermost.to_string(),
        }
    }
}
