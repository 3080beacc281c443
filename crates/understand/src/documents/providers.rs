//! Finds the resource that declares the configuration of an element's provider.
//!
//! An element can name a configuration of its own document. Otherwise it inherits one: the nearest
//! include above it that names a configuration of its provider decides.
//!
//! Not here: the settings (`evaluate`), errors in the names (`check`).

use blueprint::{Blueprint, Name};
use diag::{Span, Spanned};
use provider::ProviderNames;

use super::Documents;
use crate::graph::GraphNode;

/// The provider configuration of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderChoice {
    /// The unit that declares the configuration.
    pub unit: u32,
    /// The position of the declaring resource in that unit.
    pub position: usize,
    /// The place of the configuration's name in the element or in the include.
    pub span: Span,
}

impl ProviderChoice {
    /// The number of the declaring resource.
    pub fn resource(&self, documents: &Documents) -> u32 {
        documents.unit(self.unit).resource(self.position)
    }
}

/// The position of the configuration that an include passes down for the provider of a namespace,
/// and its name.
pub fn handed_down<'n>(
    blueprint: &Blueprint,
    names: &'n [Spanned<Name>],
    namespace: &str,
    providers: &ProviderNames,
) -> Option<(usize, &'n Spanned<Name>)> {
    names.iter().find_map(|name| {
        let (position, _, declared) = blueprint.resources.get_full(&name.item)?;
        let configured = declared.configured_namespace();
        let fits = configured.is_some_and(|own| providers.are_same(own, namespace));
        (fits && declared.each.is_none()).then_some((position, name))
    })
}

impl Documents {
    /// The provider configuration of a resource or data source; `None` for the default
    /// configuration, and for a resource that lives in the state.
    pub fn provider_of(&self, node: GraphNode) -> Option<ProviderChoice> {
        let (unit, own, type_name) = match node {
            GraphNode::Resource(number) if self.lives_in_state(number) => return None,
            GraphNode::Resource(number) => {
                let (unit, _, resource) = self.resource(number)?;
                (unit, resource.provider.as_deref(), &resource.type_name.item)
            }
            GraphNode::DataSource(number) => {
                let (unit, _, source) = self.data_source(number)?;
                (unit, source.provider.as_deref(), &source.type_name.item)
            }
            _ => return None,
        };
        self.provider_for(unit, own, type_name.package_name())
    }

    /// Whether the objects of a resource exist only in the state.
    pub fn lives_in_state(&self, number: u32) -> bool {
        let ty = self.resource_type(number);
        ty.is_some_and(|ty| ty.capabilities.state_only)
    }

    /// The configuration of a provider that an element of a document uses: the one that it names,
    /// or the one that the document inherits for the namespace. `None` for the default
    /// configuration.
    pub fn provider_for(
        &self,
        unit: u32,
        own: Option<&Spanned<Name>>,
        namespace: &str,
    ) -> Option<ProviderChoice> {
        if let Some(name) = own {
            let position = self
                .unit(unit)
                .blueprint()
                .resources
                .get_index_of(&name.item)?;
            return Some(ProviderChoice {
                unit,
                position,
                span: name.span,
            });
        }
        let providers = &self.unit(unit).checked.providers;
        let mut at = unit;
        while let Some((above, include)) = self.unit(at).parent {
            let blueprint = self.unit(above).blueprint();
            let (_, child) = blueprint.children.get_index(include as usize)?;
            let found = handed_down(blueprint, &child.providers, namespace, providers);
            if let Some((position, name)) = found {
                return Some(ProviderChoice {
                    unit: above,
                    position,
                    span: name.span,
                });
            }
            at = above;
        }
        None
    }
}
