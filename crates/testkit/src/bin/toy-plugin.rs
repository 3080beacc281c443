//! The toy provider `planner` as a program of its own, for tests of plugin processes.
//!
//! The program manages the simulated world in the file `TOY_WORLD` and listens on a port of this
//! machine, which its handshake `toy PORT` names. With `TOY_DIES=FILE` the program exits once,
//! after an operation and before its answer, and creates the file.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use providers::fake::{FakeCloud, FakeOptions};
use testkit::toy::hosted::ToyOptions;
use testkit::toy::planner::PlannerProvider;
use testkit::toy::wire::{ToyRequest, Verb, answer};

#[expect(
    clippy::print_stdout,
    reason = "the handshake is a line of standard output"
)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::var_os("TOY_WORLD").ok_or("TOY_WORLD is not set")?;
    let world = FakeCloud::open(Path::new(&file))?.shared();
    let fake = FakeOptions {
        world: Some(world),
        ..FakeOptions::default()
    };
    let planner = Arc::new(PlannerProvider::new(ToyOptions {
        fake,
        ..ToyOptions::default()
    }));
    let dies: Option<PathBuf> = std::env::var_os("TOY_DIES").map(PathBuf::from);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("toy {}", listener.local_addr()?.port());
    for stream in listener.incoming() {
        let (planner, dies) = (planner.clone(), dies.clone());
        let stream = stream?;
        // An error ends only this connection.
        std::thread::spawn(move || drop(serve(&planner, stream, dies.as_deref())));
    }
    Ok(())
}

fn serve(
    planner: &PlannerProvider,
    mut stream: TcpStream,
    dies: Option<&Path>,
) -> Result<(), Box<dyn std::error::Error>> {
    let reader = BufReader::new(stream.try_clone()?);
    for line in reader.lines() {
        let asked: ToyRequest = serde_json::from_str(&line?)?;
        let answered = futures::executor::block_on(answer(planner, &asked));
        if let (Some(dies), Verb::Apply(_)) = (dies.filter(|file| !file.exists()), asked.verb) {
            std::fs::write(dies, asked.address)?;
            std::process::exit(9);
        }
        let mut line = serde_json::to_string(&answered)?;
        line.push('\n');
        stream.write_all(line.as_bytes())?;
    }
    Ok(())
}
