//! `cyan stage`, and what it shares with `deploy` and `eval`: a document with its inputs, staged.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use diag::Diagnostics;
use engine::shell::Shell;
use engine::{Given, Options, Staged, plan_file};
use serde_json::Value as Json;
use state::{InstanceName, Snapshot};

use crate::arguments::{Global, Inputs, Stage, Which};
use crate::exit::{CommandError, Exit};
use crate::operation::{self, Wanted};
use crate::registry::Offer;
use crate::setup::{Document, Known, Setup, Source, raise_warnings};
use crate::view::report::Report;
use crate::{identity, inputs, json, key};

pub(crate) async fn run(arguments: Stage, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    if let Some(out) = &arguments.out {
        may_be_replaced(out, "plan", plan_file::looks_like_one)?;
    }
    let source = Source::find(arguments.file.as_deref())?;
    let setup = Setup::beside(global, &source.folder, report)?;
    let ready =
        ready(setup, source, &arguments.which, &arguments.inputs, arguments.planning.options(), false, report).await?;
    let Ready { mut setup, staged, .. } = match ready {
        Ok(ready) => ready,
        Err(exit) => return Ok(exit),
    };
    let needed = !staged.plan.unread_but_needed().is_empty();
    if let Some(out) = arguments.out.as_ref().filter(|_| !needed)
        && !keep(out, &staged, &mut setup, report)?
    {
        return Ok(Exit::Unusable);
    }
    operation::show(&staged, report, true);
    // A tree of a large plan costs more than making the plan.
    if report.is_json() {
        report.set_result(Json::Object(json::plan(&staged.plan)));
    }
    let partial = !staged.plan.answers.unread.is_empty();
    let differs = !staged.plan.is_empty();
    Ok(match arguments.exit_code {
        _ if needed => Exit::Unusable,
        true if differs => Exit::Differences,
        // Nobody knows whether there are any.
        true if partial => Exit::Unusable,
        _ => Exit::Done,
    })
}

/// A document that was staged, and everything to go on with.
pub(crate) struct Ready {
    pub(crate) setup: Setup,
    pub(crate) document: Document,
    pub(crate) instance: InstanceName,
    pub(crate) shell: Shell,
    pub(crate) staged: Staged,
}

/// Reads, checks and stages a document. An exit code if it cannot be; why has been said.
pub(crate) async fn ready(
    setup: Setup,
    source: Source,
    which: &Which,
    given: &Inputs,
    options: Options,
    keeps_inputs: bool,
    report: &mut Report,
) -> Result<Result<Ready, Exit>, CommandError> {
    ready_with(setup, source, which, given, Some((options, keeps_inputs)), report, |_| Diagnostics::new()).await
}

/// Like [`ready`], with one more look at the checked document before it is staged.
pub(crate) async fn ready_with(
    setup: Setup,
    source: Source,
    which: &Which,
    given: &Inputs,
    planning: Option<(Options, bool)>,
    report: &mut Report,
    look: impl FnOnce(&mut Document) -> Diagnostics,
) -> Result<Result<Ready, Exit>, CommandError> {
    let source = source.with(&given.environments)?;
    let known = Known::NOTHING;
    let mut document = Document::check(source, &setup.global.offer, &known, |_| false).await;
    raise_warnings(setup.global.strict, &mut document.found);
    if document.found.has_errors() {
        refused(document, None, given, &setup, report).await?;
        return Ok(Err(Exit::Unusable));
    }
    report.diagnostics(&document.found, &document.files);
    let instance = identity::of_document(which.instance.as_ref(), &document, &setup, report).await?;
    // Where no call is open the lease decides, when it is taken.
    let Some(snapshot) = operation::at_rest(&setup, &instance, report).await? else {
        return Ok(Err(Exit::Busy));
    };
    described(&setup, &snapshot)?;
    let frozen = document.frozen(&setup.place);
    // Types that only the state knows have providers too.
    let mut document = with_recorded(document, &snapshot, &known).await;
    let Some(checked) = document.checked.clone() else { return Ok(Err(Exit::Unusable)) };
    let mut found = look(&mut document);
    let (options, keeps_inputs) = planning.unwrap_or_default();
    let mut values = inputs::gather(
        &checked.blueprint,
        &document.environment,
        &setup.config.vars,
        given,
        &mut document.files,
        &mut found,
    )?;
    raise_warnings(setup.global.strict, &mut found);
    report.diagnostics(&found, &document.files);
    if found.has_errors() {
        return Ok(Err(Exit::Unusable));
    }
    if keeps_inputs {
        inputs::keep(&checked.blueprint, &mut values, setup.reading().as_ref(), &instance).await?;
    }
    inputs::ask(&checked, &mut values, &report.terminal)?;
    let mut wrong = Diagnostics::new();
    engine::judge_inputs(&checked, &values, true, &mut wrong);
    if wrong.has_errors() {
        refused(document, Some(values), given, &setup, report).await?;
        return Ok(Err(Exit::Unusable));
    }
    let recorded = recorded_namespaces(&document.registry.offer, &snapshot);
    let mut document =
        document.complete(&values, &snapshot, |namespace| recorded.iter().any(|it| it == namespace)).await;
    raise_warnings(setup.global.strict, &mut document.found);
    report.diagnostics(&document.found, &document.files);
    if document.found.has_errors() {
        return Ok(Err(Exit::Unusable));
    }
    let Some(documents) = document.documents.clone() else { return Ok(Err(Exit::Unusable)) };
    document.registry.open_world(&setup.place)?;
    let folder = document.source.folder.clone();
    let shell = setup.shell(&document.registry, &instance, folder)?;
    let refresh = options.refresh && !setup.config.no_refresh;
    let options = Options { refresh, simulated: setup.global.offer.simulated, ..options };
    let wanted = Wanted { document: Some((documents, frozen)), given: values, options, snapshot, answers: None };
    let staged = operation::stage(wanted, &setup, &shell, &document.registry, &document.files, report).await;
    Ok(staged.map(|staged| Ready { setup, document, instance, shell, staged }).ok_or(Exit::Unusable))
}

/// Says all that is wrong with a document that cannot be staged, and with what is given for its inputs, in one go. `values` are
/// these where they have been gathered, and what was found before has been said then.
async fn refused(
    mut document: Document,
    values: Option<Given>,
    inputs: &Inputs,
    setup: &Setup,
    report: &mut Report,
) -> Result<(), CommandError> {
    let strict = setup.global.strict;
    let (said, values) = match values {
        Some(values) => (true, values),
        None => match document.given(&setup.config.vars, inputs, strict, report) {
            Ok(values) => (false, values),
            Err(error) => {
                report.diagnostics(&document.found, &document.files);
                return Err(error);
            }
        },
    };
    let told: Vec<diag::Diagnostic> = document.found.iter().filter(|_| said).cloned().collect();
    // Somebody who can be asked is asked once the document is right.
    let all = said || !report.terminal.can_ask();
    let mut document = if values == Given::default() {
        // Nothing more is known of it than when it was checked.
        document.judge(&values, all);
        document
    } else {
        document.with_inputs(&values, all).await
    };
    raise_warnings(strict, &mut document.found);
    let is_told =
        |one: &diag::Diagnostic| told.iter().any(|it| it.code.name == one.code.name && it.span() == one.span());
    document.found.retain(|one| !is_told(one));
    report.diagnostics(&document.found, &document.files);
    Ok(())
}

/// The document with the catalogues of everything that is recorded too.
pub(crate) async fn with_recorded(document: Document, snapshot: &Snapshot, known: &Known<'_>) -> Document {
    let recorded = recorded_namespaces(&document.registry.offer, snapshot);
    if recorded.iter().all(|namespace| document.registry.providers.contains_key(namespace.as_str())) {
        return document;
    }
    let Document { source, found, registry, .. } = document;
    let also = |namespace: &str| recorded.iter().any(|recorded| recorded == namespace);
    let mut document = Document::check(source, &registry.offer, known, also).await;
    document.found = found;
    document
}

/// The namespaces of everything that is recorded.
pub(crate) fn recorded_namespaces(offer: &Offer, snapshot: &Snapshot) -> Vec<String> {
    let records = snapshot.records.values().map(|record| &record.type_name);
    let open = snapshot.open.values().map(|open| &open.intent.type_name);
    let mut namespaces: Vec<String> = Vec::new();
    let mut before = None;
    for id in records.chain(open) {
        // Most are of the type of the one before.
        if before.replace(id) == Some(id) {
            continue;
        }
        let namespace = id.package_name();
        if namespaces.iter().all(|known| known != namespace) && offer.knows(namespace) {
            namespaces.push(namespace.to_owned());
        }
    }
    namespaces
}

/// That a rehearsal knows the types of everything that was rehearsed: some may have come from a catalogue that is not named now.
pub(crate) fn described(setup: &Setup, snapshot: &Snapshot) -> Result<(), CommandError> {
    let offer = &setup.global.offer;
    let records = snapshot.records.values().map(|record| &record.type_name);
    let mut open = records.chain(snapshot.open.values().map(|open| &open.intent.type_name));
    match open.find(|name| offer.simulated && !offer.knows(name.package_name())) {
        None => Ok(()),
        Some(name) => Err(CommandError::Usage {
            message: format!("`{name}` was rehearsed with a catalogue that is not named now"),
            help: Some(
                "name it again with `--catalog FILE`, or once and for all as `catalog` in `cyan.toml`".to_owned(),
            ),
        }),
    }
}

/// Whether a file of some kind may be written here: where nothing is yet, over an empty file, and over one of its kind.
pub(crate) fn may_be_replaced(out: &Path, kind: &str, is_one: impl Fn(&str) -> bool) -> Result<(), CommandError> {
    let unfit = |what: &str| {
        let (name, what) = (out.display().to_string(), what.to_owned());
        Err(CommandError::Unfit { name, what, help: Some(format!("name another file for the {kind}")) })
    };
    match std::fs::metadata(out) {
        Ok(about) if about.is_dir() => unfit("is a folder"),
        Ok(about) if !about.is_file() => unfit("is no regular file"),
        Ok(about) if about.len() == 0 => Ok(()),
        Ok(_) => match std::fs::read(out) {
            Ok(bytes) if std::str::from_utf8(&bytes).is_ok_and(&is_one) => Ok(()),
            Ok(_) => unfit(&format!("exists and is no {kind}; it is not overwritten")),
            Err(source) => Err(CommandError::Unreadable { name: out.display().to_string(), source }),
        },
        // Whether it can be written turns out when it is.
        Err(_) => Ok(()),
    }
}

/// Writes a plan to a file that only its owner can read. False if its secrets cannot be sealed, which has been said.
fn keep(out: &Path, staged: &Staged, setup: &mut Setup, report: &mut Report) -> Result<bool, CommandError> {
    if staged.plan.secret
        && !setup.sealer.can_seal()
        && let Some(sealer) = key::make_if_watched(&report.terminal)?
    {
        setup.seal_with(sealer);
    }
    if staged.plan.secret && !setup.sealer.can_seal() {
        let diagnostic = engine::codes::SECRETS_NEED_KEY
            .new("the plan holds something secret, and there is no key to seal it with")
            .help("make one with `cyan key new`");
        report.diagnostics(&[diagnostic].into_iter().collect(), &diag::Files::new());
        return Ok(false);
    }
    let text = plan_file::write(&staged.plan, &setup.sealer)
        .map_err(|source| CommandError::Plan { name: out.display().to_string(), source })?;
    write_private(out, &text)?;
    Ok(true)
}

/// Writes a file that only its owner can read: whole or not at all.
pub(crate) fn write_private(out: &Path, text: &str) -> Result<(), CommandError> {
    let unwritable = |source| CommandError::Unwritable { name: out.display().to_string(), source };
    // A name that is nobody's: `create_new` refuses one that is there.
    let mut beside = out.as_os_str().to_owned();
    beside.push(format!(".{}-{:08x}.part", std::process::id(), rand::random::<u32>()));
    let beside = PathBuf::from(beside);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        std::fs::rename(&beside, out)
    });
    if let Err(source) = written {
        // What is half written is of no use; if it cannot be removed either, the error to come says enough.
        let _ = std::fs::remove_file(&beside);
        return Err(unwritable(source));
    }
    Ok(())
}
