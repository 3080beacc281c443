//! The stub as a plugin of Terraform in protocol 6, with the types `stub_item` and `stub_other`.
//!
//! The methods that a rule can name: `check`, `plan`, `create`, `read`, `update`, `delete`,
//! `configure`, `import`.

use prost::Message;
use serde_json::{Value as Json, json};

use super::wire::{UNKNOWN, nested, pack, unpack};
use super::{Answer, Course, Failure, World};
use crate::messages::*;
use crate::messages6::*;

const SHUTDOWN: &str = "/plugin.GRPCController/Shutdown";

pub(crate) async fn answer(world: World, path: String, request: Vec<u8>) -> Answer {
    if path == SHUTDOWN {
        std::process::exit(0);
    }
    let answered = match path.rsplit('/').next().unwrap_or_default() {
        "GetProviderSchema" => Ok(schema(&world).encode_to_vec()),
        "ValidateProviderConfig" | "StopProvider" => Ok(Vec::new()),
        "ConfigureProvider" => ended(&world, "configure").await,
        "ValidateResourceConfig" => ended(&world, "check").await,
        "UpgradeResourceState" => upgrade(read(&request)),
        "PlanResourceChange" => plan(&world, read(&request)).await,
        "ApplyResourceChange" => apply(&world, read(&request)).await,
        "ReadResource" => read_object(&world, read(&request)).await,
        "ImportResourceState" => import(&world, read(&request)).await,
        _ => Err((12, "not implemented".into())),
    };
    match answered {
        Ok(message) => Answer::Message(message),
        Err((-2, _)) => Answer::Message(vec![0xff; 9]),
        Err((code, text)) => Answer::Status(code, text),
    }
}

fn read<M: Message + Default>(request: &[u8]) -> M {
    M::decode(request).unwrap()
}

fn schema(world: &World) -> SchemaAnswer {
    let attribute = |name: &str, ty: &str| AttributeMessage {
        name: name.into(),
        ty: format!("\"{ty}\"").into_bytes(),
        optional: true,
        ..AttributeMessage::default()
    };
    let computed = |attribute| AttributeMessage {
        optional: false,
        computed: true,
        ..attribute
    };
    let required = |attribute| AttributeMessage {
        optional: false,
        required: true,
        ..attribute
    };
    let nested = AttributeMessage {
        nested: Some(NestedObjectMessage {
            attributes: vec![
                required(attribute("key", "string")),
                computed(attribute("token", "string")),
            ],
            nesting: 2,
        }),
        ty: Vec::new(),
        ..attribute("nested", "string")
    };
    let item = SchemaMessage {
        version: 0,
        block: Some(BlockMessage {
            attributes: vec![
                computed(attribute("id", "string")),
                required(attribute("name", "string")),
                attribute("size", "number"),
                attribute("source", "string"),
                attribute("any", "dynamic"),
                computed(attribute("mark", "string")),
                AttributeMessage {
                    computed: true,
                    ..attribute("zone", "string")
                },
                nested,
            ],
            ..BlockMessage::default()
        }),
    };
    let types: &[&str] = match world.take_rule("schema") {
        Some(_) => &["stub_other"],
        None => &["stub_item", "stub_other"],
    };
    SchemaAnswer {
        provider: Some(SchemaMessage {
            version: 0,
            block: Some(BlockMessage::default()),
        }),
        resources: types
            .iter()
            .map(|name| ((*name).to_owned(), item.clone()))
            .collect(),
        ..SchemaAnswer::default()
    }
}

fn json_of(data: &Option<Data>) -> Json {
    match data {
        Some(data) if !data.msgpack.is_empty() => unpack(&mut data.msgpack.as_slice()),
        Some(data) if !data.json.is_empty() => serde_json::from_slice(&data.json).unwrap(),
        _ => Json::Null,
    }
}

fn data_of(value: &Json) -> Option<Data> {
    let mut msgpack = Vec::new();
    pack(value, &mut msgpack);
    Some(Data {
        msgpack,
        json: Vec::new(),
    })
}

/// A call whose answer is empty.
async fn ended(world: &World, method: &str) -> Result<Vec<u8>, Failure> {
    match Course::begin(world, method).await.end().await {
        Err((-1, text)) => Ok(NoticesAnswer {
            notices: refused(&text),
        }
        .encode_to_vec()),
        ended => ended.map(|()| Vec::new()),
    }
}

fn refused(text: &str) -> Vec<NoticeMessage> {
    vec![NoticeMessage {
        severity: 1,
        summary: text.into(),
        ..NoticeMessage::default()
    }]
}

fn upgrade(request: UpgradeMessage) -> Result<Vec<u8>, Failure> {
    let stored: Json = serde_json::from_slice(&request.stored.unwrap_or_default().json).unwrap();
    Ok(UpgradeStateAnswer {
        state: data_of(&stored),
        notices: Vec::new(),
    }
    .encode_to_vec())
}

/// An object with those values that a rule sets.
fn with(mut object: Json, course: &Course) -> Json {
    for (name, value) in course.set.iter().filter_map(Json::as_object).flatten() {
        object[name] = value.clone();
    }
    if course.deep > 0 {
        object["any"] = json!(["string", nested(course.deep)]);
    }
    object
}

/// Replaces the parts that the provider computes: null or unknown ones of an object.
fn complete(object: &mut Json, value: impl Fn(&str) -> Json) {
    for name in ["id", "mark"] {
        if object[name].is_null() || object[name] == UNKNOWN {
            object[name] = value(name);
        }
    }
    for item in object["nested"].as_array_mut().into_iter().flatten() {
        if item["token"].is_null() || item["token"] == UNKNOWN {
            item["token"] = value("token");
        }
    }
}

async fn plan(world: &World, request: PlanMessage) -> Result<Vec<u8>, Failure> {
    let course = Course::begin(world, "plan").await;
    if let Err((code, text)) = course.end().await {
        let notices = refused(&text);
        return match code {
            -1 => Ok(PlanAnswer {
                notices,
                ..PlanAnswer::default()
            }
            .encode_to_vec()),
            _ => Err((code, text)),
        };
    }
    let (prior, mut planned) = (json_of(&request.prior), json_of(&request.proposed));
    let mut replaces = Vec::new();
    if !planned.is_null() {
        complete(&mut planned, |_| Json::from(UNKNOWN));
        planned = with(planned, &course);
        if !prior.is_null() && prior["name"] != planned["name"] {
            replaces.push(AttributePath {
                steps: vec![AttributePathStep {
                    selector: Some(Selector::Attribute("name".into())),
                }],
            });
        }
    }
    let planned = data_of(&planned);
    Ok(PlanAnswer {
        planned,
        replaces,
        private: request.private,
        ..PlanAnswer::default()
    }
    .encode_to_vec())
}

async fn apply(world: &World, request: ApplyMessage) -> Result<Vec<u8>, Failure> {
    let (prior, mut object) = (json_of(&request.prior), json_of(&request.planned));
    let method = match (prior.is_null(), object.is_null()) {
        (true, _) => "create",
        (_, true) => "delete",
        _ => "update",
    };
    let course = Course::begin(world, method).await;
    let name = object["name"].as_str().unwrap_or_default().to_owned();
    if method != "delete" {
        complete(&mut object, |part| Json::from(format!("{part}-{name}")));
    }
    let mut state = object.clone();
    match method {
        "create" if course.effect => {
            let id = match &course.id {
                Some(id) => id.clone(),
                None => world.create(&name, &Json::Null),
            };
            state["id"] = Json::from(id.as_str());
            if course.id.is_none() {
                world.put(&id, &state);
            }
        }
        "update" if course.effect => world.put(object["id"].as_str().unwrap(), &object),
        "delete" if course.effect => world.delete(prior["id"].as_str().unwrap()),
        "create" => state = Json::Null,
        _ => state = prior,
    }
    let notices = match course.end().await {
        Err((-1, text)) => refused(&text),
        ended => {
            ended?;
            Vec::new()
        }
    };
    if !state.is_null() {
        state = with(state, &course);
    }
    let state = data_of(&state);
    Ok(ApplyAnswer {
        state,
        notices,
        private: request.private,
        ..ApplyAnswer::default()
    }
    .encode_to_vec())
}

async fn read_object(world: &World, request: ReadMessage) -> Result<Vec<u8>, Failure> {
    let course = Course::begin(world, "read").await;
    course.end().await?;
    let id = json_of(&request.current)["id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let found = world
        .get(&id)
        .map_or(Json::Null, |found| with(found, &course));
    Ok(ReadAnswer {
        state: data_of(&found),
        private: request.private,
        ..ReadAnswer::default()
    }
    .encode_to_vec())
}

async fn import(world: &World, request: ImportMessage) -> Result<Vec<u8>, Failure> {
    let course = Course::begin(world, "import").await;
    course.end().await?;
    let resources = world
        .get(&request.id)
        .into_iter()
        .map(|found| ImportedResource {
            type_name: request.type_name.clone(),
            state: data_of(&found),
            ..ImportedResource::default()
        });
    Ok(ImportAnswer {
        resources: resources.collect(),
        notices: Vec::new(),
    }
    .encode_to_vec())
}
