//! The commands, one file each. A command reads its arguments, makes a few calls to `engine`, and
//! prints a view.

mod adopt;
#[cfg(feature = "kubernetes")]
mod cluster;
mod completions;
mod config;
mod console;
mod deploy;
mod destroy;
mod drift;
mod eval;
mod explain;
mod exports;
mod fmt;
mod functions;
mod graph;
mod history;
mod import;
mod init;
mod key;
mod list;
mod man;
mod reconcile;
mod refresh;
#[cfg(feature = "kubernetes")]
mod render;
mod rollback;
mod schema;
mod show;
mod stack;
mod stage;
mod state;
mod test;
mod types;
mod unlock;
mod validate;

use std::ffi::OsString;

use std::sync::Arc;
use std::time::Duration;

use clap::Parser as _;
use engine::Closer;
use futures::future::BoxFuture;

use crate::arguments::{Arguments, Command, Global};
use crate::exit::{CommandError, ErrorAdvice as _, Exit};
use crate::hosts::Hosts;
use crate::terminal::Terminal;
use crate::view::report::Report;
use crate::{registry, signals, usage};

/// Runs the command line. Returns the exit code.
pub(crate) fn run() -> Exit {
    let words: Vec<OsString> = std::env::args_os().collect();
    let arguments = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(error) => return usage::report(error, &words),
    };
    let Arguments { global, command } = arguments;
    let terminal = Terminal::new(
        global.color.unwrap_or_default(),
        global.json,
        global.quiet,
        global.verbose,
    );
    let hosts = Arc::new(Hosts::new());
    let mut report = Report::new(terminal, &command, registry::installed(&hosts));
    let mut exit = match start(&global, command, &hosts, &mut report) {
        Ok(exit) => exit,
        Err(error) => {
            report.error(&error);
            error.exit()
        }
    };
    report.finish(exit);
    if let Err(error) = report.terminal.finish() {
        report.error(&error);
        exit = if exit == Exit::Done {
            error.exit()
        } else {
            exit
        };
    }
    exit
}

fn start(
    global: &Global,
    command: Command,
    hosts: &Arc<Hosts>,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    if let Some(folder) = &global.start {
        std::env::set_current_dir(folder).map_err(|source| CommandError::Unreadable {
            name: folder.display().to_string(),
            source,
        })?;
    }
    // One thread decides and calls, so no call begins after the check of the lease before it.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| CommandError::Machine {
            what: "the program cannot start",
            source,
        })?;
    let of_signals = hosts.clone();
    let end_processes = move || -> BoxFuture<'static, ()> {
        let hosts = of_signals.clone();
        Box::pin(async move { hosts.close().await })
    };
    signals::handle(Box::new(end_processes)).map_err(|source| CommandError::Machine {
        what: "the program cannot start",
        source,
    })?;
    let result = runtime.block_on(async {
        tokio::select! {
            biased;
            ended = carry_out(command, global, report) => Some(ended),
            () = signals::wait_for_signal() => None,
        }
    });
    runtime.block_on(close(std::mem::take(&mut report.opened), hosts));
    // A cancelled call may still run on its own thread. The command does not wait for it.
    runtime.shutdown_timeout(Duration::from_millis(100));
    result.unwrap_or_else(|| {
        report.terminal.write_message("Interrupted.");
        Ok(Exit::Interrupted)
    })
}

/// The time limit for providers to close their sessions.
const CLOSED_WITHIN: Duration = Duration::from_secs(3);

/// Closes the sessions of providers and ends the processes of plugins, whether or not the command
/// succeeded.
async fn close(opened: Vec<Closer>, hosts: &Hosts) {
    let sessions = futures::future::join_all(opened.iter().map(Closer::close));
    // The process of a session that is not closed in time is ended too.
    let _ = tokio::time::timeout(CLOSED_WITHIN, sessions).await;
    hosts.close().await;
}

async fn carry_out(
    command: Command,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    match command {
        Command::Init(arguments) => init::run(arguments, report),
        Command::Validate(arguments) => validate::run(arguments, global, report).await,
        Command::Stage(arguments) => stage::run(arguments, global, report).await,
        Command::Deploy(arguments) => deploy::run(arguments, global, report).await,
        Command::Destroy(arguments) => destroy::run(arguments, global, report).await,
        Command::Reconcile(arguments) => reconcile::run(arguments, global, report).await,
        Command::Rollback(arguments) => rollback::run(arguments, global, report).await,
        Command::Drift(arguments) => drift::run(arguments, global, report).await,
        Command::Refresh(arguments) => refresh::run(arguments, global, report).await,
        Command::Import(arguments) => import::run(arguments, global, report).await,
        Command::Stack(arguments) => stack::run(arguments, global, report).await,
        Command::Config(arguments) => config::run(arguments, global, report).await,
        Command::State(arguments) => state::run(arguments, global, report).await,
        Command::Test(arguments) => test::run(arguments, global, report).await,
        Command::List(arguments) => list::run(arguments, global, report).await,
        Command::Show(arguments) => show::run(arguments, global, report).await,
        Command::Exports(arguments) => exports::run(arguments, global, report).await,
        Command::History(arguments) => history::run(arguments, global, report).await,
        Command::Unlock(arguments) => unlock::run(arguments, global, report).await,
        Command::Key(arguments) => key::run(arguments, report),
        #[cfg(feature = "kubernetes")]
        Command::Cluster(arguments) => cluster::run(arguments, global, report).await,
        #[cfg(feature = "kubernetes")]
        Command::Render(arguments) => render::run(arguments, global, report).await,
        Command::Fmt(arguments) => fmt::run(arguments, report),
        Command::Graph(arguments) => graph::run(arguments, global, report).await,
        Command::Explain(arguments) => explain::run(arguments, report),
        Command::Types(arguments) => types::run(arguments, global, report).await,
        Command::Functions(arguments) => functions::run(arguments, global, report),
        Command::Eval(arguments) => eval::run(arguments, global, report).await,
        Command::Console(arguments) => console::run(arguments, global, report).await,
        Command::Schema(arguments) => schema::run(arguments, global, report).await,
        Command::Completions(arguments) => completions::run(arguments, report),
        Command::Man(arguments) => man::run(arguments, report),
    }
}
