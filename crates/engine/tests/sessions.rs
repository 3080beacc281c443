//! Tests of the results of a session for a front end without a terminal, and of their JSON forms.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

use engine::format::formatted;
use engine::inspect::{Details, Names, Types, diagnostic_code};
use std::sync::Arc;

use diag::{Diagnostics, Files};
use engine::apply::OnFailure;
use engine::run::{Clock, Operated};
use engine::transfer::{HistoryRestored, is_exported, read_exported};
use engine::validate::{DocumentVerdict, NamedDocument, Verdicts};
use engine::{
    Checked, Config, DocumentSource, Envelope, Error, Event, Frontend, Given, Inputs, Installed,
    InstanceSelector, OperateRequest, Options, Renamed, RunProgress, Session, SessionEvent,
    SessionOptions, Silent, StageRequest, StateEdit, json,
};
use serde_json::json;
use state::InstanceName;
use state::seal::Sealer;

const SHOP: &str = "version: 2023-04-20
variables:
  size: {type: integer, default: 1}
resources:
  till: {type: test/data, spec: {input: \"${variables.size}\"}}
exports:
  out: {type: integer, field: resources.till.spec.input}
";

fn session() -> Session {
    session_of(testkit::installed())
}

fn session_of(installed: Arc<Installed>) -> Session {
    let options = SessionOptions {
        state: Some("memory:".to_owned()),
        ..SessionOptions::default()
    };
    Session::new(installed, Config::default(), &options, ".".as_ref()).unwrap()
}

fn name(text: &str) -> InstanceName {
    text.parse().unwrap()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

/// Deploys a text as an instance.
async fn deploy(session: &Session, instance: &InstanceName, text: &str) -> Silent {
    let mut frontend = Silent::default();
    let source = DocumentSource::of_text("shop.yaml", text);
    let request = StageRequest {
        instance: Some(instance.clone()),
        ..StageRequest::new(source)
    };
    let staged = session.stage(request, &mut frontend).await.unwrap();
    let operated = session
        .operate(OperateRequest::of(staged.planned, "me@here"), &mut frontend)
        .await;
    assert!(
        matches!(operated, Operated::Done(_)),
        "{:?}",
        frontend.diagnostics
    );
    frontend
}

#[test]
fn an_instance_and_its_parts_are_described() {
    run(async {
        let (session, shop) = (session(), name("shop"));
        deploy(&session, &shop, SHOP).await;

        let instances = session.instances(false).await.unwrap();
        assert_eq!((instances.listed.len(), instances.destroyed), (1, 0));
        let listed = json::instances(&instances);
        assert_eq!(listed["instances"][0]["status"], "deploy ready");

        let details = Details::Instance(Box::new(session.details(&shop).await.unwrap()));
        let whole = json::details(&details, false);
        assert_eq!(whole["resources"][0]["address"], "till");
        assert_eq!(whole["exports"], json!({"out": 1}));

        let one = session.details_at(&shop, "till").await.unwrap();
        assert_eq!(json::details(&one, false), whole["resources"][0]);

        let Err(Error::Diagnosed(diagnostic)) = session.details_at(&shop, "tilt").await else {
            panic!("it is unknown")
        };
        assert_eq!(diagnostic.code.name, "unknown-address");
        assert_eq!(diagnostic.help, ["did you mean `till`?"]);
    });
}

#[test]
fn exports_and_history_are_values() {
    run(async {
        let (session, shop) = (session(), name("shop"));
        deploy(&session, &shop, SHOP).await;
        let exports = session.exports(&shop).await.unwrap();
        assert_eq!(
            json::exports(&exports, false),
            json!({"instance": "shop", "exports": {"out": 1}})
        );
        let Err(Error::Usage { message, help }) = exports.get("ou") else {
            panic!("it is unknown")
        };
        assert_eq!(
            (message.as_str(), help.as_deref()),
            ("`shop` exports no `ou`", Some("did you mean `out`?"))
        );

        let history = session.history(&shop, 10).await.unwrap();
        assert!(!history.is_held);
        let operation = &json::history(&history)["operations"][0];
        assert_eq!(
            (&operation["who"], &operation["finished"]["created"]),
            (&json!("me@here"), &json!(1))
        );
    });
}

#[tokio::test]
async fn types_functions_and_codes_are_found_by_name() {
    let session = session();
    let library = &session.library;
    let found = library.types_named(Some("test/data")).await.unwrap();
    assert!(
        matches!(&found, Types::Type(details) if details.resource.is_some()),
        "{found:?}"
    );
    assert_eq!(json::types(&found)["resource"]["name"], "test/data");
    let lists = library.types_named(None).await.unwrap();
    assert!(
        json::types(&lists)["types"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["name"] == "test/data")
    );
    assert!(matches!(
        library.types_named(Some("test/dta")).await,
        Err(Error::Usage { .. })
    ));

    assert_eq!(
        json::functions_named(&library.functions_named("len").unwrap())["name"],
        "len"
    );
    assert!(matches!(
        library.functions_named("lenn"),
        Err(Error::Usage { .. })
    ));

    let code = diagnostic_code("plan-stale", &library.dialects, &[]).unwrap();
    assert_eq!(json::code(code)["severity"], "error");
    assert!(diagnostic_code("plan-stal", &library.dialects, &[]).is_err());
}

#[test]
fn documents_of_a_folder_get_verdicts() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let good = folder.path().join("a.blueprint.yaml");
        std::fs::write(&good, SHOP).unwrap();
        std::fs::write(
            folder.path().join("b.blueprint.yaml"),
            SHOP.replace("test/data", "test/nothing"),
        )
        .unwrap();
        std::fs::write(folder.path().join("cyan.toml"), "strict = true\n").unwrap();
        let session = session();
        let dialects = &session.installed.dialects;
        let named = NamedDocument::of_paths(&[folder.path().to_owned()], dialects).unwrap();
        assert_eq!(named.len(), 2);
        assert!(
            named[0].config(None, folder.path()).unwrap().strict,
            "the folder has a configuration"
        );

        let mut verdicts = Verdicts {
            documents: Vec::new(),
            has_folder: true,
        };
        for one in &named {
            let source = DocumentSource::find(one.path.as_deref(), dialects).unwrap();
            let (inputs, mut frontend) = (Inputs::default(), Silent::default());
            verdicts.documents.push(
                session
                    .verdict(one, source, &inputs, &mut frontend)
                    .await
                    .unwrap()
                    .0,
            );
        }
        let missing = NamedDocument {
            path: Some("c.yaml".into()),
            folder: None,
        };
        verdicts
            .documents
            .push(DocumentVerdict::unreadable(&missing, &Error::Reported));
        let json = json::verdicts(&verdicts);
        assert_eq!(
            json["summary"],
            json!({"documents": 3, "valid": 1, "invalid": 2})
        );
        assert_eq!(
            json["documents"][0]["declares"]["resources"],
            json!(["till"])
        );
        assert_eq!(
            json["documents"][1]["why"],
            json!(["unknown-resource-type"])
        );
        assert_eq!(
            json["documents"][2],
            json!({
                "file": "c.yaml", "valid": false, "errors": 1, "warnings": 0, "why": ["not checked"], "declares": null,
            })
        );
        assert!(
            NamedDocument::of_paths(&[tempfile::tempdir().unwrap().path().to_owned()], dialects)
                .is_err()
        );
    });
}

#[test]
fn a_whole_state_moves_with_its_history() {
    run(async {
        let (from, shop) = (session(), name("shop"));
        deploy(&from, &shop, SHOP).await;
        let text = from
            .export(&shop)
            .await
            .unwrap()
            .exported
            .write(from.sealer())
            .unwrap();
        assert!(is_exported(&text) && !is_exported(SHOP));

        let to = session();
        let (exported, named) = read_exported(&text, "kept.json", &Sealer::none()).unwrap();
        let (selector, mut frontend) = (InstanceSelector::default(), Silent::default());
        let mut ids = to.new_run();
        let intended = to
            .intended_instance(&selector, Some(&named), &mut ids, &mut frontend)
            .await
            .unwrap();
        assert_eq!(intended.as_ref(), Some(&shop));
        let import = to
            .stage_import_of_state(shop.clone(), exported.clone(), &mut frontend)
            .await
            .unwrap();
        assert!(import.has_history());
        let restored = import.restore(to.writing().as_ref()).await.unwrap();
        assert_eq!(restored, HistoryRestored::Whole { operations: 1 });
        assert_eq!(to.history(&shop, 10).await.unwrap().operations.len(), 1);

        // The same history is not imported twice, even if its instance manages nothing any more.
        let state_edit = Some(StateEdit::Remove(vec!["till".parse().unwrap()]));
        let planned = to
            .stage_state(
                shop.clone(),
                Options {
                    state_edit,
                    refresh: false.into(),
                    ..Options::default()
                },
                &mut frontend,
            )
            .await
            .unwrap();
        let operated = to
            .operate(OperateRequest::of(planned, "me@here"), &mut frontend)
            .await;
        assert!(matches!(operated, Operated::Done(_)), "{operated:?}");
        let import = to
            .stage_import_of_state(name("copy"), exported, &mut frontend)
            .await
            .unwrap();
        assert_eq!(
            import.restore(to.writing().as_ref()).await.unwrap(),
            HistoryRestored::KnownElsewhere
        );
        let again = to
            .stage_import_of_state(shop, import.exported.as_ref().clone(), &mut frontend)
            .await
            .unwrap();
        assert!(!again.has_history(), "the instance exists");
    });
}

#[test]
fn expressions_and_names_of_a_document_are_for_every_front_end() {
    run(async {
        let session = session();
        let source = DocumentSource::of_text("shop.yaml", SHOP);
        let mut document = session.check(source, engine::ReadingFacts::default()).await;
        let names = Names::of(&document);
        assert_eq!(
            names.complete("variables.s", 11),
            (10, vec!["size".to_owned()])
        );
        let sections: Vec<&str> = names.sections().map(|(section, _)| section).collect();
        assert_eq!(sections, ["variables", "resources"]);
        assert!(!document.parse_expression("len(\"abc\")").1.has_errors());
        let (_, found) = document.parse_expression("variables.sise");
        assert_eq!(
            found.iter().map(|one| one.code.name).collect::<Vec<_>>(),
            ["unknown-variable"]
        );
    });
}

#[test]
fn an_editor_learns_what_the_names_of_a_file_resolve_to() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let child = "version: 2023-04-20\nvalues:\n  v: {type: integer, value: 1}\n\
            exports:\n  size: {type: integer, field: values.v}\n";
        let root = "version: 2023-04-20\ninclude:\n  c: {path: ./child.yaml}\n\
            resources:\n  till: {type: test/data, spec: {input: \"${children.c.size}\"}}\n";
        std::fs::write(folder.path().join("child.yaml"), child).unwrap();
        std::fs::write(folder.path().join("root.yaml"), root).unwrap();
        let session = session();
        let source = DocumentSource::find(
            Some(&folder.path().join("root.yaml")),
            &session.installed.dialects,
        )
        .unwrap();
        let document = session.check(source, engine::ReadingFacts::default()).await;
        let files: Vec<_> = document
            .documents
            .as_ref()
            .unwrap()
            .units()
            .iter()
            .map(|unit| unit.file)
            .collect();
        let at = |unit: usize, name: &str| {
            let text = document.files.get(files[unit]).unwrap().text();
            let resolutions = document.resolutions(files[unit]).unwrap();
            let found = resolutions
                .at(files[unit], text.find(name).unwrap() as u32)
                .unwrap();
            let definition = found.definition.unwrap();
            let line = document
                .files
                .get(definition.file)
                .unwrap()
                .position(definition.start)
                .line;
            (
                found.ty.to_string(),
                files
                    .iter()
                    .position(|file| *file == definition.file)
                    .unwrap(),
                line,
            )
        };
        assert_eq!(at(0, ".size}"), ("integer".to_owned(), 1, 5));
        assert_eq!(at(1, "values.v"), ("integer".to_owned(), 1, 3));
        assert!(document.resolutions(diag::FileId::new(9)).is_none());
    });
}

#[test]
fn a_document_is_formatted_without_being_written() {
    let source = DocumentSource::of_text("shop.yaml", "version:   2023-04-20\n");
    assert_eq!(
        formatted(&source, &testkit::dialects()).text.as_deref(),
        Some("version: 2023-04-20\n")
    );
    let broken = formatted(
        &DocumentSource::of_text("shop.yaml", "a: [1\n"),
        &testkit::dialects(),
    );
    assert!(broken.text.is_none() && broken.found.has_errors());
}

/// The start time of the virtual clock, in seconds since 1970 UTC.
const NOON: i64 = 1_700_000_000;

#[test]
fn events_have_the_id_of_the_operation_numbers_and_times_of_the_installed_clock() {
    run(async {
        let mut installed = testkit::installed().as_ref().clone();
        installed.runtime.clock = Clock::at(NOON);
        let (session, shop) = (session_of(Arc::new(installed)), name("shop"));
        let events = deploy(&session, &shop, SHOP).await.events;
        let history = session.history(&shop, 1).await.unwrap();
        let id = &history.operations[0].operation.id;
        assert!(events.iter().all(|one| one.operation == *id), "{events:?}");
        assert!(
            events
                .iter()
                .map(|one| one.sequence)
                .eq(1..=events.len() as u64),
            "{events:?}"
        );
        assert!(
            events
                .iter()
                .all(|one| (0..60_000).contains(&(one.at_ms - NOON * 1000))),
            "{events:?}"
        );

        let started = events
            .iter()
            .find(|one| matches!(&one.event, SessionEvent::Operation(Event::Started { .. })));
        let (started, at) = (started.unwrap(), json::time(started.unwrap().at_ms));
        assert!(at.starts_with("2023-11-14T22:13:2"), "{at}");
        assert_eq!(
            json::envelope(started, Some(7)),
            json!({
                "event": "started", "address": "till", "operation": "create", "step": 7,
                "operation_id": id, "sequence": started.sequence, "time": at,
            })
        );
    });
}

#[test]
fn the_plan_of_an_automatic_rollback_reports_its_events() {
    run(async {
        let fault =
            serde_json::from_value(json!({"on": "create", "at": "extra", "kind": "permanent"}))
                .unwrap();
        let (session, shop) = (
            session_of(testkit::installed_with(vec![fault])),
            name("shop"),
        );
        deploy(&session, &shop, SHOP).await;
        let text = SHOP.replace(
            "exports:",
            "  extra: {type: test/data, spec: {input: 2}}\nexports:",
        );
        let (source, mut frontend) = (
            DocumentSource::of_text("shop.yaml", text),
            Silent::default(),
        );
        let request = StageRequest {
            instance: Some(shop.clone()),
            ..StageRequest::new(source)
        };
        let staged = session.stage(request, &mut frontend).await.unwrap();
        let mut progress = RunProgress::of(&staged.planned.staged.plan);
        let mut request = OperateRequest::of(staged.planned, "me@here");
        request.settings.on_failure = OnFailure::Rollback;
        let operated = session.operate(request, &mut frontend).await;
        assert!(
            matches!(&operated, Operated::Done(outcome) if outcome.rolled_back.is_some()),
            "{operated:?}"
        );

        let events = &frontend.events;
        let is_rollback = |event: &SessionEvent| {
            matches!(event, SessionEvent::Operation(Event::RollingBack { .. }))
        };
        let begins = events
            .iter()
            .position(|one| is_rollback(&one.event))
            .unwrap();
        let read = events[begins..]
            .iter()
            .find(|one| matches!(&one.event, SessionEvent::Reading(_)))
            .unwrap();
        assert_eq!(json::envelope(read, None)["address"], "till");
        // The plan of the rollback was not shown, so its steps have no numbers.
        let mut steps = Vec::new();
        for one in events {
            let SessionEvent::Operation(event) = &one.event else {
                continue;
            };
            progress.follow(event);
            if matches!(event, Event::Failed { .. } | Event::Done { .. }) {
                steps.push(progress.step_of(event).is_some());
            }
        }
        assert_eq!(steps, [true], "{events:?}");
        assert!(progress.has_begun());
        let not_done = progress.not_done(&["extra".parse().unwrap(), "till".parse().unwrap()]);
        assert_eq!(
            not_done.iter().map(json::not_done).collect::<Vec<_>>(),
            [json!({"step": not_done[0].step, "address": "extra", "action": "create"}),]
        );
        assert!(
            events
                .iter()
                .all(|one| one.operation == events[0].operation),
            "{events:?}"
        );
        assert!(
            events
                .iter()
                .map(|one| one.sequence)
                .eq(1..=events.len() as u64),
            "{events:?}"
        );
    });
}

/// A front end whose user says that no document was renamed.
struct NothingRenamed;

impl Frontend for NothingRenamed {
    fn found(&mut self, _: &Diagnostics, _: &Files) {}
    fn event(&mut self, _: Envelope) {}
    fn is_renamed(&mut self, _: &Renamed) -> Option<bool> {
        Some(false)
    }
    fn can_ask(&self) -> bool {
        true
    }
    fn inputs(&mut self, _: &Checked, _: &mut Given) -> Result<(), Error> {
        Ok(())
    }
}

#[test]
fn document_that_is_not_the_renamed_one_has_no_existing_instance() {
    run(async {
        let (session, shop) = (session(), name("shop"));
        let source = DocumentSource {
            path: Some("gone.yaml".into()),
            ..DocumentSource::of_text("gone.yaml", SHOP)
        };
        let request = StageRequest {
            instance: Some(shop),
            ..StageRequest::new(source)
        };
        let mut frontend = Silent::default();
        let staged = session.stage(request, &mut frontend).await.unwrap();
        let operate = OperateRequest::of(staged.planned, "me@here");
        session.operate(operate, &mut frontend).await;
        let selector = InstanceSelector {
            document: Some("store.yaml".as_ref()),
            changes: true,
            ..InstanceSelector::default()
        };
        let found = session
            .existing_instance(&selector, &mut session.new_run(), &mut NothingRenamed)
            .await;
        let Err(Error::Diagnosed(diagnostic)) = found else {
            panic!("{found:?}");
        };
        assert_eq!(diagnostic.code.name, "unknown-instance");
    });
}
