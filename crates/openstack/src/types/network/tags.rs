//! Tags, which have a call of their own.

use ::provider::{BoxFuture, ProviderError};
use serde_json::{Value as Json, json};

use crate::client::{Service, ServiceRequest};
use crate::managed::{CloudCall, Hooks, JsonMap, SpecChange};

/// The hooks of objects with tags.
pub(super) struct Tagged {
    /// The collection in the path of the tags; empty if the objects have none.
    pub(super) collection: &'static str,
}

impl Tagged {
    /// Without tags.
    pub(super) const NONE: Tagged = Tagged { collection: "" };

    /// Tags of the objects of a collection.
    pub(super) const fn of(collection: &'static str) -> Tagged {
        Tagged { collection }
    }

    /// Sets the tags of a new object, if its spec has any.
    ///
    /// # Errors
    /// The error of the request.
    pub(super) async fn set_first(
        &self,
        on: CloudCall<'_>,
        spec: &JsonMap,
        object: &mut Json,
    ) -> Result<(), ProviderError> {
        match spec.get("tags") {
            Some(tags) => self.set(on, tags, object).await,
            None => Ok(()),
        }
    }

    /// Sets the tags of an object again, if they have changed.
    ///
    /// # Errors
    /// The error of the request.
    pub(super) async fn set_again(
        &self,
        on: CloudCall<'_>,
        change: SpecChange<'_>,
        object: &mut Json,
    ) -> Result<(), ProviderError> {
        // Tags that the document never gave are those of somebody else.
        if !change.prior.contains_key("tags") && !change.desired.contains_key("tags") {
            return Ok(());
        }
        let none = json!([]);
        let tags = change.desired.get("tags").unwrap_or(&none);
        // A create that was cut off has not set them.
        match shown_tags(object, tags) {
            Some(shown) if shown == *tags => Ok(()),
            _ => self.set(on, tags, object).await,
        }
    }

    async fn set(
        &self,
        on: CloudCall<'_>,
        tags: &Json,
        object: &mut Json,
    ) -> Result<(), ProviderError> {
        let id = object["id"].as_str().unwrap_or_default();
        let path = format!("{}/{id}/tags", self.collection);
        let request = ServiceRequest::put(Service::Network, path, json!({ "tags": tags }));
        let mut answer = on.change(request).await?;
        object["tags"] = answer["tags"].take();
        Ok(())
    }
}

/// The tags that an object shows: as they are declared, if only their order differs.
pub(super) fn shown_tags(object: &Json, declared: &Json) -> Option<Json> {
    let shown = object.get("tags")?.as_array()?;
    let sorted = |tags: &[Json]| {
        let mut texts: Vec<String> = tags
            .iter()
            .filter_map(|tag| Some(tag.as_str()?.into()))
            .collect();
        texts.sort_unstable();
        texts.dedup();
        texts
    };
    let same = declared
        .as_array()
        .is_some_and(|tags| sorted(tags) == sorted(shown));
    Some(match same {
        true => declared.clone(),
        false => Json::Array(shown.clone()),
    })
}

impl Hooks for Tagged {
    fn created<'a>(
        &'a self,
        on: CloudCall<'a>,
        spec: &'a JsonMap,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(self.set_first(on, spec, object))
    }

    fn update<'a>(
        &'a self,
        on: CloudCall<'a>,
        change: SpecChange<'a>,
        object: &'a mut Json,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(self.set_again(on, change, object))
    }

    fn property(&self, name: &str, object: &Json, declared: &Json) -> Option<Json> {
        match name {
            "tags" => shown_tags(object, declared),
            _ => None,
        }
    }
}
