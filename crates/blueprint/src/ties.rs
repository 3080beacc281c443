//! How the life of a resource is tied to other resources and to former identities.

use diag::Spanned;

use crate::Name;

/// The ties of a resource.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Ties {
    /// Former identities, besides those that follow from its parent and its type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<FormerIdentity>,
    /// The resource whose deletion deletes the object too, so that no call is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_with: Option<Spanned<Name>>,
    /// The resources whose replacement replaces it too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaced_with: Vec<Spanned<Name>>,
    /// Paths inside the spec whose changes are not shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<Name>,
    /// The plugin that the document asks for, if it does.
    #[serde(skip_serializing_if = "StatedPlugin::is_empty")]
    pub plugin: StatedPlugin,
}

/// The plugin that a document asks for.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct StatedPlugin {
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Name>,
    /// The place to get it from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<Name>,
}

impl StatedPlugin {
    /// Whether any plugin of the package will do.
    pub fn is_empty(&self) -> bool {
        self.version.is_none() && self.url.is_none()
    }
}

impl Ties {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Ties::default()
    }
}

/// A former identity of a resource. Parts that are `None` are as they are now.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FormerIdentity {
    /// The whole former name for plugins. The other parts then do not count.
    pub urn: Option<Name>,
    /// The former logical name.
    pub name: Option<Name>,
    /// The former type, as the dialect writes it.
    #[serde(rename = "type")]
    pub type_name: Option<Name>,
    /// The former instance.
    pub instance: Option<Name>,
    /// The former project.
    pub project: Option<Name>,
    /// The former parent.
    pub parent: FormerParent,
}

/// The former parent of a resource.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormerParent {
    /// The parent that it has now.
    #[default]
    Same,
    /// It had no parent.
    None,
    /// A resource of the document.
    Resource(Spanned<Name>),
    /// A resource by its name for plugins.
    Urn(Name),
}
