//! Expands groups into the documents of their members.

use std::sync::Arc;

use blueprint::{Expr, Name, Value};
use dialect::ExpansionContext;

use super::known::IncludeValue;
use crate::answers::GROUP;
use crate::packages::open_packages;

use super::include_errors;
use super::places::{Include, Text};
use super::reader::DocumentReader;

impl DocumentReader<'_> {
    /// Expands a group. Returns the includes of the generated document.
    pub(super) async fn expand(
        &mut self,
        place: u32,
        include: u32,
        inputs: &[Value],
    ) -> Vec<Include> {
        let Some((blueprint, at)) = self.child(place, include) else {
            return Vec::new();
        };
        let Some((name, child)) = blueprint.children.get_index(at) else {
            return Vec::new();
        };
        let Some(expansion) = &child.expansion else {
            return Vec::new();
        };
        let most = self.most_members();
        // The group that exceeded the limit has already reported the error.
        if self.members > most {
            return Vec::new();
        }
        self.is_fixed = false;
        let path = self.path_of(place, name);
        let key: Name = path.join("/").into();
        let before = self.reading.before;
        let known = before.and_then(|before| before.memoised.get(format!("{GROUP}{key}").as_str()));
        let known = known.map_or(Value::Null, |known| known.value.clone());
        let memory = self
            .reading
            .earlier_reads
            .groups
            .get(&key)
            .cloned()
            .unwrap_or_else(|| known.clone());
        let mut context = self.context(Some((place, include)));
        let expanded = {
            let knowledge = self.include_context(inputs);
            let value = |expr: &Expr| match knowledge.evaluate(place, expr) {
                IncludeValue::Value(value) => value,
                _ => Value::unknown(None, None),
            };
            let named = |id: &str| {
                let records = before.into_iter().flat_map(|before| &before.records);
                let mut members = records.filter(|(address, _)| *address.path == *path);
                members
                    .find(|(_, record)| record.id.as_ref() == id)
                    .map(|(address, _)| address.name.clone())
            };
            self.rules_of(place).expansion.expand(
                expansion,
                &ExpansionContext {
                    evaluate: &value,
                    complete: self.reading.complete,
                    memory: &memory,
                    stored_memory: &known,
                    member_name: &named,
                    path: &path,
                    context: &context,
                },
            )
        };
        if expanded.is_open {
            self.has_open_includes = true;
            expanded
                .diagnostics
                .iter()
                .for_each(|one| self.report((place, include), one.clone()));
            return Vec::new();
        }
        self.samples.extend(
            expanded
                .member_document
                .map(|sample| ((place, include), sample)),
        );
        // A document from unknown inputs is provisional, so its memory is not kept.
        if self.reading.complete && !expanded.memory.is_null() {
            self.pinned.groups.insert(key, expanded.memory);
        }
        self.members += expanded.blueprint.resources.len() + expanded.blueprint.children.len();
        let members = expanded.blueprint.resources.len() + expanded.blueprint.children.len();
        let mut meter = self.meter.get();
        let fits = meter.charge(
            members.saturating_mul(expr::weight(&expansion.spec)),
            child.span,
        );
        self.meter.set(meter);
        if fits.is_err() {
            return Vec::new();
        }
        if self.members > most {
            self.reported_too_many_members = true;
            self.report(
                (place, include),
                include_errors::too_many_members(child, most),
            );
            return Vec::new();
        }
        let above = self.text_of(place);
        let mut file = above.file;
        let location = above.location.clone();
        let mut found = expanded.diagnostics;
        let mut document = Arc::new(expanded.blueprint);
        if let Some(text) = expanded.text {
            let shown = format!(
                "{}:{}",
                self.reading.files.get(file).map_or("", |file| file.name()),
                path.join("/")
            );
            file = self.reading.files.add(shown, text.as_ref());
            context.is_written_out = true;
            let loaded = self
                .load(file, &mut context, location.clone(), &mut found)
                .await;
            document = loaded.blueprint.unwrap_or_default();
        } else {
            open_packages(&document, self.reading.catalogs, self.reading.world).await;
        }
        let number = self.texts.len() as u32;
        self.texts.push(Text {
            file,
            location,
            blueprint: document,
            context,
            found,
            refused: Vec::new(),
        });
        self.place_text(place, include, name, child, Some(number))
    }

    /// The maximum number of group members and resources of included documents.
    pub(super) fn most_members(&self) -> usize {
        let settings = &self.reading.context.settings;
        let resources = self
            .reading
            .dialects
            .iter()
            .filter_map(|dialect| settings.limits(dialect.name()).resources);
        settings
            .limits
            .all_members()
            .max(resources.max().unwrap_or(0))
    }
}
