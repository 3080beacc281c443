//! What every call needs: the cluster, the settings, and the field manager of the instance.

use ::kubernetes::ObjectId;
use ::provider::{Call, ErrorKind, ProviderError};
use data_encoding::HEXLOWER;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::cluster::{ApplyOptions, Cluster, RequestError};
use crate::kinds::ApiKind;
use crate::observed::ObjectFacts;
use crate::problems::{error_of, refuse_other_cluster};
use crate::settings::{Conflicts, Settings};

/// The longest name of a field manager that the API takes, in bytes.
const LONGEST_MANAGER: usize = 128;

/// The cluster of a call, with what every call needs.
#[derive(Clone, Copy)]
pub(crate) struct CallContext<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) settings: &'a Settings,
    pub(crate) call: &'a Call,
}

impl CallContext<'_> {
    /// The field manager: the instance.
    pub(crate) fn manager(&self) -> String {
        manager_of(&self.call.instance)
    }

    /// How an object is applied when the change is carried out.
    pub(crate) fn apply_options<'m>(&self, manager: &'m str) -> ApplyOptions<'m> {
        ApplyOptions {
            manager,
            dry_run: false,
            force: self.settings.conflicts == Conflicts::TakeOver,
        }
    }

    /// Converts the failure of a request that changes nothing.
    pub(crate) fn failed(&self, error: RequestError) -> ProviderError {
        error_of(error, self.cluster)
    }

    /// Fails if the cluster is another one than that of a record.
    pub(crate) async fn refuse_other_cluster(
        &self,
        known: &ObjectFacts,
    ) -> Result<(), ProviderError> {
        let Some(recorded) = &known.cluster else {
            return Ok(());
        };
        let identity = self.cluster.identity().await;
        let identity = identity.map_err(|error| self.failed(error))?;
        let recorded = [(recorded, &known.server)];
        refuse_other_cluster(self.cluster, identity.as_ref(), &recorded)
    }

    /// The kind of an object. `None` if the cluster does not have it.
    ///
    /// # Errors
    /// If the cluster cannot be asked.
    pub(crate) async fn kind_of(&self, id: &ObjectId) -> Result<Option<ApiKind>, ProviderError> {
        let found = self.cluster.kind(&id.kind, None).await;
        found.map_err(|error| self.failed(error))
    }

    /// The object with an id. `None` if it does not exist, or its kind.
    ///
    /// # Errors
    /// If the cluster cannot be asked, or refuses.
    pub(crate) async fn object(&self, id: &ObjectId) -> Result<Option<Json>, ProviderError> {
        let Some(kind) = self.kind_of(id).await? else {
            return Ok(None);
        };
        let path = kind.path(id.namespace.as_deref(), &id.name);
        match self.cluster.get(&id.kind, &path).await {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }
}

/// Reads a recorded id.
///
/// # Errors
/// [`ErrorKind::Document`] if the text is no id.
pub(crate) fn parsed_id(id: &str) -> Result<ObjectId, ProviderError> {
    id.parse().map_err(|error: ::kubernetes::NameError| {
        let message = format!("`{id}` is no id of an object: {error}");
        ProviderError::new(ErrorKind::Document, message)
    })
}

/// The name of the field manager for an instance.
pub(crate) fn manager_of(instance: &str) -> String {
    let allowed = |letter: char| match letter.is_ascii_alphanumeric() || "-._".contains(letter) {
        true => letter,
        false => '_',
    };
    let mut manager = format!("cyan:{}", instance.chars().map(allowed).collect::<String>());
    if manager.len() > LONGEST_MANAGER {
        let digest = short_digest(instance);
        manager.truncate(LONGEST_MANAGER - digest.len() - 1);
        manager = format!("{manager}-{digest}");
    }
    manager
}

/// A short digest of a text, for names.
pub(crate) fn short_digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    HEXLOWER.encode(&digest[..5])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_instance_has_a_manager_of_its_own() {
        assert_eq!(manager_of("shop"), "cyan:shop");
        assert_eq!(manager_of("a shop/é"), "cyan:a_shop__");
        let (one, other) = ("x".repeat(200) + "1", "x".repeat(200) + "2");
        let managers = [manager_of(&one), manager_of(&other)];
        assert_ne!(managers[0], managers[1]);
        assert!(
            managers
                .iter()
                .all(|manager| manager.len() == LONGEST_MANAGER)
        );
    }
}
