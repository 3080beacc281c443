//! The plan of a plan file, to be looked at. It needs neither the key nor the state.
//!
//! Not here: the form of the views (the command line).

use blueprint::IndexMap;

use crate::drift::Drifted;
use crate::hidden::{restore, restore_pair};
use crate::plan::StepSource;
use crate::plan_file::{PlanFile, PlanFileError, read_file};
use crate::reader_parts::{DriftParts, ReaderParts, StepParts, restore_changes};
use crate::shown::ShownPlan;

/// The plan of a plan file, to be looked at. It needs neither the key nor the state.
#[derive(Clone, Debug)]
pub struct ReadablePlan {
    file: PlanFile,
    parts: ReaderParts,
    drift: Vec<Drifted>,
}

impl ReadablePlan {
    /// Reads a plan file. A file of an earlier format has fewer parts.
    ///
    /// # Errors
    /// If the file is not a plan, is damaged or edited, or has a newer format.
    pub fn read(text: &str) -> Result<ReadablePlan, PlanFileError> {
        read_file(text).map(ReadablePlan::of)
    }

    fn of(mut file: PlanFile) -> ReadablePlan {
        let mut parts = *file.readers.take().unwrap_or_default();
        let of_steps: IndexMap<u32, StepParts> = std::mem::take(&mut parts.steps)
            .into_iter()
            .map(|parts| (parts.id, parts))
            .collect();
        for step in &mut file.steps {
            let of_step = of_steps.get(&step.id);
            if let Some(of_step) = of_step {
                step.existing.id = of_step.provider_id.clone();
                step.existing.unchanged = of_step.unchanged;
                step.links = of_step.links.clone();
            }
            let lists = of_step.map_or(&[][..], |parts| &parts.lists);
            restore_changes(step.changes.iter_mut(), lists);
        }
        for link in &mut file.links {
            restore(&mut link.annotations);
            let lists = parts.link_lists.get(&link.address);
            restore_changes(
                link.effects.iter_mut().map(|effect| &mut effect.change),
                lists.map_or(&[][..], Vec::as_slice),
            );
        }
        for (address, changes) in &mut parts.left_alone.document_differs {
            let lists = parts.left_alone_lists.get(address);
            restore_changes(changes.iter_mut(), lists.map_or(&[][..], Vec::as_slice));
        }
        let of_children = file
            .children
            .iter_mut()
            .flat_map(|child| child.exports.iter_mut().chain(&mut child.metadata));
        let exports = file.exports.iter_mut().chain(&mut parts.metadata);
        for export in exports.chain(of_children) {
            restore_pair(export.before.as_mut(), export.after.as_mut());
        }
        let drift = parts.drift.iter().map(DriftParts::drifted).collect();
        ReadablePlan { file, parts, drift }
    }

    /// The parts that people and machines are shown.
    pub fn shown(&self) -> ShownPlan<'_> {
        let sources = self.parts.sources.iter().map(|source| StepSource {
            address: &source.address,
            digest_path: source.digest_path.clone(),
            name: &source.name,
            texts: source.texts.as_ref(),
        });
        ShownPlan {
            instance: &self.file.instance,
            purpose_word: match self.file.options.rollback {
                true => "rollback",
                false => self.file.purpose.word(),
            },
            is_state_edit: false,
            revision: self.file.revision,
            steps: &self.file.steps,
            links: &self.file.links,
            exports: &self.file.exports,
            metadata_changes: &self.parts.metadata,
            children: &self.file.children,
            drift: &self.drift,
            stops: &self.parts.stops,
            left_alone: &self.parts.left_alone,
            unread: &self.parts.unread,
            sources: sources.collect(),
        }
    }

    /// Whether the plan is one of a simulation.
    pub fn is_simulated(&self) -> bool {
        self.file.options.simulated
    }

    /// Whether the file has an earlier format, without drift, breakpoints and the resources that
    /// the plan leaves alone.
    pub fn is_brief(&self) -> bool {
        self.file.format < 3
    }
}
