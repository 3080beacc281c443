//! Asks another tool for a stack, through the provider that is registered for its form.
//!
//! Not here: what the stack means (`form`), how its resources become managed (`plan::imports`).

use std::path::Path;

use blueprint::Value;
use expr::Arguments;
use provider::InvokeRequest;
use state::InstanceName;

use super::adopt::read_tree;
use super::form;
use super::form::{ForeignStack, Form};
use crate::error::Error;
use crate::json;
use crate::paths::absolute;
use crate::phases::World;
use crate::session::Session;

impl Session {
    /// Asks the other tool with this form for a stack, with the settings of its provider for the
    /// instance. `stack` is the name of the stack, or another text by which the tool finds it.
    /// Returns the form, too.
    ///
    /// Fails if no such tool can be asked, if providers are simulated, if the tool does not have
    /// the stack, or if its stack cannot be used.
    pub async fn ask_for_stack(
        &self,
        form_name: &str,
        stack: &str,
        instance: &InstanceName,
    ) -> Result<(&'static dyn Form, ForeignStack), Error> {
        let sources = &self.installed.stack_sources;
        let Some(source) = sources.iter().find(|source| source.form == form_name) else {
            let known: Vec<&str> = sources.iter().map(|source| source.form).collect();
            let known = known.join("`, `");
            let message = format!("no stack comes from `{form_name}` itself, only from `{known}`");
            return Err(Error::usage(message));
        };
        let form = form(source.form)?;
        if self.is_simulated() {
            let message = "a rehearsal has no objects that could be taken over";
            return Err(Error::usage(message));
        }
        let folder = absolute(Path::new(""));
        let shell = self.shell(instance, &folder)?;
        let world: &dyn World = &shell;
        let request = InvokeRequest {
            function: source.function,
            arguments: &Arguments::Positional(vec![Value::text(stack)]),
            preview: true,
        };
        let folder = folder.to_string_lossy();
        let answer = world.invoke(source.provider, None, &folder, request).await;
        let tree = answer.map_err(|error| Error::Unfit {
            name: stack.to_owned(),
            what: format!("cannot be read: {}", error.message),
            help: None,
        })?;
        Ok((form, read_tree(form, &json::value(&tree, true))?))
    }
}
