//! A real API server.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

/// A connection to a server, with a namespace of its own.
pub(crate) struct Server {
    client: kube::Client,
    pub(crate) namespace: String,
}

/// The `Status` of a refused request.
pub(crate) struct Refused(pub(crate) Json);

impl Refused {
    /// The fields of the causes, and their messages without times.
    pub(crate) fn causes(&self) -> Vec<(String, String)> {
        let causes = self.0["details"]["causes"].as_array();
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let cause = |cause: &Json| {
            (
                text(&cause["field"]),
                super::without_time(&text(&cause["message"])),
            )
        };
        causes.into_iter().flatten().map(cause).collect()
    }
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn kubeconfig() -> Option<PathBuf> {
    let name = "CYAN_TEST_KUBECONFIG";
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    if value.is_none() {
        let all = std::env::var_os("CYAN_TEST_ALL").is_some();
        assert!(
            !all,
            "the cluster should have been started: {name} is not set"
        );
        eprintln!("skipped: a cluster is needed; `cargo xtask test` starts one");
    }
    value.map(PathBuf::from)
}

impl Server {
    /// Connects and creates a namespace whose name begins with a word. Without a server, prints a
    /// message and returns `None`.
    pub(crate) async fn connect(word: &str) -> Option<Server> {
        let path = kubeconfig()?;
        let file = kube::config::Kubeconfig::read_from(path).unwrap();
        let options = kube::config::KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(file, &options)
            .await
            .unwrap();
        let client = kube::Client::try_from(config).unwrap();
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let server = Server {
            client,
            namespace: format!("{word}-{now:x}"),
        };
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": server.namespace}});
        let sent = server
            .send("POST", "/api/v1/namespaces", "application/json", &namespace)
            .await;
        assert!(sent.is_ok());
        Some(server)
    }

    /// Creates the definition of a kind and waits until it is served.
    pub(crate) async fn define(&self, definition: &Json) {
        let list = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let sent = self
            .send("POST", list, "application/json", definition)
            .await;
        if let Err(refused) = sent {
            assert_eq!(refused.0["reason"], "AlreadyExists", "{}", refused.0);
        }
        let group = definition["spec"]["group"].as_str().unwrap();
        let plural = definition["spec"]["names"]["plural"].as_str().unwrap();
        let objects = format!("/apis/{group}/v1/{plural}");
        for _ in 0..300 {
            if self
                .send("GET", &objects, "application/json", &Json::Null)
                .await
                .is_ok()
            {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("{plural} are not served");
    }

    /// Sends a request. A refusal is the `Status` of the server.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        form: &str,
        body: &Json,
    ) -> Result<Json, Refused> {
        let body = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", form)
            .body(body)
            .unwrap();
        match self.client.request::<Json>(request).await {
            Ok(answer) => Ok(answer),
            Err(kube::Error::Api(status)) => Err(Refused(serde_json::to_value(&*status).unwrap())),
            Err(other) => panic!("{method} {path}: {other}"),
        }
    }

    /// Deletes the namespace.
    pub(crate) async fn end(&self) {
        let path = format!("/api/v1/namespaces/{}", self.namespace);
        let _ = self
            .send("DELETE", &path, "application/json", &Json::Null)
            .await;
    }
}
