//! A connected plugin without settings: handshake, schema, and the calls about settings.

use std::collections::HashMap;
use std::time::Duration;

use blueprint::Value;
use plugins::Plugin;
use plugins::grpc::{ConnectError, Connection, ConnectionOptions, GrpcCode};
use prost_types::value::Kind;
use prost_types::{Struct, Value as Wire};
use pulumi_wire::{Accepts, Encoding, Lookups, Phase, RequestPart, encode};
use tokio::time::{Instant, sleep};

use crate::answer::{CheckAnswer, Diff, PluginCapabilities, decode_answer, diff_of, failures};
use crate::caller::Caller;
use crate::failure::CallFailure;
use crate::messages::{
    AttachRequest, CheckRequest, ConfigureRequest, ConfigureResponse, DiffRequest, Empty,
    GetSchemaRequest, GetSchemaResponse, HandshakeRequest, HandshakeResponse, PluginInfo, method,
};
use crate::session::PluginSession;

/// The time during which a plugin may answer that it is not available yet.
const READY_LIMIT: Duration = Duration::from_secs(10);
/// Pause between two attempts.
const RETRY: Duration = Duration::from_millis(10);
/// The largest message in bytes, in each direction.
const MESSAGE_LIMIT: usize = 400 << 20;

/// The facts that a plugin receives when it is connected.
#[derive(Clone, Debug, Default)]
pub struct ConnectOptions {
    /// The address of the engine's server: `127.0.0.1:PORT`.
    pub engine_address: String,
    /// The folder of the plugin's program.
    pub program_folder: Option<String>,
}

/// The settings of a provider, with its identity as a resource.
#[derive(Clone, Copy)]
pub struct ProviderSettings<'a> {
    /// The name of the package, which is the prefix of settings in the old form.
    pub package: &'a str,
    /// The settings: a map.
    pub values: &'a Value,
    /// The URN of the provider.
    pub urn: &'a str,
    /// The name of the provider in the URN.
    pub name: &'a str,
    /// The id of the provider; empty before it has one.
    pub id: &'a str,
    /// Facts about resources and files.
    pub lookups: &'a dyn Lookups,
}

/// A connected plugin. Clones use the same connection.
#[derive(Clone)]
pub struct Client {
    caller: Caller,
    handshake: Option<HandshakeResponse>,
}

impl Client {
    /// Connects to a plugin and makes the handshake. An attached plugin also receives the address
    /// of the engine.
    ///
    /// # Errors
    /// The reason why the plugin cannot be used.
    pub async fn connect(
        plugin: &Plugin,
        connecting: &ConnectOptions,
    ) -> Result<Client, CallFailure> {
        let options = ConnectionOptions {
            message_bytes: MESSAGE_LIMIT,
            ..ConnectionOptions::default()
        };
        let caller = Caller::new(
            Connection::connect_to_plugin(plugin, &options)
                .await
                .map_err(not_connected)?,
        );
        let client = Client {
            caller,
            handshake: None,
        };
        if plugin.attached() {
            let request = AttachRequest {
                address: connecting.engine_address.clone(),
            };
            optional(
                client
                    .caller
                    .call::<_, Empty>(method::ATTACH, request)
                    .await,
            )?;
        }
        let handshake = client.shake_hands(connecting).await?;
        Ok(Client {
            handshake,
            ..client
        })
    }

    /// Returns `None` if the plugin does not know the call.
    async fn shake_hands(
        &self,
        connecting: &ConnectOptions,
    ) -> Result<Option<HandshakeResponse>, CallFailure> {
        let request = HandshakeRequest {
            engine_address: connecting.engine_address.clone(),
            root_directory: connecting.program_folder.clone(),
            program_directory: connecting.program_folder.clone(),
            configure_with_urn: true,
            supports_refresh_before_update: true,
            invoke_with_preview: true,
            accepts_byte_string: true,
        };
        let deadline = Instant::now() + READY_LIMIT;
        loop {
            match self.caller.call(method::HANDSHAKE, request.clone()).await {
                Err(CallFailure::Failed {
                    code: GrpcCode::Unavailable,
                    ..
                }) if Instant::now() < deadline => {
                    sleep(RETRY).await;
                }
                answer => return optional(answer),
            }
        }
    }

    /// Whether the plugin knows the call Handshake. If not, its capabilities are known after
    /// [`Client::configure`].
    pub fn supports_handshake(&self) -> bool {
        self.handshake.is_some()
    }

    /// The version of the plugin; `None` if the plugin does not report one.
    ///
    /// # Errors
    /// If the call fails.
    pub async fn version(&self) -> Result<Option<String>, CallFailure> {
        let info = optional(
            self.caller
                .call::<_, PluginInfo>(method::GET_PLUGIN_INFO, Empty {})
                .await,
        )?;
        Ok(info
            .map(|info| info.version)
            .filter(|version| !version.is_empty()))
    }

    /// The schema of the package as JSON text; `None` if the plugin has none.
    ///
    /// # Errors
    /// If the call fails.
    pub async fn schema(&self) -> Result<Option<String>, CallFailure> {
        let answer = self
            .caller
            .call::<_, GetSchemaResponse>(method::GET_SCHEMA, GetSchemaRequest::default())
            .await;
        Ok(optional(answer)?.map(|answer| answer.schema))
    }

    /// Checks settings and fills in defaults. The settings stay as they are if the plugin does not
    /// have this call. `olds` are the previous settings, or null.
    ///
    /// # Errors
    /// If the call fails. Refused settings are not an error.
    pub async fn check_config(
        &self,
        settings: &ProviderSettings<'_>,
        olds: &Value,
        phase: Phase,
    ) -> Result<CheckAnswer, CallFailure> {
        let encoding = self.config_encoding(phase, settings);
        let request = CheckRequest {
            urn: settings.urn.to_owned(),
            olds: encode(olds, &encoding)?,
            news: encode(settings.values, &encoding)?,
            name: settings.name.to_owned(),
            r#type: provider_type(settings.package),
            ..CheckRequest::default()
        };
        let answer = self
            .caller
            .call::<_, crate::messages::CheckResponse>(method::CHECK_CONFIG, request)
            .await;
        let Some(answer) = optional(answer)? else {
            return Ok(CheckAnswer::unchanged(settings.values));
        };
        let inputs = match answer.inputs {
            Some(inputs) => decode_answer(inputs, phase, None, settings.lookups, None)?,
            // Plugins that only refuse settings return no inputs.
            None => settings.values.clone(),
        };
        // Settings are sent without secret marks.
        Ok(CheckAnswer {
            inputs: pulumi_wire::mark_like_inputs(inputs, settings.values),
            failures: failures(answer.failures),
        })
    }

    /// Compares settings with the previous ones. There is no difference if the plugin does not have
    /// this call.
    ///
    /// # Errors
    /// If the call fails.
    pub async fn diff_config(
        &self,
        settings: &ProviderSettings<'_>,
        olds: &Value,
        phase: Phase,
    ) -> Result<Diff, CallFailure> {
        let encoding = self.config_encoding(phase, settings);
        let old = encode(olds, &encoding)?;
        let request = DiffRequest {
            id: settings.id.to_owned(),
            urn: settings.urn.to_owned(),
            olds: old.clone(),
            old_inputs: old,
            news: encode(settings.values, &encoding)?,
            name: settings.name.to_owned(),
            r#type: provider_type(settings.package),
            ..DiffRequest::default()
        };
        let answer = optional(self.caller.call(method::DIFF_CONFIG, request).await)?;
        Ok(answer.map_or_else(Diff::none, |answer| {
            diff_of(answer, olds, settings.values, &[])
        }))
    }

    /// Sets the settings and makes the plugin ready for resources. Settings with unknown parts are
    /// not sent: see [`Client::unconfigured`].
    ///
    /// # Errors
    /// If the call fails, or if settings cannot be sent.
    pub async fn configure(
        &self,
        settings: &ProviderSettings<'_>,
    ) -> Result<PluginSession, CallFailure> {
        if settings.values.has_unknown() {
            return Ok(self.unconfigured());
        }
        let args = encode(
            settings.values,
            &self.config_encoding(Phase::Applying, settings),
        )?;
        let request = ConfigureRequest {
            variables: args
                .as_ref()
                .map(|args| variables(settings.package, args))
                .unwrap_or_default(),
            args,
            accept_secrets: true,
            accept_resources: true,
            sends_old_inputs: true,
            sends_old_inputs_to_delete: true,
            id: Some(settings.id.to_owned()),
            urn: Some(settings.urn.to_owned()),
            name: Some(settings.name.to_owned()),
            r#type: Some(provider_type(settings.package)),
        };
        let answer: ConfigureResponse = self.caller.call(method::CONFIGURE, request).await?;
        let capabilities = match &self.handshake {
            Some(handshake) => of_handshake(handshake),
            None => PluginCapabilities {
                accepts: Accepts {
                    secrets: answer.accept_secrets,
                    resources: answer.accept_resources,
                    outputs: answer.accept_outputs,
                    bytes: false,
                },
                preview: answer.supports_preview,
                autonaming: answer.supports_autonaming_configuration,
            },
        };
        Ok(PluginSession::new(self.caller.clone(), capabilities, true))
    }

    /// A session for a plan whose settings are unknown. It does not call the plugin: inputs stay as
    /// they are, and no output is known.
    pub fn unconfigured(&self) -> PluginSession {
        let capabilities = self
            .handshake
            .as_ref()
            .map_or_else(PluginCapabilities::default, of_handshake);
        PluginSession::new(self.caller.clone(), capabilities, false)
    }

    /// Asks all running calls to end.
    ///
    /// # Errors
    /// If the call fails. A plugin without this call is not an error.
    pub async fn cancel(&self) -> Result<(), CallFailure> {
        optional(self.caller.call::<_, Empty>(method::CANCEL, Empty {}).await).map(|_| ())
    }

    fn config_encoding<'a>(&self, phase: Phase, settings: &ProviderSettings<'a>) -> Encoding<'a> {
        let accepts = self
            .handshake
            .as_ref()
            .map_or_else(Accepts::default, |shaken| of_handshake(shaken).accepts);
        Encoding::of(RequestPart::Config, phase, accepts, settings.lookups)
    }
}

fn of_handshake(answer: &HandshakeResponse) -> PluginCapabilities {
    PluginCapabilities {
        accepts: Accepts {
            secrets: answer.accept_secrets,
            resources: answer.accept_resources,
            outputs: answer.accept_outputs,
            bytes: answer.accepts_byte_string,
        },
        // A plugin that knows Handshake also supports previews.
        preview: true,
        autonaming: answer.supports_autonaming_configuration,
    }
}

fn not_connected(error: ConnectError) -> CallFailure {
    let why = error.to_string();
    let exit = if let ConnectError::Exited(exit) = error {
        Some(exit)
    } else {
        None
    };
    CallFailure::NotAsked { why, exit }
}

/// Converts the error for an unknown call to `None`.
fn optional<R>(answer: Result<R, CallFailure>) -> Result<Option<R>, CallFailure> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(CallFailure::Unimplemented { .. }) => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn provider_type(package: &str) -> String {
    format!("pulumi:providers:{package}")
}

/// The settings in their old form: texts, and JSON for all other values. The version of the plugin
/// is not a setting in this form.
fn variables(package: &str, args: &Struct) -> HashMap<String, String> {
    let settings = args.fields.iter().filter(|(key, _)| *key != "version");
    settings
        .map(|(key, value)| {
            let text = match &value.kind {
                Some(Kind::StringValue(text)) => text.clone(),
                _ => json(value).to_string(),
            };
            (format!("{package}:config:{key}"), text)
        })
        .collect()
}

fn json(value: &Wire) -> serde_json::Value {
    match &value.kind {
        None | Some(Kind::NullValue(_)) => serde_json::Value::Null,
        Some(Kind::BoolValue(value)) => (*value).into(),
        Some(Kind::NumberValue(number)) => {
            // In JSON, a whole number has no fraction.
            let whole = number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
            if whole {
                (*number as i64).into()
            } else {
                (*number).into()
            }
        }
        Some(Kind::StringValue(text)) => text.as_str().into(),
        Some(Kind::ListValue(list)) => list.values.iter().map(json).collect(),
        Some(Kind::StructValue(inner)) => inner
            .fields
            .iter()
            .map(|(key, value)| (key.clone(), json(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_texts_or_json() {
        let values = Value::map([
            ("region", Value::from("eu").secret()),
            ("retries", Value::Int(3)),
            (
                "tags",
                Value::map([("a", Value::list([Value::Bool(true), Value::Float(0.5)]))]),
            ),
            ("version", Value::from("1.0.0")),
        ]);
        let encoding = Encoding::of(
            RequestPart::Config,
            Phase::Applying,
            Accepts::default(),
            &pulumi_wire::NoLookups,
        );
        let variables = variables("shop", &encode(&values, &encoding).unwrap().unwrap());
        let mut found: Vec<(&str, &str)> = variables
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        found.sort_unstable();
        let tags = r#"{"a":[true,0.5]}"#;
        assert_eq!(
            found,
            [
                ("shop:config:region", "eu"),
                ("shop:config:retries", "3"),
                ("shop:config:tags", tags)
            ]
        );
    }
}
