//! Groups of software deployments: one deployment for each server of a map, with the properties of the
//! group.
//!
//! Not here: what a deployment does (the provider).

use blueprint::{Expr, ExprKind, Name, Value};

use super::definition::{known_keys_map, part};
use super::rolling::{Policy, PreviousGroup};
use super::writer::GroupWriter;
use crate::expressions::named;
use dialect::Expanded;

/// The property with the servers: a map of the names of members to the ids of servers.
const SERVERS: &str = "servers";

impl GroupWriter<'_> {
    /// Expands a group of deployments of a type.
    pub(super) fn deployment_group(mut self, member_type: &str) -> Expanded {
        let servers = self.servers();
        let count = self.within_limit(SERVERS, servers.len());
        let span = self.expansion.kind.span;
        let type_name = Expr::literal(Value::text(member_type), span);
        let definition = Expr::new(ExprKind::Map(vec![(named("type", span), type_name)]), span);
        let shared = match &self.member.kind {
            ExprKind::Map(entries) => entries.clone(),
            _ => Vec::new(),
        };
        let shared: Vec<_> = shared
            .into_iter()
            .filter(|(name, _)| name.item.as_ref() != SERVERS)
            .collect();
        for (name, server) in servers.into_iter().take(count) {
            let mut properties = shared.clone();
            properties.push((named("server", server.span), server));
            let properties = Expr::new(ExprKind::Map(properties), self.member.span);
            self.member(&name, &definition, Some(properties), Vec::new());
        }
        let names: Vec<Name> = self.names.iter().map(|(name, _)| name.clone()).collect();
        let before = PreviousGroup::new(self.place.stored_memory, &self.spec);
        let policy = self.expansion.policy.as_ref();
        let evaluated = policy.map(|policy| (self.place.evaluate)(policy));
        let batches = match &evaluated {
            Some(policy) if before.never_completed => Policy::of(policy.get("batch_create")),
            Some(policy) if before.definition_changed => Policy::of(policy.get("rolling_update")),
            _ => None,
        };
        if let Some(batches) = batches {
            let span = policy.map_or(span, |policy| policy.span);
            self.blueprint.batches = Some(Box::new(batches.batches(names.clone(), span)));
        }
        let listed = Value::list(names.iter().cloned().map(Value::Text));
        let memory = [("names", listed)].into_iter();
        let memory = Value::map(memory.chain(before.next_memory(&names)));
        self.finish(memory, Value::list([]))
    }

    /// The names of the members with their servers. Names that are not known yet are reported.
    fn servers(&mut self) -> Vec<(Name, Expr)> {
        let Some(written) = part(&self.member, SERVERS).cloned() else {
            return Vec::new();
        };
        let defined = self.defined(SERVERS).clone();
        let apart = known_keys_map(&written, &defined).unwrap_or(written);
        match &apart.kind {
            ExprKind::Map(entries) => {
                let entries = entries.iter();
                entries
                    .map(|(name, server)| (name.item.clone(), server.clone()))
                    .collect()
            }
            ExprKind::Literal(value) => {
                let entries = value.as_map().into_iter().flatten();
                let server = |value: &Value| Expr::literal(value.clone(), apart.span);
                entries
                    .map(|(name, value)| (name.clone(), server(value)))
                    .collect()
            }
            _ => {
                if self.place.complete {
                    self.not_static(SERVERS);
                }
                Vec::new()
            }
        }
    }
}
