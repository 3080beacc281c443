//! Evaluates the elements of one level of the graph, and asks the world their questions.
//!
//! Not here: the decisions about these elements (`decide`).

use blueprint::IndexMap;
use diag::Diagnostics;
use evaluate::evaluation_question;
use evaluate::resolve::{Evaluation, Members, Need};
use evaluate::world::World;
use provider::Catalogs;
use understand::graph::GraphNode;

use crate::codes;
use crate::draft::Draft;
use crate::drafting::groups::{store_data_source_group, store_input_group, store_local_group};
use crate::drafting::members::evaluate_members;

/// Evaluates every element of a level, and asks the world the questions of all elements together.
/// Returns the resources of the level, and the links whose parts are decided next.
pub(crate) async fn settle_level(
    evaluation: &mut Evaluation,
    level: Vec<GraphNode>,
    live: &[bool],
    draft: &mut Draft,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
) -> (Vec<u32>, Vec<u32>) {
    let documents = evaluation.documents.clone();
    let mut resources = Vec::new();
    let mut links = Vec::new();
    let mut todo = level;
    let mut asked_before: Vec<String> = Vec::new();
    while !todo.is_empty() {
        let mut needs: IndexMap<String, Need> = IndexMap::default();
        let mut again = Vec::new();
        for node in todo {
            let mut mistakes = Diagnostics::new();
            let mut absent = Vec::new();
            let taken = evaluation.bytes_used();
            let outcome = match node {
                GraphNode::Local(index) => {
                    let dead = !live[index as usize];
                    match evaluation.settle_local(index, &mut mistakes) {
                        // An intermediate value without readers does not cause a data source to be
                        // read.
                        Err(Need::Fetch(_)) if dead => Ok(()),
                        other => other.map_err(|need| vec![need]),
                    }
                }
                GraphNode::Resource(index) => {
                    evaluate_members(evaluation, index, &mut absent, &mut mistakes)
                        .and_then(|members| {
                            evaluation.resources[index as usize] = members;
                            evaluation
                                .merge_links(index, &mut mistakes)
                                .map_err(|need| {
                                    evaluation.resources[index as usize] = Members::Open;
                                    vec![need]
                                })
                        })
                        .map(|()| {
                            draft.absent.append(&mut absent);
                            resources.push(index);
                        })
                }
                GraphNode::Input(number) => evaluation
                    .settle_passed_input(number, &mut mistakes)
                    .map_err(|need| vec![need]),
                // Read only when a live element needs them
                // (decisions/blueprint#reading-of-data-sources).
                GraphNode::DataSource(_) | GraphNode::Child(_) => Ok(()),
                GraphNode::Link(number) => evaluation
                    .settle_link(number, &mut mistakes)
                    .map_err(|need| vec![need])
                    .map(|ready| {
                        if ready {
                            links.push(number);
                        }
                    }),
            };
            match outcome {
                Ok(()) => {
                    if !mistakes.is_empty() {
                        let unit = match node {
                            // A passed input is written in the parent document.
                            GraphNode::Input(_) => documents
                                .unit(documents.unit_of(node))
                                .parent
                                .map_or(0, |(above, _)| above),
                            _ => documents.unit_of(node),
                        };
                        documents.add_trails(unit, &mut mistakes);
                        found.append(mistakes);
                    }
                    match node {
                        GraphNode::Local(index) => {
                            store_local_group(&documents, index, evaluation, &mut draft.groups)
                        }
                        GraphNode::DataSource(index) => store_data_source_group(
                            &documents,
                            index,
                            evaluation,
                            &mut draft.groups,
                        ),
                        GraphNode::Input(number) => {
                            store_input_group(&documents, number, evaluation, &mut draft.groups)
                        }
                        _ => {}
                    }
                }
                Err(more) => {
                    evaluation.reset_bytes_used(taken);
                    needs.extend(
                        more.into_iter()
                            .map(|need| (evaluation_question::need_key(evaluation, &need), need)),
                    );
                    again.push(node);
                }
            }
        }
        let asked: Vec<String> = needs.keys().cloned().collect();
        if !again.is_empty() && asked == asked_before {
            found.push(
                codes::UNSUPPORTED_FEATURE
                    .new("a question was answered and asked again; this is a fault of cyan, please report it"),
            );
            break;
        }
        evaluation_question::answer(
            evaluation,
            needs.into_values().collect(),
            catalogs,
            world,
            found,
        )
        .await;
        asked_before = asked;
        todo = again;
    }
    evaluation.report_size_limit(found);
    resources.sort_unstable();
    (resources, links)
}
