//! The settings of a configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::provider::{ErrorKind, ProviderError, Setting};
use blueprint::{Field, Kind, Value};

/// The meaning of an object that exists although its resource is new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Existing {
    /// The resource is refused.
    #[default]
    Refuse,
    /// The object is taken under management. A delete gives its fields up and keeps it.
    Adopt,
}

/// The meaning of a field that another manager holds with another value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Conflicts {
    /// The change is refused.
    #[default]
    Refuse,
    /// The field is taken over.
    TakeOver,
}

/// The settings of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The files of the kubeconfig, which are merged. Empty for those of `KUBECONFIG`, or
    /// `~/.kube/config`, or the account of the pod in which this process runs.
    pub(crate) kubeconfig: Vec<PathBuf>,
    /// The context; `None` for the current one.
    pub(crate) context: Option<String>,
    /// The namespace of objects without one; `None` for that of the context.
    pub(crate) namespace: Option<String>,
    pub(crate) existing: Existing,
    pub(crate) conflicts: Conflicts,
}

impl Settings {
    /// Reads the settings. Paths are relative to `folder`. Unknown values count as not set.
    ///
    /// # Errors
    /// [`ErrorKind::Document`] at a setting whose value is not allowed.
    pub(crate) fn read(settings: &Value, folder: &Path) -> Result<Settings, ProviderError> {
        let text = |name: &str| {
            let value = settings.get(name).and_then(Value::as_text);
            value.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let kubeconfig = text("kubeconfig").unwrap_or_default();
        let files = std::env::split_paths(&kubeconfig).filter(|path| !path.as_os_str().is_empty());
        Ok(Settings {
            kubeconfig: files.map(|path| folder.join(path)).collect(),
            context: text("context"),
            namespace: text("namespace"),
            existing: word(
                text("existing"),
                "existing",
                [("refuse", Existing::Refuse), ("adopt", Existing::Adopt)],
            )?,
            conflicts: word(
                text("conflicts"),
                "conflicts",
                [
                    ("refuse", Conflicts::Refuse),
                    ("take-over", Conflicts::TakeOver),
                ],
            )?,
        })
    }

    /// The declared settings, in display order.
    pub(crate) fn declared() -> Vec<Setting> {
        let setting = |name: &str, docs: &str, allowed: &[&str]| Setting {
            name: name.into(),
            field: Field {
                docs: docs.into(),
                allowed: allowed.iter().map(|word| Value::text(*word)).collect(),
                ..Field::of(Kind::String)
            },
        };
        let crds = Setting {
            name: "crds".into(),
            field: Field {
                docs: "Files, and folders of files, with CustomResourceDefinitions: documents are checked by them without a cluster.".into(),
                ..Field::of(Kind::Array(Arc::new(Field::of(Kind::String))))
            },
        };
        vec![
            crds,
            setting(
                "kubeconfig",
                "The kubeconfig file, or several that are merged. The default is `KUBECONFIG`, then `~/.kube/config`, then the account of the pod.",
                &[],
            ),
            setting(
                "context",
                "The context of the kubeconfig. The default is its current context.",
                &[],
            ),
            setting(
                "namespace",
                "The namespace of objects that name none. The default is that of the context.",
                &[],
            ),
            setting(
                "existing",
                "What a new resource does with an object that exists: `refuse` (the default) or `adopt`.",
                &["refuse", "adopt"],
            ),
            setting(
                "conflicts",
                "What a change does with a field that another manager holds: `refuse` (the default) or `take-over`.",
                &["refuse", "take-over"],
            ),
        ]
    }
}

fn word<T: Copy + Default, const N: usize>(
    written: Option<String>,
    name: &str,
    words: [(&str, T); N],
) -> Result<T, ProviderError> {
    let Some(written) = written else {
        return Ok(T::default());
    };
    let known = words.iter().find(|(word, _)| *word == written);
    known.map(|(_, value)| *value).ok_or_else(|| {
        let all = words.map(|(word, _)| format!("`{word}`")).join(" or ");
        let message = format!("`{name}` is {all}, not `{written}`");
        ProviderError::new(ErrorKind::Document, message).at(name)
    })
}
