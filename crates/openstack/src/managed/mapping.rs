//! Specs as the bodies of requests, and objects as the fields of a resource.

use ::provider::json::{from_json, to_json};
use ::provider::{BoxFuture, ErrorKind, ProviderError};
use blueprint::{FieldPath, Map, Name, PathStep, Value};
use serde_json::Value as Json;

use super::hooks::ASIDE;
use super::table::{Form, Property, Reading, Target};
use super::{CloudCall, Hooks};

/// A JSON object.
pub(crate) type JsonMap = serde_json::Map<String, Json>;

/// The JSON of a spec, without the properties that are null. Secret marks are left out, so it must
/// not be shown.
///
/// # Errors
/// [`ErrorKind::Document`] at a value that JSON cannot express.
pub(crate) fn json_of(spec: &Value) -> Result<JsonMap, ProviderError> {
    let (json, _) = to_json(spec)
        .map_err(|error| ProviderError::new(ErrorKind::Document, error.problem).at(error.path))?;
    let Json::Object(mut entries) = json else {
        return Ok(JsonMap::new());
    };
    entries.retain(|_, value| !value.is_null());
    Ok(entries)
}

/// The fields of an object that a spec describes. Names of other objects become their ids.
///
/// # Errors
/// [`ErrorKind::Document`] at a name that no object has; the error of the request that looks it up.
pub(crate) fn body_of<'a>(
    on: CloudCall<'a>,
    properties: &'static [Property],
    spec: &'a JsonMap,
) -> BoxFuture<'a, Result<JsonMap, ProviderError>> {
    Box::pin(async move {
        let mut body = JsonMap::new();
        for property in properties {
            let Some(value) = spec.get(property.name).filter(|value| !value.is_null()) else {
                continue;
            };
            match property.target {
                Target::Field { field, form, .. } => {
                    let sent = sent_value(on, form, value).await;
                    let sent = sent.map_err(|error| below(property.name.into(), error))?;
                    body.insert(field.to_owned(), sent);
                }
                Target::Spread => {
                    let entries = value.as_object().into_iter().flatten();
                    body.extend(entries.map(|(name, value)| (name.clone(), value.clone())));
                }
                Target::Hook | Target::Ignored => {}
            }
        }
        Ok(body)
    })
}

/// Puts the place of an error below a field or an item.
fn below(name: Name, error: ProviderError) -> ProviderError {
    let rest = error.field.clone().unwrap_or_default();
    let path = [PathStep::Field(name)].into_iter().chain(rest.0);
    error.at(FieldPath(path.collect()))
}

/// A value in the form of the API.
fn sent_value<'a>(
    on: CloudCall<'a>,
    form: Form,
    value: &'a Json,
) -> BoxFuture<'a, Result<Json, ProviderError>> {
    Box::pin(async move {
        Ok(match form {
            Form::Same => value.clone(),
            Form::Cidr => value
                .as_str()
                .map_or_else(|| value.clone(), |it| network_of(it).into()),
            Form::Mac => match value.as_str() {
                Some(text) => text.to_lowercase().into(),
                None => value.clone(),
            },
            Form::Reference(kind) => match value.as_str() {
                Some(text) => on.id_of(kind, text).await?.into(),
                None => value.clone(),
            },
            Form::List(item) => {
                let items = value.as_array().into_iter().flatten();
                let mut sent = Vec::with_capacity(items.size_hint().0);
                for (at, one) in items.enumerate() {
                    let one = sent_value(on, *item, one).await;
                    sent.push(one.map_err(|error| at_item(at, error))?);
                }
                Json::Array(sent)
            }
            Form::Each(properties) => {
                let items = value.as_array().into_iter().flatten();
                let mut sent = Vec::with_capacity(items.size_hint().0);
                for (at, one) in items.enumerate() {
                    let Some(entries) = one.as_object() else {
                        continue;
                    };
                    let one = body_of(on, properties, entries).await;
                    sent.push(Json::Object(one.map_err(|error| at_item(at, error))?));
                }
                Json::Array(sent)
            }
            Form::One(properties) => match value.as_object() {
                Some(entries) => Json::Object(body_of(on, properties, entries).await?),
                None => value.clone(),
            },
        })
    })
}

fn at_item(at: usize, error: ProviderError) -> ProviderError {
    let rest = error.field.clone().unwrap_or_default();
    let path = [PathStep::Index(at as u64)].into_iter().chain(rest.0);
    error.at(FieldPath(path.collect()))
}

/// A network in CIDR form without the bits of the host: `10.9.7.9/24` is `10.9.7.0/24`. Other texts
/// stay.
fn network_of(text: &str) -> String {
    let parts = text.split_once('/');
    let parsed = parts.and_then(|(address, length)| {
        Some((
            address.parse::<std::net::IpAddr>().ok()?,
            length.parse::<u32>().ok()?,
        ))
    });
    match parsed {
        Some((std::net::IpAddr::V4(address), length)) if length <= 32 => {
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            let network = std::net::Ipv4Addr::from_bits(address.to_bits() & mask);
            format!("{network}/{length}")
        }
        Some((std::net::IpAddr::V6(address), length)) if length <= 128 => {
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            let network = std::net::Ipv6Addr::from_bits(address.to_bits() & mask);
            format!("{network}/{length}")
        }
        _ => text.to_owned(),
    }
}

/// The value of a property that an object has.
fn shown_value(form: &Form, value: &Json) -> Json {
    match form {
        Form::Same | Form::Reference(_) | Form::Cidr | Form::Mac => value.clone(),
        Form::List(item) => {
            let items = value.as_array().into_iter().flatten();
            Json::Array(items.map(|one| shown_value(item, one)).collect())
        }
        Form::Each(properties) => {
            let items = value.as_array().into_iter().flatten();
            Json::Array(items.map(|one| shown_entries(properties, one)).collect())
        }
        Form::One(_) if value.is_null() => Json::Null,
        Form::One(properties) => shown_entries(properties, value),
    }
}

fn shown_entries(properties: &[Property], object: &Json) -> Json {
    let shown = properties
        .iter()
        .filter_map(|property| match property.target {
            Target::Field { field, form, .. } => {
                let value = object.get(field).filter(|value| !value.is_null())?;
                Some((property.name.to_owned(), shown_value(&form, value)))
            }
            Target::Spread | Target::Hook | Target::Ignored => None,
        });
    Json::Object(shown.collect())
}

/// The recorded values that an object does not show.
pub(super) struct Recorded<'a> {
    /// The inputs as last sent.
    pub(super) inputs: &'a Value,
    /// The fields as last answered; null if there are none.
    pub(super) fields: &'a Value,
}

/// The fields of a resource: the properties and attributes that an object shows.
pub(super) fn fields_of(
    on: CloudCall<'_>,
    properties: &[Property],
    hooks: &dyn Hooks,
    object: &Json,
    recorded: Recorded<'_>,
) -> Value {
    let mut fields = Map::default();
    let known = |name: &str| {
        let answered = recorded.fields.get(name);
        answered.or_else(|| recorded.inputs.get(name)).cloned()
    };
    for property in properties {
        let own = hooks.shown(property.name, object);
        let shown = match property.target {
            _ if own.is_some() => own.as_ref().map(from_json),
            Target::Field {
                field,
                form,
                reading: Reading::Shown,
            } if object.get(field).is_some() => {
                Some(from_json(&shown_value(&form, &object[field])))
            }
            Target::Field { .. } | Target::Spread | Target::Hook | Target::Ignored => {
                known(property.name)
            }
        };
        if let Some(value) = shown {
            fields.insert(property.name.into(), value);
        }
    }
    for (attribute, field) in on.ty.attribute_names() {
        let own = hooks.attribute(attribute, object);
        let value = match attribute.as_ref() {
            "show" => Some(from_json(&without_aside(own.as_ref().unwrap_or(object)))),
            _ => match own {
                Some(value) => Some(from_json(&value)),
                None if hooks.needs_completion(attribute) => None,
                None => object.get(attribute.as_ref()).map(from_json),
            },
        };
        // What only an operation learns stays as it was recorded.
        let value = value.or_else(|| recorded.fields.get(field).cloned());
        fields.insert(field.clone(), value.unwrap_or_default());
    }
    if let Some(id) = &on.ty.id_field {
        let value = match id.as_ref() {
            "id" => id_of(hooks, object).map(Value::Text),
            field => object.get(field).map(from_json),
        };
        fields.insert(id.clone(), value.unwrap_or_default());
    }
    Value::Map(fields.into())
}

/// An object as its service shows it.
fn without_aside(object: &Json) -> Json {
    let mut shown = object.clone();
    if let Some(entries) = shown.as_object_mut() {
        entries.remove(ASIDE);
    }
    shown
}

/// The id of an object; `None` if it has none. Some ids are numbers.
pub(super) fn id_of(hooks: &dyn Hooks, object: &Json) -> Option<Name> {
    match object.get(hooks.id_field())? {
        Json::String(id) if !id.is_empty() => Some(id.as_str().into()),
        Json::Number(id) => Some(id.to_string().into()),
        _ => None,
    }
}
