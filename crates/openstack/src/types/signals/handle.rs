//! The handles: `OS::Heat::WaitConditionHandle`, `OS::Heat::UpdateWaitConditionHandle`,
//! `AWS::CloudFormation::WaitConditionHandle`, `OS::Heat::SwiftSignalHandle`.
//!
//! Heat makes a URL of its own, and a user with a token. Here all of them have a temporary URL.

use std::sync::Arc;

use ::provider::{
    Applied, ApplyRequest, BoxFuture, CheckFindings, Observed, ProviderError, ReadOutcome,
    ReadRequest, ResourceType,
};
use blueprint::{Field, Kind, Map, Value};
use serde_json::json;

use super::{NO_SIGNAL, SignalObject, check_transport, need_object_store};
use crate::managed::{CloudCall, Handler};

/// The end of the id of a handle without signals, by which conditions know it.
pub(super) const WITHOUT_SIGNALS: &str = "-no-signal";

/// The field with the URL of a handle of CloudFormation, for references to it.
const URL: &str = "url";

/// What a reference to a handle gives, and which attributes it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HandleForm {
    /// Its id. Attributes have the URL, by the transport.
    Heat,
    /// Its URL. It has no attributes.
    CloudFormation,
    /// Its URL, which attributes have, too.
    Swift,
}

/// A type of handles.
#[derive(Debug)]
pub(super) struct Handle {
    name: &'static str,
    form: HandleForm,
}

pub(super) static HEAT: Handle = Handle {
    name: "OS::Heat::WaitConditionHandle",
    form: HandleForm::Heat,
};

pub(super) static HEAT_UPDATE: Handle = Handle {
    name: "OS::Heat::UpdateWaitConditionHandle",
    form: HandleForm::CloudFormation,
};

pub(super) static CLOUD_FORMATION: Handle = Handle {
    name: "AWS::CloudFormation::WaitConditionHandle",
    form: HandleForm::CloudFormation,
};

pub(super) static SWIFT: Handle = Handle {
    name: "OS::Heat::SwiftSignalHandle",
    form: HandleForm::Swift,
};

fn transport(spec: &Value) -> &str {
    let transport = spec.get("signal_transport").and_then(Value::as_text);
    transport.unwrap_or("TOKEN_SIGNAL")
}

impl Handle {
    fn has_signals(&self, spec: &Value) -> bool {
        self.form != HandleForm::Heat || transport(spec) != NO_SIGNAL
    }

    /// The id that a create with this token gives.
    fn id(&self, on: CloudCall<'_>, token: &str, spec: &Value) -> String {
        let name = on.physical_name(token);
        match self.has_signals(spec) {
            true => SignalObject::of_resource(&name).container,
            false => format!("{name}{WITHOUT_SIGNALS}"),
        }
    }

    /// The fields of a handle with this URL, or without one.
    fn fields(&self, id: &str, url: Option<&str>, spec: &Value) -> Value {
        let mut fields: Map = spec.as_map().cloned().unwrap_or_default();
        let secret = |text: String| Value::from(text).tainted(true);
        // The sign `&` in the URL has a meaning in shells.
        let curl = |headers: &str, url: &str| secret(format!("curl -i -X PUT {headers}'{url}'"));
        let own = match (self.form, url) {
            (HandleForm::Heat, Some(url)) if transport(spec) == "TOKEN_SIGNAL" => {
                let headers = "-H 'Content-Type: application/json' -H 'Accept: application/json' ";
                vec![
                    ("token", Value::text("")),
                    ("endpoint", secret(url.to_owned())),
                    ("curl_cli", curl(headers, url)),
                    ("signal", Value::text("null")),
                ]
            }
            (HandleForm::Heat, url) => {
                let signal = url.map_or_else(|| json!({}), |url| json!({ "alarm_url": url }));
                let signal = pycompat::json_in_order(&::provider::json::from_json(&signal));
                vec![
                    ("token", Value::Null),
                    ("endpoint", Value::Null),
                    ("curl_cli", Value::Null),
                    ("signal", secret(signal)),
                ]
            }
            (HandleForm::CloudFormation, url) => {
                vec![(URL, secret(url.unwrap_or_default().to_owned()))]
            }
            (HandleForm::Swift, url) => {
                let url = url.unwrap_or_default();
                vec![
                    ("token", Value::text("")),
                    ("endpoint", secret(url.to_owned())),
                    ("curl_cli", curl("", url)),
                ]
            }
        };
        let own = own.into_iter().map(|(name, value)| (name.into(), value));
        fields.extend(own);
        fields.insert("id".into(), Value::text(id));
        fields.insert("show".into(), Value::Null);
        Value::Map(fields.into())
    }

    async fn create_handle(
        &self,
        on: CloudCall<'_>,
        request: &ApplyRequest<'_>,
    ) -> Result<Applied, ProviderError> {
        let spec = request.desired;
        let id = self.id(on, &on.call.token, spec);
        if !self.has_signals(spec) {
            let fields = self.fields(&id, None, spec);
            return Ok(Applied::ready(id, fields));
        }
        let object = SignalObject::of_resource(&id);
        // A create that is tried again keeps the signals that came meanwhile.
        if !object.exists(on).await? {
            object.open(on, true).await?;
        }
        let fields = self.fields(&id, Some(&object.url(on).await?), spec);
        Ok(Applied::ready(id, fields))
    }

    async fn read_handle(
        &self,
        on: CloudCall<'_>,
        request: ReadRequest<'_>,
    ) -> Result<ReadOutcome, ProviderError> {
        let spec = request.inputs;
        let id = match (request.id.filter(|id| !id.is_empty()), request.token) {
            (Some(id), _) => id.to_owned(),
            (None, Some(token)) => self.id(on, token, spec),
            (None, None) => return Ok(ReadOutcome::Unknown),
        };
        let object = SignalObject::of_resource(&id);
        let has_signals = !id.ends_with(WITHOUT_SIGNALS);
        if has_signals && !object.exists(on).await? {
            return Ok(ReadOutcome::Absent);
        }
        let fields = match request.outputs.is_null() {
            false => request.outputs.clone(),
            true if has_signals => self.fields(&id, Some(&object.url(on).await?), spec),
            true => self.fields(&id, None, spec),
        };
        Ok(ReadOutcome::Present(Observed {
            id: id.into(),
            fields,
            private: request.private.clone(),
            ..Observed::default()
        }))
    }
}

impl Handler for Handle {
    fn type_name(&self) -> &'static str {
        self.name
    }

    /// URLs are secret, and references to some handles give them.
    fn adjust(&self, ty: &mut ResourceType) {
        ty.capabilities.finds = true;
        ty.capabilities.imports = false;
        let schema = Arc::make_mut(&mut ty.schema);
        for name in ["endpoint", "curl_cli", "signal"] {
            if let Some(field) = schema.fields.get_mut(name) {
                field.sensitive = true;
            }
        }
        match self.form {
            HandleForm::Heat => {}
            HandleForm::Swift => ty.id_field = Some("endpoint".into()),
            HandleForm::CloudFormation => {
                let field = Field {
                    computed: true,
                    sensitive: true,
                    docs: "The URL to which guests write.".into(),
                    ..Field::of(Kind::String)
                };
                schema.fields.insert(URL.into(), field);
                ty.id_field = Some(URL.into());
            }
        }
    }

    fn check<'a>(
        &'a self,
        on: Option<CloudCall<'a>>,
        spec: &'a Value,
        found: &'a mut CheckFindings,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        match self.form {
            HandleForm::Heat => {
                let written = spec.get("signal_transport").and_then(Value::as_text);
                if let Some(transport) = written {
                    check_transport(on, "signal_transport", transport, found);
                }
            }
            HandleForm::CloudFormation | HandleForm::Swift => {
                let way_out = "use `OS::Heat::WaitConditionHandle` with \
                               `signal_transport: NO_SIGNAL` to wait for nothing";
                need_object_store(on, "", way_out, found);
            }
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn create<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(self.create_handle(on, request))
    }

    /// No property of a handle can change.
    fn update<'a>(
        &'a self,
        _on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        let id = request.id.unwrap_or_default();
        let applied = Applied::ready(id, request.prior.clone());
        Box::pin(std::future::ready(Ok(applied)))
    }

    fn delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            match request.id.unwrap_or_default() {
                "" => Ok(()),
                id if id.ends_with(WITHOUT_SIGNALS) => Ok(()),
                id => SignalObject::of_resource(id).close(on).await,
            }
        })
    }

    fn read<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(self.read_handle(on, request))
    }
}
