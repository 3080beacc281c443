//! What a sign-in needs, checked: where Keystone is, who signs in, for what, and which endpoints are
//! used.
//!
//! Not here: where the options are written (`clouds`), requests (`identity`).

use std::fmt;

use ::provider::{ErrorKind, ProviderError};
use reqwest::Url;
use serde_json::{Value as Json, json};

use super::clouds::{self, ChosenCloud, listed};
use super::endpoints::{self, EndpointChoice};
use super::environment::CloudEnvironment;
use super::interface::Interface;
use super::options::{WrittenOption, WrittenOptions};
use super::{CloudSettings, Service};

/// An object of Keystone, by its id or by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    Id(String),
    Name(String),
}

impl Reference {
    fn json(&self) -> Json {
        match self {
            Reference::Id(id) => json!({ "id": id }),
            Reference::Name(name) => json!({ "name": name }),
        }
    }

    /// The reference, with the domain in which a name is unique.
    fn json_in(&self, domain: &Reference) -> Json {
        match self {
            Reference::Id(_) => self.json(),
            Reference::Name(name) => json!({ "name": name, "domain": domain.json() }),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reference::Id(text) | Reference::Name(text) => f.write_str(text),
        }
    }
}

/// An object of a domain.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct InDomain {
    pub(super) object: Reference,
    pub(super) domain: Reference,
}

impl InDomain {
    fn json(&self) -> Json {
        self.object.json_in(&self.domain)
    }
}

/// Who signs in, and with what. It holds secrets, so it has no `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum SignInIdentity {
    Password {
        user: InDomain,
        password: String,
    },
    ApplicationCredential {
        credential: Reference,
        /// The owner, which a credential by name needs.
        user: Option<InDomain>,
        secret: String,
    },
    Token(String),
}

impl SignInIdentity {
    /// The part `identity` of a sign-in.
    pub(super) fn json(&self) -> Json {
        match self {
            SignInIdentity::Password { user, password } => {
                let mut user = user.json();
                user["password"] = json!(password);
                json!({"methods": ["password"], "password": {"user": user}})
            }
            SignInIdentity::ApplicationCredential {
                credential,
                user,
                secret,
            } => {
                let mut body = credential.json();
                body["secret"] = json!(secret);
                if let Some(user) = user {
                    body["user"] = user.json();
                }
                json!({"methods": ["application_credential"], "application_credential": body})
            }
            SignInIdentity::Token(token) => json!({"methods": ["token"], "token": {"id": token}}),
        }
    }

    /// Who signs in, for messages.
    pub(super) fn shown(&self) -> String {
        match self {
            SignInIdentity::Password { user, .. } => format!("the user `{}`", user.object),
            SignInIdentity::ApplicationCredential { credential, .. } => {
                format!("the application credential `{credential}`")
            }
            SignInIdentity::Token(_) => "the given token".to_owned(),
        }
    }
}

/// What the sign-in is for.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum SignInScope {
    Project(InDomain),
    Domain(Reference),
    System,
    /// That of a trust, by its id.
    Trust(String),
    /// That of the credentials.
    Own,
}

impl SignInScope {
    /// The part `scope` of a sign-in; `None` if it is not sent.
    pub(super) fn json(&self) -> Option<Json> {
        match self {
            SignInScope::Project(project) => Some(json!({ "project": project.json() })),
            SignInScope::Domain(domain) => Some(json!({ "domain": domain.json() })),
            SignInScope::System => Some(json!({ "system": { "all": true } })),
            SignInScope::Trust(id) => Some(json!({ "OS-TRUST:trust": { "id": id } })),
            SignInScope::Own => None,
        }
    }
}

/// What a sign-in needs. It holds secrets, so it has no `Debug`.
pub(super) struct Access {
    pub(super) identity: SignInIdentity,
    pub(super) scope: SignInScope,
    /// Where Keystone and the services are.
    pub(super) endpoints: EndpointChoice,
    /// The only authorities that are trusted, in PEM form. `None` for those of the machine.
    pub(super) authorities: Option<String>,
    /// The texts that must not be shown.
    pub(super) secrets: Vec<String>,
}

/// The access that settings and environment describe. Reads files.
///
/// # Errors
/// [`ErrorKind::Credentials`] with what is wrong, where, and what is allowed.
pub(super) fn access(
    settings: &CloudSettings,
    environment: &CloudEnvironment,
) -> Result<Access, ProviderError> {
    let chosen = clouds::chosen(settings, environment);
    let access = chosen.and_then(|chosen| checked(chosen, settings, environment));
    access.map_err(|why| ProviderError::new(ErrorKind::Credentials, why))
}

fn checked(
    chosen: ChosenCloud,
    settings: &CloudSettings,
    environment: &CloudEnvironment,
) -> Result<Access, String> {
    let ChosenCloud { options, named } = chosen;
    refuse_unsupported(&options)?;
    let address = options.get("auth_url");
    let address = address.ok_or_else(|| format!("{named} has no `auth_url`"))?;
    let keystone = http_address("auth_url", address)?;
    let interface = match options.get("interface") {
        None => Interface::Public,
        Some(written) => Interface::of_text(&written.text).ok_or_else(|| {
            let WrittenOption { text, origin } = written;
            format!("{origin}: `interface` is `public`, `internal` or `admin`, not `{text}`")
        })?,
    };
    let domains = Domains::of(&options);
    let identity = identity(&options, &domains, &named)?;
    let scope = scope(&options, &domains, &identity)?;
    let authorities = options.get("cacert");
    let authorities = authorities.map(|written| authorities_of(written, settings, environment));
    Ok(Access {
        identity,
        scope,
        endpoints: EndpointChoice {
            keystone: endpoints::without_version(keystone),
            region: options.text("region_name"),
            interface,
            overrides: overrides(&options)?,
            named,
        },
        authorities: authorities.transpose()?,
        secrets: options.secrets(),
    })
}

/// Refuses options that would be ignored although they decide about security.
fn refuse_unsupported(options: &WrittenOptions) -> Result<(), String> {
    let is_false = |text: &str| ["false", "no", "off", "0"].contains(&&*text.to_lowercase());
    let unverified = options.get("verify").filter(|it| is_false(&it.text));
    let insecure = options.get("insecure").filter(|it| !is_false(&it.text));
    if let Some(WrittenOption { origin, .. }) = unverified.or(insecure) {
        return Err(format!(
            "{origin}: connections without verified certificates are not supported; name the \
             certificate authority of the cloud with `cacert`"
        ));
    }
    if let Some(WrittenOption { origin, .. }) = options.get("cert").or(options.get("key")) {
        return Err(format!("{origin}: client certificates are not supported"));
    }
    Ok(())
}

fn http_address(key: &str, written: &WrittenOption) -> Result<Url, String> {
    let WrittenOption { text, origin } = written;
    let url = Url::parse(text).ok().filter(|url| url.has_host());
    let url = url.filter(|url| ["http", "https"].contains(&url.scheme()));
    url.ok_or_else(|| {
        format!("{origin}: `{key}` is an address such as `https://keystone.example.com:5000/v3`")
    })
}

/// An id or a name, by the keys of its options. An id counts more.
fn reference(options: &WrittenOptions, id: &str, name: &str) -> Option<Reference> {
    let by_id = options.text(id).map(Reference::Id);
    by_id.or_else(|| options.text(name).map(Reference::Name))
}

/// The domains of a sign-in.
struct Domains {
    user: Reference,
    project: Reference,
    /// That of user and project together; without a project, the scope.
    both: Option<Reference>,
}

impl Domains {
    /// What is not written is the domain of both, then the default domain, whose id is `default`
    /// unless the options name it.
    fn of(options: &WrittenOptions) -> Domains {
        let both = reference(options, "domain_id", "domain_name");
        let default = reference(options, "default_domain_id", "default_domain_name");
        let default = default.unwrap_or_else(|| Reference::Id("default".to_owned()));
        let or_both = |own: Option<Reference>| {
            own.or_else(|| both.clone())
                .unwrap_or_else(|| default.clone())
        };
        Domains {
            user: or_both(reference(options, "user_domain_id", "user_domain_name")),
            project: or_both(reference(
                options,
                "project_domain_id",
                "project_domain_name",
            )),
            both,
        }
    }
}

/// The ways to sign in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SignInMethod {
    Password,
    ApplicationCredential,
    Token,
}

/// The way that `auth_type` names, or else the one that the written options are for.
fn way(options: &WrittenOptions) -> Result<SignInMethod, String> {
    let has = |key: &str| options.get(key).is_some();
    let Some(WrittenOption { text, origin }) = options.get("auth_type") else {
        return Ok(
            match (has("application_credential_secret"), has("password")) {
                (true, _) => SignInMethod::ApplicationCredential,
                (false, false) if has("token") => SignInMethod::Token,
                (false, _) => SignInMethod::Password,
            },
        );
    };
    match text.as_str() {
        "password" | "v3password" => Ok(SignInMethod::Password),
        "v3applicationcredential" => Ok(SignInMethod::ApplicationCredential),
        "token" | "v3token" => Ok(SignInMethod::Token),
        other => Err(format!(
            "{origin}: `auth_type: {other}` is not supported; supported are {}",
            listed([
                "password",
                "v3password",
                "v3applicationcredential",
                "token",
                "v3token"
            ]),
        )),
    }
}

fn identity(
    options: &WrittenOptions,
    domains: &Domains,
    named: &str,
) -> Result<SignInIdentity, String> {
    let missing = |what: &str| format!("{named} has no {what}");
    let secret = |key: &str| {
        let text = options.text(key);
        text.ok_or_else(|| missing(&format!("`{key}`")))
    };
    let user = reference(options, "user_id", "username").map(|object| InDomain {
        object,
        domain: domains.user.clone(),
    });
    match way(options)? {
        SignInMethod::Password => Ok(SignInIdentity::Password {
            user: user.ok_or_else(|| missing("`username`"))?,
            password: secret("password")?,
        }),
        SignInMethod::Token => Ok(SignInIdentity::Token(secret("token")?)),
        SignInMethod::ApplicationCredential => {
            let (id, name) = ("application_credential_id", "application_credential_name");
            let credential = reference(options, id, name);
            let credential = credential.ok_or_else(|| missing(&format!("`{id}`")))?;
            let by_name = matches!(credential, Reference::Name(_));
            if by_name && user.is_none() {
                return Err(missing(
                    "`username`, which an application credential by name needs",
                ));
            }
            Ok(SignInIdentity::ApplicationCredential {
                credential,
                user: user.filter(|_| by_name),
                secret: secret("application_credential_secret")?,
            })
        }
    }
}

fn scope(
    options: &WrittenOptions,
    domains: &Domains,
    identity: &SignInIdentity,
) -> Result<SignInScope, String> {
    // Keystone refuses a scope beside an application credential, which is for one project.
    if matches!(identity, SignInIdentity::ApplicationCredential { .. }) {
        return Ok(SignInScope::Own);
    }
    if let Some(trust) = options.text("trust_id") {
        return Ok(SignInScope::Trust(trust));
    }
    if let Some(object) = reference(options, "project_id", "project_name") {
        let domain = domains.project.clone();
        return Ok(SignInScope::Project(InDomain { object, domain }));
    }
    match options.get("system_scope") {
        Some(written) if written.text == "all" => Ok(SignInScope::System),
        Some(written) => Err(format!("{}: `system_scope` is `all`", written.origin)),
        None => Ok(domains
            .both
            .clone()
            .map_or(SignInScope::Own, SignInScope::Domain)),
    }
}

/// The certificate authorities of `cacert`: a file, or their text. A file of a setting is relative to
/// the document, another one to the current folder, as for openstacksdk.
fn authorities_of(
    written: &WrittenOption,
    settings: &CloudSettings,
    environment: &CloudEnvironment,
) -> Result<String, String> {
    let WrittenOption { text, origin } = written;
    let pem = match text.contains("-----BEGIN") {
        true => text.clone(),
        false => {
            let path = environment.expanded(text);
            let path = match settings.options.get("cacert").is_some() {
                true => settings.folder.join(path),
                false => path,
            };
            let read = std::fs::read_to_string(&path);
            read.map_err(|error| {
                format!(
                    "{origin}: `cacert`: {} cannot be read: {error}",
                    path.display()
                )
            })?
        }
    };
    let checked = http_client::roots(&pem);
    checked.map_err(|why| format!("{origin}: `cacert`: the file {why}"))?;
    Ok(pem)
}

/// The addresses that options such as `compute_endpoint_override` give to services.
fn overrides(options: &WrittenOptions) -> Result<Vec<(Service, String)>, String> {
    let mut all = Vec::new();
    for (key, written) in options.iter() {
        let Some(name) = key.strip_suffix("_endpoint_override") else {
            continue;
        };
        let name = name.replace('_', "-");
        let of_name = |service: &&Service| service.catalogue_types().contains(&name.as_str());
        // Services that are not used may have an address, too.
        if let Some(service) = Service::ALL.iter().find(of_name) {
            http_address(key, written)?;
            all.push((*service, written.text.clone()));
        }
    }
    Ok(all)
}
