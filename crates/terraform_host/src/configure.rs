//! The configuration of a provider.

use blueprint::Value;
use terraform_wire::conform;

use crate::client::{HOST, accept, read, write};
use crate::messages::{
    ConfigureMessage, NoticesAnswer, ValidateProviderAnswer, ValidateProviderMessage,
};
use crate::version::Method;
use crate::{AnswerWithWarnings, CallFailure, Client, HOST_VERSION, ProtocolVersion};

impl Client {
    /// Validates a configuration of the provider. Returns it with the defaults of the provider, as
    /// [`Client::configure`] takes it. Parts of it may be unknown.
    ///
    /// # Errors
    /// [`CallFailure::Rejected`] if it is not valid, and the failures of the call.
    pub async fn validate_provider(
        &self,
        config: &Value,
    ) -> Result<AnswerWithWarnings<Value>, CallFailure> {
        let block = &self.schemas().provider.provider.block;
        let (ty, config) = (block.ty(), conform(block, &present(config)));
        let request = ValidateProviderMessage {
            config: Some(write(&config, &ty, &[])?),
        };
        let answer: ValidateProviderAnswer = self.ask(Method::VALIDATE_PROVIDER, request).await?;
        let warnings = accept(answer.notices)?;
        let fault = |problem| self.malformed(Method::VALIDATE_PROVIDER, problem);
        let (prepared, _) =
            read(answer.prepared.as_ref(), &ty, "prepared configuration").map_err(fault)?;
        let value = match self.version() {
            ProtocolVersion::Five if !prepared.is_null() => {
                crate::marks::copy_secret_marks(&config, &conform(block, &prepared))
            }
            _ => config,
        };
        Ok(AnswerWithWarnings { value, warnings })
    }

    /// Configures the process. Each process can be configured only once.
    ///
    /// # Errors
    /// [`CallFailure::Rejected`] if the provider refuses, and the failures of the call.
    pub async fn configure(&self, prepared: &Value) -> Result<AnswerWithWarnings<()>, CallFailure> {
        let block = &self.schemas().provider.provider.block;
        let config = write(&conform(block, &present(prepared)), &block.ty(), &[])?;
        let request = ConfigureMessage {
            host_version: HOST_VERSION.into(),
            config: Some(config),
            host: Some(HOST),
        };
        let answer: NoticesAnswer = self.ask(Method::CONFIGURE, request).await?;
        Ok(AnswerWithWarnings {
            value: (),
            warnings: accept(answer.notices)?,
        })
    }
}

/// A configuration is never null: if none is given, all of its attributes are null.
fn present(config: &Value) -> Value {
    if config.is_null() {
        Value::Map(std::sync::Arc::default())
    } else {
        config.clone()
    }
}
