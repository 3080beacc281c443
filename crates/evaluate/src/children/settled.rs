//! The steps after all documents are found: settling documents with their inputs, and reading
//! samples of empty groups.

use std::collections::HashMap;
use std::sync::Arc;

use blueprint::{Expr, Value};
use diag::{Diagnostic, Diagnostics};
use source::Request;

use super::known::IncludeValue;
use super::places::Text;
use super::reader::DocumentReader;
use understand::pinned::PinnedRequest;

/// The maximum number of earlier places of a document that are compared with the next one.
const MOST_COMPARED: usize = 8;

impl DocumentReader<'_> {
    /// Reads the inputs of documents that members of empty groups would use. Ignores documents that
    /// cannot be read.
    pub(super) async fn read_samples(&mut self) {
        for ((place, include), sample) in std::mem::take(&mut self.samples) {
            let request = Request::path(self.text_of(place).location.clone(), sample.item.clone());
            let key = PinnedRequest::new(&request, &self.reading.folder).key();
            let Ok(document) = self.reading.fetch(&key, &request).await else {
                continue;
            };
            let Ok(text) = std::str::from_utf8(&document.bytes) else {
                continue;
            };
            let Some(group) = self.places[place as usize].children[include as usize] else {
                continue;
            };
            let mut context = self.context(Some((place, include)));
            context.inputs_only = true;
            self.pin_document(key, &request, &document, text);
            let shown = self.display_path(&document.location);
            let file = self.reading.files.add(shown, text);
            let mut found = Diagnostics::new();
            self.load(
                file,
                &mut context,
                self.text_of(place).location.clone(),
                &mut found,
            )
            .await;
            found.retain(Diagnostic::is_error);
            let group = self.places[group as usize].text as usize;
            self.texts[group].found.append(found);
        }
    }

    /// Settles documents with parts that depend on their inputs, for each place. Places with the
    /// same values share one text.
    pub(super) fn settle(&mut self, inputs: &[Value]) {
        let mut known: HashMap<u32, Vec<(Vec<Value>, u32)>, foldhash::fast::FixedState> =
            HashMap::default();
        for at in 0..self.places.len() as u32 {
            let blueprint = self.text_of(at).blueprint.clone();
            if !blueprint.unsettled {
                continue;
            }
            let rules = self.rules_of(at);
            self.is_fixed = false;
            let mut found = Diagnostics::new();
            let values = std::cell::RefCell::new(Vec::new());
            let settled = {
                let knowledge = self.include_context(inputs);
                let value = |expr: &Expr| {
                    let value = match knowledge.evaluate(at, expr) {
                        IncludeValue::Value(value) => Ok(value),
                        IncludeValue::Failed(why) => Err(why),
                        _ => Ok(Value::unknown(None, None)),
                    };
                    values
                        .borrow_mut()
                        .push(value.as_ref().map_or(Value::Null, Value::clone));
                    value
                };
                rules.expansion.resolve_computed_parts(
                    &blueprint,
                    self.reading.complete,
                    &value,
                    &mut found,
                )
            };
            let original = self.places[at as usize].text;
            let same = known.entry(original).or_default();
            let values = values.into_inner();
            if found.is_empty()
                && let Some((_, number)) = same
                    .iter()
                    .rev()
                    .take(MOST_COMPARED)
                    .find(|(others, _)| *others == values)
            {
                self.places[at as usize].text = *number;
                continue;
            }
            let number = self.texts.len() as u32;
            if found.is_empty() {
                same.push((values, number));
            }
            let text = &mut self.texts[original as usize];
            // The errors of the text itself are reported in only one of its places.
            let mut all = std::mem::take(&mut text.found);
            all.append(found);
            let settled = Text {
                file: text.file,
                location: text.location.clone(),
                blueprint: Arc::new(settled),
                context: text.context.clone(),
                found: all,
                refused: std::mem::take(&mut text.refused),
            };
            self.texts.push(settled);
            self.places[at as usize].text = number;
        }
    }
}
