//! Words of providers are made clean before the core hears them: whatever a provider says, in errors, warnings or
//! progress, no secret of the call stands in it. What it answers is marked where it repeats one.
//!
//! The secrets of a call are taken out in parts too, those of the rest of the run where they stand whole.
//!
//! Nothing is looked through until there are words, or secrets. Not here: how a text is searched (`provider::Scrub`).

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use blueprint::{TypeId, Value};
use provider::{
    Applied, Catalogs, Checked, Fetched, Preflight, ProviderError, ReadOutcome, RunScrub, Scrub, SourceContent, TypeRef,
};

use understand::compare::{has_sensitive, mark_fields};

/// The secrets of a run, whichever thing they belong to. A shell and its clones share them.
#[derive(Clone, Debug, Default)]
pub struct Known(Arc<Mutex<Gathered>>);

#[derive(Debug, Default)]
struct Gathered {
    /// Values that have not been looked through yet.
    new: Vec<Value>,
    scrub: RunScrub,
}

/// So many values are kept before they are looked through.
const MANY: usize = 4096;

impl Known {
    /// From now on the secrets in a value are masked in what any provider says.
    pub fn learn(&self, value: &Value) {
        if value.has_secret() {
            let mut gathered = self.gathered();
            gathered.new.push(value.clone());
            if gathered.new.len() > MANY {
                gathered.look_through();
            }
        }
    }

    fn clean(&self, text: &str) -> String {
        self.looked_through().scrub.clean(text)
    }

    fn marked(&self, fields: Value) -> Value {
        match self.looked_through() {
            known if known.scrub.is_empty() => fields,
            known => known.scrub.marked(&fields),
        }
    }

    fn looked_through(&self) -> MutexGuard<'_, Gathered> {
        let mut gathered = self.gathered();
        gathered.look_through();
        gathered
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gathered {
    fn look_through(&mut self) {
        for value in std::mem::take(&mut self.new) {
            self.scrub.add(&value);
        }
    }
}

/// The values that went into a call, and what is secret in them, computed on demand.
pub(crate) struct Secrets {
    values: Vec<Value>,
    scrub: OnceLock<Scrub>,
    known: Known,
}

impl Secrets {
    /// Of a call that these values go into.
    pub(crate) fn of<'a>(known: &Known, values: impl IntoIterator<Item = &'a Value>) -> Arc<Secrets> {
        let values: Vec<Value> = values.into_iter().cloned().collect();
        values.iter().for_each(|value| known.learn(value));
        Arc::new(Secrets { values, scrub: OnceLock::new(), known: known.clone() })
    }

    fn scrub(&self) -> &Scrub {
        self.scrub.get_or_init(|| Scrub::of(&self.values))
    }

    /// A text without them.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.known.clean(&self.scrub().clean(text))
    }

    /// The fields of an answer with a mark on each that repeats a secret, whatever the catalogue says of it: an address
    /// is secret if it is made from a secret name.
    pub(crate) fn marked(&self, fields: Value) -> Value {
        let own = self.values.iter().any(Value::has_secret);
        self.known.marked(if own { self.scrub().marked(&fields) } else { fields })
    }

    fn clean_all(&self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| *text = self.clean(text));
    }

    /// What a provider refused, in clean words.
    pub(crate) fn refused(&self, mut error: ProviderError) -> ProviderError {
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
        answer.existing = self.marked(answer.existing);
        answer
    }

    /// What was found out about a spec, in clean words.
    pub(crate) fn checked(&self, mut checked: Checked) -> Checked {
        let Checked { rejected, mismatched, outside, warnings } = &mut checked;
        for (_, words) in rejected.iter_mut().chain(mismatched).chain(outside).chain(warnings) {
            *words = self.clean(words);
        }
        checked
    }

    /// What came of reading a thing with these values, in clean words. Nearly always there are neither words nor
    /// secrets: then nothing is copied.
    pub(crate) fn read<'a>(
        known: &Known,
        values: impl IntoIterator<Item = &'a Value> + Clone,
        read: Result<ReadOutcome, ProviderError>,
    ) -> Result<ReadOutcome, ProviderError> {
        let says_nothing = !matches!(&read, Err(_) | Ok(ReadOutcome::Present { expired: Some(_), .. }));
        if says_nothing && !values.clone().into_iter().any(Value::has_secret) {
            return read.map(|seen| match seen {
                ReadOutcome::Present { id, fields, private, expired } => {
                    ReadOutcome::Present { id, fields: known.marked(fields), private, expired }
                }
                seen => seen,
            });
        }
        let secrets = Secrets::of(known, values);
        read.map(|seen| secrets.seen(seen)).map_err(|error| secrets.refused(error))
    }

    fn seen(&self, seen: ReadOutcome) -> ReadOutcome {
        match seen {
            ReadOutcome::Present { id, fields, private, expired } => {
                let expired = expired.map(|why| self.clean(&why));
                ReadOutcome::Present { id, fields: self.marked(fields), private, expired }
            }
            seen => seen,
        }
    }

    /// The candidates of a data source, with a mark on everything that repeats a secret.
    pub(super) fn fetched(&self, mut fetched: Fetched) -> Fetched {
        for (_, words) in &mut fetched.warnings {
            *words = self.clean(words);
        }
        for candidate in &mut fetched.candidates {
            candidate.fields = self.marked(std::mem::take(&mut candidate.fields));
        }
        fetched
    }

    /// What was done, or why not, in clean words; what was made on the way is known by then too.
    pub(crate) fn answered(
        &self,
        answer: Result<Applied, ProviderError>,
        type_name: &TypeId,
        catalogs: &Catalogs,
    ) -> Result<Applied, ProviderError> {
        let made = |fields: &Value| match catalogs.resource_type(type_name) {
            TypeRef::Known(ty) => Secrets::of(&self.known, [&mark_fields(&ty.schema, fields, &Value::Null)]),
            _ => Secrets::of(&self.known, []),
        };
        match answer {
            Ok(mut applied) => {
                if let TypeRef::Known(ty) = catalogs.resource_type(type_name)
                    && ty.schema.fields.values().any(|field| field.computed && has_sensitive(Some(field)))
                {
                    self.known.learn(&mark_fields(&ty.schema, &applied.fields, &Value::Null));
                }
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
