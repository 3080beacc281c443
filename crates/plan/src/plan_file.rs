//! A plan as a file: the data from which it was made, and its steps for readers of the file.
//!
//! The same inputs and answers give the same plan. The file contains them, sealed if secret. When
//! the file is applied, the plan is made again without asking the world, and its steps must be the
//! same.

use blueprint::{IndexMap, Name, Value};
use evaluate::answers::{self, Answers};
use evaluate::resolve::inputs::Given;
use serde::{Deserialize, Serialize};
use state::Revision;
use state::seal::{SealError, SealPlace, Sealer};

use crate::model::{
    ChildChange, ExportChange, LeftAlone, LinkChange, PinnedDocument, Purpose, Step,
};
use crate::options::Options;
use crate::plan::Plan;

/// The version of the file format.
pub const FORMAT: u32 = 2;

/// The place for which the secrets of a plan are sealed.
const PLACE: SealPlace<'static> = SealPlace {
    uid: "plan",
    record: 0,
};

/// An error that prevents the use of a plan file.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// The file was written by a newer version.
    #[error("the plan has format {found}; this version reads up to {FORMAT}")]
    Newer {
        /// The format of the file.
        found: u64,
    },
    /// The file is not a plan.
    #[error("the file is not a plan")]
    NotAPlan {
        /// The error of the parser.
        #[source]
        source: serde_json::Error,
    },
    /// The file was changed after it was written.
    #[error("the plan file was edited after it was written")]
    Edited,
    /// The secrets of the plan cannot be sealed or opened.
    #[error("the secrets of the plan cannot be {verb}")]
    Sealed {
        /// `sealed` or `opened`.
        verb: &'static str,
        /// The cause.
        #[source]
        source: SealError,
    },
}

/// The contents of a plan file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlanFile {
    /// The version of the file format.
    pub format: u32,
    /// Always `plan`.
    pub kind: Name,
    /// The instance.
    pub instance: Name,
    /// The purpose.
    pub purpose: Purpose,
    /// The revision of the state it was made from.
    pub revision: Revision,
    /// The options.
    pub options: Options,
    /// The data from which the plan was made, sealed if anything in it is secret.
    pub made_from: Value,
    /// The steps.
    pub steps: Vec<Step>,
    /// The links that are created, changed or removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkChange>,
    /// The exported values after it.
    pub exports: Vec<ExportChange>,
    /// Child documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildChange>,
}

/// The data from which a plan was made, not sealed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MadeFrom {
    /// The document; none for a destroy.
    pub document: Option<PinnedDocument>,
    /// Typed inputs.
    pub typed: IndexMap<Name, Value>,
    /// Inputs as text.
    pub text: IndexMap<Name, Name>,
    /// The answers of the world.
    pub answers: Answers,
}

impl MadeFrom {
    /// The inputs as given.
    pub fn given(&self) -> Given {
        Given {
            typed: self.typed.clone(),
            text: self.text.clone(),
        }
    }
}

/// The text of a plan file. Without a key, a plan that holds a secret cannot be written.
pub fn write(plan: &Plan, sealer: &Sealer) -> Result<String, PlanFileError> {
    let made_from = MadeFrom {
        document: plan.document.clone(),
        typed: plan.given.typed.clone(),
        text: plan.given.text.clone(),
        answers: plan.answers.clone(),
    };
    let not_a_plan = |source| PlanFileError::NotAPlan { source };
    let text = serde_json::to_string(&made_from).map_err(not_a_plan)?;
    let made_from = if plan.secret {
        let sealed = sealer
            .seal_bytes(PLACE, text.as_bytes())
            .map_err(|source| PlanFileError::Sealed {
                verb: "sealed",
                source,
            })?;
        Value::map([("sealed", Value::Bytes(sealed.into()))])
    } else {
        Value::from(text)
    };
    let file = PlanFile {
        format: FORMAT,
        kind: "plan".into(),
        instance: plan.instance.clone(),
        purpose: plan.purpose,
        revision: plan.revision,
        options: plan.options.clone(),
        made_from,
        steps: plan.steps.iter().map(hidden_step).collect(),
        links: plan.links.iter().map(hidden_link).collect(),
        exports: plan.exports.iter().map(hidden_export).collect(),
        children: plan.children.iter().map(hidden_child).collect(),
    };
    let text = serde_json::to_string(&file).map_err(not_a_plan)?;
    Ok(with_digest(&text))
}

/// What stands before the digest at the end of a file.
const DIGEST: &str = ",\"digest\":\"";

/// Adds the digest of the text, as the last key of its object.
fn with_digest(text: &str) -> String {
    let digest = answers::digest(text.as_bytes());
    let open = text.strip_suffix('}').unwrap_or(text);
    format!("{open}{DIGEST}{digest}\"}}")
}

/// Whether a text has a digest and is not the text that the digest was made of. Files of earlier
/// versions have none. This detects a mistake, not an attack: an attacker can write the digest, too.
fn is_edited(text: &str) -> bool {
    let Some((open, rest)) = text.rsplit_once(DIGEST) else {
        return false;
    };
    let last = rest.trim_end().strip_suffix("\"}");
    // A longer rest is another key of this name, inside of a step.
    last.filter(|digest| digest.len() == 64)
        .is_some_and(|digest| *answers::digest(format!("{open}}}").as_bytes()) != *digest)
}

/// Reads a plan file, and opens what is sealed in it.
pub fn read(text: &str, sealer: &Sealer) -> Result<(PlanFile, MadeFrom), PlanFileError> {
    let not_a_plan = |source| PlanFileError::NotAPlan { source };
    #[derive(Deserialize)]
    struct Head {
        format: u64,
    }
    let head: Head = serde_json::from_str(text).map_err(not_a_plan)?;
    if head.format > u64::from(FORMAT) {
        return Err(PlanFileError::Newer { found: head.format });
    }
    if is_edited(text) {
        return Err(PlanFileError::Edited);
    }
    let file: PlanFile = state::read_json(text.as_bytes()).map_err(not_a_plan)?;
    let made_from = match file.made_from.get("sealed") {
        Some(Value::Bytes(sealed)) => {
            let clear =
                sealer
                    .open_bytes(PLACE, sealed)
                    .map_err(|source| PlanFileError::Sealed {
                        verb: "opened",
                        source,
                    })?;
            state::read_json(&clear).map_err(not_a_plan)?
        }
        _ => state::read_json(file.made_from.as_text().unwrap_or_default().as_bytes())
            .map_err(not_a_plan)?,
    };
    Ok((file, made_from))
}

/// Whether a text looks like a plan file, so that `deploy FILE` can tell it from a document.
pub fn looks_like_plan_file(text: &str) -> bool {
    text.starts_with("{\"format\":")
        && text
            .as_bytes()
            .iter()
            .take(200)
            .copied()
            .collect::<Vec<u8>>()
            .windows(13)
            .any(|part| part == b"\"kind\":\"plan\"")
}

/// A value for users and files: secrets as the text `(secret)`.
pub fn hidden(value: &Value) -> Value {
    match value {
        Value::Secret(_) => Value::from("(secret)"),
        Value::List(items) | Value::Set(items) => Value::list(items.iter().map(hidden)),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), hidden(value))),
        ),
        other => other.clone(),
    }
}

/// A step for users and files: secrets as the text `(secret)`.
pub fn hidden_step(step: &Step) -> Step {
    let mut step = step.clone();
    for change in &mut step.changes {
        change.before = change.before.as_ref().map(hidden);
        change.after = change.after.as_ref().map(hidden);
    }
    step
}

/// A change of a link for users and files: secrets as the text `(secret)`.
pub fn hidden_link(link: &LinkChange) -> LinkChange {
    let mut link = link.clone();
    link.annotations = hidden(&link.annotations);
    for effect in &mut link.effects {
        effect.change.before = effect.change.before.as_ref().map(hidden);
        effect.change.after = effect.change.after.as_ref().map(hidden);
    }
    link
}

/// The resources left alone, for users and files: secrets as the text `(secret)`.
pub fn hidden_left_alone(left: &LeftAlone) -> LeftAlone {
    let mut left = left.clone();
    for change in left.document_differs.values_mut().flatten() {
        change.before = change.before.as_ref().map(hidden);
        change.after = change.after.as_ref().map(hidden);
    }
    left
}

/// An export for users and files: secrets as the text `(secret)`.
pub fn hidden_export(export: &ExportChange) -> ExportChange {
    let mut export = export.clone();
    export.before = export.before.as_ref().map(hidden);
    export.after = export.after.as_ref().map(hidden);
    export
}

/// A child document for users and files: secrets as the text `(secret)`.
pub fn hidden_child(child: &ChildChange) -> ChildChange {
    let mut child = child.clone();
    for export in child.exports.iter_mut().chain(&mut child.metadata) {
        *export = hidden_export(export);
    }
    child
}
