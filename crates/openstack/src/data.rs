//! Data sources: objects of a cloud that exist, found by name or by any field.
//!
//! The catalogue has the fields. The name is a filter of the service; the engine applies the others.

use ::provider::json::from_json;
use ::provider::{Candidate, ErrorKind, FetchRequest, Fetched, ProviderError};
use blueprint::{Schema, Value};
use serde_json::Value as Json;

use crate::client::{Cloud, Service, ServiceRequest};

/// A type of data source: the objects that it reads.
struct DataSource {
    type_name: &'static str,
    service: Service,
    path: &'static str,
    /// The key of the list in an answer.
    list: &'static str,
    /// The parameters of the query that make the list complete.
    query: &'static [(&'static str, &'static str)],
    /// Whether the service finds objects by their name.
    finds_names: bool,
}

/// A type of Neutron.
const fn of_network(type_name: &'static str, path: &'static str, list: &'static str) -> DataSource {
    DataSource {
        type_name,
        service: Service::Network,
        path,
        list,
        query: &[],
        finds_names: true,
    }
}

static SOURCES: [DataSource; 5] = [
    of_network("OS::Neutron::Net", "networks", "networks"),
    of_network("OS::Neutron::Subnet", "subnets", "subnets"),
    of_network(
        "OS::Neutron::SecurityGroup",
        "security-groups",
        "security_groups",
    ),
    DataSource {
        type_name: "OS::Glance::Image",
        service: Service::Image,
        path: "images",
        list: "images",
        query: &[("limit", "500")],
        finds_names: true,
    },
    DataSource {
        type_name: "OS::Nova::Flavor",
        service: Service::Compute,
        path: "flavors/detail",
        list: "flavors",
        query: &[("is_public", "none")],
        finds_names: false,
    },
];

/// The fields whose names in the API are others.
const RENAMED: [(&str, &str); 2] = [
    ("external", "router:external"),
    ("is_public", "os-flavor-access:is_public"),
];

/// Fetches the objects of a type, by name and id. The schema says which fields they have.
///
/// # Errors
/// [`ErrorKind::Document`] for an unknown type; the error of a request.
pub(crate) async fn fetch(
    cloud: &Cloud,
    schema: &Schema,
    request: FetchRequest<'_>,
) -> Result<Fetched, ProviderError> {
    let source = SOURCES.iter().find(|it| it.type_name == request.type_name);
    let Some(source) = source else {
        let message = format!("`{}` cannot be read as a data source", request.type_name);
        return Err(ProviderError::new(ErrorKind::Document, message));
    };
    let mut filters = request.filters.iter().enumerate();
    let name = filters.find_map(|(at, (field, operator, value))| {
        let fits = &**field == "name" && &**operator == "=" && source.finds_names;
        Some((at, value.as_text().filter(|_| fits)?))
    });
    let mut objects = all_objects(cloud, source, name.map(|(_, name)| name)).await?;
    let text = |object: &Json, field: &str| object[field].as_str().unwrap_or_default().to_owned();
    objects.sort_by_cached_key(|it| (text(it, "name"), text(it, "id")));
    let candidates = objects.iter().map(|object| {
        let fields = fields_of(schema, object);
        Candidate {
            filter_fields: fields.clone(),
            fields,
        }
    });
    Ok(Fetched {
        candidates: candidates.collect(),
        applied: name.map(|(at, _)| at).into_iter().collect(),
        ..Fetched::default()
    })
}

/// The objects of a data source, with those of all pages.
async fn all_objects(
    cloud: &Cloud,
    source: &DataSource,
    name: Option<&str>,
) -> Result<Vec<Json>, ProviderError> {
    let first = ServiceRequest::get(source.service, source.path);
    let first = source.query.iter().fold(first, |request, (name, value)| {
        request.with_query(name, *value)
    });
    let first = match name {
        Some(name) => first.with_query("name", name),
        None => first,
    };
    let (mut objects, mut marker) = (Vec::new(), None::<String>);
    loop {
        let request = first.clone();
        let request = match &marker {
            Some(marker) => request.with_query("marker", marker.clone()),
            None => request,
        };
        let answer = cloud.send(request).await;
        let mut answer = answer
            .map_err(|error| error.into_provider_error(false))?
            .body;
        let page = answer[source.list].take();
        let page = page.as_array().cloned().unwrap_or_default();
        let last = page
            .last()
            .and_then(|it| it["id"].as_str())
            .map(str::to_owned);
        objects.extend(page);
        // A page that ends where the one before ended would come for ever.
        if last.is_none() || last == marker || !has_next(&answer, source.list) {
            return Ok(objects);
        }
        marker = last;
    }
}

/// Whether a service has more objects than it answered.
fn has_next(answer: &Json, list: &str) -> bool {
    let links = answer[format!("{list}_links")].as_array();
    let mut links = links.into_iter().flatten();
    answer["next"].is_string() || links.any(|link| link["rel"] == "next")
}

/// The fields of an object that a schema has.
fn fields_of(schema: &Schema, object: &Json) -> Value {
    let fields = schema.fields.keys().filter_map(|name| {
        let renamed = RENAMED.iter().find(|(own, _)| *own == name.as_ref());
        let field = renamed.map_or(name.as_ref(), |(_, field)| *field);
        Some((name.clone(), from_json(object.get(field)?)))
    });
    Value::map(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider_types::CATALOG;
    use serde_json::json;

    #[test]
    fn each_source_is_in_the_catalogue() {
        for source in &SOURCES {
            let ty = CATALOG.data_source_type(source.type_name);
            let fields = ty.map(|ty| ty.schema.fields.contains_key("id"));
            assert_eq!(fields, Some(true), "{}", source.type_name);
        }
    }

    #[test]
    fn an_object_has_the_fields_of_the_catalogue() {
        let ty = CATALOG.data_source_type("OS::Neutron::Net").unwrap();
        let object = json!({ "id": "n", "name": "net", "router:external": true, "revision": 3 });
        let found = fields_of(&ty.schema, &object);
        let expected = json!({ "id": "n", "name": "net", "external": true });
        assert_eq!(found, from_json(&expected));
    }

    #[test]
    fn services_say_that_there_is_more() {
        assert!(has_next(
            &json!({ "next": "/v2/images?marker=a" }),
            "images"
        ));
        let links = json!({ "flavors_links": [{ "rel": "next", "href": "x" }] });
        assert!(has_next(&links, "flavors"));
        assert!(!has_next(&json!({ "networks": [] }), "networks"));
    }
}
