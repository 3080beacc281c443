//! The stub as a plugin of Pulumi, with the types `stub:index:Item` and `stub:index:Other`.
//!
//! The methods that a rule can name: `check`, `diff`, `preview`, `create`, `read`, `preview-update`,
//! `update`, `delete`, `configure`.

use prost::Message;
use prost_types::Struct;
use serde_json::{Value as Json, json};

use super::wire::{UNKNOWN, json_of, nested, struct_of};
use super::{Answer, Course, Failure, World};
use crate::pulumi_messages::*;

/// The capabilities of the stub are those without Handshake.
pub(crate) async fn answer(world: World, path: String, request: Vec<u8>) -> Answer {
    let answered = match path.as_str() {
        method::GET_SCHEMA => Ok(GetSchemaResponse {
            schema: schema(&world),
        }
        .encode_to_vec()),
        method::CHECK_CONFIG => check_config(read(&request)),
        method::DIFF_CONFIG => Ok(DiffResponse {
            changes: 1,
            ..DiffResponse::default()
        }
        .encode_to_vec()),
        method::CONFIGURE => configure(&world).await,
        method::CHECK => check(&world, read(&request)).await,
        method::DIFF => diff(&world, read(&request)).await,
        method::CREATE => create(&world, read(&request)).await,
        method::READ => read_object(&world, read(&request)).await,
        method::UPDATE => update(&world, read(&request)).await,
        method::DELETE => delete(&world, read(&request)).await,
        method::CANCEL => {
            world.log("cancel");
            Ok(Vec::new())
        }
        _ => Err((12, "not implemented".into())),
    };
    match answered {
        Ok(message) => Answer::Message(message),
        Err((-2, _)) => Answer::Message(vec![0xff; 9]),
        Err((-1, text)) => Answer::Status(9, text),
        Err((code, text)) => Answer::Status(code, text),
    }
}

fn read<M: Message + Default>(request: &[u8]) -> M {
    M::decode(request).unwrap()
}

/// The schema. A rule `schema` with `set:{..}` replaces members of it.
fn schema(world: &World) -> String {
    let text = json!({"type": "string"});
    let inputs = json!({"name": text, "size": {"type": "integer"}, "source": text, "any": {"$ref": "pulumi.json#/Any"}});
    let mut outputs = inputs.clone();
    outputs["mark"] = text;
    let item = json!({"inputProperties": inputs, "requiredInputs": ["name"], "properties": outputs, "required": ["name", "mark"]});
    let mut schema = json!({"name": "stub", "version": "1.0.0", "resources": {"stub:index:Item": item, "stub:index:Other": item}});
    if let Some(text) = world.take_rule("schema")
        && let super::Action::Set(Json::Object(members)) = super::Action::read(&text)
    {
        for (name, value) in members {
            schema[name] = value;
        }
    }
    schema.to_string()
}

fn check_config(request: CheckRequest) -> Result<Vec<u8>, Failure> {
    Ok(CheckResponse {
        inputs: request.news,
        failures: Vec::new(),
    }
    .encode_to_vec())
}

async fn configure(world: &World) -> Result<Vec<u8>, Failure> {
    Course::begin(world, "configure").await.end().await?;
    Ok(ConfigureResponse {
        supports_preview: true,
        ..ConfigureResponse::default()
    }
    .encode_to_vec())
}

fn values(of: &Option<Struct>) -> Json {
    of.as_ref().map_or_else(|| json!({}), json_of)
}

/// Values with those that a rule sets.
fn with(mut values: Json, course: &Course) -> Json {
    for (name, value) in course.set.iter().filter_map(Json::as_object).flatten() {
        values[name] = value.clone();
    }
    if course.deep > 0 {
        values["any"] = nested(course.deep);
    }
    values
}

async fn check(world: &World, request: CheckRequest) -> Result<Vec<u8>, Failure> {
    let course = Course::begin(world, "check").await;
    course.end().await?;
    let inputs = with(values(&request.news), &course);
    Ok(CheckResponse {
        inputs: Some(struct_of(&inputs)),
        failures: Vec::new(),
    }
    .encode_to_vec())
}

async fn diff(world: &World, request: DiffRequest) -> Result<Vec<u8>, Failure> {
    let course = Course::begin(world, "diff").await;
    course.end().await?;
    let (olds, news) = (values(&request.olds), values(&request.news));
    let names = ["name", "size", "source", "any"];
    let differs = |name: &&str| {
        olds.get(*name).unwrap_or(&Json::Null) != news.get(*name).unwrap_or(&Json::Null)
    };
    let diffs: Vec<String> = names
        .iter()
        .filter(|name| differs(name))
        .map(|name| (*name).to_owned())
        .collect();
    let replaces = diffs
        .iter()
        .filter(|name| *name == "name")
        .cloned()
        .collect();
    let changes = if diffs.is_empty() { 1 } else { 2 };
    Ok(DiffResponse {
        changes,
        diffs,
        replaces,
        ..DiffResponse::default()
    }
    .encode_to_vec())
}

/// The outputs of an object with these inputs.
fn outputs(inputs: &Json, mark: &str) -> Json {
    let mut outputs = inputs.clone();
    outputs["mark"] = Json::from(mark);
    outputs
}

fn mark(inputs: &Json) -> String {
    format!("mark-{}", inputs["name"].as_str().unwrap_or_default())
}

async fn create(world: &World, request: CreateRequest) -> Result<Vec<u8>, Failure> {
    let inputs = values(&request.properties);
    if request.preview {
        let course = Course::begin(world, "preview").await;
        course.end().await?;
        let properties = with(outputs(&inputs, UNKNOWN), &course);
        let properties = Some(struct_of(&properties));
        return Ok(CreateResponse {
            properties,
            ..CreateResponse::default()
        }
        .encode_to_vec());
    }
    let course = Course::begin(world, "create").await;
    let made = outputs(&inputs, &mark(&inputs));
    let name = inputs["name"].as_str().unwrap_or("unnamed");
    let id = course.effect.then(|| match &course.id {
        Some(id) => id.clone(),
        None => world.create(name, &made),
    });
    course.end().await?;
    let properties = Some(struct_of(&with(made, &course)));
    let id = id.unwrap_or_default();
    Ok(CreateResponse {
        id,
        properties,
        ..CreateResponse::default()
    }
    .encode_to_vec())
}

async fn update(world: &World, request: UpdateRequest) -> Result<Vec<u8>, Failure> {
    let inputs = values(&request.news);
    let method = if request.preview {
        "preview-update"
    } else {
        "update"
    };
    let course = Course::begin(world, method).await;
    let made = outputs(&inputs, &mark(&inputs));
    if course.effect && !request.preview {
        world.put(&request.id, &made);
    }
    course.end().await?;
    let properties = Some(struct_of(&with(made, &course)));
    Ok(UpdateResponse {
        properties,
        ..UpdateResponse::default()
    }
    .encode_to_vec())
}

async fn read_object(world: &World, request: ReadRequest) -> Result<Vec<u8>, Failure> {
    let course = Course::begin(world, "read").await;
    course.end().await?;
    let Some(found) = world.get(&request.id) else {
        return Ok(Vec::new());
    };
    let found = with(found, &course);
    let mut inputs = found.clone();
    inputs.as_object_mut().unwrap().remove("mark");
    let (properties, inputs) = (Some(struct_of(&found)), Some(struct_of(&inputs)));
    Ok(ReadResponse {
        id: request.id,
        properties,
        inputs,
        ..ReadResponse::default()
    }
    .encode_to_vec())
}

async fn delete(world: &World, request: DeleteRequest) -> Result<Vec<u8>, Failure> {
    let course = Course::begin(world, "delete").await;
    if course.effect {
        world.delete(&request.id);
    }
    course.end().await?;
    Ok(Vec::new())
}
