//! The world of a case: a local cluster with the definitions of the tests, a controller, and the
//! person who applies objects. Time is virtual on a local cluster.

use std::collections::BTreeMap;
use std::time::Duration;

use cartographer::compat::Compat;
use controller::{Controller, ControllerOptions};
use http::{Method, Request};
use serde_json::{Value as Json, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::names::GeneratedNames;
use crate::pack;
use crate::place::CasePlace;

/// The namespace of all cases.
const NAMESPACE: &str = "case";

/// A step that does not settle is judged after this time.
const PATIENCE: Duration = Duration::from_secs(60);

/// A kind as paths name it.
#[derive(Clone, Debug)]
struct KnownKind {
    kind: String,
    api_version: String,
    plural: String,
    is_namespaced: bool,
}

/// The world of a case.
pub(crate) struct World {
    place: CasePlace,
    kinds: Vec<KnownKind>,
    running: Option<RunningController>,
    pub(crate) names: GeneratedNames,
}

struct RunningController {
    controller: Controller,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl World {
    /// A cluster with the definitions of the tests, and a controller.
    pub(crate) async fn start() -> World {
        let mut world = World {
            place: CasePlace::new().await,
            kinds: builtin_kinds(),
            running: None,
            names: GeneratedNames::default(),
        };
        world.define().await;
        world.apply(&namespace()).await;
        if world.place.is_real {
            world.apply(&rights()).await;
            world.clean().await;
        }
        world.restart().await;
        world.settle().await;
        world
    }

    /// Whether the cluster deletes objects whose owner does not exist.
    pub(crate) fn collects_garbage(&self) -> bool {
        self.place.is_real
    }

    /// Deletes what earlier cases left on a real server.
    async fn clean(&self) {
        let kept = [
            "Namespace",
            "CustomResourceDefinition",
            "ClusterRoleBinding",
        ];
        let named = |kind: &&KnownKind| !kept.contains(&kind.kind.as_str());
        for kind in self.kinds.iter().filter(named) {
            let path = match kind.is_namespaced {
                true => format!(
                    "{}/namespaces/{NAMESPACE}/{}",
                    root_of(&kind.api_version),
                    kind.plural
                ),
                false => format!("{}/{}", root_of(&kind.api_version), kind.plural),
            };
            let deleted = self.request(Method::DELETE, &path, "", None).await;
            deleted.unwrap_or_else(|error| panic!("{path}: {error}"));
        }
        let events = format!("/api/v1/namespaces/{NAMESPACE}/events");
        let deleted = self.request(Method::DELETE, &events, "", None).await;
        deleted.unwrap_or_else(|error| panic!("{events}: {error}"));
    }

    async fn define(&mut self) {
        let folder = pack::folder().expect("the pack has a folder").join("crds");
        for file in pack::entries(&folder) {
            for definition in pack::read_yaml(&file) {
                self.apply(&definition).await;
            }
        }
    }

    /// Stops the controller.
    pub(crate) async fn stop(mut self) {
        if let Some(running) = self.running.take() {
            running.end().await;
        }
    }

    /// Stops the controller and starts another one.
    pub(crate) async fn restart(&mut self) {
        if let Some(running) = self.running.take() {
            running.end().await;
        }
        self.running = Some(RunningController::start(&self.place));
    }

    /// Waits until the controller has nothing to do.
    pub(crate) async fn settle(&self) {
        let Some(RunningController { controller, .. }) = &self.running else {
            return;
        };
        let started = Instant::now();
        let mut before = None;
        while started.elapsed() < PATIENCE {
            tokio::time::sleep(self.place.quiet).await;
            let metrics = controller.metrics();
            let now = Some((metrics.reconciles, metrics.requests));
            if controller.is_idle() && before == now {
                return;
            }
            before = now;
        }
    }

    /// Creates an object, or merges it into the one that exists.
    pub(crate) async fn apply(&mut self, object: &Json) {
        let object = in_namespace(object, self.kind_of(object));
        let path = self.path(&object, "");
        let exists = self.request(Method::GET, &path, "", None).await.is_ok();
        let answer = match exists {
            true => {
                let form = "application/merge-patch+json";
                self.request(Method::PATCH, &path, form, Some(&object))
                    .await
            }
            false => {
                let collection = self.collection(&object);
                let form = "application/json";
                self.request(Method::POST, &collection, form, Some(&object))
                    .await
            }
        };
        if let Err(why) = answer {
            println!("apply {path}: {why}");
        }
        self.learn_kind(&object);
    }

    /// Merges a part into an object or, with the path `/status`, into its status.
    pub(crate) async fn patch(&mut self, named: &Json, part: &Json, below: &str) {
        let named = in_namespace(&with_metadata(named), self.kind_of(named));
        let path = self.path(&named, below);
        let form = "application/merge-patch+json";
        if let Err(why) = self.request(Method::PATCH, &path, form, Some(part)).await {
            println!("patch {path}: {why}");
        }
    }

    /// Deletes an object.
    pub(crate) async fn delete(&mut self, named: &Json) {
        let named = in_namespace(&with_metadata(named), self.kind_of(named));
        let path = self.path(&named, "");
        if let Err(why) = self.request(Method::DELETE, &path, "", None).await {
            println!("delete {path}: {why}");
        }
    }

    /// The objects that an assertion can mean: that of its name, or else all of its kind.
    pub(crate) async fn candidates(&self, wanted: &Json) -> Vec<Json> {
        let wanted = in_namespace(wanted, self.kind_of(wanted));
        if wanted["metadata"]["name"].is_string() {
            let path = self.path(&wanted, "");
            let found = self.request(Method::GET, &path, "", None).await;
            return found.into_iter().collect();
        }
        self.all(self.kind_of(&wanted)).await
    }

    /// The objects and events that a recording has, with names in normal form.
    pub(crate) async fn normal_form(&mut self) -> (BTreeMap<String, Json>, Vec<Json>) {
        let mut found = Vec::new();
        for kind in &self.kinds {
            found.extend(self.all(kind).await);
        }
        self.names.learn(&found);
        let recorded = found.iter().filter(|object| is_recorded(object));
        let named = recorded.map(|object| {
            let object = self.names.normal(object);
            let text = |text: &Json| text.as_str().unwrap_or_default().to_owned();
            let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
            (format!("{kind}/{name}"), object)
        });
        let objects = named.collect();
        let path = format!("/api/v1/namespaces/{NAMESPACE}/events");
        let events = self.request(Method::GET, &path, "", None).await;
        let events = events.unwrap_or_default();
        let events = events["items"].as_array().into_iter().flatten();
        let events = events.map(|event| self.names.normal(event)).collect();
        (objects, events)
    }

    async fn all(&self, kind: &KnownKind) -> Vec<Json> {
        let root = root_of(&kind.api_version);
        let path = match kind.is_namespaced {
            true => format!("{root}/namespaces/{NAMESPACE}/{}", kind.plural),
            false => format!("{root}/{}", kind.plural),
        };
        let list = self.request(Method::GET, &path, "", None).await;
        let list = list.unwrap_or_default();
        let items = list["items"].as_array().cloned().unwrap_or_default();
        let named = items.into_iter().map(|mut item| {
            item["apiVersion"] = kind.api_version.clone().into();
            item["kind"] = kind.kind.clone().into();
            item
        });
        named.collect()
    }

    fn kind_of(&self, object: &Json) -> &KnownKind {
        let kind = self
            .kinds
            .iter()
            .find(|kind| object["kind"] == *kind.kind && object["apiVersion"] == *kind.api_version);
        kind.unwrap_or_else(|| panic!("{} {} is not known", object["apiVersion"], object["kind"]))
    }

    /// Knows the kind of a definition that was applied.
    fn learn_kind(&mut self, object: &Json) {
        if object["kind"] != "CustomResourceDefinition" {
            return;
        }
        let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
        let spec = &object["spec"];
        let known = text(&spec["names"]["kind"]);
        if self.kinds.iter().any(|kind| kind.kind == known) {
            return;
        }
        for version in spec["versions"].as_array().into_iter().flatten() {
            self.kinds.push(KnownKind {
                kind: text(&spec["names"]["kind"]),
                api_version: format!("{}/{}", text(&spec["group"]), text(&version["name"])),
                plural: text(&spec["names"]["plural"]),
                is_namespaced: spec["scope"] == "Namespaced",
            });
        }
    }

    fn collection(&self, object: &Json) -> String {
        let kind = self.kind_of(object);
        let root = root_of(&kind.api_version);
        match kind.is_namespaced {
            true => {
                let namespace = object["metadata"]["namespace"].as_str();
                let namespace = namespace.unwrap_or(NAMESPACE);
                format!("{root}/namespaces/{namespace}/{}", kind.plural)
            }
            false => format!("{root}/{}", kind.plural),
        }
    }

    fn path(&self, object: &Json, below: &str) -> String {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        format!("{}/{name}{below}", self.collection(object))
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        form: &str,
        body: Option<&Json>,
    ) -> Result<Json, String> {
        let mut request = Request::builder().method(method).uri(path);
        if !form.is_empty() {
            request = request.header("content-type", form);
        }
        let bytes = body.map(|body| body.to_string().into_bytes());
        let request = request.body(bytes.unwrap_or_default()).unwrap();
        let answer = self.place.client.request::<Json>(request).await;
        answer.map_err(|error| error.to_string())
    }
}

impl RunningController {
    fn start(place: &CasePlace) -> RunningController {
        let mut options = ControllerOptions::new(place.clock.clone());
        options.compat = Compat::Upstream;
        options.accounts = place.accounts.clone();
        let controller = Controller::new(place.client.clone(), options);
        let stop = CancellationToken::new();
        let (running, stopped) = (controller.clone(), stop.clone());
        let task = tokio::spawn(async move {
            if let Err(error) = running.run(stopped).await {
                println!("the controller ends: {error}");
            }
        });
        RunningController {
            controller,
            stop,
            task,
        }
    }

    async fn end(self) {
        self.stop.cancel();
        self.task.await.expect("the controller ends in order");
    }
}

fn namespace() -> Json {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
}

/// All service accounts of the namespace may do everything, as in the recordings.
fn rights() -> Json {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "cyan-conformance-case"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "cluster-admin",
        },
        "subjects": [{
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "Group",
            "name": format!("system:serviceaccounts:{NAMESPACE}"),
        }],
    })
}

fn root_of(api_version: &str) -> String {
    match api_version.contains('/') {
        true => format!("/apis/{api_version}"),
        false => format!("/api/{api_version}"),
    }
}

/// The built-in kinds that cases use.
fn builtin_kinds() -> Vec<KnownKind> {
    let kinds = [
        ("ConfigMap", "v1", "configmaps", true),
        ("Secret", "v1", "secrets", true),
        ("ServiceAccount", "v1", "serviceaccounts", true),
        ("Namespace", "v1", "namespaces", false),
        (
            "ClusterRoleBinding",
            "rbac.authorization.k8s.io/v1",
            "clusterrolebindings",
            false,
        ),
        (
            "CustomResourceDefinition",
            "apiextensions.k8s.io/v1",
            "customresourcedefinitions",
            false,
        ),
    ];
    let kinds = kinds.map(|(kind, api_version, plural, is_namespaced)| KnownKind {
        kind: kind.to_owned(),
        api_version: api_version.to_owned(),
        plural: plural.to_owned(),
        is_namespaced,
    });
    kinds.to_vec()
}

/// An object in the namespace of all cases, if it is in one and names none.
fn in_namespace(object: &Json, kind: &KnownKind) -> Json {
    let mut object = object.clone();
    if kind.is_namespaced && object["metadata"]["namespace"].is_null() {
        object["metadata"]["namespace"] = NAMESPACE.into();
    }
    object
}

/// A step names objects without metadata.
fn with_metadata(named: &Json) -> Json {
    let mut named = named.clone();
    if named["metadata"].is_null() {
        named["metadata"] = json!({"name": named["name"]});
    }
    named
}

/// Whether recordings have an object: not templates, accounts and what defines the world.
fn is_recorded(object: &Json) -> bool {
    let kind = object["kind"].as_str().unwrap_or_default();
    let others = [
        "Secret",
        "ServiceAccount",
        "Namespace",
        "ClusterRoleBinding",
        "CustomResourceDefinition",
    ];
    // A server with a controller manager makes this one in every namespace.
    let is_root = object["metadata"]["name"] == "kube-root-ca.crt";
    !kind.ends_with("Template") && !others.contains(&kind) && !is_root
}
