//! Changes that a service cannot make.

use super::hooks::SpecChange;
use super::{CloudCall, Managed};

impl Managed {
    /// The property whose change the service cannot make in place, and the reason. Another spelling
    /// of the same value is no change.
    pub(super) async fn refusal(
        &self,
        on: CloudCall<'_>,
        change: SpecChange<'_>,
    ) -> Option<(&'static str, &'static str)> {
        let (name, reason) = self.hooks.refuses(change)?;
        let property = self.properties.iter().find(|it| it.name == name);
        let values = change.prior.get(name).zip(change.desired.get(name));
        let is_same = match property.zip(values) {
            Some((property, (old, new))) => self.means_the_same(on, property, old, new).await,
            None => false,
        };
        (!is_same).then_some((name, reason))
    }
}
