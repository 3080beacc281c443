//! Further configurations of a provider: each resource is managed with the one that it chooses, also after the document
//! has lost both.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use blueprint::Value;
use engine::shell::Operated;
use engine::{Given, Options};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, Configuration, Configured, Observed, Operation, Provider,
    ProviderError, ReadOutcome, ReadRequest, Session, SettingsChange,
};
use testkit::harness::{Harness, settings};

use crate::{apply_well, lately, stage};

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
    match settings.get("region").map(Value::bare) {
        Some(Value::Text(region)) => region.to_string(),
        Some(Value::Unknown(_)) => "unknown".to_owned(),
        _ => "default".to_owned(),
    }
}

impl Provider for RegionProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn configure(self: Arc<Self>, with: Configuration) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        let region = region_of(&with.settings);
        let moved = !with.former.is_null() && region_of(&with.former) != region;
        let change = if moved { SettingsChange::Replace(vec!["region".into()]) } else { SettingsChange::Same };
        let session = Arc::new(RegionSession { region, hosts: self.hosts.clone(), log: self.log.clone() });
        Box::pin(async { Ok(Configured { session, change, diagnostics: Vec::new() }) })
    }
}

impl RegionSession {
    fn note(&self, what: &str, call: &Call) {
        let line = format!("{what} {} in {}", call.address, self.region);
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

impl Session for RegionSession {
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

    fn apply<'a>(&'a self, call: &'a Call, request: ApplyRequest<'a>) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            self.note(request.operation.word(), call);
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            if request.operation == Operation::Delete {
                let id = request.id.unwrap_or_default();
                assert_eq!(hosts.remove(id).as_ref(), Some(&self.region), "{id} is deleted in its own region");
                return Ok(Applied::deleted());
            }
            let id = request.id.map_or_else(|| format!("{}-{}", call.address, self.region), str::to_owned);
            hosts.insert(id.clone(), self.region.clone());
            let mut fields = request.desired.as_map().cloned().unwrap_or_default();
            fields.insert("region".into(), self.region.as_str().into());
            fields.insert("id".into(), id.as_str().into());
            Ok(Applied::ready(id.as_str(), Value::Map(Arc::new(fields))))
        })
    }
}

struct Setup {
    harness: Harness,
    hosts: Arc<Mutex<BTreeMap<String, String>>>,
    log: Log,
}

impl Setup {
    fn new() -> Setup {
        let catalog = Arc::new(provider::read_catalog(CATALOG).expect("the catalogue of the test"));
        let (hosts, log) = (Arc::default(), Log::default());
        let sites = RegionProvider { catalog, hosts: Arc::clone(&hosts), log: log.clone() };
        let real: Vec<Arc<dyn Provider>> = vec![Arc::new(providers::cyan::provider()), Arc::new(sites)];
        Setup { harness: Harness::with("/nowhere".into(), Vec::new(), real), hosts, log }
    }

    async fn deploy(&self, text: &str) {
        apply_well(&self.harness, Some(text), 2).await;
    }

    /// The calls since the last time, without reads.
    fn calls(&self) -> Vec<String> {
        let all = std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        let mut calls: Vec<String> = all.into_iter().filter(|line| !line.starts_with("read")).collect();
        calls.sort();
        calls
    }

    fn hosts(&self) -> Vec<String> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }
}

/// A document with two hosts, one of which chooses a configuration with these settings.
fn two_hosts(settings: &str) -> String {
    format!(
        "version: 2023-04-20\nresources:\n  \
         far: {{ type: cyan/provider, spec: {{ namespace: site, settings: {settings} }} }}\n  \
         a: {{ type: site/host, spec: {{ name: a }} }}\n  \
         b: {{ type: site/host, metadata: {{ annotations: {{ cyan.provider: far }} }}, spec: {{ name: b }} }}\n"
    )
}

#[test]
fn each_resource_is_managed_with_its_configuration() {
    lately(async {
        let setup = Setup::new();
        setup.deploy(&two_hosts("{ region: north }")).await;
        assert_eq!(setup.calls(), ["create a in default", "create b in north"]);
        // Nothing is to be done: both are found in their regions.
        setup.deploy(&two_hosts("{ region: north }")).await;
        assert_eq!(setup.calls(), [""; 0]);
        let renamed = two_hosts("{ region: north }").replace("name: b", "name: c");
        setup.deploy(&renamed).await;
        assert_eq!(setup.calls(), ["update b in north"]);
        apply_well(&setup.harness, None, 2).await;
        assert_eq!(setup.calls(), ["delete a in default", "delete b in north"]);
        assert_eq!(setup.hosts(), [""; 0]);
    });
}

#[test]
fn recorded_settings_delete_what_the_document_no_longer_declares() {
    lately(async {
        let setup = Setup::new();
        setup.deploy(&two_hosts("{ region: north }")).await;
        setup.calls();
        setup.deploy("version: 2023-04-20\nresources:\n  a: { type: site/host, spec: { name: a } }\n").await;
        assert_eq!(setup.calls(), ["delete b in north"]);
        let snapshot = setup.harness.snapshot().await;
        let left: Vec<String> = snapshot.records.keys().map(ToString::to_string).collect();
        assert_eq!(left, ["a"]);
    });
}

#[test]
fn settings_may_come_from_a_resource() {
    lately(async {
        let setup = Setup::new();
        let text = two_hosts("{ region: \"${first.spec.region}\" }")
            .replace("resources:\n", "resources:\n  first: { type: site/host, spec: { name: first } }\n");
        let planned = stage(&setup.harness, &text).await;
        assert!(planned.staged.is_some(), "{:?}", planned.diagnostics);
        assert_eq!(setup.calls(), [""; 0]);
        setup.deploy(&text).await;
        assert_eq!(setup.calls(), ["create a in default", "create b in default", "create first in default"]);
    });
}

#[test]
fn changed_settings_replace_if_the_provider_says_so() {
    lately(async {
        let setup = Setup::new();
        setup.deploy(&two_hosts("{ region: north }")).await;
        setup.calls();
        let text = two_hosts("{ region: south }");
        let planned = setup.harness.stage("main.yaml", &text, Given::default(), Options::default()).await;
        let staged = planned.staged.expect("a plan");
        let step = staged.plan.steps.iter().find(|step| step.address.to_string() == "b").expect("a step");
        assert_eq!(step.action.word(), "replace");
        assert_eq!(step.reasons.iter().map(|reason| reason.word()).collect::<Vec<_>>(), ["provider-changed"]);
        let run = setup.harness.run(staged, false, Vec::new(), settings(Some(1), false)).await;
        assert!(matches!(run.operated, Some(Operated::Done(_))), "{:?}", run.operated);
        assert_eq!(setup.calls(), ["create b in south", "delete b in north"]);
        assert_eq!(setup.hosts(), ["a-default", "b-south"]);
    });
}
