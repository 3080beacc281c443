//! `cyan cluster`: rehearsals in memory, and a local cluster with a controller in another process.

#![cfg(unix)]

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

use crate::place::{Place, Ran, ran};

const PLATFORM: &str = "\
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
    images: [{name: built, resource: image}]
---
apiVersion: carto.run/v1alpha1
kind: ClusterImageTemplate
metadata: {name: image}
spec:
  imagePath: .status.latestImage
  healthRule: {singleConditionType: Ready}
  template:
    apiVersion: kpack.io/v1alpha2
    kind: Image
    metadata: {name: $(workload.metadata.name)$}
    spec: {tag: registry/$(workload.metadata.name)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: run}
spec:
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: $(workload.metadata.name)$-run}
    data: {image: $(images.built.image)$}
";

const WORKLOAD: &str = "\
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {name: shop, namespace: shop, labels: {type: web}}
spec: {image: 'shop:1'}
";

/// A folder with a platform and a workload that names it.
fn place() -> Place {
    let place = Place::with("platform/platform.yaml", PLATFORM);
    place.write("apps/shop.yaml", WORKLOAD);
    place.write(
        "apps/cyan.toml",
        "[dialects.cartographer]\nplatform = [\"../platform\"]\n",
    );
    place
}

fn cyan(place: &Place, arguments: &[&str]) -> Ran {
    let ran = ran(place.cyan(arguments).output().unwrap());
    if arguments.contains(&"--json") {
        crate::machine::fits(arguments, &ran.out);
    }
    ran
}

#[test]
fn rehearsal_runs_a_chain_to_its_end() {
    let place = place();
    let ran = cyan(&place, &["cluster", "rehearse", "apps", "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let json: Json = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["result"]["settled"], true);
    let owner = &json["result"]["owners"][0];
    assert_eq!(owner["object"], "Workload/shop/shop");
    assert_eq!(owner["ready"], true);
    let resources = owner["status"]["resources"].as_array().unwrap();
    let names: Vec<&str> = resources
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["image", "run"]);
    assert!(!place.has(".cyan"), "a rehearsal leaves no state");

    let objects = cyan(&place, &["cluster", "rehearse", "apps", "--objects"]);
    assert!(
        objects.out.contains("image: registry/shop@sha256:")
            || objects.out.contains("registry/shop@sha256:"),
        "{}",
        objects.out
    );
    assert!(
        objects.err.ends_with("1 of 1 owner is ready\n"),
        "{}",
        objects.err
    );
}

#[test]
fn rehearsal_says_why_an_owner_is_not_ready() {
    let place = place();
    place.write(
        "failing.yaml",
        "match: {apiVersion: kpack.io/v1alpha2, kind: Image}\n\
         steps:\n- status: {conditions: [{type: Ready, status: \"False\", message: no builder}]}\n",
    );
    let arguments = ["cluster", "rehearse", "apps", "--script", "failing.yaml"];
    let ran = cyan(&place, &arguments);
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    for words in [
        "Workload/shop/shop by web: not ready",
        "because: image: nothing is at `.status.latestImage`, because the object is not healthy",
        "because: run: waiting for the output of `image`",
        "0 of 1 owner is ready",
    ] {
        assert!(ran.out.contains(words), "{words}: {}", ran.out);
    }
}

#[test]
fn mistakes_in_documents_and_scripts_stop_a_rehearsal_at_their_place() {
    let place = place();
    place.write(
        "apps/other.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {nam: a}\n",
    );
    let ran = cyan(&place, &["cluster", "rehearse", "apps"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("--> apps/other.yaml:2:7"), "{}", ran.err);
    let unknown = cyan(&place, &["cluster", "rehearse", "apps", "--script", "kpak"]);
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.err.contains("did you mean `kpack`?"),
        "{}",
        unknown.err
    );
}

#[test]
fn kubeconfig_of_somebody_else_is_neither_written_nor_deleted() {
    let place = place();
    place.write("mine", "apiVersion: v1\nkind: Config\n");
    let arguments = ["cluster", "serve", "--kubeconfig", "mine"];
    let ran = cyan(&place, &arguments);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("it is not overwritten"), "{}", ran.err);
    assert_eq!(place.read("mine"), "apiVersion: v1\nkind: Config\n");
}

/// A running `cyan`, which is ended with the test.
struct Running(Child);

impl Running {
    fn start(mut command: Command) -> Running {
        Running(
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        )
    }

    /// Sends Ctrl-C, and waits for the end. Returns the exit code.
    fn interrupt(mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.0), Signal::INT).unwrap();
        self.0.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `kubectl`, with the local cluster of a folder. Without it, prints a message and returns `None`.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn kubectl() -> Option<PathBuf> {
    let found = std::env::var_os("CYAN_TEST_KUBECTL").filter(|path| !path.is_empty());
    if found.is_none() {
        let all = std::env::var_os("CYAN_TEST_ALL").is_some();
        assert!(!all, "CYAN_TEST_KUBECTL is not set");
        eprintln!("skipped: kubectl is needed; `cargo xtask test` builds it");
    }
    found.map(PathBuf::from)
}

/// Waits until a condition holds.
#[track_caller]
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn controller_in_one_process_reconciles_the_local_cluster_of_another() {
    let Some(kubectl) = kubectl() else { return };
    let place = place();
    let serving = Running::start(place.cyan(&["cluster", "serve", "platform", "--no-controller"]));
    wait_until("the kubeconfig is written", || {
        place.has(".cyan/kubeconfig")
    });
    let kubectl = |arguments: &[&str]| {
        let mut command = Command::new(&kubectl);
        command
            .args(["--kubeconfig", ".cyan/kubeconfig"])
            .args(arguments)
            .current_dir(place.path());
        ran(command.output().unwrap())
    };
    let made = kubectl(&["create", "namespace", "shop"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let made = kubectl(&["apply", "-f", "apps/shop.yaml"]);
    assert_eq!(
        made.out, "workload.carto.run/shop created\n",
        "{}",
        made.err
    );

    let controller = place.cyan(&["cluster", "run", "--kubeconfig", ".cyan/kubeconfig"]);
    let controller = Running::start(controller);
    let ready = ["wait", "workload/shop", "--namespace=shop"];
    let ready = [&ready[..], &["--for=condition=Ready", "--timeout=60s"]].concat();
    let waited = kubectl(&ready);
    assert_eq!(waited.code, 0, "{}", waited.err);
    let image = [
        "get",
        "configmap/shop-run",
        "--namespace=shop",
        "-o",
        "jsonpath={.data.image}",
    ];
    let image = kubectl(&image).out;
    assert!(image.starts_with("registry/shop@sha256:"), "{image}");

    assert_eq!(controller.interrupt(), Some(0));
    let holder = [
        "get",
        "lease/cyan-controller",
        "-o",
        "jsonpath={.spec.holderIdentity}",
    ];
    assert_eq!(kubectl(&holder).out, "", "the lease is given back");
    assert_eq!(serving.interrupt(), Some(0));
    assert!(!place.has(".cyan/kubeconfig"));
}
