//! The engine as one crate: it makes a plan from a document and inputs, and running resources from
//! a plan.
//!
//! ```text
//! text ──read──> Blueprint ──check──> Checked ──plan──> Staged { Plan, .. } ──operate──> entries, events, state
//!                                        │         ▲ inputs, snapshot, answers of the world
//!                                        └ editors stop here
//! ```
//!
//! A program installs its providers, stores and sources once ([`Installed`]), opens a [`Session`],
//! and makes requests:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! use engine::run::Operated;
//! use engine::{Config, DocumentSource, OperateRequest, Session, SessionOptions, Silent, StageRequest};
//!
//! let text = "version: 2023-04-20\nresources:\n  till: {type: test/data, spec: {input: 1}}\n";
//! let options = SessionOptions { state: Some("memory:".to_owned()), ..SessionOptions::default() };
//! let session = Session::new(testkit::installed(), Config::default(), &options, ".".as_ref())?;
//! let mut frontend = Silent::default();
//!
//! let staged = session.stage(StageRequest::new(DocumentSource::of_text("shop.yaml", text)), &mut frontend).await?;
//! assert_eq!(staged.planned.staged.plan.steps.len(), 1);
//!
//! let instance = staged.planned.instance.clone();
//! let operated = session.operate(OperateRequest::of(staged.planned, "me@here"), &mut frontend).await;
//! assert!(matches!(operated, Operated::Done(_)), "{:?}", frontend.diagnostics);
//! assert!(session.reading().load(&instance).await?.records.keys().any(|address| address.to_string() == "till"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })
//! # }
//! ```
//!
//! [`Session::stage`], in this file, is the pipeline with one call per step. The phases behind the
//! steps are separate crates: `understand`, `evaluate`, `plan`, `apply`, `run` ([`phases`]).
//!
//! This crate does not print, end the process or listen to signals. Results are values
//! ([`inspect`], [`validate`], [`transfer`]) with JSON forms ([`json`]); a session reports
//! diagnostics and events to a [`Frontend`].
//!
//! Not here: any provider, store or source (the program installs them); arguments, views, exit
//! codes (`cli`).

mod catalog_files;
pub mod codes;
pub mod config;
pub mod deployments;
pub mod discovery;
mod document;
mod document_source;
mod error;
mod expression;
mod findings;
pub mod foreign;
pub mod format;
mod from_state;
mod frontend;
pub mod graph;
mod hosted_packages;
mod import;
mod inputs;
pub mod inspect;
pub mod installed;
mod instance;
pub mod json;
pub mod key;
mod library;
mod named_file;
mod operate;
mod package_families;
pub mod paths;
pub mod phases;
mod place;
mod plugin_config;
mod progress;
pub mod read_parts;
mod recorded_instances;
pub mod retention;
mod rollback;
mod root;
mod saved_plan;
mod selected;
mod session;
mod stack_values;
pub mod stacks;
mod stage;
mod state_url;
pub mod testing;
mod text;
pub mod transfer;
pub mod validate;
mod whole_file;
mod withheld;

pub use config::Config;
pub use document::{Document, ReadingFacts};
pub use document_source::{DocumentSource, EnvironmentFile};
pub use error::Error;
pub use findings::{Findings, raise_warnings};
pub use from_state::DriftReport;
pub use frontend::{Envelope, Frontend, FrontendRun, Notice, Renamed, SessionEvent, Silent};
pub use import::ImportRequest;
pub use inputs::{InputSource, InputVariables, Inputs};
pub use installed::Installed;
pub use instance::{InstanceSelector, document_of_request};
pub use library::{Closer, Library, Selection};
pub use named_file::NamedFile;
pub use operate::OperateRequest;
#[doc(no_inline)]
pub use phases::*;
pub use place::StatePlace;
pub use progress::{RunProgress, UnfinishedStep};
pub use saved_plan::SavedPlan;
pub use session::{Session, SessionOptions};
pub use stage::{ExtraCheck, PlannedOperation, StageRequest, StagedDocument};
pub use text::{read_text, text_of};
pub use whole_file::{Readers, write_whole};

use stage::{Basis, remember_groups};

impl Session {
    /// Plans a document: the pipeline from a text and inputs to a plan.
    ///
    /// Each step reports its diagnostics to the front end before the next step begins.
    /// `Error::Reported` means that these diagnostics are the reason why there is no plan.
    pub async fn stage(
        &self,
        request: StageRequest,
        frontend: &mut dyn Frontend,
    ) -> Result<StagedDocument, Error> {
        let StageRequest {
            source,
            instance,
            inputs,
            keep_inputs,
            options,
            groups,
            extra_check: examine,
        } = request;
        let mut run = self.new_run();
        // Parse and lower the text, then report all mistakes that can be found in the documents
        // alone.
        let mut document = self
            .read_and_check(source, instance.as_ref(), &inputs, keep_inputs, frontend)
            .await?;
        // Find the instance of the document, and load its state.
        let instance = self
            .instance_of(instance.as_ref(), &document, &mut run, frontend)
            .await?;
        let mut snapshot = self.load_state(&instance, frontend).await?;
        remember_groups(&mut snapshot, groups);
        // Collect the inputs, then read the children whose paths depend on them.
        let whose = (&instance, keep_inputs);
        let given = self
            .collect_inputs(&mut document, &inputs, whose, examine, frontend)
            .await?;
        let documents = self
            .complete_document(&mut document, &given, &snapshot, frontend)
            .await?;
        // Read the existing objects, evaluate each element, decide the action of each resource with
        // its reason.
        let reads = documents.root().checked.rules.reads;
        let document_of = Some((documents, document.pinned(&self.place)));
        let basis = Basis {
            document: document_of,
            given,
            options: self.plan_options(options, reads),
            snapshot,
            answers: None,
        };
        let mut shell = self
            .shell_for(&document, &instance, &basis.snapshot)
            .await?;
        let staged = self
            .plan(basis, &mut shell, &document.files, &mut run, frontend)
            .await?;
        Ok(StagedDocument {
            document,
            planned: PlannedOperation {
                instance,
                staged,
                shell,
                run,
            },
        })
    }
}

/// Checks that results and requests can be sent to other threads.
const _: () = {
    const fn is_send<T: Send>() {}
    is_send::<Session>();
    is_send::<Document>();
    is_send::<StageRequest>();
    is_send::<StagedDocument>();
    is_send::<OperateRequest>();
    is_send::<Error>();
    is_send::<Envelope>();
    is_send::<SavedPlan>();
};

#[cfg(test)]
mod tests {
    use super::*;

    /// A server may run requests on its own threads, so their futures must be `Send`.
    #[test]
    fn requests_are_futures_that_threads_may_share() {
        fn is_send<T: Send>(_: T) {}
        fn requests(
            session: &Session,
            frontend: &mut dyn Frontend,
            request: StageRequest,
            operate: OperateRequest,
        ) {
            is_send(session.stage(request, frontend));
            is_send(session.operate(operate, frontend));
        }
        let _ = requests;
    }
}
