//! Finds the mistakes that a stage reports without asking the world.
//!
//! The documents are evaluated as in a stage. The answers of the world, and inputs that are not
//! given, are Unknown. Providers are asked for nothing but `World::check`, which looks at the spec
//! alone.
//!
//! Not here: the static checks by type (`understand::check`), which have found no error before
//! this runs.

use std::collections::HashSet;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use blueprint::{Address, IndexMap, Name, Value};
use diag::Diagnostics;
use evaluate::answers::Answers;
use evaluate::evaluation_question::unreadable_files;
use evaluate::question::ResourceTarget;
use evaluate::resolve::inputs::{Given, inputs_known};
use evaluate::resolve::{Evaluation, Members};
use evaluate::world::World;
use expr::{AskFailure, FunctionTable};
use provider::{Catalogs, CheckRequest};
use state::Snapshot;
use understand::documents::Documents;

use crate::claims::{Claim, claimed_twice, names_its_objects};
use crate::draft::Draft;
use crate::drafting::level::settle_level;
use crate::input_questions::ask_about_inputs;
use crate::levels::{levels, live_locals};
use crate::provider_diagnostics::{provider_failed, report};

/// The most members of one resource that are shown to their provider. All members share a template
/// and its mistakes.
const MEMBERS: usize = 100;

/// How deep documents are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckDepth {
    /// Nothing outside is asked.
    #[default]
    Documents,
    /// Providers ask what they manage: whether a cloud has the objects that a document names.
    Clouds,
}

/// Evaluates documents without the world and reports their mistakes, each once. At the depth of
/// [`CheckDepth::Clouds`], the world must not be offline.
pub async fn check_offline(
    documents: Arc<Documents>,
    given: &Given,
    catalogs: &Catalogs,
    functions: Arc<FunctionTable>,
    (world, depth): (&dyn World, CheckDepth),
    found: &mut Diagnostics,
) {
    if documents.is_incomplete() {
        return;
    }
    let mut mistakes = Diagnostics::new();
    let root = &documents.root().checked;
    let inputs = inputs_known(
        &root.blueprint,
        &root.rules,
        given,
        catalogs,
        &mut Diagnostics::new(),
    );
    let facts = OfflineFacts {
        documents: &documents,
        inputs: &inputs,
        catalogs,
        functions: &functions,
        world,
        depth,
    };
    let mut evaluation = facts.evaluate(IndexMap::default(), &mut mistakes).await;
    let unreadable = unreadable_files(&mut evaluation, world).await;
    if !unreadable.is_empty() {
        mistakes = Diagnostics::new();
        evaluation = facts.evaluate(unreadable, &mut mistakes).await;
    }
    evaluation.descriptions(&mut mistakes);
    evaluation.report_size_limit(&mut mistakes);
    documents.attribute_errors(crate::codes::OF_ACTIONS, &mut mistakes);
    let mut reported: HashSet<_, foldhash::fast::FixedState> = HashSet::default();
    for one in found.iter() {
        reported.insert((one.code.name, one.span(), one.message.clone()));
    }
    mistakes.retain(|one| reported.insert((one.code.name, one.span(), one.message.clone())));
    found.append(mistakes);
    if depth == CheckDepth::Clouds {
        ask_about_inputs(&evaluation, given, catalogs, world, found).await;
    }
}

/// The facts of an offline evaluation.
struct OfflineFacts<'a> {
    documents: &'a Arc<Documents>,
    inputs: &'a [Value],
    catalogs: &'a Catalogs,
    functions: &'a Arc<FunctionTable>,
    world: &'a dyn World,
    depth: CheckDepth,
}

/// Whom providers ask about specs.
#[derive(Clone, Copy)]
struct Asking<'a> {
    world: &'a dyn World,
    depth: CheckDepth,
}

impl OfflineFacts<'_> {
    /// Evaluates resources and exports. `unreadable` holds the files that cannot be read.
    async fn evaluate(
        &self,
        unreadable: IndexMap<Name, AskFailure>,
        mistakes: &mut Diagnostics,
    ) -> Evaluation {
        let documents = self.documents;
        let mut evaluation = Evaluation::new(
            documents.clone(),
            self.functions.clone(),
            Name::default(),
            self.inputs.to_vec(),
            Answers::default(),
        );
        evaluation.offline = true;
        evaluation.refused = unreadable;
        evaluation.links.add_recorded(&Snapshot::default());
        evaluation.settle_literal_inputs(mistakes);
        let live = live_locals(documents);
        let mut draft = Draft::default();
        let mut claims = Claims::default();
        for level in levels(documents.graph()) {
            let (resources, _) = settle_level(
                &mut evaluation,
                level,
                &live,
                &mut draft,
                self.catalogs,
                self.world,
                mistakes,
            )
            .await;
            let answers = Asking {
                world: self.world,
                depth: self.depth,
            };
            ask_providers(&evaluation, &resources, answers, &mut claims, mistakes).await;
        }
        for name in documents.root().blueprint().exports.keys() {
            // An export of something absent is left out; nothing else is needed here.
            let _ = evaluation.export(name, mistakes);
        }
        evaluation
    }
}

/// The objects that specs show, each with the first resource that manages it.
type Claims = std::collections::HashMap<Claim, Address, foldhash::fast::FixedState>;

/// Asks the providers of some resources whether they accept the specs. No two resources may manage
/// one object.
async fn ask_providers(
    evaluation: &Evaluation,
    resources: &[u32],
    Asking { world, depth }: Asking<'_>,
    claims: &mut Claims,
    found: &mut Diagnostics,
) {
    let documents = &evaluation.documents;
    let messages = documents.root().checked.rules.messages;
    for index in resources {
        let Some((unit, _, resource)) = documents.resource(*index) else {
            continue;
        };
        let Some(ty) = documents
            .resource_type(*index)
            .filter(|ty| ty.capabilities.checks)
        else {
            continue;
        };
        if resource.lifecycle.external.is_some() {
            continue;
        }
        let members: Vec<(&Address, &Value)> = match &evaluation.resources[*index as usize] {
            Members::Single(member) => vec![(&member.address, &member.spec)],
            Members::Many(members) => members
                .iter()
                .flatten()
                .take(MEMBERS)
                .map(|member| (&member.address, &member.spec))
                .collect(),
            Members::Open | Members::Failed | Members::Absent => Vec::new(),
        };
        let site = evaluation.site_of(Some(*index));
        for (address, spec) in members {
            let target = ResourceTarget::new(address, &ty.name, site.borrowed());
            let request = CheckRequest {
                type_name: &ty.name,
                spec,
            };
            let checked = match world.check(target, request).await {
                Ok(checked) => checked,
                // A provider that fails is reported at stage, where its answer is needed.
                Err(_) if depth == CheckDepth::Documents => continue,
                Err(error) => {
                    found.push(provider_failed(address, resource.span, &error));
                    continue;
                }
            };
            let mut mistakes = Diagnostics::new();
            report(
                checked.diagnostics,
                address,
                Some(&resource.spec),
                resource.span,
                messages,
                &mut mistakes,
            );
            let refused = mistakes.has_errors();
            if let Some(id) = checked.id.filter(|_| names_its_objects(ty)) {
                match claims.entry((ty.name.clone(), id)) {
                    Entry::Occupied(first) => {
                        let (_, id) = first.key();
                        mistakes.push(claimed_twice(first.get(), address, id, resource.span));
                    }
                    Entry::Vacant(free) => {
                        free.insert(address.clone());
                    }
                }
            }
            documents.add_trails(unit, &mut mistakes);
            found.append(mistakes);
            if refused {
                break;
            }
        }
    }
}
