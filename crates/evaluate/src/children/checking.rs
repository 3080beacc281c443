//! Checks the documents, children first, and assembles them in their places.

use std::collections::HashMap;
use std::sync::Arc;

use diag::{Diagnostic, Diagnostics, Span};

use understand::check;
use understand::check::{Checked, Included};
use understand::documents::{DocumentDependence, Documents, PlacedDocument};

use super::placed_mistakes;
use super::places::{IncludePlace, folder_of};
use super::reader::{CheckResult, DocumentReader, PlacedMistakes};

impl DocumentReader<'_> {
    /// Checks every document, children first, and assembles all of them.
    pub(super) fn finish(mut self, found: &mut Diagnostics) -> Documents {
        type CheckedKey = (u32, Vec<Option<u32>>);
        let mut known: HashMap<CheckedKey, u32, foldhash::fast::FixedState> = HashMap::default();
        let kinds = self.reading.world.environment().source_kinds();
        let mut results: Vec<CheckResult> = Vec::new();
        let mut of_place: Vec<u32> = vec![0; self.places.len()];
        // Parents precede their children in `places`, so the reverse order visits children first.
        for at in (0..self.places.len()).rev() {
            let place = &self.places[at];
            let children: Vec<Option<u32>> = place
                .children
                .iter()
                .map(|child| child.map(|child| of_place[child as usize]))
                .collect();
            let key = (place.text, children);
            if let Some(number) = known.get(&key) {
                of_place[at] = *number;
                continue;
            }
            let below = |child: &Option<u32>| {
                let below = results.get((*child)? as usize)?;
                Some(Included {
                    checked: below.checked.clone(),
                })
            };
            let included: Vec<Option<Included>> = key.1.iter().map(below).collect();
            let mut mistakes = Diagnostics::new();
            let (checked, passed) = check::check_in_place(
                self.texts[place.text as usize].blueprint.clone(),
                &included,
                &self.check_context(at as u32, &kinds),
                (at == 0).then_some(self.inputs.as_slice()),
                &mut mistakes,
            );
            of_place[at] = results.len() as u32;
            known.insert(key, results.len() as u32);
            results.push(CheckResult {
                checked: Arc::new(checked),
                found: mistakes,
                passed: passed.into(),
            });
        }
        let order = self.order();
        let shown = self.errors_of_passed_secrets(&of_place, &results);
        // If a plan follows, evaluation reports all errors of values.
        let is_wrong = |judged: &CheckResult| judged.found.has_errors();
        let planned = self.reading.complete && !found.has_errors() && !results.iter().any(is_wrong);
        let valued = match self.reading.given {
            Some(_) if !planned && self.places.len() > 1 => {
                self.check_with_values(&of_place, &results)
            }
            _ => PlacedMistakes::default(),
        };
        found.extend(self.size());
        found.extend(self.meter.get().problem());
        self.report_once(&order, &of_place, &mut results, valued, shown, found);
        placed_mistakes::drop_repeated_warnings(found);
        let placed = order.iter().map(|at| {
            let place = &self.places[*at as usize];
            let text = &self.texts[place.text as usize];
            let checked = results[of_place[*at as usize] as usize].checked.clone();
            let folder = text.location.as_ref().and_then(folder_of);
            PlacedDocument {
                checked,
                number: *at,
                parent: place.parent,
                left_out: place.left_out.clone(),
                location: text.location.clone(),
                folder: folder.unwrap_or_else(|| self.reading.folder.clone()),
                file: text.file,
            }
        });
        let placed: Vec<PlacedDocument> = placed.collect();
        let room = self.reading.context.settings.limits;
        let reach = if self.has_open_includes {
            DocumentDependence::Incomplete
        } else if self.is_fixed {
            DocumentDependence::Fixed
        } else {
            DocumentDependence::ByInputs
        };
        Documents::assemble(placed, std::mem::take(&mut self.pinned), reach, found)
            .with_limits(room)
    }

    /// The diagnostic for too many resources in total, if any. An include counts as a resource.
    pub(super) fn size(&self) -> Option<Diagnostic> {
        let root = &self.texts[self.places[0].text as usize].blueprint;
        let of = |place: &IncludePlace| {
            let blueprint = &self.texts[place.text as usize].blueprint;
            blueprint.resources.len() + blueprint.children.len() - place.left_out.len()
        };
        let place = root
            .span
            .unwrap_or_else(|| Span::new(self.texts[self.places[0].text as usize].file, 0, 0));
        let limits = self.reading.context.settings.limits(root.dialect);
        self.rules_of(0)
            .sizes
            .resources(self.places.iter().map(of).sum(), &limits, place)
    }

    /// All places in the order of the text, each before its children.
    pub(super) fn order(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.places.len());
        let mut stack = vec![0];
        while let Some(at) = stack.pop() {
            order.push(at);
            stack.extend(self.places[at as usize].children.iter().rev().flatten());
        }
        order
    }

    /// The errors that documents have only because their parents pass them secrets, by place.
    pub(super) fn errors_of_passed_secrets(
        &self,
        of_place: &[u32],
        results: &[CheckResult],
    ) -> PlacedMistakes {
        let mut mistakes = PlacedMistakes::default();
        let mut passed_secrets: Vec<Arc<[bool]>> = vec![Arc::from([]); self.places.len()];
        type Down = (Diagnostics, Vec<Arc<[bool]>>);
        let mut known: HashMap<(u32, Arc<[bool]>), Down, foldhash::fast::FixedState> =
            HashMap::default();
        // Parents precede their children in `places`.
        for at in 0..self.places.len() {
            let place = &self.places[at];
            let received_secrets = passed_secrets[at].clone();
            let (wrong, passed) = known
                .entry((of_place[at], received_secrets.clone()))
                .or_insert_with(|| {
                    let document = &results[of_place[at] as usize].checked;
                    let of =
                        |child: u32| results[of_place[child as usize] as usize].checked.clone();
                    let children: Vec<Option<Arc<Checked>>> =
                        place.children.iter().map(|child| child.map(of)).collect();
                    let passed = check::secrets_passed_down(document, &children, &received_secrets);
                    (
                        check::errors_of_passed_secrets(document, &children, &received_secrets),
                        passed.into_iter().map(Arc::from).collect(),
                    )
                });
            if !wrong.is_empty() {
                mistakes.insert(at as u32, wrong.clone());
            }
            for (child, secret) in place.children.iter().zip(passed) {
                if let Some(child) = child {
                    passed_secrets[*child as usize] = secret.clone();
                }
            }
        }
        mistakes
    }
}
