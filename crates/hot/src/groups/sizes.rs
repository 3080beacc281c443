//! The number and the names of members, for each type of group.

use blueprint::{Expr, ExprKind, Name, Value};

use super::definition::{part, with_index};
use super::rolling::{self, Policy, PreviousGroup};
use super::writer::GroupWriter;
use crate::expressions::named;
use crate::naming::{digest, letters};
use dialect::Expanded;

impl GroupWriter<'_> {
    /// Expands a resource group. Members are numbered; some numbers are never used again.
    pub(super) fn resource_group(mut self) -> Expanded {
        let count = match self.integer_property("count") {
            Ok(count) => {
                self.within_limit("count", usize::try_from(count.unwrap_or(1)).unwrap_or(0))
            }
            Err(()) => 1,
        };
        let variable = match self.known("index_var") {
            Ok(Some(Value::Text(text))) => text.to_string(),
            _ => "%index%".to_owned(),
        };
        let before = PreviousGroup::new(self.place.stored_memory, self.defined("resource_def"));
        let removed = self.names_not_reused(before.never_completed);
        let mut numbers = (0_usize..)
            .map(|number| Name::from(number.to_string()))
            .filter(|name| !removed.contains(name));
        let names: Vec<Name> = numbers.by_ref().take(count).collect();
        for name in &names {
            self.add_numbered_member(name, &variable);
        }
        let policy = self
            .expansion
            .policy
            .as_ref()
            .map(|policy| (self.place.evaluate)(policy));
        let batches = match &policy {
            Some(policy) if before.never_completed => Policy::of(policy.get("batch_create")),
            Some(policy) if before.definition_changed => Policy::of(policy.get("rolling_update")),
            _ => None,
        };
        if let Some(batches) = batches {
            let span = self
                .expansion
                .policy
                .as_ref()
                .map_or(self.expansion.kind.span, |policy| policy.span);
            let mut batches = batches.batches(names.clone(), span);
            let more = batches.most() - names.len();
            // Leaving members are deleted from the last to the first; temporary members get the
            // numbers after them.
            let far = before
                .members_to_delete(&names)
                .iter()
                .filter_map(|name| name.parse::<usize>().ok())
                .max();
            let candidates = numbers.take(more + before.previous_size()).enumerate();
            let beyond = candidates.take_while(|(at, name)| *at < more || name.parse().ok() <= far);
            batches.beyond = beyond.map(|(_, name)| name).collect();
            batches.backwards = !before.never_completed;
            for name in batches.beyond.iter().take(more) {
                self.add_temporary(|writer| writer.add_numbered_member(name, &variable));
            }
            self.blueprint.batches = Some(Box::new(batches));
        }
        let memory = [
            ("names", Value::list(names.iter().cloned().map(Value::Text))),
            (
                "removed",
                Value::list(removed.iter().cloned().map(Value::Text)),
            ),
        ];
        let memory = Value::map(memory.into_iter().chain(before.next_memory(&names)));
        let shown = Value::list(removed.into_iter().map(Value::Text));
        self.finish(memory, shown)
    }

    /// Adds a member whose name is its number.
    pub(super) fn add_numbered_member(&mut self, name: &Name, variable: &str) {
        let definition = self.member.clone();
        let properties =
            part(&definition, "properties").map(|expr| with_index(expr, variable, name));
        self.member(name, &definition, properties, Vec::new());
    }

    /// The names that are not used again: the remembered ones, unless the mode replaces them, and
    /// the ones that the policies name.
    pub(super) fn names_not_reused(&mut self, first: bool) -> Vec<Name> {
        let texts = |value: Option<&Value>| -> Vec<Name> {
            value
                .and_then(Value::as_list)
                .unwrap_or_default()
                .iter()
                .filter_map(Value::as_text)
                .map(Name::from)
                .collect()
        };
        let before = texts(self.place.memory.get("removed"));
        let existing = texts(self.place.memory.get("names"));
        let replaces = matches!(self.known("removal_policies_mode"), Ok(Some(Value::Text(mode))) if &*mode == "update");
        let mut removed = if replaces { Vec::new() } else { before.clone() };
        if let Ok(Some(policies)) = self.known("removal_policies") {
            let lists = policies
                .as_list()
                .unwrap_or_default()
                .iter()
                .filter_map(|policy| policy.get("resource_list"));
            for item in lists.flat_map(|list| list.as_list().unwrap_or_default()) {
                let text = pycompat::text(item);
                let name = match (self.place.member_name)(&text) {
                    Some(name) => name,
                    None => Name::from(text),
                };
                // After the first expansion, names of members that do not exist are ignored.
                if (first || existing.contains(&name) || before.contains(&name))
                    && !removed.contains(&name)
                {
                    removed.push(name);
                }
            }
        }
        removed.sort();
        removed
    }

    /// Expands a scaling group. Members have generated names; the oldest are removed first.
    pub(super) fn scaling_group(mut self) -> Expanded {
        let (least, most) = (self.size("min_size"), self.size("max_size"));
        let wanted = self.size("desired_capacity");
        let memory = self.place.memory;
        let mut names = rolling::names(memory, "names");
        let size = match (least, most, wanted) {
            (Ok(Some(least)), Ok(Some(most)), Ok(wanted)) => {
                if least > most {
                    let words = "MinSize can not be greater than MaxSize";
                    self.out_of_range(
                        "min_size",
                        format!("`min_size` {least} is greater than `max_size` {most}"),
                        words,
                    );
                } else if wanted.is_some_and(|wanted| !(least..=most).contains(&wanted)) {
                    let words = "DesiredCapacity must be between MinSize and MaxSize";
                    self.out_of_range(
                        "desired_capacity",
                        format!("`desired_capacity` must be between {least} and {most}"),
                        words,
                    );
                }
                // Without a desired capacity, or with 0, a group keeps its size.
                let size = match wanted {
                    Some(wanted) if wanted != 0 => wanted,
                    _ if names.is_empty() => least,
                    _ => i64::try_from(names.len())
                        .unwrap_or(i64::MAX)
                        .min(most)
                        .max(least),
                };
                self.within_limit("desired_capacity", usize::try_from(size).unwrap_or(0))
            }
            // Missing and wrong sizes were reported with the definition.
            _ => 1,
        };
        let mut next = memory.get("next").and_then(Value::as_int).unwrap_or(0);
        let too_many = names.len().saturating_sub(size);
        names.drain(..too_many);
        while names.len() < size {
            names.push(self.member_name(next));
            next += 1;
        }
        for name in &names {
            self.add_scaling_member(name);
        }
        let before = PreviousGroup::new(self.place.stored_memory, self.defined("resource"));
        let usual = Value::map::<&str>([]);
        let policy = match self.spec.get("rolling_updates") {
            Some(policy) if !policy.is_null() => policy,
            _ => &usual,
        };
        if before.definition_changed
            && !before.never_completed
            && let Some(policy) = Policy::of(Some(policy))
        {
            let mut batches = policy.batches(names.clone(), self.span_of("rolling_updates"));
            batches.new_ones_last = true;
            let count = i64::try_from(batches.most() - names.len()).unwrap_or(0);
            let stands_in: Vec<Name> = (next..next + count)
                .map(|number| self.member_name(number))
                .collect();
            stands_in
                .iter()
                .for_each(|name| self.add_temporary(|writer| writer.add_scaling_member(name)));
            // The oldest member is removed first.
            batches.beyond = stands_in
                .into_iter()
                .chain(before.members_to_delete(&names).into_iter().rev())
                .collect();
            self.blueprint.batches = Some(Box::new(batches));
        }
        let known = before.next_memory(&names);
        let memory = [
            ("names", Value::list(names.iter().cloned().map(Value::Text))),
            ("next", Value::Int(next)),
        ];
        self.finish(Value::map(memory.into_iter().chain(known)), Value::list([]))
    }

    /// Adds a member of a scaling group.
    pub(super) fn add_scaling_member(&mut self, name: &Name) {
        let definition = self.member.clone();
        let properties = part(&definition, "properties").cloned();
        self.member(name, &definition, properties, Vec::new());
    }

    /// The name of the member with a number.
    pub(super) fn member_name(&self, number: i64) -> Name {
        letters(&digest(&format!("member {number}"), self.place.path)).into()
    }

    /// Expands a resource chain: one member for each type in a list.
    pub(super) fn chain(mut self) -> Expanded {
        let types = match self.known("resources") {
            Ok(Some(types)) => types.as_list().map(<[Value]>::to_vec).unwrap_or_default(),
            _ => Vec::new(),
        };
        let concurrent = matches!(self.known("concurrent"), Ok(Some(Value::Bool(true))))
            || matches!(self.known("concurrent"), Ok(Some(Value::Text(text))) if text.eq_ignore_ascii_case("true"));
        let properties = self.member.clone();
        let count = self.within_limit("resources", types.len());
        for (at, type_name) in types.iter().take(count).enumerate() {
            let name = Name::from(at.to_string());
            let before = if at == 0 || concurrent {
                Vec::new()
            } else {
                vec![named(&(at - 1).to_string(), properties.span)]
            };
            let span = self.span_of("resources");
            let type_name = Expr::literal(type_name.clone(), span);
            let definition = Expr::new(ExprKind::Map(vec![(named("type", span), type_name)]), span);
            self.member(&name, &definition, Some(properties.clone()), before);
        }
        let names = self.names.iter().map(|(name, _)| Value::Text(name.clone()));
        let memory = Value::map([("names", Value::list(names))]);
        self.finish(memory, Value::list([]))
    }

    /// Expands a stack, whose template is a property.
    pub(super) fn stack(mut self) -> Expanded {
        let text = match self.known("template") {
            Ok(Some(Value::Text(text))) => Some(text),
            _ => None,
        };
        let is_open = text.is_none();
        let memory = Value::Null;
        Expanded {
            blueprint: self.blueprint,
            text,
            is_open,
            memory,
            diagnostics: self.found,
            member_document: None,
        }
    }

    /// Adds a member that the exports of the group leave out.
    pub(super) fn add_temporary(&mut self, member: impl FnOnce(&mut Self)) {
        let shown = self.names.len();
        member(self);
        self.names.truncate(shown);
    }
}
