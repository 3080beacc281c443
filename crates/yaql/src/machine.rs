//! The machine: counting against the limits, and access to the items of collections.
//!
//! Not here: evaluation (`evaluate`), and the choice of a function for a call (`resolve`).

use crate::budget::Budget;
use crate::drawing::ExternalValues;
use crate::failure::{Evaluated, Halt};
use crate::limits::EvaluationLimits;
use crate::model::{Cursor, Datum, DatumEntries, DatumKey, Machine, SequenceStore, Stream, View};
use crate::regex::PatternCache;
use crate::tree::Tree;

/// The greatest allowed weight of a value. A walk through a heavier value would take too long.
const HEAVIEST: u32 = 1_000_000;

/// The number of bytes or parts of a value that count as one step.
const PER_STEP: u64 = 256;

impl<'a> Machine<'a> {
    pub(crate) fn new(
        tree: &'a Tree,
        limits: &'a EvaluationLimits,
        drawing: &'a mut dyn ExternalValues,
    ) -> Machine<'a> {
        Machine {
            tree,
            budget: Budget::new(limits),
            drawing,
            turns: Vec::new(),
            sequences: SequenceStore::default(),
            patterns: PatternCache::default(),
        }
    }

    /// The steps taken so far.
    pub(crate) fn steps(&self) -> u64 {
        self.budget.steps
    }

    /// Counts steps. Fails if they exceed the limit.
    pub(crate) fn step(&mut self, count: u64) -> Evaluated<()> {
        self.budget.step(count)
    }

    /// Fails if a size in bytes exceeds the limit.
    pub(crate) fn weigh(&self, bytes: usize) -> Evaluated<()> {
        self.budget.weigh(bytes)
    }

    /// Counts steps for the size of a value. Fails if the value is too large, too deep or too
    /// heavy.
    pub(crate) fn measure(&mut self, value: &Datum) -> Evaluated<()> {
        let (size, extent) = (value.size(), value.extent());
        self.weigh(size)?;
        if extent.depth > self.budget.limits.depth.saturating_mul(2) {
            return Err(Halt::limit(format!(
                "Value is nested more than {} levels deep",
                self.budget.limits.depth * 2
            )));
        }
        if extent.weight > HEAVIEST {
            return Err(Halt::memory());
        }
        self.step((size as u64 + u64::from(extent.weight)) / PER_STEP)
    }

    /// Fails if a collection has more items than the limit. A collection of unknown length gets a
    /// limit instead.
    pub(crate) fn limited(&mut self, value: Datum) -> Evaluated<Datum> {
        let most = self.budget.limits.items;
        let known = match &value {
            Datum::List(list) => Some(list.items.len()),
            Datum::Map(map) => Some(map.entries.len()),
            Datum::Set(set) => Some(set.items.len()),
            Datum::View(View::Keys | View::Entries, map) => Some(map.entries.len()),
            _ => None,
        };
        match known {
            Some(count) if count > most => Err(Halt::limit(format!(
                "Collection length exceeds {most} elements"
            ))),
            Some(_) => Ok(value),
            None => Ok(Datum::Stream(Stream::limited(value, most))),
        }
    }

    /// Returns all items of a collection.
    pub(crate) fn collect(&mut self, value: Datum) -> Evaluated<Vec<Datum>> {
        if let Datum::List(list) = &value {
            return Ok(list.items.clone());
        }
        let mut items = Vec::new();
        let mut cursor = Cursor::of(value);
        while let Some(item) = cursor.next(self)? {
            items.push(item);
        }
        Ok(items)
    }

    /// Runs a step and restores the level of nesting, which a failed step does not restore.
    pub(crate) fn attempt(
        &mut self,
        step: impl FnOnce(&mut Self) -> Evaluated<Datum>,
    ) -> Evaluated<Datum> {
        let depth = self.budget.depth;
        let value = step(self);
        self.budget.depth = depth;
        value
    }

    /// Collects the entries of a map. Fails if they exceed the memory limit.
    pub(crate) fn entries(
        &mut self,
        pairs: impl IntoIterator<Item = (Datum, Datum)>,
    ) -> Evaluated<DatumEntries> {
        let mut entries = DatumEntries::default();
        for (key, value) in pairs {
            entries.insert(DatumKey::of(key)?, value);
            self.weigh(56 + 8 * entries.len())?;
        }
        Ok(entries)
    }
}
