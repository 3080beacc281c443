//! From settings to a connected cluster: kubeconfig files, contexts, the account of a pod.

use std::io::ErrorKind as ErrorKindOfFile;
use std::path::PathBuf;
use std::time::Duration;

use ::provider::{ErrorKind, ProviderError};
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

use crate::cluster::{Cluster, credentials_problem};
use crate::settings::Settings;

/// The time within which a server must answer a request. Watches are not used, so no answer takes
/// long.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// A connection for a program that watches.
pub struct ClusterConnection {
    /// The client.
    pub client: Client,
    /// Where the server is, and with which credentials.
    pub config: Config,
    /// The context and the address of the server, for messages.
    pub title: String,
    /// The namespace of the context.
    pub namespace: String,
}

/// Prepares a connection with these files, and a context of theirs; without files, with those of
/// `KUBECONFIG`, with `~/.kube/config`, or with the account of the pod. Nothing is contacted.
///
/// # Errors
/// [`ErrorKind::Document`] if there is no kubeconfig, or if it has no such context;
/// [`ErrorKind::Credentials`] if its credentials cannot be used.
pub async fn connect_watching(
    kubeconfig: &[PathBuf],
    context: Option<&str>,
) -> Result<ClusterConnection, ProviderError> {
    let settings = Settings {
        kubeconfig: kubeconfig.to_vec(),
        context: context.map(str::to_owned),
        ..Settings::default()
    };
    let (mut config, context) = configuration(&settings).await?;
    // A watch says nothing for minutes.
    config.read_timeout = None;
    let title = title(&config, context.as_deref());
    let namespace = config.default_namespace.clone();
    Ok(ClusterConnection {
        client: client(config.clone(), &title)?,
        config,
        title,
        namespace,
    })
}

/// Reads the kubeconfig and prepares a connection. Nothing is contacted.
///
/// # Errors
/// [`ErrorKind::Document`] if there is no kubeconfig, or if it has no such context;
/// [`ErrorKind::Credentials`] if its credentials cannot be used.
pub(crate) async fn connect(settings: &Settings) -> Result<Cluster, ProviderError> {
    let (mut config, context) = configuration(settings).await?;
    // The engine repeats calls, and records each try.
    config.default_retry = false;
    config.read_timeout = Some(ANSWER_WITHIN);
    config.reset_reader_on_write = true;
    let title = title(&config, context.as_deref());
    let namespace = settings.namespace.clone();
    let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
    let client = client(config, &title)?;
    Ok(Cluster::new(client, title, namespace.into()))
}

fn title(config: &Config, context: Option<&str>) -> String {
    let server = config.cluster_url.to_string();
    let server = server.trim_end_matches('/');
    match context {
        Some(context) => format!("`{context}` at {server}"),
        None => format!("this pod's cluster at {server}"),
    }
}

fn client(config: Config, title: &str) -> Result<Client, ProviderError> {
    Client::try_from(config).map_err(|error| {
        let why = credentials_problem(&error);
        let message = format!("no connection to the cluster {title} can be made: {why}");
        ProviderError::new(ErrorKind::Credentials, message)
    })
}

/// The configuration, and the context that it is from; `None` for the account of a pod.
async fn configuration(settings: &Settings) -> Result<(Config, Option<String>), ProviderError> {
    let files = settings.kubeconfig.clone();
    let read = tokio::task::spawn_blocking(move || merged(&files)).await;
    let kubeconfig = read.map_err(|error| {
        ProviderError::new(ErrorKind::Permanent, format!("reading stopped: {error}"))
    })?;
    let kubeconfig = match kubeconfig {
        Ok(kubeconfig) => kubeconfig,
        Err(why) if settings.kubeconfig.is_empty() && settings.context.is_none() => {
            let account = Config::incluster();
            return account
                .map(|config| (config, None))
                .map_err(|_| ProviderError::new(ErrorKind::Document, why));
        }
        Err(why) => return Err(ProviderError::new(ErrorKind::Document, why)),
    };
    let wanted = settings.context.clone();
    let context = wanted.or_else(|| kubeconfig.current_context.clone());
    let Some(context) = context.filter(|name| !name.is_empty()) else {
        let message = format!(
            "the kubeconfig has no current context; set `context`{}",
            contexts_of(&kubeconfig)
        );
        return Err(ProviderError::new(ErrorKind::Document, message).at("context"));
    };
    if !kubeconfig.contexts.iter().any(|one| one.name == context) {
        let message = format!(
            "the kubeconfig has no context `{context}`{}",
            contexts_of(&kubeconfig)
        );
        return Err(ProviderError::new(ErrorKind::Document, message).at("context"));
    }
    let options = KubeConfigOptions {
        context: Some(context.clone()),
        ..KubeConfigOptions::default()
    };
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let config = config.map_err(|error| {
        let message = format!("the context `{context}` of the kubeconfig cannot be used: {error}");
        ProviderError::new(ErrorKind::Document, message)
    })?;
    Ok((config, Some(context)))
}

fn contexts_of(kubeconfig: &Kubeconfig) -> String {
    let names: Vec<String> = kubeconfig
        .contexts
        .iter()
        .map(|context| format!("`{}`", context.name))
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("; it has {}", names.join(", ")),
    }
}

/// Reads and merges kubeconfig files; without any, those of `KUBECONFIG` or `~/.kube/config`. The
/// error is a message.
fn merged(files: &[PathBuf]) -> Result<Kubeconfig, String> {
    if files.is_empty() {
        let default = match Kubeconfig::from_env() {
            Ok(None) => Kubeconfig::read(),
            Ok(Some(kubeconfig)) => Ok(kubeconfig),
            Err(error) => Err(error),
        };
        return default.map_err(|error| {
            let why = problem_of(&error);
            format!(
                "{why}; set `KUBECONFIG`, or `kubeconfig` under `[providers.kubernetes]` in \
                 `cyan.toml`"
            )
        });
    }
    let mut all = Kubeconfig::default();
    for file in files {
        let message = |error| problem_of(&error);
        let one = Kubeconfig::read_from(file).map_err(message)?;
        all = all.merge(one).map_err(message)?;
    }
    Ok(all)
}

/// What is wrong with a kubeconfig.
fn problem_of(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::FindPath => "there is no kubeconfig".to_owned(),
        KubeconfigError::ReadConfig(error, file) if error.kind() == ErrorKindOfFile::NotFound => {
            format!("there is no kubeconfig at `{}`", file.display())
        }
        KubeconfigError::ReadConfig(error, file) => {
            format!(
                "the kubeconfig `{}` cannot be read: {error}",
                file.display()
            )
        }
        other => format!("the kubeconfig cannot be read: {other}"),
    }
}
