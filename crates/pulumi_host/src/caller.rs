//! The connection to a plugin: unary calls with the errors of this family of plugins.

use std::sync::Arc;

use plugins::grpc::{CallError, Connection};
use prost::Message;

use crate::failure::CallFailure;

/// Makes calls. Clones use the same connection.
#[derive(Clone)]
pub(crate) struct Caller(Arc<Connection>);

impl Caller {
    pub(crate) fn new(connection: Connection) -> Caller {
        Caller(Arc::new(connection))
    }

    pub(crate) async fn call<Q, R>(
        &self,
        method: &'static str,
        request: Q,
    ) -> Result<R, CallFailure>
    where
        Q: Message + 'static,
        R: Message + Default + 'static,
    {
        self.call_raw(method, request)
            .await
            .map_err(|error| CallFailure::of_call(method, error))
    }

    pub(crate) async fn call_raw<Q, R>(
        &self,
        method: &'static str,
        request: Q,
    ) -> Result<R, CallError>
    where
        Q: Message + 'static,
        R: Message + Default + 'static,
    {
        self.0.unary(method, request).await
    }
}
