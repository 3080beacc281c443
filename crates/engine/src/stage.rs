//! The steps from a document and inputs to a plan.
//!
//! Not here: their order (`lib.rs`).

use dialect::rules::Reads;
use std::sync::Arc;
use std::time::Duration;

use crate::phases::run::{PlanningEvent, Shell, busy};
use crate::phases::{
    Answers, Checked, Documents, Given, Options, PinnedDocument, Refresh, Request, Staged, answers,
};
use blueprint::{IndexMap, Name, Value};
use diag::{Diagnostic, Diagnostics, Files};
use state::{InstanceName, LeaseHolder, Memoised, Snapshot};
use tokio::sync::mpsc;

use crate::document::{Document, ReadingFacts};
use crate::document_source::DocumentSource;
use crate::error::Error;
use crate::findings::raise_warnings;
use crate::foreign::deployment::is_group_type;
use crate::frontend::{Frontend, FrontendRun, Notice, SessionEvent};
use crate::inputs::{self, Inputs};
use crate::session::Session;

/// An additional check of a document before it is planned.
pub type ExtraCheck = Box<dyn FnOnce(&mut Document) -> Diagnostics + Send>;

/// A document to plan.
pub struct StageRequest {
    /// The document.
    pub source: DocumentSource,
    /// Its instance; `None` to find it.
    pub instance: Option<InstanceName>,
    /// Its inputs.
    pub inputs: Inputs,
    /// Whether inputs that are not given now keep their values of the last operation.
    pub keep_inputs: bool,
    /// The options of the plan.
    pub options: Options,
    /// The memory of groups whose members another tool has made, by the addresses of the groups.
    pub groups: Vec<(Name, Value)>,
    /// An additional check of the document.
    pub extra_check: Option<ExtraCheck>,
}

impl StageRequest {
    /// Returns a request for a document without inputs, with the default options.
    pub fn new(source: DocumentSource) -> StageRequest {
        StageRequest {
            source,
            instance: None,
            inputs: Inputs::default(),
            keep_inputs: false,
            options: Options::default(),
            groups: Vec::new(),
            extra_check: None,
        }
    }
}

/// A document with its plan.
pub struct StagedDocument {
    /// The document.
    pub document: Document,
    /// The plan.
    pub planned: PlannedOperation,
}

/// A plan with its providers, ready to apply.
pub struct PlannedOperation {
    /// The instance.
    pub instance: InstanceName,
    /// The plan.
    pub staged: Staged,
    /// The providers.
    pub shell: Shell,
    /// Numbers the events of the plan and of its operation.
    pub run: FrontendRun,
}

/// The inputs of a plan, apart from the world.
pub(crate) struct Basis {
    /// The checked documents and the text of the root; `None` for a plan from the state alone.
    pub(crate) document: Option<(Arc<Documents>, PinnedDocument)>,
    /// The inputs.
    pub(crate) given: Given,
    /// The options of the plan.
    pub(crate) options: Options,
    /// The state.
    pub(crate) snapshot: Snapshot,
    /// The answers of a saved plan.
    pub(crate) answers: Option<Answers>,
}

/// The time between two looks at an operation that is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Adds the memory of groups that the state does not know.
pub(crate) fn remember_groups(snapshot: &mut Snapshot, groups: Vec<(Name, Value)>) {
    for (address, value) in groups {
        let key = Name::from(format!("{}{address}", answers::GROUP));
        let memory = Memoised {
            fingerprint: 0,
            value,
        };
        snapshot.memoised.entry(key).or_insert(memory);
    }
}

impl Session {
    /// Reads a document and checks it with the inputs of the request, because dialects check some
    /// values. With `keep_inputs` it is checked without inputs: the instance, which has the kept
    /// ones, is not known yet. So it is if the configuration has inputs of instances. `named` is the
    /// instance that the request names.
    pub(crate) async fn read_and_check(
        &self,
        source: DocumentSource,
        named: Option<&InstanceName>,
        inputs: &Inputs,
        keep_inputs: bool,
        frontend: &mut dyn Frontend,
    ) -> Result<Document, Error> {
        let companions = self.companions_of(&source, named).await?;
        let source = source.with(&companions)?.with(&inputs.environments)?;
        let mut document = Document::read(source, &self.library, self.installed.clone());
        let is_later = keep_inputs || (named.is_none() && self.config.has_inputs_of_instances());
        let given = if is_later {
            None
        } else {
            self.given_so_far(&document, named, inputs)
        };
        document
            .check_again(
                given
                    .as_ref()
                    .map_or_else(ReadingFacts::default, ReadingFacts::of),
            )
            .await;
        raise_warnings(self.strict, &mut document.found);
        if document.found.has_errors() {
            return Err(self.refuse(document, inputs, frontend).await);
        }
        frontend.found(&document.found, &document.files);
        Ok(document)
    }

    /// Loads the state. Fails if the state has open intents while an operation holds the instance.
    pub(crate) async fn load_state(
        &self,
        instance: &InstanceName,
        frontend: &mut dyn Frontend,
    ) -> Result<Snapshot, Error> {
        if !self.lock_wait.is_zero() {
            self.refuse_held(instance, frontend).await?;
        }
        let store = self.reading();
        let mut snapshot = store.load(instance).await?;
        // The operation that held the instance while its state was loaded may have ended since.
        while !snapshot.open.is_empty() {
            self.refuse_held(instance, frontend).await?;
            if store.head(instance).await? == snapshot.revision {
                break;
            }
            snapshot = store.load(instance).await?;
        }
        self.refuse_missing_catalogs(&snapshot)?;
        Ok(snapshot)
    }

    /// Fails if an operation holds an instance, and reports its holder. Waits first, for at most
    /// `lock_wait`, until that operation has ended.
    pub(crate) async fn refuse_held(
        &self,
        instance: &InstanceName,
        frontend: &mut dyn Frontend,
    ) -> Result<(), Error> {
        let waiting_since = tokio::time::Instant::now();
        let mut is_waiting = false;
        let holder = loop {
            let info = self.reading().info(instance).await?;
            let holder = info.and_then(|info| info.holder);
            let Some(holder) = holder.filter(LeaseHolder::is_active) else {
                return Ok(());
            };
            let left = self.lock_wait.saturating_sub(waiting_since.elapsed());
            if left.is_zero() {
                break holder;
            }
            if !is_waiting {
                let notice = Notice::WaitsForOperation {
                    instance: instance.clone(),
                    who: holder.who.clone(),
                };
                self.new_run().notice(notice, frontend);
                is_waiting = true;
            }
            tokio::time::sleep(left.min(LOOK_EVERY)).await;
        };
        let now = self.installed.runtime.clock.now();
        let found = std::iter::once(busy(instance, Some(&holder), now)).collect();
        frontend.found(&found, &Files::new());
        Err(Error::Held)
    }

    /// Fails if a simulated state has a type that no catalogue describes: its catalogue is not
    /// given in this request.
    pub(crate) fn refuse_missing_catalogs(&self, snapshot: &Snapshot) -> Result<(), Error> {
        let selection = &self.library.selection;
        let records = snapshot.records.values().map(|record| &record.type_name);
        let mut all = records.chain(snapshot.open.values().map(|open| &open.intent.type_name));
        let unknown = |name: &&blueprint::TypeId| {
            selection.simulated && !selection.knows(&self.installed, name.package_name())
        };
        match all.find(unknown) {
            None => Ok(()),
            Some(name) => Err(Error::Usage {
                message: format!("`{name}` was rehearsed with a catalogue that is not named now"),
                help: Some(
                    "name it again with `--catalog FILE`, or once and for all as `catalog` in `cyan.toml`".to_owned(),
                ),
            }),
        }
    }

    /// Collects and checks the inputs of an instance. With `keep`, those of its last operation that
    /// are not given are kept.
    pub(crate) async fn collect_inputs(
        &self,
        document: &mut Document,
        inputs: &Inputs,
        (instance, keep): (&InstanceName, bool),
        extra_check: Option<ExtraCheck>,
        frontend: &mut dyn Frontend,
    ) -> Result<Given, Error> {
        let checked = document.checked.clone().ok_or(Error::Reported)?;
        let mut found = extra_check
            .map(|examine| examine(document))
            .unwrap_or_default();
        let mut given = self.gather(&checked, document, Some(instance), inputs, &mut found)?;
        raise_warnings(self.strict, &mut found);
        frontend.found(&found, &document.files);
        if found.has_errors() {
            return Err(Error::Reported);
        }
        if keep {
            inputs::keep_previous_inputs(
                &checked.blueprint,
                &mut given,
                self.reading().as_ref(),
                instance,
            )
            .await?;
        }
        frontend.inputs(&checked, &mut given)?;
        let mut wrong = Diagnostics::new();
        crate::phases::validate_inputs(&checked, &given, true, &mut wrong);
        match wrong.has_errors() {
            true => Err(self.refuse_inputs(document, &given, frontend).await),
            false => Ok(given),
        }
    }

    /// Returns the values of the request, before questions to the user; `None` if they cannot be
    /// read, which is reported later.
    fn given_so_far(
        &self,
        document: &Document,
        instance: Option<&InstanceName>,
        inputs: &Inputs,
    ) -> Option<Given> {
        let (mut files, mut found) = (Files::new(), Diagnostics::new());
        let defaults = &self.config.inputs_of(instance).ok()?;
        let environment = &document.environment;
        let blueprint = document.blueprint()?;
        inputs::gather(
            blueprint,
            environment,
            defaults,
            inputs,
            self.library.selection.dialects.limits.text_bytes(),
            &mut files,
            &mut found,
        )
        .ok()
    }

    /// Collects the given values, for an instance if it is known. Adds mistakes in files of inputs to
    /// `found`.
    pub(crate) fn gather(
        &self,
        checked: &Checked,
        document: &mut Document,
        instance: Option<&InstanceName>,
        inputs: &Inputs,
        found: &mut Diagnostics,
    ) -> Result<Given, Error> {
        let defaults = &self.config.inputs_of(instance)?;
        let environment = &document.environment;
        inputs::gather(
            &checked.blueprint,
            environment,
            defaults,
            inputs,
            self.library.selection.dialects.limits.text_bytes(),
            &mut document.files,
            found,
        )
    }

    /// Returns the documents. Checks them again if the paths of children depend on inputs.
    pub(crate) async fn complete_document(
        &self,
        document: &mut Document,
        given: &Given,
        snapshot: &Snapshot,
        frontend: &mut dyn Frontend,
    ) -> Result<Arc<Documents>, Error> {
        document.complete(given, snapshot).await;
        raise_warnings(self.strict, &mut document.found);
        frontend.found(&document.found, &document.files);
        document
            .documents
            .clone()
            .filter(|_| !document.found.has_errors())
            .ok_or(Error::Reported)
    }

    /// Returns the options of a plan, from the request, the configuration and the usual reads of
    /// the dialect.
    pub(crate) fn plan_options(&self, options: Options, usual: Reads) -> Options {
        Options {
            refresh: self.refresh(options.refresh, usual),
            simulated: self.is_simulated(),
            ..options
        }
    }

    /// Returns which objects a plan reads. What the user asks for takes precedence, then the
    /// configuration, then the dialect.
    pub(crate) fn refresh(&self, wanted: Refresh, usual: Reads) -> Refresh {
        match wanted {
            Refresh::Usual if self.config.no_refresh || usual == Reads::OnRequest => Refresh::Never,
            Refresh::Usual => Refresh::Always,
            _ => wanted,
        }
    }

    /// Returns the providers for the plan of a document, with the rate limits of all types that may
    /// occur in it.
    pub(crate) async fn shell_for(
        &self,
        document: &Document,
        instance: &InstanceName,
        snapshot: &Snapshot,
    ) -> Result<Shell, Error> {
        self.library.open_recorded(snapshot).await;
        if document.has_transforms() {
            // Transforms may make resources of any type.
            self.library.open_all();
        }
        self.shell_of(
            instance,
            &document.source.folder,
            document.documents.as_deref(),
        )
    }

    /// Makes a plan and reports its diagnostics. If only reads failed, the plan can be shown but
    /// not applied.
    pub(crate) async fn plan(
        &self,
        basis: Basis,
        shell: &mut Shell,
        files: &Files,
        run: &mut FrontendRun,
        frontend: &mut dyn Frontend,
    ) -> Result<Staged, Error> {
        if let Some((documents, _)) = &basis.document
            && basis.answers.is_none()
            && !self.is_simulated()
        {
            documents
                .distinct()
                .for_each(|checked| announce(checked, run, frontend));
        }
        let mut found = Diagnostics::new();
        let staged = self
            .plan_quietly(basis, shell, &mut found, &mut |event| {
                run.emit(event, frontend)
            })
            .await;
        raise_warnings(self.strict, &mut found);
        frontend.found(&found, files);
        let usable =
            |staged: &Staged| !found.has_errors() || !staged.plan.unread_but_needed().is_empty();
        staged.filter(usable).ok_or(Error::Reported)
    }

    /// Makes a plan. Adds diagnostics to `found` and sends events to `emit`.
    pub(crate) async fn plan_quietly(
        &self,
        basis: Basis,
        shell: &mut Shell,
        found: &mut Diagnostics,
        emit: &mut (dyn FnMut(SessionEvent) + Send),
    ) -> Option<Staged> {
        let (sender, mut events) = mpsc::unbounded_channel();
        shell.planning = Some(Arc::new(move |event| {
            // Sending fails only after planning has ended.
            let _ = sender.send(event);
        }));
        let others = self.reading();
        let Basis {
            document,
            given,
            options,
            snapshot,
            answers,
        } = basis;
        let request = Request {
            instance: shell.instance.clone(),
            document,
            given,
            options,
            snapshot,
            catalogs: self.library.catalogs.clone(),
            functions: self.library.functions.clone(),
            answers,
            others: Some(others.as_ref()),
            world: shell,
        };
        let staged = {
            let mut planning = std::pin::pin!(crate::phases::plan(request, found));
            loop {
                tokio::select! {
                    biased;
                    Some(event) = events.recv() => emit(planning_event(event)),
                    staged = &mut planning => break staged,
                }
            }
        };
        while let Ok(event) = events.try_recv() {
            emit(planning_event(event));
        }
        shell.planning = None;
        staged
    }

    /// Reports all mistakes in a document and its inputs together. Nothing was reported before.
    async fn refuse(
        &self,
        mut document: Document,
        inputs: &Inputs,
        frontend: &mut dyn Frontend,
    ) -> Error {
        let mut given = Given::default();
        if let Some(checked) = document.checked.clone() {
            let mut found = Diagnostics::new();
            let gathered = self.gather(&checked, &mut document, None, inputs, &mut found);
            raise_warnings(self.strict, &mut found);
            frontend.found(&found, &document.files);
            match gathered {
                Ok(gathered) => given = gathered,
                Err(error) => {
                    frontend.found(&document.found, &document.files);
                    return error;
                }
            }
        }
        // Questions about missing inputs are asked only when the document is valid.
        document.check_with(&given, !frontend.can_ask()).await;
        raise_warnings(self.strict, &mut document.found);
        frontend.found(&document.found, &document.files);
        Error::Reported
    }

    /// Reports mistakes in the inputs, and mistakes in the document that depend on them. Its other
    /// mistakes are already reported.
    async fn refuse_inputs(
        &self,
        document: &mut Document,
        given: &Given,
        frontend: &mut dyn Frontend,
    ) -> Error {
        let reported: Vec<Diagnostic> = document.found.iter().cloned().collect();
        document.check_with(given, true).await;
        raise_warnings(self.strict, &mut document.found);
        let is_reported = |one: &Diagnostic| {
            reported
                .iter()
                .any(|it| it.code.name == one.code.name && it.span() == one.span())
        };
        document.found.retain(|one| !is_reported(one));
        frontend.found(&document.found, &document.files);
        Error::Reported
    }
}

/// Announces the data sources that run a command or send a request, before they are read.
fn announce(checked: &Checked, run: &mut FrontendRun, frontend: &mut dyn Frontend) {
    let types = checked
        .data_source_types
        .iter()
        .zip(&checked.blueprint.data_sources);
    for (ty, (name, source)) in types {
        if ty.as_ref().is_some_and(|ty| ty.acts) {
            let type_name = source.type_name.item.name().clone();
            run.notice(
                Notice::DataSourceHasEffects {
                    name: name.clone(),
                    type_name,
                },
                frontend,
            );
        }
    }
}

fn planning_event(event: PlanningEvent) -> SessionEvent {
    match event {
        PlanningEvent::Reading(address) => SessionEvent::Reading(address),
        PlanningEvent::AskedAgain { what, pause, why } => {
            SessionEvent::ProviderRetry { what, pause, why }
        }
    }
}

impl PlannedOperation {
    /// Returns the reasons why the plan cannot be applied: each namespace without a provider, and
    /// each type that its provider only describes. A simulation has a provider for every type.
    pub fn without_provider(&self, simulated: bool) -> Diagnostics {
        let mut reported: IndexMap<&str, ()> = IndexMap::default();
        let mut found = Diagnostics::new();
        for step in self
            .staged
            .plan
            .steps
            .iter()
            .filter(|step| step.action != crate::phases::Action::None)
            .filter(|step| !is_group_type(&step.type_name))
        {
            let namespace = step.type_name.package_name();
            if !simulated && let Some(diagnostic) = self.without_type(step) {
                // The plugin of a package is reported once, and each type that it lacks.
                let what = match diagnostic.code.name == crate::codes::NO_PROVIDER.name {
                    true => step.type_name.as_ref(),
                    false => namespace,
                };
                if reported.insert(what, ()).is_none() {
                    found.push(diagnostic);
                }
                continue;
            }
            let known = match self.shell.catalogs.resource_type(&step.type_name) {
                provider::TypeRef::Known(ty) => Some(ty),
                _ => None,
            };
            let described_only = || {
                let ty = known.as_ref();
                ty.is_some_and(|ty| ty.capabilities.described_only)
            };
            let what = match self.shell.providers.contains(namespace) {
                false => namespace,
                true if !simulated && described_only() => step.type_name.as_ref(),
                true => continue,
            };
            if reported.insert(what, ()).is_some() {
                continue;
            }
            let diagnostic = crate::codes::NO_PROVIDER
                .new(format!("there is no provider for `{what}` here yet"));
            let diagnostic = match step.span.is_some() {
                true => diagnostic.label(
                    step.span,
                    format!("`{}` cannot be made without one", step.address),
                ),
                false => diagnostic.note(format!("`{}` needs it", step.address)),
            };
            let instead = known.as_ref().and_then(|ty| ty.instead.as_ref());
            let diagnostic = match instead {
                Some(instead) => diagnostic.help(format!("instead, {instead}")),
                None => diagnostic,
            };
            found.push(diagnostic.help("run it with `--simulate`, which simulates every provider"));
        }
        found
    }

    /// The reason why the plugin of a step's package cannot carry the step out: it cannot be used,
    /// or it does not have the type.
    fn without_type(&self, step: &crate::phases::Step) -> Option<Diagnostic> {
        use crate::phases::Action;
        let calls = matches!(
            step.action,
            Action::Create | Action::Update | Action::Replace | Action::Delete
        );
        let (namespace, catalogs) = (step.type_name.package_name(), &self.shell.catalogs);
        catalogs.packages().hosted(namespace).filter(|_| calls)?;
        match catalogs.resource_type(&step.type_name) {
            provider::TypeRef::Unavailable(plugin) => Some(plugin.diagnostic()),
            provider::TypeRef::UnknownType => {
                let (what, address) = (&step.type_name, &step.address);
                let diagnostic = crate::codes::NO_PROVIDER
                    .new(format!(
                        "the plugin of `{namespace}` does not have `{what}`"
                    ))
                    .note(format!("`{address}` needs it"))
                    .help("use a version of the plugin that has the type");
                Some(match step.action {
                    Action::Delete => diagnostic.help(format!(
                        "to stop managing the object and leave it: `cyan state remove '{address}'`"
                    )),
                    _ => diagnostic,
                })
            }
            _ => None,
        }
    }
}
