//! Groups: documents that are written out from a definition, a size and what is remembered (reference, sections 10.3, 10.5).

use ::blueprint::{
    Blueprint, Child, Expansion, Export, Expr, ExprKind, Head, Input, Lifecycle, Name, ReplaceOrder, Resource,
    ResourceMetadata, Type, Value,
};
use diag::{Diagnostics, Span, Spanned};

use super::lowering::{INSTANCE, Made, UNIT, call, named, reference};
use super::native::{digest, indexed, letters};
use crate::codes::VALUE_CONSTRAINT;
use crate::{Expanded, Expanding};

/// The types of groups.
pub(super) const GROUPS: [&str; 4] = [RESOURCE_GROUP, CHAIN, SCALING_GROUP, STACK];
const RESOURCE_GROUP: &str = "OS::Heat::ResourceGroup";
const CHAIN: &str = "OS::Heat::ResourceChain";
const SCALING_GROUP: &str = "OS::Heat::AutoScalingGroup";
pub(super) const STACK: &str = "OS::Heat::Stack";

/// Attributes that are the group's own, not those of members.
pub(super) const OWN: [&str; 5] = ["refs", "refs_map", "removed_rsrc_list", "current_size", "stack_name"];
/// The attribute that stands for all that need nothing behind them.
pub(super) const ALL: &str = "OS::outputs";
/// Attributes that take the name of a member's attribute behind them.
pub(super) const BY_NAME: [&str; 3] = ["attributes", "outputs", "outputs_list"];

/// A group from its definition, and what its document is given: everything in the definition of members that is computed.
pub(super) fn expansion(
    kind: Spanned<Name>,
    spec: Expr,
    spec_key: Span,
    policy: Option<Expr>,
) -> (Expansion, Vec<(Spanned<Name>, Expr)>) {
    let mut inputs = Vec::new();
    let member = match kind.item.as_ref() {
        RESOURCE_GROUP => part(&spec, "resource_def"),
        SCALING_GROUP => part(&spec, "resource"),
        CHAIN => part(&spec, "resource_properties"),
        _ => part(&spec, "parameters"),
    };
    let member = match member {
        Some(member) if kind.item.as_ref() == STACK => {
            if let ExprKind::Map(entries) = &member.kind {
                inputs.extend(entries.iter().cloned());
            }
            Expr::new(ExprKind::Map(Vec::new()), member.span)
        }
        Some(member) => lifted(member, &mut inputs),
        None => Expr::new(ExprKind::Map(Vec::new()), spec.span),
    };
    (Expansion { kind, spec, spec_key, member, policy, reads: Vec::new() }, inputs)
}

/// An entry of what is written as a map.
fn part<'e>(expr: &'e Expr, key: &str) -> Option<&'e Expr> {
    match &expr.kind {
        ExprKind::Map(entries) => entries.iter().find(|(name, _)| name.item.as_ref() == key).map(|(_, value)| value),
        _ => None,
    }
}

/// The same expression with everything that is computed made an input.
fn lifted(expr: &Expr, inputs: &mut Vec<(Spanned<Name>, Expr)>) -> Expr {
    let kind = match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Error => return expr.clone(),
        ExprKind::List(items) => ExprKind::List(items.iter().map(|item| lifted(item, inputs)).collect()),
        ExprKind::Map(entries) => {
            ExprKind::Map(entries.iter().map(|(key, value)| (key.clone(), lifted(value, inputs))).collect())
        }
        _ => {
            let name = named(&format!("={}", inputs.len()), expr.span);
            inputs.push((name.clone(), expr.clone()));
            return reference(Head::Input(name.item), expr.span, &[]);
        }
    };
    Expr::new(kind, expr.span)
}

/// The name of a member in place of the index variable, in values but not in keys.
fn with_index(expr: &Expr, variable: &str, name: &str) -> Expr {
    let kind = match &expr.kind {
        ExprKind::Literal(value) => ExprKind::Literal(indexed(value, variable, name)),
        ExprKind::List(items) => ExprKind::List(items.iter().map(|item| with_index(item, variable, name)).collect()),
        ExprKind::Map(entries) => {
            ExprKind::Map(entries.iter().map(|(key, value)| (key.clone(), with_index(value, variable, name))).collect())
        }
        ExprKind::Error => ExprKind::Error,
        _ => {
            let text = |text: &str| Expr::literal(Value::text(text), expr.span);
            return call("(index)", expr.span, vec![expr.clone(), text(variable), text(name)], expr.span);
        }
    };
    Expr::new(kind, expr.span)
}

/// The document that a group is.
pub(super) fn expand(expansion: &Expansion, place: &Expanding<'_>) -> Expanded {
    let mut writer = Writer {
        expansion,
        place,
        spec: (place.value)(&expansion.spec),
        found: Diagnostics::new(),
        names: Vec::new(),
        blueprint: Blueprint { dialect: super::NAME, ..Blueprint::default() },
    };
    writer.blueprint.span = Some(expansion.kind.span);
    match expansion.kind.item.as_ref() {
        RESOURCE_GROUP => writer.resource_group(),
        SCALING_GROUP => writer.scaling_group(),
        CHAIN => writer.chain(),
        _ => writer.stack(),
    }
}

struct Writer<'a> {
    expansion: &'a Expansion,
    place: &'a Expanding<'a>,
    /// The definition, as far as it is known.
    spec: Value,
    found: Diagnostics,
    /// Members in order, each with what it is made into.
    names: Vec<(Name, Made)>,
    blueprint: Blueprint,
}

impl Writer<'_> {
    fn span_of(&self, key: &str) -> Span {
        part(&self.expansion.spec, key).map_or(self.expansion.kind.span, |expr| expr.span)
    }

    /// A part of the definition; none where it is absent or null. What is not known in time is reported.
    fn known(&mut self, key: &str) -> Result<Option<Value>, ()> {
        let value = match self.spec.bare() {
            Value::Unknown(_) => self.spec.clone(),
            spec => spec.get(key).cloned().unwrap_or_default(),
        };
        if value.is_null() {
            return Ok(None);
        }
        if !value.has_unknown() {
            return Ok(Some(value.revealed()));
        }
        if self.place.complete {
            self.found.push(
                crate::codes::EACH_NOT_STATIC
                    .new(format!("`{key}` of a group must be known before the deployment"))
                    .label(self.span_of(key), "known only on deploy"),
            );
        }
        Err(())
    }

    fn whole(&mut self, key: &str) -> Result<Option<i64>, ()> {
        let Some(value) = self.known(key)? else { return Ok(None) };
        // What is no number has been reported with the definition.
        python::integer(&value).ok().and_then(|value| value.as_int()).map(Some).ok_or(())
    }

    fn out_of_range(&mut self, key: &str, message: String, words: &str) {
        let span = self.span_of(key);
        self.found.push(VALUE_CONSTRAINT.new(message).label(span, "does not fit the others").words(words));
    }

    /// Members are numbered; some numbers are never used again.
    fn resource_group(mut self) -> Expanded {
        let count = match self.whole("count") {
            Ok(count) => usize::try_from(count.unwrap_or(1)).unwrap_or(0),
            Err(()) => 1,
        };
        let variable = match self.known("index_var") {
            Ok(Some(Value::Text(text))) => text.to_string(),
            _ => "%index%".to_owned(),
        };
        let removed = self.removed();
        let names: Vec<Name> = (0_usize..)
            .map(|number| Name::from(number.to_string()))
            .filter(|name| !removed.contains(name))
            .take(count)
            .collect();
        for (at, name) in names.iter().enumerate() {
            let after = self.after_batch(at, &names);
            let definition = self.expansion.member.clone();
            let properties = part(&definition, "properties").map(|expr| with_index(expr, &variable, name));
            self.member(name, &definition, properties, after);
        }
        let memory = Value::map([
            ("names", Value::list(names.iter().cloned().map(Value::Text))),
            ("removed", Value::list(removed.iter().cloned().map(Value::Text))),
        ]);
        let shown = Value::list(removed.into_iter().map(Value::Text));
        self.finish(memory, shown)
    }

    /// Names that are not used again: those of before, where they are kept, and those that are named now.
    fn removed(&mut self) -> Vec<Name> {
        let texts = |value: Option<&Value>| -> Vec<Name> {
            value
                .and_then(Value::as_list)
                .unwrap_or_default()
                .iter()
                .filter_map(Value::as_text)
                .map(Name::from)
                .collect()
        };
        let first = self.place.memory.is_null();
        let before = texts(self.place.memory.get("removed"));
        let existing = texts(self.place.memory.get("names"));
        let replaces = matches!(self.known("removal_policies_mode"), Ok(Some(Value::Text(mode))) if &*mode == "update");
        let mut removed = if replaces { Vec::new() } else { before.clone() };
        if let Ok(Some(policies)) = self.known("removal_policies") {
            let lists = policies.as_list().unwrap_or_default().iter().filter_map(|policy| policy.get("resource_list"));
            for item in lists.flat_map(|list| list.as_list().unwrap_or_default()) {
                let text = python::text(item);
                let name = match (self.place.named)(&text) {
                    Some(name) => name,
                    None => Name::from(text),
                };
                // Later on names of members that are not there mean nothing.
                if (first || existing.contains(&name) || before.contains(&name)) && !removed.contains(&name) {
                    removed.push(name);
                }
            }
        }
        removed.sort();
        removed
    }

    /// The members before which one in a batch waits when the group is made: all of the batch before.
    fn after_batch(&self, at: usize, names: &[Name]) -> Vec<Spanned<Name>> {
        let policy = self.expansion.policy.as_ref().map(|policy| (self.place.value)(policy));
        let kind = if self.place.memory.is_null() { "batch_create" } else { "rolling_update" };
        let size = policy.as_ref().and_then(|policy| {
            let policy = policy.get(kind)?;
            policy.get("max_batch_size").map_or(Some(1), |size| python::integer(size).ok()?.as_int())
        });
        let Some(size) = size.and_then(|size| usize::try_from(size).ok()).filter(|size| *size > 0) else {
            return Vec::new();
        };
        // Updates begin with the last members.
        let position = if kind == "rolling_update" { names.len() - 1 - at } else { at };
        let batch = position / size;
        let Some(before) = batch.checked_sub(1) else { return Vec::new() };
        let span = self.expansion.kind.span;
        let of_batch = |number: &usize| number / size == before;
        (0..names.len())
            .filter(of_batch)
            .map(|number| if kind == "rolling_update" { names.len() - 1 - number } else { number })
            .map(|number| Spanned::new(names[number].clone(), span))
            .collect()
    }

    /// Members have names of their own; the oldest go first.
    fn scaling_group(mut self) -> Expanded {
        let (least, most) = (self.whole("min_size"), self.whole("max_size"));
        let wanted = self.whole("desired_capacity");
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
                usize::try_from(wanted.unwrap_or(least)).unwrap_or(0)
            }
            // What is missing or wrong has been reported with the definition.
            _ => 1,
        };
        let memory = self.place.memory;
        let mut names: Vec<Name> = memory
            .get("names")
            .and_then(Value::as_list)
            .unwrap_or_default()
            .iter()
            .filter_map(Value::as_text)
            .map(Name::from)
            .collect();
        let mut next = memory.get("next").and_then(Value::as_int).unwrap_or(0);
        let too_many = names.len().saturating_sub(size);
        names.drain(..too_many);
        while names.len() < size {
            names.push(letters(&digest(&format!("member {next}"), self.place.path)).into());
            next += 1;
        }
        for name in &names {
            let definition = self.expansion.member.clone();
            let properties = part(&definition, "properties").cloned();
            self.member(name, &definition, properties, Vec::new());
        }
        let memory =
            Value::map([("names", Value::list(names.iter().cloned().map(Value::Text))), ("next", Value::Int(next))]);
        self.finish(memory, Value::list([]))
    }

    /// One member for each type of a list.
    fn chain(mut self) -> Expanded {
        let types = match self.known("resources") {
            Ok(Some(types)) => types.as_list().map(<[Value]>::to_vec).unwrap_or_default(),
            _ => Vec::new(),
        };
        let concurrent = matches!(self.known("concurrent"), Ok(Some(Value::Bool(true))))
            || matches!(self.known("concurrent"), Ok(Some(Value::Text(text))) if text.eq_ignore_ascii_case("true"));
        let properties = self.expansion.member.clone();
        for (at, type_name) in types.iter().enumerate() {
            let name = Name::from(at.to_string());
            let before =
                if at == 0 || concurrent { Vec::new() } else { vec![named(&(at - 1).to_string(), properties.span)] };
            let span = self.span_of("resources");
            let type_name = Expr::literal(type_name.clone(), span);
            let definition = Expr::new(ExprKind::Map(vec![(named("type", span), type_name)]), span);
            self.member(&name, &definition, Some(properties.clone()), before);
        }
        let names = self.names.iter().map(|(name, _)| Value::Text(name.clone()));
        let memory = Value::map([("names", Value::list(names))]);
        self.finish(memory, Value::list([]))
    }

    /// A template that is a property.
    fn stack(mut self) -> Expanded {
        let text = match self.known("template") {
            Ok(Some(Value::Text(text))) => Some(text),
            _ => None,
        };
        let is_open = text.is_none();
        Expanded { blueprint: self.blueprint, text, is_open, memory: Value::Null, diagnostics: self.found }
    }

    /// Adds a member.
    fn member(&mut self, name: &Name, definition: &Expr, properties: Option<Expr>, depends_on: Vec<Spanned<Name>>) {
        let Some(type_expr) = part(definition, "type") else { return };
        let type_name = match type_expr.as_literal() {
            Some(Value::Text(text)) => text.clone(),
            _ => return,
        };
        let span = type_expr.span;
        let spec_key = properties.as_ref().map_or(span, |expr| expr.span);
        let spec = properties.unwrap_or_else(|| Expr::new(ExprKind::Map(Vec::new()), span));
        let (made, meaning) = super::around::of(self.place.around).meaning(&type_name, name);
        let stands_for = (meaning != type_name).then(|| Spanned::new(type_name, span));
        let type_name = Spanned::new(meaning, span);
        self.names.push((name.clone(), made));
        let path = Expr::literal(Value::Text(type_name.item.clone()), span);
        match made {
            Made::Resource => {
                let lifecycle = Lifecycle {
                    replace_order: Some(ReplaceOrder::CreateFirst),
                    replace_if_failed: true,
                    ..Lifecycle::default()
                };
                let metadata =
                    ResourceMetadata { custom: part(definition, "metadata").cloned(), ..ResourceMetadata::default() };
                let resource = Resource {
                    depends_on,
                    metadata: metadata.into(),
                    lifecycle: lifecycle.into(),
                    ..Resource::new(span, type_name, spec_key, spec)
                };
                self.blueprint.resources.insert(name.clone(), resource);
            }
            Made::Child | Made::Group => {
                let (inputs, expansion) = if made == Made::Group {
                    let (expansion, inputs) = expansion(type_name, spec, spec_key, None);
                    (inputs, Some(Box::new(expansion)))
                } else {
                    let inputs = match spec.kind {
                        ExprKind::Map(entries) => entries,
                        _ => Vec::new(),
                    };
                    (inputs, None)
                };
                let child = Child {
                    span,
                    path,
                    stands_for,
                    inputs,
                    source: None,
                    condition: None,
                    depends_on,
                    removal: None,
                    expansion,
                    description: None,
                };
                self.blueprint.children.insert(name.clone(), child);
            }
        }
    }

    /// Adds inputs and exports.
    fn finish(mut self, memory: Value, removed: Value) -> Expanded {
        let mut used: Vec<(Name, Span)> = Vec::new();
        let mut note = |expr: &Expr| {
            expr.references(&mut |reference| {
                if let Head::Input(name) = &reference.head
                    && !used.iter().any(|(known, _)| known == name)
                {
                    used.push((name.clone(), reference.head_span));
                }
            });
        };
        note(&self.expansion.member);
        for (name, span) in used {
            self.blueprint.inputs.insert(name, Input::free(span));
        }
        let span = self.expansion.kind.span;
        let fact = |fact: &str| reference(Head::Scoped(fact.into()), span, &[]);
        let id = call("(group id)", span, vec![fact(INSTANCE), fact(UNIT)], span);
        self.export("OS::stack_id", id, span);
        let reads = self.expansion.reads.clone();
        for Spanned { item: name, span } in reads {
            let field = self.read(&name, &removed, span);
            self.export(&name, field, span);
        }
        Expanded { blueprint: self.blueprint, text: None, is_open: false, memory, diagnostics: self.found }
    }

    fn export(&mut self, name: &str, field: Expr, span: Span) {
        let export = Export { span, ty: Type::Any, field, may_fail: false, hidden: true, description: None };
        self.blueprint.exports.insert(name.into(), export);
    }

    /// What an attribute of the group stands for.
    fn read(&mut self, attribute: &str, removed: &Value, span: Span) -> Expr {
        let members = self.names.clone();
        let list = |items: Vec<Expr>| Expr::new(ExprKind::List(items), span);
        let map = |entries: Vec<(Spanned<Name>, Expr)>| Expr::new(ExprKind::Map(entries), span);
        if let Some(rest) = attribute.strip_prefix("resource.") {
            let (name, of_member) =
                rest.split_once('.').map_or((rest, None), |(name, attribute)| (name, Some(attribute)));
            // Members of a scaling group are counted by age.
            let by_age = self.expansion.kind.item.as_ref() == SCALING_GROUP;
            let member = if by_age {
                name.parse().ok().and_then(|at: usize| members.get(at))
            } else {
                members.iter().find(|(known, _)| known.as_ref() == name)
            };
            let Some((name, made)) = member.cloned() else {
                let group = self.place.path.last().cloned().unwrap_or_default();
                let words = format!("Member '{name}' not found in group resource '{group}'.");
                let diagnostic = crate::codes::UNKNOWN_RESOURCE
                    .new(format!("the group has no member `{name}`"))
                    .label(span, "there is no such member");
                return super::calls::refusing(&diagnostic, Some(&words));
            };
            return match of_member {
                None => self.id_of(&name, made, span),
                Some(attribute) => self.attribute_of(&name, made, attribute, span),
            };
        }
        if let Some((which, of_member)) = attribute.split_once('.')
            && BY_NAME.contains(&which)
        {
            let mut values = Vec::with_capacity(members.len());
            for (name, made) in members {
                values.push((named(&name, span), self.attribute_of(&name, made, of_member, span)));
            }
            return if which == "outputs_list" {
                list(values.into_iter().map(|(_, value)| value).collect())
            } else {
                map(values)
            };
        }
        match attribute {
            "refs" => list(members.iter().map(|(name, made)| self.id_of(name, *made, span)).collect()),
            "refs_map" => {
                map(members.iter().map(|(name, made)| (named(name, span), self.id_of(name, *made, span))).collect())
            }
            ALL => {
                let attributes: &[&str] = match self.expansion.kind.item.as_ref() {
                    RESOURCE_GROUP => &["refs", "refs_map", "removed_rsrc_list"],
                    SCALING_GROUP => &["refs", "refs_map", "current_size"],
                    _ => &["refs"],
                };
                map(attributes.iter().map(|name| (named(name, span), self.read(name, removed, span))).collect())
            }
            "removed_rsrc_list" => Expr::literal(removed.clone(), span),
            "current_size" => Expr::literal(Value::Int(members.len() as i64), span),
            attribute => {
                let mut values = Vec::with_capacity(members.len());
                for (name, made) in members {
                    values.push(self.attribute_of(&name, made, attribute, span));
                }
                list(values)
            }
        }
    }

    fn id_of(&self, name: &Name, made: Made, span: Span) -> Expr {
        match made {
            Made::Resource => reference(Head::Resource { name: name.clone(), bare: true }, span, &[]),
            Made::Child | Made::Group => reference(Head::Child(name.clone()), span, &["OS::stack_id"]),
        }
    }

    fn attribute_of(&mut self, name: &Name, made: Made, attribute: &str, span: Span) -> Expr {
        match made {
            Made::Resource => {
                reference(Head::Resource { name: name.clone(), bare: true }, span, &["attributes", attribute])
            }
            Made::Child => {
                if let Some(inner) = attribute.strip_prefix("resource.")
                    && let Some((inner, of_inner)) = inner.split_once('.')
                {
                    let export = format!("resource.{inner}.");
                    let attributes = reference(Head::Child(name.clone()), span, &[&export]);
                    let of_inner = Expr::literal(Value::text(of_inner), span);
                    return call("get_attr", span, vec![attributes, of_inner], span);
                }
                reference(Head::Child(name.clone()), span, &[attribute])
            }
            Made::Group => {
                if let Some(expansion) =
                    self.blueprint.children.get_mut(name).and_then(|child| child.expansion.as_mut())
                    && !expansion.reads.iter().any(|read| read.item.as_ref() == attribute)
                {
                    expansion.reads.push(named(attribute, span));
                }
                reference(Head::Child(name.clone()), span, &[attribute])
            }
        }
    }
}
