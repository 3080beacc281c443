//! Evaluates a checked blueprint with its inputs. The result of an element is a value or Unknown.
//!
//! An [`Evaluation`] holds the current result of every declared element. The planner settles
//! elements in the order of the graph, so that each element reads only settled ones; `apply`
//! continues with the same evaluation when outputs arrive. An expression is evaluated a second time
//! only if an answer was missing. Absent elements are not evaluated
//! (decisions/blueprint#absent-elements-evaluate-nothing).
//!
//! Not here: the comparison with the state (`plan`), and asking the world (the caller asks what
//! each [`Need`] names).

mod each;
mod exports;
pub mod inputs;
pub mod links;
mod member_counts;
mod metadata;
mod options;
pub mod pairing;
mod passed_inputs;
mod readiness;
pub mod scope;

use std::sync::Arc;

use blueprint::{Address, DeclarationSite, Expr, Name, Resource, Type, Value};
use diag::{Diagnostic, Diagnostics};
use dialect::{ExpressionPart, ExpressionPlace};
use expr::{Ask, AskFailure, FunctionTable};
use provider::ResourceType;
use state::Memoised;

use crate::answers::Answers;
use crate::question::ProviderInstance;
use understand::check;
use understand::documents::{Documents, NumberedKind};
use understand::links::Links;

pub use inputs::{Given, validate_inputs};
pub(crate) use links::slots::LinkSlots;
use member_counts::MemberCounts;
pub use readiness::RuledReadiness;

/// The current result of an element.
#[derive(Clone, Debug, Default)]
pub enum Slot {
    /// Not settled yet.
    #[default]
    Open,
    /// A value that is fully known.
    Value(Value),
    /// A value with Unknown parts.
    Partial(Value),
    /// The element has an error, which is already reported.
    Failed,
    /// The element reads an absent element without a guard.
    Absent,
}

/// The members of a declared resource.
#[derive(Clone, Debug, Default)]
pub enum Members {
    /// Not settled yet.
    #[default]
    Open,
    /// The resource has an error, which is already reported.
    Failed,
    /// The condition of the resource is false.
    Absent,
    /// One instance.
    Single(Box<Member>),
    /// The instances by position; `None` where the condition of that member is false.
    Many(Vec<Option<Box<Member>>>),
}

impl Members {
    /// The number of member positions, absent members included.
    pub fn count(&self) -> usize {
        match self {
            Members::Many(members) => members.len(),
            Members::Open | Members::Failed | Members::Absent | Members::Single(_) => 1,
        }
    }

    /// The instances, in the order of their positions.
    pub fn present(&self) -> impl Iterator<Item = &Member> {
        let (single, many) = match self {
            Members::Single(member) => (Some(member), &[][..]),
            Members::Many(members) => (None, &members[..]),
            Members::Open | Members::Failed | Members::Absent => (None, &[][..]),
        };
        let many = many.iter().flatten();
        single.into_iter().chain(many).map(AsRef::as_ref)
    }
}

/// What happens to an object that is no longer declared, as far as a document states it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RemovalPolicy {
    /// It is deleted.
    #[default]
    Delete,
    /// A snapshot of it is taken, then it is deleted.
    Snapshot,
    /// It stays in the world.
    Retain,
}

/// One instance of a resource.
#[derive(Clone, Debug)]
pub struct Member {
    /// The address of the instance.
    pub address: Address,
    /// The item and its position, if the resource has `each`.
    pub item: Option<(Value, u32)>,
    /// The desired spec with defaults; parts may be Unknown.
    pub spec: Value,
    /// Labels, annotations, display name and custom data; null if there are none.
    pub metadata: Value,
    /// Whether the condition is known only on deploy.
    pub condition_open: bool,
    /// Whether the instance must not be deleted or replaced: a computed protection says so.
    pub protect: bool,
    /// What happens to its object when the instance is no longer declared: its own removal policy,
    /// or that of a child above it.
    pub removal: RemovalPolicy,
    /// The computed fields of the instance.
    pub outputs: Outputs,
}

/// The knowledge about the computed fields of an instance.
#[derive(Clone, Debug)]
pub enum Outputs {
    /// No field is known; the instance is not created yet.
    Unknown,
    /// The fields as planned: the fields before an update, or the fields that the provider plans,
    /// which may hold Unknown. The operation changes the listed fields; they read as Unknown.
    Planned(Value, Arc<[Name]>),
    /// The fields as the provider returned them.
    Known(Value),
}

/// A question that must be answered before the evaluation can go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// The questions of one expression: the number of the document, the owner, and the questions.
    Ask(u32, Name, Vec<Ask>),
    /// The data source with this number.
    Fetch(u32),
}

impl From<Need> for Vec<Need> {
    fn from(need: Need) -> Vec<Need> {
        vec![need]
    }
}

/// The reason why an expression has no value.
pub enum Halt {
    /// A question must be answered first.
    Need(Need),
    /// The expression has an error, which is already reported.
    Failed,
    /// The expression reads something absent. The caller reports this diagnostic if absence is an
    /// error there.
    Absent(Box<Diagnostic>),
}

/// The context of an expression: its document, its owner, and the member of a repetition.
#[derive(Clone, Copy)]
pub struct ExpressionSite<'a> {
    /// The number of the document.
    pub unit: u32,
    /// An address, or `values.x`. The memoised values of the owner's call sites are stored under
    /// it.
    pub owner: &'a str,
    /// The item and its position, if the resource has `each`.
    pub item: Option<&'a (Value, u32)>,
}

impl<'a> ExpressionSite<'a> {
    /// A site outside of any repetition.
    pub fn of(unit: u32, owner: &'a str) -> ExpressionSite<'a> {
        ExpressionSite {
            unit,
            owner,
            item: None,
        }
    }
}

/// A file that an offline evaluation would read.
pub(crate) struct OfflineFile {
    /// The key of its answer.
    pub(crate) key: Name,
    /// The document whose folder the path is relative to.
    pub(crate) unit: u32,
    pub(crate) path: Name,
}

/// The results of all declared elements of all documents, by kind and number.
pub struct Evaluation {
    /// The evaluated documents.
    pub documents: Arc<Documents>,
    /// The functions that expressions can call.
    pub functions: Arc<FunctionTable>,
    /// The name of the instance.
    pub instance: Name,
    /// The values of the root's inputs, by position.
    pub inputs: Vec<Value>,
    /// The values that children receive for their inputs, by number of the input.
    pub passed_inputs: Vec<Slot>,
    /// The address that each of these values refers to: one instance, or a group of several.
    pub passed_input_uses: Vec<Option<Address>>,
    /// Named intermediate values.
    pub locals: Vec<Slot>,
    /// Data sources.
    pub data: Vec<Slot>,
    /// Resources with their members.
    pub resources: Vec<Members>,
    /// The links that are declared.
    pub declared_links: Arc<Links>,
    /// Links with their members.
    pub links: LinkSlots,
    /// The world's answers so far.
    pub answers: Answers,
    /// The call sites used in this stage, by owner. Values of other call sites can be dropped.
    pub sites: blueprint::IndexMap<Name, indexmap::IndexSet<Name, foldhash::fast::FixedState>>,
    /// Questions that the world refused, by question.
    pub refused: blueprint::IndexMap<Name, AskFailure>,
    /// The files that an offline evaluation would read.
    pub(crate) offline_files: Vec<OfflineFile>,
    /// Secrets that the document generated and that the world does not mask yet.
    pub(crate) unmasked_secrets: Vec<Value>,
    /// The number of members of each resource with `each`, by owner.
    repeated: MemberCounts,
    /// Whether the world is not asked. Every answer is then Unknown.
    pub offline: bool,
    /// Whether every provider is simulated from its catalogue.
    pub simulated: bool,
    /// The memory that values have used so far.
    pub(crate) meter: expr::Meter,
}

/// The reason why a configuration of a provider is missing: its resource does not exist (with the
/// diagnostic), or has an error, which is already reported.
pub struct NoProviderInstance(pub Option<Box<Diagnostic>>);

/// The diagnostic for a reference to a configuration of a provider that does not exist.
pub(crate) fn no_instance(name: &Name, span: diag::Span) -> Diagnostic {
    expr::codes::ABSENT_ELEMENT
        .new(format!("the configuration `{name}` does not exist here"))
        .label(span, "its condition is false")
        .help("give what uses it the same condition, or choose another configuration")
}

/// The last segment of an address: the name in its own document.
fn name_in(address: &str) -> &str {
    address.rsplit('/').next().unwrap_or(address)
}

impl Evaluation {
    /// An evaluation in which only the inputs are settled. `inputs` are by position.
    pub fn new(
        documents: Arc<Documents>,
        functions: Arc<FunctionTable>,
        instance: Name,
        inputs: Vec<Value>,
        answers: Answers,
    ) -> Evaluation {
        let [locals, data_sources, resources] = documents.counts();
        let passed_inputs = documents.count(NumberedKind::Input);
        let room = documents.limits;
        Evaluation {
            declared_links: documents.links().clone(),
            links: LinkSlots::new(documents.links().pairs().len()),
            documents,
            functions,
            instance,
            inputs,
            passed_inputs: vec![Slot::Open; passed_inputs],
            passed_input_uses: vec![None; passed_inputs],
            locals: vec![Slot::Open; locals],
            data: vec![Slot::Open; data_sources],
            resources: vec![Members::Open; resources],
            answers,
            sites: blueprint::IndexMap::default(),
            refused: blueprint::IndexMap::default(),
            offline_files: Vec::new(),
            unmasked_secrets: Vec::new(),
            repeated: MemberCounts::default(),
            offline: false,
            simulated: false,
            meter: expr::Meter::new(room.value_bytes, room.all_value_bytes),
        }
    }

    /// The configuration of the provider of a resource or data source, if a resource declares it,
    /// with the settings known so far. An error if the declaring resource does not exist or has an
    /// error.
    pub fn provider_of(
        &self,
        node: understand::graph::GraphNode,
    ) -> Result<Option<ProviderInstance>, NoProviderInstance> {
        self.instance_of(self.documents.provider_of(node))
    }

    /// What providers are told about the declaration of the resource with this number.
    pub fn site_of(&self, number: Option<u32>) -> DeclarationSite {
        self.documents.site_of(number, &self.instance)
    }

    /// The configuration of the provider of a call in a document. `Ok(None)` for the default
    /// configuration; an error as for [`Self::provider_of`].
    pub fn instance_of_call(
        &self,
        unit: u32,
        namespace: &str,
        configuration: &expr::CallConfiguration,
    ) -> Result<Option<ProviderInstance>, NoProviderInstance> {
        let own = match configuration {
            expr::CallConfiguration::Default => return Ok(None),
            expr::CallConfiguration::Inherited => None,
            expr::CallConfiguration::Declared(name) => Some(name),
        };
        let choice = self.documents.provider_for(unit, own, namespace);
        if own.is_some() && choice.is_none() {
            return Err(NoProviderInstance(None));
        }
        self.instance_of(choice)
    }

    fn instance_of(
        &self,
        choice: Option<understand::documents::providers::ProviderChoice>,
    ) -> Result<Option<ProviderInstance>, NoProviderInstance> {
        let Some(choice) = choice else {
            return Ok(None);
        };
        let declaring = choice.resource(&self.documents);
        let Some(member) = self.member(declaring, None) else {
            let is_absent = matches!(self.resources[declaring as usize], Members::Absent);
            let (_, name, _) = self
                .documents
                .resource(declaring)
                .ok_or(NoProviderInstance(None))?;
            return Err(NoProviderInstance(
                is_absent.then(|| Box::new(no_instance(name, choice.span))),
            ));
        };
        let settings = member.spec.get("settings").cloned().unwrap_or_default();
        Ok(Some(ProviderInstance {
            address: member.address.clone(),
            settings,
            former: Value::Null,
        }))
    }

    /// The bytes that values have used so far. The caller passes the number to
    /// [`Self::reset_bytes_used`] before it evaluates an element again.
    pub fn bytes_used(&self) -> usize {
        self.meter.used()
    }

    /// Resets the count of used bytes to `used`.
    pub fn reset_bytes_used(&mut self, used: usize) {
        self.meter.reset_to(used);
    }

    /// Removes the limit on the total size of values: apply must be able to carry out every plan.
    pub fn lift_limits(&mut self) {
        self.meter.lift_total_limit();
    }

    /// Counts the size of a value that is stored as a whole. Returns whether it is within the
    /// limit.
    fn count_bytes(&mut self, value: &Value, place: diag::Span) -> bool {
        let meter = &mut self.meter;
        let bytes = expr::size(value, expr::MAX_VALUE_BYTES).unwrap_or(expr::MAX_VALUE_BYTES);
        meter.charge(bytes, place).is_ok()
    }

    /// Reports an error if values are too large in total.
    pub fn report_size_limit(&self, found: &mut Diagnostics) {
        found.extend(self.meter.problem());
    }

    /// Like [`Self::value`], but reports an absent element as an error.
    pub fn present(
        &mut self,
        site: ExpressionSite<'_>,
        expr: &Expr,
        found: &mut Diagnostics,
    ) -> Result<Value, Halt> {
        self.value(site, expr, found).map_err(|halt| match halt {
            Halt::Absent(diagnostic) => {
                found.push(*diagnostic);
                Halt::Failed
            }
            other => other,
        })
    }

    /// Like [`Self::present`], for an entry of a map. Returns `None` if the entry is omitted.
    pub fn entry(
        &mut self,
        site: ExpressionSite<'_>,
        expr: &Expr,
        found: &mut Diagnostics,
    ) -> Result<Option<Value>, Halt> {
        if !expr::may_omit(expr) {
            return self.present(site, expr, found).map(Some);
        }
        let listed = Expr::new(blueprint::ExprKind::List(vec![expr.clone()]), expr.span);
        let value = self.present(site, &listed, found)?;
        Ok(match value.as_list() {
            Some(items) => items.first().cloned(),
            None => Some(value),
        })
    }

    /// Like [`Self::present`]. The document's dialect completes the diagnostics about the
    /// expression.
    pub(crate) fn present_at(
        &mut self,
        site: ExpressionSite<'_>,
        place: ExpressionPlace<'_>,
        found: &mut Diagnostics,
    ) -> Result<Value, Halt> {
        let mut mine = Diagnostics::new();
        let value = self.present(site, place.expr, &mut mine);
        self.complete_diagnostics(site.unit, place, &mut mine);
        found.append(mine);
        value
    }

    /// Passes diagnostics about an expression to the dialect of its document, which completes them.
    pub fn complete_diagnostics(
        &self,
        unit: u32,
        place: ExpressionPlace<'_>,
        mistakes: &mut Diagnostics,
    ) {
        let messages = self.documents.unit(unit).checked.rules.messages;
        mistakes
            .iter_mut()
            .for_each(|one| messages.complete_at(one, &place));
    }

    /// The named intermediate values that are known.
    pub fn known_locals(&self) -> impl Iterator<Item = &Value> {
        self.locals.iter().filter_map(|slot| match slot {
            Slot::Value(value) => Some(value),
            _ => None,
        })
    }

    /// Settles a named intermediate value (decisions/blueprint#text-of-typed-values).
    pub fn settle_local(&mut self, index: u32, found: &mut Diagnostics) -> Result<(), Need> {
        let documents = self.documents.clone();
        let Some((unit, name, local)) = documents.local(index) else {
            return Ok(());
        };
        let owner = documents.unit(unit).named(format_args!("values.{name}"));
        let mut mine = Diagnostics::new();
        let value = self.value(ExpressionSite::of(unit, &owner), &local.value, &mut mine);
        self.complete_diagnostics(
            unit,
            ExpressionPlace::new(ExpressionPart::Local, name, &local.value),
            &mut mine,
        );
        found.append(mine);
        let slot = match value {
            Ok(value) => match check::value::declared(value, &local.ty, &local.value, found) {
                Ok(value) if value.has_unknown() => Slot::Partial(value.tainted(local.secret)),
                Ok(value) => Slot::Value(value.tainted(local.secret)),
                Err(_) => Slot::Failed,
            },
            Err(Halt::Need(need)) => return Err(need),
            Err(Halt::Absent(diagnostic)) => {
                found.push(*diagnostic);
                Slot::Absent
            }
            Err(Halt::Failed) => Slot::Failed,
        };
        if let (Slot::Value(value), true) = (&slot, local.secret) {
            self.unmasked_secrets.push(value.clone());
        }
        self.locals[index as usize] = slot;
        Ok(())
    }

    /// Settles the intermediate values that were not known before, in the order of the graph, after
    /// all resources are settled.
    pub fn settle_open_values(&mut self, found: &mut Diagnostics) {
        let graph = self.documents.graph().clone();
        for node in graph
            .order()
            .filter(|node| self.is_unsettled(*node))
            .collect::<Vec<_>>()
        {
            let _ = self.settle_now(node, found);
        }
    }

    /// Whether a node is a local or an input of a child that was not fully known when it was last
    /// evaluated.
    pub fn is_unsettled(&self, node: understand::graph::GraphNode) -> bool {
        let slot = match node {
            understand::graph::GraphNode::Local(number) => &self.locals[number as usize],
            understand::graph::GraphNode::Input(number) => &self.passed_inputs[number as usize],
            _ => return false,
        };
        matches!(slot, Slot::Partial(_) | Slot::Open)
    }

    /// Leaves a settled local or input of a child to be settled again, because something that it
    /// reads came out differently.
    pub fn unsettle(&mut self, node: understand::graph::GraphNode) {
        let slot = match node {
            understand::graph::GraphNode::Local(number) => &mut self.locals[number as usize],
            understand::graph::GraphNode::Input(number) => &mut self.passed_inputs[number as usize],
            _ => return,
        };
        if let Slot::Value(value) = slot {
            *slot = Slot::Partial(std::mem::take(value));
        }
    }

    /// Settles a local or an input of a child with the current answers. A value that is still
    /// unknown keeps its result; the elements that read it report that.
    pub fn settle_now(
        &mut self,
        node: understand::graph::GraphNode,
        found: &mut Diagnostics,
    ) -> Result<(), Need> {
        match node {
            understand::graph::GraphNode::Local(number) => self.settle_local(number, found),
            understand::graph::GraphNode::Input(number) => self.settle_passed_input(number, found),
            _ => Ok(()),
        }
    }

    /// Whether a condition holds. `Some(None)` if this is known only on deploy, and `None` after an
    /// error.
    pub fn condition(
        &mut self,
        site: ExpressionSite<'_>,
        resource: &Resource,
        found: &mut Diagnostics,
    ) -> Result<Option<Option<bool>>, Need> {
        let Some(condition) = &resource.condition else {
            return Ok(Some(Some(true)));
        };
        match self.present(site, condition, found) {
            Ok(value) => match value.unmarked() {
                Value::Bool(holds) => Ok(Some(Some(*holds))),
                Value::Null => Ok(Some(Some(false))),
                Value::Unknown(_) => Ok(Some(None)),
                _ => {
                    let wrong = expr::codes::TYPE_MISMATCH
                        .new(format!(
                            "a condition must be a boolean, found {}",
                            value.kind_word()
                        ))
                        .label(condition.span, "neither true nor false")
                        .help("compare with `eq(..)`");
                    found.push(wrong);
                    Ok(None)
                }
            },
            Err(Halt::Need(need)) => Err(need),
            Err(_) => Ok(None),
        }
    }

    /// The spec of a member: evaluated, converted and with defaults. `None` after an error.
    pub fn spec(
        &mut self,
        site: ExpressionSite<'_>,
        resource: &Resource,
        ty: &ResourceType,
        found: &mut Diagnostics,
    ) -> Result<Option<Value>, Need> {
        let name = name_in(site.owner);
        let specs = self.documents.unit(site.unit).checked.rules.specs;
        if specs.skips_open_types() && ty.takes_anything() {
            return Ok(Some(Value::Map(Arc::default())));
        }
        let value = match self.present_at(
            site,
            ExpressionPlace::new(ExpressionPart::Spec, name, &resource.spec),
            found,
        ) {
            Ok(value) => value,
            Err(Halt::Need(need)) => return Err(need),
            Err(_) => return Ok(None),
        };
        let mut mistakes = Diagnostics::new();
        let at = dialect::SpecAt {
            expr: &resource.spec,
            missing_part_span: resource.spec_key,
            resource: name,
            part: ExpressionPart::Spec,
            is_external: resource.lifecycle.external.is_some(),
        };
        let native = |value: &Value, found: &mut Diagnostics| {
            check::spec::conform_resource_by(specs, value, resource, ty, found)
        };
        let value = specs.fit(&value, at, &ty.schema, &native, &mut mistakes);
        let failed = mistakes.has_errors();
        found.append(mistakes);
        Ok(if failed || !self.count_bytes(&value, resource.spec.span) {
            None
        } else {
            Some(value)
        })
    }

    /// The memoised values that were used in this stage, in the order of first use.
    pub fn memoised(&self) -> blueprint::IndexMap<Name, Memoised> {
        let mut used = blueprint::IndexMap::default();
        for site in self.sites.values().flatten() {
            if let Some(memoised) = self.answers.memoised.get(site) {
                used.insert(site.clone(), memoised.clone());
            }
        }
        used
    }

    /// The instances of all resources, each with the number of its resource.
    pub fn members(&self) -> impl Iterator<Item = (u32, &Member)> {
        let resources = (0..).zip(&self.resources);
        resources.flat_map(|(number, members)| members.present().map(move |one| (number, one)))
    }

    /// The member at a position, if it is present.
    pub fn member(&self, resource: u32, position: Option<u32>) -> Option<&Member> {
        match (self.resources.get(resource as usize)?, position) {
            (Members::Single(member), _) => Some(member),
            (Members::Many(members), Some(position)) => members.get(position as usize)?.as_deref(),
            _ => None,
        }
    }

    /// The member at a position, mutable.
    pub fn member_mut(&mut self, resource: u32, position: Option<u32>) -> Option<&mut Member> {
        match (self.resources.get_mut(resource as usize)?, position) {
            (Members::Single(member), _) => Some(member),
            (Members::Many(members), Some(position)) => {
                members.get_mut(position as usize)?.as_deref_mut()
            }
            _ => None,
        }
    }
}

/// The key of the memoised value of a call site.
pub(crate) fn site_of(owner: &str, path: &str, nth: u32) -> Name {
    format!("{owner}|{path}|{nth}").into()
}

/// An Unknown of this type that becomes known with the resource at `address`.
pub(crate) fn unknown_of(ty: Type, address: &Address) -> Value {
    Value::unknown(Some(ty), Some(address.clone()))
}
