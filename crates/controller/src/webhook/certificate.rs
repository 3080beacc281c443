//! The certificate and the key of the server, read again when their files change.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::sync::watch;

/// The files of a certificate, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate, and those that lead to its authority.
    pub certificate: PathBuf,
    /// The key of the certificate.
    pub key: PathBuf,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateFailure {
    /// A file cannot be read.
    #[error("`{}` cannot be read", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file does not contain what it should, in PEM.
    #[error("`{}` contains no {what} in PEM", .path.display())]
    NotPem {
        /// The file.
        path: PathBuf,
        /// `certificate` or `key`.
        what: &'static str,
    },
    /// The certificate and the key cannot be used together.
    #[error("the certificate and its key cannot be used")]
    Tls(#[from] rustls::Error),
}

/// What the two files contain.
#[derive(PartialEq, Eq)]
struct FileContents {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl CertificateFiles {
    fn contents(&self) -> Result<FileContents, CertificateFailure> {
        let read = |path: &PathBuf| {
            std::fs::read(path).map_err(|source| CertificateFailure::Unreadable {
                path: path.clone(),
                source,
            })
        };
        Ok(FileContents {
            certificate: read(&self.certificate)?,
            key: read(&self.key)?,
        })
    }

    /// The settings of a server with this certificate.
    fn settings(&self, contents: &FileContents) -> Result<Arc<ServerConfig>, CertificateFailure> {
        let wrong = |path: &PathBuf, what| CertificateFailure::NotPem {
            path: path.clone(),
            what,
        };
        let chain: Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(&contents.certificate).collect();
        let chain = chain
            .ok()
            .filter(|chain| !chain.is_empty())
            .ok_or_else(|| wrong(&self.certificate, "certificate"))?;
        let key = PrivateKeyDer::from_pem_slice(&contents.key);
        let key = key.map_err(|_| wrong(&self.key, "key"))?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut settings = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        settings.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(settings))
    }
}

/// A certificate that follows its files.
pub(crate) struct FollowedCertificate {
    files: CertificateFiles,
    seen: FileContents,
    current: watch::Sender<Arc<ServerConfig>>,
}

impl FollowedCertificate {
    /// Reads the files.
    ///
    /// # Errors
    /// If a file cannot be read, or the certificate and the key cannot be used.
    pub(crate) fn read(files: CertificateFiles) -> Result<FollowedCertificate, CertificateFailure> {
        let seen = files.contents()?;
        let current = watch::Sender::new(files.settings(&seen)?);
        Ok(FollowedCertificate {
            files,
            seen,
            current,
        })
    }

    /// The settings for new connections.
    pub(crate) fn current(&self) -> watch::Receiver<Arc<ServerConfig>> {
        self.current.subscribe()
    }

    /// Reads the files again and again. Does not return.
    pub(crate) async fn follow(mut self, pause: Duration) {
        loop {
            tokio::time::sleep(pause).await;
            self.refresh();
        }
    }

    /// Uses the files if they have changed. Files that cannot be used change nothing: a writer may
    /// have replaced only one of them yet. They are tried again, because the key can become usable
    /// together with the next certificate.
    fn refresh(&mut self) {
        let Ok(contents) = self.files.contents() else {
            return;
        };
        if contents == self.seen {
            return;
        }
        if let Ok(settings) = self.files.settings(&contents) {
            self.seen = contents;
            self.current.send_replace(settings);
        }
    }
}
