//! What surrounds the spec of a resource: its removal policy and its metadata.

use std::sync::Arc;

use blueprint::{Expr, Resource, ResourceMetadata, Value};
use diag::Diagnostics;
use dialect::{ExpressionPart, ExpressionPlace};
use provider::ResourceType;

use super::{Evaluation, ExpressionSite, Halt, Need, RemovalPolicy, name_in};

impl Evaluation {
    /// The removal policy of a resource. If it, or that of a child above it, says that the object is
    /// kept, the object is kept. Reports a snapshot of an object whose type has none.
    pub fn removal_policy(
        &mut self,
        site: ExpressionSite<'_>,
        resource: &Resource,
        ty: &ResourceType,
        found: &mut Diagnostics,
    ) -> Result<RemovalPolicy, Need> {
        let mut own = RemovalPolicy::Delete;
        if let Some(removal) = &resource.removal {
            own = self.evaluated_policy(site, removal, found)?;
            let has_snapshots = ty.capabilities.snapshots || ty.takes_anything();
            if own == RemovalPolicy::Snapshot && !has_snapshots {
                own = RemovalPolicy::Delete;
                // The check has refused a policy that it knew.
                if removal.as_literal().is_none() {
                    let messages = self.documents.unit(site.unit).checked.rules.messages;
                    found.push(understand::check::no_snapshot(
                        name_in(site.owner),
                        &ty.name,
                        removal.span,
                        messages,
                    ));
                }
            }
        }
        if own == RemovalPolicy::Retain {
            return Ok(own);
        }
        let documents = self.documents.clone();
        let mut at = site.unit;
        while let Some((above, include)) = documents.unit(at).parent {
            let child = documents
                .unit(above)
                .blueprint()
                .children
                .get_index(include as usize);
            if let Some(removal) = child.and_then(|(_, child)| child.removal.as_deref()) {
                let site = ExpressionSite::of(above, site.owner);
                if self.evaluated_policy(site, removal, found)? == RemovalPolicy::Retain {
                    return Ok(RemovalPolicy::Retain);
                }
            }
            at = above;
        }
        Ok(own)
    }

    /// Whether the computed protection of a resource says that it must not be deleted or replaced.
    /// Reports a value that is no boolean, or that is known only during a deployment.
    pub fn is_protected(
        &mut self,
        site: ExpressionSite<'_>,
        resource: &Resource,
        found: &mut Diagnostics,
    ) -> Result<bool, Need> {
        let Some(protection) = resource.protection.as_deref() else {
            return Ok(false);
        };
        let value = match self.present(site, protection, found) {
            Ok(value) => value,
            Err(Halt::Need(need)) => return Err(need),
            Err(_) => return Ok(false),
        };
        let why = match value.unmarked() {
            Value::Bool(protect) => return Ok(*protect),
            Value::Null => return Ok(false),
            Value::Unknown(_) => "its value is known only during the deployment".to_owned(),
            other => format!("it is {}", other.kind_word()),
        };
        found.push(
            expr::codes::TYPE_MISMATCH
                .new("the protection of a resource must be a boolean that is known in the plan")
                .label(protection.span, why),
        );
        Ok(false)
    }

    /// The policy that an expression states. Reports a word that the dialect does not know.
    fn evaluated_policy(
        &mut self,
        site: ExpressionSite<'_>,
        removal: &Expr,
        found: &mut Diagnostics,
    ) -> Result<RemovalPolicy, Need> {
        match self.present_at(
            site,
            ExpressionPlace::new(ExpressionPart::Removal, name_in(site.owner), removal),
            found,
        ) {
            Ok(value) => {
                let checked = &self.documents.unit(site.unit).checked;
                if removal.as_literal().is_none()
                    && !value.has_unknown()
                    && let Some(refused) = checked
                        .rules
                        .specs
                        .removal(&value, &checked.blueprint.version)
                {
                    found.push(refused.label(removal.span, "it evaluates to this value"));
                }
                let word = value.revealed();
                let is = |policy: &str| {
                    let word = word.as_text();
                    word.is_some_and(|word| word.eq_ignore_ascii_case(policy))
                };
                Ok(match () {
                    () if is("retain") => RemovalPolicy::Retain,
                    () if is("snapshot") => RemovalPolicy::Snapshot,
                    () => RemovalPolicy::Delete,
                })
            }
            Err(Halt::Need(need)) => Err(need),
            Err(_) => Ok(RemovalPolicy::Delete),
        }
    }

    /// Labels, annotations, display name and custom data of a member; null if there are none.
    pub fn metadata(
        &mut self,
        site: ExpressionSite<'_>,
        resource: &Resource,
        found: &mut Diagnostics,
    ) -> Result<Value, Need> {
        self.metadata_of(site, &resource.metadata, found)
    }

    /// Labels, annotations, display name and custom data from any element's metadata; null if there
    /// are none.
    pub fn metadata_of(
        &mut self,
        site: ExpressionSite<'_>,
        metadata: &ResourceMetadata,
        found: &mut Diagnostics,
    ) -> Result<Value, Need> {
        let mut map = blueprint::Map::default();
        if let Some(display_name) = &metadata.display_name {
            match self.present(site, display_name, found) {
                Ok(value) => {
                    if let Some(Ok(text)) = expr::to_text(&value) {
                        map.insert("displayName".into(), text);
                    }
                }
                Err(Halt::Need(need)) => return Err(need),
                Err(_) => {}
            }
        }
        if !metadata.labels.is_empty() {
            let labels = metadata
                .labels
                .iter()
                .map(|(key, text)| (key.item.clone(), Value::Text(text.item.clone())));
            map.insert("labels".into(), Value::map(labels));
        }
        let mut annotations = blueprint::Map::default();
        for (key, expr) in &metadata.annotations {
            match self.present(site, expr, found) {
                Ok(value)
                    if matches!(
                        value.unmarked(),
                        Value::List(_) | Value::Map(_) | Value::Set(_)
                    ) =>
                {
                    found.push(
                        expr::codes::TYPE_MISMATCH
                            .new(format!(
                                "the annotation `{}` must be a scalar, found {}",
                                key.item,
                                value.kind_word()
                            ))
                            .label(expr.span, "annotations hold text, numbers and booleans")
                            .help(
                                "turn it into text with `jsonencode(..)`, or put it under `custom`",
                            ),
                    )
                }
                Ok(Value::Null) => {}
                Ok(value) => {
                    annotations.insert(key.item.clone(), value);
                }
                Err(Halt::Need(need)) => return Err(need),
                Err(_) => {}
            }
        }
        if !annotations.is_empty() {
            map.insert("annotations".into(), Value::Map(Arc::new(annotations)));
        }
        if let Some(custom) = &metadata.custom {
            match self.present_at(
                site,
                ExpressionPlace::new(ExpressionPart::Metadata, name_in(site.owner), custom),
                found,
            ) {
                Ok(value) => {
                    map.insert("custom".into(), value);
                }
                Err(Halt::Need(need)) => return Err(need),
                Err(_) => {}
            }
        }
        if let Some(trigger) = metadata.replacement_trigger.as_deref() {
            match self.present(site, trigger, found) {
                Ok(value) => {
                    map.insert(ResourceMetadata::REPLACEMENT_TRIGGER.into(), value);
                }
                Err(Halt::Need(need)) => return Err(need),
                Err(_) => {}
            }
        }
        Ok(if map.is_empty() {
            Value::Null
        } else {
            Value::Map(Arc::new(map))
        })
    }
}
