//! `cyan deploy`: a document, or a plan that was kept.

use diag::{Diagnostic, Diagnostics, Files};
use engine::plan_file::{self, MadeFrom, PlanFile, PlanFileError, hidden_step};
use engine::{Options, Plan, codes};
use state::InstanceName;
use state::seal::SealError;

use crate::arguments::{Deploy, Global};
use crate::commands::stage::{Ready, ready, recorded_namespaces, with_recorded};
use crate::exit::{CommandError, Exit};
use crate::operation::{self, Wanted};
use crate::setup::{Document, Known, Setup, Source, read_text};
use crate::view::report::Report;

pub(crate) async fn run(arguments: Deploy, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let source = Source::find(arguments.file.as_deref())?;
    if plan_file::looks_like_one(&source.text) {
        return kept(source, arguments, global, report).await;
    }
    let setup = Setup::beside(global, &source.folder, report)?;
    let ready = {
        let options = Options { until: arguments.until.clone(), ..arguments.planning.options() };
        ready(setup, source, &arguments.which, &arguments.inputs, options, arguments.keep_vars, report).await?
    };
    let Ready { mut setup, document, instance, shell, staged } = match ready {
        Ok(ready) => ready,
        Err(exit) => return Ok(exit),
    };
    let (running, files) = (&arguments.running, &document.files);
    operation::carry_out(staged, false, &mut setup, &shell, &instance, running, files, report).await
}

/// Carries a kept plan out: as it is, or not at all.
async fn kept(source: Source, arguments: Deploy, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let given = !arguments.inputs.written.is_empty() || arguments.keep_vars || arguments.until.is_some();
    if given || arguments.planning.is_given() {
        return Err(CommandError::usage(
            "a kept plan has its inputs and was made already; only a document takes these flags",
        ));
    }
    let mut setup = Setup::nearest(global, report)?;
    let (file, made_from) =
        plan_file::read(&source.text, &setup.sealer).map_err(|error| unusable(&source.shown, error))?;
    let instance: InstanceName =
        file.instance.parse().map_err(|error: state::InstanceNameError| CommandError::usage(error.to_string()))?;
    if arguments.which.instance.as_ref().is_some_and(|named| *named != instance) {
        return Err(CommandError::usage(format!("the plan is for `{instance}`")));
    }
    if file.options.simulated != setup.global.offer.simulated {
        let (what, help) = match file.options.simulated {
            true => ("is a plan of a rehearsal", "say `--simulate` to rehearse it, or stage again without"),
            false => {
                ("is a real plan, not one of a rehearsal", "deploy it without `--simulate`, or stage again with it")
            }
        };
        return Err(CommandError::Unfit { name: source.shown, what: what.to_owned(), help: Some(help.to_owned()) });
    }
    if operation::is_busy(&setup, &instance, report).await? {
        return Ok(Exit::Busy);
    }
    let head = setup.reading().head(&instance).await?;
    if head != file.revision {
        let (made, found) = (file.revision.0, head.0);
        return refuse(
            codes::PLAN_STALE
                .new(format!("the plan was made at revision {made}, the state is at {found}"))
                .help("stage again"),
            report,
        );
    }
    let place = setup.place.clone();
    let document = match &made_from.document {
        Some(frozen) => {
            let source = Source::kept(frozen, &place);
            if let Some(diagnostic) = source.path.as_deref().and_then(|path| changed(path, frozen)) {
                return refuse(diagnostic, report);
            }
            setup = Setup::beside(global, &source.folder, report)?;
            setup.place = place.clone();
            Some(source)
        }
        None => None,
    };
    let snapshot = setup.reading().load(&instance).await?;
    let root = document.as_ref().map_or_else(|| setup.root_of(&snapshot), |source| source.folder.clone());
    let given = made_from.given();
    let (files, mut registry, documents) = match document {
        Some(source) => {
            let known = Known {
                given: Some(&given),
                complete: true,
                kept: Some(&made_from.answers.frozen()),
                ..Known::NOTHING
            };
            let document = Document::check(source, &setup.global.offer, &known, |_| false).await;
            let document = with_recorded(document, &snapshot, &known).await;
            report.diagnostics(&document.found, &document.files);
            let Some(documents) = document.documents.filter(|_| !document.found.has_errors()) else {
                return Ok(Exit::Unusable);
            };
            (document.files, document.registry, Some(documents))
        }
        None => {
            let recorded = recorded_namespaces(&setup.global.offer, &snapshot);
            let of_records = |namespace: &str| recorded.iter().any(|recorded| recorded == namespace);
            (Files::new(), setup.global.offer.registry(of_records), None)
        }
    };
    registry.open_world(&place)?;
    let shell = setup.shell(&registry, &instance, root)?;
    let MadeFrom { document: frozen, answers, .. } = made_from;
    let wanted = Wanted {
        document: documents.zip(frozen),
        given,
        options: file.options.clone(),
        snapshot,
        answers: Some(answers),
    };
    let Some(staged) = operation::stage(wanted, &setup, &shell, &registry, &files, report).await else {
        return Ok(Exit::Unusable);
    };
    if !is_same(&file, &staged.plan) {
        return refuse(
            codes::PLAN_STALE
                .new("the plan would be another one today")
                .note("this version of cyan decides otherwise")
                .help("stage again"),
            report,
        );
    }
    let running = &arguments.running;
    operation::carry_out(staged, true, &mut setup, &shell, &instance, running, &files, report).await
}

fn refuse(diagnostic: Diagnostic, report: &mut Report) -> Result<Exit, CommandError> {
    let found: Diagnostics = [diagnostic].into_iter().collect();
    report.diagnostics(&found, &Files::new());
    Ok(Exit::Unusable)
}

/// Why the document is no longer the one that was staged, if so.
fn changed(path: &std::path::Path, frozen: &engine::FrozenDocument) -> Option<Diagnostic> {
    let what = match read_text(path) {
        Ok(text) if *text == *frozen.text => return None,
        Ok(_) => "has changed since the plan was made".to_owned(),
        Err(_) => format!("is not there any more, as seen from `{}`", path.parent().unwrap_or(path).display()),
    };
    Some(
        codes::INPUT_CHANGED
            .new(format!("`{}` {what}", frozen.path))
            .help("stage again, or name the place of the state with `--state`"),
    )
}

/// Whether the steps are those that were kept. Both are compared as they are written, which is what a person has seen.
fn is_same(file: &PlanFile, plan: &Plan) -> bool {
    let written = |steps: Vec<engine::Step>| serde_json::to_value(steps).ok();
    written(file.steps.clone()) == written(plan.steps.iter().map(hidden_step).collect())
}

fn unusable(name: &str, error: PlanFileError) -> CommandError {
    match error {
        PlanFileError::Sealed { source: SealError::NoKey, .. } => CommandError::State(state::StoreError::NoKey),
        PlanFileError::Sealed { source: SealError::WrongKey, .. } => CommandError::State(state::StoreError::WrongKey),
        source => CommandError::Plan { name: name.to_owned(), source },
    }
}
