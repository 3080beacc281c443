//! `cyan state`, and functions that `cyan import` shares. A state edit is a plan that is shown
//! before it is applied.

use std::path::Path;

use diag::Files;
use engine::deployments::{file_in_store, read_deployment};
use engine::foreign::deployment::{self, is_deployment};
use engine::foreign::{self, Form};
use engine::transfer::{HistoryRestored, StateExport, is_exported, read_exported, unusable};
use engine::{
    InstanceSelector, Options, Readers, Refresh, Session, StateEdit, json, key, read_text,
    retention, write_whole,
};
use serde_json::json;
use state::seal::Sealer;
use state::{Assurance, Damage, Exported, InstanceName, Pruned, StoreError, VerifiedInstance};

use super::adopt::AdoptInputs;
use crate::arguments::{Consent, Global, InstanceFlag, LockArguments, State, StateCommand};
use crate::exit::{CommandError, Exit};
use crate::out_file::may_be_replaced;
use crate::view::report::Report;
use crate::{open, operation};

/// The maximum number of damaged rows in the text output.
const MOST_SHOWN: usize = 20;

pub(crate) async fn run(
    arguments: State,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let state_edit_options = |state_edit| Options {
        refresh: Refresh::Never,
        state_edit: Some(state_edit),
        ..Options::default()
    };
    match arguments.command {
        StateCommand::Move {
            from,
            to,
            flag,
            consent,
            lock,
        } => {
            let options = state_edit_options(StateEdit::Move(vec![(from, to)]));
            change(flag, options, (consent, lock), global, report).await
        }
        StateCommand::Remove {
            addresses,
            flag,
            consent,
            lock,
        } => {
            let options = state_edit_options(StateEdit::Remove(addresses));
            change(flag, options, (consent, lock), global, report).await
        }
        StateCommand::Unprotect {
            addresses,
            flag,
            consent,
            lock,
        } => {
            let options = state_edit_options(StateEdit::Unprotect(addresses));
            change(flag, options, (consent, lock), global, report).await
        }
        StateCommand::Export {
            file,
            flag,
            form: Some(form),
            reveal,
        } if form == deployment::NAME => {
            export_deployment(file.as_deref(), &flag, reveal, global, report).await
        }
        StateCommand::Export {
            file,
            flag,
            form: Some(form),
            reveal,
        } => {
            export_as(
                foreign::form(&form)?,
                file.as_deref(),
                &flag,
                reveal,
                global,
                report,
            )
            .await
        }
        StateCommand::Export {
            file,
            flag,
            form: None,
            ..
        } => export(file.as_deref(), &flag, global, report).await,
        StateCommand::Import {
            file,
            from: Some(form),
            inputs,
            flag,
            consent,
        } => {
            let given = AdoptInputs {
                inputs: inputs.0,
                flag,
                consent,
            };
            super::adopt::ask_and_run(&form, &file.to_string_lossy(), given, global, report).await
        }
        StateCommand::Import {
            file,
            from: None,
            inputs,
            flag,
            consent,
        } => {
            let file = match file.is_dir() {
                true => file_in_store(&file, flag.instance.as_ref())?,
                false => file,
            };
            let text = match file == Path::new("-") {
                true => open::standard_input()?,
                false => read_text(&file)?,
            };
            let shown = file.display().to_string();
            if is_deployment(&text) {
                let read = read_deployment(&text, &shown, &open::dialects(), report)?;
                return import_deployment(read, flag, consent, global, report).await;
            }
            if let Some(form) = foreign::recognised(&text) {
                let given = AdoptInputs {
                    inputs: inputs.0,
                    flag,
                    consent,
                };
                return super::adopt::run(form, &text, given, global, report).await;
            }
            if !inputs.0.written.is_empty() || !inputs.0.environments.is_empty() {
                let what =
                    "an exported state has its inputs; only a stack of Heat takes these flags";
                return Err(CommandError::usage(what.to_owned()));
            }
            let (exported, name) = read_exported(&text, &shown, &key::sealer()?)?;
            import(
                InstanceTarget::MayBeNew(flag, Some(name)),
                exported,
                consent,
                global,
                report,
            )
            .await
        }
        StateCommand::Verify => verify(global, report).await,
        StateCommand::Prune {
            keep,
            flag,
            consent,
        } => prune(keep, &flag, &consent, global, report).await,
        StateCommand::Rekey { file, consent } => rekey(&file, &consent, global, report).await,
    }
}

/// Checks every row of a state, and reports the damaged ones.
async fn verify(global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let session = open::session_for_nearest_state(global, report)?;
    let found = session.reading().verify().await?;
    if report.is_json() {
        report.set_result(json::verification(&found));
    } else {
        let mut text = String::new();
        for VerifiedInstance {
            name,
            assurance,
            rows,
        } in &found.instances
        {
            let how = match assurance {
                Assurance::Key => "authenticated with the key at hand",
                Assurance::Hash => "written without a key: checked for damage, not authenticated",
                Assurance::Nothing => "written by an earlier version: not checked row by row",
            };
            text.push_str(&format!("{name}: {rows} rows, {how}\n"));
        }
        for Damage { instance, what } in found.damaged.iter().take(MOST_SHOWN) {
            let of = instance
                .as_ref()
                .map(|instance| format!("{instance}: "))
                .unwrap_or_default();
            text.push_str(&format!("{of}damaged: {what}\n"));
        }
        if found.damaged.len() > MOST_SHOWN {
            let more = found.damaged.len() - MOST_SHOWN;
            text.push_str(&format!("and {more} more, all of them with `--json`\n"));
        }
        report.terminal.write_result(&text);
    }
    if found.damaged.is_empty() {
        return Ok(Exit::Done);
    }
    let count = found.damaged.len();
    let rows = if count == 1 {
        "1 place".to_owned()
    } else {
        format!("{count} places")
    };
    Err(StoreError::Damaged {
        what: format!("{} is damaged in {rows}", session.place.shown()),
    }
    .into())
}

/// Shows the old operations of an instance and removes them from its history.
async fn prune(
    keep: Option<u64>,
    flag: &InstanceFlag,
    consent: &Consent,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (session, instance) = open::session_and_instance(None, flag, global, report).await?;
    let Some(keep) = keep.or(session.config.history.keep) else {
        let what = "how many generations are kept? Use `--keep N`, or set `keep` under `[history]` in `cyan.toml`";
        return Err(CommandError::usage(what.to_owned()));
    };
    let found = retention::removal(session.reading().as_ref(), &instance, keep).await?;
    let Some(removal) = found else {
        report.set_result(json::pruned(&instance, &[], &Pruned::default()));
        report.terminal.write_message(format!(
            "Nothing to remove from the history of `{instance}`."
        ));
        return Ok(Exit::Done);
    };
    if !report.is_json() {
        report
            .terminal
            .write_result(&super::history::shown(&removal.removed, report));
    }
    let operations = number(removal.removed.len(), "operation", "operations");
    if !(consent.yes || session.config.yes) {
        if !report.terminal.can_ask() {
            let question =
                format!("{operations} would be removed from the history of `{instance}`");
            return Err(CommandError::NotInteractive {
                question,
                help: "confirm with `--yes`".to_owned(),
            });
        }
        let question = format!(
            "Remove {operations} from the history of `{instance}`, and keep {}?",
            removal.kept_count
        );
        if !report.terminal.confirm(&question) {
            return Err(CommandError::Refused);
        }
    }
    let store = session.writing();
    let pruned = retention::remove(store.as_ref(), &instance, &operation::who(), &removal).await?;
    operation::print_notices(store.as_ref(), report);
    report.set_result(json::pruned(&instance, &removal.removed, &pruned));
    report.terminal.write_message(format!(
        "Removed {operations} from the history of `{instance}`: {}, {}.",
        number(pruned.entries as usize, "journal entry", "journal entries"),
        number(pruned.documents as usize, "document", "documents"),
    ));
    Ok(Exit::Done)
}

/// A count with its noun.
fn number(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Seals all secrets of a state with the key in a file.
async fn rekey(
    file: &Path,
    consent: &Consent,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let session = open::session_for_nearest_state(global, report)?;
    // A mistyped name must not become the key of the state.
    if !(consent.yes || session.config.yes) && key::read(file)?.is_none() {
        let shown = file.display();
        if !report.terminal.can_ask() {
            return Err(CommandError::NotInteractive {
                question: format!("there is no key in `{shown}`: a new one would be made"),
                help: "make it with `--yes`, or name the file of an existing key".to_owned(),
            });
        }
        let question = format!("`{shown}` does not exist. Make a new key there?");
        if !report.terminal.confirm(&question) {
            return Err(CommandError::Refused);
        }
    }
    let (key, made) = key::read_or_write_new(file)?;
    let store = session.writing();
    let sealed = store.rekey(&Sealer::with_key(key)).await?;
    operation::print_notices(store.as_ref(), report);
    report.set_result(json!({"sealed": sealed, "key": file.display().to_string(), "made": made}));
    if !report.is_json() {
        let entries = if sealed == 1 {
            "entry is"
        } else {
            "entries are"
        };
        report.terminal.write_result(&format!(
            "{sealed} {entries} sealed with the key in {} now\n",
            file.display()
        ));
        report.terminal.write_message(format!(
            "Name it from now on: CYAN_KEY_FILE={}, or put it where the former key is. Kept plans, and other states, still need that one.",
            file.display()
        ));
    }
    Ok(Exit::Done)
}

/// The instance that a command changes.
pub(crate) enum InstanceTarget {
    /// An existing instance.
    Existing(InstanceFlag),
    /// An instance that may not exist yet. The name is that of the exported instance, if there is
    /// one.
    MayBeNew(InstanceFlag, Option<InstanceName>),
}

/// Finds the instance of a request: by the flag, by the document in the current folder, or as the
/// only instance.
pub(crate) async fn resolve_instance(
    target: &InstanceTarget,
    global: &Global,
    report: &mut Report,
) -> Result<(Session, InstanceName), CommandError> {
    let (flag, exported) = match target {
        InstanceTarget::Existing(flag) => {
            return open::session_and_instance(None, flag, global, report).await;
        }
        InstanceTarget::MayBeNew(flag, exported) => (flag, exported),
    };
    let here = open::document_in_folder().ok().flatten();
    let session = open::session_for_current_folder(global, here.as_deref(), report)?;
    let selector = InstanceSelector {
        instance: flag.instance.as_ref(),
        document: here.as_deref().map(Path::new),
        ..InstanceSelector::default()
    };
    let intended = session
        .intended_instance(&selector, exported.as_ref(), &mut session.new_run(), report)
        .await?;
    match intended {
        Some(instance) => Ok((session, instance)),
        None => open::session_and_instance(None, flag, global, report).await,
    }
}

/// Makes a plan of a state edit, shows it, asks for confirmation, and applies it.
async fn change(
    flag: InstanceFlag,
    options: Options,
    (consent, lock): (Consent, LockArguments),
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (mut session, instance) =
        resolve_instance(&InstanceTarget::Existing(flag), global, report).await?;
    session.lock_wait = lock.wait();
    let planned = session.stage_state(instance, options, report).await?;
    operation::carry_out(
        planned,
        &Files::new(),
        false,
        &mut session,
        &consent.into(),
        report,
    )
    .await
}

/// Imports an exported state. A new instance gets its history too; an existing one gets only the
/// current records.
async fn import(
    target: InstanceTarget,
    exported: Exported,
    consent: Consent,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (session, instance) = resolve_instance(&target, global, report).await?;
    import_into(session, instance, exported, consent, report).await
}

/// Imports a deployment of Pulumi as the state of a new stack. The document in the current folder
/// becomes its document.
async fn import_deployment(
    (exported, name): (Exported, InstanceName),
    flag: InstanceFlag,
    consent: Consent,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let target = InstanceTarget::MayBeNew(flag, Some(name));
    let (session, instance) = resolve_instance(&target, global, report).await?;
    if session.reading().info(&instance).await?.is_some() {
        return Err(CommandError::Usage {
            message: format!(
                "`{instance}` has a state already, which the import would not replace"
            ),
            help: Some("name another stack with `-i`".to_owned()),
        });
    }
    let document = match open::document_in_folder()? {
        Some(name) => Some(open::source(Some(Path::new(&name)))?),
        None => None,
    };
    let exported = session.as_operation(exported, document.as_ref(), &operation::who());
    import_into(session, instance, exported, consent, report).await
}

async fn import_into(
    mut session: Session,
    instance: InstanceName,
    exported: Exported,
    consent: Consent,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let import = session
        .stage_import_of_state(instance.clone(), exported, report)
        .await?;
    let files = Files::new();
    if !import.has_history() {
        return operation::carry_out(
            import.planned,
            &files,
            false,
            &mut session,
            &consent.into(),
            report,
        )
        .await;
    }
    operation::present(&import.planned.staged, report);
    if !(consent.yes || session.config.yes) {
        operation::ask(&import.planned.staged, &instance, report)?;
    }
    let store = session.writing();
    let restored = import.restore(store.as_ref()).await;
    operation::print_notices(store.as_ref(), report);
    match restored? {
        HistoryRestored::Whole { operations } => {
            let operations = number(operations, "operation", "operations");
            report.terminal.write_message(format!(
                "`{instance}` is as it was exported, with the history of {operations}."
            ));
            if !report.is_json() {
                report
                    .terminal
                    .write_result(&format!("{}\n", crate::view::plan::done(report.counts())));
            }
            Ok(Exit::Done)
        }
        HistoryRestored::KnownElsewhere => {
            report.terminal.write_message(
                "The state already has this history under another name: only the current state is imported.",
            );
            operation::apply_confirmed(
                import.planned,
                &files,
                false,
                &mut session,
                &consent.into(),
                report,
            )
            .await
        }
    }
}

async fn export(
    file: Option<&Path>,
    flag: &InstanceFlag,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (session, instance) = open::session_and_instance(None, flag, global, report).await?;
    let StateExport {
        exported,
        unsettled,
    } = session.export(&instance).await?;
    if let Some(address) = unsettled {
        report.terminal.write_message(format!(
            "What became of a call of `{address}` is not settled; the instance that loads the state settles it."
        ));
    }
    let shown = file.map_or_else(|| "the state".to_owned(), |file| file.display().to_string());
    let text = exported
        .write(session.sealer())
        .map_err(|error| unusable(&shown, error))?;
    match file {
        Some(file) => {
            may_be_replaced(file, "exported state", is_exported)?;
            write_whole(file, &text, Readers::Owner)?;
            report.set_result(
                json!({"instance": instance, "file": shown, "records": exported.records.len()}),
            );
            report
                .terminal
                .write_message(format!("The state of `{instance}` is in `{shown}`."));
        }
        None if report.is_json() => {
            report.set_result(
                exported
                    .to_json(session.sealer())
                    .map_err(|error| unusable(&shown, error))?,
            );
        }
        None => report.terminal.write_value(&text),
    }
    Ok(Exit::Done)
}

/// Writes an instance as a deployment of Pulumi.
async fn export_deployment(
    file: Option<&Path>,
    flag: &InstanceFlag,
    reveal: bool,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (session, instance) = open::session_and_instance(None, flag, global, report).await?;
    let tree = session.export_deployment(&instance, reveal).await?;
    let text = format!("{tree:#}\n");
    let Some(file) = file else {
        match report.is_json() {
            true => report.set_result(tree),
            false => report.terminal.write_value(&text),
        }
        return Ok(Exit::Done);
    };
    may_be_replaced(file, "exported stack", is_deployment)?;
    write_whole(file, &text, Readers::Owner)?;
    let shown = file.display().to_string();
    report.set_result(json!({"instance": instance, "file": shown, "left_out": []}));
    report.terminal.write_message(format!(
        "`{instance}` is in `{shown}`, as `pulumi` writes it."
    ));
    Ok(Exit::Done)
}

/// Writes an instance in the format of another tool.
async fn export_as(
    form: &dyn Form,
    file: Option<&Path>,
    flag: &InstanceFlag,
    reveal: bool,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let (session, instance) = open::session_and_instance(None, flag, global, report).await?;
    let written = session.export_as(form, &instance, reveal).await?;
    if !written.left_out.is_empty() {
        report.terminal.write_message(format!(
            "Secrets are left out: {}. `--reveal` writes them in clear.",
            written.left_out.join(", ")
        ));
    }
    let text = format!("{:#}\n", written.tree);
    match file {
        Some(file) => {
            let is_one = |text: &str| foreign::recognised(text).is_some();
            may_be_replaced(file, "exported stack", is_one)?;
            write_whole(file, &text, Readers::Owner)?;
            let shown = file.display().to_string();
            report.set_result(
                json!({"instance": instance, "file": shown, "left_out": written.left_out}),
            );
            report.terminal.write_message(format!(
                "`{instance}` is in `{shown}`, as `{}` writes it.",
                form.name()
            ));
        }
        None if report.is_json() => report.set_result(written.tree),
        None => report.terminal.write_value(&text),
    }
    Ok(Exit::Done)
}
