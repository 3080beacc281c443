//! Tests of hosted packages, from the configuration to a session. The host runs in process; its
//! packages keep objects in memory.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

mod families;
mod host;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use blueprint::Value;
use engine::installed::InstalledProvider;
use engine::run::Operated;
use engine::{
    DocumentSource, Error, FrontendRun, Installed, InstanceSelector, OperateRequest, Options,
    Session, SessionOptions, StageRequest,
};
use state::InstanceName;
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};

use crate::host::{Counts, Host, KITES, Objects, PLUGIN, Sky, Watcher, config, session, staged};

#[tokio::test]
async fn a_package_is_opened_configured_and_closed_once() {
    let (host, folder, mut watcher) = (
        Host::default(),
        tempfile::tempdir().unwrap(),
        Watcher::default(),
    );
    let session = session(&host, folder.path(), PLUGIN).unwrap();
    assert_eq!(host.counts.all(), [0, 0, 0], "nothing needs it yet");
    let planned = staged(&session, &mut watcher).await.unwrap().planned;
    assert_eq!(planned.staged.plan.steps.len(), 3, "{:?}", watcher.0);
    let instance = planned.instance.clone();
    let operated = session
        .operate(OperateRequest::of(planned, "me@here"), &mut watcher)
        .await;
    assert!(matches!(operated, Operated::Done(_)), "{:?}", watcher.0);
    assert_eq!(
        session
            .reading()
            .load(&instance)
            .await
            .unwrap()
            .records
            .len(),
        3
    );
    let again = staged(&session, &mut watcher).await.unwrap();
    assert!(again.planned.staged.plan.is_empty());
    assert_eq!(host.counts.all(), [1, 1, 0]);
    let closer = session.closer();
    session.close().await;
    session.close().await;
    assert_eq!(host.counts.all(), [1, 1, 1]);
    assert_eq!(
        host.counts.tasks.load(Ordering::SeqCst),
        1,
        "what the host started runs as long as the session"
    );
    drop((again, session));
    closer.close().await;
    drop(closer);
    while host.counts.tasks.load(Ordering::SeqCst) > 0 {
        // It ends with the session.
        tokio::task::yield_now().await;
    }
    assert_eq!(host.counts.all(), [1, 1, 1]);
}

/// The clock of the runtime stands still while a task of it runs, and advances while all wait. So
/// the other work sees each tenth of the second only if opening the plugin does not block.
#[tokio::test(start_paused = true)]
async fn other_work_goes_on_while_a_plugin_starts() {
    let host = Host {
        delay: Duration::from_secs(1),
        ..Host::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let session = session(&host, folder.path(), PLUGIN).unwrap();
    let opened = host.counts.clone();
    let other = tokio::spawn(async move {
        let mut ticks = 0;
        while opened.opened.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            ticks += 1;
        }
        ticks
    });
    let mut watcher = Watcher::default();
    let planned = staged(&session, &mut watcher).await.unwrap().planned;
    assert_eq!(planned.staged.plan.steps.len(), 3, "{:?}", watcher.0);
    assert!((10..=11).contains(&other.await.unwrap()));
    assert_eq!(host.counts.all(), [1, 1, 0]);
}

#[tokio::test]
async fn a_family_can_imply_a_package_without_a_program() {
    let host = Host {
        implied: &["sky"],
        ..Host::default()
    };
    let (folder, mut watcher) = (tempfile::tempdir().unwrap(), Watcher::default());
    let settings = "[providers.sky]\nregion = \"north\"\n";
    let session = session(&host, folder.path(), settings).unwrap();
    let planned = staged(&session, &mut watcher).await.unwrap().planned;
    assert_eq!(planned.staged.plan.steps.len(), 3, "{:?}", watcher.0);
    let packages = host.packages.lock().unwrap();
    let [package] = packages.as_slice() else {
        panic!("{packages:?}")
    };
    assert_eq!(package.program, None);
    let region = package.settings.get("region").and_then(Value::as_text);
    assert_eq!(region, Some("north"), "a host finds its server by them");
}

#[tokio::test]
async fn a_document_is_told_which_feature_its_package_needs() {
    let host = Host {
        left_out: &["sky"],
        ..Host::default()
    };
    let (folder, mut watcher) = (tempfile::tempdir().unwrap(), Watcher::default());
    let session = session(&host, folder.path(), "").unwrap();
    assert!(staged(&session, &mut watcher).await.is_err());
    let said = format!("{:?}", watcher.said());
    let why = "this build of the program was made without the feature `terraform`";
    assert!(said.contains(why), "{said}");
    assert!(!said.contains("did you mean"), "{said}");
}

#[test]
fn a_package_without_a_program_has_no_path() {
    let host = Host {
        implied: &["other"],
        ..Host::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let error = session(&host, folder.path(), PLUGIN).err().unwrap();
    assert_eq!(
        error.causes(),
        ["line 3, column 8: a package of the kind `pulumi` has no program"]
    );
    for key in ["source", "version"] {
        let table = format!("[plugins.sky]\nkind = \"pulumi\"\n{key} = \"1.2\"\n");
        let error = session(&host, folder.path(), &table).err().unwrap();
        let place = key.len() + 4;
        assert_eq!(
            error.causes(),
            [format!(
                "line 3, column {place}: a package of the kind `pulumi` has no program"
            )]
        );
    }
}

#[tokio::test]
async fn host_receives_the_fields_of_the_plugin_table() {
    let (host, folder, mut watcher) = (
        Host::default(),
        tempfile::tempdir().unwrap(),
        Watcher::default(),
    );
    let text = "[plugins.sky]\nkind = \"pulumi\"\npath = \"./bin/sky\"\narguments = [\"--fast\"]\nenv = [\"SKY_*\"]\n\
                memory = \"512 MiB\"\nstart-within = \"5s\"\n";
    staged(&session(&host, folder.path(), text).unwrap(), &mut watcher)
        .await
        .unwrap();
    let packages = host.packages.lock().unwrap();
    let [package] = packages.as_slice() else {
        panic!("{packages:?}")
    };
    assert_eq!(package.program, Some(folder.path().join("./bin/sky")));
    assert_eq!(
        (package.name.as_ref(), package.arguments.as_slice()),
        ("sky", ["--fast".to_owned()].as_slice())
    );
    assert_eq!(
        (package.inherits.clone(), package.memory),
        (Some(vec!["SKY_*".to_owned()]), Some(512 << 20))
    );
    assert_eq!(
        (package.start_within.as_secs(), package.folder.as_path()),
        (5, folder.path())
    );
}

#[tokio::test]
async fn a_plugin_that_cannot_be_used_is_one_mistake_of_a_document() {
    let (host, folder, mut watcher) = (
        Host::default(),
        tempfile::tempdir().unwrap(),
        Watcher::default(),
    );
    *host.broken.lock().unwrap() = Some("the program does not exist".to_owned());
    let session = session(&host, folder.path(), PLUGIN).unwrap();
    assert!(matches!(
        staged(&session, &mut watcher).await,
        Err(Error::Reported)
    ));
    let notes = [
        "the program does not exist".to_owned(),
        "it is configured at cyan.toml:1:10".to_owned(),
    ];
    assert_eq!(
        watcher.said(),
        [(
            "plugin-unavailable",
            "the plugin of `sky` cannot be used",
            notes.as_slice()
        )]
    );
    assert_eq!(&KITES[watcher.0[0].span().range()], "sky/kite");
    assert_eq!(host.counts.all(), [1, 0, 0], "it was tried once");
}

#[tokio::test]
async fn a_plugin_that_cannot_be_used_is_one_mistake_of_a_state() {
    let (host, folder, mut watcher) = (
        Host::default(),
        tempfile::tempdir().unwrap(),
        Watcher::default(),
    );
    let installed = host.installed();
    let options = SessionOptions {
        state: Some("memory:".to_owned()),
        ..SessionOptions::default()
    };
    let session = || {
        Session::new(
            installed.clone(),
            config(folder.path(), PLUGIN).unwrap(),
            &options,
            folder.path(),
        )
    };
    let first = session().unwrap();
    let planned = staged(&first, &mut watcher).await.unwrap().planned;
    first
        .operate(OperateRequest::of(planned, "me@here"), &mut watcher)
        .await;
    *host.broken.lock().unwrap() = Some("the program does not exist".to_owned());
    let second = session().unwrap();
    let mut run = FrontendRun::new(&installed.runtime.ids, &installed.runtime.clock);
    let instance = second
        .existing_instance(&InstanceSelector::default(), &mut run, &mut watcher)
        .await
        .unwrap();
    let destroy = Options::default();
    match second
        .stage_state(instance.clone(), destroy, &mut watcher)
        .await
    {
        Err(Error::Catalogs(found)) => {
            let said: Vec<&str> = found.diagnostics.iter().map(|one| one.code.name).collect();
            assert_eq!(said, ["plugin-unavailable"]);
        }
        other => panic!("{:?} {:?}", other.err(), watcher.0),
    }
    assert!(matches!(
        second.drift(&instance, &[]).await,
        Err(Error::Catalogs(_))
    ));
}

#[tokio::test]
async fn refused_settings_are_reported_once_with_their_place() {
    let (host, folder, mut watcher) = (
        Host::default(),
        tempfile::tempdir().unwrap(),
        Watcher::default(),
    );
    let text = format!("{PLUGIN}[providers.sky]\ntoken = \"hunter2\"\nregion = \"nowhere\"\n");
    let session = session(&host, folder.path(), &text).unwrap();
    assert!(matches!(
        staged(&session, &mut watcher).await,
        Err(Error::Reported)
    ));
    let [only] = watcher.0.as_slice() else {
        panic!("{:?}", watcher.0)
    };
    assert_eq!(
        (only.code.name, only.message.as_str()),
        (
            "provider-settings",
            "the provider `sky` does not accept its settings"
        )
    );
    assert_eq!(only.notes[1], "its settings are at cyan.toml:6:1");
    assert!(
        only.notes[0].starts_with("there is no region `nowhere`")
            && !only.notes[0].contains("hunter2"),
        "{only:?}"
    );
    assert!(
        KITES[only.span().range()].starts_with('a'),
        "it is shown at the first resource"
    );
    assert_eq!(host.counts.all(), [1, 1, 0], "it was asked once");
}

#[tokio::test]
async fn refused_settings_are_reported_once_for_a_state() {
    let (host, folder, mut watcher) = (
        Host::default(),
        tempfile::tempdir().unwrap(),
        Watcher::default(),
    );
    let installed = host.installed();
    let options = SessionOptions {
        state: Some("memory:".to_owned()),
        ..SessionOptions::default()
    };
    let session = |text: &str| {
        Session::new(
            installed.clone(),
            config(folder.path(), text).unwrap(),
            &options,
            folder.path(),
        )
    };
    let first = session(PLUGIN).unwrap();
    let planned = staged(&first, &mut watcher).await.unwrap().planned;
    let instance = planned.instance.clone();
    first
        .operate(OperateRequest::of(planned, "me@here"), &mut watcher)
        .await;
    let second = session(&format!("{PLUGIN}settings = {{ region = \"nowhere\" }}\n")).unwrap();
    let report = second.drift(&instance, &[]).await.unwrap();
    let said: Vec<(&str, &[String])> = report
        .found
        .diagnostics
        .iter()
        .map(|one| (one.code.name, one.notes.as_slice()))
        .collect();
    let [("provider-settings", notes)] = said.as_slice() else {
        panic!("{said:?}")
    };
    assert_eq!(
        notes[1..],
        [
            "its settings are at cyan.toml:4:14",
            "`a` and 2 other resources cannot be read"
        ]
    );
}

#[tokio::test]
async fn settings_in_either_table_reach_the_provider() {
    for settings in [
        "[providers.sky]\nregion = \"nowhere\"\n",
        "[plugins.sky.settings]\nregion = \"nowhere\"\n",
    ] {
        let (host, folder, mut watcher) = (
            Host::default(),
            tempfile::tempdir().unwrap(),
            Watcher::default(),
        );
        let session = session(&host, folder.path(), &format!("{PLUGIN}{settings}")).unwrap();
        assert!(staged(&session, &mut watcher).await.is_err());
        assert_eq!(watcher.said()[0].2[1], "its settings are at cyan.toml:5:1");
    }
}

#[tokio::test]
async fn an_unknown_setting_is_reported_at_its_place() {
    let (host, folder, mut watcher) = (
        Host::default(),
        tempfile::tempdir().unwrap(),
        Watcher::default(),
    );
    let session = session(
        &host,
        folder.path(),
        &format!("{PLUGIN}settings = {{ regoin = \"x\" }}\n"),
    )
    .unwrap();
    let error = staged(&session, &mut watcher).await.err().unwrap();
    let message =
        "line 4, column 14: the provider `sky` has no setting `regoin`; it has `region`, `token`";
    assert_eq!(error.causes(), [message]);
}

#[test]
fn mistakes_in_tables_of_plugins_have_a_position() {
    for (text, message, help) in [
        (
            "kind = \"pulumy\"\npath = \"x\"",
            "line 2, column 8: there is no kind of plugins `pulumy`",
            "did you mean `pulumi`?",
        ),
        (
            "kind = \"terraform\"\npath = \"x\"",
            "line 2, column 8: this build of the program cannot host plugins of the kind `terraform`",
            "the kinds of this build: `pulumi`",
        ),
        (
            "kind = \"built-in\"\npath = \"x\"",
            "line 2, column 8: there is no kind of plugins `built-in`",
            "the kinds of this build: `pulumi`",
        ),
        (
            "kind = \"pulumi\"",
            "line 1, column 10: the `path` of the program is missing",
            "add `path = \"./bin/PROGRAM\"`, or a `schema` for checks and simulations",
        ),
        (
            "kind = \"pulumi\"\npath = \"\"",
            "line 3, column 8: the `path` of the program is empty",
            "give the `path` of the program",
        ),
        (
            "kind = \"pulumi\"\nsource = \"a/b\"",
            "line 3, column 10: `source` is not available yet: plugins cannot be downloaded",
            "give the `path` of the program",
        ),
        (
            "kind = \"pulumi\"\nversion = \"1\"\npath = \"x\"",
            "line 3, column 11: `version` is not available yet: plugins cannot be downloaded",
            "give the `path` of the program",
        ),
        (
            "kind = \"pulumi\"\npath = \"x\"\nmemory = \"much\"",
            "line 4, column 10: `memory` is not an amount of memory",
            "write a number with a unit, such as \"512 MiB\" or \"2 GiB\"",
        ),
        (
            "kind = \"pulumi\"\npath = \"x\"\nstart-within = \"0s\"",
            "line 4, column 16: `start-within` is not a length of time",
            "write a number with a unit, such as \"30s\" or \"2m\"",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let error = session(
            &Host::default(),
            folder.path(),
            &format!("[plugins.sky]\n{text}\n"),
        )
        .err()
        .unwrap();
        let Error::Config { help: given, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(
            (error.causes(), given.as_deref()),
            (vec![message.to_owned()], Some(help)),
            "{text}"
        );
    }
    for (text, message) in [
        (
            "[plugins.test]\nkind = \"pulumi\"\npath = \"x\"",
            "line 1, column 10: the namespace `test` is built in, a hosted package cannot have it",
        ),
        (
            "[plugins.\"a/b\"]\nkind = \"pulumi\"\npath = \"x\"",
            "line 1, column 10: `a/b` cannot be the name of a package",
        ),
        (
            "[providers.sky]\nregion = \"x\"\n[plugins.sky]\nkind = \"pulumi\"\npath = \"x\"\nsettings = { region = \"y\" }",
            "line 6, column 12: the settings of `sky` are given twice: also in `[providers.sky]`",
        ),
        (
            "[plugins.sky]\nkind = \"pulumi\"\npath = \"x\"\ncolour = 1",
            "line 4, column 1: unknown key `colour`",
        ),
        (
            "[plugins.sky]\nkind = \"pulumi\"\npath = \"x\"\npackage = \"a:b\"",
            "line 4, column 11: `a:b` cannot be the name of a package",
        ),
        (
            "[plugins.sky]\nkind = \"pulumi\"\nschema = \"\"",
            "line 3, column 10: the `schema` is empty",
        ),
        (
            "[plugins.sky]\nkind = \"pulumi\"\npath = \"x\"\npackage = \"kite\"\n\
             [plugins.sea]\nkind = \"pulumi\"\npath = \"x\"\npackage = \"kite\"",
            "line 8, column 11: `[plugins.sky]` describes the package `kite` already",
        ),
        (
            "[plugins.sky]\nkind = \"pulumi\"\npath = \"x\"\npackage = \"kite\"\nsettings = {}\n\
             [providers.\"pulumi:kite\"]\n",
            "line 4, column 11: the settings of the package `kite` are given twice: those of `sky` and \
             `[providers.\"pulumi:kite\"]`",
        ),
        (
            "[plugins.sky]\npath = \"x\"",
            "line 1, column 1: missing field `kind`",
        ),
        (
            "[plugins.sky]\nkind = 1",
            "line 2, column 8: `plugins.sky.kind` must be a text",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let error = session(&Host::default(), folder.path(), text)
            .err()
            .unwrap();
        assert_eq!(error.causes(), [message], "{text}");
    }
}

const TWO: &str = r#"{"format": 1, "namespace": ["sky", "sea"],
  "settings": {"region": {"kind": "string"}},
  "resourceTypes": {
    "sky/kite": {"idField": "id",
      "fields": {"name": {"kind": "string"}, "id": {"kind": "string", "computed": true}}},
    "sea/boat": {"idField": "id",
      "fields": {"name": {"kind": "string"}, "id": {"kind": "string", "computed": true}}}}}"#;

/// A provider of two namespaces, which counts its configurations.
fn of_two_namespaces(catalog: &'static str, counts: &Arc<Counts>) -> InstalledProvider {
    let of_provider = counts.clone();
    InstalledProvider::new(&["sky", "sea"], move || {
        let (process, mut calls) = mpsc::unbounded_channel::<oneshot::Sender<()>>();
        tokio::spawn(async move {
            while let Some(call) = calls.recv().await {
                let _ = call.send(());
            }
        });
        Arc::new(Sky {
            catalog: Arc::new(provider::read_catalog(catalog).unwrap()),
            objects: Objects::default(),
            process,
            counts: of_provider.clone(),
        })
    })
}

/// A session with a configuration in which this provider is installed, too.
fn session_with(provider: InstalledProvider, toml: &str) -> Result<(Session, TempDir), Error> {
    let mut installed = Installed::clone(&testkit::installed());
    installed.providers.push(provider);
    let folder = tempfile::tempdir().unwrap();
    let options = SessionOptions {
        state: Some("memory:".to_owned()),
        ..SessionOptions::default()
    };
    let config = config(folder.path(), toml)?;
    let session = Session::new(Arc::new(installed), config, &options, folder.path())?;
    Ok((session, folder))
}

/// Deploys one resource of each namespace, of which the second reads the first. Returns the settings
/// by the given keys.
async fn deploy_both<const N: usize>(session: &Session, keys: [&str; N]) -> [Option<Value>; N] {
    let text = "version: 2023-04-20\nresources:\n  a: {type: sky/kite, spec: {name: a}}\n  \
                b: {type: sea/boat, spec: {name: \"${resources.a.spec.id}\"}}\n";
    let source = DocumentSource::of_text("both.yaml", text);
    let mut watcher = Watcher::default();
    let staged = session.stage(StageRequest::new(source), &mut watcher).await;
    let planned = staged
        .ok()
        .unwrap_or_else(|| panic!("{:?}", watcher.0))
        .planned;
    let settings = keys.map(|name| planned.shell.settings.get(name).cloned());
    let operated = session
        .operate(OperateRequest::of(planned, "me@here"), &mut watcher)
        .await;
    assert!(matches!(operated, Operated::Done(_)), "{:?}", watcher.0);
    settings
}

#[tokio::test]
async fn a_provider_serves_all_its_namespaces_with_one_session() {
    let counts = Arc::new(Counts::default());
    let two = of_two_namespaces(TWO, &counts);
    let (session, _folder) = session_with(two, "[providers.sea]\nregion = \"north\"\n").unwrap();
    let [sky, sea] = deploy_both(&session, ["sky", "sea"]).await;
    assert!(sky.is_some());
    assert_eq!(sky, sea, "they share their settings");
    assert_eq!(counts.configured.load(Ordering::SeqCst), 1);
}

/// The catalogue of a provider of two namespaces with a name.
const NAMED: &str = r#"{"format": 1, "name": "air", "namespace": ["sky", "sea"],
  "settings": {"region": {"kind": "string"}}, "maxParallel": 5,
  "resourceTypes": {
    "sky/kite": {"idField": "id",
      "fields": {"name": {"kind": "string"}, "id": {"kind": "string", "computed": true}}},
    "sea/boat": {"idField": "id",
      "fields": {"name": {"kind": "string"}, "id": {"kind": "string", "computed": true}}}}}"#;

#[tokio::test]
async fn the_name_of_a_provider_is_the_key_of_its_settings_and_limits() {
    let counts = Arc::new(Counts::default());
    let toml = "[providers.air]\nregion = \"north\"\n\n[limits.air]\nmax-parallel = 2\n";
    let two = of_two_namespaces(NAMED, &counts).named("air");
    let (session, _folder) = session_with(two, toml).unwrap();
    let settings = deploy_both(&session, ["sky", "sea", "air"]).await;
    let north = Some(Value::map([("region", Value::text("north"))]));
    assert_eq!(settings, [north.clone(), north.clone(), north]);
    assert_eq!(counts.configured.load(Ordering::SeqCst), 1);
    let catalog = session.library.catalogs.of("sea").unwrap();
    assert_eq!(catalog.max_parallel, 2);
    assert_eq!(session.library.catalogs.names().key("sea"), "air");
}

#[tokio::test]
async fn a_setting_that_a_named_provider_does_not_have_is_reported_at_its_place() {
    let counts = Arc::new(Counts::default());
    let two = of_two_namespaces(NAMED, &counts).named("air");
    let (session, folder) = session_with(two, "[providers.air]\nplace = 1\n").unwrap();
    session.library.open_packages(&["sky"]).await;
    let shell = session.shell(&InstanceName::from_free_text("one"), folder.path());
    assert_eq!(
        shell.err().unwrap().causes(),
        ["line 2, column 1: the provider `air` has no setting `place`; it has `region`"]
    );
    let two = of_two_namespaces(NAMED, &counts).named("air");
    let error = session_with(two, "[limits.airs]\nmax-parallel = 2\n").err();
    assert_eq!(error.unwrap().causes(), ["there is no provider `airs`"]);
}
