//! The planning call: the provider's answer about a create, an update, a replacement or a delete
//! before it happens.
//!
//! A provider takes part in planning to the extent that its type's [`Plans`](crate::Plans) declare.
//! With `Never` and `Updates` the engine compares by the catalogue. With `Always` the provider
//! decides: the engine asks it about each resource, including unchanged ones, and uses its planned
//! outputs for dependants at once.
//!
//! Not here: the consequences of the answer (`plan`, `apply`).

use blueprint::{FieldPath, Name, Value};

use crate::{ProviderDiagnostic, ResourceType};

/// The planned action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanMode {
    /// Nothing exists yet.
    Create,
    /// The resource exists. The provider says whether it differs, and how.
    Update,
    /// The new resource of a replacement: the prior values are null, `private` is the answer of the
    /// update's plan.
    Replace,
    /// The resource is deleted, possibly as the old resource of a replacement. The desired spec is
    /// null. Only asked in the preview. Deletes that are decided later, and deletes of deposed
    /// resources, are not planned: `apply` receives the recorded data then.
    Delete,
}

/// The time of a planning call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanPhase {
    /// While a plan is made: the spec may hold unknown values.
    Preview,
    /// While a plan is carried out, directly before the call: the spec is known. The answer must
    /// agree with the answer of the preview.
    Apply,
}

/// A request for the effects of a change.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest<'a> {
    /// The planned action.
    pub mode: PlanMode,
    /// The time of the call.
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
    /// Opaque data: from the record; for a replacement, from the answer to the planned update.
    pub private: &'a Value,
    /// The reasons why the resource is unhealthy, as recorded. A provider that decides plans at
    /// least an update then.
    pub unhealthy: &'a [Name],
    /// The desired spec with defaults filled in; null for a delete. It may hold unknown values in a
    /// preview.
    pub desired: &'a Value,
    /// Paths whose changes are ignored. `desired` has the prior values there.
    pub ignored: &'a [Name],
    /// Paths whose changes replace the resource, whatever the provider decides.
    pub replacing: &'a [FieldPath],
    /// A seed for generated names: the same in the preview and while the plan is carried out.
    pub seed: &'a str,
}

/// The decision of a provider about a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The engine decides by the catalogue.
    #[default]
    ByCatalogue,
    /// The resource is as desired. If the last operation failed, the engine still calls `apply`,
    /// with the opaque data of this answer and without planned outputs.
    Same,
    /// The resource is changed in place, or created if nothing exists.
    Update,
    /// The resource must be replaced. [`Planned::replaces`] holds the fields that are the reason.
    Replace {
        /// Whether the old resource is deleted first. `None` if the provider has no preference.
        delete_first: Option<bool>,
    },
    /// The decision is not possible before other steps have run.
    Undecided {
        /// The missing information, as a phrase.
        needs: String,
    },
}

/// The effects of an operation.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// The provider's decision.
    pub verdict: Verdict,
    /// The spec as the provider will apply it, if it changes the spec: defaults filled in, names
    /// generated.
    pub inputs: Option<Value>,
    /// All fields after the operation, unknown where only the operation can tell. `None` if the
    /// provider does not return them.
    pub outputs: Option<Value>,
    /// Whether `outputs` are a forecast: the operation may return other values, even for known
    /// outputs. Providers of old type systems need this.
    pub inexact: bool,
    /// Fields that force a replacement, in addition to those of the catalogue.
    pub replaces: Vec<FieldPath>,
    /// Computed fields that will change, in addition to those of the catalogue.
    pub changes: Vec<FieldPath>,
    /// Fields whose change does not affect the resource: the new value is only recorded.
    pub only_recorded: Vec<FieldPath>,
    /// Whether a matching resource exists already. The create then takes it under management, and a
    /// delete keeps it.
    pub adopts: bool,
    /// Opaque data that `apply` receives. The engine keeps the data of a create with the intent, so
    /// [`ReadRequest::private`](crate::ReadRequest::private) holds it after an interrupted create.
    pub private: Value,
    /// Refusals, warnings and notes.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

impl Planned {
    /// Returns the replacements that the catalogue demands depending on the value of another field.
    pub fn by_policy(resource_type: Option<&ResourceType>, request: &PlanRequest<'_>) -> Planned {
        let replaced =
            resource_type.map(|ty| ty.replaced_by_policy(request.prior_inputs, request.desired));
        let replaces = replaced
            .iter()
            .flatten()
            .map(|field| field.as_ref().into())
            .collect();
        Planned {
            replaces,
            ..Planned::default()
        }
    }
}
