//! The catalogue of the provider `openstack`: the types of all namespaces.
//!
//! Not here: what the types do (`types`, `heat`).

use std::sync::{Arc, LazyLock, OnceLock};

use ::provider::{Catalog, Plans, ResourceType, TypeSource};
use blueprint::IndexMap;
use expr::FunctionDef;

use crate::client::CloudSettings;
use crate::managed::Handler;
use crate::packed::PackedTypes;
use crate::{catalog, functions, heat, types};

/// The name of the provider: the key of its settings.
pub const NAME: &str = "openstack";

/// The namespaces of the provider: those of the services, and `OS::Heat`.
pub const NAMESPACES: &[&str] = &ALL_NAMESPACES;

const ALL_NAMESPACES: [&str; catalog::NAMESPACES.len() + 1] = {
    let mut all = ["OS::Heat"; catalog::NAMESPACES.len() + 1];
    let mut at = 0;
    while at < catalog::NAMESPACES.len() {
        all[at] = catalog::NAMESPACES[at];
        at += 1;
    }
    all
};

/// The catalogue: the types of `OS::Heat` and those of all other namespaces.
pub(crate) static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let services = catalog::catalog();
    let heat = heat::catalog();
    let source = ProviderTypes {
        services: catalog::types(),
        heat: heat::described(),
        functions: services.functions.iter().cloned().map(Arc::new).collect(),
        managed: types::all()
            .map(|it| (it.type_name(), OnceLock::new()))
            .collect(),
    };
    let namespaces = services.namespaces.iter().chain(&heat.namespaces);
    Arc::new(Catalog {
        namespaces: namespaces.cloned().collect(),
        name: Some(NAME.into()),
        docs: services.docs.clone(),
        resource_types: heat.resource_types.clone(),
        data_source_types: services.data_source_types.clone(),
        settings: CloudSettings::declared(),
        source: Some(Arc::new(source)),
        ..Catalog::default()
    })
});

/// The type with that name, with the capabilities of its handler.
pub(crate) fn resource_type(name: &str) -> Option<Arc<ResourceType>> {
    CATALOG.resource_type(name)
}

/// The types of all namespaces. A type with a handler is managed, every other one only described.
#[derive(Debug)]
struct ProviderTypes {
    services: Arc<PackedTypes>,
    heat: Arc<PackedTypes>,
    /// The functions, with their names below the provider in [`functions::ALL`].
    functions: Vec<Arc<FunctionDef>>,
    /// The types with a handler, each read on first use.
    managed: IndexMap<&'static str, OnceLock<Option<Arc<ResourceType>>>>,
}

impl ProviderTypes {
    /// A type with a handler: the capabilities of the handler take the place of those in the
    /// catalogue, and fields that others than the user change count no drift.
    fn managed_type(&self, name: &str, handler: &dyn Handler) -> Option<Arc<ResourceType>> {
        let read = || {
            let mut ty = self.services.get(name).or_else(|| self.heat.get(name))?;
            let found = Arc::make_mut(&mut ty);
            found.capabilities.described_only = false;
            found.capabilities.plans = Plans::Updates;
            found.capabilities.repairs_updates = true;
            found.capabilities.checks = true;
            found.capabilities.exact = false;
            found.capabilities.complete_when_ready = true;
            found.capabilities.imports_declared = true;
            handler.adjust(found);
            Some(ty)
        };
        self.managed.get(name)?.get_or_init(read).clone()
    }
}

impl TypeSource for ProviderTypes {
    fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
        if let Some(handler) = types::handler(name) {
            return self.managed_type(name, handler);
        }
        let mut ty = self.services.get(name).or_else(|| self.heat.get(name))?;
        if let Some(instead) = types::instead(name) {
            Arc::make_mut(&mut ty).instead = Some(instead.into());
        }
        Some(ty)
    }

    fn has_resource_type(&self, name: &str) -> bool {
        self.services.has_resource_type(name) || self.heat.has_resource_type(name)
    }

    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.services.names().chain(self.heat.names()))
    }

    fn function(&self, name: &str) -> Option<Arc<FunctionDef>> {
        let own = name.strip_prefix(NAME)?.strip_prefix('/')?;
        let found = self.functions.iter().find(|it| it.name.as_ref() == own);
        found.cloned()
    }

    fn function_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(functions::ALL.into_iter())
    }
}
