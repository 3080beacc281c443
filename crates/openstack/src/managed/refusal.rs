//! Changes that a service cannot make, and changes that are none.

use serde_json::Value as Json;

use super::CloudCall;
use super::collection::Managed;
use super::hooks::SpecChange;
use super::mapping::body_of;
use super::table::{JsonMap, Parent, Property, Target};

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

    /// Whether two values of a property give the same object: a name and its id, for example.
    pub(super) async fn means_the_same(
        &self,
        on: CloudCall<'_>,
        property: &'static Property,
        old: &Json,
        new: &Json,
    ) -> bool {
        let parent = self
            .parent
            .filter(|parent| parent.property == property.name);
        // A name that no object has is an error of the call, not of the plan: an object may have
        // been deleted, and its name with it.
        match (property.target, parent) {
            (_, Some(Parent { kind, .. })) => {
                let named = old.as_str().zip(new.as_str());
                let Some((old, new)) = named else {
                    return false;
                };
                let ids = futures::future::join(on.id_of(kind, old), on.id_of(kind, new)).await;
                matches!(ids, (Ok(old), Ok(new)) if old == new)
            }
            // Only the hooks know what the property does.
            (Target::Hook, None) => false,
            (Target::Ignored, None) => true,
            (Target::Field { .. } | Target::Spread, None) => {
                let only =
                    |value: &Json| JsonMap::from_iter([(property.name.to_owned(), value.clone())]);
                let (old, new) = (only(old), only(new));
                let one = std::slice::from_ref(property);
                let sent = futures::future::join(body_of(on, one, &old), body_of(on, one, &new));
                matches!(sent.await, (Ok(old), Ok(new)) if old == new)
            }
        }
    }
}
