//! A client that makes the calls of a deployment directly, without conversions. Measures the cost
//! of the plugin itself.
//!
//! `bare_client COUNT PARALLEL -- PROGRAM [ARGUMENT]..` starts the plugin `shop` of the tests with
//! an empty folder. Prints the time of COUNT creates (Check, Create with preview, Check, Create)
//! and of a plan without changes (Check, Diff), with PARALLEL resources at a time.

#![expect(clippy::print_stdout, reason = "its result is its output")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use plugins::grpc::{CallError, Connection, ConnectionOptions};
use plugins::{Inherit, Launch, Logs, ProcessLimits, start};
use prost_types::value::Kind;
use prost_types::{Struct, Value};
use pulumi_host::messages::{
    CheckRequest, CheckResponse, ConfigureRequest, ConfigureResponse, CreateRequest,
    CreateResponse, DiffRequest, DiffResponse, method,
};
use pulumi_host::{Engine, PulumiProtocol, launch_with_engine};

const TYPE: &str = "shop:index:Item";
/// The answer of a plugin to Diff if nothing differs.
const NO_CHANGE: i32 = 1;

fn text(text: String) -> Value {
    Value {
        kind: Some(Kind::StringValue(text)),
    }
}

/// A created resource.
#[derive(Clone, Default)]
struct Made {
    at: usize,
    id: String,
    inputs: Option<Struct>,
    outputs: Option<Struct>,
}

fn urn(at: usize) -> String {
    format!("urn:pulumi:dev::bench::{TYPE}::item-{at}")
}

fn written(at: usize) -> Struct {
    Struct {
        fields: [("label".to_owned(), text(format!("label-{at}")))].into(),
    }
}

async fn check(
    connection: &Connection,
    at: usize,
    olds: Option<Struct>,
) -> Result<Option<Struct>, CallError> {
    let request = CheckRequest {
        urn: urn(at),
        olds: Some(olds.unwrap_or_default()),
        news: Some(written(at)),
        random_seed: vec![7; 32],
        name: format!("item-{at}"),
        r#type: TYPE.to_owned(),
        autonaming: None,
    };
    Ok(connection
        .unary::<_, CheckResponse>(method::CHECK, request)
        .await?
        .inputs)
}

async fn create(connection: &Connection, at: usize) -> Result<Made, CallError> {
    let mut made = Made::default();
    for preview in [true, false] {
        let inputs = check(connection, at, None).await?;
        let request = CreateRequest {
            urn: urn(at),
            properties: inputs.clone(),
            preview,
            name: format!("item-{at}"),
            r#type: TYPE.to_owned(),
            timeout: 0.0,
        };
        let answer: CreateResponse = connection.unary(method::CREATE, request).await?;
        made = Made {
            at,
            id: answer.id,
            inputs,
            outputs: answer.properties,
        };
    }
    Ok(made)
}

/// Whether the plan of the resource has no changes.
async fn plan(connection: &Connection, made: Made) -> Result<bool, CallError> {
    let news = check(connection, made.at, made.inputs.clone()).await?;
    let request = DiffRequest {
        id: made.id,
        urn: urn(made.at),
        olds: made.outputs,
        news,
        old_inputs: made.inputs,
        name: format!("item-{}", made.at),
        r#type: TYPE.to_owned(),
        ignore_changes: Vec::new(),
    };
    let answer: DiffResponse = connection.unary(method::DIFF, request).await?;
    Ok(answer.changes == NO_CHANGE)
}

fn shown(what: &str, count: usize, elapsed: Duration) {
    let each = elapsed.as_secs_f64() * 1e3 / count.max(1) as f64;
    println!("{what}: {:.3} s, {each:.3} ms each", elapsed.as_secs_f64());
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: bare_client COUNT PARALLEL -- PROGRAM [ARGUMENT]..";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, parallel, separator, program, rest @ ..] = &arguments[..] else {
        return Err(usage.into());
    };
    if separator != "--" {
        return Err(usage.into());
    }
    let (count, parallel): (usize, usize) = (count.parse()?, parallel.parse()?);

    let folder = tempfile::tempdir()?;
    let program = Launch {
        name: "pulumi provider `shop`".into(),
        program: PathBuf::from(program),
        arguments: rest.iter().map(Into::into).collect(),
        folder: std::env::current_dir()?,
        environment: Vec::new(),
        inherit: Inherit::All,
        limits: ProcessLimits::default(),
    };
    let engine = Engine::start(
        "urn:pulumi:dev::bench::pulumi:pulumi:Stack::bench-dev".into(),
        Arc::new(|_| ()),
    )
    .await?;
    let began = Instant::now();
    let plugin = start(
        launch_with_engine(program, "bench", &engine.address()),
        Arc::new(PulumiProtocol),
        Logs::default(),
    )
    .await?;
    let connection = &Connection::connect_to_plugin(&plugin, &ConnectionOptions::default()).await?;
    let path = folder.path().display().to_string();
    let request = ConfigureRequest {
        variables: [("shop:config:folder".to_owned(), path.clone())].into(),
        args: Some(Struct {
            fields: [("folder".to_owned(), text(path))].into(),
        }),
        accept_secrets: true,
        accept_resources: true,
        ..ConfigureRequest::default()
    };
    connection
        .unary::<_, ConfigureResponse>(method::CONFIGURE, request)
        .await?;
    shown("start", 1, began.elapsed());

    let began = Instant::now();
    let creates = stream::iter(0..count)
        .map(|at| create(connection, at))
        .buffer_unordered(parallel);
    let made: Vec<Made> = creates.try_collect().await?;
    shown("create", count, began.elapsed());

    let began = Instant::now();
    let plans = stream::iter(made)
        .map(|made| plan(connection, made))
        .buffer_unordered(parallel);
    let same: Vec<bool> = plans.try_collect().await?;
    shown("plan without changes", count, began.elapsed());
    let began = Instant::now();
    plugin.stop().await;
    shown("stop", 1, began.elapsed());
    match same.iter().all(|same| *same) {
        true => Ok(()),
        false => Err("a resource differs from what was created".into()),
    }
}
