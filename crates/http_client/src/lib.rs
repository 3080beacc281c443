//! HTTP clients, created on first use. This crate decides about trust, proxies, the timeout of
//! connections and the user agent.
//!
//! Each client has its own TLS configuration, so that nothing depends on global settings of the
//! process. A client for `http` trusts no certificate, and does not read the certificates of the
//! machine. Proxies come from the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`,
//! `NO_PROXY`); this machine is contacted without a proxy.
//!
//! Not here: requests, time limits and the meaning of answers; the choice of redirects, unless a
//! caller follows all of them.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::OnceCell;

/// The timeout of the connection setup.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The certificates that a client trusts.
enum Trust {
    /// No certificate: no TLS is used.
    None,
    /// The certificates of the machine.
    Machine,
    /// Only these authorities.
    Authorities(RootCertStore),
}

/// The clients of one user: with and without TLS, with and without the proxies of the environment.
#[derive(Debug, Default)]
pub struct Clients {
    /// The only trusted authorities, in PEM form. `None` means those of the machine.
    authorities: Option<Arc<str>>,
    /// Number of redirects that the client follows.
    redirects: usize,
    shared: [OnceCell<Client>; 4],
}

impl Clients {
    /// Clients that trust only these authorities (in PEM form).
    pub fn trusting(authorities: &str) -> Clients {
        Clients {
            authorities: Some(authorities.into()),
            ..Clients::default()
        }
    }

    /// Clients that follow up to this number of redirects, to any address.
    pub fn following(redirects: usize) -> Clients {
        Clients {
            redirects,
            ..Clients::default()
        }
    }

    /// The client for an address.
    ///
    /// # Errors
    /// A message for people without any part of the address or of a certificate.
    pub async fn of(&self, url: &Url) -> Result<Client, String> {
        let (tls, direct) = (url.scheme() == "https", is_this_machine(url));
        let place = usize::from(tls) * 2 + usize::from(direct);
        let (authorities, redirects) = (self.authorities.clone(), self.redirects);
        let make = || async move {
            // Reading the certificates of the machine is slow.
            let made = tokio::task::spawn_blocking(move || {
                let trust = match authorities {
                    _ if !tls => Trust::None,
                    Some(pem) => Trust::Authorities(
                        roots(&pem).map_err(|why| format!("what should be trusted {why}"))?,
                    ),
                    None => Trust::Machine,
                };
                build(trust, direct, redirects)
            });
            made.await
                .unwrap_or_else(|_| Err("no client can be made".to_owned()))
        };
        self.shared[place].get_or_try_init(make).await.cloned()
    }

    /// The client for an address that trusts only these authorities (in PEM form), created for this
    /// call. Without authorities, or without TLS, returns the shared client.
    ///
    /// # Errors
    /// As for [`Clients::of`].
    pub async fn trusting_only(
        &self,
        url: &Url,
        authorities: Option<&str>,
    ) -> Result<Client, String> {
        match authorities {
            Some(pem) if url.scheme() == "https" => build(
                Trust::Authorities(roots(pem)?),
                is_this_machine(url),
                self.redirects,
            ),
            _ => self.of(url).await,
        }
    }
}

/// Whether the address is on this machine, which is contacted without a proxy. Names are not
/// resolved: only names of `localhost` count.
pub fn is_this_machine(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    // A complete name ends with a dot.
    let host = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .trim_end_matches('.');
    host == "localhost" || host.ends_with(".localhost") || host.parse().is_ok_and(is_local)
}

/// Whether an IP address leads to this machine. A connection to the unspecified address (`0.0.0.0`,
/// `::`) does, too.
fn is_local(address: IpAddr) -> bool {
    let local_v4 = |address: Ipv4Addr| address.is_loopback() || address.is_unspecified();
    match address {
        IpAddr::V4(address) => local_v4(address),
        // `::ffff:127.0.0.1` and `::127.0.0.1` stand for the IPv4 address.
        IpAddr::V6(address) => address.is_loopback() || address.to_ipv4().is_some_and(local_v4),
    }
}

/// The authorities of a PEM text.
///
/// # Errors
/// The problem, without any part of the text.
pub fn roots(pem: &str) -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|_| "is no list of certificates in PEM form")?;
        store
            .add(certificate)
            .map_err(|_| "holds a certificate that cannot be trusted as an authority")?;
    }
    if store.is_empty() {
        return Err("holds no certificate in PEM form".to_owned());
    }
    Ok(store)
}

fn build(trust: Trust, direct: bool, redirects: usize) -> Result<Client, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be used: {error}"))?;
    let config = match trust {
        Trust::None => config.with_root_certificates(RootCertStore::empty()),
        Trust::Authorities(store) => config.with_root_certificates(store),
        Trust::Machine => {
            let verifier = rustls_platform_verifier::Verifier::new(provider).map_err(|error| {
                format!("the certificates that this machine trusts cannot be read: {error}")
            })?;
            config
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(verifier))
        }
    };
    let mut client = Client::builder()
        .tls_backend_preconfigured(config.with_no_client_auth())
        .redirect(if redirects == 0 {
            Policy::none()
        } else {
            Policy::limited(redirects)
        })
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("cyanotype/", env!("CARGO_PKG_VERSION")));
    if direct {
        client = client.no_proxy();
    }
    client
        .build()
        .map_err(|_| "no client can be made".to_owned())
}

/// The message of the innermost cause of an error, which contains no address.
pub fn innermost_message(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    loop {
        if let Some(tls) = innermost.downcast_ref::<rustls::Error>() {
            return format!("{tls}");
        }
        // The error that an I/O error wraps is not among its causes.
        let wrapped = innermost
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        match wrapped
            .map(|wrapped| wrapped as &(dyn std::error::Error + 'static))
            .or_else(|| innermost.source())
        {
            Some(source) => innermost = source,
            None => return innermost.to_string(),
        }
    }
}

/// Whether an error says that the certificate of a server is not trusted.
pub fn refuses_certificate(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return true;
        }
        // The error that an I/O error wraps is not among its causes.
        let wrapped = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        at = wrapped
            .map(|wrapped| wrapped as &(dyn std::error::Error + 'static))
            .or_else(|| error.source());
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_contacted_directly() {
        for (url, direct) in [
            ("http://localhost:80/", true),
            ("http://127.0.0.7/", true),
            ("http://[::1]:8080/", true),
            ("http://app.localhost/", true),
            ("http://LOCALHOST./", true),
            ("http://app.localhost./", true),
            ("http://127.0.0.1./", true),
            ("http://0x7f.1/", true),
            ("http://0.0.0.0/", true),
            ("http://0/", true),
            ("http://[::]/", true),
            ("http://[::ffff:127.0.0.1]/", true),
            ("http://[::ffff:7f00:7]/", true),
            ("http://[::ffff:0.0.0.0]/", true),
            ("http://[::127.0.0.1]/", true),
            ("http://example.com/", false),
            ("http://localhost.example.com/", false),
            ("http://notlocalhost/", false),
            ("http://10.0.0.1/", false),
            ("http://[::ffff:10.0.0.1]/", false),
            ("http://[2001:db8::1]/", false),
        ] {
            assert_eq!(
                is_this_machine(&Url::parse(url).expect("an address")),
                direct,
                "{url}"
            );
        }
    }

    #[test]
    fn an_invalid_certificate_is_not_repeated() {
        let text = "-----BEGIN CERTIFICATE-----\nTk9QRQ==\n-----END CERTIFICATE-----\n";
        for pem in [text, "", "plain"] {
            assert!(
                !roots(pem).expect_err("it is none").contains("Tk9"),
                "{pem}"
            );
        }
    }
}
