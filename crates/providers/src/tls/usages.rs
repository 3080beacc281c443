//! Usages of a certificate, by their names in documents.

use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, KeyUsagePurpose};

/// A usage: of the `keyUsage` extension, or of the `extKeyUsage` extension.
enum Usage {
    Plain(KeyUsagePurpose),
    Extended(ExtendedKeyUsagePurpose),
}

/// The usage with a name. `None` if there is none.
fn named(name: &str) -> Option<Usage> {
    use ExtendedKeyUsagePurpose as Extended;
    use KeyUsagePurpose as Plain;
    Some(match name {
        "digital-signature" => Usage::Plain(Plain::DigitalSignature),
        "content-commitment" => Usage::Plain(Plain::ContentCommitment),
        "key-encipherment" => Usage::Plain(Plain::KeyEncipherment),
        "data-encipherment" => Usage::Plain(Plain::DataEncipherment),
        "key-agreement" => Usage::Plain(Plain::KeyAgreement),
        "cert-signing" => Usage::Plain(Plain::KeyCertSign),
        "crl-signing" => Usage::Plain(Plain::CrlSign),
        "encipher-only" => Usage::Plain(Plain::EncipherOnly),
        "decipher-only" => Usage::Plain(Plain::DecipherOnly),
        "any-extended" => Usage::Extended(Extended::Any),
        "server-auth" => Usage::Extended(Extended::ServerAuth),
        "client-auth" => Usage::Extended(Extended::ClientAuth),
        "code-signing" => Usage::Extended(Extended::CodeSigning),
        "email-protection" => Usage::Extended(Extended::EmailProtection),
        "timestamping" => Usage::Extended(Extended::TimeStamping),
        "ocsp-signing" => Usage::Extended(Extended::OcspSigning),
        _ => return None,
    })
}

/// The default usages.
pub(super) fn usual(is_ca: bool) -> &'static [&'static str] {
    if is_ca {
        &["cert-signing", "crl-signing", "digital-signature"]
    } else {
        &["digital-signature", "key-encipherment", "server-auth"]
    }
}

/// Sets the usages of a certificate, each once. Unknown names are ignored; the catalogue refuses
/// them earlier.
pub(super) fn set_usages<'a>(
    names: impl IntoIterator<Item = &'a str>,
    params: &mut CertificateParams,
) {
    params.key_usages.clear();
    params.extended_key_usages.clear();
    for usage in names.into_iter().filter_map(named) {
        match usage {
            Usage::Plain(usage) if !params.key_usages.contains(&usage) => {
                params.key_usages.push(usage)
            }
            Usage::Extended(usage) if !params.extended_key_usages.contains(&usage) => {
                params.extended_key_usages.push(usage);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use blueprint::Kind;
    use provider::{Provider, ResourceType};

    use super::*;

    #[test]
    fn the_catalogue_allows_exactly_the_known_names() {
        let provider = super::super::provider();
        for name in ["tls/self-signed-certificate", "tls/signed-certificate"] {
            let found: &ResourceType = &provider.catalog().resource_types[name];
            let Kind::Array(item) = &found.schema.fields["usages"].kind else {
                panic!("{name}: no list of usages")
            };
            assert_eq!(item.allowed.len(), 16, "{name}");
            assert!(
                item.allowed
                    .iter()
                    .all(|usage| named(usage.as_text().unwrap()).is_some()),
                "{name}"
            );
        }
    }

    #[test]
    fn each_usage_is_set_once() {
        let mut params = CertificateParams::default();
        set_usages(
            ["server-auth", "digital-signature", "server-auth"],
            &mut params,
        );
        assert_eq!(
            (params.key_usages.len(), params.extended_key_usages.len()),
            (1, 1)
        );
    }
}
