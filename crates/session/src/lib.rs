//! The layer between a program and the engine: from a path and inputs to a plan and an operation, without a terminal.
//!
//! ```text
//! Installed + Config ──> Session ──stage──> Planned ──operate──> events, Operated
//!                           └── check, validate, drift, rollback, import, kept plans
//! ```
//!
//! Nothing here prints, ends the process or listens to signals. Results are values; while a session works it tells a [`Frontend`]
//! what it finds and what happens.
//!
//! Not here: any provider, store or source (the program installs them); arguments, views, exit codes (`cli`).

mod catalog_files;
pub mod config;
pub mod discovery;
mod document;
mod document_source;
mod error;
mod findings;
pub mod foreign;
mod from_state;
mod frontend;
pub mod graph;
mod import;
mod inputs;
pub mod installed;
mod instance;
pub mod json;
mod kept;
pub mod key;
mod library;
mod operate;
pub mod paths;
mod place;
mod rollback;
mod root;
mod session;
mod stage;
mod state_url;
mod text;
mod validate;
mod withheld;

pub use config::Config;
pub use document::{Document, Known};
pub use document_source::{DocumentSource, EnvironmentFile};
pub use error::Error;
pub use findings::{Findings, raise_warnings};
pub use from_state::DriftReport;
pub use frontend::{Envelope, Frontend, Notice, Renamed, Run, SessionEvent, Silent};
pub use import::ImportRequest;
pub use inputs::{InputSource, Inputs};
pub use installed::Installed;
pub use instance::Meant;
pub use kept::KeptPlan;
pub use library::{Library, Selection};
pub use operate::OperateRequest;
pub use place::StatePlace;
pub use session::{Session, SessionOptions};
pub use stage::{Examine, Planned, StageRequest, StagedDocument};
pub use text::{read_text, text_of};

/// Shows that results and requests can be sent to other threads.
const _: () = {
    const fn is_send<T: Send>() {}
    is_send::<Session>();
    is_send::<Document>();
    is_send::<StageRequest>();
    is_send::<StagedDocument>();
    is_send::<OperateRequest>();
    is_send::<Error>();
    is_send::<Envelope>();
    is_send::<KeptPlan>();
};

#[cfg(test)]
mod tests {
    use super::*;

    /// A server runs requests on threads of its own.
    #[test]
    fn requests_are_futures_that_threads_may_share() {
        fn is_send<T: Send>(_: T) {}
        fn requests(session: &Session, frontend: &mut dyn Frontend, request: StageRequest, operate: OperateRequest) {
            is_send(session.stage(request, frontend));
            is_send(session.operate(operate, frontend));
        }
        let _ = requests;
    }
}
