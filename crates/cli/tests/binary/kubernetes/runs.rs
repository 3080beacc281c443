//! Runs on a real API server: objects that are never changed, because a further one is made. The tests
//! play the controllers of the runs.

use serde_json::Value as Json;

use super::cluster::ClusterPlace;

/// The definition of a kind with a free spec and a free status.
const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: builds.runs.example}
spec:
  group: runs.example
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
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            properties: {size: {type: integer}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
";

/// A series of runs, and a reader of the newest healthy one.
const SERIES: &str = r#"
version: 2023-04-20
resources:
  build:
    type: kubernetes/run
    spec:
      template:
        apiVersion: runs.example/v1
        kind: Build
        metadata: {generateName: build-, namespace: NS, labels: {app: shop}}
        spec: {source: A}
      selector: {app: shop}
      retention: {maxFailedRuns: 1, maxSuccessfulRuns: 2}
      healthRule: {singleConditionType: Succeeded}
  note:
    type: kubernetes/core/ConfigMap
    spec:
      metadata: {name: note, namespace: NS}
      data: {image: "${build.spec.object.status.image}"}
"#;

fn cluster(word: &str, document: &str) -> Option<ClusterPlace> {
    let cluster = ClusterPlace::with(word, document)?;
    cluster.fed(&["apply", "--server-side", "--filename=-"], DEFINITION);
    let definition = "crd/builds.runs.example";
    cluster.done(&["wait", "--for=condition=Established", definition]);
    Some(cluster)
}

impl ClusterPlace {
    /// The runs in the order in which they were made.
    #[track_caller]
    fn runs(&self) -> Vec<Json> {
        let Some(found) = self.object("builds.runs.example") else {
            return Vec::new();
        };
        let mut runs = found["items"].as_array().unwrap().clone();
        let number = |run: &Json| {
            let number = run["metadata"]["annotations"]["cyan/run-number"].as_str();
            number.unwrap().parse::<u64>().unwrap()
        };
        runs.sort_by_key(number);
        runs
    }

    /// The sources of the runs in the order in which they were made.
    #[track_caller]
    fn sources(&self) -> Vec<String> {
        let runs = self.runs();
        let sources = runs.iter().map(|run| run["spec"]["source"].as_str());
        sources.map(|source| source.unwrap().to_owned()).collect()
    }

    /// Ends the newest run, as its controller does: `True` or `False`, and its image.
    #[track_caller]
    fn end_newest(&self, succeeded: &str, image: &str) {
        self.end(self.runs().last().unwrap(), succeeded, image);
    }

    /// Ends a run, as its controller does.
    #[track_caller]
    fn end(&self, run: &Json, succeeded: &str, image: &str) {
        let name = run["metadata"]["name"].as_str().unwrap();
        let status = format!(
            r#"{{"status": {{"image": "{image}", "conditions":
                [{{"type": "Succeeded", "status": "{succeeded}", "message": "of {image}"}}]}}}}"#
        );
        let build = format!("builds.runs.example/{name}");
        let arguments = ["--namespace", &self.namespace, "--subresource=status"];
        let patch = ["patch", &build, "--type=merge", "--patch", &status];
        self.done(&[&patch[..], &arguments[..]].concat());
    }

    /// Deploys and does not wait for the runs.
    #[track_caller]
    fn deploy_at_once(&self) {
        self.exits(0, &["deploy", "-y", "--wait", "0s"]);
    }

    /// The image that the reader has.
    #[track_caller]
    fn image(&self) -> Option<String> {
        let note = self.object("configmap/note")?;
        Some(note["data"]["image"].as_str().unwrap().to_owned())
    }
}

#[test]
fn a_further_run_is_made_for_every_change_and_readers_wait_for_it() {
    let Some(cluster) = cluster("run-life", SERIES) else {
        return;
    };
    // The first run holds its reader until it succeeds.
    let held = cluster.exits(0, &["deploy", "-y", "--wait", "1s"]);
    assert!(held.err.contains("is not healthy yet"), "{}", held.err);
    assert_eq!(cluster.sources(), ["A"]);
    assert_eq!(cluster.image(), None);
    cluster.end_newest("True", "one");
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    assert_eq!(cluster.image().as_deref(), Some("one"));
    cluster.is_up_to_date();

    // A change makes a further run; its failure holds the reader, which keeps what it has.
    cluster.write(&SERIES.replace("source: A", "source: B"));
    cluster.deploy_at_once();
    assert_eq!(cluster.sources(), ["A", "B"]);
    cluster.end_newest("False", "two");
    let held = cluster.exits(0, &["deploy", "-y", "--wait", "1s"]);
    assert!(held.err.contains("is not healthy: of two"), "{}", held.err);
    assert_eq!(cluster.sources(), ["A", "B"]);
    assert_eq!(cluster.image().as_deref(), Some("one"));

    // The first template again is a third run.
    cluster.write(SERIES);
    cluster.deploy_at_once();
    assert_eq!(cluster.sources(), ["A", "B", "A"]);
    cluster.end_newest("True", "three");
    cluster.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");
    assert_eq!(cluster.image().as_deref(), Some("three"));
    cluster.is_up_to_date();

    cluster.ends(&["destroy", "-y"], "0 created, 0 updated, 2 deleted");
    assert_eq!(cluster.sources(), [""; 0]);
}

#[test]
fn so_many_runs_of_each_sort_are_kept() {
    let Some(cluster) = cluster("run-kept", SERIES) else {
        return;
    };
    let ends = ["True", "False", "Unknown", "False", "True", "True"];
    for (at, succeeded) in ends.into_iter().enumerate() {
        cluster.write(&SERIES.replace("source: A", &format!("source: '{at}'")));
        cluster.deploy_at_once();
        cluster.end_newest(succeeded, &format!("image{at}"));
    }
    cluster.write(&SERIES.replace("source: A", "source: last"));
    cluster.deploy_at_once();
    assert_eq!(cluster.sources(), ["2", "3", "4", "5", "last"]);
    // Other limits alone make no run.
    let document = SERIES.replace("source: A", "source: last");
    cluster.write(&document.replace("maxSuccessfulRuns: 2", "maxSuccessfulRuns: 1"));
    cluster.deploy_at_once();
    assert_eq!(cluster.sources(), ["2", "3", "5", "last"]);
}

#[test]
fn a_run_that_is_there_already_is_not_made_again() {
    let Some(cluster) = cluster("run-again", SERIES) else {
        return;
    };
    cluster.deploy_at_once();
    cluster.end_newest("True", "one");
    // The state is lost.
    std::fs::remove_dir_all(cluster.place.path().join(".cyan")).unwrap();
    cluster.ends(&["deploy", "-y"], "2 created, 0 updated, 0 deleted");
    assert_eq!(cluster.sources(), ["A"]);
    cluster.is_up_to_date();
}

#[test]
fn what_others_do_to_runs_counts_only_when_none_is_left() {
    let Some(cluster) = cluster("run-drift", SERIES) else {
        return;
    };
    cluster.deploy_at_once();
    cluster.end_newest("True", "one");
    cluster.write(&SERIES.replace("source: A", "source: B"));
    cluster.deploy_at_once();
    cluster.end_newest("True", "two");
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    let names: Vec<String> = cluster
        .runs()
        .iter()
        .map(|run| run["metadata"]["name"].as_str().unwrap().to_owned())
        .collect();
    let build = |at: usize| format!("builds.runs.example/{}", names[at]);
    cluster.patch(&build(1), "other", r#"{"spec": {"source": "C"}}"#);
    cluster.is_up_to_date();
    // Without the newest run, the one before it counts.
    cluster.done(&["delete", "--namespace", &cluster.namespace, &build(1)]);
    cluster.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");
    assert_eq!(cluster.sources(), ["A"]);
    assert_eq!(cluster.image().as_deref(), Some("one"));
    cluster.done(&["delete", "--namespace", &cluster.namespace, &build(0)]);
    cluster.deploy_at_once();
    assert_eq!(cluster.sources(), ["B"]);
}

#[test]
fn what_the_server_refuses_is_a_mistake_in_the_plan() {
    let document = SERIES.replace("source: A", "source: A, size: large");
    let Some(cluster) = cluster("run-refused", &document) else {
        return;
    };
    cluster.refused(&["stage"], &["spec.size", "shop.blueprint.yaml:11:"]);
    let named = SERIES.replace("generateName: build-", "name: build");
    cluster.write(&named);
    cluster.refused(&["stage"], &["its name cannot be fixed"]);
    cluster.write(&SERIES.replace("selector: {app: shop}", "selector: {app: other}"));
    cluster.refused(&["stage"], &["the template has no label `app: other`"]);
    assert_eq!(cluster.sources(), [""; 0]);
}

#[test]
fn runs_in_a_new_namespace_are_made_after_it() {
    let document = SERIES.replace(
        "resources:",
        "resources:\n  space:\n    type: kubernetes/core/Namespace\n    spec: {metadata: {name: NS-more}}",
    );
    let document = document.replace("namespace: NS", "namespace: NS-more");
    let Some(cluster) = cluster("run-space", &document) else {
        return;
    };
    let staged = cluster.exits(0, &["stage"]);
    assert!(staged.out.contains("3 to create"), "{}", staged.out);
    cluster.exits(0, &["deploy", "-y", "--wait", "0s"]);
    cluster.ends(&["destroy", "-y"], "0 created, 0 updated, 2 deleted");
}

#[test]
fn another_rule_judges_the_runs_that_are_there() {
    let Some(cluster) = cluster("run-rule", SERIES) else {
        return;
    };
    cluster.deploy_at_once();
    cluster.end_newest("False", "one");
    let rule = "healthRule: {singleConditionType: Succeeded}";
    cluster.write(&SERIES.replace(rule, "healthRule: {alwaysHealthy: {}}"));
    cluster.ends(&["deploy", "-y"], "1 created, 1 updated, 0 deleted");
    assert_eq!(cluster.sources(), ["A"]);
    assert_eq!(cluster.image().as_deref(), Some("one"));
    cluster.is_up_to_date();
}

#[test]
fn a_series_that_is_replaced_begins_anew() {
    let Some(cluster) = cluster("run-anew", SERIES) else {
        return;
    };
    cluster.deploy_at_once();
    cluster.write(&SERIES.replace("source: A", "source: B"));
    cluster.deploy_at_once();
    assert_eq!(cluster.sources(), ["A", "B"]);
    let replace = ["deploy", "-y", "--wait", "0s", "--replace", "build"];
    cluster.exits(0, &replace);
    assert_eq!(cluster.sources(), ["B"]);
    // Other labels are another series. The old one stays until the new one is healthy.
    let other = SERIES.replace("app: shop", "app: other");
    cluster.write(&other.replace("source: A", "source: C"));
    cluster.deploy_at_once();
    let runs = cluster.runs();
    assert_eq!(runs.len(), 2);
    let new = runs.iter().find(|run| run["spec"]["source"] == "C");
    cluster.end(new.unwrap(), "True", "three");
    cluster.exits(0, &["deploy", "-y"]);
    assert_eq!(cluster.sources(), ["C"]);
    assert_eq!(cluster.image().as_deref(), Some("three"));
    cluster.is_up_to_date();
    // The old labels find the new runs too, so the old series goes first.
    let narrow = other.replace("app: other", "app: other, tier: web");
    cluster.write(&narrow.replace("source: A", "source: D"));
    cluster.deploy_at_once();
    assert_eq!(cluster.sources(), ["D"]);
}

#[test]
fn data_of_a_secret_in_a_template_are_not_shown() {
    let document = "\
version: 2023-04-20
resources:
  token:
    type: kubernetes/run
    spec:
      template:
        apiVersion: v1
        kind: Secret
        metadata: {generateName: token-, namespace: NS, labels: {app: shop}}
        stringData: {password: s3cr3t-text}
      selector: {app: shop}
";
    let Some(cluster) = ClusterPlace::with("run-secret", document) else {
        return;
    };
    cluster.exits(0, &["stage", "--verbose"]);
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    cluster.is_up_to_date();
    cluster.write(&document.replace("s3cr3t-text", "an0ther-s3cr3t"));
    cluster.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");
    cluster.exits(0, &["show", "--json"]);
    let encoded = ["czNjcjN0LXRleHQ", "YW4wdGhlci1zM2NyM3"];
    cluster.hides(&[&["s3cr3t-text", "an0ther-s3cr3t"][..], &encoded[..]].concat());
    cluster.ends(&["destroy", "-y"], "0 created, 0 updated, 1 deleted");
}

/// A chain whose tests run again for every change.
const CHAIN: &str = "\
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: web}
spec:
  selector: {type: web}
  resources:
  - name: image
    templateRef: {kind: ClusterImageTemplate, name: image}
  - name: run
    templateRef: {kind: ClusterTemplate, name: run}
    images:
    - {name: built, resource: image}
---
apiVersion: carto.run/v1alpha1
kind: ClusterImageTemplate
metadata: {name: image}
spec:
  imagePath: .status.image
  lifecycle: tekton
  retentionPolicy: {maxFailedRuns: 1, maxSuccessfulRuns: 1}
  template:
    apiVersion: runs.example/v1
    kind: Build
    metadata: {generateName: $(workload.metadata.name)$-}
    spec: {source: $(workload.spec.source.git.ref.tag)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: run}
spec:
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: note}
    data: {image: $(images.built.image)$}
---
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {name: shop, namespace: NS, labels: {type: web}}
spec:
  source: {git: {url: 'https://example.com/shop', ref: {tag: v1}}}
";

#[test]
fn a_template_of_tekton_runs_again_for_every_change() {
    let Some(cluster) = cluster("run-chain", CHAIN) else {
        return;
    };
    let held = cluster.exits(0, &["deploy", "-y", "--wait", "1s"]);
    assert!(held.err.contains("is not healthy yet"), "{}", held.err);
    assert_eq!(cluster.image(), None);
    cluster.end_newest("True", "one");
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    assert_eq!(cluster.image().as_deref(), Some("one"));
    cluster.is_up_to_date();

    cluster.write(&CHAIN.replace("tag: v1", "tag: v2"));
    cluster.deploy_at_once();
    assert_eq!(cluster.sources(), ["v1", "v2"]);
    cluster.end_newest("False", "two");
    let held = cluster.exits(0, &["deploy", "-y", "--wait", "1s"]);
    assert!(held.err.contains("is not healthy: of two"), "{}", held.err);
    assert_eq!(cluster.image().as_deref(), Some("one"));
    cluster.write(&CHAIN.replace("tag: v1", "tag: v3"));
    cluster.deploy_at_once();
    cluster.end_newest("True", "three");
    cluster.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");
    assert_eq!(cluster.image().as_deref(), Some("three"));
    let labels = cluster.runs()[0]["metadata"]["labels"].clone();
    assert_eq!(labels["carto.run/template-lifecycle"], "tekton");

    cluster.ends(&["destroy", "-y"], "0 created, 0 updated, 2 deleted");
    assert_eq!(cluster.sources(), [""; 0]);
}

const RUNNABLE: &str = "\
apiVersion: carto.run/v1alpha1
kind: ClusterRunTemplate
metadata: {name: test}
spec:
  outputs: {url: .status.image}
  template:
    apiVersion: runs.example/v1
    kind: Build
    metadata: {generateName: $(runnable.metadata.name)$-}
    spec: {source: $(runnable.spec.inputs.revision)$}
---
apiVersion: carto.run/v1alpha1
kind: Runnable
metadata: {name: test, namespace: NS}
spec:
  retentionPolicy: {maxFailedRuns: 1, maxSuccessfulRuns: 1}
  runTemplateRef: {name: test}
  inputs: {revision: r1}
";

#[test]
fn a_runnable_runs_its_template_for_every_input() {
    let Some(cluster) = cluster("run-able", RUNNABLE) else {
        return;
    };
    cluster.deploy_at_once();
    cluster.end_newest("True", "one");
    cluster.ends(&["deploy", "-y"], "0 created, 0 updated, 0 deleted");
    cluster.is_up_to_date();
    cluster.write(&RUNNABLE.replace("revision: r1", "revision: r2"));
    cluster.deploy_at_once();
    assert_eq!(cluster.sources(), ["r1", "r2"]);
    cluster.ends(&["destroy", "-y"], "0 created, 0 updated, 1 deleted");
    assert_eq!(cluster.sources(), [""; 0]);
}

/// A chain whose second resource is rendered by ytt, from the output of the first one.
const RENDERED: &str = "\
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: run}
spec:
  lifecycle: immutable
  ytt: |
    #@ load(\"@ytt:data\", \"data\")
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata: {generateName: note-}
    data:
      image: #@ data.values.images.built.image
---
";

#[test]
fn a_run_that_reads_the_output_of_another_one_waits_for_it() {
    let mutable = "\
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: run}
spec:
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: note}
    data: {image: $(images.built.image)$}
---
";
    assert!(CHAIN.contains(mutable));
    let document = CHAIN.replace(mutable, RENDERED);
    let Some(cluster) = cluster("run-rendered", &document) else {
        return;
    };
    let images = || {
        let found = cluster.object("configmap").unwrap();
        let items = found["items"].as_array().unwrap().iter();
        let images = items.filter_map(|item| Some(item["data"]["image"].as_str()?.to_owned()));
        let mut images: Vec<String> = images.collect();
        images.sort();
        images
    };
    cluster.deploy_at_once();
    assert_eq!(images(), [""; 0]);
    cluster.end_newest("True", "one");
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    assert_eq!(images(), ["one"]);
    cluster.is_up_to_date();
    cluster.write(&document.replace("tag: v1", "tag: v2"));
    cluster.deploy_at_once();
    cluster.end_newest("True", "two");
    cluster.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");
    assert_eq!(images(), ["one", "two"]);
    cluster.is_up_to_date();
    cluster.ends(&["destroy", "-y"], "0 created, 0 updated, 2 deleted");
    assert_eq!(images(), [""; 0]);
}
