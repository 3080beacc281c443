//! A connection to a provider: opening it, its schemas, and the common part of all calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use blueprint::{Name, Value};
use plugins::Plugin;
use plugins::grpc::prost::Message;
use plugins::grpc::{CallError, ConnectError, Connection, ConnectionOptions, GrpcCode};
use terraform_wire::wire::{decode_with_types, encode, encode_with_types};
use terraform_wire::{Path, TypeSchema, ValueType, conform};

use crate::diagnostic::diagnostics;
use crate::messages::Empty;
use crate::messages::{
    Data, HostAbilities, IdentityData, IdentitySchemasAnswer, NoticeMessage, StopAnswer,
};
use crate::schemas::SchemaAnswers;
use crate::version::Method;
use crate::{
    CallFailure, Malformed, Object, Output, ProgramDigest, ProtocolVersion, SchemaCache, Schemas,
    TerraformDiagnostic, TypeIdentity, messages5, messages6, output,
};

/// The version of Terraform that providers are told. Some refuse hosts below a version; this
/// version has all features that this host supports.
pub const HOST_VERSION: &str = "1.12.0";

/// The abilities of this host: it supports write-only attributes, and does not let providers defer.
pub(crate) const HOST: HostAbilities = HostAbilities {
    defers: false,
    write_only: true,
};

/// An answer with its warnings.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerWithWarnings<T> {
    /// The answer.
    pub value: T,
    /// The provider's warnings. Errors are a [`CallFailure`] instead.
    pub warnings: Vec<TerraformDiagnostic>,
}

/// The options for opening a provider.
#[derive(Clone, Default)]
pub struct OpenOptions<'a> {
    /// The schemas, if they are already known, with the version of the protocol in which they were
    /// sent.
    pub known: Option<(ProtocolVersion, Arc<Schemas>)>,
    /// The cache of schemas, and the digest of the program.
    pub cache: Option<(&'a SchemaCache, &'a ProgramDigest)>,
    /// The receiver of the provider's output. Without it the lines are dropped.
    pub output: Option<Output>,
}

/// A connection to one process of a provider. Clones use the same one, with any number of calls at
/// the same time.
///
/// A dropped future cancels its call: the provider may have carried it out.
#[derive(Clone)]
pub struct Client {
    shared: Arc<SharedClient>,
}

struct SharedClient {
    connection: Connection,
    version: ProtocolVersion,
    schemas: Arc<Schemas>,
    /// The types of the resource types that have been used.
    shapes: Mutex<HashMap<Name, Arc<CallTypes>>>,
}

/// The data that each call about a resource type needs.
pub(crate) struct CallTypes {
    pub(crate) schema: Arc<TypeSchema>,
    /// The type of its values.
    pub(crate) ty: ValueType,
    pub(crate) identity: Option<TypeIdentity>,
}

impl Client {
    /// Connects to a provider and gets its schemas: from the cache if it has those of this digest,
    /// otherwise from the provider. With a cached schema, the provider is asked only if it does not
    /// work without that call.
    ///
    /// Call this once for each process: the output of a process can be read only once.
    ///
    /// # Errors
    /// [`CallFailure::Protocol`] if the plugin speaks another version, [`CallFailure::Connect`] if
    /// it cannot be reached, and the failures of the calls.
    pub async fn open(plugin: &Plugin, opening: OpenOptions<'_>) -> Result<Client, CallFailure> {
        let OpenOptions {
            known,
            cache,
            output,
        } = opening;
        let version = CallFailure::version(plugin.endpoint().protocol)?;
        let connection =
            Connection::connect_to_plugin(plugin, &ConnectionOptions::default()).await?;
        output::forward_output(plugin, output.unwrap_or_else(|| Arc::new(|_| ()))).await?;
        let known = known
            .filter(|(told, _)| *told == version)
            .map(|(_, schemas)| schemas);
        let cached = known.or_else(|| {
            cache.and_then(|(cache, digest)| cache.load(digest, version).map(Arc::new))
        });
        let schemas = match cached {
            Some(schemas) => {
                if !schemas.abilities.schema_is_optional {
                    // The schemas are known, so the answer is not read.
                    let _: Empty = call(&connection, version, Method::SCHEMA, Empty {}).await?;
                }
                schemas
            }
            None => {
                let answers = SchemaAnswers::ask(&connection, version).await?;
                if let Some((cache, digest)) = cache {
                    cache.store(digest, version, &answers);
                }
                let method = Method::SCHEMA.name(version);
                Arc::new(
                    Schemas::of(answers)
                        .map_err(|problem| CallFailure::Malformed { method, problem })?,
                )
            }
        };
        let shapes = Mutex::default();
        Ok(Client {
            shared: Arc::new(SharedClient {
                connection,
                version,
                schemas,
                shapes,
            }),
        })
    }

    /// The schemas and abilities of the provider.
    pub fn schemas(&self) -> &Arc<Schemas> {
        &self.shared.schemas
    }

    /// The version of the protocol.
    pub fn version(&self) -> ProtocolVersion {
        self.shared.version
    }

    /// The underlying connection, which reports the end of the process.
    pub fn connection(&self) -> &Connection {
        &self.shared.connection
    }

    /// Asks the provider to cut all running calls short. They still answer, perhaps with a partial
    /// result. The process continues to serve. Returns the provider's error if it cannot stop them.
    ///
    /// # Errors
    /// If there is no answer.
    pub async fn stop(&self) -> Result<Option<String>, CallFailure> {
        let answer: StopAnswer = self.ask(Method::STOP, Empty {}).await?;
        Ok(Some(answer.error).filter(|error| !error.is_empty()))
    }

    /// The data that must be stored beside the value of an object: see
    /// [`Stored::restore`](crate::Stored::restore).
    ///
    /// # Errors
    /// If the provider has no such type.
    pub fn envelope(&self, type_name: &str, object: &Object) -> Result<Value, CallFailure> {
        let shape = self.call_types(type_name)?;
        Ok(object.envelope(
            shape.schema.version,
            shape
                .identity
                .as_ref()
                .map_or(0, |identity| identity.version),
        ))
    }

    pub(crate) async fn ask<Q, A>(&self, method: Method, request: Q) -> Result<A, CallFailure>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        call(
            &self.shared.connection,
            self.shared.version,
            method,
            request,
        )
        .await
    }

    /// The name of a method, for messages.
    pub(crate) fn name(&self, method: Method) -> &'static str {
        method.name(self.shared.version)
    }

    pub(crate) fn malformed(&self, method: Method, problem: Malformed) -> CallFailure {
        CallFailure::Malformed {
            method: self.name(method),
            problem,
        }
    }

    /// The types of a resource type.
    pub(crate) fn call_types(&self, type_name: &str) -> Result<Arc<CallTypes>, CallFailure> {
        let mut shapes = self
            .shared
            .shapes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(shape) = shapes.get(type_name) {
            return Ok(Arc::clone(shape));
        }
        let schemas = &self.shared.schemas;
        let Some((name, schema)) = schemas.provider.resources.get_key_value(type_name) else {
            return Err(CallFailure::NoSuchType {
                kind: "resource type",
                name: type_name.into(),
            });
        };
        let identity = schemas.identities.get(type_name).cloned();
        let shape = Arc::new(CallTypes {
            schema: Arc::clone(schema),
            ty: schema.block.ty(),
            identity,
        });
        shapes.insert(name.clone(), Arc::clone(&shape));
        Ok(shape)
    }

    /// The configuration that modules pass to a provider. It is never set here: null if the
    /// provider declares one.
    pub(crate) fn meta(&self) -> Option<Data> {
        let schema = self.shared.schemas.provider.provider_meta.as_ref()?;
        write(&Value::Null, &schema.block.ty(), &[]).ok()
    }
}

impl SchemaAnswers {
    async fn ask(
        connection: &Connection,
        version: ProtocolVersion,
    ) -> Result<SchemaAnswers, CallFailure> {
        let schemas: messages6::SchemaAnswer = match version {
            ProtocolVersion::Five => {
                let answer: messages5::SchemaAnswer =
                    call(connection, version, Method::SCHEMA, Empty {}).await?;
                answer.into()
            }
            ProtocolVersion::Six => call(connection, version, Method::SCHEMA, Empty {}).await?,
        };
        accept(schemas.notices.clone())?;
        let asked: Result<IdentitySchemasAnswer, CallFailure> =
            call(connection, version, Method::IDENTITY_SCHEMAS, Empty {}).await;
        let identities = match asked {
            Ok(answer) => {
                accept(answer.notices.clone())?;
                Some(answer)
            }
            // The provider is older than identities.
            Err(CallFailure::Call {
                error: CallError::Status(status),
                ..
            }) if status.code == GrpcCode::Unimplemented => None,
            Err(failure) => return Err(failure),
        };
        Ok(SchemaAnswers {
            schemas: Some(schemas),
            identities,
        })
    }
}

async fn call<Q, A>(
    connection: &Connection,
    version: ProtocolVersion,
    method: Method,
    request: Q,
) -> Result<A, CallFailure>
where
    Q: Message + 'static,
    A: Message + Default + 'static,
{
    let answer = connection.unary(method.path(version), request).await;
    answer.map_err(|error| CallFailure::Call {
        method: method.name(version),
        error,
    })
}

impl From<ConnectError> for CallFailure {
    fn from(error: ConnectError) -> CallFailure {
        CallFailure::Connect(Arc::new(error))
    }
}

/// Returns the warnings of an answer.
///
/// # Errors
/// If there are errors among them.
pub(crate) fn accept(notices: Vec<NoticeMessage>) -> Result<Vec<TerraformDiagnostic>, CallFailure> {
    let diagnostics = diagnostics(notices);
    if diagnostics.iter().any(TerraformDiagnostic::is_error) {
        Err(CallFailure::Rejected(diagnostics))
    } else {
        Ok(diagnostics)
    }
}

/// Converts a value of the caller to a message.
pub(crate) fn write(
    value: &Value,
    ty: &ValueType,
    dynamic: &[(Path, ValueType)],
) -> Result<Data, CallFailure> {
    let msgpack = match dynamic {
        [] => encode(value, ty),
        dynamic => encode_with_types(value, ty, dynamic),
    };
    Ok(Data {
        msgpack: msgpack.map_err(CallFailure::Unfit)?,
        json: Vec::new(),
    })
}

/// Reads a value of the provider, with the types of its dynamic parts. A missing value is null.
pub(crate) fn read(
    data: Option<&Data>,
    ty: &ValueType,
    what: &'static str,
) -> Result<(Value, Vec<(Path, ValueType)>), Malformed> {
    let Some(data) = data else {
        return Ok((Value::Null, Vec::new()));
    };
    match (data.msgpack.is_empty(), data.json.is_empty()) {
        (true, true) => Ok((Value::Null, Vec::new())),
        (true, false) => Err(Malformed::Json(what)),
        (false, _) => Ok(decode_with_types(&data.msgpack, ty)?),
    }
}

impl CallTypes {
    /// Converts a configuration of a document to the shape of the schema.
    pub(crate) fn conform(&self, value: &Value) -> Value {
        conform(&self.schema.block, value)
    }

    /// Converts an object of this type to a message; null without one.
    pub(crate) fn object(&self, object: Option<&Object>) -> Result<Data, CallFailure> {
        match object {
            None => write(&Value::Null, &self.ty, &[]),
            Some(object) => write(&object.value, &self.ty, &object.dynamic),
        }
    }

    /// Converts an identity of this type to a message.
    pub(crate) fn write_identity(
        &self,
        identity: Option<&Value>,
    ) -> Result<Option<IdentityData>, CallFailure> {
        let (Some(schema), Some(identity)) = (&self.identity, identity) else {
            return Ok(None);
        };
        Ok(Some(IdentityData {
            data: Some(write(identity, &schema.ty, &[])?),
        }))
    }

    /// Reads an identity of the provider. A missing or null identity is `None`.
    pub(crate) fn read_identity(
        &self,
        identity: Option<&IdentityData>,
    ) -> Result<Option<Value>, Malformed> {
        let (Some(schema), Some(identity)) = (&self.identity, identity) else {
            return Ok(None);
        };
        let (value, _) = read(identity.data.as_ref(), &schema.ty, "identity")?;
        Ok(Some(value).filter(|value| !value.is_null()))
    }
}
