//! What a type does beyond its table.

use ::provider::{BoxFuture, CheckFindings, ErrorKind, ProviderError, ResourceType};
use blueprint::Value;
use futures::FutureExt as _;
use serde_json::Value as Json;

use super::{CloudCall, JsonMap};
use crate::client::ServiceRequest;

/// The key under which hooks keep in an object what its service does not show with it: parts for
/// attributes, and private data. It is no field of the object.
pub(crate) const ASIDE: &str = "cyan:aside";

/// The key below [`ASIDE`] of the private data, which the record keeps.
pub(crate) const PRIVATE: &str = "private";

/// How far the deletion of an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deletion {
    /// It goes on.
    Going,
    /// The status of the object decides.
    ByStatus,
}

/// What of an object is still there when the object itself is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeftOver {
    /// The helper objects that its private data names: a delete must still remove them.
    Helpers,
    Nothing,
}

/// What a type does beyond its table. Each method does nothing unless a type has its own. Specs are
/// the JSON of what the document declares; properties that are not set are absent.
pub(crate) trait Hooks: Sync {
    /// Adjusts the type of the catalogue to what the hooks do.
    fn adjust(&self, ty: &mut ResourceType) {
        let _ = ty;
    }

    /// Checks a spec, as [`Handler::check`](super::Handler::check) does.
    fn check(&self, on: Option<CloudCall<'_>>, spec: &Value, found: &mut CheckFindings) {
        let _ = (on, spec, found);
    }

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

    /// Takes a snapshot of an object that is to be deleted, and waits until it is complete. The
    /// token of the call marks the snapshot: a delete that is tried again takes no second one.
    fn snapshot<'a>(
        &'a self,
        on: CloudCall<'a>,
        object: &'a Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let _ = (on, object);
        let message = "no snapshot of this type can be taken";
        std::future::ready(Err(ProviderError::new(ErrorKind::Permanent, message))).boxed()
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

    /// Completes an object that becomes managed, and was made by others. Its private data are kept.
    fn imported<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let _ = spec;
        self.complete(on, object)
    }

    /// The value of an attribute that is no field of the object; `None` if the attribute is one.
    fn attribute(&self, name: &str, object: &Json) -> Option<Json> {
        let _ = (name, object);
        None
    }

    /// The value of a property that an object shows in another form, in the form of templates.
    /// `None` if the table decides. `declared` is the value as last sent.
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

    /// Whether only [`Hooks::complete`] finds the value of an attribute. Otherwise the field of the
    /// same name has it, if there is one.
    fn needs_completion(&self, attribute: &str) -> bool {
        let _ = attribute;
        false
    }

    /// The reason why an object is broken, if the object does not show it.
    fn failure<'a>(&'a self, on: CloudCall<'a>, object: &'a Json) -> BoxFuture<'a, Option<String>> {
        let _ = (on, object);
        std::future::ready(None).boxed()
    }

    /// Why an object that is not ready will never be, if its status does not say so.
    fn stuck<'a>(&'a self, on: CloudCall<'a>, object: &'a Json) -> BoxFuture<'a, Option<String>> {
        let _ = (on, object);
        std::future::ready(None).boxed()
    }

    /// The request for the list of all objects with all their fields; `None` for the collection.
    fn list_call(&self) -> Option<ServiceRequest> {
        None
    }

    /// The field of an object with the id by which the service addresses it.
    fn id_field(&self) -> &'static str {
        "id"
    }

    /// The fields of the body of a create that stand beside the envelope.
    fn beside_envelope(&self) -> &'static [&'static str] {
        &[]
    }

    /// Looks at an object whose deletion the service has accepted.
    fn deletion<'a>(
        &'a self,
        on: CloudCall<'a>,
        object: &'a Json,
    ) -> BoxFuture<'a, Result<Deletion, ProviderError>> {
        let _ = (on, object);
        std::future::ready(Ok(Deletion::ByStatus)).boxed()
    }

    /// What is left of an object that is gone.
    fn left_over(&self) -> LeftOver {
        LeftOver::Helpers
    }

    /// Acts after the object is gone, for example on helper objects in the private data.
    fn after_delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        private: &'a Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let _ = (on, private);
        std::future::ready(Ok(())).boxed()
    }

    /// Completes the private data of an object whose create with this token was cut off. Nothing is
    /// changed in the cloud, because a plan reads objects too.
    fn found<'a>(
        &'a self,
        on: CloudCall<'a>,
        token: &'a str,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let _ = (on, token, spec, object);
        std::future::ready(Ok(())).boxed()
    }

    /// Acts after no object was found for the token of a create, for example on helper objects that
    /// the create left.
    fn not_created<'a>(
        &'a self,
        on: CloudCall<'a>,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let _ = (on, token);
        std::future::ready(Ok(())).boxed()
    }

    /// Whether the old object of a replacement must be deleted before the new one is made.
    fn deletes_first(&self, prior: &JsonMap, desired: &JsonMap) -> bool {
        let _ = (prior, desired);
        false
    }
}

/// The hooks of a type that needs none.
pub(crate) struct NoHooks;

impl Hooks for NoHooks {}

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
