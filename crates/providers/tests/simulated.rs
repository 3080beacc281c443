//! The simulation of every built-in catalogue, with specs that are derived from the catalogue.

#![allow(
    clippy::unwrap_used,
    reason = "a test ends at the first unexpected result"
)]

use std::sync::Arc;

use blueprint::{Address, Field, Kind, Map, Name, Schema, Value};
use contract_tests::provider::{Case, Setup};
use provider::{
    Applied, ApplyRequest, Call, Catalog, Direction, ErrorKind, FetchRequest, Fit, InvokeRequest,
    Operation, Provider, Session,
};
use providers::fake::{FakeOptions, SharedCloud, provider};

/// The smallest valid value of a field.
fn smallest(field: &Field) -> Value {
    if let Some(value) = field.allowed.first() {
        return value.clone();
    }
    let limits = &field.constraint;
    match &field.kind {
        Kind::Any => Value::from("anything"),
        Kind::String => match limits.pattern.as_deref() {
            Some(_) => [
                "a",
                "1",
                "1h",
                "https://a.example",
                "application/json",
                "2030-01-01T00:00:00Z",
            ]
            .into_iter()
            .map(Value::from)
            .find(|value| Fit::new().field(value, field, Direction::Sent).is_none())
            .unwrap_or_else(|| panic!("no text fits {:?}", limits.pattern)),
            None => Value::from("x".repeat(limits.min_length.unwrap_or(1).max(1) as usize)),
        },
        Kind::Integer => Value::Int(limits.min.unwrap_or(1.0) as i64),
        Kind::Float => Value::Float(limits.min.unwrap_or(1.0)),
        Kind::Boolean => Value::Bool(true),
        Kind::Array(item) => {
            Value::list((0..limits.min_items.unwrap_or(0)).map(|_| smallest(item)))
        }
        Kind::Map(_) => Value::Map(Arc::default()),
        Kind::Object(schema) => spec(schema),
        Kind::Union(branches) => smallest(&branches[0]),
    }
}

fn spec(schema: &Schema) -> Value {
    let required = schema.fields.iter().filter(|(_, field)| field.required);
    Value::Map(Arc::new(
        required
            .map(|(name, field)| (name.clone(), smallest(field)))
            .collect(),
    ))
}

/// The spec with one more field or another value that needs no replacement. `None` if the type has
/// no such field.
fn changed(schema: &Schema, spec: &Value) -> Option<Value> {
    let mut fields: Map = spec.as_map().unwrap().clone();
    let (name, field) = schema.fields.iter().find(|(name, field)| {
        field.is_settable()
            && !field.must_recreate
            && field.default.is_none()
            && !fields.contains_key(name.as_ref())
            && matches!(
                field.kind,
                Kind::String | Kind::Integer | Kind::Boolean | Kind::Map(_) | Kind::Any
            )
            && field.constraint.pattern.is_none()
    })?;
    fields.insert(name.clone(), smallest(field));
    Some(Value::Map(Arc::new(fields)))
}

async fn keeps_the_contract(catalog: Arc<Catalog>, documented: bool) {
    let world = SharedCloud::default();
    let cases: Vec<Case> = catalog
        .few_resource_types()
        .map(|resource_type| {
            let spec = spec(&resource_type.schema);
            let case = Case::new(&resource_type.name, spec.clone());
            match changed(&resource_type.schema, &spec) {
                Some(changed) => case.changed(changed),
                None => case,
            }
        })
        .collect();
    let make = || -> Arc<dyn Provider> {
        let options = FakeOptions {
            catalog: Some(catalog.clone()),
            world: Some(world.clone()),
            ..FakeOptions::default()
        };
        Arc::new(provider(options))
    };
    let failures = contract_tests::provider::check(
        make,
        &Setup {
            documented,
            ..Setup::in_folder("/w")
        },
        &cases,
    )
    .await;
    assert!(
        failures.is_empty(),
        "{:?}: {failures:#?}",
        catalog.namespaces
    );
    assert_eq!(world.lock().unwrap().objects().count(), 0);
}

#[tokio::test]
async fn the_simulation_of_every_built_in_provider_passes_the_suite() {
    let house: [Arc<dyn Provider>; 6] = [
        Arc::new(providers::local::provider()),
        Arc::new(providers::random::provider()),
        Arc::new(providers::tls::provider()),
        Arc::new(providers::http::provider()),
        Arc::new(providers::time::provider()),
        Arc::new(providers::std::provider()),
    ];
    for provider in house {
        keeps_the_contract(provider.catalog().clone(), true).await;
    }
}

#[tokio::test]
async fn the_simulation_of_an_own_catalogue_passes_the_suite() {
    let examples = include_str!("../../../conformance/blueprint/spec-examples/catalog.json");
    for text in [examples, SHOP] {
        keeps_the_contract(Arc::new(provider::read_catalog(text).unwrap()), false).await;
    }
}

const SHOP: &str = r#"{
  "format": 1,
  "namespace": "shop",
  "functions": {"shop_price": {"parameters": [{"name": "goods", "type": "string"}], "returns": "integer"}},
  "resourceTypes": {
    "shop/rack": {
      "idField": "name",
      "fields": {
        "name": {"kind": "string", "computed": true, "optional": true, "mustRecreate": true},
        "boards": {
          "kind": "array",
          "items": {"kind": "object", "fields": {
            "wood": {"kind": "string"},
            "boardId": {"kind": "string", "computed": true}
          }}
        },
        "rackArn": {"kind": "string", "computed": true, "pattern": "^arn:[a-z]+:.*:rack/", "maxLength": 80},
        "code": {"kind": "string", "computed": true, "pattern": "^[A-Z]{3}-\\d{4}$"},
        "label": {"kind": "string", "computed": true, "value": "{spec.name} {braces} {hash"},
        "copy": {"kind": "any", "computed": true, "nullable": true, "value": "{spec.boards}"},
        "state": {"kind": "string", "computed": true, "allowed": ["READY", "BROKEN"]},
        "weights": {"kind": "array", "computed": true, "items": {"kind": "float", "min": 1.5, "max": 2.5}, "minItems": 3},
        "place": {"kind": "object", "computed": true, "fields": {
          "room": {"kind": "union", "of": [{"kind": "integer", "max": 9}, {"kind": "string"}]},
          "tags": {"kind": "map", "values": {"kind": "boolean"}}
        }}
      }
    }
  },
  "dataSourceTypes": {
    "shop/goods": {
      "filter": {
        "name": {"type": "string"}, "price": {"type": "integer"}, "weight": {"type": "float"}, "tags": {"type": "map of string"},
        "sizes": {"type": "array of integer"}, "parts[].name": {"type": "string"}, "maker.country": {"type": "string"}
      },
      "fields": {
        "name": {"kind": "string"}, "price": {"kind": "integer"}, "weight": {"kind": "float"},
        "tags": {"kind": "map", "values": {"kind": "string"}},
        "sizes": {"kind": "array", "items": {"kind": "integer"}},
        "parts": {"kind": "array", "items": {"kind": "object", "fields": {"name": {"kind": "string"}, "id": {"kind": "string"}}}},
        "maker": {"kind": "object", "fields": {"country": {"kind": "string"}}}
      }
    }
  }
}"#;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn call(address: &str, token: &str) -> Call {
    Call {
        call_records: None,
        instances: None,
        instance: "case".into(),
        address: address.parse::<Address>().unwrap(),
        urn: Default::default(),
        token: token.into(),
        deadline: None,
        cancel: Default::default(),
        root: std::path::Path::new("/w").into(),
        folder: std::path::Path::new("/w").into(),
        settings: json("{}"),
        files: provider::FileAccess::default(),
        now: 0,
        progress: Arc::new(|_| {}),
    }
}

fn shop() -> impl Provider + Session {
    let catalog = Some(Arc::new(provider::read_catalog(SHOP).unwrap()));
    provider(FakeOptions {
        catalog,
        ..FakeOptions::default()
    })
}

async fn apply(
    shop: &impl Session,
    operation: Operation,
    address: &str,
    token: &str,
    id: Option<&str>,
    spec: &str,
) -> Result<Applied, provider::ProviderError> {
    let (null, desired) = (Value::Null, json(spec));
    let request = ApplyRequest {
        operation,
        type_name: "shop/rack",
        id,
        prior_inputs: &null,
        prior: &null,
        desired: &desired,
        private: &null,
        sources: &[],
        metadata: &Value::Null,
        delete_mode: blueprint::DeleteMode::Delete,
        schema_version: 0,
        planned: &Value::Null,
    };
    shop.apply(&call(address, token), request).await
}

#[tokio::test]
async fn computed_values_have_their_type_and_are_deterministic() {
    let spec = r#"{"name": "books", "boards": [{"wood": "oak"}, {}]}"#;
    let made = apply(&shop(), Operation::Create, "s", "1", None, spec)
        .await
        .unwrap();
    let again = apply(&shop(), Operation::Create, "s", "1", None, spec)
        .await
        .unwrap();
    assert_eq!(made.fields, again.fields);
    assert_eq!(
        made.id.as_ref(),
        "books",
        "what a document calls it stands for it"
    );
    let catalog = provider::read_catalog(SHOP).unwrap();
    let schema = &catalog.resource_types["shop/rack"].schema;
    assert_eq!(
        Fit::new().fields(&made.fields, schema, Direction::Answered),
        None
    );
    let field = |path: &str| {
        path.split('.')
            .try_fold(&made.fields, |value, name| value.get(name))
            .cloned()
            .unwrap()
    };
    assert_eq!(
        field("rackArn"),
        "arn:shop:rack:eu-west-1:123456789012:rack/books".into()
    );
    assert_eq!(
        field("label"),
        "books {braces} {hash".into(),
        "a brace that begins no mark is itself"
    );
    assert_eq!(field("copy"), json(r#"[{"wood": "oak"}, {}]"#));
    assert_eq!(field("state"), "READY".into());
    assert!(
        field("place")
            .get("room")
            .is_some_and(|room| room.as_int().is_some_and(|room| room <= 9))
    );
    let boards = field("boards");
    let boards = boards.as_list().unwrap();
    let id = |at: usize| boards[at].get("boardId").and_then(Value::as_text).unwrap();
    assert!(id(0).starts_with("board-") && id(0) != id(1));

    let other = apply(&shop(), Operation::Create, "t", "1", None, spec)
        .await
        .unwrap();
    assert_ne!(
        made.fields.get("code"),
        other.fields.get("code"),
        "another address, another object"
    );
    let bare = apply(&shop(), Operation::Create, "u", "1", None, "{}")
        .await
        .unwrap();
    assert!(
        bare.id.starts_with("rack-")
            && bare.fields.get("name") == Some(&Value::Text(bare.id.clone()))
    );
    assert_eq!(
        bare.fields.get("label"),
        Some(&" {braces} {hash".into()),
        "a field that was not sent leaves nothing"
    );
}

#[tokio::test]
async fn resources_with_the_same_name_are_distinct() {
    let shop = shop();
    let one = apply(
        &shop,
        Operation::Create,
        "a",
        "1",
        None,
        r#"{"name": "books"}"#,
    )
    .await
    .unwrap();
    let two = apply(
        &shop,
        Operation::Create,
        "b",
        "2",
        None,
        r#"{"name": "books"}"#,
    )
    .await
    .unwrap();
    assert_ne!(one.id, two.id);
    apply(
        &shop,
        Operation::Update,
        "b",
        "3",
        Some(&two.id),
        r#"{"name": "books", "boards": [{}]}"#,
    )
    .await
    .unwrap();
    let moved = apply(
        &shop,
        Operation::Update,
        "b",
        "4",
        Some(&two.id),
        r#"{"name": "pots"}"#,
    )
    .await
    .unwrap_err();
    assert_eq!(
        moved.field.as_ref().map(ToString::to_string).as_deref(),
        Some("name"),
        "a replacing field cannot be updated"
    );
    let gone = apply(&shop, Operation::Update, "c", "5", Some("nowhere"), "{}")
        .await
        .unwrap_err();
    assert_eq!(gone.kind, ErrorKind::NotFound);
    apply(&shop, Operation::Delete, "c", "6", Some("nowhere"), "null")
        .await
        .unwrap();
}

#[tokio::test]
async fn a_generated_candidate_matches_the_filters() {
    let shop = shop();
    let fetch = async |filters: &[(&str, &str, Value)]| {
        let filters: Vec<(Name, Name, Value)> = filters
            .iter()
            .map(|(field, operator, search)| ((*field).into(), (*operator).into(), search.clone()))
            .collect();
        let annotations = Value::Null;
        let request = FetchRequest {
            type_name: "shop/goods",
            filters: &filters,
            annotations: &annotations,
        };
        let found = shop.fetch(&call("d", "f"), request).await.unwrap();
        assert_eq!(
            (found.candidates.len(), found.applied.len()),
            (1, filters.len())
        );
        found.candidates[0].fields.clone()
    };
    let text = |value: &Value, path: &str| {
        value
            .get(path)
            .and_then(Value::as_text)
            .unwrap_or_default()
            .to_owned()
    };
    let found = fetch(&[
        ("name", "starts with", "te".into()),
        ("price", ">", 5.into()),
        ("weight", "=", 2.into()),
        ("tags", "has key", "green".into()),
        ("sizes", "contains", 7.into()),
        ("parts[].name", "=", "lid".into()),
        ("maker.country", "in", json(r#"["ie", "fr"]"#)),
    ])
    .await;
    assert!(text(&found, "name").starts_with("te"));
    assert!(found.get("price").and_then(Value::as_int).unwrap() > 5);
    assert_eq!(found.get("weight"), Some(&Value::Float(2.0)));
    assert!(
        found
            .get("tags")
            .and_then(|tags| tags.get("green"))
            .is_some()
    );
    assert_eq!(found.get("sizes"), Some(&json("[7]")));
    assert_eq!(
        found
            .get("parts")
            .and_then(Value::as_list)
            .and_then(|parts| parts[0].get("name")),
        Some(&"lid".into())
    );
    assert_eq!(found.get("maker"), Some(&json(r#"{"country": "ie"}"#)));
    let same = [
        ("name", "ends with", Value::from("pot")),
        ("price", "<", 5.into()),
    ];
    let found = fetch(&same).await;
    assert!(
        text(&found, "name").ends_with("pot")
            && found.get("price").and_then(Value::as_int).unwrap() < 5
    );
    assert_eq!(found, fetch(&same).await);
    assert_ne!(found, fetch(&[]).await);
}

#[tokio::test]
async fn a_function_without_a_provider_returns_a_value_of_its_type() {
    let shop = shop();
    let price = async |goods: &str| {
        let request = InvokeRequest {
            function: "shop_price",
            arguments: &vec![goods.into()].into(),
            preview: false,
        };
        shop.invoke(&call("f", ""), request).await.unwrap()
    };
    assert!(price("tea").await.as_int().is_some());
    assert_eq!(price("tea").await, price("tea").await);
    assert_ne!(price("tea").await, price("jam").await);
}

#[tokio::test]
async fn a_stated_result_of_a_function_takes_the_place_of_its_provider() {
    let with_owner = |owner: &str| {
        let functions = format!(r#""functions": {{"owner": {{"returns": "string", {owner}}}}}"#);
        let text = format!(r#"{{"format": 1, "namespace": "shop", {functions}}}"#);
        Some(Arc::new(provider::read_catalog(&text).unwrap()))
    };
    let behind = || FakeOptions {
        catalog: with_owner(r#""simulated": "the provider""#),
        ..FakeOptions::default()
    };
    let answer = async |catalog: Option<Arc<Catalog>>| {
        let simulation = provider(FakeOptions {
            catalog,
            functions: Some(Arc::new(provider(behind()))),
            ..FakeOptions::default()
        });
        let request = InvokeRequest {
            function: "owner",
            arguments: &Vec::new().into(),
            preview: true,
        };
        simulation.invoke(&call("f", ""), request).await.unwrap()
    };
    let stated = answer(with_owner(r#""simulated": "nobody""#)).await;
    assert_eq!(stated, Value::from("nobody"));
    let asked = answer(with_owner(r#""docs": "Who owns it.""#)).await;
    assert_eq!(asked, Value::from("the provider"));
}
