//! Specs as the bodies of requests, and objects as the fields of a resource.

use ::provider::json::{from_json, to_json};
use ::provider::{BoxFuture, ErrorKind, ProviderError};
use blueprint::{FieldPath, Map, Name, PathStep, Value};
use serde_json::Value as Json;

use super::hooks::ASIDE;
use super::table::{Form, JsonMap, Property, Reading, Target};
use super::{CloudCall, Hooks};

/// The entries of a map in a spec for a service that takes only texts: other values as Python writes
/// them, as from Heat.
pub(crate) fn texts_of(spec: &JsonMap, property: &str) -> JsonMap {
    let entries = spec.get(property).and_then(Json::as_object);
    let entries = entries.into_iter().flatten().map(|(name, value)| {
        let text = match value {
            Json::String(_) => value.clone(),
            other => Json::String(pycompat::text(&from_json(other))),
        };
        (name.clone(), text)
    });
    entries.collect()
}

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

/// The names in a spec that no object has, or more than one: the places and the reasons. Values that
/// are not known yet are left out.
///
/// # Errors
/// If the cloud cannot be asked.
pub(crate) async fn wrong_names(
    on: CloudCall<'_>,
    properties: &'static [Property],
    spec: &Value,
) -> Result<Vec<(FieldPath, String)>, ProviderError> {
    let spec = json_of(spec)?;
    let mut wrong = Vec::new();
    for property in properties {
        let one = std::slice::from_ref(property);
        match body_of(on, one, &spec).await {
            Ok(_) => {}
            Err(error) if error.kind == ErrorKind::Document => {
                wrong.push((error.field.unwrap_or_default(), error.message));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(wrong)
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
pub(crate) struct Recorded<'a> {
    /// The inputs as last sent.
    pub(crate) inputs: &'a Value,
    /// The fields as last answered; null if there are none.
    pub(crate) fields: &'a Value,
}

/// A value that an object shows: the recorded one if it says the same, otherwise what the document
/// declares of the shown one.
fn as_recorded(shown: Json, name: &str, recorded: &Recorded<'_>) -> Value {
    let candidates = [recorded.fields.get(name), recorded.inputs.get(name)];
    let mut known = candidates.into_iter().flatten();
    let same = known.find(|value| {
        to_json(value).is_ok_and(|(json, _)| !json.is_null() && is_part_of(&json, &shown))
    });
    if let Some(same) = same {
        return same.clone();
    }
    let declared = recorded.inputs.get(name).map(to_json);
    match declared {
        Some(Ok((declared, _))) => from_json(&declared_part(&declared, shown)),
        Some(Err(_)) | None => from_json(&shown),
    }
}

/// Whether a value says nothing that another one contradicts: a map may have more entries, lists
/// may have another order, and numbers the form of texts.
pub(crate) fn is_part_of(part: &Json, whole: &Json) -> bool {
    match (part, whole) {
        (Json::Object(part), Json::Object(whole)) => part.iter().all(|(name, value)| {
            value.is_null()
                || whole
                    .get(name)
                    .is_some_and(|other| is_part_of(value, other))
        }),
        (Json::Array(part), Json::Array(whole)) if part.len() == whole.len() => {
            let mut left: Vec<&Json> = whole.iter().collect();
            part.iter().all(|item| {
                let found = left.iter().position(|other| is_part_of(item, other));
                found.is_some_and(|at| {
                    left.swap_remove(at);
                    true
                })
            })
        }
        (Json::String(text), Json::Number(number)) | (Json::Number(number), Json::String(text)) => {
            number.to_string() == *text
        }
        (part, whole) => part == whole,
    }
}

/// What of a shown value the document declares: of maps, only the entries that it writes.
fn declared_part(declared: &Json, shown: Json) -> Json {
    match (declared, shown) {
        (Json::Object(declared), Json::Object(shown)) => {
            let entries = shown.into_iter().filter_map(|(name, value)| {
                let declared = declared.get(&name).filter(|value| !value.is_null())?;
                let part = declared_part(declared, value);
                Some((name, part))
            });
            Json::Object(entries.collect())
        }
        (Json::Array(declared), Json::Array(shown)) if declared.len() == shown.len() => {
            let parts = declared.iter().zip(shown);
            Json::Array(
                parts
                    .map(|(one, shown)| declared_part(one, shown))
                    .collect(),
            )
        }
        (_, shown) => shown,
    }
}

/// The fields of a resource: the properties and attributes that an object shows.
pub(crate) fn fields_of(
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
        let declared = recorded.inputs.get(property.name);
        // Services and other resources set what the document does not, so that is no value of a
        // property. Nothing is recorded of an object that is imported.
        let is_free = declared.is_none_or(Value::is_null) && property.name != "name";
        if is_free && !recorded.inputs.is_null() {
            continue;
        }
        let declared = declared.and_then(|value| to_json(value).ok());
        let declared = declared.map_or(Json::Null, |(json, _)| json);
        let own = hooks.property(property.name, object, &declared);
        let shown = match (own, property.target) {
            (Some(value), _) => Some(from_json(&value)),
            (
                None,
                Target::Field {
                    field,
                    form,
                    reading: Reading::Shown,
                },
            ) if object.get(field).is_some() => Some(as_recorded(
                shown_value(&form, &object[field]),
                property.name,
                &recorded,
            )),
            (None, Target::Field { .. } | Target::Spread | Target::Hook | Target::Ignored) => {
                known(property.name)
            }
        };
        if let Some(value) = shown {
            fields.insert(property.name.into(), value);
        }
    }
    for (attribute, field) in on.ty.attribute_names() {
        let own = hooks.attribute(attribute, object);
        let value = match (own, attribute.as_ref()) {
            (own, "show") => Some(from_json(&without_aside(own.as_ref().unwrap_or(object)))),
            (Some(value), _) => Some(from_json(&value)),
            (None, field) if hooks.needs_completion(field) => None,
            (None, field) => object.get(field).map(from_json),
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

/// An id in the path of a request. An id that is the address of its object has it as its last part.
pub(super) fn id_in_path(id: &str) -> &str {
    match id.contains("://") {
        true => id.rsplit('/').next().unwrap_or(id),
        false => id,
    }
}

/// The id of an object; `None` if it has none. Some ids are numbers.
pub(super) fn id_of(hooks: &dyn Hooks, object: &Json) -> Option<Name> {
    match object.get(hooks.id_field())? {
        Json::String(id) if !id.is_empty() => Some(id.as_str().into()),
        Json::Number(id) => Some(id.to_string().into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_may_show_more_than_was_sent() {
        let sent =
            json!({"network_id": "n", "fixed_ips": [{"subnet_id": "b"}, {"subnet_id": "a"}]});
        let shown = json!({"network_id": "n", "enable_snat": true, "fixed_ips": [
            {"subnet_id": "a", "ip_address": "10.0.0.1"}, {"subnet_id": "b", "ip_address": "10.0.1.1"},
        ]});
        assert!(is_part_of(&sent, &shown));
        assert!(!is_part_of(&shown, &sent));
        assert!(is_part_of(&json!(24), &json!("24")));
        assert!(!is_part_of(&json!(["a"]), &json!(["a", "b"])));
        assert!(!is_part_of(&json!("Web"), &json!("web")));
        // One item of an object does not stand for two that were sent.
        assert!(!is_part_of(&json!(["a", "a"]), &json!(["a", "b"])));
    }

    #[test]
    fn what_the_document_does_not_declare_is_no_value_of_a_property() {
        let declared = json!({"network": "public", "enable_snat": null});
        let shown = json!({"network": "id", "enable_snat": true, "external_fixed_ips": []});
        assert_eq!(declared_part(&declared, shown), json!({"network": "id"}));
        let declared = json!([{"subnet": "s"}]);
        let shown = json!([{"subnet": "id", "ip_address": "10.0.0.1"}]);
        assert_eq!(declared_part(&declared, shown), json!([{"subnet": "id"}]));
        let several = json!([{"subnet": "id"}, {"subnet": "other"}]);
        assert_eq!(declared_part(&declared, several.clone()), several);
    }

    #[test]
    fn an_address_ends_with_the_id_of_its_object() {
        let address = "http://127.0.0.1:9311/v1/secrets/5f0e";
        assert_eq!(id_in_path(address), "5f0e");
        assert_eq!(id_in_path("a name"), "a name");
    }

    #[test]
    fn the_bits_of_the_host_are_cut() {
        assert_eq!(network_of("10.9.7.9/24"), "10.9.7.0/24");
        assert_eq!(network_of("fd00::5/64"), "fd00::/64");
        assert_eq!(network_of("10.9.7.9/0"), "0.0.0.0/0");
        assert_eq!(network_of("public"), "public");
    }
}
