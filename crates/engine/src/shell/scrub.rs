//! Words of providers are made clean before the core hears them: whatever a provider says, in errors, warnings or
//! progress, no secret of the call stands in it. What it answers is marked where it repeats one.
//!
//! Nothing is looked through until there are words, or secrets. Not here: how a text is searched (`provider::Scrub`).

use std::sync::{Arc, OnceLock};

use blueprint::Value;
use provider::{Applied, Catalogs, Checked, Preflight, ProviderError, Scrub, Seen, SourceContent, TypeRef};

use crate::plan::diff::mark_fields;

/// The values that went into a call, and what is secret in them once somebody asks.
pub(super) struct Secrets {
    values: Vec<Value>,
    scrub: OnceLock<Scrub>,
}

impl Secrets {
    /// Of a call that these values go into.
    pub(super) fn of<'a>(values: impl IntoIterator<Item = &'a Value>) -> Arc<Secrets> {
        Arc::new(Secrets { values: values.into_iter().cloned().collect(), scrub: OnceLock::new() })
    }

    fn scrub(&self) -> &Scrub {
        self.scrub.get_or_init(|| Scrub::of(&self.values))
    }

    /// A text without them.
    pub(super) fn clean(&self, text: &str) -> String {
        self.scrub().clean(text)
    }

    /// The fields of an answer with a mark on each that repeats a secret, whatever the catalogue says of it: an address
    /// is secret if it is made from a secret name.
    pub(super) fn marked(&self, fields: Value) -> Value {
        if self.values.iter().any(Value::has_secret) { self.scrub().marked(&fields) } else { fields }
    }

    fn clean_all(&self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| *text = self.clean(text));
    }

    /// What a provider refused, in clean words.
    pub(super) fn refused(&self, mut error: ProviderError) -> ProviderError {
        error.message = self.clean(&error.message);
        // A path that is none any more leads nowhere, as a wrong one does.
        error.field = error.field.map(|field| self.clean(&field));
        if let Some(partial) = &mut error.partial {
            self.clean_all(&mut partial.warnings);
        }
        error
    }

    /// What an operation would meet, in clean words.
    pub(super) fn preflight(&self, mut answer: Preflight) -> Preflight {
        for source in &mut answer.sources {
            source.name = self.clean(&source.name).into();
            if let SourceContent::Unreadable(words) = &mut source.content {
                *words = self.clean(words);
            }
        }
        answer.refused = answer.refused.map(|words| self.clean(&words));
        answer.standing = self.marked(answer.standing);
        answer
    }

    /// What was found out about a spec, in clean words.
    pub(super) fn checked(&self, mut checked: Checked) -> Checked {
        let Checked { rejected, mismatched, outside, warnings } = &mut checked;
        for (_, words) in rejected.iter_mut().chain(mismatched).chain(outside).chain(warnings) {
            *words = self.clean(words);
        }
        checked
    }

    /// What came of reading a thing with these values, in clean words. Nearly always there are neither words nor secrets:
    /// then nothing is copied.
    pub(super) fn read<'a>(
        values: impl IntoIterator<Item = &'a Value> + Clone,
        read: Result<Seen, ProviderError>,
    ) -> Result<Seen, ProviderError> {
        let says_nothing = !matches!(&read, Err(_) | Ok(Seen::There { expired: Some(_), .. }));
        if says_nothing && !values.clone().into_iter().any(Value::has_secret) {
            return read;
        }
        let secrets = Secrets::of(values);
        read.map(|seen| secrets.seen(seen)).map_err(|error| secrets.refused(error))
    }

    fn seen(&self, seen: Seen) -> Seen {
        match seen {
            Seen::There { id, fields, private, expired } => {
                let expired = expired.map(|why| self.clean(&why));
                Seen::There { id, fields: self.marked(fields), private, expired }
            }
            seen => seen,
        }
    }

    /// What was done, or why not, in clean words; what was made on the way is known by then too.
    pub(super) fn answered(
        &self,
        answer: Result<Applied, ProviderError>,
        type_name: &str,
        catalogs: &Catalogs,
    ) -> Result<Applied, ProviderError> {
        let made = |fields: &Value| match catalogs.resource_type(type_name) {
            TypeRef::Known(ty) => Secrets::of([&mark_fields(&ty.schema, fields, &Value::Null)]),
            _ => Secrets::of([]),
        };
        match answer {
            Ok(mut applied) => {
                if !applied.warnings.is_empty() {
                    made(&applied.fields).clean_all(&mut applied.warnings);
                    self.clean_all(&mut applied.warnings);
                }
                applied.fields = self.marked(applied.fields);
                Ok(applied)
            }
            Err(mut error) => {
                if let Some(partial) = &mut error.partial {
                    partial.fields = self.marked(std::mem::take(&mut partial.fields));
                }
                let error = match error.partial.as_ref().map(|partial| made(&partial.fields)) {
                    Some(made) => made.refused(error),
                    None => error,
                };
                Err(self.refused(error))
            }
        }
    }
}
