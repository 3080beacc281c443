//! The questions of an evaluation to the world: files, generated values, provider functions, data
//! sources, and plans of providers for resources.
//!
//! An [`EvaluationQuestion`] owns its data, so that `apply` can keep it in its state machine and
//! have it answered elsewhere. Its key identifies the answer. [`ask_world`] answers it with
//! questions to a [`World`], which borrow their data and are not kept
//! ([`crate::question::Question`]). A generated value needs no question.

use std::sync::Arc;

use blueprint::{Address, DeclarationSite, FieldPath, IndexMap, Map, Name, Schema, TypeId, Value};
use diag::Diagnostics;
use expr::{Ask, AskFailure, FunctionDef, FunctionTable, Purity, Returns};
use provider::{
    Catalogs, Fetched, InvokeRequest, PlanMode, PlanPhase, PlanRequest, Planned,
    ProviderDiagnostic, ProviderError, ProviderSeverity,
};
use state::Memoised;

use crate::answers::PinnedBytes;
use crate::codes;
use crate::data_search::{Search, Searched, missing_provider, search, settle_data_source};
use crate::question::{ProviderInstance, ResourceTarget, SourceError};
use crate::resolve::scope::{bytes_key, call_key};
use crate::resolve::{Evaluation, Need, Slot, site_of};
use crate::world::World;
use understand::secret_marks::mark_fields;

/// An insertion-ordered set with a fixed hash.
type IndexSet<T> = indexmap::IndexSet<T, foldhash::fast::FixedState>;

/// A question of an evaluation, as data, so that `apply` can have it answered elsewhere.
#[derive(Clone, Debug)]
pub enum EvaluationQuestion {
    /// A question of an expression, with the folder of its document.
    Ask {
        /// The key of the answer.
        key: String,
        /// The number of the document.
        unit: u32,
        /// The folder of the document.
        folder: Name,
        /// The question.
        ask: Ask,
        /// The called function of a package; `None` for every other question.
        call: Option<Box<PackageFunctionCall>>,
    },
    /// A data source's question, by the number of the data source.
    Fetch(u32, Box<Search>),
    /// A request to plan a resource whose spec was unknown when the plan was made.
    Plan(Box<PlanAgain>),
}

/// What `invoke` calls: the data that the question of the expression does not have.
#[derive(Clone, Debug)]
pub struct PackageFunctionCall {
    /// The function.
    pub function: Arc<FunctionDef>,
    /// The configuration of the provider, if a resource declares it.
    pub instance: Option<ProviderInstance>,
    /// The folder of the document, relative to that of the root document.
    pub folder: Name,
}

impl PackageFunctionCall {
    /// The data of a question of an expression, if it calls a function of a package.
    fn of(evaluation: &Evaluation, unit: u32, ask: &Ask) -> Option<Box<PackageFunctionCall>> {
        let Ask::Provider {
            namespace,
            configuration,
            ..
        } = ask
        else {
            return None;
        };
        Some(Box::new(PackageFunctionCall {
            function: evaluation.declared_function(unit, ask)?,
            instance: evaluation
                .instance_of_call(unit, namespace, configuration)
                .unwrap_or_default(),
            folder: evaluation.documents.folder_seen_from_root(unit),
        }))
    }
}

/// A resource whose spec was unknown when the plan was made: the data of a [`PlanRequest`], owned.
#[derive(Clone, Debug)]
pub struct PlanAgain {
    /// The address of the resource.
    pub address: Address,
    /// The type of the resource.
    pub type_name: TypeId,
    /// The planned mode.
    pub mode: PlanMode,
    /// The provider's id; `None` for a create.
    pub id: Option<Name>,
    /// The inputs as last sent. For a replacement, the inputs of the old object.
    pub prior_inputs: Value,
    /// The fields as last returned; null for a create or replacement.
    pub prior: Value,
    /// The version of the schema of the prior values.
    pub schema_version: u32,
    /// Opaque data of the provider.
    pub private: Value,
    /// The reasons why the resource is unhealthy.
    pub unhealthy: Vec<Name>,
    /// The desired spec.
    pub desired: Value,
    /// Paths whose changes are ignored.
    pub ignored: Vec<Name>,
    /// Paths whose changes replace the resource.
    pub replacing: Vec<FieldPath>,
    /// The seed for generated names.
    pub seed: Name,
    /// The configuration of the resource's provider, if a resource declares it.
    pub instance: Option<ProviderInstance>,
    /// The declaration of the resource.
    pub site: DeclarationSite,
}

impl EvaluationQuestion {
    /// The key of the question. Only equal questions have the same key.
    pub fn key(&self) -> String {
        match self {
            EvaluationQuestion::Ask { key, ask, .. } => match ask {
                // A path and a URL can be equal, so each has a prefix.
                Ask::File { .. } => format!("file {key}"),
                Ask::Http { .. } => format!("http {key}"),
                _ => format!("call {key}"),
            },
            EvaluationQuestion::Fetch(index, _) => format!("datasource {index}"),
            EvaluationQuestion::Plan(again) => plan_key(&again.address),
        }
    }
}

/// The key of a question to plan a resource again.
pub fn plan_key(address: &Address) -> String {
    format!("plan {address}")
}

/// The answer to an [`EvaluationQuestion`].
#[derive(Clone, Debug)]
pub enum EvaluationReply {
    /// Bytes that were read.
    Bytes(Arc<[u8]>),
    /// A generated or returned value.
    Value(Value),
    /// The question needs no answer.
    Nothing,
    /// The question was refused.
    Refused(AskFailure),
    /// A provider's function failed temporarily.
    TemporaryError(ProviderError),
    /// The candidates of a data source, or the error.
    Fetched(Result<Fetched, ProviderError>),
    /// The plan of the provider, or the error.
    Planned(Result<Planned, ProviderError>),
}

impl EvaluationQuestion {
    /// The namespace of the provider that is asked, if any.
    pub fn namespace(&self) -> Option<&str> {
        match self {
            EvaluationQuestion::Fetch(_, search) => Some(search.ty.name.package_name()),
            EvaluationQuestion::Plan(again) => Some(again.type_name.package_name()),
            EvaluationQuestion::Ask {
                ask: Ask::Provider { namespace, .. },
                ..
            } => Some(namespace),
            EvaluationQuestion::Ask { .. } => None,
        }
    }
}

impl EvaluationReply {
    /// The temporary error of a provider, if there is one.
    pub fn temporary_error(&self) -> Option<&ProviderError> {
        match self {
            EvaluationReply::TemporaryError(error)
            | EvaluationReply::Fetched(Err(error))
            | EvaluationReply::Planned(Err(error)) => {
                Some(error).filter(|it| it.kind.is_retryable())
            }
            _ => None,
        }
    }
}

/// Needs that are being answered, with the further needs that their answers require.
pub struct Round {
    asks: IndexMap<String, (u32, Ask)>,
    /// Data sources that are not read yet.
    waiting: IndexSet<u32>,
}

impl Round {
    /// A round that answers `needs`.
    pub fn new(evaluation: &Evaluation, needs: Vec<Need>) -> Round {
        let mut round = Round {
            asks: IndexMap::default(),
            waiting: IndexSet::default(),
        };
        for need in needs {
            round.add(evaluation, need);
        }
        round
    }

    /// Adds a need. Returns whether it is new.
    fn add(&mut self, evaluation: &Evaluation, need: Need) -> bool {
        match need {
            Need::Ask(unit, owner, more) => {
                for ask in more {
                    let key = key_of(evaluation, unit, &owner, &ask);
                    self.asks.entry(key).or_insert((unit, ask));
                }
                true
            }
            Need::Fetch(index) => self.waiting.insert(index),
        }
    }

    /// All questions that can be asked now; empty once everything is answered.
    pub fn questions(
        &mut self,
        evaluation: &mut Evaluation,
        catalogs: &Catalogs,
        found: &mut Diagnostics,
    ) -> Vec<EvaluationQuestion> {
        let documents = evaluation.documents.clone();
        let mut questions = Vec::new();
        let mut next: IndexSet<u32> = IndexSet::default();
        // A data source may read other data sources; add them to the same round.
        let mut at = 0;
        while let Some(index) = self.waiting.get_index(at).copied() {
            at += 1;
            if !matches!(evaluation.data[index as usize], Slot::Open) {
                continue;
            }
            let mut mistakes = Diagnostics::new();
            match search(evaluation, index, catalogs, &mut mistakes) {
                Ok(Searched::Settled(slot)) => {
                    found.append(mistakes);
                    evaluation.data[index as usize] = slot;
                    // Data sources that depend on it may continue in this round.
                    if !next.is_empty() {
                        let again = std::mem::take(&mut next);
                        let rest = self.waiting.iter().skip(at).copied();
                        self.waiting = again.into_iter().chain(rest).collect();
                        at = 0;
                    }
                }
                Ok(Searched::Ask(search)) => {
                    found.append(mistakes);
                    questions.push(EvaluationQuestion::Fetch(index, Box::new(search)));
                }
                Err(need) => {
                    next.insert(index);
                    self.add(evaluation, need);
                }
            }
        }
        for (key, (unit, ask)) in std::mem::take(&mut self.asks) {
            let call = PackageFunctionCall::of(evaluation, unit, &ask);
            questions.push(EvaluationQuestion::Ask {
                key,
                unit,
                folder: documents.unit(unit).folder.clone(),
                ask,
                call,
            });
        }
        if questions.is_empty() {
            // These data sources depend on each other, which is already reported.
            next.iter()
                .for_each(|index| evaluation.data[*index as usize] = Slot::Failed);
            next.clear();
        }
        self.waiting = next;
        questions
    }
}

/// Stores the world's answer, so that the caller can repeat the evaluation. A refusal is stored as
/// an answer too, so that the diagnostic appears at the call.
pub fn store_reply(
    evaluation: &mut Evaluation,
    question: EvaluationQuestion,
    reply: EvaluationReply,
    found: &mut Diagnostics,
) {
    match (question, reply) {
        (EvaluationQuestion::Ask { key, unit, ask, .. }, reply) => {
            store_answer(evaluation, key, unit, ask, reply)
        }
        (EvaluationQuestion::Fetch(index, search), EvaluationReply::Fetched(fetched)) => {
            evaluation.data[index as usize] =
                settle_data_source(evaluation, index, &search, fetched, found);
        }
        (EvaluationQuestion::Fetch(index, search), EvaluationReply::Nothing) => {
            found.extend(missing_provider(evaluation, index, &search));
            evaluation.data[index as usize] = Slot::Failed;
        }
        (EvaluationQuestion::Fetch(index, _), _) => evaluation.data[index as usize] = Slot::Failed,
        (EvaluationQuestion::Plan(again), EvaluationReply::Planned(Ok(planned))) => {
            let refusals = planned
                .diagnostics
                .iter()
                .filter(|one| one.severity == ProviderSeverity::Error);
            let notes: Vec<String> = refusals.map(ProviderDiagnostic::text).collect();
            if notes.is_empty() {
                evaluation
                    .answers
                    .opinions
                    .insert(again.address, planned.into());
                return;
            }
            let message = format!("the provider does not accept `{}`", again.address);
            let failure = AskFailure {
                code: &understand::check::codes::REJECTED_BY_PROVIDER,
                message,
                notes,
            };
            evaluation
                .refused
                .insert(plan_key(&again.address).into(), failure);
        }
        // A provider that only adopts reports the reason when it is called.
        (EvaluationQuestion::Plan(again), EvaluationReply::Planned(Err(error))) => {
            let failure = refusal(&error, || {
                format!("the provider cannot plan `{}`", again.address)
            });
            evaluation
                .refused
                .insert(plan_key(&again.address).into(), failure);
        }
        (EvaluationQuestion::Plan(_), _) => {}
    }
}

/// Answers needs, and the further needs that their answers require. Asks all possible questions
/// concurrently, and stores answers in the order of the questions.
pub async fn answer(
    evaluation: &mut Evaluation,
    needs: Vec<Need>,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    world.mask_all(&std::mem::take(&mut evaluation.unmasked_secrets));
    let mut round = Round::new(evaluation, needs);
    loop {
        let mut questions = round.questions(evaluation, catalogs, found);
        if questions.is_empty() {
            return;
        }
        if evaluation.answers.salt.is_empty() && questions.iter().any(is_about_a_secret) {
            evaluation.answers.salt = data_encoding::HEXLOWER
                .encode(&world.environment().random())
                .into();
            rekey(&evaluation.answers.salt, &mut questions);
        }
        let now = evaluation.answers.now;
        let functions = evaluation.functions.clone();
        let requests: Vec<_> = questions
            .iter()
            .map(|question| ask_world(question, now, PlanPhase::Preview, &functions, world))
            .collect();
        let replies = futures::future::join_all(requests).await;
        for (question, reply) in questions.into_iter().zip(replies) {
            store_reply(evaluation, question, reply, found);
        }
    }
}

/// Evaluates something, and asks the world what the evaluation needs, until nothing is missing.
/// Reports the mistakes of the last round alone. `None` if the answers lead to further needs
/// without end.
pub async fn evaluate_until_answered<T, N>(
    evaluation: &mut Evaluation,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
    mut evaluate: impl FnMut(&mut Evaluation, &mut Diagnostics) -> Result<T, N>,
) -> Option<T>
where
    Vec<Need>: From<N>,
{
    // Each round answers a question, and an expression contains finitely many questions.
    for _ in 0..1000 {
        let mut mistakes = Diagnostics::new();
        match evaluate(evaluation, &mut mistakes) {
            Ok(value) => {
                found.append(mistakes);
                return Some(value);
            }
            Err(needs) => answer(evaluation, needs.into(), catalogs, world, found).await,
        }
    }
    None
}

/// Whether a provider function receives a secret.
fn is_about_a_secret(question: &EvaluationQuestion) -> bool {
    match question {
        EvaluationQuestion::Ask {
            ask: Ask::Provider { arguments, .. },
            ..
        } => arguments.has_secret(),
        _ => false,
    }
}

/// Recomputes the keys of questions about secrets with the salt.
fn rekey(salt: &str, questions: &mut [EvaluationQuestion]) {
    for question in questions
        .iter_mut()
        .filter(|question| is_about_a_secret(question))
    {
        if let EvaluationQuestion::Ask { key, ask, call, .. } = question {
            let instance = call.as_ref().and_then(|call| call.instance.as_ref());
            *key = call_key(salt, instance.map(|instance| &instance.address), ask);
        }
    }
}

/// A key that distinguishes needs, secrets included.
pub fn need_key(evaluation: &Evaluation, need: &Need) -> String {
    match need {
        Need::Fetch(index) => format!("datasource {index}"),
        Need::Ask(unit, owner, asks) => {
            let keys = asks.iter().map(|ask| key_of(evaluation, *unit, owner, ask));
            format!("{unit} {owner} {}", keys.collect::<Vec<_>>().join(" "))
        }
    }
}

/// The key of a question, so that each is asked once.
fn key_of(evaluation: &Evaluation, unit: u32, owner: &str, ask: &Ask) -> String {
    match ask {
        Ask::File { path, .. } => bytes_key(&evaluation.documents, unit, path).into_owned(),
        Ask::Http { url } => url.to_string(),
        Ask::Memoised { path, nth, .. } => site_of(owner, path, *nth).to_string(),
        Ask::WorkingDirectory => String::new(),
        Ask::Provider {
            namespace,
            configuration,
            ..
        } => {
            let instance = evaluation
                .instance_of_call(unit, namespace, configuration)
                .unwrap_or_default();
            let address = instance.map(|instance| instance.address);
            call_key(&evaluation.answers.salt, address.as_ref(), ask)
        }
    }
}

/// Asks the world a question of an expression, and returns only the value.
pub async fn answer_ask(
    ask: &Ask,
    folder: &str,
    now: i64,
    functions: &FunctionTable,
    world: &dyn World,
) -> Result<Value, AskFailure> {
    let question = EvaluationQuestion::Ask {
        key: String::new(),
        unit: 0,
        folder: folder.into(),
        ask: ask.clone(),
        call: None,
    };
    match ask_world(&question, now, PlanPhase::Preview, functions, world).await {
        EvaluationReply::Bytes(bytes) => Ok(Value::Bytes(bytes)),
        EvaluationReply::Value(value) => Ok(value),
        EvaluationReply::Refused(failure) => Err(failure),
        EvaluationReply::TemporaryError(error) => Err(failed("the function", error)),
        EvaluationReply::Nothing | EvaluationReply::Fetched(_) | EvaluationReply::Planned(_) => {
            Ok(Value::Null)
        }
    }
}

/// Asks the world one question. `now` is the instant of the stage, in seconds since 1970 UTC.
pub async fn ask_world(
    question: &EvaluationQuestion,
    now: i64,
    phase: PlanPhase,
    functions: &FunctionTable,
    world: &dyn World,
) -> EvaluationReply {
    let (ask, folder, call) = match question {
        EvaluationQuestion::Fetch(_, search) if !world.environment().manages(&search.ty.name) => {
            return EvaluationReply::Nothing;
        }
        EvaluationQuestion::Fetch(_, search) => {
            return EvaluationReply::Fetched(search.fetch(world).await);
        }
        EvaluationQuestion::Plan(again) => {
            let target =
                ResourceTarget::new(&again.address, &again.type_name, again.site.borrowed())
                    .managed_by(again.instance.as_ref());
            let request = PlanRequest {
                mode: again.mode,
                phase,
                type_name: &again.type_name,
                id: again.id.as_deref(),
                prior_inputs: &again.prior_inputs,
                prior: &again.prior,
                schema_version: again.schema_version,
                private: &again.private,
                unhealthy: &again.unhealthy,
                desired: &again.desired,
                ignored: &again.ignored,
                replacing: &again.replacing,
                seed: &again.seed,
            };
            return EvaluationReply::Planned(world.plan(target, request).await);
        }
        EvaluationQuestion::Ask {
            ask, folder, call, ..
        } => (ask, folder, call.as_deref()),
    };
    let read = |what: &str, bytes: Result<Arc<[u8]>, SourceError>| match bytes {
        Ok(bytes) => EvaluationReply::Bytes(bytes),
        Err(error) => EvaluationReply::Refused(unreadable(what, error)),
    };
    match ask {
        Ask::File { path, .. } => read(path, world.file(folder, path).await),
        Ask::Http { url } => read(url, world.http(url).await),
        Ask::Memoised {
            function,
            arguments,
            ..
        } => {
            match expr::new_memoised_value(function, arguments, now, world.environment().random()) {
                Some(value) => EvaluationReply::Value(value),
                None => EvaluationReply::Refused(AskFailure {
                    code: &expr::codes::ARGUMENT_FORMAT,
                    message: format!("`{function}` cannot be drawn like this"),
                    notes: Vec::new(),
                }),
            }
        }
        // Answered from `Answers` without asking the world.
        Ask::WorkingDirectory => EvaluationReply::Nothing,
        Ask::Provider {
            namespace,
            function,
            arguments,
            ..
        } => {
            let request = InvokeRequest {
                function,
                arguments,
                preview: phase == PlanPhase::Preview,
            };
            let instance = call.and_then(|call| call.instance.as_ref());
            let in_folder = call.map_or("", |call| &call.folder);
            let answer = match world.invoke(namespace, instance, in_folder, request).await {
                Ok(answer) => {
                    let declared = match call {
                        Some(call) => Some(call.function.as_ref()),
                        None => declared(namespace, function, functions),
                    };
                    as_declared(answer, function, declared)
                }
                Err(error) if error.kind.is_retryable() => {
                    return EvaluationReply::TemporaryError(error);
                }
                Err(error) => Err(failed(function, error)),
            };
            match answer {
                Ok(answer) => EvaluationReply::Value(answer.tainted(arguments.has_secret())),
                Err(failure) => EvaluationReply::Refused(failure),
            }
        }
    }
}

/// The failure for a file that cannot be read.
fn unreadable(what: &str, error: SourceError) -> AskFailure {
    AskFailure {
        code: &expr::codes::SOURCE_UNREADABLE,
        message: format!("`{what}` cannot be read"),
        notes: vec![error.message],
    }
}

/// Reads the files that an offline evaluation came by, and returns the failures by question. A
/// document that names a file which is not there is wrong, whatever the file would hold.
pub async fn unreadable_files(
    evaluation: &mut Evaluation,
    world: &dyn World,
) -> IndexMap<Name, AskFailure> {
    let mut failures = IndexMap::default();
    let mut asked: IndexMap<Name, ()> = IndexMap::default();
    for file in std::mem::take(&mut evaluation.offline_files) {
        if asked.insert(file.key.clone(), ()).is_some() {
            continue;
        }
        let folder = evaluation.documents.unit(file.unit).folder.clone();
        // Only files of this machine: a check makes no request.
        if is_remote(&folder) || is_remote(&file.path) {
            continue;
        }
        if let Err(error) = world.file(&folder, &file.path).await {
            failures.insert(file.key, unreadable(&file.path, error));
        }
    }
    failures
}

fn is_remote(path: &str) -> bool {
    path.contains("://")
}

/// The failure for an error of a provider's function.
fn failed(function: &str, error: ProviderError) -> AskFailure {
    refusal(&error, || format!("`{function}` failed"))
}

/// An error of a provider as the reason why something has no value.
fn refusal(error: &ProviderError, what: impl FnOnce() -> String) -> AskFailure {
    let diag::Diagnostic {
        code,
        message,
        notes,
        ..
    } = crate::retry::failure(error, what);
    AskFailure {
        code,
        message,
        notes,
    }
}

/// The function of the table that a provider executes under a name.
fn declared<'f>(
    namespace: &str,
    function: &str,
    functions: &'f FunctionTable,
) -> Option<&'f FunctionDef> {
    functions.iter().find(|it| {
        let Purity::Provider {
            namespace: of,
            name,
        } = &it.purity
        else {
            return false;
        };
        (of.as_ref(), name.as_ref()) == (namespace, function)
    })
}

/// The answer of a provider's function, if it has the type that the catalogue declares, with the
/// secret marks that it declares. `none` is always valid.
fn as_declared(
    answer: Value,
    function: &str,
    declared: Option<&FunctionDef>,
) -> Result<Value, AskFailure> {
    let returns = declared.map(|function| &function.returns);
    let Some(returns @ (Returns::Type(_) | Returns::Fields(_))) = returns else {
        return Ok(answer);
    };
    let ty = returns.ty();
    let is_plain = !answer.has_unknown() && !has_function(&answer);
    match expr::convert(&answer, &ty, expr::ValueOrigin::Literal) {
        Ok(answer) if is_plain => Ok(match returns {
            Returns::Fields(schema) => complete_fields(schema, &answer),
            _ => answer,
        }),
        _ if answer.is_null() => Ok(answer),
        _ => Err(AskFailure {
            code: &codes::PROVIDER_BROKE_CONTRACT,
            message: format!("`{function}` gave {}, declared as {ty}", answer.kind_word()),
            notes: Vec::new(),
        }),
    }
}

/// The fields of an answer with the secret marks of their schema. A field that the provider leaves
/// out is null.
fn complete_fields(schema: &Schema, answer: &Value) -> Value {
    let (bare, secret) = answer.split_secret();
    let Value::Map(entries) = bare else {
        return answer.clone();
    };
    let mut all = Map::clone(entries);
    for name in schema.fields.keys() {
        all.get_or_insert_with(name.clone(), || Value::Null);
    }
    mark_fields(schema, &Value::Map(Arc::new(all)), &Value::Null).tainted(secret)
}

fn has_function(value: &Value) -> bool {
    match value {
        Value::Function(_) => true,
        Value::Secret(inner) => has_function(inner),
        Value::List(items) | Value::Set(items) => items.iter().any(has_function),
        Value::Map(entries) => entries.values().any(has_function),
        _ => false,
    }
}

fn store_answer(
    evaluation: &mut Evaluation,
    key: String,
    unit: u32,
    ask: Ask,
    reply: EvaluationReply,
) {
    let key: Name = key.into();
    let folder = evaluation.documents.unit(unit).folder.clone();
    let answers = &mut evaluation.answers;
    match (ask, reply) {
        (_, EvaluationReply::Refused(failure)) => drop(evaluation.refused.insert(key, failure)),
        (Ask::Provider { function, .. }, EvaluationReply::TemporaryError(error)) => {
            drop(evaluation.refused.insert(key, failed(&function, error)));
        }
        (Ask::File { path, .. }, EvaluationReply::Bytes(bytes)) => {
            answers
                .bytes
                .insert(key, PinnedBytes::new(&folder, &path, bytes));
        }
        (Ask::Http { url }, EvaluationReply::Bytes(bytes)) => {
            answers.bytes.insert(key, PinnedBytes::new("", &url, bytes));
        }
        (Ask::Memoised { fingerprint, .. }, EvaluationReply::Value(value)) => {
            answers
                .memoised
                .insert(key, Memoised { fingerprint, value });
        }
        (Ask::Provider { .. }, EvaluationReply::Value(value)) => {
            answers.calls.insert(key, value);
        }
        _ => {}
    }
}
