//! What can be asked of a staged document: values of expressions, and specs as far as they are known.
//!
//! Not here: the plan itself.

use blueprint::{Address, Expr, Value};
use diag::Diagnostics;

use crate::plan::Staged;
use evaluate::patience::Patient;
use evaluate::questions;
use evaluate::resolve::{Halt, Site};
use evaluate::world::World;

impl Staged {
    /// The value of an expression of the staged document, asking the world what it needs. `None` if it is in error.
    pub async fn evaluate(&mut self, expr: &Expr, world: &dyn World, found: &mut Diagnostics) -> Option<Value> {
        let evaluation = self.evaluation.as_mut()?;
        let world = &Patient::new(world, &self.catalogs);
        // Each round answers a question, and an expression holds finitely many.
        for _ in 0..1000 {
            let mut mistakes = Diagnostics::new();
            match evaluation.present(Site::of(0, "eval"), expr, &mut mistakes) {
                Ok(value) => {
                    found.append(mistakes);
                    return Some(value);
                }
                Err(Halt::Need(need)) => {
                    questions::answer(evaluation, vec![need], &self.catalogs, world, found).await;
                }
                Err(_) => {
                    found.append(mistakes);
                    return None;
                }
            }
        }
        None
    }

    /// The spec that a thing will have, as far as it is known.
    pub fn desired(&self, address: &Address) -> Option<&Value> {
        let tasks = self.plan.tasks.iter().filter_map(|task| task.decision.as_ref());
        tasks.filter(|decided| decided.address == *address).map(|decided| &decided.desired).next()
    }
}
