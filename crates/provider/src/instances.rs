//! What a provider may read of other instances.
//!
//! Not here: where their states are (the engine).

use blueprint::{Name, Value};

use futures::future::BoxFuture;

use crate::ProviderError;

/// An instance that a document names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceReference {
    /// The project of its document. `None` if the reference names none: the project of the
    /// document that refers to it.
    pub project: Option<Name>,
    /// Its name.
    pub instance: Name,
}

/// A recorded resource.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundResource {
    /// The provider's own id.
    pub id: Name,
    /// Its fields as the provider returned them: a map.
    pub fields: Value,
}

/// Reads recorded instances for providers.
pub trait InstanceReader: Send + Sync {
    /// The exports of an instance: a map, with its secrets marked. `project` is the project of the
    /// document that refers to it.
    ///
    /// # Errors
    /// [`ErrorKind::Document`](crate::ErrorKind::Document) if there is no such instance. The
    /// message says where it was looked for.
    fn exports<'a>(
        &'a self,
        reference: &'a InstanceReference,
        project: &'a str,
    ) -> BoxFuture<'a, Result<Value, ProviderError>>;

    /// The resource with a URN that is recorded in the instance of the call; `None` if there is
    /// none.
    ///
    /// # Errors
    /// If the state cannot be read.
    fn resource<'a>(
        &'a self,
        urn: &'a str,
    ) -> BoxFuture<'a, Result<Option<FoundResource>, ProviderError>>;
}
