//! `OS::Swift::Container`. Its id is its name.
//!
//! A container has the mark of its create in a header, so that a container of somebody else with the
//! same name is not taken for it: Swift accepts a second create.

use std::sync::Arc;

use ::provider::json::from_json;
use ::provider::{
    Applied, ApplyRequest, BoxFuture, CheckFindings, ErrorKind, Observed, PlanRequest, Planned,
    ProviderError, ReadOutcome, ReadRequest, ResourceType, Verdict,
};
use blueprint::{Map, Value};
use serde_json::Value as Json;

use crate::client::{Service, ServiceAnswer};
use crate::managed::{
    CloudCall, Handler, JsonMap, Property, Table, Update, hook, json_of, mark_of,
};
use crate::object_store::{self, Header, LONGEST_NAME};

/// The types.
pub(super) static TYPES: &[&dyn Handler] = &[&Container];

static PROPERTIES: &[Property] = &[
    hook("name"),
    hook("X-Container-Read"),
    hook("X-Container-Write"),
    hook(CONTAINER_META),
    hook(ACCOUNT_META),
    hook("PurgeOnDelete"),
];

/// The property with headers of the container, and the prefix of these headers.
const CONTAINER_META: &str = "X-Container-Meta";

/// The property with headers of the account, and the prefix of these headers.
const ACCOUNT_META: &str = "X-Account-Meta";

/// The header with the mark.
const MARK: &str = "x-container-meta-cyan";

/// The type of containers.
#[derive(Debug)]
struct Container;

/// The name that a template gives; `None` for a generated one. Heat takes an empty name for none.
fn given_name(spec: &JsonMap) -> Option<&str> {
    let name = spec.get("name").and_then(Json::as_str);
    name.filter(|name| !name.is_empty())
}

/// The headers of a map of the spec.
fn meta_headers(spec: &JsonMap, property: &str) -> Vec<Header> {
    let entries = spec.get(property).and_then(Json::as_object);
    let entries = entries.into_iter().flatten();
    let header = |(key, value): (&String, &Json)| {
        let text = pycompat::text(&from_json(value));
        (format!("{property}-{key}"), text)
    };
    entries.map(header).collect()
}

/// The headers of a create.
fn container_headers(spec: &JsonMap, token: &str) -> Vec<Header> {
    let access = ["X-Container-Read", "X-Container-Write"];
    let access = access.into_iter().filter_map(|name| {
        let list = spec.get(name).and_then(Json::as_str)?;
        Some((name.to_owned(), list.to_owned()))
    });
    let mark = (MARK.to_owned(), mark_of(token));
    let meta = meta_headers(spec, CONTAINER_META).into_iter();
    meta.chain(access).chain([mark]).collect()
}

/// The map of a property as headers show it: of the keys that the spec declares, or of all if nothing
/// is recorded.
fn shown_meta(answer: &ServiceAnswer, property: &str, declared: &Value) -> Value {
    let prefix = format!("{}-", property.to_lowercase());
    let declared = declared.get(property).and_then(Value::as_map);
    let Some(declared) = declared else {
        let all = answer.headers().filter(|(name, _)| *name != MARK);
        let all = all.filter_map(|(name, value)| {
            let key = name.strip_prefix(&prefix)?;
            Some((key.into(), Value::text(value)))
        });
        return Value::Map(Arc::new(all.collect::<Map>()));
    };
    let shown = declared.iter().filter_map(|(key, value)| {
        let text = answer.header(&format!("{prefix}{key}"))?;
        let same = pycompat::text(&value.revealed()) == text;
        let value = if same {
            value.clone()
        } else {
            Value::text(text)
        };
        Some((key.clone(), value))
    });
    Value::Map(Arc::new(shown.collect::<Map>()))
}

/// A list of access as a header shows it. Swift removes spaces.
fn shown_access(answer: &ServiceAnswer, name: &str, declared: &Value) -> Value {
    let shown = answer.header(name).filter(|text| !text.is_empty());
    let written = declared.get(name).and_then(Value::as_text);
    let without_spaces = |text: &str| text.replace(char::is_whitespace, "");
    match (shown, written) {
        (None, None) => Value::Null,
        (None, Some("")) => Value::text(""),
        (None, Some(_)) => Value::Null,
        (Some(shown), Some(written)) if without_spaces(shown) == without_spaces(written) => {
            declared.get(name).cloned().unwrap_or_default()
        }
        // The document says nothing about access, so another list is no drift.
        (Some(_), None) if !declared.is_null() => Value::Null,
        (Some(shown), _) => Value::text(shown),
    }
}

/// The fields of a container: properties and attributes.
async fn fields_of(
    on: CloudCall<'_>,
    name: &str,
    answer: &ServiceAnswer,
    inputs: &Value,
) -> Result<Value, ProviderError> {
    let mut fields: Map = inputs.as_map().cloned().unwrap_or_default();
    let mut set = |field: &str, value: Value| fields.insert(field.into(), value);
    set("name", Value::text(name));
    for access in ["X-Container-Read", "X-Container-Write"] {
        set(access, shown_access(answer, access, inputs));
    }
    set(CONTAINER_META, shown_meta(answer, CONTAINER_META, inputs));
    let account_meta = inputs.get(ACCOUNT_META).and_then(Value::as_map);
    if account_meta.is_some_and(|entries| !entries.is_empty()) {
        let account = object_store::account(on).await?;
        set(ACCOUNT_META, shown_meta(&account, ACCOUNT_META, inputs));
    }
    let root = on.cloud.address(Service::ObjectStore);
    let root = root.map_err(|error| error.into_provider_error(false))?;
    set(
        "DomainName",
        Value::text(root.host_str().unwrap_or_default()),
    );
    set("RootURL", Value::text(root.as_str()));
    set("WebsiteURL", Value::from(format!("{root}/{name}")));
    let count = |header: &str| {
        let count = answer.header(header).and_then(|text| text.parse().ok());
        count.map_or(Value::Null, Value::Int)
    };
    set("ObjectCount", count("x-container-object-count"));
    set("BytesUsed", count("x-container-bytes-used"));
    // The headers of the answer itself differ in each request.
    let of_answer = ["date", "x-trans-id", "x-openstack-request-id", MARK];
    let headers = answer.headers();
    let headers = headers.filter(|(name, _)| !of_answer.contains(name));
    let headers: Map = headers
        .map(|(name, value)| (name.into(), Value::text(value)))
        .collect();
    let headers = Value::Map(headers.into());
    set("HeadContainer", headers.clone());
    set("show", headers);
    set("id", Value::text(name));
    Ok(Value::Map(fields.into()))
}

/// The container of a call: that of the spec, or a generated one.
fn name_of(on: CloudCall<'_>, spec: &JsonMap, token: &str) -> String {
    let generated = || on.physical_name(token).to_string();
    given_name(spec).map_or_else(generated, str::to_owned)
}

async fn create(on: CloudCall<'_>, request: &ApplyRequest<'_>) -> Result<Applied, ProviderError> {
    let spec = json_of(request.desired)?;
    let token = &on.call.token;
    let name = name_of(on, &spec, token);
    let before = object_store::container(on, &name).await?;
    if before.is_some_and(|answer| answer.header(MARK) != Some(&mark_of(token))) {
        let message = format!(
            "Swift: the account has a container `{name}` already; import it, or choose another name"
        );
        return Err(ProviderError::new(ErrorKind::Document, message).at("name"));
    }
    object_store::put_container(on, &name, &container_headers(&spec, token)).await?;
    let of_account = meta_headers(&spec, ACCOUNT_META);
    if !of_account.is_empty() {
        object_store::post_account(on, &of_account).await?;
    }
    let fields = current(on, &name, request.desired).await?;
    Ok(Applied::ready(name, fields))
}

/// The fields of a container that is there.
async fn current(on: CloudCall<'_>, name: &str, inputs: &Value) -> Result<Value, ProviderError> {
    let answer = object_store::container(on, name).await?;
    let answer = answer.ok_or_else(|| {
        let message = format!("Swift: the container `{name}` was deleted meanwhile");
        ProviderError::new(ErrorKind::NotFound, message)
    })?;
    fields_of(on, name, &answer, inputs).await
}

async fn delete(on: CloudCall<'_>, request: &ApplyRequest<'_>) -> Result<(), ProviderError> {
    let name = request.id.unwrap_or_default();
    let purges = request.prior_inputs.get("PurgeOnDelete");
    if purges.and_then(Value::as_bool) == Some(true) {
        return object_store::purge(on, name).await;
    }
    if object_store::delete_container(on, name).await? {
        return Ok(());
    }
    let message = format!(
        "Swift: the container `{name}` is not empty; delete its objects, or set `PurgeOnDelete` and \
         deploy that first"
    );
    Err(ProviderError::new(ErrorKind::Conflict, message))
}

async fn read(on: CloudCall<'_>, request: ReadRequest<'_>) -> Result<ReadOutcome, ProviderError> {
    let name = match (request.id.filter(|id| !id.is_empty()), request.token) {
        (Some(id), _) => id.to_owned(),
        (None, Some(token)) => name_of(on, &json_of(request.inputs)?, token),
        (None, None) => return Ok(ReadOutcome::Unknown),
    };
    let Some(answer) = object_store::container(on, &name).await? else {
        return Ok(ReadOutcome::Absent);
    };
    let is_other = |token| answer.header(MARK) != Some(&mark_of(token));
    if request.token.is_some_and(is_other) {
        return Ok(ReadOutcome::Absent);
    }
    let fields = fields_of(on, &name, &answer, request.inputs).await?;
    Ok(ReadOutcome::Present(Observed {
        id: name.into(),
        fields,
        private: request.private.clone(),
        ..Observed::default()
    }))
}

impl Handler for Container {
    fn type_name(&self) -> &'static str {
        "OS::Swift::Container"
    }

    fn table(&self) -> Option<Table> {
        Some(Table {
            properties: PROPERTIES,
            update: Update::Never,
        })
    }

    fn adjust(&self, ty: &mut ResourceType) {
        ty.capabilities.finds = true;
    }

    fn check<'a>(
        &'a self,
        _on: Option<CloudCall<'a>>,
        spec: &'a Value,
        found: &'a mut CheckFindings,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        let name = spec.get("name").and_then(Value::as_text);
        let name = name.unwrap_or_default();
        if name.contains('/') || name.len() > LONGEST_NAME {
            let message = format!(
                "Swift takes names of containers without `/`, of at most {LONGEST_NAME} bytes"
            );
            found.refuse("name", message);
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn create<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(create(on, request))
    }

    /// The document cannot change a container, but somebody may have changed it.
    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            let name = request.id.unwrap_or_default();
            let fields = current(on, name, request.desired).await?;
            Ok(Applied::ready(name, fields))
        })
    }

    fn delete<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: &'a ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(delete(on, request))
    }

    fn read<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(read(on, request))
    }

    /// Two containers cannot have one name.
    fn plan<'a>(
        &'a self,
        on: CloudCall<'a>,
        request: PlanRequest<'a>,
    ) -> BoxFuture<'a, Result<Planned, ProviderError>> {
        Box::pin(async move {
            let (prior, desired) = (json_of(request.prior_inputs)?, json_of(request.desired)?);
            let name = given_name(&desired);
            let keeps_name = name.is_some() && name == given_name(&prior);
            let mut planned = Planned::by_policy(Some(on.ty), &request);
            if keeps_name {
                planned.verdict = Verdict::Replace {
                    delete_first: Some(true),
                };
            }
            Ok(planned)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_of_maps_are_headers() {
        let spec = json!({
            "X-Container-Meta": { "web-index": "index.html", "copies": 3, "open": true },
            "X-Container-Read": ".r:*",
        });
        let headers = container_headers(spec.as_object().unwrap_or(&JsonMap::new()), "token");
        let headers: Vec<String> = headers.iter().map(|(k, v)| format!("{k}: {v}")).collect();
        let mark = format!("{MARK}: {}", mark_of("token"));
        let expected = [
            "X-Container-Meta-web-index: index.html",
            "X-Container-Meta-copies: 3",
            "X-Container-Meta-open: True",
            "X-Container-Read: .r:*",
            &mark,
        ];
        assert_eq!(headers, expected);
    }
}
