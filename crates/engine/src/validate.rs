//! Checks of documents without a state.

use crate::phases::Given;
use diag::Diagnostics;

use crate::document::{Document, Known};
use crate::document_source::DocumentSource;
use crate::error::Error;
use crate::findings::raise_warnings;
use crate::frontend::Frontend;
use crate::inputs::Inputs;
use crate::session::Session;

impl Session {
    /// Checks a document with the given inputs. Mistakes in files of inputs are reported; all others stay in `found`.
    pub async fn check_given(
        &self,
        source: DocumentSource,
        inputs: &Inputs,
        frontend: &mut dyn Frontend,
    ) -> Result<(Document, Given), Error> {
        let none = Given::default();
        let mut document = self.check(source, Known::of(&none)).await;
        let Some(checked) = document.checked.clone() else { return Ok((document, none)) };
        let mut found = Diagnostics::new();
        let given = self.gather(&checked, &mut document, inputs, &mut found);
        raise_warnings(self.strict, &mut found);
        frontend.found(&found, &document.files);
        let given = given?;
        document.check_with(&given, false).await;
        Ok((document, given))
    }

    /// Checks a document with the given inputs, and what a plan with them would find wrong without asking the world.
    pub async fn validate(
        &self,
        source: DocumentSource,
        inputs: &Inputs,
        frontend: &mut dyn Frontend,
    ) -> Result<Document, Error> {
        let (mut document, given) = self.check_given(source, inputs, frontend).await?;
        document.check_offline(&given).await;
        Ok(document)
    }
}
