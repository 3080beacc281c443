//! The requests of a deployment without `cyan`: the floor for measurements.
//!
//! ```text
//! bare_kube_client PHASE NUMBER NAMESPACE
//! ```
//!
//! `stage` applies a number of ConfigMaps as a dry run, `deploy` does the same and then applies
//! them, `read` reads each once, and `destroy` deletes each in the foreground and reads it until it
//! is gone. Ten requests run at once. The kubeconfig is that of the environment.

use std::time::Duration;

use futures::StreamExt as _;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams};
use kube::{Client, Config};
use serde_json::json;

/// The number of requests at once, as the catalogue of the provider has it.
const AT_ONCE: usize = 10;

/// The field manager.
const MANAGER: &str = "bare";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [phase, number, namespace] = arguments.as_slice() else {
        return Err("write: bare_kube_client PHASE NUMBER NAMESPACE".into());
    };
    let number: usize = number.parse()?;
    let mut config = Config::infer().await?;
    config.default_retry = false;
    let client = Client::try_from(config)?;
    let kind = ApiResource {
        group: String::new(),
        version: "v1".to_owned(),
        api_version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        plural: "configmaps".to_owned(),
    };
    let maps: Api<DynamicObject> = Api::namespaced_with(client, namespace, &kind);
    if phase == "stage" || phase == "deploy" {
        for_all(number, |at| apply(&maps, at, true)).await?;
    }
    match phase.as_str() {
        "stage" => Ok(()),
        "deploy" => for_all(number, |at| apply(&maps, at, false)).await,
        "read" => for_all(number, |at| read(&maps, at)).await,
        "destroy" => for_all(number, |at| delete(&maps, at)).await,
        other => Err(format!("there is no phase `{other}`").into()),
    }
}

/// Runs a call for each object, some of them at once.
async fn for_all<F>(
    number: usize,
    call: impl Fn(usize) -> F,
) -> Result<(), Box<dyn std::error::Error>>
where
    F: Future<Output = kube::Result<()>>,
{
    let mut calls = futures::stream::iter((0..number).map(call)).buffer_unordered(AT_ONCE);
    while let Some(done) = calls.next().await {
        done?;
    }
    Ok(())
}

async fn apply(maps: &Api<DynamicObject>, at: usize, dry_run: bool) -> kube::Result<()> {
    let name = format!("c{at}");
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"k": format!("v{at}")},
    });
    let with = PatchParams {
        dry_run,
        ..PatchParams::apply(MANAGER)
    };
    maps.patch(&name, &with, &Patch::Apply(&object)).await?;
    Ok(())
}

async fn read(maps: &Api<DynamicObject>, at: usize) -> kube::Result<()> {
    maps.get(&format!("c{at}")).await?;
    Ok(())
}

async fn delete(maps: &Api<DynamicObject>, at: usize) -> kube::Result<()> {
    let name = format!("c{at}");
    maps.delete(&name, &DeleteParams::foreground()).await?;
    while maps.get_opt(&name).await?.is_some() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
