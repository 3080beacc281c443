//! A provider with a setting, for tests: it manages hosts in the region of its settings.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use blueprint::{Map, Value};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Candidate, Catalog, Configuration, Configured,
    FetchRequest, Fetched, InvokeRequest, Observed, Operation, Provider, ProviderError,
    ReadOutcome, ReadRequest, Session, SettingsChange,
};
use testkit::document_sources::InMemorySource;
use testkit::harness::Harness;

use crate::{apply_successfully, stage};

const CATALOG: &str = r#"{
  "format": 1, "namespace": "site", "docs": "Hosts in regions.",
  "resourceTypes": {
    "site/host": {
      "docs": "A host.", "idField": "id", "capabilities": {"imports": false},
      "fields": {
        "name": {"kind": "string", "required": true},
        "region": {"kind": "string", "computed": true},
        "id": {"kind": "string", "computed": true}
      }
    }
  },
  "dataSourceTypes": {
    "site/place": {
      "docs": "The region that is asked.",
      "filter": {"name": {"type": "string"}},
      "fields": {"name": {"kind": "string"}, "region": {"kind": "string"}}
    }
  },
  "functions": {
    "find": {
      "docs": "The region that is asked, and its key.", "named": true,
      "parameters": [{"name": "name", "type": "string"}, {"name": "most", "type": "integer", "optional": true}],
      "fields": {"region": {"kind": "string"}, "key": {"kind": "string", "sensitive": true}, "rest": {"kind": "string"}}
    }
  }
}"#;

type Log = Arc<Mutex<Vec<String>>>;

/// Manages hosts in the region of its settings. Hosts of another region are invisible.
struct RegionProvider {
    catalog: Arc<Catalog>,
    hosts: Arc<Mutex<BTreeMap<String, String>>>,
    log: Log,
}

struct RegionSession {
    region: String,
    hosts: Arc<Mutex<BTreeMap<String, String>>>,
    log: Log,
}

fn region_of(settings: &Value) -> String {
    match settings.get("region").map(Value::unmarked) {
        Some(Value::Text(region)) => region.to_string(),
        Some(Value::Unknown(_)) => "unknown".to_owned(),
        _ => "default".to_owned(),
    }
}

impl Provider for RegionProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn configure(
        self: Arc<Self>,
        with: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        let region = region_of(&with.settings);
        let moved = !with.former.is_null() && region_of(&with.former) != region;
        let change = if moved {
            SettingsChange::Replace(vec!["region".into()])
        } else {
            SettingsChange::Same
        };
        let region = if with.offline {
            "no region".to_owned()
        } else {
            region
        };
        let line = format!("configure {} in {region}", with.name);
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
        let session = Arc::new(RegionSession {
            region,
            hosts: self.hosts.clone(),
            log: self.log.clone(),
        });
        Box::pin(async {
            Ok(Configured {
                session,
                change,
                diagnostics: Vec::new(),
            })
        })
    }
}

impl RegionSession {
    fn note(&self, what: &str, call: &Call) {
        let line = format!("{what} {} in {}", call.address, self.region);
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }
}

impl Session for RegionSession {
    fn fetch<'a>(
        &'a self,
        _call: &'a Call,
        request: FetchRequest<'a>,
    ) -> BoxFuture<'a, Result<Fetched, ProviderError>> {
        let name = request
            .filters
            .iter()
            .map(|(.., wanted)| wanted.clone())
            .next()
            .unwrap_or_default();
        let line = format!(
            "fetch {} in {}",
            name.as_text().unwrap_or_default(),
            self.region
        );
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
        let fields: Map = [
            ("name".into(), name),
            ("region".into(), self.region.as_str().into()),
        ]
        .into_iter()
        .collect();
        let fields = Value::Map(Arc::new(fields));
        let candidate = Candidate {
            filter_fields: fields.clone(),
            fields,
        };
        Box::pin(async {
            Ok(Fetched {
                candidates: vec![candidate],
                ..Fetched::default()
            })
        })
    }

    fn invoke<'a>(
        &'a self,
        _call: &'a Call,
        request: InvokeRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, ProviderError>> {
        let name = request.arguments.get("name").cloned().unwrap_or_default();
        let line = format!(
            "invoke {} {} in {}",
            request.function,
            name.revealed().as_text().unwrap_or_default(),
            self.region
        );
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
        let region = Value::text(self.region.as_str());
        if request.function == "project_id" {
            return Box::pin(async { Ok(region) });
        }
        Box::pin(async { Ok(Value::map([("region", region), ("key", "k".into())])) })
    }

    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            self.note("read", call);
            let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            let there = request.id.filter(|id| hosts.get(*id) == Some(&self.region));
            Ok(match there {
                Some(id) => ReadOutcome::Present(Observed {
                    id: id.into(),
                    fields: request.outputs.clone(),
                    ..Observed::default()
                }),
                None => ReadOutcome::Absent,
            })
        })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            self.note(request.operation.word(), call);
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            if request.operation == Operation::Delete {
                let id = request.id.unwrap_or_default();
                assert_eq!(
                    hosts.remove(id).as_ref(),
                    Some(&self.region),
                    "{id} is deleted in its own region"
                );
                return Ok(Applied::deleted());
            }
            let id = request.id.map_or_else(
                || format!("{}-{}", call.address, self.region),
                str::to_owned,
            );
            hosts.insert(id.clone(), self.region.clone());
            let mut fields = request.desired.as_map().cloned().unwrap_or_default();
            fields.insert("region".into(), self.region.as_str().into());
            fields.insert("id".into(), id.as_str().into());
            Ok(Applied::ready(id.as_str(), Value::Map(Arc::new(fields))))
        })
    }
}

pub(super) struct Setup {
    pub(super) harness: Harness,
    hosts: Arc<Mutex<BTreeMap<String, String>>>,
    log: Log,
}

impl Setup {
    pub(super) fn new() -> Setup {
        Setup::of(CATALOG)
    }

    /// A setup whose provider has this catalogue.
    pub(super) fn of(catalog: &str) -> Setup {
        let catalog = Arc::new(provider::read_catalog(catalog).expect("the catalogue of the test"));
        let (hosts, log) = (Arc::default(), Log::default());
        let sites = RegionProvider {
            catalog,
            hosts: Arc::clone(&hosts),
            log: log.clone(),
        };
        let real: Vec<Arc<dyn Provider>> =
            vec![Arc::new(providers::cyan::provider()), Arc::new(sites)];
        Setup {
            harness: Harness::with("/nowhere".into(), Vec::new(), real),
            hosts,
            log,
        }
    }

    /// The same setup with documents beside the root.
    pub(super) fn with_documents(documents: &[(&str, &str)]) -> Setup {
        let mut setup = Setup::new();
        let texts = documents
            .iter()
            .map(|(name, text)| (format!("/nowhere/{name}"), (*text).to_owned()));
        setup.harness.memory_source = Some(InMemorySource::new(texts));
        setup
    }

    /// The codes of the mistakes in a document, each with the text at its place.
    pub(super) async fn mistakes(&self, text: &str) -> Vec<String> {
        let staged = stage(&self.harness, text).await;
        let mistakes = staged.diagnostics.iter().filter(|one| one.is_error());
        let shown = |one: &diag::Diagnostic| {
            let span = one.span();
            let text = staged.files.get(span.file).map_or("", |file| file.text());
            format!(
                "{} at {}",
                one.code.name,
                &text[span.start as usize..span.end as usize]
            )
        };
        mistakes.map(shown).collect()
    }

    pub(super) async fn deploy(&self, text: &str) {
        apply_successfully(&self.harness, Some(text), 2).await;
    }

    /// The calls since the last use of this function, without reads and configurations.
    pub(super) fn calls(&self) -> Vec<String> {
        self.logged(|line| !line.starts_with("read") && !line.starts_with("configure"))
    }

    /// The configurations since the last use of this function or of [`Setup::calls`].
    pub(super) fn configured(&self) -> Vec<String> {
        self.logged(|line| line.starts_with("configure"))
    }

    /// Clears the log, and returns its lines that fulfil a condition, sorted.
    fn logged(&self, is_wanted: impl Fn(&String) -> bool) -> Vec<String> {
        let all = std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        let mut calls: Vec<String> = all.into_iter().filter(is_wanted).collect();
        calls.sort();
        calls
    }

    pub(super) fn hosts(&self) -> Vec<String> {
        self.hosts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .keys()
            .cloned()
            .collect()
    }
}
