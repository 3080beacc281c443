//! Evaluates the parts of a template over a document. The ranges of a template work as in the
//! original: the words `range` and `end` set flags, which the loop over the parts reads.

use blueprint::Value;

use crate::compare;
use crate::failure::{FailureClass, PathFailure};
use crate::item::{Item, Seen};
use crate::syntax::{FilterStep, QueryStep, SliceBounds, TemplatePart};

/// How many values an evaluation may visit.
const VISITS: usize = 1_000_000;

/// How deep ranges may stand in each other.
const RANGES: usize = 32;

/// What becomes of a field that a document does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingKeys {
    /// It has no result.
    Allowed,
    /// If no value has the field, the evaluation fails.
    Refused,
}

/// A step that failed. In a condition without a comparison, a step that fails but leaves values
/// counts as a result.
struct StepStop {
    failure: PathFailure,
    leaves_values: bool,
}

type Walked = Result<Vec<Item>, StepStop>;

fn stop<T>(
    class: FailureClass,
    message: impl Into<String>,
    leaves_values: bool,
) -> Result<T, StepStop> {
    Err(StepStop {
        failure: PathFailure::new(class, message),
        leaves_values,
    })
}

/// An evaluation under way.
struct Evaluation<'a> {
    parts: &'a [TemplatePart],
    missing: MissingKeys,
    visits: usize,
    /// Ranges that began in the part that was just evaluated.
    begun: usize,
    /// Ranges that the current part stands in.
    inside: usize,
    /// Ranges that end with the part that was just evaluated.
    ended: usize,
    /// The part with the last `end`.
    last_end: Option<usize>,
}

/// The results of each part of a template.
pub(crate) fn evaluate(
    parts: &[TemplatePart],
    document: Item,
    missing: MissingKeys,
) -> Result<Vec<Vec<Item>>, PathFailure> {
    let mut evaluation = Evaluation {
        parts,
        missing,
        visits: 0,
        begun: 0,
        inside: 0,
        ended: 0,
        last_end: None,
    };
    evaluation
        .block(0, document)
        .map_err(|stopped| stopped.failure)
}

impl Evaluation<'_> {
    /// Evaluates the parts from one on, up to the end of the range that they stand in.
    fn block(&mut self, from: usize, item: Item) -> Result<Vec<Vec<Item>>, StepStop> {
        let parts = self.parts;
        let mut results = Vec::new();
        let mut at = from;
        while let Some(part) = parts.get(at) {
            let found = match part {
                TemplatePart::Text(text) => vec![Item::data(Value::Text(text.clone()))],
                TemplatePart::Query(steps) => self.steps(vec![item.clone()], steps)?,
            };
            if self.ended > 0 && self.ended <= self.inside {
                self.ended -= 1;
                self.last_end = Some(at);
                break;
            }
            if self.begun > 0 {
                self.begun -= 1;
                results.extend(self.range(at, found)?);
                at = self.last_end.filter(|end| *end > at).unwrap_or(at);
            } else {
                results.push(found);
            }
            at += 1;
        }
        Ok(results)
    }

    /// Evaluates the range that begins after a part for each of its values. Without a value, it is
    /// evaluated once for nothing, so that its end is found.
    fn range(&mut self, at: usize, items: Vec<Item>) -> Result<Vec<Vec<Item>>, StepStop> {
        self.inside += 1;
        if self.inside > RANGES {
            let message = format!("more than {RANGES} ranges stand in each other");
            return stop(FailureClass::Evaluate, message, false);
        }
        let mut results = Vec::new();
        if items.is_empty() {
            self.block(at + 1, Item::Nothing)?;
        }
        for item in items {
            let item = match item {
                Item::Shaped(Value::Null, shape) => Item::document(&Value::Null, shape),
                other => other,
            };
            results.extend(self.block(at + 1, item)?);
        }
        self.inside -= 1;
        Ok(results)
    }

    fn visit(&mut self, count: usize) -> Result<(), StepStop> {
        self.visits += count;
        if self.visits > VISITS {
            let message = format!("the path visits more than {VISITS} values");
            return stop(FailureClass::Evaluate, message, false);
        }
        Ok(())
    }

    fn steps(&mut self, mut items: Vec<Item>, steps: &[QueryStep]) -> Walked {
        for step in steps {
            items = self.step(items, step)?;
            self.visit(items.len() + 1)?;
        }
        Ok(items)
    }

    fn step(&mut self, items: Vec<Item>, step: &QueryStep) -> Walked {
        let same = |value: Value| Ok(vec![Item::data(value); items.len()]);
        match step {
            QueryStep::Text(text) => Ok(vec![Item::data(Value::Text(text.clone()))]),
            QueryStep::Int(number) => same(Value::Int(*number)),
            QueryStep::Float(number) => same(Value::Float(*number)),
            QueryStep::Flag(flag) => same(Value::Bool(*flag)),
            QueryStep::Field(name) => self.field(&items, name),
            QueryStep::Slice(bounds) => slice(&items, bounds),
            QueryStep::Filter(filter) => self.filter(&items, filter),
            QueryStep::Wildcard => self.wildcard(&items),
            QueryStep::Recursive => self.recursive(items),
            QueryStep::Union(members) => self.union(&items, members),
            QueryStep::Word(word) => self.word(items, word),
        }
    }

    fn word(&mut self, items: Vec<Item>, word: &str) -> Walked {
        match word {
            "range" => {
                self.begun += 1;
                Ok(items)
            }
            "end" if self.inside > 0 => {
                self.ended += 1;
                Ok(Vec::new())
            }
            "end" => stop(
                FailureClass::Evaluate,
                "`end` stands outside of a range",
                false,
            ),
            _ => stop(
                FailureClass::Evaluate,
                format!("`{word}` is no known word"),
                !items.is_empty(),
            ),
        }
    }

    fn field(&self, items: &[Item], name: &str) -> Walked {
        let found: Vec<Item> = items.iter().filter_map(|item| item.field(name)).collect();
        if found.is_empty() && !items.is_empty() && self.missing == MissingKeys::Refused {
            return stop(
                FailureClass::Missing,
                format!("`{name}` is not found"),
                false,
            );
        }
        Ok(found)
    }

    fn wildcard(&mut self, items: &[Item]) -> Walked {
        let mut found = Vec::new();
        for item in items {
            match item.seen().0 {
                Seen::Unknown => found.push(item.beyond()),
                _ => found.extend(item.children()),
            }
            self.visit(found.len())?;
        }
        Ok(found)
    }

    /// The items and everything below them that has children, parents first.
    fn recursive(&mut self, mut items: Vec<Item>) -> Walked {
        let mut found = Vec::new();
        items.reverse();
        while let Some(item) = items.pop() {
            self.visit(1)?;
            match item.seen().0 {
                Seen::Unknown => found.push(item.beyond()),
                Seen::Text("") => {}
                Seen::Text(_) => found.push(item),
                _ if item.has_children() => {
                    items.extend(item.children().into_iter().rev());
                    found.push(item);
                }
                _ => {}
            }
        }
        Ok(found)
    }

    fn union(&mut self, items: &[Item], members: &[Vec<QueryStep>]) -> Walked {
        let mut found = Vec::new();
        for steps in members {
            match self.steps(items.to_vec(), steps) {
                Ok(more) => found.extend(more),
                Err(stopped) => {
                    return Err(StepStop {
                        leaves_values: !items.is_empty(),
                        ..stopped
                    });
                }
            }
        }
        Ok(found)
    }

    fn filter(&mut self, items: &[Item], filter: &FilterStep) -> Walked {
        let mut found = Vec::new();
        for item in items {
            let (seen, secret) = item.seen();
            let (elements, shape) = match seen {
                Seen::Unknown => {
                    found.push(item.beyond());
                    continue;
                }
                Seen::List(elements, shape) => (elements, shape),
                _ => {
                    let message = "the value is not a list and has no elements to choose from";
                    return stop(FailureClass::NotAList, message, true);
                }
            };
            // What a secret decides is secret, whichever elements it chooses.
            let mut secret = secret;
            let start = found.len();
            for element in elements {
                let element = Item::Shaped(element.clone(), shape);
                let verdict = match self.condition(&element, filter) {
                    Ok(verdict) => verdict,
                    Err(stopped) => {
                        let leaves_values = stopped.leaves_values || !found.is_empty();
                        return Err(StepStop {
                            leaves_values,
                            ..stopped
                        });
                    }
                };
                secret |= verdict.secret;
                match verdict.holds {
                    Holds::Yes => found.push(element),
                    Holds::No => {}
                    Holds::Unknown(value) => found.push(Item::Beyond(value)),
                }
            }
            if secret {
                for item in &mut found[start..] {
                    *item = std::mem::replace(item, Item::Nothing).tainted(true);
                }
            }
        }
        Ok(found)
    }

    fn condition(&mut self, element: &Item, filter: &FilterStep) -> Result<Verdict, StepStop> {
        let found = self.steps(vec![element.clone()], &filter.left);
        let Some((operator, right)) = &filter.comparison else {
            return match found {
                Ok(found) => Ok(existence(&found)),
                Err(stopped) if self.visits > VISITS => Err(stopped),
                Err(stopped) => Ok(Verdict::certain(stopped.leaves_values)),
            };
        };
        let left = match one(found.map_err(leaving_values)?)? {
            Some(left) => left,
            None => return Ok(Verdict::certain(false)),
        };
        let found = self.steps(vec![element.clone()], right);
        let right = match one(found.map_err(leaving_values)?)? {
            Some(right) => right,
            None => return Ok(Verdict::certain(false)),
        };
        let (left, right) = (left.value(), right.value());
        let secret = left.has_secret() || right.has_secret();
        if left.is_unknown() || right.is_unknown() {
            let both = Value::list([left, right]);
            return Ok(Verdict {
                holds: Holds::Unknown(both.as_unknown()),
                secret,
            });
        }
        match compare::holds(operator, &left, &right) {
            Ok(holds) => Ok(Verdict {
                holds: if holds { Holds::Yes } else { Holds::No },
                secret,
            }),
            Err(failure) => Err(StepStop {
                failure,
                leaves_values: false,
            }),
        }
    }
}

/// What a condition says of an element.
struct Verdict {
    holds: Holds,
    secret: bool,
}

enum Holds {
    Yes,
    No,
    Unknown(Value),
}

impl Verdict {
    fn certain(holds: bool) -> Verdict {
        Verdict {
            holds: if holds { Holds::Yes } else { Holds::No },
            secret: false,
        }
    }
}

/// Whether there is a value. If all stand below unknown ones, nobody knows.
fn existence(found: &[Item]) -> Verdict {
    let unknown = |item: &Item| matches!(item, Item::Beyond(_));
    let mut verdict = Verdict::certain(!found.is_empty());
    if !found.is_empty() && found.iter().all(unknown) {
        let values = Value::list(found.iter().map(Item::value));
        verdict.holds = Holds::Unknown(values.as_unknown());
    }
    verdict.secret = found.iter().any(|item| item.seen().1);
    verdict
}

fn leaving_values(stopped: StepStop) -> StepStop {
    StepStop {
        leaves_values: true,
        ..stopped
    }
}

fn one(found: Vec<Item>) -> Result<Option<Item>, StepStop> {
    if found.len() > 1 {
        let message = "a side of the comparison has more than one value";
        return stop(FailureClass::Evaluate, message, true);
    }
    Ok(found.into_iter().next())
}

fn slice(items: &[Item], bounds: &SliceBounds) -> Walked {
    let mut found = Vec::new();
    for item in items {
        let (seen, secret) = item.seen();
        let (elements, shape) = match seen {
            Seen::Unknown => {
                found.push(item.beyond());
                continue;
            }
            Seen::Null => continue,
            Seen::List(elements, shape) => (elements, shape),
            _ => return stop(FailureClass::NotAList, "the value is not a list", true),
        };
        match bounds.choose(elements.len()) {
            // The original leaves out the rest, too.
            Ok(None) => break,
            Ok(Some((range, step))) => found.extend(
                elements
                    .get(range)
                    .unwrap_or_default()
                    .iter()
                    .step_by(step)
                    .map(|element| Item::Shaped(element.clone(), shape).tainted(secret)),
            ),
            Err(failure) => {
                return Err(StepStop {
                    failure,
                    leaves_values: true,
                });
            }
        }
    }
    Ok(found)
}
