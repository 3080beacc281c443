//! `tls/self-signed-certificate` and `tls/signed-certificate`.
//!
//! Not here: the check whether a certificate is about to expire (`expiry.rs`).

use std::time::Duration;

use blueprint::{Map, Name, Value};
use provider::{Call, ErrorKind, ProviderError};
use rand::TryRng;
use rand::rngs::SysRng;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertificateSigningRequestParams, IsCa,
    Issuer, PublicKeyData, SerialNumber, SubjectPublicKeyInfo, date_time_ymd,
};
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::pem::parse_x509_pem;
use x509_parser::prelude::FromDer;

use super::expiry::{self, rfc3339};
use super::{names, private_key, usages};

/// The last second that a certificate can hold, in seconds since 1970: the end of the year 9999.
const LAST_SECOND: u64 = 253_402_300_799;

/// Length of a serial number in bytes: long enough to be unique, short enough for every reader.
const SERIAL_BYTES: usize = 16;

/// An issued certificate.
pub(super) struct Issued {
    /// The id, which is the serial number.
    pub(super) id: Name,
    /// The computed fields.
    pub(super) fields: Map,
    /// Warnings.
    pub(super) warnings: Vec<String>,
}

fn field_error(field: &str, message: &str) -> ProviderError {
    ProviderError::new(ErrorKind::Document, message).at(field)
}

/// The common parts of both kinds of certificates: dates in seconds since 1970, and the serial
/// number.
struct CertificateFrame {
    from: u64,
    until: u64,
    serial: [u8; SERIAL_BYTES],
}

impl CertificateFrame {
    fn draw(spec: &Value, now: i64) -> Result<CertificateFrame, ProviderError> {
        let validity = expiry::duration(spec, "validity")?.unwrap_or(expiry::USUAL_VALIDITY);
        let from = u64::try_from(now).unwrap_or(0);
        let until = from.saturating_add(validity.as_secs());
        if until > LAST_SECOND {
            return Err(field_error(
                "validity",
                "ends after the year 9999, which no certificate can name",
            ));
        }
        let mut serial = [0; SERIAL_BYTES];
        SysRng.try_fill_bytes(&mut serial).map_err(|_| {
            ProviderError::new(
                ErrorKind::Transient,
                "the operating system gives no random numbers at the moment",
            )
        })?;
        // Makes the number positive and of constant length.
        serial[0] = serial[0] & 0x3f | 0x40;
        Ok(CertificateFrame {
            from,
            until,
            serial,
        })
    }

    fn apply_to(&self, spec: &Value, params: &mut CertificateParams) {
        let epoch = date_time_ymd(1970, 1, 1);
        params.not_before = epoch + Duration::from_secs(self.from);
        params.not_after = epoch + Duration::from_secs(self.until);
        params.serial_number = Some(SerialNumber::from_slice(&self.serial));
        let is_ca = spec.get("isCa").and_then(Value::as_bool).unwrap_or(false);
        params.is_ca = if is_ca {
            IsCa::Ca(BasicConstraints::Unconstrained)
        } else {
            IsCa::ExplicitNoCa
        };
        match spec.get("usages").and_then(Value::as_list) {
            Some(names) => usages::set_usages(names.iter().filter_map(Value::as_text), params),
            None => usages::set_usages(usages::usual(is_ca).iter().copied(), params),
        }
    }

    fn issued(&self, certificate: &Certificate, warnings: Vec<String>) -> Issued {
        let serial = data_encoding::HEXLOWER.encode(&self.serial);
        let fields = [
            ("certificatePem", certificate.pem()),
            ("notBefore", rfc3339(self.from)),
            ("notAfter", rfc3339(self.until)),
            ("serialNumber", serial.clone()),
        ];
        let fields = fields
            .into_iter()
            .map(|(name, text)| (name.into(), text.into()))
            .collect();
        Issued {
            id: serial.into(),
            fields,
            warnings,
        }
    }
}

/// A certificate signed with its own key.
pub(super) fn self_signed(call: &Call, spec: &Value) -> Result<Issued, ProviderError> {
    let key = private_key::read(spec, "privateKeyPem")?;
    let frame = CertificateFrame::draw(spec, call.now)?;
    let mut params = CertificateParams::default();
    names::set_names(spec, &mut params)?;
    frame.apply_to(spec, &mut params);
    let certificate = params.self_signed(&key).map_err(|_| {
        ProviderError::new(ErrorKind::Document, "no certificate can be made of this")
    })?;
    Ok(frame.issued(&certificate, Vec::new()))
}

/// A certificate for a request, signed by an authority.
pub(super) fn signed(call: &Call, spec: &Value) -> Result<Issued, ProviderError> {
    let ca_key = private_key::read(spec, "caPrivateKeyPem")?;
    let ca_pem = spec
        .get("caCertificatePem")
        .and_then(Value::as_text)
        .unwrap_or_default();
    let frame = CertificateFrame::draw(spec, call.now)?;
    let warnings = check_authority(ca_pem, ca_key.der_bytes(), &frame)?;
    let issuer = Issuer::from_ca_cert_pem(ca_pem, ca_key).map_err(|_| {
        field_error(
            "caCertificatePem",
            "is a certificate whose contents cannot be used to sign",
        )
    })?;

    let (mut params, public_key) = read_request(
        spec.get("certificateRequestPem")
            .and_then(Value::as_text)
            .unwrap_or_default(),
    )?;
    // The usages in the request are ignored, because the signer decides.
    frame.apply_to(spec, &mut params);
    params.use_authority_key_identifier_extension = true;
    let certificate = params.signed_by(&public_key, &issuer).map_err(|_| {
        ProviderError::new(
            ErrorKind::Document,
            "no certificate can be made of this request",
        )
    })?;
    Ok(frame.issued(&certificate, warnings))
}

/// Checks that the authority can issue valid certificates. Returns warnings.
fn check_authority(
    pem: &str,
    raw_key: &[u8],
    frame: &CertificateFrame,
) -> Result<Vec<String>, ProviderError> {
    let field = "caCertificatePem";
    let (_, contents) =
        parse_x509_pem(pem.as_bytes()).map_err(|_| field_error(field, NO_CERTIFICATE))?;
    let authority = contents
        .parse_x509()
        .map_err(|_| field_error(field, NO_CERTIFICATE))?;
    if !authority.is_ca() {
        return Err(field_error(
            field,
            "is no certificate of an authority: it was made without `isCa: true`",
        ));
    }
    if authority.public_key().subject_public_key.data.as_ref() != raw_key {
        return Err(field_error(
            "caPrivateKeyPem",
            "is not the key of the certificate in `caCertificatePem`",
        ));
    }
    let end = authority.validity().not_after.timestamp();
    if end < i64::try_from(frame.from).unwrap_or(i64::MAX) {
        return Err(field_error(
            field,
            "has ended, so nothing that it signs would be accepted",
        ));
    }
    let mut warnings = Vec::new();
    if end < i64::try_from(frame.until).unwrap_or(i64::MAX) {
        let end = rfc3339(u64::try_from(end).unwrap_or(0));
        warnings.push(format!(
            "it outlasts the certificate of its authority, which ends at {end}"
        ));
    }
    Ok(warnings)
}

const NO_CERTIFICATE: &str = "is no certificate in PEM form";
const NO_REQUEST: &str = "is no certificate request in PEM form";

/// Reads the subject, the alternative names and the public key of a request, and checks its
/// signature.
fn read_request(pem: &str) -> Result<(CertificateParams, SubjectPublicKeyInfo), ProviderError> {
    let field = "certificateRequestPem";
    let request = CertificateSigningRequestParams::from_pem(pem).map_err(|error| {
        field_error(
            field,
            match error {
                rcgen::Error::InvalidCertificationRequestSignature => {
                    "has a signature that cannot be verified"
                }
                rcgen::Error::UnsupportedExtension | rcgen::Error::InvalidNameType => {
                    "asks for something that cannot be put into a certificate here"
                }
                rcgen::Error::UnsupportedSignatureAlgorithm => {
                    "is signed with an algorithm that is not known here"
                }
                _ => NO_REQUEST,
            },
        )
    })?;
    // The key type is read from the key, because the algorithm of the signature does not name the
    // curve.
    let (_, contents) =
        parse_x509_pem(pem.as_bytes()).map_err(|_| field_error(field, NO_REQUEST))?;
    let (_, parsed) = X509CertificationRequest::from_der(&contents.contents)
        .map_err(|_| field_error(field, NO_REQUEST))?;
    let public_key =
        SubjectPublicKeyInfo::from_der(parsed.certification_request_info.subject_pki.raw)
            .map_err(|_| field_error(field, "holds a key of a kind that is not known here"))?;
    Ok((request.params, public_key))
}

/// The problem with a text that should be a certificate. `None` if it is valid.
pub(super) fn check_certificate(pem: &str) -> Option<&'static str> {
    match parse_x509_pem(pem.as_bytes()) {
        Ok((_, contents)) if contents.parse_x509().is_ok() => None,
        _ => Some(NO_CERTIFICATE),
    }
}

/// The problem with a text that should be a request. `None` if it is valid.
pub(super) fn check_request(pem: &str) -> Option<String> {
    read_request(pem).err().map(|error| error.message)
}
