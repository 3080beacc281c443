//! Data sources: objects that exist, found by name, by label or by field.
//!
//! A name is read with one request; everything else lists the objects of a namespace.

use std::sync::Arc;

use ::kubernetes::KindType;
use ::provider::{
    Candidate, DataSourceType, ErrorKind, FetchRequest, Fetched, FilterField, FilterType,
    ProviderError, ResourceType,
};
use blueprint::{Field, IndexMap, Kind, Name, Schema, Type};
use serde_json::Value as Json;

use crate::context::CallContext;
use crate::kinds::ApiKind;
use crate::observed::fields_of;

/// The filter for the name of the object.
const NAME: &str = "metadata.name";

/// The filter for the namespace of the object.
const NAMESPACE: &str = "metadata.namespace";

/// The filters that the server applies to a list, each with its parameter.
const SELECTORS: [&str; 2] = ["labelSelector", "fieldSelector"];

/// The number of objects in an answer of the server. It has a token for the next ones.
const PAGE: usize = 500;

/// The data source of a kind.
pub(crate) fn data_source_type(ty: &KindType, resource: &ResourceType) -> DataSourceType {
    let filter = |ty: FilterType, docs: &str, pushed: bool| FilterField {
        ty,
        push_down: match pushed {
            true => vec!["=".into()],
            false => Vec::new(),
        },
        docs: docs.into(),
    };
    let text = || FilterType::Scalar(Type::Text);
    let filters: [(&str, FilterField); 5] = [
        (NAME, filter(text(), "The name of the object.", true)),
        (
            NAMESPACE,
            filter(
                text(),
                "The namespace. The default is that of the configuration; with another comparison \
                 than `=`, all namespaces are read.",
                true,
            ),
        ),
        (
            "metadata.labels",
            filter(FilterType::Map(Type::Text), "The labels.", false),
        ),
        (
            SELECTORS[0],
            filter(
                text(),
                "A selector by labels, as `kubectl get -l` takes it.",
                true,
            ),
        ),
        (
            SELECTORS[1],
            filter(
                text(),
                "A selector by fields, as `kubectl get --field-selector` takes it.",
                true,
            ),
        ),
    ];
    let mut fields = IndexMap::default();
    add_readable(&resource.schema, "", 0, &mut fields);
    DataSourceType {
        name: resource.name.clone(),
        docs: format!("Reads an object of the type `{ty}` that exists.").into(),
        example: "".into(),
        filters: filters
            .into_iter()
            .map(|(name, filter)| (name.into(), filter))
            .collect(),
        exclusive: Vec::new(),
        required: Vec::new(),
        schema: Arc::new(Schema {
            fields,
            open: resource.schema.open,
        }),
        annotations: Vec::new(),
        rows: Vec::new(),
        acts: false,
    }
}

/// The number of names in the longest path of an exportable field.
const DEEPEST: usize = 5;

/// Adds the fields of an object, and those of the objects in it with dotted names. A sensitive
/// object makes its parts sensitive.
fn add_readable(schema: &Schema, above: &str, depth: usize, fields: &mut IndexMap<Name, Field>) {
    for (name, field) in &schema.fields {
        let path = match above.is_empty() {
            true => name.to_string(),
            false => format!("{above}.{name}"),
        };
        if let (Kind::Object(inner), true) = (&field.kind, depth + 1 < DEEPEST) {
            add_readable(inner, &path, depth + 1, fields);
        }
        let read = Field {
            required: false,
            computed: true,
            optional: false,
            ..field.clone()
        };
        fields.insert(path.into(), read);
    }
}

/// Fetches the objects that fit the filters which the server can apply, by namespace and name.
///
/// # Errors
/// If the cluster has no such kind, or cannot be asked, or refuses.
pub(crate) async fn fetch(
    context: CallContext<'_>,
    request: FetchRequest<'_>,
) -> Result<Fetched, ProviderError> {
    let Ok(KindType::Kind(kind)) = request.type_name.parse::<KindType>() else {
        let message = format!("`{}` cannot be read as a data source", request.type_name);
        return Err(ProviderError::new(ErrorKind::Document, message));
    };
    let found = context.cluster.kind(&kind, None).await;
    let Some(api) = found.map_err(|error| context.failed(error))? else {
        let message = format!("the cluster {} has no kind `{kind}`", context.cluster.title);
        return Err(ProviderError::new(ErrorKind::Document, message));
    };
    let equal = |wanted: &str| {
        let mut filters = request.filters.iter().enumerate();
        filters.find_map(|(at, (field, operator, value))| {
            let fits = &**field == wanted && &**operator == "=";
            Some((at, value.as_text().filter(|_| fits)?))
        })
    };
    let mut applied = Vec::new();
    let mut take = |wanted: &str| {
        let (at, text) = equal(wanted)?;
        applied.push(at);
        Some(text)
    };
    let (name, namespace) = (take(NAME), take(NAMESPACE));
    let selectors = SELECTORS.map(|selector| (selector, take(selector)));
    let compares_namespaces = request
        .filters
        .iter()
        .any(|(field, ..)| &**field == NAMESPACE);
    let namespace = match (namespace, compares_namespaces) {
        (Some(namespace), _) => Some(namespace),
        (None, true) => None,
        (None, false) => Some(&*context.cluster.namespace),
    };
    let selects = selectors.iter().any(|(_, value)| value.is_some());
    let objects = match name {
        Some(name) if !selects && (namespace.is_some() || !api.namespaced) => {
            named(&context, &api, namespace, name).await?
        }
        _ => {
            let named = name.map(|name| format!("metadata.name={name}"));
            list(&context, &api, namespace, &selectors, named).await?
        }
    };
    let candidates = objects.iter().map(|object| {
        let fields = fields_of(&kind, object);
        Candidate {
            filter_fields: fields.clone(),
            fields,
        }
    });
    Ok(Fetched {
        candidates: candidates.collect(),
        applied,
        diagnostics: Vec::new(),
    })
}

async fn named(
    context: &CallContext<'_>,
    api: &ApiKind,
    namespace: Option<&str>,
    name: &str,
) -> Result<Vec<Json>, ProviderError> {
    if name.is_empty() || name.contains(['/', '%', '?', '#']) {
        return Ok(Vec::new());
    }
    let path = api.path(namespace, name);
    match context.cluster.get(&api.group_kind(), &path).await {
        Ok(object) => Ok(vec![object]),
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(context.failed(error)),
    }
}

/// Lists objects, page by page, in the order of namespace and name, which is that of the server.
async fn list(
    context: &CallContext<'_>,
    api: &ApiKind,
    namespace: Option<&str>,
    selectors: &[(&str, Option<&str>)],
    named: Option<String>,
) -> Result<Vec<Json>, ProviderError> {
    let mut query = format!("{}?limit={PAGE}", api.collection(namespace));
    let (mut fields, mut labels) = (named.unwrap_or_default(), String::new());
    for (selector, value) in selectors {
        let Some(value) = value else { continue };
        match *selector == SELECTORS[0] {
            true => labels = (*value).to_owned(),
            false if fields.is_empty() => fields = (*value).to_owned(),
            false => fields = format!("{fields},{value}"),
        }
    }
    for (name, value) in [(SELECTORS[0], labels), (SELECTORS[1], fields)] {
        if !value.is_empty() {
            query.push_str(&format!("&{name}={}", escaped(&value)));
        }
    }
    let kind = api.group_kind();
    let mut all = Vec::new();
    let mut next = String::new();
    loop {
        let page = match next.is_empty() {
            true => query.clone(),
            false => format!("{query}&continue={}", escaped(&next)),
        };
        let answer = context.cluster.get(&kind, &page).await;
        let mut answer = answer.map_err(|error| context.failed(error))?;
        if let Json::Array(items) = answer["items"].take() {
            all.extend(items);
        }
        next = answer["metadata"]["continue"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        if next.is_empty() {
            break;
        }
    }
    // Items of a list do not repeat what they are.
    for item in &mut all {
        item["apiVersion"] = Json::String(api.version.to_string());
        item["kind"] = Json::String(api.kind.to_string());
    }
    Ok(all)
}

/// The text as a value of a query.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            other => escaped.push_str(&format!("%{other:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_escaped() {
        assert_eq!(
            escaped("app=web, tier!=é"),
            "app%3Dweb%2C%20tier%21%3D%C3%A9"
        );
    }
}
