//! Measures a provider with the fewest calls that a host can make: creates, then plans that find
//! nothing to do.
//!
//! ```text
//! cargo run --release -p terraform_host --example bare_client -- PROGRAM TYPE COUNT PARALLEL [client]
//! ```
//!
//! `TYPE` is `time_static` or `local_file`. The calls carry values as bytes from one to the next.
//! With `client` the same calls go through [`terraform_host::Client`], which reads and checks every
//! value.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that measures prints what it measured"
)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use blueprint::Value;
use plugins::grpc::{Connection, ConnectionOptions};
use plugins::{Inherit, Launch, Logs, Plugin, ProcessLimits};
use prost::Message;
use terraform_host::{
    ApplyRequest, ChangeVerdict, Client, Handshake, Object, OpenOptions, PlanRequest,
    ReplacePolicy, Stored,
};
use terraform_wire::proposed::proposed;
use terraform_wire::wire::{decode, encode};
use terraform_wire::{TypeSchema, conform};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

type Failed = Box<dyn Error + Send + Sync>;

#[derive(Clone, PartialEq, Message)]
struct Data {
    #[prost(bytes = "vec", tag = "1")]
    msgpack: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct Validate {
    #[prost(string, tag = "1")]
    type_name: String,
    #[prost(message, optional, tag = "2")]
    config: Option<Data>,
}

#[derive(Clone, PartialEq, Message)]
struct Json {
    #[prost(bytes = "vec", tag = "1")]
    json: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct Upgrade {
    #[prost(string, tag = "1")]
    type_name: String,
    #[prost(message, optional, tag = "3")]
    stored: Option<Json>,
}

/// The message of several calls: read uses the first three fields, plan and apply use all.
#[derive(Clone, PartialEq, Message)]
struct Change {
    #[prost(string, tag = "1")]
    type_name: String,
    #[prost(message, optional, tag = "2")]
    first: Option<Data>,
    #[prost(message, optional, tag = "3")]
    second: Option<Data>,
    #[prost(message, optional, tag = "4")]
    config: Option<Data>,
    #[prost(bytes = "vec", tag = "5")]
    private: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct Read {
    #[prost(string, tag = "1")]
    type_name: String,
    #[prost(message, optional, tag = "2")]
    current: Option<Data>,
}

/// The value of any answer. Its other fields are not read.
#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(message, optional, tag = "1")]
    value: Option<Data>,
}

/// An answer whose content is not used.
#[derive(Clone, PartialEq, Message)]
struct Nothing {}

/// One resource: its configuration in both forms, and the object that was made.
#[derive(Clone, Default)]
struct Item {
    config: Value,
    proposed: Vec<u8>,
    wire: Vec<u8>,
    object: Object,
    state: Vec<u8>,
    json: Vec<u8>,
}

struct Bench {
    connection: Connection,
    client: Client,
    type_name: String,
    schema: Arc<TypeSchema>,
    through_client: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, type_name, count, parallel, rest @ ..] = arguments.as_slice() else {
        return Err("usage: bare_client PROGRAM TYPE COUNT PARALLEL [client]".into());
    };
    let (count, parallel) = (count.parse::<usize>()?, parallel.parse::<usize>()?);
    let through_client = rest.first().is_some_and(|word| word == "client");
    let folder = tempfile::tempdir()?;
    let begin = Instant::now();
    let plugin = start(Path::new(program), folder.path()).await?;
    let client = Client::open(&plugin, OpenOptions::default()).await?;
    let prepared = client.validate_provider(&Value::Null).await?.value;
    client.configure(&prepared).await?;
    println!("start {} ms", begin.elapsed().as_millis());

    let schema = client
        .schemas()
        .provider
        .resources
        .get(type_name.as_str())
        .cloned()
        .ok_or("no such type")?;
    let connection = Connection::connect_to_plugin(&plugin, &ConnectionOptions::default()).await?;
    let bench = Arc::new(Bench {
        connection,
        client,
        type_name: type_name.clone(),
        schema,
        through_client,
    });
    let items = (0..count)
        .map(|at| bench.item(at, folder.path()))
        .collect::<Result<Vec<_>, Failed>>()?;

    let (taken, mut items) = all(&bench, items, parallel, |bench, item| async move {
        bench.create(item).await
    })
    .await?;
    report("create", count, parallel, taken);
    for item in &mut items {
        bench.store(item)?;
    }
    let (taken, _) = all(&bench, items, parallel, |bench, item| async move {
        bench.unchanged(item).await
    })
    .await?;
    report("no change", count, parallel, taken);
    drop(bench);
    plugin.stop().await;
    Ok(())
}

fn report(what: &str, count: usize, parallel: usize, taken: Duration) {
    println!(
        "{what}: {count} resources, {parallel} at a time: {} ms",
        taken.as_millis()
    );
}

async fn start(program: &Path, folder: &Path) -> Result<Plugin, Failed> {
    let launch = Launch {
        name: "the provider".into(),
        program: PathBuf::from(program),
        arguments: Vec::new(),
        folder: folder.into(),
        environment: Vec::new(),
        inherit: Inherit::All,
        limits: ProcessLimits::default(),
    };
    Ok(plugins::start(launch, Arc::new(Handshake), Logs::default()).await?)
}

/// Runs `act` for each item, at most `parallel` at a time. Returns the elapsed time.
async fn all<F, R>(
    bench: &Arc<Bench>,
    items: Vec<Item>,
    parallel: usize,
    act: F,
) -> Result<(Duration, Vec<Item>), Failed>
where
    F: Fn(Arc<Bench>, Item) -> R + Copy + Send + 'static,
    R: Future<Output = Result<Item, Failed>> + Send + 'static,
{
    let permits = Arc::new(Semaphore::new(parallel));
    let begin = Instant::now();
    let mut tasks = JoinSet::new();
    for item in items {
        let (bench, permits) = (Arc::clone(bench), Arc::clone(&permits));
        tasks.spawn(async move {
            let _permit = permits.acquire().await?;
            act(bench, item).await
        });
    }
    let mut done = Vec::new();
    while let Some(one) = tasks.join_next().await {
        done.push(one??);
    }
    Ok((begin.elapsed(), done))
}

impl Bench {
    fn item(&self, at: usize, folder: &Path) -> Result<Item, Failed> {
        let entries = match self.type_name.as_str() {
            "time_static" => {
                vec![(
                    "rfc3339",
                    Value::text(format!("2026-01-01T00:{:02}:{:02}Z", at / 60 % 60, at % 60)),
                )]
            }
            "local_file" => vec![
                (
                    "filename",
                    Value::text(folder.join(format!("f{at}")).to_string_lossy()),
                ),
                ("content", Value::text(format!("content {at}"))),
            ],
            other => return Err(format!("no configuration for `{other}`").into()),
        };
        let (block, ty) = (&self.schema.block, self.schema.block.ty());
        let config = conform(block, &Value::map(entries));
        let (proposed, wire) = (
            encode(&proposed(block, &Value::Null, &config), &ty)?,
            encode(&config, &ty)?,
        );
        Ok(Item {
            config,
            proposed,
            wire,
            ..Item::default()
        })
    }

    async fn create(&self, mut item: Item) -> Result<Item, Failed> {
        if self.through_client {
            self.client
                .validate_resource(&self.type_name, &item.config)
                .await?;
            let request = PlanRequest {
                type_name: &self.type_name,
                prior: None,
                config: &item.config,
                replacing: ReplacePolicy::IfRequired,
            };
            let first = self.client.plan(request).await?.value;
            let second = self.client.plan(request).await?.value;
            let (first, planned) = (&first.object.value, &second.object);
            if !self
                .client
                .contradictions(&self.type_name, first, &planned.value)?
                .is_empty()
            {
                return Err("the second plan contradicts the first".into());
            }
            let request = ApplyRequest {
                type_name: &self.type_name,
                prior: None,
                planned,
                config: &item.config,
            };
            item.object = self.client.apply(request).await?.object;
            return Ok(item);
        }
        let nil = || {
            Some(Data {
                msgpack: vec![0xc0],
            })
        };
        self.validate(&item).await?;
        let plan = || {
            self.change(
                nil(),
                Some(data(&item.proposed)),
                &item,
                "/tfplugin5.Provider/PlanResourceChange",
            )
        };
        plan().await?;
        let planned = plan().await?;
        let made = self
            .change(
                nil(),
                planned,
                &item,
                "/tfplugin5.Provider/ApplyResourceChange",
            )
            .await?;
        item.state = made.ok_or("nothing was made")?.msgpack;
        Ok(item)
    }

    /// Converts the created object to the stored form. It is not measured.
    fn store(&self, item: &mut Item) -> Result<(), Failed> {
        if !self.through_client {
            item.object.value = decode(&item.state, &self.schema.block.ty())?;
        }
        item.json = Stored::restore(&item.object.value, &Value::Null)?.json;
        Ok(())
    }

    async fn unchanged(&self, item: Item) -> Result<Item, Failed> {
        if self.through_client {
            let envelope = self.client.envelope(&self.type_name, &item.object)?;
            let stored = Stored::restore(&item.object.value, &envelope)?;
            let object = self.client.upgrade(&self.type_name, &stored).await?.value;
            let object = self.client.read(&self.type_name, &object).await?.value;
            self.client
                .validate_resource(&self.type_name, &item.config)
                .await?;
            let request = PlanRequest {
                type_name: &self.type_name,
                prior: Some(&object),
                config: &item.config,
                replacing: ReplacePolicy::IfRequired,
            };
            let planned = self.client.plan(request).await?.value;
            return if planned.verdict == ChangeVerdict::Same {
                Ok(item)
            } else {
                Err("something changed".into())
            };
        }
        let upgrade = Upgrade {
            type_name: self.type_name.clone(),
            stored: Some(Json {
                json: item.json.clone(),
            }),
        };
        let path = "/tfplugin5.Provider/UpgradeResourceState";
        let upgraded: Answer = self.connection.unary(path, upgrade).await?;
        let read = Read {
            type_name: self.type_name.clone(),
            current: upgraded.value,
        };
        let read: Answer = self
            .connection
            .unary("/tfplugin5.Provider/ReadResource", read)
            .await?;
        self.validate(&item).await?;
        let path = "/tfplugin5.Provider/PlanResourceChange";
        let planned = self
            .change(read.value.clone(), read.value.clone(), &item, path)
            .await?;
        let ty = self.schema.block.ty();
        let value = |data: Option<Data>| decode(&data.unwrap_or_default().msgpack, &ty);
        // A comparison of the bytes does not work, because the provider chooses their order.
        if terraform_wire::same(&value(planned)?, &value(read.value)?) {
            Ok(item)
        } else {
            Err("something changed".into())
        }
    }

    async fn validate(&self, item: &Item) -> Result<(), Failed> {
        let request = Validate {
            type_name: self.type_name.clone(),
            config: Some(data(&item.wire)),
        };
        let path = "/tfplugin5.Provider/ValidateResourceTypeConfig";
        let _: Nothing = self.connection.unary(path, request).await?;
        Ok(())
    }

    async fn change(
        &self,
        first: Option<Data>,
        second: Option<Data>,
        item: &Item,
        path: &'static str,
    ) -> Result<Option<Data>, Failed> {
        let (type_name, config) = (self.type_name.clone(), Some(data(&item.wire)));
        let request = Change {
            type_name,
            first,
            second,
            config,
            private: Vec::new(),
        };
        let answer: Answer = self.connection.unary(path, request).await?;
        Ok(answer.value)
    }
}

fn data(bytes: &[u8]) -> Data {
    Data {
        msgpack: bytes.to_vec(),
    }
}
