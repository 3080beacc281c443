//! Opens the document, the session and the instance of a command.

use std::io;
use std::path::Path;
use std::sync::Arc;

use dialect::Dialects;
use engine::discovery::folder_of_document;
use engine::paths::{absolute, folder_of, nearest_folder};
use engine::{
    Config, DocumentSource, Installed, InstanceSelector, Library, Session, SessionOptions,
    document_of_request, text_of,
};
use state::InstanceName;

use crate::arguments::{Global, InstanceFlag};
use crate::exit::CommandError;
use crate::registry;
use crate::signals;
use crate::view::report::Report;

/// Reads the document at a path, on standard input (`-`), or in the current folder.
pub(crate) fn source(named: Option<&Path>) -> Result<DocumentSource, CommandError> {
    if named != Some(Path::new("-")) {
        return signals::while_blocked(|| DocumentSource::find(named, &dialects()));
    }
    Ok(DocumentSource::of_text("stdin", standard_input()?))
}

/// The name of the only document in the current folder, if there is one.
pub(crate) fn document_in_folder() -> Result<Option<String>, CommandError> {
    DocumentSource::only_document_in_folder(&dialects())
}

/// The installed dialects.
pub(crate) fn dialects() -> Dialects {
    registry::dialects()
}

/// Reads standard input.
pub(crate) fn standard_input() -> Result<String, CommandError> {
    signals::while_blocked(|| text_of(io::stdin().lock(), 0, "standard input".to_owned()))
}

/// Loads the configuration of a folder, with the settings of the command line.
pub(crate) fn configuration(global: &Global, folder: &Path) -> Result<Config, CommandError> {
    let config = Config::load(global.config.as_deref(), folder)?;
    Ok(with_provider_settings(config, global))
}

/// Sets the settings of providers that the command line gives.
pub(crate) fn with_provider_settings(config: Config, global: &Global) -> Config {
    let settings = global.provider.iter();
    settings.fold(config, |config, one| {
        config.with_setting(&one.provider, &one.key, &one.value)
    })
}

/// Opens the session for a document in a folder.
pub(crate) fn session_in(
    global: &Global,
    folder: &Path,
    report: &mut Report,
) -> Result<Session, CommandError> {
    let config = configuration(global, folder)?;
    report.configure(global, &config);
    let options = options(global, false);
    refuse_catalogs(&options, &config, report)?;
    let session = Session::new(report.installed.clone(), config, &options, folder)?;
    report.opened.push(session.closer());
    Ok(session)
}

/// Opens a session that only checks documents.
pub(crate) fn for_checks(
    global: &Global,
    config: Config,
    folder: &Path,
    report: &mut Report,
) -> Result<Session, CommandError> {
    let options = options(global, false);
    refuse_catalogs(&options, &config, report)?;
    let session = Session::without_state(report.installed.clone(), config, &options, folder)?;
    report.opened.push(session.closer());
    Ok(session)
}

/// Opens the session for a command without a document, with the nearest state upward.
pub(crate) fn session_for_nearest_state(
    global: &Global,
    report: &mut Report,
) -> Result<Session, CommandError> {
    session_in(global, &nearest_folder(), report)
}

/// Opens the session for a command that needs no document: that of the document in the current
/// folder, else that of the nearest state.
pub(crate) fn session_for_current_folder(
    global: &Global,
    document: Option<&str>,
    report: &mut Report,
) -> Result<Session, CommandError> {
    match document {
        Some(name) => session_in(global, &folder_of(Path::new(name)), report),
        None => session_for_nearest_state(global, report),
    }
}

/// Opens the session and finds the existing instance of a command: by the flag, by the document
/// that it names or that is in the current folder, or as the only instance.
pub(crate) async fn session_and_instance(
    named: Option<&Path>,
    flag: &InstanceFlag,
    global: &Global,
    report: &mut Report,
) -> Result<(Session, InstanceName), CommandError> {
    let document = document_of_request(named, flag.instance.as_ref(), &dialects())?;
    let session = match &document {
        Some(path) => session_in(global, &folder_of_document(path, &dialects()), report)?,
        None => session_for_nearest_state(global, report)?,
    };
    let selector = InstanceSelector {
        instance: flag.instance.as_ref(),
        document: document.as_deref(),
        is_named: named.is_some(),
        changes: report.is_operation(),
    };
    let instance = session
        .existing_instance(&selector, &mut session.new_run(), report)
        .await?;
    Ok((session, instance))
}

/// Returns the catalogues and functions for a command without a document. `all` includes those for
/// tests.
pub(crate) fn library(
    global: &Global,
    all: bool,
    report: &mut Report,
) -> Result<Library, CommandError> {
    let config = configuration(global, &absolute(Path::new("")))?;
    let (installed, options): (Arc<Installed>, _) =
        (report.installed.clone(), options(global, all));
    refuse_catalogs(&options, &config, report)?;
    let selection = options.selection(&config, &installed)?;
    let library = Library::new(installed, selection);
    report.opened.push(library.closer());
    Ok(library)
}

/// The options of a case of a test, whose state is in memory.
pub(crate) fn options_of_case(global: &Global) -> SessionOptions {
    SessionOptions {
        state: None,
        ..options(global, false)
    }
}

fn options(global: &Global, lists_all: bool) -> SessionOptions {
    SessionOptions {
        state: global.state.clone(),
        simulate: global.simulate,
        catalogs: global.catalog.clone(),
        strict: global.strict,
        lists_all,
    }
}

/// Announces a rehearsal, and refuses `--catalog` for commands that change real resources.
fn refuse_catalogs(
    options: &SessionOptions,
    config: &Config,
    report: &mut Report,
) -> Result<(), CommandError> {
    let simulated = options.simulate.unwrap_or(config.simulate);
    if let Some(first) = options.catalogs.first()
        && !simulated
        && !report.takes_catalogs
    {
        return Err(CommandError::Usage {
            message: format!(
                "`--catalog` goes with commands that change nothing and with `--simulate`, not with `{}` alone",
                report.command
            ),
            help: Some(format!(
                "`{}` describes types and manages nothing: say `--simulate` to rehearse with them",
                first.display()
            )),
        });
    }
    if simulated {
        let by = if options.simulate.is_none() {
            config.file()
        } else {
            ""
        };
        report.set_simulated(by);
    }
    Ok(())
}
