//! Helpers: a provider in a temporary folder.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use blueprint::{Address, Value};
use provider::{
    Applied, ApplyRequest, Call, CheckRequest, FetchRequest, Finding, Observed, Operation,
    ProviderDiagnostic, ProviderError, ProviderSeverity, ReadOutcome, ReadRequest, Session,
};
use providers::local::{LocalProvider, provider};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) fn spec<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::map(fields)
}

pub(crate) fn texts(items: &[&str]) -> Value {
    Value::list(items.iter().map(|item| Value::from(*item)))
}

/// A temporary folder, a provider, and calls in it.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) provider: LocalProvider,
    pub(crate) said: Arc<Mutex<Vec<String>>>,
}

impl World {
    pub(crate) fn new() -> World {
        World {
            folder: tempfile::tempdir().unwrap(),
            provider: provider(),
            said: Arc::default(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn call(&self) -> Call {
        let said = self.said.clone();
        Call {
            call_records: None,
            instances: None,
            instance: "test".into(),
            address: Address::root("thing"),
            urn: Default::default(),
            token: "token".into(),
            deadline: None,
            cancel: CancellationToken::new(),
            root: self.folder.path().into(),
            folder: self.folder.path().into(),
            settings: Value::Null,
            files: provider::FileAccess::default(),
            now: 0,
            progress: Arc::new(move |line| said.lock().unwrap().push(line.to_owned())),
        }
    }

    pub(crate) fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    pub(crate) async fn create(
        &self,
        type_name: &str,
        desired: &Value,
    ) -> Result<Applied, ProviderError> {
        self.create_with(&self.call(), type_name, desired).await
    }

    pub(crate) async fn create_with(
        &self,
        call: &Call,
        type_name: &str,
        desired: &Value,
    ) -> Result<Applied, ProviderError> {
        let request = ApplyRequest {
            operation: Operation::Create,
            type_name,
            id: None,
            prior_inputs: &Value::Null,
            prior: &Value::Null,
            desired,
            private: &Value::Null,
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
            schema_version: 0,
            planned: &Value::Null,
        };
        self.provider.apply(call, request).await
    }

    pub(crate) async fn update(
        &self,
        type_name: &str,
        made: &Applied,
        prior_inputs: &Value,
        desired: &Value,
    ) -> Result<Applied, ProviderError> {
        let request = ApplyRequest {
            operation: Operation::Update,
            type_name,
            id: Some(&made.id),
            prior_inputs,
            prior: &made.fields,
            desired,
            private: &made.private,
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
            schema_version: 0,
            planned: &Value::Null,
        };
        self.provider.apply(&self.call(), request).await
    }

    pub(crate) async fn delete(
        &self,
        type_name: &str,
        made: &Applied,
        inputs: &Value,
    ) -> Result<Vec<String>, ProviderError> {
        let request = ApplyRequest {
            operation: Operation::Delete,
            type_name,
            id: Some(&made.id),
            prior_inputs: inputs,
            prior: &made.fields,
            desired: &Value::Null,
            private: &made.private,
            sources: &[],
            metadata: &Value::Null,
            delete_mode: blueprint::DeleteMode::Delete,
            schema_version: 0,
            planned: &Value::Null,
        };
        self.provider
            .apply(&self.call(), request)
            .await
            .map(|applied| warnings(&applied.diagnostics))
    }

    pub(crate) async fn see(
        &self,
        type_name: &str,
        made: &Applied,
        inputs: &Value,
    ) -> Result<ReadOutcome, ProviderError> {
        let request = ReadRequest {
            type_name,
            id: Some(&made.id),
            inputs,
            outputs: &made.fields,
            private: &made.private,
            token: None,
            schema_version: 0,
        };
        self.provider.read(&self.call(), request).await
    }

    /// Reads the current fields.
    pub(crate) async fn fields(&self, type_name: &str, made: &Applied, inputs: &Value) -> Value {
        match self.see(type_name, made, inputs).await.unwrap() {
            ReadOutcome::Present(Observed { fields, .. }) => fields,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn fetch(
        &self,
        type_name: &str,
        filters: &[(&str, Value)],
    ) -> Result<Value, ProviderError> {
        let filters: Vec<_> = filters
            .iter()
            .map(|(field, value)| ((*field).into(), "=".into(), value.clone()))
            .collect();
        let request = FetchRequest {
            type_name,
            filters: &filters,
            annotations: &Value::Null,
        };
        let fetched = self.provider.fetch(&self.call(), request).await?;
        assert_eq!(fetched.candidates.len(), 1);
        assert_eq!(fetched.applied.len(), filters.len());
        Ok(fetched.candidates.into_iter().next().unwrap().fields)
    }

    pub(crate) async fn rejected(&self, type_name: &str, spec: &Value) -> Vec<String> {
        let checked = self
            .provider
            .check(&self.call(), CheckRequest { type_name, spec })
            .await
            .unwrap();
        checked
            .diagnostics
            .into_iter()
            .filter(|it| it.severity == ProviderSeverity::Error && it.finding == Finding::Refused)
            .map(|it| it.path.to_string())
            .collect()
    }
}

/// The texts of the diagnostics. Checks that all are warnings.
pub(crate) fn warnings(diagnostics: &[ProviderDiagnostic]) -> Vec<String> {
    assert!(
        diagnostics
            .iter()
            .all(|it| it.severity == ProviderSeverity::Warning),
        "{diagnostics:?}"
    );
    diagnostics.iter().map(ProviderDiagnostic::text).collect()
}

pub(crate) fn text<'a>(fields: &'a Value, name: &str) -> &'a str {
    fields
        .get(name)
        .and_then(Value::as_text)
        .unwrap_or_else(|| panic!("no text in `{name}`"))
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}
