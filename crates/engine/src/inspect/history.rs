//! The operations of an instance.

use blueprint::{Address, IndexMap, Name, Value};
use state::{EntryKind, GenerationInfo, InstanceName, LogEntry, StatusOp};

use crate::error::Error;
use crate::session::Session;

/// The operations of an instance.
#[derive(Clone, Debug)]
pub struct History {
    /// The instance.
    pub instance: InstanceName,
    /// Its operations, the newest first.
    pub operations: Vec<GenerationInfo>,
    /// Whether an operation holds the lease of the instance. Only the newest operation can still be
    /// running.
    pub is_held: bool,
}

/// Which operation of the history is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenOperation {
    /// The operation that made this generation.
    Generation(u64),
    /// The newest operation, whether it has ended or not.
    Newest,
}

/// An operation with what it was given and what it did.
#[derive(Clone, Debug)]
pub struct OperationDetails {
    /// The instance.
    pub instance: InstanceName,
    /// The operation.
    pub operation: GenerationInfo,
    /// Whether it still runs.
    pub is_running: bool,
    /// The inputs of the document, secrets marked; none for an operation without a document.
    pub inputs: IndexMap<Name, Value>,
    /// The calls in the order of their beginnings.
    pub calls: Vec<JournalCall>,
}

/// A call of an operation, as the journal has it.
#[derive(Clone, Debug)]
pub struct JournalCall {
    /// The resource.
    pub address: Address,
    /// The action; `None` for a change of the state without a call.
    pub op: Option<StatusOp>,
    /// How it ended.
    pub end: CallEnd,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallEnd {
    /// It succeeded.
    Done,
    /// It failed with this error, which contains no secrets.
    Failed(Name),
    /// No answer is recorded: the operation runs, or was cut off.
    Open,
}

impl Session {
    /// One operation of an instance with its inputs and calls.
    ///
    /// # Errors
    /// [`Error::Usage`] if the instance has no such operation.
    pub async fn operation_details(
        &self,
        instance: &InstanceName,
        chosen: ChosenOperation,
    ) -> Result<OperationDetails, Error> {
        let history = self.history(instance, usize::MAX).await?;
        let is_meant = |one: &GenerationInfo| match chosen {
            ChosenOperation::Generation(number) => one
                .finished
                .as_ref()
                .is_some_and(|ended| ended.generation.0 == number),
            ChosenOperation::Newest => true,
        };
        let Some(at) = history.operations.iter().position(is_meant) else {
            return Err(no_operation(&history, chosen));
        };
        let operation = history.operations[at].clone();
        let store = self.reading();
        let id = &operation.operation.id;
        let began = store.operation(instance, id).await?;
        let given = began.map(|began| given_inputs(&began.desired));
        let entries = store.log(instance, Some(id), usize::MAX).await?;
        Ok(OperationDetails {
            instance: instance.clone(),
            is_running: at == 0 && history.is_held && operation.finished.is_none(),
            inputs: given.unwrap_or_default(),
            calls: calls_of(&entries),
            operation,
        })
    }

    /// The newest `limit` operations of an instance.
    pub async fn history(&self, instance: &InstanceName, limit: usize) -> Result<History, Error> {
        let store = self.reading();
        let operations = store.history(instance, limit).await?;
        let is_held = store
            .info(instance)
            .await?
            .and_then(|info| info.holder)
            .is_some_and(|holder| holder.is_active());
        Ok(History {
            instance: instance.clone(),
            operations,
            is_held,
        })
    }
}

/// The inputs in the saved description of a generation: those given as values, and those given as
/// texts. The description of a document with a secret is secret as a whole, because it does not say
/// which inputs are.
fn given_inputs(desired: &Value) -> IndexMap<Name, Value> {
    let is_secret = desired.has_secret();
    let desired = desired.unmarked();
    let of = |form: &str| {
        let entries = desired.get(form).and_then(Value::as_map).into_iter();
        let entries = entries.flatten();
        entries.map(|(name, value)| (name.clone(), value.clone().tainted(is_secret)))
    };
    of("typed").chain(of("text")).collect()
}

/// The calls in the entries of one operation.
fn calls_of(entries: &[LogEntry]) -> Vec<JournalCall> {
    let mut calls: Vec<JournalCall> = Vec::new();
    // The open call of each resource.
    let mut open: IndexMap<&Address, usize> = IndexMap::default();
    for entry in entries {
        match &entry.entry.kind {
            EntryKind::Intent(intent) => {
                open.insert(&intent.address, calls.len());
                calls.push(JournalCall {
                    address: intent.address.clone(),
                    op: Some(intent.op),
                    end: CallEnd::Open,
                });
            }
            EntryKind::Outcome(outcome) => {
                let end = match &outcome.error {
                    Some(error) => CallEnd::Failed(error.clone()),
                    None => CallEnd::Done,
                };
                match open.shift_remove(&outcome.address) {
                    Some(at) => calls[at].end = end,
                    None => calls.push(JournalCall {
                        address: outcome.address.clone(),
                        op: None,
                        end,
                    }),
                }
            }
            EntryKind::Began(_) | EntryKind::Finished(_) => {}
        }
    }
    calls
}

fn no_operation(history: &History, chosen: ChosenOperation) -> Error {
    let instance = &history.instance;
    let message = match chosen {
        ChosenOperation::Generation(number) => {
            format!("the instance `{instance}` has no generation {number}")
        }
        ChosenOperation::Newest => format!("the instance `{instance}` has no operation"),
    };
    let finished = history.operations.iter();
    let known: Vec<u64> = finished
        .filter_map(|one| Some(one.finished.as_ref()?.generation.0))
        .collect();
    let help = match known.as_slice() {
        [newest, .., oldest] => {
            format!("it has the generations {oldest} to {newest}: `cyan history` lists them")
        }
        [only] => format!("it has the generation {only} only"),
        [] => "`cyan history` lists its operations".to_owned(),
    };
    Error::Usage {
        message,
        help: Some(help),
    }
}
