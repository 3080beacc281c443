//! `tls/certificate-request`: a request for a certificate from an authority.

use blueprint::{Map, Name, Value};
use provider::{ErrorKind, ProviderError};
use rcgen::CertificateParams;
use sha2::{Digest, Sha256};

use super::{names, private_key};

/// Creates a request. Returns its id and the computed fields.
pub(super) fn make(spec: &Value) -> Result<(Name, Map), ProviderError> {
    let key = private_key::read(spec, "privateKeyPem")?;
    let mut params = CertificateParams::default();
    names::set_names(spec, &mut params)?;
    let refused = |_| {
        ProviderError::new(
            ErrorKind::Document,
            "no certificate request can be made of this",
        )
    };
    let request = params.serialize_request(&key).map_err(refused)?;
    let id = data_encoding::HEXLOWER.encode(&Sha256::digest(request.der())[..16]);
    let fields = [(
        "certificateRequestPem".into(),
        request.pem().map_err(refused)?.into(),
    )];
    Ok((id.into(), fields.into_iter().collect()))
}
