//! The number of requests, as the log of a proxy counts them.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use super::cluster::ClusterPlace;

/// `kubectl proxy`, which logs each request that it passes on.
struct LoggingProxy {
    process: Child,
    log: std::path::PathBuf,
    /// The length of the log that was read.
    seen: usize,
}

impl LoggingProxy {
    /// Starts a proxy, and lets `cyan` reach the cluster through it.
    fn start(cluster: &mut ClusterPlace) -> LoggingProxy {
        let log = cluster.place.path().join("proxy.log");
        let mut process = cluster
            .kubectl_command(&["proxy", "--port=0", "-v=6"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap();
        cluster.use_server(&format!("http://{address}"));
        LoggingProxy {
            process,
            log,
            seen: 0,
        }
    }

    /// The requests since the last question: method, and path with its query. Sorted.
    fn requests(&mut self) -> Vec<String> {
        let log = fs::read_to_string(&self.log).unwrap();
        let new = log[self.seen..].to_owned();
        self.seen = log.len();
        let part = |line: &str, name: &str| {
            let (_, rest) = line.split_once(&format!("{name}=\""))?;
            Some(rest.split('"').next()?.to_owned())
        };
        let request = |line: &str| {
            let (verb, url) = (part(line, "verb")?, part(line, "url")?);
            let path = url.split('/').skip(3).collect::<Vec<_>>().join("/");
            Some(format!("{verb} /{path}"))
        };
        let mut requests: Vec<String> = new.lines().filter_map(request).collect();
        requests.sort();
        requests
    }
}

impl Drop for LoggingProxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn plan_without_changes_reads_each_object_once() {
    const MANY: usize = 12;
    let note = |at: usize| {
        format!(
            "  note{at}: {{type: kubernetes/core/ConfigMap, spec: {{metadata: {{name: note{at}, \
             namespace: NS}}, data: {{a: one}}}}}}\n"
        )
    };
    let notes: String = (0..MANY).map(note).collect();
    let document = format!("version: 2023-04-20\nresources:\n{notes}");
    let Some(mut cluster) = ClusterPlace::with("requests", &document) else {
        return;
    };
    let mut proxy = LoggingProxy::start(&mut cluster);
    cluster.exits(0, &["validate"]);
    assert_eq!(proxy.requests(), Vec::<String>::new());

    let path = format!("/api/v1/namespaces/{}/configmaps/note", cluster.namespace);
    let of = |requests: &[String], begin: &str| {
        let begin = format!("{begin} {path}");
        requests
            .iter()
            .filter(|one| one.starts_with(&begin))
            .count()
    };
    cluster.ends(&["stage"], "12 to create, 0 to update, 0 to delete");
    let staged = proxy.requests();
    assert_eq!(
        (staged.len(), of(&staged, "PATCH")),
        (MANY + 1, MANY),
        "{staged:#?}"
    );
    let mut patches = staged.iter().filter(|one| one.starts_with("PATCH"));
    assert!(patches.all(|one| one.contains("dryRun=All")), "{staged:#?}");

    // A dry run and an apply for each object, and the identity of the cluster.
    cluster.ends(&["deploy", "-y"], "12 created, 0 updated, 0 deleted");
    let deployed = proxy.requests();
    assert_eq!(
        (deployed.len(), of(&deployed, "PATCH")),
        (2 * MANY + 1, 2 * MANY),
        "{deployed:#?}"
    );

    let mut expected: Vec<String> = (0..MANY).map(|at| format!("GET {path}{at}")).collect();
    expected.push("GET /api/v1/namespaces/kube-system".to_owned());
    expected.sort();
    cluster.is_up_to_date();
    assert_eq!(proxy.requests(), expected);
    cluster.ends(&["deploy", "-y"], "0 created, 0 updated, 0 deleted");
    assert_eq!(proxy.requests(), expected);

    // One changed object costs one dry run more, and one apply.
    cluster.write(&document.replacen("one", "two", 1));
    cluster.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");
    let updated = proxy.requests();
    assert_eq!(of(&updated, "PATCH"), 2, "{updated:#?}");
    assert_eq!(updated.len(), MANY + 1 + 2, "{updated:#?}");
}

#[test]
fn plan_without_changes_lists_the_runs_of_a_series_once() {
    let document = "\
version: 2023-04-20
resources:
  note:
    type: kubernetes/run
    spec:
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: {generateName: note-, namespace: NS, labels: {app: shop}}
        data: {color: blue}
      selector: {app: shop}
";
    let Some(mut cluster) = ClusterPlace::with("run-requests", document) else {
        return;
    };
    let mut proxy = LoggingProxy::start(&mut cluster);
    let maps = format!("/api/v1/namespaces/{}/configmaps", cluster.namespace);
    let dry_runs = |requests: &[String]| {
        let begin = format!("POST {maps}");
        let posts = requests.iter().filter(|one| one.starts_with(&begin));
        let (dry, real): (Vec<_>, Vec<_>) = posts.partition(|one| one.contains("dryRun=All"));
        (dry.len(), real.len())
    };
    cluster.ends(&["stage"], "1 to create, 0 to update, 0 to delete");
    let staged = proxy.requests();
    assert_eq!(dry_runs(&staged), (1, 0), "{staged:#?}");
    cluster.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    let deployed = proxy.requests();
    assert_eq!(dry_runs(&deployed), (1, 1), "{deployed:#?}");
    cluster.is_up_to_date();
    let expected = [
        "GET /api/v1/namespaces/kube-system".to_owned(),
        format!("GET {maps}?labelSelector=app%3Dshop"),
    ];
    assert_eq!(proxy.requests(), expected);
}
