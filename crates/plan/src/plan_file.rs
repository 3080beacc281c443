//! A plan as a file: the data from which it was made, and its steps for readers of the file.
//!
//! The same inputs and answers give the same plan. The file contains them, sealed if secret. When
//! the file is applied, the plan is made again without asking the world, and its steps must be the
//! same.

use blueprint::{IndexMap, Name, Value};
use evaluate::answers::{Answers, digest};
use evaluate::resolve::inputs::Given;
use serde::{Deserialize, Serialize};
use state::Revision;
use state::seal::{SealError, SealPlace, Sealer};

pub use crate::hidden::{
    hidden, hidden_child, hidden_export, hidden_left_alone, hidden_link, hidden_step,
};
use crate::model::{ChildChange, ExportChange, LinkChange, PinnedDocument, Purpose, Step};
use crate::options::Options;
use crate::plan::Plan;
use crate::reader_parts::ReaderParts;

/// The version of the file format.
pub const FORMAT: u32 = 3;

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
    /// The file is a plan that was changed after it had been written.
    #[error("the file is not as `cyan stage --out` has written it: it was edited or damaged")]
    Changed,
    /// The file begins as a plan, and cannot be read.
    #[error("the file is damaged")]
    Damaged {
        /// The error of the parser.
        #[source]
        source: serde_json::Error,
    },
    /// The file is not a plan.
    #[error("the file is not a plan")]
    NotAPlan {
        /// The error of the parser.
        #[source]
        source: serde_json::Error,
    },
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
    /// What readers are shown besides; `None` before format 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readers: Option<Box<ReaderParts>>,
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
    let text = serde_json::to_string(&contents(plan, made_from)).map_err(not_a_plan)?;
    Ok(with_checksum(&text))
}

/// The contents of the file of a plan, with hidden secrets.
pub fn contents(plan: &Plan, made_from: Value) -> PlanFile {
    PlanFile {
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
        readers: Some(Box::new(ReaderParts::of(plan))),
    }
}

/// What stands between the contents of a file and its checksum.
const BEFORE_CHECKSUM: &str = ",\"checksum\":\"";

/// The text of a file with the checksum of it as its last entry. `text` is a JSON object with an
/// entry.
pub fn with_checksum(text: &str) -> String {
    let body = text.strip_suffix('}').unwrap_or(text);
    let checksum = digest(body.as_bytes());
    format!("{body}{BEFORE_CHECKSUM}{checksum}\"}}")
}

/// Whether a text ends with the checksum of what stands before.
fn has_its_checksum(text: &str) -> bool {
    let parts = text.trim_end().rsplit_once(BEFORE_CHECKSUM);
    parts.is_some_and(|(body, rest)| {
        rest.strip_suffix("\"}") == Some(digest(body.as_bytes()).as_ref())
    })
}

/// Reads a plan file without opening what is sealed in it.
///
/// # Errors
/// If the file is not a plan, is damaged or edited, or has a newer format.
pub(crate) fn read_file(text: &str) -> Result<PlanFile, PlanFileError> {
    let unreadable = |source| match looks_like_plan_file(text) {
        true => PlanFileError::Damaged { source },
        false => PlanFileError::NotAPlan { source },
    };
    #[derive(Deserialize)]
    struct Head {
        format: u64,
    }
    let head: Head = serde_json::from_str(text).map_err(unreadable)?;
    if head.format > u64::from(FORMAT) {
        return Err(PlanFileError::Newer { found: head.format });
    }
    // Earlier formats have no checksum.
    if head.format > 2 && looks_like_plan_file(text) && !has_its_checksum(text) {
        return Err(PlanFileError::Changed);
    }
    state::read_json(text.as_bytes()).map_err(unreadable)
}

/// Reads a plan file, and opens what is sealed in it.
///
/// # Errors
/// If the file is not a plan, is damaged or edited, or has a newer format; and if the secrets cannot
/// be opened.
pub fn read(text: &str, sealer: &Sealer) -> Result<(PlanFile, MadeFrom), PlanFileError> {
    let file = read_file(text)?;
    let damaged = |source| PlanFileError::Damaged { source };
    let made_from = match file.made_from.get("sealed") {
        Some(Value::Bytes(sealed)) => {
            let clear =
                sealer
                    .open_bytes(PLACE, sealed)
                    .map_err(|source| PlanFileError::Sealed {
                        verb: "opened",
                        source,
                    })?;
            state::read_json(&clear).map_err(damaged)?
        }
        _ => state::read_json(file.made_from.as_text().unwrap_or_default().as_bytes())
            .map_err(damaged)?,
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
