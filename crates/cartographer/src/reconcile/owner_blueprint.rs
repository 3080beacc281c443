//! The blueprint of an owner: selects it, and whether it is ready.

use std::sync::Arc;

use blueprint::{Name, Value};

use crate::conditions::{FALSE, TRUE, UNKNOWN, conditions_of, find_condition};
use crate::kinds::CartoKind;
use crate::selection::{Selected, select_blueprint};

use super::options::ReconcileOptions;
use super::owner_status::OwnerWords;
use super::parts::{name, part};
use super::requests::{AccountName, Platform, Watches};

/// Why no blueprint is realized.
pub(super) struct Unready {
    /// The reason of the condition.
    pub(super) reason: Name,
    /// Its status.
    pub(super) status: &'static str,
    /// What is wrong.
    pub(super) message: String,
}

/// The blueprint of an owner, or why there is none. What can change that is watched.
pub(super) fn selected(
    owner: &Value,
    kind: CartoKind,
    platform: &dyn Platform,
    options: &ReconcileOptions,
    watches: &mut Watches,
) -> Result<Arc<Value>, Unready> {
    let words = OwnerWords::of(kind);
    let unready = |reason: &str, message: String| Unready {
        reason: Name::from(reason),
        status: FALSE,
        message,
    };
    let labels = part(owner, &["metadata", "labels"]).as_map();
    let has_labels = labels.is_some_and(|labels| !labels.is_empty());
    let labels_missing = || {
        let message = format!("the {} has no labels", kind.singular());
        unready(words.labels_missing, message)
    };
    // Upstream refuses such an owner, although selectors of fields could match it.
    if !has_labels && options.compat.is_upstream() {
        return Err(labels_missing());
    }
    let Some(blueprint_kind) = kind.blueprint() else {
        return Err(unready(words.not_found, String::new()));
    };
    let blueprints = platform.blueprints(blueprint_kind);
    let candidates: Vec<&Value> = blueprints.iter().map(AsRef::as_ref).collect();
    let selection = select_blueprint(owner, &candidates, options.compat);
    let name_of = |at: &usize| {
        let blueprint = candidates.get(*at);
        blueprint.map(|blueprint| name(blueprint, &["metadata", "name"]))
    };
    let matching: Vec<Name> = selection.matches().iter().filter_map(name_of).collect();
    let watched = matching.iter().map(|name| (blueprint_kind, name.clone()));
    watches.platform.extend(watched);
    let refused: Vec<String> = selection
        .refused
        .iter()
        .filter_map(|refused| {
            let name = name_of(&refused.candidate)?;
            Some(format!("; the selector of `{name}`: {}", refused.message))
        })
        .collect();
    match selection.selected {
        Selected::One(at) => blueprints
            .get(at)
            .cloned()
            .ok_or_else(|| unready(words.not_found, String::new())),
        Selected::None if !has_labels => Err(labels_missing()),
        Selected::None => {
            let message = format!("no {} matches{}", words.blueprint, refused.concat());
            Err(unready(words.not_found, message))
        }
        Selected::Several(_) => {
            let names: Vec<String> = matching.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("{} match equally well", names.join(", "));
            Err(unready(words.several, message))
        }
    }
}

/// Whether a blueprint is ready, or why not.
pub(super) fn readiness(blueprint: &Value, words: &OwnerWords) -> Result<(), Unready> {
    let conditions = conditions_of(part(blueprint, &["status", "conditions"]));
    let shown = name(blueprint, &["metadata", "name"]);
    match find_condition(&conditions, "Ready") {
        Some(ready) if *ready.status == *TRUE => Ok(()),
        Some(ready) => Err(Unready {
            reason: match ready.reason.is_empty() {
                true => "BlueprintNotReady".into(),
                false => ready.reason.clone(),
            },
            status: FALSE,
            message: format!(
                "the {} `{shown}` is not ready: {}",
                words.blueprint, ready.message
            ),
        }),
        // Its own reconcile has not come to it.
        None => Err(Unready {
            reason: "BlueprintNotReady".into(),
            status: UNKNOWN,
            message: format!("the {} `{shown}` has no status yet", words.blueprint),
        }),
    }
}

/// The account that signs for an owner.
pub(super) fn account_of(owner: &Value, blueprint: &Value) -> AccountName {
    let namespace = name(owner, &["metadata", "namespace"]);
    let own = name(owner, &["spec", "serviceAccountName"]);
    if !own.is_empty() {
        return AccountName {
            namespace,
            name: own,
        };
    }
    let reference = part(blueprint, &["spec", "serviceAccountRef"]);
    let (shared, of_blueprint) = (name(reference, &["name"]), name(reference, &["namespace"]));
    if shared.is_empty() {
        return AccountName {
            namespace,
            name: "default".into(),
        };
    }
    AccountName {
        namespace: match of_blueprint.is_empty() {
            true => namespace,
            false => of_blueprint,
        },
        name: shared,
    }
}
