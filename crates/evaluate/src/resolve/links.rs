//! Links between members, and the evaluation of the expressions of their kinds.
//!
//! The expressions of a link kind use the language of documents with the heads `a`, `b`, `note`,
//! `part` and `use` (decisions/links#kinds-are-data). Absent fields are `none`, because a kind
//! cannot know which fields a document sets. Errors are reported at the link.

mod annotations;
mod frame;
pub mod slots;

use std::sync::Arc;

use blueprint::{Address, Expr, Key, Name, Resource, Type, TypeId, Value};
use diag::{Diagnostic, Diagnostics, Span};
use expr::EvaluationStop;
use provider::{LinkEffect, ResourceType, Side, WriteMode};
use state::Record;

use slots::{LinkAt, LinkSlot};

use super::{
    Evaluation, ExpressionSite, Halt, Member, Members, Need, Outputs, RemovalPolicy, unknown_of,
};
use crate::resolve::pairing::LinkInstance;
use crate::resolve::pairing::{EndMember, Ends, Unpaired, pair_up};
use understand::check::{codes, spec};
use understand::documents::Documents;
use understand::links::LinkedPair;
use understand::links::contribution::{Contribution, ContributionForm, Merger, WriteConflict};
use understand::links::overlay::Overlay;
use understand::links::wiring::LinkTarget;

/// A resource of a document. Owns its documents, so that the evaluation can change while they are
/// read.
struct Declared {
    documents: Arc<Documents>,
    number: u32,
    unit: u32,
}

impl Declared {
    fn name(&self) -> &Name {
        self.entry().0
    }

    fn resource(&self) -> &Resource {
        self.entry().1
    }

    fn entry(&self) -> (&Name, &Resource) {
        let (_, name, resource) = self
            .documents
            .resource(self.number)
            .expect("it was there when it was taken");
        (name, resource)
    }

    fn ty(&self) -> Option<&Arc<ResourceType>> {
        self.documents.resource_type(self.number)
    }

    /// The address of the resource, without a key.
    fn address(&self) -> Address {
        self.documents.unit(self.unit).address(self.name())
    }
}

impl Evaluation {
    /// A declared link with its ends.
    pub fn pair(&self, number: u32) -> Option<Arc<LinkedPair>> {
        self.declared_links.pair(number).cloned()
    }

    /// A link between two members, if it is settled.
    pub fn link(&self, (number, at): LinkAt) -> Option<&LinkInstance> {
        match self.links.slots.get(number as usize)? {
            LinkSlot::Ready(links) => links.get(at as usize),
            _ => None,
        }
    }

    /// The links in which a member takes part, with its role.
    pub fn links_of(&self, resource: u32, position: Option<u32>) -> &[(u32, u32, LinkTarget)] {
        self.links
            .by_member
            .get(&(resource, position))
            .map_or(&[], Vec::as_slice)
    }

    /// The member on a side of a link: its resource and position.
    pub fn end_of(&self, (number, at): LinkAt, side: Side) -> Option<(u32, Option<u32>)> {
        let link = self.link((number, at))?;
        let pair = self.declared_links.pair(number)?;
        Some(match side {
            Side::A => (pair.a, link.a),
            Side::B => (pair.b, link.b),
        })
    }

    /// The member that a target of a link refers to.
    pub fn member_of(&self, link: LinkAt, target: LinkTarget) -> Option<(u32, Option<u32>)> {
        match target {
            LinkTarget::End(side) => self.end_of(link, side),
            LinkTarget::Use(at) => {
                let used = self
                    .declared_links
                    .pair(link.0)?
                    .uses
                    .get(at)
                    .copied()
                    .flatten()?;
                Some((used.resource, used.position))
            }
        }
    }

    fn declared(&self, number: u32) -> Option<Declared> {
        let (unit, ..) = self.documents.resource(number)?;
        Some(Declared {
            documents: self.documents.clone(),
            number,
            unit,
        })
    }

    /// Expands a declared link to links between members, once the members of its ends are known.
    /// Returns false after an error, which is reported.
    pub fn settle_link(&mut self, number: u32, found: &mut Diagnostics) -> Result<bool, Need> {
        match self.links.slots.get(number as usize) {
            Some(LinkSlot::Open) => {}
            Some(LinkSlot::Ready(_)) => return Ok(true),
            Some(LinkSlot::Failed) | None => return Ok(false),
        }
        let Some(pair) = self.pair(number) else {
            return Ok(false);
        };
        let (Some(a), Some(b)) = (self.ends(pair.a, found)?, self.ends(pair.b, found)?) else {
            self.links.slots[number as usize] = LinkSlot::Failed;
            return Ok(false);
        };
        let (Some(from), Some(to)) = (self.declared(pair.a), self.declared(pair.b)) else {
            return Ok(false);
        };
        let is_keyed = |it: &Declared| {
            it.resource()
                .each
                .as_ref()
                .is_some_and(|each| each.key.is_some())
        };
        let by_key = is_keyed(&from) && is_keyed(&to);
        match pair_up(
            &from.documents.unit(from.unit).path,
            &pair,
            [from.name(), to.name()],
            &a,
            &b,
            by_key,
        ) {
            Ok(links) => {
                for (at, link) in links.iter().enumerate() {
                    let at = at as u32;
                    let by_member = &mut self.links.by_member;
                    for (resource, position, target) in [
                        (pair.a, link.a, LinkTarget::End(Side::A)),
                        (pair.b, link.b, LinkTarget::End(Side::B)),
                    ] {
                        by_member
                            .entry((resource, position))
                            .or_default()
                            .push((number, at, target));
                    }
                    for (use_at, used) in pair.uses.iter().enumerate() {
                        if let Some(used) = used {
                            let of_used =
                                by_member.entry((used.resource, used.position)).or_default();
                            of_used.push((number, at, LinkTarget::Use(use_at)));
                        }
                    }
                    self.links.by_ends.insert((number, link.a, link.b), at);
                }
                self.links.slots[number as usize] = LinkSlot::Ready(links);
                Ok(true)
            }
            Err(Unpaired(why)) => {
                found.push(
                    codes::LINK_LENGTHS
                        .new(format!(
                            "the members of `{}` and `{}` cannot be paired",
                            from.name(),
                            to.name()
                        ))
                        .label(pair.span, why)
                        .help("make both from the same list"),
                );
                self.links.slots[number as usize] = LinkSlot::Failed;
                Ok(false)
            }
        }
    }

    /// A part of a link, mutable.
    pub fn part_mut(&mut self, (number, at): LinkAt, part: usize) -> Option<&mut Member> {
        match self.links.slots.get_mut(number as usize)? {
            LinkSlot::Ready(links) => links
                .get_mut(at as usize)?
                .parts
                .get_mut(part)?
                .as_deref_mut(),
            _ => None,
        }
    }

    /// Stores a part of a link.
    pub fn set_part(&mut self, (number, at): LinkAt, part: usize, member: Option<Box<Member>>) {
        if let Some(LinkSlot::Ready(links)) = self.links.slots.get_mut(number as usize)
            && let Some(link) = links.get_mut(at as usize)
        {
            if link.parts.len() <= part {
                link.parts.resize_with(part + 1, || None);
            }
            link.parts[part] = member;
        }
    }

    /// The place where a resource is declared.
    pub fn place_of(&self, resource: u32) -> Span {
        self.declared(resource)
            .map_or(Span::NONE, |of| of.resource().span)
    }

    /// The type of a resource.
    pub fn type_of(&self, resource: u32) -> Option<&ResourceType> {
        self.documents.resource_type(resource).map(Arc::as_ref)
    }

    /// The paths of a member's spec that links write together with the member, now or according to
    /// the state.
    pub fn paths_written(
        &self,
        resource: u32,
        position: Option<u32>,
        prior: Option<&Record>,
    ) -> Vec<Name> {
        let mut paths: Vec<Name> = Vec::new();
        let now =
            self.links_of(resource, position)
                .iter()
                .filter_map(|(number, _, target)| {
                    let pair = self.declared_links.pair(*number)?;
                    let effects = pair
                        .kind
                        .effects
                        .iter()
                        .filter(|effect| !effect.is_own_step);
                    Some(effects.filter(|effect| {
                        LinkTarget::of(&effect.target, &pair.kind) == Some(*target)
                    }))
                });
        let mut add = |path: &Name| {
            if !paths.contains(path) {
                paths.push(path.clone());
            }
        };
        now.flatten().for_each(|effect| match &effect.mode {
            WriteMode::Set(path) | WriteMode::Put(path, _) | WriteMode::Add(path, _) => add(path),
        });
        let before = prior
            .and_then(|_| self.member(resource, position))
            .map(|member| &member.address);
        before
            .and_then(|address| self.links.with.get(address))
            .into_iter()
            .flatten()
            .for_each(add);
        paths
    }

    /// The members of an end; `None` after an error. If the resource is not settled yet, only its
    /// list, keys and conditions are evaluated.
    fn ends(&mut self, resource: u32, found: &mut Diagnostics) -> Result<Option<Ends>, Need> {
        let presence = |member: &Member| {
            if member.condition_open {
                None
            } else {
                Some(true)
            }
        };
        let keys = self.links.keys.get(&resource).cloned();
        match &self.resources[resource as usize] {
            Members::Failed => return Ok(None),
            Members::Single(member) => return Ok(Some(Ends::Single(presence(member)))),
            Members::Absent => return Ok(Some(Ends::Single(Some(false)))),
            Members::Many(members) => {
                let places = members.iter().enumerate().map(|(at, member)| EndMember {
                    key: match (member, keys.as_ref().and_then(|keys| keys.get(at))) {
                        (_, Some(key)) => key.clone(),
                        (Some(member), None) => {
                            member.address.key.clone().unwrap_or(Key::Index(at as u32))
                        }
                        (None, None) => Key::Index(at as u32),
                    },
                    is_present: member
                        .as_ref()
                        .map_or(Some(false), |member| presence(member)),
                });
                return Ok(Some(Ends::Many(places.collect())));
            }
            Members::Open => {}
        }
        let Some(of) = self.declared(resource) else {
            return Ok(None);
        };
        let (name, declared) = of.entry();
        let owner = of.address().to_string();
        let site = ExpressionSite::of(of.unit, &owner);
        if declared.each.is_none() {
            let holds = self.condition(site, declared, found)?;
            return Ok(holds.map(Ends::Single));
        }
        let Some(items) = self.items(site, name, declared, found)? else {
            return Ok(None);
        };
        let mut places = Vec::with_capacity(items.len());
        for (at, item) in items.into_iter().enumerate() {
            let item = (item, at as u32);
            let Some(key) = self.member_key(site, &item, declared, found)? else {
                return Ok(None);
            };
            let owner = of.address().with_key(key.clone()).to_string();
            let site = ExpressionSite {
                unit: of.unit,
                owner: &owner,
                item: Some(&item),
            };
            let Some(is_present) = self.condition(site, declared, found)? else {
                return Ok(None);
            };
            places.push(EndMember { key, is_present });
        }
        Ok(Some(Ends::Many(places)))
    }

    /// The contributions of a link to one of its targets: either those written together with the
    /// target or those written after it. `None` after an error.
    pub fn contributions(
        &mut self,
        link: LinkAt,
        target: LinkTarget,
        after: bool,
        found: &mut Diagnostics,
    ) -> Result<Option<Vec<Contribution>>, Need> {
        let Some(pair) = self.pair(link.0) else {
            return Ok(None);
        };
        let mut all = Vec::new();
        let wanted = |effect: &&LinkEffect| {
            effect.is_own_step == after
                && LinkTarget::of(&effect.target, &pair.kind) == Some(target)
        };
        for effect in pair.kind.effects.iter().filter(wanted) {
            let value = match self.link_value(link, &effect.value, found) {
                Ok(value) => value,
                Err(Halt::Need(need)) => return Err(need),
                Err(_) => return Ok(None),
            };
            let (path, how) = match &effect.mode {
                WriteMode::Set(path) => (path.clone(), ContributionForm::Set),
                WriteMode::Add(path, by) => (path.clone(), ContributionForm::Add(by.clone())),
                WriteMode::Put(path, key) => match self.link_value(link, key, found) {
                    Ok(key) => match expr::to_text(&key) {
                        Some(Ok(Value::Text(key))) => (path.clone(), ContributionForm::Put(key)),
                        // The key is unknown, so the whole map is Unknown.
                        _ if key.has_unknown() => {
                            all.push(Contribution {
                                path: path.clone(),
                                form: ContributionForm::Set,
                                value: Value::unknown(None, None),
                            });
                            continue;
                        }
                        _ => continue,
                    },
                    Err(Halt::Need(need)) => return Err(need),
                    Err(_) => return Ok(None),
                },
            };
            if !value.is_null() {
                all.push(Contribution {
                    path,
                    form: how,
                    value,
                });
            }
        }
        Ok(Some(all))
    }

    /// Merges the contributions of links into the specs of a resource's members
    /// (decisions/links#effects-with-the-target).
    pub fn merge_links(&mut self, resource: u32, found: &mut Diagnostics) -> Result<(), Need> {
        if !self.settle_links_into(resource, found)? {
            return Ok(());
        }
        let positions: Vec<Option<u32>> = match &self.resources[resource as usize] {
            Members::Single(_) => vec![None],
            Members::Many(members) => (0..members.len() as u32).map(Some).collect(),
            _ => return Ok(()),
        };
        for position in positions {
            let Some(spec) = self
                .member(resource, position)
                .map(|member| member.spec.clone())
            else {
                continue;
            };
            match self.merged(resource, position, spec, found)? {
                Some(spec) => {
                    if let Some(member) = self.member_mut(resource, position) {
                        member.spec = spec;
                    }
                }
                None => {
                    self.resources[resource as usize] = Members::Failed;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Settles the links that write into a resource together with it. Returns false if there are
    /// none.
    fn settle_links_into(&mut self, resource: u32, found: &mut Diagnostics) -> Result<bool, Need> {
        let links = self.declared_links.clone();
        let mut any = false;
        for (number, target) in links.of(resource) {
            let Some(pair) = links.pair(*number) else {
                continue;
            };
            if pair.wiring.with.iter().any(|(into, _)| into == target) {
                any |= self.settle_link(*number, found)?;
            }
        }
        Ok(any)
    }

    /// The spec of a member with the contributions of links; `None` after an error.
    pub fn merged(
        &mut self,
        resource: u32,
        position: Option<u32>,
        spec: Value,
        found: &mut Diagnostics,
    ) -> Result<Option<Value>, Need> {
        let mut writers = Vec::new();
        for (number, at, target) in self.links_of(resource, position).to_vec() {
            let writes = self
                .declared_links
                .pair(number)
                .is_some_and(|pair| pair.wiring.with.iter().any(|(into, _)| *into == target));
            // If the condition of an end is open, the existence of the link is known only on
            // deploy.
            let Some(link) = self.link((number, at)).filter(|_| writes) else {
                continue;
            };
            if self.has_absent_end((number, at)) {
                continue;
            }
            writers.push((link.address.clone(), link.open, (number, at), target));
        }
        if writers.is_empty() {
            return Ok(Some(spec));
        }
        writers.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        let Some(of) = self.declared(resource) else {
            return Ok(None);
        };
        let (name, declared) = of.entry();
        let Some(ty) = of.ty() else { return Ok(None) };
        let mut merger = Merger::new(spec);
        let mut failed = false;
        for (address, open, link, target) in writers {
            let Some(contributions) = self.contributions(link, target, false, found)? else {
                failed = true;
                continue;
            };
            for mut contribution in contributions {
                if open && self.is_open(link) {
                    contribution.value = Value::unknown(None, None);
                }
                if let Err(refused) = merger.merge(&contribution, &address) {
                    found.push(
                        conflict(&address, name, &refused).label(declared.span, "written to here"),
                    );
                    failed = true;
                }
            }
        }
        if failed {
            return Ok(None);
        }
        let mut mistakes = Diagnostics::new();
        // The document's own spec is already checked. The contributions of links have no place in
        // the document.
        let holder = placeholder_resource(declared.span, ty);
        let spec = spec::conform_resource(&merger.done(), &holder, ty, &mut mistakes);
        failed = mistakes.has_errors();
        found.append(mistakes);
        Ok((!failed).then_some(spec))
    }

    /// Whether the presence of an end of a link is unknown.
    pub fn is_open(&self, link: LinkAt) -> bool {
        [Side::A, Side::B].into_iter().any(|side| {
            let end = self.end_of(link, side);
            end.is_some_and(
                |(resource, position)| match self.member(resource, position) {
                    Some(member) => member.condition_open,
                    None => matches!(self.resources[resource as usize], Members::Open),
                },
            )
        })
    }

    /// Whether an instance is settled and absent.
    pub fn is_absent(&self, resource: u32, position: Option<u32>) -> bool {
        !matches!(self.resources[resource as usize], Members::Open)
            && self.member(resource, position).is_none()
    }

    /// Whether an end of a link is settled and absent.
    pub fn has_absent_end(&self, link: LinkAt) -> bool {
        [Side::A, Side::B].into_iter().any(|side| {
            self.end_of(link, side).is_none_or(|(resource, position)| {
                match &self.resources[resource as usize] {
                    Members::Open => false,
                    _ => self.member(resource, position).is_none(),
                }
            })
        })
    }

    /// A part of a link, evaluated. `Ok(None)` if its condition is false, or after an error.
    pub fn link_part(
        &mut self,
        link: LinkAt,
        part: usize,
        found: &mut Diagnostics,
    ) -> Result<Option<Box<Member>>, Need> {
        let Some(pair) = self.pair(link.0) else {
            return Ok(None);
        };
        let Some((name, declared)) = pair.kind.parts.get_index(part) else {
            return Ok(None);
        };
        let Some(Some(ty)) = pair.part_types.get(part) else {
            return Ok(None);
        };
        let Some(address) = self.link(link).map(|link| link.part(name)) else {
            return Ok(None);
        };
        let mut condition_open = self.is_open(link);
        if let Some(condition) = &declared.condition {
            match self.link_value(link, condition, found) {
                Ok(value) => match value.unmarked() {
                    Value::Bool(true) => {}
                    Value::Unknown(_) => condition_open = true,
                    _ => return Ok(None),
                },
                Err(Halt::Need(need)) => return Err(need),
                Err(_) => return Ok(None),
            }
        }
        let Some(spec) = self.part_spec(link, part, found)? else {
            return Ok(None);
        };
        let _: &Arc<ResourceType> = ty;
        Ok(Some(Box::new(Member {
            address,
            item: None,
            spec,
            metadata: Value::Null,
            condition_open,
            protect: false,
            removal: RemovalPolicy::Delete,
            outputs: Outputs::Unknown,
        })))
    }

    /// The spec of a part with defaults; `None` after an error.
    pub fn part_spec(
        &mut self,
        link: LinkAt,
        part: usize,
        found: &mut Diagnostics,
    ) -> Result<Option<Value>, Need> {
        let Some(pair) = self.pair(link.0) else {
            return Ok(None);
        };
        let (Some((_, declared)), Some(Some(ty))) =
            (pair.kind.parts.get_index(part), pair.part_types.get(part))
        else {
            return Ok(None);
        };
        let value = match self.link_value(link, &declared.spec, found) {
            Ok(value) => value,
            Err(Halt::Need(need)) => return Err(need),
            Err(_) => return Ok(None),
        };
        let mut mistakes = Diagnostics::new();
        let holder = placeholder_resource(pair.span, ty);
        let value = spec::conform_resource(&value, &holder, ty, &mut mistakes);
        let failed = mistakes.has_errors();
        found.append(mistakes);
        Ok((!failed).then_some(value))
    }

    /// The value of `link(a, b)`; null if the kind exposes nothing.
    pub fn link_data(&mut self, link: LinkAt, found: &mut Diagnostics) -> Result<Value, Halt> {
        let Some(data) = self.pair(link.0).and_then(|pair| pair.kind.data.clone()) else {
            return Ok(Value::Map(Arc::default()));
        };
        self.link_value(link, &data, found)
    }

    /// Whether a link's own requirements hold; `None` if this is known only on deploy. Reports
    /// requirements that do not hold.
    pub fn requirements(
        &mut self,
        link: LinkAt,
        found: &mut Diagnostics,
    ) -> Result<Option<bool>, Need> {
        let Some(pair) = self.pair(link.0) else {
            return Ok(Some(true));
        };
        let mut holds = Some(true);
        for (that, say) in &pair.kind.conditions {
            let value = match self.link_value(link, that, found) {
                Ok(value) => value,
                Err(Halt::Need(need)) => return Err(need),
                Err(_) => return Ok(Some(false)),
            };
            match value.unmarked() {
                Value::Bool(true) => {}
                Value::Unknown(_) => holds = holds.filter(|holds| !holds),
                _ => {
                    let explanation = match self.link_value(link, say, found) {
                        Ok(explanation) => explanation
                            .as_text()
                            .filter(|_| !explanation.has_secret())
                            .map(str::to_owned),
                        Err(Halt::Need(need)) => return Err(need),
                        Err(_) => None,
                    };
                    let address = self
                        .link(link)
                        .map(|link| link.address.to_string())
                        .unwrap_or_default();
                    let explanation =
                        explanation.unwrap_or_else(|| "its requirement does not hold".to_owned());
                    found.push(
                        codes::LINK_REQUIREMENT
                            .new(format!(
                                "the link `{address}` cannot be made: {explanation}"
                            ))
                            .label(pair.span, "makes this link"),
                    );
                    holds = Some(false);
                }
            }
        }
        Ok(holds)
    }

    /// The value of `link(a, b)` in a document.
    pub(super) fn link_named(
        &mut self,
        unit: u32,
        a: &str,
        b: &str,
    ) -> Result<Value, EvaluationStop> {
        let (a_name, a_at) = named(a);
        let (b_name, b_at) = named(b);
        let documents = self.documents.clone();
        let of = documents.unit(unit);
        let resources = &of.blueprint().resources;
        let ends = resources
            .get_index_of(a_name)
            .zip(resources.get_index_of(b_name));
        let number =
            ends.and_then(|(a, b)| self.declared_links.between(of.resource(a), of.resource(b)));
        let Some(number) = number else {
            return Err(EvaluationStop::Reported);
        };
        let mut mistakes = Diagnostics::new();
        let ready = self.settle_link(number, &mut mistakes).unwrap_or(false);
        let span = self
            .declared_links
            .pair(number)
            .map_or(Span::NONE, |pair| pair.span);
        for (name, resource, position) in ends
            .into_iter()
            .flat_map(|(a, b)| [(a_name, a, a_at), (b_name, b, b_at)])
        {
            let Some(Members::Many(members)) = self.resources.get(of.resource(resource) as usize)
            else {
                continue;
            };
            if let Some(position) = position.filter(|position| *position as usize >= members.len())
            {
                let count = format!("`{name}` has {} members", members.len());
                return Err(expr::codes::INDEX_OUT_OF_RANGE
                    .new(format!(
                        "`{name}` has no member at position {position}, which `link` names"
                    ))
                    .label(span, count)
                    .into());
            }
        }
        let at = self.links.by_ends.get(&(number, a_at, b_at)).copied();
        let Some(at) = at.filter(|at| ready && !self.has_absent_end((number, *at))) else {
            let absent = expr::codes::ABSENT_ELEMENT
                .new(format!("the link `{a}::{b}` is not there"))
                .label(span, "one of its ends is absent")
                .help("guard it with `coalesce(..)` or `if(..)`, or put the reader under the same condition");
            return Err(if ready {
                EvaluationStop::Absent(Box::new(absent))
            } else {
                EvaluationStop::Reported
            });
        };
        let Some(address) = self.link((number, at)).map(|link| link.address.clone()) else {
            return Err(EvaluationStop::Reported);
        };
        if !self.links.ready_links.contains(&address) || self.is_open((number, at)) {
            return Ok(unknown_of(Type::Any, &address));
        }
        match self.link_data((number, at), &mut mistakes) {
            Ok(value) => Ok(value),
            Err(_) => Err(EvaluationStop::Reported),
        }
    }

    /// The contributions of a link that are written together with its targets, in the form of the
    /// link's record.
    pub fn with_overlays(&mut self, link: LinkAt) -> Option<Value> {
        let pair = self.pair(link.0)?;
        let mut all = Vec::new();
        for (target, _) in &pair.wiring.with {
            let contributions = self
                .contributions(link, *target, false, &mut Diagnostics::new())
                .ok()??;
            let Some((resource, position)) = self.member_of(link, *target) else {
                continue;
            };
            let Some(address) = self
                .member(resource, position)
                .map(|member| member.address.clone())
            else {
                continue;
            };
            all.extend(contributions.into_iter().map(|contribution| {
                let phase = target.phase(&pair.kind);
                Overlay {
                    target: address.clone(),
                    phase,
                    contribution,
                    open: false,
                }
                .to_value()
            }));
        }
        Some(Value::list(all))
    }

    /// The name, place and type of every resource, by number.
    pub fn documents_of_resources(&self) -> Vec<(Name, Span, Option<TypeId>)> {
        let all = (0..self.resources.len() as u32).filter_map(|at| self.declared(at));
        let mut documents = Vec::with_capacity(self.resources.len());
        documents.extend(all.map(|of| {
            (
                of.name().clone(),
                of.resource().span,
                of.ty().map(|ty| ty.name.clone()),
            )
        }));
        documents
    }
}

/// Splits the text for an end into its name and position.
fn named(text: &str) -> (&str, Option<u32>) {
    match text
        .strip_suffix(']')
        .and_then(|text| text.rsplit_once('['))
    {
        Some((name, at)) => (name, at.parse().ok()),
        None => (text, None),
    }
}

/// The diagnostic for two writers with different contents. The caller adds the place.
pub fn conflict(link: &Address, target: &str, refused: &WriteConflict) -> Diagnostic {
    let other = match &refused.other {
        Some(other) => format!("the link `{other}`"),
        None => "the document".to_owned(),
    };
    codes::LINK_CONFLICT
        .new(format!(
            "the link `{link}` and {other} write different contents into `{}` of `{target}`",
            refused.place
        ))
        .help("take one of the two away")
}

/// A placeholder where a declared resource is expected: it only carries the place of the part.
pub fn placeholder_resource(span: Span, ty: &ResourceType) -> Resource {
    Resource::new(
        span,
        diag::Spanned::new(ty.name.clone(), span),
        span,
        Expr::literal(Value::Null, span),
    )
}
