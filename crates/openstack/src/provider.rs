//! The provider `openstack` and its configurations.

use std::sync::Arc;

use ::provider::{
    BoxFuture, Catalog, Configuration, Configured, Provider, ProviderError, SettingsChange,
};

use crate::client::CloudSettings;
use crate::heat::{self, HeatProvider};
use crate::provider_types::CATALOG;
use crate::session::OpenStackSession;

/// The provider of the namespaces of OpenStack.
pub struct OpenStackProvider {
    heat: Arc<HeatProvider>,
}

/// The provider, with secrets from the operating system. Nothing is contacted before a call needs a
/// cloud.
pub fn provider() -> OpenStackProvider {
    OpenStackProvider {
        heat: Arc::new(heat::provider()),
    }
}

impl Provider for OpenStackProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &CATALOG
    }

    fn configure(
        self: Arc<Self>,
        with: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        Box::pin(async move {
            let settings = CloudSettings::read(&with.settings, &with.root)?.named(with.name);
            let former = match with.former.is_null() {
                true => None,
                false => Some(CloudSettings::read(&with.former, &with.root)?),
            };
            let change = former.map_or(SettingsChange::Same, |it| it.change_to(&settings));
            let session = OpenStackSession::new(self.heat.clone(), settings, with.offline);
            Ok(Configured {
                session: Arc::new(session),
                change,
                diagnostics: Vec::new(),
            })
        })
    }
}
