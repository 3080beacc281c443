//! Tests of packages that documents name as `FAMILY:NAME`: found on the machine, or described by a
//! table with the key `package`.

use std::path::Path;
use std::sync::Arc;

use blueprint::{Blueprint, Expr, ExprKind, Name, Packages, Resource, Value};
use diag::{Diagnostics, Span, Spanned};
use dialect::{Answer, Dialect, Document, Lowered, PackageRequest, Section, Shape, Wanted};
use engine::run::{Operated, PackageOpener};
use engine::{
    DocumentSource, Installed, InstanceSelector, OperateRequest, Options, Session, SessionOptions,
    StageRequest,
};
use expr::FunctionTable;
use syntax::Node;

use crate::host::{Host, Watcher, config, session, staged_text};

const KITE: &str =
    "version: 2023-04-20\nresources:\n  a: {type: \"pulumi:sky/kite\", spec: {name: a}}\n";

fn in_memory() -> SessionOptions {
    SessionOptions {
        state: Some("memory:".to_owned()),
        ..SessionOptions::default()
    }
}

/// What opens the packages of a session.
fn opener(session: &Session) -> Arc<dyn PackageOpener> {
    let instance = "dev".parse().unwrap();
    let shell = session.shell(&instance, Path::new("/")).unwrap();
    shell.packages.unwrap()
}

fn request(version: Option<&str>) -> PackageRequest {
    PackageRequest {
        version: version.map(Name::from),
        ..PackageRequest::named("pulumi:sky")
    }
}

#[tokio::test]
async fn package_without_a_table_is_found_on_the_machine() {
    let host = Host::default();
    host.add_program("sky", Some("1.0.0"));
    let (folder, mut watcher) = (tempfile::tempdir().unwrap(), Watcher::default());
    let installed = host.installed();
    let session = || {
        let text = "[providers.\"pulumi:sky\"]\nregion = \"north\"\n";
        let config = config(folder.path(), text).unwrap();
        Session::new(installed.clone(), config, &in_memory(), folder.path()).unwrap()
    };
    let first = session();
    assert!(
        host.queries.lock().unwrap().is_empty(),
        "nothing needs it yet"
    );
    let planned = staged_text(&first, KITE, &mut watcher).await;
    let planned = planned
        .unwrap_or_else(|_| panic!("{:?}", watcher.0))
        .planned;
    let settings = planned.shell.settings.get("pulumi:sky");
    let region = settings.and_then(|settings| settings.get("region"));
    assert_eq!(region.and_then(Value::as_text), Some("north"));
    let operated = first
        .operate(OperateRequest::of(planned, "me@here"), &mut watcher)
        .await;
    assert!(matches!(operated, Operated::Done(_)), "{:?}", watcher.0);
    let again = staged_text(&first, KITE, &mut watcher).await.unwrap();
    assert!(again.planned.staged.plan.is_empty());
    assert_eq!(host.queries.lock().unwrap().len(), 1);
    first.close().await;
    assert_eq!(
        host.counts.all(),
        [1, 1, 1],
        "opened, configured and closed once"
    );
    let program = host.packages.lock().unwrap()[0].program.clone();
    assert_eq!(program.as_deref(), Some(Path::new("/machine/sky")));

    let (second, mut run) = (session(), installed_run(&installed));
    let instance = second
        .existing_instance(&InstanceSelector::default(), &mut run, &mut watcher)
        .await
        .unwrap();
    let planned = second
        .stage_state(instance, Options::default(), &mut watcher)
        .await
        .unwrap_or_else(|_| panic!("{:?}", watcher.0));
    assert_eq!(
        planned.staged.plan.steps.len(),
        1,
        "a state needs only the name"
    );
}

fn installed_run(installed: &Installed) -> engine::FrontendRun {
    engine::FrontendRun::new(&installed.runtime.ids, &installed.runtime.clock)
}

#[tokio::test]
async fn package_that_is_not_on_the_machine_is_one_mistake() {
    let (host, folder, mut watcher) = (
        Host::default(),
        tempfile::tempdir().unwrap(),
        Watcher::default(),
    );
    let session = session(&host, folder.path(), "").unwrap();
    let text = format!("{KITE}  b: {{type: \"pulumi:sky/kite\", spec: {{name: b}}}}\n");
    assert!(staged_text(&session, &text, &mut watcher).await.is_err());
    let notes = ["`sky` is not on this machine".to_owned()];
    assert_eq!(
        watcher.said(),
        [(
            "plugin-unavailable",
            "the plugin of `pulumi:sky` cannot be used",
            notes.as_slice()
        )]
    );
    assert_eq!(host.counts.all(), [0, 0, 0]);
}

#[tokio::test]
async fn a_name_that_is_no_package_of_the_family_names_no_type() {
    let (host, folder, mut watcher) = (
        Host::default(),
        tempfile::tempdir().unwrap(),
        Watcher::default(),
    );
    let session = session(&host, folder.path(), "").unwrap();
    for package in ["pulumi:sky:kite", "terraform:sky", "pulumi:"] {
        let text = KITE.replace("pulumi:sky", package);
        assert!(staged_text(&session, &text, &mut watcher).await.is_err());
        let found = watcher.0.pop().unwrap();
        assert_eq!(found.code.name, "invalid-name", "{package}");
    }
    assert!(host.queries.lock().unwrap().is_empty());
}

#[tokio::test]
async fn package_of_a_family_is_simulated_without_a_call_of_its_plugin() {
    let host = Host::default();
    host.add_program("sky", None);
    let (folder, mut watcher) = (tempfile::tempdir().unwrap(), Watcher::default());
    let options = SessionOptions {
        simulate: Some(true),
        ..in_memory()
    };
    let config = config(folder.path(), "").unwrap();
    let session = Session::new(host.installed(), config, &options, folder.path()).unwrap();
    let staged = staged_text(&session, KITE, &mut watcher).await;
    let planned = staged.unwrap_or_else(|_| panic!("{:?}", watcher.0)).planned;
    let operated = session
        .operate(OperateRequest::of(planned, "me@here"), &mut watcher)
        .await;
    assert!(matches!(operated, Operated::Done(_)), "{:?}", watcher.0);
    assert_eq!(host.counts.all(), [1, 0, 0]);
    assert!(host.objects.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_table_serves_a_package_under_both_names() {
    let (host, folder, mut watcher) = (
        Host::default(),
        tempfile::tempdir().unwrap(),
        Watcher::default(),
    );
    let table = "[plugins.cloud]\nkind = \"pulumi\"\npath = \"bin/sky\"\npackage = \"sky\"\nmemory = \"1 GiB\"\n\
                 settings = { region = \"south\" }\n[limits.cloud]\nmax-parallel = 3\n";
    let session = session(&host, folder.path(), table).unwrap();
    let text = format!("{KITE}  b: {{type: cloud/kite, spec: {{name: b}}}}\n");
    let staged = staged_text(&session, &text, &mut watcher).await;
    let planned = staged.unwrap_or_else(|_| panic!("{:?}", watcher.0)).planned;
    for name in ["cloud", "pulumi:sky"] {
        let region = planned.shell.settings[name].get("region");
        assert_eq!(region.and_then(Value::as_text), Some("south"), "{name}");
        let catalog = session.library.catalogs.of(name).unwrap();
        assert_eq!(catalog.max_parallel, 3, "{name}");
    }
    let packages = host.packages.lock().unwrap();
    let mut names: Vec<&str> = packages.iter().map(|one| one.name.as_ref()).collect();
    names.sort_unstable();
    assert_eq!(names, ["cloud", "pulumi:sky"]);
    for package in packages.iter() {
        let program = folder.path().join("bin/sky");
        assert_eq!(package.program.as_deref(), Some(program.as_path()));
        assert_eq!(package.memory, Some(1 << 30));
    }
    assert!(host.queries.lock().unwrap().is_empty());
}

#[tokio::test]
async fn settings_that_a_served_package_refuses_have_a_place() {
    let (host, folder, mut watcher) = (
        Host::default(),
        tempfile::tempdir().unwrap(),
        Watcher::default(),
    );
    let table = "[plugins.cloud]\nkind = \"pulumi\"\npath = \"bin/sky\"\npackage = \"sky\"\n\
                 settings = { region = \"nowhere\" }\n";
    let session = session(&host, folder.path(), table).unwrap();
    assert!(staged_text(&session, KITE, &mut watcher).await.is_err());
    let said = watcher.said();
    let place = said[0]
        .2
        .iter()
        .any(|note| note == "its settings are at cyan.toml:5:14");
    assert!(place, "{said:?}");
}

#[tokio::test]
async fn schema_without_a_program_reaches_the_host() {
    let (host, folder, mut watcher) = (
        Host::default(),
        tempfile::tempdir().unwrap(),
        Watcher::default(),
    );
    let table = "[plugins.cloud]\nkind = \"pulumi\"\npackage = \"sky\"\nschema = \"sky.json\"\n";
    let session = session(&host, folder.path(), table).unwrap();
    staged_text(&session, KITE, &mut watcher).await.unwrap();
    let packages = host.packages.lock().unwrap();
    let schema = folder.path().join("sky.json");
    assert_eq!(
        (packages[0].program.clone(), packages[0].schema.clone()),
        (None, Some(schema))
    );
}

#[tokio::test]
async fn all_requests_of_a_session_use_one_version() {
    let host = Host::default();
    host.add_program("sky", Some("2.0.0"));
    host.add_program("sky", Some("1.0.0"));
    let folder = tempfile::tempdir().unwrap();
    let opener = opener(&session(&host, folder.path(), "").unwrap());
    assert!(opener.open(&request(Some("1.0.0"))).await.is_ok());
    for same in [None, Some("1.0.0"), Some("v1.0.0")] {
        assert!(opener.open(&request(same)).await.is_ok(), "{same:?}");
    }
    let conflict = opener.open(&request(Some("2.0.0"))).await.unwrap_err();
    assert!(
        conflict
            .starts_with("version 2.0.0 of `pulumi:sky` is wanted, but version 1.0.0 is in use"),
        "{conflict}"
    );
    assert_eq!(host.queries.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn program_without_a_version_serves_all_requests() {
    let host = Host::default();
    host.add_program("sky", None);
    let folder = tempfile::tempdir().unwrap();
    let opener = opener(&session(&host, folder.path(), "").unwrap());
    for any in [Some("1.0.0"), Some("2.0.0"), None] {
        assert!(opener.open(&request(any)).await.is_ok(), "{any:?}");
    }
}

#[tokio::test]
async fn requests_at_the_same_time_open_a_package_once() {
    let host = Host::default();
    host.add_program("sky", None);
    let folder = tempfile::tempdir().unwrap();
    let opener = opener(&session(&host, folder.path(), "").unwrap());
    let request = request(None);
    let all = (0..8).map(|_| opener.open(&request));
    let all = futures::future::join_all(all).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(host.counts.all(), [1, 0, 0]);
}

/// A dialect whose documents name the package of their only resource, with a version and a path.
struct PetDialect;

static PETS: PetDialect = PetDialect;

fn wanted(document: &Document<'_>) -> Option<(Span, PackageRequest)> {
    let root = document.tree().root.as_ref()?;
    let text = |key: &str| root.get(key).and_then(Node::text).map(Name::from);
    let package = root.get("pet")?;
    let request = PackageRequest {
        name: text("pet")?,
        version: text("version"),
        path: text("path"),
        ..PackageRequest::default()
    };
    Some((package.span, request))
}

impl Dialect for PetDialect {
    fn name(&self) -> &'static str {
        "pets"
    }

    fn recognise(&self, document: &Document<'_>) -> u8 {
        if wanted(document).is_some() { 100 } else { 0 }
    }

    fn shape(&self) -> &'static Shape {
        static DOCUMENT: Section = Section {
            name: "document",
            keys: &[],
        };
        static SHAPE: Shape = Shape {
            sections: &[&DOCUMENT],
        };
        &SHAPE
    }

    fn required_data(&self, document: &Document<'_>) -> Vec<Wanted> {
        let request = wanted(document).map(|(_, request)| Wanted::Package(request));
        request.into_iter().collect()
    }

    fn lower(&self, document: &Document<'_>, _: &FunctionTable, _: &Packages) -> Lowered {
        let mut blueprint = Blueprint {
            dialect: "pets",
            ..Blueprint::default()
        };
        let mut diagnostics = Diagnostics::new();
        if let Some((span, request)) = wanted(document) {
            let ty = Spanned::new(format!("{}/kite", request.name).into(), span);
            let spec = Expr::new(ExprKind::Map(Vec::new()), span);
            blueprint
                .resources
                .insert("pet".into(), Resource::new(span, ty, span, spec));
            let answer = document.context.answers.get(&Wanted::Package(request));
            if let Some(Answer::Missing(why)) = answer {
                let mistake = dialect::codes::UNSUPPORTED_FEATURE.new(why.to_string());
                diagnostics.push(mistake.label(span, "this package"));
            }
        }
        Lowered {
            blueprint,
            diagnostics,
        }
    }
}

#[tokio::test]
async fn path_of_a_program_is_relative_to_its_document() {
    let (host, folder, mut watcher) = (
        Host::default(),
        tempfile::tempdir().unwrap(),
        Watcher::default(),
    );
    let folder = folder.path().canonicalize().unwrap();
    let mut installed = Installed::clone(&host.installed());
    installed.dialects = installed.dialects.with(&PETS);
    let config = config(&folder, "").unwrap();
    let session = Session::new(Arc::new(installed), config, &in_memory(), &folder).unwrap();
    std::fs::create_dir(folder.join("inner")).unwrap();
    let document = folder.join("inner/pets.yaml");
    std::fs::write(
        &document,
        "pet: \"pulumi:sky\"\nversion: 1.0.0\npath: ../bin\n",
    )
    .unwrap();
    let source = DocumentSource::find(Some(&document), &session.installed.dialects).unwrap();
    let staged = session.stage(StageRequest::new(source), &mut watcher).await;
    assert!(staged.is_ok(), "{:?}", watcher.0);
    let queries = host.queries.lock().unwrap();
    assert_eq!(queries[0].version.as_deref(), Some("1.0.0"));
    let stated = folder.join("inner/../bin");
    assert_eq!(queries[0].path.as_deref(), Some(stated.as_path()));
}
