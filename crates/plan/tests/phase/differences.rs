//! Plans of small documents with differences that are easy to plan wrongly: changes, reasons,
//! forced replacements.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use blueprint::{Address, Name, Value};
use diag::Diagnostics;
use engine::run::Operated;
use engine::{
    Environment, Given, Options, ProviderReply, ProviderRequest, Question, Reply, Request, Staged,
    Step, World,
};
use provider::{BoxFuture, CheckFindings, Fetched, Planned, Preflight};
use state::OperationOutcome;
use testkit::harness::{Harness, StageResult, run_with_paused_clock, settings};
use testkit::toy::world::EmptyWorld;

const CATALOG: &str = r#"{
  "format": 1,
  "namespace": "made",
  "resourceTypes": {
    "made/net": {
      "about": "a network",
      "idField": "id",
      "fields": {
        "name": {"kind": "string", "required": true, "mustRecreate": true},
        "note": {"kind": "string"},
        "ids": {"kind": "array", "items": {"kind": "string"}, "computed": true, "value": ["sn-{hash}"]},
        "id": {"kind": "string", "computed": true, "value": "net-{hash}"}
      }
    },
    "made/judged": {
      "about": "a resource whose provider says which changes force a replacement",
      "idField": "id",
      "capabilities": {"plans": true},
      "fields": {
        "note": {"kind": "string"},
        "token": {"kind": "string"},
        "id": {"kind": "string", "computed": true, "value": "judged-{hash}"}
      }
    },
    "made/named": {
      "about": "an object of which no two have the same label",
      "idField": "id",
      "fields": {
        "label": {"kind": "string", "unique": true, "nullable": true},
        "id": {"kind": "string", "computed": true, "value": "named-{hash}"}
      }
    },
    "made/host": {
      "about": "a host",
      "idField": "id",
      "fields": {
        "subnets": {"kind": "array", "items": {"kind": "string"}, "mustRecreate": true},
        "box": {"kind": "object", "fields": {"size": {"kind": "string", "mustRecreate": true}, "note": {"kind": "string"}}},
        "disks": {
          "kind": "array",
          "keyedBy": "name",
          "items": {
            "kind": "object",
            "fields": {
              "name": {"kind": "string", "required": true},
              "kind": {"kind": "string", "mustRecreate": true},
              "size": {"kind": "integer"}
            }
          }
        },
        "zones": {"kind": "array", "set": true, "items": {"kind": "string"}},
        "settings": {"kind": "map", "values": {"kind": "string"}},
        "note": {"kind": "string"},
        "id": {"kind": "string", "computed": true, "value": "host-{hash}"}
      }
    }
  },
  "dataSourceTypes": {
    "made/account": {
      "about": "an account with its keys",
      "filter": {"name": {"type": "string"}},
      "fields": {
        "name": {"kind": "string"},
        "keys": {
          "kind": "array",
          "items": {"kind": "object", "fields": {"open": {"kind": "string"}, "hidden": {"kind": "string", "sensitive": true}}}
        }
      },
      "rows": [
        {"name": "one", "keys": [{"open": "lock", "hidden": "swordfish"}]},
        {"name": "two", "keys": [{"open": "door", "hidden": "marlin"}]}
      ]
    }
  }
}"#;

fn harness() -> Harness {
    let catalog = provider::read_catalog(CATALOG).expect("the catalogue can be read");
    let harness = Harness::new(PathBuf::from("/nowhere"), vec![Arc::new(catalog)]);
    assert_eq!(harness.contradictions, Vec::<String>::new());
    harness
}

fn document(resources: &str) -> String {
    format!("version: 2025-11-02\nresources:\n{resources}")
}

async fn stage(harness: &Harness, text: &str) -> StageResult {
    let stage = harness
        .stage("plan.yaml", text, Given::default(), Options::default())
        .await;
    let said: Vec<_> = stage
        .diagnostics
        .iter()
        .map(|it| format!("{}: {}", it.code.name, it.message))
        .collect();
    assert!(stage.staged.is_some(), "no plan: {said:?}\n{text}");
    stage
}

/// A step in one line: action, address, reasons, whether it may become an update, and its changes;
/// `!` marks a change that forces a replacement.
fn line(step: &Step) -> String {
    let reasons: Vec<_> = step.reasons.iter().map(|reason| reason.word()).collect();
    let show = |value: &Option<Value>| {
        value
            .as_ref()
            .map_or("-".to_owned(), |value| value.to_string())
    };
    let changes = step.changes.iter().map(|change| {
        format!(
            "{}{}: {} => {}",
            change.path,
            if change.forces { "!" } else { "" },
            show(&change.before),
            show(&change.after)
        )
    });
    let may = if step.may_replace { "may " } else { "" };
    format!(
        "{may}{} {} ({}) {}",
        step.action.word(),
        step.address,
        reasons.join(", "),
        changes.collect::<Vec<_>>().join("; ")
    )
}

/// The steps of a plan except those without an action.
async fn steps(harness: &Harness, text: &str) -> Vec<String> {
    let staged = stage(harness, text).await.staged.expect("a plan");
    staged
        .plan
        .steps
        .iter()
        .filter(|step| step.action != engine::Action::None)
        .map(line)
        .collect()
}

async fn apply(harness: &Harness, text: &str) {
    let staged = stage(harness, text).await.staged.expect("a plan");
    let run = harness
        .run(staged, false, Vec::new(), settings(None, false))
        .await;
    let well = match &run.operated {
        Some(Operated::Done(outcome)) => outcome.outcome == Some(OperationOutcome::Ready),
        other => matches!(other, Some(Operated::Nothing)),
    };
    assert!(well, "{:?}\n{text}", run.operated);
}

/// The plan of the second document after the first one was applied.
fn after(first: &str, second: &str) -> Vec<String> {
    run_with_paused_clock(async {
        let harness = harness();
        apply(&harness, &document(first)).await;
        steps(&harness, &document(second)).await
    })
}

#[test]
fn an_unknown_list_may_come_out_equal() {
    let text = |name: &str| {
        format!(
            "  net: {{ type: made/net, spec: {{ name: {name} }} }}\n  host: {{ type: made/host, spec: {{ subnets: '${{net.spec.ids}}' }} }}\n"
        )
    };
    let steps = after(&text("a"), &text("b"));
    assert!(
        steps[1].starts_with("may replace host (field-forces"),
        "{steps:?}"
    );
    assert!(
        steps[1].ends_with("=> (known on deploy)") && steps[1].contains(" spec.subnets!: [\"sn-"),
        "{steps:?}"
    );
}

#[test]
fn forcing_fields_of_added_and_removed_objects_count() {
    let without = "  host: { type: made/host, spec: { note: x } }\n";
    let with = "  host: { type: made/host, spec: { note: x, box: { size: big } } }\n";
    let mild = "  host: { type: made/host, spec: { note: x, box: { note: y } } }\n";
    assert_eq!(
        after(without, with),
        ["replace host (field-forces) spec.box.size!: - => \"big\""]
    );
    assert_eq!(
        after(with, without),
        ["replace host (field-forces) spec.box.size!: \"big\" => -"]
    );
    assert_eq!(
        after(without, mild),
        ["update host (changed) spec.box.note: - => \"y\""]
    );
}

#[test]
fn items_with_a_key_are_compared_by_the_key() {
    let text =
        |disks: &str| format!("  host: {{ type: made/host, spec: {{ disks: [{disks}] }} }}\n");
    let (a, b) = ("{ name: a, size: 1 }", "{ name: b, kind: ssd, size: 2 }");
    // A comparison by position would find a changed `kind`, which forces a replacement.
    let swapped = after(
        &text(&format!("{a}, {b}")),
        &text(&format!("{b}, {{ name: a, size: 3 }}")),
    );
    assert_eq!(
        swapped,
        ["update host (changed) spec.disks[1].size: 1 => 3"]
    );
    let inserted = after(&text(b), &text(&format!("{{ name: c, size: 5 }}, {b}")));
    assert_eq!(
        inserted,
        ["update host (changed) spec.disks[0].name: - => \"c\"; spec.disks[0].size: - => 5"]
    );
    let removed = after(&text(&format!("{a}, {b}")), &text(b));
    assert_eq!(
        removed,
        ["update host (changed) spec.disks[0].name: \"a\" => -; spec.disks[0].size: 1 => -"]
    );
}

#[test]
fn changes_of_a_set_are_additions_and_removals() {
    let text =
        |zones: &str| format!("  host: {{ type: made/host, spec: {{ zones: [{zones}] }} }}\n");
    assert_eq!(
        after(&text("a, b, c"), &text("x, c, b")),
        ["update host (changed) spec.zones[0]: - => \"x\"; spec.zones[0]: \"a\" => -"]
    );
    assert_eq!(
        after(&text("a, b, c"), &text("c, b, a, a")),
        Vec::<String>::new()
    );
}

#[test]
fn reader_of_a_replaced_resource_names_the_reason() {
    let text = |name: &str| {
        format!(
            "  net: {{ type: made/net, spec: {{ name: {name} }} }}\n  host: {{ type: made/host, spec: {{ note: 'in ${{net.spec.id}}' }} }}\n"
        )
    };
    let steps = after(&text("a"), &text("b"));
    assert!(
        steps[1].starts_with("update host (changed, dependency-replaced) "),
        "{steps:?}"
    );
}

#[test]
fn drift_in_an_ignored_field_needs_no_step() {
    let text = |ignored: &str| {
        let hints = format!("metadata: {{ annotations: {{ cyan.ignoreChanges: {ignored} }} }}");
        document(&format!(
            "  host: {{ type: made/host, {hints}, spec: {{ note: a, settings: {{ x: '1', y: '2' }} }} }}\n"
        ))
    };
    run_with_paused_clock(async {
        let harness = harness();
        apply(&harness, &text("settings.x")).await;
        let altered = harness.world.lock().expect("no thread panics").set(
            harness.name.name(),
            "host",
            "settings.x",
            Value::from("7"),
        );
        assert!(altered.is_ok());
        assert_eq!(
            steps(&harness, &text("settings.x")).await,
            Vec::<String>::new()
        );
        assert_eq!(
            steps(&harness, &text("settings")).await,
            Vec::<String>::new()
        );
        assert_eq!(
            steps(&harness, &text("settings.y")).await,
            ["update host (drifted) spec.settings.x: \"7\" => \"1\""]
        );
    });
}

#[test]
fn export_may_need_a_search_for_its_value() {
    let text = "version: 2025-11-02
values:
  v: { type: string, value: '${datasources.first.name}' }
datasources:
  first: { type: made/account, filter: { field: name, operator: '=', search: two }, exports: { name: { type: string } } }
  second:
    type: made/account
    filter: { field: name, operator: '=', search: '${values.v}' }
    exports: { name: { type: string } }
resources:
  host: { type: made/host, spec: { note: x } }
exports:
  found: { type: string, field: datasources.second.name }
";
    run_with_paused_clock(async {
        let staged = stage(&harness(), text).await.staged.expect("a plan");
        let exports: Vec<_> = staged
            .plan
            .exports
            .iter()
            .map(|it| format!("{} {:?}", it.name, it.after))
            .collect();
        assert_eq!(exports, ["found Some(\"two\")"]);
    });
}

#[test]
fn sensitive_parts_of_data_source_fields_are_hidden() {
    let text = "version: 2025-11-02
datasources:
  all: { type: made/account, filter: { field: name, operator: '=', search: one }, exports: '*' }
  one:
    type: made/account
    filter: { field: name, operator: '=', search: one }
    exports: { other: { type: array, aliasFor: keys } }
resources:
  host: { type: made/host, spec: { note: '${datasources.all.keys[0].hidden}' } }
  other: { type: made/host, spec: { note: '${datasources.one.other[0].hidden}' } }
  plain: { type: made/host, spec: { note: '${datasources.one.other[0].open}' } }
";
    let steps = run_with_paused_clock(async { steps(&harness(), text).await });
    let notes: Vec<_> = steps
        .iter()
        .filter_map(|step| step.split_once("spec.note: - => ").map(|(_, after)| after))
        .collect();
    assert_eq!(notes, ["(secret)", "(secret)", "\"lock\""], "{steps:?}");
}

#[test]
fn reader_of_a_possible_replacement_is_unknown() {
    let text = |name: &str| {
        format!(
            "  net: {{ type: made/net, spec: {{ name: {name} }} }}
  host: {{ type: made/host, condition: '${{eq(net.spec.ids[0], net.spec.ids[0])}}', spec: {{ note: here }} }}
  reader: {{ type: made/host, spec: {{ note: '${{coalesce(host.spec.note, \"none\")}}' }} }}\n"
        )
    };
    let steps = after(&text("a"), &text("b"));
    let reader = steps
        .iter()
        .find(|step| step.contains(" reader "))
        .map(String::as_str);
    assert_eq!(
        reader,
        Some("update reader (changed) spec.note: \"here\" => (known on deploy)"),
        "{steps:?}"
    );
}

/// A world in which the provider replaces a changed `note`, and in which a search for accounts
/// takes time.
#[derive(Default)]
struct ReplacingWorld {
    /// The number of searches in progress, and its maximum.
    searches: [AtomicUsize; 2],
}

impl World for ReplacingWorld {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            let Question::Provider(asked) = question else {
                return question.refused("there is nothing here");
            };
            Reply::Provider(Ok(match asked.request {
                ProviderRequest::Check(_) => ProviderReply::Checked(CheckFindings::default()),
                ProviderRequest::Preflight(_) => ProviderReply::Preflight(Preflight::default()),
                ProviderRequest::Plan(_) => ProviderReply::Planned(Planned {
                    replaces: vec!["note".into()],
                    ..Planned::default()
                }),
                ProviderRequest::Fetch(request) => {
                    ProviderReply::Fetched(self.search(request.filters).await)
                }
                ProviderRequest::Read(_)
                | ProviderRequest::Invoke(_)
                | ProviderRequest::Import(_)
                | ProviderRequest::Upgrade(_)
                | ProviderRequest::Configure => {
                    return question.refused("nothing is known here");
                }
            }))
        })
    }

    fn environment(&self) -> &dyn Environment {
        &EmptyWorld {
            now: testkit::harness::START_TIME,
        }
    }
}

impl ReplacingWorld {
    /// One candidate that meets the filters, after a second.
    async fn search(&self, filters: &[(Name, Name, Value)]) -> Fetched {
        let [now, most] = &self.searches;
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        now.fetch_sub(1, Ordering::SeqCst);
        let fields = Value::map(
            filters
                .iter()
                .map(|(field, _, wanted)| (field.clone(), wanted.clone())),
        );
        let candidates = vec![provider::Candidate {
            filter_fields: fields.clone(),
            fields,
        }];
        Fetched {
            candidates,
            ..Fetched::default()
        }
    }
}

/// Stages without a refresh.
async fn stage_in(
    harness: &Harness,
    text: &str,
    world: &ReplacingWorld,
) -> (Option<Staged>, Diagnostics) {
    let read = harness.read("plan.yaml", text).await;
    let request = Request {
        instance: harness.name.name().clone(),
        document: Some((
            Arc::new(engine::Documents::single(
                read.checked.expect("it can be checked"),
                "/nowhere".into(),
            )),
            read.document,
        )),
        given: Given::default(),
        options: Options {
            refresh: false.into(),
            ..Options::default()
        },
        snapshot: harness.snapshot().await,
        catalogs: harness.catalogs.clone(),
        functions: harness.functions.clone(),
        answers: None,
        others: None,
        world,
    };
    let mut found = Diagnostics::new();
    let staged = engine::plan(request, &mut found).await;
    (staged, found)
}

#[test]
fn independent_data_sources_are_read_in_parallel() {
    let source = |name: &str, search: &str| {
        format!(
            "  {name}: {{ type: made/account, filter: {{ field: name, operator: '=', search: '{search}' }}, exports: {{ name: {{ type: string }} }} }}\n"
        )
    };
    let text = format!(
        "version: 2025-11-02\ndatasources:\n{}{}{}{}resources:\n{}",
        source("a", "one"),
        source("b", "two"),
        source("c", "three"),
        source("d", "${datasources.a.name}"),
        ["a", "b", "c", "d"]
            .map(|name| format!(
                "  host_{name}: {{ type: made/host, spec: {{ note: '${{datasources.{name}.name}}' }} }}\n"
            ))
            .concat(),
    );
    run_with_paused_clock(async {
        let world = ReplacingWorld::default();
        let (staged, found) = stage_in(&harness(), &text, &world).await;
        let said: Vec<_> = found.iter().map(|it| it.message.clone()).collect();
        let staged = staged.unwrap_or_else(|| panic!("no plan: {said:?}"));
        let steps: Vec<_> = staged.plan.steps.iter().map(line).collect();
        let note = |step: &String| step.rsplit("=> ").next().unwrap_or_default().to_owned();
        assert_eq!(
            steps.iter().map(note).collect::<Vec<_>>(),
            ["\"one\"", "\"two\"", "\"three\"", "\"one\""]
        );
        assert_eq!(world.searches[1].load(Ordering::SeqCst), 3);
        let order: Vec<_> = staged
            .plan
            .answers
            .data_sources
            .keys()
            .map(AsRef::as_ref)
            .collect();
        assert_eq!(order, ["a", "b", "c", "d"]);
    });
}

#[test]
fn an_annotation_of_a_data_source_may_be_known_on_deploy() {
    let text = "version: 2025-11-02
datasources:
  a:
    type: made/account
    metadata: { annotations: { made.of: '${net.spec.id}' } }
    filter: { field: name, operator: '=', search: one }
    exports: { name: { type: string } }
resources:
  net: { type: made/net, spec: { name: a } }
  host: { type: made/host, spec: { note: '${datasources.a.name}' } }
";
    run_with_paused_clock(async {
        let (staged, found) = stage_in(&harness(), text, &ReplacingWorld::default()).await;
        let codes: Vec<_> = found
            .iter()
            .filter(|it| it.is_error())
            .map(|it| it.code.name)
            .collect();
        let staged = staged.unwrap_or_else(|| panic!("no plan: {codes:?}"));
        assert!(staged.plan.answers.data_sources.is_empty());
        let note = staged
            .desired(&Address::root("host"))
            .and_then(|spec| spec.get("note").cloned());
        assert!(note.is_some_and(|note| note.is_unknown()));
    });
}

#[test]
fn requested_replacement_remains_when_values_are_generated_again() {
    let text = |note: &str| {
        document(&format!(
            "  it: {{ type: made/judged, spec: {{ note: {note}, token: '${{uuid()}}' }} }}\n"
        ))
    };
    run_with_paused_clock(async {
        let harness = harness();
        apply(&harness, &text("a")).await;
        let world = ReplacingWorld::default();
        let (staged, _) = stage_in(&harness, &text("b"), &world).await;
        let staged = staged.expect("a plan");
        let [step] = staged.plan.steps.as_slice() else {
            panic!("{:?}", staged.plan.steps)
        };
        let shown = line(step);
        assert!(
            shown.starts_with(
                "replace it (field-forces, changed) spec.note!: \"a\" => \"b\"; spec.token: "
            ),
            "{shown}"
        );
    });
}

#[test]
fn first_deploy_without_resources_is_recorded() {
    let text = document(
        "  net: { type: made/net, each: '${list(\"a\")}', condition: '${eq(elem, \"b\")}', spec: { name: a } }\n",
    );
    run_with_paused_clock(async {
        let harness = harness();
        let first = stage(&harness, &text).await.staged.expect("a plan");
        assert!(first.plan.is_empty() && !first.plan.writes_nothing(&first.snapshot));
        apply(&harness, &text).await;
        assert_eq!(harness.snapshot().await.generation.0, 1);
        let second = stage(&harness, &text).await.staged.expect("a plan");
        assert!(second.plan.writes_nothing(&second.snapshot));
    });
}

#[test]
fn unique_value_is_released_before_it_is_taken() {
    let named = |name: &str, label: &str| {
        format!("  {name}: {{ type: made/named, spec: {{ label: {label} }} }}\n")
    };
    let order = |before: String, now: String| {
        run_with_paused_clock(async move {
            let harness = harness();
            apply(&harness, &document(&before)).await;
            let staged = stage(&harness, &document(&now))
                .await
                .staged
                .expect("a plan");
            let step = |step: &Step| {
                format!(
                    "{} {} {:?}",
                    step.action.word(),
                    step.address,
                    step.waits_on
                )
            };
            staged.plan.steps.iter().map(step).collect::<Vec<_>>()
        })
    };
    assert_eq!(
        order(named("b", "one"), named("a", "one") + &named("b", "two")),
        ["update b []", "create a [0]"]
    );
    assert_eq!(
        order(named("b", "one"), named("a", "one")),
        ["delete b []", "create a [0]"]
    );
    // A resource with a null label has no value to release.
    assert_eq!(
        order(named("b", "~"), named("a", "~")),
        ["create a []", "delete b []"]
    );
}

/// `gone` uses the replaced `net`. `stays` used `gone` and now uses `net`. Each of them waits for
/// the next.
#[test]
fn cycle_is_broken_at_the_removed_resource() {
    let net = |name: &str| format!("  net: {{ type: made/net, spec: {{ name: {name} }} }}\n");
    let gone = "  gone: { type: made/host, spec: { note: '${net.spec.id}' } }\n";
    let stays = |reads: &str| {
        format!("  stays: {{ type: made/host, spec: {{ note: '${{{reads}.spec.id}}' }} }}\n")
    };
    for turned in [false, true] {
        let text = |parts: Vec<String>| match turned {
            false => document(&parts.concat()),
            true => document(&parts.into_iter().rev().collect::<String>()),
        };
        let before = text(vec![net("a"), gone.to_owned(), stays("gone")]);
        let now = text(vec![net("b"), stays("net")]);
        run_with_paused_clock(async {
            let harness = harness();
            apply(&harness, &before).await;
            let staged = stage(&harness, &now).await.staged.expect("a plan");
            let steps: Vec<String> = staged
                .plan
                .steps
                .iter()
                .map(|step| format!("{} {}", step.action.word(), step.address))
                .collect();
            assert_eq!(steps, ["delete gone", "replace net", "update stays"]);
        });
    }
}

#[test]
fn unset_fields_of_new_resources_are_none() {
    let text = document(
        "  net: { type: made/net, spec: { name: a } }\n  host: { type: made/host, spec: { note: '${coalesce(net.spec.note, \"none\")}' } }\n",
    );
    run_with_paused_clock(async {
        let staged = stage(&harness(), &text).await.staged.expect("a plan");
        let note = staged
            .desired(&Address::root("host"))
            .and_then(|spec| spec.get("note").cloned());
        assert_eq!(note, Some(Value::from("none")));
    });
}
