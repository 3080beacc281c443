//! What a type does beyond its table.

use ::provider::{BoxFuture, ProviderError};
use futures::FutureExt as _;
use serde_json::Value as Json;

use super::{CloudCall, JsonMap};

/// What a type does beyond its table. Each method does nothing unless a type has its own. Specs are
/// the JSON of what the document declares; properties that are not set are absent.
pub(crate) trait Hooks: Sync {
    /// Completes the body of a create.
    fn create_body<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let _ = (on, spec, body);
        std::future::ready(Ok(())).boxed()
    }

    /// Acts after the create call, for example with further calls. `object` is the created object
    /// and takes what changes.
    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let _ = (on, spec, object);
        std::future::ready(Ok(())).boxed()
    }

    /// Completes the body of an update, which has the changed fields. `object` is the object before
    /// the call. Without fields nothing is sent.
    fn update_body<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a Json,
        body: &'a mut JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let _ = (on, change, object, body);
        std::future::ready(Ok(())).boxed()
    }

    /// Changes what the update call of the table does not. `object` is the object after the call
    /// and takes what changes. Returns whether the object is ready at once.
    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let _ = (on, change, object);
        std::future::ready(Ok(())).boxed()
    }

    /// Acts before the delete call.
    fn before_delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        id: &'a str,
        spec: &'a JsonMap,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let _ = (on, id, spec);
        std::future::ready(Ok(())).boxed()
    }

    /// What keeps an object from being deleted, for people.
    fn blockers<'a>(
        &'a self,
        on: CloudCall<'a>,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<String>, ProviderError>> {
        let _ = (on, id);
        std::future::ready(Ok(Vec::new())).boxed()
    }

    /// Adds parts to an object that the service does not show with it, for attributes. Called once
    /// an operation has made the object ready, not when a plan reads it.
    fn complete<'a>(
        &'a self,
        on: CloudCall<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let _ = (on, object);
        std::future::ready(Ok(())).boxed()
    }

    /// The value of an attribute that is no field of the object; `None` if the attribute is one.
    fn attribute(&self, name: &str, object: &Json) -> Option<Json> {
        let _ = (name, object);
        None
    }

    /// The value of a property that the hooks carry out, in the form of templates. `None` if the
    /// object does not show it. `declared` is the value as last sent.
    fn property(&self, name: &str, object: &Json, declared: &Json) -> Option<Json> {
        let _ = (name, object, declared);
        None
    }

    /// Why the service cannot make a change in place: the property and the reason. The plan refuses
    /// the change.
    fn refuses(&self, change: SpecChange<'_>) -> Option<(&'static str, &'static str)> {
        let _ = change;
        None
    }

    /// Whether a change that the service could make in place replaces the object.
    fn must_replace(&self, change: SpecChange<'_>) -> bool {
        let _ = change;
        false
    }

    /// Whether the old object of a replacement must be deleted before the new one is made.
    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        let _ = (prior, desired);
        false
    }
}

/// A change of a spec.
#[derive(Clone, Copy)]
pub(crate) struct SpecChange<'a> {
    /// As last sent.
    pub(crate) prior: &'a JsonMap,
    /// As desired.
    pub(crate) desired: &'a JsonMap,
}

impl SpecChange<'_> {
    /// Whether a property has changed.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.prior.get(name) != self.desired.get(name)
    }
}
