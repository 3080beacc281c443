//! The names of a deployment: URNs, tokens of types, and which resources have an object.

use blueprint::{Name, PROVIDER_TYPE, TypeId};
use serde_json::{Map, Value as Json};

use super::check::{is_true, text};

/// The features of version 4 that are kept: their members are parts of resources.
pub(super) const FEATURES: [&str; 3] = ["refreshBeforeUpdate", "replaceWith", "taint"];

/// The token of the stack itself.
pub(super) const STACK: &str = "pulumi:pulumi:Stack";

/// The output that holds the id of an object. A host keeps the plugin's own one in the private data of
/// the record, under the same name.
pub(super) const ID: &str = "id";

/// The inputs that a plugin has read, in the private data of a record, if they differ from the sent
/// ones.
pub(super) const READ_INPUTS: &str = "readInputs";

/// The beginning of the tokens of providers.
pub(super) const PROVIDERS: &str = "pulumi:providers:";

/// The beginning of the namespaces of packages.
pub(super) const FAMILY: &str = "pulumi:";

/// The beginning of the types of records without an object: the stack, components, and default
/// providers. It is no namespace of a package, so that none is opened for them.
const GROUPS: &str = "pulumi/";

/// Whether records of a type have no object, so that no provider is needed for them.
pub fn is_group_type(type_name: &TypeId) -> bool {
    type_name.name().starts_with(GROUPS)
}

/// Members of a provider's inputs that choose its program and are no settings.
pub(super) const PROGRAM_KEYS: [&str; 5] = [
    "version",
    "pluginDownloadURL",
    "pluginChecksums",
    "parameterization",
    "__internal",
];

/// The parts of a URN.
#[derive(Clone, Copy, Debug)]
pub(super) struct UrnParts<'u> {
    pub(super) stack: &'u str,
    pub(super) project: &'u str,
    pub(super) name: &'u str,
}

impl<'u> UrnParts<'u> {
    /// The parts of `urn:pulumi:STACK::PROJECT::TYPES::NAME`.
    pub(super) fn of(urn: &'u str) -> Option<UrnParts<'u>> {
        let mut parts = urn.strip_prefix("urn:pulumi:")?.splitn(4, "::");
        let (stack, project, _) = (parts.next()?, parts.next()?, parts.next()?);
        Some(UrnParts {
            stack,
            project,
            name: parts.next()?,
        })
    }

    /// The URN of the stack itself.
    pub(super) fn stack_urn(&self) -> Name {
        let UrnParts { stack, project, .. } = self;
        format!("urn:pulumi:{stack}::{project}::{STACK}::{project}-{stack}").into()
    }

    /// The URN of the default provider of a package.
    pub(super) fn default_provider(&self, package: &str) -> Name {
        let parts = UrnParts {
            name: "default",
            ..*self
        };
        parts.provider(package)
    }

    /// The URN of a provider of a package.
    pub(super) fn provider(&self, package: &str) -> Name {
        let UrnParts {
            stack,
            project,
            name,
        } = self;
        format!("urn:pulumi:{stack}::{project}::{PROVIDERS}{package}::{name}").into()
    }
}

/// What a resource of a deployment is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResourceRole {
    /// The stack itself.
    Stack,
    /// A component.
    Component,
    /// A default provider without settings. It has no record of its own here.
    Default,
    /// A default provider with settings.
    Configured,
    /// A declared provider.
    Provider,
    /// An object.
    Object,
}

impl ResourceRole {
    pub(super) fn of(resource: &Map<String, Json>) -> ResourceRole {
        let token = text(resource, "type");
        if token == STACK {
            return ResourceRole::Stack;
        }
        if !is_true(resource, "custom") {
            return ResourceRole::Component;
        }
        if !token.starts_with(PROVIDERS) {
            return ResourceRole::Object;
        }
        let name = UrnParts::of(text(resource, "urn")).map_or("", |parts| parts.name);
        let is_default = name == "default" || name.starts_with("default_");
        match (is_default, settings(resource).next().is_some()) {
            (false, _) => ResourceRole::Provider,
            (true, true) => ResourceRole::Configured,
            (true, false) => ResourceRole::Default,
        }
    }

    /// Whether it has no object, so that nothing is called for it.
    pub(super) fn is_group(self) -> bool {
        matches!(
            self,
            ResourceRole::Stack | ResourceRole::Component | ResourceRole::Default
        )
    }

    /// The type of its record.
    pub(super) fn type_name(self, token: &str) -> TypeId {
        match self {
            ResourceRole::Configured | ResourceRole::Provider => PROVIDER_TYPE.into(),
            ResourceRole::Object => {
                Name::from(format!("{FAMILY}{}", token.replacen(':', "/", 1))).into()
            }
            _ => Name::from(format!("{GROUPS}{token}")).into(),
        }
    }
}

/// The settings of a provider.
pub(super) fn settings(resource: &Map<String, Json>) -> impl Iterator<Item = (&String, &Json)> {
    let inputs = resource.get("inputs").and_then(Json::as_object);
    inputs
        .into_iter()
        .flatten()
        .filter(|(key, _)| !PROGRAM_KEYS.contains(&key.as_str()))
}

/// The namespace of a package.
pub(super) fn namespace(package: &str) -> String {
    format!("{FAMILY}{package}")
}

/// The token of a record's type; `namespace` is that of a provider. `None` if the other tool has no
/// such type.
pub(super) fn token(type_name: &TypeId, namespace: Option<&str>) -> Option<String> {
    let name = type_name.name();
    if name.as_ref() == PROVIDER_TYPE {
        let package = namespace?.strip_prefix(FAMILY)?;
        return Some(format!("{PROVIDERS}{package}"));
    }
    if let Some(token) = name.strip_prefix(GROUPS) {
        return Some(token.to_owned());
    }
    Some(name.strip_prefix(FAMILY)?.replacen('/', ":", 1))
}

/// The package of a token.
pub(super) fn package_of(token: &str) -> &str {
    token.split(':').next().unwrap_or_default()
}
