//! Worlds that wrap others, and a world whose replies are of the wrong kind.

use std::path::Path;
use std::sync::Arc;

use blueprint::{Address, TypeId, Value};
use diag::Diagnostics;
use engine::{
    Documents, Environment, Given, Options, Question, Reply, Request, ResourceTarget, World,
};
use provider::{
    BoxFuture, CheckRequest, FetchRequest, InvokeRequest, PlanMode, PlanPhase, PlanRequest,
    PreflightRequest, ReadRequest,
};
use testkit::harness::Harness;
use testkit::toy::world::{EditorWorld, EmptyWorld};

const DOCUMENT: &str = "\
version: 2025-11-02
resources:
  disk: {type: test/data, spec: {input: 1}}
values:
  open: {type: string, value: '${utf8(file(\"open.txt\"))}'}
  other: {type: string, value: '${utf8(file(\"other.txt\"))}'}
exports:
  open: {type: string, field: values.open}
  other: {type: string, field: values.other}
";

/// Stages a text in `/folder`. Returns the messages of all errors with their notes.
async fn errors(text: &str, world: &dyn World) -> Vec<String> {
    let harness = Harness::new("/folder".into(), Vec::new());
    let read = harness.read("main.yaml", text).await;
    let mut found = read.diagnostics;
    let checked = read.checked.expect("it can be checked");
    let request = Request {
        instance: "case".into(),
        document: Some((
            Arc::new(Documents::single(checked, "/folder".into())),
            read.document,
        )),
        given: Given::default(),
        options: Options::default(),
        snapshot: state::Snapshot::default(),
        catalogs: harness.catalogs.clone(),
        functions: harness.functions.clone(),
        answers: None,
        others: None,
        world,
    };
    engine::plan(request, &mut found).await;
    messages(&found)
}

fn messages(found: &Diagnostics) -> Vec<String> {
    let errors = found.iter().filter(|it| it.is_error());
    errors
        .map(|it| {
            [vec![it.message.clone()], it.notes.to_vec()]
                .concat()
                .join(": ")
        })
        .collect()
}

#[test]
fn wrapping_world_answers_one_question_and_passes_on_the_rest() {
    futures::executor::block_on(async {
        let inner = EmptyWorld { now: 7 };
        let world = EditorWorld {
            inner: &inner,
            path: Path::new("/folder/open.txt"),
            text: "in the editor",
        };
        let world: &dyn World = &world;
        assert_eq!(world.environment().now(), 7);
        assert_eq!(
            world
                .file("/folder", "open.txt")
                .await
                .expect("it is open")
                .as_ref(),
            b"in the editor"
        );
        assert_eq!(
            errors(DOCUMENT, world).await,
            ["`other.txt` cannot be read: nothing is known here"]
        );
    });
}

/// A defective world: no reply has the kind of its question.
struct Defective(EmptyWorld);

impl World for Defective {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            match question {
                Question::Pause { .. } | Question::Recall(_) => Reply::Bytes(Ok(Arc::from([]))),
                _ => Reply::Done,
            }
        })
    }

    fn environment(&self) -> &dyn Environment {
        &self.0
    }
}

#[test]
fn reply_of_another_kind_is_an_error() {
    futures::executor::block_on(async {
        const MESSAGE: &str = "internal error: the reply is of another kind than the question";
        let world: &dyn World = &Defective(EmptyWorld { now: 0 });
        let (address, type_name, null) = (
            Address::root("disk"),
            TypeId::from("test/data"),
            Value::Null,
        );
        let target = ResourceTarget::new(&address, &type_name, Default::default());
        let check = CheckRequest {
            type_name: &type_name,
            spec: &null,
        };
        let read = ReadRequest {
            type_name: &type_name,
            id: None,
            inputs: &null,
            outputs: &null,
            private: &null,
            token: None,
            schema_version: 0,
        };
        let plan = PlanRequest {
            type_name: &type_name,
            prior_inputs: &null,
            prior: &null,
            desired: &null,
            mode: PlanMode::Update,
            phase: PlanPhase::Preview,
            id: None,
            schema_version: 0,
            private: &Value::Null,
            unhealthy: &[],
            ignored: &[],
            replacing: &[],
            seed: "",
        };
        let preflight = PreflightRequest {
            operation: provider::Operation::Create,
            type_name: &type_name,
            id: None,
            prior_inputs: &null,
            desired: &null,
            changing: &Arc::default(),
            text_limit: 0,
        };
        let fetch = FetchRequest {
            type_name: &type_name,
            filters: &[],
            annotations: &null,
        };
        let replies = [
            world.check(target, check).await.expect_err("check").message,
            world.read(target, read).await.expect_err("read").message,
            world.plan(target, plan).await.expect_err("plan").message,
            world
                .preflight(target, preflight)
                .await
                .expect_err("preflight")
                .message,
            world
                .fetch(&type_name, None, "", fetch)
                .await
                .expect_err("fetch")
                .message,
            world
                .invoke(
                    "test",
                    None,
                    "",
                    InvokeRequest {
                        function: "tag",
                        arguments: &provider::Arguments::Positional(Vec::new()),
                        preview: true,
                    },
                )
                .await
                .expect_err("call")
                .message,
            world
                .file("/folder", "a.txt")
                .await
                .expect_err("file")
                .message,
            world
                .http("http://localhost")
                .await
                .expect_err("http")
                .message,
        ];
        assert!(
            replies.iter().all(|message| message == MESSAGE),
            "{replies:?}"
        );
        world.pause(std::time::Duration::from_secs(1), None).await;
        let expected =
            ["open", "other"].map(|name| format!("`{name}.txt` cannot be read: {MESSAGE}"));
        assert_eq!(errors(DOCUMENT, world).await, expected);
    });
}
