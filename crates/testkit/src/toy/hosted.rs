//! Common parts of both toy providers: options, defects, and the simulated provider below them.
//!
//! A toy provider is a layer on [`FakeProvider`]: the toy plans and decides, and the simulated
//! provider below changes the world. All resources are in the same world, and scripted faults work.

use std::sync::Arc;

use blueprint::Value;
use provider::{ErrorKind, ProviderError};
use providers::fake::{self, FakeOptions, FakeProvider, SharedCloud};

/// Receives violations of the contract by the engine, each in a sentence.
pub type ViolationReporter = Arc<dyn Fn(String) + Send + Sync>;

/// The options of a toy provider.
#[derive(Clone, Default)]
pub struct ToyOptions {
    /// The options of the simulated provider, which has the catalogue of the toy.
    pub fake: FakeOptions,
    /// The defect that the provider has, if any.
    pub defect: Option<ProviderDefect>,
    /// Receives violations of the contract.
    pub witness: Option<ViolationReporter>,
    /// Whether the schemas have the version before the current one.
    pub old_schema: bool,
}

/// A defect of a toy provider. The engine must report it, or the conformance suite must find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderDefect {
    /// The answer of `apply` contradicts a planned value.
    ContradictPlan,
    /// An unknown value that may force a replacement is planned as an update.
    LateReplacement,
    /// The answer of a create has the id of another resource.
    ForeignId,
    /// The provider always reports a difference.
    NeverSame,
    /// The plan before the call differs from the preview.
    UnstablePlan,
    /// An upgrade from the current version changes values.
    UpgradeChanges,
    /// Each create is broken.
    BrokenCreate,
    /// The diagnostics of a plan show a secret.
    ShowSecret,
    /// Planning an update requires the private data of the record, and answers leave it out.
    DropPrivate,
}

impl ProviderDefect {
    /// All defects.
    pub const ALL: [ProviderDefect; 9] = [
        ProviderDefect::ContradictPlan,
        ProviderDefect::LateReplacement,
        ProviderDefect::ForeignId,
        ProviderDefect::NeverSame,
        ProviderDefect::UnstablePlan,
        ProviderDefect::UpgradeChanges,
        ProviderDefect::BrokenCreate,
        ProviderDefect::ShowSecret,
        ProviderDefect::DropPrivate,
    ];

    /// The name in scripts.
    pub fn word(self) -> &'static str {
        match self {
            ProviderDefect::ContradictPlan => "contradict-plan",
            ProviderDefect::LateReplacement => "late-replacement",
            ProviderDefect::ForeignId => "foreign-id",
            ProviderDefect::NeverSame => "never-same",
            ProviderDefect::UnstablePlan => "unstable-plan",
            ProviderDefect::UpgradeChanges => "upgrade-changes",
            ProviderDefect::BrokenCreate => "broken-create",
            ProviderDefect::ShowSecret => "show-secret",
            ProviderDefect::DropPrivate => "drop-private",
        }
    }

    /// The defect with a name in scripts.
    pub fn from_word(word: &str) -> Option<ProviderDefect> {
        ProviderDefect::ALL.into_iter().find(|it| it.word() == word)
    }
}

/// The simulated provider below a toy, with the toy's defect and witness.
pub(super) struct ToyBackend {
    pub(super) fake: Arc<FakeProvider>,
    pub(super) world: SharedCloud,
    defect: Option<ProviderDefect>,
    witness: Option<ViolationReporter>,
}

impl ToyBackend {
    pub(super) fn new(catalog: Arc<provider::Catalog>, options: ToyOptions) -> ToyBackend {
        let world = options.fake.world.clone().unwrap_or_default();
        let fake = FakeOptions {
            catalog: Some(catalog),
            world: Some(world.clone()),
            ..options.fake
        };
        ToyBackend {
            fake: Arc::new(fake::provider(fake)),
            world,
            defect: options.defect,
            witness: options.witness,
        }
    }

    pub(super) fn has(&self, defect: ProviderDefect) -> bool {
        self.defect == Some(defect)
    }

    /// Reports a violation of the contract to the witness, and refuses the call.
    pub(super) fn violated(&self, what: String) -> ProviderError {
        if let Some(witness) = &self.witness {
            witness(what.clone());
        }
        ProviderError::new(ErrorKind::Permanent, what)
    }

    /// The id of another resource of a type, if one exists.
    pub(super) fn foreign_id(&self, type_name: &str, id: &str) -> Option<blueprint::Name> {
        let world = self
            .world
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut others = world
            .objects()
            .filter(|object| *object.type_name == *type_name && *object.id != *id);
        others.next().map(|object| object.id.clone())
    }
}

/// A field of a map; null if it is missing.
pub(super) fn field<'a>(map: &'a Value, name: &str) -> &'a Value {
    static NULL: Value = Value::Null;
    map.get(name).unwrap_or(&NULL)
}

/// A copy of a map with a changed field.
pub(super) fn with(map: &Value, name: &str, value: Value) -> Value {
    let mut entries = map.as_map().cloned().unwrap_or_default();
    entries.insert(name.into(), value);
    Value::Map(Arc::new(entries))
}
