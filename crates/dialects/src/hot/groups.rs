//! Groups: documents that are written out from a definition, a size and what is remembered (reference, sections 10.3, 10.5).

use ::blueprint::{
    Accessor, AccessorKind, Blueprint, Child, Expansion, Export, Expr, ExprKind, Head, Input, Name, Resource,
    ResourceMetadata, Type, Value,
};
use diag::{Diagnostics, Span, Spanned};

use super::lowering::{FACADE, INSTANCE, Made, UNIT, call, named, reference};
use super::native::{digest, indexed, letters};
use super::rolling::{Before, Policy};
use crate::codes::{MISSING_FIELD, VALUE_CONSTRAINT};
use crate::{Expanded, Expanding};

/// So many members a group may have, unless the settings allow more resources.
const MOST_MEMBERS: usize = 10_000;

/// The types of groups.
pub(super) const GROUPS: [&str; 4] = [RESOURCE_GROUP, CHAIN, SCALING_GROUP, STACK];
pub(super) const RESOURCE_GROUP: &str = "OS::Heat::ResourceGroup";
pub(super) const CHAIN: &str = "OS::Heat::ResourceChain";
pub(super) const SCALING_GROUP: &str = "OS::Heat::AutoScalingGroup";
pub(super) const STACK: &str = "OS::Heat::Stack";

/// Attributes that are the group's own, not those of members.
pub(super) fn own(kind: &str) -> &'static [&'static str] {
    match kind {
        RESOURCE_GROUP => &["refs", "refs_map", "removed_rsrc_list"],
        SCALING_GROUP => &["refs", "refs_map", "current_size"],
        _ => &["refs"],
    }
}
/// Attributes that take no path: what is written behind them changes nothing.
pub(super) const WITHOUT_PATH: [&str; 3] = ["refs_map", "removed_rsrc_list", "current_size"];
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
    metadata: Option<Expr>,
) -> (Expansion, Vec<(Spanned<Name>, Expr)>) {
    // What is said of the group beside its definition.
    let says = metadata.map(|said| (named("metadata", spec_key), said)).into_iter().collect();
    let mut inputs = vec![(named(FACADE, spec_key), Expr::new(ExprKind::Map(says), spec_key))];
    let member = match part(&spec, defining(&kind.item)) {
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

/// The property that says what members of a type of group are.
fn defining(kind: &str) -> &'static str {
    match kind {
        RESOURCE_GROUP => "resource_def",
        SCALING_GROUP => "resource",
        CHAIN => "resource_properties",
        _ => "parameters",
    }
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
            let name = named(&format!("={}", inputs.len() - 1), expr.span);
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
    let written = part(&expansion.spec, defining(&expansion.kind.item));
    let member = written.and_then(|written| without_omitted(written, &expansion.member, place));
    let member = member.unwrap_or_else(|| Expr::new(ExprKind::Map(Vec::new()), expansion.member.span));
    let mut writer = Writer {
        expansion,
        place,
        member,
        spec: (place.value)(&expansion.spec),
        found: Diagnostics::new(),
        names: Vec::new(),
        blueprint: Blueprint { dialect: super::NAME, ..Blueprint::default() },
    };
    writer.blueprint.span = Some(expansion.kind.span);
    writer.take_apart();
    match expansion.kind.item.as_ref() {
        RESOURCE_GROUP => writer.resource_group(),
        SCALING_GROUP => writer.scaling_group(),
        CHAIN => writer.chain(),
        _ => writer.stack(),
    }
}

/// The lifted definition without what is omitted where that is known; none if it is omitted as a whole.
fn without_omitted(written: &Expr, lifted: &Expr, place: &Expanding<'_>) -> Option<Expr> {
    if expr::may_omit(written) {
        let listed = Expr::new(ExprKind::List(vec![written.clone()]), written.span);
        if (place.value)(&listed).as_list().is_some_and(<[Value]>::is_empty) {
            return None;
        }
    }
    let kind = match (&written.kind, &lifted.kind) {
        (ExprKind::List(written), ExprKind::List(lifted)) => {
            let items = written.iter().zip(lifted);
            ExprKind::List(items.filter_map(|(written, lifted)| without_omitted(written, lifted, place)).collect())
        }
        (ExprKind::Map(written), ExprKind::Map(lifted)) => {
            let entries = written.iter().zip(lifted);
            let kept = |((_, written), (key, lifted)): (&(_, Expr), &(Spanned<Name>, Expr))| {
                Some((key.clone(), without_omitted(written, lifted, place)?))
            };
            ExprKind::Map(entries.filter_map(kept).collect())
        }
        _ => return Some(lifted.clone()),
    };
    Some(Expr::new(kind, lifted.span))
}

/// A computed map with its keys written out, as far as these are known.
fn taken_apart(expr: &Expr, value: &Value) -> Option<Expr> {
    let nothing = || Some(Expr::new(ExprKind::Map(Vec::new()), expr.span));
    match &expr.kind {
        ExprKind::Literal(value) if value.is_null() => return nothing(),
        ExprKind::Map(_) | ExprKind::Literal(_) => return None,
        _ => {}
    }
    let (bare, _) = value.exposed();
    if bare.is_null() {
        return nothing();
    }
    let entry = |key: &Name| {
        let path = vec![Accessor { kind: AccessorKind::Name(key.clone()), span: expr.span }];
        let inner = Expr::new(ExprKind::Access(Box::new(expr.clone()), path), expr.span);
        (Spanned::new(key.clone(), expr.span), inner)
    };
    let entries = bare.as_map()?.keys().map(entry).collect();
    Some(Expr::new(ExprKind::Map(entries), expr.span))
}

struct Writer<'a> {
    expansion: &'a Expansion,
    place: &'a Expanding<'a>,
    /// How members are defined: without what is omitted, and computed parts taken apart as far as they are known.
    member: Expr,
    /// The definition, as far as it is known.
    spec: Value,
    found: Diagnostics,
    /// Members in order, each with what it is made into.
    names: Vec<(Name, Made)>,
    blueprint: Blueprint,
}

impl Writer<'_> {
    /// Writes out the parts of a definition that is computed: what is a member's type, and which properties it has.
    fn take_apart(&mut self) {
        let key = defining(&self.expansion.kind.item);
        let defined = self.spec.bare().get(key).cloned().unwrap_or_default();
        if let Some(member) = taken_apart(&self.member, &defined) {
            self.member = member;
        }
        if !matches!(self.expansion.kind.item.as_ref(), RESOURCE_GROUP | SCALING_GROUP) {
            return;
        }
        let known = |part: &str| defined.bare().get(part).cloned().unwrap_or_default();
        let is_open = self.place.complete && (self.spec.is_unknown() || defined.is_unknown());
        let ExprKind::Map(entries) = &mut self.member.kind else {
            if is_open {
                self.not_static(key);
            }
            return;
        };
        let mut open = false;
        for (name, value) in entries {
            match name.item.as_ref() {
                "type" if value.as_literal().is_none() => {
                    let ty = known("type");
                    open = ty.has_unknown();
                    if !open {
                        let ty = ty.revealed();
                        let is_text = matches!(ty, Value::Int(_) | Value::Bool(_) | Value::Decimal(_));
                        value.kind = ExprKind::Literal(if is_text { Value::from(python::text(&ty)) } else { ty });
                    }
                }
                "properties" => {
                    if let Some(apart) = taken_apart(value, &known("properties")) {
                        *value = apart;
                    }
                }
                _ => {}
            }
        }
        if open && self.place.complete {
            self.not_static(key);
        }
    }

    fn not_static(&mut self, key: &str) {
        self.found.push(
            crate::codes::EACH_NOT_STATIC
                .new(format!("`{key}` of a group must be known before the deployment"))
                .label(self.span_of(key), "known only on deploy"),
        );
    }

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
            self.not_static(key);
        }
        Err(())
    }

    fn whole(&mut self, key: &str) -> Result<Option<i64>, ()> {
        let Some(value) = self.known(key)? else { return Ok(None) };
        // What is no number has been reported with the definition.
        python::integer(&value).ok().and_then(|value| value.as_int()).map(Some).ok_or(())
    }

    /// A size: null is 0, as it is of every integer that has no default.
    fn size(&mut self, key: &str) -> Result<Option<i64>, ()> {
        let is_null = self.spec.bare().get(key).is_some_and(Value::is_null);
        if is_null { Ok(Some(0)) } else { self.whole(key) }
    }

    fn out_of_range(&mut self, key: &str, message: String, words: &str) {
        let span = self.span_of(key);
        self.found.push(
            VALUE_CONSTRAINT.new(message).label(span, "does not fit the others").words(super::words::invalid(words)),
        );
    }

    /// The number of members, if a group may have so many; else 1, and that is reported. The number is known before anything
    /// is written out, so a huge one takes no memory.
    fn within_limit(&mut self, key: &str, count: usize) -> usize {
        let limits = &self.place.around.limits;
        let most = limits.room.members.unwrap_or(limits.resources.unwrap_or(0).max(MOST_MEMBERS));
        if count <= most {
            // Each member has a definition of its own.
            let all = expr::Meter::new(None, limits.room.all_value_bytes).all();
            let fits = all / expr::weight(&self.expansion.spec).max(1);
            if count <= fits.max(1) {
                return count;
            }
            self.found.push(
                VALUE_CONSTRAINT
                    .new(format!("a group with a definition this large may have at most {fits} members, not {count}"))
                    .label(self.span_of(key), "too many")
                    .help("make the definition smaller, or raise `all-value-bytes` under `[documents]` in `cyan.toml`"),
            );
            return 1;
        }
        self.found.push(
            VALUE_CONSTRAINT
                .new(format!("a group may have at most {most} members, not {count}"))
                .label(self.span_of(key), "too many")
                .help("divide it into several groups, or raise `members` under `[documents]` in `cyan.toml`"),
        );
        1
    }

    /// Members are numbered; some numbers are never used again.
    fn resource_group(mut self) -> Expanded {
        let count = match self.whole("count") {
            Ok(count) => self.within_limit("count", usize::try_from(count.unwrap_or(1)).unwrap_or(0)),
            Err(()) => 1,
        };
        let variable = match self.known("index_var") {
            Ok(Some(Value::Text(text))) => text.to_string(),
            _ => "%index%".to_owned(),
        };
        let before = Before::new(self.place.before, self.defined("resource_def"));
        let removed = self.removed(before.is_being_made);
        let mut numbers =
            (0_usize..).map(|number| Name::from(number.to_string())).filter(|name| !removed.contains(name));
        let names: Vec<Name> = numbers.by_ref().take(count).collect();
        for name in &names {
            self.numbered(name, &variable);
        }
        let policy = self.expansion.policy.as_ref().map(|policy| (self.place.value)(policy));
        let batches = match &policy {
            Some(policy) if before.is_being_made => Policy::of(policy.get("batch_create")),
            Some(policy) if before.is_another => Policy::of(policy.get("rolling_update")),
            _ => None,
        };
        if let Some(batches) = batches {
            let span = self.expansion.policy.as_ref().map_or(self.expansion.kind.span, |policy| policy.span);
            let mut batches = batches.batches(names.clone(), span);
            let more = batches.most() - names.len();
            // What is there and does not stay goes from the last to the first, and what stands in for others is made behind it.
            let far = before.leaving(&names).iter().filter_map(|name| name.parse::<usize>().ok()).max();
            let candidates = numbers.take(more + before.there()).enumerate();
            let beyond = candidates.take_while(|(at, name)| *at < more || name.parse().ok() <= far);
            batches.beyond = beyond.map(|(_, name)| name).collect();
            batches.backwards = !before.is_being_made;
            for name in batches.beyond.iter().take(more) {
                self.for_a_while(|writer| writer.numbered(name, &variable));
            }
            self.blueprint.batches = Some(Box::new(batches));
        }
        let memory = [
            ("names", Value::list(names.iter().cloned().map(Value::Text))),
            ("removed", Value::list(removed.iter().cloned().map(Value::Text))),
        ];
        let memory = Value::map(memory.into_iter().chain(before.remembered(&names)));
        let shown = Value::list(removed.into_iter().map(Value::Text));
        self.finish(memory, shown)
    }

    /// Adds a member that is called after its number.
    fn numbered(&mut self, name: &Name, variable: &str) {
        let definition = self.member.clone();
        let properties = part(&definition, "properties").map(|expr| with_index(expr, variable, name));
        self.member(name, &definition, properties, Vec::new());
    }

    /// Adds a member that nobody outside sees.
    fn for_a_while(&mut self, member: impl FnOnce(&mut Self)) {
        let shown = self.names.len();
        member(self);
        self.names.truncate(shown);
    }

    /// How members are defined, as far as it is known.
    fn defined(&self, key: &str) -> &Value {
        self.spec.bare().get(key).unwrap_or(&Value::Null)
    }

    /// Names that are not used again: those of before, where they are kept, and those that are named now.
    fn removed(&mut self, first: bool) -> Vec<Name> {
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

    /// Members have names of their own; the oldest go first.
    fn scaling_group(mut self) -> Expanded {
        let (least, most) = (self.size("min_size"), self.size("max_size"));
        let wanted = self.size("desired_capacity");
        let memory = self.place.memory;
        let mut names = super::rolling::names(memory, "names");
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
                // Without a wish, which 0 is as well, a group stays as large as it is.
                let size = match wanted {
                    Some(wanted) if wanted != 0 => wanted,
                    _ if names.is_empty() => least,
                    _ => i64::try_from(names.len()).unwrap_or(i64::MAX).min(most).max(least),
                };
                self.within_limit("desired_capacity", usize::try_from(size).unwrap_or(0))
            }
            // What is missing or wrong has been reported with the definition.
            _ => 1,
        };
        let mut next = memory.get("next").and_then(Value::as_int).unwrap_or(0);
        let too_many = names.len().saturating_sub(size);
        names.drain(..too_many);
        while names.len() < size {
            names.push(self.drawn(next));
            next += 1;
        }
        for name in &names {
            self.aged(name);
        }
        let before = Before::new(self.place.before, self.defined("resource"));
        let usual = Value::map::<&str>([]);
        let policy = match self.spec.get("rolling_updates") {
            Some(policy) if !policy.is_null() => policy,
            _ => &usual,
        };
        if before.is_another
            && !before.is_being_made
            && let Some(policy) = Policy::of(Some(policy))
        {
            let mut batches = policy.batches(names.clone(), self.span_of("rolling_updates"));
            batches.new_ones_last = true;
            let count = i64::try_from(batches.most() - names.len()).unwrap_or(0);
            let stands_in: Vec<Name> = (next..next + count).map(|number| self.drawn(number)).collect();
            stands_in.iter().for_each(|name| self.for_a_while(|writer| writer.aged(name)));
            // The oldest goes first.
            batches.beyond = stands_in.into_iter().chain(before.leaving(&names).into_iter().rev()).collect();
            self.blueprint.batches = Some(Box::new(batches));
        }
        let known = before.remembered(&names);
        let memory = [("names", Value::list(names.iter().cloned().map(Value::Text))), ("next", Value::Int(next))];
        self.finish(Value::map(memory.into_iter().chain(known)), Value::list([]))
    }

    /// Adds a member of a scaling group.
    fn aged(&mut self, name: &Name) {
        let definition = self.member.clone();
        let properties = part(&definition, "properties").cloned();
        self.member(name, &definition, properties, Vec::new());
    }

    /// The name of the member of that number.
    fn drawn(&self, number: i64) -> Name {
        letters(&digest(&format!("member {number}"), self.place.path)).into()
    }

    /// One member for each type of a list.
    fn chain(mut self) -> Expanded {
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
        let memory = Value::Null;
        Expanded { blueprint: self.blueprint, text, is_open, memory, diagnostics: self.found, sample: None }
    }

    /// Adds a member.
    fn member(&mut self, name: &Name, definition: &Expr, properties: Option<Expr>, depends_on: Vec<Spanned<Name>>) {
        let Some(type_expr) = part(definition, "type") else { return };
        let is_nothing = |value: &Value| value.is_null() || value.as_text() == Some("");
        if type_expr.as_literal().is_some_and(is_nothing) && self.names.is_empty() && self.found.is_empty() {
            let missing = MISSING_FIELD
                .new("the members have no type")
                .label(type_expr.span, "this comes to nothing")
                .words(super::words::invalid("Resource \"None\" has no type"));
            self.found.push(missing);
        }
        // What is no type has been reported with the definition.
        let type_name = type_expr.as_literal().and_then(Value::as_text).filter(|name| !name.is_empty());
        let Some(type_name) = type_name.map(Name::from) else { return };
        let span = type_expr.span;
        let spec_key = properties.as_ref().map_or(span, |expr| expr.span);
        let spec = properties.unwrap_or_else(|| Expr::new(ExprKind::Map(Vec::new()), span));
        let around = super::around::of(self.place.around);
        let (made, meaning) = around.meaning(&type_name, name);
        let stands_for = (meaning != type_name).then(|| Spanned::new(type_name, span));
        let type_name = Spanned::new(meaning, span);
        self.names.push((name.clone(), made));
        let path = Expr::literal(Value::Text(type_name.item.clone()), span);
        let said = |key: &str| part(definition, key).filter(|expr| expr.as_literal().is_none_or(|it| !it.is_null()));
        let (removal, policy) = (said("deletion_policy").cloned().map(Box::new), said("update_policy").cloned());
        match made {
            Made::Resource => {
                let metadata = ResourceMetadata { custom: said("metadata").cloned(), ..ResourceMetadata::default() };
                let resource = Resource {
                    depends_on,
                    metadata,
                    lifecycle: around.lifecycle(name),
                    removal,
                    update_policy: policy.map(Box::new),
                    ..Resource::new(span, type_name, spec_key, spec)
                };
                self.blueprint.resources.insert(name.clone(), resource);
            }
            Made::Child | Made::Group => {
                let (inputs, expansion) = if made == Made::Group {
                    let metadata = said("metadata").cloned();
                    let (expansion, inputs) = expansion(type_name, spec, spec_key, policy, metadata);
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
                    removal,
                    expansion,
                    breakpoints: around.breakpoints(name),
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
        used.push((FACADE.into(), self.expansion.kind.span));
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
        let sample = self.sample();
        Expanded { blueprint: self.blueprint, text: None, is_open: false, memory, diagnostics: self.found, sample }
    }

    /// The template that members would be, where there are none.
    fn sample(&self) -> Option<Spanned<Name>> {
        let types = part(&self.expansion.member, "type").filter(|_| self.names.is_empty())?;
        let written = types.as_literal()?.as_text()?;
        let (made, meaning) = super::around::of(self.place.around).meaning(written, "0");
        (made == Made::Child).then(|| Spanned::new(meaning, types.span))
    }

    fn export(&mut self, name: &str, field: Expr, span: Span) {
        let export =
            Export { span, ty: Type::Any, field, may_fail: false, hidden: true, by_entry: false, description: None };
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
                // Of a group that is empty no attribute is looked for.
                let is_numbered = self.expansion.kind.item.as_ref() == RESOURCE_GROUP;
                if members.is_empty() && is_numbered && of_member.is_some() {
                    return Expr::literal(Value::Null, span);
                }
                let group = self.place.path.last().cloned().unwrap_or_default();
                let words = format!("Member '{name}' not found in group resource '{group}'.");
                let diagnostic = expr::codes::UNKNOWN_FIELD
                    .new(format!("the group has no member `{name}`"))
                    .label(span, "there is no such member")
                    .words(words);
                return super::calls::refusing(&diagnostic);
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
            ALL => {
                let attributes = own(&self.expansion.kind.item);
                map(attributes.iter().map(|name| (named(name, span), self.read(name, removed, span))).collect())
            }
            other if !own(&self.expansion.kind.item).contains(&other) => {
                let mut values = Vec::with_capacity(members.len());
                for (name, made) in members {
                    values.push(self.attribute_of(&name, made, attribute, span));
                }
                list(values)
            }
            "refs" => list(members.iter().map(|(name, made)| self.id_of(name, *made, span)).collect()),
            "refs_map" => {
                map(members.iter().map(|(name, made)| (named(name, span), self.id_of(name, *made, span))).collect())
            }
            "removed_rsrc_list" => Expr::literal(removed.clone(), span),
            _ => Expr::literal(Value::Int(members.len() as i64), span),
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
