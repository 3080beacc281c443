//! The planning call: what a provider says of a create, an update, a replacement or a delete before it happens.
//!
//! A provider takes part in planning as far as its type's [`Plans`](crate::Plans) say. With `Never` and `Updates` the
//! engine compares by the catalogue. With `Always` the provider decides: the engine asks it about each resource, also
//! about those that look unchanged, and uses its planned outputs for dependants at once.
//!
//! Not here: what follows from the answer (`plan`, `apply`).

use blueprint::{FieldPath, Name, Value};

use crate::{ProviderDiagnostic, ResourceType};

/// What is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanMode {
    /// Nothing exists yet.
    Create,
    /// The resource exists. The provider says whether it differs, and how.
    Update,
    /// The new resource of a replacement: the prior values are null, `private` is what planning the update answered.
    Replace,
    /// The resource is deleted, also as the old resource of a replacement. The desired spec is null. Only asked in the
    /// preview. Deletes that are decided later, and deletes of deposed resources, are not planned: `apply` gets the
    /// recorded data then.
    Delete,
}

/// When it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanPhase {
    /// While a plan is made: the spec may hold unknown values.
    Preview,
    /// While a plan is carried out, directly before the call: the spec is known. The answer must keep what the answer
    /// of the preview promised.
    Apply,
}

/// Asks what a change would do.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest<'a> {
    /// What is planned.
    pub mode: PlanMode,
    /// When it is asked.
    pub phase: PlanPhase,
    /// The resource type.
    pub type_name: &'a str,
    /// The provider's own id; `None` for a create.
    pub id: Option<&'a str>,
    /// The inputs as last sent; null for a create. For a replacement, those of the old resource.
    pub prior_inputs: &'a Value,
    /// The fields as last answered or read; null for a create or replacement.
    pub prior: &'a Value,
    /// The version of the type's schema that the prior values have.
    pub schema_version: u32,
    /// Opaque data: from the record; for a replacement, from planning the update.
    pub private: &'a Value,
    /// Why the resource is unhealthy, as recorded. A provider that decides plans at least an update then.
    pub unhealthy: &'a [Name],
    /// The desired spec with defaults filled in; null for a delete. It may hold unknown values in a preview.
    pub desired: &'a Value,
    /// Paths whose changes are ignored. `desired` has the prior values there.
    pub ignored: &'a [Name],
    /// A seed for generated names: the same in the preview and while the plan is carried out.
    pub seed: &'a str,
}

/// What a provider that decides says of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The engine decides by the catalogue.
    #[default]
    ByCatalogue,
    /// The resource is as desired. If the last operation failed, the engine calls `apply` all the same, with the opaque
    /// data of this answer and without planned outputs.
    Same,
    /// It is changed in place, or created if nothing exists.
    Update,
    /// It must be replaced. [`Planned::replaces`] says because of which fields.
    Replace {
        /// Whether the old resource is deleted first. `None` if the provider does not care.
        delete_first: Option<bool>,
    },
    /// Not decided before other steps have run.
    Undecided {
        /// What is missing, as a phrase.
        needs: String,
    },
}

/// What an operation would do.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// What the provider decides.
    pub verdict: Verdict,
    /// The spec as the provider will apply it, if it changes it: defaults filled in, names generated.
    pub inputs: Option<Value>,
    /// All fields as they will be afterwards, unknown where only the operation can tell. `None` if the provider does
    /// not say.
    pub outputs: Option<Value>,
    /// `outputs` are a forecast: the operation may answer otherwise, also where they are known. Providers of old type
    /// systems need this.
    pub inexact: bool,
    /// Fields that force a replacement, in addition to those of the catalogue.
    pub replaces: Vec<FieldPath>,
    /// Computed fields that will change, in addition to those of the catalogue.
    pub changes: Vec<FieldPath>,
    /// Fields whose change does not affect the resource: the new value is only recorded.
    pub only_recorded: Vec<FieldPath>,
    /// Whether a matching resource exists already. The create then takes it under management, and a delete keeps it.
    pub adopts: bool,
    /// Opaque data that `apply` receives. The engine keeps that of a create with the intent, so
    /// [`ReadRequest::private`](crate::ReadRequest::private) holds it after an interrupted create.
    pub private: Value,
    /// Refusals, warnings and notes.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

impl Planned {
    /// The replacements that the catalogue demands depending on the value of another field.
    pub fn by_policy(resource_type: Option<&ResourceType>, request: &PlanRequest<'_>) -> Planned {
        let replaced = resource_type.map(|ty| ty.replaced_by_policy(request.prior_inputs, request.desired));
        let replaces = replaced.iter().flatten().map(|field| field.as_ref().into()).collect();
        Planned { replaces, ..Planned::default() }
    }
}
