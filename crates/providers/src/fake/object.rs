//! One object of the simulated cloud.

use blueprint::{FieldPath, Name, TypeId, Value};
use provider::{Fit, ResourceType};

use super::plausible;
use super::secret_mask::{self, SentSecrets};
use super::values::{self, ValueFacts};

/// One object of the simulated cloud.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct FakeObject {
    /// The provider's id of the object.
    #[serde(deserialize_with = "blueprint::wire::name")]
    pub id: Name,
    /// The resource type.
    #[serde(rename = "type")]
    pub type_name: TypeId,
    /// The instance and address that the object belongs to, as `INSTANCE/ADDRESS`. Empty if it was
    /// created from outside.
    #[serde(
        default,
        deserialize_with = "blueprint::wire::name",
        skip_serializing_if = "is_empty"
    )]
    pub place: Name,
    /// All fields, as a map.
    pub fields: Value,
    /// The metadata of the last create or update. It is not written to the file.
    #[serde(skip)]
    pub metadata: Value,
    /// The hash from which the computed values are derived.
    #[serde(deserialize_with = "blueprint::wire::name")]
    pub(super) hash: Name,
    /// The number of creates and updates: 1 after the create.
    pub(super) updates: i64,
    /// The token of the create.
    #[serde(
        default,
        deserialize_with = "blueprint::wire::name",
        skip_serializing_if = "is_empty"
    )]
    pub(super) token: Name,
    /// The token of the last update.
    #[serde(
        default,
        deserialize_with = "blueprint::wire::name",
        skip_serializing_if = "is_empty"
    )]
    pub(super) update_token: Name,
    /// The paths of secrets in the fields. The secrets are not written to the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) secrets: Vec<Name>,
    /// The fields with unique values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unique: Vec<Name>,
    /// The number of remaining polls that report the object as not ready. `None` if all polls do.
    #[serde(default)]
    pub(super) unsettled: Option<u32>,
}

/// The desired state of an object in a create or update.
pub(super) struct DesiredObject<'a> {
    /// The token of the call.
    pub(super) token: &'a Name,
    /// The sent fields, with revealed secrets.
    pub(super) sent: &'a Value,
    /// The metadata of the resource.
    pub(super) metadata: &'a Value,
    /// The secrets in `sent`.
    pub(super) secrets: SentSecrets,
    /// The number of polls that report the object as not ready. `None` if all polls do.
    pub(super) unsettled: Option<u32>,
}

impl FakeObject {
    /// The token of the create. Empty if the object was created from outside.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Restores the secrets that the file does not contain. Values derived from secrets are
    /// computed again, or taken from the values that the caller knows.
    pub(super) fn restore_secrets(
        &mut self,
        resource_type: &ResourceType,
        known: RecordedValues<'_>,
        fit: &Fit,
        parts: &[FieldPath],
    ) {
        if !secret_mask::has_placeholder(&self.fields, &self.secrets) {
            return;
        }
        self.fields = secret_mask::unmask(&self.fields, &self.secrets, known.sent);
        if secret_mask::has_placeholder(&self.fields, &self.secrets) {
            let sent = known.sent.revealed();
            let secrets = SentSecrets::of(known.sent);
            let facts = facts_of(resource_type, &sent, &self.hash, fit, &secrets);
            let facts = ValueFacts {
                id: &self.id,
                updates: self.updates,
                parts,
                ..facts
            };
            let id_field = resource_type.id_field.as_ref();
            let made = values::complete(
                &resource_type.schema,
                id_field,
                &sent,
                Some(&self.fields),
                &facts,
            );
            let made = secret_mask::unmask(&self.fields, &self.secrets, &made);
            self.fields = secret_mask::unmask(&made, &self.secrets, known.fields);
        }
    }

    /// A copy without secrets, for the file.
    pub(super) fn masked(&self) -> Box<FakeObject> {
        Box::new(FakeObject {
            fields: secret_mask::mask(&self.fields, &self.secrets),
            ..self.clone()
        })
    }
}

/// The recorded values of an object that the caller of a read passes.
#[derive(Clone, Copy)]
pub(super) struct RecordedValues<'a> {
    /// The fields as sent.
    pub(super) sent: &'a Value,
    /// All fields as returned.
    pub(super) fields: &'a Value,
}

fn is_empty(name: &Name) -> bool {
    name.is_empty()
}

/// The facts from which the values of an object are derived, without its id.
pub(super) fn facts_of<'a>(
    resource_type: &'a ResourceType,
    sent: &'a Value,
    hash: &'a str,
    fit: &'a Fit,
    secrets: &SentSecrets,
) -> ValueFacts<'a> {
    let name = plausible::own_name(&resource_type.name, &resource_type.schema, sent);
    let name = name.filter(|name| !secrets.occur_in(name));
    ValueFacts {
        hash,
        id: "",
        updates: 1,
        type_name: &resource_type.name,
        sent,
        name,
        fit,
        parts: &[],
    }
}
