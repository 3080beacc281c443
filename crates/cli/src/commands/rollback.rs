//! `cyan rollback`, and the way back that a failed operation takes by itself (`--on-failure rollback`).

use std::cell::RefCell;

use diag::{Diagnostics, Files};
use engine::generation::Goal;
use engine::shell::{Back, Shell, last_goal};
use engine::{Given, Options, Staged};
use futures::future::LocalBoxFuture;
use state::{Generation, InstanceName, Snapshot};

use crate::arguments::{Global, Rollback};
use crate::commands::stage::{described, recorded_namespaces, with_recorded};
use crate::exit::{CommandError, Exit};
use crate::identity::chosen;
use crate::operation::{self, Wanted};
use crate::registry::Registry;
use crate::setup::{Document, Known, Setup, Source, raise_warnings};
use crate::view::report::Report;

pub(crate) async fn run(arguments: Rollback, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let (mut setup, instance) = chosen(None, &arguments.which, global, report).await?;
    if operation::is_busy(&setup, &instance, report).await? {
        return Ok(Exit::Busy);
    }
    let wanted = arguments.generation.map(Generation);
    let goal = match last_goal(setup.reading().as_ref(), &instance, wanted).await? {
        Ok(goal) => goal,
        Err(diagnostic) => {
            report.diagnostics(&std::iter::once(*diagnostic).collect(), &Files::new());
            return Ok(Exit::Unusable);
        }
    };
    let Some(snapshot) = operation::at_rest(&setup, &instance, report).await? else { return Ok(Exit::Busy) };
    described(&setup, &snapshot)?;
    if let Goal::Kept(kept) = &goal
        && wanted.is_none()
        && kept.generation == snapshot.generation
    {
        let number = kept.generation.0;
        report.terminal.say(format!(
            "Generation {number} is the last one that ended well, and nothing came after it. To go back further, name one: `cyan history` lists them."
        ));
    }
    let refresh = !arguments.no_refresh && !setup.config.no_refresh;
    let mut found = Diagnostics::new();
    let way = way_back(goal, &setup, &instance, snapshot, refresh, &mut found).await?;
    raise_warnings(setup.global.strict, &mut found);
    report.diagnostics(&found, &way.files);
    let (Some(staged), Some(shell)) = (way.staged.filter(|_| !found.has_errors()), way.shell) else {
        return Ok(Exit::Unusable);
    };
    operation::carry_out(staged, false, &mut setup, &shell, &instance, &arguments.running, &way.files, report).await
}

/// The plan back to a goal, and what it was made with.
struct Way {
    /// The texts of the goal.
    files: Files,
    /// None if its documents are in error.
    shell: Option<Shell>,
    /// None if anything stands in the way.
    staged: Option<Staged>,
}

/// Makes the plan; what was found goes to `found`.
async fn way_back(
    goal: Goal,
    setup: &Setup,
    instance: &InstanceName,
    snapshot: Snapshot,
    refresh: bool,
    found: &mut Diagnostics,
) -> Result<Way, CommandError> {
    let options = Options { rollback: true, refresh, simulated: setup.global.offer.simulated, ..Options::default() };
    let (files, registry, root, document, given, answers) = match goal {
        Goal::Nothing => {
            let recorded = recorded_namespaces(&setup.global.offer, &snapshot);
            let of_records = |namespace: &str| recorded.iter().any(|recorded| recorded == namespace);
            let registry = setup.global.offer.registry(of_records);
            (Files::new(), registry, setup.root_of(&snapshot), None, Given::default(), None)
        }
        Goal::Kept(kept) => {
            let source = Source::kept(&kept.document, &setup.place);
            let folder = source.folder.clone();
            let source = Source { shown: format!("{} (generation {})", source.shown, kept.generation.0), ..source };
            let known = Known {
                given: Some(&kept.given),
                complete: true,
                kept: Some(&kept.answers.frozen()),
                ..Known::NOTHING
            };
            let document = Document::check(source, &setup.global.offer, &known, |_| false).await;
            let document = with_recorded(document, &snapshot, &known).await;
            found.append(document.found);
            let Some(documents) = document.documents.filter(|_| !found.has_errors()) else {
                return Ok(Way { files: document.files, shell: None, staged: None });
            };
            let wanted = Some((documents, kept.document));
            (document.files, document.registry, folder, wanted, kept.given, Some(kept.answers))
        }
    };
    let mut registry: Registry = registry;
    registry.open_world(&setup.place)?;
    let shell = setup.shell(&registry, instance, root)?;
    let wanted = Wanted { document, given, options, snapshot, answers };
    let staged = engine::plan(wanted.request(&shell, &registry), found).await;
    Ok(Way { files, shell: Some(shell), staged })
}

/// The way back of an operation of this process.
pub(crate) struct WayBack<'a> {
    setup: &'a Setup,
    instance: &'a InstanceName,
    /// The texts of the goal, once there is one.
    files: RefCell<Files>,
}

impl<'a> WayBack<'a> {
    pub(crate) fn new(setup: &'a Setup, instance: &'a InstanceName) -> WayBack<'a> {
        WayBack { setup, instance, files: RefCell::new(Files::new()) }
    }

    /// Whose operation it is.
    pub(crate) fn instance(&self) -> &InstanceName {
        self.instance
    }
}

impl Back for WayBack<'_> {
    fn stage<'a>(&'a self, goal: Goal, found: &'a mut Diagnostics) -> LocalBoxFuture<'a, Option<Staged>> {
        Box::pin(async move {
            let way = async {
                let snapshot = self.setup.open(false).load(self.instance).await?;
                way_back(goal, self.setup, self.instance, snapshot, true, found).await
            };
            match way.await {
                Ok(way) => {
                    *self.files.borrow_mut() = way.files;
                    way.staged
                }
                Err(error) => {
                    found.push(
                        engine::codes::ROLLBACK_INCOMPLETE
                            .new("the plan of the rollback could not be made")
                            .note(error.to_string()),
                    );
                    None
                }
            }
        })
    }

    fn in_words(&self, mut found: Diagnostics) -> Diagnostics {
        let files = self.files.borrow();
        for diagnostic in found.iter_mut() {
            if let Some(label) = diagnostic.labels.first()
                && let Some(file) = files.get(label.span.file)
            {
                let place = file.position(label.span.start);
                diagnostic.notes.push(format!("{}:{}:{}", file.name(), place.line, place.column));
            }
            diagnostic.labels.clear();
            diagnostic.fixes.clear();
            diagnostic.trail.clear();
        }
        found
    }
}
