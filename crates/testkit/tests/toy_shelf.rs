//! The toy dialect of several trees, which is added to the built-in ones without a change of other
//! code: streams, folders and a folder as a root.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use diag::{Diagnostics, Files};
use dialect::Dialects;
use engine::discovery::documents_below;
use engine::run::Operated;
use engine::validate::NamedDocument;
use engine::{
    Action, Config, DocumentSource, Envelope, Error, Frontend, Installed, OperateRequest, Plan,
    Session, SessionOptions, StageRequest, StagedDocument, plan_file,
};
use testkit::toy::shelf::SHELF;

const FIRST: &str = "\
shelf: disk
is: test/data
input: 3
---
shelf: note
is: test/data
input: a
";

const SECOND: &str = "---\n---\nshelf: queue\nis: test/data\ninput: text\n...\n";

/// A folder with documents, and a program that knows the dialect.
struct Shelves {
    folder: tempfile::TempDir,
    installed: Arc<Installed>,
}

/// Collects diagnostics as `path:line:column code`.
#[derive(Default)]
struct Places(Vec<String>);

impl Frontend for Places {
    fn found(&mut self, found: &Diagnostics, files: &Files) {
        for one in found.iter() {
            let place = match files.get(one.span().file) {
                Some(file) => {
                    let position = file.position(one.span().start);
                    let name = file.name().rsplit('/').next().unwrap_or_default();
                    let place = format!("{name}:{}:{}", position.line, position.column);
                    place.trim_start_matches(':').to_owned()
                }
                None => one.message.clone(),
            };
            self.0.push(format!("{place} {}", one.code.name));
        }
    }

    fn event(&mut self, _: Envelope) {}
}

fn with_shelf() -> Dialects {
    testkit::dialects().with(&SHELF)
}

impl Shelves {
    fn new() -> Shelves {
        let mut installed = Arc::into_inner(testkit::installed()).expect("it is not shared");
        installed.dialects = with_shelf();
        Shelves {
            folder: tempfile::tempdir().unwrap(),
            installed: Arc::new(installed),
        }
    }

    /// A folder as a root.
    fn shop() -> Shelves {
        let shelves = Shelves::new();
        shelves.write("shop/a.shelf.yaml", FIRST);
        shelves.write("shop/b.shelf.yaml", SECOND);
        shelves.write("shop/README", "no part of the document");
        shelves
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn source(&self, name: &str) -> Result<DocumentSource, Error> {
        DocumentSource::find(Some(&self.path(name)), &self.installed.dialects)
    }

    fn session(&self) -> Session {
        let options = SessionOptions {
            state: Some("memory:".to_owned()),
            ..SessionOptions::default()
        };
        let base = self.folder.path();
        Session::new(self.installed.clone(), Config::default(), &options, base).unwrap()
    }

    /// Plans a document. Returns the places of diagnostics if there is no plan.
    async fn stage(&self, name: &str) -> Result<StagedDocument, Vec<String>> {
        let mut places = Places::default();
        let request =
            StageRequest::new(self.source(name).map_err(|error| vec![error.to_string()])?);
        let staged = self.session().stage(request, &mut places).await;
        staged.map_err(|_| places.0)
    }

    /// Deploys a document, which is valid.
    async fn deploy(&self, name: &str) {
        let staged = self.stage(name).await.expect("there is a plan");
        let mut places = Places::default();
        let request = OperateRequest::of(staged.planned, "me@here");
        let operated = self.session().operate(request, &mut places).await;
        assert!(matches!(operated, Operated::Done(_)), "{:?}", places.0);
    }
}

/// The steps of a plan that change something.
fn changes(plan: &Plan) -> Vec<(String, Action)> {
    plan.steps
        .iter()
        .filter(|step| step.action != Action::None)
        .map(|step| (step.address.to_string(), step.action))
        .collect()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

#[test]
fn each_tree_of_the_files_of_a_folder_is_a_resource() {
    run(async {
        let shelves = Shelves::shop();
        let staged = shelves.stage("shop").await.expect("there is a plan");
        assert_eq!(staged.planned.instance.as_str(), "shop");
        let created = |name: &str| (name.to_owned(), Action::Create);
        assert_eq!(
            changes(&staged.planned.staged.plan),
            [created("disk"), created("note"), created("queue")]
        );
        shelves.deploy("shop").await;
        let again = shelves.stage("shop").await.expect("there is a plan");
        assert_eq!(changes(&again.planned.staged.plan), []);

        shelves.write("shop/a.shelf.yaml", &FIRST.replace("input: a", "input: b"));
        let changed = shelves.stage("shop").await.expect("there is a plan");
        assert_eq!(
            changes(&changed.planned.staged.plan),
            [("note".to_owned(), Action::Update)]
        );
    });
}

#[test]
fn mistakes_have_places_in_the_files_of_the_folder() {
    run(async {
        let shelves = Shelves::shop();
        let mistakes = "shelf: a\nis: test/record\ntitle: a\ncount: many\n---\nshelf: disk\nis: test/data\n---\nshelf: b\n";
        shelves.write("shop/c.shelf.yaml", mistakes);
        let found = shelves.stage("shop").await.err();
        assert_eq!(
            found.expect("there are mistakes"),
            [
                "c.shelf.yaml:6:8 name-collision",
                "c.shelf.yaml:9:8 missing-field",
                "c.shelf.yaml:4:8 type-mismatch",
            ]
        );
    });
}

#[test]
fn saved_plan_is_refused_after_a_file_appeared_in_the_folder() {
    run(async {
        let shelves = Shelves::shop();
        let staged = shelves.stage("shop").await.expect("there is a plan");
        let session = shelves.session();
        let text = plan_file::write(&staged.planned.staged.plan, session.sealer()).unwrap();
        let plan = || {
            let source = DocumentSource::of_text("plan.json", text.as_str());
            session.read_plan(&source, None).unwrap()
        };
        let (again, _) = session
            .stage_saved(plan(), &mut Places::default())
            .await
            .expect("nothing has changed");
        assert_eq!(changes(&again.staged.plan).len(), 3);

        // A file that a dialect may read changes the folder, and so does a change of a file.
        shelves.write("shop/c.shelf.yaml", "shelf: c\nis: test/data\n");
        let mut places = Places::default();
        let refused = session.stage_saved(plan(), &mut places).await;
        assert!(matches!(refused, Err(Error::Reported)));
        let [only] = places.0.as_slice() else {
            panic!("{:?}", places.0)
        };
        assert!(
            only.ends_with("shop/` has changed since the plan was made input-changed"),
            "{only}"
        );
    });
}

#[test]
fn stream_reads_the_files_of_a_folder_that_it_names() {
    run(async {
        let shelves = Shelves::new();
        shelves.write("main.yaml", &format!("{FIRST}---\nmore: parts\n"));
        shelves.write("parts/b.shelf.yaml", SECOND);
        let staged = shelves.stage("main.yaml").await.expect("there is a plan");
        let plan = &staged.planned.staged.plan;
        assert_eq!(changes(plan).len(), 3);
        // The folder is a part of what the plan was made from.
        let session = shelves.session();
        let text = plan_file::write(plan, session.sealer()).unwrap();
        let source = DocumentSource::of_text("plan.json", text.as_str());
        let saved = session.read_plan(&source, None).unwrap();
        shelves.write("parts/c.shelf.yaml", "shelf: c\nis: test/data\n");
        let (again, _) = session
            .stage_saved(saved, &mut Places::default())
            .await
            .expect("the plan is made from the pinned files");
        let shell = &again.shell;
        let mut found = Diagnostics::new();
        let root = shell.root.to_string_lossy().into_owned();
        assert!(!engine::unchanged(&again.staged, &root, shell, &mut found).await);
        let messages: Vec<&str> = found.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(
            messages,
            ["the folder `parts/` has changed since the plan was made"]
        );

        shelves.write("main.yaml", &format!("{FIRST}---\nmore: gone\n"));
        assert_eq!(
            shelves.stage("main.yaml").await.err(),
            Some(vec!["main.yaml:9:7 source-unreadable".to_owned()])
        );
    });
}

#[test]
fn folder_is_included_by_a_document_of_another_dialect() {
    run(async {
        let shelves = Shelves::shop();
        let root = |path: &str| {
            format!(
                "version: 2023-04-20\ninclude:\n  shop: {{path: {path}}}\nresources:\n  own: {{type: test/data, spec: {{}}}}\n"
            )
        };
        shelves.write("main.yaml", &root("shop"));
        let staged = shelves.stage("main.yaml").await.expect("there is a plan");
        let addresses: Vec<String> = changes(&staged.planned.staged.plan)
            .into_iter()
            .map(|(address, _)| address)
            .collect();
        assert_eq!(addresses, ["own", "shop/disk", "shop/note", "shop/queue"]);

        // No dialect recognises this folder.
        shelves.write("other/notes.txt", "");
        shelves.write("main.yaml", &root("other"));
        assert_eq!(
            shelves.stage("main.yaml").await.err(),
            Some(vec!["main.yaml:3:16 source-unreadable".to_owned()])
        );
    });
}

#[test]
fn texts_of_a_document_have_a_limit_together() {
    run(async {
        let shelves = Shelves::new();
        let long = format!("# {}\n", "x".repeat(17 << 20));
        shelves.write("shop/a.shelf.yaml", &long);
        shelves.write("shop/b.shelf.yaml", &long);
        let found = shelves.stage("shop").await.err().expect("it is too large");
        assert_eq!(found, ["1:1 document-too-large"]);
    });
}

#[test]
fn folder_is_found_as_one_document() {
    let shelves = Shelves::shop();
    shelves.write("other/main.yaml", FIRST);
    let below = |dialects: &Dialects| documents_below(&shelves.path(""), dialects).unwrap();
    assert_eq!(
        below(&with_shelf()),
        [shelves.path("other/main.yaml"), shelves.path("shop")]
    );
    assert_eq!(below(&testkit::dialects()), Vec::<PathBuf>::new());
    let shop = shelves.path("shop");
    let named = NamedDocument::of_paths(std::slice::from_ref(&shop), &with_shelf()).unwrap();
    assert_eq!(
        named,
        [NamedDocument {
            path: Some(shop),
            folder: None
        }]
    );
}

#[test]
fn folder_is_refused_without_a_dialect_that_reads_folders() {
    let shelves = Shelves::shop();
    let error = |path: &Path, dialects: &Dialects| {
        let error = DocumentSource::find(Some(path), dialects);
        error.expect_err("it is no document").to_string()
    };
    let shop = shelves.path("shop");
    assert!(error(&shop, &testkit::dialects()).ends_with("is a folder"));
    // A dialect that reads folders does not recognise each.
    shelves.write("other/notes.txt", "");
    assert!(error(&shelves.path("other"), &with_shelf()).ends_with("is a folder"));
}

#[test]
fn second_tree_is_a_mistake_in_a_dialect_of_one_tree() {
    run(async {
        let shelves = Shelves::new();
        let own = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {}}\n";
        shelves.write("main.yaml", &format!("{own}---\nb: 1\n"));
        assert_eq!(
            shelves.stage("main.yaml").await.err(),
            Some(vec!["main.yaml:4:1 multiple-documents".to_owned()])
        );
    });
}
