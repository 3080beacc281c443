//! Reports the errors of each document once, in its first place. The root's errors come first, then
//! the errors of each child. After the errors of a child comes the report that the child has
//! errors.
//!
//! Not here: the check (`understand::check`), and the assembly of documents (`checking`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use blueprint::Value;
use diag::{Diagnostic, Diagnostics, Span};
use dialect::CheckedBy;

use super::known::IncludeValue;
use super::reader::{CheckResult, DocumentReader, PlacedMistakes, is_reported_by_check};
use understand::check;
use understand::check::Included;
use understand::check::passed_inputs::PassedInputs;

/// The inputs of a place, the errors found with these inputs, and the inputs that the place passes
/// to its children.
type PlaceResult = (
    Arc<[Value]>,
    Option<Diagnostics>,
    Arc<[Option<PassedInputs>]>,
);

impl DocumentReader<'_> {
    /// The errors of documents in their places with the input values known there. They replace the
    /// errors found without values. Errors of the passed inputs are added to their places too.
    pub(super) fn check_with_values(
        &self,
        of_place: &[u32],
        results: &[CheckResult],
    ) -> PlacedMistakes {
        let kinds = self.reading.world.environment().source_kinds();
        let knowledge = self.include_context(&self.inputs);
        let mut mistakes = PlacedMistakes::default();
        let mut passed_down: Vec<Option<PassedInputs>> = vec![None; self.places.len()];
        // Most places of one document receive the same inputs.
        let mut known: HashMap<u32, PlaceResult, foldhash::fast::FixedState> = HashMap::default();
        // Parents precede their children in `places`.
        for at in 0..self.places.len() {
            let place = &self.places[at];
            let number = of_place[at];
            let received = passed_down[at]
                .take()
                .filter(PassedInputs::is_known)
                .unwrap_or_default();
            let inputs: Arc<[Value]> = received.values.into();
            if !known.get(&number).is_some_and(|(last, ..)| *last == inputs) {
                let one = if inputs.iter().any(|value| !value.is_unknown()) {
                    let below = |child: u32| Included {
                        checked: results[of_place[child as usize] as usize].checked.clone(),
                    };
                    let included: Vec<Option<Included>> = place
                        .children
                        .iter()
                        .map(|child| child.map(below))
                        .collect();
                    let mut found = Diagnostics::new();
                    let (_, passed) = check::check_in_place(
                        self.text_of(at as u32).blueprint.clone(),
                        &included,
                        &self.check_context(at as u32, &kinds),
                        Some(&inputs),
                        &mut found,
                    );
                    (inputs, Some(found), passed.into())
                } else {
                    (inputs, None, results[number as usize].passed.clone())
                };
                known.insert(number, one);
            }
            let Some((_, found, passed)) = known.get(&number) else {
                continue;
            };
            let mut found = found.clone();
            let blueprint = &self.text_of(at as u32).blueprint;
            let by_type = self.rules_of(at as u32).checks.children == CheckedBy::Type;
            for (include, child) in place.children.iter().enumerate() {
                let Some(child) = child else { continue };
                let passed = match (by_type, blueprint.children.get_index(include)) {
                    (true, Some((_, written))) => {
                        let below = &self.text_of(*child).blueprint;
                        let value =
                            |expr: &blueprint::Expr| match knowledge.evaluate(at as u32, expr) {
                                IncludeValue::Value(value) => Some(value),
                                _ => None,
                            };
                        let mut wrong = Diagnostics::new();
                        let passed = check::compute_passed_inputs(
                            written,
                            below,
                            &self.rules_of(*child),
                            value,
                            &mut wrong,
                            |_, _, _| {},
                        );
                        if !wrong.is_empty() {
                            found
                                .get_or_insert_with(|| results[number as usize].found.clone())
                                .append(wrong);
                        }
                        passed
                    }
                    _ => passed.get(include).cloned().flatten(),
                };
                passed_down[*child as usize] = passed;
            }
            if !received.default_errors.is_empty() {
                found
                    .get_or_insert_with(|| results[number as usize].found.clone())
                    .append(received.default_errors);
            }
            if let Some(found) = found {
                mistakes.insert(at as u32, found);
            }
        }
        mistakes
    }

    /// Reports the errors of each document once. `valued` holds the errors in places with known
    /// input values. `shown` holds the errors that arise only because parents pass secrets.
    pub(super) fn report_once(
        &mut self,
        order: &[u32],
        of_place: &[u32],
        judged: &mut [CheckResult],
        mut valued: PlacedMistakes,
        mut shown: PlacedMistakes,
        found: &mut Diagnostics,
    ) {
        let failed = self.places_with_errors(of_place, judged, &valued, &shown);
        let mut reported: HashSet<(&'static str, Span, String, bool), foldhash::fast::FixedState> =
            Default::default();
        let mut failed_at: HashSet<Span, foldhash::fast::FixedState> = Default::default();
        // Reports about children with errors. Each follows the errors of the child.
        let mut later: Vec<(u32, Option<Diagnostic>)> = Vec::new();
        for at in order {
            let level = self.places[*at as usize].level;
            while later.last().is_some_and(|(above, _)| *above >= level) {
                found.extend(later.pop().and_then(|(_, one)| one));
            }
            later.push((
                level,
                self.child_failed(*at)
                    .filter(|one| failed[*at as usize] && failed_at.insert(one.span())),
            ));
            let text = self.places[*at as usize].text as usize;
            let by_check = std::mem::take(&mut judged[of_place[*at as usize] as usize].found);
            let mut mistakes = valued.remove(at).unwrap_or(by_check);
            let text = &mut self.texts[text];
            let refused = std::mem::take(&mut text.refused);
            mistakes.extend(
                refused
                    .into_iter()
                    .filter(|(include, _)| {
                        // Drop the refusal if the check has already reported an error of this
                        // include.
                        let child = text
                            .blueprint
                            .children
                            .get_index(*include as usize)
                            .map(|(_, child)| child);
                        !child.is_some_and(|child| is_reported_by_check(&mistakes, child))
                    })
                    .map(|(_, diagnostic)| diagnostic)
                    .collect::<Vec<_>>(),
            );
            mistakes.append(std::mem::take(&mut text.found));
            mistakes.append(shown.remove(at).unwrap_or_default());
            if mistakes.is_empty() {
                continue;
            }
            mistakes.sort();
            mistakes.retain(|it| {
                reported.insert((it.code.name, it.span(), it.message.clone(), it.is_error()))
            });
            let trail = self.trail(*at);
            for one in mistakes.iter_mut() {
                one.trail.clone_from(&trail);
                self.complete_by_parents(*at, one);
            }
            found.append(mistakes);
        }
        while let Some((_, one)) = later.pop() {
            found.extend(one);
        }
    }

    /// Passes a diagnostic of a place to the dialects of the documents above it, which complete the
    /// diagnostic.
    fn complete_by_parents(&self, place: u32, one: &mut Diagnostic) {
        let mut at = place;
        while let Some((above, include)) = self.places[at as usize].parent {
            if let Some((name, child)) = self
                .text_of(above)
                .blueprint
                .children
                .get_index(include as usize)
            {
                self.rules_of(above)
                    .messages
                    .complete_in_child(one, name, child, at == place);
            }
            at = above;
        }
    }

    /// The diagnostic for a place with errors, at the include in the place above.
    fn child_failed(&self, place: u32) -> Option<Diagnostic> {
        let (above, include) = self.places[place as usize].parent?;
        let (name, child) = self
            .text_of(above)
            .blueprint
            .children
            .get_index(include as usize)?;
        let mut diagnostic = check::child_failed(name, child);
        diagnostic.trail = self.trail(above);
        Some(diagnostic)
    }

    /// Whether a place or a place below it has errors, by place.
    fn places_with_errors(
        &self,
        of_place: &[u32],
        judged: &[CheckResult],
        valued: &PlacedMistakes,
        shown: &PlacedMistakes,
    ) -> Vec<bool> {
        let mut failed = vec![false; self.places.len()];
        // The reverse order visits children first.
        for at in (0..self.places.len()).rev() {
            let place = &self.places[at];
            let number = at as u32;
            let by_check = &judged[of_place[at] as usize].found;
            let text = &self.texts[place.text as usize];
            failed[at] |= valued.get(&number).unwrap_or(by_check).has_errors()
                || text.found.has_errors()
                || !text.refused.is_empty()
                || shown.get(&number).is_some_and(Diagnostics::has_errors);
            if let (true, Some((above, _))) = (failed[at], place.parent) {
                failed[above as usize] = true;
            }
        }
        failed
    }
}

/// Removes warnings that repeat an error, and warnings about the zeros of an integer where text is
/// needed: the error there says what to write.
pub(super) fn drop_repeated_warnings(found: &mut Diagnostics) {
    let key = |one: &Diagnostic| (one.code.name, one.span(), one.message.clone());
    let certain: HashSet<_, foldhash::fast::FixedState> =
        found.iter().filter(|one| one.is_error()).map(key).collect();
    if !certain.is_empty() {
        found.retain(|one| one.is_error() || !certain.contains(&key(one)));
    }
    let is_about_zeros = |one: &Diagnostic| one.code.name == dialect::codes::LEADING_ZERO.name;
    if found.iter().any(is_about_zeros) {
        let wrong: Vec<Span> = found
            .iter()
            .filter(|one| one.code.name == expr::codes::TYPE_MISMATCH.name)
            .map(Diagnostic::span)
            .collect();
        found.retain(|one| !is_about_zeros(one) || !wrong.contains(&one.span()));
    }
}
