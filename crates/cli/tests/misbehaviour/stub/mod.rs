//! A provider plugin on bare stubs that misbehaves on demand. It is this test program itself, which
//! the host starts again with [`FAMILY`] in its environment.
//!
//! Objects are files below `objects`. A file below `rules` says how the next call of a method
//! misbehaves; the call that follows the rule removes it. The name of the file is `METHOD.NUMBER`
//! or `METHOD.always`, and its text is a list of [actions](Action), separated by blanks. Without
//! a rule the plugin behaves well.

mod pulumi;
mod server;
mod terraform;
pub(crate) mod wire;
mod world;

use std::time::Duration;

use serde_json::Value as Json;

pub(crate) use world::World;

/// The variable that makes this program a plugin: `pulumi` or `terraform`.
pub(crate) const FAMILY: &str = "STUB_FAMILY";

/// The variable that names the folder of the objects and the rules.
pub(crate) const WORLD: &str = "STUB_WORLD";

/// What a plugin does in a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// `effect`: the call is carried out.
    Effect,
    /// `status:N`: the call is answered with this code.
    Status(i32),
    /// `refuse`: the call is answered with an error in the form of the family.
    Refuse,
    /// `die`: the process ends after its last words.
    Die,
    /// `mute`: the process closes its standard output, and waits.
    Mute,
    /// `sleep:MS`: time passes.
    Sleep(Duration),
    /// `set:JSON`: the answer has these values.
    Set(Json),
    /// `id:ID`: the answer has this id.
    Id(String),
    /// `deep:N`: the answer has a value that is nested so deep.
    Deep(usize),
    /// `garbage`: the answer cannot be decoded.
    Garbage,
}

impl Action {
    fn read(text: &str) -> Action {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        match word {
            "effect" => Action::Effect,
            "status" => Action::Status(rest.parse().unwrap()),
            "refuse" => Action::Refuse,
            "die" => Action::Die,
            "mute" => Action::Mute,
            "sleep" => Action::Sleep(Duration::from_millis(rest.parse().unwrap())),
            "set" => Action::Set(serde_json::from_str(rest).unwrap()),
            "id" => Action::Id(rest.to_owned()),
            "deep" => Action::Deep(rest.parse().unwrap()),
            "garbage" => Action::Garbage,
            _ => panic!("no action `{text}`"),
        }
    }
}

/// The answer to a call.
pub(crate) enum Answer {
    /// An encoded message.
    Message(Vec<u8>),
    /// A status without a message.
    Status(i32, String),
}

/// A failed call: its code and its message.
pub(crate) type Failure = (i32, String);

/// How one call is answered.
#[derive(Default)]
pub(crate) struct Course {
    /// Whether the call is carried out.
    pub(crate) effect: bool,
    /// Values that replace those of the answer.
    pub(crate) set: Option<Json>,
    /// The id in the answer.
    pub(crate) id: Option<String>,
    /// The depth of an additional value in the answer.
    pub(crate) deep: usize,
    /// What follows the effect.
    rest: Vec<Action>,
}

impl Course {
    /// Begins a call: everything up to its effect happens.
    async fn begin(world: &World, method: &str) -> Course {
        world.log(method);
        let Some(text) = world.take_rule(method) else {
            return Course {
                effect: true,
                ..Course::default()
            };
        };
        let mut course = Course::default();
        for action in text.split_whitespace().map(Action::read) {
            match action {
                Action::Effect => course.effect = true,
                Action::Set(values) => (course.set, course.effect) = (Some(values), true),
                Action::Id(id) => (course.id, course.effect) = (Some(id), true),
                Action::Deep(depth) => (course.deep, course.effect) = (depth, true),
                other if course.effect => course.rest.push(other),
                other => course.rest.push(other),
            }
        }
        course
    }

    /// Ends a call whose effect has happened. Returns the failure to answer with, if any.
    async fn end(&self) -> Result<(), Failure> {
        for action in &self.rest {
            match action {
                Action::Status(code) => return Err((*code, format!("the stub answers {code}"))),
                Action::Refuse => return Err((-1, "the stub refuses".into())),
                Action::Garbage => return Err((-2, String::new())),
                Action::Die => {
                    eprintln!("last words of the stub");
                    std::process::exit(7);
                }
                Action::Mute => std::future::pending().await,
                Action::Sleep(time) => tokio::time::sleep(*time).await,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Serves as a plugin until the process is ended, if the environment asks for it.
pub(crate) fn serve_if_asked() {
    let Ok(family) = std::env::var(FAMILY) else {
        return;
    };
    let world = World::new(std::env::var_os(WORLD).unwrap().into());
    world.began();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        if world.take_rule("start").is_some() {
            // The process lives on, and nobody can learn its port.
            server::close_stdout();
            std::future::pending::<()>().await;
        }
        match family.as_str() {
            "pulumi" => {
                println!("\n{port}");
                server::serve(listener, move |path, request| {
                    pulumi::answer(world.clone(), path, request)
                })
                .await;
            }
            _ => {
                println!("\n1|6|tcp|127.0.0.1:{port}|grpc");
                server::serve(listener, move |path, request| {
                    terraform::answer(world.clone(), path, request)
                })
                .await;
            }
        }
    });
}
