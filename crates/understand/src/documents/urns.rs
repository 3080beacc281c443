//! The names of resources for the plugins and the state of the dialect's original tool: as they are
//! now, and as they may have been.
//!
//! Not here: their form (`dialect::rules::NamingRules`).

use blueprint::{DeclarationSite, FormerParent, Name, Resource};
use dialect::rules::{FormerNames, NamedResource};

use super::{DocumentInstance, Documents};

/// The number of parents above a resource that are followed. A longer chain is a circle, which the
/// check reports.
const MOST_PARENTS: usize = 100;

impl Documents {
    /// What providers are told about the declaration of the resource with this number. Empty for a
    /// resource that no document declares.
    pub fn site_of(&self, number: Option<u32>, instance: &str) -> DeclarationSite {
        let declared = number.and_then(|number| self.resource(number));
        let Some((unit, name, resource)) = declared else {
            return DeclarationSite::default();
        };
        DeclarationSite {
            folder: self.folder_seen_from_root(unit),
            urn: self.urn_of(self.unit(unit), name, resource, instance),
        }
    }

    /// The name of a resource for plugins: see [`dialect::rules::NamingRules::resource`].
    pub fn urn_of(
        &self,
        unit: &DocumentInstance,
        name: &Name,
        resource: &Resource,
        instance: &str,
    ) -> Name {
        let blueprint = unit.blueprint();
        let mut types = Vec::new();
        let mut next = Some((name, resource));
        // A circle of parents is reported by the check.
        while let Some((name, resource)) = next
            && types.len() <= blueprint.resources.len()
        {
            let at = blueprint.resources.get_index_of(name);
            let known = at.and_then(|at| unit.checked.resource_types.get(at)?.as_ref());
            let written = resource.type_name.item.name();
            let named = known.map_or(written, |ty| ty.name.name());
            types.push(resource.configured_namespace().unwrap_or(named));
            let parent = resource.parent.as_deref().map(|parent| &parent.item);
            next = parent.and_then(|parent| blueprint.resources.get_key_value(parent));
        }
        types.reverse();
        unit.checked.rules.naming.resource(&NamedResource {
            instance,
            project: &blueprint.project,
            path: &unit.path,
            types,
            name: resource.logical_name.as_ref().unwrap_or(name),
        })
    }

    /// The former names of a resource for plugins: see
    /// [`dialect::rules::NamingRules::former_resources`].
    pub fn former_urns_of(&self, number: u32, instance: &str) -> Vec<Name> {
        match self.resource(number) {
            Some((unit, name, resource)) => {
                self.former_urns(self.unit(unit), (name, resource), instance, MOST_PARENTS)
            }
            None => Vec::new(),
        }
    }

    fn former_urns(
        &self,
        unit: &DocumentInstance,
        (name, resource): (&Name, &Resource),
        instance: &str,
        parents_left: usize,
    ) -> Vec<Name> {
        let blueprint = unit.blueprint();
        let urn = self.urn_of(unit, name, resource, instance);
        let declared = |name: &Name| blueprint.resources.get_key_value(name);
        let parent = resource.parent.as_deref();
        let parent = parent.and_then(|parent| declared(&parent.item));
        let above = parent.filter(|_| parents_left > 0).map(|parent| {
            let logical = parent.1.logical_name.as_ref().unwrap_or(parent.0);
            let former = self.former_urns(unit, parent, instance, parents_left - 1);
            (logical, former)
        });
        let stated: Vec<_> = resource
            .ties
            .iter()
            .flat_map(|ties| &ties.former)
            .map(|identity| {
                let parent = match &identity.parent {
                    FormerParent::Resource(named) => declared(&named.item)
                        .map(|(name, parent)| self.urn_of(unit, name, parent, instance)),
                    FormerParent::Urn(urn) => Some(urn.clone()),
                    FormerParent::Same | FormerParent::None => None,
                };
                (identity, parent)
            })
            .collect();
        let at = blueprint.resources.get_index_of(name);
        let ty = at.and_then(|at| unit.checked.resource_types.get(at)?.as_ref());
        unit.checked.rules.naming.former_resources(&FormerNames {
            urn: &urn,
            name: resource.logical_name.as_ref().unwrap_or(name),
            parent: above
                .as_ref()
                .map(|(logical, former)| (logical.as_ref(), former.as_slice())),
            stated: &stated,
            types: ty.map_or(&[], |ty| &ty.former_names),
        })
    }
}
