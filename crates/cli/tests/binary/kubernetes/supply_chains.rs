//! Supply chains and deliveries of Cartographer on a real API server. The tests play the controllers of
//! the stamped objects.

use super::cluster::ClusterPlace;

/// The definition of a kind with a free spec and a free status.
const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: builds.chains.example}
spec:
  group: chains.example
  scope: Namespaced
  names: {kind: Build, listKind: BuildList, plural: builds, singular: build}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
";

/// A chain that builds an image and runs it.
const CHAIN: &str = "\
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: web}
spec:
  selector: {type: web}
  params:
  - {name: replicas, default: 1}
  resources:
  - name: run
    templateRef: {kind: ClusterTemplate, name: run}
    images:
    - {name: built, resource: image}
  - name: image
    templateRef: {kind: ClusterImageTemplate, name: image}
---
apiVersion: carto.run/v1alpha1
kind: ClusterImageTemplate
metadata: {name: image}
spec:
  imagePath: .status.image
  healthRule: {singleConditionType: Succeeded}
  template:
    apiVersion: chains.example/v1
    kind: Build
    metadata: {name: $(workload.metadata.name)$}
    spec: {source: $(workload.spec.source.git.url)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: run}
spec:
  template:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: $(workload.metadata.name)$}
    spec:
      replicas: $(params.replicas)$
      selector: {matchLabels: {app: $(workload.metadata.name)$}}
      template:
        metadata: {labels: {app: $(workload.metadata.name)$}}
        spec:
          nodeName: node
          containers: [{name: app, image: $(images.built.image)$}]
---
";

const WORKLOAD: &str = "\
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {name: shop, namespace: NS, labels: {type: web}}
spec:
  source: {git: {url: 'https://example.com/shop'}}
";

fn cluster(word: &str) -> Option<ClusterPlace> {
    let cluster = ClusterPlace::with(word, &format!("{CHAIN}{WORKLOAD}"))?;
    cluster.fed(&["apply", "--server-side", "--filename=-"], DEFINITION);
    cluster.done(&[
        "wait",
        "--for=condition=Established",
        "crd/builds.chains.example",
    ]);
    Some(cluster)
}

impl ClusterPlace {
    /// Sets a part of the status of the build, as its controller does.
    #[track_caller]
    fn set_status(&self, part: &str) {
        self.done(&[
            "patch",
            "builds.chains.example/shop",
            "--namespace",
            &self.namespace,
            "--subresource=status",
            "--type=merge",
            "--patch",
            &format!(r#"{{"status": {part}}}"#),
        ]);
    }
}

#[test]
fn readers_of_an_output_wait_for_the_controller_that_writes_it() {
    let Some(cluster) = cluster("chain-waits") else {
        return;
    };
    let held = cluster.exits(0, &["deploy", "-y", "--wait", "1s"]);
    let reason = format!(
        "workload/{}/shop/image\": `.status.image`: the path has no result",
        cluster.namespace
    );
    assert!(held.err.contains(&reason), "{}", held.err);
    assert_eq!(cluster.object("deployment/shop"), None);
    let build = cluster.object("builds.chains.example/shop").unwrap();
    assert_eq!(build["spec"]["source"], "https://example.com/shop");
    assert_eq!(
        build["metadata"]["labels"]["carto.run/resource-name"],
        "image"
    );
    assert_eq!(
        build["metadata"]["ownerReferences"],
        serde_json::Value::Null
    );

    cluster.set_status(r#"{"image": "registry/shop:1"}"#);
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    let image = || {
        let deployment = cluster.object("deployment/shop").unwrap();
        let containers = &deployment["spec"]["template"]["spec"]["containers"];
        containers[0]["image"].as_str().unwrap().to_owned()
    };
    assert_eq!(image(), "registry/shop:1");
    cluster.is_up_to_date();

    // The controller builds a new image: only its reader changes.
    cluster.set_status(r#"{"image": "registry/shop:2"}"#);
    cluster.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");
    assert_eq!(image(), "registry/shop:2");

    // The output disappears: what was deployed stays, and its reader waits.
    cluster.set_status(r#"{"image": null}"#);
    let staged = cluster.exits(0, &["stage"]);
    assert!(staged.out.contains("known on deploy"), "{}", staged.out);
    let held = cluster.exits(0, &["deploy", "-y", "--wait", "1s"]);
    assert!(held.err.contains(&reason), "{}", held.err);
    assert_eq!(image(), "registry/shop:2");

    cluster.ends(&["destroy", "-y"], "0 created, 0 updated, 2 deleted");
    assert_eq!(cluster.object("builds.chains.example/shop"), None);
}

#[test]
fn an_object_that_its_health_rule_calls_unhealthy_is_not_ready() {
    let Some(cluster) = cluster("chain-health") else {
        return;
    };
    cluster.exits(0, &["deploy", "-y", "--wait", "0s"]);
    cluster.set_status(
        r#"{"image": "registry/shop:1", "conditions":
            [{"type": "Succeeded", "status": "False", "message": "the tests failed"}]}"#,
    );
    let held = cluster.exits(0, &["deploy", "-y", "--wait", "1s"]);
    assert!(
        held.err.contains("it is not healthy: the tests failed"),
        "{}",
        held.err
    );
    assert_eq!(cluster.object("deployment/shop"), None);
    cluster.set_status(r#"{"conditions": [{"type": "Succeeded", "status": "True"}]}"#);
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    cluster.is_up_to_date();
}

#[test]
fn the_status_of_an_earlier_generation_does_not_count() {
    let Some(cluster) = cluster("chain-generation") else {
        return;
    };
    cluster.exits(0, &["deploy", "-y", "--wait", "0s"]);
    cluster.set_status(r#"{"image": "registry/shop:1", "observedGeneration": 1}"#);
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    let workload = WORKLOAD.replace("example.com/shop", "example.com/other");
    cluster.write(&format!("{CHAIN}{workload}"));
    let held = cluster.exits(0, &["deploy", "-y", "--wait", "1s"]);
    let words = "its controller has seen generation 1 of 2";
    assert!(held.err.contains(words), "{}", held.err);
    cluster.set_status(r#"{"image": "registry/shop:2", "observedGeneration": 2}"#);
    cluster.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");
}

/// A delivery that passes its source on when it is deployed.
const DELIVERY: &str = "\
apiVersion: carto.run/v1alpha1
kind: ClusterDelivery
metadata: {name: promote}
spec:
  selector: {type: web}
  resources:
  - name: source
    templateRef: {kind: ClusterSourceTemplate, name: source}
  - name: staging
    templateRef: {kind: ClusterDeploymentTemplate, name: staging}
    deployment: {resource: source}
  - name: production
    templateRef: {kind: ClusterTemplate, name: production}
    sources:
    - {name: tested, resource: staging}
---
apiVersion: carto.run/v1alpha1
kind: ClusterSourceTemplate
metadata: {name: source}
spec:
  urlPath: .data.url
  revisionPath: .data.revision
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: source}
    data: {url: $(deliverable.spec.source.git.url)$, revision: $(deliverable.spec.source.git.ref.tag)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterDeploymentTemplate
metadata: {name: staging}
spec:
  observedCompletion:
    succeeded: {key: .status.phase, value: Done}
    failed: {key: .status.phase, value: Failed}
  template:
    apiVersion: chains.example/v1
    kind: Build
    metadata: {name: shop}
    spec: {revision: $(deployment.revision)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: production}
spec:
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: production}
    data: {revision: $(sources.tested.revision)$}
---
apiVersion: carto.run/v1alpha1
kind: Deliverable
metadata: {name: shop, namespace: NS, labels: {type: web}}
spec:
  source: {git: {url: 'https://example.com/shop', ref: {tag: TAG}}}
";

#[test]
fn a_delivery_promotes_what_its_deployment_has_completed() {
    let Some(cluster) = cluster("chain-delivery") else {
        return;
    };
    cluster.write(&DELIVERY.replace("TAG", "v1"));
    let held = cluster.exits(0, &["deploy", "-y", "--wait", "1s"]);
    assert!(held.err.contains("observedGeneration"), "{}", held.err);
    assert_eq!(cluster.object("configmap/production"), None);
    cluster.set_status(r#"{"observedGeneration": 1, "phase": "Done"}"#);
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    let promoted = || cluster.object("configmap/production").unwrap()["data"]["revision"].clone();
    assert_eq!(promoted(), "v1");
    cluster.is_up_to_date();

    // The next version fails in staging, so production keeps the one before.
    cluster.write(&DELIVERY.replace("TAG", "v2"));
    cluster.exits(0, &["deploy", "-y", "--wait", "0s"]);
    cluster.set_status(r#"{"observedGeneration": 2, "phase": "Failed"}"#);
    let failed = cluster.exits(0, &["deploy", "-y", "--wait", "1s"]);
    assert!(
        failed.err.contains("the deployment failed"),
        "{}",
        failed.err
    );
    assert_eq!(promoted(), "v1");
    cluster.set_status(r#"{"phase": "Done"}"#);
    cluster.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");
    assert_eq!(promoted(), "v2");
}

/// A running `cyan`, which is ended with the test.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_script_plays_the_controller_of_a_stamped_kind() {
    let Some(cluster) = cluster("chain-script") else {
        return;
    };
    // Other tests have objects of this kind in the same cluster. The first step takes the former
    // image away: while the health is unknown, an image that is there counts.
    let script = "\
match:
  apiVersion: chains.example/v1
  kind: Build
  labels: {carto.run/workload-namespace: NS}
steps:
- status:
    observedGeneration: $(metadata.generation)$
    image: null
    conditions: [{type: Succeeded, status: Unknown}]
- after: 100ms
  status:
    observedGeneration: $(metadata.generation)$
    image: registry/$(metadata.name)$:$(metadata.generation)$
    conditions: [{type: Succeeded, status: \"True\"}]
";
    let script = script.replace("NS", &cluster.namespace);
    cluster.place.write("build.yaml", script);
    let mut playing = cluster.cyan(&["cluster", "play", "build.yaml", "--quiet"]);
    let _playing = Running(playing.spawn().unwrap());
    cluster.ends(
        &["deploy", "-y", "--wait", "2m"],
        "2 created, 0 updated, 0 deleted",
    );
    let image = || {
        let deployment = cluster.object("deployment/shop").unwrap();
        let containers = &deployment["spec"]["template"]["spec"]["containers"];
        containers[0]["image"].as_str().unwrap().to_owned()
    };
    assert_eq!(image(), "registry/shop:1");

    let changed = format!("{CHAIN}{WORKLOAD}").replace("example.com/shop", "example.com/store");
    cluster.write(&changed);
    cluster.ends(
        &["deploy", "-y", "--wait", "2m"],
        "0 created, 2 updated, 0 deleted",
    );
    assert_eq!(image(), "registry/shop:2");
}
